"""Splits a body into items that engines compare, merge and move, and an item into sentences, however its lines are wrapped. PURE.

All checks of prose use these: read line by line, half a sentence may mean something else.
"""

import functools
import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, TypeAlias

from .text import TITLE, closes_fence, fence_opened_by, split_lines, strip_end

ItemKind: TypeAlias = Literal["heading", "paragraph", "bullet", "code", "table", "comment", "rule", "blank"]

_BULLET = re.compile(
    r"(?P<indent>[ \t]*)(?P<marker>[-*+]|\d{1,9}[.)])(?P<gap>[ \t]+(?=\S)|(?=[ \t]*$))(?P<rest>.*)"
)
# Not "> “as somebody said”", "> — who said it" or "> > an answer".
_NOTE = re.compile(r" {0,3}> ?(?P<told>[^\s\"'“”„«»‘’>—–|\[-].*)")
_HEADING = re.compile(rf"[ ]{{0,3}}(?P<level>#{{1,6}})(?:[ \t]++{TITLE})?[ \t]*+#*+[ \t]*+")
_RULE = re.compile(r"[ ]{0,3}(?:(?:-[ \t]*){3,}|(?:\*[ \t]*){3,}|(?:_[ \t]*){3,})")
_TAB = 4  # columns, as CommonMark counts them
MOST_KEPT = 2_000  # bodies, which a dream parses repeatedly; chosen


@dataclass(frozen=True, slots=True)
class BodyItem:
    """Some complete lines of a body, `first_line` to `last_line` (1-based, both included).

    `depth` is how deep the item is nested in bullets: 0 for text and outermost bullets, 1 for a bullet or block
    inside one. `content` is a bullet's or heading's text without its marker, continuation lines included. `under`
    are its headings, outermost first. A note of one line after ">" that quotes nobody is a paragraph with that marker.
    """

    kind: ItemKind
    first_line: int
    last_line: int
    text: str
    depth: int
    marker: str
    content: str
    under: tuple[str, ...]

    @property
    def level(self) -> int:
        """1 to 6 for a heading, else 0."""
        return len(self.marker) if self.kind == "heading" else 0


def sections(body: str, first_line: int = 1) -> list[BodyItem]:
    """Splits a body so that every line belongs to exactly one item and the joined texts are the body.

    `first_line` is the number of the body's first line (`Document.body_start_line`).
    """
    return list(_sections(body, first_line))


@functools.lru_cache(maxsize=MOST_KEPT)
def _sections(body: str, first_line: int) -> tuple[BodyItem, ...]:
    result: list[BodyItem] = []
    headings: list[tuple[int, str]] = []
    indents: list[int] = []
    number = first_line
    for kind, lines in _blocks(split_lines(body)):
        depth = _depth(kind, lines[0], indents)
        marker, content = _parts(kind, lines)
        if kind == "heading":
            headings = [entry for entry in headings if entry[0] < len(marker)]
        under = tuple(title for _, title in headings)
        last = number + len(lines) - 1
        result.append(BodyItem(kind, number, last, "".join(lines), depth, marker, content, under))
        if kind == "heading":
            headings.append((len(marker), content))
        number += len(lines)
    return tuple(result)


def kinds(body: str) -> Iterator[ItemKind]:
    """The kinds of a body's items, in order; lazy, so the first costs little."""
    for kind, _ in _blocks(split_lines(body)):
        yield kind


def with_children(items: list[BodyItem], position: int) -> list[BodyItem]:
    """The item and the deeper items after it, including blank lines between them."""
    result = [items[position]]
    blanks: list[BodyItem] = []
    if items[position].kind != "bullet":
        return result
    for at in range(position + 1, len(items)):
        item = items[at]
        if item.kind == "blank":
            blanks.append(item)
        elif item.depth > items[position].depth:
            result += [*blanks, item]
            blanks = []
        else:
            break
    return result


def _blocks(lines: list[str]) -> Iterator[tuple[ItemKind, list[str]]]:
    position, is_unclosed = 0, False
    while position < len(lines):
        kind = _kind_of(lines[position])
        end = position + 1
        if kind != "comment":
            end = _block_end(kind, lines, position)
        elif not is_unclosed:
            closed = _comment_end(lines, position)
            is_unclosed, end = closed is None, closed or end
        yield kind, lines[position:end]
        position = end


def _kind_of(line: str) -> ItemKind:
    """The kind of a block that starts with this line."""
    text = strip_end(line)
    start = text.lstrip()
    if not start:
        return "blank"
    mark = start[0]
    if mark in "`~" and fence_opened_by(line):
        return "code"
    if mark == "#" and _HEADING.fullmatch(text):
        return "heading"
    if mark in "-*_" and _RULE.fullmatch(text):
        return "rule"
    if (mark in "-*+" or mark.isdecimal()) and _BULLET.fullmatch(text):
        return "bullet"
    if mark == "|":
        return "table"
    return "comment" if start.startswith("<!--") else "paragraph"


def _block_end(kind: ItemKind, lines: list[str], start: int) -> int:
    if kind in {"heading", "rule", "blank"}:
        return start + 1
    if kind == "code":
        fence = fence_opened_by(lines[start])
        for end in range(start + 1, len(lines)):
            if closes_fence(lines[end], fence):
                return end + 1
        return len(lines)
    end = start + 1
    goes_on = {"paragraph"} if kind == "bullet" else {kind}
    while end < len(lines) and _kind_of(lines[end]) in goes_on:
        end += 1
    return end


def _comment_end(lines: list[str], start: int) -> int | None:
    """None if it is never closed: then it is a line of text like any other, and no later one is closed either."""
    for end in range(start, len(lines)):
        opened = lines[end].find("<!--") + 4 if end == start else 0
        if "-->" in lines[end][opened:]:
            return end + 1
    return None


def _depth(kind: ItemKind, line: str, indents: list[int]) -> int:
    """How many bullets the block is in; `indents` are the columns of the open bullets' markers."""
    if kind == "blank":
        return 0
    text = line.expandtabs(_TAB)
    column = len(text) - len(text.lstrip(" "))
    while indents and column < indents[-1] + 2:
        indents.pop()
    depth = len(indents)
    if kind == "bullet":
        indents.append(column)
    return depth


def _parts(kind: ItemKind, lines: list[str]) -> tuple[str, str]:
    """Marker and content of a block."""
    first = strip_end(lines[0])
    if kind == "heading":
        match = _HEADING.fullmatch(first)
        return (match["level"], match["title"] or "") if match else ("", first)
    if kind == "bullet":
        match = _BULLET.fullmatch(first)
        rest = [strip_end(line).strip() for line in lines[1:]]
        return (match["marker"], "\n".join([match["rest"].rstrip(), *rest])) if match else ("", first)
    note = _NOTE.fullmatch(first) if kind == "paragraph" and len(lines) == 1 else None
    if note:
        return ">", note["told"].rstrip()
    return "", "" if kind == "blank" else "".join(lines).strip("\r\n")


_LEAD = re.compile(r"^\s*(?:(?:[-*+>]|\d{1,9}[.)])\s+)*")
_QUOTE = re.compile(r"^\s*(?:>\s?)*\s*")
_INDENT = re.compile(r"^\s*")
_END = re.compile(
    r"(?<=[.!?。！？])(?:[\"')\]*_”’]{0,3})\s+(?=[\"'(\[*_`“]{0,3}[^\W\d_a-z])|(?<=[。！？])(?=\S)"
)
_ABBREVIATED = re.compile(r"\b(?:e\.g|i\.e|etc|vs|cf|approx|incl|no|fig|dr|mr|mrs|ms|st)\.$", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence joined into one line. Its line numbers are 1-based."""

    text: str
    first_line: int
    last_line: int
    start: int
    # For each line of the item: its start in the joined text, and the first column used from the line.
    starts: tuple[int, ...]
    columns: tuple[int, ...]

    def place(self, at: int) -> tuple[int, int]:
        """The line and column of a character of `text`."""
        at += self.start
        number = _line_at(self.starts, at)
        first = self.first_line - _line_at(self.starts, self.start)
        return first + number, self.columns[number] + at - self.starts[number]


def sentences(item: BodyItem) -> Iterator[Sentence]:
    """The sentences in order, without the markers of lists and quotations."""
    joined, starts, columns = "", list[int](), list[int]()
    later = _QUOTE if item.text.lstrip().startswith(">") else _INDENT
    for line in split_lines(item.text):
        lead = (later if starts else _LEAD).match(line)
        columns.append(lead.end() if lead else 0)
        joined += " " if joined else ""
        starts.append(len(joined))
        joined += line[columns[-1] :].rstrip()
    for start, end in sentence_spans(joined):
        first, last = (item.first_line + _line_at(starts, at) for at in (start, end - 1))
        yield Sentence(joined[start:end], first, last, start, tuple(starts), tuple(columns))


def _line_at(starts: list[int] | tuple[int, ...], position: int) -> int:
    return max(bisect_right(starts, position) - 1, 0)


def sentence_spans(joined: str) -> Iterator[tuple[int, int]]:
    """The start and end of each sentence in a one-line text."""
    at, seen, has_letters = 0, 0, False
    for match in _END.finditer(joined):
        end = match.start()
        has_letters = has_letters or any(map(str.isalpha, joined[seen:end]))
        seen = end
        # "**2. Check the lists.**" has no sentence before the number's full stop.
        if not has_letters or _ABBREVIATED.search(joined[max(at, end - 8) : end]):
            continue
        yield at, end
        at, seen, has_letters = match.end(), match.end(), False
    if at < len(joined):
        yield at, len(joined)
