"""Of which day a statement is: its own, its section's, its memory's, or the day by which its line was written. Pure.

A date beside a state says since when things are so, or when they were last so; beside an event it is part of what happened.
"""

from __future__ import annotations

import datetime as dt
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from dreams.engines.rules.notes import days
from dreams.engines.rules.notes.bodies import Unit
from dreams.engines.rules.values.retyping import KINDS
from dreams.engines.types import LineDate
from dreams.language.dates.roles import is_past

_ISO = days.WRITTEN
_MARKS = (
    re.compile(
        rf"^(?:\*\*)?(?:as of|since|from|updated?|status|starting)\s+{_ISO}(?:\*\*)?\s*[:,–—-]\s*",
        re.IGNORECASE,
    ),
    re.compile(rf"^(?:as of|since)\s+{_ISO}\s+(?=\S)", re.IGNORECASE),
    re.compile(rf"^\[{_ISO}\]\s*[:–—-]?\s*", re.IGNORECASE),
    re.compile(rf"^\(?{_ISO}\)?\s*[:–—]\s*", re.IGNORECASE),
    re.compile(rf"^\({_ISO}\)\s+(?=\S)", re.IGNORECASE),
    re.compile(rf"^on {_ISO},?\s+(?=\S)", re.IGNORECASE),
    re.compile(rf"\s*\((?:as of|since|updated)?\s*{_ISO}\)(?=:\s)", re.IGNORECASE),
    re.compile(
        rf"\s*[(\[](?:as of|since|updated|checked|confirmed|verified|status)?\s*{_ISO}[)\]]\s*[.!]?$",
        re.IGNORECASE,
    ),
    re.compile(rf"\s*,?\s+(?:as of|since)\s+{_ISO}\s*[.!]?$", re.IGNORECASE),
)
_KIND = re.compile(r"(?:\*\*|__)?(?P<name>[A-Za-z][A-Za-z ]{1,20}?)(?:\*\*|__)?:")
_ANY_DAY = re.compile(r"\b(?:19|20)\d\d\b")
# What is measured is another figure each time, and the old one stays true of its day.
_MEASURED = re.compile(
    r"\b(?:measured|coverage|benchmarks?|scores?|latency|throughput|users(?=:| (?:is|are)\b)|\d[\d,.]* (?:\w+ )?users|downloads|revenue|"
    r"invoices?|meetings?|calls? with)\b",
    re.IGNORECASE,
)
_HEAD = re.compile(r"^.*?(?=[,;(—–]| - |$)", re.DOTALL)
# Of a bare date only what says how things are holds on, or is a thing; "security audit (2026-03-01)" is what happened then.
_STATE = re.compile(
    r"\b(?:is|are|has|have|uses?|runs?|lives?|needs?|listens?|supports?|goes|takes?|keeps?|belongs?|covers?|targets?|requires?|serves?|stores?|owns?)\b",
    re.IGNORECASE,
)
_HAPPENING = re.compile(
    r"\b(?:audit|review|meeting|call|release|incident|outage|deploy(?:ment)?|migration|interview|workshop|demo|stand-?up|retro\w*|planning|launch|run|tests?|benchmark|"
    r"session|visit|fix|bug|sprint|milestone|experiment|trial|report|decision|discussion|talk|sync|kick-?off|upgrade|rollback|backup|survey|training)\b",
    re.IGNORECASE,
)
_HOLDS = re.compile(r"\b(?:as of|since|updated?|status|checked|confirmed|verified)\b", re.IGNORECASE)
_DAY_ABOVE = re.compile(
    rf"\s*[(\[,:–—-]*\s*\b(?:as of|updated?|last updated|verified|checked)?\s*:?\s*{_ISO}\s*[)\]]?\s*$",
    re.IGNORECASE,
)
LOG_LINES = 3


@dataclass(frozen=True, slots=True)
class Dated:
    """A statement without its date. `by` whose word the day is: a `write` only tells that the line stood there by then."""

    unit: Unit
    day: dt.date
    text: str
    leading: bool = False  # the date stands first, as in a list of what happened
    holds: bool = False  # what is dated is how things are on that day
    by: Literal["line", "memory", "write"] = "line"


def statements(units: Sequence[Unit], line_date: Callable[[Unit], LineDate | None]) -> Iterator[Dated]:
    """Every statement that is of some day, without those of logs. `line_date` says since when a line stands."""
    yield from _without_logs(
        [found for unit in units if (found := dated(unit))], Counter(u.path for u in units)
    )
    for unit in units:
        if found := _below_a_day(unit) or _undated(unit, line_date(unit)):
            yield found


def dated(unit: Unit) -> Dated | None:
    """The statement without its date, if it has one; and no other, unless that one says when it was last so."""
    alone = len(_ANY_DAY.findall(unit.text)) == 1
    for mark in _MARKS:
        match = mark.search(unit.text)
        if match is None or not (alone or _HOLDS.search(match[0])):
            continue
        rest = f"{unit.text[: match.start()]}{unit.text[match.end() :]}".strip()
        day = days.written(match)
        said_to_hold = bool(_HOLDS.search(match[0]))
        if day is None or not rest or _is_event(rest, said_to_hold):
            return None
        leading = mark in _MARKS[2:6]
        holds = said_to_hold or bool(_STATE.search(rest)) or not (leading or _HAPPENING.search(rest))
        return Dated(unit, day, rest.rstrip(" .!"), leading, holds)
    return None


def _below_a_day(unit: Unit) -> Dated | None:
    """ "## Status (updated 2026-03-01)": how things were on that day, where the heading says that it tells a state."""
    for place, title in enumerate(unit.headings):
        match = _DAY_ABOVE.search(title)
        day = days.written(match) if match and _HOLDS.search(title) else None
        if match and day and not _ANY_DAY.search(unit.text) and not _is_event(unit.text, said_to_hold=True):
            bare = (*unit.headings[:place], title[: match.start()].strip(), *unit.headings[place + 1 :])
            return Dated(replace(unit, headings=bare), day, unit.text.rstrip(" .!"), holds=True)
    return None


def _undated(unit: Unit, since: LineDate | None) -> Dated | None:
    if since is None or _ANY_DAY.search(unit.text) or _is_event(unit.text):
        return None
    says = since.source == "memory" and since.latest is None
    by: Literal["memory", "write"] = "memory" if says else "write"
    holds = not _HAPPENING.search(unit.text)
    return Dated(unit, since.latest or since.day, unit.text.rstrip(" .!"), holds=holds, by=by)


def _without_logs(every: Sequence[Dated], units: Counter[str]) -> list[Dated]:
    """A file where three lines or more, and most of all, begin with a date is a log: each of them tells of its own day."""
    leading = Counter(one.unit.path for one in every if one.leading)
    logs = {path for path, count in leading.items() if count >= LOG_LINES and 2 * count > units[path]}
    return [one for one in every if not one.leading or one.unit.path not in logs]


def _is_event(text: str, said_to_hold: bool = False) -> bool:
    """What happened or was measured, or an entry of its own: "Bug: …", "Idea: …"."""
    label = _KIND.match(text)
    if label and label["name"].casefold() in KINDS:
        return True
    head = _HEAD.match(text)
    return not said_to_hold and bool(_MEASURED.search(text) or is_past(head[0] if head else text))
