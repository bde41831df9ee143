"""Runs the queue in the child process of `serve`.

It starts only if nobody else has the lock of this data directory, queues the unfinished tasks of an earlier cluster again,
ticks at once, and ends its complete process group if it is asked to, if its parent is gone, or if its workers hang. Its
supervisor restarts it if it was not asked to end."""

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
from functools import partial
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
    """Ask every process of `group` except the caller to end, wait up to `seconds`, and kill the rest."""
    _signal_all(group, signal.SIGTERM)
    until = time.monotonic() + seconds
    while group_members(group) and time.monotonic() < until:
        time.sleep(LOOK_FOR_END_SECONDS)
    _signal_all(group, signal.SIGKILL)


def group_members(group: int) -> list[int]:
    """PIDs of running processes of a group, without the caller and zombies."""
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


QUIET_SECONDS = 120.0  # two ticks, each of which starts a task
_SLOTS = 1024  # a worker's is its id modulo this


class Pulse:
    """Shared with the queue's processes, which are forked later. Times are monotonic seconds."""

    def __init__(self) -> None:
        context = multiprocessing.get_context("fork")
        self._last = context.RawValue("d", time.monotonic())
        # Each worker writes only its own slot; neighbouring PIDs never share one.
        self._busy = context.RawArray("q", _SLOTS)
        self._handlers = (
            (post_spawn, self._seen),
            (pre_execute, self._begins),
            (post_execute_in_worker, self._ends),
        )
        for event, handler in self._handlers:
            event.connect(handler, weak=False)

    def close(self) -> None:
        """Stop listening."""
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
        """True if no task started for QUIET_SECONDS and no worker is busy.

        A busy worker is not ended: a lost dream costs more than a late tick, and tasks have a time limit.
        """
        return time.monotonic() - self._last.value > QUIET_SECONDS and not self.busy()


def take_lock(path: Path) -> int | None:
    """The descriptor of `path`, locked until it is closed; None if another process has the lock.

    Forked processes share it, so that remains of a killed queue keep a second one from starting.
    """
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(descriptor)
        return None
    return descriptor


class _QueueProcess(ForkProcess):
    """A process that ends with `serve`, and logs failures in one line instead of a traceback on the terminal.

    Each process watches the parent itself, as those that take tasks and store results would wait for ended workers for ever.
    The sentinel forks and so has no thread; it ends with the others.
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
    """Add a remedy to an error that means that the database server is away."""
    if record.exc_info and database.is_away(record.exc_info[1]):
        record.msg, record.args = (
            f"{record.getMessage()} (start the database server; the queue then goes on)",
            (),
        )
    return True


def fail_in_one_line() -> None:
    """Report errors of the queue's processes as one line with a remedy; call it before they start."""
    from django_q import cluster as queue  # noqa: PLC0415 - its import wants the apps ready

    queue.get_mp_context = _Context
    for handler in logging.getLogger().handlers:
        handler.addFilter(_with_remedy)


LOOK_SECONDS = 1.0  # between two checks; an end is noticed at once
GRACE_SECONDS = 2.0  # between asking a group to end and ending it
# Longer than the main process needs to end the group.
ORPHAN_SECONDS = 4.0
#: Exit codes for the supervisor.
REFUSED = 3
HANGS = 4


class AlreadyRuns(Refusal):
    """Another cluster serves this data directory."""


def run(*, parent: int | None = None) -> int:
    """Run until asked to end; returns the exit code. `parent` is a descriptor that reaches its end when the parent dies.

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

        # The source of tasks, shared with forked processes.
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
        watcher = watching.Watcher(partial(hosts.enqueue, "look", name="look"))
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
        """Wait a moment; True at once if asked to end or if the parent is gone."""
        waited = [self._told] if self._parent is None else [self._told, self._parent]
        ready = select.select(waited, [], [], LOOK_SECONDS)[0]
        return any(end == self._told or not os.read(end, 1) for end in ready)


def _in_worker(**_: object) -> None:
    """In each worker SIGTERM ends a dream cleanly (killed, clock rewound)."""
    signal.signal(signal.SIGTERM, _unwind)


IMPORT_SECONDS = 0.05  # of CPU between two looks whether an import is over; chosen


def _unwind(number: int, frame: FrameType | None) -> None:
    """End, but not during an import.

    Up to Python 3.11 creating a class then turns this into another error.
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


def begin() -> None:
    """Prepare for the first task: queue unfinished tasks again, and a tick."""
    from django_q.models import OrmQ  # noqa: PLC0415 - as above

    # Under the lock nobody else works on them, and claims make a second delivery harmless.
    OrmQ.objects.filter(key=cluster_name(host())).update(lock=timezone.now() - dt.timedelta(seconds=1))
    scheduler.ensure_schedule()
    # The queue checks its schedules only every half minute.
    cache.delete(discovery.LAST_LOOK)
    hosts.enqueue("tick")
