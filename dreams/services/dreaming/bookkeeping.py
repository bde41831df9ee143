"""What a dream used: one row per turn and model, beside the dream's own sums for lists; written, and read back."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal

from django.db.models import BooleanField, Case, F, Sum, Value, When
from django.db.models.functions import Coalesce

from dreams.engines.tokens import KINDS, Dollars, ModelUsage, Tokens
from dreams.engines.types import Usage, Work
from dreams.models import DreamRun, DreamUsage


def book(dream: DreamRun, turn: int, at: dt.datetime, usage: Usage) -> None:
    """Keep what a turn used, also of a dream that was ended meanwhile: it is paid for all the same.

    Call it in the transaction that keeps the turn, so that both are there or neither.
    """
    DreamUsage.objects.bulk_create(_row(dream, turn, at, used) for used in usage.by_model)
    if usage.by_model:
        DreamRun.objects.filter(pk=dream.pk).update(**_grown(usage))


def _row(dream: DreamRun, turn: int, at: dt.datetime, used: ModelUsage) -> DreamUsage:
    tokens = {f"{kind}_tokens": getattr(used.tokens, kind) for kind in KINDS}
    dollars = {f"{kind}_usd": getattr(used.dollars, kind) for kind in KINDS} if used.dollars else {}
    cost = used.dollars.total if used.dollars else None
    return DreamUsage(
        dream=dream,
        turn=turn,
        at=at,
        model=used.model[:100],
        requests=used.requests,
        cost_usd=cost,
        **tokens,
        **dollars,
    )


def _grown(usage: Usage) -> dict[str, object]:
    """The dream's own sums with one turn's added."""
    kinds = ("input_tokens", "output_tokens", "cache_read_tokens", "cache_creation_tokens")
    grown: dict[str, object] = {name: F(name) + getattr(usage, name) for name in kinds}
    priced = [used.dollars.total for used in usage.by_model if used.dollars is not None]
    if priced:
        grown["cost_usd"] = Coalesce(F("cost_usd"), Decimal(0)) + sum(priced, Decimal(0))
    unpriced = sum(used.tokens.total for used in usage.by_model if used.dollars is None)
    # What was set aside for it is spent now.
    return {**grown, "unpriced_tokens": F("unpriced_tokens") + unpriced, "reserved_usd": None}


# --- Read back ----------------------------------------------------------------------------------------------------


def used_by_model(dream: DreamRun) -> list[ModelUsage]:
    """What each model was asked, the dearest first; one query. Requests with and without a price stand apart."""
    priced = Case(
        When(cost_usd__isnull=False, then=Value(True)), default=Value(False), output_field=BooleanField()
    )
    rows = (
        dream.usage.annotate(priced=priced)
        .values("model", "priced")
        .annotate(
            n=Sum("requests"),
            **{kind: Sum(f"{kind}_tokens") for kind in KINDS},
            **{f"{kind}_cost": Sum(f"{kind}_usd") for kind in KINDS},
        )
        .order_by("-priced", "model")
    )
    found = [
        ModelUsage(
            row["model"],
            row["n"],
            Tokens.of(row),
            Dollars.of(row) if row["priced"] else None,
        )
        for row in rows
    ]
    return sorted(found, key=lambda used: used.dollars.total if used.dollars else Decimal(-1), reverse=True)


def work_of(dream: DreamRun) -> Work:
    """Time and lines of all turns; one query."""
    names = ("api_ms", "api_ms_without_retries", "tool_ms", "lines_added", "lines_removed")
    sums = dream.turns.aggregate(**{name: Sum(name) for name in names})
    return Work(**{name: total or 0 for name, total in sums.items()})
