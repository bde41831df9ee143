"""Reads a transcript file into records with byte offsets, in bounded memory, and checks whether it is still the same
file. Pure: no Django."""

import errno
import os
import stat
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from enum import Enum
from hashlib import blake2b
from typing import TypeAlias

import msgspec

from dreams.lib.agents.transcripts.records import (
    DECODE_ERRORS,
    TranscriptRecord,
    decode_line,
    line_from,
    objects,
)
from dreams.lib.files.safefs import held

BUFFER_BYTES = 1 << 20  # read at once; chosen
MAX_LINE_BYTES = 64 << 20  # of one record, pictures and all; chosen
MAX_PROBLEMS = 100  # that are named of one file; chosen
_BLANK = b" \t\r\n"
_FLAGS = os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK

Source: TypeAlias = str | bytes | os.PathLike[str] | int
Progress: TypeAlias = Callable[[int], bool | None]
"""Called with the bytes just read, about once per buffer. Returning False stops the reading."""
Entry: TypeAlias = tuple[TranscriptRecord, int, int]
"""(record, byte offset, 1-based line). Glued records share a line. A tuple, because there are many."""


class Cursor(msgspec.Struct, frozen=True, gc=False, array_like=True):
    """How far a file was read: `offset` is the first unread byte, `lines` the number of newlines before it.

    `skipping` is true inside a line that is longer than the cap.
    """

    offset: int = 0
    lines: int = 0
    skipping: bool = False


class UnreadPlace(msgspec.Struct, frozen=True, gc=False, array_like=True):
    """A place that could not be read: byte offset, 1-based line, reason in plain words."""

    offset: int
    line: int
    reason: str


_BEGINNING = Cursor()


class Cancelled(Exception):
    """The progress callback asked to stop; `Reader.cursor` is where to continue."""


@contextmanager
def opened(source: Source) -> Iterator[int]:
    """A handle on a regular file. A path is opened without following a link; a handle is not closed here.

    Raises OSError, also for a FIFO, a device or a link.
    """
    if isinstance(source, int):
        yield source
        return
    with held(open_regular(source)[0]) as fd:
        yield fd


def open_regular(path: str | bytes | os.PathLike[str]) -> tuple[int, os.stat_result]:
    """A handle on a regular file, which the caller closes, and its stat; no link is followed. Raises OSError."""
    # O_NONBLOCK: opening a FIFO that nobody writes to would hang the whole scan.
    fd = os.open(path, _FLAGS)
    found = os.fstat(fd)
    if not stat.S_ISREG(found.st_mode):
        os.close(fd)
        raise OSError(errno.EINVAL, "Not a regular file", os.fsdecode(path))
    return fd, found


class Reader:
    """Reads one file after another through one buffer. Not for two files at once, nor for two threads."""

    def __init__(self, *, buffer_bytes: int = BUFFER_BYTES, max_line_bytes: int = MAX_LINE_BYTES) -> None:
        self._small = min(buffer_bytes, max_line_bytes)
        self._max_line = max_line_bytes
        self._buffer = bytearray(self._small)
        self._begin(Cursor())

    def _begin(self, cursor: Cursor) -> None:
        self._filled = 0
        self._offset, self._lines, self._skipping = cursor.offset, cursor.lines, cursor.skipping
        self.problems: list[UnreadPlace] = []
        self.malformed = 0
        self.bytes_read = 0
        self._head = b""

    @property
    def cursor(self) -> Cursor:
        """Where to continue: right after the line of the last record yielded."""
        return Cursor(self._offset, self._lines, self._skipping)

    @property
    def position(self) -> int:
        """The cursor's byte offset."""
        return self._offset

    def read(
        self, source: Source, cursor: Cursor | None = None, *, progress: Progress | None = None
    ) -> Iterator[Entry]:
        """Yields (record, byte offset, 1-based line) from `cursor` on; afterwards `self.cursor` is the new one.

        The size is taken once, at the start: text appended meanwhile waits for the next call. A last line
        without its newline is used only if it is complete JSON, so a half-written line is never mistaken for a
        record. `self.problems` (at most 100) and `self.malformed` record what was skipped. Raises OSError, and
        Cancelled when `progress` returned False.
        """
        self._begin(cursor or Cursor())
        if isinstance(source, int):
            yield from self._records(source, os.fstat(source).st_size, progress)
            return
        with opened(source) as fd:
            yield from self._records(fd, os.fstat(fd).st_size, progress)

    def at_once(self, fd: int, size: int) -> list[Entry] | None:
        """All records of a file that fits into the buffer and has no odd line, else None: use `read`.

        For many small files, where a generator would cost as much as the records. Raises OSError.
        """
        self._begin(_BEGINNING)
        if not 0 < size <= self._small or self._fill(fd, 0, size) < size:
            return None
        found, pos, line = list[Entry](), 0, 0
        find, view, decode = self._buffer.find, memoryview(self._buffer), decode_line
        try:
            while (end := find(b"\n", pos, size)) >= 0:
                line += 1
                found.append((decode(view[pos:end]), pos, line))
                pos = end + 1
        except DECODE_ERRORS:
            return None
        self._offset, self._lines = pos, line
        return found if pos == size else None

    def samples_at_once(self) -> bytes:
        """As `samples`, joined, for a file that was read `at_once`."""
        view, size = memoryview(self._buffer), self._filled
        first = _digest(view[: min(SAMPLE_BYTES, size)])
        return first + (first if size <= SAMPLE_BYTES else _digest(view[size - SAMPLE_BYTES : size]))

    def samples(self, fd: int, offset: int) -> tuple[bytes, bytes]:
        """As `samples`, for the file read last; the part in memory is not read from the disk again."""
        return samples(fd, offset, self._head)

    def _records(self, fd: int, size: int, progress: Progress | None) -> Iterator[Entry]:
        base = self._offset
        while got := self._fill(fd, base + self._filled, size):
            if progress is not None and progress(got) is False:
                raise Cancelled
            used = yield from self._whole_lines(base)
            self._drop(used)
            base += used
            if self._filled >= self._max_line:
                base = self._skip_the_rest(base)
        if self._filled:
            yield from self._tail(base)
        # Releases the memory of a long line for the rest of the scan.
        if len(self._buffer) > self._small:
            self._buffer = bytearray(self._small)

    def _fill(self, fd: int, position: int, size: int) -> int:
        """Reads more after the rest of the last line; the buffer grows only for a line longer than itself."""
        if self._filled == len(self._buffer):
            self._grow()
        room = min(len(self._buffer) - self._filled, size - position)
        if room <= 0:
            return 0
        got = os.preadv(fd, [memoryview(self._buffer)[self._filled : self._filled + room]], position)
        if position == 0:
            self._head = bytes(memoryview(self._buffer)[: min(got, SAMPLE_BYTES)])
        self._filled += got
        self.bytes_read += got
        return got

    def _grow(self) -> None:
        # A new buffer, not a longer one: a record still in use elsewhere pins the old one's size.
        bigger = bytearray(min(2 * len(self._buffer), self._max_line))
        bigger[: self._filled] = self._buffer[: self._filled]
        self._buffer = bigger

    def _drop(self, used: int) -> None:
        if used:
            left = self._filled - used
            self._buffer[:left] = self._buffer[used : self._filled]
            self._filled = left

    def _whole_lines(self, base: int) -> Generator[Entry, None, int]:
        """Records of every line that ends in the buffer; returns the bytes used."""
        buffer, filled = self._buffer, self._filled
        find, view, decode = buffer.find, memoryview(buffer), decode_line
        pos = self._end_of_skipped(base) if self._skipping else 0
        while (end := find(b"\n", pos, filled)) >= 0:
            line = self._lines + 1
            try:
                record = decode(view[pos:end])
            except DECODE_ERRORS:
                yield from self._odd_line(bytes(view[pos:end]), base + pos, line)
                self._offset, self._lines = base + end + 1, line
            else:
                self._offset, self._lines = base + end + 1, line
                yield record, base + pos, line
            pos = end + 1
        return pos

    def _odd_line(self, raw: bytes, offset: int, line: int) -> Iterator[Entry]:
        if not raw.strip(_BLANK):
            return
        for at, found in objects(raw):
            if isinstance(found, str):
                self._note(offset + at, line, found)
            else:
                yield line_from(found), offset + at, line

    def _tail(self, base: int) -> Iterator[Entry]:
        """The last line, without a newline: used if complete, else left for the next reading."""
        if self._skipping:
            self._offset = base + self._filled
            return
        parts = list(objects(memoryview(self._buffer)[: self._filled]))
        whole = [(at, found) for at, found in parts if isinstance(found, dict)]
        if len(whole) < len(parts):
            return
        for at, found in whole:
            yield line_from(found), base + at, self._lines + 1
        self._offset = base + self._filled

    def _skip_the_rest(self, base: int) -> int:
        if not self._skipping:
            self._note(
                base, self._lines + 1, f"the line is longer than {self._max_line} bytes and was skipped"
            )
        self._skipping = True
        self._offset = base + self._filled
        self._filled = 0
        return self._offset

    def _end_of_skipped(self, base: int) -> int:
        end = self._buffer.find(b"\n", 0, self._filled)
        if end < 0:
            self._offset = base + self._filled
            return self._filled
        self._offset, self._lines, self._skipping = base + end + 1, self._lines + 1, False
        return end + 1

    def _note(self, offset: int, line: int, reason: str) -> None:
        self.malformed += 1
        if len(self.problems) < MAX_PROBLEMS:
            self.problems.append(UnreadPlace(offset, line, reason))


# --- The same file? --------------------------------------------------------------------------------------------------

SAMPLE_BYTES = 4096  # at each end, to distinguish a file that grew from one that was replaced; chosen


class FileGrowth(Enum):
    UNCHANGED = "unchanged"
    APPENDED = "appended"
    REPLACED = "replaced"


@dataclass(frozen=True, slots=True)
class FileMark:
    """The state of a file when it was read up to `offset`. `head` and `tail` are hex digests.

    The device is only shown, not compared: on several file systems it changes at each boot.
    """

    device: int
    inode: int
    size: int
    mtime_ns: int
    offset: int
    head: str
    tail: str


def same_stat(known: FileMark, inode: int, size: int, mtime_ns: int) -> bool:
    """Whether the stat shows no change: a cheap check, run for a hundred thousand files each time."""
    return (known.inode, known.size, known.mtime_ns) == (inode, size, mtime_ns)


def change(known: FileMark, source: Source) -> FileGrowth:
    """What happened to a file since its mark was taken. Raises OSError.

    Another inode, a size below the offset, or different samples mean it is another file: read it from the start.
    """
    with opened(source) as fd:
        st = os.fstat(fd)
        if same_stat(known, st.st_ino, st.st_size, st.st_mtime_ns):
            return FileGrowth.UNCHANGED
        if st.st_ino != known.inode or not begins_as(known, fd):
            return FileGrowth.REPLACED
    return FileGrowth.UNCHANGED if st.st_size == known.size else FileGrowth.APPENDED


def begins_as(known: FileMark, fd: int) -> bool:
    """Whether the file begins with what was read, by its samples, also as another inode: a copy from a backup. Raises OSError."""
    is_long_enough = os.fstat(fd).st_size >= known.offset
    return is_long_enough and samples(fd, known.offset) == (
        bytes.fromhex(known.head),
        bytes.fromhex(known.tail),
    )


def samples(fd: int, offset: int, head: bytes = b"") -> tuple[bytes, bytes]:
    """Digests of the file's first bytes and of the last ones before `offset`, so that growth changes neither.

    `head`: the first bytes of the file, if the caller has them. Raises OSError.
    """
    size = min(SAMPLE_BYTES, offset)
    first = _digest(head[:size] if len(head) >= size else os.pread(fd, size, 0))
    # In a short file both samples are the same.
    return first, first if offset <= SAMPLE_BYTES else _digest(os.pread(fd, size, offset - size))


def _digest(data: bytes | memoryview) -> bytes:
    return blake2b(data, digest_size=8).digest()
