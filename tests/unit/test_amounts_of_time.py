from datetime import UTC, datetime, timedelta

from hypothesis import given, strategies as st

from dreams.lib.amounts import ago, exact, span, until
from tests.world.cases import each

NOW = datetime(2026, 3, 10, 12, tzinfo=UTC)
SECOND = timedelta(seconds=1)


@each(
    ("delta", "words"),
    [
        (timedelta(0), "just now"),
        (timedelta(seconds=59), "just now"),
        (timedelta(seconds=60), "1 min ago"),
        (timedelta(minutes=59, seconds=59), "59 min ago"),
        (timedelta(hours=1), "1 h ago"),
        (timedelta(hours=47, minutes=59), "47 h ago"),
        (timedelta(hours=48), "2 days ago"),
        (timedelta(days=3, hours=23), "3 days ago"),
        (timedelta(days=60), "2 months ago"),
        (timedelta(days=800), "2 years ago"),
        (timedelta(hours=-6), "just now"),
    ],
)
def test_the_past_is_rounded_down(delta, words):
    assert ago(NOW - delta, NOW) == words


@each(
    ("delta", "words"),
    [
        (timedelta(0), "now"),
        (-SECOND, "now"),
        (SECOND, "in less than a minute"),
        (timedelta(minutes=59, seconds=1), "in 1 h"),
        (timedelta(hours=5, minutes=1), "in 6 h"),
        (timedelta(hours=47, minutes=1), "in 2 days"),
        (timedelta(days=30), "in 30 days"),
    ],
)
def test_the_future_is_rounded_up(delta, words):
    assert until(NOW + delta, NOW) == words


@each(
    ("delta", "words"),
    [
        (timedelta(hours=24), "24 h"),
        (timedelta(hours=72), "3 days"),
        (timedelta(minutes=10), "10 min"),
        (timedelta(minutes=90), "1 h 30 min"),
        (timedelta(seconds=61), "1 min 1 s"),
        (timedelta(milliseconds=500), "0.5 s"),
        (timedelta(0), "0 s"),
    ],
)
def test_a_configured_length_is_said_exactly(delta, words):
    assert exact(delta) == words


@given(st.integers(1, 10**9), st.integers(1, 10**9))
def test_a_longer_wait_never_reads_shorter(first, second):
    units = {"min": 60, "h": 3600, "day": 86400, "days": 86400, "month": 30 * 86400, "months": 30 * 86400}
    units |= {"year": 365 * 86400, "years": 365 * 86400}

    def seconds(words):
        number, _, unit = words.partition(" ")
        return int(number) * units[unit] if number.isdigit() else 59

    shorter, longer = sorted((first, second))
    assert seconds(span(timedelta(seconds=shorter))) <= seconds(span(timedelta(seconds=longer)))
    assert seconds(span(timedelta(seconds=longer))) >= min(longer, 59)
