"""One index of the statements of a directory: where a value is said, what leans on it, and which places tell one fact. Pure.

A function of {path: text}, so that engines and pages ask the same. Cost is near linear: only statements that share a rare
value or a rare word are compared, each with few others.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import PurePosixPath
from typing import Literal

import re2

from dreams.lib import memdir
from dreams.lib.files import text as texts
from dreams.lib.prose.comparing import OPENING, Compared, compare
from dreams.lib.prose.values import LONGEST, Reading, encodable, read

Source = Literal["body", "description", "row"]

# Statements of bodies that may have a value before it is common; a fact is told in up to five places.
RARE = 8
COMMON_WORD = 40  # a plain word in more statements than this finds no candidates
LEAST_RARE_WORDS = 3  # rare plain words in common, where no value is
PARTNERS = 12  # of one statement, the likeliest first
MOST_GROUP = 5  # places of one fact
SHORTEST = 3  # words of a statement
LONGEST_FACT = 600  # characters; what is longer tells a story, and is only compared with shorter ones
FEW = 3  # statements of a file that tells one fact
ONE_FACT, ONE_OF_MANY = 0.4, 0.7  # scores from which two statements are asked about
# The score for two statements of so few words that name a thing and its value, in files of many; read off real directories.
ONE_VALUE, SHORT_WORDS = 0.53, 16
# Scores that do for two values of one named thing, and for two names of one thing; chosen.
HALF, EXACT = 0.5, 0.95
WITHIN, MUCH = 0.75, 7.0  # of the shorter one, and the weight in common: it is said within the longer one
NEAR_COPY = 0.85  # of the words beside two values
COPY = 0.85  # in one list, what scores less is another member of it
LEAST_SAID = 3.0  # weight beside its links, of a statement that says something
TWO_THINGS = "their files are about two things"
RECORD = 4  # numbers in one statement: results of something, each true where it was written
FORM = 3  # lines that two files have alike, where their names are of two things
_KEEPS = frozenset({"paragraph", "bullet"})
_DAY = re2.compile(
    r"(?i)(?:^|\D)(?:19|20)\d\d[-_]\d{2}(?:\D|$)|(?:^|[^a-z])(?:logs?|sessions?|journal|history|changelog)(?:[^a-z]|$)"
)
_NAMED_DAY = re2.compile(
    r"(?i)\b(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\.? \d{1,2}(?:,? \d{4})?|\b(?:19|20)\d\d(?:-\d\d){0,2}\b"
)
# "- `src/app.py` — the app", "- **`--flag`**: what it does", "- [Name](file.md) — …".
_ENTRY = re2.compile(r"\s*[-*+] +(?:\*\*)?`[^`\n]+`(?:\*\*)?(?: \([^)\n]{1,40}\))?\s*(?:—|–|:|->|→| - )")
_LABEL = re.compile(r"\*\*([^*\n]{2,60}?):?\*\*:? ")
_EVENT = re2.compile(r".{0,20}(?:19|20)\d\d-\d\d-\d\d\b")  # a day near its start
_LINK = re2.compile(r"\[\[[^\]\n]*\]\]|\[[^\]\n]*\]\([^)\n]*\)|`?[\w./-]+\.md`?")
# Said in a file's name of every file of its sort.
_SORTS = frozenset("project user feedback reference note notes memory md".split())  # noqa: SIM905 - a word list


@dataclass(frozen=True, slots=True)
class Statement:
    """One bullet, or one paragraph of a body; or the description of a file, or the hook of an index row.

    `first_line` and `last_line` are 1-based and inclusive. `raw` is the item as the file has it. `headings` are those above
    it, outermost first. `target` is the file that a description or a row sums up.
    """

    path: str
    source: Source
    first_line: int
    last_line: int
    text: str
    raw: str
    headings: tuple[str, ...] = ()
    target: str = ""

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


def statements_of(files: Mapping[str, str]) -> list[Statement]:
    """Every statement of these files, in order of paths and lines. Code, tables, quotes and headings are none."""
    return [each for path in sorted(files) for each in _of_file(path, files[path])]


def _of_file(path: str, text: str) -> Iterator[Statement]:
    document = memdir.parse(texts.encode(text))
    folder, _, name = path.rpartition("/")
    indexed, base = name == memdir.INDEX_NAME, f"{folder}/" if folder else ""
    said = document.frontmatter.description if document.frontmatter and not indexed else None
    if said:
        yield Statement(
            path, "description", 1, document.body_start_line - 1, texts.one_line(said), said, (), path
        )
    for item in memdir.sections(document.body, document.body_start_line):
        if item.kind not in _KEEPS or item.text.lstrip().startswith(">"):
            continue
        rows = memdir.parse_index(item.text).rows if indexed else ()
        if rows:
            for row in rows:
                if row.hook:
                    hook = texts.one_line(row.hook)
                    target = base + row.target if len(row.targets) == 1 else ""
                    yield Statement(
                        path, "row", item.first_line, item.last_line, hook, item.text, item.under, target
                    )
            continue
        told = texts.one_line(item.content or item.text)
        if indexed and "](" in told:  # a row in another form
            target, _, hook = told.partition("](")[2].partition(")")
            if hook := hook.lstrip(" —–:-"):
                yield Statement(
                    path, "row", item.first_line, item.last_line, hook, item.text, item.under, base + target
                )
            continue
        if len(told.split()) >= SHORTEST and len(told) <= LONGEST and not told.rstrip("*_ ").endswith(":"):
            yield Statement(path, "body", item.first_line, item.last_line, told, item.text, item.under)


class StatementIndex:
    """The statements of a directory, found by what they name."""

    def __init__(self, files: Mapping[str, str]) -> None:
        self.statements = statements_of(files)
        self._bodies = [place for place, each in enumerate(self.statements) if each.source == "body"]
        self._count = Counter(self.statements[place].path for place in self._bodies)
        self._having: dict[str, list[int]] = defaultdict(list)
        for place in self._bodies:
            for term in self.statements[place].reading.terms.keys() | self.statements[place].reading.anchors:
                self._having[term].append(place)

    def is_rare(self, value: str) -> bool:
        """Whether few statements name a value."""
        return len(self._having.get(value, ())) <= RARE

    def said_where(self, value: str) -> list[Statement]:
        """Every statement, of descriptions and rows too, that has the value."""
        key = " ".join(value.strip("`").lower().split())
        return [each for each in self.statements if key in each.reading.anchors or key in each.reading.terms]

    def with_words(self, words: Collection[str]) -> list[Statement]:
        """The statements of bodies that have every one of these words or values."""
        places = [set(self._having.get(word, ())) for word in words]
        return [self.statements[place] for place in sorted(set.intersection(*places))] if places else []

    def leans_on(self, value: str, beside: Statement | None = None) -> list[Statement]:
        """The statements of bodies that name a value, the one that says it aside."""
        return [each for each in self.said_where(value) if each.source == "body" and each != beside]

    def related(self, statement: Statement | str, most: int = PARTNERS) -> list[tuple[Statement, Compared]]:
        """Statements of bodies that share rare values or words with one, the closest first."""
        text = statement if isinstance(statement, str) else statement.text
        mine = -1 if isinstance(statement, str) else self._place_of(statement)
        found = [
            (self.statements[place], compare(text, self.statements[place].text, is_rare=self.is_rare))
            for place in self._near(read(text), mine)
        ]
        return sorted(found, key=lambda pair: (-pair[1].score, pair[0].path, pair[0].first_line))[:most]

    def _place_of(self, statement: Statement) -> int:
        return next((place for place in self._bodies if self.statements[place] == statement), -1)

    def _near(self, reading: Reading, mine: int) -> list[int]:
        """Places of statements worth comparing: any shared rare value, or several rare words."""
        shared: Counter[int] = Counter()
        for term in reading.terms.keys() | reading.anchors:
            places = self._having.get(term, ())
            if len(places) <= (RARE if term in reading.anchors else COMMON_WORD):
                weight = LEAST_RARE_WORDS if term in reading.anchors else 1
                for place in places:
                    shared[place] += weight
        shared.pop(mine, None)
        likely = [(count, place) for place, count in shared.items() if count >= LEAST_RARE_WORDS]
        return [place for _, place in sorted(likely, key=lambda each: (-each[0], each[1]))[:PARTNERS]]

    @cached_property
    def pairs(self) -> list[Pair]:
        """Each pair of statements that seem to tell one fact, or one thing with two values; once, in order."""
        near = {
            (min(place, other), max(place, other))
            for place in self._bodies
            if len(self.statements[place].text) <= LONGEST_FACT and self._facts[place]
            for other in self._near(self.statements[place].reading, place)
            if self._facts[other]
        }
        return _without_forms([self.pair(self.statements[a], self.statements[b]) for a, b in sorted(near)])

    @cached_property
    def _facts(self) -> dict[int, bool]:
        """Which statements of bodies tell something by themselves."""
        return {place: _is_fact(self.statements[place].text) for place in self._bodies}

    def pair(self, one: Statement, other: Statement) -> Pair:
        """Two statements compared, with what their places say of them."""
        found = compare(one.text, other.text, is_rare=self.is_rare)
        if found.relation == "same" and not self._says_the_same(one, other, found):
            found = Compared("none", found.score, "too little in common for two of many statements")
        if found.relation == "other value" and not self._of_one_thing(one, other, found):
            found = Compared("none", found.score, "values differ in two of many statements")
        if found.relation != "none" and (veto := places_apart(one, other, found)):
            found = Compared("none", found.score, veto)
        return Pair(one, other, found)

    def _says_the_same(self, one: Statement, other: Statement, found: Compared) -> bool:
        """Whether two are alike enough: a file of few statements is one fact, one of many speaks of one topic."""
        few = all(self._count[each.path] <= FEW for each in (one, other))
        shared = [key for key in one.reading.anchors & other.reading.anchors if self.is_rare(key)]
        if len(shared) > 1 and found.covered >= WITHIN and found.common >= MUCH:
            return True  # the one is said within the other, by names that hardly any other statement has
        short = self._name_one_thing(one, other) and len(shared) > 1
        return found.score >= (ONE_FACT if few else ONE_VALUE if short else ONE_OF_MANY)

    def _name_one_thing(self, one: Statement, other: Statement) -> bool:
        """Whether two short statements are about one thing that has a name, which few others have."""
        names = {value.key for value in one.reading.values if not value.is_measured} & other.reading.anchors
        short = all(len(each.text.split()) <= SHORT_WORDS for each in (one, other))
        return short and any(map(self.is_rare, names))

    def _of_one_thing(self, one: Statement, other: Statement, found: Compared) -> bool:
        """Whether two values are of one thing: in files of few statements, in near copies, or where both name it."""
        old, new = found.old, found.new
        if old is None or new is None:
            return False
        if all(
            value.sort & read(_named(each.path)).terms.keys() for value, each in ((old, one), (new, other))
        ):
            return False  # "after Phase 2" in phase_3.md: the number of a file, and no value
        if old.kind == "date" and old.start <= OPENING and new.start <= OPENING:
            return False  # both begin with the day that they were written
        if not old.is_measured:
            # What both share must be a thing then, no value: "a: Java 17" and "b: Java 17" are two things.
            things = {
                value.key for value in one.reading.values if value.kind not in {"name", "number", "date"}
            }
            named = things & other.reading.anchors
            is_person = " " in old.key and " " in new.key
            opens = old.start <= OPENING and new.start <= OPENING
            if not (named or is_person or (old.kind == "name" and found.score >= EXACT)) or (
                opens and not is_person
            ):
                return False
        few = all(self._count[each.path] <= FEW for each in (one, other))
        return few or found.score >= NEAR_COPY or (self._name_one_thing(one, other) and found.score >= HALF)

    def possible_duplicates(self) -> list[list[Pair]]:
        """Groups of two to five places that seem to tell one fact, each as the pairs that say so, the likeliest first."""
        group_of: dict[Statement, list[Pair]] = {}
        apart = {(each.one, each.other) for each in self.pairs if each.found.relation == "other value"}
        for pair in sorted(self.pairs, key=lambda each: -each.found.score):
            if pair.found.relation != "same":
                continue
            groups = [group_of.get(each, []) for each in (pair.one, pair.other)]
            joined = groups[0] if groups[0] is groups[1] else [*groups[0], *groups[1]]
            members = places_of([*joined, pair])
            if len(members) > MOST_GROUP or any((a, b) in apart for a in members for b in members):
                continue
            made = [*joined, pair]
            group_of.update(dict.fromkeys(members, made))
        once = {id(group): group for group in group_of.values()}
        return sorted(once.values(), key=lambda group: -group[0].found.score)

    def two_values(self) -> list[Pair]:
        """One thing with two values. Three values of one form are three things, or a log: none of these."""
        values: dict[Statement, set[str]] = defaultdict(set)
        found = [each for each in self.pairs if each.found.relation == "other value"]
        for each in found:
            for statement in (each.one, each.other):
                values[statement] |= {value.key for value in (each.found.old, each.found.new) if value}
        return [each for each in found if max(len(values[each.one]), len(values[each.other])) == 2]


def places_of(group: Sequence[Pair]) -> list[Statement]:
    """The statements of a group, in order of paths and lines."""
    every = {each for pair in group for each in (pair.one, pair.other)}
    return sorted(every, key=lambda each: (each.path, each.first_line))


def _is_fact(text: str) -> bool:
    """Not what only leads to files or names a day ("Related: [[a]]", "Noted Apr 22, 2026."), nor the head of a form
    ("**Date:** … **By:** …") or a record of results."""
    text = encodable(text)
    rest = _LINK.sub(" ", _NAMED_DAY.sub(" ", text))
    if rest != text and read(rest).weight < LEAST_SAID:
        return False
    if text.count(":**") > 1:
        return False
    return len({value.key for value in read(text).values if value.kind == "number"}) < RECORD


def _without_forms(pairs: Sequence[Pair]) -> list[Pair]:
    """The pairs that say something, but for the lines of two files that are filled in by one form."""
    between = Counter((each.one.path, each.other.path) for each in pairs if _is_of_a_form(each))
    return [
        each
        for each in pairs
        if each.found.relation != "none"
        and (between[each.one.path, each.other.path] < FORM or not _of_two_things(each))
    ]


def _is_of_a_form(pair: Pair) -> bool:
    """A form has the same words with other values; the same in other words was written twice."""
    is_told = pair.found.relation != "none" and _of_two_things(pair)
    return pair.found.rule == TWO_THINGS or (is_told and pair.found.score >= NEAR_COPY)


def _of_two_things(pair: Pair) -> bool:
    return bool(_own(pair.one, pair.other) and _own(pair.other, pair.one))


def places_apart(one: Statement, other: Statement, found: Compared) -> str:
    """What the places of two statements say against them: the environment, a day, a section, a file's name; empty for nothing."""
    if any(_DAY.search(encodable(" ".join((each.path, *each.headings)))) for each in (one, other)):
        return "one is the record of a day"
    if _environments(one) != _environments(other):
        return "environments differ"
    if one.path == other.path:
        if one.headings != other.headings:
            return "they are under different headings"
        if all(each.text.startswith(("**", "__")) for each in (one, other)):
            return "they are labelled"
        return (
            "" if found.relation == "same" and found.score >= COPY else "they belong to one list or section"
        )
    if found.score < COPY and (veto := _members_apart(one, other)):
        return veto
    named = {value.key for value in one.reading.values if not value.is_measured}
    if not named & other.reading.anchors and _own(one, other) and _own(other, one):
        return TWO_THINGS
    return ""


def _members_apart(one: Statement, other: Statement) -> str:
    """What two statements are members of: a list of things, labelled values, events of a day, files of one series."""
    if any(_is_entry(each) for each in (one, other)):
        return "one is an entry of a list of things"
    labels = [_LABEL.match(each.text) for each in (one, other)]
    if all(labels):
        mine, theirs = (frozenset(read(match[1]).terms) for match in labels if match)
        if mine - other.reading.terms.keys() and theirs - one.reading.terms.keys():
            return "their labels differ"
    if sum(bool(_EVENT.match(encodable(each.text))) for each in (one, other)) == 1:
        return "one is the record of a day"
    return ""


def _is_entry(statement: Statement) -> bool:
    """ "- `path/to/file.py` — what it is for": a list names each thing once, whatever else is said of it elsewhere."""
    return statement.source == "body" and _ENTRY.match(encodable(statement.raw)) is not None


def _named(path: str) -> str:
    return PurePosixPath(path).stem.replace("_", " ").replace("-", " ")


def _environments(statement: Statement) -> frozenset[str]:
    """Those of the file's name, the headings and the text. What stands around a text is read by itself: many share it."""
    around = " . ".join((_named(statement.path), *statement.headings, "and so on"))
    return read(around).environments | statement.reading.environments


def _own(statement: Statement, beside: Statement) -> set[str]:
    """What only the one's file and headings are about, and neither text says."""
    return _about(statement) - _about(beside) - statement.reading.terms.keys() - beside.reading.terms.keys()


def _about(statement: Statement) -> set[str]:
    return set(read(" . ".join((_named(statement.path), *statement.headings))).terms) - _SORTS
