"""The ledger of a dream: one row per turn and model, beside the dream's own sums for lists."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal

from django.db.models import F
from django.db.models.functions import Coalesce

from dreams.engines.base import Usage
from dreams.engines.tokens import KINDS, ModelUsage
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
    return {**grown, "unpriced_tokens": F("unpriced_tokens") + unpriced}
