"""Formats amounts for people: bytes, tokens, dollars, durations and distances in time, with few digits.

Distances to the past are rounded down ("3 days ago" is at least three days) and distances to the future are
rounded up ("in 6 h" is never later), so that a page never promises something too early. Every moment is an aware
datetime.
"""

import datetime as dt
from decimal import Decimal
from functools import lru_cache


def bytes_(count: int | None) -> str:
    """In units of 1,000, like the index's limit of 25 KB: "820 bytes", "20.4 KB", "3.1 GB"."""
    if count is None:
        return ""
    if abs(count) < 1000:
        return f"{count} byte{'' if count == 1 else 's'}"
    size = float(count)
    for unit in ("KB", "MB", "GB"):
        size /= 1000
        if abs(size) < 999.95:
            return f"{size:.1f} {unit}"
    return f"{size / 1000:.1f} TB"


def tokens(count: int | None) -> str:
    """ "820", "12.3 k", "1.24 M", "200 M", "3.05 bn"."""
    if count is None:
        return ""
    if abs(count) < 1000:
        return str(count)
    if abs(count) < 999_950:
        return f"{count / 1000:.1f} k"
    if abs(count) < 999_500_000:
        return f"{_three(count / 1_000_000)} M"
    return f"{_three(count / 1_000_000_000)} bn"


def _three(value: float) -> str:
    """Three significant digits, but all digits before the point."""
    return f"{value:,.{2 if abs(value) < 9.995 else 1 if abs(value) < 99.95 else 0}f}"


def rate(dollars: Decimal) -> str:
    """A price per million tokens: "$15", "$2.50", "$0.1250"."""
    cents = dollars * 100
    if dollars == dollars.to_integral_value():
        return f"${dollars:,.0f}"
    return f"${dollars:,.2f}" if cents == cents.to_integral_value() else f"${dollars:,.4f}".rstrip("0")


def lasting(seconds: float) -> str:
    """A configured duration: "30 min", "1 h 30 min", "45 s"."""
    return exact(dt.timedelta(seconds=seconds))


def money(dollars: Decimal | float | None) -> str:
    """ "$0.42", "$0.0031" under a cent, "no price known" for None."""
    if dollars is None:
        return "no price known"
    if not dollars:
        return "$0"
    return f"${dollars:,.2f}" if abs(float(dollars)) >= 0.01 else f"${dollars:.4f}"


# --- Time ---------------------------------------------------------------------------------------------------------

_MINUTE, _HOUR, _DAY = 60, 3_600, 86_400
_MONTH, _YEAR = 30 * _DAY, 365 * _DAY

# (seconds in one, show in this unit while fewer than, singular, plural); after these, years.
_UNITS = (
    (_MINUTE, 60, "min", "min"),
    (_HOUR, 48, "h", "h"),
    (_DAY, 60, "day", "days"),
    (_MONTH, 24, "month", "months"),
)


def ago(then: dt.datetime, now: dt.datetime) -> str:
    """Distance from `now` back to `then`: "3 days ago". A moment in the future, after a clock was set
    back, reads "just now"."""
    text = _rough(now - then, round_up=False)
    return f"{text} ago" if text else "just now"


def until(moment: dt.datetime, now: dt.datetime) -> str:
    """Distance from `now` on to `moment`: "in 6 h". A moment in the past reads "now"."""
    if moment <= now:
        return "now"
    return f"in {span(moment - now)}"


def span(delta: dt.timedelta) -> str:
    """A length rounded up to one unit: "6 h", "3 days"; under a minute "less than a minute"."""
    return _rough(delta, round_up=True) or "less than a minute"


@lru_cache(maxsize=64)  # a few settings, shown for each of thousands of projects
def exact(delta: dt.timedelta) -> str:
    """A configured duration, not rounded: "24 h", "10 min", "1 h 30 min", "3 days"."""
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


def took(seconds: float) -> str:
    """How long something took: "10 s", "1 min 30 s"; at least "1 s". The same on every page."""
    return exact(dt.timedelta(seconds=max(1, round(seconds))))


def _rough(delta: dt.timedelta, *, round_up: bool) -> str:
    """One unit, or "" for less than a minute."""
    seconds = -(-delta // dt.timedelta(seconds=1)) if round_up else delta // dt.timedelta(seconds=1)
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
