"""What a dream used, on its page and in the command's JSON: by model and kind, with meters while it runs."""

from __future__ import annotations

from decimal import Decimal

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from dreams.engines.tokens import KINDS
from dreams.management import shown
from dreams.models import DreamRun, DreamUsage, Turn
from dreams.web.pages import dream as selector
from tests.world import rows as world


def _run(status: str = "running", **fields: object) -> DreamRun:
    run = world.make_dream(
        world.make_project(), status, engine="anthropic", model="claude-sonnet-5-5", **fields
    )
    Turn.objects.create(
        dream=run,
        number=1,
        phase="gather",
        text="x",
        at=timezone.now(),
        api_ms=65_000,
        api_ms_without_retries=4_200,
        tool_ms=310,
        lines_added=7,
        lines_removed=2,
    )
    return run


def _used(run: DreamRun, model: str, cost: str | None, **tokens: int) -> None:
    dollars = {} if cost is None else {"cost_usd": Decimal(cost), "output_usd": Decimal(cost)}
    given = {f"{kind}_tokens": count for kind, count in tokens.items()}
    DreamUsage.objects.create(
        dream=run, turn=1, at=timezone.now(), model=model, requests=2, **dollars, **given
    )


def _page(browser: Client, run: DreamRun) -> str:
    return browser.get(reverse("dream", args=[run.public_id])).content.decode()


def test_every_model_and_kind_stands_there_and_what_has_no_price_is_said(browser: Client) -> None:
    run = _run("failed", priced_usd=Decimal("0.5"), unpriced_tokens=300, output_tokens=1300)
    _used(run, "claude-sonnet-5-5", "0.5", output=1000)
    _used(run, "own-model", None, output=100, cache_read=200)
    used = selector.dream(run, timezone.now())["used"]
    kinds = {row.model: row.by_kind for row in used["models"]}
    assert kinds == {
        "claude-sonnet-5-5": [("Output", 1000, Decimal("0.5"))],
        "own-model": [("Cache read", 200, None), ("Output", 100, None)],
    }
    text = _page(browser, run)
    assert "No price is known for own-model: 300 tokens have no cost" in text
    assert "+ unknown" in text
    assert "1 min 5 s" in text
    assert "(4.2 s without retries)" in text
    assert "310 ms" in text
    assert "+7</span>" in text and "−2</span>" in text


def test_meters_show_the_share_of_every_limit_while_it_runs_and_none_afterwards(browser: Client) -> None:
    run = _run(priced_usd=Decimal("0.25"), output_tokens=500_000)
    _used(run, "claude-sonnet-5-5", "0.25", output=500_000)
    meters = {meter["label"]: meter for meter in selector.dream(run, timezone.now())["used"]["meters"]}
    assert list(meters) == [
        "Turns",
        "Time",
        "Tokens",
        "This dream",
        "Today, everywhere",
        "This month, everywhere",
        "This month, this project",
    ]
    assert meters["This dream"]["words"] == "$0.25 of $1.00"
    assert meters["Tokens"]["used"] / meters["Tokens"]["limit"] == 0.25
    assert ">Limits<" in _page(browser, run)
    DreamRun.objects.filter(pk=run.pk).update(status="completed", ended_at=timezone.now())
    run.refresh_from_db()
    assert ">Limits<" not in _page(browser, run)


def test_the_queries_of_the_page_do_not_grow_with_models(browser: Client) -> None:
    run = _run()

    def cost() -> int:
        with CaptureQueriesContext(connection) as queries:
            _page(browser, run)
        return len(queries)

    _used(run, "a", "0.1", output=1)
    cost()
    few = cost()
    for number in range(9):
        _used(run, f"m-{number}", None, output=1)
    assert cost() == few


def test_json_has_every_kind_by_model_and_no_half_cost(db: None) -> None:
    run = _run("completed", priced_usd=Decimal("0.5"), output_tokens=1000)
    _used(run, "claude-sonnet-5-5", "0.5", output=1000)
    usage = shown.dream(run)["usage"]
    assert usage["cost_usd"] == 0.5 and usage["tokens_without_price"] == 0 and usage["requests"] == 2
    [model] = usage["by_model"]
    assert {f"{kind}_tokens" for kind in KINDS} < set(model) and model["costs_usd"]["output"] == 0.5
    assert (usage["api_ms"], usage["api_ms_without_retries"], usage["tool_ms"]) == (65_000, 4_200, 310)
    assert (usage["lines_added"], usage["lines_removed"]) == (7, 2)
    DreamRun.objects.filter(pk=run.pk).update(unpriced_tokens=1)
    run.refresh_from_db()
    assert shown.dream(run)["usage"]["cost_usd"] is None


def test_rules_cost_nothing_and_say_so(browser: Client) -> None:
    run = world.make_dream(world.make_project())
    assert "none: rules need no model" in _page(browser, run)
    assert shown.dream(run)["usage"]["cost_usd"] == 0.0


@pytest.mark.parametrize(
    ("ms", "words"), [(0, ""), (999, "999 ms"), (1500, "1.5 s"), (250_000, "4 min 10 s")]
)
def test_times_are_said_as_people_read_them(db: None, ms: int, words: str) -> None:
    run = world.make_dream(world.make_project(), engine="anthropic")
    Turn.objects.create(dream=run, number=1, phase="gather", at=timezone.now(), tool_ms=ms)
    assert selector.dream(run, timezone.now())["used"]["in_tools"] == words
