"""After a crash: put back the clock that a dead holder of ours moved, at the next tick instead of a day later."""

import os
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from dreams.lib.locks.lockfile import (
    DirectoryBusy,
    contents_of,
    describe,
    kernel_lock,
    opened_directory,
    opened_lock,
    put_back,
    remove,
)
from dreams.lib.process import is_alive

_WAIT_SECONDS = 1.0


class Healing(StrEnum):
    """How it ended. Only `BUSY` and `FAILED` are worth another try."""

    HEALED = "healed"
    ALIVE = "alive"
    NOT_OURS = "not ours"
    BUSY = "busy"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class Healed:
    """The outcome, and a sentence about it."""

    outcome: Healing
    reason: str


def heal(
    memory_dir: Path,
    pid: int,
    start_time: float,
    prior_mtime_ns: int | None,
    *,
    prior_body: bytes = b"",
    keep_dir_mtime: bool = False,
) -> Healed:
    """Undo the hold of a dead process, from its `LockRecord`; only while the body is still its PID. Idempotent.

    Killed between two particular system calls, a holder leaves an empty body with a new mtime, which cannot be
    told from a completed dream: it is left alone and costs a day, as every crash does with the agent's own dream.

    No prior mtime removes the file. `prior_body` is for a crashed apply or rollback, which promises it back.
    """
    if is_alive(pid, start_time):
        return Healed(Healing.ALIVE, f"Process {pid} is alive; its lock is left alone.")
    try:
        with opened_directory(memory_dir) as dir_fd, kernel_lock(dir_fd, _WAIT_SECONDS):
            return _heal(dir_fd, pid, prior_mtime_ns, prior_body, keep_dir_mtime)
    except FileNotFoundError:
        return Healed(Healing.NOT_OURS, f"{memory_dir} does not exist, so no lock was left there.")
    except DirectoryBusy as busy:
        return Healed(Healing.BUSY, busy.told(memory_dir))
    except OSError as error:
        return Healed(Healing.FAILED, f"The lock in {memory_dir} could not be put back: {describe(error)}.")


def _heal(
    dir_fd: int, pid: int, prior_mtime_ns: int | None, prior_body: bytes, keep_dir_mtime: bool
) -> Healed:
    with opened_lock(dir_fd, os.O_RDWR) as fd:
        if fd is None or contents_of(fd).pid != pid:
            return Healed(Healing.NOT_OURS, f"The lock is not that of process {pid} (any more).")
        if prior_mtime_ns is None:
            remove(dir_fd, keep_dir_mtime=keep_dir_mtime)
        else:
            put_back(fd, prior_body, prior_mtime_ns)
    return Healed(Healing.HEALED, f"Process {pid} died holding the lock; the clock was put back.")
