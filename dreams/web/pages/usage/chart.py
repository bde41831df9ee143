"""The chart of the usage page: tokens by day, as shapes that fit any width."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from dreams.engines.tokens import Tokens
from dreams.web.pages.usage.cells import Cell, Total, by_day

# Across in hundredths of the page's width, so that every bar is seen on a phone too; up in pixels.
WIDTH, HEIGHT, FOOT = 100, 200, 22
GAP = 0.6


@dataclass(frozen=True, slots=True)
class Bar:
    """One day of the chart. Parts from the bottom up: fresh input, cache writes, reads, output."""

    day: dt.date
    x: float
    width: float
    parts: list[tuple[str, float, float]]
    sum: Total
    label: str


@dataclass(frozen=True, slots=True)
class Chart:
    bars: list[Bar]
    ticks: list[tuple[float, int]]
    days: list[tuple[float, str]]
    label: str
    height: int = HEIGHT
    foot: int = HEIGHT + FOOT


_PARTS: Mapping[str, Callable[[Tokens], int]] = {
    "read": lambda tokens: tokens.cache_read,
    "write": lambda tokens: tokens.cache_write,
    "input": lambda tokens: tokens.input,
    "output": lambda tokens: tokens.output,
}


def chart(cells: Iterable[Cell], today: dt.date, days: int) -> Chart:
    days_used = dict(by_day(cells))
    step = _bucket(days)
    first = today - dt.timedelta(days - 1)
    buckets = [_bucket_of(days_used, first + dt.timedelta(start), step) for start in range(0, days, step)]
    top = _round_up(max((found.tokens.total for _, found in buckets), default=0))
    slot = WIDTH / len(buckets)
    bars = [_bar(day, found, slot * number, slot, top) for number, (day, found) in enumerate(buckets)]
    every = max(1, round(len(bars) / 8))
    unit = {1: "day", 7: "week"}.get(step, f"{step} days")
    whole = sum(found.tokens.total for _, found in buckets)
    busiest = max(buckets, key=lambda pair: pair[1].tokens.total)
    return Chart(
        bars=bars,
        ticks=[(round(HEIGHT * (1 - share), 1), round(top * share)) for share in (0.5, 1.0)] if whole else [],
        days=[(round(bar.x + bar.width / 2, 2), f"{bar.day:%-d %b}") for bar in bars[::every]],
        label=(
            f"Tokens per {unit}. The most on {busiest[0]:%-d %B}: {busiest[1].tokens.total:,}. "
            "The table below has every value."
            if whole
            else "No tokens in this time."
        ),
    )


def _bucket(days: int) -> int:
    return 7 if days > 90 else 1


def _bucket_of(days_used: Mapping[dt.date, Total], first: dt.date, step: int) -> tuple[dt.date, Total]:
    total = Total()
    for offset in range(step):
        found = days_used.get(first + dt.timedelta(offset))
        if found is not None:
            total.add(found.tokens, found.cost, found.requests)
            total.unpriced += found.unpriced
    return first, total


def _bar(day: dt.date, found: Total, x: float, slot: float, top: int) -> Bar:
    parts: list[tuple[str, float, float]] = []
    y = float(HEIGHT)
    for name, of in _PARTS.items():
        height = HEIGHT * of(found.tokens) / top if top else 0.0
        if height > 0:
            y -= height
            parts.append((name, round(y, 2), round(height, 2)))
    gap = min(GAP, slot * 0.25)
    label = f"{day:%-d %B}: {found.tokens.total:,} tokens"
    return Bar(day, round(x + gap / 2, 2), round(slot - gap, 2), parts, found, label)


def _round_up(value: int) -> int:
    """The next one-digit number with zeros: a scale that people read."""
    if value <= 0:
        return 0
    power: int = 10 ** (len(str(value)) - 1)
    return -(-value // power) * power
