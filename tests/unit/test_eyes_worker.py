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

from dreams.lib.sandbox.tool_worker import Eyes, EyesFailed, Mounts, fence
from tests.world import model as kit


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Path:
    base = tmp_path_factory.mktemp("eyes")
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
def eyes(world: Path) -> Iterator[Eyes]:
    folder = str(world / "folder")
    rows = (
        ("memory", str(world / "memory"), (f"{folder}/memory",)),
        ("transcripts/folder", folder, (folder,)),
    )
    os.environ["EYES_TEST_KEY"] = "must-not-travel"
    made = Eyes(Mounts(rows))
    yield made
    made.close()
    del os.environ["EYES_TEST_KEY"]


def bash(eyes: Eyes, line: str) -> str:
    return eyes.run("Bash", {"command": line}).text


def pid_of(eyes: Eyes) -> int:
    """The worker itself: with bubblewrap around it, the last of what was started."""
    process = eyes._process
    assert process is not None
    return [process.pid, *(child.pid for child in psutil.Process(process.pid).children(recursive=True))][-1]


def stop(eyes: Eyes) -> None:
    """Everything that was started stands still: it will never answer."""
    process = eyes._process
    assert process is not None
    os.killpg(process.pid, signal.SIGSTOP)


def test_all_four_tools_answer_over_the_mounts(eyes: Eyes) -> None:
    assert "make reset" in bash(eyes, "cat /memory/feedback_testing.md | head -20")
    assert "     7\tUse make reset" in eyes.run("Read", {"file_path": "/memory/feedback_testing.md"}).text
    found = eyes.run("Grep", {"pattern": "from now on", "-i": True, "path": "/transcripts"}).text
    assert found.startswith(f"/transcripts/folder/{kit.SESSION}.jsonl:2:")
    assert eyes.run("Glob", {"pattern": "/memory/project_*.md"}).text == "/memory/project_deploy.md"


def test_the_memory_below_the_transcripts_is_the_scratch_copy(eyes: Eyes, world: Path) -> None:
    for path in ("/transcripts/folder/memory", f"{world}/folder/memory"):
        assert "MEMORY.md" in bash(eyes, f"ls {path}") and "real.md" not in bash(eyes, f"ls {path}")


def test_its_environment_is_empty_and_nothing_outside_is_read(eyes: Eyes, world: Path) -> None:
    inside = Path(f"/proc/{pid_of(eyes)}/environ").read_bytes()
    assert b"must-not-travel" not in inside and b"HOME" not in inside and b"PATH" not in inside
    for path in (
        "/etc/passwd",
        f"{world}/secret.txt",
        "/memory/link.md",
        "/memory/../secret.txt",
        "/proc/self/environ",
    ):
        for name, key in (("Read", "file_path"), ("Grep", "path")):
            answer = eyes.run(name, {key: path, "pattern": "."})
            assert "outside" not in answer.text and "root:" not in answer.text
        assert eyes.run("Read", {"file_path": path}).refused
        assert "outside" not in bash(eyes, f"cat {path}")


def test_the_fence_is_up(eyes: Eyes) -> None:
    limits = Path(f"/proc/{pid_of(eyes)}/limits").read_text()
    sizes = {line[:26].strip(): line[26:].split()[0] for line in limits.splitlines()[1:]}
    assert (
        sizes["Max file size"] == "0" and sizes["Max processes"] == "0" and sizes["Max core file size"] == "0"
    )
    status = Path(f"/proc/{pid_of(eyes)}/status").read_text()
    assert eyes.state.has_os_sandbox is ("NoNewPrivs:\t1" in status)
    assert eyes.state == fence.offered(), "the doctor tells what is put up"


def test_odd_calls_are_answered(eyes: Eyes) -> None:
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
        answer = eyes.run(name, given)
        assert answer.refused or name == "Bash", (name, given, answer.text)
    assert "x" * 5 not in eyes.run("Read", {"file_path": "x" * 5_000_000}).text
    assert not eyes.run("Read", {"file_path": "/memory/MEMORY.md"}).refused, "it still answers"


def test_a_worker_that_was_killed_is_started_again(eyes: Eyes) -> None:
    before = pid_of(eyes)
    os.kill(before, 9)
    assert eyes.run("Bash", {"command": "ls /memory"}).refused
    assert "MEMORY.md" in bash(eyes, "ls /memory") and pid_of(eyes) != before


def test_closing_ends_a_call_that_still_runs(world: Path) -> None:
    made = Eyes(Mounts((("memory", str(world / "memory"), ()),)))
    process = made._process
    assert process is not None
    stop(made)
    answers: list[bool] = []
    caller = threading.Thread(
        target=lambda: answers.append(made.run("Bash", {"command": "ls /memory"}).refused)
    )
    caller.start()
    time.sleep(0.1)
    made.close()
    caller.join(5)
    assert answers == [True] and process.poll() is not None
    assert made.run("Bash", {"command": "ls"}).refused


def test_a_call_that_hangs_is_given_up(world: Path) -> None:
    made = Eyes(Mounts((("memory", str(world / "memory"), ()),)), call_seconds=0.3)
    process = made._process
    assert process is not None
    stop(made)
    answer = made.run("Bash", {"command": "ls /memory"})
    assert answer.refused and "too long" in answer.text and process.poll() is not None
    made.close()


def test_a_worker_that_cannot_start_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.executable", "/bin/false")
    with pytest.raises(EyesFailed):
        Eyes(Mounts(()))
