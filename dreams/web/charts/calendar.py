"""Days as squares, a column per week, darker where there was more."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping

from django.utils.safestring import SafeString

from dreams.lib.files.text import plural
from dreams.web.charts import svg
from dreams.web.charts.base import Key, Picture, long_day

WEEKS = 12
LEVELS = 4
_LEFT, _TOP, _GAP = 30, 18, 3
_NAMES = ("Mon", "", "Wed", "", "Fri", "", "Sun")


def by_day(key: str, title: str, counts: Mapping[dt.date, int], today: dt.date, empty: str) -> Picture:
    """The last twelve weeks up to `today`. `counts` are sessions per day; days outside are left out."""
    first = today - dt.timedelta(today.weekday() + 7 * (WEEKS - 1))
    days = [first + dt.timedelta(n) for n in range((today - first).days + 1)]
    found = {day: counts.get(day, 0) for day in days}
    total, most = sum(found.values()), max(found.values())
    if not total:
        return Picture(key, title, empty=empty)
    busiest = max(days, key=lambda day: found[day])
    peak = f", most on {long_day(busiest)}: {most}" if most > 1 else ""
    sentence = f"{plural(total, 'session')} in {WEEKS} weeks{peak}."
    size = (svg.WIDTH - _LEFT) / WEEKS
    height = round(_TOP + size * 7)
    parts = [*_weekdays(size), *_months(first, size)]
    parts += [_cell(day, found[day], most, (day - first).days, size) for day in days]
    return Picture(
        key,
        title,
        sentence,
        svg.image(key, title, sentence, parts, height),
        legend=tuple(Key(f"heat-{level}", _LEGEND[level]) for level in _LEGEND),
        head=("Day", "Sessions"),
        rows=tuple((long_day(day), str(found[day])) for day in reversed(days) if found[day]),
    )


_LEGEND = {0: "none", 1: "few", LEVELS: "most"}


def level(count: int, most: int) -> int:
    """0 for nothing, else 1 to LEVELS by its share of the most."""
    if count <= 0 or most <= 0:
        return 0
    return max(1, -(-LEVELS * min(count, most) // most))


def _cell(day: dt.date, count: int, most: int, number: int, size: float) -> SafeString:
    week, weekday = divmod(number, 7)
    square = svg.element(
        "rect",
        class_=f"heat-{level(count, most)}",
        x=_LEFT + week * size,
        y=_TOP + weekday * size,
        width=size - _GAP,
        height=size - _GAP,
        rx=3,
    )
    return svg.titled(f"{long_day(day)}: {plural(count, 'session')}", square)


def _weekdays(size: float) -> list[SafeString]:
    return [svg.text(0, _TOP + size * (n + 0.5) + 2, name, "start") for n, name in enumerate(_NAMES) if name]


def _months(first: dt.date, size: float) -> list[SafeString]:
    """A month's name above the first week that begins in it."""
    weeks = [first + dt.timedelta(7 * number) for number in range(WEEKS)]
    new = [n for n, day in enumerate(weeks) if n == 0 or day.month != weeks[n - 1].month]
    # A name at the very start is dropped where the next would stand on it.
    shown = new[1:] if len(new) > 1 and new[1] - new[0] < 2 else new
    return [svg.text(_LEFT + size * n, 11, f"{weeks[n]:%b}", "start") for n in shown if n < WEEKS - 1]
