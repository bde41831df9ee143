"""A cancel takes effect within a second, wherever the dream is."""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from dreams.engines.base import Cancelled
from dreams.engines.wire import Fault, Reply, Step, Text, say, stalled, status
from tests.unit import engine_kit as kit

SLOW = dataclasses.replace(kit.QUICK, base_ms=60_000.0, longest_ms=60_000.0, stall_seconds=60.0)


class WhenSeen:
    """Says stop from half a second after the server has seen a request on."""

    def __init__(self) -> None:
        self.since: float | None = None

    def __call__(self) -> bool:
        now = time.monotonic()
        return self.since is not None and now - self.since > 0.3


@pytest.mark.parametrize(
    "step",
    [
        Step(say("x"), stalled("headers")),
        Step(Reply((Text("A long answer. " * 400),)), stalled("content_block_delta")),
        Step(Reply((Text("A slow answer. " * 4_000),), piece=4, pause=0.05)),
        Step(fault=status(529)),
        Step(fault=status(429, retry_after="50")),
    ],
    ids=["before headers", "silent in mid-stream", "slow stream", "back-off", "waiting as the server asks"],
)
def test_a_cancel_ends_the_dream_within_a_second(tmp_path: Path, step: Step) -> None:
    stop = WhenSeen()

    def seen(request: Any) -> bool:
        stop.since = stop.since or time.monotonic()
        return True

    brain = kit.ByTurn([dataclasses.replace(step)])
    original: Callable[[Any], Step] = brain.step
    brain.step = lambda request: seen(request) and original(request)  # type: ignore[assignment, method-assign, return-value]
    with pytest.raises(Cancelled):
        kit.dream(tmp_path, brain, report=kit.Watched(stop=stop), patience=SLOW)
    assert stop.since is not None
    # 0.3 s until it is asked to stop, then a second at the most.
    assert time.monotonic() - stop.since < 0.3 + 1.0


def test_a_cancelled_request_leaves_no_connection_and_no_thread(tmp_path: Path) -> None:
    import threading

    before = {thread.name for thread in threading.enumerate()}
    stop = WhenSeen()
    stop.since = time.monotonic()
    fault: Fault = stalled("headers")
    with pytest.raises(Cancelled):
        kit.dream(tmp_path, [Step(say("x"), fault)], report=kit.Watched(stop=stop), patience=SLOW)
    left = {thread.name for thread in threading.enumerate()} - before
    assert not {name for name in left if name.startswith(("model-client", "dream-"))}
