"""What tokens cost, by the price list; a model that is not on it has tokens and no price."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal

from dreams.models import Price

MILLION = Decimal(1_000_000)
MOST = 2_000


@dataclass(frozen=True, slots=True)
class Tokens:
    """Tokens of one kind of request, by kind of token."""

    input: int = 0
    output: int = 0
    cache_write_5m: int = 0
    cache_write_1h: int = 0
    cache_read: int = 0

    @property
    def total(self) -> int:
        return self.input + self.output + self.cache_write_5m + self.cache_write_1h + self.cache_read

    def __add__(self, other: Tokens) -> Tokens:
        return Tokens(
            self.input + other.input,
            self.output + other.output,
            self.cache_write_5m + other.cache_write_5m,
            self.cache_write_1h + other.cache_write_1h,
            self.cache_read + other.cache_read,
        )


@dataclass(frozen=True, slots=True)
class PriceList:
    rows: Sequence[Price]

    @classmethod
    def load(cls) -> PriceList:
        return cls(list(Price.objects.order_by("-since", "-above_prompt_tokens")[:MOST]))

    @property
    def thresholds(self) -> list[int]:
        """Prompt lengths above which some model costs more, lowest first."""
        return sorted({row.above_prompt_tokens for row in self.rows if row.above_prompt_tokens})

    def cost(self, model: str, tokens: Tokens, day: dt.date | None, prompt: int = 0) -> Decimal | None:
        """Dollars; None when no price is known for this model on that day. `prompt` is the request's length in tokens."""
        price = self._of(model, day, prompt)
        if price is None:
            return None
        return (
            tokens.input * price.input
            + tokens.output * price.output
            + tokens.cache_write_5m * price.cache_write_5m
            + tokens.cache_write_1h * price.cache_write_1h
            + tokens.cache_read * price.cache_read
        ) / MILLION

    def _of(self, model: str, day: dt.date | None, prompt: int) -> Price | None:
        """The newest price of that day, for the exact name or the longest name it begins with (ids carry dates)."""
        fitting = [
            row
            for row in self.rows
            if _is_of(row.model, model)
            and row.above_prompt_tokens <= prompt
            and (day is None or row.since <= day)
        ]
        return max(
            fitting, key=lambda row: (len(row.model), row.since, row.above_prompt_tokens), default=None
        )


def _is_of(priced: str, model: str) -> bool:
    return model == priced or model.startswith((f"{priced}-", f"{priced}@", f"{priced}["))
