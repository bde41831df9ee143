"""Amounts over time, one above the other, each as a line that holds until it changes."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from dataclasses import dataclass

from django.utils.safestring import SafeString

from dreams.web.charts import svg
from dreams.web.charts.base import Picture, Plot, Words, long_day, round_up

# Of each measure's own part, and of the room above it, where its name stands clear of its line.
_EACH = 90
_APART = 18


@dataclass(frozen=True, slots=True)
class Measure:
    """One amount per day. `words` says it in full ("12 files"), `ticks` beside a line ("12")."""

    name: str
    values: Sequence[float]
    words: Words
    ticks: Words


def over_time(
    key: str, title: str, days: Sequence[dt.date], measures: Sequence[Measure], empty: str
) -> Picture:
    """`days` follow each other, oldest first, and every measure has a value for each."""
    if not days or not any(any(measure.values) for measure in measures):
        return Picture(key, title, empty=empty)
    height = _EACH * len(measures) + svg.BOTTOM
    now = ", ".join(measure.words(measure.values[-1]) for measure in measures)
    then = ", ".join(measure.words(measure.values[0]) for measure in measures)
    sentence = f"{now} now{', as' if now == then else f'; {then}'} on {long_day(days[0])}."
    parts: list[SafeString] = []
    for number, measure in enumerate(measures):
        ground = _EACH * (number + 1) + svg.BOTTOM
        top = round_up(max(measure.values))
        plot = Plot(top, len(days), ground, above=_EACH * number + _APART)
        parts += [*plot.frame(measure.ticks), *_area(plot, measure.values)]
        parts.append(svg.text(plot.right, plot.above - 6, measure.name, "end"))
    parts += Plot(1, len(days), height).days(days)
    return Picture(
        key,
        title,
        sentence,
        svg.image(key, title, sentence, parts, height),
        head=("Day", *(measure.name for measure in measures)),
        rows=tuple(_rows(days, measures)),
    )


def _area(plot: Plot, values: Sequence[float]) -> list[SafeString]:
    corners = [(plot.x(place + edge), plot.y(value)) for place, value in enumerate(values) for edge in (0, 1)]
    path = " L".join(f"{svg.number(x)} {svg.number(y)}" for x, y in corners)
    ground = svg.number(plot.ground)
    closed = f"M{svg.number(plot.left)} {ground} L{path} L{svg.number(corners[-1][0])} {ground} Z"
    return [svg.element("path", class_="area", d=closed), svg.element("path", class_="stroke", d=f"M{path}")]


def _rows(days: Sequence[dt.date], measures: Sequence[Measure]) -> list[tuple[str, ...]]:
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
