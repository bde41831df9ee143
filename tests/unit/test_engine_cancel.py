"""A cancel takes effect at once, wherever the dream is: it is looked for ten times a second."""

from __future__ import annotations

import dataclasses
import socket
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from dreams.engines.anthropic.engine import AnthropicEngine
from dreams.engines.anthropic.tools import Answer
from dreams.engines.types import Cancelled, Job
from tests.world import model as kit
from tests.world.model_server import Fault, ScriptedReply, ScriptedStep, Text, Use, say, stalled, status

# What a dream here waits for takes 20 s at the least; a busy machine may take a few for what is at once.
AT_ONCE = 10.0
SLOW = dataclasses.replace(kit.QUICK, base_ms=60_000.0, longest_ms=60_000.0, stall_seconds=60.0)


class WhenSeen:
    """Says stop from a third of a second after something was seen: a request by the server, or `began`."""

    def __init__(self, began: threading.Event | None = None) -> None:
        self.since: float | None = None
        self.began = began

    def __call__(self) -> bool:
        now = time.monotonic()
        if self.began is not None and self.began.is_set():
            self.since = self.since or now
        return self.since is not None and now - self.since > 0.3


@pytest.mark.parametrize(
    "step",
    [
        ScriptedStep(say("x"), stalled("headers")),
        ScriptedStep(ScriptedReply((Text("A long answer. " * 400),)), stalled("content_block_delta")),
        ScriptedStep(ScriptedReply((Text("A slow answer. " * 4_000),), piece=4, pause=0.05)),
        ScriptedStep(fault=status(529)),
        ScriptedStep(fault=status(429, retry_after="50")),
    ],
    ids=["before headers", "silent in mid-stream", "slow stream", "back-off", "waiting as the server asks"],
)
def test_a_cancel_ends_the_dream_at_once(tmp_path: Path, step: ScriptedStep) -> None:
    streamed = step.fault is None or step.fault.at == "content_block_delta"
    stop = WhenSeen(step.began if streamed else None)
    report = kit.Watched(stop=stop)

    def seen(request: Any) -> bool:
        if not streamed:
            stop.since = stop.since or time.monotonic()
        return True

    model = kit.ByTurn([step])
    original: Callable[[Any], ScriptedStep] = model.step
    model.step = lambda request: seen(request) and original(request)  # type: ignore[assignment, method-assign, return-value]
    with pytest.raises(Cancelled):
        kit.dream(tmp_path, model, report=report, patience=SLOW)
    # What the server had begun to answer is paid for, and nothing else.
    assert report.used("requests") == int(streamed)
    assert stop.since is not None
    assert time.monotonic() - stop.since < AT_ONCE


def test_a_cancelled_request_leaves_no_connection_and_no_thread(tmp_path: Path) -> None:
    before = {thread.name for thread in threading.enumerate()}
    stop = WhenSeen()
    stop.since = time.monotonic()
    fault: Fault = stalled("headers")
    with pytest.raises(Cancelled):
        kit.dream(tmp_path, [ScriptedStep(say("x"), fault)], report=kit.Watched(stop=stop), patience=SLOW)
    left = {thread.name for thread in threading.enumerate()} - before
    assert not {name for name in left if name.startswith(("model-client", "dream-"))}


class Slow:
    """Eyes that are slow to open, or slow to read; says when they were asked."""

    names = frozenset({"Read"})

    def __init__(self, stop: WhenSeen) -> None:
        self.stop = stop
        self.gate = threading.Event()
        self.closed = threading.Event()

    def opened(self, job: Job) -> Slow:
        self.stop.since = time.monotonic()
        self.gate.wait(20)
        return self

    def run(self, name: str, given: Mapping[str, Any]) -> Answer:
        self.stop.since = time.monotonic()
        self.gate.wait(20)
        return Answer("")

    def close(self) -> None:
        self.closed.set()


def test_a_cancel_in_the_middle_of_a_tool_call_takes_effect_at_once(tmp_path: Path) -> None:
    stop = WhenSeen()
    slow = Slow(stop)
    reads = ScriptedReply((Use("Read", {"file_path": "/memory/MEMORY.md"}),))
    with pytest.raises(Cancelled):
        kit.dream(tmp_path, [reads], report=kit.Watched(stop=stop), open_tools=lambda job: slow)
    assert stop.since is not None and time.monotonic() - stop.since < AT_ONCE
    assert slow.closed.is_set()
    slow.gate.set()


def test_a_cancel_does_not_wait_for_the_sandbox_to_start_which_is_closed_when_it_comes(
    tmp_path: Path,
) -> None:
    stop = WhenSeen()
    slow = Slow(stop)
    with pytest.raises(Cancelled):
        kit.dream(tmp_path, [], report=kit.Watched(stop=stop), open_tools=slow.opened)
    assert stop.since is not None and time.monotonic() - stop.since < AT_ONCE
    assert not slow.closed.is_set()
    slow.gate.set()
    assert slow.closed.wait(10)


def test_a_cancel_does_not_wait_for_a_repository_that_is_slow_to_look_at(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stop = WhenSeen()
    gate = threading.Event()

    def look(*given: object) -> None:
        stop.since = time.monotonic()
        gate.wait(20)

    monkeypatch.setattr("dreams.engines.anthropic.repository._Look._look", look)
    monkeypatch.setattr("dreams.engines.anthropic.repository.SECONDS", 30.0)
    with kit.job(tmp_path) as job, pytest.raises(Cancelled):
        given = dataclasses.replace(job, repo_dir=tmp_path)
        environ = {"ANTHROPIC_BASE_URL": "http://127.0.0.1:9"}
        engine = AnthropicEngine(prices={}, environ=environ, open_tools=kit.Near)
        engine.run(given, kit.Watched(stop=stop))
    assert stop.since is not None and time.monotonic() - stop.since < AT_ONCE
    gate.set()


@pytest.fixture
def full_port() -> Iterator[int]:
    """A port that lets nobody in: its queue of connections is full."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen(0)
        fillers = [socket.socket() for _ in range(4)]
        for filler in fillers:
            filler.setblocking(False)
            filler.connect_ex(listener.getsockname())
        yield listener.getsockname()[1]
        for filler in fillers:
            filler.close()


def test_a_cancel_while_connecting_takes_effect_at_once(tmp_path: Path, full_port: int) -> None:
    stop = WhenSeen()

    def looked() -> bool:
        stop.since = stop.since or time.monotonic()
        return stop()

    environ = {"ANTHROPIC_BASE_URL": f"http://127.0.0.1:{full_port}"}
    report = kit.Watched(stop=looked)
    with kit.job(tmp_path) as job, pytest.raises(Cancelled):
        engine = AnthropicEngine(prices={}, patience=SLOW, environ=environ, open_tools=kit.Near)
        engine.run(job, report)
    assert stop.since is not None and time.monotonic() - stop.since < AT_ONCE
