"""Applies approved changes: the only way into a memory directory.

One apply: take the lock · read the disk and record outside changes · rebase stale files · leave out what waits for a person,
with everything that belongs to it · write the rest through the journal, all or nothing (`writing`).
"""

from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace

from django.db import transaction

from dreams.lib import locks
from dreams.lib.files import text, workspace
from dreams.lib.refusal import Refusal
from dreams.lib.storage import journal
from dreams.models import AppliedFile, FileChange, Hunk, LedgerEntry, Project, Proposal
from dreams.services import auditlog, project_lock, proposals, review
from dreams.services.apply.undoing import taken_back
from dreams.services.apply.writing import (
    WriteOrder,
    close_if_done,
    recover_first,
    unapplied,
    write,
)
from dreams.services.memories import syncing
from dreams.services.proposals import rebase, undos
from dreams.services.review import Actor, ReviewRefused, submitting

DEFAULT_MODE = 0o644  # the usual mode of a new file
NOTHING_WRITTEN = journal.Result(plan_id="", target_dir="", status="applied")
CHANGED_TOO = "it changed in the same place since your review"
GONE = "the memory directory is gone"
ON_DISK = "Everything approved is on disk already; nothing was written."


@dataclass(frozen=True, slots=True)
class Written:
    """A written file with its new sha256; None if it was removed."""

    path: str
    sha256: str | None


@dataclass(frozen=True, slots=True)
class NotWritten:
    """A file that was not written, why, and the sha256 of what would be written once confirmed."""

    path: str
    why: str
    sha256: str | None = None


@dataclass(frozen=True, slots=True)
class ApplyReport:
    """The result of an apply or rollback. `complete`: everything approved is on disk. `already`: it was before this call, which
    wrote nothing; `applied` is what was written then."""

    applied: tuple[Written, ...] = ()
    conflicts: tuple[NotWritten, ...] = ()
    rebased: tuple[NotWritten, ...] = ()
    untouched: tuple[str, ...] = ()
    said: tuple[str, ...] = ()
    error: str = ""
    proposal: str = ""
    already: bool = False

    @property
    def complete(self) -> bool:
        return not (self.conflicts or self.rebased or self.error)

    @property
    def gone(self) -> str:
        """What to do about all that was not written because its directory is gone, in one sentence; empty if it is there."""
        lost = sum(waiting.why == f"conflict: {GONE}" for waiting in self.conflicts)
        files = text.plural(lost, "file was", "files were")
        return f"{files} not written: {GONE}. Bring the folder back, then apply again." if lost else ""

    @property
    def refusal(self) -> str:
        """The error as a sentence: of several writes, the first may be done."""
        return f"{'Your answers were not' if self.applied else 'Nothing was'} written: {self.error}"


def apply(proposal: Proposal, reviewer: Actor, *, rebased: bool = False) -> ApplyReport:
    """Submit the review if it is still open, and write what is approved.

    `rebased` confirms the rebased files that an earlier call reported. Applying what is applied writes nothing.
    Raises ReviewRefused and project_lock.ProjectBusy.
    """
    project_lock.refuse_elsewhere(proposal.project)
    recover_first()
    proposal.refresh_from_db()
    if proposal.state in Proposal.UNFINISHED:
        review.refuse_if_away(proposal.project)
        if now := rebase.leads_to(proposal):
            raise FolderMoved(proposal.directory, now)
    if proposal.state == Proposal.State.OPEN:
        review.refuse_if_undecided(proposal)
        with suppress(OSError):  # the lock below says why a folder cannot be opened
            syncing.refresh(proposal.project)  # what the files say now can still change a decision
        review.submit(proposal, reviewer)
    if proposal.state == Proposal.State.APPLIED:
        return _already(proposal)
    if proposal.state != Proposal.State.SUBMITTED:
        if proposal.state == Proposal.State.REJECTED:
            return ApplyReport(proposal=proposal.public_id, untouched=_never_written(proposal, set()))
        raise ReviewRefused(
            f"This proposal is {proposal.get_state_display().lower()}; nothing of it can be applied."
        )
    with (
        project_lock.hold(proposal.project, "apply", keep_dir_mtime=True) as held,
        moved_there(proposal),
    ):
        report = _apply_held(proposal, reviewer, rebased, held)
        held.release_keeping_clock()
    return report


@contextmanager
def moved_there(left: Proposal | None) -> Iterator[None]:
    """For the second half of a move or its redo, or the redo of that, holds the project that must have what is removed.
    Raises ReviewRefused, ProjectBusy."""
    left = left and undos.redone(left)
    target = left.leaves_for if left else None
    if left is None or target is None:
        yield
        return
    with project_lock.hold(target, "apply", keep_dir_mtime=True) as held:
        there = workspace.take(syncing.memory_dir(target)).contents()
        removed = left.files.filter(kind=FileChange.Kind.DELETE)
        lost = removed.exclude(base_sha__in=set(map(text.sha256, there.values()))).first()
        if lost is not None:
            raise ReviewRefused(f"Nothing was written. {why_it_stays(lost.path, target, there)}")
        yield
        held.release_keeping_clock()


def why_it_stays(path: str, target: Project, there: Collection[str]) -> str:
    """Of a memory whose text is not in the project that it moves to, with what to do; `there` are the paths in it."""
    if path in there:
        return f"{target} has another text of {path}. Edit one of them to say what both say, then forget the other."
    return f"{target} does not have {path} any more. Move it again, or leave it here."


class FolderMoved(ReviewRefused):
    """The memory directory is not the one that was reviewed, but `now`."""

    def __init__(self, was: str, now: str) -> None:
        super().__init__(
            f"Nothing was written. The memory folder was {was} when this was proposed, and is {now} now. "
            "Put it back, or bring the proposal up to date on its page to use that folder."
        )
        self.now = now


def apply_with_answers(proposal: Proposal, reviewer: Actor, *, rebased: bool = False) -> ApplyReport:
    """As `apply`, then the waiting answers to questions of the same project, as a separate write.

    If nothing of the proposal can be applied any more, or nothing is decided yet, only the answers are written and an open
    review stays open. `rebased` confirms files of `proposal`, not of the answers. An error of the answers is in the report.
    """
    answers = answers_with(proposal)
    proposal.refresh_from_db()
    is_over = proposal.state in (Proposal.State.APPLIED, Proposal.State.SUPERSEDED)
    stays_open = bool(answers) and review.is_undecided(proposal)
    reports = [] if stays_open or (answers and is_over) else [apply(proposal, reviewer, rebased=rebased)]
    for each in answers:
        if reports and reports[-1].error:
            break
        reports.append(_apply_answers(each, reviewer))
    whole = joined(proposal.public_id, reports)
    if not stays_open:
        return whole
    told = f"Nothing of {proposal.public_id} is decided yet, so its review stays open; only your answers were considered."
    return replace(whole, said=(*whole.said, told))


def _apply_answers(answers: Proposal, reviewer: Actor) -> ApplyReport:
    try:
        return apply(answers, reviewer)
    except Refusal as refused:
        why = str(refused).removeprefix("Nothing was written. ")
        return ApplyReport(error=why, proposal=answers.public_id)


def bring_up_to_date(proposal: Proposal) -> dict[FileChange, rebase.Outcome]:
    """Rebase the unwritten files onto the disk, without writing.

    Raises ReviewRefused while the folder is missing, as nothing would fit any more.
    """
    review.refuse_if_away(proposal.project)
    syncing.refresh(proposal.project)
    snapshot = workspace.take(syncing.memory_dir(proposal.project), proposals.paths(proposal))
    now = snapshot.contents()
    left = proposal.files.select_related("proposal__project")
    if proposal.state != Proposal.State.OPEN:
        left = left.filter(pk__in=[file.pk for file in unapplied(proposal.pk)])
    outcomes = dict[FileChange, rebase.Outcome]()
    for file in left:
        with transaction.atomic():
            review.lock_open_proposal(proposal, or_submitted=True)
            if not proposal.files.filter(pk=file.pk).exists():
                continue  # of an answer that was undone meanwhile
            outcomes[file] = (
                "unread" if _is_unseen(file, snapshot) else rebase.rebase(file, now.get(file.path))
            )
    Proposal.objects.filter(pk=proposal.pk).update(directory=project_lock.directory(proposal.project))
    proposals.examine(proposal, syncing.contents(proposal.project))
    return outcomes


def answers_with(proposal: Proposal) -> list[Proposal]:
    """The answers to write together with a dream's proposal; none for other proposals."""
    return waiting_answers(proposal.project) if proposal.origin == Proposal.Origin.DREAM else []


def waiting_answers(project: Project) -> list[Proposal]:
    """The project's proposals of answers that are not on disk yet, the oldest first."""
    found = project.proposals.filter(origin=Proposal.Origin.ANSWERS, state__in=Proposal.UNFINISHED)
    return list(found.order_by("pk"))


def joined(name: str, reports: Sequence[ApplyReport]) -> ApplyReport:
    """One report of several writes for the proposal `name`; it names the one that still needs confirmation or a solution."""
    if len(reports) == 1:
        return reports[0]
    incomplete = next((report for report in reports if not report.complete), None)
    written = {item.path: item for report in reports for item in report.applied}
    untrue = [ON_DISK] if written or incomplete else []
    return ApplyReport(
        applied=tuple(written.values()),
        conflicts=tuple(waiting for report in reports for waiting in report.conflicts),
        rebased=tuple(waiting for report in reports for waiting in report.rebased),
        untouched=tuple(dict.fromkeys(p for report in reports for p in report.untouched if p not in written)),
        said=tuple(dict.fromkeys(said for report in reports for said in report.said if said not in untrue)),
        error=next((report.error for report in reports if report.error), ""),
        proposal=incomplete.proposal if incomplete else name,
        already=all(report.already for report in reports),
    )


def _apply_held(proposal: Proposal, reviewer: Actor, confirmed: bool, held: locks.Held) -> ApplyReport:
    snapshot = workspace.take(syncing.memory_dir(proposal.project), proposals.paths(proposal))
    syncing.sync(proposal.project, snapshot)
    if _rebase_all(proposal, reviewer, snapshot, confirmed):
        # Check the new result now, so that the page shows findings before a confirmation.
        proposals.examine(proposal, syncing.contents(proposal.project), undecided=False)
    # Nobody rejects from now on what is being written.
    with review.claimed(proposal, to_write=True):
        return _write_decided(proposal, reviewer, snapshot, held)


def _write_decided(
    proposal: Proposal, reviewer: Actor, snapshot: workspace.Snapshot, held: locks.Held
) -> ApplyReport:
    files = unapplied(proposal.pk)
    texts = proposals.texts_of(files)
    conflicts, unconfirmed = _conflicts(files, snapshot), _unconfirmed(files, texts, snapshot)
    conflicts += _alone(proposal, files, {waiting.path for waiting in conflicts})
    held_back = _with_their_operations(files, {waiting.path for waiting in conflicts + unconfirmed})
    ready = [file for file in files if file.path not in held_back]
    _refuse_open_findings(proposal, snapshot, ready)
    # Otherwise each call would record a write of nothing.
    result = write(_order(proposal, reviewer, ready, snapshot, texts), held) if ready else NOTHING_WRITTEN
    close_if_done(proposal)
    nothing_left = not (ready or conflicts or unconfirmed)
    return ApplyReport(
        applied=tuple(Written(item.path, item.sha256) for item in result.applied),
        conflicts=conflicts + tuple(NotWritten(c.path, f"conflict: {c.why}") for c in result.conflicts),
        rebased=unconfirmed,
        untouched=_never_written(proposal, {item.path for item in result.applied}),
        said=(ON_DISK,) if nothing_left else result.said,
        error=result.error,
        proposal=proposal.public_id,
    )


def _rebase_all(proposal: Proposal, reviewer: Actor, snapshot: workspace.Snapshot, confirmed: bool) -> bool:
    """Rebase stale files; whether any got a new text. `confirmed` only confirms what was shown before this call."""
    moved = False
    for file in unapplied(proposal.pk):
        if _is_unseen(file, snapshot):
            continue  # it must not count as removed
        found = snapshot.files.get(file.path)
        outcome = rebase.rebase(file, found.data if found else None)
        if outcome == "same" and confirmed and not file.rebase_confirmed:
            review.confirm_rebase(file, file.base_sha, reviewer)
        elif outcome == "rebased":
            moved = True
            auditlog.record(
                "apply.rebased", about=proposal, path=file.path, base=file.base_sha, was=file.rebased_from
            )
    return moved


def _conflicts(files: Iterable[FileChange], snapshot: workspace.Snapshot) -> tuple[NotWritten, ...]:
    return tuple(
        NotWritten(file.path, f"conflict: {_why_not(file.path, snapshot)}")
        for file in files
        if file.conflict or _is_unseen(file, snapshot)
    )


def _is_unseen(file: FileChange, snapshot: workspace.Snapshot) -> bool:
    """Whether its state is unknown: it cannot be read, or it was there and its whole directory is missing."""
    is_away = not snapshot.exists and bool(file.base_sha)
    return is_away or bool(snapshot.unread(file.path))


def _why_not(path: str, snapshot: workspace.Snapshot) -> str:
    if path in snapshot.files:
        return CHANGED_TOO
    if not snapshot.exists:
        return GONE
    unread = snapshot.unread(path)
    return f"it cannot be read now ({unread})" if unread else "it was removed since your review"


def _alone(proposal: Proposal, files: Sequence[FileChange], told: set[str]) -> tuple[NotWritten, ...]:
    """Files that one person approved where two must."""
    lacking = review.lacking_second(proposal, files)
    return tuple(NotWritten(file.path, submitting.NEEDS_ANOTHER) for file in lacking if file.path not in told)


def _unconfirmed(
    files: Iterable[FileChange], texts: proposals.Texts, snapshot: workspace.Snapshot
) -> tuple[NotWritten, ...]:
    """Rebased files that nobody has confirmed yet."""
    return tuple(
        NotWritten(
            file.path,
            "it changed after your review; check the new result and confirm it",
            text.sha256(wanted) if (wanted := proposals.decided_bytes(file, texts=texts)) is not None else "",
        )
        for file in files
        if not (file.conflict or file.rebase_confirmed or _is_unseen(file, snapshot))
    )


def _with_their_operations(files: Sequence[FileChange], held_back: set[str]) -> set[str]:
    """All waiting files, with those that share an operation or lose a line that one of them keeps: a line must not be removed
    before it is added elsewhere."""
    if not held_back:
        return held_back
    operations = {
        file.path: {hunk.operation_id for hunk in file.hunks.all() if hunk.is_taken} - {None}
        for file in files
    }
    gone = LedgerEntry.objects.filter(hunk__file__in=files, hunk__verdict__in=Hunk.TAKEN)
    kept_in = set(gone.values_list("hunk__file__path", "target_path"))
    while True:
        blocked = set().union(*(operations.get(path, ()) for path in held_back))
        more = {path for path, ids in operations.items() if ids & blocked}
        more |= {path for path, keeper in kept_in if keeper in held_back}
        if more <= held_back:
            return held_back
        held_back = held_back | more


def _refuse_open_findings(
    proposal: Proposal, snapshot: workspace.Snapshot, ready: Sequence[FileChange]
) -> None:
    """Refuses open findings on the final text, after rebase and edits."""
    if not ready:
        return
    hunks = [hunk for file in ready for hunk in file.hunks.all() if hunk.is_taken]
    review.refuse_open_findings(proposal, hunks)
    linked = [file.path for file in ready if (f := snapshot.files.get(file.path)) is not None and f.links > 1]
    if linked:
        raise ReviewRefused(
            f"Nothing was written. {', '.join(linked)} has more than one hard link, so a change would also appear elsewhere. Make it a separate file, or reject its changes."
        )


def _order(
    proposal: Proposal,
    reviewer: Actor,
    ready: Sequence[FileChange],
    snapshot: workspace.Snapshot,
    texts: proposals.Texts,
) -> WriteOrder:
    ops = []
    # A restored memory gets its old mode, so that private ones stay private.
    kept = dict(proposal.project.memories.filter(gone_at__isnull=False).values_list("path", "mode"))
    for file in ready:
        data = proposals.decided_bytes(file, texts=texts)
        if data is None and not file.base_sha:
            continue
        found = snapshot.files.get(file.path)
        ops.append(
            journal.FileOp(
                path=file.path,
                expected=file.base_sha or None,
                data=data,
                mode=None if found else file.mode or kept.get(file.path) or DEFAULT_MODE,
                mtime_ns=file.mtime_ns,
            )
        )
    hunks = tuple(
        hunk.pk for file in ready for hunk in file.hunks.all() if hunk.is_taken and hunk.applied_in_id is None
    )
    origin = syncing.version_origin(proposal)
    back = taken_back(proposal, ready)
    return WriteOrder(
        proposal,
        reviewer,
        tuple(ops),
        hunks,
        origin,
        reason=back.reason,
        # As an agent would make the directory; the journal's own default is 0700.
        make_dirs={} if snapshot.exists else {"": 0o755},
        directory=snapshot.identity,
        undone=back.hunks,
        never_again=back.never_again,
    )


def _already(proposal: Proposal) -> ApplyReport:
    undo = proposal.undone_by.filter(state=Proposal.State.APPLIED).first()
    if undo is not None and not proposal.applications.filter(undone_at__isnull=True).exists():
        raise ReviewRefused(
            f"{proposal.public_id} was undone. To apply it again, undo the undo: {undo.public_id}."
        )
    done = AppliedFile.objects.filter(application__proposal=proposal)
    return ApplyReport(
        applied=tuple(Written(file.path, file.after_sha or None) for file in done),
        said=("Everything approved had already been applied; nothing was written.",),
        proposal=proposal.public_id,
        already=True,
    )


def _never_written(proposal: Proposal, now: set[str]) -> tuple[str, ...]:
    """The files that neither this call nor an earlier one has written; a new one that was not written is nowhere."""
    before = AppliedFile.objects.filter(application__proposal=proposal, application__undone_at__isnull=True)
    written = now | set(before.values_list("path", flat=True))
    there = proposal.files.exclude(base_sha="").values_list("path", flat=True)
    return tuple(path for path in there if path not in written)
