"""A laptop that sleeps in the middle of everything: real processes stand still, and the clock on the wall is hours later."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from http.client import HTTPConnection
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from tests.pipeline.test_dreams_die import TICK, Sleeper
from tests.world.processes import faulty_disk
from tests.world.processes.servers import MANAGE, link_of, until
from tests.world.processes.shifted_clock import Clock, sleep_through

pytestmark = [pytest.mark.sweep, pytest.mark.not_on_postgresql]

NIGHT = 9 * 3600


@pytest.fixture
def clock(tmp_path: Path) -> Clock:
    if reason := faulty_disk.missing():
        pytest.skip(reason)
    return Clock(tmp_path / "clock")


@pytest.fixture
def sleeper(tmp_path: Path, clock: Clock) -> Iterator[Sleeper]:
    made = Sleeper(tmp_path / "home")
    made.home.environment |= clock.environment
    try:
        yield made
    finally:
        made.home.end()


def command(sleeper: Sleeper, *words: str) -> str:
    """In a process of its own that has the clock."""
    done = subprocess.run(
        [*MANAGE, *words],
        env=sleeper.home.environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_a_dream_that_the_machine_slept_through_goes_on_and_what_is_overdue_runs_once(
    sleeper: Sleeper, clock: Clock
) -> None:
    command(sleeper, "jobs", "add", "0 * * * *", "verify")
    sleeper.home.start("serve", "--no-browser")
    link = urlsplit(link_of(sleeper.home))
    dream = sleeper.asleep()
    sleep_through(sleeper.home, clock, NIGHT)

    command(sleeper, "shell", "-v", "0", "-c", TICK)  # before its worker renews its lease, maybe
    over = "select 1 from dreams_jobrun where ended_at is not null"
    until(lambda: sleeper.home.rows(over), "the end of the overdue job")
    [running] = sleeper.dreams("running")
    assert (running["id"], running["attempts"]) == (dream["id"], 1)
    sleeper.sleep.unlink()
    until(lambda: sleeper.dreams("completed"), "the dream's end")
    [ended] = sleeper.home.rows("select * from dreams_dreamrun")
    assert (ended["status"], ended["attempts"], ended["error"]) == ("completed", 1, "")
    until(lambda: sleeper.lock.read_text() == "", "the lock to be free")
    assert len(sleeper.home.rows("select 1 from dreams_jobrun")) == 1, "nine were missed, one was run"

    code = link.fragment.partition("=")[2]
    connection = HTTPConnection(link.netloc, timeout=60)
    connection.request(
        "POST", "/login/", f"code={code}", {"Content-Type": "application/x-www-form-urlencoded"}
    )
    assert connection.getresponse().status != 303, "a link of the evening before is over"
