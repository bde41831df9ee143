"""Finds pairs of statements that may state one fact, or give one thing two values, and groups them. Pure."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from operator import itemgetter
from pathlib import PurePosixPath
from typing import Literal, NamedTuple

import re2

from dreams.lib.prose import lexicon
from dreams.lib.prose.comparing import Compared
from dreams.lib.prose.values import Reading, encodable, read

Source = Literal["body", "description", "row"]
Two = tuple[int, int]  # the numbers of two statements, the smaller one first

MOST_GROUP = 5  # places of one fact
COPY = 0.85  # in one list, what scores less is another member of it
NEAR_COPY = 0.85  # of the words beside two values
TWO_THINGS = "their files are about two things"
FORM = 3  # lines that two files have alike, where their names are of two things
_DAY = re2.compile(
    r"(?i)(?:^|\D)(?:19|20)\d\d(?:[-_]\d{2}|[01]\d[0-3]\d)(?:\D|$)|(?:^|[^a-z])(?:logs?|sessions?|journal|history|changelog|archives?|retros?)(?:[^a-z]|$)"
    r"|(?:^|[^a-z])(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]{0,6}(?:[-_]\d{1,2}(?:\D|$)|\.? \d{1,2}\D?\d{0,2},? (?:19|20)\d\d)"
)
_TASK = re2.compile(r"[A-Z]{2,}-\d{2,}")  # "reflection-BQ-004.md": one of a series about a task
# "- `src/app.py` — the app", "- **`--flag`**: what it does", "- [[memory]] — …"; a step of a how-to; what is below an item.
_ENTRY = re2.compile(
    r"\s*[-*+] +(?:\*\*)?(?:`[^`\n]+`|\[\[[^\]\n]+\]\])(?:\*\*)?(?: \([^)\n]{1,40}\))?\s*(?:—|–|:|->|→| - )|\s*\d+[.)] |\s+[-*+] "
)
# "OS: Ubuntu", "**OS**: Ubuntu": of the things of one sort each has one.
_FIELD = re2.compile(r"(?:\*\*)?(\pL[^*\n:.!?]{1,39}?)(?::\*\*|\*\*:?|:) ")
_ENVIRONMENT = re.compile("|".join(map(re.escape, lexicon.ENVIRONMENTS)))
_EVENT = re2.compile(r".{0,20}(?:19|20)\d\d-\d\d-\d\d\b")  # a day near its start
# Said in a file's name of every file of its sort.
_SORTS = frozenset("project user feedback reference note notes memory md".split())  # noqa: SIM905 - a word list


class Statement(NamedTuple):
    """One bullet, or one paragraph of a body; or the description of a file, or the hook of an index row.

    `first_line` and `last_line` are 1-based and inclusive. `raw` is the item as the file has it. `headings` are those above
    it, outermost first; `lead` the line that leads its list. `target` is the file that a description or a row sums up.
    """

    path: str
    source: Source
    first_line: int
    last_line: int
    text: str
    raw: str
    headings: tuple[str, ...] = ()
    target: str = ""
    lead: str = ""

    @property
    def reading(self) -> Reading:
        return read(self.text)

    @property
    def label(self) -> str:
        """The heading right above it."""
        return self.headings[-1] if self.headings else ""


@dataclass(frozen=True, slots=True)
class Pair:
    """Two statements, the first as it stands earlier (by path, then line), and how they compare."""

    one: Statement
    other: Statement
    found: Compared


@dataclass(frozen=True, slots=True)
class _Circle:
    """Statements that hang together by pairs, and the groups that they make."""

    members: frozenset[int]
    groups: Sequence[list[Pair]]


class ToldPairs:
    """Pairs that were compared, of which those count that tell something; and the groups that they make.

    A pair that tells nothing is kept as None: it was compared.
    """

    def __init__(self) -> None:
        self._compared: dict[Two, Pair | None] = {}
        self._between: defaultdict[tuple[str, str], dict[Two, Pair]] = defaultdict(dict)
        self._changed: set[tuple[str, str]] = set()
        self._pairs: dict[Two, Pair] = {}  # without those of forms
        self._of: defaultdict[int, set[Two]] = defaultdict(set)
        self._told_between: dict[tuple[str, str], list[Two]] = {}
        self._circles: dict[int, _Circle] = {}
        self._groups: list[tuple[tuple[float, str, int, str, int], list[Pair]]] = []  # the likeliest first

    def __contains__(self, two: Two) -> bool:
        return two in self._compared

    def add(self, two: Two, pair: Pair) -> None:
        counts = pair.found.relation != "none" or pair.found.rule == TWO_THINGS
        self._compared[two] = pair if counts else None
        if counts:
            self._between[_files(pair)][two] = pair
            self._changed.add(_files(pair))

    def remove(self, pairs: Iterable[Two]) -> None:
        for two in pairs:
            pair = self._compared.pop(two, None)
            if pair is not None:
                del self._between[_files(pair)][two]
                self._changed.add(_files(pair))

    def pairs(self, relation: str = "") -> list[Pair]:
        self._settle()
        found = self._pairs.values()
        return sorted((each for each in found if relation in ("", each.found.relation)), key=_order)

    def groups(self) -> list[list[Pair]]:
        self._settle()
        return [group for _, group in self._groups]

    def _settle(self) -> None:
        """Take in what was added and removed: forms are told by all pairs of two files, groups by all that hang together."""
        touched: set[int] = set()
        for files in self._changed:
            told = _without_forms(self._between[files])
            for two in self._told_between.get(files, ()):
                touched.update(two)
                del self._pairs[two]
                for number in two:
                    self._of[number].discard(two)
                    if not self._of[number]:
                        del self._of[number]
            for two in told:
                touched.update(two)
                self._pairs[two] = self._between[files][two]
                for number in two:
                    self._of[number].add(two)
            self._told_between[files] = told
            if not self._between[files]:
                del self._between[files], self._told_between[files]
        self._changed.clear()
        if touched:
            self._group(touched)

    def _group(self, touched: set[int]) -> None:
        """Group the statements that hang together with these anew."""
        old = [self._circles[number] for number in touched if number in self._circles]
        touched.update(*(circle.members for circle in old))
        gone = {id(group) for circle in old for group in circle.groups}
        self._groups = [each for each in self._groups if id(each[1]) not in gone]
        for number in touched:
            self._circles.pop(number, None)
        while touched:
            circle = self._circle_of(touched.pop())
            touched -= circle.members
            if len(circle.members) > 1:
                self._circles.update(dict.fromkeys(circle.members, circle))
            self._groups += [((-group[0].found.score, *_order(group[0])), group) for group in circle.groups]
        self._groups.sort(key=itemgetter(0))

    def _circle_of(self, number: int) -> _Circle:
        members, found, ways = {number}, set[Two](), [number]
        while ways:
            for two in self._of.get(ways.pop(), set()) - found:
                found.add(two)
                ways += set(two) - members
                members.update(two)
        return _Circle(frozenset(members), _grouped([self._pairs[two] for two in found]))


def places_of(group: Sequence[Pair]) -> list[Statement]:
    """The statements of a group, in order of paths and lines."""
    every = {each for pair in group for each in (pair.one, pair.other)}
    return sorted(every, key=place_of)


def _grouped(pairs: Collection[Pair]) -> list[list[Pair]]:
    """Groups of two to five places that seem to tell one fact, the likeliest pairs first."""
    group_of: dict[Statement, list[Pair]] = {}
    apart = {(each.one, each.other) for each in pairs if each.found.relation == "other value"}
    for pair in sorted(pairs, key=lambda each: (-each.found.score, _order(each))):
        if pair.found.relation != "same":
            continue
        groups = [group_of.get(each, []) for each in (pair.one, pair.other)]
        joined = groups[0] if groups[0] is groups[1] else [*groups[0], *groups[1]]
        members = places_of([*joined, pair])
        if len(members) > MOST_GROUP or any((a, b) in apart for a in members for b in members):
            continue
        made = [*joined, pair]
        group_of.update((each, made) for each in members)
    return list({id(group): group for group in group_of.values()}.values())


def two_of(one: int, other: int) -> Two:
    return (one, other) if one < other else (other, one)


def place_of(statement: Statement) -> tuple[str, int]:
    return statement.path, statement.first_line


def _order(pair: Pair) -> tuple[str, int, str, int]:
    return *place_of(pair.one), *place_of(pair.other)


def _files(pair: Pair) -> tuple[str, str]:
    return pair.one.path, pair.other.path


def _without_forms(pairs: Mapping[Two, Pair]) -> list[Two]:
    """Of the pairs between two files those that say something, but for the lines that are filled in by one form."""
    is_form = len(pairs) >= FORM and sum(map(_is_of_a_form, pairs.values())) >= FORM
    return [
        two
        for two, each in pairs.items()
        if each.found.relation != "none" and not (is_form and _of_two_things(each))
    ]


def _is_of_a_form(pair: Pair) -> bool:
    """A form has the same words with other values; the same in other words was written twice."""
    is_told = pair.found.relation != "none" and _of_two_things(pair)
    return pair.found.rule == TWO_THINGS or (is_told and pair.found.score >= NEAR_COPY)


def _of_two_things(pair: Pair) -> bool:
    return bool(_own(pair.one, pair.other) and _own(pair.other, pair.one))


def places_apart(one: Statement, other: Statement, found: Compared, *, alike: bool = False) -> str:
    """What the places of two statements say against them: the environment, a day, a section, a file's name; empty for nothing.

    `alike`: the two give one named thing the same value, which a list says of each of its things once, and a fact says too.
    """
    if any(map(_is_record, (one, other))):
        return "one is the record of a day or a task"
    if all(each.raw.lstrip().startswith(">") for each in (one, other)):
        return "they are remarks on their files"
    if _environments(one) != _environments(other):
        return "environments differ"
    if one.path == other.path:
        return _apart_in_one_file(one, other, found)
    if not alike and found.score < COPY and (veto := _members_apart(one, other)):
        return veto
    named = {value.key for value in one.reading.values if not value.is_measured}
    is_field = all(_FIELD.match(encodable(each.text)) for each in (one, other))
    if (is_field or not (alike or named & other.reading.anchors)) and _own(one, other) and _own(other, one):
        return TWO_THINGS
    return ""


def _apart_in_one_file(one: Statement, other: Statement, found: Compared) -> str:
    if (one.headings, one.lead) != (other.headings, other.lead):
        return "they are under different headings"
    if any(map(_is_entry, (one, other))):
        return "one is an entry of a list of things"
    if all(each.text.startswith(("**", "__")) for each in (one, other)):
        return "they are labelled"
    is_copy = found.relation == "same" and found.score >= COPY
    return "" if is_copy else "they belong to one list or section"


def _is_record(statement: Statement) -> bool:
    path = encodable(statement.path)
    return bool(_TASK.search(path) or _DAY.search(encodable(" ".join((path, *statement.headings)))))


def links_apart(one: Statement, other: Statement) -> str:
    """ "A faithful port (see [[decision-substrate]])": what leads to the other's memory sums it up on purpose."""
    if one.text.startswith("[[") and other.text.startswith("[["):
        return "they are rows of links"
    told = [each.text.replace("_", " ").replace("-", " ") for each in (one, other)]
    leads = f"[[{name_of(other.path)}" in told[0] or f"[[{name_of(one.path)}" in told[1]
    return "one leads to the other" if leads else ""


def _members_apart(one: Statement, other: Statement) -> str:
    """What two statements are members of: a list of things, labelled values, events of a day, files of one series."""
    if any(_is_entry(each) for each in (one, other)):
        return "one is an entry of a list of things"
    labels = [_FIELD.match(encodable(each.text)) for each in (one, other)]
    if all(labels):
        mine, theirs = (frozenset(read(match[1]).terms) for match in labels if match)
        if mine - other.reading.terms.keys() and theirs - one.reading.terms.keys():
            return "their labels differ"
    if sum(bool(_EVENT.match(encodable(each.text))) for each in (one, other)) == 1:
        return "one is the record of a day"
    return ""


def _is_entry(statement: Statement) -> bool:
    """ "- `path/to/file.py` — what it is for": a list names each thing or step once, whatever else is said of it elsewhere."""
    return statement.source == "body" and _ENTRY.match(encodable(statement.raw)) is not None


@lru_cache(maxsize=20_000)
def name_of(path: str) -> str:
    return PurePosixPath(path).stem.replace("_", " ").replace("-", " ")


def _environments(statement: Statement) -> frozenset[str]:
    """Those of the file's name, the headings and the text. What stands around a text is read by itself: many share it."""
    around = " . ".join((name_of(statement.path), *statement.headings, "and so on"))
    some = _ENVIRONMENT.search(around.lower()) is not None
    return (
        read(around).environments | statement.reading.environments if some else statement.reading.environments
    )


def _own(statement: Statement, beside: Statement) -> set[str]:
    """What only the one's file and headings are about, and neither text says."""
    return _about(statement) - _about(beside) - statement.reading.terms.keys() - beside.reading.terms.keys()


def _about(statement: Statement) -> set[str]:
    return set(read(" . ".join((name_of(statement.path), *statement.headings))).terms) - _SORTS
