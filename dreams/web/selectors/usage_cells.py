"""Tokens of a day, a model and a project, priced where a price is known, and how they add up."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from decimal import Decimal

from django.db.models import Case, Q, Sum, Value, When
from django.db.models.functions import TruncDate

from dreams.engines.tokens import KINDS, Tokens
from dreams.models import DreamUsage

SUMS = {kind: Sum(f"{kind}_tokens") for kind in KINDS}


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
class Cell:
    """Tokens of one day, model, project and price tier."""

    day: dt.date | None
    model: str
    project: int
    tokens: Tokens
    cost: Decimal | None
    requests: int


@dataclass(frozen=True, slots=True)
class Line:
    """One row of a table: a model, a project, a day or a kind of token."""

    name: str
    pk: int | None
    sum: Total
    share: float


def of_dreams(since: dt.datetime) -> Iterator[Cell]:
    """What dreams used, at the prices of when they ran; what had none stands apart."""
    rows = (
        DreamUsage.objects.filter(at__gte=since)
        .annotate(
            day=TruncDate("at"),
            priced=Case(When(cost_usd__isnull=False, then=Value(1)), default=Value(0)),
        )
        .values("day", "model", "dream__project", "priced")
        .annotate(**SUMS, cost=Sum("cost_usd"), n=Sum("requests"))
        .order_by()
    )
    for row in rows:
        tokens = Tokens.of(row)
        yield Cell(row["day"], row["model"], row["dream__project"], tokens, row["cost"], row["n"])


def dream_kinds(since: dt.datetime) -> list[Line]:
    """What dreams used by kind of token, in reading order; kinds that were not used are left out."""
    unpriced = Q(cost_usd__isnull=True)
    sums = DreamUsage.objects.filter(at__gte=since).aggregate(
        **SUMS,
        **{f"{kind}_cost": Sum(f"{kind}_usd") for kind in KINDS},
        **{f"{kind}_unpriced": Sum(f"{kind}_tokens", filter=unpriced) for kind in KINDS},
    )
    lines = []
    for kind, label in KINDS.items():
        found = Total(
            Tokens(**{kind: sums[kind] or 0}),
            sums[f"{kind}_cost"] or Decimal(0),
            sums[f"{kind}_unpriced"] or 0,
        )
        lines += [Line(label, None, found, 0)] if found.tokens.total else []
    return lines


def total_of(cells: Iterable[Cell]) -> Total:
    total = Total()
    for cell in cells:
        total.add(cell.tokens, cell.cost, cell.requests)
    return total


def lines_of(
    cells: Iterable[Cell],
    key_of: Callable[[Cell], str],
    name_of: Callable[[str], str],
    *,
    numbered: bool = False,
) -> list[Line]:
    """Cells summed up by a key, the most tokens first."""
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


def by_day(cells: Iterable[Cell]) -> list[tuple[dt.date, Total]]:
    """The days on which anything was used, the newest first."""
    sums: dict[dt.date, Total] = {}
    for cell in cells:
        if cell.day is not None:
            sums.setdefault(cell.day, Total()).add(cell.tokens, cell.cost, cell.requests)
    return sorted(((day, found) for day, found in sums.items() if found.tokens.total), reverse=True)


def without_price(cells: Iterable[Cell]) -> list[str]:
    """Names of the models that have tokens and no price."""
    return sorted(
        {cell.model or "unnamed model" for cell in cells if cell.cost is None and cell.tokens.total}
    )
