"""Runs the queue in the child process of `serve`.

It starts only while nobody else holds the lock of this data directory, hands out again what an earlier cluster had
taken and never finished, ticks at once, and ends its whole process group when it is told to, when its parent is
gone, or when its workers hang. Whoever started it starts it again."""

import datetime as dt
import fcntl
import logging
import multiprocessing
import os
import select
import signal
import sys
import threading
import time
from contextlib import suppress
from multiprocessing.context import ForkContext, ForkProcess
from pathlib import Path
from types import FrameType
from typing import ClassVar

import psutil
from django.conf import settings
from django.core.cache import cache
from django.db import connections
from django.utils import timezone
from django_q.signals import post_execute_in_worker, post_spawn, pre_execute

from dreams.lib import process
from dreams.lib.refusal import Refusal
from dreams.services import database, discovery, hosts
from dreams.services.discovery import watching
from dreams.services.hosts import cluster_name, host
from dreams.services.scheduling import scheduler

log = logging.getLogger(__name__)

LOOK_FOR_END_SECONDS = 0.05  # between two looks; chosen
_DEAD = frozenset({psutil.STATUS_ZOMBIE, psutil.STATUS_DEAD})


def end_group(group: int, seconds: float) -> None:
    """Ask every process of `group` to end, wait up to `seconds`, and kill what is left. The caller is spared."""
    _signal_all(group, signal.SIGTERM)
    until = time.monotonic() + seconds
    while group_members(group) and time.monotonic() < until:
        time.sleep(LOOK_FOR_END_SECONDS)
    _signal_all(group, signal.SIGKILL)


def group_members(group: int) -> list[int]:
    """PIDs of a group that still run, without the caller. A zombie has ended."""
    found = []
    for pid in psutil.pids():
        with suppress(OSError, psutil.Error):
            if pid != os.getpid() and os.getpgid(pid) == group and psutil.Process(pid).status() not in _DEAD:
                found.append(pid)
    return found


def _signal_all(group: int, number: signal.Signals) -> None:
    for pid in group_members(group):
        with suppress(ProcessLookupError, PermissionError):
            os.kill(pid, number)


QUIET_SECONDS = 120.0  # two ticks, each of which begins a task
_SLOTS = 1024  # a worker's is its id modulo this


class Pulse:
    """Made before the queue's processes are forked, which share it. Times are monotonic seconds."""

    def __init__(self) -> None:
        context = multiprocessing.get_context("fork")
        self._last = context.RawValue("d", time.monotonic())
        # Neighbouring PIDs never share a slot; each worker writes only its own.
        self._busy = context.RawArray("q", _SLOTS)
        self._handlers = (
            (post_spawn, self._seen),
            (pre_execute, self._begins),
            (post_execute_in_worker, self._ends),
        )
        for event, handler in self._handlers:
            event.connect(handler, weak=False)

    def close(self) -> None:
        """Listen no more."""
        for event, handler in self._handlers:
            event.disconnect(handler)

    def _seen(self, **_: object) -> None:
        self._last.value = time.monotonic()

    def _begins(self, **_: object) -> None:
        self._seen()
        self._busy[os.getpid() % _SLOTS] = os.getpid()

    def _ends(self, **_: object) -> None:
        self._seen()
        self._busy[os.getpid() % _SLOTS] = 0

    def busy(self) -> list[int]:
        """PIDs of living workers with a task."""
        return [pid for pid in self._busy if pid and process.is_alive(pid)]

    def hangs(self) -> bool:
        """True when nothing began for QUIET_SECONDS and nobody is at work.

        While somebody is, one waits: ending a dream costs more than a late tick, and a task's time is bounded.
        """
        return time.monotonic() - self._last.value > QUIET_SECONDS and not self.busy()


def take_lock(path: Path) -> int | None:
    """The descriptor of `path`, locked until it is closed; None when another process holds it.

    Processes forked off hold it too: what is left of a killed queue keeps a second one from starting beside it.
    """
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(descriptor)
        return None
    return descriptor


class _QueueProcess(ForkProcess):
    """A process that outlives no `serve`, and fails with a line in the log, where multiprocessing's own writes its traceback
    to the terminal.

    Each ends with the parent by itself, not workers alone: what takes tasks and what keeps results would wait for ever
    for workers that ended a moment before. The sentinel forks more and so has no thread: while it is there, so are they.
    """

    parent: ClassVar[int | None] = None

    def run(self) -> None:
        if self.parent is not None and os.getppid() != os.getpgrp():
            threading.Thread(target=_end_with_parent, args=(self.parent,), daemon=True).start()
        try:
            super().run()
        except Exception:
            log.critical("A queue process ended and is being restarted", exc_info=True)
            sys.exit(1)


class _Context(ForkContext):
    Process = _QueueProcess


def _with_remedy(record: logging.LogRecord) -> bool:
    """Say what to do beside what a process met while the database server was away."""
    if record.exc_info and database.is_away(record.exc_info[1]):
        record.msg, record.args = (
            f"{record.getMessage()} (start the database server; the queue then goes on)",
            (),
        )
    return True


def fail_in_one_line() -> None:
    """Whatever a process of the queue meets is one line on the terminal, with its remedy; call it before they start."""
    from django_q import cluster as queue  # noqa: PLC0415 - its import wants the apps ready

    queue.get_mp_context = _Context
    for handler in logging.getLogger().handlers:
        handler.addFilter(_with_remedy)


LOOK_SECONDS = 1.0  # between two looks whether all is well; the end is told at once
GRACE_SECONDS = 2.0  # between asking a group to end and ending it
# Longer than the main process needs to end the group in an orderly way.
ORPHAN_SECONDS = 4.0
#: Exit codes that the supervisor tells apart.
REFUSED = 3
HANGS = 4


class AlreadyRuns(Refusal):
    """Another cluster serves this data directory."""


def run(*, parent: int | None = None) -> int:
    """Run until told to end; the exit code. `parent` is a descriptor that reads its end once the parent is dead.

    Must be called in the main thread, as the leader of a process group. Raises AlreadyRuns.
    """
    lock = take_lock(Path(settings.DATA_DIR) / "cluster.lock")
    if lock is None:
        raise AlreadyRuns(
            f"A queue already runs on {settings.DATA_DIR}. Stop the other `serve` first, "
            "or set MEMORYWEB_DATA_DIR for a second one."
        )
    try:
        return _ClusterRun(parent).until_it_ends()
    finally:
        os.close(lock)


class _ClusterRun:
    def __init__(self, parent: int | None) -> None:
        # A copy: the queue's processes close their standard input.
        self._parent = os.dup(parent) if parent is not None else None
        self._told, self._bell = os.pipe()
        self._pid = os.getpid()

    def until_it_ends(self) -> int:
        from django_q.cluster import Cluster  # noqa: PLC0415 - its import wants the apps ready
        from django_q.conf import Conf  # noqa: PLC0415 - as above
        from django_q.signals import post_spawn  # noqa: PLC0415 - as above

        # What the queue takes tasks from; forked processes share it.
        Conf.CLUSTER_NAME = cluster_name(host())
        begin()
        connections.close_all()
        pulse = Pulse()
        post_spawn.connect(_in_worker, weak=False)
        fail_in_one_line()
        _QueueProcess.parent = self._parent
        cluster = Cluster()
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, self._tell)
        cluster.start()
        # After the queue's processes were forked: none of them has a copy of its thread.
        watcher = watching.Watcher(_look_early)
        watcher.start()
        code = 0
        while not self._over():
            if not cluster.sentinel.is_alive():
                code = HANGS
                break
            if pulse.hangs():
                sys.stderr.write("The queue's workers no longer take tasks; it is being restarted.\n")
                code = HANGS
                break
        watcher.tell_to_stop()
        end_group(os.getpgid(0), GRACE_SECONDS)
        watcher.stop()
        return code

    def _tell(self, number: int, frame: FrameType | None) -> None:
        if os.getpid() == self._pid:  # a process just forked off has the pipe too
            os.write(self._bell, b"!")

    def _over(self) -> bool:
        """Wait a moment; at once True when told to end or when the parent is gone."""
        waited = [self._told] if self._parent is None else [self._told, self._parent]
        ready = select.select(waited, [], [], LOOK_SECONDS)[0]
        return any(end == self._told or not os.read(end, 1) for end in ready)


def _in_worker(**_: object) -> None:
    """In each worker: SIGTERM unwinds a dream (killed, clock put back)."""
    signal.signal(signal.SIGTERM, _unwind)


IMPORT_SECONDS = 0.05  # of CPU between two looks whether an import is over; chosen


def _unwind(number: int, frame: FrameType | None) -> None:
    """End, but not in the middle of an import.

    Up to Python 3.11 a class that is made there turns this into an error of its own, which is told as a fault.
    """
    if not _is_importing(frame):
        raise SystemExit(0)
    # The queue has SIGALRM for a task's time.
    signal.signal(signal.SIGVTALRM, _unwind)
    signal.setitimer(signal.ITIMER_VIRTUAL, IMPORT_SECONDS)


def _is_importing(frame: FrameType | None) -> bool:
    while frame is not None:
        if frame.f_globals.get("__name__") == "importlib._bootstrap":
            return True
        frame = frame.f_back
    return False


def _end_with_parent(parent: int) -> None:
    """For the case that both `serve` and the cluster's main process were killed."""
    select.select([parent], [], [])
    time.sleep(ORPHAN_SECONDS)
    os.killpg(os.getpgid(0), signal.SIGKILL)


def _look_early(folders: list[str]) -> None:
    hosts.enqueue("look", folders, name="look")


def begin() -> None:
    """What must be true before the first task is taken: nothing stays handed out, and a tick waits."""
    from django_q.models import OrmQ  # noqa: PLC0415 - as above

    # Under the lock nobody else can be at work on them, and a claim makes a second delivery harmless.
    OrmQ.objects.filter(key=cluster_name(host())).update(lock=timezone.now() - dt.timedelta(seconds=1))
    scheduler.ensure_schedule()
    # The queue looks at its schedules only every half minute.
    cache.delete(discovery.LAST_LOOK)
    hosts.enqueue("tick")
