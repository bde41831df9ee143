"""The ledger of dreams: a row per turn and model, kept whatever happens to the process, and counted by every limit."""

from __future__ import annotations

import os
import signal
from decimal import Decimal
from pathlib import Path

import pytest
from django.db.models import Sum

from dreams import conf
from dreams.engines.anthropic import Patience
from dreams.engines.tokens import KINDS
from dreams.models import DreamRun, DreamUsage, Price, Project
from dreams.services import dreaming
from tests.world import directory as world
from tests.world.model_server import (
    ModelServer,
    Script,
    ScriptedReply,
    ScriptedStep,
    Use,
    say,
    stalled,
    status,
)
from tests.world.processes.servers import Home, until, with_database

QUICK = Patience(base_ms=1.0, longest_ms=4.0)
WRITE = ScriptedReply(
    (
        Use(
            "Write",
            {
                "file_path": "/memory/feedback_x.md",
                "content": "The queue is drained by hand.\n",
                "reason": "Said so.",
                "citations": [{"session": "MEMORY.md", "quote": "how tests run"}],
            },
        ),
    )
)
READ = ScriptedReply((Use("Read", {"file_path": "/memory/MEMORY.md"}),))


def dream(project: Project) -> DreamRun:
    asked = dreaming.request(project, DreamRun.Trigger.COMMAND, engine="anthropic", forced=True)
    run = dreaming.run_dream(asked.pk)
    assert run is not None
    return run


@pytest.mark.django_db(transaction=True)
def test_the_ledger_holds_what_the_server_counted_by_kind_and_what_it_cost(
    project: Project, model: ModelServer
) -> None:
    run = dream(project)
    assert run.status == "completed", run.error
    counted = [call.counted for call in model.calls]
    rows = list(run.usage.all())
    assert sum(row.requests for row in rows) == len(model.calls) == len(rows)
    assert {row.model for row in rows} == {conf.current().model}
    assert sum(row.cache_read_tokens for row in rows) == sum(c.cache_read for c in counted) > 0
    assert sum(row.cache_write_5m_tokens for row in rows) == sum(c.cache_creation for c in counted) > 0
    assert sum(row.input_tokens for row in rows) == sum(c.input for c in counted)
    for row in rows:
        kinds = [getattr(row, f"{kind}_usd") for kind in KINDS]
        assert sum(kinds, Decimal(0)) == row.cost_usd
    totals = run.usage.aggregate(cost=Sum("cost_usd"), read=Sum("cache_read_tokens"))
    assert run.priced_usd is not None and totals["read"] == run.cache_read_tokens
    assert abs(totals["cost"] - run.priced_usd) < Decimal("0.00001")
    assert run.unpriced_tokens == 0 and run.tokens == sum(
        turn.input_tokens + turn.output_tokens for turn in run.turns.all()
    )


@pytest.mark.more
@pytest.mark.django_db(transaction=True)
def test_time_and_lines_are_kept_with_the_turns(project: Project, model: ModelServer) -> None:
    run = dream(project)
    sums = run.turns.aggregate(
        **{name: Sum(name) for name in ("api_ms", "api_ms_without_retries", "lines_added", "lines_removed")}
    )
    assert 0 < sums["api_ms_without_retries"] <= sums["api_ms"]
    assert sums["lines_added"] > 0


@pytest.mark.more
@pytest.mark.django_db(transaction=True)
def test_time_lost_to_retries_is_told_apart_from_answers(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    slow = Patience(base_ms=150.0, longest_ms=150.0, jitter=0.0)
    monkeypatch.setattr("dreams.engines.anthropic.engine.Patience", lambda: slow)
    with ModelServer(Script([status(500), READ, say("Done.")])) as server:
        monkeypatch.setenv("ANTHROPIC_BASE_URL", server.url)
        run = dream(project)
    assert run.status == "completed", run.error
    retried, answered = run.turns.filter(api_ms__gt=0).order_by("pk")
    assert retried.api_ms >= retried.api_ms_without_retries + 150
    assert answered.api_ms < answered.api_ms_without_retries + 150


@pytest.mark.more
@pytest.mark.django_db(transaction=True)
def test_tokens_of_a_model_without_a_price_are_kept_beside_those_that_have_one(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Three overloads in a row: the fallback, which has no price, goes on."""
    monkeypatch.setattr("dreams.engines.anthropic.engine.Patience", lambda: QUICK)
    Price.objects.filter(model=conf.current().fallback_model).delete()
    with ModelServer(Script([READ, status(529), status(529), status(529), READ, say("Done.")])) as server:
        monkeypatch.setenv("ANTHROPIC_BASE_URL", server.url)
        run = dream(project)
    assert run.status == "completed", run.error
    by_model = {
        row["model"]: row for row in run.usage.values("model").annotate(Sum("requests"), Sum("cost_usd"))
    }
    main, fallback = conf.current().model, conf.current().fallback_model
    assert by_model[main]["requests__sum"] == 1 and by_model[main]["cost_usd__sum"] > 0
    assert by_model[fallback]["requests__sum"] == 2 and by_model[fallback]["cost_usd__sum"] is None
    unpriced = DreamUsage.objects.filter(model=fallback)
    tokens = sum(getattr(row, f"{kind}_tokens") for row in unpriced for kind in KINDS)
    assert run.unpriced_tokens == tokens > 0
    assert run.priced_usd and run.whole_cost is None


@pytest.mark.more
@pytest.mark.also_on_postgresql
def test_a_kill_in_mid_dream_keeps_what_was_spent_and_the_budgets_count_it(tmp_path: Path) -> None:
    """kill -9 while the third answer is awaited: two turns are booked, and close the gate of the day. The note that
    the second one wrote can still be proposed."""
    home = Home(tmp_path / "home")
    with_database(home.data)
    root = tmp_path / "home" / ".claude"
    world.write_sessions(root, 2)
    world.put(root / "projects/-home-dev-app/memory/MEMORY.md", world.INDEX)
    with ModelServer(Script([READ, WRITE, ScriptedStep(say("x"), stalled("content_block_delta"))])) as server:
        home.environment["ANTHROPIC_BASE_URL"] = server.url
        assert home.run("discover").returncode == 0
        dreaming_process = home.start("dream", "-home-dev-app", "--engine", "anthropic", "--force")
        until(lambda: len(server.calls) == 3, "the third request")
        os.kill(dreaming_process.pid, signal.SIGKILL)
        dreaming_process.wait(10)
    kept = home.rows("select turn, requests, cost_usd from dreams_dreamusage order by turn")
    assert [row["requests"] for row in kept] == [1, 1]
    spent = sum(row["cost_usd"] for row in kept)
    assert spent > 0
    assert home.run("recover").returncode == 0
    [run] = home.rows("select status, priced_usd from dreams_dreamrun")
    assert run["status"] == "failed" and abs(run["priced_usd"] - spent) < 0.00001
    [kept_dream] = home.rows("select public_id from dreams_dreamrun")
    proposed = home.json("proposal", kept_dream["public_id"], "--partial")
    assert proposed["partial"] is True and [file["path"] for file in proposed["files"]] == ["feedback_x.md"]
    home.environment["MEMORYWEB_MAX_COST_DAY"] = f"{spent + 0.0001:.6f}"
    again = home.run("dream", "-home-dev-app", "--engine", "anthropic", "--force")
    assert again.returncode == 1 and "day" in again.stderr
    assert len(home.rows("select 1 from dreams_dreamusage")) == 2
