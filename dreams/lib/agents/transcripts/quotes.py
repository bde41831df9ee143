"""Where a quote stands in a transcript. Pure: no Django."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from .reader import MAX_LINE_BYTES, Progress, Source, opened
from .turns import Turn, turns_of_line

_WORD = re.compile(r"[A-Za-z0-9_]+")
_CHUNK = 1 << 20


@dataclass(frozen=True, slots=True)
class Match:
    """A turn that holds the quote; `part` is the index of the block it stands in."""

    turn: Turn
    part: int


def find_quote(
    source: Source,
    quote: str,
    *,
    start: int = 0,
    start_line: int = 1,
    before_line: int | None = None,
    roles: frozenset[str] | None = None,
    limit: int = 10,
    progress: Progress | None = None,
) -> list[Match]:
    """Turns that hold `quote`, in file order; runs of white space count as one space, letters must be the same.

    `start` is the offset of a line and `start_line` its 1-based number; `before_line` is exclusive. Only lines that hold the quote's longest plain word are parsed. Raises OSError.
    """
    wanted = squeeze(quote)
    if not wanted:
        return []
    found: list[Match] = []
    for raw, offset, line in _candidates(source, _needle(wanted), (start, start_line), before_line, progress):
        for turn in turns_of_line(raw, offset, line):
            if roles is None or turn.role in roles:
                found.extend(
                    Match(turn, i) for i, part in enumerate(turn.parts) if wanted in squeeze(part.text)
                )
        if len(found) >= limit:
            break
    return found[:limit]


def squeeze(text: str) -> str:
    """Text with every run of white space as one space."""
    return " ".join(text.split())


def _needle(quote: str) -> bytes:
    """The longest run of characters that JSON never escapes: what a line must hold to be worth parsing."""
    return max(_WORD.findall(quote), key=len, default="").encode("ascii")


def _candidates(
    source: Source, needle: bytes, start: tuple[int, int], before_line: int | None, progress: Progress | None
) -> Iterator[tuple[bytes, int, int]]:
    offset, line = start
    with opened(source) as fd, open(fd, "rb", buffering=_CHUNK, closefd=False) as file:
        file.seek(offset)
        while raw := file.readline(MAX_LINE_BYTES):
            if before_line is not None and line >= before_line:
                return
            if needle in raw:
                yield raw, offset, line
            offset += len(raw)
            line += raw.endswith(b"\n")
            if progress is not None and progress(len(raw)) is False:
                return
