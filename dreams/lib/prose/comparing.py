"""Compares two statements: do they state the same fact, or give one thing two values? Few, strong signals, each named. Pure.

What both name (numbers, code, names, paths, dates) counts most, then the share of words that they have in common. A veto
never merges and never asks: what it holds back stays as it is."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal

from rapidfuzz import fuzz, process

from dreams.lib.prose import lexicon
from dreams.lib.prose.statements import asks, canonical, plain, statement
from dreams.lib.prose.values import Value, WordsAndValues, missing, read
from dreams.lib.prose.words import LONGEST


def normalised(text: str) -> str:
    """Equal for texts that differ in case, space, list marks, emphasis, quotes and final punctuation alone."""
    return plain(text) + text[LONGEST:]  # only so much is evened out, and what stands behind it counts too


def same(one: str, other: str) -> bool:
    """Whether two statements surely say the same: they have the same words, and both ask or none does."""
    return bool(plain(one)) and normalised(one) == normalised(other) and asks(one) == asks(other)


Relation = Literal["same", "other value", "none"]

# Shares of weight: of what the shorter one says, how much the longer one has (`covered`), and of both how much is common.
# Read off the 72 pairs of one index row and the nearest description, and the real directories: what is above is one fact in
# more than nine of ten.
WITH_ANCHORS = 0.34  # two rare values in common
WITH_ANCHOR = 0.5  # one
PLAIN, PLAIN_COMMON, PLAIN_APART = 0.6, 0.3, 0.5  # none: words alone; more where one has a value of its own
LEAST_COMMON = 2.4  # the weight in common: fewer is a topic
COPIED = 0.75  # of the longer one's, where the value is one name or a path, which differ for many reasons
FRAME = 0.6  # of the words beside two values, to be about one thing
MOST_NEW = 0.4  # of the weight of what a text says, that may be other words for what is known
LEAST = 0.25  # of the shorter one's weight, word for word: with less nothing else is looked at
OPENING = 3  # characters before a value that opens its statement: a bracket, emphasis
TELLING = 0.6  # the least weight of a word that tells what a statement is about
NEARLY, SHORT = 0.9, 1.5  # the share, and the weight in common, that will do for a few words
ALIKE, NEARLY_ALIKE = 88, 75  # rapidfuzz's ratio of sorted words: a copy with one thing changed
LONG_WORD = 4  # letters: a shorter word has no misspelling
SLIP = 84  # of two long words: one is the other misspelt, or in another form
SHORT_TERMS = 12  # words and values: a longer statement names things beside the one that it is about
_THINGS = frozenset({"name", "identifier", "path"})
_OPPOSED = frozenset(word for word, _ in lexicon.OPPOSITES)
UNITS = frozenset(map(canonical, [*lexicon.UNITS.values(), "month", "year", "minute", "item", "request"]))


@dataclass(frozen=True, slots=True)
class Compared:
    """`score` from 0 to 1; `rule` names the signal that decided, in words for a person.

    `old` and `new` are the values that differ where the relation is "other value" (of the first and the second text).
    """

    relation: Relation
    score: float
    rule: str
    old: Value | None = None
    new: Value | None = None


def compare(one: str, other: str, *, is_rare: Callable[[str], bool] = lambda key: True) -> Compared:
    """Compare two statements. `is_rare` says whether few statements of the directory have a value."""
    mine, theirs = read(one), read(other)
    if not mine.terms or not theirs.terms:
        return Compared("none", 0.0, "nothing to compare")
    short = min(mine.weight, theirs.weight)
    plain = sum(
        min(weight, theirs.terms[word]) for word, weight in mine.terms.items() if word in theirs.terms
    )
    if plain < LEAST * short:
        return Compared("none", round(plain / short / 2, 3), "too little in common")
    common = _common(mine.terms, theirs.terms)
    weight = sum(common.values())
    covered = weight / short
    shared = weight / (mine.weight + theirs.weight - weight)
    score = round(min(1.0, (covered + shared) / 2), 3)
    anchors = {key for key in mine.anchors & theirs.anchors if is_rare(key)}
    if veto := _veto(one, other, mine, theirs):
        return Compared("none", score, veto)
    differing = _differing(mine, theirs)
    if differing is not None:
        return _with_two_values(mine, theirs, differing, score, is_rare)
    if _names_another(mine, theirs) and _names_another(theirs, mine):
        return Compared("none", score, "each says it of another thing")
    told_apart = bool(missing(mine, theirs) or missing(theirs, mine))
    enough = _enough(covered, shared, weight, len(anchors), told_apart)
    rule = enough or "too little in common"
    return Compared("same" if enough else "none", score, rule)


def says_more(text: str, known: str, most_new: float = MOST_NEW) -> bool:
    """Whether a text has a value, an environment or a denial that `known` lacks, or says much beside it.

    `most_new` is the share of its weight that may be other words for what is known.
    """
    said, held = read(text), read(known)
    if missing(said, held) or said.environments - held.environments:
        return True
    if said.denials and not held.denials:
        return True
    return said.weight - sum(_common(said.terms, held.terms).values()) > most_new * said.weight


def _enough(covered: float, shared: float, weight: float, anchors: int, told_apart: bool) -> str:
    """The signal that the two tell one fact, empty for none. `told_apart`: one has a value that the other lacks."""
    if weight < LEAST_COMMON:
        return ""
    if anchors > 1 and covered >= WITH_ANCHORS:
        return "both name the same rare values"
    if anchors == 1 and covered >= WITH_ANCHOR:
        return "both name one rare value, and most words are common"
    if covered >= PLAIN and shared >= (PLAIN_APART if told_apart else PLAIN_COMMON):
        return "most words are common"
    return ""


def _common(mine: Mapping[str, float], theirs: Mapping[str, float]) -> dict[str, float]:
    """What both say, word by word; words that differ by a slip or an ending count as one."""
    common = {word: min(weight, theirs[word]) for word, weight in mine.items() if word in theirs}
    left = [word for word in mine if word not in common and len(word) > LONG_WORD and word.isalpha()]
    right = [word for word in theirs if word not in common and len(word) > LONG_WORD and word.isalpha()]
    for word in left:
        best = process.extractOne(word, right, scorer=fuzz.ratio, score_cutoff=SLIP) if right else None
        if best is not None:
            common[word] = min(mine[word], theirs[best[0]])
            right.remove(best[0])
    return common


def _veto(one: str, other: str, mine: WordsAndValues, theirs: WordsAndValues) -> str:
    """What keeps two statements apart however much they share: the environment, and in a copy a denial."""
    if mine.environments != theirs.environments:
        return "environments differ"
    if any(
        (word, back) in lexicon.OPPOSITES
        for word in (_OPPOSED & mine.terms.keys()) - theirs.terms.keys()
        for back in theirs.terms.keys() - mine.terms
    ):
        return "they have opposite words"
    if _of_one_family(mine, theirs):
        return "they name two things"
    if any(_units_differ(one, other) for one in mine.values for other in theirs.values):
        return "the units differ"
    if mine.denials != theirs.denials and _ratio(one, other) >= ALIKE:
        return "one denies what the other says"
    exchanged = _exchanged(mine, theirs) if len(mine.anchors & theirs.anchors) < 2 else None
    if exchanged and (_ratio(one, other) >= NEARLY_ALIKE or _are_copies(one, other, exchanged)):
        return "one word stands for another"
    return ""


def _ratio(one: str, other: str) -> float:
    return fuzz.token_sort_ratio(one.lower(), other.lower())


def _is_form_of(one: str, other: str) -> bool:
    """ "own" and "owner", "backup" and "backups"."""
    return one.startswith(other) or other.startswith(one) or fuzz.ratio(one, other) >= SLIP


def _of_one_family(mine: WordsAndValues, theirs: WordsAndValues) -> bool:
    """ "ledger-worker" in the one and "ledger-mailer" in the other: two things, whatever else is said of both."""
    kinds = {"name", "identifier"}
    left = [value for value in mine.values if value.kind in kinds and value.key not in theirs.anchors]
    right = [value for value in theirs.values if value.kind in kinds and value.key not in mine.anchors]
    return any(
        _parts(one) & _parts(other) and not (_parts(one) <= _parts(other) or _parts(other) <= _parts(one))
        for one in left
        for other in right
    )


def _names_another(reading: WordsAndValues, beside: WordsAndValues) -> bool:
    """Whether a short statement names a thing of which the other has no part."""
    return len(reading.terms) <= SHORT_TERMS and any(
        value.kind in _THINGS
        and value.key not in beside.anchors
        and not {canonical(part) for part in _parts(value)} & beside.terms.keys()
        for value in reading.values
    )


def _units_differ(one: Value, other: Value) -> bool:
    """ "30 days" and "30 weeks"."""
    units = one.sort & UNITS, other.sort & UNITS
    return (
        one.kind == other.kind == "number" and one.key == other.key and all(units) and not units[0] & units[1]
    )


def _exchanged(mine: WordsAndValues, theirs: WordsAndValues) -> set[str]:
    """The one plain word of each in whose place the other has another: a copy is about another thing then. Empty for none."""
    left, right = mine.terms.keys() - theirs.terms, theirs.terms.keys() - mine.terms
    plain = not (left & mine.anchors or right & theirs.anchors)
    return (
        left | right if plain and len(left) == len(right) == 1 and not _is_form_of(*left, *right) else set()
    )


def _are_copies(one: str, other: str, exchanged: set[str]) -> bool:
    """Whether all else is the same, word by word: a word that comes twice is exchanged twice."""
    said = [["" if word in exchanged else word for word in statement(text).flow] for text in (one, other)]
    return said[0] == said[1]


def _differing(mine: WordsAndValues, theirs: WordsAndValues) -> tuple[Value, Value] | None:
    """The value that each gives another of: a number of one sort, or a name where each has a name of its own.

    What opens a statement is rather what it is about, so that comes last.
    """
    own, others = missing(mine, theirs), missing(theirs, mine)
    only = [value for value in mine.values if value.key in own]
    back = [value for value in theirs.values if value.key in others]
    for value in sorted(only, key=_order):
        for other in sorted(back, key=_order):
            if of_one_sort(value, other):
                return value, other
    return None


def _order(value: Value) -> tuple[bool, bool, int]:
    return value.kind == "date", value.start <= OPENING, value.start


def of_one_sort(one: Value, other: Value) -> bool:
    if one.kind != other.kind or (
        one.kind == "date" and not (one.key[:4].isdigit() and other.key[:4].isdigit())
    ):
        return False
    if one.kind == "number":
        if min(one.key.count("."), other.key.count(".")) > 1:
            return True  # two versions, whatever word is behind them
        if one.unit and other.unit and not one.sort & other.sort:
            return False  # "30 days" and "14 backups"
        versions = 0 < one.key.count(".") == other.key.count(".")
        return versions or bool(one.sort & other.sort) or _form(one) == _form(other)
    if one.kind == "path" and (one.key[:1] == "/", _ending(one)) != (other.key[:1] == "/", _ending(other)):
        return False
    if one.kind in {"name", "identifier"} and _parts(one) & _parts(other):
        return False  # "ledger-worker" and "ledger-mailer" are two things
    return one.key not in other.key and other.key not in one.key


def _parts(value: Value) -> set[str]:
    words = value.key.replace("-", " ").replace("_", " ").replace("/", " ").split()
    return {word for word in words if not word.isdigit()}  # "eu-west-1" and "us-east-1" are of no family


def _ending(value: Value) -> str:
    return value.key.rpartition("/")[2].rpartition(".")[2]


def _form(value: Value) -> str:
    """ "41873" and "50000" are of one form, "3" and "50000" are not."""
    return "".join("0" if char.isdigit() else char for char in value.key)


def _with_two_values(
    mine: WordsAndValues,
    theirs: WordsAndValues,
    differing: tuple[Value, Value],
    score: float,
    is_rare: Callable[[str], bool],
) -> Compared:
    """About one thing with another value each, where what is beside the values is common."""
    old, new = differing
    sides = ((mine, theirs, old), (theirs, mine, new))
    others = [
        any(_is_own(v, other) and (v.start, v.end) != (value.start, value.end) for v in reading.values)
        for reading, other, value in sides
    ]
    rest = [{}, {}] if all(others) else [_beside(reading, value) for reading, _, value in sides]
    short, long = sorted(sum(each.values()) for each in rest)
    if not short:
        return Compared("none", score, "several values differ")
    common = sum(_common(rest[0], rest[1]).values())
    named = {value.key for value in mine.values if not value.is_measured} & theirs.anchors
    own = [
        any(weight >= TELLING and word not in b for word, weight in a.items()) for a, b in (rest, rest[::-1])
    ]
    if all(own) and not named:
        return Compared("none", score, "each says it of another thing")
    rare = any(map(is_rare, named))
    if not rare and old.kind != "number" and " " not in old.key + new.key and common / long < COPIED:
        return Compared("none", score, "values differ")
    enough = common >= LEAST_COMMON - (1.0 if rare else 0.0) or (common / short >= NEARLY and common > SHORT)
    if common / short >= FRAME and enough:
        return Compared("other value", round(common / long, 3), "one thing, two values", old, new)
    return Compared("none", score, "values differ")


def _is_own(value: Value, others: WordsAndValues) -> bool:
    return value.kind != "date" and value.key not in others.anchors and value.key not in others.terms


def _beside(reading: WordsAndValues, value: Value) -> dict[str, float]:
    """What is beside a value, without the number right behind it ("Redis 7") and days, which no statement is about."""
    without = {each.key for each in reading.values if each.kind == "date" or each.start == value.end + 1}
    without.update((value.key,), () if value.key.isdecimal() else read(value.key).terms)
    return {word: weight for word, weight in reading.terms.items() if word not in without}
