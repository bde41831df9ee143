"""Saves and logs verdicts: approve, reject, edit, take back, confirm. Also finds which findings block approved changes, and
remembers which files a person has viewed.
"""

import datetime as dt
import uuid
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager

from django.db import transaction
from django.db.models import Q
from django.utils import timezone

from dreams.lib import diff, process, progress
from dreams.lib.files import text
from dreams.lib.refusal import Refusal
from dreams.models import Decision, FileChange, Finding, Hunk, Memory, Project, Proposal, reasons
from dreams.services import auditlog, blobs, database, hosts, policies, proposals
from dreams.services.auditlog import Actor
from dreams.services.memories import syncing
from dreams.services.proposals import decisions
from dreams.services.questions import question_states

CHANGED = "This changed since you opened the page, so your decision was not saved. Look at it again."


class ReviewRefused(Refusal):
    """The decision is refused; the message names the thing and the remedy."""


class BlockingFinding(ReviewRefused):
    """An approved change has a finding that nobody confirmed or that cannot be confirmed; a page links to it."""

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


#: How long a submit of another process counts as under way: it cannot be asked. 5,000 changes take seconds.
LONGEST_SUBMIT = dt.timedelta(minutes=10)
_ours: set[str] = set()  # the claims of this process


@contextmanager
def claimed(proposal: Proposal, *, to_write: bool = False) -> Iterator[str]:
    """Claim a proposal for one submit and all its transactions, or for one write: no verdict changes, no other submit starts.
    Yields the claim.

    The claim ends with the block or the process, also if the database does not answer then: the review is open again. Raises
    ReviewRefused.
    """
    me = process.current()
    claim = f"{hosts.host()} {me.pid} {me.start_time} {uuid.uuid4().hex}"
    _ours.add(claim)
    try:
        with transaction.atomic():
            lock_open_proposal(proposal, or_submitted=to_write)
            rows = Proposal.objects.filter(pk=proposal.pk)
            rows.update(submitting_by=claim, submitting_since=timezone.now())
        yield claim
    finally:
        _ours.discard(claim)
        Proposal.objects.filter(pk=proposal.pk, submitting_by=claim).update(submitting_by="")


def _is_under_way(claim: str, since: dt.datetime | None) -> bool:
    host, pid, started, _ = claim.split(" ") if claim else ("", "", "", "")
    if host == hosts.host():
        if int(pid) == process.current().pid:
            return claim in _ours
        if not process.is_alive(int(pid), float(started)):
            return False
    return bool(claim) and since is not None and timezone.now() - since < LONGEST_SUBMIT


def lock_open_proposal(proposal: Proposal, *, or_submitted: bool = False) -> None:
    """Lock the row, so that no verdict is saved during a submit. Raises ReviewRefused unless the proposal is open.

    `or_submitted`: after the submit a rebase may cause a finding, which can still be confirmed.
    """
    rows = Proposal.objects.select_for_update().values_list("state", "submitting_by", "submitting_since")
    state, claim, since = rows.get(pk=proposal.pk)
    if state in Proposal.UNFINISHED and _is_under_way(claim, since):
        doing = "submitted" if state == Proposal.State.OPEN else "written"
        raise ReviewRefused(
            f"This proposal is being {doing}. Wait until that is done, then look at it again."
        )
    if state != Proposal.State.OPEN and not (or_submitted and state == Proposal.State.SUBMITTED):
        raise ReviewRefused(why_closed(state))


def why_closed(state: str) -> str:
    """Why nothing can be decided in a proposal that is not open."""
    undo = " What was applied can be undone." if state == Proposal.State.APPLIED else ""
    return (
        f"This proposal is {Proposal.State(state).label.lower()}: its decisions can no longer change.{undo}"
    )


def select_hunks(
    proposal: Proposal, *, paths: Iterable[str] = (), hunk_ids: Iterable[str] = ()
) -> list[Hunk]:
    """The named hunks, or those of the named files, or all except answers to questions, which are decided already. Raises
    ReviewRefused for an unknown name."""
    hunks = Hunk.objects.filter(file__proposal=proposal).select_related("file", "operation")
    wanted_paths, wanted_ids = set(paths), set(hunk_ids)
    if wanted_paths:
        hunks = hunks.filter(file__path__in=wanted_paths)
        _refuse_unknown(wanted_paths - {h.file.path for h in hunks}, "file", proposal)
    if wanted_ids:
        hunks = hunks.filter(hunk_id__in=wanted_ids)
        _refuse_unknown(wanted_ids - {h.hunk_id for h in hunks}, "hunk", proposal)
    if not (wanted_paths or wanted_ids) and proposal.origin == Proposal.Origin.DREAM:
        hunks = hunks.exclude(operation__in=question_states.answers_in(proposal))
    return list(hunks)


def _refuse_unknown(missing: set[str], what: str, proposal: Proposal) -> None:
    if missing:
        names = ", ".join(sorted(missing))
        raise ReviewRefused(
            f"{proposal.public_id} has no {what} {names}. `proposal {proposal.public_id}` lists them."
        )


def with_parts(hunks: Sequence[decisions.Grouped]) -> list[Hunk]:
    """`hunks` and all other hunks of their operations: what one verdict decides."""
    operations = {hunk.operation_id for hunk in hunks if hunk.operation_id}
    parts = Hunk.objects.filter(Q(operation__in=operations) | Q(pk__in=[h.pk for h in hunks]))
    return list(parts.select_related("file", "operation").order_by("file__path", "number"))


_DECIDED = ("verdict", "edited_sha", "verdict_base_sha", "decided_by", "decided_at", "decide_reason")
MOST_AT_ONCE = 500  # rows of one statement
SAVING = "Saving decisions"
MOST_CONFIRMED = 40  # of one transaction: each has an entry of its own in the audit log, about 2 ms


def decide(
    proposal: Proposal,
    hunks: Sequence[decisions.Grouped],
    verdict: Hunk.Verdict,
    reviewer: Actor,
    *,
    reason: str = "",
    batch: str = "",
    or_submitted: bool = False,
    seen: Sequence[decisions.HunkOfFile] = (),
) -> list[Hunk]:
    """Approve, reject or take back (PENDING) `hunks` and the rest of their operations; returns all that were decided.

    Approving more than the edited hunk alone keeps its edit. `batch` joins decisions across proposals; several
    decisions in one call are always a batch. Refused if what the person has `seen` of them was decided meanwhile.
    """
    verdict, reason = Hunk.Verdict(verdict), reasons.bare(reason)
    transcripts = _verdicts_on_original(proposal, hunks, verdict)
    with transaction.atomic():
        lock_open_proposal(proposal, or_submitted=or_submitted)
        decided = with_parts(hunks)
        _refuse_changed(decided, seen)
        if verdict == Hunk.Verdict.APPROVED:
            _refuse_unsolved(decided)
        now = timezone.now()
        changed = [hunk for hunk in decided if not _keeps_its_edit(hunk, hunks, verdict)]
        for hunk in changed:
            _set_verdict(hunk, verdict, reviewer, reason, now)
        _save(changed)
        _log(proposal, changed, verdict, reviewer, reason, batch)
        if transcripts is not None:
            _check_again(proposal, transcripts)
    return decided


def _verdicts_on_original(
    proposal: Proposal, hunks: Sequence[decisions.Grouped], verdict: Hunk.Verdict
) -> proposals.TranscriptVerdicts | None:
    """What sessions say about the proposed text if this verdict discards an edit; else None."""
    edited = [hunk for hunk in with_parts(hunks) if hunk.verdict == Hunk.Verdict.EDITED]
    lost = [hunk for hunk in edited if not _keeps_its_edit(hunk, hunks, verdict)]
    if not lost:
        return None
    texts = (
        lines.added for hunk in lost for row, lines in proposals.text_hunks(hunk.file) if row.pk == hunk.pk
    )
    return proposals.verdicts_on(proposal, "\n".join(texts))


def _keeps_its_edit(hunk: Hunk, selected: Sequence[decisions.Grouped], verdict: Hunk.Verdict) -> bool:
    if verdict != Hunk.Verdict.APPROVED or hunk.verdict != Hunk.Verdict.EDITED:
        return False
    return [each.pk for each in selected] != [hunk.pk]


def _refuse_changed(decided: Iterable[Hunk], seen: Sequence[decisions.HunkOfFile]) -> None:
    known = {hunk.pk for hunk in seen}
    if decisions.digest(hunk for hunk in decided if hunk.pk in known) != decisions.digest(seen):
        raise ReviewRefused(CHANGED)


def edit(
    proposal: Proposal,
    hunk: Hunk,
    replacement: str,
    reviewer: Actor,
    *,
    reason: str = "",
    seen: Sequence[decisions.HunkOfFile] = (),
) -> list[Hunk]:
    """Put `replacement` in place of the hunk's new lines and approve it, with the other parts of its operation. Refused as
    `decide`."""
    transcripts, reason = proposals.verdicts_on(proposal, replacement), reasons.bare(reason)
    with transaction.atomic():
        lock_open_proposal(proposal)
        decided = with_parts([hunk])
        _refuse_changed(decided, seen)
        _refuse_unsolved(decided)
        files = [part.file for part in decided if part.pk == hunk.pk]
        rows = (pair for file in files for pair in proposals.text_hunks(file))
        lines = next((lines for row, lines in rows if row.pk == hunk.pk), None)
        if lines is None:  # it became one with another
            raise ReviewRefused(CHANGED)
        fitted = diff.fitted(lines, replacement)
        now = timezone.now()
        for part in decided:
            if part.pk == hunk.pk:
                _set_verdict(part, Hunk.Verdict.EDITED, reviewer, reason, now)
                part.edited_sha = blobs.put(text.encode(fitted))
            elif not part.is_taken:
                _set_verdict(part, Hunk.Verdict.APPROVED, reviewer, reason, now)
        _save(decided)
        _log(proposal, decided, Hunk.Verdict.EDITED, reviewer, reason)
        _check_again(proposal, transcripts)
    return decided


def _check_again(proposal: Proposal, transcripts: proposals.TranscriptVerdicts) -> None:
    """An edit changes what is written, so the old findings no longer apply."""
    proposals.examine(proposal, syncing.contents(proposal.project), verdicts=transcripts)


def confirm(proposal: Proposal, findings: Iterable[Finding], reviewer: Actor) -> int:
    """Save that a person wants the changes despite these findings. A refusal can never be confirmed."""
    selected = list(findings)
    refused = next((found for found in selected if found.severity == Finding.Severity.REFUSE), None)
    if refused:
        raise ReviewRefused(f"This cannot be confirmed: {refused.message} Reject the change instead.")
    waiting = [found for found in selected if found.confirmed_at is None]
    for part in database.in_parts(waiting, MOST_CONFIRMED):
        with transaction.atomic():
            lock_open_proposal(proposal, or_submitted=True)
            for finding in part:
                _confirm(proposal, finding, reviewer)
    return len(waiting)


def _confirm(proposal: Proposal, finding: Finding, reviewer: Actor) -> None:
    # By key: another check may have saved the same finding again since it was shown.
    same = Finding.objects.filter(proposal=proposal, key=finding.key)
    if not same.update(confirmed_by=reviewer.name, confirmed_at=timezone.now()):
        raise ReviewRefused(f"This finding is no longer there: {finding.message} Look at the changes again.")
    auditlog.record(
        "review.finding_confirmed", actor=reviewer, about=proposal, code=finding.code, key=finding.key
    )


def _refuse_unsolved(hunks: Iterable[Hunk]) -> None:
    unsolved = sorted({hunk.file.path for hunk in hunks if hunk.file.conflict})
    if unsolved:
        raise ReviewRefused(
            f"{', '.join(unsolved)} changed in the same place in the meantime. Solve the conflict first."
        )


def _set_verdict(hunk: Hunk, verdict: Hunk.Verdict, reviewer: Actor, reason: str, now: dt.datetime) -> None:
    pending = verdict == Hunk.Verdict.PENDING
    hunk.verdict, hunk.edited_sha = verdict, ""
    hunk.verdict_base_sha = "" if pending else hunk.file.base_sha
    hunk.decided_by = "" if pending else reviewer.name
    hunk.decided_at = None if pending else now
    hunk.decide_reason = reason


def _save(hunks: Sequence[Hunk]) -> None:
    """One UPDATE for all hunks decided alike: there may be thousands."""
    alike: dict[tuple[object, ...], list[int]] = defaultdict(list)
    for hunk in hunks:
        alike[tuple(getattr(hunk, name) for name in _DECIDED)].append(hunk.pk)
    done = 0
    for values, pks in alike.items():
        for some in database.in_parts(pks, MOST_AT_ONCE):
            progress.step(SAVING, done, len(hunks))
            Hunk.objects.filter(pk__in=some).update(**dict(zip(_DECIDED, values, strict=True)))
            done += len(some)


def _log(
    proposal: Proposal,
    hunks: Sequence[Hunk],
    verdict: Hunk.Verdict,
    reviewer: Actor,
    reason: str,
    batch: str = "",
) -> None:
    batch = keep_decisions(proposal, hunks, reviewer, reason, batch)
    auditlog.record(
        "review.decided",
        actor=reviewer,
        about=proposal,
        verdict=verdict.value,
        hunks=[[hunk.file.path, hunk.hunk_id, hunk.file.base_sha] for hunk in hunks],
        batch=batch,
        reason=reason,
    )


def keep_decisions(
    proposal: Proposal, hunks: Sequence[Hunk], reviewer: Actor, reason: str = "", batch: str = ""
) -> str:
    """A row for each hunk with its verdict; returns what joins them, if they are several decisions."""
    now = timezone.now()
    if not batch and len(decisions.grouped(hunks)) > 1:
        batch = uuid.uuid4().hex
    routine = policies.would_apply(proposal, hunks, policies.accepted(proposal.project))
    rows = [
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
            reason=reason,
            at=now,
        )
        for hunk in hunks
    ]
    for some in database.in_parts(rows, MOST_AT_ONCE, SAVING):
        Decision.objects.bulk_create(some)
    return batch


def blocking_findings(proposal: Proposal, hunks: Iterable[Hunk] | None = None) -> list[Finding]:
    """Findings that block what is approved (or `hunks`) from being applied."""
    if hunks is None:
        hunks = Hunk.objects.filter(file__proposal=proposal, verdict__in=Hunk.TAKEN).only("file_id")
    severe = proposal.findings.filter(severity__in=(Finding.Severity.REFUSE, Finding.Severity.BLOCK))
    found = list(severe.select_related("file", "hunk"))
    return filter_blocking(found, hunks) if found else []


def filter_blocking(findings: Iterable[Finding], hunks: Iterable[Hunk]) -> list[Finding]:
    """Those of a proposal's `findings` that block `hunks` from being applied: the only definition of what blocks a submit."""
    files = {hunk.pk: hunk.file_id for hunk in hunks}
    # A finding on a file concerns all its hunks; a finding on the proposal concerns every hunk.
    concerned = {None, *files.values()}
    return [
        found
        for found in findings
        if found.is_blocking
        and (found.hunk_id in files if found.hunk_id is not None else found.file_id in concerned)
    ]


def is_undecided(proposal: Proposal) -> bool:
    """Whether the review is open and none of its changes has a verdict."""
    hunks = Hunk.objects.filter(file__proposal=proposal)
    is_open = proposal.state == Proposal.State.OPEN
    return is_open and hunks.exists() and not hunks.exclude(verdict=Hunk.Verdict.PENDING).exists()


def refuse_if_away(project: Project) -> None:
    """Raises ReviewRefused while the project's folder is missing or out of reach: its files would count as removed."""
    if syncing.is_away(project):
        raise ReviewRefused(
            f"{project.memory_dir} is not on disk now, or you have no right to it. Nothing was changed, and what was "
            "decided is kept. Do it once the folder can be read again."
        )


def refuse_if_undecided(proposal: Proposal) -> None:
    """Raises ReviewRefused for an open review without any verdict; one without changes may be closed."""
    if not is_undecided(proposal):
        return
    raise ReviewRefused(
        f"Nothing of {proposal.public_id} is decided yet, so nothing was written and the review stays open. Approve or reject "
        f"changes on its page, or: decide {proposal.public_id} --approve"
    )


def refuse_open_findings(proposal: Proposal, hunks: Iterable[Hunk] | None = None) -> None:
    """Check again exactly what is approved (or `hunks`): a rejected hunk may have kept something that another removes.

    Raises BlockingFinding.
    """
    proposals.examine(proposal, syncing.contents(proposal.project), undecided=False)
    refuse_saved_findings(proposal, hunks)


def refuse_saved_findings(proposal: Proposal, hunks: Iterable[Hunk] | None = None) -> None:
    """As `refuse_open_findings`, without checking again."""
    for finding in blocking_findings(proposal, hunks):
        raise BlockingFinding(finding)


def mark_viewed(file: FileChange, viewed: bool) -> None:
    """Tick a file as viewed in its present state: a change of the file removes the tick."""
    file.viewed_sha = file.state_sha if viewed else ""
    file.save(update_fields=["viewed_sha"])


def log_secrets_shown(thing: Proposal | Memory, reviewer: Actor) -> None:
    """Log that somebody unmasked the secrets of these texts: who and when, never the secret."""
    kind, name = ("review", thing.public_id) if isinstance(thing, Proposal) else ("memory", thing.path)
    auditlog.record(f"{kind}.secrets_shown", actor=reviewer, project=thing.project, object_id=name)
