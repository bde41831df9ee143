"""What comes earlier and what later, as a text says it: "X before Y", "once Y, X", "first X, then Y". Pure."""

from __future__ import annotations

from collections.abc import Iterator

from dreams.language.parts import Statement
from dreams.language.statements import canonical

_BEFORE = frozenset({canonical("before")})
_AFTER = frozenset({canonical("after"), canonical("once")})
_THEN = frozenset({canonical(word) for word in ("then", "afterwards", "afterward", "subsequently")})
_FIRST = frozenset({canonical("first")})
_ORDERING = _BEFORE | _AFTER | _THEN | _FIRST
_NONE: frozenset[str] = frozenset()
LEAST = 2  # words that stand on the wrong side
_Order = tuple[frozenset[str], frozenset[str], str]  # earlier, later, and what stands right behind "before"


def turned(short: Statement, long: Statement) -> bool:
    """Whether what comes first in the one comes last in the other."""
    mine, theirs = list(_orders(short)), list(_orders(long))
    common = short.weights.keys() & long.weights.keys() if mine and theirs else _NONE
    return any(
        _against(earlier & common, later & common, first, last, head if head in common else "")
        for earlier, later, head in mine
        for first, last, _ in theirs
    )


def told_by_one(short: Statement, long: Statement) -> bool:
    """Whether only one of them says what of that which both tell comes earlier: "skip it in reviews", "skip it after reviews"."""
    orders = [*_orders(short)], [*_orders(long)]
    if all(orders) or not any(orders):
        return False
    common = short.weights.keys() & long.weights.keys()
    return any(first & common and last & common for first, last, _ in orders[0] or orders[1])


def _against(
    earlier: frozenset[str],
    later: frozenset[str],
    first: frozenset[str],
    last: frozenset[str],
    head: str,
) -> bool:
    """`head` has to be among what stands on the wrong side: "before claiming a change is done", "after a change"."""
    along = len(earlier & first) + len(later & last)
    against = earlier & last | later & first
    return LEAST <= len(against) > along and (not head or head in against)


def _orders(one: Statement) -> Iterator[_Order]:
    """Each two groups of words of which the text says that the first comes earlier."""
    for place, word in enumerate(one.flow):
        if word not in _ORDERING or "".join(one.flow[place + 1 : place + 2])[:1].isdigit():
            continue  # "after 10 seconds" is no order
        earlier, later = _order(one, place, word)
        if earlier and later:
            yield earlier, later, _head(one, place) if word in _BEFORE | _AFTER else ""


def _head(one: Statement, place: int) -> str:
    return next((word for word in one.flow[place + 1 :] if word in one.weights), "")


def _order(one: Statement, place: int, word: str) -> tuple[frozenset[str], frozenset[str]]:
    clause = one.clause_of[place]
    if word in _FIRST | _THEN and (parts := _parted(one, place, ahead=word in _THEN)):
        return parts
    before, behind = _words(one, clause, 0, place), _words(one, clause, place + 1)
    last, following = _words(one, clause - 1), _words(one, clause + 1)
    if word in _THEN or (word in _AFTER and one.flow[place + 1 : place + 2] == ("that",)):
        return (before, behind) if before and behind else (last, before | behind)
    if word in _FIRST:
        return (before | behind, following) if not behind or _THEN & set(one.flow) else (_NONE, _NONE)
    around = before or following or last
    if word in _BEFORE:
        return around, behind
    return (behind, around) if word in _AFTER else (_NONE, _NONE)


def _parted(one: Statement, place: int, *, ahead: bool) -> tuple[frozenset[str], frozenset[str]] | None:
    """ "The formatter first and the generator afterwards": both in one clause, parted by the next "and" on its side."""
    clause = one.clause_of[place]
    joints = [at for at, each in enumerate(one.flow) if each == "and" and one.clause_of[at] == clause]
    joints = [at for at in joints if (at < place) == ahead]
    if not joints:
        return None
    joint = joints[-1] if ahead else joints[0]
    earlier, later = _words(one, clause, 0, joint), _words(one, clause, joint + 1)
    return (earlier, later) if earlier and later else None


def _words(one: Statement, clause: int, start: int = 0, stop: int | None = None) -> frozenset[str]:
    """The words of meaning of one clause, as far as they stand between two places."""
    stop = len(one.flow) if stop is None else stop
    return frozenset(
        word
        for word, at in zip(one.flow[start:stop], one.clause_of[start:stop], strict=True)
        if at == clause and word in one.weights and word not in _BEFORE | _AFTER | _FIRST
    )
