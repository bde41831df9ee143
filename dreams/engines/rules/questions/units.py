"""The statements that a question may be about, and the options that most questions have. PURE."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from dreams.engines.rules.drafting import Draftsman
from dreams.engines.rules.notes.bodies import Unit, units
from dreams.engines.rules.notes.removing import fates, remove
from dreams.engines.rules.notes.tree import Recorder, Tree, is_daily, is_index, is_log, is_team
from dreams.engines.types import Citation, Option, Place
from dreams.lib import memdir

KEEP = Option("keep", "Leave it as it is")


def askable(tree: Tree) -> Iterator[Unit]:
    """Statements on lines of their own: of memories, pinned ones among them, and of an index what is no row."""
    for path in sorted(tree.texts):
        if is_log(path) or is_team(path) or is_daily(path) or not tree.writable(path):
            continue
        rows = _row_lines(tree, path) if is_index(path) else frozenset()
        yield from (unit for unit in units(path, tree.document(path)) if unit.first_line not in rows)


def _row_lines(tree: Tree, path: str) -> frozenset[int]:
    rows = memdir.parse_index(tree.texts[path]).rows
    return frozenset(number for row in rows for number in range(row.line_no, row.end_line_no + 1))


def place(unit: Unit, note: str = "") -> Place:
    return Place(unit.path, unit.first_line, unit.raw, note=note)


def removal(draftsman: Draftsman, unit: Unit, note: str, *cited: Citation) -> Option | None:
    """The option that takes the statement out; None where the file would not survive that."""
    return draftsman.option("remove", "Remove it", partial(_remove, unit=unit, note=note, cited=cited))


def _remove(rec: Recorder, unit: Unit, note: str, cited: tuple[Citation, ...]) -> bool:
    return remove(rec, unit, "prune", note, fates(unit, "stated", note=note), cited)
