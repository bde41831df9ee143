"""A change told in few words ("gateway on 9443 now"): the one value in all of memory that can be meant. Pure.

All that is told must stand in the statement, which gives one number, weekday or code in the same way; where two statements have
it, or the statement speaks of a part or an environment that was not named, none is meant.
"""

from __future__ import annotations

from collections.abc import Sequence

from dreams.engines.rules.user_statements.stated_changes import Telling
from dreams.engines.rules.values import slots
from dreams.engines.rules.values.frames import is_part, words_before
from dreams.engines.rules.values.slots import Slot
from dreams.engines.rules.values.spans import WEEKDAY
from dreams.language.pieces import WEAK, Piece, pieces

_UNSAYING = frozenset({"port", "version", "number", "day"})  # what the value says by itself
# Where something is that was moved to somewhere else.
_WHEREABOUTS = frozenset({"in", "on", "at", "under", "inside"})
MOST_MORE = 3  # words that only the statement has
LEAST_DIGITS = 3  # of a number without a unit


def sole(telling: Telling, statements: Sequence[str]) -> list[tuple[int, Slot]]:
    """The places in `statements` that it changes, and how; empty unless exactly one value can be meant."""
    if telling.bare or telling.asked:
        return []
    told = pieces(telling.core)
    values = _values(told)
    about = {piece.key for piece in told if piece.key and piece not in values} - WEAK - _UNSAYING
    if len(values) != 1 or not about:
        return []
    fitting = [
        (place, found)
        for place, text in enumerate(statements)
        if (found := _fits(told, values[0], about, text))
    ]
    changed = {statements[place] for place, _ in fitting}
    sure = [(place, found) for place, (found, is_sure) in fitting if is_sure]
    return sure if len(changed) == 1 and _agree(telling, statements, sure) else []


def _agree(telling: Telling, statements: Sequence[str], found: Sequence[tuple[int, Slot]]) -> bool:
    return all(slots.agree(statements[place], telling.core, but_days=True) for place, _ in found)


def _values(found: Sequence[Piece]) -> list[Piece]:
    """Numbers and weekdays; where there is none, code."""
    measured = [piece for piece in found if piece.shape == "number" or WEEKDAY.fullmatch(piece.text)]
    return measured or [piece for piece in found if piece.shape == "code"]


def _fits(told: Sequence[Piece], value: Piece, about: set[str], text: str) -> tuple[Slot, bool] | None:
    """The value of the same sort in a statement about all of it, and whether it is put so alike that it is the one."""
    found = pieces(text)
    if not about <= {piece.key for piece in found}:
        return None
    alike = [piece for piece in _values(found) if _sort(piece) == _sort(value)]
    if not alike:
        return None
    was = alike[0]
    more = {piece.key for piece in found if piece.key and piece not in alike} - about - WEAK - _UNSAYING
    sure = (
        len(alike) == 1
        and was.key != value.key
        and len(more) <= MOST_MORE
        and not is_part(found, more)
        and _put_alike(found, was, told, value)
    )
    return Slot(was.start, was.end, value.text), sure


def _sort(value: Piece) -> str:
    if WEEKDAY.fullmatch(value.text):
        return "day"
    return (
        slots.form(value.text) if value.shape == "number" else f"code {value.text.strip('`')[:1] in '/.@#'}"
    )


def _put_alike(found: Sequence[Piece], was: Piece, told: Sequence[Piece], now: Piece) -> bool:
    """The same unit behind both, or the same small word before both and numbers of one length; a weekday is put as it is."""
    if WEEKDAY.fullmatch(was.text):
        return True
    before = [_before(place, where) for place, where in ((found, found.index(was)), (told, told.index(now)))]
    moved = before[1] == "to" and before[0] in _WHEREABOUTS
    alike = bool(before[0]) and (before[0] == before[1] or moved)
    if was.shape == "code":
        return alike
    units = slots.unit(found, found.index(was)), slots.unit(told, told.index(now))
    if units[0] or units[1]:
        return units[0] == units[1]
    return alike and len(was.text) == len(now.text) >= LEAST_DIGITS


def _before(found: Sequence[Piece], place: int) -> str:
    words = [word for word in words_before(found, place).split() if word not in _UNSAYING]
    return words[-1] if words else ""
