"""Runs commands in separate processes without repeated imports: a process with all imports forks for each.

A command is short, its imports take half a second. So libraries and the pure packages are imported once; none of them
needs settings. Each process loads settings, models and the command itself, from its environment, through `manage.py`,
and has its own memory and exit. Servers and first commands are started from scratch (servers.py,
test_projects_command).
"""

from __future__ import annotations

import functools
import gc
import importlib
import json
import os
import pkgutil
import runpy
import socket
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import IO, Any

PROJECT = Path(__file__).resolve().parents[3]
# Nothing takes this long, except on a busy machine.
PATIENCE = 300.0
# An order has names and an environment, an answer has one number.
LARGEST = 1_000_000
END = b"\n"
LIBRARIES = (
    "croniter", "dulwich.repo", "filelock", "msgspec", "orjson", "psutil", "rapidfuzz", "re2", "ruamel.yaml",
    "django.contrib.admin", "django.contrib.auth", "django.contrib.staticfiles", "django.core.handlers.wsgi",
    "django.core.management.commands.migrate", "django.core.serializers.json", "django.db.backends.sqlite3.base",
    "django.db.migrations.executor", "django.forms", "django.shortcuts", "django.template.backends.django",
)  # fmt: skip
# Limits that are on by default and that the machine may be over, switched off for all tests: {"MEMORYWEB_…": "0"}.
SWITCHED_OFF: dict[str, str] = {}
PURE = ("conf", "findings", "lib", "services.scheduling.gates", "engines.rules")


def run(*arguments: str, environment: Mapping[str, str], stdin: str = "") -> subprocess.CompletedProcess[str]:
    """`manage.py` with these arguments, in exactly this environment."""
    with tempfile.TemporaryFile() as given, tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        given.write(stdin.encode())
        given.seek(0)
        code = _station().order(arguments, environment, (given, out, err))
        return subprocess.CompletedProcess(arguments, code, text_of(out), text_of(err))


def text_of(file: IO[bytes]) -> str:
    file.seek(0)
    return file.read().decode()


def run_batch(data: Path, command: str, *lines: str, arguments: tuple[str, ...] = ()) -> list[dict[str, Any]]:
    """Runs a `--batch` command over these lines; checks that it creates no database."""
    done = run(command, "--batch", *arguments, environment=environment(data), stdin="\n".join(lines))
    assert done.returncode == 0, done.stderr
    assert not list(data.rglob("*sqlite*"))
    return [json.loads(line) for line in done.stdout.splitlines()]


def environment(data: Path, **more: str) -> dict[str, str]:
    """This process's environment, with only a data directory and `more` of memoryweb's variables."""
    ours = ("MEMORYWEB_", "ANTHROPIC_", "CLAUDE_", "DJANGO_", "DATABASE_")
    return {
        **{name: value for name, value in os.environ.items() if not name.startswith(ours)},
        **of_data_directory(data),
        **more,
    }


def of_data_directory(data: Path) -> dict[str, str]:
    """The variables of every process that uses it, with its own PostgreSQL database if the tests use PostgreSQL."""
    from tests.world.processes import postgres

    database = {"DATABASE_URL": postgres.of(data)} if postgres.given() else {}
    return {"MEMORYWEB_DATA_DIR": str(data), **SWITCHED_OFF, **database}


class Station:
    """The prepared process, which runs `module`; it ends with this one, when the socket closes."""

    def __init__(self, module: str = __name__, environment: Mapping[str, str] | None = None) -> None:
        self.line, theirs = socket.socketpair()
        with theirs:
            self.process = subprocess.Popen(
                [sys.executable, "-m", module, str(theirs.fileno())], env=environment,
                cwd=PROJECT, pass_fds=[theirs.fileno()], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            )  # fmt: skip
        self.line.settimeout(PATIENCE)

    def close(self) -> None:
        self.line.close()
        self.process.wait(PATIENCE)

    def order(
        self, arguments: tuple[str, ...], environment: Mapping[str, str], files: tuple[IO[bytes], ...]
    ) -> int:
        order = json.dumps([arguments, dict(environment)]).encode() + END
        sent = socket.send_fds(self.line, [order], [file.fileno() for file in files])
        self.line.sendall(order[sent:])
        answer = self.line.recv(LARGEST)
        assert answer, "the process that forks has ended"
        return int(answer)


@functools.cache
def _station() -> Station:
    return Station()


# --- In the process that forks ----------------------------------------------------------------------------------------


def serve(line: socket.socket) -> None:
    """Forks for each order and answers with its exit code; returns in the child, which does the work."""
    while True:
        order, files, _, _ = socket.recv_fds(line, LARGEST, 3)
        while order and not order.endswith(END):
            order += line.recv(LARGEST) or sys.exit()
        if not order:
            sys.exit()
        if not (child := os.fork()):
            line.close()
            become(*json.loads(order), files)
            return
        for file in files:
            os.close(file)
        line.send(str(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])).encode())


def become(arguments: list[str], environment: dict[str, str], files: list[int]) -> None:
    for number, file in enumerate(files):
        os.dup2(file, number)
        os.close(file)
    os.environ.clear()
    os.environ.update(environment)
    sys.argv = ["manage.py", *arguments]


def get_ready() -> None:
    for name in LIBRARIES:
        importlib.import_module(name)
    for name in PURE:
        package = importlib.import_module(f"dreams.{name}")
        for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            importlib.import_module(module.name)
    from django.conf import settings

    assert not settings.configured, "what is imported for all asks for nobody's settings"
    gc.collect()
    gc.freeze()  # children share memory that they do not change


if __name__ == "__main__":
    get_ready()
    serve(socket.socket(fileno=int(sys.argv[1])))
    runpy.run_path("manage.py", run_name="__main__")
