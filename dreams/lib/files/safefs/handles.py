"""One name opened, or made, from the handle of its directory. No path ever goes to the system whole."""

from __future__ import annotations

import errno
import os
import stat as st

from .paths import UnsafePath, kind_of

# O_NONBLOCK keeps a FIFO without a writer from hanging the open.
_COMMON = os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_READ_FILE = os.O_RDONLY | _COMMON
_READ_DIR = os.O_RDONLY | os.O_DIRECTORY | _COMMON
# Folders on the way need not be readable, only passable; where the system cannot say so, they must be readable.
_WAY = getattr(os, "O_PATH", os.O_RDONLY) | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
NEW_FILE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | _COMMON


def open_directory(folder: int, name: str, rel: str) -> int:
    try:
        return os.open(name, _READ_DIR, dir_fd=folder)
    except OSError as error:
        raise _explained(error, folder, name, rel) from error


def open_plain(path: str) -> int:
    """An absolute path's directory, no part of which may be a link by now (`os.path.realpath` gave it)."""
    names = [name for name in path.split("/") if name]
    fd = os.open("/", _WAY if names else _READ_DIR)
    for number, name in enumerate(names, 1):
        flags = _READ_DIR if number == len(names) else _WAY
        try:
            deeper = os.open(name, flags, dir_fd=fd)
        except OSError as error:
            why = _explained(error, fd, name, path)
            os.close(fd)
            raise why from error
        os.close(fd)
        fd = deeper
    return fd


def open_regular(folder: int, name: str, rel: str) -> int:
    try:
        fd = os.open(name, _READ_FILE, dir_fd=folder)
    except OSError as error:
        raise _explained(error, folder, name, rel) from error
    # Asked of the handle, not of the name: the name may mean another thing by now.
    mode = os.fstat(fd).st_mode
    if not st.S_ISREG(mode):
        os.close(fd)
        raise UnsafePath(rel, f"is {kind_of(mode)}, not a regular file")
    return fd


def _explained(error: OSError, folder: int, name: str, rel: str) -> OSError | UnsafePath:
    """UnsafePath where the open was refused because of what stands there; the second look is for
    words only.
    """
    if error.errno in (errno.ENOENT, errno.EACCES):
        return error
    try:
        mode = os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode
    except OSError:
        return error
    if error.errno == errno.ELOOP or not (st.S_ISREG(mode) or st.S_ISDIR(mode)):
        return UnsafePath(rel, f"goes through {name!r}, which is {kind_of(mode)}")
    return error


def mode_to_keep(folder: int, name: str, rel: str) -> int:
    try:
        found = os.stat(name, dir_fd=folder, follow_symlinks=False)
    except FileNotFoundError:
        return 0o600
    if not st.S_ISREG(found.st_mode):
        raise UnsafePath(rel, f"is {kind_of(found.st_mode)}, not a regular file")
    return st.S_IMODE(found.st_mode)


def write_new(folder: int, name: str, data: bytes, mode: int) -> None:
    with os.fdopen(os.open(name, NEW_FILE, 0o600, dir_fd=folder), "wb") as file:
        file.write(data)
        file.flush()
        os.fchmod(file.fileno(), mode)
