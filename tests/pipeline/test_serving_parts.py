"""The parts of `serve` one by one: single start, record, pulse, groups, static files, the page for the browser."""

from __future__ import annotations

import importlib
import json
import os
import signal
import stat
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from unittest.mock import Mock

import pytest
from django.contrib.staticfiles import finders
from pytest_django import Settings

from dreams.lib import process
from dreams.services import server_registry
from dreams.services.serving import cluster, lifecycle, web_server
from memoryweb import BASE_DIR
from tests.world.cases import each
from tests.world.processes.commands import environment as environment_of

pytestmark = pytest.mark.not_on_postgresql


@pytest.fixture(autouse=True)
def own_data(tmp_path: Path, settings: Settings) -> Path:
    settings.DATA_DIR = tmp_path
    return tmp_path


def test_a_lock_is_held_once_and_let_go_with_its_descriptor(tmp_path: Path) -> None:
    held = cluster.take_lock(tmp_path / "lock")
    assert held is not None
    assert cluster.take_lock(tmp_path / "lock") is None
    os.close(held)
    again = cluster.take_lock(tmp_path / "lock")
    assert again is not None
    os.close(again)


def test_the_record_names_a_living_server_only(tmp_path: Path) -> None:
    assert server_registry.running() is None
    written = server_registry.write("http://127.0.0.1:9999", 9999)
    assert server_registry.running() == written
    assert stat.S_IMODE(server_registry.path().stat().st_mode) == 0o600
    saved = json.loads(server_registry.path().read_text())
    server_registry.path().write_text(json.dumps({**saved, "started": saved["started"] - 100}))
    assert server_registry.running() is None, "the PID is another process' by now"


@each("text", ["", "{", "[]", '{"pid": 1}', '{"pid": "x", "started": 0}', "\xff"])
def test_a_damaged_record_is_no_server(text: str) -> None:
    server_registry.path().write_text(text, encoding="latin-1")
    assert server_registry.running() is None


class Worker:
    """A forked process that takes and ends tasks when told to."""

    def __init__(self, beat: cluster.Pulse) -> None:
        self._out, ours = os.pipe()
        theirs, self._in = os.pipe()
        self.pid = os.fork()
        if self.pid == 0:
            self._live(beat, theirs, ours)

    def _live(self, beat: cluster.Pulse, read: int, write: int) -> None:
        while order := os.read(read, 1):
            {b"b": beat._begins, b"e": beat._ends}[order]()
            os.write(write, b".")
        os._exit(0)

    def tell(self, order: bytes) -> None:
        os.write(self._in, order)
        os.read(self._out, 1)

    def kill(self) -> None:
        os.kill(self.pid, signal.SIGKILL)
        os.waitpid(self.pid, 0)


@pytest.fixture
def beat() -> Iterator[cluster.Pulse]:
    made = cluster.Pulse()
    yield made
    made.close()


def quiet(beat: cluster.Pulse) -> None:
    """As if the last sign of life were long ago."""
    beat._last.value -= cluster.QUIET_SECONDS + 1


def test_a_queue_in_which_nothing_begins_hangs_unless_somebody_is_at_work(beat: cluster.Pulse) -> None:
    worker = Worker(beat)
    assert not beat.hangs(), "it has just begun"
    worker.tell(b"b")
    quiet(beat)
    assert (beat.hangs(), beat.busy()) == (False, [worker.pid])
    worker.tell(b"e")
    assert not beat.hangs(), "it has just ended"
    quiet(beat)
    assert (beat.hangs(), beat.busy()) == (True, [])
    worker.kill()


def test_a_worker_that_was_killed_at_work_does_not_count_as_busy(beat: cluster.Pulse) -> None:
    worker = Worker(beat)
    worker.tell(b"b")
    worker.kill()
    quiet(beat)
    assert beat.hangs()


@pytest.mark.more
def test_a_process_of_the_queue_that_fails_says_so_in_one_line_and_its_traceback_is_kept(
    tmp_path: Path,
) -> None:
    starts = (
        "import django; django.setup()\n"
        "from django_q import cluster as queue; from dreams.services.serving import cluster\n"
        "cluster.fail_in_one_line()\n"
        "one = queue.get_mp_context().Process(target=int, args=('no number',)); one.start(); one.join()\n"
        "raise SystemExit(one.exitcode)"
    )
    environment = environment_of(tmp_path, DJANGO_SETTINGS_MODULE="memoryweb.settings")
    done = subprocess.run(
        [sys.executable, "-c", starts],
        check=False,
        env=environment,
        cwd=BASE_DIR,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 1
    [line] = done.stderr.splitlines()
    assert "A queue process ended" in line and "ValueError" in line
    assert "Traceback" in (tmp_path / "logs" / "faults.log").read_text()


def test_a_group_is_ended_also_when_it_does_not_listen() -> None:
    deaf = "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); print(flush=True); time.sleep(60)"
    child = subprocess.Popen(
        [sys.executable, "-c", f"import subprocess, sys; subprocess.run([sys.executable, '-c', {deaf!r}])"],
        start_new_session=True,
        stdout=subprocess.PIPE,
    )
    assert child.stdout is not None
    child.stdout.readline()
    assert len(cluster.group_members(child.pid)) == 2
    cluster.end_group(child.pid, 0.1)
    child.wait(60)
    child.stdout.close()
    assert not process.is_alive(child.pid)
    deadline = time.monotonic() + 60
    while cluster.group_members(child.pid) and time.monotonic() < deadline:
        time.sleep(0.02)
    assert cluster.group_members(child.pid) == []


INTERRUPTED = """
import os, signal, time
class Named:
    def __set_name__(self, owner, name):
        os.kill(os.getpid(), signal.SIGTERM)
class Importing:
    member = Named()
open({done!r}, "w").close()
"""


def test_a_worker_that_is_told_to_end_in_an_import_ends_behind_it_without_a_fault(tmp_path: Path) -> None:
    (tmp_path / "interrupted.py").write_text(INTERRUPTED.format(done=str(tmp_path / "done")))
    child = os.fork()
    if not child:
        code = 1
        try:
            signal.signal(signal.SIGTERM, cluster._unwind)
            sys.path.insert(0, str(tmp_path))
            importlib.import_module("interrupted")
            until = time.monotonic() + 10
            while time.monotonic() < until:
                pass
        except SystemExit:
            code = 0
        finally:
            os._exit(code)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert (tmp_path / "done").exists()


@pytest.mark.django_db
def test_a_start_names_a_variable_that_sets_nothing_and_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MEMORYWEB_MIN_HOUR", "7")
    monkeypatch.setattr(web_server, "collect", Mock())
    said: list[str] = []
    lifecycle.make_ready(said.append)
    assert said[:1] == ["MEMORYWEB_MIN_HOUR is not a setting; MEMORYWEB_MIN_HOURS is."]


def test_static_files_are_gathered_once_and_again_when_one_changed(
    tmp_path: Path, settings: Settings
) -> None:
    source = tmp_path / "source"
    source.mkdir()
    (source / "own.css").write_text("a")
    settings.STATIC_ROOT = tmp_path / "static"
    settings.STATICFILES_DIRS = [source]
    settings.STATICFILES_FINDERS = ["django.contrib.staticfiles.finders.FileSystemFinder"]
    finders.get_finder.cache_clear()
    try:
        assert web_server.collect()
        assert not web_server.collect()
        (source / "own.css").write_text("ab")
        assert web_server.collect()
        assert (tmp_path / "static" / "own.css").read_text() == "ab"
        (tmp_path / "static" / "own.css").unlink()
        (tmp_path / "static.fingerprint").write_text("half")
        assert web_server.collect()
    finally:
        finders.get_finder.cache_clear()


def test_the_page_for_the_browser_is_private_and_escapes_its_link(monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[str] = []
    monkeypatch.setattr("webbrowser.open", opened.append)
    web_server.show('http://127.0.0.1:8765/login/#token="><b>')
    assert stat.S_IMODE(web_server.page_path().stat().st_mode) == 0o600
    assert "<b>" not in web_server.page_path().read_text()
    deadline = time.monotonic() + 60
    while not opened and time.monotonic() < deadline:
        time.sleep(0.01)
    assert opened == [web_server.page_path().as_uri()], "the code is not on a command line"
    web_server.clear()
    assert not web_server.page_path().exists()


@pytest.mark.parametrize("name", ["CI", "SSH_CONNECTION"])
def test_no_browser_is_opened_where_nobody_sits(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    for other in ("CI", "SSH_CONNECTION"):
        monkeypatch.delenv(other, raising=False)
    monkeypatch.setattr("sys.platform", "linux")
    monkeypatch.setenv("DISPLAY", ":0")
    assert web_server.has_display()
    monkeypatch.setenv(name, "1")
    assert not web_server.has_display()


def test_a_queue_that_cannot_be_started_now_is_tried_again_and_ends_no_page(tmp_path: Path) -> None:
    said: list[str] = []
    python = tmp_path / "python"  # as between two steps of an update
    queue = lifecycle.Supervisor(said.append, command=[str(python), "-c", "input()"], first_wait=0.01)
    queue.start()
    assert queue.pid is None and "No such file" in said[0]
    python.symlink_to(sys.executable)
    deadline = time.monotonic() + 60
    while queue.pid is None and time.monotonic() < deadline:
        time.sleep(0.01)
        queue.look()
    assert queue.pid is not None
    queue.stop()


def test_a_queue_that_ends_is_started_again_each_time_a_little_later() -> None:
    said: list[str] = []
    failing = [sys.executable, "-c", "raise SystemExit(7)"]
    watcher = lifecycle.Supervisor(said.append, command=failing, first_wait=0.05)
    watcher.start()
    deadline = time.monotonic() + 60
    while len(said) < 3 and time.monotonic() < deadline:
        watcher.look()
        time.sleep(0.01)
    watcher.stop()
    assert [line.partition("Restarting in ")[2] for line in said] == ["0.05 s.", "0.1 s.", "0.2 s."]
    assert all("exit code 7" in line for line in said)
    assert watcher.pid is None
