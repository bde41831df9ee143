"""wc."""

from __future__ import annotations

import re
import stat as st
from collections.abc import Iterator
from dataclasses import dataclass

from dreams.lib.files.safefs import SafeFsError

from ..mounts import trouble
from ..options import Spec, read
from ..process import Chunks, Process, Runner, raw
from .quoting import shell_quoted

_WC = Spec(
    flags={
        **{letter: letter for letter in "clmwL"},
        "bytes": "c",
        "chars": "m",
        "lines": "l",
        "words": "w",
        "max-line-length": "L",
    },
    why_not={"files0-from": "file names are not taken from files"},
)
_NOT_PRINTING = bytes(byte for byte in range(256) if not 32 <= byte < 127 and byte not in b"\t\n\v\f\r")
_SPACES = b" \t\n\v\f\r"


@dataclass(slots=True)
class _Counts:
    lines: int = 0
    words: int = 0
    size: int = 0
    longest: int = 0

    def add(self, other: _Counts) -> None:
        self.lines += other.lines
        self.words += other.words
        self.size += other.size
        self.longest = max(self.longest, other.longest)


def wc(name: str, argv: list[str]) -> Runner:
    args = read(name, _WC, argv)
    wanted = [letter for letter in "lwmcL" if args.has(letter)] or ["l", "w", "c"]

    def run(process: Process) -> Iterator[bytes]:
        width = _width(process, args.operands, len(wanted))
        total = _Counts()
        for path in args.operands or ["-"]:
            counts = _count_one(process, path, wanted)
            if counts is not None:
                total.add(counts)
                yield _row(counts, wanted, width, _shown(path) if args.operands else b"")
        if len(args.operands) > 1:
            yield _row(total, wanted, width, b"total")

    return run


def _shown(path: str) -> bytes:
    return shell_quoted(raw(path)) if "\n" in path else raw(path)


def _count_one(process: Process, path: str, wanted: list[str]) -> _Counts | None:
    try:
        return _counted(process, process.chunks(path), wanted)
    except IsADirectoryError as error:
        process.complain(f"{path}: {trouble(error)}")
        return _Counts()
    except (OSError, SafeFsError) as error:
        process.complain(f"{path}: {trouble(error)}")
        return _Counts() if trouble(error) == "Is a directory" else None


def _counted(process: Process, chunks: Iterator[bytes], wanted: list[str]) -> _Counts:
    counts = _Counts()
    if isinstance(chunks, Chunks) and set(wanted) <= {"c", "m"}:
        counts.size = chunks.size()
        return counts
    in_word = False
    column = 0
    for chunk in chunks:
        counts.size += len(chunk)
        counts.lines += chunk.count(b"\n")
        if "w" in wanted:
            in_word = _count_words(chunk, in_word, counts)
        if "L" in wanted:
            column = _measure(chunk, column, counts)
        process.meter.tick()
    return counts


def _count_words(chunk: bytes, in_word: bool, counts: _Counts) -> bool:
    """In the C locale bytes that do not print neither make nor end a word."""
    text = chunk.translate(None, _NOT_PRINTING)
    if not text:
        return in_word
    counts.words += len(text.split()) - (in_word and text[:1] not in _SPACES_SET)
    return text[-1:] not in _SPACES_SET


_SPACES_SET = frozenset(bytes([byte]) for byte in _SPACES)


def _measure(chunk: bytes, column: int, counts: _Counts) -> int:
    for piece in re.split(rb"([\n\r\f\t])", chunk.translate(None, _NOT_PRINTING + b"\v")):
        if piece in (b"\n", b"\r", b"\f"):
            column = 0
        elif piece == b"\t":
            column += 8 - column % 8
        else:
            column += len(piece)
        counts.longest = max(counts.longest, column)
    return column


def _width(process: Process, paths: list[str], columns: int) -> int:
    """As wc does: as wide as the sum of all sizes, at least 7 when something is no regular file."""
    if len(paths or ["-"]) == 1 and columns == 1:
        return 1
    total, least = 0, 1
    for path in paths or ["-"]:
        try:
            stat = process.stat(path) if path != "-" else None
        except (OSError, SafeFsError):
            continue
        if stat is not None and st.S_ISREG(stat.st_mode):
            total += stat.st_size
        else:
            least = 7
    return max(len(str(total)), least)


def _row(counts: _Counts, wanted: list[str], width: int, name: bytes) -> bytes:
    values = {"l": counts.lines, "w": counts.words, "m": counts.size, "c": counts.size, "L": counts.longest}
    row = b" ".join(b"%*d" % (width, values[letter]) for letter in wanted)
    return row + (b" " + name if name else b"") + b"\n"


COMMANDS = {"wc": wc}
