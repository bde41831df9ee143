"""The statements of a session, indexed so that a claim looks at the few that may speak of it. Pure.

A unit is a sentence of prose or a line of code or output. Units of one part (one message, one tool call, one result) are
neighbours; a part's heading (the tool call that a result answers, the path that an edit names) counts for all its units.
"""

from __future__ import annotations

import math
import re
from array import array
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice

from dreams.language.claims.terms import TOKEN, terms_of

LONGEST_UNIT = 600  # code points; a longer line (minified code, a table row) is cut into several units
LONGEST_PART = 200_000
MOST_UNITS = 1_500_000
_SENTENCE = re.compile(r"(?<=[.!?])\s+(?=[A-Z`\"'*(\[])|\n")
_LINE = re.compile(r"\n")


@dataclass(frozen=True, slots=True)
class Unit:
    """One statement; `line` is the transcript's, 1-based; `part` tells which units are neighbours."""

    text: str
    line: int
    role: str
    part: int
    prose: bool
    keyed: bool = False  # the name of a tool call's parameter stands before it

    @property
    def quote(self) -> str:
        """The statement as it stands in the transcript."""
        return self.text.partition(": ")[2] or self.text if self.keyed else self.text


class Evidence:
    """What a session says before some line. Add parts in file order, then ask."""

    def __init__(self) -> None:
        self.units: list[Unit] = []
        self.postings: dict[str, array[int]] = defaultdict(lambda: array("I"))
        self.starts: list[int] = []  # for each part, its first unit
        self.headings: list[range] = []  # for each part, the units of its heading
        self.headed: dict[int, list[int]] = {}  # for each heading (its first unit), the parts below it
        self._versions: tuple[int, dict[str, list[str]]] | None = None
        self._named: dict[str, tuple[int, int]] = {}  # prefix → (units when counted, names)
        self.names: list[tuple[str, ...]] = []  # for each unit, the identifiers and numbers in it

    def add(
        self, text: str, line: int, role: str, *, prose: bool, heading: range = range(0), keyed: bool = False
    ) -> range:
        """One part; gives the places of its units, which a later part may name as its heading."""
        first, part = len(self.units), len(self.starts)
        self.starts.append(first)
        self.headings.append(heading)
        if heading:
            self.headed.setdefault(heading.start, []).append(part)
        for piece in _units(text[:LONGEST_PART], prose=prose):
            if len(self.units) >= MOST_UNITS:
                break
            self._index(piece)
            self.units.append(Unit(piece, line, role, part, prose, keyed))
        return range(first, len(self.units))

    def _index(self, text: str) -> None:
        place, seen = len(self.units), set[str]()
        for token in TOKEN.findall(text):
            seen.update(terms_of(token))
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
        """How many units stand before a line of the transcript: the bound of every question."""
        if line is None:
            return len(self.units)
        low, high = 0, len(self.units)
        while low < high:
            middle = (low + high) // 2
            low, high = (middle + 1, high) if self.units[middle].line < line else (low, middle)
        return low

    def places(self, term: str, end: int) -> Iterator[int]:
        """The units before `end` that hold a term, in order."""
        for place in self.postings.get(term, ()):
            if place >= end:
                return
            yield place

    def rarity(self, term: str) -> float:
        """How much a term tells: 0 for one that stands in every unit."""
        found = len(self.postings.get(term, ()))
        return math.log1p(len(self.units) / (found + 1))

    def below(self, place: int) -> list[range]:
        """The units of the parts whose heading a unit belongs to: what a named file holds, what a command printed."""
        first = self.starts[self.units[place].part]
        return [range(*self._span(part)) for part in self.headed.get(first, ())]

    def _span(self, part: int) -> tuple[int, int]:
        last = self.starts[part + 1] if part + 1 < len(self.starts) else len(self.units)
        return self.starts[part], last

    def bounds(self, place: int) -> tuple[int, int]:
        """First unit and end of the part that a unit stands in."""
        part = self.units[place].part
        last = self.starts[part + 1] if part + 1 < len(self.starts) else len(self.units)
        return self.starts[part], last


def _units(text: str, *, prose: bool) -> Iterator[str]:
    for piece in (_SENTENCE if prose else _LINE).split(text):
        bare = piece.strip()
        if bare:
            yield from _cut(bare)


def _cut(text: str) -> Iterable[str]:
    if len(text) <= LONGEST_UNIT:
        return (text,)
    return islice((text[at : at + LONGEST_UNIT] for at in range(0, len(text), LONGEST_UNIT)), 400)
