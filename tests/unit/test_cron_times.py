"""When a five-field schedule is due in a time zone, also where summer time begins and ends."""

from __future__ import annotations

import datetime as dt
import itertools
import zoneinfo

import pytest
from croniter import croniter
from hypothesis import given, strategies as st

from dreams.lib import cron
from tests.world.cases import each

BERLIN = zoneinfo.ZoneInfo("Europe/Berlin")
SUMMER_BEGINS = dt.datetime(2026, 3, 29, tzinfo=BERLIN)
SUMMER_ENDS = dt.datetime(2026, 10, 25, tzinfo=BERLIN)


def local(expression: str, after: dt.datetime, count: int, zone: dt.tzinfo = BERLIN) -> list[str]:
    found = itertools.islice(cron.times(expression, after, zone), count)
    return [moment.astimezone(zone).strftime("%d %H:%M %z") for moment in found]


def test_a_time_that_happens_twice_is_due_once() -> None:
    assert local("30 2 * * *", SUMMER_ENDS, 2) == ["25 02:30 +0200", "26 02:30 +0100"]


def test_a_time_that_does_not_happen_is_due_behind_the_gap() -> None:
    assert local("30 2 * * *", SUMMER_BEGINS, 2) == ["29 03:30 +0200", "30 02:30 +0200"]


def test_two_times_within_the_gap_are_both_due_behind_it() -> None:
    assert local("15,30 2 * * *", SUMMER_BEGINS, 3) == ["29 03:15 +0200", "29 03:30 +0200", "30 02:15 +0200"]


def test_every_hour_means_every_hour_that_passes() -> None:
    assert local("0 * * * *", SUMMER_ENDS.replace(hour=1), 3) == [
        "25 02:00 +0200",
        "25 02:00 +0100",
        "25 03:00 +0100",
    ]
    assert local("0 * * * *", SUMMER_BEGINS, 2) == ["29 01:00 +0100", "29 03:00 +0200"]


def test_a_day_of_the_month_or_a_day_of_the_week_is_enough() -> None:
    assert local("0 8 1 * mon", dt.datetime(2026, 6, 1, 9, tzinfo=BERLIN), 2) == [
        "08 08:00 +0200",
        "15 08:00 +0200",
    ]


ZONES = [
    "Europe/Berlin",
    "America/New_York",
    "Australia/Lord_Howe",
    "America/Sao_Paulo",
    "Asia/Kolkata",
    "UTC",
]
MINUTES = ["0", "30", "*/20", "7,59", "*"]
HOURS = ["*", "0", "1", "2", "1-3", "*/2", "23"]
DAYS = ["* * *", "* * sun", "29 * *", "*/2 * *"]
CHANGES = [
    (2026, 3, 7),
    (2026, 3, 28),
    (2026, 4, 4),
    (2026, 10, 3),
    (2026, 10, 24),
    (2026, 10, 31),
    (2018, 11, 3),
]


def expected(expression: str, begin: dt.datetime, zone: dt.tzinfo, minutes: int) -> set[dt.datetime]:
    """Every minute asked one by one."""
    every_hour = expression.split()[1] == "*"
    fields = croniter.expand(expression)[0]
    found = set()
    for number in range(1, minutes):
        moment = begin + dt.timedelta(minutes=number)
        clock = moment.astimezone(zone)
        if matches(fields, clock) and (every_hour or not clock.fold):
            found.add(moment)
        # A minute that the clock skips is as far behind the gap as it is behind its beginning.
        for gap in () if every_hour else (30, 60):
            skipped = (clock.replace(tzinfo=None, fold=0) - dt.timedelta(minutes=gap)).replace(tzinfo=zone)
            if matches(fields, skipped) and skipped.astimezone(dt.UTC) == moment:
                found.add(moment)
    return found


def matches(fields: list[list[int | str]], clock: dt.datetime) -> bool:
    minute, hour, day, month, weekday = fields
    have = (clock.minute, clock.hour, clock.month)
    if any(
        value not in field and field != ["*"]
        for value, field in zip(have, (minute, hour, month), strict=True)
    ):
        return False
    days = [field for field in (day, weekday) if field != ["*"]]
    return not days or clock.day in day or clock.isoweekday() % 7 in weekday


@given(
    st.sampled_from(MINUTES),
    st.sampled_from(HOURS),
    st.sampled_from(DAYS),
    st.sampled_from(ZONES),
    st.sampled_from(CHANGES),
    st.integers(0, 2000),
)
def test_no_time_is_missed_or_doubled_around_any_change(
    minute: str, hour: str, days: str, zone_name: str, day: tuple[int, int, int], offset: int
) -> None:
    zone = zoneinfo.ZoneInfo(zone_name)
    expression = f"{minute} {hour} {days}"
    begin = dt.datetime(*day, tzinfo=dt.UTC) + dt.timedelta(minutes=offset)
    length = 24 * 60
    end = begin + dt.timedelta(minutes=length)
    found = list(itertools.takewhile(lambda moment: moment < end, cron.times(expression, begin, zone)))
    assert found == sorted(set(found))
    assert set(found) == expected(expression, begin, zone, length)


@each(
    ("expression", "says"),
    [
        ("* * * *", "not five fields"),
        ("0 0 * * * *", "not five fields"),
        ("@daily", "not five fields"),
        ("61 * * * *", "not a schedule"),
        ("H 3 * * *", "not a schedule"),
        ("R 3 * * *", "not a schedule"),
        ("0 0 L * *", "not a schedule"),
        ("0 0 * * 5#2", "not a schedule"),
        ("0 0 ? * *", "not a schedule"),
        ("0 3 * * xyz", "not a schedule"),
        ("0 0 30 2 *", "never due"),
    ],
)
def test_what_is_not_plain_cron_is_refused_with_the_reason(expression: str, says: str) -> None:
    with pytest.raises(cron.BadCron, match=says):
        cron.checked(expression)


def test_names_and_spare_spaces_are_taken() -> None:
    assert cron.checked("  0  8 *  * MON-fri ") == "0 8 * * mon-fri"


def test_a_leap_day_is_due_in_years() -> None:
    found = cron.next_time("0 0 29 2 *", dt.datetime(2026, 1, 1, tzinfo=dt.UTC), dt.UTC)
    assert found == dt.datetime(2028, 2, 29, tzinfo=dt.UTC)


@given(st.text(min_size=1, max_size=9), st.integers(1, 10_000))
def test_a_delay_is_a_tenth_of_the_period_and_a_quarter_of_an_hour_at_most(seed: str, minutes: int) -> None:
    period = dt.timedelta(minutes=minutes)
    late = cron.delay(seed, period)
    assert dt.timedelta(0) <= late <= min(period / 10, dt.timedelta(minutes=15))
    assert late == cron.delay(seed, period)


def test_delays_spread_and_do_not_gather() -> None:
    found = {cron.delay(f"j{number}", dt.timedelta(days=1)) for number in range(100)}
    assert len(found) > 90


@given(st.text(min_size=1, max_size=9), st.integers(0, 59))
def test_a_job_of_once_is_early_only_at_the_full_and_the_half_hour(seed: str, minute: int) -> None:
    early = cron.head_start(seed, dt.datetime(2026, 6, 1, 9, minute, tzinfo=BERLIN))
    assert dt.timedelta(0) <= early < dt.timedelta(seconds=90)
    assert minute in (0, 30) or not early
