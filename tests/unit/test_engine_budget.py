"""Limits on turns, tokens, seconds and dollars: each with its own clear end, none passed and noticed afterwards."""

from __future__ import annotations

import time
from decimal import Decimal
from functools import partial
from pathlib import Path

import pytest

from dreams.engines.anthropic.budget import Budget, BudgetLimits, Ledger, joined
from dreams.engines.anthropic.stream import Collector
from dreams.engines.tokens import Rate, Tokens, rate_for
from dreams.engines.types import Allowance, LimitReached
from tests.world import model as kit
from tests.world.cases import each
from tests.world.model_server import Request, ScriptedReply, Text, say

READ = kit.READ


def greedy(request: Request) -> ScriptedReply:
    """Uses up whatever it may: the cap of the request is what holds."""
    return ScriptedReply(READ.blocks, output_tokens=min(900, int(request.body["max_tokens"])))


def test_the_turns_of_a_dream_are_counted_and_the_model_is_warned(tmp_path: Path) -> None:
    run = kit.dream(tmp_path, [READ] * 9, max_turns=4)
    assert run.outcome is None and "all its 4 turns (Turns per dream)" in run.error
    assert run.calls == 4
    assert "turns are left" in str(run.server.calls[2].body["messages"][-1])


def test_the_tokens_of_a_dream_are_never_passed(tmp_path: Path) -> None:
    run = kit.dream(tmp_path, kit.ByTurn(*[[kit.ScriptedStep(greedy)]] * 40), max_tokens=20_000)
    assert run.outcome is None and "Tokens per dream" in run.error
    used = sum(
        run.report.used(f"{kind}_tokens") for kind in ("input", "output", "cache_read", "cache_creation")
    )
    assert 10_000 < used <= 20_000


@each("dollars", [0.03, 0.04, 0.06])
def test_the_dollars_of_a_dream_are_never_passed(tmp_path: Path, dollars: float) -> None:
    run = kit.dream(tmp_path, kit.ByTurn(*[[kit.ScriptedStep(greedy)]] * 40), max_cost_dream=dollars)
    assert run.outcome is None and "Cost limit per dream" in run.error
    spent = sum((t.usage.cost_usd or 0 for t in run.report.turns), Decimal(0))
    assert Decimal(0) < spent <= Decimal(str(dollars))


def test_what_day_month_and_project_leave_is_a_limit_too(tmp_path: Path) -> None:
    class Poor(kit.Watched):
        def dollars_left(self) -> Allowance:
            return Allowance(Decimal("0.0001"), "the $5.00 for all dreams of today (Cost limit per day)")

    run = kit.dream(tmp_path, [READ], report=Poor())
    assert run.calls == 0 and "could pass the $5.00 for all dreams of today (Cost limit per day)" in run.error


def test_what_other_dreams_spend_meanwhile_leaves_less(tmp_path: Path) -> None:
    """The budgets are asked anew before each turn: a dream beside this one spends from the same ones."""

    class Shared(kit.Watched):
        asked = 0

        def dollars_left(self) -> Allowance:
            self.asked += 1
            return Allowance(Decimal("0.5") if self.asked < 3 else Decimal("0.001"), "the $5.00")

    run = kit.dream(tmp_path, [READ] * 9, report=Shared())
    assert run.calls == 2 and "could pass the $5.00;" in run.error


def test_the_seconds_of_a_dream_end_it_in_its_own_words() -> None:
    now = [0.0]
    budget = Budget(BudgetLimits(10, 10_000, 30), Ledger({}), clock=lambda: now[0])
    budget.start_turn()
    now[0] = 25.0
    assert "nearly used up" in budget.warning()
    now[0] = 31.0
    with pytest.raises(LimitReached, match="Time limit per dream"):
        budget.check_time()


def test_the_seconds_of_a_dream_end_it_in_the_middle_of_a_stream(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its clock runs from the first event that came: how long a busy machine takes to get there tells nothing."""
    came: list[float] = []
    take = Collector.take

    def taken(collector: Collector, event: object) -> None:
        take(collector, event)
        came.append(time.monotonic())

    monkeypatch.setattr(Collector, "take", taken)
    timed = partial(Budget, clock=lambda: time.monotonic() - came[0] if came else 0.0)
    monkeypatch.setattr("dreams.engines.anthropic.engine.Budget", timed)
    slow = ScriptedReply((Text("A slow answer. " * 4_000),), piece=4, pause=0.05)
    run = kit.dream(tmp_path, [slow], max_seconds=1.5)
    assert run.outcome is None and "Time limit per dream" in run.error
    assert run.report.used("requests") == 1, "what had come is paid for"


def test_an_answer_cut_off_by_the_budget_ends_in_the_budgets_words(tmp_path: Path) -> None:
    cut = ScriptedReply((kit.learn(),), stop_reason="max_tokens", output_tokens=900)
    run = kit.dream(tmp_path, [cut], max_tokens=10_000)
    assert run.outcome is None and "what this dream may still use" in run.error and run.report.tools == []


def test_a_model_without_a_price_has_tokens_and_no_cost(tmp_path: Path) -> None:
    from tests.world.model_server import FakeLimits

    run = kit.dream(
        tmp_path,
        [READ, say("Done.")],
        model="own-model",
        server={"limits": FakeLimits(models=("own-model",))},
    )
    assert run.outcome is not None and run.outcome.usage.cost_usd is None
    assert run.outcome.usage.output_tokens > 0 and "No price is known" in run.report.turns[0].text


def test_the_price_follows_the_size_of_the_prompt() -> None:
    prices = {"h": [Rate.of("0.10", "0.50"), Rate.of("0.50", "2.50", 100_000)]}
    cheap, dear = rate_for(prices, "h", 100_000), rate_for(prices, "h", 100_001)
    assert cheap and dear and cheap.input == Decimal("0.10") and dear.input == Decimal("0.50")
    assert rate_for(prices, "h-20260930", 5) == cheap and rate_for(prices, "hh", 5) is None


def test_every_kind_of_token_has_its_price() -> None:
    rate = Rate.of("2", "10")
    million = 1_000_000
    costs = [rate.cost(Tokens(**{kind: million})) for kind in Tokens.__slots__]
    assert costs == [Decimal(2), Decimal(10), Decimal("0.2"), Decimal("2.5"), Decimal(4)]


def test_usage_of_two_models_is_summed_and_an_unknown_cost_stays_unknown() -> None:
    ledger = Ledger({"a": [Rate.of("2", "10")]})
    first, second = ledger.add("a", Tokens(1_000_000)), ledger.add("b", Tokens(5, 5))
    both = joined([first, second, first])
    assert first.cost_usd == 2 and second.cost_usd is None and both.cost_usd is None
    assert [(row.model, row.requests) for row in both.by_model] == [("a", 2), ("b", 1)]
    assert ledger.usage().cost_usd is None and ledger.usage().input_tokens == 1_000_005
    assert ledger.by_model["b"].tokens == Tokens(5, 5) and ledger.dollars == 2


def test_without_a_fence_a_dream_is_refused_where_the_settings_ask_for_it(
    tmp_path: Path, monkeypatch
) -> None:
    from dreams.engines.anthropic import tools
    from dreams.engines.types import EngineError
    from dreams.lib.sandbox.tool_worker import Fences

    class Unfenced:
        fences = Fences(landlock=0, trouble="bubblewrap is not installed")
        closed = 0

        def __init__(self, mounts: object) -> None: ...

        def close(self) -> None:
            Unfenced.closed += 1

    monkeypatch.setattr(tools, "ToolWorker", Unfenced)
    with (
        kit.job(tmp_path, require_os_sandbox=True) as job,
        pytest.raises(EngineError, match=r"no Landlock.*bubblewrap is not installed.*Install"),
    ):
        tools.open_tools(job)
    assert Unfenced.closed == 1
    with kit.job(tmp_path / "b") as job:
        tools.open_tools(job)
