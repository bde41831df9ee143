"""Tokens of a day, a model and a project, priced where a price is known, and how they add up."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

from django.db.models import Case, Q, QuerySet, Sum, Value, When

from dreams.engines.tokens import KINDS, Tokens
from dreams.models import DreamUsage
from dreams.web.pages.usage import days

SUMS = {kind: Sum(f"{kind}_tokens") for kind in KINDS}
DREAM_SUMS = {**SUMS, "cost": Sum("cost_usd"), "n": Sum("requests")}
NO_PROJECT = 0


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


def of_dreams(since: dt.datetime) -> list[Cell]:
    """What dreams used on each day, at the prices of when they ran; what had none stands apart."""
    rows, day_of = days.by_day(_of_dreams(since), since)
    summed = rows.values("date", "part", "model", "priced").annotate(**DREAM_SUMS).order_by()
    return [_dreamt(row, day_of(row["date"], row["part"]), NO_PROJECT) for row in summed]


def of_dreams_by_project(since: dt.datetime) -> list[Cell]:
    """The same by project, without days."""
    summed = _of_dreams(since).values("dream__project", "model", "priced").annotate(**DREAM_SUMS).order_by()
    return [_dreamt(row, None, row["dream__project"]) for row in summed]


def _of_dreams(since: dt.datetime) -> QuerySet[Any]:
    priced = Case(When(cost_usd__isnull=False, then=Value(1)), default=Value(0))
    return DreamUsage.objects.filter(at__gte=since).annotate(priced=priced)


def _dreamt(row: Mapping[str, Any], day: dt.date | None, project: int) -> Cell:
    return Cell(day, row["model"], project, Tokens.of(row), row["cost"], row["n"])


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
