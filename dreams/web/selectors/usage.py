"""Tokens and what they cost, by day, model and project: of sessions, and of dreams."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal

from django.db.models import Case, Count, F, IntegerField, QuerySet, Sum, Value, When
from django.db.models.functions import TruncDate
from django.utils import timezone

from dreams.models import DreamRun, Project, RequestUsage
from dreams.web.selectors.prices import PriceList, Tokens

PERIODS = {"7": "7 days", "30": "30 days", "90": "90 days", "365": "A year"}
DEFAULT_PERIOD = "30"
MOST_LINES = 20
# The chart's own units; it scales with the page.
WIDTH, HEIGHT, FOOT, LEFT = 960, 200, 22, 52


@dataclass(slots=True)
class Total:
    """Tokens and dollars added up. `unpriced` are tokens for which no price is known."""

    tokens: Tokens = field(default_factory=Tokens)
    cost: Decimal = Decimal(0)
    unpriced: int = 0
    requests: int = 0

    def add(self, tokens: Tokens, cost: Decimal | None, requests: int = 0) -> None:
        self.tokens = self.tokens + tokens
        self.requests += requests
        if cost is None:
            self.unpriced += tokens.total
        else:
            self.cost += cost

    @property
    def price(self) -> Decimal | None:
        """None when not a single token has a known price."""
        return None if self.unpriced and self.unpriced == self.tokens.total else self.cost


@dataclass(frozen=True, slots=True)
class Line:
    """One row of a table: a model or a project."""

    name: str
    pk: int | None
    sum: Total
    share: float


@dataclass(frozen=True, slots=True)
class Bar:
    """One day of the chart, in its units. Parts from the bottom up: fresh input, cache writes, reads, output."""

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
    width: int = WIDTH
    height: int = HEIGHT
    foot: int = HEIGHT + FOOT
    left: int = LEFT


@dataclass(frozen=True, slots=True)
class Usage:
    period: str
    total: Total
    chart: Chart
    models: list[Line]
    projects: list[Line]
    more_projects: int
    dreams: Total
    dream_runs: int
    dream_models: list[Line]
    has_prices: bool


@dataclass(frozen=True, slots=True)
class _Cell:
    """Tokens of one day, model, project and price tier."""

    day: dt.date | None
    model: str
    project: int
    tokens: Tokens
    cost: Decimal | None
    requests: int


def usage(now: dt.datetime, period: str = DEFAULT_PERIOD) -> Usage:
    days = int(period)
    today = timezone.localtime(now).date()
    since = timezone.localtime(now).replace(hour=0, minute=0, second=0, microsecond=0) - dt.timedelta(
        days - 1
    )
    prices = PriceList.load()
    cells = list(_cells(since, prices))
    names = dict(Project.objects.values_list("pk", "name"))
    by_project = _lines(
        cells, lambda cell: str(cell.project), lambda key: names.get(int(key)) or "a project", True
    )
    total = Total()
    for cell in cells:
        total.add(cell.tokens, cell.cost, cell.requests)
    dreams, runs, dream_models = _dreams(since)
    return Usage(
        period=period,
        total=total,
        chart=_chart(cells, today, days),
        models=_lines(cells, lambda cell: cell.model, lambda key: key or "unnamed model")[:MOST_LINES],
        projects=by_project[:MOST_LINES],
        more_projects=max(0, len(by_project) - MOST_LINES),
        dreams=dreams,
        dream_runs=runs,
        dream_models=dream_models,
        has_prices=bool(prices.rows),
    )


def _cells(since: dt.datetime, prices: PriceList) -> Iterable[_Cell]:
    """Summed up in the database, so that a page over a year costs rows per day and not per request."""
    rows = (
        _tiered(RequestUsage.objects.filter(at__gte=since), prices.thresholds)
        .annotate(day=TruncDate("at"))
        .values("day", "model", "session__project", "tier")
        .annotate(
            input=Sum("input_tokens"),
            output=Sum("output_tokens"),
            write_5m=Sum("cache_write_5m_tokens"),
            write_1h=Sum("cache_write_1h_tokens"),
            read=Sum("cache_read_tokens"),
            n=Count("pk"),
        )
        .order_by()
    )
    for row in rows:
        tokens = Tokens(row["input"], row["output"], row["write_5m"], row["write_1h"], row["read"])
        cost = prices.cost(row["model"], tokens, row["day"], row["tier"])
        yield _Cell(row["day"], row["model"], row["session__project"], tokens, cost, row["n"])


def _tiered(rows: QuerySet[RequestUsage], thresholds: Sequence[int]) -> QuerySet[RequestUsage]:
    """Each request with the highest threshold that its prompt exceeds: long prompts cost more with some models."""
    prompt = (
        F("input_tokens") + F("cache_write_5m_tokens") + F("cache_write_1h_tokens") + F("cache_read_tokens")
    )
    rows = rows.annotate(prompt=prompt)
    whens = [When(prompt__gt=limit, then=Value(limit)) for limit in sorted(thresholds, reverse=True)]
    return rows.annotate(tier=Case(*whens, default=Value(0), output_field=IntegerField()))


def _lines(
    cells: Iterable[_Cell],
    key_of: Callable[[_Cell], str],
    name_of: Callable[[str], str],
    numbered: bool = False,
) -> list[Line]:
    sums: dict[str, Total] = {}
    for cell in cells:
        sums.setdefault(key_of(cell), Total()).add(cell.tokens, cell.cost, cell.requests)
    whole = sum(found.tokens.total for found in sums.values()) or 1
    lines = [
        Line(name_of(key), int(key) if numbered else None, found, 100 * found.tokens.total / whole)
        for key, found in sums.items()
        if found.tokens.total
    ]
    return sorted(lines, key=lambda line: line.sum.tokens.total, reverse=True)


def _dreams(since: dt.datetime) -> tuple[Total, int, list[Line]]:
    """What dreams used, with the cost that was known when they ran."""
    rows = (
        DreamRun.objects.filter(started_at__gte=since)
        .exclude(engine="rules")
        .values_list(
            "model", "input_tokens", "output_tokens", "cache_read_tokens", "cache_creation_tokens", "cost_usd"
        )
    )
    total = Total()
    sums: dict[str, Total] = {}
    for model, read, written, cached, made, cost in rows[:50_000]:
        tokens = Tokens(read, written, made, 0, cached)
        total.add(tokens, cost, 1)
        sums.setdefault(model or "unnamed model", Total()).add(tokens, cost, 1)
    lines = [Line(name, None, found, 0) for name, found in sorted(sums.items())]
    return total, DreamRun.objects.filter(started_at__gte=since).count(), lines


# --- The chart ----------------------------------------------------------------------------------------------------

_PARTS: Mapping[str, Callable[[Tokens], int]] = {
    "read": lambda tokens: tokens.cache_read,
    "write": lambda tokens: tokens.cache_write_5m + tokens.cache_write_1h,
    "input": lambda tokens: tokens.input,
    "output": lambda tokens: tokens.output,
}


def _chart(cells: Iterable[_Cell], today: dt.date, days: int) -> Chart:
    by_day: dict[dt.date, Total] = {}
    for cell in cells:
        if cell.day is not None:
            by_day.setdefault(cell.day, Total()).add(cell.tokens, cell.cost, cell.requests)
    step = _bucket(days)
    first = today - dt.timedelta(days - 1)
    buckets = [_bucket_of(by_day, first + dt.timedelta(start), step) for start in range(0, days, step)]
    top = _round_up(max((found.tokens.total for _, found in buckets), default=0))
    slot = (WIDTH - LEFT) / len(buckets)
    bars = [_bar(day, found, LEFT + slot * number, slot, top) for number, (day, found) in enumerate(buckets)]
    every = max(1, round(len(bars) / 8))
    unit = {1: "day", 7: "week"}.get(step, f"{step} days")
    whole = sum(found.tokens.total for _, found in buckets)
    busiest = max(buckets, key=lambda pair: pair[1].tokens.total)
    return Chart(
        bars=bars,
        ticks=[(round(HEIGHT * (1 - share), 1), round(top * share)) for share in (0.5, 1.0)] if whole else [],
        days=[(round(bar.x + bar.width / 2, 1), f"{bar.day:%-d %b}") for bar in bars[::every]],
        label=(
            f"Tokens per {unit}. The most on {busiest[0]:%-d %B}: {busiest[1].tokens.total:,}. "
            "The table below has every value."
            if whole
            else "No tokens in this time."
        ),
    )


def _bucket(days: int) -> int:
    return 7 if days > 90 else 1


def _bucket_of(by_day: Mapping[dt.date, Total], first: dt.date, step: int) -> tuple[dt.date, Total]:
    total = Total()
    for offset in range(step):
        found = by_day.get(first + dt.timedelta(offset))
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
    gap = min(6.0, slot * 0.25)
    label = f"{day:%-d %B}: {found.tokens.total:,} tokens"
    return Bar(day, round(x + gap / 2, 2), round(slot - gap, 2), parts, found, label)


def _round_up(value: int) -> int:
    """The next one-digit number with zeros: a scale that people read."""
    if value <= 0:
        return 0
    power: int = 10 ** (len(str(value)) - 1)
    return -(-value // power) * power
