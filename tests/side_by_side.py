"""Runs tests side by side: `pytest -p tests.side_by_side --copies 3`.

One process imports and collects all tests, which takes ten seconds, and makes copies of itself (fork) that run them. Each copy
has a data directory of its own. It takes the tests of one file after another; when none is left, it takes half of what another
copy still has to do.
"""

from __future__ import annotations

import os
import signal
from collections import deque
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from multiprocessing import Pipe
from multiprocessing.connection import Connection, wait
from pathlib import Path

import pytest

#: What a copy leaves to the process that made it: to print, and to remember what failed.
NOT_IN_COPIES = ("terminalreporter", "lfplugin", "nfplugin", "stepwiseplugin")
#: How many tests a copy knows of: the one that it runs, and the next, for which it keeps fixtures.
KNOWN = 2


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--copies", type=int, default=0, metavar="N", help="run the tests in N processes")


@pytest.hookimpl(tryfirst=True)
def pytest_runtestloop(session: pytest.Session) -> bool | None:
    config = session.config
    if not config.option.copies or session.testsfailed or config.option.collectonly:
        return None
    parts = _parts(session.items)
    copies: list[_Copy] = []
    for number in range(min(config.option.copies, len(parts))):
        ours, theirs = Pipe()
        if pid := os.fork():
            theirs.close()
            copies.append(_Copy(pid, ours))
        else:
            for channel in (ours, *(other.channel for other in copies)):
                channel.close()
            _set_apart(config, number)
            _work(session, theirs)
            return True
    _Run(session, parts, copies).until_all_is_done()
    return True


def _parts(items: Sequence[pytest.Item]) -> deque[list[int]]:
    """The numbers of the tests of each file; those with a browser are one part, as each copy has to start its own.

    What takes long comes first, as all others wait for what is begun last.
    """
    parts: dict[Path, list[int]] = {}
    for number, item in enumerate(items):
        place = item.path.parent if item.get_closest_marker("browser") else item.path
        parts.setdefault(place, []).append(number)

    def is_quick(part: list[int]) -> bool:
        return not any(items[number].get_closest_marker("sweep") for number in part)

    return deque(parts[path] for path in sorted(parts, key=lambda path: (is_quick(parts[path]), path)))


# --- In a copy ----------------------------------------------------------------------------------------------------


def _set_apart(config: pytest.Config, number: int) -> None:
    """Its output, its data directory and its database are no other copy's."""
    from tests import settings

    config.workerinput = {"workerid": f"copy{number}"}  # type: ignore[attr-defined] # asked for by pytest and its plugins
    for name in NOT_IN_COPIES:
        config.pluginmanager.unregister(name=name)
    capture = config.pluginmanager.getplugin("capturemanager")
    capture.stop_global_capturing()
    capture.start_global_capturing()
    capture.suspend_global_capture()
    settings.move()


def _work(session: pytest.Session, channel: Connection) -> None:
    """Until there is nothing left to do, or nobody to do it for."""
    session.config.pluginmanager.register(_Reports(session.config, channel))
    with channel, suppress(EOFError, BrokenPipeError):
        number = channel.recv()
        while number is not None:
            following = channel.recv()
            then = None if following is None else session.items[following]
            session.config.hook.pytest_runtest_protocol(item=session.items[number], nextitem=then)
            channel.send(None)
            number = following


@dataclass(eq=False)
class _Reports:
    config: pytest.Config
    channel: Connection

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self.channel.send(self.config.hook.pytest_report_to_serializable(config=self.config, report=report))


# --- In the process that collected the tests ------------------------------------------------------------------------


@dataclass(eq=False)
class _Copy:
    """A process, the tests that it knows of, and those that it does after these."""

    pid: int
    channel: Connection
    known: deque[int] = field(default_factory=deque)
    later: deque[int] = field(default_factory=deque)
    knows_all: bool = False


@dataclass
class _Run:
    """Hands the tests out, and reports what became of each."""

    session: pytest.Session
    parts: deque[list[int]]
    copies: list[_Copy]

    def until_all_is_done(self) -> None:
        running = {copy.channel: copy for copy in self.copies}
        try:
            for copy in self.copies * KNOWN:
                self._give(copy)
            while running:
                for channel in wait(list(running)):
                    if not self._hear(running[channel]):
                        self._over(running.pop(channel))
                if self.session.shouldfail:
                    raise self.session.Failed(self.session.shouldfail)
                if self.session.shouldstop:
                    raise self.session.Interrupted(self.session.shouldstop)
            for number in (number for part in self.parts for number in part):
                self._fail(number, "No process was left to run it.")
        finally:
            for channel, copy in running.items():
                os.kill(copy.pid, signal.SIGTERM)
                channel.close()
                os.waitpid(copy.pid, 0)

    def _give(self, copy: _Copy) -> None:
        """Its next test, or that there is none."""
        if copy.knows_all:
            return
        if not copy.later and self.parts:
            copy.later.extend(self.parts.popleft())
        if not copy.later:
            other = max(self.copies, key=lambda other: len(other.later))
            copy.later.extendleft(other.later.pop() for _ in range((len(other.later) + 1) // 2))
        copy.knows_all = not copy.later
        if copy.later:
            copy.known.append(copy.later.popleft())
        with suppress(BrokenPipeError):
            copy.channel.send(None if copy.knows_all else copy.known[-1])

    def _hear(self, copy: _Copy) -> bool:
        """Whether it goes on."""
        hook, config = self.session.config.hook, self.session.config
        try:
            told = copy.channel.recv()
        except (EOFError, ConnectionResetError):
            return False
        if told is None:
            item = self.session.items[copy.known.popleft()]
            hook.pytest_runtest_logfinish(nodeid=item.nodeid, location=item.location)
            self._give(copy)
        else:
            hook.pytest_runtest_logreport(
                report=hook.pytest_report_from_serializable(config=config, data=told)
            )
        return True

    def _over(self, copy: _Copy) -> None:
        """Another does what it leaves, without the test that ended it."""
        copy.channel.close()
        ended = os.waitstatus_to_exitcode(os.waitpid(copy.pid, 0)[1])
        if copy.known:
            self._fail(copy.known.popleft(), f"The process that ran it ended ({ended}).")
            self.parts.append([*copy.known, *copy.later])
            copy.later.clear()
        elif ended not in (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED):
            raise self.session.Failed(f"A process that had run its tests ended with {ended}.")

    def _fail(self, number: int, why: str) -> None:
        item = self.session.items[number]
        report = pytest.TestReport(item.nodeid, item.location, {}, "failed", why, "call")
        item.ihook.pytest_runtest_logreport(report=report)
