"""Servers as separate processes, as a person starts them; and access to their data directory."""

from __future__ import annotations

import atexit
import functools
import json
import os
import re
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import psutil

from memoryweb import BASE_DIR
from tests.world.new_database import made_once
from tests.world.processes import commands as forked, postgres

MANAGE = (sys.executable, str(BASE_DIR / "manage.py"))
LINK = re.compile(r"http://127\.0\.0\.1:\d+/login/#token=\S+")


class Home:
    """An empty home folder with a data directory, and commands that run in it."""

    def __init__(
        self, folder: Path, settings: str = "memoryweb.settings", command: Sequence[str] = MANAGE
    ) -> None:
        self.folder = folder
        self.command = command
        self.data = folder / "data"
        folder.mkdir(parents=True, exist_ok=True)
        self.environment = {
            "HOME": str(folder),
            "PATH": os.environ["PATH"],
            "LANG": "C.UTF-8",
            "CI": "1",
            "DJANGO_SETTINGS_MODULE": settings,
            **forked.of_data_directory(self.data),
        }

    def start(self, *arguments: str) -> subprocess.Popen[bytes]:
        """Starts a command in the background, in a separate process group, with its output in `log`."""
        with self.log.open("ab") as log:
            return subprocess.Popen(
                [*self.command, *arguments],
                env=self.environment,
                cwd=BASE_DIR,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )

    def run(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        return forked.run(*arguments, environment=self.environment)

    def json(self, *arguments: str) -> dict[str, Any]:
        done = self.run(*arguments, "--json")
        return json.loads(done.stdout)

    @property
    def log(self) -> Path:
        return self.folder / "log"

    def rows(self, query: str, *values: object) -> list[dict[str, Any]]:
        """Rows of the server's database; none before it exists. `query` has a `?` for each of `values`."""
        if url := self.environment.get("DATABASE_URL"):
            return postgres.rows(url, query.replace("?", "%s"), values)
        try:
            with closing(
                sqlite3.connect(f"file:{self.data}/memoryweb.sqlite3?mode=ro", uri=True)
            ) as connection:
                connection.row_factory = sqlite3.Row
                return [dict(row) for row in connection.execute(query, values)]
        except sqlite3.OperationalError:
            return []

    def processes(self) -> list[psutil.Process]:
        """All processes that use this data directory according to their environment, whatever their parent."""
        found = []
        for process in psutil.process_iter():
            try:
                ours = process.environ().get("MEMORYWEB_DATA_DIR") == str(self.data)
                if ours and process.status() != psutil.STATUS_ZOMBIE:
                    found.append(process)
            except psutil.Error:
                continue
        return found

    def end(self) -> None:
        for process in self.processes():
            with suppress(psutil.NoSuchProcess):
                process.send_signal(signal.SIGKILL)


def with_database(data: Path) -> Path:
    """Adds a new database to the data directory: making it takes longer than most commands.

    test_projects_command and test_serve check that a first command makes it.
    """
    data.mkdir(mode=0o700, parents=True, exist_ok=True)
    if postgres.given():
        postgres.copied(_first(), data)
        return data
    with made_once(data / "memoryweb.sqlite3") as there:
        if not there:
            _migrate(data)
    return data


def _migrate(data: Path) -> None:
    done = forked.run("migrate", environment=forked.environment(data))
    assert done.returncode == 0, done.stderr


@functools.cache
def _first() -> Path:
    folder = Path(tempfile.mkdtemp(prefix="memoryweb-made-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    _migrate(folder)
    return folder


# Nothing takes this long, except on a busy machine.
PATIENCE = 180.0  # a first start of what nobody compiled took more than 90 beside four busy processes
# Two seconds on an idle machine; much less than a worker that is not stopped before its task ends.
PROMPTLY = 15.0


def until(found: Callable[[], Any], what: str) -> Any:
    """Waits until it is true; fails with `what` after a timeout."""
    end = time.monotonic() + PATIENCE
    while not (answer := found()):
        assert time.monotonic() < end, f"not within {PATIENCE} s: {what}"
        time.sleep(0.05)
    return answer


def link_of(home: Home) -> str:
    """The login link that the server prints once it is ready."""
    until(lambda: LINK.search(home.log.read_text()), "a login link")
    return LINK.findall(home.log.read_text())[-1]


def stop(server: subprocess.Popen[bytes]) -> float:
    """Sends Ctrl-C to the process group, like a terminal. Returns the seconds until it ended."""
    began = time.monotonic()
    os.killpg(server.pid, signal.SIGINT)
    server.wait(PATIENCE)
    return time.monotonic() - began
