"""Flushes files to the disk, which differs between systems, and explains errors of the disk."""

import ctypes
import errno
import fcntl
import os
import stat
import sys
from contextlib import suppress
from functools import cache
from pathlib import Path

from dreams.lib.files.safefs import held

#: On macOS `fsync` only hands the bytes to the drive, which may keep them in its cache; this asks the drive to write them.
_FULL: int | None = getattr(fcntl, "F_FULLFSYNC", None)


#: Errors of a file system that cannot flush a folder, such as VirtualBox's and older CIFS: its server keeps names as it likes.
_NO_FOLDERS = (errno.EINVAL, errno.EBADF, errno.ENOTSUP)


def to_disk(fd: int) -> None:
    """Returns once what was written to the file or folder survives a power cut. Raises OSError."""
    if _FULL is not None:
        with suppress(OSError):  # not every file system supports it; then plain fsync is the best available
            fcntl.fcntl(fd, _FULL)
            return
    try:
        os.fsync(fd)
    except OSError as error:
        if error.errno not in _NO_FOLDERS or not stat.S_ISDIR(os.fstat(fd).st_mode):
            raise


def all_to_disk(folder: Path) -> bool:
    """Flushes everything written to the file system of `folder` in one step; raises OSError.

    False if the system has no such call, or one that does not report errors: then flush each file.
    """
    if not tells_what_failed():
        return False
    with held(os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)) as fd:
        sync_file_system(fd)
    return True


def sync_file_system(fd: int) -> None:
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.syncfs(fd) != 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))


@cache
def tells_what_failed() -> bool:
    """Whether a file system can be flushed in one step that reports all errors: syncfs of Linux, since 5.8."""
    if not sys.platform.startswith("linux"):
        return False
    first, _, rest = os.uname().release.partition(".")
    second = rest.partition(".")[0].partition("-")[0]
    return first.isdigit() and second.isdigit() and (int(first), int(second)) >= (5, 8)


_WHAT_TO_DO = {
    errno.ENOSPC: "The disk is full: make room on it, then try again.",
    errno.EDQUOT: "Your share of the disk is used up: make room, then try again.",
    errno.ENOLCK: "The file system of it or of the data directory has no locks: use another, then try again.",
    errno.EROFS: "It is mounted read-only: mount it for writing, then try again.",
    errno.EIO: "The disk may be broken: save what is on it, look at the system’s log, then try again.",
    errno.EACCES: "Give yourself the right to it, then try again.",
    errno.EPERM: "Give yourself the right to it, then try again.",
    errno.EEXIST: "Name another one.",
    errno.ENOENT: "Name an existing folder, or another file.",
    errno.ENOTDIR: "Name a file in a folder.",
    errno.ENAMETOOLONG: "Name a shorter one.",
    errno.EISDIR: "Name a file, not a folder.",
    errno.EMFILE: "Too many files are open: end other programs, then try again.",
    errno.ENFILE: "Too many files are open: end other programs, then try again.",
}


def refusal(error: OSError, place: str | os.PathLike[str]) -> str:
    """What failed, why, and what to do, in sentences. `place`, if not empty, is used if the error has no complete path."""
    name = os.fsdecode(error.filename) if isinstance(error.filename, str | bytes) else ""
    thing = name if name.startswith("/") else os.fspath(place)
    why = error.strerror or str(error) or type(error).__name__
    return (
        f"{thing and f'{thing}: '}{why}. {_WHAT_TO_DO.get(error.errno or 0, 'Look at it, then try again.')}"
    )


def in_words(error: Exception) -> str:
    """`refusal` of an error of the operating system; what any other says."""
    return refusal(error, "") if isinstance(error, OSError) and error.errno else str(error)
