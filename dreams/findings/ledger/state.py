"""Where a statement is in a state of the directory: by its words, by what contains it, by its headings, label, row and column. PURE.

"Port: 8080" is one fact below "Staging" and another below "Production": when two such statements change places both are
lost, though every word of them stands. What only moves, with its heading or to another one, has lost nothing.
"""

import functools
import heapq
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

from dreams.findings.base import Subject
from dreams.findings.ledger import facts, keeping
from dreams.findings.ledger.facts import taken_back
from dreams.findings.ledger.units import Unit, cells, keyed, lines_of, units_of
from dreams.findings.ledger.wordings import SAYS_NOTHING, has, known, made
from dreams.lib.prose import lexicon

_WORD = re.compile(r"\w+")
_LABEL = re.compile(r"[*_]{0,3}[A-Za-z][A-Za-z ]{0,40}[*_]{0,3}: ")
_DATE = re.compile(r"\b(?:19|20)\d{2}\b")
PROSE_FIELDS = frozenset({"description", "name", "summary", "title"})
CANDIDATES = 12  # statements looked at closely for one that left
ENOUGH = 60  # candidates, from which on common words find no more
MOST_KEPT = 20_000  # answers remembered
COMMON = 400  # a word that more statements have finds no candidates


@dataclass(frozen=True, slots=True)
class PlacedStatement:
    """A statement at its place."""

    path: str
    unit: Unit


class DirectoryStatements:
    """All statements of a directory, found by their words; `only` leaves those that touch some lines (0-based).

    Built when first asked: most changes lose nothing that has to be looked for.
    """

    def __init__(self, files: Mapping[str, bytes], only: Mapping[str, set[int]] | None = None) -> None:
        self._files = files
        self._only = only
        self._likest: dict[str, list[int]] = {}

    @cached_property
    def all(self) -> list[PlacedStatement]:
        paths = sorted(self._files if self._only is None else self._files.keys() & self._only.keys())
        return [
            PlacedStatement(path, unit)
            for path in paths
            for unit in units_of(path, self._files[path])
            if self._only is None or self._only[path].intersection(range(unit.first_line - 1, unit.last_line))
        ]

    @cached_property
    def _by_key(self) -> dict[str, list[PlacedStatement]]:
        found: dict[str, list[PlacedStatement]] = defaultdict(list)
        for standing in self.all:
            found[standing.unit.key].append(standing)
        return found

    @cached_property
    def _by_word(self) -> dict[str, set[int]]:
        found: dict[str, set[int]] = defaultdict(set)
        for place, standing in enumerate(self.all):
            for word in _words(standing.unit.key):
                found[word].add(place)
        return found

    @cached_property
    def has_dates(self) -> bool:
        """Whether any statement names a day, month or year."""
        return any(_DATE.search(standing.unit.text) for standing in self.all)

    @cached_property
    def _known(self) -> frozenset[str]:
        """Every form of every word of the statements, and of the headings of their files, which may stand above them."""
        files = {standing.path for standing in self.all}
        units = [
            unit for path in files for unit in units_of(path, self._files[path]) if unit.kind == "heading"
        ]
        told = {unit.text for unit in (*units, *(standing.unit for standing in self.all))}
        return frozenset[str]().union(*map(known, told))

    def lacks(self, text: str) -> list[str]:
        """The words of a text that no statement has in any form: what says the text, in parts or in other words, has them."""
        return [
            word for word in made(text).weights if word not in SAYS_NOTHING and not has(self._known, word)
        ]

    def same_words(self, unit: Unit, near_path: str = "") -> PlacedStatement | None:
        """A statement with the same words (and links), the file `near_path` first."""
        links = facts.urls(unit.text)
        found = [
            s
            for s in [*self._by_key.get(unit.key, ()), *self._by_key.get(keyed(unit.text), ())]
            if links <= facts.urls(s.unit.text) and self._comparable(unit, s, near_path)
        ]
        return next((s for s in found if s.path == near_path), None) or next(iter(found), None)

    def _comparable(self, unit: Unit, other: PlacedStatement, path: str) -> bool:
        """A heading or a bookkeeping field is no claim: the word "user" elsewhere does not keep `type: user`.

        The fields of a file that left may stand in another one: it got another name.
        """
        if other.unit.kind == "title":
            return unit.kind == "title"
        if unit.kind == "heading":
            return other.unit.kind in {"heading", "sentence"}
        if unit.kind == "field" and unit.name not in PROSE_FIELDS:
            return other.unit.name == unit.name and (other.path == path or path not in self._files)
        return other.unit.kind != "heading" or len(unit.key.split()) > 3

    def line(self, text: str, path: str = "") -> PlacedStatement | None:
        """The statement that has the words of `text`, or that has them within."""
        key = keyed(text)
        exact = self._by_key.get(key, [])
        if exact:
            return next((s for s in exact if s.path == path), exact[0])
        if len(key) < 12:
            return None
        return next((s for s in self.likest(text) if f" {key} " in f" {s.unit.key} "), None)

    def likest(self, text: str) -> list[PlacedStatement]:
        """The statements that share most words with `text`, rare ones counted more; likest first."""
        key = keyed(text)
        if key not in self._likest:
            if len(self._likest) > MOST_KEPT:
                self._likest.clear()
            self._likest[key] = self._ranked(key)
        return [self.all[place] for place in self._likest[key]]

    def _ranked(self, key: str) -> list[int]:
        """Rare words find candidates; once there are enough, common words only tell those apart."""
        found = [places for word in dict.fromkeys(_WORD.findall(key)) if (places := self._by_word.get(word))]
        scores: dict[int, int] = {}
        for places in sorted(found, key=len):
            if len(places) > COMMON:
                break
            worth = 1000 // len(places) + 100
            if len(scores) < ENOUGH:
                scores = dict.fromkeys(places, 0) | scores
            for place in scores.keys() & places:
                scores[place] += worth
        best = heapq.nsmallest(CANDIDATES, [(-score, place) for place, score in scores.items()])
        return [place for _, place in best]

    def holder(self, text: str) -> PlacedStatement | None:
        """A statement that surely says all that `text` says."""
        merged = self._only is not None
        words = set(_WORD.findall(keyed(text))) - lexicon.FILLER
        found = (
            s
            for s in self.likest(text)
            if _may_hold(words, s.unit.key) and holds(text, s.unit.text, merged=merged)
        )
        return next(found, None)


def holds(text: str, other: str, *, merged: bool) -> bool:
    """A part of a longer statement may say it all while the rest says something else."""
    label = _LABEL.match(text)
    if label and other.startswith(label[0]):  # a part of the one is never held against the whole of the other
        text, other = text[label.end() :], other[label.end() :]
    whole, *parts = keeping.pieces(other)
    if keeping.absorbed(text, whole, merged=merged):
        return True
    return any(keeping.absorbed(text, part) for part in parts) and not taken_back(text, whole)


def _may_hold(words: set[str], key: str) -> bool:
    """A cheap look before a close one: synonyms and endings aside, two fifths of the words must be there as they are."""
    return 5 * len(words & _words(key)) >= 2 * len(words)


@functools.lru_cache(maxsize=50_000)
def _words(key: str) -> frozenset[str]:
    return frozenset(_WORD.findall(key))


def added(subject: Subject) -> DirectoryStatements:
    """The statements of the added lines alone."""
    lines: dict[str, set[int]] = defaultdict(set)
    for hunk in subject.hunks:
        lines[hunk.path].update(range(hunk.new_start, hunk.new_start + len(hunk.added)))
    return DirectoryStatements(subject.after, lines)


# The keys of the headings and labels above, the outermost first; then of a label or cell of its own.
Location = tuple[str, ...]
_Said = dict[str, list[tuple[Location, PlacedStatement]]]  # where each thing is said, by its key
_LABELLED = re.compile(r"(?P<label>[^.;:|]{1,60}?)\s?(?::[*_]{0,3}|\s[—–]|\s-)\s+(?P<value>\S.*)$", re.DOTALL)
_BULLET = re.compile(r"\s*(?:[-*+]|\d{1,9}[.)])\s")
_NAMING = frozenset({"row", "title", "field", "heading"})  # these say themselves of what they speak


@dataclass(frozen=True, slots=True)
class Point:
    """Something said at a location. `own` where the statement itself says what it speaks of: a label, a row and its column."""

    location: Location
    key: str
    own: bool


class Locations:
    """The statements of one file by where they are said: `at` has those of a location in order, `points` those of a statement."""

    def __init__(self, path: str, data: bytes | None) -> None:
        self.points: dict[Unit, tuple[Point, ...]] = {}
        self.at: dict[Location, list[tuple[str, Unit]]] = defaultdict(list)
        for unit, location in _located(path, data):
            self.points[unit] = tuple(_points(unit, location))
            for point in self.points[unit]:
                self.at[point.location].append((point.key, unit))

    @cached_property
    def names(self) -> frozenset[str]:
        """The headings, labels and bullets that anything is said below."""
        return frozenset(name for location in self.at for name in location)

    def place_of(self, point: Point) -> int:
        """Which one of its location it is; -1 for none."""
        return next(
            (at for at, (key, _) in enumerate(self.at.get(point.location, ())) if key == point.key), -1
        )


@functools.lru_cache(maxsize=512)
def locations_of(path: str, data: bytes | None) -> Locations:
    return Locations(path, data)


class Exchange:
    """Two states of a directory, asked which statements took each other's locations."""

    def __init__(self, before: Mapping[str, bytes], after: Mapping[str, bytes]) -> None:
        self._before, self._after = before, after

    @cached_property
    def _was(self) -> _Said:
        return _said_at(self._before)

    @cached_property
    def _now(self) -> _Said:
        return _said_at(self._after)

    def relabelled(self, unit: Unit, path: str) -> PlacedStatement | None:
        """The statement that says as "label: value" what `unit` says below a heading of that name, or the other way round."""
        points = locations_of(path, self._before.get(path)).points.get(unit, ())
        for point in points if not unit.columns else ():
            for location, standing in self._now.get(point.key, ()):
                if _name(location) == _name(point.location) != "":
                    return standing
        return None

    def taker(self, unit: Unit, path: str) -> Unit | None:
        """The statement that came from another location to that of `unit`, which left it for another one; None if none did."""
        was, now = (locations_of(path, files.get(path)) for files in (self._before, self._after))
        for point in was.points.get(unit, ()):
            if point.key in self._now and now.place_of(point) < 0:
                for other in self._newcomers(point, was, now):
                    if (
                        point.own
                        or self._mutual(point, other, was, now)
                        or keeping.replaced(unit.text, other.text)
                    ):
                        return other
        return None

    def is_copy(self, unit: Unit, path: str, other: Unit, other_path: str) -> bool:
        """Whether a statement that stays elsewhere is said of the same thing: below the same headings, or below none."""
        mine = locations_of(path, self._before.get(path)).points.get(unit, ())[:1]
        theirs = locations_of(other_path, self._after.get(other_path)).points.get(other, ())[:1]
        locations = [point.location for point in (*mine, *theirs)]
        return len(set(locations)) < 2 or not all(map(any, locations))

    def is_refiled(self, unit: Unit, standing: PlacedStatement) -> bool:
        """Whether a statement went from below one heading or label to below another one of its file, where both were and are."""
        was, now = (
            locations_of(standing.path, files.get(standing.path)) for files in (self._before, self._after)
        )
        names = [
            {_name(point.location) for point in points[:1]} - {""}
            for points in (was.points.get(unit, ()), now.points.get(standing.unit, ()))
        ]
        return names[0] != names[1] and all(
            len(each) == 1 and each <= was.names & now.names for each in names
        )

    def _newcomers(self, point: Point, was: Locations, now: Locations) -> Iterator[Unit]:
        known = {key for key, _ in was.at[point.location]}
        yield from (
            unit for key, unit in now.at.get(point.location, ()) if key not in known and key in self._was
        )

    def _mutual(self, point: Point, other: Unit, was: Locations, now: Locations) -> bool:
        """Whether the two sit in each other's very places."""
        came = next(each for each in now.points[other] if each.location == point.location)
        locations = (
            {(at.path, location) for location, at in side}
            for side in (self._was[came.key], self._now[point.key])
        )
        return now.place_of(came) == was.place_of(point) and bool(set.intersection(*locations))


def _located(path: str, data: bytes | None) -> Iterator[tuple[Unit, Location]]:
    """Each statement with the headings above it, a line that only names what comes, and the bullets that it is nested in."""
    lines = lines_of(data)
    headings, label, bullets = list[tuple[int, str]](), "", list[tuple[int, str]]()
    for unit in units_of(path, data):
        line = lines[unit.first_line - 1] if unit.first_line <= len(lines) else ""
        indent = len(line) - len(line.lstrip())
        if unit.kind == "heading":
            headings = [*(each for each in headings if each[0] < unit.level), (unit.level, unit.key)]
            label, bullets = "", []
        elif unit.kind not in _NAMING:
            bullets = [each for each in bullets if each[0] < indent]
            names_next = not _BULLET.match(line) and _is_label(unit)
            label = unit.key if names_next else label
            yield unit, (*(key for _, key in headings), label, *(key for _, key in bullets))
            bullets += [(indent, unit.key)] if _BULLET.match(line) else []


def _is_label(unit: Unit) -> bool:
    """Whether it only says of what the next ones speak: "Staging:", "**Production**"."""
    bare = unit.text.strip()
    return unit.kind == "sentence" and (bare.rstrip("*_").endswith(":") or bare[:2] == bare[-2:] == "**")


def _points(unit: Unit, location: Location) -> Iterator[Point]:
    yield Point(location, unit.key, own=False)
    found = _LABELLED.match(unit.text) if unit.kind == "sentence" else None
    if found and (value := keyed(found["value"])):
        yield Point((*location, keyed(found["label"])), value, own=True)
    name, *values = cells(unit.text) if unit.columns else ("",)
    yield from (
        Point((*location, name, column), value, own=True)
        for column, value in zip(unit.columns[1:], values, strict=False)
        if value
    )


def _name(location: Location) -> str:
    """The innermost of what it is called by."""
    return next((key for key in reversed(location) if key), "")


def _said_at(files: Mapping[str, bytes]) -> _Said:
    found: _Said = defaultdict(list)
    for path, data in files.items():
        for unit, points in locations_of(path, data).points.items():
            for point in points:
                found[point.key].append((point.location, PlacedStatement(path, unit)))
    return found
