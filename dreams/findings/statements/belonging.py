"""Which words a name, number or code belongs to: whichever it stands nearer to, before an edit and after it. PURE."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import combinations

from dreams.findings.statements.wordings import SAYS_NOTHING
from dreams.language.statements import Statement

FARTHEST = 5  # words between one and what it belongs to
CLAUSE = 2  # words that the end of a clause is worth
LEAST = 0.15  # how much must speak for an exchange
MOST = 12  # names, numbers or codes that are looked at in pairs
_Places = dict[str, int]


def exchanged(one: Statement, other: Statement, words: Sequence[str]) -> bool:
    """Whether two of `words` have each what the other one had: "2 MB, status 413" and "413 MB, status 2"."""
    mine, theirs = _places(one), _places(other)
    alike = [word for word in words if word in mine and word in theirs][:MOST]
    turned = (
        one.passive | other.passive
    )  # "Ana owns it, Bob ..." and "... by Bob, it is owned by Ana": the verb is said of both
    things = [
        w for w in mine if w in theirs and w in one.weights and w not in turned and w not in SAYS_NOTHING
    ]
    return any(_exchanged(pair, things, mine, theirs) for pair in combinations(alike, 2))


def _exchanged(pair: tuple[str, str], things: Sequence[str], mine: _Places, theirs: _Places) -> bool:
    """Both must have lost something to the other one: the members of a list, or what only moved, lose on one side alone."""
    before = {thing: _nearer(pair, thing, mine) for thing in things if thing not in pair}
    votes = {thing: side * _nearer(pair, thing, theirs) for thing, side in before.items()}
    against = {before[thing] > 0 for thing, vote in votes.items() if vote < 0}
    return len(against) > 1 and sum(votes.values()) < -LEAST


def _places(one: Statement) -> _Places:
    """Where each word stands that stands there once."""
    counts = Counter(one.flow)
    return {
        word: at + CLAUSE * clause
        for at, (word, clause) in enumerate(zip(one.flow, one.clause_of, strict=True))
        if counts[word] == 1
    }


def _nearer(pair: tuple[str, str], thing: str, places: _Places) -> float:
    """Above nothing if a thing is nearer to the first of the two, below if to the last; the nearer, the more."""
    first, last = (max(1, abs(places[word] - places[thing])) for word in pair)
    if first == last or min(first, last) > FARTHEST:
        return 0.0
    return (1 if first < last else -1) / min(first, last)
