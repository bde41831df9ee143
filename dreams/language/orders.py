"""Whether two statements of the same words say them the other way round: sides of "over", who does it to whom. Pure."""

from __future__ import annotations

from dreams.language import lexicon
from dreams.language.statements import Statement


def turned_round(short: Statement, long: Statement) -> bool:
    """ "prefer X over Y" against "prefer Y over X": what stands left and right of the same connector."""
    for connector, (left, right) in short.sides.items():
        if connector in long.sides:
            other_left, other_right = long.sides[connector]
            if (left - other_left) & other_right and (right - other_right) & other_left:
                return True
    return _opposite_sides(short, long)


def _opposite_sides(short: Statement, long: Statement) -> bool:
    """ "before pushing" against "after pushing", whatever else is before or after something."""
    for connector, (_, right) in short.sides.items():
        for other, (_, other_right) in long.sides.items():
            if (connector, other) in lexicon.OPPOSITES and right == other_right and right:
                return True
    return False


def _object(verb: str, word: str, one: Statement) -> bool:
    """Whether the verb of a clause is followed by the word outright: "Ana reviews Bob", not "starts at the first"."""
    start, end = one.flow.index(verb), one.flow.index(word)
    return one.clause_of[start] == one.clause_of[end] and not (lexicon.SCOPING | {"with"}) & set(
        one.flow[start:end]
    )


def other_doer(short: Statement, long: Statement) -> bool:
    """ "Ana reviews Bob" and "Ana is reviewed by Bob": who does it in the one suffers it in the other."""
    return _suffers(short, long) or _suffers(long, short)


def _suffers(passive: Statement, active: Statement) -> bool:
    if "by" not in passive.counts or "by" in active.counts:
        return False
    words = [item.word for item in active.items]
    for place, word in enumerate(passive.flow[:-2]):
        if word in passive.passive - active.passive and passive.flow[place + 1] == "by" and word in words:
            doer = next((w for w in passive.flow[place + 2 :] if w in passive.weights), "")
            verb = words.index(word)
            if doer in words[verb + 1 :] and doer not in words[:verb] and _object(word, doer, active):
                return True
    return False
