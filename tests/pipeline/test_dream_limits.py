"""Each limit ends a dream in its own words, on its page and over real HTTP; work is kept, and a day passes before the
next try, which would meet the same limit."""

from __future__ import annotations

import datetime as dt
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from django.core.cache import cache
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from dreams.engines.anthropic.engine import AnthropicEngine
from dreams.lib import locks
from dreams.models import DreamRun, LockHold, Override, Proposal
from dreams.services import dreaming
from dreams.services.dreaming import unfinished
from tests.world import directory as world, model as kit
from tests.world.model_server import ModelServer, Request, Script, ScriptedReply, ScriptedStep, Text, Use

WRITE = Use(
    "Write",
    {
        "file_path": "/memory/feedback_x.md",
        "content": "---\nname: X\ntype: feedback\n---\n\nThe queue is drained by hand.\n",
        "reason": "Said so.",
        "citations": [{"session": "feedback_testing.md", "quote": "Snapshots are reviewed by hand."}],
    },
)
READ = Use("Read", {"file_path": "/memory/MEMORY.md"})
pytestmark = pytest.mark.django_db


def greedy(request: Request) -> ScriptedReply:
    """Writes once, then reads on and on, and says as much as it may."""
    most = min(4_000, int(request.body["max_tokens"]))
    return ScriptedReply((READ if request.turns else WRITE,), output_tokens=most)


@pytest.mark.more
@pytest.mark.parametrize(
    ("key", "value", "words"),
    [
        ("max_turns", 3, "all its 3 turns (Turns per dream)"),
        ("max_tokens", 40_000, "40,000 tokens of this dream (Tokens per dream)"),
        ("max_cost_dream", 0.15, "$0.15 of this dream (Cost limit per dream)"),
        ("max_cost_day", 0.15, "$0.15 for today (Cost limit per day)"),
        ("max_cost_month", 0.15, "(Cost limit per month)"),
        ("max_cost_project", 0.15, "(Cost limit per project and month)"),
        ("max_seconds", 10, "Time limit per dream"),
    ],
)
def test_a_limit_has_its_own_words_keeps_the_work_and_waits_a_day(
    tmp_path: Path,
    settings: Any,
    monkeypatch: pytest.MonkeyPatch,
    browser: Client,
    key: str,
    value: float,
    words: str,
) -> None:
    cache.clear()
    settings.ROOTS, settings.DATA_DIR = (tmp_path,), tmp_path / "data"
    project = world.discovered(tmp_path)
    clock = locks.last_consolidated_ns(world.folder(project))
    for name in ("max_cost_dream", "max_cost_day", "max_cost_month", "max_cost_project"):
        Override.objects.create(key=name, value=0)
    Override.objects.update_or_create(key=key, defaults={"value": value})
    steps = [ScriptedStep(greedy) for _ in range(40)]
    if key == "max_seconds":
        clock_on = _Hasty()
        steps[1] = ScriptedStep(clock_on.slow_answer)
        monkeypatch.setattr("dreams.services.dreaming.reporter.time", SimpleNamespace(monotonic=clock_on))
    engine = AnthropicEngine(patience=kit.QUICK, open_tools=kit.Near)
    monkeypatch.setattr("dreams.engines.get", lambda name: engine)
    with ModelServer(Script(steps)) as server:
        monkeypatch.setenv("ANTHROPIC_BASE_URL", server.url)
        asked = dreaming.request(project, DreamRun.Trigger.COMMAND, engine="anthropic", forced=True)
        run = dreaming.run_dream(asked.pk)

    assert run is not None and words in run.error, run and run.error
    assert (run.status, run.failure) == ("failed", "limit")
    assert words.replace("$", "") in _page(browser, run).replace("$", "")
    assert not Proposal.objects.exists() and unfinished.files(run) == ["feedback_x.md"]
    assert not LockHold.objects.exists() and locks.last_consolidated_ns(world.folder(project)) == clock
    project.refresh_from_db()
    assert project.not_before is not None
    assert project.not_before > timezone.now() + dt.timedelta(hours=23)
    if "cost" in key:
        assert run.priced_usd is not None and 0 < run.priced_usd <= value


def _page(browser: Client, run: DreamRun) -> str:
    return browser.get(reverse("dream", args=[run.public_id])).content.decode()


class _Hasty:
    """A clock that stands still until an answer comes slowly; from then on ten seconds pass in half of one."""

    def __init__(self) -> None:
        self._start = time.monotonic()
        self._since: float | None = None

    def slow_answer(self, request: Request) -> ScriptedReply:
        self._since = time.monotonic()
        return ScriptedReply((Text("A slow answer. " * 9_000),), piece=4, pause=0.05)

    def __call__(self) -> float:
        return self._start + (20 * (time.monotonic() - self._since) if self._since else 0)
