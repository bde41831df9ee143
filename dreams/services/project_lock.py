"""Holds a project's consolidation lock and records it, so that it can be healed after a crash.

The record is saved before the file is touched and removed after it was let go: whatever a crash leaves, the next
tick knows what to put back.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from django.utils import timezone

from dreams.lib import locks, process
from dreams.lib.refusal import Refusal
from dreams.models import LockHold, Project
from dreams.services import auditlog
from dreams.services.hosts import host, name_of


class ProjectBusy(Refusal):
    """Somebody else is at this memory directory; the message says who, and until when."""


class ProjectElsewhere(ProjectBusy):
    """The project's files are on another host; a folder of the same path here is somebody else's."""


def refuse_elsewhere(project: Project) -> None:
    """Raises ProjectElsewhere for a project of another host. Called before anything is read or written at its path."""
    if project.host != host():
        owner = name_of(project.host)
        raise ProjectElsewhere(
            f"{project.slug} belongs to {owner}, and this is {name_of(host())}. Nothing was changed. Do it on {owner}."
        )


@contextmanager
def hold(project: Project, purpose: str, *, keep_dir_mtime: bool = False) -> Iterator[locks.Held]:
    """The lock of `project`, held for the block. Raises ProjectBusy.

    The block lets go as it means to (`release_completed`, `release_keeping_clock`); left without, the lock is
    rewound, as after a failure.
    """
    refuse_elsewhere(project)
    taken = locks.acquire(
        Path(os.path.realpath(project.memory_dir)),
        process.current(),
        timezone.now(),
        known=_known_holder(project),
        keep_dir_mtime=keep_dir_mtime,
        before_write=lambda record: _save(project, record, purpose),
    )
    if isinstance(taken, locks.Busy):
        raise ProjectBusy(taken.reason)
    try:
        with taken:
            yield taken
    finally:
        LockHold.objects.filter(project=project, pid=process.current().pid).delete()


def _known_holder(project: Project) -> process.ProcessIdentity | None:
    row = LockHold.objects.filter(project=project).first()
    return process.ProcessIdentity(row.pid, row.process_started) if row else None


def _save(project: Project, record: locks.LockRecord, purpose: str) -> None:
    LockHold.objects.update_or_create(
        project=project,
        defaults={
            "pid": record.pid,
            "process_started": record.start_time,
            "prior_mtime_ns": record.prior_mtime_ns,
            "prior_body": record.prior_body,
            "taken_at": timezone.now(),
            "purpose": purpose,
        },
    )


def heal(project: Project) -> str:
    """Put back the clock that a dead holder of ours moved; says what was done, empty when there was nothing to do."""
    row = LockHold.objects.filter(project=project).first()
    if row is None:
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
