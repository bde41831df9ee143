"""Statements that say of which day they are ("… (as of 2026-03-16)"): a value told anew takes its own day with it. Pure.

Only where the day says when it was last so; the day of a release or of an incident is part of what happened.
"""

from __future__ import annotations

import datetime as dt
import re
from dataclasses import dataclass

from dreams.engines.rules.user_statements.stated_changes import Telling
from dreams.engines.rules.values.matching import matched
from dreams.engines.rules.values.slots import Slot
from dreams.language.similarity import normalised

_DAY = re.compile(r"(?<![\d-])\d{4}-\d\d(?:-\d\d)?(?![\d-])")
_MARK = re.compile(
    r"(?P<open>[(\[]\s*)?\b(?:as of|status(?: as of)?|(?:last )?(?:updated|checked|confirmed|verified|measured)(?: on)?|current as of)\s*:?\s+"
    r"(?P<day>\d{4}-\d\d(?:-\d\d)?)(?![\d-])(?(open)\s*[)\]])[:,]?",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class _Dated:
    """A statement with its mark blanked out, so that all places stay, and the place of the day."""

    text: str
    start: int
    end: int


def names_its_day(statement: str) -> bool:
    """Whether a day stands in it, which another value would make untrue."""
    return bool(_DAY.search(statement))


def is_later(old: str, new: str) -> bool:
    """Whether `new` says word for word the same as of a later day."""
    one, other = _dated(old), _dated(new)
    if one is None or other is None:
        return False
    return (
        normalised(one.text) == normalised(other.text)
        and old[one.start : one.end] < new[other.start : other.end]
    )


def matched_dated(
    telling: Telling, statement: str, place: frozenset[str], said: dt.date | None
) -> Slot | None:
    """The value and the day in `statement` with all between them, and what stands there now; None if that is not sure.

    `said` is when it was told; a day in the telling itself counts more.
    """
    known = _dated(statement)
    day = _told_day(telling, said)
    if known is None or day is None:
        return None
    found = matched(telling, known.text, place)
    was = statement[known.start : known.end]
    if found is None or day.isoformat()[: len(was)] <= was:
        return None
    start, end = min(found.start, known.start), max(found.end, known.end)
    middle = (
        statement[found.end : known.start]
        if found.start < known.start
        else statement[known.end : found.start]
    )
    now = day.isoformat()[: len(was)]
    parts = (found.new, middle, now) if found.start < known.start else (now, middle, found.new)
    return Slot(start, end, "".join(parts))


def _dated(statement: str) -> _Dated | None:
    marks = list(_MARK.finditer(statement))
    if len(marks) != 1 or len(_DAY.findall(statement)) != 1:
        return None
    start, end = marks[0].span()
    blank = f"{statement[:start]}{' ' * (end - start)}{statement[end:]}"
    return _Dated(blank, *marks[0].span("day"))


def _told_day(telling: Telling, said: dt.date | None) -> dt.date | None:
    days = _DAY.findall(telling.quote)
    if not days:
        return said
    try:
        return dt.date.fromisoformat(days[0]) if len(days) == 1 else None
    except ValueError:
        return None
