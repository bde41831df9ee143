"""The lines and sentences of a text, each with how deep it stands: what is indented below a line stands under it. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import islice

LONGEST_UNIT = 600  # code points; a longer line (minified code, a table row) is cut into several units
MOST_CUTS = 400
TAB = 4
_SENTENCE = re.compile(r"(?<=[.!?])\s+(?=[A-Z`\"'*(\[])")
_NUMBERED = re.compile(r"\s*\d+(?:→|\t|:(?=\s))")  # a tool's own line numbers
_HEADING = re.compile(r"(#{1,6})\s")
_ITEM = re.compile(r"\s*(?:[-*+•]|\d{1,3}[.)])\s")
_TITLE = re.compile(r"\*\*[^*]+\*\*:?$|.{0,80}:$")


def pieces_of(text: str, *, prose: bool) -> Iterator[tuple[int, str]]:
    """(depth, piece) for each sentence of prose or line of code; a piece stands under the last one that is less deep."""
    for line in text.split("\n"):
        bare = line.strip()
        if bare:
            depth = _depth(line, bare) if prose else _indent(_NUMBERED.sub("", line, count=1))
            for piece in _SENTENCE.split(bare) if prose else (bare,):
                yield from ((depth, cut) for cut in _cut(piece.strip()))


def _depth(line: str, bare: str) -> int:
    heading = _HEADING.match(bare)
    if heading:
        return len(heading[1]) - 10
    if _ITEM.match(line):
        return _indent(line) + 2
    return _indent(line) + (0 if _TITLE.fullmatch(bare) else 1)


def _indent(line: str) -> int:
    width = 0
    for letter in line:
        if letter not in " \t":
            break
        width += TAB if letter == "\t" else 1
    return width


def _cut(text: str) -> Iterable[str]:
    if len(text) <= LONGEST_UNIT:
        return (text,) if text else ()
    return islice((text[at : at + LONGEST_UNIT] for at in range(0, len(text), LONGEST_UNIT)), MOST_CUTS)
