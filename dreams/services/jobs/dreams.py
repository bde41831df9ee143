"""A run that starts dreams. The schedule takes the place of the time gate; every other gate holds.

What opens by itself in a moment (a lock, sessions that were counted just now, a dream that is under way) is waited for,
an hour at most; another closed gate means that there is nothing to do now. The tick looks at the run until all of its
dreams have ended.
"""

from __future__ import annotations

import datetime as dt
import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from django.db import IntegrityError
from django.utils import timezone

from dreams.lib.files.text import plural
from dreams.models import DreamRun, JobRun, Project
from dreams.services import discovery, dreaming, project_lock
from dreams.services.jobs import work
from dreams.services.jobs.runs import Result, end
from dreams.services.proposals import summaries
from dreams.services.scheduling import gates
from dreams.services.scheduling.gate_inputs import Everywhere, facts_of

log = logging.getLogger(__name__)

PATIENCE = dt.timedelta(hours=1)
#: Nothing is waited for longer than this, also not for other dreams to end.
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
    """Why a project does not dream now; `opens_soon` where it is worth waiting for."""

    reason: str
    opens_soon: bool


def advance(run: JobRun, now: dt.datetime, enqueue: Enqueue) -> None:
    """Look at a run that starts dreams: begin, go on, end. One that a command does is left to it."""
    # Two ticks may overlap: whoever moves this on looks.
    turn = JobRun.objects.filter(
        pk=run.pk, looked_at=run.looked_at, status__in=JobRun.UNFINISHED, worker_pid__isnull=True
    )
    if not turn.update(looked_at=now):
        return
    try:
        _advance(run, now, enqueue)
    except Exception as error:
        log.exception("job %s", run.label)
        said = f"An unexpected fault ended it ({type(error).__name__}). The log has more."
        end(run, Result(Status.FAILED, said, run.parts), now)


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
    return [work.part(project, WAITING, "") for project in work.projects_of(run.job)] if run.job else []


def _try_to_start(
    run: JobRun, part: dict[str, Any], everywhere: Everywhere, now: dt.datetime, enqueue: Enqueue
) -> None:
    waited = now - run.made_at
    if _all_places_taken(everywhere):
        if waited > LONGEST:
            part.update(state=Status.FAILED, text="Other dreams ran all the time.")
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
    unfinished = [DreamRun.Status.PENDING, DreamRun.Status.RUNNING]
    dream = project.dreams.filter(status__in=unfinished).first()
    return _Answer(f"It already dreams ({dream.public_id}).", opens_soon=True) if dream else None


def _all_places_taken(everywhere: Everywhere) -> bool:
    busy = DreamRun.objects.filter(status__in=[DreamRun.Status.PENDING, DreamRun.Status.RUNNING]).count()
    return busy >= everywhere.overrides.config(None).max_dreams_at_once


def closed(project: Project, everywhere: Everywhere, now: dt.datetime) -> _Answer | None:
    """The gate that keeps a scheduled dream from starting; None when all are open."""
    results = gates.evaluate(
        facts_of(project, everywhere, now, scan=lambda found: _count_sessions(found, now)),
        everywhere.gate_config(project),
        now,
        scheduled=True,
    )
    gate = next((result for result in results if not result.passed), None)
    return _Answer(gate.reason, gate.is_pause or gate.name == "lock") if gate else None


def _count_sessions(project: Project, now: dt.datetime) -> None:
    Project.objects.filter(pk=project.pk).update(sessions_scanned_at=now)
    discovery.refresh(project)
    project.refresh_from_db()


def _settle(part: dict[str, Any]) -> None:
    dream = DreamRun.objects.filter(public_id=part["dream"]).first()
    if dream is None:
        part.update(state=Status.NOTHING, text="The dream is gone.")
    elif dream.is_over:
        part.update(state=_STATES[dream.status], text=f"{summaries.of_dream(dream).line}.")


def _result(parts: list[dict[str, Any]]) -> Result:
    return work.in_one_line(parts, lambda n: _dreamt(n, len(parts)))


def _dreamt(dreams: int, projects: int) -> str:
    if not projects:
        return "There is no project."
    return (
        f"{plural(dreams, 'dream')} in {plural(projects, 'project')}." if dreams else "No project is ready."
    )


def all_here(run: JobRun) -> Result:
    """Every dream of a run one after the other, in this process."""
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
