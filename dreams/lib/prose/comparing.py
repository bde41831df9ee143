"""Compares two statements: do they state the same fact, or give one thing two values? Few strong signals with names. Pure.

Common values (numbers, code, names, paths, dates) count most, then the share of common words. After a veto nothing is merged
or asked. `similar --explain` prints the rule that decided about two texts."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from hashlib import sha256
from typing import Literal

from rapidfuzz import fuzz, process

from dreams.lib.prose import lexicon
from dreams.lib.prose.statements import asks, canonical, plain, statement
from dreams.lib.prose.values import Value, WordsAndValues, is_camel, missing, read
from dreams.lib.prose.words import LONGEST


def digest(text: str) -> str:
    """The sha256 of a statement as `normalised`, for rows, which hold no text of memories."""
    return sha256(normalised(text).encode("utf-8", "surrogatepass")).hexdigest()


def normalised(text: str) -> str:
    """Equal for texts that differ only in case, spaces, list marks, emphasis, quotes and final punctuation."""
    return plain(text) + text[LONGEST:]  # beyond LONGEST as written


def same(one: str, other: str) -> bool:
    """Whether two statements have the same words, and both or none are questions."""
    return bool(plain(one)) and normalised(one) == normalised(other) and asks(one) == asks(other)


_NOT_BESIDES = r"(?! (?:mov|chang|switch|migrat|upgrad|rais|lower)ed\b)"  # it tells of a change
_BESIDES = re.compile(rf"(?i)\b(?:also{_NOT_BESIDES}|additionally|as well(?! as)|too(?=\W*$))\b")


def adds(text: str, known: str) -> bool:
    """Whether a text says something besides what is known, and not in its place: "it also listens on 9090"."""
    return bool(_BESIDES.search(text)) and not _BESIDES.search(known)


Relation = Literal["same", "other value", "none"]

# Shares of weight: how much of the shorter one the longer one has (`covered`), and how much is common. Read off 72 pairs of
# index rows and descriptions, and real directories: above them, more than nine in ten are one fact.
WITH_ANCHORS = 0.34  # two rare values in common
WITH_ANCHOR = 0.5  # one
PLAIN, PLAIN_COMMON, PLAIN_APART = 0.6, 0.3, 0.5  # none, only words; more if one has its own value
LEAST_COMMON = 2.4  # the common weight; with less it is only a topic
FRAME = 0.6  # of the words beside two values, to be about one thing
MOST_NEW = 0.4  # share of a text's weight that may be paraphrase
LEAST = 0.25  # least literal share of the shorter one's weight, checked first
OPENING = 3  # characters before a first value: a bracket, emphasis
TELLING = 0.6  # least weight of a topic word
NEARLY, SHORT = 0.9, 1.5  # share and common weight that are enough for a few words
ALIKE = 88  # rapidfuzz's ratio of sorted words: a copy with one thing changed
LONG_WORD = 4  # letters; shorter words are not taken for misspellings
SLIP = 84  # of two long words, to be a misspelling or another form
SHORT_TERMS = 12  # words and values; longer statements name other things too
_THINGS = frozenset({"name", "identifier", "path"})
# Two texts that differ in a word or two at the end of a clause.
_EXCHANGED = re.compile(
    r"(?P<before>.+ )(?P<old>\S+(?: \S+)?)(?P<behind>(?:[,;] .*)?)\n(?P=before)(?P<new>\S+(?: \S+)?)(?P=behind)"
)
_OPPOSED = frozenset(word for word, _ in lexicon.OPPOSITES)
UNITS = frozenset(map(canonical, [*lexicon.UNITS.values(), "month", "year", "minute", "item", "request"]))


@dataclass(frozen=True, slots=True)
class Compared:
    """`score` from 0 to 1; `rule` names the deciding signal, for a person.

    `old` and `new` are the differing values of the first and second text if the relation is "other value".
    """

    relation: Relation
    score: float
    rule: str
    old: Value | None = None
    new: Value | None = None


def compare(one: str, other: str, *, is_rare: Callable[[str], bool] = lambda key: True) -> Compared:
    """Compare two statements. `is_rare`: whether few statements of the directory have a value."""
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
    if differing is not None and (adds(one, other) or adds(other, one)):
        return Compared("none", score, "one is said besides the other")
    if differing is not None:
        return _with_two_values(mine, theirs, differing, score, is_rare)
    if _names_another(mine, theirs) and _names_another(theirs, mine):
        return Compared("none", score, "each says it of another thing")
    told_apart = bool(missing(mine, theirs) or missing(theirs, mine))
    enough = _enough(covered, shared, weight, len(anchors), told_apart)
    rule = enough or "too little in common"
    return Compared("same" if enough else "none", score, rule)


CLAUSE = re.compile(r"[,;:.](?=\s)|\sand\s")
_CLAUSES = re.compile(rf"(?:`[^`\n]*`|(?!{CLAUSE.pattern}).)+", re.DOTALL)  # a comma in code ends none


def says_more(text: str, known: str, most_new: float = MOST_NEW) -> bool:
    """Whether a text has a value, environment or negation that `known` lacks, or much other content.

    `most_new` is the share of its weight that may be paraphrase.
    """
    said, held = read(text), read(known)
    if missing(said, held) or said.environments - held.environments:
        return True
    own = (read(part).terms for part in _CLAUSES.findall(text))
    of_its_own = any(
        max(terms.values(), default=0) >= TELLING and not _common(terms, held.terms) for terms in own
    )
    if of_its_own or (said.denials and not held.denials):
        return True
    return said.weight - sum(_common(said.terms, held.terms).values()) > most_new * said.weight


def _enough(covered: float, shared: float, weight: float, anchors: int, told_apart: bool) -> str:
    """The signal that both state one fact, or "". `told_apart`: one has a value that the other lacks."""
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
    """The common words; misspellings and other endings count as equal."""
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
    """Why two statements are never one fact (environments, opposites, numbers of two things, in a copy a negation or another word), or ""."""
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
    if any(_counts_another(one, other, theirs) for one in mine.values for other in theirs.values):
        return "one number counts two things"
    if mine.denials != theirs.denials and _ratio(one, other) >= ALIKE:
        return "one denies what the other says"
    exchanged = _exchanged(mine, theirs) if len(mine.anchors & theirs.anchors) < 2 else None
    if exchanged and (_ratio(one, other) >= ALIKE or _are_copies(one, other, exchanged)):
        return "one word stands for another"
    return ""


def _ratio(one: str, other: str) -> float:
    return fuzz.token_sort_ratio(one.lower(), other.lower())


def _of_one_family(mine: WordsAndValues, theirs: WordsAndValues) -> bool:
    """Whether they name two things of one family: "ledger-worker" and "ledger-mailer"."""
    kinds = {"name", "identifier"}
    left = [value for value in mine.values if value.kind in kinds and value.key not in theirs.anchors]
    right = [value for value in theirs.values if value.kind in kinds and value.key not in mine.anchors]
    return any(
        _parts(one) & _parts(other) and not (_parts(one) <= _parts(other) or _parts(other) <= _parts(one))
        for one in left
        for other in right
    )


def _names_another(reading: WordsAndValues, beside: WordsAndValues) -> bool:
    """Whether a short statement names a thing that the other does not mention."""
    return len(reading.terms) <= SHORT_TERMS and any(
        value.kind in _THINGS
        and value.key not in beside.anchors
        and not {canonical(part) for part in _parts(value)} & beside.terms.keys()
        for value in reading.values
    )


def _counts_another(one: Value, other: Value, beside: WordsAndValues) -> bool:
    """Whether a number has two units ("30 days", "30 weeks"), or a label that another number has in the other statement."""
    units = one.sort & UNITS, other.sort & UNITS
    labels = (each.sort for each in beside.values if each.kind == "number" and each.key != one.key)
    apart = all(units) and not units[0] & units[1]
    is_another = apart or (not one.sort & other.sort and any(one.sort & label for label in labels))
    return one.kind == other.kind == "number" and one.key == other.key and is_another


def _exchanged(mine: WordsAndValues, theirs: WordsAndValues) -> set[str]:
    """The single plain words that were exchanged, so that a copy is about another thing; empty if none."""
    left, right = mine.terms.keys() - theirs.terms, theirs.terms.keys() - mine.terms
    if left & mine.anchors or right & theirs.anchors or not len(left) == len(right) == 1:
        return set()
    # Forms of one word: "own" and "owner", "backup" and "backups".
    [one], [other] = left, right
    is_form = one.startswith(other) or other.startswith(one) or fuzz.ratio(one, other) >= SLIP
    return set() if is_form else left | right


def _are_copies(one: str, other: str, exchanged: set[str]) -> bool:
    """Whether everything else is the same, word by word."""
    said = [["" if word in exchanged else word for word in statement(text).flow] for text in (one, other)]
    return said[0] == said[1]


def exchanged_after_a_name(
    one: str, other: str, is_rare: Callable[[str], bool]
) -> tuple[Value, Value] | None:
    """The one place in which two texts differ, a word or two at the end of a clause, if a rare name that is no plain word stands
    before it: "`shop-web` is formatted with prettier". Before the name they are two things with one value."""
    found = _EXCHANGED.fullmatch("\n".join(text.rstrip(".,;!") for text in (one, other)))
    if not found or any(found["old"].split()[at] == found["new"].split()[at] for at in (0, -1)):
        return None
    before, *told = found.group("before", "old", "new")
    named = (each for each in read(before).values if is_rare(each.key))
    if not any(each.kind == "identifier" or is_camel(before[each.start : each.end]) for each in named):
        return None
    old, new = (Value("name", text.strip("`").lower(), len(before), len(before + text)) for text in told)
    return old, new


def _differing(mine: WordsAndValues, theirs: WordsAndValues) -> tuple[Value, Value] | None:
    """The differing values (of the first, of the second): the first pair of one sort that only one statement each has; else None.

    Values that open a statement are usually its topic, so they are tried last.
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
            return True  # two versions, whatever word follows
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
    return {word for word in words if not word.isdigit()}  # "eu-west-1" and "us-east-1" are not a family


def _ending(value: Value) -> str:
    return value.key.rpartition("/")[2].rpartition(".")[2]


def _form(value: Value) -> str:
    """The form of a value: "41873" and "50000" have the same, "3" and "50000" do not; "7e-5" and "1.5e-4" do, as any two times."""
    sign = next((sign for sign in ("e-", ":") if sign in value.key), "")
    return sign or "".join("0" if char.isdigit() else char for char in value.key)


def _with_two_values(
    mine: WordsAndValues,
    theirs: WordsAndValues,
    differing: tuple[Value, Value],
    score: float,
    is_rare: Callable[[str], bool],
) -> Compared:
    """The comparison of two statements about one thing with different values, if the rest is common."""
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
    rare = any(map(is_rare, named))
    enough = common >= LEAST_COMMON - (1.0 if rare else 0.0) or (common / short >= NEARLY and common > SHORT)
    if common / short >= FRAME and enough:
        return Compared("other value", round(common / long, 3), "one thing, two values", old, new)
    return Compared("none", score, "values differ")


def _is_own(value: Value, others: WordsAndValues) -> bool:
    return value.kind != "date" and value.key not in others.anchors and value.key not in others.terms


def _beside(reading: WordsAndValues, value: Value) -> dict[str, float]:
    """The words beside a value, without a number right after it ("Redis 7") and without days."""
    without = {each.key for each in reading.values if each.kind == "date" or each.start == value.end + 1}
    without.update((value.key,), () if value.key.isdecimal() else read(value.key).terms)
    return {word: weight for word, weight in reading.terms.items() if word not in without}
