"""The lines and sentences of a text: how deep each stands, and its place in a file where a tool told it. Pure.

Who wraps a sentence over three lines has said one thing, and a comment is said of the line below it: a comment's sentences
come behind that line, as what stands under it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import NamedTuple

LONGEST_UNIT = 600  # code points; a longer line (minified code, a table row) is cut into several units
MOST_CUTS = 400
MOST_JOINED = 12  # lines of one paragraph
TAB = 4
WRAPPED = 40  # code points from which a line may go on in the next one
_DEEPEST = 10_000  # of a comment: nothing stands under it
_SENTENCE = re.compile(  # "e.g. `x`" and "2d. `x`" end none
    r"(?<=[.!?])(?<![\s(.][A-Za-z]\.)(?<![\s(]\d[A-Za-z]\.)\s+(?=[A-Z`\"'*(\[])"
)
_NUMBERED = re.compile(r"\s*(\d{1,7})(→|\t|:(?=\s))")  # a tool's own line numbers
_ORDINAL = re.compile(r"\A([#>*_\s-]*)\d{1,3}[a-z]?[.)]\s+")  # an item's place in its list
_HEADING = re.compile(r"(#{1,6})\s")
_ITEM = re.compile(r"\s*(?:[-*+•]|\d{1,3}[.)])\s")
_TITLE = re.compile(r"\*\*[^*]+\*\*:?$|.{0,80}:$")
# A mark and a blank: "//nolint" is an order to a tool.
_COMMENT = re.compile(r"(?://[/!]?|#+|--|;;+|<!--)\s|/\*")
_MARK = re.compile(r"(?://[/!]?|#+|--|;;+|<!--|/?\*+!?)\s+")
_CLOSED = re.compile(r"\s*\*+/$")
# An item, a tag, a heading, a row: none goes on a sentence.
_BEGINS = re.compile(r"[-*+•@#|>:=]|\d{1,3}[.)]\s|```")
_ENDS = re.compile(r"[.:;!?{}|]$")


class Laid(NamedTuple):
    """A sentence of prose or a line of code; it stands under the last one that is less deep."""

    depth: int
    text: str
    shown: str = ""  # one line of it, where its sentence runs over several


class _Line(NamedTuple):
    depth: int
    texts: tuple[str, ...]  # one, or the lines of a wrapped paragraph
    flows: bool  # sentences, not code
    comment: bool = False

    @property
    def text(self) -> str:
        return " ".join(self.texts)


def pieces_of(text: str, *, prose: bool) -> Iterator[Laid]:
    lines = text.split("\n")
    for line in _behind(_joined(_of_prose(lines) if prose else _of_code(lines))):
        bare = _ORDINAL.sub(r"\1", line.text) or line.text
        for piece in _SENTENCE.split(bare) if line.flows else (bare,):
            for cut in _cut(piece.strip()):
                yield Laid(line.depth, cut, _shown(line.texts, cut))


def _of_prose(lines: Sequence[str]) -> Iterator[_Line | None]:
    """None for an empty line."""
    for line in lines:
        bare = line.strip()
        yield _Line(_depth(line, bare), (bare,), flows=True) if bare else None


def _of_code(lines: Sequence[str]) -> Iterator[_Line | None]:
    """Lines of code, of comments, and of documentation between triple quotes."""
    block, quoted = -1, False  # how deep an open block comment stands; whether triple quotes are open
    for line in _unnumbered(lines):
        bare = line.strip()
        if not bare:
            yield None
            continue
        was_quoted, quoted = quoted, quoted ^ (bare.count('"""') % 2 == 1)
        comment = block >= 0 or bool(not was_quoted and _COMMENT.match(bare))
        depth = block if block >= 0 else _indent(line)
        text = _CLOSED.sub("", bare) if comment and bare.endswith("*/") else bare
        yield _Line(depth, (text,), comment or was_quoted or quoted, comment)
        if comment and (block >= 0 or bare.startswith("/*")):
            block = -1 if "*/" in bare else depth


def _joined(lines: Iterable[_Line | None]) -> Iterator[_Line | None]:
    """The lines of one paragraph as one."""
    last: _Line | None = None
    for line in lines:
        if last and line and last.flows and line.flows and _goes_on(last, line):
            last = last._replace(texts=(*last.texts, _said(line)))
            continue
        yield last
        last = line
    yield last


def _said(line: _Line) -> str:
    return _MARK.sub("", line.text, count=1) if line.comment else line.text


def _goes_on(last: _Line, line: _Line) -> bool:
    end = last.texts[-1]
    return (
        line.depth - last.depth in (0, 1)
        and WRAPPED <= len(end) < LONGEST_UNIT
        and len(last.texts) < MOST_JOINED
        and not _ENDS.search(end)
        and not _BEGINS.match(_said(line))
        and _tells(line)
    )


def _tells(line: _Line) -> bool:
    return not line.comment or any(map(str.isalnum, line.text))


def _behind(lines: Iterable[_Line | None]) -> Iterator[_Line]:
    """Comments come behind the line that they stand right over, under it; empty lines and comments are left out."""
    held: list[_Line] = []
    for line in lines:
        if line and line.comment and (not held or held[0].depth == line.depth):
            held.append(line)
            continue
        over = bool(line and held and line.depth == held[0].depth)
        if line and over:
            yield line
        yield from (one._replace(depth=_DEEPEST) if over else one for one in held if _tells(one))
        held = [line] if line and line.comment else []
        if line and not over and not line.comment:
            yield line
    yield from filter(_tells, held)


def _shown(lines: Sequence[str], piece: str) -> str:
    """Of a piece that runs over several lines, the longest line that is wholly its own, or else the one where it begins."""
    if len(lines) == 1:
        return ""
    begins = (line for line in lines if piece.startswith(line[-20:]) or line.find(piece[:20]) >= 0)
    return max((line for line in lines if line in piece), key=len, default="") or next(begins, lines[0])


def _unnumbered(lines: Sequence[str]) -> Iterator[str]:
    """The lines without the numbers that a tool put before them: they say where a line stands, and nothing of what it says."""
    matches = [_NUMBERED.match(line) for line in lines]
    numbers = [int(match[1]) if match else -1 for match in matches]
    for at, (line, match, number) in enumerate(zip(lines, matches, numbers, strict=True)):
        follows = number - 1 in numbers[max(0, at - 1) : at] or number + 1 in numbers[at + 1 : at + 2]
        yield line[match.end() :] if match and (match[2] == "→" or follows) else line


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
