"""Who a process is: its PID and when it started, so that a reused PID is never taken for the one that died.

No Django here. The start time is compared, never shown: on Linux it is seconds since boot, because the wall
clock that `psutil` adds to it jumps when the system's clock is set, and a live holder would then look dead.
"""

import gc
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import psutil

# Start times have a resolution of 10 ms, but boot time may be read across a whole second's border.
_TOLERANCE = 1.5
# Of work that was under way in it, for whoever started that.
DIED = "Its worker died: the process was killed, the machine was shut down, or the database was unavailable."
_LARGEST_PID = 2**31 - 1
_DEAD = frozenset({psutil.STATUS_ZOMBIE, psutil.STATUS_DEAD})


@dataclass(frozen=True, slots=True)
class ProcessIdentity:
    """A process that cannot be confused with a later one of the same PID.

    `start_time`: seconds on this machine's own scale (since boot on Linux, else since 1970); keep it so.
    """

    pid: int
    start_time: float


def current() -> ProcessIdentity:
    """The calling process."""
    return ProcessIdentity(os.getpid(), _start_time(psutil.Process()))


def is_alive(pid: int, start_time: float | None = None) -> bool:
    """True while the PID lives and, when `start_time` is known, belongs to the process that started then.

    A zombie is dead. What may not be looked at (another user's process) exists, so it counts as alive: a lock
    that is left alone too long costs a wait, one that is stolen costs a memory.
    """
    if not _exists(pid):
        return False
    try:
        process = psutil.Process(pid)
        if process.status() in _DEAD:
            return False
        return start_time is None or abs(_start_time(process) - start_time) <= _TOLERANCE
    except psutil.NoSuchProcess:
        return False
    except psutil.AccessDenied:
        return True


def _exists(pid: int) -> bool:
    return 0 < pid <= _LARGEST_PID and psutil.pid_exists(pid)


def _start_time(process: psutil.Process) -> float:
    created = process.create_time()
    return created - psutil.boot_time() if sys.platform == "linux" else created


@contextmanager
def without_collecting() -> Iterator[None]:
    """For work that makes no circles: Python's collector looks through all that is kept again and again while it grows."""
    collects = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collects:
            gc.enable()
