"""Finds pairs of statements that may state one fact, or give one thing two values, and groups them. Pure."""

import re
from collections.abc import Iterable, Sequence, Set
from dataclasses import dataclass
from functools import lru_cache
from pathlib import PurePosixPath
from typing import Literal, NamedTuple

import re2

from dreams.lib.prose import lexicon
from dreams.lib.prose.comparing import Compared
from dreams.lib.prose.values import WordsAndValues, encodable, read

Source = Literal["body", "description", "row"]
Two = tuple[int, int]  # the numbers of two statements, the smaller one first

MOST_GROUP = 5  # places of one fact
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


class PlacedText(NamedTuple):
    """One bullet, or one paragraph of a body; or the description of a file, or the hook of an index row.

    `first_line` and `last_line` are 1-based and inclusive. `raw` is the item as the file has it. `headings` are those above
    it, outermost first; `lead` the line that leads its list. `target` is the file that a description or a row sums up. `frame` is
    what it cannot be read without, nearest first: the line that introduces its list, the bullets it is nested in.
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
    frame: tuple[str, ...] = ()

    @property
    def reading(self) -> WordsAndValues:
        return read(self.text)

    @property
    def label(self) -> str:
        """The heading right above it."""
        return self.headings[-1] if self.headings else ""


@dataclass(frozen=True, slots=True)
class Pair:
    """Two statements, the first as it stands earlier (by path, then line), and how they compare."""

    one: PlacedText
    other: PlacedText
    found: Compared


def places_of(group: Sequence[Pair]) -> list[PlacedText]:
    """The statements of a group, in order of paths and lines."""
    every = {each for pair in group for each in (pair.one, pair.other)}
    return sorted(every, key=place_of)


def grouped(pairs: Iterable[Pair], apart: Set[tuple[PlacedText, PlacedText]]) -> list[list[Pair]]:
    """Groups of two to five places that seem to tell one fact, the likeliest first, without two that are known to be apart."""
    group_of: dict[PlacedText, list[Pair]] = {}
    for pair in sorted(pairs, key=lambda each: (-each.found.score, order_of(each))):
        groups = [group_of.get(each, []) for each in (pair.one, pair.other)]
        joined = groups[0] if groups[0] is groups[1] else [*groups[0], *groups[1]]
        members = places_of([*joined, pair])
        if len(members) > MOST_GROUP or any((a, b) in apart for a in members for b in members):
            continue
        made = [*joined, pair]
        group_of.update((each, made) for each in members)
    found = {id(group): group for group in group_of.values()}.values()
    return sorted(found, key=lambda group: (-group[0].found.score, order_of(group[0])))


def two_of(one: int, other: int) -> Two:
    return (one, other) if one < other else (other, one)


def place_of(statement: PlacedText) -> tuple[str, int]:
    return statement.path, statement.first_line


def order_of(pair: Pair) -> tuple[str, int, str, int]:
    return *place_of(pair.one), *place_of(pair.other)


def places_apart(one: PlacedText, other: PlacedText) -> str:
    """What the places of two statements say against them: one file, the environment, a day, a link; empty for nothing."""
    if one.path == other.path:
        return "they are in one file"
    if any(map(_is_record, (one, other))):
        return "one is the record of a day or a task"
    if all(each.raw.lstrip().startswith(">") for each in (one, other)):
        return "they are remarks on their files"
    if _environments(one) != _environments(other):
        return "environments differ"
    return _links_apart(one, other)


def _is_record(statement: PlacedText) -> bool:
    path = encodable(statement.path)
    return bool(_TASK.search(path) or _DAY.search(encodable(" ".join((path, *statement.headings)))))


def _links_apart(one: PlacedText, other: PlacedText) -> str:
    """ "A faithful port (see [[decision-substrate]])": what leads to the other's memory sums it up on purpose."""
    if one.text.startswith("[[") and other.text.startswith("[["):
        return "they are rows of links"
    told = [each.text.replace("_", " ").replace("-", " ") for each in (one, other)]
    leads = f"[[{name_of(other.path)}" in told[0] or f"[[{name_of(one.path)}" in told[1]
    return "one leads to the other" if leads else ""


@lru_cache(maxsize=20_000)
def members_apart(one: PlacedText, other: PlacedText) -> bool:
    """Whether each is a member of something else: a list of things, labelled values, events of a day, what two files are about."""
    if any(map(_is_entry, (one, other))):
        return True
    labels = [_FIELD.match(encodable(each.text)) for each in (one, other)]
    if all(labels):
        mine, theirs = (frozenset(read(match[1]).terms) for match in labels if match)
        if mine - other.reading.terms.keys() and theirs - one.reading.terms.keys():
            return True
    if sum(bool(_EVENT.match(encodable(each.text))) for each in (one, other)) == 1:
        return True
    named = {value.key for value in one.reading.values if not value.is_measured} & other.reading.anchors
    return (all(labels) or not named) and bool(_own(one, other) and _own(other, one))


def _is_entry(statement: PlacedText) -> bool:
    """ "- `path/to/file.py` — what it is for": a list names each thing or step once, whatever else is said of it elsewhere."""
    return statement.source == "body" and _ENTRY.match(encodable(statement.raw)) is not None


@lru_cache(maxsize=20_000)
def name_of(path: str) -> str:
    return PurePosixPath(path).stem.replace("_", " ").replace("-", " ")


def _environments(statement: PlacedText) -> frozenset[str]:
    """Those of the file's name, the headings and the text. What stands around a text is read by itself: many share it."""
    around = " . ".join((name_of(statement.path), *statement.headings, "and so on"))
    some = _ENVIRONMENT.search(around.lower()) is not None
    return (
        read(around).environments | statement.reading.environments if some else statement.reading.environments
    )


def _own(statement: PlacedText, beside: PlacedText) -> set[str]:
    """What only the one's file and headings are about, and neither text says."""
    return _about(statement) - _about(beside) - statement.reading.terms.keys() - beside.reading.terms.keys()


def _about(statement: PlacedText) -> set[str]:
    return set(read(" . ".join((name_of(statement.path), *statement.headings))).terms) - _SORTS
