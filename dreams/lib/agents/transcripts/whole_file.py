"""A transcript read in one go, in a form that can be sent between processes. Pure: no Django."""

import os

import msgspec

from dreams.lib.agents.transcripts.reader import Cursor, Reader, Source, open_regular, opened, samples
from dreams.lib.agents.transcripts.scan import BATCH_LINES, Batch, Scan, Summary, scan, scan_at_once
from dreams.lib.files.safefs import held
from dreams.lib.files.seen import storable_ns

MAX_ROWS = 100_000  # larger files are read in pieces; chosen
MAX_TEXT = 16 << 20  # and files with longer texts; chosen


class TooMuch(Exception):
    """The file has more rows than are kept at once: read it in batches instead."""


class FileStat(msgspec.Struct, frozen=True, array_like=True):
    """A file's stat from before it was read: text appended meanwhile must not count as read."""

    device: int
    inode: int
    size: int
    mtime_ns: int


class Whole(msgspec.Struct, array_like=True):
    """`identity` is the head and tail of its mark; `named` the session that the first batch names."""

    seen: FileStat
    identity: bytes
    named: str
    cursor: Cursor
    summary: Summary
    parts: list[Batch]

    def state(self) -> Scan:
        return Scan(self.cursor, self.summary)


def seen(fd: int) -> FileStat:
    """Raises OSError."""
    return _seen(os.fstat(fd))


def _seen(st: os.stat_result) -> FileStat:
    return FileStat(st.st_dev, st.st_ino, st.st_size, storable_ns(st.st_mtime_ns))


def identity_of(fd: int, offset: int) -> bytes:
    """Shows at the next reading whether the file still begins with what was read. Raises OSError."""
    return b"".join(samples(fd, offset))


def read_small(path: str | bytes, reader: Reader) -> Whole | None:
    """A file that fits into the reader's buffer and has no odd line, as most do; else None. Raises OSError."""
    fd, numbers = open_regular(path)
    with held(fd):
        found = scan_at_once(fd, numbers.st_size, reader)
    if found is None:
        return None
    state, batch = found
    named = state.summary.session_id
    return Whole(_seen(numbers), reader.samples_at_once(), named, state.cursor, state.summary, [batch])


def read_whole(source: Source, reader: Reader | None = None) -> Whole:
    """Reads a complete file. Raises OSError, and TooMuch if it has too many rows to be kept at once."""
    reader = reader or Reader()
    if isinstance(source, str | bytes) and (found := read_small(source, reader)) is not None:
        return found
    with opened(source) as fd:
        before, state, parts, named = seen(fd), Scan(), list[Batch](), ""
        rows = text = 0
        for batch in scan(fd, state, reader=reader, batch_lines=BATCH_LINES):
            if not parts:
                named = state.summary.session_id
            parts.append(batch)
            rows += len(batch.usage) + len(batch.prompts) + len(batch.memory_writes)
            text += sum(len(row.text) for row in batch.prompts)
            if rows > MAX_ROWS or text > MAX_TEXT:
                raise TooMuch(f"more than {MAX_ROWS} rows or {MAX_TEXT} characters")
        identity = b"".join(reader.samples(fd, state.cursor.offset))
        return Whole(before, identity, named, state.cursor, state.summary, parts)
