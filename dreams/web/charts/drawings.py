"""The charts: a calendar of days, amounts as lines, and amounts as stacked bars."""

import datetime as dt
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from django.utils.safestring import SafeString

from dreams.lib.files.text import plural
from dreams.web.charts import shapes
from dreams.web.charts.shapes import Key, Picture, Plot, Words, long_day, round_up, short_day

WEEKS = 12  # a quarter; chosen
LEVELS = 4  # shades that can be distinguished; chosen
_LEFT, _TOP, _GAP = 30, 18, 3
_NAMES = ("Mon", "", "Wed", "", "Fri", "", "Sun")


def by_day(
    key: str,
    title: str,
    counts: Mapping[dt.date, int],
    today: dt.date,
    empty: str,
    gone: Mapping[dt.date, int] | None = None,
) -> Picture:
    """The last twelve weeks up to `today`. `counts` are sessions per day, `gone` those no longer on disk. Other days are
    ignored."""
    first = today - dt.timedelta(today.weekday() + 7 * (WEEKS - 1))
    days = [first + dt.timedelta(n) for n in range((today - first).days + 1)]
    gone = gone or {}
    found = {day: counts.get(day, 0) + gone.get(day, 0) for day in days}
    left = sum(gone.get(day, 0) for day in days)
    total, most = sum(found.values()), max(found.values())
    if not total:
        return Picture(key, title, empty=empty)
    busiest = max(days, key=lambda day: found[day])
    peak = f", most on {long_day(busiest)}: {most}" if most > 1 else ""
    also = f" and {left} gone from disk" if left else ""
    sentence = f"{plural(total - left, 'session')} in {WEEKS} weeks{also}{peak}."
    size = (shapes.WIDTH - _LEFT) / WEEKS
    height = round(_TOP + size * 7)
    parts = [*_weekdays(size), *_months(first, size)]
    parts += [_cell(day, found[day], most, (day - first).days, size) for day in days]
    return Picture(
        key,
        title,
        sentence,
        shapes.image(key, title, sentence, parts, height),
        legend=tuple(Key(f"heat-{level}", _LEGEND[level]) for level in _LEGEND),
        head=("Day", "Sessions"),
        rows=tuple((long_day(day), str(found[day])) for day in reversed(days) if found[day]),
    )


_LEGEND = {0: "none", 1: "few", LEVELS: "most"}


def level(count: int, most: int) -> int:
    """0 for nothing, else 1 to LEVELS by its share of the maximum."""
    if count <= 0 or most <= 0:
        return 0
    return max(1, -(-LEVELS * min(count, most) // most))


def _cell(day: dt.date, count: int, most: int, number: int, size: float) -> SafeString:
    week, weekday = divmod(number, 7)
    square = shapes.element(
        "rect",
        class_=f"heat-{level(count, most)}",
        x=_LEFT + week * size,
        y=_TOP + weekday * size,
        width=size - _GAP,
        height=size - _GAP,
        rx=3,
    )
    return shapes.titled(f"{long_day(day)}: {plural(count, 'session')}", square)


def _weekdays(size: float) -> list[SafeString]:
    return [
        shapes.text(0, _TOP + size * (n + 0.5) + 2, name, "start") for n, name in enumerate(_NAMES) if name
    ]


def _months(first: dt.date, size: float) -> list[SafeString]:
    """The name of each month, above the first week that begins in it."""
    weeks = [first + dt.timedelta(7 * number) for number in range(WEEKS)]
    new = [n for n, day in enumerate(weeks) if n == 0 or day.month != weeks[n - 1].month]
    # The first name is dropped if the next would overlap it.
    shown = new[1:] if len(new) > 1 and new[1] - new[0] < 2 else new
    return [shapes.text(_LEFT + size * n, 11, f"{weeks[n]:%b}", "start") for n in shown if n < WEEKS - 1]


# Heights of one measure's chart, and of the space above it for its name.
_EACH = 90
_APART = 18


@dataclass(frozen=True, slots=True)
class Measure:
    """One amount per day. `words` formats it in full ("12 files"), `ticks` for the axis ("12")."""

    name: str
    values: Sequence[float]
    words: Words
    ticks: Words


def over_time(
    key: str, title: str, days: Sequence[dt.date], measures: Sequence[Measure], empty: str
) -> Picture:
    """`days` are consecutive, oldest first; every measure has a value for each."""
    if not days or not any(any(measure.values) for measure in measures):
        return Picture(key, title, empty=empty)
    height = _EACH * len(measures) + shapes.BOTTOM
    now = ", ".join(measure.words(measure.values[-1]) for measure in measures)
    then = ", ".join(measure.words(measure.values[0]) for measure in measures)
    before = f" now{', the same as' if now == then else f'; {then}'} on {long_day(days[0])}"
    sentence = f"{now}{before if len(days) > 1 else ''}."
    parts: list[SafeString] = []
    for number, measure in enumerate(measures):
        ground = _EACH * (number + 1) + shapes.BOTTOM
        top = round_up(max(measure.values))
        plot = Plot(top, len(days), ground, above=_EACH * number + _APART)
        parts += [*plot.frame(measure.ticks), *_area(plot, measure.values)]
        parts.append(shapes.text(plot.right, plot.above - 6, measure.name, "end"))
    parts += Plot(1, len(days), height).days(days)
    return Picture(
        key,
        title,
        sentence,
        shapes.image(key, title, sentence, parts, height),
        head=("Day", *(measure.name for measure in measures)),
        rows=tuple(_line_rows(days, measures)),
    )


def _area(plot: Plot, values: Sequence[float]) -> list[SafeString]:
    corners = [(plot.x(place + edge), plot.y(value)) for place, value in enumerate(values) for edge in (0, 1)]
    path = " L".join(f"{shapes.number(x)} {shapes.number(y)}" for x, y in corners)
    ground = shapes.number(plot.ground)
    closed = f"M{shapes.number(plot.left)} {ground} L{path} L{shapes.number(corners[-1][0])} {ground} Z"
    return [
        shapes.element("path", class_="area", d=closed),
        shapes.element("path", class_="stroke", d=f"M{path}"),
    ]


def _line_rows(days: Sequence[dt.date], measures: Sequence[Measure]) -> list[tuple[str, ...]]:
    """The days on which an amount changed, newest first."""
    found: list[tuple[str, ...]] = []
    before: tuple[float, ...] | None = None
    for place, day in enumerate(days):
        values = tuple(measure.values[place] for measure in measures)
        if values != before:
            said = (measure.words(value) for measure, value in zip(measures, values, strict=True))
            found.append((long_day(day), *said))
        before = values
    return found[::-1]


# More colours cannot be distinguished; the rest is one series.
MOST_SERIES = 5
REST = "others"


@dataclass(frozen=True, slots=True)
class Series:
    """One part of every bar; `mark` is its class."""

    label: str
    values: Mapping[dt.date, float]
    mark: str

    @property
    def total(self) -> float:
        return sum(self.values.values())


def ranked(amounts: Mapping[str, Mapping[dt.date, float]], beside: Sequence[Series] = ()) -> list[Series]:
    """The largest by name, each in its own colour, and all others as one. A name that is also in the chart `beside`
    has the same colour in both."""
    order = sorted(amounts, key=lambda name: (-sum(amounts[name].values()), name))
    order = [name for name in order if any(amounts[name].values())]
    known = {one.label: one.mark for one in beside if one.label in order[:MOST_SERIES]}
    free = (mark for n in range(1, MOST_SERIES + 1) if (mark := f"series-{n}") not in known.values())
    found = [Series(name, amounts[name], known.get(name) or next(free)) for name in order[:MOST_SERIES]]
    rest: dict[dt.date, float] = {}
    for name in order[MOST_SERIES:]:
        for day, value in amounts[name].items():
            rest[day] = rest.get(day, 0) + value
    return [*found, Series(REST, rest, "series-rest")] if rest else found


def stacked(
    key: str,
    title: str,
    days: Sequence[dt.date],
    series: Sequence[Series],
    words: Words,
    empty: str,
    *,
    ticks: Words | None = None,
    first: str = "Day",
) -> Picture:
    """One bar for each of `days`. `words` formats an amount, `ticks` a short one; `first` is the heading of the days."""
    sums = [sum(one.values.get(day, 0) for one in series) for day in days]
    if not any(sums):
        return Picture(key, title, empty=empty)
    plot = Plot(round_up(max(sums)), len(days))
    top = max(range(len(days)), key=lambda place: sums[place])
    named = ", ".join(f"{one.label} {words(one.total)}" for one in series)
    whole = words(sum(sums))
    sentence = f"{whole} in all, {_most(first, short_day(days[top]), words(sums[top]), whole)}."
    parts = [*plot.frame(ticks or words), *_bars(plot, days, series, words), *plot.days(days)]
    return Picture(
        key,
        title,
        sentence,
        shapes.image(key, title, f"{sentence} {named}.", parts),
        legend=tuple(Key(one.mark, f"{one.label}, {words(one.total)}") for one in series),
        head=(first, *(one.label for one in series), "All"),
        rows=tuple(_rows(days, series, words)),
    )


def _most(first: str, day: str, amount: str, whole: str) -> str:
    """The day with the highest amount: "most on 3 Nov: 12", "most in the week from 3 Nov: 12" or "all on 3 Nov"."""
    when = f"on {day}" if first == "Day" else f"in the week from {day}"
    return f"all {when}" if amount == whole else f"most {when}: {amount}"


def _bars(
    plot: Plot, days: Sequence[dt.date], series: Sequence[Series], words: Words
) -> Iterator[SafeString]:
    gap = min(3.0, plot.slot * 0.25)
    for place, day in enumerate(days):
        parts: list[SafeString] = []
        below = 0.0
        for one in series:
            value = one.values.get(day, 0)
            if value <= 0:
                continue
            low, high = plot.y(below), plot.y(below + value)
            below += value
            parts.append(
                shapes.element(
                    "rect",
                    class_=one.mark,
                    x=plot.x(place) + gap / 2,
                    y=high,
                    width=plot.slot - gap,
                    height=low - high,
                )
            )
        if parts:
            yield shapes.titled(f"{long_day(day)}: {words(below)}", *parts)


def _rows(days: Sequence[dt.date], series: Sequence[Series], words: Words) -> Iterator[tuple[str, ...]]:
    for day in reversed(days):
        values = [one.values.get(day, 0) for one in series]
        if any(values):
            yield (long_day(day), *(words(value) if value else "" for value in values), words(sum(values)))
