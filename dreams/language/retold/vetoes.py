"""What keeps two texts apart although they tell of the same units: a fact that both give, and give differently. Pure."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property

from dreams.language import amounts, contrasts, lexicon, polarity
from dreams.language.edits import LEAST_WORDS, altered, edit, regraded
from dreams.language.orders import crossed, other_doer, swapped, turned_round
from dreams.language.parts import Item, Statement
from dreams.language.retold.alignment import Alignment
from dreams.language.retold.units import LIGHT, Told, known_words
from dreams.language.statements import canonical

NEAR = 2  # items between which a name and a word stand side by side
FEW = 8  # units, up to which a text has one slot for a name
_SHOUTED = re.compile(r"\b[A-Z]{2,6}\b")
_CAPITAL = re.compile(r"(?<![\w.-])([A-Z][^\W_]+)(?![\w-])")
_OPENERS = frozenset({"", ".", "!", "?", ":", "(", "—", "–", "-", ";", ">"})
_NAME = re.compile(r"[^\W\d_]+\d*")
_LIMITS = frozenset({"only", "unless", "except", "until", "exclusively", "solely"})
_ONLY = frozenset({"only", "exclusively", "solely"})
_ADVERBS = frozenset(
    [
        "formerly",
        "former",
        "previously",
        "anymore",
        "maybe",
        "perhaps",
        "probably",
        "possibly",
        "presumably",
        "might",
    ]
)
_BEING = frozenset(
    [
        "is",
        "are",
        "was",
        "were",
        "be",
        "been",
        "being",
        "still",
        "currently",
        "now",
        "already",
        "not",
        "marked",
        "considered",
        "as",
    ]
)
_NO_PLACE = frozenset({"dev", "demo", "preview", "qa"})  # as often said of people, links and texts
# Pairs that a paraphrase exchanges freely, with a denial or a quantity elsewhere.
_SOFT = frozenset("always never must may all any each every none some this required optional".split())  # noqa: SIM905 - a word list
CLOSE = 0.5  # of the longer one's weight told by the shorter one
LEAST_ODD, LEAST_ODD_LOOSE = 1.0, 2.0  # weight that the one affirms and the other denies
MOST_CHANGES = 2  # that make a copy another statement; one with more was written anew
ALIKE = 0.35  # of a text's weight: if no more is its own, a limit put in is what makes it another


@dataclass(frozen=True)
class Pair:
    """The shorter text and the longer one, the latter in the words of the former."""

    short: Statement
    long: Statement
    one: Told
    other: Told
    found: Alignment

    @cached_property
    def copy(self) -> bool:
        return edit(self.short, self.long).copy

    @property
    def brief(self) -> bool:
        """Too short to be told as a copy."""
        return min(len(self.short.flow), len(self.long.flow)) <= LEAST_WORDS

    @cached_property
    def common(self) -> frozenset[str]:
        return frozenset(self.short.weights) & frozenset(self.long.weights)

    @cached_property
    def weights(self) -> dict[str, float]:
        """Of the words that both have."""
        return {word: self.short.weights[word] for word in self.common}


def conflict(pair: Pair) -> str:
    """The first fact that both give differently, or nothing.

    Where one tells much that the other leaves out, a detail of its own is none against it; who changes one thing in a note
    leaves the rest as it was.
    """
    short, long = pair.short, pair.long
    close = pair.copy or pair.found.covering >= CLOSE
    always = (
        (lambda: short.asks != long.asks, "one asks, the other says"),
        (lambda: _numbers_apart(pair, close=close), "numbers differ"),
        (lambda: contrasts.signs_differ(short, long), "one is done or right, the other not"),
        (lambda: _apart(short.days, long.days), "days differ"),
        (lambda: _names_apart(pair, close=close), "names differ"),
        (
            lambda: polarity.at_odds(
                short, long, pair.weights, least=LEAST_ODD if close else LEAST_ODD_LOOSE
            ),
            "one denies what the other says",
        ),
        (lambda: _environments_apart(pair), "environments differ"),
        (lambda: _limited(pair, _LIMITS - _ONLY), "conditions or states differ"),
        (lambda: _opposed(pair, close=close), "opposite words"),
        (lambda: turned_round(short, long), "the order is turned round"),
        (lambda: crossed(short, long), "names change places"),
        (lambda: other_doer(short, long), "who does it changes"),
    )
    return contrasts.first(always) or (contrasts.first(_closer(pair)) if close else "")


def _closer(pair: Pair) -> Iterator[tuple[Callable[[], bool], str]]:
    short, long = pair.short, pair.long
    yield lambda: amounts.differ(short.text, long.text), "times differ"
    yield lambda: _limited(pair, _LIMITS), "conditions or states differ"
    yield lambda: bool(short.was & long.is_ or short.is_ & long.was), "one was, the other is"
    yield lambda: contrasts.graded(short, long), "one says all, the other some"
    yield lambda: pair.copy and _edited(pair), "a copy with one thing changed"
    yield lambda: pair.brief and contrasts.exchanged(short, long), "one word stands for another"


def _numbers_apart(pair: Pair, *, close: bool) -> bool:
    mine, theirs = pair.short.numbers, pair.long.numbers
    if close or not _apart(mine, theirs):
        return _apart(mine, theirs)
    return any(
        _beside(pair.short, one, pair.common) & _beside(pair.long, other, pair.common)
        for one in mine - theirs
        for other in theirs - mine
    )


_apart = amounts.apart


def _telling(one: Statement) -> list[Item]:
    return [item for item in one.items if item.word not in LIGHT and item.word not in lexicon.GENERIC]


def _matched(pair: Pair) -> tuple[frozenset[str], frozenset[str]]:
    mine = frozenset(pair.one.units[i].word for i, _, _ in pair.found.pairs)
    theirs = frozenset(pair.other.units[j].word for _, j, _ in pair.found.pairs if j >= 0)
    return mine | pair.common, theirs | pair.common


def _names_apart(pair: Pair, *, close: bool) -> bool:
    """Each has a name, a path or an identifier that the other lacks, and both stand in one place."""
    mine, theirs = _matched(pair)
    own, others = _hard(pair.short, mine), _hard(pair.long, theirs)
    if contrasts.quoted_apart(pair.short, pair.long):
        return True
    if not (own and others):
        return False
    few = close and len(pair.one.units) <= FEW and len(pair.other.units) <= FEW
    return any(
        bool(_NAME.fullmatch(u)) == bool(_NAME.fullmatch(v))
        and (few or _beside(pair.short, u, pair.common) & _beside(pair.long, v, pair.common))
        for u in own
        for v in others
    )


def _hard(one: Statement, matched: frozenset[str]) -> set[str]:
    """Names that are no plain words with a capital, and codes; also one that opens the text, where all words have a capital."""
    named = ({name for _, name in one.names} | _capitals(one.text)) & one.weights.keys() | one.codes
    shouted = {canonical(word.lower()) for word in _SHOUTED.findall(one.text)}
    return {
        name
        for name in named
        if name not in matched and (name in one.codes or name not in known_words() or name in shouted)
    }


@functools.lru_cache(maxsize=20_000)
def _capitals(text: str) -> frozenset[str]:
    """Words with a capital; where a sentence begins, those that look like no plural and no deed."""
    return frozenset(
        canonical(match[1].lower())
        for match in _CAPITAL.finditer(text)
        if text[: match.start()].rstrip(" \"'`*")[-1:] not in _OPENERS or not match[1].endswith(("s", "ing"))
    )


def _beside(one: Statement, word: str, common: frozenset[str]) -> set[str]:
    """The words of both texts that stand next to it."""
    items = _telling(one)
    found: set[str] = set()
    for place, item in enumerate(items):
        if item.word == word:
            near = items[max(0, place - NEAR) : place + NEAR + 1]
            found |= {other.word for other in near if other.clause == item.clause and other.word in common}
    return found


def _own_weight(told: Told, matched: frozenset[str], but: frozenset[str]) -> float:
    return sum(u.weight for u in told.units if u.word not in matched and u.word not in but) / (
        told.weight or 1
    )


def _all_that_differs(pair: Pair, words: frozenset[str], *, of_long: bool) -> bool:
    """Whether one text has next to nothing of its own but these words."""
    mine, theirs = _matched(pair)
    told, matched = (pair.other, theirs) if of_long else (pair.one, mine)
    return _own_weight(told, matched, words) < ALIKE


def _environments_apart(pair: Pair) -> bool:
    """Two places, or a place that only one names: where it tells what both tell, not in a reason or an example."""
    mine, theirs = (one.environments - _NO_PLACE for one in (pair.short, pair.long))
    if _apart(mine, theirs):
        return True
    of_long = len(theirs) > len(mine)
    one, own = (pair.long, theirs - mine) if of_long else (pair.short, mine - theirs)
    words = frozenset(canonical(word) for word in one.raw if lexicon.ENVIRONMENTS.get(word) in own)
    if one.flow[0] in words and one.flow[1:2] and one.flow[1] in lexicon.ARTICLES | {"these", "those"}:
        return False  # "staging these files"
    return bool(words) and (
        bool(words & _shared(one, pair)) or _all_that_differs(pair, words, of_long=of_long)
    )


def _shared(one: Statement, pair: Pair) -> set[str]:
    """All words of the clauses that have to do with the other text, and of the one that it begins with."""
    found: set[str] = set()
    for place, words in enumerate(polarity.segments(one)):
        if not place or any(word in pair.weights for word in words):
            found.update(words)
    return found


def _limited(pair: Pair, words: frozenset[str]) -> bool:
    return any(
        _unsettled(one, other) or _limits(one, other, words)
        for one, other in ((pair.short, pair.long), (pair.long, pair.short))
    )


def _unsettled(one: Statement, other: Statement) -> bool:
    """Planned, deprecated, formerly so: said of what both tell, or of all that follows; "outdated docs" says it of the docs."""
    own = one.raw & lexicon.UNSETTLED - other.raw - {"planning", "blocked", "yet"}
    touched = one.touched(other) | {0} if own else set()
    return any(clause in touched and word in own for clause, word in one.marked) and any(
        _says_it(one, place, own) for place in range(len(one.flow))
    )


def _says_it(one: Statement, place: int, words: frozenset[str]) -> bool:
    if one.flow[place] not in {canonical(word) for word in words} | words:
        return False
    begins = place == 0 or one.clause_of[place] != one.clause_of[place - 1]
    return begins or one.flow[place] in _ADVERBS or bool(set(one.flow[max(0, place - 2) : place]) & _BEING)


def _limits(one: Statement, other: Statement, words: frozenset[str]) -> bool:
    """Whether one takes back something of what both say: "except in tests", "but only for guests"."""
    for place, word in enumerate(one.flow):
        if word in words or (word in _ONLY and _begins_clause(one, place)):
            limit = frozenset(_phrase(one, place))
            if limit and not (
                limit & frozenset(other.weights) if word in _ONLY else limit <= frozenset(other.weights)
            ):
                return True
    return False


def _begins_clause(one: Statement, place: int) -> bool:
    """ "..., but only on Linux"."""
    return place > 0 and (one.flow[place - 1] == "but" or one.clause_of[place] != one.clause_of[place - 1])


def _phrase(one: Statement, place: int) -> list[str]:
    """The words of meaning behind a place, up to the end of the clause."""
    return [
        word
        for word, clause in zip(one.flow[place + 1 :], one.clause_of[place + 1 :], strict=True)
        if clause == one.clause_of[place] and word in one.weights
    ]


def _opposed(pair: Pair, *, close: bool) -> bool:
    mine, theirs = (
        {word for word in one.counts if word not in _SOFT and {word, canonical(word)} & _shared(one, pair)}
        for one in (pair.short, pair.long)
    )
    own, others = mine - set(pair.long.counts), theirs - set(pair.short.counts)
    return any(
        (one, other) in lexicon.OPPOSITES
        and (
            close
            or _beside(pair.short, canonical(one), pair.common)
            & _beside(pair.long, canonical(other), pair.common)
        )
        for one in own
        for other in others
    )


def _forms(one: Statement) -> tuple[bool, bool]:
    """A list behind a label, a question with its answer: who copies a note keeps its form."""
    return one.labelled, "?" in one.text


def _changes(short: Statement, long: Statement) -> int:
    """In how many places words of meaning were put in, left out or exchanged."""
    return sum(
        any(word in short.weights for word in change.gone)
        or any(word in long.weights for word in change.come)
        for change in edit(short, long).changes
    )


def _edited(pair: Pair) -> bool:
    """Read word by word; a verb that tells nothing ("are", "live", "are kept") makes no difference."""
    short, long = (
        replace(
            one, weights={w: weight for w, weight in one.weights.items() if w not in LIGHT} or one.weights
        )
        for one in (pair.short, pair.long)
    )
    if _changes(short, long) > MOST_CHANGES or _forms(short) != _forms(long):
        return False
    return (
        altered(short, long, detailed=True)
        or regraded(short, long)
        or swapped(short, long)
        or contrasts.marks_differ(short, long)
        or contrasts.code_differs(short, long)
        or contrasts.negation_differs(short, long)
    )
