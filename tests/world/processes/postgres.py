"""A PostgreSQL server for tests, and processes that write to it concurrently.

Needs the server's programs (Debian: `apt install postgresql`) and the driver of `requirements/postgresql.txt`. If one
is missing, each test is reported as not run. As a program it runs a command, such as pytest, with `DATABASE_URL` set
to a server that runs as long as the command.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import importlib.util
import json
import os
import pwd
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from decimal import Decimal
from pathlib import Path
from typing import Any, NoReturn
from urllib.parse import urlsplit, urlunsplit

from tests.world.processes import commands

USER = "memoryweb"
PATIENCE = 120


def missing() -> str:
    """What is not installed, as text; "" if nothing is missing."""
    if importlib.util.find_spec("psycopg") is None:
        return "no PostgreSQL driver; `.venv/bin/pip install -r requirements/postgresql.txt`"
    return "" if programs() else "no PostgreSQL server; on Debian: apt install postgresql"


def programs() -> Path | None:
    """The folder of `initdb`, which is not in Debian's PATH."""
    found = shutil.which("initdb")
    folders = [Path(found).resolve().parent] if found else sorted(Path("/usr/lib/postgresql").glob("*/bin"))
    return next((folder for folder in reversed(folders) if (folder / "postgres").exists()), None)


class Server:
    """A server on a socket in its own folder, which can be stopped and restarted."""

    def __init__(self, base: Path) -> None:
        folder = programs()
        assert folder is not None
        self._programs, self._base, self._who = folder, base, _server_user()
        if self._who is not None:
            os.chown(base, self._who.pw_uid, self._who.pw_gid)
        _as(
            self._who,
            folder / "initdb",
            "-D",
            base / "data",
            "-U",
            USER,
            "-A",
            "trust",
            "--no-sync",
            "-E",
            "UTF8",
        )

    def url(self, name: str = "postgres") -> str:
        return f"postgres://{USER}@/{name}?host={self._base}"

    def start(self) -> None:
        options = f"-k {self._base} -c listen_addresses= -c fsync=off -c max_connections=100"
        self._run("pg_ctl", "-w", "-l", f"{self._base}/log", "-o", options, "start")

    def stop(self, mode: str = "immediate") -> None:
        self._run("pg_ctl", "-m", mode, "stop")

    def end_connections(self, name: str = "postgres") -> None:
        """Ends all connections to a database except this one's."""
        with _connected(self.url(name)) as connection:
            connection.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
                " WHERE datname = current_database() AND pid <> pg_backend_pid()"
            )

    @property
    def pid(self) -> int:
        return int((self._base / "data" / "postmaster.pid").read_text().split()[0])

    def new_database(self, name: str) -> str:
        """Creates an empty database and returns its URL."""
        _as(self._who, self._programs / "createdb", "-h", self._base, "-U", USER, name)
        return self.url(name)

    def _run(self, program: str, *arguments: str) -> None:
        _as(self._who, self._programs / program, "-D", self._base / "data", *arguments)


@contextlib.contextmanager
def server() -> Iterator[Server]:
    with tempfile.TemporaryDirectory(prefix="mw-pg-") as base:
        made = Server(Path(base))
        try:
            made.start()
            yield made
        finally:
            with contextlib.suppress(subprocess.CalledProcessError):  # a test may have stopped it
                made.stop()


# --- When all tests use PostgreSQL ------------------------------------------------------------------------------------


def given() -> str:
    """The URL of the server that the tests use; "" if they use SQLite."""
    return os.environ.get("DATABASE_URL", "")


def of(data: Path) -> str:
    """The URL of the database of a data directory, created if there is none."""
    return _database(data, "template1")


def copied(made: Path, data: Path) -> str:
    """The same, as a copy of the database of the data directory `made`, which must not be in use."""
    return _database(data, _name(made))


@functools.cache
def _database(data: Path, template: str) -> str:
    from psycopg import sql

    name, server = _name(data), urlsplit(given())
    with _connected(given()) as connection:
        connection.autocommit = True
        there = connection.execute("SELECT 1 FROM pg_database WHERE datname = %s", [name]).fetchone()
        if there and template != "template1":
            connection.execute(sql.SQL("DROP DATABASE {}").format(sql.Identifier(name)))
        if not there or template != "template1":
            made = sql.SQL("CREATE DATABASE {} TEMPLATE {}")
            connection.execute(made.format(sql.Identifier(name), sql.Identifier(template)))
    return urlunsplit(server._replace(path=f"/{name}"))


def _name(data: Path) -> str:
    return f"data_{hashlib.sha256(str(data).encode()).hexdigest()[:24]}"


def rows(url: str, query: str, values: Sequence[object] = ()) -> list[dict[str, Any]]:
    """The rows of a query; empty before its tables exist."""
    from psycopg import errors
    from psycopg.rows import dict_row

    try:
        with _connected(url) as connection:
            found = connection.cursor(row_factory=dict_row).execute(query, list(values)).fetchall()
    except errors.UndefinedTable:
        return []
    return [
        {key: float(one) if isinstance(one, Decimal) else one for key, one in row.items()} for row in found
    ]


def _connected(url: str) -> Any:
    import psycopg

    return psycopg.connect(url, connect_timeout=PATIENCE)


def main(command: Sequence[str]) -> int:
    """Runs a command with a new server."""
    if reason := missing():
        sys.stdout.write(f"The tests on PostgreSQL were not run: {reason}\n")
        return 0
    signal.signal(signal.SIGTERM, _ended)  # like Ctrl-C: the command ends, and then the server
    with server() as made:
        running = subprocess.Popen(command, env={**os.environ, "DATABASE_URL": made.url()})
        try:
            return running.wait()
        finally:
            running.terminate()
            running.wait()


def _ended(*_: object) -> NoReturn:
    sys.exit(128 + signal.SIGTERM)


# --- The server's user, concurrent writers ----------------------------------------------------------------------------


def _server_user() -> pwd.struct_passwd | None:
    """A user without rights if the tests run as root, as PostgreSQL refuses to; None: the current user."""
    return pwd.getpwnam("nobody") if os.getuid() == 0 else None


def _as(who: pwd.struct_passwd | None, *command: object) -> None:
    more = {"user": who.pw_uid, "group": who.pw_gid, "extra_groups": []} if who else {}
    # Else the server counts as a process of a data directory, and is killed with those.
    given = {name: value for name, value in os.environ.items() if not name.startswith("MEMORYWEB_")}
    subprocess.run(
        [str(part) for part in command], check=True, cwd="/", timeout=PATIENCE, env=given,
        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, **more,
    )  # fmt: skip


class Writers:
    """A process with settings that forks, so that several run a function of `postgres_work` at the same moment."""

    def __init__(self, url: str, data: Path) -> None:
        self._environment = {
            **os.environ,
            "DJANGO_SETTINGS_MODULE": "memoryweb.settings",
            "DATABASE_URL": url,
            "MEMORYWEB_DATA_DIR": str(data),
        }
        self._station = commands.Station("tests.world.processes.postgres_work", self._environment)

    def close(self) -> None:
        self._station.close()

    def at_once(self, processes: int, work: str, **given: object) -> list[dict[str, object]]:
        """Runs it concurrently and returns each result."""
        words = (work, str(processes), json.dumps(given))
        with (
            open(os.devnull, "rb") as nothing,
            tempfile.TemporaryFile() as out,
            tempfile.TemporaryFile() as err,
        ):
            code = self._station.order(words, self._environment, (nothing, out, err))
            assert code == 0, commands.text_of(err)
            return [json.loads(line) for line in commands.text_of(out).splitlines()]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
