"""Amounts over days as bars, each made of parts that stand on each other."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from django.utils.safestring import SafeString

from dreams.web.charts import svg
from dreams.web.charts.base import Key, Picture, Plot, Words, long_day, round_up, short_day

# More than these cannot be told apart; the rest is one.
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


def ranked(amounts: Mapping[str, Mapping[dt.date, float]]) -> list[Series]:
    """The largest by name, each with a colour of its own, and all others as one."""
    order = sorted(amounts, key=lambda name: (-sum(amounts[name].values()), name))
    order = [name for name in order if any(amounts[name].values())]
    found = [Series(name, amounts[name], f"series-{n}") for n, name in enumerate(order[:MOST_SERIES], 1)]
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
    """One bar for each of `days`. `words` says an amount, `ticks` a short one; `first` heads the table's days."""
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
        svg.image(key, title, f"{sentence} {named}.", parts),
        legend=tuple(Key(one.mark, f"{one.label}, {words(one.total)}") for one in series),
        head=(first, *(one.label for one in series), "All"),
        rows=tuple(_rows(days, series, words)),
    )


def _most(first: str, day: str, amount: str, whole: str) -> str:
    """When most of it was: "most on 3 Nov: 12", "most in the week from 3 Nov: 12", or all of it."""
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
                svg.element(
                    "rect",
                    class_=one.mark,
                    x=plot.x(place) + gap / 2,
                    y=high,
                    width=plot.slot - gap,
                    height=low - high,
                )
            )
        if parts:
            yield svg.titled(f"{long_day(day)}: {words(below)}", *parts)


def _rows(days: Sequence[dt.date], series: Sequence[Series], words: Words) -> Iterator[tuple[str, ...]]:
    for day in reversed(days):
        values = [one.values.get(day, 0) for one in series]
        if any(values):
            yield (long_day(day), *(words(value) if value else "" for value in values), words(sum(values)))
