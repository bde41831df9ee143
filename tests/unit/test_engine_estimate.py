"""What a dream will about use: a range that grows with what there is to read, and holds what dreams really use."""

from __future__ import annotations

from decimal import Decimal

from hypothesis import given, strategies as st

from dreams.engines.anthropic.budget import Size, estimate, words
from dreams.engines.tokens import Rate
from tests.world.cases import each
from tests.world.strategies import tries

PRICES = {"m": [Rate.of("2", "10")]}
sizes = st.builds(Size, st.integers(10_000, 90_000), st.integers(0, 10_000_000), st.integers(0, 500))


@tries(20, 60)
@given(sizes, st.integers(1, 200))
def test_low_likely_and_high_are_in_order(size: Size, turns: int) -> None:
    found = estimate(PRICES, "m", size, turns)
    assert 0 < found.low.tokens <= found.likely.tokens <= found.high.tokens
    costs = [found.low.dollars, found.likely.dollars, found.high.dollars]
    assert all(cost is not None for cost in costs) and costs == sorted(costs, key=lambda cost: cost or 0)


@tries(20, 60)
@given(sizes, st.integers(0, 1_000_000))
def test_more_to_read_is_never_cheaper(size: Size, more: int) -> None:
    larger = Size(size.prompt_chars + 10, size.material_bytes + more, size.sessions + 1)
    assert estimate(PRICES, "m", larger, 60).high.tokens >= estimate(PRICES, "m", size, 60).high.tokens


def test_a_model_without_a_price_has_tokens_and_no_dollars() -> None:
    found = estimate(PRICES, "own", Size(20_000, 5_000, 2), 60)
    assert found.high.tokens > 0 and found.high.dollars is None


@each(
    ("low", "high", "said"),
    [
        ("0.001", "0.009", "under $0.01"),
        ("0.001", "0.3", "up to $0.30"),
        ("0.04", "0.31", "$0.04 to $0.31"),
        ("0.311", "0.312", "$0.31"),
    ],
)
def test_a_range_is_said_in_words(low: str, high: str, said: str) -> None:
    assert words(Decimal(low), Decimal(high)) == said
