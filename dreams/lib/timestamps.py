"""Exact conversions between nanoseconds and datetimes, and the start of days and months. Pure."""

from datetime import UTC, datetime, time, timedelta, tzinfo

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)  # a unit


def to_ns(moment: datetime) -> int:
    """Nanoseconds since 1970; an integer, because a float would be off by hundreds."""
    return (moment - _EPOCH) // _MICROSECOND * 1_000


def from_ns(ns: int) -> datetime | None:
    """The first datetime at or after `ns`, in UTC; None outside the years 1 to 9999."""
    try:
        return _EPOCH + timedelta(microseconds=-(-ns // 1_000))
    except OverflowError:
        return None


def later(moment: datetime, delta: timedelta) -> datetime | None:
    """`moment + delta`, or None after the year 9999."""
    try:
        return moment + delta
    except OverflowError:
        return None


def day_start(now: datetime, zone: tzinfo) -> datetime:
    """The beginning of the day of `now` in `zone`, in UTC."""
    return _midnight(now.astimezone(zone), zone)


def month_start(now: datetime, zone: tzinfo) -> datetime:
    """The beginning of the month of `now` in `zone`, in UTC."""
    return _midnight(now.astimezone(zone).replace(day=1), zone)


def next_day(now: datetime, zone: tzinfo) -> datetime:
    """The next midnight in `zone`, in UTC: 23, 24 or 25 hours after the last one."""
    return _midnight(now.astimezone(zone) + timedelta(days=1), zone)


def next_month(now: datetime, zone: tzinfo) -> datetime:
    """The first midnight of the next month in `zone`, in UTC."""
    # Day 28 exists everywhere, and four days later is always the next month.
    return _midnight((now.astimezone(zone).replace(day=28) + timedelta(days=4)).replace(day=1), zone)


def _midnight(local: datetime, zone: tzinfo) -> datetime:
    # If summer time begins at midnight, 00:00 does not exist; fold 0 then means the moment of change.
    return datetime.combine(local.date(), time(), tzinfo=zone).astimezone(UTC)
