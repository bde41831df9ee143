"""Runs the checks before there is a proposal: the engine gets the findings once, and what it fixed is recorded.

So a person only sees what the engine could not fix.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from dreams.engines import drafts
from dreams.engines.types import Edit, Problem
from dreams.findings.base import MENDABLE, NewFinding
from dreams.lib.files import text
from dreams.lib.files.workspace import Workspace
from dreams.models import DreamRun, Project, Proposal
from dreams.services import proposals

#: Findings for an engine at once, to keep room in its context.
MOST = 40


@dataclass(slots=True)
class Checks:
    """The checks of one dream. The engine calls `examine`; `kept` says which findings it fixed."""

    project: Project
    scratch: Workspace
    verdicts: proposals.TranscriptVerdicts
    told: dict[str, Problem] = field(default_factory=dict)

    def examine(self, edits: Sequence[Edit]) -> Sequence[Problem]:
        """The current findings, worst first; those of the first call are recorded."""
        found = self._problems(edits)
        if not self.told:
            self.told = found
        return list(found.values())

    def kept(self, edits: Sequence[Edit]) -> list[dict[str, object]]:
        """The recorded findings, and whether they are fixed, for the dream's page."""
        left = self._problems(edits) if self.told else {}
        return [
            {
                "code": problem.code,
                "path": problem.path,
                "said": text.storable(problem.message, 500),
                "mended": key not in left,
            }
            for key, problem in self.told.items()
        ]

    def _problems(self, edits: Sequence[Edit]) -> dict[str, Problem]:
        """Problems by the findings' keys, which do not change when lines move."""
        before = self.scratch.snapshot.contents()
        made = drafts.draft(before, self.scratch.contents(), edits, proposals.rejected_hunks(self.project))
        report = proposals.check_draft(
            self.project, Proposal.Origin.DREAM, made, before, self.verdicts
        ).report
        places = {(file.path, hunk.hunk.id): hunk.operation for file in made.files for hunk in file.hunks}
        wanted = [found for found in report.findings if found.blocks or found.code in MENDABLE]
        return {found.key: _problem(found, places) for found in _of_each_kind(wanted)[:MOST]}


def _of_each_kind(wanted: Sequence[NewFinding]) -> list[NewFinding]:
    """Blocking ones first, then one of each kind, then a second, so that hundreds of one kind do not fill the list."""
    seen = Counter[str]()
    ranked = list[tuple[bool, int, NewFinding]]()
    for found in wanted:
        ranked.append((not found.blocks, seen[found.code], found))
        seen[found.code] += 1
    return [found for _, _, found in sorted(ranked, key=lambda one: one[:2])]


def _problem(found: NewFinding, places: Mapping[tuple[str, str], str]) -> Problem:
    of_hunk = places.get((found.path, found.hunk_id))
    of_file = {operation for (path, _), operation in places.items() if path == found.path}
    return Problem(
        code=found.code,
        message=found.message,
        remedy=found.remedy,
        path=found.path,
        line_no=found.line_no,
        blocks=found.blocks,
        operations=frozenset({of_hunk} if of_hunk else of_file),
    )


def save(dream: DreamRun, checks: Checks, edits: Sequence[Edit]) -> None:
    """Store the recorded findings and whether they were fixed."""
    DreamRun.objects.filter(pk=dream.pk).update(self_review=checks.kept(edits))
