"""What a tick does for the schedule: end what died, start what is due, hand runs to the queue, look after dreams."""

from __future__ import annotations

import datetime as dt
import logging
from collections.abc import Sequence

from django.core.cache import cache

from dreams.models import JobRun, ScheduledJob
from dreams.services.hosts import cluster_name, host
from dreams.services.jobs import book, dreams, runs, work

log = logging.getLogger(__name__)

#: A run that no worker took for this long is handed to the queue again.
HAND_OUT_AGAIN = dt.timedelta(minutes=5)


def tick(now: dt.datetime, enqueue: dreams.Enqueue) -> list[JobRun]:
    """Start what is due; `enqueue` hands a dream to its queue. What is missed starts once, and in quiet hours nothing."""
    clock = book.Clock.load()
    rows = book.active()
    book.replan(rows, now, clock)
    unfinished = [run for run in runs.unfinished() if not runs.end_if_lost(run, now)]
    busy = {run.job_id for run in unfinished}
    started = []
    if not clock.quiet_until(now):
        started = _start_due([job for job in rows if job.pk not in busy], now, clock)
    for run in [*unfinished, *started]:
        if run.kind == book.Kind.DREAM:
            dreams.advance(run, now, enqueue)
        elif run.status == JobRun.Status.PENDING:
            hand_out(run)
    return started


def _start_due(rows: Sequence[ScheduledJob], now: dt.datetime, clock: book.Clock) -> list[JobRun]:
    """Runs of all that is due now, each made once. One odd job never stops the others."""
    started = []
    for job in sorted((row for row in rows if row.next_at and row.next_at <= now), key=_next_at):
        try:
            run = None if _ends_now(job, now, clock) else runs.fire(job, now, clock)
        except Exception:
            log.exception("job %s", job)
            continue
        started += [run] if run else []
    return started


def _next_at(job: ScheduledJob) -> dt.datetime:
    return job.next_at or job.made_at


def _ends_now(job: ScheduledJob, now: dt.datetime, clock: book.Clock) -> bool:
    """End one that follows another, after its last day: it has no times of its own that this day could leave out."""
    if job.cron or job.until is None or clock.day(now) <= job.until:
        return False
    ScheduledJob.objects.filter(pk=job.pk).update(next_at=None, due_at=None, ended_at=now)
    return True


def hand_out(run: JobRun) -> None:
    """Give a run to this host's queue, at most every few minutes; it is claimed once however often it arrives."""
    if run.host != host():
        return  # its own scheduler hands it out: a queue runs what its own key signed
    from django_q.tasks import async_task  # noqa: PLC0415 - the queue's models need the app registry

    if cache.add(f"memoryweb:job-run:{run.pk}", 1, int(HAND_OUT_AGAIN.total_seconds())):
        async_task(
            "dreams.tasks.run_job", run.pk, cluster=cluster_name(host()), task_name=f"job {run.label}"[:100]
        )


def begin(run: JobRun, enqueue: dreams.Enqueue) -> None:
    """Start a run that a person asked for on a page, without waiting for the next tick of the host that has the files."""
    if run.kind != book.Kind.DREAM:
        hand_out(run)
    elif run.host == host():
        dreams.advance(run, run.made_at, enqueue)


def run_job(run_pk: int) -> JobRun | None:
    """What the queue calls. None when the run is gone."""
    run = JobRun.objects.filter(pk=run_pk).first()
    return run_here(run) if run else None


def run_here(run: JobRun) -> JobRun:
    """Do a run in this process, and end it. It never raises for a job that fails."""
    claimed = runs.claim(run.pk)
    if claimed is not None:
        try:
            done = dreams.all_here(claimed) if claimed.kind == book.Kind.DREAM else work.do(claimed)
        except Exception as error:
            log.exception("job %s", claimed.label)
            said = f"An unexpected fault ended it ({type(error).__name__}). The log has more."
            runs.end(claimed, runs.Result(JobRun.Status.FAILED, said))
        except BaseException:
            runs.end(claimed, runs.Result(JobRun.Status.FAILED, "It was stopped before it was done."))
            raise
        else:
            runs.end(claimed, done)
    run.refresh_from_db()
    return run
