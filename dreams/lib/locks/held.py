"""A lock that we hold: kept fresh by a thread, checked for theft, and released in one of three ways."""

import fcntl
import os
import threading
import time
import weakref
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Self

from dreams.lib.amounts import exact
from dreams.lib.locks.lockfile import (
    Contents,
    DirectoryBusy,
    describe,
    kernel_lock,
    open_directory,
    opened_directory,
    opened_lock,
    peek,
    put_back,
    remove,
    stamp,
    write_new,
)
from dreams.lib.process import ProcessIdentity
from dreams.lib.timestamps import to_ns

_RELEASE_WAIT = 5.0  # a lock left behind costs more than a wait; chosen
_BEAT_WAIT = 1.0  # the next beat is a minute away; chosen

# The Held of this process that owns a directory. The body only names the process, and a second dream of the same
# process may have taken over a stale lock of the first.
_owners: weakref.WeakValueDictionary[tuple[int, int], "Held"] = weakref.WeakValueDictionary()


class LockLost(Exception):
    """The lock is no longer ours: stop, and write nothing. The message says what happened."""


@dataclass(frozen=True, slots=True)
class Released:
    """The result of a release. `done` False: the disk was not changed, and `problem` says why; never raised. `is_left`: our
    PID is still in the file."""

    done: bool
    problem: str = ""
    is_left: bool = False


@dataclass(frozen=True, slots=True)
class LockRecord:
    """Saved in the database before the file is changed, so that a crash can be healed."""

    pid: int
    start_time: float
    prior_mtime_ns: int | None
    prior_body: bytes


LIFETIME = timedelta(hours=2)  # that heartbeats keep a lock fresh, of a dream; chosen


class Held:
    """A lock that we hold; made by `acquire`. Safe to use from the heartbeat's thread. All releases are idempotent.

    As a context manager it rewinds a lock that was not released otherwise. `file_made` is False while the memory
    directory is missing: then its nearest existing parent is locked in the kernel until release.
    """

    def __init__(
        self,
        memory_dir: Path,
        identity: ProcessIdentity,
        prior: Contents | None,
        *,
        dir_fd: int | None,
        anchor_fd: int | None = None,
        keep_dir_mtime: bool,
    ) -> None:
        self.memory_dir = memory_dir
        self.identity = identity
        self.prior = prior
        # Monotonic, so that a machine asleep for a night does not use up the lifetime.
        self._expires = time.monotonic() + LIFETIME.total_seconds()
        self._keep_dir_mtime = keep_dir_mtime
        self._clock_ns: int | None = None
        self._dir_fd = dir_fd
        self._descriptors = [fd for fd in (dir_fd, anchor_fd) if fd is not None]
        self._outcome: Released | None = None
        self._guard = threading.RLock()
        self._close = weakref.finalize(self, _close_all, self._descriptors)
        # A forked child that exits must not release the lock it shares with us.
        self._close.atexit = False
        if dir_fd is not None:
            _owners[_key(dir_fd)] = self

    @property
    def file_made(self) -> bool:
        """Whether our PID is in a lock file."""
        return self._dir_fd is not None

    @property
    def record(self) -> LockRecord:
        """The record that heals this lock after a crash."""
        return record_of(self.identity, self.prior)

    @property
    def released(self) -> bool:
        """Whether it was released, successfully or not."""
        return self._outcome is not None

    def directory_created(self, clock_ns: int | None = None) -> None:
        """We have just made the missing directory: puts the lock into it.

        `clock_ns`: when the dream that made it was completed; `release_keeping_clock` keeps that as the mtime
        (None: keeps no file). Raises LockLost if another process was faster.
        """
        with self._guard:
            if self.file_made:
                return
            dir_fd = open_directory(self.memory_dir)
            try:
                with kernel_lock(dir_fd, _BEAT_WAIT):
                    write_new(dir_fd, b"%d" % self.identity.pid, None, keep_dir_mtime=self._keep_dir_mtime)
            except (FileExistsError, DirectoryBusy):
                os.close(dir_fd)
                raise LockLost(f"Another process made and locked {self.memory_dir} first.") from None
            except OSError:
                os.close(dir_fd)
                raise
            self._clock_ns = clock_ns
            self._dir_fd = dir_fd
            self._descriptors.append(dir_fd)
            _owners[_key(dir_fd)] = self

    def heartbeat(self, now: datetime | None = None) -> None:
        """Sets the mtime to now, so that the lock stays fresh. Raises LockLost, and OSError for temporary errors.

        After the maximum lifetime it refuses: a dream that hangs must not lock everybody out for ever.
        """
        now = now or datetime.now(UTC)
        with self._guard:
            if self._outcome is not None:
                raise LockLost("The lock was already released.")
            if time.monotonic() >= self._expires:
                raise LockLost(f"The lock was held for {exact(LIFETIME)}, the longest a dream may take.")
            if self._dir_fd is None:
                self._check_still_missing()
            else:
                self._refresh(self._dir_fd, to_ns(now))

    def release_completed(self, at: datetime) -> Released:
        """Sets the mtime to `at` and releases the lock. A directory still missing has no file to set."""
        if self._dir_fd is None:
            return self._finish_without_file(to_ns(at))
        return self._finish(lambda dir_fd, fd: put_back(fd, b"", to_ns(at)))

    def rewind(self) -> Released:
        """Restores the prior mtime, to the nanosecond; removes the file if there was none."""
        return self._finish(self._rewound)

    def release_keeping_clock(self) -> Released:
        """Restores body and mtime, or the missing file, so that a manifest of the tree shows no trace of the hold."""
        return self._finish(self._restored)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.rewind()

    def _rewound(self, dir_fd: int, fd: int) -> None:
        if self.prior is None:
            remove(dir_fd, keep_dir_mtime=self._keep_dir_mtime)
        else:
            put_back(fd, b"", self.prior.mtime_ns)

    def _restored(self, dir_fd: int, fd: int) -> None:
        if self.prior is not None:
            put_back(fd, self.prior.body, self.prior.mtime_ns)
        elif self._clock_ns is not None:
            put_back(fd, b"", self._clock_ns)
        else:
            remove(dir_fd, keep_dir_mtime=self._keep_dir_mtime)

    def _finish(self, action: Callable[[int, int], None]) -> Released:
        with self._guard:
            if self._outcome is None:
                self._outcome = self._try(action)
                self._close()
            return self._outcome

    def _try(self, action: Callable[[int, int], None]) -> Released:
        if self._dir_fd is None:
            return Released(True)
        try:
            with kernel_lock(self._dir_fd, _RELEASE_WAIT), opened_lock(self._dir_fd, os.O_RDWR) as fd:
                if fd is None or not self._owns(self._dir_fd):
                    return Released(
                        False, f"The lock in {self.memory_dir} is not ours any more; it was left alone."
                    )
                action(self._dir_fd, fd)
                return Released(True)
        except DirectoryBusy:
            problem = f"Another process kept {self.memory_dir} busy; the clock was not put back."
        except OSError as error:
            problem = f"The lock in {self.memory_dir} could not be put back: {describe(error)}."
        return Released(False, problem, is_left=True)

    def _finish_without_file(self, clock_ns: int) -> Released:
        """Completed without a lock file: if the directory exists by now, writes the mtime there."""
        with self._guard:
            if self._outcome is None:
                self._outcome = _leave_clock(self.memory_dir, clock_ns, self._keep_dir_mtime)
                self._close()
            return self._outcome

    def _refresh(self, dir_fd: int, now_ns: int) -> None:
        self._check_same_directory(dir_fd)
        try:
            with kernel_lock(dir_fd, _BEAT_WAIT), opened_lock(dir_fd, os.O_RDONLY) as fd:
                if fd is None or not self._owns(dir_fd):
                    raise LockLost(f"Another process took the lock in {self.memory_dir}.")
                stamp(fd, now_ns)
        except DirectoryBusy:
            raise BlockingIOError(f"{self.memory_dir} is busy") from None

    def _owns(self, dir_fd: int) -> bool:
        found = peek(dir_fd)
        return found is not None and found.pid == self.identity.pid and _owners.get(_key(dir_fd)) is self

    def _check_same_directory(self, dir_fd: int) -> None:
        """A directory moved away and created again has another lock file, which others would take."""
        with suppress(FileNotFoundError):
            status = self.memory_dir.lstat()
            if (status.st_dev, status.st_ino) == _key(dir_fd):
                return
        raise LockLost(f"{self.memory_dir} was moved or replaced.")

    def _check_still_missing(self) -> None:
        with suppress(FileNotFoundError), opened_directory(self.memory_dir) as dir_fd:
            found = peek(dir_fd)
            if found is not None and found.pid is not None:
                raise LockLost(f"Another process made and locked {self.memory_dir}.")


def record_of(identity: ProcessIdentity, prior: Contents | None) -> LockRecord:
    """The record of a hold by `identity` after the `prior` contents."""
    if prior is None:
        return LockRecord(identity.pid, identity.start_time, None, b"")
    return LockRecord(identity.pid, identity.start_time, prior.mtime_ns, prior.body)


def _leave_clock(memory_dir: Path, clock_ns: int, keep_dir_mtime: bool) -> Released:
    try:
        with opened_directory(memory_dir) as dir_fd, kernel_lock(dir_fd, _RELEASE_WAIT):
            write_new(dir_fd, b"", clock_ns, keep_dir_mtime=keep_dir_mtime)
    except FileNotFoundError:
        return Released(True)
    except (FileExistsError, DirectoryBusy):
        return Released(False, f"Another process made and locked {memory_dir}; its clock was left alone.")
    except OSError as error:
        return Released(False, f"The clock of {memory_dir} could not be set: {describe(error)}.")
    return Released(True)


def _key(dir_fd: int) -> tuple[int, int]:
    status = os.fstat(dir_fd)
    return status.st_dev, status.st_ino


def _close_all(descriptors: list[int]) -> None:
    """Closes the handles and releases the kernel lock on a parent."""
    while descriptors:
        fd = descriptors.pop()
        # Explicitly: children that inherited the descriptor would keep the kernel lock.
        fcntl.flock(fd, fcntl.LOCK_UN)
        os.close(fd)


# --- Heartbeat -------------------------------------------------------------------------------------------------------

EVERY = timedelta(minutes=1)  # far below the hour after which a lock is stale
_JOIN_SECONDS = 5.0  # for a running beat, with its wait; chosen


class Heartbeat:
    """Beats at once and then at the interval `every`, until the block ends or the lock is lost.

    `lost` then says why. A beat that fails for another reason is tried again: if it keeps failing, the lock becomes
    stale and is lost.
    """

    def __init__(self, held: Held, *, every: timedelta = EVERY) -> None:
        self.lost: LockLost | None = None
        self.problem: str = ""
        self._held = held
        self._seconds = every.total_seconds()
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="lock-heartbeat", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join(_JOIN_SECONDS)

    def _run(self) -> None:
        while self.beat() and not self._stop.wait(self._seconds):
            pass

    def beat(self) -> bool:
        """Beats once, now; False if the lock is no longer ours. Safe while the thread runs."""
        try:
            self._held.heartbeat()
        except LockLost as lost:
            # Released normally, just before the block ended.
            if not self._stop.is_set() and not self._held.released:
                self.lost = lost
            return False
        except OSError as error:
            self.problem = str(error)
        else:
            self.problem = ""
        return True
