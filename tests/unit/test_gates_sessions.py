from datetime import UTC, datetime, timedelta

from hypothesis import given, strategies as st

from dreams.conf import Config
from dreams.lib.timestamps import to_ns
from dreams.services.scheduling.gates import (
    Case,
    Facts,
    Mode,
    SessionFact,
    detect_mode,
    evaluate,
    is_live,
)
from dreams.services.scheduling.gates.facts import count_sessions
from tests.world.cases import each

NOW = datetime(2026, 3, 10, 12, tzinfo=UTC)
LAST_NS = to_ns(NOW - timedelta(days=3))


def session(name, root="", after=1, **fields):
    return SessionFact(name, root or name, LAST_NS + after, **fields)


def gate(sessions, last_ns=LAST_NS, **config):
    facts = Facts(clock=lambda: last_ns, sessions=lambda: sessions)
    found = evaluate(Case(facts, Config(**config), NOW), stop_at_first=False)
    return next(result for result in found if result.name == "sessions")


def many(number, **fields):
    return [session(f"s{i}", **fields) for i in range(number)]


@each(("number", "passed"), [(0, False), (4, False), (5, True), (6, True)])
def test_five_sessions_open_the_gate(number, passed):
    result = gate(many(number))
    assert result.passed is passed
    assert result.reason == f"{number} of 5 sessions since the last dream."


def test_touched_means_strictly_after_the_last_dream():
    assert gate(many(5, after=0)).reason.startswith("0 of 5")
    assert gate(many(5, after=1)).passed


def test_without_a_dream_every_session_is_new():
    assert gate(many(5, after=-(10**18)), last_ns=None).reason == "5 of 5 sessions so far."


def test_live_sessions_and_the_dreams_own_are_left_out_and_said():
    sessions = [
        *many(3),
        session("now", live=True),
        session("dream", own=True),
        session("old", after=0, live=True),
    ]
    assert (
        gate(sessions).reason
        == "3 of 5 sessions since the last dream; left out: 1 live, 1 created by memoryweb."
    )


def test_sessions_given_back_count_again():
    assert gate(many(5, after=-5, given_back=True)).passed


def test_forks_count_once():
    forks = [session(f"fork{i}", root="s0") for i in range(9)]
    assert gate([*many(4), *forks]).reason.startswith("4 of 5")


def test_a_fork_counts_while_its_root_is_live():
    assert count_sessions([session("a", live=True), session("b", root="a")], LAST_NS, 1.0).score == 1


def test_plain_counting_ignores_corrections():
    assert (
        gate(many(4, corrected=True), correction_weight=1.0).reason == "4 of 5 sessions since the last dream."
    )


def test_sessions_with_corrections_can_count_more():
    sessions = [*many(2), session("c1", corrected=True), session("c2", root="c1")]
    result = gate(sessions, correction_weight=3.0)
    assert result.passed
    assert result.reason.startswith(
        "5 of 5 sessions, one with a correction counts 3 times, since the last dream"
    )


def test_a_session_with_a_correction_or_a_fix_counts_twice_and_the_gate_says_so():
    assert gate([*many(2), session("c", corrected=True)]).reason == (
        "4 of 5 sessions, one with a correction counts twice, since the last dream."
    )
    assert gate([*many(1), *many_corrected(2)]).reason.startswith(
        "5 of 5 sessions, 2 with corrections count twice,"
    )


def many_corrected(count: int) -> list[SessionFact]:
    return [session(f"corrected{number}", corrected=True) for number in range(count)]


def test_nobody_counts_a_hundred_thousand_sessions_to_know_that_there_are_enough():
    asked = (session(f"s{number}") for number in range(100_000))
    assert gate(asked).reason == "1,000 or more sessions, where 5 are needed, since the last dream."
    assert next(asked).session_id == "s1000"


def test_the_count_goes_on_past_forks_until_it_is_sure():
    forks = [session(f"fork{number}", root="s0") for number in range(3_000)]
    assert gate([*forks, *many(5)], min_sessions=6).reason.startswith("5 of 6")


@given(
    st.lists(
        st.tuples(st.integers(0, 4), st.integers(0, 4), st.integers(-1, 1), st.booleans(), st.booleans())
    )
)
def test_the_count_never_exceeds_the_conversations(rows):
    sessions = [
        session(f"s{number}", root=f"s{root}", after=after, live=live, corrected=corrected)
        for number, root, after, live, corrected in rows
    ]
    tally = count_sessions(sessions, LAST_NS, 2.0)
    roots = {item.root_id for item in sessions if item.mtime_ns > LAST_NS and not item.live}
    assert tally.plain + tally.corrected == len(roots)
    assert len(roots) <= tally.score <= 2 * len(roots)


@each(
    ("registered", "quiet_seconds", "live"),
    [(True, 10**6, True), (None, 599, True), (None, 600, False), (False, 599, True), (False, 600, False)],
)
def test_a_session_is_live_by_its_process_or_ten_minutes_of_quiet(registered, quiet_seconds, live):
    assert is_live(registered, NOW - timedelta(seconds=quiet_seconds), NOW) is live


@each(
    ("remote", "logs", "topics", "mode"),
    [
        (None, False, 0, Mode.NORMAL),
        ("0", False, 3, Mode.NORMAL),
        ("true", True, 0, Mode.REMOTE),
        ("", True, 0, Mode.DAILY_LOG),
        (None, True, 1, Mode.NORMAL),
    ],
)
def test_modes_are_seen_from_outside(remote, logs, topics, mode):
    assert detect_mode(remote, logs_written=logs, topic_files=topics) is mode
