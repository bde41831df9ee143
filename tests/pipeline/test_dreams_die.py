"""What happens to a running dream when its worker, its server or the whole machine room dies; with real processes.

The engine sleeps, so that there is time to kill it.
"""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest

from tests.world.directory import INDEX, TESTING, put, write_sessions
from tests.world.processes.servers import PATIENCE, PROMPTLY, Home, link_of, stop, until, with_database

PRIOR_NS = 1_780_000_000_123_456_789
TICK = "from dreams.services.scheduling import scheduler; scheduler.tick()"


class Sleeper:
    """A home with one project that wants to dream, whose dreams sleep until they are woken."""

    def __init__(self, folder: Path) -> None:
        self.home = Home(folder, "tests.world.processes.sleepy_settings")
        root = folder / ".claude"
        write_sessions(root, 6)
        self.memory = root / "projects" / "-home-dev-app" / "memory"
        put(self.memory / "MEMORY.md", INDEX.partition("- [Deploy]")[0])
        put(self.memory / "feedback_testing.md", TESTING)
        self.lock = self.memory / ".consolidate-lock"
        self.lock.write_text("")
        os.utime(self.lock, ns=(PRIOR_NS, PRIOR_NS))
        with_database(self.home.data)
        self.sleep = self.home.data / "sleep"
        self.sleep.touch()

    def dreams(self, status: str) -> list[dict[str, Any]]:
        return self.home.rows("select * from dreams_dreamrun where status = ? order by id", status)

    def asleep(self) -> dict[str, Any]:
        """The running dream, once it holds the lock and has fallen asleep."""
        until(lambda: self.home.rows("select 1 from dreams_turn"), "a dream that sleeps")
        [dream] = self.dreams("running")
        assert self.lock.stat().st_mtime_ns != PRIOR_NS
        return dream

    def tick(self) -> None:
        done = self.home.run("shell", "-v", "0", "-c", TICK)
        assert done.returncode == 0, done.stderr

    def let_time_pass(self) -> None:
        """As if back-off and scan throttle were over."""
        past = "Project.objects.update(not_before=None, sessions_scanned_at=None)"
        self.home.run("shell", "-v", "0", "-c", f"from dreams.models import Project; {past}")


@pytest.fixture
def sleeper(tmp_path: Path) -> Iterator[Sleeper]:
    made = Sleeper(tmp_path / "home")
    try:
        yield made
    finally:
        made.home.end()


@pytest.mark.more
def test_ctrl_c_kills_a_running_dream_and_puts_the_clock_back(sleeper: Sleeper) -> None:
    server = sleeper.home.start("serve", "--no-browser")
    link_of(sleeper.home)
    sleeper.asleep()
    assert stop(server) < PROMPTLY
    assert server.returncode == 0
    [dream] = sleeper.dreams("killed")
    assert dream["error"]
    assert (sleeper.lock.stat().st_mtime_ns, sleeper.lock.read_text()) == (PRIOR_NS, "")
    assert sleeper.home.rows("select failures, not_before from dreams_project") == [
        {"failures": 0, "not_before": None}
    ]
    assert sleeper.home.processes() == []


@pytest.mark.more
@pytest.mark.also_on_postgresql
def test_nothing_outlives_a_killed_server_and_the_next_start_puts_its_dream_right(sleeper: Sleeper) -> None:
    server = sleeper.home.start("serve", "--no-browser")
    link_of(sleeper.home)
    dream = sleeper.asleep()
    server.send_signal(signal.SIGKILL)
    server.wait(PATIENCE)
    until(lambda: not sleeper.home.processes(), "nothing left of a killed server")
    recovered = sleeper.home.run("recover")
    assert recovered.returncode == 0, recovered.stderr
    assert sleeper.dreams("running") == []
    [ended] = sleeper.home.rows("select * from dreams_dreamrun where id = ?", dream["id"])
    assert ended["status"] in ("killed", "failed")
    assert sleeper.lock.stat().st_mtime_ns == PRIOR_NS


@pytest.mark.more
@pytest.mark.also_on_postgresql
def test_not_even_workers_whose_every_parent_was_killed_are_left(sleeper: Sleeper) -> None:
    server = sleeper.home.start("serve", "--no-browser")
    link_of(sleeper.home)
    sleeper.asleep()
    for process in [psutil.Process(server.pid), *psutil.Process(server.pid).children()]:
        process.send_signal(signal.SIGKILL)
    server.wait(PATIENCE)
    until(lambda: not sleeper.home.processes(), "nothing left of a killed server and its queue")


@pytest.mark.more
def test_not_even_what_only_waits_for_workers_is_left(sleeper: Sleeper) -> None:
    """As where the queue's main process is killed while it tells the others one by one to end."""
    server = sleeper.home.start("serve", "--no-browser")
    link_of(sleeper.home)
    sleeper.asleep()
    worker = psutil.Process(sleeper.dreams("running")[0]["worker_pid"])
    sentinel, main = worker.parents()[:2]
    *workers, monitor, pusher = sorted(sentinel.children(), key=lambda child: child.create_time())
    assert worker in workers
    for process in [main, sentinel, *workers, psutil.Process(server.pid)]:
        process.send_signal(signal.SIGKILL)
    server.wait(PATIENCE)
    until(lambda: not sleeper.home.processes(), f"nothing left of a killed queue ({monitor}, {pusher})")


@pytest.mark.more
@pytest.mark.also_on_postgresql
def test_a_dream_whose_worker_is_killed_fails_and_the_next_one_succeeds(sleeper: Sleeper) -> None:
    queue = sleeper.home.start("cluster")
    dream = sleeper.asleep()
    assert (dream["attempts"], sleeper.lock.read_text().strip()) == (1, str(dream["worker_pid"]))
    os.kill(dream["worker_pid"], signal.SIGKILL)
    until(lambda: not psutil.pid_exists(dream["worker_pid"]), "the end of the worker")

    sleeper.tick()
    [failed] = sleeper.dreams("failed")
    assert (failed["public_id"], failed["attempts"]) == (dream["public_id"], 1)
    assert "worker died" in failed["error"]
    assert (sleeper.lock.stat().st_mtime_ns, sleeper.lock.read_text()) == (PRIOR_NS, "")
    [project] = sleeper.home.rows("select failures, not_before from dreams_project")
    assert project["failures"] == 1
    assert project["not_before"] is not None

    sleeper.tick()
    assert len(sleeper.home.rows("select 1 from dreams_dreamrun")) == 1, "it backs off"

    sleeper.sleep.unlink()
    sleeper.let_time_pass()
    sleeper.tick()
    [done] = until(lambda: sleeper.dreams("completed"), "the next dream")
    assert done["attempts"] == 1
    assert sleeper.lock.stat().st_mtime_ns > PRIOR_NS
    assert sleeper.home.rows("select failures from dreams_project") == [{"failures": 0}]
    _end(queue)


def _end(queue: subprocess.Popen[bytes]) -> None:
    queue.send_signal(signal.SIGTERM)
    assert queue.wait(PATIENCE) == 0
