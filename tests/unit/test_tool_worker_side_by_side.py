"""A slow call of a turn holds up no other: another worker is started for it, and none is left behind."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, cast

import pytest

from dreams.lib.sandbox.tool_worker import (
    MOST_WORKERS,
    Fences,
    Mounts,
    ToolWorker,
    ToolWorkerFailed,
    ToolWorkers,
)
from dreams.lib.sandbox.tool_worker.tools import ToolReply


class Gate(threading.Event):
    """Slow calls end when it opens; counts those that wait before it."""

    def __init__(self) -> None:
        super().__init__()
        self.reached = threading.Semaphore(0)

    def wait(self, timeout: float | None = None) -> bool:
        self.reached.release()
        return super().wait(timeout)


class Worker:
    """Answers when it may; takes one call at a time, as a process does."""

    def __init__(self, gate: threading.Event, fences: Fences | None = None) -> None:
        self.fences = fences or Fences(landlock=3)
        self.gate, self.closed = gate, False
        self.busy = threading.Lock()

    def run(self, name: str, given: Mapping[str, Any]) -> ToolReply:
        with self.busy:
            if given.get("slow"):
                self.gate.wait(20)
            return ToolReply(f"{name} of {given['path']}")

    def close(self) -> None:
        self.closed = True


class Makers:
    """Makes workers and counts them."""

    def __init__(self, gate: threading.Event, *, fences: Fences | None = None, fails: bool = False) -> None:
        self.gate, self.fences, self.fails = gate, fences, fails
        self.made: list[Worker] = []

    def __call__(self) -> ToolWorker:
        if self.fails:
            raise ToolWorkerFailed("no room")
        self.made.append(Worker(self.gate, self.fences))
        return cast(ToolWorker, self.made[-1])


def several(gate: threading.Event, makers: Makers, patience: float = 0.02) -> tuple[ToolWorkers, Worker]:
    first = Worker(gate)
    return ToolWorkers(cast(ToolWorker, first), makers, patience_seconds=patience), first


def test_quick_calls_behind_a_slow_one_are_answered_at_once() -> None:
    gate = Gate()
    makers = Makers(gate)
    worker, first = several(gate, makers)
    with ThreadPoolExecutor(12) as pool:
        slow = [pool.submit(worker.run, "Grep", {"path": n, "slow": True}) for n in range(2)]
        assert all(gate.reached.acquire(timeout=20) for _ in slow)
        quick = [pool.submit(worker.run, "Read", {"path": n}) for n in range(10)]
        assert [answer.result(20).text for answer in quick] == [f"Read of {n}" for n in range(10)]
        assert not any(answer.done() for answer in slow)
        gate.set()
        assert [answer.result(20).text for answer in slow] == ["Grep of 0", "Grep of 1"]
    assert len(makers.made) == MOST_WORKERS - 1
    worker.close()
    assert first.closed and all(worker.closed for worker in makers.made)


def test_quick_calls_alone_need_one_worker() -> None:
    makers = Makers(threading.Event())
    worker, _ = several(threading.Event(), makers, patience=20)
    with ThreadPoolExecutor(10) as pool:
        answers = list(pool.map(lambda n: worker.run("Read", {"path": n}).text, range(100)))
    assert answers == [f"Read of {n}" for n in range(100)] and makers.made == []


def test_where_no_other_can_be_had_or_it_is_worse_fenced_the_first_does_all() -> None:
    for wanting in ({"fails": True}, {"fences": Fences()}):
        gate = threading.Event()
        makers = Makers(gate, **cast(Any, wanting))
        worker, _ = several(gate, makers)
        with ThreadPoolExecutor(3) as pool:
            answers = [pool.submit(worker.run, "Read", {"path": n, "slow": n == 0}) for n in range(3)]
            threading.Timer(0.2, gate.set).start()
            assert [answer.result(20).text for answer in answers] == [f"Read of {n}" for n in range(3)]
        assert all(worker.closed for worker in makers.made)


@pytest.mark.more
def test_real_workers_answer_many_calls_at_once(tmp_path: Path) -> None:
    for number in range(10):
        (tmp_path / f"{number}.md").write_text(f"Text {number}.\n")
    mounts = Mounts((("memory", str(tmp_path), ()),))
    worker = ToolWorkers(ToolWorker(mounts), lambda: ToolWorker(mounts), patience_seconds=0.0)
    try:
        with ThreadPoolExecutor(10) as pool:
            found = list(pool.map(lambda n: worker.run("Read", {"file_path": f"/memory/{n}.md"}), range(10)))
    finally:
        worker.close()
    assert ["Text" in reply.text and str(n) in reply.text for n, reply in enumerate(found)] == [True] * 10
