"""What a dream used, by model and kind of token, and how near it is to each of its limits."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass
from decimal import Decimal

from dreams import conf
from dreams.engines.tokens import KINDS, Dollars, ModelUsage
from dreams.models import DreamRun
from dreams.services import dreaming, pricing
from dreams.web import amounts


@dataclass(frozen=True, slots=True)
class Kind:
    """One kind of token; `cost` is None where the model has no price."""

    label: str
    tokens: int
    cost: Decimal | None


@dataclass(frozen=True, slots=True)
class OfModel:
    model: str
    requests: int
    tokens: int
    cost: Decimal | None
    kinds: list[Kind]


@dataclass(frozen=True, slots=True)
class Meter:
    """A limit and what is used of it, in words and as a share."""

    label: str
    words: str
    used: float
    limit: float


@dataclass(frozen=True, slots=True)
class DreamUsed:
    """`unpriced`: tokens of models without a price; `cost` is what is known of the rest, None when nothing is."""

    models: list[OfModel]
    tokens: int
    cost: Decimal | None
    unpriced: int
    unpriced_models: list[str]
    api: str
    api_without_retries: str
    in_tools: str
    lines_added: int
    lines_removed: int
    meters: list[Meter]


def used(run: DreamRun, turns: int, now: dt.datetime) -> DreamUsed:
    """A fixed number of queries: two, and two more for the meters of a dream that runs."""
    by_model = dreaming.used_by_model(run)
    work = dreaming.work_of(run)
    return DreamUsed(
        models=[_of_model(row) for row in by_model],
        tokens=run.tokens,
        cost=None
        if run.unpriced_tokens and run.unpriced_tokens == run.tokens
        else run.cost_usd or Decimal(0),
        unpriced=run.unpriced_tokens,
        unpriced_models=[row.model or "unnamed model" for row in by_model if row.dollars is None],
        api=spell_ms(work.api_ms),
        api_without_retries=spell_ms(work.api_ms_without_retries),
        in_tools=spell_ms(work.tool_ms),
        lines_added=work.lines_added,
        lines_removed=work.lines_removed,
        meters=[] if run.is_over or run.engine == "rules" else _meters(run, turns, now),
    )


def _of_model(row: ModelUsage) -> OfModel:
    known = row.dollars or Dollars()
    kinds = [
        Kind(label, count, getattr(known, kind) if row.dollars else None)
        for kind, label in KINDS.items()
        if (count := getattr(row.tokens, kind))
    ]
    cost = row.dollars.total if row.dollars else None
    return OfModel(row.model or "unnamed model", row.requests, row.tokens.total, cost, kinds)


def spell_ms(ms: int) -> str:
    """ "420 ms", "3.2 s", "4 min 10 s"; empty for nothing."""
    if not ms:
        return ""
    if ms < 1000:
        return f"{ms} ms"
    seconds = ms / 1000
    return f"{seconds:.1f} s" if seconds < 60 else f"{int(seconds // 60)} min {int(seconds % 60)} s"


def _meters(run: DreamRun, turns: int, now: dt.datetime) -> list[Meter]:
    """The limits that end a dream, as they stand at this moment; a limit of 0 dollars is none."""
    config = conf.current(run.project)
    seconds = max(0.0, (now - run.started_at).total_seconds()) if run.started_at else 0.0
    spent = pricing.spent(run.project, now, conf.zone(config))
    whole = [
        Meter("Turns", f"{turns} of {config.max_turns}", turns, config.max_turns),
        Meter("Time", f"{_clock(seconds)} of {_clock(config.max_seconds)}", seconds, config.max_seconds),
        Meter(
            "Tokens",
            f"{amounts.tokens(run.tokens)} of {amounts.tokens(config.max_tokens)}",
            run.tokens,
            config.max_tokens,
        ),
    ]
    dollars = (
        ("This dream", run.cost_usd or Decimal(0), config.max_cost_dream),
        ("Today, all dreams", spent.today, config.max_cost_day),
        ("This month, all dreams", spent.month, config.max_cost_month),
        ("This month, this project", spent.project_month, config.max_cost_project),
    )
    return whole + [
        Meter(label, f"{amounts.money(gone)} of {amounts.money(limit)}", float(gone), limit)
        for label, gone, limit in dollars
        if limit > 0
    ]


def _clock(seconds: float) -> str:
    return f"{int(seconds // 60)}:{int(seconds % 60):02d}"
