"""Closing a review: what must not stand in the way, and what a submit settles."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

from django.db import connection, transaction
from django.db.models import Exists, OuterRef, Subquery
from django.utils import timezone

from dreams.lib.prose import comparing
from dreams.models import Evidence, FileChange, Finding, Hunk, LeftOut, Project, Proposal, Session
from dreams.services import auditlog, daily_logs, database, proposals
from dreams.services.catching import states as caught
from dreams.services.questions import states
from dreams.services.review.deciding import (
    REASON_LIMIT,
    Actor,
    ReviewRefused,
    claimed_to_submit,
    refuse_open_findings,
    refuse_what_is_open,
)


def submit(proposal: Proposal, reviewer: Actor) -> Proposal:
    """Close the review: what is approved may be written, what is rejected stays out, the rest is left for later.

    The sessions of its dream are used up now. Raises ReviewRefused while a finding blocks something approved.
    """
    with claimed_to_submit(proposal) as claim:
        # What is found stays on the page for the person to confirm, also when it refuses.
        refuse_open_findings(proposal)
        left = _without_approved(proposal)
        _stage_rejected(proposal)
        _close(proposal, reviewer, claim, left)
    return proposal


def _close(proposal: Proposal, reviewer: Actor, claim: str, left: Collection[LeftOut]) -> None:
    """The last transaction of a submit: until it is through, nothing of the submit counts."""
    with transaction.atomic():
        refuse_what_is_open(proposal)
        now = timezone.now()
        taken = Hunk.objects.filter(file__proposal=proposal, verdict__in=Hunk.TAKEN).exists()
        state = Proposal.State.SUBMITTED if taken else Proposal.State.REJECTED
        mine = Proposal.objects.filter(pk=proposal.pk, state=Proposal.State.OPEN, submitting_by=claim)
        moved = mine.update(
            state=state,
            submitted_at=now,
            submitted_by=reviewer.name,
            closed_at=None if taken else now,
            submitting_by="",
        )
        if not moved:
            raise ReviewRefused(
                f"{proposal.public_id} was closed by someone else meanwhile. Look at it again."
            )
        proposal.refresh_from_db()
        _let_in_approved(proposal, left)
        _leave_out_rejected(proposal)
        states.settle(proposal)
        caught.settle(proposal)
        use_up_sessions(proposal)
        auditlog.record(
            "review.submitted",
            actor=reviewer.name,
            project=proposal.project,
            object_id=proposal.public_id,
            by_command=reviewer.by_command,
            state=state.value,
            open_findings=proposal.findings.filter(severity=Finding.Severity.WARN)
            .exclude(hunk__verdict=Hunk.Verdict.REJECTED)
            .count(),
        )


def _without_approved(proposal: Proposal) -> list[LeftOut]:
    """What was left out before and is approved in part now, with the lines that are still left out."""
    lines = _approved(proposal)
    changed = []
    for row in LeftOut.objects.decided().filter(project=proposal.project_id).iterator():
        kept = [line for line in row.added if comparing.normalised(line) not in lines]
        if kept != row.added:
            row.added = kept
            changed.append(row)
    return changed


def _let_in_approved(proposal: Proposal, left: Collection[LeftOut]) -> None:
    """What is approved now counts as rejected no longer, whatever was decided before."""
    taken = Hunk.objects.filter(file__proposal=proposal, verdict__in=Hunk.TAKEN)
    same = taken.filter(file__path=OuterRef("path"), hunk_id=OuterRef("hunk_id"))
    LeftOut.objects.decided().filter(Exists(same), project=proposal.project_id).delete()
    with connection.cursor() as cursor:  # as `bulk_update` says it, which takes seconds for some thousands
        cursor.executemany(
            f"UPDATE {LeftOut._meta.db_table} SET added = %s WHERE id = %s",  # noqa: S608 - a table's own name
            [(connection.ops.adapt_json_value(row.added, None), row.pk) for row in left],
        )


def _approved(proposal: Proposal) -> set[str]:
    """The normalised lines that the approved hunks propose."""
    files = list(proposal.files.filter(hunks__verdict__in=Hunk.TAKEN).distinct().prefetch_related("hunks"))
    texts = proposals.texts_of(files)
    return {
        comparing.normalised(line)
        for file in files
        for row, changed in proposals.text_hunks(file, texts)
        if row.is_taken
        for line in proposals.added_lines(changed)
    }


MOST_AT_ONCE = 250  # rows of one transaction: about 20 ms of SQLite's write lock


def _stage_rejected(proposal: Proposal) -> None:
    """Write what is rejected, in several transactions; it counts with the last one of the submit."""
    LeftOut.objects.filter(proposal=proposal, is_staged=True).delete()  # of a submit that was cut off
    if proposal.origin in (Proposal.Origin.DREAM, Proposal.Origin.SUGGESTED):
        rejected = Hunk.objects.filter(file__proposal=proposal, verdict=Hunk.Verdict.REJECTED)
        for part in database.in_parts(_rows(proposal, rejected), MOST_AT_ONCE):
            for row in part:
                row.is_staged = True
            _save(part)


def _leave_out_rejected(proposal: Proposal) -> None:
    """What was staged counts from now on, in the place of what was left out before."""
    staged = LeftOut.objects.filter(proposal=proposal, is_staged=True)
    again = staged.filter(path=OuterRef("path"), hunk_id=OuterRef("hunk_id"))
    LeftOut.objects.decided().filter(Exists(again), project=proposal.project_id).delete()
    staged.update(is_staged=False)


def leave_out(proposal: Proposal, hunks: Iterable[Hunk], reason: str | None = None) -> None:
    """Never propose these hunks again while they would be made from the same inputs; without a reason each keeps its own."""
    _save(_rows(proposal, hunks, reason))


def _rows(proposal: Proposal, hunks: Iterable[Hunk], reason: str | None = None) -> list[LeftOut]:
    wanted = {hunk.pk: hunk.file_id for hunk in hunks}
    files = FileChange.objects.filter(pk__in=set(wanted.values()))
    with_hunks = list(files.prefetch_related("hunks__evidence"))
    texts = proposals.texts_of(with_hunks)
    now = timezone.now()
    return [
        LeftOut(
            project=proposal.project,
            path=file.path,
            hunk_id=row.hunk_id,
            inputs_key=proposals.inputs_key(row),
            added=proposals.added_lines(lines),
            reason=(row.decide_reason if reason is None else reason)[:REASON_LIMIT],
            proposal=proposal,
            at=now,
        )
        for file in with_hunks
        for row, lines in proposals.text_hunks(file, texts)
        if row.pk in wanted
    ]


def _save(rows: Sequence[LeftOut]) -> None:
    LeftOut.objects.bulk_create(
        rows,
        update_conflicts=True,
        unique_fields=["project", "path", "hunk_id", "proposal", "is_staged"],
        update_fields=["inputs_key", "added", "reason", "at"],
        batch_size=200,
    )


def use_up_sessions(proposal: Proposal) -> None:
    """What the sessions and logs taught is decided. Those that speak for a change left undecided are kept for a later dream.

    Those of an unfinished dream are all kept: it did not read them to the end.
    """
    if proposal.dream is None or proposal.partial:
        return
    undecided = Hunk.objects.filter(file__proposal=proposal, verdict=Hunk.Verdict.PENDING)
    cited = Evidence.objects.filter(hunk__in=undecided, session__isnull=False)
    kept = Session.objects.filter(pk__in=cited.values("session"))
    reviewed = proposal.dream.reviewed.exclude(session__in=kept)
    read = Session.objects.filter(pk__in=reviewed.values("session"))
    to_byte = Subquery(reviewed.filter(session=OuterRef("pk")).values("to_byte")[:1])
    read.filter(used_bytes__lt=to_byte).update(used_bytes=to_byte)
    read.update(given_back_at=None)
    logged = Evidence.objects.filter(hunk__in=undecided, role="log")
    daily_logs.use_up(proposal.dream, set(logged.values_list("place", flat=True)))
    if undecided.exists():
        kept.update(given_back_at=timezone.now())
        # The same inputs are worth another dream: not everything that came of them was decided on.
        Project.objects.filter(pk=proposal.project_id).update(inputs_hash="")
