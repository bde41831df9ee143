"""A worker that is killed, eats memory or dies again and again: calls are answered, and the dream goes on."""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from dreams.engines.anthropic.engine import AnthropicEngine
from dreams.engines.anthropic.tools import mounts_of
from dreams.engines.types import Job
from dreams.lib.sandbox import Shell
from dreams.lib.sandbox.tool_worker import CALL_SECONDS, MOST_STARTS, Mounts, ToolWorker
from dreams.lib.sandbox.tool_worker.tools import ToolReply
from tests.world import model as kit
from tests.world.model_server import ModelServer, Script, ScriptedReply as Said, Use, say
from tests.world.sandbox import open_tree, plant

ENDLESS = "jq -n 'def f: f; f'"


@pytest.fixture
def memory(tmp_path: Path) -> Path:
    (tmp_path / "memory").mkdir()
    (tmp_path / "memory/a.md").write_text("one fact\n")
    return tmp_path / "memory"


@pytest.fixture
def worker(memory: Path) -> Iterator[ToolWorker]:
    made = ToolWorker(Mounts((("memory", str(memory), ()),)))
    yield made
    made.close()


def kill(worker: ToolWorker) -> None:
    """As the kernel would, when memory runs out."""
    assert worker._worker is not None
    os.killpg(worker._worker.process.pid, 9)  # with what may stand around it


def bash(worker: ToolWorker, line: str) -> ToolReply:
    return worker.run("Bash", {"command": line})


def test_a_worker_answers_a_process_that_has_a_thousand_files_open(memory: Path) -> None:
    limits = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (limits[1], limits[1]))
    with ExitStack() as opened:
        opened.callback(resource.setrlimit, resource.RLIMIT_NOFILE, limits)
        for _ in range(1_024):
            opened.enter_context(open(os.devnull))
        worker = ToolWorker(Mounts((("memory", str(memory), ()),)))
        opened.callback(worker.close)
        assert bash(worker, "cat /memory/a.md").text == "one fact\n"


@pytest.mark.more
def test_a_worker_killed_in_the_middle_of_a_call_is_an_answer_and_the_next_call_works(
    worker: ToolWorker,
) -> None:
    answers: list[ToolReply] = []
    caller = threading.Thread(target=lambda: answers.append(bash(worker, ENDLESS)))
    started = time.monotonic()
    caller.start()
    time.sleep(0.2)
    assert not answers, "the call still runs"
    kill(worker)
    caller.join(CALL_SECONDS)
    assert time.monotonic() - started < CALL_SECONDS, "it is not waited for"
    assert answers[0].refused and "Not done" in answers[0].text
    assert "one fact" in bash(worker, "cat /memory/a.md").text


@pytest.mark.more
def test_a_program_without_end_is_ended_after_the_ten_seconds_of_a_call(worker: ToolWorker) -> None:
    answer = worker.run_line(ENDLESS)
    assert 9_000 < answer.ms < 12_000 and "took too long" in answer.output


@pytest.mark.more
def test_a_worker_that_dies_again_and_again_is_not_started_for_ever(worker: ToolWorker) -> None:
    for _ in range(MOST_STARTS - 1):
        kill(worker)
        assert bash(worker, "ls /memory").refused
        assert not bash(worker, "ls /memory").refused
    kill(worker)
    assert bash(worker, "ls /memory").refused
    assert "not available any more" in bash(worker, "ls /memory").text
    assert bash(worker, "ls /memory").refused


def test_a_tool_that_eats_memory_meets_its_limit_and_the_worker_lives(memory: Path) -> None:
    code = (
        "import sys\n"
        "from dreams.lib.sandbox.tool_worker import tools, worker\n"
        "real = tools.Tools.run\n"
        "def run(self, name, given):\n"
        "    if given.get('command') == 'eat':\n"
        "        return tools.ToolReply(str(len(bytearray(1 << 33))))\n"
        "    return real(self, name, given)\n"
        "tools.Tools.run = run\n"
        "worker.main(sys.stdin.buffer, sys.stdout.buffer)\n"
    )
    asked: list[Any] = [[{"name": "memory", "folder": str(memory), "stands_for": []}]]
    asked += [{"name": "Bash", "input": {"command": line}} for line in ("eat", "cat /memory/a.md")]
    done = subprocess.run(
        [sys.executable, "-c", code],
        input="".join(json.dumps(row) + "\n" for row in asked),
        cwd=Path(__file__).parents[2],
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    _, ate, read = map(json.loads, done.stdout.splitlines())
    assert ate == {"text": "Not done: a fault in the tool (MemoryError).", "refused": True}
    assert read == {"text": "one fact\n", "refused": False}


class Fragile:
    """The real worker, killed at the first call."""

    names = ToolWorker.names

    def __init__(self, job: Job) -> None:
        self._worker = ToolWorker(mounts_of(job))
        self._killed = False

    def run(self, name: str, given: Mapping[str, Any]) -> ToolReply:
        if not self._killed:
            self._killed = True
            kill(self._worker)
        return self._worker.run(name, given)

    def close(self) -> None:
        self._worker.close()


def test_a_dream_goes_on_when_its_worker_is_killed(tmp_path: Path) -> None:
    look = Use("Bash", {"command": "cat /memory/feedback_testing.md"})
    script = Script([Said((look,)), Said((look,)), Said((kit.learn(),)), say("Learnt one rule.")])
    report = kit.Watched()
    with kit.job(tmp_path) as job, ModelServer(script) as server:
        engine = AnthropicEngine(
            prices=kit.PRICES,
            patience=kit.QUICK,
            environ={"ANTHROPIC_BASE_URL": server.url},
            open_tools=Fragile,
        )
        outcome = engine.run(job, report)
        told = [block for call in server.calls for block in call.body["messages"][-1]["content"]]
    assert outcome.summary == "Learnt one rule." and len(outcome.edits) == 1
    answers = [str(block["content"]) for block in told if block["type"] == "tool_result"]
    assert "Not done" in answers[0] and "make reset" in answers[1]


EACH_COMMAND = [
    "ls -lan",
    "cat a.md | head -2 | tail -1",
    "find . -name '*.md' | sort",
    "grep -rn note . --include='*.md' | sort",
    "sed -n '1p;$p' a.md; echo '{}' | jq -c .",
    "sed -n '1,2s/o/0/gp' a.md",
    "sha256sum a.md; rg -n note",
    "wc a.md; cut -c1-3 a.md; tr a b; uniq -c a.md; nl a.md",
    "diff a.md topic/one.md; cmp a.md a.md",
    "stat -c '%n %s %F' a.md; du -sb a.md; basename a.md .md; dirname a.md",
    "echo *.md; printf '%s-%d\\n' a 3; printf 'c\\n' | sort; test -f a.md && echo yes",
    "pwd; cd topic && ls",
]


def test_every_command_answers_behind_the_fence_as_it_does_without(tmp_path: Path) -> None:
    """What is imported or opened on first use would fail there, where nothing but the mounts can be read."""
    base = tmp_path.resolve()
    plant(base)
    folder = base / "claude/project/memory"
    fenced = ToolWorker(Mounts((("memory", str(folder), (str(folder),)),)))
    with open_tree(base) as tree:
        plain = Shell(tree)
        try:
            for commands in EACH_COMMAND:
                line = f"cd /memory && {commands}"
                answer, wanted = fenced.run("Bash", {"command": line}), plain.run(line)
                assert answer.text.removesuffix(f"[exit code {wanted.exit_code}]\n") == wanted.output, line
        finally:
            fenced.close()
