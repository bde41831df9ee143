"""Review: decide, edit, undo, confirm, submit. The state machine of a proposal.

Verdicts are pending until the review is submitted; the parts of an operation are decided together; each verdict
carries the sha256 of the base it was made on, and one made on an old base is refused with the remedy.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from django.db import transaction
from django.db.models import Q, QuerySet
from django.utils import timezone

from dreams import auditlog, blobs, proposals, text, textdiff
from dreams.models import Decision, FileChange, Finding, Hunk, LeftOut, Proposal, Session

REASON_LIMIT = 500


class ReviewRefused(Exception):
    """The decision cannot be taken; the message names the thing and the remedy."""


@dataclass(frozen=True, slots=True)
class Reviewer:
    """Who decides, and whether by command: such approvals are marked as such."""

    name: str
    by_command: bool = False


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a review is. `waiting` counts findings that stand in the way of what is approved."""

    total: int
    approved: int
    rejected: int
    waiting: int

    @property
    def decided(self) -> int:
        return self.approved + self.rejected

    @property
    def undecided(self) -> int:
        return self.total - self.decided


def select(proposal: Proposal, *, paths: Iterable[str] = (), hunk_ids: Iterable[str] = ()) -> list[Hunk]:
    """The named hunks, or those of the named files, or all. Raises ReviewRefused for a name that is not there."""
    hunks = Hunk.objects.filter(file__proposal=proposal).select_related("file", "operation")
    wanted_paths, wanted_ids = set(paths), set(hunk_ids)
    if wanted_paths:
        hunks = hunks.filter(file__path__in=wanted_paths)
        _complain_about(wanted_paths - {h.file.path for h in hunks}, "file", proposal)
    if wanted_ids:
        hunks = hunks.filter(hunk_id__in=wanted_ids)
        _complain_about(wanted_ids - {h.hunk_id for h in hunks}, "hunk", proposal)
    return list(hunks)


def _complain_about(missing: set[str], what: str, proposal: Proposal) -> None:
    if missing:
        names = ", ".join(sorted(missing))
        raise ReviewRefused(
            f"{proposal.public_id} has no {what} {names}. `proposal {proposal.public_id}` lists them."
        )


def together(hunks: Sequence[Hunk]) -> list[Hunk]:
    """`hunks` with every other part of their operations: what one verdict decides."""
    operations = {hunk.operation_id for hunk in hunks if hunk.operation_id}
    parts = Hunk.objects.filter(Q(operation__in=operations) | Q(pk__in=[h.pk for h in hunks]))
    return list(parts.select_related("file", "operation").order_by("file__path", "number"))


def decide(
    proposal: Proposal, hunks: Sequence[Hunk], verdict: Hunk.Verdict, reviewer: Reviewer, *, reason: str = ""
) -> list[Hunk]:
    """Approve, reject or take back (PENDING) `hunks` and the parts that go with them; returns all that were decided."""
    verdict = Hunk.Verdict(verdict)
    with transaction.atomic():
        _hold_open(proposal)
        decided = together(hunks)
        if verdict == Hunk.Verdict.APPROVED:
            _refuse_unsolved(decided)
        for hunk in decided:
            _set(hunk, verdict, reviewer, reason, edited_sha="")
        _log(proposal, decided, verdict, reviewer, reason)
    return decided


def edit(
    proposal: Proposal, hunk: Hunk, replacement: str, reviewer: Reviewer, *, reason: str = ""
) -> list[Hunk]:
    """Put `replacement` in place of the hunk's new lines and approve it, with the other parts of its operation."""
    with transaction.atomic():
        _hold_open(proposal)
        lines = next(lines for row, lines in proposals.text_hunks(hunk.file) if row.pk == hunk.pk)
        fitted = textdiff.fitted(lines, replacement)
        decided = together([hunk])
        _refuse_unsolved(decided)
        for part in decided:
            if part.pk == hunk.pk:
                _set(part, Hunk.Verdict.EDITED, reviewer, reason, edited_sha=blobs.put(text.encode(fitted)))
            elif not part.is_taken:
                _set(part, Hunk.Verdict.APPROVED, reviewer, reason, edited_sha="")
        _log(proposal, decided, Hunk.Verdict.EDITED, reviewer, reason)
        _examine_anew(proposal)
    return decided


def _examine_anew(proposal: Proposal) -> None:
    """An edit changes what is written, so what was said of the old text no longer holds."""
    from dreams import memories  # noqa: PLC0415 - memories reads proposals' models only when asked

    proposals.examine(proposal, memories.contents(proposal.project))


def confirm(proposal: Proposal, findings: Iterable[Finding], reviewer: Reviewer) -> int:
    """A person saw these findings and wants the change all the same. A refusal can never be confirmed."""
    count = 0
    with transaction.atomic():
        _hold_open(proposal)
        for finding in findings:
            if finding.severity == Finding.Severity.REFUSE:
                raise ReviewRefused(f"This cannot be confirmed: {finding.message} Reject the change instead.")
            if finding.confirmed_at is None:
                finding.confirmed_by, finding.confirmed_at = reviewer.name, timezone.now()
                finding.save(update_fields=["confirmed_by", "confirmed_at"])
                auditlog.record(
                    "review.finding_confirmed",
                    actor=reviewer.name,
                    project=proposal.project,
                    object_id=proposal.public_id,
                    code=finding.code,
                    key=finding.key,
                    by_command=reviewer.by_command,
                )
                count += 1
    return count


def in_the_way(proposal: Proposal, hunks: Iterable[Hunk] | None = None) -> QuerySet[Finding]:
    """Findings that keep what is approved (or `hunks`) from being applied."""
    open_blocks = Q(severity=Finding.Severity.BLOCK, confirmed_at__isnull=True) | Q(
        severity=Finding.Severity.REFUSE
    )
    found = proposal.findings.filter(open_blocks)
    if hunks is not None:
        return found.filter(Q(hunk__in=list(hunks)) | Q(hunk__isnull=True))
    return found.filter(Q(hunk__verdict__in=Hunk.TAKEN) | Q(hunk__isnull=True))


def progress(proposal: Proposal) -> Progress:
    verdicts = list(Hunk.objects.filter(file__proposal=proposal).values_list("verdict", flat=True))
    return Progress(
        total=len(verdicts),
        approved=sum(v in Hunk.TAKEN for v in verdicts),
        rejected=verdicts.count(Hunk.Verdict.REJECTED),
        waiting=in_the_way(proposal).count(),
    )


def submit(proposal: Proposal, reviewer: Reviewer) -> Proposal:
    """Close the review: what is approved may be written, what is rejected stays out, the rest is left for later.

    The sessions of its dream are used up now. Raises ReviewRefused while a finding blocks something approved.
    """
    with transaction.atomic():
        _hold_open(proposal)
        _examine_approved(proposal)
        blocking = in_the_way(proposal).first()
        if blocking is not None:
            where = f" in {blocking.file.path}" if blocking.file else ""
            raise ReviewRefused(
                f"An approved change{where} has an open finding: {blocking.message} Confirm it, or reject the change."
            )
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
        _leave_out_rejected(proposal)
        _use_up_sessions(proposal)
        auditlog.record(
            "review.submitted",
            actor=reviewer.name,
            project=proposal.project,
            object_id=proposal.public_id,
            by_command=reviewer.by_command,
            state=state.value,
            open_findings=proposal.findings.filter(severity=Finding.Severity.WARN).count(),
        )
    return proposal


def _examine_approved(proposal: Proposal) -> None:
    """Findings on exactly what is approved: a rejected part may have been the place where something was kept."""
    from dreams import memories  # noqa: PLC0415 - as above

    proposals.examine(proposal, memories.contents(proposal.project), undecided=False)


def _leave_out_rejected(proposal: Proposal) -> None:
    if proposal.origin != Proposal.Origin.DREAM:
        return
    for hunk in Hunk.objects.filter(file__proposal=proposal, verdict=Hunk.Verdict.REJECTED).select_related(
        "file"
    ):
        leave_out(proposal, hunk, hunk.decide_reason)


def leave_out(proposal: Proposal, hunk: Hunk, reason: str) -> None:
    """Never propose this hunk again while it would be made from the same inputs."""
    LeftOut.objects.update_or_create(
        project=proposal.project,
        path=hunk.file.path,
        hunk_id=hunk.hunk_id,
        defaults={
            "inputs_key": proposals.inputs_key(hunk),
            "added": proposals.added_lines(hunk),
            "reason": reason[:REASON_LIMIT],
            "proposal": proposal,
            "at": timezone.now(),
        },
    )


def _use_up_sessions(proposal: Proposal) -> None:
    if proposal.dream is None:
        return
    for reviewed in proposal.dream.reviewed.all():
        Session.objects.filter(pk=reviewed.session_id, used_bytes__lt=reviewed.to_byte).update(
            used_bytes=reviewed.to_byte
        )
    Session.objects.filter(reviewed_by__dream=proposal.dream).update(given_back_at=None)


def _hold_open(proposal: Proposal) -> None:
    """Lock the row, so that a verdict cannot slip in behind a submit."""
    state = Proposal.objects.select_for_update().values_list("state", flat=True).get(pk=proposal.pk)
    if state != Proposal.State.OPEN:
        raise ReviewRefused(
            f"{proposal.public_id} is {Proposal.State(state).label.lower()}: its verdicts can no longer change. "
            "What was applied can be undone."
        )


def _refuse_unsolved(hunks: Iterable[Hunk]) -> None:
    unsolved = sorted({hunk.file.path for hunk in hunks if hunk.file.conflict})
    if unsolved:
        raise ReviewRefused(
            f"{', '.join(unsolved)} changed in the same place meanwhile. Solve the conflict first."
        )


def _set(hunk: Hunk, verdict: Hunk.Verdict, reviewer: Reviewer, reason: str, *, edited_sha: str) -> None:
    pending = verdict == Hunk.Verdict.PENDING
    hunk.verdict, hunk.edited_sha = verdict, edited_sha
    hunk.verdict_base_sha = "" if pending else hunk.file.base_sha
    hunk.decided_by = "" if pending else reviewer.name
    hunk.decided_at = None if pending else timezone.now()
    hunk.decide_reason = reason[:REASON_LIMIT]
    hunk.save()


def _log(
    proposal: Proposal, hunks: Sequence[Hunk], verdict: Hunk.Verdict, reviewer: Reviewer, reason: str
) -> None:
    now = timezone.now()
    Decision.objects.bulk_create(
        Decision(
            proposal=proposal,
            path=hunk.file.path,
            hunk_id=hunk.hunk_id,
            verdict=hunk.verdict,
            base_sha=hunk.file.base_sha,
            text_sha=hunk.edited_sha,
            actor=reviewer.name,
            by_command=reviewer.by_command,
            reason=reason[:REASON_LIMIT],
            at=now,
        )
        for hunk in hunks
    )
    auditlog.record(
        "review.decided",
        actor=reviewer.name,
        project=proposal.project,
        object_id=proposal.public_id,
        verdict=verdict.value,
        hunks=[[hunk.file.path, hunk.hunk_id, hunk.file.base_sha] for hunk in hunks],
        by_command=reviewer.by_command,
        reason=reason[:REASON_LIMIT],
    )


def mark_viewed(file: FileChange, viewed: bool) -> None:
    """Ticked for the state that was seen: when the file changes, the tick is gone."""
    file.viewed_sha = state_key(file) if viewed else ""
    file.save(update_fields=["viewed_sha"])


def is_viewed(file: FileChange) -> bool:
    return bool(file.viewed_sha) and file.viewed_sha == state_key(file)


def state_key(file: FileChange) -> str:
    return text.sha256(f"{file.base_sha} {file.new_sha}".encode())
