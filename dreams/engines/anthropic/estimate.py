"""What a dream will about use, told before it starts. PURE.

The prompt is written to the cache once and read in every later turn; a turn adds its results and its answer. How often
a model turns, and how much it reads, it decides by itself: so a range, between a dream that finds nothing to do and one
that looks into everything it was given.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal

from dreams.engines.tokens import PriceTable, Tokens, rate_for

CHARS_PER_TOKEN = 3.5
FEWEST_TURNS = 3
EXPECTED_TURNS = 12
MOST_TURNS = 40
# Tokens that one turn adds: what its tools brought, and what the model said.
RESULTS = {"low": 300, "likely": 2_000, "high": 4_000}
OUTPUT = {"low": 150, "likely": 500, "high": 1_000}
# Nothing is read much oftener than this, also where there is little to read.
READ_OVER = 3


@dataclass(frozen=True, slots=True)
class Size:
    """What a dream is given: characters of the first prompt, bytes of notes and new transcripts, sessions."""

    prompt_chars: int
    material_bytes: int
    sessions: int


@dataclass(frozen=True, slots=True)
class Guess:
    tokens: int
    dollars: Decimal | None


@dataclass(frozen=True, slots=True)
class Estimate:
    low: Guess
    likely: Guess
    high: Guess


def estimate(prices: PriceTable, model: str, size: Size, max_turns: int) -> Estimate:
    turns = {
        "low": FEWEST_TURNS,
        "likely": EXPECTED_TURNS,
        "high": min(MOST_TURNS, EXPECTED_TURNS + 4 + 2 * size.sessions),
    }
    found = {
        case: _guess(prices, model, size, min(count, max_turns), RESULTS[case], OUTPUT[case])
        for case, count in turns.items()
    }
    # Where there is next to nothing to read, twelve turns are more than the most that can be needed.
    likely = min(found["likely"], found["high"], key=lambda guess: guess.tokens)
    return Estimate(found["low"], likely, found["high"])


def _guess(
    prices: PriceTable, model: str, size: Size, turns: int, results_per_turn: int, output_per_turn: int
) -> Guess:
    first = int(size.prompt_chars / CHARS_PER_TOKEN)
    there_is = int(READ_OVER * size.material_bytes / CHARS_PER_TOKEN)
    later = max(0, turns - 1)
    results = min(results_per_turn * later, there_is + 100 * later)
    grown = output_per_turn + (results // later if later else 0)
    tokens = Tokens(
        output=output_per_turn * turns,
        cache_read=sum(first + grown * turn for turn in range(later)),
        cache_write_5m=first + grown * later,
    )
    rate = rate_for(prices, model, first + grown * turns // 2)
    return Guess(tokens.total, rate.cost(tokens) if rate else None)


def words(low: Decimal, high: Decimal) -> str:
    """A range of dollars in words: "$0.04 to $0.31", "under $0.01"."""
    if high < Decimal("0.01"):
        return "under $0.01"
    if low < Decimal("0.01"):
        return f"up to ${high:.2f}"
    return f"${low:.2f} to ${high:.2f}" if f"{low:.2f}" != f"{high:.2f}" else f"${high:.2f}"
