"""Whether one text is a copy of the other with one thing changed, read in the same words. Pure."""

from __future__ import annotations

from dataclasses import replace

from dreams.language import contrasts, lexicon
from dreams.language.edits import altered, edit, in_other_form, regraded
from dreams.language.orders import swapped
from dreams.language.parts import Statement
from dreams.language.polarity import REFUSING
from dreams.language.retold.pair import ALL, Pair
from dreams.language.retold.units import LIGHT, RELATING
from dreams.language.statements import canonical

MOST_CHANGES = 2  # that make a copy another statement; one with more was written anew
CLAUSE = 3  # words of meaning
LONGEST_LEAD = 4
_DENYING = lexicon.NEGATIONS | {lexicon.CONTRAST}
_TOPICS = lexicon.GENERIC | lexicon.WORKADAY | LIGHT | RELATING
_KINDS = frozenset(
    canonical(word)
    for word in "open question note lesson critical incident status overview summary reminder decision known issue problem".split()  # noqa: SIM905 - a word list
)


def added_to(pair: Pair) -> bool:
    """Whether a few words are told again whole, with what narrows them ("for guests") or with one thing more ("and Ana owns it")."""
    said = contrasts.core(pair.short, pair.long) - pair.short.weights.keys() - _TOPICS
    if "because" in pair.long.flow:
        said -= set(pair.long.flow[pair.long.flow.index("because") :])
    if pair.found.covered < ALL or not said:
        return False  # the rest stands in asides, or names the topic
    return contrasts.enlarged(pair.short, pair.long) or contrasts.narrowed(pair.short, pair.long)


def edited(pair: Pair) -> bool:
    """Read word by word; a verb that tells nothing ("are", "live", "are kept") makes no difference."""
    short, long = (
        replace(
            one,
            weights={w: weight for w, weight in one.weights.items() if w not in LIGHT | _leading(one)}
            or one.weights,
        )
        for one in (pair.short, pair.long)
    )
    if denial_changed(short, long):
        return True
    if _changes(short, long) > MOST_CHANGES or in_other_form(short, long):
        return False
    return (
        altered(short, long, detailed=True)
        or regraded(short, long)
        or swapped(short, long)
        or contrasts.code_differs(short, long)
    )


def _leading(one: Statement) -> frozenset[str]:
    """What says of which kind the note is: "Open question about ...", "Critical lesson: ..."."""
    return frozenset(one.flow[:LONGEST_LEAD]) & _KINDS


def denial_changed(short: Statement, long: Statement) -> bool:
    """A "not" put in or left out; in a clause that only one of them has, it denies something else."""
    if _denials(short) == _denials(long):
        return False
    return any(
        _DENYING.isdisjoint(change.gone) != _DENYING.isdisjoint(change.come)
        and REFUSING.isdisjoint(change.gone + change.come)  # "cannot see", "is hidden from"
        and max(_told(change.gone, short), _told(change.come, long)) < CLAUSE
        and not (
            _contrast(short, change.gone, change.come, change.at[0])
            or _contrast(long, change.come, change.gone, change.at[1])
        )
        for change in edit(short, long).changes
    )


def _contrast(one: Statement, more: tuple[str, ...], less: tuple[str, ...], start: int) -> bool:
    """ ", not the trash" put behind what is said."""
    begins = start > 0 and one.clause_of[start : start + 1] != (one.clause_of[start - 1],)
    return not less and more[:1] == ("not",) and begins and len(more) > 1


def _denials(one: Statement) -> int:
    return sum(word in _DENYING for word in one.flow)


def _told(words: tuple[str, ...], one: Statement) -> int:
    return sum(word in one.weights for word in words)


def _changes(short: Statement, long: Statement) -> int:
    """In how many places words of meaning were put in, left out or exchanged."""
    return sum(
        any(word in short.weights for word in change.gone)
        or any(word in long.weights for word in change.come)
        for change in edit(short, long).changes
    )
