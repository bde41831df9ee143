"""Writes files into a memory directory through the journal, and updates everything that depends on them.

The journal's commit record is the truth: rows, versions, history and audit log follow it, also after a crash between
(`recover`).
"""

import datetime as dt
import json
import logging
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from django.conf import settings
from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from dreams.lib import locks, progress
from dreams.lib.files import flush, workspace
from dreams.lib.files.safefs import SafeFsError
from dreams.lib.files.seen import storable_ns
from dreams.lib.secrets.redact import redact
from dreams.lib.storage import history, journal
from dreams.models import (
    AppliedBatch,
    AppliedFile,
    AuditEntry,
    FileChange,
    Hunk,
    Memory,
    Project,
    Proposal,
    Version,
)
from dreams.models.prepared import prepared
from dreams.services import auditlog, blobs, database, project_lock
from dreams.services.apply import undoing
from dreams.services.memories import syncing
from dreams.services.review import Actor
from dreams.services.search import index

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class WriteOrder:
    """One write: its proposal and hunks, the person, and the new state of the files."""

    proposal: Proposal
    reviewer: Actor
    ops: tuple[journal.FileOp, ...]
    hunks: tuple[int, ...]
    origin: Version.Origin
    reason: str = ""
    make_dirs: Mapping[str, int] = field(default_factory=dict)
    remove_dirs: tuple[str, ...] = ()
    dir_states: Mapping[str, journal.DirState] = field(default_factory=dict)
    directory: tuple[int, int] | None = None
    # For an undo: the hunks that it undoes, and whether they must not be proposed again.
    undone: tuple[int, ...] = ()
    never_again: bool = False


def journal_dir() -> Path:
    return Path(settings.DATA_DIR) / "journal"


def write(order: WriteOrder, held: locks.Held) -> journal.Result:
    """Run the order through the journal and record it. Raises project_lock.ProjectBusy.

    A directory that cannot be opened, or was just replaced by a link, is a failed write.
    """
    project = order.proposal.project
    plan = journal.Plan(
        target_dir=os.path.realpath(syncing.memory_dir(project)),
        ops=order.ops,
        id=_next_id(order.proposal),
        made_at=timezone.now().isoformat(),
        meta={
            "proposal": order.proposal.public_id,
            "actor": order.reviewer.name,
            "by_command": "1" if order.reviewer.by_command else "",
            "origin": order.origin.value,
            "reason": redact(order.reason),  # the journal, the history and the audit log keep it
            "hunks": json.dumps(order.hunks),
            "undone": json.dumps(order.undone),
            "never_again": "1" if order.never_again else "",
        },
        make_dirs=order.make_dirs,
        remove_dirs=order.remove_dirs,
        dir_states=order.dir_states,
        identity=order.directory,
    )
    held.heartbeat()
    result = _run(plan)
    with progress.finishing("Recording what was written"):
        return _recorded(order, plan, result, held)


def _recorded(
    order: WriteOrder, plan: journal.Plan, result: journal.Result, held: locks.Held
) -> journal.Result:
    """The result, with what recording it says. The files are written: nothing may stop this."""
    project = order.proposal.project
    if result.status == "applied":
        if not held.file_made and Path(plan.target_dir).is_dir():
            at = project.last_consolidated_at
            held.directory_created(int(at.timestamp() * 1e9) if at else None)
        result = replace(result, said=(*result.said, *record_result(order.proposal, result, plan.meta)))
        _place_late_texts()
    else:
        auditlog.record(
            "apply.failed",
            actor=order.reviewer.name,
            project=project,
            object_id=order.proposal.public_id,
            status=result.status,
            error=result.error,
            conflicts=[conflict.path for conflict in result.conflicts],
        )
        _place_late_texts()
    return result


def _place_late_texts() -> None:
    """Places texts that the journal kept; `recover` tries again, so failures are only logged."""
    try:
        place_late_texts(wait_seconds=0)
    except journal.JournalBusy:
        return
    except Exception:
        log.exception("texts written at the moment of an apply")


def _next_id(proposal: Proposal) -> str:
    return f"{proposal.public_id}-{proposal.applications.count() + 1}"


def interrupted(proposal: Proposal) -> bool:
    """Whether a write of it is under way, or was interrupted before it was recorded, or may be. One query, one listing."""
    entry = journal.read_journal(journal_dir(), _next_id(proposal))
    return entry is not None and entry.state in ("open", "applied", "unread")


def _run(plan: journal.Plan) -> journal.Result:
    try:
        return journal.run(plan, journal_dir())
    except journal.JournalBusy as busy:
        raise project_lock.ProjectBusy(f"{busy}.") from busy
    except SafeFsError as error:
        return journal.Result(plan.id, plan.target_dir, "failed", error=str(error))
    except OSError as error:
        return journal.Result(plan.id, plan.target_dir, "failed", error=flush.refusal(error, plan.target_dir))


def record_result(proposal: Proposal, result: journal.Result, meta: Mapping[str, str]) -> tuple[str, ...]:
    """Record an applied result in rows, versions, history and audit log; doing it twice changes nothing.

    Returns messages for the person; as the files are written, errors here do not fail the apply.
    """
    origin = Version.Origin(meta["origin"])
    with transaction.atomic():
        database.one_at_a_time(f"applications of {proposal.pk}")
        if AppliedBatch.objects.filter(journal_id=result.plan_id).exists():
            return ()
        made = AppliedBatch.objects.create(
            proposal=proposal,
            journal_id=result.plan_id,
            at=timezone.now(),
            actor=meta["actor"],
            by_command=bool(meta["by_command"]),
            made_dirs=list(result.dirs_made),
        )
        AppliedFile.objects.bulk_create(_applied_file(made, item) for item in result.applied)
        hunks = json.loads(meta["hunks"])
        Hunk.objects.filter(pk__in=hunks, applied_in__isnull=True).update(applied_in=made)
        if undone_hunks := json.loads(meta.get("undone", "[]")):
            back = undoing.TakenBack(tuple(undone_hunks), bool(meta["never_again"]), meta["reason"])
            undoing.keep_undone(proposal, made, back)
        ended = undoing.policies_ended(made) + undoing.in_neither(made)
        close_if_done(proposal)
        auditlog.record(
            "rollback.done" if origin == Version.Origin.ROLLBACK else "apply.done",
            actor=meta["actor"],
            about=proposal,
            batch=result.plan_id,
            by_command=bool(meta["by_command"]),
            reason=meta["reason"],
            files=[
                [item.path, item.before.sha256 if item.before else "", item.sha256 or ""]
                for item in result.applied
            ],
        )
    cause = syncing.cause_of(proposal, meta["actor"], len(result.applied), meta["reason"])
    try:
        written = [item.path for item in result.applied]
        syncing.sync(proposal.project, workspace.take(syncing.memory_dir(proposal.project), written), cause)
    except (OSError, history.HistoryError) as error:
        log.warning("history of %s: %s", proposal.project, error)
        why = flush.in_words(error).rstrip(".")
        late = (
            f"Everything is written, but its history cannot be saved now: {why}. The next check tries again."
        )
        return (*ended, late)
    return tuple(ended)


def _applied_file(made: AppliedBatch, item: journal.Applied) -> AppliedFile:
    mtime_ns = item.before.mtime_ns if item.before else None
    return AppliedFile(
        application=made,
        path=item.path,
        before_sha=item.before.sha256 if item.before else "",
        after_sha=item.sha256 or "",
        before_mode=item.before.mode if item.before else None,
        before_mtime_ns=None if mtime_ns is None else storable_ns(mtime_ns),
    )


@prepared
def unapplied(proposal: int) -> QuerySet[FileChange]:
    """Files of the proposal with this key in which something is approved that is not on disk yet."""
    taken = Hunk.objects.filter(file__proposal=proposal, verdict__in=Hunk.TAKEN, applied_in__isnull=True)
    files = FileChange.objects.filter(pk__in=taken.values("file"))
    return files.select_related("proposal__project").prefetch_related("hunks")


def close_if_done(proposal: Proposal) -> None:
    if not unapplied(proposal.pk):
        Proposal.objects.filter(pk=proposal.pk, state=Proposal.State.SUBMITTED).update(
            state=Proposal.State.APPLIED, closed_at=timezone.now()
        )
        proposal.refresh_from_db()


def recover_first() -> None:
    """`recover` before a write, so that it starts from a finished state. Raises ProjectBusy."""
    try:
        recover()
    except journal.JournalBusy as busy:
        raise project_lock.ProjectBusy(f"{busy}.") from busy


def recover(wait_seconds: float = 10) -> list[str]:
    """Finish or undo what a crash interrupted, and record it; returns what it did. Safe at any time.

    Raises JournalBusy where another process writes for longer than `wait_seconds`.
    """
    ended, waiting = recovered(wait_seconds)
    return ended + waiting


def recovered(wait_seconds: float = 10) -> tuple[list[str], list[str]]:
    """As `recover`: what it did, and separately what still waits and why."""
    found: tuple[list[str], list[str]] = [], []
    for done in journal.recover(journal_dir(), wait_seconds=wait_seconds):
        waits = done.action == "nothing"
        line = f"{done.plan_id}: {'not ended yet' if waits else done.action}. {' '.join(done.said)}"
        found[waits].append(line.strip())
    ended, waiting = found
    return ended + _record_what_was_applied() + place_late_texts(wait_seconds), waiting


def abandon(plan_id: str, actor: Actor) -> bool:
    """Give up an interrupted write whose directory never comes back or whose record is damaged; False where there is none of
    this id.

    Written files and the texts in the journal stay, and its proposal can be applied again.
    """
    entry = journal.read_journal(journal_dir(), plan_id)
    if entry is None or not journal.abandon(journal_dir(), entry.name, f"Given up by {actor.name}."):
        return False
    auditlog.record("apply.abandoned", actor=actor.name, object_id=plan_id, folder=entry.target_dir)
    return True


def _record_what_was_applied() -> list[str]:
    """Record what the journal applied and the database does not know. What is of no proposal of this database is said once."""
    unknown = {
        plan: plan.rpartition("-")[0] for plan in journal.plan_ids(journal_dir()).difference(_applied())
    }
    if not unknown:
        return []
    named = Proposal.objects.filter(public_id__in=set(unknown.values())).select_related("project")
    proposals = {row.public_id: row for row in named}
    told = {plan for data in _of_other_databases() for plan in data["plans"]}
    new = sorted(plan for plan, name in unknown.items() if name in proposals or plan not in told)
    said, lost = list[str](), list[str]()
    for entry in (journal.read_journal(journal_dir(), plan) for plan in new):
        if entry is None or entry.result is None or entry.state != "applied":
            continue
        proposal = proposals.get(unknown[entry.plan_id])
        if proposal is None:
            lost.append(entry.plan_id)
            continue
        # First, as what is recorded is not looked at again, should a crash come between.
        _approved_in_a_newer_database(proposal, entry.meta)
        said += record_result(proposal, entry.result, entry.meta)
        close_if_done(proposal)
        auditlog.record("apply.recovered", about=proposal, batch=entry.plan_id)
        said.append(f"{entry.plan_id} was on disk and is now in the database too.")
    if lost:
        auditlog.record("apply.unknown", plans=lost)
        said.append(_not_here(lost))
    return said


def _approved_in_a_newer_database(proposal: Proposal, meta: Mapping[str, str]) -> None:
    """After an earlier copy of the database took its place a review may be open again of which something is on disk. That was
    approved; the rest can be decided again."""
    written = Hunk.objects.filter(pk__in=json.loads(meta["hunks"]), file__proposal=proposal)
    now = timezone.now()
    lost = written.exclude(verdict__in=Hunk.TAKEN)
    lost.update(verdict=Hunk.Verdict.APPROVED, decided_by=meta["actor"], decided_at=now)
    if not Hunk.objects.filter(file__proposal=proposal, verdict=Hunk.Verdict.PENDING).exists():
        is_open = Proposal.objects.filter(pk=proposal.pk, state=Proposal.State.OPEN)
        is_open.update(state=Proposal.State.SUBMITTED, submitted_at=now, submitted_by=meta["actor"])


def _not_here(plans: Sequence[str]) -> str:
    if len(plans) == 1:
        return f"{plans[0]} was applied; its proposal is not in this database, so only the journal has a record of it."
    some = ", ".join([*plans[:3], *(["…"] if len(plans) > 3 else [])])
    return (
        f"{len(plans):,} writes were applied ({some}); their proposals are not in this database, so only the journal "
        "has a record of them."
    )


@prepared
def _of_other_databases() -> QuerySet[AuditEntry, Any]:
    return AuditEntry.objects.filter(action="apply.unknown").order_by().values_list("data", flat=True)


@prepared
def _applied() -> QuerySet[AppliedBatch, str]:
    return AppliedBatch.objects.order_by().values_list("journal_id", flat=True)


# Texts that somebody wrote during an apply and that are in no file become versions of their memory. The journal keeps them
# until then, so a crash in between only repeats this.

_JUST_BEFORE = dt.timedelta(microseconds=1)  # the smallest difference in a database


def place_late_texts(wait_seconds: float = 10) -> list[str]:
    """Make a version of every waiting text of a memory; returns a line for each. Raises journal.JournalBusy."""
    said = []
    for late in journal.collect_late(journal_dir(), wait_seconds=wait_seconds):
        proposal = Proposal.objects.filter(public_id=late.meta.get("proposal", "")).first()
        if proposal is None:
            continue  # the database was replaced; the journal has the text still
        if syncing.is_memory(late.path):
            _keep_late(proposal, late)
            said.append(
                f"{late.path}: text written to it during an apply is not in the file. "
                "It is kept as a version."
            )
        journal.handed_over(journal_dir(), late)
    return said


def _keep_late(proposal: Proposal, late: journal.Late) -> None:
    project = proposal.project
    try:
        _commit_late(project, late)
    except (OSError, history.HistoryError) as error:
        log.warning("history of %s: %s", project, error)
    with transaction.atomic():
        database.one_at_a_time(f"memories of {project.pk}")
        memory, _ = Memory.objects.get_or_create(
            project=project,
            path=late.path,
            defaults={"kind": syncing.kind_of(late.path), "gone_at": timezone.now()},
        )
        if memory.versions.filter(sha256=late.sha256, aside_at__isnull=False).exists():
            return
        blobs.put(late.data)
        # Just before the state that replaced it, so that the newest version is the file's.
        by_number = memory.versions.order_by("-number", "-pk")
        after = by_number.filter(proposal=proposal).first() or by_number.first()
        kept = Version(
            memory=memory,
            sha256=late.sha256,
            size=len(late.data),
            mode=memory.mode,
            at=after.at - _JUST_BEFORE if after else timezone.now(),
            aside_at=timezone.now(),
            origin=Version.Origin.OUTSIDE,
        )
        kept.save_as(after.number if after else 1)
        index.add({late.sha256: late.data})


def _commit_late(project: Project, late: journal.Late) -> None:
    """Add it to the history: a commit with this text, and one with the current state."""
    snapshot = workspace.take(syncing.memory_dir(project))
    now = dict(snapshot.files)
    file = now.get(late.path) or workspace.SnapshotFile(late.path, b"", 0o600, 0, 0, 1)
    subject = f"Written to {late.path} while changes were being applied"
    origin = Version.Origin.OUTSIDE
    syncing.commit(
        project,
        {**now, late.path: replace(file, data=late.data)},
        syncing.Cause(origin, reason=subject),
    )
    syncing.commit(project, now, syncing.Cause(origin, reason="Current file in the directory"))
