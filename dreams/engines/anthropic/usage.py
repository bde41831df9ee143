"""Tokens by model and kind, and what they cost. PURE: no Django.

Prices are dollars per million tokens and are handed in; a model without one has tokens and no cost, never a guess.
Source of the kinds: `usage` of the Messages API (input is what was neither read from nor written to the cache).
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal

from dreams.engines.base import Usage

MILLION = Decimal(1_000_000)
_DATED = re.compile(r"-20\d{6}\Z")


@dataclass(frozen=True, slots=True)
class Tokens:
    input: int = 0
    output: int = 0
    cache_read: int = 0
    cache_write_5m: int = 0
    cache_write_1h: int = 0

    def __add__(self, other: Tokens) -> Tokens:
        return Tokens(
            self.input + other.input,
            self.output + other.output,
            self.cache_read + other.cache_read,
            self.cache_write_5m + other.cache_write_5m,
            self.cache_write_1h + other.cache_write_1h,
        )

    @property
    def prompt(self) -> int:
        """Everything that the model read."""
        return self.input + self.cache_read + self.cache_write_5m + self.cache_write_1h

    @property
    def total(self) -> int:
        return self.prompt + self.output


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

    def cost(self, tokens: Tokens) -> Decimal:
        millionths = (
            self.input * tokens.input
            + self.output * tokens.output
            + self.cache_read * tokens.cache_read
            + self.cache_write_5m * tokens.cache_write_5m
            + self.cache_write_1h * tokens.cache_write_1h
        )
        return millionths / MILLION


PriceTable = Mapping[str, Sequence[Rate]]


def rate_for(prices: PriceTable, model: str, prompt_tokens: int) -> Rate | None:
    """The rate that holds for a prompt of this size; None for a model without a price.

    A dated id (`…-20260930`) has the price of its model.
    """
    rates = prices.get(model) or prices.get(_DATED.sub("", model)) or ()
    fitting = [
        rate for rate in rates if rate.above_prompt_tokens == 0 or prompt_tokens > rate.above_prompt_tokens
    ]
    return max(fitting, key=lambda rate: rate.above_prompt_tokens, default=None)


class Ledger:
    """What a dream has used so far, by model. Every request is priced by itself: tiers depend on its prompt."""

    def __init__(self, prices: PriceTable) -> None:
        self.prices = prices
        self.by_model: dict[str, Tokens] = {}
        self.unpriced: set[str] = set()
        self.requests = 0
        self.dollars = Decimal(0)

    def add(self, model: str, tokens: Tokens) -> Usage:
        """Book one request; returns it as the usage of a turn."""
        self.requests += 1
        self.by_model[model] = self.by_model.get(model, Tokens()) + tokens
        rate = rate_for(self.prices, model, tokens.prompt)
        cost = rate.cost(tokens) if rate else None
        if cost is None:
            self.unpriced.add(model)
        else:
            self.dollars += cost
        return as_usage(tokens, cost, 1)

    @property
    def tokens(self) -> Tokens:
        return sum(self.by_model.values(), Tokens())

    def usage(self) -> Usage:
        return as_usage(self.tokens, None if self.unpriced else self.dollars, self.requests)


def as_usage(tokens: Tokens, cost: Decimal | None, requests: int) -> Usage:
    return Usage(
        input_tokens=tokens.input,
        output_tokens=tokens.output,
        cache_read_tokens=tokens.cache_read,
        cache_creation_tokens=tokens.cache_write_5m + tokens.cache_write_1h,
        cost_usd=cost,
        requests=requests,
    )


def joined(first: Usage, second: Usage) -> Usage:
    """Both together; a cost that is not known on one side is not known."""
    known = first.cost_usd is not None and second.cost_usd is not None
    return Usage(
        first.input_tokens + second.input_tokens,
        first.output_tokens + second.output_tokens,
        first.cache_read_tokens + second.cache_read_tokens,
        first.cache_creation_tokens + second.cache_creation_tokens,
        (first.cost_usd or Decimal(0)) + (second.cost_usd or Decimal(0)) if known else None,
        first.requests + second.requests,
    )
