"""One run of a job: it is made when the job is due, claimed by whoever does it, and ended once. What follows the job is
due when its run has ended, whatever came of it: a digest should also tell of a dream that failed."""

from __future__ import annotations

import datetime as dt
import logging
from dataclasses import dataclass, field
from typing import Any

from django.db import IntegrityError, transaction
from django.db.models import F
from django.db.models.functions import Coalesce
from django.utils import timezone

from dreams.lib import process
from dreams.lib.files import text
from dreams.models import JobRun, ScheduledJob
from dreams.services import auditlog
from dreams.services.hosts import host
from dreams.services.jobs import book

log = logging.getLogger(__name__)

#: Older ones are forgotten; the page shows the last 50.
KEPT = 500
Status = JobRun.Status


@dataclass(frozen=True, slots=True)
class Result:
    """What came of a run. `parts` is what became of each project."""

    status: JobRun.Status
    text: str
    parts: list[dict[str, Any]] = field(default_factory=list)


class AlreadyRunning(Exception):
    """The job's last run is not over; the message says so."""


def fire(job: ScheduledJob, now: dt.datetime, clock: book.Clock) -> JobRun | None:
    """Start a job that is due: moved on and given a run together, or not at all. None when somebody else did."""
    try:
        with transaction.atomic():
            moved = ScheduledJob.objects.filter(pk=job.pk, next_at=job.next_at, ended_at__isnull=True)
            if not moved.update(**book.after_firing(job, now, clock)):
                return None
            return _made(job, now, due_at=job.due_at)
    except IntegrityError:
        return None  # its last run is not over; it stays due


def start_now(job: ScheduledJob, *, actor: str, now: dt.datetime | None = None) -> JobRun:
    """A run that a person asked for, beside the schedule. Raises AlreadyRunning."""
    try:
        with transaction.atomic():
            run = _made(job, now or timezone.now(), asked_by=actor)
            auditlog.record(
                "job.started", actor=actor, project=job.project, object_id=job.public_id, label=str(job)
            )
    except IntegrityError as error:
        raise AlreadyRunning(f"{job} is running already. Wait until it has ended.") from error
    return run


def _made(
    job: ScheduledJob, now: dt.datetime, *, due_at: dt.datetime | None = None, asked_by: str = ""
) -> JobRun:
    run = JobRun.objects.create(
        job=job,
        kind=job.kind,
        label=str(job)[:200],
        host=job.host,
        due_at=due_at,
        made_at=now,
        asked_by=asked_by,
    )
    JobRun.objects.filter(pk__lte=run.pk - KEPT).exclude(status__in=JobRun.UNFINISHED).delete()
    return run


def claim(run_pk: int, now: dt.datetime | None = None) -> JobRun | None:
    """Take a run that waits, so that a task handed out twice does it once."""
    me = process.current()
    taken = JobRun.objects.filter(pk=run_pk, status=Status.PENDING).update(
        status=Status.RUNNING,
        started_at=now or timezone.now(),
        worker_pid=me.pid,
        worker_started=me.start_time,
    )
    return JobRun.objects.select_related("job__project", "job__after").get(pk=run_pk) if taken else None


def end(run: JobRun, result: Result, now: dt.datetime | None = None) -> bool:
    """End a run, count a failure, and make due what follows. False when it had ended already."""
    at = now or timezone.now()
    with transaction.atomic():
        ended = JobRun.objects.filter(pk=run.pk, status__in=JobRun.UNFINISHED).update(
            status=result.status, ended_at=at, text=text.storable(result.text, 500), parts=result.parts
        )
        if ended and run.job_id:
            _count(run.job_id, result.status, at)
            followers = ScheduledJob.objects.filter(after=run.job_id, ended_at__isnull=True)
            followers.update(due_at=at, next_at=at)
    return bool(ended)


def _count(job_pk: int, status: JobRun.Status, now: dt.datetime) -> None:
    row = ScheduledJob.objects.filter(pk=job_pk)
    if status == Status.FAILED:
        row.update(failures=F("failures") + 1, failing_since=Coalesce("failing_since", now))
    else:
        row.update(failures=0, failing_since=None)


def unfinished() -> list[JobRun]:
    """Those of this host; the oldest first."""
    rows = JobRun.objects.filter(status__in=JobRun.UNFINISHED, host=host())
    return list(rows.select_related("job__project", "job__after").order_by("made_at", "pk"))


def end_if_lost(run: JobRun, now: dt.datetime) -> bool:
    """End a run whose worker died. True when it is over."""
    if run.worker_pid is None or process.is_alive(run.worker_pid, run.worker_started):
        return False
    said = "Its worker died: the process was killed, or the machine was shut down."
    end(run, Result(Status.FAILED, said), now)
    return True
