"""Identifies a process by its PID and start time, so that a reused PID is not mistaken for the process that died.

No Django here. The start time is only compared. It is the number that the system wrote down when the process started,
because `psutil.create_time` follows the clock when that is set, and a live holder would then look dead.
"""

import gc
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import psutil

# Start times have a resolution of 10 ms; those that earlier versions stored may be a second off.
_TOLERANCE = 1.5
# The error of work that was running in a process that ended.
DIED = "Its worker died: the process was killed, the machine was shut down, or the database was unavailable."
_LARGEST_PID = 2**31 - 1
_FIRST_NAMESPACE = "pid:[4026531836]"  # that of the machine itself, on every Linux
_DEAD = frozenset({psutil.STATUS_ZOMBIE, psutil.STATUS_DEAD})


@dataclass(frozen=True, slots=True)
class ProcessIdentity:
    """A process that cannot be confused with a later one of the same PID.

    `start_time`: seconds on this machine's scale (since boot on Linux, else since 1970); store it unchanged.
    """

    pid: int
    start_time: float


def current() -> ProcessIdentity:
    return ProcessIdentity(os.getpid(), _start_time(psutil.Process()))


def mark() -> str:
    """This process as a part of a file's name."""
    me = current()
    return f"{me.pid}-{me.start_time}"


def is_marked_alive(name: str) -> bool:
    """Whether the process of a name that begins with its `mark` still runs."""
    pid, start, *_ = name.split("-")
    return is_alive(int(pid), float(start))


def is_alive(pid: int, start_time: float | None = None) -> bool:
    """Whether a process with this PID runs and, if `start_time` is known, started then.

    A zombie is dead. A process we may not inspect (another user's) exists, so it counts as alive: a lock respected
    for too long costs a wait, a stolen one costs a memory. We wrote down the start of our own ones, which are never hidden.
    """
    if not 0 < pid <= _LARGEST_PID:
        return False
    if not psutil.pid_exists(pid):
        return start_time is None and _is_hidden(pid)
    try:
        process = psutil.Process(pid)
        if process.status() in _DEAD:
            return False
        return start_time is None or abs(_start_time(process) - start_time) <= _TOLERANCE
    except psutil.NoSuchProcess:
        return False
    except psutil.AccessDenied:
        return True


@cache
def sees_those_of_the_machine() -> bool:
    """False in a container, which has its own numbers: one that was written outside means nothing in it."""
    try:
        return str(Path("/proc/self/ns/pid").readlink()) == _FIRST_NAMESPACE
    except OSError:
        return True  # no Linux


def _is_hidden(pid: int) -> bool:
    """Whether it is another user's, and the system does not show those (`hidepid` of /proc)."""
    try:
        os.kill(pid, 0)
    except OSError as error:
        # A thread's number gives the same error, but has its folder.
        return isinstance(error, PermissionError) and not os.path.lexists(f"/proc/{pid}")
    return False


def _start_time(process: psutil.Process) -> float:
    try:
        # As psutil tells processes apart; it has no public name.
        return float(process._proc.create_time(monotonic=True))  # type: ignore[attr-defined]
    except (AttributeError, TypeError):  # renamed
        created = process.create_time()
        return created - psutil.boot_time() if sys.platform == "linux" else created


@contextmanager
def without_collecting(*, much_stays: bool = True) -> Iterator[None]:
    """Turns off the garbage collector, which would scan growing data repeatedly, for work without reference cycles.

    If much stays, all young objects count as old then, so that the next collection does not begin with them. Garbage among them
    waits for a full collection.
    """
    collects = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collects and much_stays:
            gc.freeze()
            gc.unfreeze()
        if collects:
            gc.enable()
