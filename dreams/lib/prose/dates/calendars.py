"""Calendar arithmetic for relative dates: periods, ISO names. No text is read here."""

import datetime as dt
from dataclasses import dataclass

DAY = dt.timedelta(days=1)  # a unit


@dataclass(frozen=True, slots=True)
class Period:
    """Days from `start` up to, not including, `end`; `kind` is the unit by which it was named."""

    start: dt.date
    end: dt.date
    kind: str  # day, week, month, quarter, year or range

    @property
    def iso(self) -> str:
        """The shortest exact name: a day, `YYYY-Www`, `YYYY-MM`, `YYYY-Qn`, `YYYY` or `start/end`."""
        start = self.start
        if self.kind == "day":
            return start.isoformat()
        if self.kind == "week":
            year, week, _ = start.isocalendar()
            return f"{year:04}-W{week:02}"
        if self.kind == "month":
            return f"{start.year:04}-{start.month:02}"
        if self.kind == "quarter":
            return f"{start.year:04}-Q{(start.month + 2) // 3}"
        if self.kind == "year":
            return f"{start.year:04}"
        return f"{start.isoformat()}/{self.end.isoformat()}"


def day(date: dt.date) -> Period:
    return Period(date, date + DAY, "day")


def span(start: dt.date, end: dt.date) -> Period:
    """A free range; ValueError if it is empty."""
    if start >= end:
        raise ValueError("an empty range of days")
    return Period(start, end, "range")


def add_months(date: dt.date, months: int) -> dt.date:
    """The same day `months` later, or the last of that month (31 January + 1 = 28 February)."""
    index = date.year * 12 + date.month - 1 + months
    year, month = divmod(index, 12)
    return dt.date(year, month + 1, min(date.day, days_in_month(year, month + 1)))


def days_in_month(year: int, month: int) -> int:
    first = dt.date(year, month, 1)
    following = dt.date(year + month // 12, month % 12 + 1, 1)
    return (following - first).days


def add_units(date: dt.date, unit: str, count: int) -> dt.date:
    """`count` days, weeks, fortnights, months, quarters, years, decades or centuries later (earlier if negative)."""
    if unit in {"day", "week", "fortnight"}:
        return date + dt.timedelta(days=count * {"day": 1, "week": 7, "fortnight": 14}[unit])
    return add_months(
        date, count * {"month": 1, "quarter": 3, "year": 12, "decade": 120, "century": 1200}[unit]
    )


def unit_of(date: dt.date, unit: str, offset: int = 0) -> Period:
    """The calendar week (from Monday), weekend, month, quarter or year of `date`, moved by `offset` units."""
    if unit == "day":
        return day(date + offset * DAY)
    if unit in {"week", "weekend"}:
        monday = date - dt.timedelta(days=date.weekday()) + dt.timedelta(days=7 * offset)
        if unit == "week":
            return Period(monday, monday + dt.timedelta(days=7), "week")
        return span(monday + dt.timedelta(days=5), monday + dt.timedelta(days=7))
    months = {"month": 1, "quarter": 3, "year": 12}[unit]
    first = dt.date(date.year, (date.month - 1) // months * months + 1, 1)
    start = add_months(first, offset * months)
    return Period(start, add_months(start, months), unit)


def month_of(year: int, month: int) -> Period:
    return unit_of(dt.date(year, month, 1), "month")


def part_of(period: Period, part: str) -> Period:
    """The early, middle or late part, narrow enough for every common meaning.

    Weeks: two first, the middle one, three last days. Months: thirds of ten days. Years: first and
    last quarter, June and July; quarters: their months. ValueError for other periods.
    """
    first, last = period.start, period.end
    if period.kind == "week":
        cuts = {"early": (0, 2), "mid": (2, 3), "late": (4, 7)}[part]
        return span(first + cuts[0] * DAY, first + cuts[1] * DAY)
    if period.kind == "month":
        ends = {"early": (first, first + 10 * DAY), "mid": (first + 10 * DAY, first + 20 * DAY)}
        return span(*ends.get(part, (first + 20 * DAY, last)))
    if period.kind in {"year", "quarter"}:
        of_year = {"early": (0, 3), "mid": (5, 7), "late": (9, 12)}
        of_quarter = {"early": (0, 1), "mid": (1, 2), "late": (2, 3)}
        begin, stop = (of_year if period.kind == "year" else of_quarter)[part]
        return span(add_months(first, begin), add_months(first, stop))
    raise ValueError(f"no {part} part of a {period.kind}")


def nth_weekday(year: int, month: int, weekday: int, nth: int) -> dt.date:
    """The nth such weekday of a month, -1 the last; ValueError if the month has no fifth."""
    if nth == -1:
        last = dt.date(year, month, days_in_month(year, month))
        return last - ((last.weekday() - weekday) % 7) * DAY
    first = dt.date(year, month, 1)
    found = first + ((weekday - first.weekday()) % 7 + 7 * (nth - 1)) * DAY
    if found.month != month:
        raise ValueError("no such weekday in this month")
    return found


def before(date: dt.date, weekday: int) -> dt.date:
    """The nearest such weekday strictly before `date`."""
    return date - ((date.weekday() - weekday - 1) % 7 + 1) * DAY


def after(date: dt.date, weekday: int) -> dt.date:
    """The nearest such weekday strictly after `date`."""
    return date + ((weekday - date.weekday() - 1) % 7 + 1) * DAY
