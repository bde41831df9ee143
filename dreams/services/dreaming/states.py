"""The states of a dream: requested, claimed, ended, cancelled. Nothing leaves a terminal one: each step into one is a
conditional update that counts its rows.
"""

from __future__ import annotations

import datetime as dt
import logging

from django.db import transaction
from django.db.models import F
from django.utils import timezone

from dreams import conf
from dreams.lib import process
from dreams.models import (
    DreamRun,
    Project,
)
from dreams.services import auditlog, database, project_lock

log = logging.getLogger(__name__)


LEASE = dt.timedelta(seconds=90)


def request(
    project: Project, trigger: DreamRun.Trigger, *, engine: str = "", forced: bool = False, actor: str = ""
) -> DreamRun:
    """A pending dream. Raises holds.ProjectBusy when one is pending or running."""
    config = conf.current(project)
    chosen = engine or config.engine
    # No queue knows of a command's dream: should the command die before it begins, this tells that nobody will.
    me = process.current() if trigger == DreamRun.Trigger.COMMAND else None
    with transaction.atomic():
        database.one_at_a_time(f"dreams of {project.pk}")
        running = project.dreams.filter(status__in=[DreamRun.Status.PENDING, DreamRun.Status.RUNNING]).first()
        if running is not None:
            raise project_lock.ProjectBusy(
                f"{project} already dreams ({running.public_id}). Wait for it, or cancel it."
            )
        dream = DreamRun.objects.create(
            project=project,
            engine=chosen,
            model=config.model if chosen != "rules" else "",
            trigger=trigger,
            forced=forced,
            requested_by=actor,
            worker_pid=me.pid if me else None,
            worker_started=me.start_time if me else None,
        )
        auditlog.record(
            "dream.requested",
            actor=actor,
            project=project,
            object_id=dream.public_id,
            engine=chosen,
            forced=forced,
        )
    return dream


def cancel(dream: DreamRun, actor: str) -> bool:
    """Kill a dream: a pending one at once, a running one at its next checkpoint. False when it was over already."""
    now = timezone.now()
    killed = DreamRun.objects.filter(pk=dream.pk, status=DreamRun.Status.PENDING).update(
        status=DreamRun.Status.KILLED, ended_at=now, error="Cancelled before it began."
    )
    asked = DreamRun.objects.filter(pk=dream.pk, status=DreamRun.Status.RUNNING).update(
        cancel_requested_at=now
    )
    if killed or asked:
        auditlog.record("dream.cancelled", actor=actor, project=dream.project, object_id=dream.public_id)
    return bool(killed or asked)


def claim(dream_pk: int) -> DreamRun | None:
    """Take a pending dream by a conditional update, so that a task handed out twice runs once."""
    me = process.current()
    now = timezone.now()
    taken = DreamRun.objects.filter(pk=dream_pk, status=DreamRun.Status.PENDING).update(
        status=DreamRun.Status.RUNNING,
        started_at=now,
        lease_until=now + LEASE,
        worker_pid=me.pid,
        worker_started=me.start_time,
        attempts=F("attempts") + 1,
    )
    return DreamRun.objects.select_related("project").get(pk=dream_pk) if taken else None


def end(
    dream: DreamRun,
    status: DreamRun.Status,
    error: str = "",
    *,
    failure: DreamRun.Failure | None = None,
    wait: dt.timedelta = dt.timedelta(0),
    **more: object,
) -> bool:
    """Move a running dream into a terminal state; False when it was in one already.

    `failure` says what failed. A failed one is tried again after the back-off, and not before `wait`.
    """
    now = timezone.now()
    moved = DreamRun.objects.filter(pk=dream.pk, status=DreamRun.Status.RUNNING).update(
        status=status, ended_at=now, lease_until=None, failure=failure or "", error=error, **more
    )
    if not moved:
        return False
    project = Project.objects.filter(pk=dream.project_id)
    if status == DreamRun.Status.FAILED:
        failures = dream.project.failures + 1
        project.update(failures=failures, not_before=now + max(wait, back_off(dream.project, failures)))
    elif status == DreamRun.Status.COMPLETED:
        project.update(failures=0, not_before=None)
    auditlog.record(
        "dream.ended",
        project=dream.project,
        object_id=dream.public_id,
        status=status.value,
        error=error[:300],
    )
    return True


def back_off(project: Project, failures: int) -> dt.timedelta:
    """How long a project waits after failures in a row: doubling, a day at most, a day after the last try."""
    config = conf.current(project)
    if failures >= config.max_attempts:
        return dt.timedelta(days=1)
    minutes: float = config.retry_minutes * 2.0 ** (failures - 1)
    return min(dt.timedelta(minutes=minutes), dt.timedelta(days=1))


def lost_its_command(dream: DreamRun) -> bool:
    """End a pending dream whose command died before it began; False when it has begun or ended meanwhile."""
    ended = DreamRun.objects.filter(pk=dream.pk, status=DreamRun.Status.PENDING).update(
        status=DreamRun.Status.KILLED,
        ended_at=timezone.now(),
        error="The command that asked for it was stopped before it began. Nothing was changed.",
    )
    if ended:
        auditlog.record("dream.ended", project=dream.project, object_id=dream.public_id, status="killed")
    return bool(ended)


def lost_its_worker(dream: DreamRun) -> str:
    """Mark a running dream whose worker died failed, or killed where a person had cancelled it; says so.

    Lock and clock are healed by `holds.heal`.
    """
    if dream.cancel_requested_at is not None:
        said = "Its worker was stopped. Nothing was changed, and the clock is put back."
        return said if end(dream, DreamRun.Status.KILLED, said) else ""
    said = "Its worker died: the process was killed, or the machine was shut down."
    return said if end(dream, DreamRun.Status.FAILED, said, failure=DreamRun.Failure.WORKER) else ""
