"""Indexes the statements of a session, so that a claim is compared only with those that may be about it. Pure.

A unit is a sentence of prose, also a wrapped one, or a line of code or output. A comment belongs to the line below it. Units
of one part (a message, a tool call, a result) are neighbours; a part's heading (the tool call of a result, the path of an
edit) counts for all its units.
"""

import math
import re
from array import array
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import NamedTuple

from dreams.lib.prose.claims.anchors import terms_in

LONGEST_UNIT = 600  # code points; a longer line (minified code, a table row) is cut into several units
MOST_CUTS = 400  # of one long line; chosen
MOST_JOINED = 12  # lines of one paragraph
TAB = 4  # columns, as CommonMark counts them
WRAPPED = 40  # least code points of a line that may continue in the next one
_DEEPEST = 10_000  # of a comment: nothing stands under it
_SENTENCE = re.compile(  # "e.g. `x`" and "2d. `x`" do not end a sentence
    r"(?<=[.!?])(?<![\s(.][A-Za-z]\.)(?<![\s(]\d[A-Za-z]\.)\s+(?=[A-Z`\"'*(\[])"
)
_NUMBERED = re.compile(r"\s*(\d{1,7})(→|\t|:(?=\s))")  # a tool's own line numbers
_ORDINAL = re.compile(r"\A([#>*_\s-]*)\d{1,3}[a-z]?[.)]\s+")  # an item's place in its list
_HEADING = re.compile(r"(#{1,6})\s")
_ITEM = re.compile(r"\s*(?:[-*+•]|\d{1,3}[.)])\s")
_TITLE = re.compile(r"\*\*[^*]+\*\*:?$|.{0,80}:$")
# A comment mark with a space; "//nolint" is a tool directive.
_COMMENT = re.compile(r"(?://[/!]?|#+|--|;;+|<!--)\s|/\*")
_MARK = re.compile(r"(?://[/!]?|#+|--|;;+|<!--|/?\*+!?)\s+")
_CLOSED = re.compile(r"\s*\*+/$")
# Items, tags, headings and rows do not continue a sentence.
_BEGINS = re.compile(r"[-*+•@#|>:=]|\d{1,3}[.)]\s|```")
_ENDS = re.compile(r"[.:;!?{}|]$")


class Laid(NamedTuple):
    """A sentence of prose or a line of code, below the last one that is less deep."""

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
    block, quoted = -1, False  # depth of an open block comment; whether triple quotes are open
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
    """The lines of a paragraph as one."""
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
    """Moves comments below the line that follows them; empty lines and empty comments are left out."""
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
    """The line to show for a sentence of several lines: the longest one that belongs only to it, else its first."""
    if len(lines) == 1:
        return ""
    begins = (line for line in lines if piece.startswith(line[-20:]) or line.find(piece[:20]) >= 0)
    return max((line for line in lines if line in piece), key=len, default="") or next(begins, lines[0])


def _unnumbered(lines: Sequence[str]) -> Iterator[str]:
    """The lines without line numbers that a tool added."""
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


LONGEST_PART = 200_000  # characters of one turn; chosen
MOST_UNITS = 1_500_000  # to bound memory; chosen
DEEPEST = 6  # parent lines of a line
FOREIGN = frozenset({"tool", "web"})  # roles whose words are nobody's of the session


@dataclass(frozen=True, slots=True)
class SessionStatement:
    """One statement; `line` is the transcript's, 1-based; `role` is user, assistant, system, tool or web."""

    text: str
    line: int
    role: str
    part: int  # units of one part are neighbours
    prose: bool
    keyed: bool = False  # the name of a tool call's parameter stands before it
    shown: str = ""  # a line of it, where it runs over several

    @property
    def standing(self) -> int:
        """Its source: 0 a person, 1 the agent or system, 2 a tool or web page."""
        return 0 if self.role == "user" else 2 if self.role in FOREIGN else 1

    @property
    def asks(self) -> bool:
        """Whether it is a question, which states nothing."""
        return self.prose and self.text.rstrip("\"'*`) ").endswith("?")

    @property
    def quote(self) -> str:
        """The statement as written in the transcript."""
        return self.shown or (self.keyed and self.text.partition(": ")[2]) or self.text


class SessionText:
    """The text of a session, searchable up to any line. Add all parts in file order first."""

    def __init__(self) -> None:
        self.units: list[SessionStatement] = []
        self.postings: dict[str, array[int]] = defaultdict(lambda: array("I"))
        self.starts: list[int] = []  # for each part, its first unit
        self.parents = array("i")  # for each unit, the one that it stands under, or -1
        self.headings: list[range] = []  # for each part, the units of its heading
        self.headed: dict[int, list[int]] = {}  # for each heading (its first unit), the parts below it
        self._versions: tuple[int, dict[str, list[str]]] | None = None
        self._named: dict[str, tuple[int, int]] = {}  # prefix → (units when counted, names)
        self.names: list[tuple[str, ...]] = []  # for each unit, the identifiers and numbers in it

    def add(
        self, text: str, line: int, role: str, *, prose: bool, heading: range = range(0), keyed: bool = False
    ) -> range:
        """Add one part; returns the indexes of its units, which a later part may use as its heading."""
        first, part = len(self.units), len(self.starts)
        self.starts.append(first)
        self.headings.append(heading)
        if heading:
            self.headed.setdefault(heading.start, []).append(part)
        above: list[tuple[int, int]] = []  # the lines that the next one may stand under: depth, unit
        for depth, piece, shown in pieces_of(text[:LONGEST_PART], prose=prose):
            if len(self.units) >= MOST_UNITS:
                break
            while above and above[-1][0] >= depth:
                above.pop()
            self.parents.append(above[-1][1] if above else -1)
            above.append((depth, len(self.units)))
            self._index(piece)
            self.units.append(SessionStatement(piece, line, role, part, prose, keyed, shown))
        return range(first, len(self.units))

    def _index(self, text: str) -> None:
        place, seen = len(self.units), terms_in(text)
        for term in seen:
            self.postings[term].append(place)
        self.names.append(tuple(term for term in seen if term[:2] in ("i:", "n:")))

    def named(self, prefix: str) -> int:
        """How many different identifiers ("i") or numbers ("n") the session has."""
        known = self._named.get(prefix)
        if known is None or known[0] != len(self.units):
            known = len(self.units), sum(term[0] == prefix for term in self.postings)
            self._named[prefix] = known
        return known[1]

    def versions_of(self, value: str) -> list[str]:
        """The versions (three numbers or more) that begin with a number: "n:19.1.0" for "n:19" and "n:19.1"."""
        if self._versions is None or self._versions[0] != len(self.units):
            found: dict[str, list[str]] = defaultdict(list)
            for term in self.postings:
                if term[:2] == "n:" and term.count(".") >= 2:
                    major, minor, _ = term.split(".", 2)
                    found[major].append(term)
                    found[f"{major}.{minor}"].append(term)
            self._versions = len(self.units), found
        return self._versions[1].get(value, [])

    def before(self, line: int | None) -> int:
        """The number of units before a line of the transcript, the `end` of other methods."""
        if line is None:
            return len(self.units)
        low, high = 0, len(self.units)
        while low < high:
            middle = (low + high) // 2
            low, high = (middle + 1, high) if self.units[middle].line < line else (low, middle)
        return low

    def places(self, term: str, end: int) -> Iterator[int]:
        """The units before `end` with a term, in order."""
        for place in self.postings.get(term, ()):
            if place >= end:
                return
            yield place

    def rarity(self, term: str) -> float:
        """How rare a term is: lowest if every unit has it."""
        found = len(self.postings.get(term, ()))
        return math.log1p(len(self.units) / (found + 1))

    def below(self, place: int) -> list[range]:
        """The units of the parts below a heading unit: the contents of a file, the output of a command."""
        first = self.starts[self.units[place].part]
        return [range(*self._span(part)) for part in self.headed.get(first, ())]

    def _span(self, part: int) -> tuple[int, int]:
        last = self.starts[part + 1] if part + 1 < len(self.starts) else len(self.units)
        return self.starts[part], last

    def bounds(self, place: int) -> tuple[int, int]:
        """First unit and end of a unit's part."""
        return self._span(self.units[place].part)

    def above(self, place: int) -> Iterator[int]:
        """The parents of a unit, nearest first: the heading of its list, the function of its line."""
        parent = self.parents[place]
        for _ in range(DEEPEST):
            if parent < 0:
                return
            yield parent
            parent = self.parents[parent]

    def under(self, place: int, most: int, end: int) -> range:
        """The units below a unit, at most `most`."""
        last = min(self.bounds(place)[1], place + 1 + most, end)
        stop = place + 1
        while stop < last and self.parents[stop] >= place:
            stop += 1
        return range(place + 1, stop)
