"""Who holds the lock now: the agent's own rule, with our knowledge of start times on top."""

import errno
import os
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path

from dreams.lib.locks.lockfile import (
    Contents,
    DirectoryBusy,
    describe,
    kernel_lock,
    open_directory,
    opened_directory,
    peek,
)
from dreams.lib.process import ProcessIdentity, is_alive
from dreams.lib.timestamps import from_ns, later, to_ns

STALE_AFTER = timedelta(minutes=60)


@dataclass(frozen=True, slots=True)
class LockFact:
    """The consolidation lock. `held`: nobody else may take it now; `pid`: what stands in it, dead or alive.

    `opens_at`: when a held lock goes stale. `error`: why the lock cannot be used at all, with the remedy.
    """

    held: bool = False
    pid: int | None = None
    since: datetime | None = None
    opens_at: datetime | None = None
    error: str = ""
    holder: str = ""


def judge(
    found: Contents | None, now: datetime, known: ProcessIdentity | None, stale_after: timedelta
) -> LockFact:
    """Held is what is fresh and in the hand of a living process; dead, unreadable and stale may be taken.

    `known`: who our own records say wrote this body; a living PID that started at another time is then
    another process, and the holder is dead. A lock dated in the future counts as fresh.
    """
    if found is None:
        return LockFact()
    since = from_ns(found.mtime_ns)
    stale_at = later(since, stale_after) if since else None
    fresh = to_ns(now) - found.mtime_ns < stale_after // timedelta(microseconds=1) * 1_000
    held = found.pid is not None and fresh and is_alive(found.pid, _start_time(found.pid, known))
    return LockFact(held, found.pid, since, stale_at if held else None)


def status(
    memory_dir: Path,
    now: datetime,
    *,
    known: ProcessIdentity | None = None,
    stale_after: timedelta = STALE_AFTER,
) -> LockFact:
    """The lock gate's fact: would the lock be given now? Looks only; never raises OSError."""
    try:
        if _anchored_elsewhere(memory_dir):
            return LockFact(held=True)
        with opened_directory(memory_dir) as dir_fd:
            return judge(peek(dir_fd), now, known, stale_after)
    except FileNotFoundError:
        return LockFact()
    except OSError as error:
        return LockFact(error=f"The lock cannot be used: {describe(error)}.")


def nearest_existing(directory: Path) -> tuple[Path, int]:
    """The closest ancestor of a missing directory, and a handle on it."""
    for ancestor in directory.parents:
        try:
            return ancestor, open_directory(ancestor)
        except FileNotFoundError:
            continue
    raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), str(directory))


def _anchored_elsewhere(memory_dir: Path) -> bool:
    """True while another dream holds a directory that is missing, which shows only on its nearest parent."""
    try:
        _, anchor_fd = nearest_existing(memory_dir)
    except PermissionError:
        return False  # nobody of ours can hold what we may not open
    try:
        with kernel_lock(anchor_fd, 0, shared=True):
            return False
    except DirectoryBusy:
        return True
    finally:
        os.close(anchor_fd)


def _start_time(pid: int, known: ProcessIdentity | None) -> float | None:
    return known.start_time if known is not None and known.pid == pid else None
