"""What is told of which thing: "German for mails, English for code" against the same with the two exchanged. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import combinations, product

from dreams.language.parts import Statement

MOST = 6  # clauses that are looked at in pairs
_PARTING = frozenset({"and", "while", "but"})
_LISTING = frozenset({"and", "or"})
_Words = Sequence[str]


def handed_round(short: Statement, long: Statement) -> bool:
    """Whether what two clauses tell of two things is told of them the other way round: "German for mails, English for code"."""
    return any(
        all(kept and not _listed(kept, short, long) for kept in _kept(one, other, first, last))
        for mine, theirs in product(_phrasings(short), _phrasings(long))
        for one, other in combinations(mine, 2)
        for first, last in combinations(theirs, 2)
    )


def _kept(one: set[str], other: set[str], first: set[str], last: set[str]) -> tuple[set[str], set[str]]:
    """What stayed where it was, if the rest changed places, and the rest; none of both if nothing did."""
    if not (first & one and first & other and last & one and last & other):
        return set(), set()
    return first & one | last & other, first & other | last & one


def _phrasings(one: Statement) -> list[list[set[str]]]:
    """The words of each clause; and, where a clause goes on with "and", of each part as well."""
    parted = _PARTING & frozenset(one.flow)
    return [_phrases(one, parting) for parting in {frozenset[str](), parted}]


def _phrases(one: Statement, parting: frozenset[str]) -> list[set[str]]:
    """What stands in several of them tells none apart, and what stands alone is told of nothing."""
    found: list[set[str]] = [set()]
    for place, word in enumerate(one.flow):
        if word in parting or (place and one.clause_of[place] != one.clause_of[place - 1]):
            found.append(set())
        if word in one.weights:
            found[-1].add(word)
    counts = Counter(word for words in found for word in words)
    return [once for words in found[:MOST] if len(once := {w for w in words if counts[w] == 1}) > 1]


def _listed(words: set[str], short: Statement, long: Statement) -> bool:
    """Whether they are members of one list in both texts ("CSV, JSON and XML"), which has no order."""
    return all(any(words <= run for run in _runs(one)) for one in (short, long))


def _runs(one: Statement) -> list[set[str]]:
    """The words that follow each other with nothing but a comma or "and" between them."""
    found: list[set[str]] = []
    last = -1
    for place, word in enumerate(one.flow):
        if word not in one.weights:
            continue
        parted = last >= 0 and one.clause_of[place] != one.clause_of[last]
        between = frozenset(one.flow[last + 1 : place])
        if last >= 0 and between <= _LISTING and (parted or between):
            found[-1].add(word)
        else:
            found.append({word})
        last = place
    return found
