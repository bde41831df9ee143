"""All system calls of the journal: those that change the disk, the reads they depend on, and the check whether somebody
has a file open for writing, because what they write later must not be lost."""

import ctypes
import errno
import fcntl
import os
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path

import psutil

from dreams.lib.files import flush
from dreams.lib.files.safefs import SafeFsError, held
from dreams.lib.files.safefs.root import NEW_FILE, open_regular

_NOREPLACE, _EXCHANGE = 1, 2
_UNSUPPORTED = (errno.ENOSYS, errno.EINVAL, errno.ENOTSUP)
_CHUNK = 1024 * 1024  # written at once; chosen
_F_SETLEASE: int | None = getattr(fcntl, "F_SETLEASE", None)
_F_SETSIG: int = getattr(fcntl, "F_SETSIG", 10)

_Renameat2 = Callable[[int, bytes, int, bytes, int], int]


@cache
def _renameat2() -> _Renameat2 | None:
    """Linux's renameat2 (since 3.15, glibc 2.28); None if the C library does not have it."""
    try:
        call = ctypes.CDLL(None, use_errno=True).renameat2
    except (AttributeError, OSError):
        return None
    call.argtypes = (ctypes.c_int, ctypes.c_char_p, ctypes.c_int, ctypes.c_char_p, ctypes.c_uint)
    call.restype = ctypes.c_int
    found: _Renameat2 = call
    return found


def _link(folder: int, old: str, new: str) -> None:
    """Raises OSError, and SafeFsError where no file can have two names, as on exFAT."""
    try:
        os.link(old, new, src_dir_fd=folder, dst_dir_fd=folder, follow_symlinks=False)
    except OSError as error:
        if error.errno not in (errno.EPERM, errno.ENOTSUP, errno.ENOSYS):
            raise
        why = f"cannot be written safely on its file system, which refuses hard links ({error.strerror}); move the memories to another"
        raise SafeFsError(new, why) from error


class System:
    """Real system calls. Subclassed by tests only."""

    has_rename_flags = True
    has_leases = True
    # Seconds to wait for a process that has a file open for writing. An editor's save takes milliseconds; without
    # leases each check of all processes costs a tenth of a second, so it is done less often.
    patience = 5.0
    patience_without_leases = 30.0
    # One flush of everything also waits for other programs' data: for few files, one for each may be faster.
    many = 16

    def step(self, call: str, what: str) -> None:
        """Called before each system call with its name and the name it works on."""

    def read(self, folder: int, name: str, limit: int) -> tuple[bytes, os.stat_result]:
        """At most `limit` + 1 bytes of a regular file, and its stat from the same handle."""
        self.step("read", name)
        with os.fdopen(open_regular(folder, name, name), "rb") as file:
            return file.read(limit + 1), os.fstat(file.fileno())

    def create(self, folder: int, name: str) -> int:
        """A write handle on a new file; private until its mode is set."""
        self.step("create", name)
        return os.open(name, NEW_FILE, 0o600, dir_fd=folder)

    def write(self, fd: int, data: bytes, name: str) -> None:
        rest = memoryview(data)
        while rest:
            self.step("write", name)
            rest = rest[os.write(fd, rest[:_CHUNK]) :]

    def fsync(self, fd: int, name: str) -> None:
        """Never called twice for the same data: after a failure the kernel may drop the pages and report success."""
        self.step("fsync", name)
        flush.to_disk(fd)

    def fsync_dir(self, fd: int, name: str) -> None:
        self.step("fsync_dir", name)
        flush.to_disk(fd)

    def syncs_together(self, files: int) -> bool:
        """Whether one `fsync_all` is better for so many new files."""
        return files >= self.many and flush.tells_what_failed()

    def fsync_all(self, fd: int, name: str) -> None:
        """Flushes the file system of `fd`; raises errors since `fd` was opened, once."""
        self.step("fsync_all", name)
        flush.sync_file_system(fd)

    def chown(self, fd: int, uid: int, gid: int, name: str) -> None:
        self.step("chown", name)
        os.fchown(fd, uid, gid)

    def chmod(self, fd: int, mode: int, name: str) -> None:
        self.step("chmod", name)
        os.fchmod(fd, mode)

    def set_xattr(self, fd: int, key: str, value: bytes, name: str) -> None:
        self.step("set_xattr", name)
        os.setxattr(fd, key, value)

    def set_mtime(self, fd: int, mtime_ns: int, name: str) -> None:
        self.step("set_mtime", name)
        os.utime(fd, ns=(os.fstat(fd).st_atime_ns, mtime_ns))

    def exchange(self, folder: int, one: str, two: str) -> bool:
        """Swaps two names atomically. False, with nothing done, if the system cannot."""
        self.step("exchange", two)
        return self._rename2(folder, one, two, _EXCHANGE)

    def move_new(self, folder: int, old: str, new: str) -> None:
        """Renames, never over an existing name (FileExistsError)."""
        self.step("move_new", new)
        if not self._rename2(folder, old, new, _NOREPLACE):
            _link(folder, old, new)
            self.unlink(folder, old)

    def replace(self, folder: int, old: str, new: str) -> None:
        self.step("replace", new)
        os.replace(old, new, src_dir_fd=folder, dst_dir_fd=folder)

    def link(self, folder: int, old: str, new: str) -> None:
        self.step("link", new)
        _link(folder, old, new)

    def unlink(self, folder: int, name: str) -> None:
        self.step("unlink", name)
        os.unlink(name, dir_fd=folder)

    def move_away(self, folder: int, name: str, other: int, new: str) -> None:
        """Moves a name to another folder of the same file system (else EXDEV)."""
        self.step("unlink", name)
        os.rename(name, new, src_dir_fd=folder, dst_dir_fd=other)

    def lease(self, fd: int, name: str) -> bool:
        """Takes a read lease: nobody has the file open for writing, and opening it so waits until the lease ends.

        False if not supported (other systems, network file systems, another user's file). Raises
        BlockingIOError if somebody has it open.
        """
        self.step("lease", name)
        if not self.has_leases or _F_SETLEASE is None:
            return False
        # The kernel signals the holder when somebody waits; this signal is ignored by default.
        try:
            fcntl.fcntl(fd, _F_SETSIG, signal.SIGURG)
            fcntl.fcntl(fd, _F_SETLEASE, fcntl.F_RDLCK)
        except BlockingIOError:
            raise
        except OSError:
            return False
        return True

    def end_lease(self, fd: int) -> None:
        """Closing is not enough if a child process has inherited the handle."""
        with suppress(OSError):
            fcntl.fcntl(fd, _F_SETLEASE or 0, fcntl.F_UNLCK)

    def mkdir(self, folder: int, name: str, mode: int) -> None:
        self.step("mkdir", name)
        os.mkdir(name, mode, dir_fd=folder)

    def rmdir(self, folder: int, name: str) -> None:
        self.step("rmdir", name)
        os.rmdir(name, dir_fd=folder)

    def _rename2(self, folder: int, old: str, new: str, flags: int) -> bool:
        call = _renameat2() if self.has_rename_flags else None
        if call is None:
            return False
        if call(folder, os.fsencode(old), folder, os.fsencode(new), flags) == 0:
            return True
        code = ctypes.get_errno()
        if code in _UNSUPPORTED:
            return False
        raise OSError(code, os.strerror(code), new)


# --- Who writes ------------------------------------------------------------------------------------------------------

_PAUSE = 0.002  # seconds; a save takes less
_PAUSE_WITHOUT_LEASES = 0.25  # between two checks who has a file open; chosen
_ROOM = 3  # names in one message; chosen


class StillOpen(Exception):
    """Somebody keeps the file open for writing; the message names the process if known."""

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
    """Waits until nobody has the regular file open for writing. Yields True if nobody can open it so during the block.

    Yields False if the system has no leases: nobody had it open a moment ago. Raises StillOpen, OSError,
    SafeFsError.
    """
    with held(open_regular(folder, name, name)) as fd:
        leased = _wait(system, fd, name, patience)
        try:
            yield leased
        finally:
            if leased:
                system.end_lease(fd)


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
    """Processes that have this file open for writing, as "name (PID)", if we may inspect them."""
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
