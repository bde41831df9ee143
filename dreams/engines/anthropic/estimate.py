"""What a dream will about use, told before it starts. PURE.

The prompt is written to the cache once and read in every later turn; a turn adds its results and its answer.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal

from dreams.engines.anthropic.usage import PriceTable, Tokens, rate_for

CHARS_PER_TOKEN = 3.5
RESULTS_PER_TURN = 2_000
OUTPUT_PER_TURN = 500
EXPECTED_TURNS = 12


@dataclass(frozen=True, slots=True)
class Estimate:
    tokens: int
    dollars: Decimal | None


def estimate(prices: PriceTable, model: str, prompt_chars: int, turns: int = EXPECTED_TURNS) -> Estimate:
    """For a first prompt of so many characters."""
    first = int(prompt_chars / CHARS_PER_TOKEN)
    grown = RESULTS_PER_TURN + OUTPUT_PER_TURN
    read = sum(first + grown * turn for turn in range(turns - 1))
    tokens = Tokens(
        output=OUTPUT_PER_TURN * turns, cache_read=read, cache_write_5m=first + grown * max(0, turns - 1)
    )
    rate = rate_for(prices, model, first + grown * turns // 2)
    return Estimate(tokens.total, rate.cost(tokens) if rate else None)
