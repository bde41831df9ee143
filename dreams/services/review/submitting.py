"""Closing a review: what must not stand in the way, and what a submit settles."""

from __future__ import annotations

from collections.abc import Iterable

from django.db import transaction
from django.utils import timezone

from dreams.lib.prose import comparing
from dreams.models import Evidence, FileChange, Finding, Hunk, LeftOut, Project, Proposal, Session
from dreams.services import auditlog, daily_logs, proposals
from dreams.services.catching import states as caught
from dreams.services.questions import states
from dreams.services.review.deciding import (
    REASON_LIMIT,
    Actor,
    ReviewRefused,
    hold_open,
    refuse_open_findings,
    refuse_what_is_open,
)


def submit(proposal: Proposal, reviewer: Actor) -> Proposal:
    """Close the review: what is approved may be written, what is rejected stays out, the rest is left for later.

    The sessions of its dream are used up now. Raises ReviewRefused while a finding blocks something approved.
    """
    # Before the transaction: what is found must stay on the page for the person to confirm, also when it refuses.
    refuse_open_findings(proposal)
    with transaction.atomic():
        hold_open(proposal)
        refuse_what_is_open(proposal)
        now = timezone.now()
        taken = Hunk.objects.filter(file__proposal=proposal, verdict__in=Hunk.TAKEN).exists()
        state = Proposal.State.SUBMITTED if taken else Proposal.State.REJECTED
        moved = Proposal.objects.filter(pk=proposal.pk, state=Proposal.State.OPEN).update(
            state=state, submitted_at=now, submitted_by=reviewer.name, closed_at=None if taken else now
        )
        if not moved:
            raise ReviewRefused(
                f"{proposal.public_id} was submitted by someone else meanwhile. Look at it again."
            )
        proposal.refresh_from_db()
        _let_in_approved(proposal)
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
    return proposal


def _let_in_approved(proposal: Proposal) -> None:
    """What is approved now counts as rejected no longer, whatever was decided before."""
    lines, hunks = _approved(proposal)
    changed = []
    for row in LeftOut.objects.filter(project=proposal.project_id):
        kept = [line for line in row.added if comparing.normalised(line) not in lines]
        if (row.path, row.hunk_id) in hunks:
            row.delete()
        elif kept != row.added:
            row.added = kept
            changed.append(row)
    LeftOut.objects.bulk_update(changed, ["added"], batch_size=200)


def _approved(proposal: Proposal) -> tuple[set[str], set[tuple[str, str]]]:
    """The normalised lines that the approved hunks propose, and the hunks."""
    files = list(proposal.files.filter(hunks__verdict__in=Hunk.TAKEN).distinct().prefetch_related("hunks"))
    texts = proposals.texts_of(files)
    lines, hunks = set[str](), set[tuple[str, str]]()
    for file in files:
        for row, changed in proposals.text_hunks(file, texts):
            if row.is_taken:
                hunks.add((file.path, row.hunk_id))
                lines |= {comparing.normalised(line) for line in proposals.added_lines(changed)}
    return lines, hunks


def _leave_out_rejected(proposal: Proposal) -> None:
    if proposal.origin in (Proposal.Origin.DREAM, Proposal.Origin.SUGGESTED):
        leave_out(proposal, Hunk.objects.filter(file__proposal=proposal, verdict=Hunk.Verdict.REJECTED))


def leave_out(proposal: Proposal, hunks: Iterable[Hunk], reason: str | None = None) -> None:
    """Never propose these hunks again while they would be made from the same inputs; without a reason each keeps its own."""
    wanted = {hunk.pk: hunk.file_id for hunk in hunks}
    files = FileChange.objects.filter(pk__in=set(wanted.values()))
    with_hunks = list(files.prefetch_related("hunks__evidence"))
    texts = proposals.texts_of(with_hunks)
    now = timezone.now()
    rows = [
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
    LeftOut.objects.bulk_create(
        rows,
        update_conflicts=True,
        unique_fields=["project", "path", "hunk_id"],
        update_fields=["inputs_key", "added", "reason", "proposal", "at"],
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
    for reviewed in proposal.dream.reviewed.exclude(session__in=kept):
        Session.objects.filter(pk=reviewed.session_id, used_bytes__lt=reviewed.to_byte).update(
            used_bytes=reviewed.to_byte
        )
        Session.objects.filter(pk=reviewed.session_id).update(given_back_at=None)
    logged = Evidence.objects.filter(hunk__in=undecided, role="log")
    daily_logs.use_up(proposal.dream, set(logged.values_list("place", flat=True)))
    if undecided.exists():
        kept.update(given_back_at=timezone.now())
        # The same inputs are worth another dream: not everything that came of them was decided on.
        Project.objects.filter(pk=proposal.project_id).update(inputs_hash="")
