"""The statements of a session, indexed so that a claim looks at the few that may speak of it. Pure.

A unit is a sentence of prose or a line of code or output. Units of one part (one message, one tool call, one result) are
neighbours; a part's heading (the tool call that a result answers, the path that an edit names) counts for all its units.
"""

from __future__ import annotations

import math
from array import array
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass

from dreams.language.claims.layout import pieces_of
from dreams.language.claims.terms import terms_in

LONGEST_PART = 200_000
MOST_UNITS = 1_500_000
DEEPEST = 6  # lines that a line stands under
FOREIGN = frozenset({"tool", "web"})  # roles whose words nobody of the session stands for


@dataclass(frozen=True, slots=True)
class Unit:
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
        """Who said it: 0 for a person, 1 for the agent and its system, 2 for what a tool printed or a page says."""
        return 0 if self.role == "user" else 2 if self.role in FOREIGN else 1

    @property
    def asks(self) -> bool:
        """Whether it is a question, which says nothing."""
        return self.prose and self.text.rstrip("\"'*`) ").endswith("?")

    @property
    def quote(self) -> str:
        """The statement as it stands in the transcript."""
        return self.shown or (self.keyed and self.text.partition(": ")[2]) or self.text


class Evidence:
    """What a session says before some line. Add parts in file order, then ask."""

    def __init__(self) -> None:
        self.units: list[Unit] = []
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
        """One part; gives the places of its units, which a later part may name as its heading."""
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
            self.units.append(Unit(piece, line, role, part, prose, keyed, shown))
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

    def above(self, place: int) -> Iterator[int]:
        """The units that a unit stands under, the nearest first: its list's heading, the function that it is a line of."""
        parent = self.parents[place]
        for _ in range(DEEPEST):
            if parent < 0:
                return
            yield parent
            parent = self.parents[parent]

    def under(self, place: int, most: int, end: int) -> range:
        """The units that stand under a unit, `most` of them."""
        last = min(self.bounds(place)[1], place + 1 + most, end)
        stop = place + 1
        while stop < last and self.parents[stop] >= place:
            stop += 1
        return range(place + 1, stop)
