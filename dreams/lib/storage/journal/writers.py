"""Whether somebody has a file open for writing: what they write later through that handle must not be lost.

Linux tells by a lease. Where there is none, the open files of all processes that we may look at are searched; that
says nothing of other machines on a network file system, nor of processes of other users.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import psutil

from dreams.lib.files.safefs.handles import open_regular

from .system import System

_PAUSE = 0.002  # seconds; a save takes less
_PAUSE_WITHOUT_LEASES = 0.25
_ROOM = 3


class StillOpen(Exception):
    """Somebody has the file open for writing and does not let go of it; the message names who, where that is known."""

    def __init__(self, who: list[str]) -> None:
        more = f" and {len(who) - _ROOM} more" if len(who) > _ROOM else ""
        by = f" in {', '.join(who[:_ROOM])}{more}" if who else ""
        super().__init__(f"is open for writing{by}; close it there, then try again")


class Patience:
    """How long one run waits for open files, all files together."""

    def __init__(self, system: System, share: float = 1.0) -> None:
        self._start = time.monotonic()
        self._system, self._share = system, share

    def is_over(self, *, leases: bool) -> bool:
        seconds = self._system.patience if leases else self._system.patience_without_leases
        return time.monotonic() - self._start >= seconds * self._share


@contextmanager
def nobody_writes(system: System, folder: int, name: str, patience: Patience) -> Iterator[bool]:
    """Wait until nobody has the regular file open for writing. In the block nobody can open it so: then it yields True.

    It yields False where the system has no leases: nobody had it open a moment ago. Raises StillOpen, OSError,
    SafeFsError.
    """
    fd = open_regular(folder, name, name)
    try:
        leased = _wait(system, fd, name, patience)
        try:
            yield leased
        finally:
            if leased:
                system.end_lease(fd)
    finally:
        os.close(fd)


def _wait(system: System, fd: int, name: str, patience: Patience) -> bool:
    while True:
        try:
            leased = system.lease(fd, name)
        except BlockingIOError:
            if patience.is_over(leases=True):
                raise StillOpen(writers_of(fd)) from None
            time.sleep(_PAUSE)
            continue
        if leased:
            return True
        who = writers_of(fd)
        if not who:
            return False
        if patience.is_over(leases=False):
            raise StillOpen(who)
        time.sleep(_PAUSE_WITHOUT_LEASES)


def writers_of(fd: int) -> list[str]:
    """Processes that have this file open for writing, as "name (PID)"; those that may be looked at."""
    wanted, found = os.fstat(fd), []
    for process in psutil.process_iter():
        with suppress(psutil.Error, OSError):
            mine = process.pid == os.getpid()
            opened = [one for one in process.open_files() if not (mine and one.fd == fd)]
            if any(_is_writing(one, wanted) for one in opened):
                found.append(f"{process.name()} ({process.pid})")
    return found


def _is_writing(opened: object, wanted: os.stat_result) -> bool:
    # Only Linux tells how a file was opened; elsewhere every handle counts.
    if getattr(opened, "mode", "w") == "r":
        return False
    with suppress(OSError):
        return os.path.samestat(Path(getattr(opened, "path", "")).stat(), wanted)
    return False
