"""Tokens and dollars by kind. PURE.

Source of the kinds: `usage` of the Messages API. Input is what was neither read from the cache nor written to it; a
write lives five minutes or an hour, at different prices.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal

# In the order in which people read them; also the field names of Tokens and Dollars.
KINDS = {
    "input": "Input",
    "cache_write_5m": "Cache write, 5 min",
    "cache_write_1h": "Cache write, 1 h",
    "cache_read": "Cache read",
    "output": "Output",
}


@dataclass(frozen=True, slots=True)
class Tokens:
    input: int = 0
    output: int = 0
    cache_read: int = 0
    cache_write_5m: int = 0
    cache_write_1h: int = 0

    @classmethod
    def of(cls, sums: Mapping[str, object]) -> Tokens:
        """From sums by kind, as a database gives them: nothing summed is null."""
        found = {kind: sums.get(kind) for kind in KINDS}
        return cls(**{kind: count for kind, count in found.items() if isinstance(count, int)})

    def __add__(self, other: Tokens) -> Tokens:
        return Tokens(**{kind: getattr(self, kind) + getattr(other, kind) for kind in KINDS})

    @property
    def cache_write(self) -> int:
        return self.cache_write_5m + self.cache_write_1h

    @property
    def prompt(self) -> int:
        """Everything that the model read."""
        return self.input + self.cache_read + self.cache_write

    @property
    def total(self) -> int:
        return self.prompt + self.output


@dataclass(frozen=True, slots=True)
class Dollars:
    """What the tokens of each kind cost."""

    input: Decimal = Decimal(0)
    output: Decimal = Decimal(0)
    cache_read: Decimal = Decimal(0)
    cache_write_5m: Decimal = Decimal(0)
    cache_write_1h: Decimal = Decimal(0)

    @classmethod
    def of(cls, sums: Mapping[str, object]) -> Dollars:
        """From sums named `<kind>_cost`."""
        found = {kind: sums.get(f"{kind}_cost") for kind in KINDS}
        return cls(**{kind: cost for kind, cost in found.items() if isinstance(cost, Decimal)})

    def __add__(self, other: Dollars) -> Dollars:
        return Dollars(**{kind: getattr(self, kind) + getattr(other, kind) for kind in KINDS})

    @property
    def total(self) -> Decimal:
        return self.input + self.output + self.cache_read + self.cache_write_5m + self.cache_write_1h


@dataclass(frozen=True, slots=True)
class ModelUsage:
    """What was asked of one model. `dollars` is None where it has no price: its tokens are counted all the same."""

    model: str
    requests: int
    tokens: Tokens
    dollars: Dollars | None

    def __add__(self, other: ModelUsage) -> ModelUsage:
        known = self.dollars is not None and other.dollars is not None
        return ModelUsage(
            self.model,
            self.requests + other.requests,
            self.tokens + other.tokens,
            (self.dollars or Dollars()) + (other.dollars or Dollars()) if known else None,
        )
