"""Finds pairs of statements that may state one fact, or give one thing two values, and groups them. Pure."""

import re
from collections.abc import Iterable, Sequence, Set
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations
from pathlib import PurePosixPath
from typing import Literal, NamedTuple

import re2

from dreams.lib.prose.comparing import Compared
from dreams.lib.prose.statements import canonical
from dreams.lib.prose.values import WordsAndValues, encodable, read

Two = tuple[int, int]  # the numbers of two statements, smaller first

_DAY = re2.compile(
    r"(?i)(?:^|\D)(?:19|20)\d\d(?:[-_]\d{2}|[01]\d[0-3]\d|\.md)(?:\D|$)|(?:^|\D)\d\d[-_]\d\d[-_]\d\d(?:\D|$)|(?:^|[^a-z])(?:logs?|sessions?|journal|history|changelog|archives?|retros?)(?:[^a-z]|$)"
    r"|(?:^|[^a-z])(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]{0,6}(?:[-_]\d{1,2}(?:\D|$)|\.? \d{1,2}\D?\d{0,2},? (?:19|20)\d\d)"
)
_TASK = re2.compile(r"[A-Z]{2,}-\d{2,}")  # "reflection-BQ-004.md": one of a series
_VERSION = re.compile(r"(?<![A-Za-z])(?:v|phase[_-]?)\d[\d.]*(?=\D*$)")
# List entries ("- `src/app.py` — the app", "- **`--flag`**: what it does", "- [[memory]] — …"), boxes, steps, and text below an entry.
_ENTRY = re2.compile(
    r"\s*[-*+] +(?:\*\*)?(?:`[^`\n]+`|\[\[[^\]\n]+\]\])(?:\*\*)?(?: \([^)\n]{1,40}\))?\s*(?:—|–|:|->|→| - )|\s*[-*+] +\[[ xX]\] |\s*\d+[.)] |\s+[-*+] "
)
# Labelled values that each thing of a kind has: "OS: Ubuntu", "**OS**: Ubuntu".
_FIELD = re2.compile(r"(?:\*\*)?(\pL[^*\n:.!?]{1,39}?)(?::\*\*|\*\*:?|:) ")
# Words in file names that only name the kind of file.
_SORTS = frozenset(map(canonical, "project user feedback reference note memory md".split()))  # noqa: SIM905 - a word list


class PlacedText(NamedTuple):
    """A bullet or paragraph of a body, the description of a file, or the hook of an index row.

    `first_line` and `last_line` are 1-based and inclusive. `raw` is the item as written. `headings` are those above it,
    outermost first. `target` is the file that a description or row summarizes. `frame` is its context, nearest first: the line
    that introduces its list, and its parent bullets.
    """

    path: str
    source: Literal["body", "description", "row"]
    first_line: int
    last_line: int
    text: str
    raw: str
    headings: tuple[str, ...] = ()
    target: str = ""
    frame: tuple[str, ...] = ()

    @property
    def reading(self) -> WordsAndValues:
        return read(self.text)


@dataclass(frozen=True, slots=True)
class Pair:
    """Two statements in order of path and line, and their comparison."""

    one: PlacedText
    other: PlacedText
    found: Compared


def places_of(group: Sequence[Pair]) -> list[PlacedText]:
    """The statements of a group by path and line."""
    every = {each for pair in group for each in (pair.one, pair.other)}
    return sorted(every, key=place_of)


def grouped(pairs: Iterable[Pair], alike: Set[tuple[PlacedText, PlacedText]]) -> list[list[Pair]]:
    """Groups of places that seem to state one fact, of which every two are alike, most likely first. A place that is alike with two
    that differ is in two groups. Of many copies only some pairs were compared."""
    found: list[list[Pair]] = []
    left = sorted(pairs, key=lambda each: (-each.found.score, order_of(each)))
    for _ in range(2):
        group_of: dict[PlacedText, list[Pair]] = {}
        apart = []
        for pair in left:
            groups = [group_of.get(each, []) for each in (pair.one, pair.other)]
            if groups[0] and groups[0] is groups[1]:
                continue
            made = [*groups[0], *groups[1], pair]
            members = places_of(made)
            if all(
                two in alike or (two[0].text == two[1].text and not places_apart(*two))
                for two in combinations(members, 2)
            ):
                group_of.update((each, made) for each in members)
            else:
                apart.append(pair)
        found += {id(group): group for group in group_of.values()}.values()
        left = [each for each in apart if group_of.get(each.one, each) is not group_of.get(each.other)]
    return sorted(found, key=lambda group: (-group[0].found.score, order_of(group[0])))


def two_of(one: int, other: int) -> Two:
    return (one, other) if one < other else (other, one)


def place_of(statement: PlacedText) -> tuple[str, int]:
    return statement.path, statement.first_line


def order_of(pair: Pair) -> tuple[str, int, str, int]:
    return *place_of(pair.one), *place_of(pair.other)


def places_apart(one: PlacedText, other: PlacedText) -> str:
    """Why the places of two statements speak against one fact: same file, environment, day, link; "" if they do not."""
    if one.path == other.path:
        return "they are in one file"
    if _VERSION.sub("", one.path) == _VERSION.sub("", other.path):
        return "they are two versions or phases of one thing"
    places = [encodable(each.path) for each in (one, other)]
    headed = [encodable(" ".join((each.path, *each.headings))) for each in (one, other)]
    if any(map(_TASK.search, places)) or any(map(_DAY.search, headed)):
        return "one is the record of a day or a task"
    if all(each.raw.lstrip().startswith(">") for each in (one, other)):
        return "they are remarks on their files"
    if environments_of(one) != environments_of(other):
        return "environments differ"
    return _links_apart(one, other)


def _links_apart(one: PlacedText, other: PlacedText) -> str:
    """Why links speak against one fact, or "": "A port (see [[decision-substrate]])" summarizes that memory on purpose."""
    if one.text.startswith("[[") and other.text.startswith("[["):
        return "they are rows of links"
    for text, path in ((one.text, other.path), (other.text, one.path)):
        if (".md" in text or "[[" in text) and _link_to(path).search(text):
            return "one leads to the other"
    return ""


@lru_cache(maxsize=20_000)
def _link_to(path: str) -> re.Pattern[str]:
    name = r"[ _-]".join(map(re.escape, name_of(path).split(" ")))
    return re.compile(rf"\[\[{name}(?![\w-])|(?<![\w.-]){name}\.md")


@lru_cache(maxsize=20_000)
def members_apart(one: PlacedText, other: PlacedText) -> bool:
    """Whether each belongs to something different: lists of things, labelled values, files with different topics."""
    # An entry names each thing or step once: "- `path/to/file.py` — what it is for".
    if any(each.source == "body" and _ENTRY.match(encodable(each.raw)) for each in (one, other)):
        return True
    labels = [read(match[1]) for each in (one, other) if (match := _FIELD.match(encodable(each.text)))]
    things = [{value.key for value in label.values if value.kind == "identifier"} for label in labels]
    are_fields = len(labels) > 1 and not things[0] & things[1]  # else of one thing: "mail-relay owner: Ada"
    if are_fields and all(
        label.terms.keys() - each.reading.terms for label, each in zip(labels, (other, one), strict=True)
    ):
        return True
    named = {value.key for value in one.reading.values if not value.is_measured} & other.reading.anchors
    titles = f"{name_of(one.path)}. {name_of(other.path)}".lower()  # of "the umber fetcher"
    named |= {pair for pair in one.reading.pairs & other.reading.pairs if pair in titles}
    return (are_fields or not named) and bool(_own(one, other) and _own(other, one))


@lru_cache(maxsize=20_000)
def name_of(path: str) -> str:
    return PurePosixPath(path).stem.replace("_", " ").replace("-", " ")


def environments_of(statement: PlacedText) -> frozenset[str]:
    """The environments in the text, and in file name and headings, which are read separately as many texts share them."""
    around = " . ".join((name_of(statement.path), *statement.headings, "and so on"))
    return read(around).environments | statement.reading.environments


def _own(statement: PlacedText, beside: PlacedText) -> set[str]:
    """The topics of one file and its headings that neither text mentions."""
    return topics(statement) - topics(beside) - statement.reading.terms.keys() - beside.reading.terms.keys()


def topics(statement: PlacedText) -> set[str]:
    """The words of its file name and headings."""
    return set(read(" . ".join((name_of(statement.path), *statement.headings))).terms) - _SORTS
