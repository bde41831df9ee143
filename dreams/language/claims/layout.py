"""The lines and sentences of a text: how deep each stands, and its place in a file where a tool told it. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import NamedTuple

LONGEST_UNIT = 600  # code points; a longer line (minified code, a table row) is cut into several units
MOST_CUTS = 400
TAB = 4
_SENTENCE = re.compile(  # "e.g. `x`" and "2d. `x`" end none
    r"(?<=[.!?])(?<![\s(.][A-Za-z]\.)(?<![\s(]\d[A-Za-z]\.)\s+(?=[A-Z`\"'*(\[])"
)
_NUMBERED = re.compile(r"\s*(\d{1,7})(→|\t|:(?=\s))")  # a tool's own line numbers
_ORDINAL = re.compile(r"\A([#>*_\s-]*)\d{1,3}[a-z]?[.)]\s+")  # an item's place in its list
_HEADING = re.compile(r"(#{1,6})\s")
_ITEM = re.compile(r"\s*(?:[-*+•]|\d{1,3}[.)])\s")
_TITLE = re.compile(r"\*\*[^*]+\*\*:?$|.{0,80}:$")


class Laid(NamedTuple):
    """A sentence of prose or a line of code; it stands under the last one that is less deep."""

    depth: int
    place: int  # the line of its file that a tool's listing gives it, or 0
    text: str


def pieces_of(text: str, *, prose: bool) -> Iterator[Laid]:
    lines = text.split("\n")
    for place, line in ((0, line) for line in lines) if prose else _unnumbered(lines):
        bare = line.strip()
        if bare:
            depth = _depth(line, bare) if prose else _indent(line)
            bare = _ORDINAL.sub(r"\1", bare) or bare
            for piece in _SENTENCE.split(bare) if prose else (bare,):
                yield from (Laid(depth, place, cut) for cut in _cut(piece.strip()))


def _unnumbered(lines: Sequence[str]) -> Iterator[tuple[int, str]]:
    """The lines without the numbers that a tool put before them: they say where a line stands, and nothing of what it says."""
    matches = [_NUMBERED.match(line) for line in lines]
    numbers = [int(match[1]) if match else -1 for match in matches]
    for at, (line, match, number) in enumerate(zip(lines, matches, numbers, strict=True)):
        follows = number - 1 in numbers[max(0, at - 1) : at] or number + 1 in numbers[at + 1 : at + 2]
        yield (number, line[match.end() :]) if match and (match[2] == "→" or follows) else (0, line)


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
