"""Takes a project's consolidation lock and records it, so that it can be restored after a crash.

The record is saved before the file is changed and removed after the lock is released, so after a crash the next tick
knows what to restore.
"""

import datetime as dt
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from django.utils import timezone

from dreams.lib import locks, process
from dreams.lib.files import text
from dreams.lib.files.seen import storable_ns
from dreams.lib.refusal import Refusal
from dreams.lib.secrets.redact import redact
from dreams.models import LockHold, Project
from dreams.services import auditlog
from dreams.services.hosts import host, name_of

#: Longer than a hold takes from its record to its lock file; chosen.
BEGINNING = dt.timedelta(hours=1)


class ProjectBusy(Refusal):
    """Somebody else has this memory directory locked; the message says what we do there, or which process holds it."""


class ProjectElsewhere(ProjectBusy):
    """The project's files are on another host; a folder at the same path here is a different one."""


def refuse_elsewhere(project: Project) -> None:
    """Raises ProjectElsewhere for a project of another host. Call it before reading or writing at its path."""
    if project.host != host():
        owner = name_of(project.host)
        raise ProjectElsewhere(
            f"{project.slug} belongs to {owner}, and this is {name_of(host())}. Nothing was changed. Do it on {owner}."
        )


def directory(project: Project) -> str:
    """Where its memory directory is now, links resolved, without secrets; "" for a project of another host."""
    return redact(text.storable(os.path.realpath(project.memory_dir))) if project.host == host() else ""


#: What we do while we hold the lock, by the purpose that `hold` was given.
_DOING = {"apply": "writes", "rollback": "undoes something", "dream": "dreams", "import": "imports"}


def is_same_directory(one: Project, other: Project) -> bool:
    """Whether both projects of this host have the same memory directory, as where one of two roots links to the other."""
    return os.path.realpath(one.memory_dir) == os.path.realpath(other.memory_dir)


@contextmanager
def hold(project: Project, purpose: str, *, keep_dir_mtime: bool = False) -> Iterator[locks.Held]:
    """Takes the lock of `project` for the block. Raises ProjectBusy.

    The block should release it (`release_completed`, `release_keeping_clock`); otherwise the lock's time is reset, as after
    a failure.
    """
    refuse_elsewhere(project)
    now = timezone.now()
    taken = locks.acquire(
        Path(os.path.realpath(project.memory_dir)),
        process.current(),
        now,
        known=_known_holder(project),
        keep_dir_mtime=keep_dir_mtime,
        before_write=lambda record: _save(project, record, purpose, now),
    )
    if isinstance(taken, locks.Busy):
        ours = LockHold.objects.filter(project=project, pid=taken.holder or 0).first()
        doing = _DOING.get(ours.purpose) if ours else None
        raise ProjectBusy(
            f"memoryweb {doing} in {project} at the moment. Try again once it is done."
            if doing
            else taken.reason
        )
    try:
        with taken:
            yield taken
    finally:
        if not taken.rewind().is_left:  # else it is healed later, from the record
            # A hang of hours may have lost it to another hold of this process, which has its own record.
            LockHold.objects.filter(project=project, pid=process.current().pid, taken_at=now).delete()


def _known_holder(project: Project) -> locks.LockRecord | None:
    row = LockHold.objects.filter(project=project).first()
    if row is None:
        return None
    return locks.LockRecord(row.pid, row.process_started, row.prior_mtime_ns, bytes(row.prior_body))


def _save(project: Project, record: locks.LockRecord, purpose: str, now: dt.datetime) -> None:
    LockHold.objects.update_or_create(
        project=project,
        defaults={
            "pid": record.pid,
            "process_started": record.start_time,
            "prior_mtime_ns": record.prior_mtime_ns and storable_ns(record.prior_mtime_ns),
            "prior_body": record.prior_body,
            "taken_at": now,
            "purpose": purpose,
        },
    )


def heal(project: Project) -> str:
    """Restores the lock's time after one of our processes died with the lock, and forgets a hold that ended while the database was
    away. Returns what was done, empty if nothing was."""
    row = LockHold.objects.filter(project=project).first()
    if row is None:
        return ""
    if process.is_alive(row.pid, row.process_started):
        _forget_if_over(row)
        return ""
    healed = locks.heal(
        Path(os.path.realpath(project.memory_dir)),
        row.pid,
        row.process_started,
        row.prior_mtime_ns,
        prior_body=bytes(row.prior_body),
    )
    if healed.outcome in (locks.Healing.ALIVE, locks.Healing.BUSY, locks.Healing.FAILED):
        return ""
    row.delete()
    auditlog.record("lock.healed", project=project, object_id=str(row.pid), outcome=healed.outcome.value)
    return healed.reason


def _forget_if_over(row: LockHold) -> None:
    now = timezone.now()
    there = locks.status(row.project.memory_dir, now)
    if not there.held and there.pid != row.pid and row.taken_at < now - BEGINNING:
        LockHold.objects.filter(pk=row.pk, taken_at=row.taken_at).delete()
