"""The hours in which nothing starts, and when they end."""

from __future__ import annotations

import datetime as dt
import zoneinfo

import pytest

from dreams import conf
from tests.world.cases import each

BERLIN = zoneinfo.ZoneInfo("Europe/Berlin")


@each(
    ("at", "ends"),
    [("21:59", None), ("22:00", "02 07:00"), ("23:30", "02 07:00"), ("06:59", "01 07:00"), ("07:00", None)],
)
def test_quiet_hours_end_on_the_next_morning(at: str, ends: str | None) -> None:
    quiet = conf.quiet_hours("22:00-07:00")
    assert quiet is not None
    hour, minute = map(int, at.split(":"))
    found = quiet.ends_at(dt.datetime(2026, 6, 1, hour, minute, tzinfo=BERLIN), BERLIN)
    assert (found.astimezone(BERLIN).strftime("%d %H:%M") if found else None) == ends


def test_quiet_hours_may_lie_within_one_day() -> None:
    quiet = conf.quiet_hours("9 - 12:30")
    assert quiet is not None
    found = quiet.ends_at(dt.datetime(2026, 6, 1, 10, tzinfo=dt.UTC), dt.UTC)
    assert found == dt.datetime(2026, 6, 1, 12, 30, tzinfo=dt.UTC)
    assert quiet.ends_at(dt.datetime(2026, 6, 1, 13, tzinfo=dt.UTC), dt.UTC) is None


@each("fold", [0, 1])
def test_quiet_hours_that_end_in_an_hour_that_happens_twice_end_after_they_began(fold: int) -> None:
    quiet = conf.quiet_hours("23:00-02:30")
    assert quiet is not None
    now = dt.datetime(2026, 10, 25, 2, 10, tzinfo=BERLIN, fold=fold).astimezone(dt.UTC)
    assert quiet.ends_at(now, BERLIN) == now + dt.timedelta(minutes=20)


def test_quiet_hours_that_end_in_a_skipped_hour_end_when_the_clocks_jump() -> None:
    quiet = conf.quiet_hours("23:00-02:30")
    assert quiet is not None
    jump = dt.datetime(2026, 3, 29, 1, tzinfo=dt.UTC)  # 02:00 becomes 03:00
    for before in (dt.timedelta(minutes=1), dt.timedelta(hours=2)):
        assert quiet.ends_at(jump - before, BERLIN) == jump
    assert quiet.ends_at(jump, BERLIN) is None


@each("text", ["22:00", "25:00-07:00", "22:00-22:00", "late-early", "22:00-07:61"])
def test_quiet_hours_that_make_no_sense_are_refused(text: str) -> None:
    with pytest.raises(ValueError, match="such as 22:00-07:00"):
        conf.quiet_hours(text)
