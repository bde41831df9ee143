"""Where, when and how far a thing holds: environments, limits, what is not settled, and opposites. Pure."""

from __future__ import annotations

import re

from dreams.language import helpers, lexicon, polarity
from dreams.language.amounts import apart
from dreams.language.lexicon import LIMITS, ONLY
from dreams.language.parts import Statement
from dreams.language.retold.pair import ALL, Pair, beside
from dreams.language.statements import canonical

LEAST_UNDONE = 5  # letters: "in" and "come" are no "income"
LONGEST_LABEL = 2  # words of "Planned: ..."
_REGARDLESS = re.compile(
    r"\b(?:even (?:if|when|though)|regardless|no matter|whether or not)\b", re.IGNORECASE
)
_EXCEPTING = re.compile(r"\b(?:unless|except|otherwise|else)\b", re.IGNORECASE)
_UNDER = frozenset({"if", "where", "provided", "than"})
_ANY_LIMIT = LIMITS | lexicon.CONDITIONAL | {"alone", "sole", "just", "all", "every"}
_ADVERBS = frozenset(
    canonical(word)
    for word in "formerly former anymore maybe perhaps probably possibly presumably might".split()  # noqa: SIM905 - a word list
)
_BEING = helpers.BE | {"still", "currently", "now", "already", "marked", "considered", "as"}
_PUT_OFF = frozenset({"deferred", "postponed", "paused", "cancelled", "abandoned"})
_NO_PLACE = frozenset({"dev", "demo", "preview", "qa"})  # as often said of people, links and texts
_INTO = frozenset({"in", "on", "at", "to", "from", "for", "within", "into", "against"})
AFTERTHOUGHT = 2  # words of a clause that goes with the one before: ", descending"
# Pairs that a paraphrase exchanges freely, with a denial or a quantity elsewhere.
_SOFT = frozenset("always never must may all any each every none some this required optional".split())  # noqa: SIM905 - a word list


def environments_apart(pair: Pair) -> bool:
    """Two places, or a place that only one names: where it tells what both tell, not in a reason or an example."""
    mine, theirs = (one.environments - _NO_PLACE for one in (pair.short, pair.long))
    if apart(mine, theirs):
        return True
    of_long = len(theirs) > len(mine)
    one, own = (pair.long, theirs - mine) if of_long else (pair.short, mine - theirs)
    words = frozenset(canonical(word) for word in one.raw if lexicon.ENVIRONMENTS.get(word) in own)
    if one.flow[0] in words and one.flow[1:2] and one.flow[1] in lexicon.ARTICLES | {"these", "those"}:
        return False  # "staging these files"
    return bool(words & _shared(one, pair))


def _shared(one: Statement, pair: Pair) -> set[str]:
    """All words of the clauses that have to do with the other text, and of the one that it begins with."""
    found: set[str] = set()
    for place, words in enumerate(polarity.segments(one)):
        if place == 0 or len(words) <= AFTERTHOUGHT or any(word in pair.weights for word in words):
            found.update(words)
    return found


def limited(pair: Pair, words: frozenset[str]) -> bool:
    texts = pair.short.text, pair.long.text
    if any(_REGARDLESS.search(one) and _EXCEPTING.search(other) for one, other in (texts, texts[::-1])):
        return True
    return any(
        _unsettled(one, other) or _limits(one, other, words)
        for one, other in ((pair.short, pair.long), (pair.long, pair.short))
    )


def _unsettled(one: Statement, other: Statement) -> bool:
    """Planned, deprecated, formerly so: said of what both tell, or of all that follows; "outdated docs" says it of the docs."""
    own = one.raw & lexicon.UNSETTLED - other.raw - {"planning", "blocked", "yet"}
    if own & _PUT_OFF and any(word in lexicon.NEGATIONS for word in other.flow):
        own -= _PUT_OFF  # "feature requests are deferred", "no feature requests"
    touched = one.touched(other) | {0} if own else set()
    return any(clause in touched and word in own for clause, word in one.marked) and any(
        _says_it(one, place, own) for place in range(len(one.flow))
    )


def _says_it(one: Statement, place: int, words: frozenset[str]) -> bool:
    if one.flow[place] not in {canonical(word) for word in words} | words:
        return False
    label = one.clause_of[place] == 0 and one.clause_of.count(0) <= LONGEST_LABEL
    return label or one.flow[place] in _ADVERBS or bool(set(one.flow[max(0, place - 2) : place]) & _BEING)


def _limits(one: Statement, other: Statement, words: frozenset[str]) -> bool:
    """Whether one takes back something of what both say: "except in tests", "but only for guests"."""
    for place, word in enumerate(one.flow):
        if word in words or (word in ONLY and _begins_clause(one, place)):
            if word == "until" and set(one.flow[:place]) & lexicon.NEGATIONS:
                continue  # "do not push until it is tested" says what comes first
            limit = frozenset(_phrase(one, place))
            if limit and limit.isdisjoint(other.weights):
                return True
    return False


def conditioned(pair: Pair) -> bool:
    """Whether the one says all that the other says, of a few or under a condition: "if it failed", "only admins in the EU"."""
    if pair.found.covered < ALL or not pair.short.raw.isdisjoint(_ANY_LIMIT):
        return False
    places = [place for place, word in enumerate(pair.long.flow) if word in _UNDER]
    added = any((behind := _phrase(pair.long, place)) and pair.common.isdisjoint(behind) for place in places)
    return added or bool(ONLY & set(pair.long.flow[:1]))


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


def opposed(pair: Pair) -> bool:
    """A word and its opposite, where neither is denied: "it fails" and "it does not work" are one."""
    mine, theirs = (_said(one, pair) for one in (pair.short, pair.long))
    own, others = mine - set(pair.long.counts), theirs - set(pair.short.counts)
    return any(
        ((one, other) in lexicon.OPPOSITES or _undone(one, other) or _undone(other, one))
        and _of_one_thing(one, other, pair)
        for one in own
        for other in others
    )


def _of_one_thing(one: str, other: str, pair: Pair) -> bool:
    """ "before pushing" and "after pushing"; "before the release" and "after a change" may both be so."""
    if one in lexicon.PLACING:
        return bool(_object(pair.short, canonical(one)) & _object(pair.long, canonical(other)))
    near = beside(pair.short, canonical(one), pair.common)
    return pair.close or bool(near & beside(pair.long, canonical(other), pair.common))


def _object(one: Statement, word: str) -> set[str]:
    """The first word that tells something behind each place of a preposition."""
    return {
        phrase[0]
        for place, each in enumerate(one.flow)
        if each == word and (phrase := [w for w in _phrase(one, place) if w not in lexicon.GENERIC])
    }


def _undone(one: str, other: str) -> bool:
    """ "resolved" and "unresolved"."""
    return len(one) >= LEAST_UNDONE and other in {f"un{one}", f"in{one}", f"non{one}", f"dis{one}"}


def _said(one: Statement, pair: Pair) -> set[str]:
    """The words as written that are said of what both texts tell, and not denied."""
    shared, denied = _shared(one, pair), _denied(one)
    return {
        word
        for word in one.counts
        if word not in _SOFT and {word, canonical(word)} & shared and canonical(word) not in denied
    }


def _denied(one: Statement) -> frozenset[str]:
    return frozenset(word for _, words in one.denied for word in words[:1])
