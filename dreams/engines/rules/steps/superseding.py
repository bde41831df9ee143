"""Two statements of one thing that both say their day: the old one goes, superseded by the newer. Pure but for the recorder.

Certain is what differs in its last number alone, and what the newer one says too; a list of what happened on which day stays
whole. Other old states are asked about.
"""

from __future__ import annotations

import datetime as dt
import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from dreams.engines.rules.notes import days, places
from dreams.engines.rules.notes.bodies import Unit
from dreams.engines.rules.notes.removing import fates, free_units, remove
from dreams.engines.rules.notes.tree import Recorder, from_memory
from dreams.lib.files.text import quoted
from dreams.lib.prose.dates.roles import is_past
from dreams.lib.prose.exchanges import is_last_number, words_of
from dreams.lib.prose.values import read

_SO = r"(?:as of|since|from|(?:last )?updated?|status|starting|checked|confirmed|verified)"
_FIRST = re.compile(
    rf"^(?:\*\*)?[\[(]?{_SO}\s+{days.WRITTEN}[\])]?(?:\*\*)?\s*[:,–—-]?\s*(?=\S)", re.IGNORECASE
)
_LAST = re.compile(rf",?\s*[(\[]?{_SO}\s+{days.WRITTEN}[)\]]?\s*[.!]?$", re.IGNORECASE)
_HEAD_END = re.compile(r"[,;(—–]| - ")
COMMON = 60  # statements that have a word, before it finds none
LEAST_SAID = 2  # words of an old state


@dataclass(frozen=True, slots=True)
class Dated:
    """A statement without its day."""

    unit: Unit
    day: dt.date
    text: str


def supersede(rec: Recorder, today: dt.date) -> None:
    """Each old statement that one newer one takes the place of goes. What is dated ahead does not hold yet."""
    units = (unit for unit in free_units(rec.tree) if rec.tree.kind(unit.path) != "user")
    every = [one for unit in units if (one := _dated(unit)) and one.day <= today]
    newer: dict[int, list[Dated]] = defaultdict(list)
    for old, new in _pairs(every):
        rec.report.checkpoint()
        if _supersedes(rec, old, new):
            newer[every.index(old)].append(new)
    met = [each for found in newer.values() for each in found]
    for place in sorted(newer, key=lambda at: (every[at].unit.path, -every[at].unit.first_line)):
        # Three of one form are of three things, or a log of one.
        if len(newer[place]) == 1 and met.count(newer[place][0]) == 1 and every[place] not in met:
            rec.count("superseded", _remove(rec, every[place].unit, newer[place][0]))


def _dated(unit: Unit) -> Dated | None:
    """A statement of how things are on its one day."""
    match = _FIRST.match(unit.text) or _LAST.search(unit.text)
    day = days.written(match) if match else None
    text = f"{unit.text[: match.start()]}{unit.text[match.end() :]}".strip().rstrip(" .!") if match else ""
    dates = [value for value in read(text).values if value.kind == "date"]
    if (
        day is None
        or dates
        or is_past(_HEAD_END.split(text, maxsplit=1)[0])
        or len(words_of(text)) < LEAST_SAID
    ):
        return None
    return Dated(unit, day, text)


def _pairs(every: Sequence[Dated]) -> Iterator[tuple[Dated, Dated]]:
    """(older, newer) that share words."""
    having: dict[str, list[int]] = defaultdict(list)
    for place, one in enumerate(every):
        for word in words_of(one.text):
            having[word].append(place)
    near = {
        (a, b)
        for places_of in having.values()
        if len(places_of) <= COMMON
        for a in places_of
        for b in places_of
    }
    return ((every[a], every[b]) for a, b in sorted(near) if every[a].day < every[b].day)


def _supersedes(rec: Recorder, old: Dated, new: Dated) -> bool:
    one, two = (replace(each.unit, text=each.text) for each in (old, new))
    if one.frame != two.frame or not places.agree(rec.tree, one, two, loosely=True):
        return False
    if read(old.text).environments != read(new.text).environments:
        return False
    gone, come = words_of(old.text) - words_of(new.text), words_of(new.text) - words_of(old.text)
    if not gone:
        return True
    return len(gone) == len(come) == 1 and is_last_number(
        old.text, next(iter(gone)), new.text, next(iter(come))
    )


def _remove(rec: Recorder, unit: Unit, new: Dated) -> bool:
    note = f"Newer, of {new.day.isoformat()}."
    reason = f"A newer statement of {new.day.isoformat()} says otherwise: {quoted(new.unit.text)}."
    cited = (
        from_memory(new.unit.path, new.unit.first_line, new.unit.text, "the newer one"),
        from_memory(unit.path, unit.first_line, unit.text),
    )
    told = fates(unit, "superseded-by", new.unit.path, new.unit.text, note)
    return remove(rec, unit, "update", reason, told, cited)
