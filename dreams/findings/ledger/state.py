"""Finds statements in a state of the directory: by words, by containment, by heading, label, row and column. PURE.

"Port: 8080" means one thing below "Staging" and another below "Production": if two such statements are swapped, both are
lost although every word is still there. A statement that only moves, with or without its heading, is not lost.
"""

import functools
import heapq
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain

from dreams.findings.base import Subject
from dreams.findings.ledger import facts, keeping
from dreams.findings.ledger.facts import withdrawn
from dreams.findings.ledger.units import STEP, Unit, cells, lines_of, units_of, words_key
from dreams.findings.ledger.wordings import SAYS_NOTHING, has_word, plain_statement, word_forms
from dreams.lib import progress
from dreams.lib.files.text import one_line
from dreams.lib.memdir.files_by_word import WORD, FilesByWord, folded, numbers_by_word, words_in, words_of_key

_LABEL = re.compile(r"[*_]{0,3}[A-Za-z][A-Za-z ]{0,40}[*_]{0,3}: ")
_DATE = re.compile(r"\b(?:19|20)\d{2}\b")
PROSE_FIELDS = frozenset({"description", "name", "summary", "title"})
CANDIDATES = 12  # statements compared closely with a removed one
ENOUGH = 60  # candidates, after which common words add no more
MANY = 40  # statements of a file, as an index has, from which they are looked up by word
SHORTEST_PART = 12  # characters by which a line is recognized in a longer one
COMMON = 400  # a word that occurs more often than this finds no candidates

_Place = tuple[str, int]  # a file, and the number of a statement in it
# Keys of the headings and labels above, outermost first, then of the statement's own label or cell.
Location = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class PlacedStatement:
    path: str
    unit: Unit


class DirectoryStatements:
    """The statements of a directory, searchable by words; only files that have those words are taken apart.

    `units`: those of one file, if not all of them count. `words`: as `words_in`, perhaps kept for another state.
    """

    def __init__(
        self,
        files: Mapping[str, bytes],
        units: Callable[[str], Sequence[Unit]] | None = None,
        words: Callable[[bytes], Mapping[str, int]] = words_in,
    ) -> None:
        self._files, self._units, self._words = files, units, words
        self._placed: dict[str, list[PlacedStatement]] = {}
        self._keyed: dict[str, Mapping[str, Sequence[PlacedStatement]]] = {}
        self._by_number: dict[str, Mapping[str, Sequence[int]]] = {}
        self._having: dict[str, list[_Place]] = {}
        self._similar: dict[str, list[_Place]] = {}

    @cached_property
    def all(self) -> list[PlacedStatement]:
        paths = sorted(self._files)
        return [placed for path in progress.each("Reading memories", paths) for placed in self._of(path)]

    def _of(self, path: str) -> list[PlacedStatement]:
        if path not in self._placed:
            found = self._units(path) if self._units else units_of(path, self._files[path])
            self._placed[path] = [PlacedStatement(path, unit) for unit in found]
        return self._placed[path]

    @cached_property
    def _by_word(self) -> FilesByWord:
        paths = progress.each("Reading memories", sorted(self._files))
        return FilesByWord({path: self._words_in(path) for path in paths})

    def _words_in(self, path: str) -> Mapping[str, int]:
        if self._units is None:
            return self._words(self._files[path])
        return Counter(word for each in self._of(path) for word in words_of_key(folded(each.unit.key)))

    def with_keys(self, keys: Iterable[str], path: str | None = None) -> Iterator[PlacedStatement]:
        """The statements with one of these keys, in one file or all."""
        for key in keys:
            paths = self._by_word.having_all(key) if path is None else {path} & self._files.keys()
            yield from (placed for each in paths for placed in self._by_key(each).get(key, ()))

    def _by_key(self, path: str) -> Mapping[str, Sequence[PlacedStatement]]:
        if path not in self._keyed:
            self._keyed[path] = keyed = defaultdict[str, list[PlacedStatement]](list)
            for placed in self._of(path):
                keyed[placed.unit.key].append(placed)
        return self._keyed[path]

    @cached_property
    def has_dates(self) -> bool:
        """Whether any statement names a day, month or year."""
        return any(_DATE.search(placed.unit.text) for placed in self.all)

    @cached_property
    def _known(self) -> frozenset[str]:
        """Every form of every word in the statements and in the headings of their files."""
        files = {placed.path for placed in self.all}
        units = [
            unit for path in files for unit in units_of(path, self._files[path]) if unit.kind == "heading"
        ]
        told = list({unit.text for unit in (*units, *(placed.unit for placed in self.all))})
        return frozenset[str]().union(*map(word_forms, progress.each("Reading memories", told)))

    def at(self, key: str) -> list[tuple[Location, PlacedStatement]]:
        return [
            (point.location, PlacedStatement(path, unit))
            for path in self._by_word.having_all(key)
            for unit, points in locations_of(path, self._files[path]).points.items()
            for point in points
            if point.key == key
        ]

    def missing_words(self, text: str) -> list[str]:
        """The words of a text that no statement has in any form. If there are any, nothing says all of the text."""
        return [
            word
            for word in plain_statement(text).weights
            if word not in SAYS_NOTHING and not has_word(self._known, word)
        ]

    def same_words(self, unit: Unit, near_path: str = "") -> PlacedStatement | None:
        """A statement with the same words (and links), in the file `near_path` if possible."""
        links, keys = facts.urls(unit.text), dict.fromkeys((unit.key, words_key(unit.text)))
        # The fields of a removed file may be in another one, as after a rename.
        is_own = unit.kind == "field" and unit.name not in PROSE_FIELDS and near_path in self._files
        found = chain(self.with_keys(keys, near_path), () if is_own else self.with_keys(keys))
        fitting = (s for s in found if links <= facts.urls(s.unit.text) and _comparable(unit, s.unit))
        return next(fitting, None)

    def line(self, text: str, path: str = "") -> PlacedStatement | None:
        """The statement that has the same words as `text`, or contains them."""
        key = words_key(text)
        exact = next(chain(self.with_keys([key], path), self.with_keys([key])), None)
        if exact:
            return exact
        if len(key) < SHORTEST_PART:
            return None
        return next((s for s in self.most_similar(text) if f" {key} " in f" {s.unit.key} "), None)

    def on_line(self, line: str, path: str, near: str) -> PlacedStatement | None:
        """Of the statements on a line of a file, given whole or in part, the one that shares most words with `near`."""
        wanted = one_line(line) or "\n"
        told = [f" {one_line(text)} " for text in lines_of(self._files.get(path))]
        part = wanted if len(wanted) >= SHORTEST_PART else f" {wanted} "
        numbers = {number for number, text in enumerate(told, start=1) if part in text}
        units = self._of(path) if numbers else ()
        here = (s for s in units if numbers.intersection(range(s.unit.first_line, s.unit.last_line + 1)))
        return max(here, key=lambda s: len(facts.shared_words(near, s.unit.text)), default=None)

    def most_similar(self, text: str) -> list[PlacedStatement]:
        """The statements that share most words with `text`, weighted by rarity, best first."""
        key = words_key(text)
        if key not in self._similar:
            self._similar[key] = self._ranked(key)
        return [self._of(path)[number] for path, number in self._similar[key]]

    def _ranked(self, key: str) -> list[_Place]:
        """Rare words find candidates; once there are enough, common words only rank them."""
        times = {word: self._by_word.often(word) for word in WORD.findall(key)}
        worth = {word: 1000 // often + 100 for word, often in times.items() if 0 < often <= COMMON}
        near: dict[_Place, None] = {}
        for word in sorted(worth, key=times.__getitem__):
            if len(near) < ENOUGH:
                near |= dict.fromkeys(self._places(word))

        def rank(place: _Place) -> tuple[int, _Place]:
            shared = worth.keys() & words_of_key(self._of(place[0])[place[1]].unit.key)
            return -sum(map(worth.__getitem__, shared)), place

        return heapq.nsmallest(CANDIDATES, near, key=rank)

    def _places(self, word: str) -> list[_Place]:
        if word not in self._having:
            self._having[word] = [
                (path, number)
                for path in self._by_word.having(word)
                for number in self._with_word(path, word)
            ]
        return self._having[word]

    def _with_word(self, path: str, word: str) -> Sequence[int]:
        placed = self._of(path)
        if len(placed) < MANY:
            return [number for number, each in enumerate(placed) if word in words_of_key(each.unit.key)]
        if path not in self._by_number:
            self._by_number[path] = numbers_by_word(tuple(each.unit.key for each in placed))
        return self._by_number[path].get(word, ())

    def container(self, text: str) -> PlacedStatement | None:
        """A statement that certainly says everything in `text`."""
        merged = self._units is not None
        if merged and "|" not in text and self.missing_words(text):
            return None  # only the cells of a row are looked for without their words
        return next((s for s in self.most_similar(text) if contains(text, s.unit.text, merged=merged)), None)


def contains(text: str, other: str, *, merged: bool) -> bool:
    """Whether `other`, or one part of it, says everything in `text`."""
    label = _LABEL.match(text)
    if label and other.startswith(label[0]):  # compare values with values
        text, other = text[label.end() :], other[label.end() :]
    whole, *parts = keeping.pieces(other)
    if keeping.says_all(text, whole, merged=merged):
        return True
    return any(keeping.says_all(text, part) for part in parts) and not withdrawn(text, whole)


def _comparable(unit: Unit, other: Unit) -> bool:
    """Whether one could keep the other. Headings and standard fields state nothing: the word "user" does not keep `type: user`."""
    if other.kind == "title":
        return unit.kind == "title"
    if unit.kind == "heading":
        return other.kind in {"heading", "sentence"}
    if unit.kind == "field" and unit.name not in PROSE_FIELDS:
        return other.name == unit.name
    return other.kind != "heading" or len(unit.key.split()) > 3


def statements_of(subject: Subject, files: Mapping[str, bytes]) -> DirectoryStatements:
    """The statements of some files of a subject, taken apart once for all checks."""
    words = subject.memo.setdefault("words", functools.cache(words_in))
    made: DirectoryStatements = subject.memo.setdefault(
        frozenset(files.items()), DirectoryStatements(files, words=words)
    )
    return made


def added(subject: Subject) -> DirectoryStatements:
    """The statements of the added lines alone."""
    lines: dict[str, set[int]] = defaultdict(set)
    for hunk in subject.hunks:
        lines[hunk.path].update(range(hunk.new_start + 1, hunk.new_start + len(hunk.added) + 1))

    def units(path: str) -> list[Unit]:
        here = lines[path].intersection
        return [u for u in units_of(path, subject.after[path]) if here(range(u.first_line, u.last_line + 1))]

    return DirectoryStatements({path: subject.after[path] for path in lines if path in subject.after}, units)


_LABELLED = re.compile(r"(?P<label>[^.;:|]{1,60}?)\s?(?::[*_]{0,3}|\s[—–]|\s-)\s+(?P<value>\S.*)$", re.DOTALL)
_BULLET = re.compile(r"\s*(?:[-*+]|\d{1,9}[.)])\s")
_NAMING = frozenset({"row", "title", "field", "heading"})  # these name their own topic


@dataclass(frozen=True, slots=True)
class Point:
    """A statement at a location. `own`: the statement names its topic itself, by a label or by its row and column."""

    location: Location
    key: str
    own: bool


class Locations:
    """The statements of one file by location: `at` lists those of a location in order, `points` the locations of a statement."""

    def __init__(self, path: str, data: bytes | None) -> None:
        self.points: dict[Unit, tuple[Point, ...]] = {}
        self.at: dict[Location, list[tuple[str, Unit]]] = defaultdict(list)
        self._places: dict[tuple[Location, str], int] = {}
        for unit, location in _located(path, data):
            self.points[unit] = tuple(_points(unit, location))
            for point in self.points[unit]:
                self._places.setdefault((point.location, point.key), len(self.at[point.location]))
                self.at[point.location].append((point.key, unit))

    @cached_property
    def names(self) -> frozenset[str]:
        """The headings, labels and bullets that have statements below them."""
        return frozenset(name for location in self.at for name in location)

    def place_of(self, point: Point) -> int:
        """Its position within its location; -1 if it is not there."""
        return self._places.get((point.location, point.key), -1)


@functools.lru_cache(maxsize=512)
def locations_of(path: str, data: bytes | None) -> Locations:
    return Locations(path, data)


@functools.lru_cache(maxsize=512)
def is_reordered(path: str, before: bytes | None, after: bytes | None, location: Location) -> bool:
    """Whether the numbered entries that a location has before and after are in another order."""
    places = (locations_of(path, data).at.get(location, ()) for data in (before, after))
    was, now = ([key for key, unit in place if unit.name == STEP] for place in places)
    both = set(was) & set(now)
    old, new = ([key for key in keys if key in both] for keys in (was, now))
    return old != new and sorted(old) == sorted(new)


@functools.lru_cache(maxsize=512)
def _newcomers(was: Locations, now: Locations, location: Location) -> Sequence[tuple[str, Unit]]:
    known = {key for key, _ in was.at.get(location, ())}
    return [each for each in now.at.get(location, ()) if each[0] not in known]


class Exchange:
    """Two states of a directory, to find statements that took each other's place."""

    def __init__(self, subject: Subject) -> None:
        self._before, self._after = subject.before, subject.after
        self._was, self._now = (
            functools.cache(statements_of(subject, files).at) for files in (subject.before, subject.after)
        )

    def replacing_unit(self, unit: Unit, path: str) -> Unit | None:
        """The statement that moved to the location of `unit`, which itself moved elsewhere; None if there is none."""
        was, now = (locations_of(path, files.get(path)) for files in (self._before, self._after))
        for point in was.points.get(unit, ()):
            if now.place_of(point) < 0:
                for key, other in _newcomers(was, now, point.location):
                    # Only these two need every file.
                    moved = self._now(point.key) and self._was(key)
                    if moved and (
                        point.own
                        or self._mutual(point, other, was, now)
                        or keeping.replaced(unit.text, other.text)
                    ):
                        return other
        return None

    def is_copy(self, unit: Unit, path: str, other: Unit, other_path: str) -> bool:
        """Whether a copy is about the same thing: below the same headings and labels, or one of the two below none."""
        mine = locations_of(path, self._before.get(path)).points.get(unit, ())[:1]
        theirs = locations_of(other_path, self._after.get(other_path)).points.get(other, ())[:1]
        locations = [point.location for point in (*mine, *theirs)]
        return len(set(locations)) < 2 or not all(map(any, locations))

    def is_refiled(self, unit: Unit, placed: PlacedStatement) -> bool:
        """Whether a statement moved from one heading or label to another in its file, and both were there before and after."""
        was, now = (
            locations_of(placed.path, files.get(placed.path)) for files in (self._before, self._after)
        )
        points = *was.points.get(unit, ())[:1], *now.points.get(placed.unit, ())[:1]
        innermost = {next(filter(None, reversed(point.location)), "") for point in points} - {""}
        return len(innermost) == 2 and innermost <= was.names & now.names

    def _mutual(self, point: Point, other: Unit, was: Locations, now: Locations) -> bool:
        """Whether the two are exactly in each other's place."""
        came = next(each for each in now.points[other] if each.location == point.location)
        locations = (
            {(at.path, location) for location, at in side}
            for side in (self._was(came.key), self._now(point.key))
        )
        return now.place_of(came) == was.place_of(point) and bool(set.intersection(*locations))


def _located(path: str, data: bytes | None) -> Iterator[tuple[Unit, Location]]:
    """Each statement with its headings, the label line above it and the bullets that it is nested in."""
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
    """Whether it only introduces the next statements: "Staging:", "**Production**"."""
    bare = unit.text.strip()
    return unit.kind == "sentence" and (bare.rstrip("*_").endswith(":") or bare[:2] == bare[-2:] == "**")


def _points(unit: Unit, location: Location) -> Iterator[Point]:
    yield Point(location, unit.key, own=False)
    found = _LABELLED.match(unit.text) if unit.kind == "sentence" else None
    if found and (value := words_key(found["value"])):
        yield Point((*location, words_key(found["label"])), value, own=True)
    name, *values = cells(unit.text) if unit.columns else ("",)
    yield from (
        Point((*location, name, column), value, own=True)
        for column, value in zip(unit.columns[1:], values, strict=False)
        if value
    )
