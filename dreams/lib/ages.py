"""Durations and distances in time, in the words people read. Pure; every moment is an aware datetime.

Distances to the past are rounded down ("3 days ago" is at least three days) and distances to the future are
rounded up ("in 6 h" is never later than said), so that a page never promises something too early.
"""

from datetime import datetime, timedelta
from functools import lru_cache

_MINUTE, _HOUR, _DAY = 60, 3_600, 86_400
_MONTH, _YEAR = 30 * _DAY, 365 * _DAY

# (seconds in one, show in this unit while fewer than, singular, plural); behind them come years, without an end.
_UNITS = (
    (_MINUTE, 60, "min", "min"),
    (_HOUR, 48, "h", "h"),
    (_DAY, 60, "day", "days"),
    (_MONTH, 24, "month", "months"),
)


def ago(then: datetime, now: datetime) -> str:
    """Distance from `now` back to `then`: "3 days ago". A `then` in the future reads "in …"."""
    if then > now:
        return until(then, now)
    text = _rough(now - then, round_up=False)
    return f"{text} ago" if text else "just now"


def until(moment: datetime, now: datetime) -> str:
    """Distance from `now` on to `moment`: "in 6 h". A moment already reached reads "now"."""
    if moment <= now:
        return "now"
    return f"in {span(moment - now)}"


def span(delta: timedelta) -> str:
    """A length rounded up to one unit: "6 h", "3 days"; under a minute "less than a minute"."""
    return _rough(delta, round_up=True) or "less than a minute"


@lru_cache(maxsize=64)  # a few settings, told for each of thousands of projects
def exact(delta: timedelta) -> str:
    """A configured length, nothing rounded: "24 h", "10 min", "1 h 30 min", "3 days"."""
    total = delta.total_seconds()
    whole = int(total)
    if whole != total:
        return f"{total:g} s"
    if whole >= 2 * _DAY and whole % _DAY == 0:
        return f"{whole // _DAY} days"
    hours, rest = divmod(whole, _HOUR)
    minutes, seconds = divmod(rest, _MINUTE)
    parts = [(hours, "h"), (minutes, "min"), (seconds, "s")]
    return " ".join(f"{number} {unit}" for number, unit in parts if number) or "0 s"


def _rough(delta: timedelta, *, round_up: bool) -> str:
    """One unit, or "" for less than a minute."""
    seconds = -(-delta // timedelta(seconds=1)) if round_up else delta // timedelta(seconds=1)
    if seconds < _MINUTE:
        return ""
    for size, limit, one, many in _UNITS:
        number = _divide(seconds, size, round_up=round_up)
        if number < limit:
            return _count(number, one, many)
    return _count(_divide(seconds, _YEAR, round_up=round_up), "year", "years")


def _divide(seconds: int, size: int, *, round_up: bool) -> int:
    return -(-seconds // size) if round_up else seconds // size


def _count(number: int, one: str, many: str) -> str:
    return f"{number} {one if number == 1 else many}"
