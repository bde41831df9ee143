"""A PostgreSQL that hosts start on at the same moment, that goes away and comes back: each says so, and goes on."""

from __future__ import annotations

import datetime as dt
import json
import signal
import subprocess
import sys
import uuid
from collections.abc import Iterator
from http.client import HTTPConnection
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from dreams.lib import process
from tests.world.processes import postgres
from tests.world.processes.commands import PROJECT
from tests.world.processes.servers import PROMPTLY, Home, link_of, stop, until

pytestmark = pytest.mark.sweep


@pytest.fixture(scope="module")
def server() -> Iterator[postgres.Server]:
    if reason := postgres.missing():
        pytest.skip(reason)
    with postgres.server() as made:
        yield made


def _home(folder: Path, url: str) -> Home:
    home = Home(folder)
    home.environment["DATABASE_URL"] = url
    return home


def test_three_hosts_start_for_the_first_time_at_once_and_none_fails(
    server: postgres.Server, tmp_path: Path
) -> None:
    url = server.new_database("first_start")
    homes = [_home(tmp_path / name, url) for name in ("one", "two", "three")]
    running = [
        subprocess.Popen(
            [sys.executable, "manage.py", "hosts", "--json"],
            cwd=PROJECT, env=home.environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )
        for home in homes
    ]  # fmt: skip
    done = [process.communicate(timeout=postgres.PATIENCE) for process in running]
    assert [process.returncode for process in running] == [0, 0, 0], done
    assert len(json.loads(homes[0].run("hosts", "--json").stdout)["hosts"]) == 3


def test_a_run_on_a_server_that_is_ended_ends_its_command_and_its_server(tmp_path: Path) -> None:
    if reason := postgres.missing():
        pytest.skip(reason)
    told = tmp_path / "told"
    command = f"import os, time; open({str(told)!r}, 'w').write(str(os.getpid()) + os.environ['DATABASE_URL'].rpartition('=')[2]); time.sleep(999)"
    running = subprocess.Popen(
        [sys.executable, "-m", "tests.world.processes.postgres", sys.executable, "-c", command], cwd=PROJECT
    )
    try:
        text = str(until(lambda: told.exists() and told.read_text(), "the command"))
        pid, _, folder = text.partition("/")
        server = int((Path("/", folder) / "data" / "postmaster.pid").read_text().split()[0])
        running.terminate()
        assert running.wait(postgres.PATIENCE) == 128 + signal.SIGTERM
        until(lambda: not (process.is_alive(server) or process.is_alive(int(pid))), "both to end")
        assert not Path("/", folder).exists()
    finally:
        running.kill()


def test_doctor_says_what_the_server_and_the_driver_are_and_whether_search_has_its_index(
    server: postgres.Server, tmp_path: Path
) -> None:
    home = _home(tmp_path, server.new_database("doctor"))
    checks = {check["name"]: check for check in home.json("doctor")["checks"]}
    assert checks["Database"]["said"].startswith("PostgreSQL ")
    assert "psycopg 3" in checks["Database"]["detail"] and "pg_trgm" in checks["Database"]["detail"]


def _status(address: str) -> tuple[int, str]:
    connection = HTTPConnection(urlsplit(address).netloc, timeout=20)
    connection.request("GET", "/login/")
    answer = connection.getresponse()
    try:
        return answer.status, answer.read().decode()
    finally:
        connection.close()


@pytest.fixture
def away(server: postgres.Server, tmp_path: Path) -> Iterator[tuple[Home, str]]:
    """A home that serves on a database of its own, and its address."""
    home = _home(tmp_path, server.new_database(f"away_{uuid.uuid4().hex}"))
    try:
        home.start("serve", "--no-browser")
        yield home, link_of(home).partition("/login/")[0]
    finally:
        home.end()


def test_while_the_server_is_away_pages_and_commands_say_so_and_afterwards_they_answer(
    server: postgres.Server, away: tuple[Home, str]
) -> None:
    home, address = away
    assert _status(address)[0] == 200
    server.stop()
    try:
        status, page = _status(address)
        command = home.run("projects")
    finally:
        server.start()
    assert status == 503 and "The database server does not answer" in page
    [told] = [
        line for line in home.log.read_text().splitlines() if "dreams.web" in line or "django.request" in line
    ]
    assert "The database is unavailable, so" in told and "traceback" not in told
    assert command.returncode == 1 and "does not answer" in command.stderr
    assert "Traceback" not in command.stderr
    until(lambda: _status(address)[0] == 200, "a page once the server is back")


def test_a_server_whose_connections_ended_stops_as_always(server: postgres.Server, tmp_path: Path) -> None:
    name = f"ended_{uuid.uuid4().hex}"
    home = _home(tmp_path, server.new_database(name))
    serving = home.start("serve", "--no-browser")
    try:
        link_of(home)
        until(lambda: _last_tick(home), "a tick of the scheduler")
        server.end_connections(name)
        stop(serving)
        said = home.log.read_text()
        assert serving.returncode == 0 and said.endswith("\nStopped. All its processes have ended.\n")
        assert "The next start" not in said and "Traceback (" not in said
        until(lambda: not home.processes(), "all processes to end")
    finally:
        home.end()


def test_a_server_is_stopped_while_the_database_is_away_and_leaves_no_process(
    server: postgres.Server, tmp_path: Path
) -> None:
    home = _home(tmp_path, server.new_database(f"stopped_{uuid.uuid4().hex}"))
    serving = home.start("serve", "--no-browser")
    try:
        link_of(home)
        server.stop()
        try:
            assert stop(serving) < PROMPTLY
        finally:
            server.start()
        *_, why, last = home.log.read_text().splitlines()
        assert serving.returncode == 0 and last == "Stopped. All its processes have ended."
        assert why.startswith("The database server does not answer: ")
        assert why.endswith(". The next start ends what is unfinished.")
        until(lambda: not home.processes(), "all processes to end")
    finally:
        home.end()


def test_the_queue_says_in_single_lines_what_it_misses_and_goes_on_once_the_server_is_back(
    server: postgres.Server, away: tuple[Home, str]
) -> None:
    home, _ = away
    until(lambda: _last_tick(home), "a tick of the scheduler")
    server.stop()
    try:
        until(lambda: "start the database server" in home.log.read_text(), "a word of the queue")
    finally:
        server.start()
    back = dt.datetime.now(dt.UTC)
    until(lambda: (_last_tick(home) or back) > back, "a tick after the server came back")
    said = home.log.read_text()
    assert "Traceback (" not in said and "  File " not in said
    assert "Traceback (" in (home.data / "logs" / "faults.log").read_text()


def _last_tick(home: Home) -> dt.datetime | None:
    found = home.rows("select max(last_seen_at) as seen from dreams_host")
    return found[0]["seen"] if found else None
