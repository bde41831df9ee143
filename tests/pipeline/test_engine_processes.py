"""Real processes: kill -9 of a worker in mid-dream, after which the next dream heals lock, clock and status; and the
server to dream against."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
import urllib.request
from pathlib import Path
from typing import Any

import psutil
import pytest

from dreams.engines.anthropic.probe import probe
from tests.world import directory as world
from tests.world.model_server import DemoModel, ModelServer, Request, ScriptedStep, say, stalled
from tests.world.processes import commands as forked
from tests.world.processes.servers import with_database

ROOT = Path(__file__).resolve().parents[2]
SLUG = "-home-dev-app"
DREAM = ("dream", SLUG, "--engine", "anthropic", "--force", "--json")


class FirstStalls:
    """The second answer of the first dream never ends; every later dream goes well."""

    def __init__(self) -> None:
        self.stalled = False

    def step(self, request: Request) -> ScriptedStep:
        if request.turns == 1 and not self.stalled:
            self.stalled = True
            return ScriptedStep(say("I begin to write down " * 20), stalled("content_block_delta"))
        return DemoModel().step(request)


def command(env: dict[str, str]) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "manage.py", *DREAM],
        cwd=ROOT,
        env=env,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )


def until(true: Any, seconds: float = 60.0) -> None:
    end = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < end, "it never came to this"
        time.sleep(0.02)


PRIOR_NS = 1_780_000_000_123_456_789
TICK = (
    "import json; from dreams.services.scheduling import scheduler; from dreams.models import *; scheduler.tick(); "
    "dream = DreamRun.objects.get(); print(json.dumps([dream.status, dream.error, dream.cache_creation_tokens > 0, "
    "LockHold.objects.count(), Project.objects.get().failures]))"
)


@pytest.mark.more
@pytest.mark.also_on_postgresql
def test_a_killed_worker_is_healed_at_the_next_look_and_the_next_dream_succeeds(tmp_path: Path) -> None:
    root = tmp_path / "config"
    world.write_sessions(root, 1)
    memory = root / "projects" / SLUG / "memory"
    world.put(memory / "MEMORY.md", world.INDEX)
    lock = memory / ".consolidate-lock"
    lock.write_text("")
    os.utime(lock, ns=(PRIOR_NS, PRIOR_NS))
    model = FirstStalls()
    with ModelServer(model) as server:
        env = {
            **{
                name: value
                for name, value in os.environ.items()
                if not name.startswith(("MEMORYWEB_", "DJANGO_"))
            },
            "MEMORYWEB_DATA_DIR": str(with_database(tmp_path / "data")),
            "MEMORYWEB_ROOTS": str(root),
            "ANTHROPIC_BASE_URL": server.url,
        }
        manage(env, "discover", "--json")
        first = command(env)
        until(lambda: model.stalled)
        assert lock.read_text().strip() == str(first.pid) and lock.stat().st_mtime_ns > PRIOR_NS
        workers = psutil.Process(first.pid).children(recursive=True)
        assert workers, "the reading tools have a process of their own"
        first.send_signal(signal.SIGKILL)
        first.communicate()
        until(lambda: not any(_lives(worker) for worker in workers))

        status, error, counted, holds, failures = json.loads(manage(env, "shell", "-v", "0", "-c", TICK))
        assert (status, counted, holds, failures) == ("failed", True, 0, 1) and "worker died" in error
        assert (lock.stat().st_mtime_ns, lock.read_bytes()) == (PRIOR_NS, b"")

        result = json.loads(manage(env, *DREAM))
    assert result["status"] == "completed" and result["files"], result
    assert lock.stat().st_mtime_ns > PRIOR_NS and lock.read_bytes() == b""
    assert (memory / "MEMORY.md").read_text() == world.INDEX


def manage(env: dict[str, str], *arguments: str) -> str:
    done = forked.run(*arguments, environment=env)
    assert done.returncode == 0, done.stderr
    return done.stdout


def _lives(process: psutil.Process) -> bool:
    try:
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    except psutil.Error:
        return False


@pytest.mark.more
def test_the_model_server_tells_its_address_answers_like_another_and_stops_when_told(tmp_path: Path) -> None:
    env = {**os.environ, "MEMORYWEB_DATA_DIR": str(tmp_path), "DJANGO_SETTINGS_MODULE": "memoryweb.settings"}
    arguments = [sys.executable, "manage.py", "model_server", "--port", "0", "--like", "ollama"]
    server = subprocess.Popen(arguments, cwd=ROOT, env=env, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    assert server.stdout is not None
    url = server.stdout.readline().decode().strip()
    assert probe("claude-sonnet-5-5", {"ANTHROPIC_BASE_URL": url}).ok
    with urllib.request.urlopen(f"{url}/v1/models", timeout=30) as answer:  # noqa: S310 - our own server
        assert json.load(answer)["object"] == "list", "as that server lists them"
    server.send_signal(signal.SIGTERM)
    server.communicate(timeout=30)
    assert server.returncode == 0
