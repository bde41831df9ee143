"""What a dream's requests used, by model, and what they cost. PURE: no Django."""

from __future__ import annotations

from collections.abc import Iterable
from decimal import Decimal

from dreams.engines.tokens import ModelUsage, PriceTable, Tokens, rate_for
from dreams.engines.types import Usage


class Ledger:
    """What a dream has used so far, by model. Every request is priced by itself: tiers depend on its prompt."""

    def __init__(self, prices: PriceTable) -> None:
        self.prices = prices
        self.by_model: dict[str, ModelUsage] = {}
        # Dollars of the requests that have a price: what the limits are held against.
        self.dollars = Decimal(0)

    def add(self, model: str, tokens: Tokens) -> Usage:
        """Book one request; returns it as the usage of a turn."""
        rate = rate_for(self.prices, model, tokens.prompt)
        booked = ModelUsage(model, 1, tokens, rate.dollars(tokens) if rate else None)
        before = self.by_model.get(model)
        self.by_model[model] = before + booked if before else booked
        self.dollars += booked.dollars.total if booked.dollars else 0
        return as_usage([booked])

    @property
    def tokens(self) -> Tokens:
        return sum((used.tokens for used in self.by_model.values()), Tokens())

    def usage(self) -> Usage:
        return as_usage(self.by_model.values())


def as_usage(by_model: Iterable[ModelUsage]) -> Usage:
    """All models together; a cost that one of them does not have is not known."""
    rows = tuple(by_model)
    tokens = sum((row.tokens for row in rows), Tokens())
    dollars = [row.dollars.total for row in rows if row.dollars is not None]
    return Usage(
        input_tokens=tokens.input,
        output_tokens=tokens.output,
        cache_read_tokens=tokens.cache_read,
        cache_creation_tokens=tokens.cache_write,
        cost_usd=sum(dollars, Decimal(0)) if len(dollars) == len(rows) else None,
        requests=sum(row.requests for row in rows),
        by_model=rows,
    )


def joined(usages: Iterable[Usage]) -> Usage:
    """Several together, one row per model. Priced and unpriced requests of one model stay apart, so that neither
    hides the other."""
    rows: dict[tuple[str, bool], ModelUsage] = {}
    for row in (row for usage in usages for row in usage.by_model):
        key = row.model, row.dollars is None
        rows[key] = rows[key] + row if key in rows else row
    return as_usage(rows.values())
