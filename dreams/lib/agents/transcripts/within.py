"""Where words stand inside one transcript, however long it is. Pure: no Django.

The file is read once, from a place on, in large pieces; a pattern over the raw bytes names the lines that may hold the
words, and only those are parsed. Bounded in bytes, time and hits: the answer says how far the looking came.
"""

from __future__ import annotations

import os
import re
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import re2

from .reader import MAX_LINE_BYTES, Source, opened
from .turns import Turn, turns_of_line

MAX_BYTES = 512 << 20
MAX_SECONDS = 2.0
MAX_HITS = 500
_CHUNK = 4 << 20
_LATIN = re2.Options()
_LATIN.encoding = re2.Options.Encoding.LATIN1  # bytes are bytes: a transcript need not be UTF-8
_ESCAPED = {" ": rb"(?: |\\[bfnrt])", '"': rb"\\\"", "\\": rb"\\\\", "/": rb"\\?/"}
# Any character beyond ASCII, as itself or as an escape: it may be the same letter with an accent, or in another width.
_FOREIGN = rb"[\xc2-\xf4][\x80-\xbf]{1,3}|(?:\\u[0-9a-f]{4}){1,2}"
# An accent may stand behind its letter.
_ACCENTS = rb"(?:[\xcc\xcd][\x80-\xbf]|\\u03[0-6][0-9a-f])*"


@dataclass(frozen=True, slots=True)
class Hit:
    """A line that holds the words: its first byte and its 1-based number."""

    offset: int
    line: int


@dataclass(frozen=True, slots=True)
class Within:
    """Hits in the order of the file. `reached` is the byte up to which the file was looked at; `line` stands there."""

    hits: tuple[Hit, ...]
    reached: int
    line: int
    size: int

    @property
    def complete(self) -> bool:
        return self.reached >= self.size


def find_within(
    source: Source,
    words: Sequence[str],
    holds: Callable[[Turn], bool],
    *,
    start: int = 0,
    start_line: int = 1,
    seconds: float = MAX_SECONDS,
    most: int = MAX_HITS,
) -> Within:
    """Lines from `start` on (the first byte of a line) with a turn that `holds`.

    Every such line has all of `words` in it (at least one), each without case and accents. Raises OSError.
    """
    until = time.monotonic() + seconds
    # The longest is the rarest, and alone decides how many lines are looked at twice.
    patterns = [re2.compile(_pattern(word), _LATIN) for word in sorted(words, key=len, reverse=True)]
    hits: list[Hit] = []
    with opened(source) as fd:
        size = os.fstat(fd).st_size
        reached, line = start, start_line
        for raw, offset in _pieces(fd, start, min(size, start + MAX_BYTES)):
            for hit in _hits(raw, offset, line, patterns, holds):
                hits.append(hit)
                if len(hits) >= most:
                    return Within(tuple(hits), hit.offset, hit.line, size)
            reached, line = offset + len(raw), line + raw.count(b"\n")
            if time.monotonic() >= until:
                break
    return Within(tuple(hits), reached, line, size)


def _pieces(fd: int, start: int, end: int) -> Iterator[tuple[bytes, int]]:
    """The file in whole lines, many at a time; a line beyond all bounds comes in parts."""
    rest, offset = b"", start
    while data := os.pread(fd, min(_CHUNK, end - offset - len(rest)), offset + len(rest)):
        raw = rest + data
        cut = raw.rfind(b"\n") + 1 or (len(raw) if len(raw) > MAX_LINE_BYTES else 0)
        if cut:
            yield raw[:cut], offset
        rest, offset = raw[cut:], offset + cut
    if rest:
        yield rest, offset


def _hits(
    raw: bytes, offset: int, line: int, patterns: list[re2._Regexp], holds: Callable[[Turn], bool]
) -> Iterator[Hit]:
    first, *others = patterns
    counted = at = 0
    while (found := first.search(raw, at)) is not None:
        start = raw.rfind(b"\n", 0, found.start()) + 1
        end = raw.find(b"\n", found.end()) + 1 or len(raw)
        line += raw.count(b"\n", counted, start)
        counted, at = start, end
        said = raw[start:end]
        if all(other.search(said) for other in others) and any(
            holds(turn) for turn in turns_of_line(said, offset + start, line)
        ):
            yield Hit(offset + start, line)
        if at >= len(raw):
            return


def _pattern(word: str) -> bytes:
    return b"(?i)" + b"".join(map(_of_character, word))


def _of_character(character: str) -> bytes:
    """All ways in which a character, or one that is read as the same, stands in JSON; a superset."""
    if not character.isascii():
        forms = sorted({character, character.upper(), character.title()})
        return b"(?:" + b"|".join(map(_written, forms)) + b")" + _ACCENTS
    plain = _ESCAPED.get(character) or re.escape(character).encode()
    return b"(?:" + plain + b"|" + _FOREIGN + b")" + _ACCENTS


def _written(form: str) -> bytes:
    raw = b"".join(b"\\x%02x" % byte for byte in form.encode("utf-8", "replace"))
    units = form.encode("utf-16-be", "replace")
    escaped = b"".join(rb"\\u" + units[at : at + 2].hex().encode() for at in range(0, len(units), 2))
    return raw + b"|" + escaped
