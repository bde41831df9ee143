"""`dream PROJECT --engine anthropic` the whole way: real library, real HTTP, a proposal at the end."""

from __future__ import annotations

import datetime as dt
import io
import json
import threading
import time
from collections.abc import Callable
from decimal import Decimal
from functools import partial
from typing import Any

import pytest
from django.core.management import call_command
from django.db import OperationalError, connection

from dreams.engines.anthropic import Patience
from dreams.lib import locks
from dreams.lib.sandbox.tool_worker import ToolWorker
from dreams.management.base import Refused
from dreams.models import DreamRun, Evidence, LockHold, Override, Price, Project, Proposal, Turn
from dreams.services import dreaming
from dreams.services.dreaming.reporter import DreamReporter
from tests.world import directory as world
from tests.world.manifest import manifest
from tests.world.model_server import (
    Fault,
    ModelServer,
    Script,
    ScriptedReply,
    ScriptedStep,
    Text,
    Use,
    ended,
    say,
    stalled,
    status,
)

QUICK = Patience(base_ms=1.0, longest_ms=4.0)
WRITE = ScriptedReply(
    (
        Use(
            "Write",
            {
                "file_path": "/memory/feedback_x.md",
                "content": "The queue is drained by hand.\n",
                "reason": "Said so.",
                "citations": [{"session": "feedback_testing.md", "quote": "Snapshots are reviewed by hand."}],
            },
        ),
    )
)
pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def price(db: None) -> None:
    Price.objects.update_or_create(
        model="claude-sonnet-5-5",
        since="2026-01-01",
        above_prompt_tokens=0,
        defaults={
            "input": Decimal(2),
            "output": Decimal(10),
            "cache_write_5m": Decimal("2.5"),
            "cache_write_1h": Decimal(4),
            "cache_read": Decimal("0.2"),
        },
    )


def command(project: Project) -> dict[str, Any]:
    out = io.StringIO()
    call_command("dream", str(project.pk), "--engine", "anthropic", "--force", "--json", stdout=out)
    found: dict[str, Any] = json.loads(out.getvalue())
    return found


def test_the_demo_server_dreams_the_whole_way_to_a_proposal(
    project: Project, model: ModelServer, price: None
) -> None:
    before = (world.folder(project) / "MEMORY.md").read_bytes()
    result = command(project)
    assert result["status"] == "completed", result["error"]
    assert {file["path"] for file in result["files"]} > {"MEMORY.md"}
    made = Proposal.objects.get()
    quotes = Evidence.objects.filter(hunk__file__proposal=made)
    assert quotes and all(quote.found and quote.role == "user" for quote in quotes)
    assert (world.folder(project) / "MEMORY.md").read_bytes() == before
    run = DreamRun.objects.get()
    assert run.priced_usd and run.cache_read_tokens > run.input_tokens and run.output_tokens
    assert result["usage"]["cost_usd"] == float(run.priced_usd)
    assert {turn.phase for turn in Turn.objects.all()} >= {"orient", "gather", "consolidate"}
    assert len(model.calls) == 4 and not LockHold.objects.exists()


@pytest.mark.sweep
def test_a_jq_program_without_end_costs_its_worker_and_not_the_dream(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("dreams.engines.anthropic.tools.ToolWorker", partial(ToolWorker, call_seconds=1.0))
    endless = ScriptedReply((Use("Bash", {"command": "jq -n 'def f: f; f'"}),))
    look = ScriptedReply(
        (Use("Bash", {"command": "echo '{\"a\": 1}' | jq -c .a; head -1 /memory/MEMORY.md"}),)
    )
    with ModelServer(Script([endless, look, endless, look, WRITE, say("Learnt one thing.")])) as server:
        monkeypatch.setenv("ANTHROPIC_BASE_URL", server.url)
        result = command(project)
        last = [block for call in server.calls for block in call.body["messages"][-1]["content"]]
    assert result["status"] == "completed", result["error"]
    assert [file["path"] for file in result["files"]] == ["feedback_x.md"]
    answers = [str(block["content"]) for block in last if block["type"] == "tool_result"]
    assert ["it took too long" in answer for answer in answers] == [True, False, True, False, False]
    assert all("\n1\n# Memory" in answer for answer in (answers[1], answers[3]))


@pytest.mark.more
def test_dreamt_again_after_apply_it_finds_nothing(project: Project, model: ModelServer) -> None:
    command(project)
    made = Proposal.objects.get()
    call_command("decide", made.public_id, "--approve", "--confirm-findings", stdout=io.StringIO())
    call_command("apply", made.public_id, stdout=io.StringIO())
    result = command(project)
    assert result["status"] == "completed" and result["files"] == []


@pytest.mark.more
def test_a_model_without_a_price_has_tokens_and_no_cost(project: Project, model: ModelServer) -> None:
    Price.objects.all().delete()
    result = command(project)
    assert result["usage"]["cost_usd"] is None and result["usage"]["output_tokens"] > 0
    assert "No price is known" in Turn.objects.order_by("number")[0].text


def failed(project: Project) -> DreamRun:
    with pytest.raises(Refused):
        command(project)
    return DreamRun.objects.get()


@pytest.mark.more
def test_a_refused_key_fails_the_dream_with_the_remedy_and_puts_everything_back(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = locks.last_consolidated_ns(world.folder(project))
    with ModelServer(Script([]), keys=["another"]) as server:
        monkeypatch.setenv("ANTHROPIC_BASE_URL", server.url)
        run = failed(project)
    assert run.status == "failed" and "ANTHROPIC_API_KEY" in run.error
    assert len(server.seen) == 1
    assert locks.last_consolidated_ns(world.folder(project)) == clock
    assert not LockHold.objects.exists() and not Proposal.objects.exists()


@pytest.mark.more
def test_a_dream_that_breaks_after_its_writes_proposes_nothing(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    with ModelServer(Script([WRITE, status(401)])) as server:
        monkeypatch.setenv("ANTHROPIC_BASE_URL", server.url)
        run = failed(project)
    assert run.status == "failed" and not Proposal.objects.exists()
    assert any("feedback_x.md" in turn.files for turn in Turn.objects.all())
    assert not (world.folder(project) / "feedback_x.md").exists()


@pytest.mark.more
@pytest.mark.parametrize(
    ("fault", "attempts", "words"),
    [
        (ended("message_delta"), 10, "gave no whole answer in several tries"),
        (status(413), 2, "larger context"),
    ],
    ids=["ended", "413"],
)
def test_whatever_fails_for_good_leaves_lock_clock_and_memories_as_they_were(
    project: Project, monkeypatch: pytest.MonkeyPatch, fault: Fault, attempts: int, words: str
) -> None:
    monkeypatch.setattr("dreams.engines.anthropic.engine.Patience", lambda: QUICK)
    before, clock = manifest(world.folder(project)), locks.last_consolidated_ns(world.folder(project))
    read = ScriptedReply(tuple(Use("Read", {"file_path": "/memory/MEMORY.md"}) for _ in range(5)))
    steps: list[ScriptedStep | ScriptedReply | Fault] = [
        read,
        read,
        read,
        read,
        *[ScriptedStep(WRITE, fault)] * 30,
    ]
    with ModelServer(Script(steps)) as server:
        monkeypatch.setenv("ANTHROPIC_BASE_URL", server.url)
        run = failed(project)
    assert run.status == "failed" and words in run.error and "\n" not in run.error
    assert len(server.calls) == 4 + attempts
    assert not LockHold.objects.exists() and not Proposal.objects.exists()
    assert locks.last_consolidated_ns(world.folder(project)) == clock
    after = manifest(world.folder(project))
    before.pop("", None), after.pop("", None), after.pop(".consolidate-lock", None)
    assert after == before
    project.refresh_from_db()
    assert project.failures == 1
    assert run.output_tokens == sum(turn.output_tokens for turn in run.turns.all()) > 0, (
        "it is paid for all the same"
    )
    assert run.cache_read_tokens > 0


def test_a_cancel_from_elsewhere_ends_a_silent_stream_at_once(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = locks.last_consolidated_ns(world.folder(project))
    asked: list[float] = []
    silent = ScriptedStep(say("x"), stalled("content_block_delta"))
    with ModelServer(Script([silent])) as server:
        monkeypatch.setenv("ANTHROPIC_BASE_URL", server.url)

        def cancel_when_it_streams() -> None:
            assert silent.began.wait(20)
            asked.append(time.monotonic())
            assert dreaming.cancel(DreamRun.objects.get(), "owner")
            connection.close()

        canceller = threading.Thread(target=cancel_when_it_streams)
        canceller.start()
        run = failed(project)
        took = time.monotonic() - asked[0]
        canceller.join()
    assert run.status == "killed" and took < 10, "the server is silent for half a minute"
    assert run.input_tokens + run.cache_creation_tokens > 0, "what it had begun to answer is paid for"
    assert locks.last_consolidated_ns(world.folder(project)) == clock
    assert not LockHold.objects.exists() and not Proposal.objects.exists()


def _busy_once() -> Callable[[], None]:
    busy = iter([OperationalError("database is locked")])

    def close() -> None:
        for error in busy:
            raise error

    return close


@pytest.mark.more
def test_lease_and_lock_stay_fresh_during_a_long_answer(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nobody may think that a dream is dead because its model takes long, or because the database was busy once."""
    often = dt.timedelta(seconds=0.05)
    monkeypatch.setattr("dreams.lib.locks.Heartbeat", partial(locks.Heartbeat, every=often))
    monkeypatch.setattr("dreams.services.dreaming.reporter.LEASE_EVERY_SECONDS", 0.05)
    monkeypatch.setattr("dreams.services.dreaming.reporter.close_old_connections", _busy_once())
    lock = world.folder(project) / ".consolidate-lock"
    fresh: set[int] = set()
    leases: set[dt.datetime | None] = set()

    def look(watch: DreamReporter) -> None:
        fresh.add(lock.stat().st_mtime_ns)
        leases.add(DreamRun.objects.values_list("lease_until", flat=True).get())

    monkeypatch.setattr(DreamReporter, "checkpoint", look)
    slow = ScriptedReply((Text("A slow answer. " * 12),), piece=4, pause=0.02)
    read = ScriptedReply((Use("Read", {"file_path": "/memory/MEMORY.md"}),))
    with ModelServer(Script([read, slow])) as server:
        monkeypatch.setenv("ANTHROPIC_BASE_URL", server.url)
        assert command(project)["status"] == "completed"
    assert len(server.calls) == 2
    assert len(fresh) > 3 and len(leases) > 3


@pytest.mark.more
def test_a_dream_that_fails_is_counted_against_the_budgets(
    project: Project, price: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    with ModelServer(Script([WRITE, status(401)])) as server:
        monkeypatch.setenv("ANTHROPIC_BASE_URL", server.url)
        run = failed(project)
        assert run.priced_usd and run.priced_usd > 0
        Override.objects.create(key="max_cost_day", value=float(run.priced_usd) + 0.0001)
        Project.objects.update(not_before=None)
        with pytest.raises(Refused, match="day"):
            command(project)
    assert len(server.calls) == 2, "no request was made that could pass what is left"
