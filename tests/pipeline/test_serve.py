"""`serve` on a machine without any coding agent, from the first start to Ctrl-C, with real processes."""

from __future__ import annotations

import os
import signal
import socket
import sqlite3
import stat
import subprocess
from collections.abc import Iterator
from contextlib import closing
from http.client import HTTPConnection
from pathlib import Path
from urllib.parse import urlsplit

import psutil
import pytest

from tests.world.processes import postgres
from tests.world.processes.servers import PROMPTLY, Home, link_of, stop, until, with_database

pytestmark = pytest.mark.early


class Served:
    def __init__(self, home: Home) -> None:
        self.home = home
        self.process: subprocess.Popen[bytes] = home.start("serve", "--port", str(_free_port()))
        self.link = link_of(home)
        self.address = self.link.partition("/login/")[0]


def _free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    home = Home(tmp_path_factory.mktemp("serve"))
    try:
        yield Served(home)
    finally:
        home.end()


def _get(url: str, host: str = "", seconds: float = 10) -> tuple[int, str]:
    parts = urlsplit(url)
    connection = HTTPConnection(parts.netloc, timeout=seconds)
    connection.request("GET", parts.path, headers={"Host": host or parts.netloc})
    answer = connection.getresponse()
    try:
        return answer.status, answer.read().decode()
    finally:
        connection.close()


def test_the_printed_link_answers(served: Served) -> None:
    status, text = _get(served.link.partition("#")[0])
    assert status == 200
    assert "<form" in text


def test_style_sheets_are_served_with_a_name_of_their_content(served: Served) -> None:
    _, text = _get(served.address + "/login/")
    sheet = next(part.split('"')[0] for part in text.split('href="') if part.startswith("/static/css/base."))
    assert sheet != "/static/css/base.css"
    assert _get(served.address + sheet)[0] == 200


def test_another_name_for_this_machine_gets_nothing(served: Served) -> None:
    port = served.address.rpartition(":")[2]
    assert _get(served.address + "/login/", host=f"evil.example:{port}")[0] in (400, 421)


def test_two_hundred_connections_that_say_nothing_keep_no_page_waiting(served: Served) -> None:
    held = [
        socket.create_connection(("127.0.0.1", int(served.address.rpartition(":")[2]))) for _ in range(200)
    ]
    try:
        for number, silent in enumerate(held):
            silent.sendall(b"GET /login/ HT"[: number % 15])
        assert _get(served.address + "/login/")[0] == 200
    finally:
        for silent in held:
            silent.close()


# What macOS does, and notes each fork: its libraries end a process that was forked beside a thread, or behind one.
LIKE_MACOS = """
import multiprocessing, os, resource, threading

multiprocessing.set_start_method("spawn")
resource.setrlimit(resource.RLIMIT_NOFILE, (256, 256))
begun, start = [], threading.Thread.start

def noted(thread):
    begun.append(thread.name)
    start(thread)

def tell():
    with open({log!r}, "a") as log:
        log.write(f"{{begun}} {{len(os.listdir('/proc/self/task'))}}\\n")

threading.Thread.start = noted
os.register_at_fork(before=tell)
"""


@pytest.mark.more
def test_the_queue_works_as_on_macos_and_forks_no_process_that_ever_had_a_thread(tmp_path: Path) -> None:
    home, log = Home(tmp_path / "home"), tmp_path / "forks"
    with_database(home.data)
    (tmp_path / "sitecustomize.py").write_text(LIKE_MACOS.format(log=str(log)))
    home.environment["PYTHONPATH"] = str(tmp_path)
    try:
        Served(home)
        until(lambda: home.rows("select 1 from dreams_proposal"), "a proposal of the demo")
        assert set(log.read_text().splitlines()) == {"[] 1"}
    finally:
        home.end()


@pytest.mark.more
def test_more_silent_connections_than_are_accepted_hold_a_page_for_seconds_only(served: Served) -> None:
    place = ("127.0.0.1", int(served.address.rpartition(":")[2]))
    held = [socket.create_connection(place) for _ in range(520)]
    try:
        assert _get(served.address + "/login/", seconds=30)[0] == 200
    finally:
        for silent in held:
            silent.close()


def test_a_new_link_is_for_the_port_that_is_served(served: Served) -> None:
    found = served.home.json("login_url")
    assert found["url"].startswith(served.address + "/login/#token=")
    assert found["code"].replace("-", "") == found["url"].partition("#token=")[2]
    assert found["expires_at"]


def test_a_second_server_says_where_the_first_one_is(served: Served) -> None:
    second = served.home.run("serve", "--no-browser")
    assert second.returncode == 1
    assert served.address in second.stderr
    assert str(served.process.pid) in second.stderr


@pytest.mark.more
def test_a_second_queue_is_refused(served: Served) -> None:
    until(lambda: served.home.rows("select 1 from django_q_schedule"), "the first queue")
    second = served.home.run("cluster")
    assert second.returncode == 1
    assert "already runs" in second.stderr


def test_files_of_the_data_directory_are_private(served: Served) -> None:
    assert stat.S_IMODE(served.home.data.stat().st_mode) == 0o700
    for name in ("secret_key", "serve.json", *([] if postgres.given() else ["memoryweb.sqlite3"])):
        assert stat.S_IMODE((served.home.data / name).stat().st_mode) == 0o600, name


def test_without_an_agent_a_demo_is_made_and_a_proposal_of_it_waits_within_a_minute(served: Served) -> None:
    assert "A demo was created" in served.home.log.read_text()
    until(lambda: served.home.rows("select 1 from dreams_proposal where state = 'open'"), "a proposal")
    projects = served.home.json("projects")["projects"]
    assert "orders-api" in {project.get("name") for project in projects} | {
        project["slug"].rpartition("code-")[2] for project in projects
    }


def test_doctor_sees_server_and_scheduler(served: Served) -> None:
    until(lambda: served.home.rows("select 1 from dreams_gateevaluation"), "a tick")
    found = {check["name"]: check for check in served.home.json("doctor")["checks"]}
    assert (found["Server"]["state"], found["Scheduler"]["state"]) == ("ok", "ok")
    assert served.address in found["Server"]["said"]


def test_a_killed_queue_is_started_again(served: Served) -> None:
    [old] = [p for p in served.home.processes() if p.ppid() == served.process.pid]
    assert old.environ()["MEMORYWEB_ROOTS"] == str(served.home.data / "demo"), (
        "it looks where the server looks"
    )
    group = {p.pid for p in served.home.processes() if os.getpgid(p.pid) == old.pid}
    old.send_signal(signal.SIGKILL)

    def again() -> bool:
        children = psutil.Process(served.process.pid).children()
        return bool(children) and not group & {p.pid for p in served.home.processes()}

    until(again, "a new queue, and nothing of the old one")


#: A task whose worker uses 256 MB for a moment, as in a dream of many memories.
LARGE = """
from django_q.tasks import async_task
from dreams.services import hosts
large = {"salt": b"", "n": 2**18, "r": 8, "p": 1, "maxmem": 2**30}
async_task("hashlib.scrypt", b"", **large, cluster=hosts.cluster_name(hosts.host()))
"""


def test_a_worker_that_grew_large_ends_after_its_task(served: Served) -> None:
    def forked() -> set[int]:
        """The sentinel's processes; not what they start themselves, which ends at any time."""
        [queue] = psutil.Process(served.process.pid).children()
        return {p.pid for sentinel in queue.children() for p in sentinel.children()}

    before = until(lambda: len(found := forked()) > 3 and found, "a queue with its workers")
    assert served.home.run("shell", "-c", LARGE).returncode == 0
    until(lambda: len(before - forked()) == len(forked() - before) == 1, "another worker in its place")


def test_who_can_be_reached_from_elsewhere_needs_a_password_first(tmp_path: Path) -> None:
    home = Home(tmp_path)
    with_database(home.data)
    refused = home.run("serve", "--host", "0.0.0.0")  # noqa: S104 - it is refused
    assert refused.returncode == 1
    assert "`python manage.py password`" in refused.stderr


@pytest.mark.not_on_postgresql
def test_the_first_start_says_that_it_makes_the_database(tmp_path: Path) -> None:
    first, again = (Home(tmp_path).run("serve", "--host", "0.0.0.0").stderr for _ in range(2))  # noqa: S104 - refused
    assert first.startswith("Making the database; this takes some seconds.\n")
    assert "database" not in again


def test_ctrl_c_ends_everything_promptly(served: Served) -> None:
    """The last one of this file: it ends the server of the others."""
    # Somebody else has the database open, too, as an agent's MCP server does.
    with closing(sqlite3.connect(served.home.data / "memoryweb.sqlite3")) as other:
        other.execute("SELECT count(*) FROM sqlite_master").fetchone()
        seconds = stop(served.process)
        log = served.home.data / "memoryweb.sqlite3-wal"
        assert not log.exists() or log.stat().st_size == 0, "a copy of the database file alone is complete"
    assert served.process.returncode == 0, served.home.log.read_text()
    assert seconds < PROMPTLY
    assert served.home.processes() == []
    assert not (served.home.data / "serve.json").exists()
    assert "Stopped." in served.home.log.read_text()
