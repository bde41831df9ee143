"""What families of questions share: their input, drafting an option, and the option that removes a statement. PURE but for
the transcript."""

import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Concatenate, ParamSpec

from dreams.engines.rules.notes.bodies import BULLET, REMARK, units, wholes
from dreams.engines.rules.notes.removing import fates, remove, remove_sentence
from dreams.engines.rules.notes.tree import Recorder, Tree, is_daily, is_index, is_log, is_team
from dreams.engines.rules.notes.wording import begins_with_a_label, sentences
from dreams.engines.rules.repository import Repository
from dreams.engines.rules.steps.orphans import NO_MEMORY
from dreams.engines.rules.user_statements.lessons import Gathered
from dreams.engines.rules.user_statements.prompts import Heard
from dreams.engines.types import Citation, Edit, Job, LineDate, Option, Place, Question, Reporter
from dreams.lib import memdir
from dreams.lib.files.text import one_line
from dreams.lib.files.workspace import TrialWorkspace, Workspace
from dreams.lib.prose.statement_pairs import PlacedText

P = ParamSpec("P")  # the parameters of a draft, besides the recorder


class Draftsman:
    """Drafts options, each on the same unchanged directory (`tree`)."""

    def __init__(self, workspace: Workspace, report: Reporter) -> None:
        self._report = report
        self.tree = Tree(TrialWorkspace(workspace), report)

    def edits(
        self, work: Callable[Concatenate[Recorder, P], object], *given: P.args, **named: P.kwargs
    ) -> tuple[Edit, ...]:
        """What `work` would change; empty if nothing. The tree is restored afterwards."""
        rec = Recorder(self.tree, self._report)
        try:
            work(rec, *given, **named)
        finally:
            for edit in reversed(rec.edits):
                rec.put(edit.path, edit.before)
        return tuple(rec.edits)

    def option(
        self,
        name: str,
        label: str,
        work: Callable[Concatenate[Recorder, P], object],
        *given: P.args,
        **named: P.kwargs,
    ) -> Option:
        """An option that does the work; without edits if that is not possible, and then it is not offered."""
        return Option(name, label, self.edits(work, *given, **named))


# --- Inputs ---------------------------------------------------------------------------------------------------------


TALLEST, MOST_NAMED = 40, 3  # lines of a statement, names in a sentence; chosen


@dataclass(frozen=True, slots=True)
class Inputs:
    """The input of a family: the memories as the dream found them, and what the dream changes.

    `statements` are those of every file, `askable` the ones that can be removed alone, `counts` how many of these a file has.
    `touched`: path → the original lines (1-based) that the dream changes or removes. `found`: the questions of earlier families.
    """

    job: Job
    report: Reporter
    tree_before: Tree
    draftsman: Draftsman
    heard: Sequence[Heard]
    gathered: Gathered
    edits: Sequence[Edit]
    statements: Sequence[PlacedText]
    askable: Sequence[PlacedText]
    counts: Mapping[str, int]
    touched: Mapping[str, frozenset[int]]
    repository: Repository | None
    found: Sequence[Question]

    def is_touched(self, place: Place) -> bool:
        """Whether this dream already changes the statement."""
        lines = self.touched.get(place.path)
        if lines is None or place.session_pk is not None:
            return False
        if place.line_no is None:
            return place.path not in self.job.workspace.paths()  # the whole file is removed
        return not lines.isdisjoint(range(place.line_no, place.line_no + self._height(place, place.line_no)))

    def line_date(self, path: str, line_no: int) -> LineDate | None:
        """The day of a line; None if copying may have changed it or a dream wrote the line."""
        known = self.job.line_dates.get(path, ())
        line = known[line_no - 1] if line_no <= len(known) else None
        return line if line and line.believable and not line.ours else None

    def _height(self, place: Place, line_no: int) -> int:
        """How many lines a statement has."""
        lines = self.tree_before.texts.get(place.path, "").split("\n")[line_no - 1 :]
        heights = range(1, min(len(lines), TALLEST) + 1)
        told = one_line(place.text)
        holds = (height for height in heights if told in one_line("\n".join(lines[:height])))
        return next(holds, place.text.count("\n") + 1)


Family = Callable[[Inputs], Iterator[Question]]


# --- Units ----------------------------------------------------------------------------------------------------------

_ENTRY = re.compile(r"\s*(?:[-*+]|\d+[.)])\s")
NO_OPTION = Option("none", "Not possible here")  # it is not offered


def askable(tree: Tree) -> Iterator[PlacedText]:
    """Statements that have their lines to themselves: of memories (also pinned ones), and of an index all but its rows."""
    for path in sorted(tree.texts):
        if is_log(path) or is_team(path) or is_daily(path) or not tree.writable(path):
            continue
        if NO_MEMORY.fullmatch(PurePosixPath(path).name):
            continue
        rows = memdir.parse_index(tree.texts[path]).rows if is_index(path) else ()
        of_rows = {number for row in rows for number in range(row.line_no, row.end_line_no + 1)}
        document = tree.document(path)
        found = (*units(path, document), *wholes(path, document))
        yield from (unit for unit in found if unit.first_line not in of_rows)


def leads(units: Sequence[PlacedText]) -> set[tuple[str, int]]:
    """The paths and lines of first paragraphs that introduce the rest of their memory."""
    of_file = defaultdict[str, list[PlacedText]](list)
    for unit in units:
        of_file[unit.path].append(unit)
    first = (min(each, key=lambda unit: (unit.first_line, -unit.last_line)) for each in of_file.values())
    return {
        (unit.path, unit.first_line)
        for unit in first
        if not BULLET.match(unit.raw)
        and (REMARK.search(unit.raw) or any(each.first_line > unit.last_line for each in of_file[unit.path]))
    }


def leaves_entries(units: Sequence[PlacedText], told: Sequence[PlacedText]) -> bool:
    """Whether one of these is not a complete sentence and has a neighbouring entry that stays: it belongs to its list."""
    gone, paths = {(each.path, each.first_line, each.text) for each in told}, {each.path for each in told}
    entries = [each for each in units if each.path in paths and _ENTRY.match(each.raw)]
    stay = {each for each in entries if (each.path, each.first_line, each.text) not in gone}
    parts = [each for each in entries if each not in stay and not is_sentence(each.text)]
    edges = {(each.path, line) for each in parts for line in (each.first_line - 1, each.last_line + 1)}
    return any(not edges.isdisjoint(((e.path, e.first_line), (e.path, e.last_line))) for e in stay)


def is_sentence(text: str) -> bool:
    """Whether it ends like one, and begins with no label."""
    return text.rstrip("*_)").endswith((".", "。", "!")) and not begins_with_a_label(text)


def first_of(names: Sequence[str]) -> str:
    return ", ".join(names[:MOST_NAMED]) + (" …" if len(names) > MOST_NAMED else "")


def place(unit: PlacedText, note: str = "") -> Place:
    return Place(unit.path, unit.first_line, unit.raw, note=note)


def place_of_quote(cited: Citation) -> Place:
    """The place in a session, or in a log, that a quote is from."""
    return Place(
        cited.place, cited.line_no, cited.quote, cited.session_pk, cited.offset, cited.role, cited.at
    )


def removal(draftsman: Draftsman, unit: PlacedText, note: str, *cited: Citation) -> Option:
    """The option that removes the statement; without edits if the file would be left empty."""
    told = fates(unit, "stated", note=note)
    return draftsman.option("remove", "Remove it", remove, unit, "prune", note, told, cited)


def removal_of_sentence(context: Inputs, unit: PlacedText, told: str, note: str, cited: Citation) -> Option:
    """The option to remove one sentence of the statement, or all of it if it says nothing else."""
    if told == unit.text or len(sentences(unit.text)) == 1:
        return removal(context.draftsman, unit, note, cited)
    if is_index(unit.path):
        return NO_OPTION
    given = ((unit.path, unit.first_line), told, note, note, cited)
    return context.draftsman.option("remove", "Remove the sentence", remove_sentence, *given)
