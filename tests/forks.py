"""Runs the tests in several processes that are forked when all tests are collected: `--forks 3`.

To import and to collect all takes ten seconds of a core, once for each process that is not a fork. A fork takes the next
test of its file; when there is none, the next file; and when there is none, a test of the file with most tests left.
"""

from __future__ import annotations

import gc
import itertools
import multiprocessing
import os
import shutil
import signal
import tempfile
from collections.abc import Sequence
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.core.cache import caches
from django.template.loader import get_template
from django.urls import get_resolver

from memoryweb import RESOURCES

MANY = 300  # tests, for which it pays to read all templates before
FORKING = multiprocessing.get_context("fork")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--forks", type=int, default=0, help="how many processes run the tests; 0: this one")


@pytest.hookimpl(tryfirst=True)
def pytest_runtestloop(session: pytest.Session) -> bool | None:
    count, options = session.config.getoption("--forks"), session.config.option
    failed = session.testsfailed and not options.continue_on_collection_errors
    if not count or failed or options.collectonly or options.usepdb:
        return None
    if len(session.items) > MANY:
        _prepare()
    _Forks(session).run(count)
    return True


def _prepare() -> None:
    """What each process would do for itself, two seconds of it."""
    folder = RESOURCES / "templates"
    for path in folder.rglob("*.html"):
        get_template(path.relative_to(folder).as_posix())
    get_resolver()._populate()
    gc.freeze()


class _Untaken:
    """Which tests nobody has taken yet; all processes see the same."""

    def __init__(self, items: Sequence[pytest.Item]) -> None:
        files = itertools.groupby(enumerate(items), lambda one: one[1].path)
        self._files = [[number for number, _ in file] for _, file in files]
        self._taken = FORKING.Array("i", len(self._files))

    def next(self, file: int | None, *, take: bool) -> tuple[int | None, int | None]:
        """The file and the number of the test that comes next for whoever had one of `file`."""
        with self._taken.get_lock():
            file = self._file(file)
            if file is None:
                return None, None
            number = self._files[file][self._taken[file]]
            self._taken[file] += take
            return file, number

    def _file(self, file: int | None) -> int | None:
        if file is not None and self._taken[file] < len(self._files[file]):
            return file
        taken = self._taken[:]
        if 0 in taken:
            return taken.index(0)
        left = [len(numbers) - count for numbers, count in zip(self._files, taken, strict=True)]
        return left.index(max(left)) if any(left) else None


class _Forks:
    """The first process, which shows what the others tell."""

    def __init__(self, session: pytest.Session) -> None:
        self._session, self._hook = session, session.config.hook
        self._left = dict(enumerate(session.items))  # of which no end was told

    def run(self, count: int) -> None:
        untaken = _Untaken(self._session.items)
        folder = self._session.config._tmp_path_factory.getbasetemp()  # type: ignore[attr-defined]
        processes: dict[Connection, BaseProcess] = {}
        try:
            for number in range(count):
                heard, told = FORKING.Pipe(duplex=False)
                fork = _Fork(self._session, untaken, told)
                process = FORKING.Process(target=fork.run, args=(folder / f"fork-{number}",))
                process.start()
                told.close()
                processes[heard] = process
            self._hear(processes)
        finally:
            for process in processes.values():
                if process.pid and process.exitcode is None and self._left:
                    os.kill(process.pid, signal.SIGINT)  # as from the keyboard: it puts away what it has made
                process.join()
        codes = ", ".join(str(process.exitcode) for process in processes.values())
        for item in self._left.values():
            self._report(_without_end(item, f"It did not end. The processes ended with {codes}."))

    def _hear(self, processes: dict[Connection, BaseProcess]) -> None:
        speaking = set(processes)
        while speaking:
            for heard in wait(list(speaking)):
                assert isinstance(heard, Connection)
                try:
                    self._take(*heard.recv())
                except EOFError:
                    speaking.remove(heard)

    def _take(self, number: int, report: dict[str, Any] | None) -> None:
        """A report of a test, or None: it ended."""
        if report is None:
            item = self._left.pop(number)
            self._hook.pytest_runtest_logfinish(nodeid=item.nodeid, location=item.location)
        else:
            config = self._session.config
            self._report(self._hook.pytest_report_from_serializable(config=config, data=report))

    def _report(self, report: pytest.TestReport) -> None:
        self._hook.pytest_runtest_logreport(report=report)
        if self._session.shouldfail:
            raise self._session.Failed(self._session.shouldfail)
        if self._session.shouldstop:
            raise self._session.Interrupted(self._session.shouldstop)


class _Fork:
    """One of the other processes."""

    def __init__(self, session: pytest.Session, untaken: _Untaken, told: Connection) -> None:
        self._session, self._untaken, self._told = session, untaken, told
        self._number: int | None = None
        self._capture = session.config.pluginmanager.getplugin("capturemanager")

    def run(self, folder: Path) -> None:
        self._begin(folder)
        items, state = self._session.items, self._session._setupstate
        file, expected = None, None
        try:
            while not (self._session.shouldfail or self._session.shouldstop):
                file, self._number = self._untaken.next(file, take=True)
                if self._number is None:
                    break
                item = items[self._number]
                if self._number != expected:
                    state.teardown_exact(item)
                _, expected = self._untaken.next(file, take=False)
                following = None if expected is None else items[expected]
                item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
                self._told.send((self._number, None))
        except KeyboardInterrupt:
            pass
        finally:
            state.teardown_exact(None)
            self._capture.stop_global_capturing()  # what is wrong here is no test's, and for a person to see

    def _begin(self, folder: Path) -> None:
        """Nothing that a process writes to is shared: its data directory, folders of tests, what is captured."""
        signal.signal(
            signal.SIGINT, signal.default_int_handler
        )  # a shell has what it starts with & ignore it
        folder.mkdir(mode=0o700)
        _move_data(folder.name)
        config = self._session.config
        config._tmp_path_factory._basetemp = folder  # type: ignore[attr-defined]
        captured = self._capture._global_capturing
        for stream in (captured.out, captured.err) if self._capture._method == "fd" else ():
            with (
                tempfile.TemporaryFile() as own
            ):  # the objects stay: somebody may have kept sys.stderr at import
                os.dup2(own.fileno(), stream.tmpfile.fileno())
        config.pluginmanager.unregister(name="terminalreporter")
        config.pluginmanager.register(self)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        config = self._session.config
        self._told.send(
            (self._number, config.hook.pytest_report_to_serializable(config=config, report=report))
        )


def _move_data(name: str) -> None:
    """What `memoryweb.settings` puts into the data directory is from now on in a copy of it."""
    before = Path(settings.DATA_DIR)
    data = before.parent / name / before.name
    shutil.copytree(before, data, symlinks=True)
    settings.DATA_DIR, settings.DEMO_ROOT, settings.STATIC_ROOT = data, data / "demo", data / "static"
    os.environ["MEMORYWEB_DATA_DIR"] = str(data)
    database = settings.DATABASES["default"]
    for part, key in (
        (settings.CACHES["default"], "LOCATION"),
        (database, "NAME"),
        (database["TEST"], "NAME"),
    ):
        if isinstance(part.get(key), str):
            part[key] = part[key].replace(str(before), str(data))
    if caches.all(initialized_only=True):
        del caches["default"]  # somebody used it at import: it would stay where it was, and be everybody's


def _without_end(item: pytest.Item, reason: str) -> pytest.TestReport:
    return pytest.TestReport(item.nodeid, item.location, {}, "failed", reason, "call")
