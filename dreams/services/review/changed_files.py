"""Files that changed since they were decided: confirms how one was rebased, and solves its conflicts."""

from collections.abc import Mapping, Sequence

from django.db import transaction
from django.db.models import Q
from django.utils import timezone

from dreams.lib import diff, memdir
from dreams.lib.diff.merge import Choice, Edited
from dreams.models import FileChange, Hunk, Operation
from dreams.services import auditlog, proposals
from dreams.services.auditlog import Actor
from dreams.services.proposals import rebase
from dreams.services.review.deciding import keep_decisions, lock_open_proposal


def confirm_rebase(file: FileChange, base: str, reviewer: Actor) -> bool:
    """Save that a person saw how `file` was rebased. False if it changed again since: `base` is the state that was shown."""
    with transaction.atomic():
        lock_open_proposal(file.proposal, or_submitted=True)
        shown = FileChange.objects.filter(pk=file.pk, base_sha=base, conflict__isnull=True)
        confirmed = bool(shown.update(rebase_confirmed=True))
        if confirmed:
            # Of changes of several people that became one, nobody had decided the whole.
            joined = Hunk.objects.filter(file=file, verdict__in=Hunk.TAKEN, decided_by="")
            joined.update(decided_by=reviewer.name, decided_at=timezone.now(), seconded_sha="")
            auditlog.record(
                "review.rebase_confirmed", actor=reviewer, about=file.proposal, path=file.path, base=base
            )
    return confirmed


def solve_conflict(
    file: FileChange, choices: Mapping[int, Choice], reviewer: Actor, *, remove: bool = False
) -> list[str]:
    """As `rebase.resolve`, for the conflict as it is in `file`. Whoever solves it decided what is written. Returns the other
    files with changes that are rejected with it.

    Raises ReviewRefused, rebase.ConflictChanged or NoConflict, `merge.UnresolvedConflictError` for a place without a choice.
    """
    with transaction.atomic():
        lock_open_proposal(file.proposal, or_submitted=True)
        seen = file.conflict
        file.refresh_from_db()
        if file.conflict and file.conflict != seen:
            raise rebase.ConflictChanged("The file has changed again. Choose again.")
        words = _worded(file, choices)
        before = list(file.hunks.select_related("file", "operation"))
        rebase.resolve(file, choices, remove=remove)
        taken = Hunk.objects.filter(file=file, verdict__in=Hunk.TAKEN).select_related("file", "operation")
        taken.update(decided_by=reviewer.name, decided_at=timezone.now())
        decided = list(taken)
        if any(isinstance(choice, Edited) for choice in choices.values()):
            FileChange.objects.filter(pk=file.pk).update(is_worded=True)
        lines = {row.pk: {*new.base_lines, *new.new_lines} for row, new in proposals.text_hunks(file)}
        for hunk in decided:
            if words & lines[hunk.pk]:
                hunk.verdict = Hunk.Verdict.EDITED
        rest: list[Hunk] = []
        if not lines:  # what is in the file was kept
            rest = _reject_the_rest(file, before, reviewer)
            decided = [*before, *rest]
            for hunk in decided:
                hunk.verdict = Hunk.Verdict.REJECTED
        keep_decisions(file.proposal, decided, reviewer)
        auditlog.record(
            "review.conflict_solved",
            actor=reviewer,
            about=file.proposal,
            path=file.path,
            base=file.base_sha,
            now=file.new_sha,
        )
    return sorted({hunk.file.path for hunk in rest})


def _reject_the_rest(file: FileChange, kept: Sequence[Hunk], reviewer: Actor) -> list[Hunk]:
    """Rejects what only makes sense with the changes that are not made, such as the removal of a kept file's row. A row that is
    kept takes nothing back that its memory learnt, only the removal of its file or a move out of the index."""
    operations = {hunk.operation_id for hunk in kept if hunk.operation_id}
    rest = Hunk.objects.filter(file__proposal=file.proposal, operation__in=operations, applied_in=None)
    rest = rest.exclude(file=file).select_related("file", "operation")
    if memdir.is_index(file.path):
        leaves = Q(file__kind=FileChange.Kind.DELETE) | Q(operation__kind=Operation.Kind.INDEX)
        rest = rest.filter(operation__in=rest.filter(leaves).values("operation"))
    told = {"decided_by": reviewer.name, "decided_at": timezone.now(), "decide_reason": ""}
    rest.update(verdict=Hunk.Verdict.REJECTED, edited_sha="", **told)
    return list(rest)


def _worded(file: FileChange, choices: Mapping[int, Choice]) -> set[str]:
    """The lines of the places that a person solved in their own words: as they typed them, and as the file has them."""
    places = rebase.three_way(rebase.sides_of(file), file.path).conflicts
    typed = {number: choice.text for number, choice in choices.items() if isinstance(choice, Edited)}
    lines = [
        line
        for number, place in enumerate(places)
        if number in typed
        for line in (*diff.split_lines(typed[number]), *place.ours.lines)
    ]
    return {line for line in lines if line.strip()}
