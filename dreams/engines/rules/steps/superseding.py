"""Two statements of one thing, the newer of which says its day: the old one goes, superseded by it. Pure but for the recorder.

What is only a list of what happened on which day stays whole: both must tell how things are, and no third may be of their form.
Where only lines' or files' days tell which is newer, and where the newer one says less, a question is asked.
"""

from __future__ import annotations

import datetime as dt
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from dreams.engines.rules.notes import days, places
from dreams.engines.rules.notes.bodies import Unit, standing_lines
from dreams.engines.rules.notes.removing import fates, free_units, remove
from dreams.engines.rules.notes.tree import Recorder, Tree, from_memory
from dreams.engines.rules.notes.wording import KINDS, label_of
from dreams.engines.rules.value_updates import exchanged, restated
from dreams.engines.types import LineDate
from dreams.lib.files.text import decode, quoted
from dreams.lib.prose import lexicon, properties
from dreams.lib.prose.dates.roles import is_past
from dreams.lib.prose.pieces import WEAK, keys_of
from dreams.lib.prose.similarity import normalised, same

COMMON = 60  # statements that have a word, before it finds none
LOG_LINES = 3
_BULLETS = frozenset({"- ", "* ", "+ "})
_SO = r"(?:as of|since|from|(?:last )?updated?|status|starting|checked|confirmed|verified|on)"
_FIRST = re.compile(
    rf"^(?:\*\*)?[\[(]?(?P<so>{_SO}\s+)?{days.WRITTEN}[\])]?(?:\*\*)?\s*[:,–—-]?\s*(?=\S)", re.IGNORECASE
)
_LAST = re.compile(rf",?\s*[(\[]?(?P<so>{_SO}\s+)?{days.WRITTEN}[)\]]?\s*[.!]?$", re.IGNORECASE)
_YEAR = re.compile(r"\b(?:19|20)\d\d\b")
# What is measured is another figure each time, and what happened is of its day: the old one stays true.
_MEASURED = re.compile(
    r"\b(?:measured|coverage|benchmarks?|scores?|latency|throughput|users|downloads|revenue|invoices?|meetings?|calls? with)\b",
    re.IGNORECASE,
)
_HAPPENING = re.compile(
    r"\b(?:audit|review|meeting|call|release|incident|outage|deploy(?:ment)?|migration|interview|workshop|demo|retro\w*|launch|sprint|milestone|experiment|trial|"
    r"report|decision|discussion|rollout|survey|training|fix|bug)\b",
    re.IGNORECASE,
)
_HEAD_END = re.compile(r"[,;(—–]| - ")
_LABEL = re.compile(r"(?:\*\*)?(?P<name>[A-Za-z][A-Za-z ]{1,20}?)(?:\*\*)?:")


@dataclass(frozen=True, slots=True)
class Dated:
    """A statement without its date. `says`: the day is its own, not that of its line."""

    unit: Unit
    day: dt.date
    text: str
    says: bool
    leads: bool = False  # the date comes first, as in a list of what happened


def supersede(rec: Recorder, line_dates: Mapping[str, Sequence[LineDate | None]], today: dt.date) -> None:
    """Each old statement that one newer one takes the place of goes. What is dated ahead does not hold yet."""
    written = _written(rec.tree, line_dates)
    units = [unit for unit in _units(rec.tree) if rec.tree.kind(unit.path) != "user"]
    found = [one for unit in units if (one := _dated(unit, written)) and one.day <= today]
    pairs = [(old, new) for old, new in _pairs(_without_logs(found, units)) if _supersedes(rec, old, new)]
    for old, new in sorted(_of_two(pairs), key=lambda pair: (pair[0].unit.path, -pair[0].unit.first_line)):
        rec.count("superseded", _remove(rec, old.unit, new))


def _units(tree: Tree) -> Iterator[Unit]:
    """What may be taken out, and bullets behind a label that says of what they are."""
    yield from free_units(tree)
    for path in tree.topics():
        for unit in standing_lines(path, tree.document(path)):
            if unit.text.startswith("**") and label_of(unit.text) and unit.raw.lstrip()[:2] in _BULLETS:
                yield unit


def _written(
    tree: Tree, line_dates: Mapping[str, Sequence[LineDate | None]]
) -> Mapping[tuple[str, str], dt.date]:
    """By which day each line was there, by path and text: line numbers have moved since the dream began."""
    found = {}
    for path, known in line_dates.items():
        snapshot = tree.workspace.snapshot.files.get(path)
        lines = decode(snapshot.data).split("\n") if snapshot else []
        for line, date in zip(lines, known, strict=False):
            if date is not None:
                found[path, line.strip()] = date.latest or date.day
    return found


def _dated(unit: Unit, written: Mapping[tuple[str, str], dt.date]) -> Dated | None:
    """A statement of how things are on its one day, or of no day: that is as old as its line."""
    label = _LABEL.match(unit.text)
    if label and label["name"].casefold() in KINDS:
        return None
    years = len(_YEAR.findall(unit.text))
    match = (_FIRST.match(unit.text) or _LAST.search(unit.text)) if years == 1 else None
    day = days.written(match) if match else written.get((unit.path, unit.raw.strip()))
    text = f"{unit.text[: match.start()]}{unit.text[match.end() :]}" if match else unit.text
    text = text.strip().rstrip(" .!")
    holds = match is not None and bool(match["so"])
    if day is None or not text or (years and not match) or (_is_event(text) and not holds):
        return None
    leads = match is not None and match.start() == 0 and not holds
    return Dated(unit, day, text, says=match is not None, leads=leads)


def _is_event(text: str) -> bool:
    """What happened or was measured; a plain "is" or "has" tells how things are."""
    states = not lexicon.FINITE.isdisjoint(text.casefold().split())
    happened = is_past(_HEAD_END.split(text, maxsplit=1)[0]) or (not states and bool(_HAPPENING.search(text)))
    return happened or bool(_MEASURED.search(text))


def _without_logs(every: Sequence[Dated], units: Sequence[Unit]) -> list[Dated]:
    """A file where three lines or more, and most of all, begin with a bare date is a log."""
    count = Counter(unit.path for unit in units)
    leading = Counter(one.unit.path for one in every if one.leads)
    logs = {path for path, number in leading.items() if number >= LOG_LINES and 2 * number > count[path]}
    return [one for one in every if one.unit.path not in logs]


def _pairs(every: Sequence[Dated]) -> Iterator[tuple[Dated, Dated]]:
    """(older, newer) that share words, in one order whatever the order of files."""
    having: dict[str, list[int]] = defaultdict(list)
    for place, one in enumerate(every):
        for key in keys_of(one.text):
            having[key].append(place)
    close = {
        (a, b)
        for near in having.values()
        if len(near) <= COMMON
        for a in near
        for b in near
        if every[b].says and every[a].day < every[b].day
    }
    return ((every[a], every[b]) for a, b in sorted(close))


def _of_two(found: Sequence[tuple[Dated, Dated]]) -> Iterator[tuple[Dated, Dated]]:
    """The pairs that no third statement fits: three of one form are of three things, or a log of one."""
    kin: dict[str, set[str]] = defaultdict(set)
    for pair in found:
        old, new = (normalised(one.text) for one in pair)
        kin[old].add(new)
        kin[new].add(old)
    return (pair for pair in found if all(len(kin[normalised(one.text)]) == 1 for one in pair))


def _supersedes(rec: Recorder, old: Dated, new: Dated) -> bool:
    """The same frame around both, one value that differs or more said, and all else that the old one says in the new one."""
    rec.report.checkpoint()
    one, two = (replace(each.unit, text=each.text) for each in (old, new))
    if one.frame != two.frame or not places.agree(rec.tree, one, two, loosely=True):
        return False
    slot = exchanged(old.text, new.text)
    if slot is None:
        return old.says and restated(old.text, new.text, asked=True)
    rest = keys_of(f"{old.text[: slot.start]} {old.text[slot.end :]}") - WEAK
    kept = rest <= keys_of(new.text) or same(slot.filled(old.text), new.text).same
    return kept or properties.changed(old.text, new.text) is not None


def _remove(rec: Recorder, unit: Unit, new: Dated) -> bool:
    note = f"Newer, of {new.day.isoformat()}."
    reason = f"A newer statement of {new.day.isoformat()} says otherwise: {quoted(new.unit.text)}."
    cited = (
        from_memory(new.unit.path, new.unit.first_line, new.unit.text, "the newer one"),
        from_memory(unit.path, unit.first_line, unit.text),
    )
    told = fates(unit, "superseded-by", new.unit.path, new.unit.text, note)
    return remove(rec, unit, "update", reason, told, cited)
