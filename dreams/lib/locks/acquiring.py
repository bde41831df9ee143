"""Finds the lock's holder, and takes it: read, judge, write our PID, read back; all under a kernel lock on the directory.
After a crash the mtime that our dead process changed is restored at the next tick instead of a day later."""

import errno
import os
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from functools import partial
from pathlib import Path

from dreams.lib.amounts import ago, until
from dreams.lib.locks.held import Held, LockRecord, record_of
from dreams.lib.locks.lockfile import (
    LOCK_NAME,
    Contents,
    DirectoryBusy,
    LockFileError,
    contents_of,
    describe,
    kernel_lock,
    open_directory,
    opened_directory,
    opened_lock,
    peek,
    put_back,
    remove,
    stamp,
    take_kernel_lock,
    write_body,
    write_new,
)
from dreams.lib.process import ProcessIdentity, is_alive, sees_those_of_the_machine
from dreams.lib.timestamps import from_ns, later, to_ns

# The agent's own constant: after it anybody may take a lock, even if its holder is alive.
STALE_AFTER = timedelta(minutes=60)


@dataclass(frozen=True, slots=True)
class LockFact:
    """The consolidation lock. `held`: nobody else may take it now; `pid`: the one in the file, dead or alive.

    `opens_at`: when a held lock goes stale. `error`: why the lock cannot be used at all, with the remedy.
    """

    held: bool = False
    pid: int | None = None
    since: datetime | None = None
    opens_at: datetime | None = None
    error: str = ""
    holder: str = ""


def judge(
    found: Contents | None,
    now: datetime,
    known: ProcessIdentity | LockRecord | None,
    *,
    is_shared: bool = False,
) -> LockFact:
    """A lock is held if it is fresh and its process is alive; a dead, unreadable or stale one may be taken.

    `known`: the writer of this body according to our records; if a process with its PID started at another time,
    the holder is dead. A lock dated in the future counts as fresh. `is_shared`: others than we can see write there.
    """
    if found is None:
        return LockFact()
    since = from_ns(found.mtime_ns)
    stale_at = later(since, STALE_AFTER) if since else None
    fresh = to_ns(now) - found.mtime_ns < STALE_AFTER // timedelta(microseconds=1) * 1_000
    started = _start_time(found.pid, known)
    held = (
        found.pid is not None and fresh and ((is_shared and started is None) or is_alive(found.pid, started))
    )
    return LockFact(held, found.pid, since, stale_at if held else None)


def status(memory_dir: Path | str, now: datetime, *, known: ProcessIdentity | None = None) -> LockFact:
    """Whether the lock could be taken now, for the lock gate. Only reads; never raises OSError.

    `memory_dir` may contain links. If its last part is none, its parent is opened from its handle, without resolving.
    """
    try:
        dir_fd = open_directory(memory_dir)
    except OSError:
        return _status_resolved(Path(os.path.realpath(memory_dir)), now, known)
    try:
        if _is_anchor(partial(os.open, "..", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC, dir_fd=dir_fd)):
            return LockFact(held=True)
        return _judged(dir_fd, now, known)
    except FileNotFoundError:
        return LockFact()  # removed just now
    except OSError as error:
        return _unusable(error)
    finally:
        os.close(dir_fd)


def _status_resolved(memory_dir: Path, now: datetime, known: ProcessIdentity | None) -> LockFact:
    try:
        if _is_anchor(lambda: nearest_existing(memory_dir)[1]):
            return LockFact(held=True)
        with opened_directory(memory_dir) as dir_fd:
            return _judged(dir_fd, now, known)
    except FileNotFoundError:
        return LockFact()
    except OSError as error:
        return _unusable(error)


def _judged(dir_fd: int, now: datetime, known: ProcessIdentity | None) -> LockFact:
    found = peek(dir_fd)
    fact = judge(found, now, known, is_shared=_is_shared(dir_fd))
    if not fact.held and not os.access(LOCK_NAME if found else ".", os.W_OK, dir_fd=dir_fd):
        number = errno.EROFS if os.fstatvfs(dir_fd).f_flag & os.ST_RDONLY else errno.EACCES
        raise OSError(number, os.strerror(number), LOCK_NAME)
    return fact


def _is_shared(dir_fd: int) -> bool:
    """Whether the directory comes from outside this container, and with it perhaps the PID in the lock."""
    return not sees_those_of_the_machine() and os.fstat(dir_fd).st_dev != os.stat("/").st_dev  # noqa: PTH116 - as above


def _unusable(error: OSError) -> LockFact:
    remedy = _remedy(error)
    return LockFact(
        error=f"The lock cannot be used: {describe(error)}. {remedy[0].upper()}{remedy[1:]}, then try again."
    )


def nearest_existing(directory: Path) -> tuple[Path, int]:
    """The closest ancestor of a missing directory, and a handle on it."""
    for ancestor in directory.parents:
        try:
            return ancestor, open_directory(ancestor)
        except FileNotFoundError:
            continue
    raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), str(directory))


def _is_anchor(opened: Callable[[], int]) -> bool:
    """Whether another dream holds a missing directory, by a lock on its nearest parent, which `opened` opens."""
    try:
        anchor_fd = opened()
    except PermissionError:
        return False  # our processes cannot hold what we may not open
    try:
        with kernel_lock(anchor_fd, 0, shared=True):
            return False
    except DirectoryBusy:
        return True
    finally:
        os.close(anchor_fd)


def _start_time(pid: int | None, known: ProcessIdentity | LockRecord | None) -> float | None:
    return known.start_time if known is not None and known.pid == pid else None


# --- Taking it -------------------------------------------------------------------------------------------------------

_WAIT_SECONDS = 0.5  # others hold it for milliseconds; chosen
_TRIES = 3  # the file may be replaced meanwhile; chosen


@dataclass(frozen=True, slots=True)
class Busy:
    """The lock was not taken. `broken`: nobody holds it, but it cannot be used before a person acts."""

    reason: str
    holder: int | None = None
    since: datetime | None = None
    opens_at: datetime | None = None
    broken: bool = False


@dataclass(frozen=True, slots=True)
class _Request:
    memory_dir: Path
    identity: ProcessIdentity
    now: datetime
    known: ProcessIdentity | LockRecord | None
    keep_dir_mtime: bool
    before_write: Callable[[LockRecord], None] | None

    def announce(self, prior: Contents | None) -> None:
        if self.before_write is not None:
            self.before_write(record_of(self.identity, prior))

    def held(self, prior: Contents | None, dir_fd: int | None, anchor_fd: int | None = None) -> Held:
        return Held(
            self.memory_dir,
            self.identity,
            prior,
            dir_fd=dir_fd,
            anchor_fd=anchor_fd,
            keep_dir_mtime=self.keep_dir_mtime,
        )


class _Appeared(Exception):
    """The missing directory exists now; try again."""


def acquire(
    memory_dir: Path,
    identity: ProcessIdentity,
    now: datetime,
    *,
    known: ProcessIdentity | LockRecord | None = None,
    keep_dir_mtime: bool = False,
    before_write: Callable[[LockRecord], None] | None = None,
) -> Held | Busy:
    """Takes the lock of a memory directory (its resolved path), or returns who has it.

    identity: the new holder, normally `process.current()`. known: the holder according to our records; from its record also comes
    what was there before it, if its lock was left behind.
    keep_dir_mtime: creating and removing the lock keeps the directory's mtime (apply and rollback).
    before_write: called with the record for healing before the file is changed; if it raises, nothing is written.
    Never raises OSError for the disk's state: that is a Busy with `broken`, and the remedy in the reason.

    A missing directory is not created: the nearest existing parent is locked in the kernel (flock) until
    release, so other missing directories below the same parent wait too, and a child process that inherits
    descriptors must not outlive the hold.
    """
    request = _Request(memory_dir, identity, now, known, keep_dir_mtime, before_write)
    for _ in range(_TRIES):
        try:
            return _take(request)
        except _Appeared:
            continue
        except DirectoryBusy as busy:
            return Busy(busy.told(memory_dir), busy.holder)
        except FileExistsError:
            break
        except OSError as error:
            told = f"The lock of {memory_dir} cannot be taken: {describe(error)}. Nothing was changed; {_remedy(error)}, then try again."
            return Busy(told, broken=True)
    return Busy(f"Another process is working on {memory_dir} right now; try again when it is done.")


def _remedy(error: OSError) -> str:
    if isinstance(error, LockFileError) and error.errno == errno.EINVAL:
        return "do so"  # the error's message names the remedy
    if error.errno == errno.ENOTDIR:
        return "move away the file or link that is in the directory’s place"
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return "make room on that disk"
    if error.errno in (errno.ENOLCK, errno.ENOTSUP):  # of some network file systems
        return "move the memories to a file system that has locks"
    if error.errno == errno.EPERM:
        return f"make {LOCK_NAME} in it your own"
    return "give yourself the right to write there, or mount it for writing"


def _take(request: _Request) -> Held | Busy:
    try:
        dir_fd = open_directory(request.memory_dir)
    except FileNotFoundError:
        return _take_anchor(request)
    try:
        taken = _take_file(request, dir_fd)
    except BaseException:
        os.close(dir_fd)
        raise
    if isinstance(taken, Busy):
        os.close(dir_fd)
    return taken


def _take_file(request: _Request, dir_fd: int) -> Held | Busy:
    with ExitStack() as stack:
        # A process that took this directory while it was missing has locked its parent.
        _pass_by(request.memory_dir.parent, stack)
        stack.enter_context(kernel_lock(dir_fd, _WAIT_SECONDS))
        with opened_lock(dir_fd, os.O_RDWR) as fd:
            there = contents_of(fd) if fd is not None else None
            fact = judge(there, request.now, request.known, is_shared=_is_shared(dir_fd))
            if fact.held:
                since = f", since {ago(fact.since, request.now)}" if fact.since else ""
                latest = f", or {until(fact.opens_at, request.now)}" if fact.opens_at else ""
                whose = f"Process {fact.pid} holds the lock of {request.memory_dir}"
                reason = f"{whose}{since}; free when it is done{latest}."
                return Busy(reason, fact.pid, fact.since, fact.opens_at)
            prior = _before(there, request.known)
            request.announce(prior)
            _write(request, dir_fd, fd, there)
        found = peek(dir_fd)
        if found is None or found.pid != request.identity.pid:
            holder = found.pid if found else None
            return Busy("Another process took the lock at the same moment.", holder, request.now)
        return request.held(prior, dir_fd)


def _before(there: Contents | None, known: ProcessIdentity | LockRecord | None) -> Contents | None:
    """What this hold must restore: what was there before the recorded one, which could not put it back, or died."""
    if there is None or not isinstance(known, LockRecord) or there.pid != known.pid:
        return there
    return None if known.prior_mtime_ns is None else Contents(known.prior_body, known.prior_mtime_ns)


def _write(request: _Request, dir_fd: int, fd: int | None, prior: Contents | None) -> None:
    body = b"%d" % request.identity.pid
    if fd is None or prior is None:
        write_new(dir_fd, body, None, keep_dir_mtime=request.keep_dir_mtime)
        return
    stamp(fd, prior.mtime_ns)  # without this right we could not restore the mtime
    try:
        write_body(fd, body)
    except OSError:
        put_back(fd, prior.body, prior.mtime_ns)
        raise
    # Writing an equal body is still a new hold: the kernel's coarse mtime might not change.
    os.utime(fd)


def _take_anchor(request: _Request) -> Held:
    """Takes a missing directory by locking its nearest existing parent."""
    ancestor, anchor_fd = nearest_existing(request.memory_dir)
    try:
        with ExitStack() as stack:
            if ancestor != ancestor.parent:  # a hold taken before this ancestor existed is on the one above
                _pass_by(ancestor.parent, stack)
            take_kernel_lock(anchor_fd, _WAIT_SECONDS)
        closer = next(
            path for path in (request.memory_dir, *request.memory_dir.parents) if path.parent == ancestor
        )
        if os.path.lexists(request.memory_dir) or os.path.lexists(closer):
            raise _Appeared
        request.announce(None)
    except BaseException:
        os.close(anchor_fd)
        raise
    return request.held(None, None, anchor_fd)


def _pass_by(directory: Path, stack: ExitStack) -> None:
    """Waits until nobody holds `directory` for a missing one below it, and prevents that until `stack` ends."""
    try:
        fd = open_directory(directory)
    except PermissionError:
        return  # our processes cannot hold a parent that we may not open
    stack.callback(os.close, fd)
    stack.enter_context(kernel_lock(fd, _WAIT_SECONDS, shared=True))


_HEALING_WAIT_SECONDS = 1.0  # nobody waits for it; chosen


class Healing(StrEnum):
    """The outcome. Only `BUSY` and `FAILED` are worth another try."""

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
) -> Healed:
    """Undoes the hold of a dead process, from its `LockRecord`; only while the body is still its PID. Idempotent.

    A holder killed between two particular system calls leaves an empty body with a new mtime, which looks like a
    completed dream: it is not changed and delays a day, as every crash of the agent's own dream does.

    Without a prior mtime the file is removed. `prior_body` is for a crashed apply or rollback, which restores it.
    """
    if is_alive(pid, start_time):
        return Healed(Healing.ALIVE, f"Process {pid} is alive; its lock is left alone.")
    try:
        with opened_directory(memory_dir) as dir_fd, kernel_lock(dir_fd, _HEALING_WAIT_SECONDS):
            return _heal(dir_fd, pid, prior_mtime_ns, prior_body)
    except FileNotFoundError:
        return Healed(Healing.NOT_OURS, f"{memory_dir} does not exist, so no lock was left there.")
    except DirectoryBusy as busy:
        return Healed(Healing.BUSY, busy.told(memory_dir))
    except OSError as error:
        return Healed(Healing.FAILED, f"The lock in {memory_dir} could not be put back: {describe(error)}.")


def _heal(dir_fd: int, pid: int, prior_mtime_ns: int | None, prior_body: bytes) -> Healed:
    with opened_lock(dir_fd, os.O_RDWR) as fd:
        if fd is None or contents_of(fd).pid != pid:
            return Healed(Healing.NOT_OURS, f"The lock is not that of process {pid} (any more).")
        if prior_mtime_ns is None:
            remove(dir_fd, keep_dir_mtime=False)
        else:
            put_back(fd, prior_body, prior_mtime_ns)
    return Healed(Healing.HEALED, f"Process {pid} died holding the lock; the clock was put back.")
