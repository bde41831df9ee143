"""Is this still the file that was read, and has it grown? Pure: no Django.

Two steps: `same_stat` compares numbers that a directory listing has anyway; only for a file that differs, `change`
opens it and compares what was read before by its first bytes and by the last ones before the offset.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from enum import Enum
from hashlib import blake2b

from .reader import Source, opened

SAMPLE_BYTES = 4096


class Change(Enum):
    UNCHANGED = "unchanged"
    APPENDED = "appended"
    REPLACED = "replaced"


@dataclass(frozen=True, slots=True)
class FileMark:
    """What was known of a file when it was read up to `offset`. `head` and `tail` are hex digests.

    The device is kept to be shown and not compared: on several file systems it changes at each boot.
    """

    device: int
    inode: int
    size: int
    mtime_ns: int
    offset: int
    head: str
    tail: str


def mark(source: Source, offset: int) -> FileMark:
    """The mark of a file that was read up to `offset`. Raises OSError."""
    with opened(source) as fd:
        st = os.fstat(fd)
        head, tail = _samples(fd, offset)
    return FileMark(st.st_dev, st.st_ino, st.st_size, st.st_mtime_ns, offset, head, tail)


def same_stat(known: FileMark, inode: int, size: int, mtime_ns: int) -> bool:
    """Whether the numbers say that nothing happened: the gate that a hundred thousand files pass each time."""
    return (known.inode, known.size, known.mtime_ns) == (inode, size, mtime_ns)


def change(known: FileMark, source: Source) -> Change:
    """What happened to a file since its mark was taken. Raises OSError.

    Another inode, a size below the offset, or other bytes in the samples mean it is another file now: read it anew.
    """
    with opened(source) as fd:
        st = os.fstat(fd)
        if same_stat(known, st.st_ino, st.st_size, st.st_mtime_ns):
            return Change.UNCHANGED
        if st.st_ino != known.inode or st.st_size < known.offset:
            return Change.REPLACED
        if _samples(fd, known.offset) != (known.head, known.tail):
            return Change.REPLACED
    return Change.UNCHANGED if st.st_size == known.size else Change.APPENDED


def _samples(fd: int, offset: int) -> tuple[str, str]:
    """Digests of the first and the last bytes before `offset`: only what was read, so that growth changes neither."""
    head = os.pread(fd, min(SAMPLE_BYTES, offset), 0)
    start = max(0, offset - SAMPLE_BYTES)
    tail = os.pread(fd, offset - start, start)
    return _digest(head), _digest(tail)


def _digest(data: bytes) -> str:
    return blake2b(data, digest_size=8).hexdigest()
