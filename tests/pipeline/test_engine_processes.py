"""Real processes: kill -9 of a worker in mid-dream, after which the next dream heals lock, clock and status; and the
server to dream against."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from dreams.engines.anthropic.probe import probe
from dreams.engines.wire import DemoBrain, Request, Step, WireServer, say, stalled
from tests.pipeline import world

ROOT = Path(__file__).resolve().parents[2]
SLUG = "-home-dev-app"


class FirstStalls:
    """The second answer of the first dream never ends; every later dream goes well."""

    def __init__(self) -> None:
        self.stalled = False

    def step(self, request: Request) -> Step:
        if request.turns == 1 and not self.stalled:
            self.stalled = True
            return Step(say("I begin to write down " * 20), stalled("content_block_delta"))
        return DemoBrain().step(request)


def command(env: dict[str, str]) -> subprocess.Popen[bytes]:
    arguments = [sys.executable, "manage.py", "dream", SLUG, "--engine", "anthropic", "--force", "--json"]
    return subprocess.Popen(arguments, cwd=ROOT, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def until(true: Any, seconds: float = 60.0) -> None:
    end = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < end, "it never came to this"
        time.sleep(0.02)


def test_the_next_dream_heals_what_a_killed_worker_left(tmp_path: Path) -> None:
    root = tmp_path / "config"
    world.write_sessions(root, 1)
    memory = root / "projects" / SLUG / "memory"
    world.put(memory / "MEMORY.md", world.INDEX)
    brain = FirstStalls()
    with WireServer(brain) as server:
        env = {
            **{
                name: value
                for name, value in os.environ.items()
                if not name.startswith(("MEMORYWEB_", "DJANGO_"))
            },
            "MEMORYWEB_DATA_DIR": str(tmp_path / "data"),
            "MEMORYWEB_ROOTS": str(root),
            "ANTHROPIC_BASE_URL": server.url,
        }
        subprocess.run(
            [sys.executable, "manage.py", "discover", "--json"],
            cwd=ROOT,
            env=env,
            check=True,
            capture_output=True,
        )
        first = command(env)
        until(lambda: brain.stalled)
        assert (memory / ".consolidate-lock").read_text().strip() == str(first.pid)
        first.send_signal(signal.SIGKILL)
        first.communicate()
        second = command(env)
        out, said = second.communicate(timeout=120)
    assert second.returncode == 0, said.decode()
    result = json.loads(out)
    assert result["status"] == "completed" and result["files"], result
    assert (memory / ".consolidate-lock").read_bytes() == b""
    assert (memory / "MEMORY.md").read_text() == world.INDEX


def test_the_model_server_tells_its_address_answers_and_stops_when_told(tmp_path: Path) -> None:
    env = {**os.environ, "MEMORYWEB_DATA_DIR": str(tmp_path), "DJANGO_SETTINGS_MODULE": "memoryweb.settings"}
    arguments = [sys.executable, "manage.py", "model_server", "--port", "0"]
    server = subprocess.Popen(arguments, cwd=ROOT, env=env, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    assert server.stdout is not None
    url = server.stdout.readline().decode().strip()
    assert probe("claude-sonnet-5-5", {"ANTHROPIC_BASE_URL": url}).ok
    server.send_signal(signal.SIGTERM)
    server.communicate(timeout=30)
    assert server.returncode == 0
