"""Lists folders by handle, without following links. Pure: no Django."""

import os
import stat
from collections.abc import Iterator, Set
from contextlib import contextmanager

from ..base import Mark, Skipped, printable, why

_DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC | os.O_NONBLOCK


@contextmanager
def open_folder(path: str, dir_fd: int | None = None, *, follow: bool = False) -> Iterator[int]:
    """A handle on a directory; a link is refused unless `follow`. Raises OSError."""
    fd = os.open(path, _DIRECTORY | (0 if follow else os.O_NOFOLLOW), dir_fd=dir_fd)
    try:
        yield fd
    finally:
        os.close(fd)


def entries(
    fd: int, base: str, known: Set[Mark] = frozenset(), unchanged: list[str] | None = None
) -> Iterator[tuple[str, os.stat_result] | Skipped]:
    """(name, stat) of everything in a folder, links unfollowed. `base` is the folder's path.

    A file whose mark is `known` only adds its path to `unchanged`. `listdir` + `stat` by handle was the fastest way
    measured on 100,000 files, where each function call counts.
    """
    for name in os.listdir(fd):
        try:
            found = os.stat(name, dir_fd=fd, follow_symlinks=False)
        except FileNotFoundError:
            continue  # gone since it was listed
        except OSError as error:
            yield Skipped(f"{printable(base)}/{printable(name)}", why(error))
            continue
        if unchanged is not None:
            path = f"{base}/{name}"
            if (path, found.st_ino, found.st_size, found.st_mtime_ns) in known:
                unchanged.append(path)
                continue
        yield name, found


def odd(name: str, found: os.stat_result) -> str:
    """Why a regular file or folder of this name is not used, else ""."""
    if not name.isprintable():
        return "the name holds characters that cannot be shown (a line break, or not UTF-8); rename it"
    return not_a_file(found)


def not_a_file(found: os.stat_result) -> str:
    """What it is, if neither a regular file nor a folder, else ""."""
    if stat.S_ISLNK(found.st_mode):
        return "a link; links are not followed"
    if not (stat.S_ISREG(found.st_mode) or stat.S_ISDIR(found.st_mode)):
        return "not a regular file"
    return ""


def read_small(path: str, limit: int = 1 << 20, *, dir_fd: int | None = None, follow: bool = False) -> bytes:
    """A small regular file's bytes, at most `limit`. Raises OSError."""
    flags = os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK | (0 if follow else os.O_NOFOLLOW)
    fd = os.open(path, flags, dir_fd=dir_fd)
    try:
        if not stat.S_ISREG(os.fstat(fd).st_mode):
            raise OSError(f"{printable(path)} is not a regular file")
        return os.read(fd, limit)
    finally:
        os.close(fd)
