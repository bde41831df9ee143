"""Undoes a dream, a file or a hunk, at once or later, also after other edits. An undo is a separate proposal, written like
all others. `previewing` computes what it would do.

A file that nothing else has changed is restored exactly: bytes, mode and mtime, and its folder's mtime.
"""

from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import asdict
from functools import partial
from pathlib import Path

from django.db import transaction
from django.utils import timezone

from dreams.engines import drafts
from dreams.engines.types import Edit
from dreams.lib import locks
from dreams.lib.files import safefs, text, workspace
from dreams.lib.storage import journal
from dreams.models import Hunk, Proposal, Version
from dreams.models.reasons import bare
from dreams.services import project_lock, proposals, review
from dreams.services.apply import undoing, writing
from dreams.services.apply.applying import ApplyReport, NotWritten, Written, moved_there
from dreams.services.apply.writing import WriteOrder
from dreams.services.memories import syncing
from dreams.services.proposals import rebase
from dreams.services.review import Actor
from dreams.services.rollback.previewing import (
    EVERYTHING,
    AlreadyUndone,
    NothingToUndo,
    Preview,
    Selection,
    UndoneFile,
    preview,
    preview_of,
)


def rollback(
    proposal: Proposal,
    reviewer: Actor,
    selection: Selection = EVERYTHING,
    *,
    reason: str = "",
    never_again: bool = False,
) -> ApplyReport:
    """Undo `selection`. With a conflict nothing is written, and the report names it.

    `never_again`: the undone changes are not proposed again while their inputs are the same. The sessions of an undone
    dream can be read again. Raises NothingToUndo, review.ReviewRefused, project_lock.ProjectBusy.
    """
    writing.recover_first()
    project = proposal.project
    review.refuse_if_away(project)
    with project_lock.hold(project, "rollback", keep_dir_mtime=True) as held:
        snapshot = workspace.take(syncing.memory_dir(project), proposals.paths(proposal))
        syncing.sync(project, snapshot)
        planned = preview_of(proposal, selection, snapshot)
        if planned.conflicts:
            held.release_keeping_clock()
            return _conflict_report(planned, snapshot)
        _withdraw(proposal)
        asked = _asked(planned, reason, never_again=never_again, at_once=True)
        try:
            with moved_there(proposal.undoes):
                made = _propose(planned, reviewer, asked, snapshot)
                with review.claimed(made, to_write=True):
                    result = writing.write(_order(planned, made, reviewer, asked, snapshot), held)
        except BaseException:
            _withdraw(proposal)
            raise
        if result.status != "applied":
            _withdraw(proposal)
        _release(held, result)
    return ApplyReport(
        applied=tuple(Written(item.path, item.sha256) for item in result.applied),
        conflicts=tuple(NotWritten(c.path, c.why) for c in result.conflicts),
        untouched=result.untouched,
        said=result.said,
        error=result.error,
        proposal=made.public_id,
    )


def propose(
    proposal: Proposal,
    reviewer: Actor,
    selection: Selection,
    *,
    reason: str = "",
    never_again: bool = False,
) -> Proposal:
    """An undo as an open proposal, not applied, so that a person can review it or solve its conflicts. A second call returns
    the same proposal until it is written, unless it was submitted in part.

    `proposal` is marked as undone when this is written (`undoing.taken_back`).
    """
    review.refuse_if_away(proposal.project)
    snapshot = workspace.take(syncing.memory_dir(proposal.project), proposals.paths(proposal))
    syncing.sync(proposal.project, snapshot)
    planned = preview_of(proposal, selection, snapshot)
    asked = _asked(planned, reason, never_again=never_again)
    if waiting := _waiting(proposal, asked):
        return waiting
    return _propose(planned, reviewer, asked, snapshot)


def _waiting(proposal: Proposal, asked: undoing.TakenBack) -> Proposal | None:
    not_written = proposal.undone_by.filter(state__in=Proposal.UNFINISHED)
    in_part = Hunk.objects.exclude(verdict__in=Hunk.TAKEN)
    found = not_written.exclude(state=Proposal.State.SUBMITTED, files__hunks__in=in_part)
    return next((made for made in found if undoing.TakenBack.of(made) == asked), None)


def _asked(planned: Preview, reason: str, *, never_again: bool, at_once: bool = False) -> undoing.TakenBack:
    hunks = tuple(hunk.pk for hunk in planned.hunks)
    return undoing.TakenBack(hunks, never_again, bare(reason), at_once)


def _withdraw(proposal: Proposal) -> None:
    """Close undos of `proposal` that were to be written at once but stopped before anything was written, without a person's words."""
    waiting = Proposal.objects.filter(state__in=Proposal.UNFINISHED)
    stopped = waiting.filter(undoes=proposal, undo_asked__at_once=True, applications__isnull=True)
    for made in stopped.exclude(files__is_worded=True):
        if "worded" not in made.undo_asked and not writing.interrupted(made):
            waiting.filter(pk=made.pk).update(state=Proposal.State.REJECTED, closed_at=timezone.now())


def _propose(
    planned: Preview, reviewer: Actor, asked: undoing.TakenBack, snapshot: workspace.Snapshot
) -> Proposal:
    """The undo as a proposal, submitted if it has no conflicts."""
    before = snapshot.contents()
    after = dict(before)
    for file in planned.files:
        if file.offered is None:
            after.pop(file.path, None)
        else:
            after[file.path] = file.offered
    label = planned.proposal.dream.public_id if planned.proposal.dream else planned.proposal.public_id
    why = asked.reason or f"Undo of {label}."
    together = _together(planned.hunks)
    edits = [
        Edit(path, old, new, f"undo:{together[path]}", "undo", why)
        for path in sorted(before.keys() | after.keys())
        for old, new in [(text.decoded(before.get(path)), text.decoded(after.get(path)))]
        if old != new
    ]
    origin = proposals.ProposalOrigin(
        Proposal.Origin.ROLLBACK,
        actor=reviewer.name,
        summary=why,
        undoes=planned.proposal,
        undo_asked=asdict(asked),
        restored={file.path: file.restored for file in planned.files},
        conflicts={
            file.path: rebase.stored_conflict(rebase.Sides(file.applied, file.now, file.wanted))
            for file in planned.conflicts
        },
        is_unreviewed=not planned.conflicts,
    )
    # Create the rows first: a transaction around the checks would block all other writers.
    draft, waiting = drafts.draft(before, after, edits), partial(_waiting, planned.proposal, asked)
    made = proposals.create(planned.proposal.project, origin, draft, before, unless=waiting)
    with transaction.atomic():
        # An equal request may have made it, and may have submitted it meanwhile.
        made = Proposal.objects.select_for_update(of=("self",)).select_related("project").get(pk=made.pk)
        if not planned.conflicts and made.state == Proposal.State.OPEN:
            hunks = review.select_hunks(made)
            review.decide(made, hunks, Hunk.Verdict.APPROVED, reviewer, reason=asked.reason)
            # An undo needs no further approval, as it only restores what was there before.
            Proposal.objects.filter(pk=made.pk).update(
                state=Proposal.State.SUBMITTED, submitted_at=timezone.now(), submitted_by=reviewer.name
            )
            made.refresh_from_db()
    return made


def _together(hunks: Iterable[Hunk]) -> dict[str, str]:
    """Each file with the first of those that are undone with it: a change of both, or of others between them, is one decision."""
    decisions: dict[int, set[str]] = {}
    groups: list[set[str]] = []
    for hunk in hunks:
        decisions.setdefault(hunk.operation_id or -hunk.pk, set()).add(hunk.file.path)
    for files in decisions.values():
        joined = [group for group in groups if group & files]
        groups = [group for group in groups if not group & files] + [files.union(*joined)]
    return {path: min(group) for group in groups for path in group}


def _order(
    planned: Preview,
    made: Proposal,
    reviewer: Actor,
    asked: undoing.TakenBack,
    snapshot: workspace.Snapshot,
) -> WriteOrder:
    whole = _whole_application(planned)
    gone = _removed(planned.proposal)
    ops = [
        journal.FileOp(
            path=file.path,
            expected=snapshot.files[file.path].sha256 if file.path in snapshot.files else None,
            data=file.result,
            mode=file.restored.mode,
            mtime_ns=file.restored.mtime_ns,
            xattrs=gone.get(file.path) if file.now is None else None,
        )
        for file in planned.files
        if file.changes
    ]
    if whole and "" in whole.dirs_made:
        ops += _lock_file_too(syncing.memory_dir(planned.proposal.project))
    return WriteOrder(
        proposal=made,
        reviewer=reviewer,
        ops=tuple(ops),
        hunks=tuple(Hunk.objects.filter(file__proposal=made).values_list("pk", flat=True)),
        origin=Version.Origin.ROLLBACK,
        reason=asked.reason,
        undone=asked.hunks,
        never_again=asked.never_again,
        remove_dirs=whole.dirs_made if whole else (),
        dir_states=whole.dirs_before if whole else {},
        directory=snapshot.identity,
    )


def _removed(proposal: Proposal) -> dict[str, Mapping[str, bytes]]:
    """The attributes that removed files had: one that comes back gets them again, one that is there keeps its own."""
    ids = proposal.applications.order_by("pk").values_list("journal_id", flat=True)
    entries = (journal.read_journal(writing.journal_dir(), each) for each in ids)
    results = [entry.result for entry in entries if entry and entry.result and entry.state == "applied"]
    applied = (item for result in results for item in result.applied)
    return {item.path: item.before.xattrs for item in applied if item.before and item.sha256 is None}


def _lock_file_too(folder: Path) -> list[journal.FileOp]:
    """Also remove the lock file of a directory that the apply made, so that the directory is empty."""
    with suppress(OSError, safefs.SafeFsError), safefs.Root.open(folder) as root:
        return [journal.FileOp(locks.LOCK_NAME, text.sha256(root.read_bytes(locks.LOCK_NAME)), None)]
    return []


def _whole_application(planned: Preview) -> journal.Result | None:
    """The journal's result, if this undoes all of a single application; then its folders are restored too."""
    applications = list(planned.proposal.applications.all())
    if len(applications) != 1 or not all(file.is_exact for file in planned.files):
        return None
    written = set(applications[0].files.values_list("path", flat=True))
    if written - {file.path for file in planned.files if file.restored.mtime_ns or file.wanted is None}:
        return None
    entry = journal.read_journal(writing.journal_dir(), applications[0].journal_id)
    if entry and entry.state in ("damaged", "unread"):
        # It cannot be read. The database also has the folders that it made, but not their earlier mtimes.
        made = tuple(applications[0].made_dirs)
        return journal.Result(entry.plan_id, entry.target_dir, "applied", dirs_made=made)
    return entry.result if entry and entry.result and entry.state == "applied" else None


def _release(held: locks.Held, result: journal.Result) -> None:
    """Release the lock. If the memory directory was removed, its lock file is gone too; else keep the clock."""
    if "" in result.dirs_removed:
        held.rewind()
    else:
        held.release_keeping_clock()


def _conflict_report(planned: Preview, snapshot: workspace.Snapshot) -> ApplyReport:
    def why(file: UndoneFile) -> str:
        if not snapshot.exists:
            return "its memory directory is not there now; undo it once it is back"
        since = "changed in the same place" if file.now is not None else "been removed"
        return f"it has since {since}; solve it on its page"

    return ApplyReport(
        conflicts=tuple(NotWritten(file.path, why(file)) for file in planned.conflicts),
        untouched=tuple(file.path for file in planned.files if file.merged is None),
        proposal=planned.proposal.public_id,
    )
