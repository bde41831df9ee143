"""What was used, drawn: tokens by day as bars, by model and week as pictures, and how dreams went over time."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Any

from django.db.models import Count, F, QuerySet, Value
from django.db.models.functions import Concat
from django.utils import timezone

from dreams.engines.tokens import Tokens
from dreams.lib.amounts import money
from dreams.lib.amounts import tokens as counted
from dreams.lib.files.text import plural
from dreams.models import DreamRun, DreamUsage
from dreams.models.prepared import prepared
from dreams.web.charts.drawings import MOST, Run, Series, durations, ranked, stacked
from dreams.web.charts.shapes import Picture, whole
from dreams.web.pages import usage_sums as cells_of
from dreams.web.pages.usage_sums import SUMS, Cell, Total, total_by_day

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
    days_used = dict(total_by_day(cells))
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


WEEK = 7  # in days
# Beyond this many days a bar is a week: a bar of a day would be thinner than a line.
MOST_SINGLE_DAYS = 90
DREAM_WEEKS = 12
_STATES = {"completed": "completed", "failed": "failed", "killed": "cancelled"}


def by_model(sessions: Sequence[Cell], spent: Sequence[Cell], today: dt.date, days: int) -> list[Picture]:
    """Tokens and cost of sessions, and what memoryweb spent, each by model over the last `days`. No query."""
    step = WEEK if days > MOST_SINGLE_DAYS else 1
    starts = _starts(today, days, step)
    first = "Day" if step == 1 else "Week from"
    tokens = ranked(_tokens(sessions, starts, step))
    return [
        stacked(
            "tokens-by-model",
            "Tokens by model",
            starts,
            tokens,
            _count,
            "No tokens in this time.",
            first=first,
        ),
        stacked(
            "cost-by-model",
            "Cost by model",
            starts,
            ranked(_costs(sessions, starts, step), tokens),
            money,
            "No tokens of a known price in this time.",
            first=first,
        ),
        stacked(
            "spent-by-model",
            "Spent by memoryweb",
            starts,
            ranked(_costs(spent, starts, step), tokens),
            money,
            "memoryweb spent nothing in this time.",
            first=first,
        ),
    ]


def _count(value: float) -> str:
    return counted(round(value))


def _starts(today: dt.date, days: int, step: int) -> list[dt.date]:
    """The first day of every bar, as the page's own chart has them."""
    first = today - dt.timedelta(days - 1)
    return [first + dt.timedelta(start) for start in range(0, days, step)]


def _tokens(cells: Iterable[Cell], starts: Sequence[dt.date], step: int) -> dict[str, dict[dt.date, float]]:
    return _summed(((cell.model, cell.day, cell.tokens.total) for cell in cells), starts, step)


def _costs(cells: Iterable[Cell], starts: Sequence[dt.date], step: int) -> dict[str, dict[dt.date, float]]:
    return _summed(((cell.model, cell.day, float(cell.cost or 0)) for cell in cells), starts, step)


def _summed(
    amounts: Iterable[tuple[str, dt.date | None, float]], starts: Sequence[dt.date], step: int
) -> dict[str, dict[dt.date, float]]:
    found: dict[str, dict[dt.date, float]] = {}
    for model, day, amount in amounts:
        if day is None or day < starts[0]:
            continue
        place = min((day - starts[0]).days // step, len(starts) - 1)
        sums = found.setdefault(model or "unnamed model", {})
        sums[starts[place]] = sums.get(starts[place], 0) + amount
    return found


def of_dreams(now: dt.datetime, project: int | None = None) -> Sequence[Picture]:
    """How long the last dreams took, how many there were in each week, and what they used. Three queries."""
    starts = _weeks(now)
    since = cells_of.midnight(starts[0])
    cuts = cells_of.cuts_since(since)
    return _drawn(
        tuple(starts),
        cuts,
        str(timezone.get_current_timezone()),
        tuple(_last_rows(project)),
        tuple(_states_counted(project, since, cuts)),
        tuple(_used_days(project, since, cuts)),
    )


@lru_cache(maxsize=64)
def _drawn(
    starts: Sequence[dt.date],
    cuts: cells_of.Cuts,
    zone: str,
    last: Sequence[tuple[Any, ...]],
    states: Sequence[tuple[Any, ...]],
    used: Sequence[tuple[Any, ...]],
) -> Sequence[Picture]:
    """Once for the same rows; `zone` is the one that days are of."""
    del zone
    day = partial(cells_of.day_of, cuts)
    return (
        durations("dream-durations", "How long dreams took", _runs(last), "No dream has ended yet."),
        stacked(
            "dreams-by-week",
            "Dreams by week",
            starts,
            _by_state(
                _summed(((state, day(date, part), n) for state, date, part, n in states), starts, WEEK)
            ),
            lambda count: plural(round(count), "dream"),
            f"No dream in the last {DREAM_WEEKS} weeks.",
            ticks=whole,
            first="Week from",
        ),
        stacked(
            "dream-tokens",
            "Tokens of dreams by week",
            starts,
            ranked(
                _summed(((model, day(date, part), sum(n)) for model, date, part, *n in used), starts, WEEK)
            ),
            _count,
            f"No dream used a model in the last {DREAM_WEEKS} weeks. Rules use no tokens.",
            first="Week from",
        ),
    )


def _weeks(now: dt.datetime) -> list[dt.date]:
    """The Mondays of the last weeks, this one's last."""
    today = timezone.localtime(now).date()
    monday = today - dt.timedelta(today.weekday())
    return [monday - dt.timedelta(weeks=back) for back in reversed(range(DREAM_WEEKS))]


def _runs(rows: Sequence[tuple[Any, ...]]) -> list[Run]:
    """Oldest first."""
    return [
        Run(timezone.localtime(ended).date(), max(0.0, (ended - started).total_seconds()), status, name)
        for name, status, started, ended in reversed(rows)
    ]


def _ended(project: int | None) -> QuerySet[DreamRun]:
    runs = DreamRun.objects.filter(started_at__isnull=False, ended_at__isnull=False)
    return runs if project is None else runs.filter(project=project)


@prepared
def _last_rows(project: int | None) -> QuerySet[DreamRun, tuple[Any, ...]]:
    rows = _ended(project).order_by(F("ended_at").desc(nulls_last=True), "-pk")
    return rows.values_list("public_id", "status", "started_at", "ended_at")[:MOST]


def _by_state(found: Mapping[str, Mapping[dt.date, float]]) -> list[Series]:
    return [
        Series(label, found[state], f"state-{state}") for state, label in _STATES.items() if state in found
    ]


@prepared
def _states_counted(
    project: int | None, since: dt.datetime, cuts: cells_of.Cuts
) -> QuerySet[DreamRun, tuple[Any, ...]]:
    rows = cells_of.with_days(_ended(project).filter(ended_at__gte=since).order_by(), cuts, "ended_at")
    # As an expression: by the bare column SQLite would go through the index of states, and so through all dreams.
    states = rows.annotate(state=Concat("status", Value("")))
    found: QuerySet[DreamRun, tuple[Any, ...]] = states.values_list("state", "date", "part").annotate(
        n=Count("pk")
    )
    return found


@prepared
def _used_days(project: int | None, since: dt.datetime, cuts: cells_of.Cuts) -> QuerySet[Any]:
    used = DreamUsage.objects.filter(at__gte=since).order_by()
    rows = cells_of.with_days(used if project is None else used.filter(dream__project=project), cuts)
    found: QuerySet[Any] = rows.values_list("model", "date", "part").annotate(**SUMS)
    return found
