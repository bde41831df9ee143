"""The lock file `.consolidate-lock`: mtime = last consolidation, body = holder's PID.

All access uses the memory directory's handle, never follows a link, and changes only a regular file with one
name: through a link or a second name we would write a PID into somebody's file.
"""

import errno
import fcntl
import os
import re
import stat
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import psutil

from dreams.lib.files.safefs import held

LOCK_NAME = ".consolidate-lock"
# The agent writes it with its default mode; ours must not lock the agent out, nor grant more than it does.
LOCK_MODE = 0o666  # less the umask
_LARGEST_BODY = 4_096
_PID = re.compile(rb"\s*([0-9]{1,10})\s*")
_LARGEST_PID = 2**31 - 1
_OPEN = os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_POLL_SECONDS = 0.002


class LockFileError(OSError):
    """The lock path cannot be used before a person acts; the message names the remedy."""


class DirectoryBusy(Exception):
    """Another process held the kernel lock on the directory for longer than we wait. `holder` is its PID if known."""

    holder: int | None = None

    def told(self, memory_dir: Path) -> str:
        """Tells a person who it is. Anybody who can open a directory can lock it: then the remedy is its mode."""
        if self.holder is None:
            return f"Another process is working on {memory_dir} right now; try again when it is done."
        name, is_ours = _who(self.holder)
        if is_ours:
            return f"Process {self.holder} ({name}) is working on {memory_dir} right now; try again when it is done."
        return (
            f"Process {self.holder} of another user ({name}) has locked {memory_dir}. "
            f"`chmod 700 {memory_dir.parent}` keeps others out."
        )


def _who(pid: int) -> tuple[str, bool]:
    """A process's name, and whether it belongs to this user; one we may not inspect does not."""
    try:
        process = psutil.Process(pid)
        return process.name(), process.uids().effective == os.geteuid()
    except psutil.NoSuchProcess:
        return "it has just ended", True
    except psutil.Error:
        return "unknown", False


def _holder(fd: int) -> int | None:
    """The PID that has the kernel lock on the file of `fd`, from Linux's list of locks; None on other systems."""
    found = os.fstat(fd)
    place = f"{os.major(found.st_dev):02x}:{os.minor(found.st_dev):02x}:{found.st_ino}"
    try:
        rows = [line.split() for line in Path("/proc/locks").read_text(encoding="ascii").splitlines()]
    except OSError:
        return None
    # 1: FLOCK  ADVISORY  WRITE 4711 00:2e:12345 0 EOF; a waiting one has "->" after the number.
    pids = (row[4] for row in rows if len(row) > 5 and row[1] == "FLOCK" and row[5] == place)
    return next((int(pid) for pid in pids if pid.isdecimal() and int(pid) > 0), None)


@dataclass(frozen=True, slots=True)
class Contents:
    """The lock file on disk: its body and its mtime in ns."""

    body: bytes
    mtime_ns: int

    @property
    def pid(self) -> int | None:
        return parse_pid(self.body)


def last_consolidated_ns(memory_dir: Path) -> int | None:
    """The mtime in ns, for the time gate; None (never) if there is no lock file or no directory.

    Raises OSError for everything else, LockFileError if the path is no regular file.
    """
    path = memory_dir / LOCK_NAME
    try:
        status = path.lstat()
    except FileNotFoundError:
        return None
    _check_kind(status, str(path))
    return status.st_mtime_ns


def plain_mtime_ns(memory_dir: str) -> int | None:
    """As `last_consolidated_ns`, with a single stat; None in all cases that need the slower function."""
    try:
        status = os.lstat(f"{memory_dir}/{LOCK_NAME}")
    except OSError:
        return None
    return status.st_mtime_ns if stat.S_ISREG(status.st_mode) and status.st_nlink == 1 else None


def parse_pid(body: bytes) -> int | None:
    """The PID in a lock's body; None if empty or invalid."""
    match = _PID.fullmatch(body)
    pid = int(match[1]) if match else 0
    return pid if 0 < pid <= _LARGEST_PID else None


def describe(error: OSError) -> str:
    """An error of the lock in one sentence."""
    text = error.strerror or str(error) or type(error).__name__
    return f"{error.filename}: {text}" if error.filename else text


def open_directory(path: Path | str) -> int:
    """A handle on the directory. The path is resolved, so a link in its place is refused."""
    return os.open(path, os.O_RDONLY | os.O_DIRECTORY | _OPEN)


@contextmanager
def opened_directory(path: Path) -> Iterator[int]:
    """`open_directory` as a context manager."""
    with held(open_directory(path)) as dir_fd:
        yield dir_fd


@contextmanager
def kernel_lock(fd: int, wait: float, *, shared: bool = False) -> Iterator[None]:
    """flock on a directory's own descriptor. Raises DirectoryBusy after `wait` seconds.

    It is released explicitly: after closing alone, children that inherited the descriptor would keep it.
    """
    take_kernel_lock(fd, wait, shared=shared)
    try:
        yield
    finally:
        fcntl.flock(fd, fcntl.LOCK_UN)


def take_kernel_lock(fd: int, wait: float, *, shared: bool = False) -> None:
    """As `kernel_lock`, kept until the descriptor is unlocked or its last copy is closed."""
    deadline = time.monotonic() + wait
    kind = fcntl.LOCK_SH if shared else fcntl.LOCK_EX
    while True:
        try:
            fcntl.flock(fd, kind | fcntl.LOCK_NB)
            return
        except BlockingIOError:
            if time.monotonic() >= deadline:
                busy = DirectoryBusy()
                busy.holder = _holder(fd)
                raise busy from None
            time.sleep(_POLL_SECONDS)


def peek(dir_fd: int) -> Contents | None:
    """The lock's contents, None if there is no file. An empty one, which nobody holds, is not opened."""
    try:
        status = os.stat(LOCK_NAME, dir_fd=dir_fd, follow_symlinks=False)
    except FileNotFoundError:
        return None
    if stat.S_ISREG(status.st_mode) and status.st_nlink == 1 and not status.st_size:
        return Contents(b"", status.st_mtime_ns)
    with opened_lock(dir_fd, os.O_RDONLY) as fd:
        return None if fd is None else contents_of(fd)


def contents_of(fd: int) -> Contents:
    """Contents of an opened lock."""
    return Contents(os.pread(fd, _LARGEST_BODY, 0), os.fstat(fd).st_mtime_ns)


@contextmanager
def opened_lock(dir_fd: int, flags: int) -> Iterator[int | None]:
    """The existing lock file, None if there is none. Raises LockFileError if we must not open it."""
    fd = _open_existing(dir_fd, flags)
    try:
        yield fd
    finally:
        if fd is not None:
            os.close(fd)


def _open_existing(dir_fd: int, flags: int) -> int | None:
    try:
        # Checked before it is opened: opening a device or a FIFO can have an effect.
        _check_kind(os.stat(LOCK_NAME, dir_fd=dir_fd, follow_symlinks=False), LOCK_NAME)
        fd = os.open(LOCK_NAME, flags | _OPEN, dir_fd=dir_fd)
    except FileNotFoundError:
        return None
    try:
        _check_kind(os.fstat(fd), LOCK_NAME)
    except OSError:
        os.close(fd)
        raise
    return fd


def create(dir_fd: int) -> int:
    """A new, empty lock file, opened for writing. Raises FileExistsError if another process was faster."""
    return os.open(LOCK_NAME, os.O_RDWR | os.O_CREAT | os.O_EXCL | _OPEN, LOCK_MODE, dir_fd=dir_fd)


def write_body(fd: int, body: bytes) -> None:
    """Replaces the body in place (same inode, mode and xattrs).

    The old body is first overwritten in one write and then cut: after a crash between the two the file has our PID
    and white space, which still reads as our PID, never a mixture of two.
    """
    length = os.fstat(fd).st_size
    padded = body.ljust(length, b"\n") if body else b""
    if os.pwrite(fd, padded, 0) != len(padded):
        raise LockFileError(errno.ENOSPC, "could not be written whole; free some space", LOCK_NAME)
    # Truncating without need could append a NUL to what an agent has written meanwhile.
    if length > len(body):
        os.ftruncate(fd, len(body))


def stamp(fd: int, mtime_ns: int) -> None:
    """Sets the mtime and keeps the access time."""
    os.utime(fd, ns=(os.fstat(fd).st_atime_ns, mtime_ns))


def put_back(fd: int, body: bytes, mtime_ns: int) -> None:
    """Restores body and mtime. The mtime is also set first, so that a crash right after it does not cost a day."""
    stamp(fd, mtime_ns)
    write_body(fd, body)
    stamp(fd, mtime_ns)


def remove(dir_fd: int, *, keep_dir_mtime: bool) -> None:
    """Removes the lock; on request the directory's mtime is kept."""
    with kept_dir_mtime(dir_fd, keep=keep_dir_mtime):
        os.unlink(LOCK_NAME, dir_fd=dir_fd)


@contextmanager
def kept_dir_mtime(dir_fd: int, *, keep: bool) -> Iterator[None]:
    """Restores the directory's mtime after adding or removing the lock file (a rollback restores it).

    Only on request: a file added at the same moment would be hidden from those who watch mtimes. Not possible in a
    directory of another user.
    """
    before = os.fstat(dir_fd)
    try:
        yield
    finally:
        if keep:
            with suppress(PermissionError):
                os.utime(dir_fd, ns=(before.st_atime_ns, before.st_mtime_ns))


def write_new(dir_fd: int, body: bytes, mtime_ns: int | None, *, keep_dir_mtime: bool) -> None:
    """Creates the lock file with this body; after a failed write there is no file. Raises FileExistsError."""
    with kept_dir_mtime(dir_fd, keep=keep_dir_mtime), held(create(dir_fd)) as fd:
        try:
            write_body(fd, body)
            if mtime_ns is not None:
                stamp(fd, mtime_ns)
        except OSError:
            remove(dir_fd, keep_dir_mtime=False)
            raise


def _check_kind(status: os.stat_result, name: str) -> None:
    """Refuses links, blocking files and files with other names."""
    kind = _kind(status)
    if kind:
        raise LockFileError(errno.EINVAL, f"is {kind}, not a lock file; move it away", name)


def _kind(status: os.stat_result) -> str:
    if stat.S_ISLNK(status.st_mode):
        return "a symbolic link"
    if stat.S_ISDIR(status.st_mode):
        return "a directory"
    if not stat.S_ISREG(status.st_mode):
        return "a pipe, socket or device"
    if status.st_nlink > 1:
        return "a file with a second name (hard link)"
    return "too large" if status.st_size > _LARGEST_BODY else ""
