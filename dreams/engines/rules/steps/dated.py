"""Two dated statements of one thing: the newer one stays, the old one goes, superseded by it. Pure but for the recorder.

What is only a list of what happened on which day stays whole: both must tell a state, differ in one value or be put anew,
and no third statement may be of their form.
"""

from __future__ import annotations

import datetime as dt
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from dreams import memdir
from dreams.engines.rules.notes import places
from dreams.engines.rules.notes.bodies import Unit, standing_lines
from dreams.engines.rules.notes.bodies import units as units_of
from dreams.engines.rules.notes.removing import fates, remove
from dreams.engines.rules.notes.tree import Recorder, Tree, from_memory
from dreams.engines.rules.values.alternatives import slot
from dreams.engines.rules.values.anew import put_anew
from dreams.engines.rules.values.ofday import Dated, statements
from dreams.engines.rules.values.retyping import label_of
from dreams.engines.rules.values.slots import Slot
from dreams.engines.types import LineDate
from dreams.language import properties
from dreams.language.pieces import ROLES, WEAK, keys_of, pieces
from dreams.language.similarity import normalised, same
from dreams.text import decode, quoted

COMMON = 60


def supersede(rec: Recorder, line_dates: Mapping[str, Sequence[LineDate | None]], today: dt.date) -> None:
    """Each old statement that one newer one takes the place of goes.

    A statement without a date is as old as its line, and supersedes nothing: a copy of the directory, a write beside it or
    one of ours makes a line new that says nothing new. What is dated ahead does not hold yet.
    """
    written = _written(rec.tree, line_dates)
    units = [unit for path in rec.tree.topics() for unit in _units(path, rec.tree.document(path))]
    every = statements(units, lambda unit: written.get((unit.path, unit.raw.strip())))
    held = [one for one in every if one.day <= today]
    pairs = [(old, new) for old, new in _pairs(held) if _supersedes(rec, old, new)]
    for old, new in sorted(_of_two(pairs), key=lambda pair: (pair[0].unit.path, -pair[0].unit.first_line)):
        rec.count("superseded", _remove(rec, old.unit, new))


def _of_two(found: Sequence[tuple[Dated, Dated]]) -> Iterator[tuple[Dated, Dated]]:
    """The pairs that no third statement fits: three of one form are of three things, or a log of one."""
    kin: dict[str, set[str]] = defaultdict(set)
    for pair in found:
        old, new = (normalised(one.text) for one in pair)
        kin[old].add(new)
        kin[new].add(old)
    return (pair for pair in found if all(len(kin[normalised(one.text)]) == 1 for one in pair))


def _units(path: str, document: memdir.Document) -> list[Unit]:
    """What may be taken out, and lines of their own behind a label that says of what they are."""
    free = units_of(path, document)
    taken = {unit.first_line for unit in free}
    every = list(standing_lines(path, document))
    lines = {unit.first_line for unit in every}
    labelled = [
        unit
        for unit in every
        if unit.first_line not in taken
        and label_of(unit.text)
        and (
            unit.raw.lstrip()[:2] in {"- ", "* ", "+ "}
            or lines.isdisjoint((unit.first_line - 1, unit.first_line + 1))
        )
    ]
    return sorted([*free, *labelled], key=lambda unit: unit.first_line)


def _written(
    tree: Tree, line_dates: Mapping[str, Sequence[LineDate | None]]
) -> Mapping[tuple[str, str], LineDate]:
    """Since when each line stands, as the dream found it, by path and text: line numbers have moved since."""
    found = {}
    for path, known in line_dates.items():
        snapshot = tree.workspace.snapshot.files.get(path)
        lines = decode(snapshot.data).split("\n") if snapshot else []
        for line, date in zip(lines, known, strict=False):
            if date is not None:
                found[path, line.strip()] = date
    return found


def _pairs(every: Sequence[Dated]) -> Iterator[tuple[Dated, Dated]]:
    """(older, newer) that share words, in one order whatever the order of files."""
    having: dict[str, list[int]] = defaultdict(list)
    for place, one in enumerate(every):
        for key in keys_of(one.text):
            having[key].append(place)
    close = {
        (a, b)
        for places in having.values()
        if len(places) <= COMMON
        for a in places
        for b in places
        if every[a].day < every[b].day and _may_supersede(every[a], every[b])
    }
    return ((every[a], every[b]) for a, b in sorted(close))


def _may_supersede(old: Dated, new: Dated) -> bool:
    """Its own day speaks for a statement; that of its memory not against what it left standing beside it."""
    return new.by == "line" or (new.by == "memory" and old.unit.path != new.unit.path)


def _supersedes(rec: Recorder, old: Dated, new: Dated) -> bool:
    """The same frame around both, the same sort of file, and one value that differs, or put anew."""
    rec.report.checkpoint()
    one, two = (replace(each.unit, text=each.text) for each in (old, new))
    if one.frame != two.frame or not places.agree(rec.tree, one, two, loosely=True):
        return False
    if "user" in {rec.tree.kind(old.unit.path), rec.tree.kind(new.unit.path)}:
        return False
    found = slot(old.text, new.text)
    if found is not None:
        return not _is_of_it(old.text, found) and _says_the_rest(old.text, new.text, found)
    return old.holds and new.holds and put_anew(old.text, new.text, asked=True)


def _says_the_rest(old: str, new: str, found: Slot) -> bool:
    """ "Backups of X are taken with the tools of MariaDB" has a value less, and is no less so, when X moved elsewhere."""
    rest = keys_of(f"{old[: found.start]} {old[found.end :]}") - WEAK
    return (
        rest <= keys_of(new) or properties.changed(old, new) is not None or same(found.filled(old), new).same
    )


def _is_of_it(text: str, found: Slot) -> bool:
    """Whether what differs is what the statement is of: a name of its own comes first, and nobody is in charge of anything."""
    telling = [piece for piece in pieces(text) if piece.key]
    first = bool(telling) and found.start <= telling[0].start and not ROLES & {piece.key for piece in telling}
    return first and places.is_own_name(text[found.start : found.end])


def _remove(rec: Recorder, unit: Unit, new: Dated) -> bool:
    note = f"Newer, of {new.day.isoformat()}."
    reason = f"A newer statement of {new.day.isoformat()} says otherwise: {quoted(new.unit.text)}."
    cited = (
        from_memory(new.unit.path, new.unit.first_line, new.unit.text, "the newer one"),
        from_memory(unit.path, unit.first_line, unit.text),
    )
    told = fates(unit, "superseded-by", new.unit.path, new.unit.text, note)
    return remove(rec, unit, "update", reason, told, cited)
