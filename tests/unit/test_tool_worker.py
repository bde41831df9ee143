"""The worker that reads for a model: a process of its own, with an empty environment, a fence, and an end."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from dreams.lib.json_worker import WorkerFailed
from dreams.lib.sandbox.tool_worker import Mounts, ToolWorker, fences
from tests.world import model as kit


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Path:
    base = tmp_path_factory.mktemp("worker")
    (base / "memory").mkdir()
    for name, text in kit.FILES.items():
        (base / "memory" / name).write_text(text)
    kit.transcript(base / "folder")
    (base / "folder" / "memory").mkdir()
    (base / "folder" / "memory" / "real.md").write_text("the real directory\n")
    (base / "secret.txt").write_text("outside\n")
    (base / "memory" / "link.md").symlink_to(base / "secret.txt")
    return base


@pytest.fixture(scope="module")
def worker(world: Path) -> Iterator[ToolWorker]:
    folder = str(world / "folder")
    rows = (
        ("memory", str(world / "memory"), (f"{folder}/memory",)),
        ("transcripts/folder", folder, (folder,)),
    )
    os.environ["EYES_TEST_KEY"] = "must-not-travel"
    made = ToolWorker(Mounts(rows))
    yield made
    made.close()
    del os.environ["EYES_TEST_KEY"]


def bash(worker: ToolWorker, line: str) -> str:
    return worker.run("Bash", {"command": line}).text


def pid_of(worker: ToolWorker) -> int:
    """The worker itself: with bubblewrap around it, the last of what was started."""
    assert worker._worker is not None
    process = worker._worker.process
    return [process.pid, *(child.pid for child in psutil.Process(process.pid).children(recursive=True))][-1]


def stop(worker: ToolWorker) -> None:
    """Everything that was started stands still: it will never answer."""
    assert worker._worker is not None
    process = worker._worker.process
    os.killpg(process.pid, signal.SIGSTOP)


def test_all_four_tools_answer_over_the_mounts(worker: ToolWorker) -> None:
    assert "make reset" in bash(worker, "cat /memory/feedback_testing.md | head -20")
    assert "     7\tUse make reset" in worker.run("Read", {"file_path": "/memory/feedback_testing.md"}).text
    found = worker.run("Grep", {"pattern": "from now on", "-i": True, "path": "/transcripts"}).text
    assert found.startswith(f"/transcripts/folder/{kit.SESSION}.jsonl:2:")
    assert worker.run("Glob", {"pattern": "/memory/project_*.md"}).text == "/memory/project_deploy.md"


def test_the_memory_below_the_transcripts_is_the_scratch_copy(worker: ToolWorker, world: Path) -> None:
    for path in ("/transcripts/folder/memory", f"{world}/folder/memory"):
        assert "MEMORY.md" in bash(worker, f"ls {path}") and "real.md" not in bash(worker, f"ls {path}")


def test_its_environment_is_empty_and_nothing_outside_is_read(worker: ToolWorker, world: Path) -> None:
    inside = Path(f"/proc/{pid_of(worker)}/environ").read_bytes()
    assert b"must-not-travel" not in inside and b"HOME" not in inside and b"PATH" not in inside
    for path in (
        "/etc/passwd",
        f"{world}/secret.txt",
        "/memory/link.md",
        "/memory/../secret.txt",
        "/proc/self/environ",
    ):
        for name, key in (("Read", "file_path"), ("Grep", "path")):
            answer = worker.run(name, {key: path, "pattern": "."})
            assert "outside" not in answer.text and "root:" not in answer.text
        assert worker.run("Read", {"file_path": path}).refused
        assert "outside" not in bash(worker, f"cat {path}")


def test_the_fence_is_up(worker: ToolWorker) -> None:
    limits = Path(f"/proc/{pid_of(worker)}/limits").read_text()
    sizes = {line[:26].strip(): line[26:].split()[0] for line in limits.splitlines()[1:]}
    assert (
        sizes["Max file size"] == "0" and sizes["Max processes"] == "0" and sizes["Max core file size"] == "0"
    )
    status = Path(f"/proc/{pid_of(worker)}/status").read_text()
    assert worker.fences.has_os_sandbox is ("NoNewPrivs:\t1" in status)
    assert worker.fences == fences.offered(), "the doctor tells what is put up"


def test_odd_calls_are_answered(worker: ToolWorker) -> None:
    for name, given in (
        ("Read", {}),
        ("Read", {"file_path": "/memory"}),
        ("Read", {"file_path": "/memory/MEMORY.md", "offset": -1}),
        ("Grep", {"pattern": "("}),
        ("Grep", {"pattern": "x", "output_mode": "poem"}),
        ("Glob", {"pattern": 7}),
        ("Bash", {"command": "rm -rf /memory"}),
        ("Bash", {"command": "ls\n"}),
        ("Rm", {}),
    ):
        answer = worker.run(name, given)
        assert answer.refused or name == "Bash", (name, given, answer.text)
    assert "x" * 5 not in worker.run("Read", {"file_path": "x" * 5_000_000}).text
    assert not worker.run("Read", {"file_path": "/memory/MEMORY.md"}).refused, "it still answers"


def test_a_worker_that_was_killed_is_started_again(worker: ToolWorker) -> None:
    before = pid_of(worker)
    os.kill(before, 9)
    assert worker.run("Bash", {"command": "ls /memory"}).refused
    assert "MEMORY.md" in bash(worker, "ls /memory") and pid_of(worker) != before


def test_closing_ends_a_call_that_still_runs(world: Path) -> None:
    made = ToolWorker(Mounts((("memory", str(world / "memory"), ()),)))
    assert made._worker is not None
    process = made._worker.process
    stop(made)
    answers: list[bool] = []
    caller = threading.Thread(
        target=lambda: answers.append(made.run("Bash", {"command": "ls /memory"}).refused)
    )
    caller.start()
    time.sleep(0.1)
    made.close()
    caller.join(30)
    assert answers == [True] and process.poll() is not None
    assert made.run("Bash", {"command": "ls"}).refused


def test_a_call_that_hangs_is_given_up(world: Path) -> None:
    made = ToolWorker(Mounts((("memory", str(world / "memory"), ()),)), call_seconds=0.3)
    assert made._worker is not None
    process = made._worker.process
    stop(made)
    answer = made.run("Bash", {"command": "ls /memory"})
    assert answer.refused and "too long" in answer.text and process.poll() is not None
    made.close()


def test_a_worker_that_cannot_start_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.executable", "/bin/false")
    with pytest.raises(WorkerFailed):
        ToolWorker(Mounts(()))
