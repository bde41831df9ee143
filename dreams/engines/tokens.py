"""Tokens and dollars by kind, and what a model's tokens cost. PURE.

Prices are dollars per million tokens, given by the caller; a model without one has no cost, never a guessed one.

Source of the kinds: `usage` of the Messages API. Input is what was neither read from nor written to the cache; a
write lasts five minutes or an hour, at different prices.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal

MILLION = Decimal(1_000_000)  # prices are per million tokens
# Suffixes of a model's id: the day of a snapshot, or a variant in brackets.
_VARIANT = re.compile(r"(?:[-@]20\d{6}|-latest|\[[a-z0-9]{1,12}\])+\Z")

# In the order shown to people; also the field names of Tokens and Dollars.
KINDS = {
    "input": "Input",
    "cache_write_5m": "Cache write, 5 min",
    "cache_write_1h": "Cache write, 1 h",
    "cache_read": "Cache read",
    "output": "Output",
}


def known_price(cost: Decimal, unpriced: int, tokens: int) -> Decimal | None:
    """The cost; None if all tokens are `unpriced`."""
    return None if unpriced and unpriced == tokens else cost


@dataclass(frozen=True, slots=True)
class Tokens:
    input: int = 0
    output: int = 0
    cache_read: int = 0
    cache_write_5m: int = 0
    cache_write_1h: int = 0

    @classmethod
    def of(cls, sums: Mapping[str, object]) -> "Tokens":
        """From sums by kind, as a database returns them: an empty sum is null."""
        found = {kind: sums.get(kind) for kind in KINDS}
        return cls(**{kind: count for kind, count in found.items() if isinstance(count, int)})

    def __add__(self, other: "Tokens") -> "Tokens":
        return Tokens(**{kind: getattr(self, kind) + getattr(other, kind) for kind in KINDS})

    @property
    def cache_write(self) -> int:
        return self.cache_write_5m + self.cache_write_1h

    @property
    def prompt(self) -> int:
        """All tokens that the model read."""
        return self.input + self.cache_read + self.cache_write

    @property
    def total(self) -> int:
        return self.prompt + self.output


@dataclass(frozen=True, slots=True)
class Dollars:
    """The cost of the tokens of each kind."""

    input: Decimal = Decimal(0)
    output: Decimal = Decimal(0)
    cache_read: Decimal = Decimal(0)
    cache_write_5m: Decimal = Decimal(0)
    cache_write_1h: Decimal = Decimal(0)

    @classmethod
    def of(cls, sums: Mapping[str, object]) -> "Dollars":
        """From sums named `<kind>_cost`."""
        found = {kind: sums.get(f"{kind}_cost") for kind in KINDS}
        return cls(**{kind: cost for kind, cost in found.items() if isinstance(cost, Decimal)})

    def __add__(self, other: "Dollars") -> "Dollars":
        return Dollars(**{kind: getattr(self, kind) + getattr(other, kind) for kind in KINDS})

    @property
    def total(self) -> Decimal:
        return self.input + self.output + self.cache_read + self.cache_write_5m + self.cache_write_1h


@dataclass(frozen=True, slots=True)
class ModelUsage:
    """The usage of one model. `dollars` is None if it has no price: its tokens are counted all the same."""

    model: str
    requests: int
    tokens: Tokens
    dollars: Dollars | None

    @property
    def by_kind(self) -> list[tuple[str, int, Decimal | None]]:
        """Tokens and cost of each kind."""
        counted = ((kind, label, getattr(self.tokens, kind)) for kind, label in KINDS.items())
        return [(label, count, getattr(self.dollars, kind, None)) for kind, label, count in counted if count]

    def __add__(self, other: "ModelUsage") -> "ModelUsage":
        known = self.dollars is not None and other.dollars is not None
        return ModelUsage(
            self.model,
            self.requests + other.requests,
            self.tokens + other.tokens,
            (self.dollars or Dollars()) + (other.dollars or Dollars()) if known else None,
        )


@dataclass(frozen=True, slots=True)
class Rate:
    """Dollars per million tokens, for prompts of more than `above_prompt_tokens`; `web_search` per thousand searches."""

    input: Decimal
    output: Decimal
    cache_write_5m: Decimal
    cache_write_1h: Decimal
    cache_read: Decimal
    above_prompt_tokens: int = 0
    web_search: Decimal | None = None

    @classmethod
    def of(cls, dollars_in: str, dollars_out: str, above_prompt_tokens: int = 0) -> "Rate":
        """A rate with the usual prompt cache factors: writes 1.25 (5 min) and 2 (1 h), reads 0.1 of the input price."""
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
        return Dollars(**{kind: getattr(self, kind) * getattr(tokens, kind) / MILLION for kind in KINDS})

    def cost(self, tokens: Tokens) -> Decimal:
        return self.dollars(tokens).total

    def search_cost(self, searches: int) -> Decimal | None:
        """None if searches have no price."""
        if not searches:
            return Decimal(0)
        return None if self.web_search is None else self.web_search * searches / 1000


PriceTable = Mapping[str, Sequence[Rate]]


def same_model(model: str) -> str:
    """The model id without suffixes, as prices use it: a dated id (`…-20260930`) has the price of its model."""
    return _VARIANT.sub("", model)


def rate_for(prices: PriceTable, model: str, prompt_tokens: int) -> Rate | None:
    """The rate for a prompt of this size; None for a model without a price."""
    rates = prices.get(model) or prices.get(same_model(model)) or ()
    fitting = [
        rate for rate in rates if rate.above_prompt_tokens == 0 or prompt_tokens > rate.above_prompt_tokens
    ]
    return max(fitting, key=lambda rate: rate.above_prompt_tokens, default=None)
