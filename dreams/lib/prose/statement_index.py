"""Indexes the statements of a directory: where a value is named, what depends on it, which places state the same fact. Pure.

Computed from {path: text} only, for engines and pages alike. Cost is near linear: only statements that share a rare value or
word are compared, each with few others.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping
from functools import cached_property
from itertools import chain

import re2

from dreams.lib import memdir
from dreams.lib.files import text as texts
from dreams.lib.process import without_collecting
from dreams.lib.prose.comparing import OPENING, Compared, compare, exchanged_after_a_name, same as is_same
from dreams.lib.prose.statement_pairs import (
    Pair,
    PlacedText,
    Two,
    grouped,
    members_apart,
    name_of,
    order_of,
    place_of,
    places_apart,
    two_of,
)
from dreams.lib.prose.values import LONGEST, UNSPACED, WordsAndValues, count_words, encodable, missing, read

RARE = 8  # a value in more statements of bodies is common
COMMON_WORD = 40  # plain words in more statements than this find no candidates
LEAST_RARE_WORDS = 3  # rare words in common that are needed without a common value
PARTNERS = 12  # of one statement, most likely first
SHORTEST = 3  # words of a statement
_OF_TWO_WORDS = re.compile(r"\S: |\w \S*\d")  # "Owner: Ada", "timeout 30s"
LONGEST_FACT = 600  # characters; longer ones are only compared with shorter ones
FEW = 3  # statements of a file with one fact
ONE_FACT = 0.5  # least score of two statements of different places
# Common rare words and values, and their share of both, that are enough wherever they are. Read off 97 pairs of real
# directories, of which 72 were one fact.
MANY_WORDS, MOST_WORDS = 6, 0.6
SOME_WORDS = 4  # of two longer files, if they are alike and not word for word; chosen
LEAST_SAID = 3.0  # least weight of a statement besides its links
RECORD = 4  # numbers or labelled values in one statement that make it a record or a form ("type: policy status: current …")
_KEEPS = frozenset({"paragraph", "bullet"})
_NAMED_DAY = re2.compile(
    r"(?i)\b(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\.? \d{1,2}(?:,? \d{4})?|\b(?:19|20)\d\d(?:-\d\d){0,2}\b"
)
# Parts of every written day in lower case, checked before RE2, which needs bytes.
_DAY_SIGN = re.compile(r"jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec|19\d|20\d")
_LINK = re2.compile(r"\[\[[^\]\n]*\]\]|\[[^\]\n]*\]\([^)\n]*\)|`?[\w./-]+\.md`?")


def statements_of(files: Mapping[str, str]) -> list[PlacedText]:
    """All statements of these files by path and line, without code, tables, quotes and headings."""
    return [each for path in sorted(files) for each in _of_file(path, files[path])]


def _of_file(path: str, text: str) -> Iterator[PlacedText]:
    document = memdir.parse(texts.encode(text))
    folder, _, name = path.rpartition("/")
    indexed, base = name == memdir.INDEX_NAME, f"{folder}/" if folder else ""
    said = document.frontmatter.description if document.frontmatter and not indexed else None
    if said:
        head = enumerate(document.head.split("\n"), 1)
        at = next((number for number, line in head if line.startswith("description:")), 1)
        last = document.body_start_line - 1
        yield PlacedText(path, "description", at, last, texts.one_line(said), said, (), path)
    for item in memdir.sections(document.body, document.body_start_line):
        if item.kind not in _KEEPS or item.content.lstrip().startswith(">"):
            continue
        rows = memdir.parse_index(item.text).rows if indexed else ()
        hooks = [(row.hook, base + row.target if len(row.targets) == 1 else "") for row in rows]
        told, lines = texts.one_line(item.content or item.text), (item.first_line, item.last_line)
        if indexed and not rows and "](" in told:  # a row in another form
            target, _, hook = told.partition("](")[2].partition(")")
            hooks = [(hook.lstrip(" —–:-"), base + target)]
        for hook, target in hooks:
            if hook := texts.one_line(hook):
                yield PlacedText(path, "row", *lines, hook, item.text, item.under, target)
        is_told = not hooks and (count_words(told) >= SHORTEST or _OF_TWO_WORDS.search(told))
        if is_told and len(told) <= LONGEST and not told.rstrip("*_ ").endswith(":"):
            yield PlacedText(path, "body", *lines, told, item.text, item.under)


class StatementIndex:
    """The statements of a directory, searchable by values and words.

    `update` switches to a later state, and compares only what shares a rare value or word with a changed file.
    """

    def __init__(self, files: Mapping[str, str]) -> None:
        self._files: dict[str, str] = {}
        self._of: dict[str, list[PlacedText]] = {}
        self._bodies: dict[int, PlacedText] = {}  # numbers are not reused
        self._numbers: dict[str, list[int]] = {}
        self._number_of: dict[PlacedText, int] = {}  # of two that are equal, the first
        self._having: defaultdict[str, set[int]] = defaultdict(set)
        self.values = self._having.keys()  # of all statements of bodies
        self._facts: dict[int, bool] = {}
        self._partners: dict[int, list[int]] = {}
        self._stale: set[int] = set()
        self._told: dict[Two, Pair | None] = {}  # every compared pair; None if the two are not related
        self._rare: dict[PlacedText, frozenset[str]] = {}
        #: The last result; None once a pair or rarity has changed.
        self._in_order: list[Pair] | None = None
        self._groups: list[list[Pair]] | None = None
        self._asked: dict[tuple[str, ...], list[PlacedText]] = {}
        self._next = 0
        self.update(files)

    @without_collecting()
    def update(self, files: Mapping[str, str]) -> None:
        """Use `files` as the directory's from now on."""
        changed = [path for path, text in files.items() if self._files.get(path) != text]
        changed += [path for path in self._files if path not in files]
        before: dict[str, int] = {}  # how many statements had the keys of changed ones
        for path in changed:
            self._forget(path, before)
            if path in files:
                self._learn(path, files[path], before)
        self._files = dict(files)
        self._asked.clear()
        self.__dict__.pop("statements", None)
        for term, count in before.items():
            having = self._having[term]
            if min(count, len(having)) <= COMMON_WORD:
                self._stale |= having
            if (count <= RARE) != (len(having) <= RARE):
                self._in_order = self._groups = None
                for each in having:
                    self._rare.pop(self._bodies[each], None)
                    for other in having.intersection(self._partners.get(each, ())):
                        self._told.pop(two_of(each, other), None)
            if not having:
                del self._having[term]

    def _learn(self, path: str, text: str, before: dict[str, int]) -> None:
        self._of[path] = list(_of_file(path, text))
        bodies = [each for each in self._of[path] if each.source == "body"]
        self._numbers[path] = list(range(self._next, self._next + len(bodies)))
        self._next += len(bodies)
        for number, each in zip(self._numbers[path], bodies, strict=True):
            self._bodies[number] = each
            self._number_of.setdefault(each, number)
            self._stale.add(number)
            for term in each.reading.keys:
                having = self._having[term]
                if term not in before:
                    before[term] = len(having)
                having.add(number)

    def _forget(self, path: str, before: dict[str, int]) -> None:
        self._of.pop(path, None)
        for number in self._numbers.pop(path, ()):
            self._stale.add(number)
            self._facts.pop(number, None)
            statement = self._bodies.pop(number)
            self._rare.pop(statement, None)
            self._number_of.pop(statement, None)
            for term in statement.reading.keys:
                before.setdefault(term, len(self._having[term]))
                self._having[term].discard(number)

    @cached_property
    def statements(self) -> list[PlacedText]:
        """All statements by path and line."""
        return [each for path in sorted(self._of) for each in self._of[path]]

    @property
    def paths(self) -> Collection[str]:
        return self._files.keys()

    def is_rare(self, value: str) -> bool:
        """Whether few statements have a value."""
        return len(self._having.get(value, ())) <= RARE

    def with_words(self, words: Collection[str]) -> list[PlacedText]:
        """The statements of bodies with all of these words or values."""
        having = sorted((self._having.get(word, set()) for word in words), key=len)
        found = set.intersection(*having) if having else ()
        return sorted((self._bodies[each] for each in found), key=place_of)

    def once(self, asked: tuple[str, ...], find: Callable[[], list[PlacedText]]) -> list[PlacedText]:
        """The cached result of `find` for this state of the directory."""
        if asked not in self._asked:
            self._asked[asked] = find()
        return self._asked[asked]

    def related(self, statement: PlacedText, most: int = PARTNERS) -> list[tuple[PlacedText, Compared]]:
        """Statements of bodies that share rare values or words with one, closest first."""
        others = map(
            self._bodies.__getitem__, self._near(statement.reading, self._number_of.get(statement, -1))
        )
        found = [(other, compare(statement.text, other.text, is_rare=self.is_rare)) for other in others]
        return sorted(found, key=lambda pair: (-pair[1].score, *place_of(pair[0])))[:most]

    def _near(self, reading: WordsAndValues, mine: int) -> list[int]:
        """Statements worth comparing: with a common rare value, a rare name in words, or several rare words."""
        named = reading.anchors | reading.pairs
        values = [self._having.get(term, ()) for term in named]
        words = [self._having.get(term, ()) for term in reading.terms.keys() - named]
        rare = [having for having in values if len(having) <= RARE] * LEAST_RARE_WORDS
        shared = Counter(chain(*rare, *(having for having in words if len(having) <= COMMON_WORD)))
        shared.pop(mine, None)
        likely = [
            (-count, *place_of(self._bodies[number]), number)
            for number, count in shared.items()
            if count >= LEAST_RARE_WORDS
        ]
        return [number for *_, number in sorted(likely)[:PARTNERS]]

    def _up_to_date(self) -> list[Pair]:
        """The related pairs, in order, after comparing again those that a change may affect."""
        near: set[Two] = set()
        for number in self._stale:
            near.update(two_of(number, other) for other in self._partners.pop(number, ()))
            if number not in self._bodies or len(self._bodies[number].text) > LONGEST_FACT:
                continue
            others = self._near(self._bodies[number].reading, number)
            if others and self._is_fact(number):
                self._partners[number] = [other for other in others if self._is_fact(other)]
                near.update(two_of(number, other) for other in self._partners[number])
        self._stale.clear()
        for two in near:
            one, other = two
            pair = None
            if not (other in self._partners.get(one, ()) or one in self._partners.get(other, ())):
                pair = self._told.pop(two, None)
            elif two not in self._told:
                compared = self._compared(*sorted((self._bodies[one], self._bodies[other]), key=place_of))
                pair = self._told[two] = compared if compared.found.relation != "none" else None
            if pair:
                self._in_order = self._groups = None
        if self._in_order is None:
            self._in_order = sorted(filter(None, self._told.values()), key=order_of)
        return self._in_order

    def _is_fact(self, number: int) -> bool:
        """Whether a statement is a fact that stands alone."""
        if number not in self._facts:
            self._facts[number] = _is_fact(self._bodies[number].text)
        return self._facts[number]

    @property
    @without_collecting()
    def pairs(self) -> list[Pair]:
        """The pairs that seem to state one fact, or give one thing two values, in order."""
        return [each for each in map(self._decided, self._up_to_date()) if each.found.relation != "none"]

    @without_collecting()
    def possible_duplicates(self) -> list[list[Pair]]:
        """Groups of places that seem to state one fact, each as its pairs, most likely first."""
        compared = self._up_to_date()
        if self._groups is None:
            alike = {(each.one, each.other) for each in compared if each.found.relation == "same"}
            self._groups = grouped((each for each in self.pairs if each.found.relation == "same"), alike)
        return self._groups

    def pair(self, one: PlacedText, other: PlacedText) -> Pair:
        """Compare two statements, including their places."""
        return self._decided(self._compared(one, other))

    def same_in(self, paths: Collection[str], statement: PlacedText) -> list[PlacedText]:
        """Statements of these files that say the same as one of this index, those with most words in common first."""
        number = self._number_of.get(statement, -1)
        near = self._near(statement.reading, number) if self._is_fact(number) else []
        others = [self._bodies[each] for each in near if self._bodies[each].path in paths]
        return [each for each in others if self.pair(statement, each).found.relation == "same"]

    def _compared(self, one: PlacedText, other: PlacedText) -> Pair:
        """The comparison of two statements, without what depends on other statements, so that it can be cached."""
        found = compare(one.text, other.text, is_rare=self.is_rare)
        if told := exchanged_after_a_name(one.text, other.text, self.is_rare):
            apart = members_apart(one, other)
            found = Compared("none" if apart else "other value", 1.0, "one name, two values", *told)
        elif found.relation == "other value" and not self._of_one_thing(one, other, found):
            found = Compared("none", found.score, "values differ in two of many statements")
        if found.relation != "none" and (veto := places_apart(one, other)):
            found = Compared("none", found.score, veto)
        return Pair(one, other, found)

    def _decided(self, pair: Pair) -> Pair:
        if pair.found.relation != "same" or self._says_the_same(pair):
            return pair
        found = Compared("none", pair.found.score, "too little in common for two of many statements")
        return Pair(pair.one, pair.other, found)

    def _says_the_same(self, pair: Pair) -> bool:
        """Whether most rare words of both are common, or enough is, and neither belongs to something different."""
        words = self._rare_words(pair.one), self._rare_words(pair.other)
        if pair.one.text == pair.other.text:  # its copies alone make none of its words common
            terms = pair.one.reading.terms
            most = RARE - 1 + sum(each.text == pair.one.text for each in self.with_words(terms))
            words = (frozenset(w for w in terms if terms[w] and len(self._having.get(w, ())) <= most),) * 2
        common, both = words[0] & words[1], len(words[0]) + len(words[1])
        many = len(common) - len([*filter(UNSPACED.match, common)]) / 2  # pairs of characters overlap
        if many >= MANY_WORDS and 2 * len(common) >= MOST_WORDS * both:
            return True
        is_form = many < SOME_WORDS or is_same(pair.one.text, pair.other.text)  # or of two records
        if is_form and not self.is_of_a_short_file(pair.one, pair.other):
            return False
        enough = pair.found.score >= ONE_FACT or self._has_the_same_values(pair)
        return enough and not members_apart(pair.one, pair.other)

    def _has_the_same_values(self, pair: Pair) -> bool:
        """Whether both name the same things and values, some of them rare, and nothing else."""
        mine, theirs = pair.one.reading, pair.other.reading
        rare = [*filter(self.is_rare, mine.anchors & theirs.anchors)]
        return len(rare) > 1 and not (missing(mine, theirs) or missing(theirs, mine))

    def is_of_a_short_file(self, one: PlacedText, other: PlacedText) -> bool:
        """Whether a file of two statements says hardly anything else. The rows of an index are not counted, so it is never short."""
        paths = (each.path for each in (one, other) if not memdir.is_index(each.path))
        return any(0 < len(self._numbers[path]) <= FEW for path in paths)

    def _rare_words(self, statement: PlacedText) -> frozenset[str]:
        """The rare words of a statement, cached until a word becomes rare or common."""
        found = self._rare.get(statement)
        if found is None:
            terms = statement.reading.terms.items()
            found = frozenset(word for word, weight in terms if weight and self.is_rare(word))
            if statement.source == "body":
                self._rare[statement] = found
        return found

    def _of_one_thing(self, one: PlacedText, other: PlacedText, found: Compared) -> bool:
        """Whether two values belong to one thing."""
        old, new = found.old, found.new
        if old is None or new is None:
            return False
        if all(
            value.sort & read(name_of(each.path)).terms.keys() for value, each in ((old, one), (new, other))
        ):
            return False  # "after Phase 2" in phase_3.md: the number of a file, not a value
        if old.kind == "date" and old.start <= OPENING and new.start <= OPENING:
            return False  # both begin with the day they were written
        is_person = re.fullmatch(r"(?:\D+ \D+\n){2}", f"{old.key}\n{new.key}\n")  # or a command
        if old.key[:1] == "#" or not (old.is_measured or is_person):
            return False  # "#915" names an issue, "a: Java 17" and "b: Java 17" are two things
        return not members_apart(one, other)

    def two_values(self) -> list[Pair]:
        """Pairs that give one thing two values. Three values of one form are three things or a log, and left out."""
        values: dict[PlacedText, set[str]] = defaultdict(set)
        found = [each for each in self._up_to_date() if each.found.relation == "other value"]
        for each in found:
            for statement in (each.one, each.other):
                values[statement] |= {value.key for value in (each.found.old, each.found.new) if value}
        return [each for each in found if max(len(values[each.one]), len(values[each.other])) == 2]


def _is_fact(text: str) -> bool:
    """Whether it is more than links or a day ("Related: [[a]]", "Noted Apr 22, 2026."), form fields ("**Date:** … **By:** …") or a
    record of results."""
    text = encodable(text)
    rest = _NAMED_DAY.sub(" ", text) if _DAY_SIGN.search(text.lower()) else text
    rest = _LINK.sub(" ", rest) if "[" in rest or ".md" in rest else rest
    if rest != text and read(rest).weight < LEAST_SAID:
        return False
    numbers = {value.key for value in read(text).values if value.kind == "number"}
    is_form = (text.startswith("**") and text.count(":**") > 1) or text.count(": ") >= RECORD
    return not is_form and len(numbers) < RECORD
