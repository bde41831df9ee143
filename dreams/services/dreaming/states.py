"""The states of a dream: requested, claimed, ended, cancelled. Nothing leaves a terminal one: each step into one is a
conditional update that counts its rows.
"""

import datetime as dt
from collections.abc import Collection
from typing import Any

from django.conf import settings
from django.db import transaction
from django.db.models import F, Q, QuerySet
from django.utils import timezone

from dreams import conf
from dreams.lib import process
from dreams.lib.files import workspace
from dreams.models import DreamRun, Project
from dreams.models.prepared import prepared
from dreams.services import auditlog, database, hosts, project_lock

LEASE = dt.timedelta(seconds=90)  # six missed renewals: the worker is gone


def mark_notified(public_ids: Collection[str]) -> None:
    """Record that a person has seen the results of these dreams, so that they are not reported again."""
    untold = DreamRun.objects.filter(public_id__in=public_ids, notified_at__isnull=True)
    untold.update(notified_at=timezone.now())


@prepared
def active() -> QuerySet[DreamRun]:
    """Pending and running dreams of all projects, which are few; SQLite would otherwise scan all dreams of a project."""
    found = DreamRun.objects.filter(status__in=DreamRun.UNFINISHED)
    return found.only("project", "public_id", "status").order_by()


def refuse_second(project: Project) -> None:
    """Raises ProjectBusy while a dream of `project` is pending or running."""
    running = project.dreams.filter(status__in=DreamRun.UNFINISHED).first()
    if running is not None:
        raise project_lock.ProjectBusy(
            f"{project} is already dreaming ({running.public_id}). Wait for it, or cancel it."
        )


def request(
    project: Project,
    trigger: DreamRun.Trigger,
    *,
    engine: str = "",
    forced: bool = False,
    logs: bool = False,
    actor: str = "",
) -> DreamRun:
    """Create a pending dream; `logs`: requested to read the daily logs. Raises ProjectBusy if one is pending or running."""
    config = conf.current(project)
    chosen = engine or config.engine
    asked: dict[str, Any] = {"logs": True} if logs else {}
    # A command's dream is in no queue: this shows if the command died before it began.
    me = process.current() if trigger == DreamRun.Trigger.COMMAND else None
    with transaction.atomic():
        database.one_at_a_time(f"dreams of {project.pk}")
        refuse_second(project)
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
            **asked,
        )
    return dream


#: This long after its lease ended any host may end a dream. Longer than any dream, and than differences of clocks.
FORSAKEN = dt.timedelta(hours=2)


def under_way(host: str, now: dt.datetime) -> int:
    """The number of pending and running dreams of `host`, without those whose lease ended."""
    return len(_under_way(host, now))


@prepared
def _under_way(host: str, now: dt.datetime) -> QuerySet[DreamRun, int]:
    ended = Q(status=DreamRun.Status.RUNNING, lease_until__lt=now)
    rows = DreamRun.objects.filter(project__host=host, status__in=DreamRun.UNFINISHED).exclude(ended)
    return rows.values_list("pk", flat=True)


def forsaken(now: dt.datetime) -> QuerySet[DreamRun]:
    """Running dreams whose lease ended long ago on hosts that are not running, so that nobody else ends them."""
    running = DreamRun.objects.filter(status=DreamRun.Status.RUNNING, lease_until__lt=now - FORSAKEN)
    return running.filter(project__host__in=hosts.away().values("key"))


def cancel(dream: DreamRun, actor: str) -> bool:
    """Kill a dream: a pending or forsaken one at once, a running one at its next checkpoint. False when it was over already."""
    now = timezone.now()
    killed = DreamRun.objects.filter(pk=dream.pk, status=DreamRun.Status.PENDING).update(
        status=DreamRun.Status.KILLED, ended_at=now, error="Cancelled before it started."
    )
    asked = DreamRun.objects.filter(pk=dream.pk, status=DreamRun.Status.RUNNING).update(
        cancel_requested_at=now
    )
    if killed or asked:
        auditlog.record("dream.cancelled", actor=actor, about=dream)
    if asked and forsaken(now).filter(pk=dream.pk).exists():
        dream.refresh_from_db()
        lost_its_worker(dream)
    return bool(killed or asked)


def claim(dream_pk: int) -> DreamRun | None:
    """Claim a pending dream by a conditional update, so that a task delivered twice runs once."""
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
    """Move a running dream into a terminal state; False if it already was in one.

    `failure` is what failed. A failed dream is retried after the back-off, and not before `wait`.
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
    # Its gates were open before it ran; the next tick judges them again.
    project.filter(gate_fingerprint="open").update(gate_fingerprint="")
    auditlog.record("dream.ended", about=dream, status=status.value, error=error[:300])
    return True


def back_off(project: Project, failures: int) -> dt.timedelta:
    """The wait after consecutive failures: doubling, at most a day, and a day from `max_attempts` on."""
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
        error="The command that requested it was stopped before it started. Nothing was changed.",
    )
    if ended:
        auditlog.record("dream.ended", about=dream, status="killed")
    return bool(ended)


def lost_its_worker(dream: DreamRun) -> str:
    """Mark a running dream whose worker died as failed, or as killed if a person had cancelled it.

    Returns a sentence, "" if it had ended already. Lock and clock are healed by `project_lock.heal`.
    """
    workspace.remove_abandoned(settings.DATA_DIR)
    if dream.cancel_requested_at is not None:
        said = "Its worker was stopped. Nothing was changed, and the clock is put back."
        return said if end(dream, DreamRun.Status.KILLED, said) else ""
    said = process.DIED
    return said if end(dream, DreamRun.Status.FAILED, said, failure=DreamRun.Failure.WORKER) else ""
