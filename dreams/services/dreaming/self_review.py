"""Runs the checks before there is a proposal: the engine gets the findings once, and what it fixed is recorded.

What is left to a person is what an engine could not mend: not an unexplained loss that it had only forgotten to explain.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from dreams import findings
from dreams.engines import drafts
from dreams.engines.types import Edit, Problem
from dreams.findings.base import MENDABLE, FindingsReport, NewFinding
from dreams.lib.files import text
from dreams.lib.files.workspace import Workspace
from dreams.models import DreamRun, Project
from dreams.services import hosts, proposals

#: Told to an engine at once: more would be its whole context.
MOST = 40


@dataclass(slots=True)
class Checks:
    """One dream's checks. `examine` is what the engine calls; `kept` is what became of what it was told."""

    project: Project
    scratch: Workspace
    heard: proposals.TranscriptVerdicts
    told: dict[str, Problem] = field(default_factory=dict)

    def examine(self, edits: Sequence[Edit]) -> Sequence[Problem]:
        """What stands against the work now, the worst first. The first answer is what the engine was told."""
        found = self._problems(edits)
        if not self.told:
            self.told = found
        return list(found.values())

    def kept(self, edits: Sequence[Edit]) -> list[dict[str, object]]:
        """Each thing that the engine was told, and whether it is mended: for the dream's page."""
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
        """By the finding's key, which stays the same when lines move."""
        before = self.scratch.snapshot.contents()
        made = drafts.draft(before, self.scratch.contents(), edits, proposals.rejected_before(self.project))
        report = examined(self.project, before, made, self.heard)
        places = {(file.path, hunk.hunk.id): hunk.operation for file in made.files for hunk in file.hunks}
        wanted = [found for found in report.findings if found.blocks or found.code in MENDABLE]
        return {found.key: _problem(found, places) for found in _of_each_kind(wanted)[:MOST]}


def examined(
    project: Project, before: Mapping[str, bytes], made: drafts.Draft, heard: proposals.TranscriptVerdicts
) -> FindingsReport:
    """The findings on all of a draft, held against what the dream's sessions say."""
    hosts.name_secrets()
    return findings.examine(proposals.subject_of_draft(project, before, made, heard))


def _of_each_kind(wanted: Sequence[NewFinding]) -> list[NewFinding]:
    """What blocks first, then one of each kind, then a second: hundreds of one kind do not crowd out the budget."""
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


def keep(dream: DreamRun, checks: Checks, edits: Sequence[Edit]) -> None:
    """Write down what the engine was told and what it mended."""
    DreamRun.objects.filter(pk=dream.pk).update(self_review=checks.kept(edits))
