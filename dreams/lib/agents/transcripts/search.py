"""Finds a quote or some words in a transcript of any length. Pure: no Django."""

import os
import re
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import re2

from dreams.lib.agents.transcripts.reader import MAX_LINE_BYTES, Progress, Source, opened
from dreams.lib.agents.transcripts.turns import Turn, turns_of_line
from dreams.lib.files.text import one_line

# --- Quotes ----------------------------------------------------------------------------------------------------------

_WORD = re.compile(r"[A-Za-z0-9_]+")
_CHUNK = 1 << 20  # read at once; chosen


@dataclass(frozen=True, slots=True)
class Match:
    """A turn that contains the quote; `part` is the index of its block."""

    turn: Turn
    part: int


def find_quote(
    source: Source,
    quote: str,
    *,
    limit: int = 10,
    progress: Progress | None = None,
) -> list[Match]:
    """Turns that contain `quote`, in file order; a run of white space counts as one space, letters must be the same.

    Only lines that contain the quote's longest plain word are parsed. Raises OSError.
    """
    wanted = one_line(quote)
    if not wanted:
        return []
    found: list[Match] = []
    # The longest run of characters that JSON never escapes: only lines that contain it are parsed.
    needle = max(_WORD.findall(wanted), key=len, default="").encode("ascii")
    for raw, offset, line in _candidates(source, needle, progress):
        for turn in turns_of_line(raw, offset, line):
            found.extend(Match(turn, i) for i, part in enumerate(turn.parts) if wanted in one_line(part.text))
        if len(found) >= limit:
            break
    return found[:limit]


def _candidates(source: Source, needle: bytes, progress: Progress | None) -> Iterator[tuple[bytes, int, int]]:
    offset, line = 0, 1
    with opened(source) as fd, open(fd, "rb", buffering=_CHUNK, closefd=False) as file:
        while raw := file.readline(MAX_LINE_BYTES):
            if needle in raw:
                yield raw, offset, line
            offset += len(raw)
            line += raw.endswith(b"\n")
            if progress is not None and progress(len(raw)) is False:
                return


# --- Words -----------------------------------------------------------------------------------------------------------

MAX_BYTES = 512 << 20  # that one search reads of a file; chosen
MAX_SECONDS = 2.0  # that a person waits for one; chosen
MAX_HITS = 500  # nobody looks through more; chosen
_PIECE = 4 << 20  # read at once; chosen
_LATIN = re2.Options()
_LATIN.encoding = re2.Options.Encoding.LATIN1  # matches bytes: a transcript need not be UTF-8
_ESCAPED = {" ": rb"(?: |\\[bfnrt])", '"': rb"\\\"", "\\": rb"\\\\", "/": rb"\\?/"}
# Any character beyond ASCII, as itself or as an escape: it may be the same letter with an accent, or in another width.
_FOREIGN = rb"[\xc2-\xf4][\x80-\xbf]{1,3}|(?:\\u[0-9a-f]{4}){1,2}"
# An accent may follow its letter.
_ACCENTS = rb"(?:[\xcc\xcd][\x80-\xbf]|\\u03[0-6][0-9a-f])*"


@dataclass(frozen=True, slots=True)
class Hit:
    """A line that contains the words: its first byte and its 1-based number."""

    offset: int
    line: int


@dataclass(frozen=True, slots=True)
class Within:
    """Hits in the order of the file. The file was searched up to the byte `reached`; `line` starts there."""

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
) -> Within:
    """Lines from `start` on (the first byte of a line) with a turn for which `holds` is true.

    Every such line contains all `words` (at least one), without regard to case and accents. Raises OSError.
    """
    until = time.monotonic() + MAX_SECONDS
    # The longest word is the rarest, and alone decides how many lines are searched twice.
    patterns = [re2.compile(_pattern(word), _LATIN) for word in sorted(words, key=len, reverse=True)]
    hits: list[Hit] = []
    with opened(source) as fd:
        size = os.fstat(fd).st_size
        reached, line = start, start_line
        for raw, offset in _pieces(fd, start, min(size, start + MAX_BYTES)):
            for hit in _hits(raw, offset, line, patterns, holds):
                hits.append(hit)
                if len(hits) >= MAX_HITS:
                    return Within(tuple(hits), hit.offset, hit.line, size)
            reached, line = offset + len(raw), line + raw.count(b"\n")
            if time.monotonic() >= until:
                break
    return Within(tuple(hits), reached, line, size)


def _pieces(fd: int, start: int, end: int) -> Iterator[tuple[bytes, int]]:
    """The file in complete lines, many at a time; a line over the limit is split."""
    rest, offset = b"", start
    while data := os.pread(fd, min(_PIECE, end - offset - len(rest)), offset + len(rest)):
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
    """A pattern for all spellings in JSON of a character or of one that counts as the same; it may match more."""
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
