"""Scheduled jobs: `job_list` has the jobs and their next times, `runs` one run from start to end. This module has their part of a
tick: end dead runs, start due ones, hand them to the queue, and advance runs that start dreams.
"""

import datetime as dt
import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.core.cache import cache
from django.db import IntegrityError
from django.utils import timezone

from dreams.lib.files.text import plural
from dreams.models import DreamRun, JobRun, Project, ScheduledJob
from dreams.services import dreaming, hosts, project_lock
from dreams.services.hosts import host
from dreams.services.jobs import job_list, runs
from dreams.services.jobs.job_list import (
    MOST,
    BadJob,
    Clock,
    SameJob,
    TooManyJobs,
    Wanted,
    add,
    checked,
    due_times,
    ensure_digest,
    find,
    remove,
    upcoming,
)
from dreams.services.jobs.runs import AlreadyRunning, RunResult, end, start_now
from dreams.services.proposals import summaries
from dreams.services.scheduling import gates
from dreams.services.scheduling.gate_inputs import Everywhere, case_of, count_sessions

log = logging.getLogger(__name__)

PATIENCE = dt.timedelta(hours=1)  # that a run waits for a gate that opens soon
#: The longest wait of any kind, also for other dreams.
LONGEST = dt.timedelta(days=1)
WAITING, RUNNING = "waiting", "running"
Status = JobRun.Status
_STATES: Mapping[str, JobRun.Status] = {
    DreamRun.Status.COMPLETED: Status.DONE,
    DreamRun.Status.FAILED: Status.FAILED,
    DreamRun.Status.KILLED: Status.NOTHING,
}
Enqueue = Callable[[DreamRun], None]


@dataclass(frozen=True, slots=True)
class _Answer:
    """Why a project does not dream now; `opens_soon`: it is worth waiting."""

    reason: str
    opens_soon: bool


def advance(run: JobRun, now: dt.datetime, enqueue: Enqueue) -> None:
    """Advance a run that starts dreams, unless a command is doing it."""
    # Two ticks may overlap: only one of them updates this.
    turn = JobRun.objects.filter(
        pk=run.pk, looked_at=run.looked_at, status__in=JobRun.UNFINISHED, worker_pid__isnull=True
    )
    if not turn.update(looked_at=now):
        return
    try:
        _advance(run, now, enqueue)
    except Exception as error:
        log.exception("job %s", run.label)
        end(run, RunResult(Status.FAILED, _unexpected(error), run.parts), now)


def _unexpected(error: Exception) -> str:
    return f"An unexpected fault ended it ({type(error).__name__}). The log has more."


def _advance(run: JobRun, now: dt.datetime, enqueue: Enqueue) -> None:
    if run.status == Status.PENDING:
        run.parts = _all_waiting(run)
        run.status, run.started_at = Status.RUNNING, now
    everywhere = Everywhere.load()
    for part in run.parts:
        if part["state"] == WAITING:
            _try_to_start(run, part, everywhere, now, enqueue)
        if part["state"] == RUNNING:
            _settle(part)
    if any(part["state"] in (WAITING, RUNNING) for part in run.parts):
        JobRun.objects.filter(pk=run.pk, status__in=JobRun.UNFINISHED).update(
            parts=run.parts, status=run.status, started_at=run.started_at
        )
    else:
        end(run, _result(run.parts), now)


def _all_waiting(run: JobRun) -> list[dict[str, Any]]:
    return [runs.part(project, WAITING, "") for project in runs.projects_of(run.job)] if run.job else []


def _try_to_start(
    run: JobRun, part: dict[str, Any], everywhere: Everywhere, now: dt.datetime, enqueue: Enqueue
) -> None:
    waited = now - run.made_at
    if everywhere.room(now) <= 0:
        if waited > LONGEST:
            part.update(state=Status.FAILED, text="Other dreams were running the whole time.")
        return
    project = Project.objects.filter(pk=part["project"], gone_at__isnull=True).first()
    if project is None:
        part.update(state=Status.NOTHING, text="Its memory directory is gone.")
        return
    answer = _under_way(project) or closed(project, everywhere, now)
    if answer is None:
        try:
            dream = dreaming.request(project, DreamRun.Trigger.JOB)
        except (project_lock.ProjectBusy, IntegrityError) as error:
            answer = _Answer(str(error), opens_soon=True)
        else:
            enqueue(dream)
            part.update(state=RUNNING, dream=dream.public_id, text="")
            return
    waits = answer.opens_soon and waited <= PATIENCE
    part.update(state=WAITING if waits else Status.NOTHING, text=answer.reason)


def _under_way(project: Project) -> _Answer | None:
    dream = project.dreams.filter(status__in=DreamRun.UNFINISHED).first()
    return _Answer(f"It is already dreaming ({dream.public_id}).", opens_soon=True) if dream else None


def closed(project: Project, everywhere: Everywhere, now: dt.datetime) -> _Answer | None:
    """The gate that keeps a scheduled dream from starting; None when all are open."""
    case = case_of(project, everywhere, now, scan=lambda found: count_sessions(found, now))
    gate = gates.first_closed(gates.evaluate(case, scheduled=True))
    return _Answer(gate.reason, gate.is_pause or gates.GATES[gate.name].opens_soon) if gate else None


def _settle(part: dict[str, Any]) -> None:
    dream = DreamRun.objects.filter(public_id=part["dream"]).first()
    if dream is None:
        part.update(state=Status.NOTHING, text="The dream is gone.")
    elif dream.is_over:
        part.update(state=_STATES[dream.status], text=f"{summaries.of_dream(dream).line}.")


def _result(parts: list[dict[str, Any]]) -> RunResult:
    return runs.in_one_line(parts, lambda n: _dreamt(n, len(parts)))


def _dreamt(dreams: int, projects: int) -> str:
    if not projects:
        return "There is no project."
    return (
        f"{plural(dreams, 'dream')} in {plural(projects, 'project')}." if dreams else "No project is ready."
    )


def all_here(run: JobRun) -> RunResult:
    """All dreams of a run, one after the other, in this process."""
    parts = _all_waiting(run)
    for part in parts:
        project = Project.objects.get(pk=part["project"])
        answer = closed(project, Everywhere.load(), timezone.now())
        if answer is not None:
            part.update(state=Status.NOTHING, text=answer.reason)
            continue
        try:
            dream = dreaming.request(project, DreamRun.Trigger.JOB, actor=run.asked_by)
        except (project_lock.ProjectBusy, IntegrityError) as error:
            part.update(state=Status.NOTHING, text=str(error))
            continue
        dreaming.run_dream(dream.pk)
        part.update(dream=dream.public_id)
        _settle(part)
    return _result(parts)


#: A run that no worker took for this long is queued again.
HAND_OUT_AGAIN = dt.timedelta(minutes=5)


def tick(now: dt.datetime, enqueue: Enqueue) -> list[JobRun]:
    """Start due runs; `enqueue` queues a dream. Missed times start once, and nothing starts in quiet hours."""
    clock = job_list.Clock.load()
    rows = job_list.active(host())
    job_list.replan(rows, now, clock)
    unfinished = [run for run in runs.unfinished(host()) if not runs.end_if_lost(run, now)]
    busy = {run.job_id for run in unfinished}
    started = []
    if not clock.quiet_until(now):
        started = _start_due([job for job in rows if job.pk not in busy], now, clock)
    for run in [*unfinished, *started]:
        if run.kind == job_list.Kind.DREAM:
            advance(run, now, enqueue)
        elif run.status == Status.PENDING:
            hand_out(run)
    return started


def _start_due(rows: Sequence[ScheduledJob], now: dt.datetime, clock: job_list.Clock) -> list[JobRun]:
    """Create the due runs, each once. A broken job does not stop the others."""
    started = []
    due = [row for row in rows if row.next_at and row.next_at <= now]
    for job in sorted(due, key=lambda row: row.next_at or now):
        try:
            run = None if _ends_now(job, now, clock) else runs.fire(job, now, clock)
        except Exception:
            log.exception("job %s", job)
            continue
        started += [run] if run else []
    return started


def _ends_now(job: ScheduledJob, now: dt.datetime, clock: job_list.Clock) -> bool:
    """Whether a job that follows another is past its last day, and so was ended: it has no times that this day could bound."""
    if job.cron or job.until is None or clock.day(now) <= job.until:
        return False
    ScheduledJob.objects.filter(pk=job.pk).update(next_at=None, due_at=None, ended_at=now)
    return True


def hand_out(run: JobRun) -> None:
    """Queue a run on this host, at most every few minutes; it is claimed once, however often it is delivered."""
    if run.host != host():
        return  # only the host itself can queue it, as tasks are signed with its key
    if cache.add(f"memoryweb:job-run:{run.pk}", 1, int(HAND_OUT_AGAIN.total_seconds())):
        hosts.enqueue("run_job", run.pk, name=f"job {run.label}"[:100])


def begin(run: JobRun, enqueue: Enqueue) -> None:
    """On the run's host, start a run that a person requested on a page, without waiting for the next tick."""
    if run.kind != job_list.Kind.DREAM:
        hand_out(run)
    elif run.host == host():
        advance(run, run.made_at, enqueue)


def run_job(run_pk: int) -> JobRun | None:
    """The queue's task. None if the run is gone."""
    run = JobRun.objects.filter(pk=run_pk).first()
    return run_here(run) if run else None


def run_here(run: JobRun) -> JobRun:
    """Do a run in this process and end it. A failing job does not raise."""
    claimed = runs.claim(run.pk)
    if claimed is not None:
        try:
            done = all_here(claimed) if claimed.kind == job_list.Kind.DREAM else runs.do(claimed)
        except Exception as error:
            log.exception("job %s", claimed.label)
            end(claimed, RunResult(Status.FAILED, _unexpected(error)))
        except BaseException:
            end(claimed, RunResult(Status.FAILED, "It was stopped before it finished."))
            raise
        else:
            end(claimed, done)
    run.refresh_from_db()
    return run
