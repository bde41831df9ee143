"""Verdicts: who gives one, which changes it is about, and what it does: approve, reject, edit, take back, confirm. Each is
kept and logged. Also which findings stand in the way of what is approved, and what a person has looked at.
"""

import datetime as dt
import uuid
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Protocol

from django.db import transaction
from django.db.models import Q
from django.utils import timezone

from dreams.lib import diff, process
from dreams.lib.files import text
from dreams.lib.refusal import Refusal
from dreams.models import Decision, FileChange, Finding, Hunk, Memory, Project, Proposal
from dreams.services import auditlog, blobs, database, hosts, policies, proposals
from dreams.services.auditlog import Actor
from dreams.services.memories import syncing
from dreams.services.proposals import decisions
from dreams.services.questions import question_states

REASON_LIMIT = 500  # letters of the column


class ReviewRefused(Refusal):
    """The decision cannot be taken; the message names the thing and the remedy."""


class FindingInTheWay(ReviewRefused):
    """Something approved has a finding that nobody confirmed, or nobody can; a page leads to it."""

    def __init__(self, finding: Finding) -> None:
        where = f" in {finding.file.path}" if finding.file else ""
        is_final = finding.severity == Finding.Severity.REFUSE
        ways = (
            "This cannot be confirmed: reject the change."
            if is_final
            else "Confirm it, or reject the change."
        )
        super().__init__(
            f"Nothing was written. An approved change{where} has an open finding: {finding.message} {ways}"
        )
        self.finding = finding


#: How long a submit on another host counts as under way: its process cannot be asked. 5,000 changes take seconds.
LONGEST_SUBMIT = dt.timedelta(minutes=10)


@contextmanager
def claimed_to_submit(proposal: Proposal) -> Iterator[str]:
    """One submit, for all its transactions: no verdict changes and no other submit begins. Gives the claim's name.

    It ends with the block, and with the process: after a kill the review is open as before. Raises ReviewRefused.
    """
    me = process.current()
    claim = f"{hosts.host()} {me.pid} {me.start_time} {uuid.uuid4().hex}"
    with transaction.atomic():
        hold_open(proposal)
        Proposal.objects.filter(pk=proposal.pk).update(submitting_by=claim, submitting_since=timezone.now())
    try:
        yield claim
    finally:
        Proposal.objects.filter(pk=proposal.pk, submitting_by=claim).update(submitting_by="")


def _is_under_way(claim: str, since: dt.datetime | None) -> bool:
    host, pid, started, _ = claim.split(" ") if claim else ("", "", "", "")
    if host == hosts.host():
        return process.is_alive(int(pid), float(started))
    return bool(claim) and since is not None and timezone.now() - since < LONGEST_SUBMIT


def hold_open(proposal: Proposal, *, or_submitted: bool = False) -> None:
    """Lock the row, so that a verdict cannot slip in behind a submit.

    `or_submitted`: a rebase may bring a finding up after the submit, and it can be confirmed then too.
    """
    rows = Proposal.objects.select_for_update().values_list("state", "submitting_by", "submitting_since")
    state, claim, since = rows.get(pk=proposal.pk)
    if state == Proposal.State.OPEN and _is_under_way(claim, since):
        raise ReviewRefused(
            "This proposal is being submitted. Wait until that is done, then look at it again."
        )
    if state != Proposal.State.OPEN and not (or_submitted and state == Proposal.State.SUBMITTED):
        undo = " What was applied can be undone." if state == Proposal.State.APPLIED else ""
        label = Proposal.State(state).label.lower()
        raise ReviewRefused(f"This proposal is {label}: its decisions can no longer change.{undo}")


def select(proposal: Proposal, *, paths: Iterable[str] = (), hunk_ids: Iterable[str] = ()) -> list[Hunk]:
    """The named hunks, or those of the named files, or all but answers to questions, which are decided already. Raises ReviewRefused for a name that is not there."""
    hunks = Hunk.objects.filter(file__proposal=proposal).select_related("file", "operation")
    wanted_paths, wanted_ids = set(paths), set(hunk_ids)
    if wanted_paths:
        hunks = hunks.filter(file__path__in=wanted_paths)
        _complain_about(wanted_paths - {h.file.path for h in hunks}, "file", proposal)
    if wanted_ids:
        hunks = hunks.filter(hunk_id__in=wanted_ids)
        _complain_about(wanted_ids - {h.hunk_id for h in hunks}, "hunk", proposal)
    if not (wanted_paths or wanted_ids) and proposal.origin == Proposal.Origin.DREAM:
        hunks = hunks.exclude(operation__in=question_states.answers_in(proposal))
    return list(hunks)


def _complain_about(missing: set[str], what: str, proposal: Proposal) -> None:
    if missing:
        names = ", ".join(sorted(missing))
        raise ReviewRefused(
            f"{proposal.public_id} has no {what} {names}. `proposal {proposal.public_id}` lists them."
        )


class Decidable(Protocol):
    """A hunk's row, or as much of it as says which one it is."""

    @property
    def pk(self) -> int: ...
    @property
    def operation_id(self) -> int | None: ...


def together(hunks: Sequence[Decidable]) -> list[Hunk]:
    """`hunks` with every other part of their operations: what one verdict decides."""
    operations = {hunk.operation_id for hunk in hunks if hunk.operation_id}
    parts = Hunk.objects.filter(Q(operation__in=operations) | Q(pk__in=[h.pk for h in hunks]))
    return list(parts.select_related("file", "operation").order_by("file__path", "number"))


_DECIDED = ("verdict", "edited_sha", "verdict_base_sha", "decided_by", "decided_at", "decide_reason")
MOST_AT_ONCE = 500  # rows of one statement
MOST_CONFIRMED = 40  # of one transaction: each has an entry of its own in the audit log, about 2 ms


def decide(
    proposal: Proposal,
    hunks: Sequence[Decidable],
    verdict: Hunk.Verdict,
    reviewer: Actor,
    *,
    reason: str = "",
    batch: str = "",
    or_submitted: bool = False,
) -> list[Hunk]:
    """Approve, reject or take back (PENDING) `hunks` and the parts that go with them; returns all that were decided.

    What a person edited is approved in their own words: an approval of more than that one hunk leaves it so. `batch`
    names what was decided at once across proposals; several decisions of one call are a batch anyway.
    """
    verdict = Hunk.Verdict(verdict)
    heard = _heard_again(proposal, hunks, verdict)
    with transaction.atomic():
        hold_open(proposal, or_submitted=or_submitted)
        decided = together(hunks)
        if verdict == Hunk.Verdict.APPROVED:
            _refuse_unsolved(decided)
        now = timezone.now()
        changed = [hunk for hunk in decided if not _keeps_its_edit(hunk, hunks, verdict)]
        for hunk in changed:
            _set(hunk, verdict, reviewer, reason, now)
        _save(changed)
        _log(proposal, changed, verdict, reviewer, reason, batch)
        if heard is not None:
            _examine_anew(proposal, heard)
    return decided


def _heard_again(
    proposal: Proposal, hunks: Sequence[Decidable], verdict: Hunk.Verdict
) -> proposals.TranscriptVerdicts | None:
    """What sessions say of the proposed text, where this verdict puts it in place of an edit; else None."""
    edited = [hunk for hunk in together(hunks) if hunk.verdict == Hunk.Verdict.EDITED]
    back = [hunk for hunk in edited if not _keeps_its_edit(hunk, hunks, verdict)]
    if not back:
        return None
    texts = (
        lines.added for hunk in back for row, lines in proposals.text_hunks(hunk.file) if row.pk == hunk.pk
    )
    return proposals.verdicts_on(proposal, "\n".join(texts))


def _keeps_its_edit(hunk: Hunk, asked: Sequence[Decidable], verdict: Hunk.Verdict) -> bool:
    if verdict != Hunk.Verdict.APPROVED or hunk.verdict != Hunk.Verdict.EDITED:
        return False
    return [each.pk for each in asked] != [hunk.pk]


def edit(
    proposal: Proposal, hunk: Hunk, replacement: str, reviewer: Actor, *, reason: str = ""
) -> list[Hunk]:
    """Put `replacement` in place of the hunk's new lines and approve it, with the other parts of its operation."""
    heard = proposals.verdicts_on(proposal, replacement)
    with transaction.atomic():
        hold_open(proposal)
        lines = next(lines for row, lines in proposals.text_hunks(hunk.file) if row.pk == hunk.pk)
        fitted = diff.fitted(lines, replacement)
        decided = together([hunk])
        _refuse_unsolved(decided)
        now = timezone.now()
        for part in decided:
            if part.pk == hunk.pk:
                _set(part, Hunk.Verdict.EDITED, reviewer, reason, now)
                part.edited_sha = blobs.put(text.encode(fitted))
            elif not part.is_taken:
                _set(part, Hunk.Verdict.APPROVED, reviewer, reason, now)
        _save(decided)
        _log(proposal, decided, Hunk.Verdict.EDITED, reviewer, reason)
        _examine_anew(proposal, heard)
    return decided


def _examine_anew(proposal: Proposal, heard: proposals.TranscriptVerdicts) -> None:
    """An edit changes what is written, so what was said of the old text no longer holds."""
    proposals.examine(proposal, syncing.contents(proposal.project), heard=heard)


def confirm(proposal: Proposal, findings: Iterable[Finding], reviewer: Actor) -> int:
    """A person saw these findings and wants the change all the same. A refusal can never be confirmed."""
    asked = list(findings)
    refused = next((found for found in asked if found.severity == Finding.Severity.REFUSE), None)
    if refused:
        raise ReviewRefused(f"This cannot be confirmed: {refused.message} Reject the change instead.")
    waiting = [found for found in asked if found.confirmed_at is None]
    for part in database.in_parts(waiting, MOST_CONFIRMED):
        with transaction.atomic():
            hold_open(proposal, or_submitted=True)
            for finding in part:
                _confirm(proposal, finding, reviewer)
    return len(waiting)


def _confirm(proposal: Proposal, finding: Finding, reviewer: Actor) -> None:
    finding.confirmed_by, finding.confirmed_at = reviewer.name, timezone.now()
    finding.save(update_fields=["confirmed_by", "confirmed_at"])
    auditlog.record(
        "review.finding_confirmed", actor=reviewer, about=proposal, code=finding.code, key=finding.key
    )


def confirm_rebase(file: FileChange, base: str, reviewer: Actor) -> bool:
    """A person saw what became of `file` after it changed on disk. False where it changed again since: `base` is the
    state that was shown."""
    with transaction.atomic():
        hold_open(file.proposal, or_submitted=True)
        shown = FileChange.objects.filter(pk=file.pk, base_sha=base, conflict__isnull=True)
        confirmed = bool(shown.update(rebase_confirmed=True))
        if confirmed:
            auditlog.record(
                "review.rebase_confirmed", actor=reviewer, about=file.proposal, path=file.path, base=base
            )
    return confirmed


def _refuse_unsolved(hunks: Iterable[Hunk]) -> None:
    unsolved = sorted({hunk.file.path for hunk in hunks if hunk.file.conflict})
    if unsolved:
        raise ReviewRefused(
            f"{', '.join(unsolved)} changed in the same place in the meantime. Solve the conflict first."
        )


def _set(hunk: Hunk, verdict: Hunk.Verdict, reviewer: Actor, reason: str, now: dt.datetime) -> None:
    pending = verdict == Hunk.Verdict.PENDING
    hunk.verdict, hunk.edited_sha = verdict, ""
    hunk.verdict_base_sha = "" if pending else hunk.file.base_sha
    hunk.decided_by = "" if pending else reviewer.name
    hunk.decided_at = None if pending else now
    hunk.decide_reason = reason[:REASON_LIMIT]


def _save(hunks: Sequence[Hunk]) -> None:
    """One statement for all that were decided alike, not one for each of some thousands."""
    alike: dict[tuple[object, ...], list[int]] = defaultdict(list)
    for hunk in hunks:
        alike[tuple(getattr(hunk, name) for name in _DECIDED)].append(hunk.pk)
    for values, pks in alike.items():
        for some in database.in_parts(pks, MOST_AT_ONCE):
            Hunk.objects.filter(pk__in=some).update(**dict(zip(_DECIDED, values, strict=True)))


def _log(
    proposal: Proposal,
    hunks: Sequence[Hunk],
    verdict: Hunk.Verdict,
    reviewer: Actor,
    reason: str,
    batch: str = "",
) -> None:
    now = timezone.now()
    if not batch and len(decisions.grouped(hunks)) > 1:
        batch = uuid.uuid4().hex
    routine = policies.would_apply(proposal, hunks, policies.accepted(proposal.project))
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
            operation=hunk.operation,
            batch=batch,
            is_routine=hunk.operation_id in routine,
            reason=reason[:REASON_LIMIT],
            at=now,
        )
        for hunk in hunks
    )
    auditlog.record(
        "review.decided",
        actor=reviewer,
        about=proposal,
        verdict=verdict.value,
        hunks=[[hunk.file.path, hunk.hunk_id, hunk.file.base_sha] for hunk in hunks],
        batch=batch,
        reason=reason[:REASON_LIMIT],
    )


def in_the_way(proposal: Proposal, hunks: Iterable[Hunk] | None = None) -> list[Finding]:
    """Findings that keep what is approved (or `hunks`) from being applied."""
    if hunks is None:
        hunks = Hunk.objects.filter(file__proposal=proposal, verdict__in=Hunk.TAKEN).only("file_id")
    unsettled = proposal.findings.filter(
        Q(severity=Finding.Severity.REFUSE) | Q(severity=Finding.Severity.BLOCK, confirmed_at=None)
    )
    found = list(unsettled.select_related("file", "hunk"))
    return blocking(found, hunks) if found else []


def blocking(findings: Iterable[Finding], hunks: Iterable[Hunk]) -> list[Finding]:
    """Those of a proposal's `findings` that keep `hunks` from being applied: the one definition of what blocks a submit."""
    files = {hunk.pk: hunk.file_id for hunk in hunks}
    # What is said of a whole file concerns whoever writes to it; what is said of the whole concerns everything.
    concerned = {None, *files.values()}
    return [
        found
        for found in findings
        if _is_unsettled(found)
        and (found.hunk_id in files if found.hunk_id is not None else found.file_id in concerned)
    ]


def _is_unsettled(finding: Finding) -> bool:
    is_confirmed = finding.confirmed_at is not None
    return finding.severity == Finding.Severity.REFUSE or (
        finding.severity == Finding.Severity.BLOCK and not is_confirmed
    )


def is_undecided(proposal: Proposal) -> bool:
    """An open review that has changes, and no verdict on any of them."""
    hunks = Hunk.objects.filter(file__proposal=proposal)
    is_open = proposal.state == Proposal.State.OPEN
    return is_open and hunks.exists() and not hunks.exclude(verdict=Hunk.Verdict.PENDING).exists()


def refuse_away(project: Project) -> None:
    """Before what would count the files of a project as removed, or write to where its folder will be. Raises ReviewRefused
    while its folder is away."""
    if syncing.is_away(project):
        raise ReviewRefused(
            f"{project.memory_dir} is not on disk now. Nothing was changed, and what was decided is kept. Do it once the "
            "folder is back."
        )


def refuse_undecided(proposal: Proposal) -> None:
    """Raises ReviewRefused for an open review with no verdict at all; one that has no changes left may be closed."""
    if not is_undecided(proposal):
        return
    raise ReviewRefused(
        f"Nothing of {proposal.public_id} is decided yet, so nothing was written and the review stays open. Approve or reject "
        f"changes on its page, or: decide {proposal.public_id} --approve"
    )


def refuse_open_findings(proposal: Proposal, hunks: Iterable[Hunk] | None = None) -> None:
    """Look again at exactly what is approved (or `hunks`): a rejected part may have been where something was kept.

    Raises FindingInTheWay.
    """
    proposals.examine(proposal, syncing.contents(proposal.project), undecided=False)
    refuse_what_is_open(proposal, hunks)


def refuse_what_is_open(proposal: Proposal, hunks: Iterable[Hunk] | None = None) -> None:
    """Without looking again; a verdict may have come in between."""
    for finding in in_the_way(proposal, hunks):
        raise FindingInTheWay(finding)


def mark_viewed(file: FileChange, viewed: bool) -> None:
    """Ticked for the state that was seen: when the file changes, the tick is gone."""
    file.viewed_sha = file.state_sha if viewed else ""
    file.save(update_fields=["viewed_sha"])


def log_secrets_shown(thing: Proposal | Memory, reviewer: Actor) -> None:
    """Somebody has the secrets of these texts shown as they stand; who and when, never what."""
    kind, name = ("review", thing.public_id) if isinstance(thing, Proposal) else ("memory", thing.path)
    auditlog.record(f"{kind}.secrets_shown", actor=reviewer, project=thing.project, object_id=name)
