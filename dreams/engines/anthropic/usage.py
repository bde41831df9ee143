"""What a dream's requests used, by model, and what they cost. PURE: no Django.

Prices are dollars per million tokens and are handed in; a model without one has tokens and no cost, never a guess.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal

from dreams.engines.tokens import Dollars, ModelUsage, Tokens
from dreams.engines.types import Usage

__all__ = [
    "MILLION",
    "Ledger",
    "PriceTable",
    "Rate",
    "Tokens",
    "as_usage",
    "joined",
    "rate_for",
    "same_model",
]

MILLION = Decimal(1_000_000)
# What a model's id may carry behind its name: the day of a snapshot, or a variant in brackets.
_VARIANT = re.compile(r"(?:[-@]20\d{6}|-latest|\[[a-z0-9]{1,12}\])+\Z")


@dataclass(frozen=True, slots=True)
class Rate:
    """Dollars per million tokens, for prompts of more than `above_prompt_tokens`."""

    input: Decimal
    output: Decimal
    cache_write_5m: Decimal
    cache_write_1h: Decimal
    cache_read: Decimal
    above_prompt_tokens: int = 0

    @classmethod
    def of(cls, dollars_in: str, dollars_out: str, above_prompt_tokens: int = 0) -> Rate:
        """With the usual factors of prompt caching: writes 1.25 (5 min) and 2 (1 h), reads 0.1 of the input price."""
        price = Decimal(dollars_in)
        return cls(
            input=price,
            output=Decimal(dollars_out),
            cache_write_5m=price * Decimal("1.25"),
            cache_write_1h=price * 2,
            cache_read=price / 10,
            above_prompt_tokens=above_prompt_tokens,
        )

    def dollars(self, tokens: Tokens) -> Dollars:
        return Dollars(
            input=self.input * tokens.input / MILLION,
            output=self.output * tokens.output / MILLION,
            cache_read=self.cache_read * tokens.cache_read / MILLION,
            cache_write_5m=self.cache_write_5m * tokens.cache_write_5m / MILLION,
            cache_write_1h=self.cache_write_1h * tokens.cache_write_1h / MILLION,
        )

    def cost(self, tokens: Tokens) -> Decimal:
        return self.dollars(tokens).total


PriceTable = Mapping[str, Sequence[Rate]]


def same_model(model: str) -> str:
    """The name that a model's price is under: a dated id (`…-20260930`) has the price of its model."""
    return _VARIANT.sub("", model)


def rate_for(prices: PriceTable, model: str, prompt_tokens: int) -> Rate | None:
    """The rate that holds for a prompt of this size; None for a model without a price."""
    rates = prices.get(model) or prices.get(same_model(model)) or ()
    fitting = [
        rate for rate in rates if rate.above_prompt_tokens == 0 or prompt_tokens > rate.above_prompt_tokens
    ]
    return max(fitting, key=lambda rate: rate.above_prompt_tokens, default=None)


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
