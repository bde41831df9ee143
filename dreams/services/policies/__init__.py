"""Decides which changes may be applied without a person, by policies for a kind of change or a memory type and operation.

`earned` has the policies that memoryweb offers after many similar decisions, `routine` which changes these may cover.

A project's policies take precedence over those for all, and a kind of change over type and operation. Without a policy
a person reviews. A removal is automatic only with a policy for removals, or for that kind of change. What a person undid
is not: it is reviewed when it is proposed again.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations

from django.db.models import Q, QuerySet

from dreams import conf
from dreams.engines import drafts
from dreams.engines.types import Edit
from dreams.findings.base import FindingsReport
from dreams.lib import diff, memdir
from dreams.lib.diff.refine import have_alike_units
from dreams.lib.memdir.frontmatter import head_length
from dreams.lib.prose import comparing
from dreams.models import DreamRun, FileChange, Policy, Project, Proposal
from dreams.models.prepared import prepared
from dreams.services import blobs, proposals
from dreams.services.policies import earned
from dreams.services.policies.earned import POLICY_ACTOR, corrected, turned_down, undone, would_apply
from dreams.services.policies.routine import is_shared, miscalled

Table = Mapping[tuple[bool, str, str, str], str]
LEAST_WORDS = 3  # of an added line by which an undone change is known again in any file; chosen
#: Blocking findings are never accepted, whatever the setting.
ACCEPTED = {
    "none": frozenset[str](),
    "info": frozenset({"info"}),
    "warn": frozenset({"info", "warn"}),
}


@dataclass(frozen=True, slots=True)
class Automatic:
    """The operations that need no person; `earned` maps those of earned policies to the policy's pk. `chosen_by` has the
    person's policies, as they were then."""

    operations: frozenset[str] = frozenset()
    earned: Mapping[str, int] = field(default_factory=dict)
    chosen_by: Table = field(default_factory=dict)

    def of(self, part: drafts.Draft, whole: drafts.Draft) -> dict[str, int]:
        """The earned policies for the operations of `part`, which was drafted again from these operations of `whole`."""
        steps = {step: pk for key, pk in self.earned.items() for step in whole.operations[key].steps}
        found = {key: {steps.get(step) for step in made.steps} for key, made in part.operations.items()}
        return {key: pk for key, pks in found.items() if len(pks) == 1 for pk in pks if pk is not None}


def table(project: Project | None) -> Table:
    """(own project, kind, memory type, operation) → action, for `project`; None: for all projects."""
    rows = Policy.objects.filter(Q(project=project) | Q(project__isnull=True), maker="")
    return {
        (row.project_id is not None, row.kind, row.memory_type, row.operation): row.action for row in rows
    }


def action_for(found: Table, memory_type: str, operation: str, kind: str = "") -> str:
    """`review` or `auto`; empty without a policy for it."""
    for own in (True, False):
        for key in ((own, kind, "", ""), (own, "", memory_type, operation), (own, "", "", operation)):
            if (key[1] or key[3]) and key in found:
                return found[key]
    return ""


@prepared
def _automatic(project: int) -> QuerySet[Policy, int]:
    """Without the policies for caught cards, which are not part of a dream."""
    rows = Policy.objects.filter(Q(project=project) | Q(project__isnull=True), action=Policy.Action.AUTO)
    return rows.exclude(operation=Policy.Operation.CATCH).values_list("pk", flat=True)


def may_apply(project: Project) -> bool:
    """Whether any policy may apply changes of a dream of `project`."""
    return bool(_automatic(project.pk))


def operation_of(hunk: drafts.DraftHunk, file: drafts.DraftFile) -> str:
    """Whether the hunk adds, changes or removes."""
    if file.kind == "add" or hunk.hunk.kind == "add":
        return Policy.Operation.ADD
    if file.kind == "delete" or hunk.hunk.kind == "remove":
        return Policy.Operation.REMOVE
    return Policy.Operation.CHANGE


def as_judged(dream: DreamRun, draft: drafts.Draft) -> drafts.Draft:
    """`draft` for the checks of a policy: without a model's own explanations of removed lines, which a person may
    accept but a policy does not."""
    if not earned.is_by_model(dream):
        return draft
    bare = (
        replace(file, hunks=tuple(replace(hunk, fates=()) for hunk in file.hunks)) for file in draft.files
    )
    return replace(draft, files=tuple(bare))


def automatic(
    dream: DreamRun,
    draft: drafts.Draft,
    edits: Sequence[Edit],
    examine: Callable[[drafts.Draft], FindingsReport],
) -> Automatic:
    """The operations of `draft` that may be applied without a person; never on team memory.

    All parts must be allowed, without a finding worse than the project's policies accept. Where no person set a
    policy, an earned one may apply an operation. `examine` runs only if some operation may pass.
    """
    found = table(dream.project)
    said = _said(found, draft, miscalled(draft) if earned.is_by_model(dream) else frozenset())
    by_hand = {key for key, actions in said.items() if actions == {Policy.Action.AUTO}}
    open_to_trust = {key for key, actions in said.items() if Policy.Action.REVIEW not in actions} - by_hand
    trusted = earned.trusted(dream, draft, edits, open_to_trust)
    if not by_hand and not trusted:
        return Automatic()
    report, fine = examine(as_judged(dream, draft)), accepted(dream.project)
    taken_back = UndoneLines.of(dream.project)
    hunks = [(file.path, hunk) for file in draft.files for hunk in file.hunks]
    again = {hunk.operation for path, hunk in hunks if taken_back.come_back(path, hunk.hunk)}
    again |= _learnt_twice(draft)
    by_hand -= _spoken_against(draft, report, fine) | again
    bad = _spoken_against(draft, report, fine & earned.ACCEPTED) | again
    trusted = earned.within_a_day(dream.project, trusted, bad)
    return Automatic(frozenset(by_hand | trusted.keys()), trusted, found)


def _said(found: Table, draft: drafts.Draft, miscalled: Collection[str]) -> dict[str, set[str]]:
    """Operation → the policy actions for its parts; "" without a policy, review for team memory.

    A `miscalled` operation has no kind: a note may have instructed the model to call a removal a date.
    """
    said: dict[str, set[str]] = {key: set() for key in draft.operations}
    for file in draft.files:
        for hunk in file.hunks:
            kind = "" if hunk.operation in miscalled else draft.operations[hunk.operation].kind
            said[hunk.operation] |= {
                Policy.Action.REVIEW
                if is_shared(file.path)
                else action_for(found, memory_type, operation_of(hunk, file), kind)
                for memory_type in _types_of(file)
            }
    return said


def _learnt_twice(draft: drafts.Draft) -> set[str]:
    """The operations that learn almost the same as another, maybe with another value: Ana and Ben own one service."""
    bodies: dict[str, list[str]] = {}
    for file in draft.files:
        for hunk in () if memdir.is_index(file.path) else file.hunks:
            added = hunk.hunk.added
            if draft.operations[hunk.operation].kind == "learn":
                body = added[head_length(added) :].splitlines(keepends=True)
                bodies.setdefault(hunk.operation, []).extend(body)
    pairs = (pair for pair in combinations(bodies, 2) if have_alike_units(*map(bodies.__getitem__, pair)))
    return {key for pair in pairs for key in pair}


@dataclass(frozen=True, slots=True)
class UndoneLines:
    """What changes that a person undid had added or removed, and the files of which that is no longer known. A change that was
    redone stands."""

    lines: Collection[tuple[str, str, str]]
    lost: Collection[str]

    @classmethod
    def of(cls, project: Project) -> "UndoneLines":
        rows = FileChange.objects.filter(proposal__project=project, hunks__undone_in__isnull=False)
        files = list(rows.filter(proposal__undoes=None).distinct().prefetch_related("hunks"))
        texts, found, lost = proposals.texts_of(files), set[tuple[str, str, str]](), set[str]()
        for file in files:
            try:
                for row, lines in proposals.text_hunks(file, texts):
                    found |= _telling(file.path, lines) if row.undone_in_id else set()
            except blobs.MissingBlob:
                lost.add(file.path)
        return cls(frozenset(found), lost)

    def come_back(self, path: str, hunk: diff.Hunk) -> bool:
        """Whether the hunk adds such a line, or removes it there."""
        return path in self.lost or not _telling(path, hunk).isdisjoint(self.lines)


def _telling(path: str, hunk: diff.Hunk) -> set[tuple[str, str, str]]:
    """The lines that a hunk adds, wherever, and those that it removes at `path`. Short ones that it adds, such as “type: project”,
    count only there."""
    sides = (("added", hunk.new_lines), ("removed", hunk.base_lines))
    return {
        (
            side,
            "" if side == "added" and len(line.split()) >= LEAST_WORDS else path,
            comparing.normalised(line),
        )
        for side, lines in sides
        for line in lines
        if any(map(str.isalnum, line))
    }


def accepted(project: Project) -> frozenset[str]:
    """The severities of findings with which a policy may still apply a change."""
    return ACCEPTED[conf.current(project).policy_findings]


def refused(part: Proposal, chosen_by: Table) -> str:
    """Why the part that policies allowed needs a person after all; empty if it does not."""
    if table(part.project) != chosen_by:
        return "The policies were changed meanwhile."
    if any(map(is_shared, part.files.values_list("path", flat=True))):
        return "It changes team memory, which no policy may change."
    fine = accepted(part.project)
    ended = part.operations.filter(policy__isnull=False).exclude(policy__action=Policy.Action.AUTO).first()
    if ended is not None:
        return f"The policy was ended meanwhile: {ended.reason}"
    if part.operations.filter(policy__isnull=False).exists():
        fine &= earned.ACCEPTED
    bad = part.findings.exclude(severity__in=fine).first()
    return bad.message if bad else ""


def _spoken_against(draft: drafts.Draft, report: FindingsReport, fine: frozenset[str]) -> set[str]:
    """The operations with a finding not in `fine`. One on a file counts for all its hunks; one on neither file nor hunk does
    not count, as it was there before or is found again."""
    bad = [one for one in report.findings if one.severity not in fine]
    hunks, files = {(one.path, one.hunk_id) for one in bad}, {one.path for one in bad if not one.hunk_id}
    return {
        hunk.operation
        for file in draft.files
        for hunk in file.hunks
        if file.path in files or (file.path, hunk.hunk.id) in hunks
    }


def _types_of(file: drafts.DraftFile) -> set[str]:
    """Before and after, so that no change can set the type that a policy allows."""
    return {proposals.memory_type(file.path, data) for data in (file.base, file.new) if data is not None}
