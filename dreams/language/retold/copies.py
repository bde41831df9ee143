"""Whether one text is a copy of the other with one thing changed, read in the same words. Pure."""

from __future__ import annotations

from dataclasses import replace

from dreams.language import contrasts, lexicon
from dreams.language.edits import altered, edit, regraded
from dreams.language.orders import swapped
from dreams.language.parts import Statement
from dreams.language.retold.pair import Pair
from dreams.language.retold.units import LIGHT

MOST_CHANGES = 2  # that make a copy another statement; one with more was written anew
CLAUSE = 3  # words of meaning


def edited(pair: Pair) -> bool:
    """Read word by word; a verb that tells nothing ("are", "live", "are kept") makes no difference."""
    short, long = (
        replace(
            one, weights={w: weight for w, weight in one.weights.items() if w not in LIGHT} or one.weights
        )
        for one in (pair.short, pair.long)
    )
    if _denial_changed(short, long):
        return True
    if _changes(short, long) > MOST_CHANGES or _forms(short) != _forms(long):
        return False
    return (
        altered(short, long, detailed=True)
        or regraded(short, long)
        or swapped(short, long)
        or contrasts.code_differs(short, long)
    )


def _denial_changed(short: Statement, long: Statement) -> bool:
    """A "not" put in or left out; in a clause that only one of them has, it denies something else."""
    if _denials(short) == _denials(long):
        return False
    return any(
        (set(change.gone) & lexicon.NEGATIONS) != (set(change.come) & lexicon.NEGATIONS)
        and max(_told(change.gone, short), _told(change.come, long)) < CLAUSE
        for change in edit(short, long).changes
    )


def _denials(one: Statement) -> int:
    return sum(word in lexicon.NEGATIONS for word in one.flow)


def _told(words: tuple[str, ...], one: Statement) -> int:
    return sum(word in one.weights for word in words)


def _changes(short: Statement, long: Statement) -> int:
    """In how many places words of meaning were put in, left out or exchanged."""
    return sum(
        any(word in short.weights for word in change.gone)
        or any(word in long.weights for word in change.come)
        for change in edit(short, long).changes
    )


def _forms(one: Statement) -> tuple[bool, bool]:
    """A list behind a label, a question with its answer: who copies a note keeps its form."""
    return one.labelled, "?" in one.text
