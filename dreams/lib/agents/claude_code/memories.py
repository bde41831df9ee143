"""Files of a memory directory. Pure: no Django."""

import os
import stat
from collections.abc import Iterator

from dreams.lib.files.text import is_utf8
from dreams.lib.memdir import INDEX_NAME

from ..base import NOT_MARKDOWN, FoundMemory, MemoryKind, Skipped, printable, why
from .listing import entries, not_a_file, odd, open_folder

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
    return FoundMemory(path, kind, st.st_size, st.st_mtime_ns, st.st_ino, st.st_nlink)


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
