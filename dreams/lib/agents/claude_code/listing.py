"""Lists folders and memory directories by handle, without following links. Pure: no Django."""

import os
import stat
from collections.abc import Iterator, Set
from contextlib import contextmanager

from dreams.lib.files.safefs import held
from dreams.lib.files.seen import seen
from dreams.lib.files.text import is_utf8
from dreams.lib.memdir import INDEX_NAME

from ..base import NOT_MARKDOWN, FoundMemory, Mark, MemoryKind, Skipped, printable, why

_DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC | os.O_NONBLOCK


@contextmanager
def open_folder(path: str, dir_fd: int | None = None, *, follow: bool = False) -> Iterator[int]:
    """A handle on a directory; a link is refused unless `follow`. Raises OSError."""
    with held(os.open(path, _DIRECTORY | (0 if follow else os.O_NOFOLLOW), dir_fd=dir_fd)) as fd:
        yield fd


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
    with held(os.open(path, flags, dir_fd=dir_fd)) as fd:
        if not stat.S_ISREG(os.fstat(fd).st_mode):
            raise OSError(f"{printable(path)} is not a regular file")
        return os.read(fd, limit)


# --- Memory directories ---------------------------------------------------------------------------------------------

MAX_DEPTH = 8  # folders below a memory directory; chosen
MAX_FILES = 20_000  # of one directory; chosen


def memories_in(memory_dir: str) -> Iterator[FoundMemory | Skipped]:
    """Every Markdown file and log below a memory directory; nothing if it does not exist.

    The directory itself may be a link (the person's choice); below it links are not followed. Dotfiles, such as the
    lock, are ignored. After 20,000 files the rest is skipped with a note.
    """
    try:
        with open_folder(memory_dir, follow=True) as fd:
            yield from _at_most(memory_dir, _below(fd, memory_dir, "", MAX_DEPTH))
    except (FileNotFoundError, NotADirectoryError):
        return
    except OSError as error:
        yield Skipped(printable(memory_dir), why(error))


def _at_most(memory_dir: str, found: Iterator[FoundMemory | Skipped]) -> Iterator[FoundMemory | Skipped]:
    for count, entry in enumerate(found):
        if count >= MAX_FILES:
            yield Skipped(printable(memory_dir), f"more than {MAX_FILES} files; the rest was not read")
            return
        yield entry


def _below(fd: int, memory_dir: str, inside: str, depth: int) -> Iterator[FoundMemory | Skipped]:
    for entry in entries(fd, f"{memory_dir}/{inside}"):
        if isinstance(entry, Skipped):
            yield entry
            continue
        name, found = entry
        if name.startswith("."):
            continue
        path = f"{inside}{name}"
        # A memory with a line break in its name is read and versioned like any other.
        if reason := not_a_file(found) if is_utf8(os.fsencode(name)) else odd(name, found):
            yield Skipped(printable(f"{memory_dir}/{path}"), reason)
        elif stat.S_ISDIR(found.st_mode):
            yield from _folder(fd, memory_dir, name, path, depth)
        else:
            yield _file(memory_dir, path, found)


def _folder(fd: int, memory_dir: str, name: str, path: str, depth: int) -> Iterator[FoundMemory | Skipped]:
    full = printable(f"{memory_dir}/{path}")
    if path.lower().endswith(".md"):
        yield Skipped(full, "a folder with the name of a memory")
    if depth == 0:
        yield Skipped(full, "nested too deeply; not read")
        return
    try:
        with open_folder(name, fd) as inner:
            yield from _below(inner, memory_dir, f"{path}/", depth - 1)
    except OSError as error:
        yield Skipped(full, why(error))


def _file(memory_dir: str, path: str, st: os.stat_result) -> FoundMemory | Skipped:
    kind = kind_of(path)
    if kind is None:
        return Skipped(printable(f"{memory_dir}/{path}"), NOT_MARKDOWN)
    return FoundMemory(path, kind, *seen(st))


def kind_of(path: str) -> MemoryKind | None:
    """The kind of a file of a memory directory, by its relative path; None if it is no memory."""
    if path.startswith("logs/"):
        return "log"
    if not path.lower().endswith(".md"):
        return None
    if path.startswith("team/"):
        return "team"
    return "index" if path == INDEX_NAME else "topic"


def holds_memories(memory_dir: str) -> bool:
    """Whether a memory directory contains at least one memory."""
    return any(isinstance(entry, FoundMemory) for entry in memories_in(memory_dir))
