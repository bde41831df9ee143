"""One run of a job: created when the job is due, claimed by one worker, ended once. Jobs that follow it are due when the run has
ended, with any result: a digest should also report a failed dream."""

import datetime as dt
import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from django.conf import settings
from django.db import IntegrityError, transaction
from django.db.models import F, QuerySet
from django.db.models.functions import Coalesce
from django.utils import timezone

from dreams.lib import process
from dreams.lib.files import text
from dreams.lib.files.text import plural
from dreams.lib.refusal import Refusal
from dreams.lib.storage import history
from dreams.models import JobRun, Project, ScheduledJob
from dreams.models.prepared import prepared
from dreams.services import auditlog, notify, verifying
from dreams.services.hosts import host
from dreams.services.jobs import job_list
from dreams.services.memories import checkup, exports, syncing
from dreams.services.project_lock import ProjectElsewhere
from memoryweb import datadir

log = logging.getLogger(__name__)

#: Exports kept for a project; older ones made by jobs are removed.
EXPORTS = 7
SUFFIX = ".bundle"
Part = dict[str, Any]
Status = JobRun.Status


def do(run: JobRun) -> "RunResult":
    """Do a run that starts no dreams."""
    if run.job is None:
        return RunResult(Status.NOTHING, "Its job was removed.")
    return _WORK[run.kind](run.job)


def projects_of(job: ScheduledJob) -> list[Project]:
    """The projects of a job, most recently used first."""
    if job.project is not None:
        return [job.project]
    return list(
        Project.objects.filter(host=host(), gone_at__isnull=True).order_by(
            F("last_session_at").desc(nulls_last=True), "pk"
        )
    )


def part(project: Project, state: str, said: str) -> Part:
    return {"project": project.pk, "name": str(project), "state": state, "text": said}


def _each(job: ScheduledJob, one: Callable[[Project], str], summary: Callable[[int], str]) -> "RunResult":
    """Do something for each project; a failure does not stop the others."""
    parts = []
    for project in projects_of(job):
        try:
            parts.append(part(project, Status.DONE, one(project)))
        except (history.HistoryError, ProjectElsewhere, OSError) as error:
            parts.append(part(project, Status.FAILED, str(error)))
        except Exception as error:
            log.exception("%s: %s", job, project)
            parts.append(part(project, Status.FAILED, f"An unexpected fault ({type(error).__name__})"))
    return in_one_line(parts, summary)


def in_one_line(parts: Sequence[Part], summary: Callable[[int], str]) -> "RunResult":
    """The result in one line: the first failure, or the text of the only project, or the `summary`."""
    failed = [each for each in parts if each["state"] == Status.FAILED]
    done = [each for each in parts if each["state"] == Status.DONE]
    if failed:
        more = f" {plural(len(failed) - 1, 'more project')} failed." if len(failed) > 1 else ""
        return RunResult(
            Status.FAILED, f"{failed[0]['name']}: {failed[0]['text'].rstrip('.')}.{more}", [*parts]
        )
    if len(parts) == 1:
        return RunResult(Status.DONE if done else Status.NOTHING, parts[0]["text"], [*parts])
    if not done:
        return RunResult(Status.NOTHING, summary(0), [*parts])
    return RunResult(Status.DONE, summary(len(done)), [*parts])


def _checkup(job: ScheduledJob) -> "RunResult":
    warnings = 0

    def look(project: Project) -> str:
        nonlocal warnings
        syncing.refresh_if_here(project)
        found = checkup.check(project)
        warnings += found.warnings
        return found.sentence

    return _each(job, look, lambda n: f"{plural(n, 'project')} checked, {plural(warnings, 'problem')}.")


def _verify(job: ScheduledJob) -> "RunResult":
    report = verifying.verify(job.project)
    if report.problems:
        first = f"{report.worst.what} ({report.worst.where})"
        said = f"{report.sentence}: {first}. `verify` lists all of them."
        return RunResult(Status.FAILED, said)
    read = ", ".join(f"{count:,} {kind}" for kind, count in report.checked.items())
    return RunResult(Status.DONE, f"Everything is as it was written: {read}.")


def _export(job: ScheduledJob) -> "RunResult":
    def write(project: Project) -> str:
        if not syncing.history_path(project).exists():
            return "It has no history yet."
        folder = export_folder(project)
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        target = folder / f"{timezone.now():%Y-%m-%dT%H%M%SZ}{SUFFIX}"
        exports.write(project, target)
        datadir.make_room(target, f"*{SUFFIX}", EXPORTS)
        return f"{target.stat().st_size:,} bytes in {target}"

    return _each(job, write, lambda n: f"{plural(n, 'project')} exported to {export_root()}.")


def export_root() -> Path:
    return Path(settings.DATA_DIR) / "exports"


def export_folder(project: Project) -> Path:
    """The folder of a project's exports; the key of its history makes it unique."""
    return export_root() / f"{project.slug.strip('-')[:80]}-{project.history_key[:8]}"


def _digest(job: ScheduledJob) -> "RunResult":
    now = timezone.now()
    if not notify.configured():
        return RunResult(Status.NOTHING, "No address is set for a digest.")
    outcome = notify.send_scheduled(now, job_list.period(job, now, job_list.Clock.load()))
    if problems := notify.failing():
        said = " ".join(f"{name}: {problem}" for name, problem in problems.items())
        return RunResult(Status.FAILED, f"{said} It is tried again later.")
    if not outcome:
        return RunResult(Status.NOTHING, "Nothing new is waiting.")
    return RunResult(Status.DONE, f"Sent by {' and '.join(outcome)}.")


_WORK: "Mapping[str, Callable[[ScheduledJob], RunResult]]" = {
    job_list.Kind.CHECKUP: _checkup,
    job_list.Kind.VERIFY: _verify,
    job_list.Kind.EXPORT: _export,
    job_list.Kind.DIGEST: _digest,
}


#: Older runs are deleted.
KEPT = 500


@dataclass(frozen=True, slots=True)
class RunResult:
    """The result of a run. `parts` has the results of projects."""

    status: JobRun.Status
    text: str
    parts: list[dict[str, Any]] = field(default_factory=list)


class AlreadyRunning(Refusal):
    """The job's last run is still going on."""


def fire(job: ScheduledJob, now: dt.datetime, clock: job_list.Clock) -> JobRun | None:
    """Start a due job: schedule its next time and create a run, both or neither. None if somebody else did."""
    try:
        with transaction.atomic():
            moved = ScheduledJob.objects.filter(pk=job.pk, next_at=job.next_at, ended_at__isnull=True)
            if not moved.update(**job_list.after_firing(job, now, clock)):
                return None
            return _made(job, now, due_at=job.due_at)
    except IntegrityError:
        return None  # its last run is still going on; it stays due


def start_now(job: ScheduledJob, *, actor: str, now: dt.datetime | None = None) -> JobRun:
    """Create a run that a person requested. Raises AlreadyRunning."""
    try:
        with transaction.atomic():
            run = _made(job, now or timezone.now(), asked_by=actor)
            auditlog.record("job.started", actor=actor, about=job, label=str(job))
    except IntegrityError as error:
        raise AlreadyRunning(f"{job} is already running. Wait until it ends.") from error
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
    """Claim a waiting run, so that a task delivered twice does it once."""
    me = process.current()
    taken = JobRun.objects.filter(pk=run_pk, status=Status.PENDING).update(
        status=Status.RUNNING,
        started_at=now or timezone.now(),
        worker_pid=me.pid,
        worker_started=me.start_time,
    )
    return JobRun.objects.select_related("job__project", "job__after").get(pk=run_pk) if taken else None


def end(run: JobRun, result: RunResult, now: dt.datetime | None = None) -> bool:
    """End a run, count a failure, and make the next jobs due. False if it had ended already."""
    at = now or timezone.now()
    with transaction.atomic():
        ended = JobRun.objects.filter(pk=run.pk, status__in=JobRun.UNFINISHED).update(
            status=result.status, ended_at=at, text=text.storable(result.text, 500), parts=result.parts
        )
        if ended and run.job_id:
            row = ScheduledJob.objects.filter(pk=run.job_id)
            if result.status == Status.FAILED:
                row.update(failures=F("failures") + 1, failing_since=Coalesce("failing_since", at))
            else:
                row.update(failures=0, failing_since=None)
            followers = ScheduledJob.objects.filter(after=run.job_id, ended_at__isnull=True)
            followers.update(due_at=at, next_at=at)
    return bool(ended)


@prepared
def unfinished(host: str) -> QuerySet[JobRun]:
    """Unfinished runs of a host, oldest first."""
    rows = JobRun.objects.filter(status__in=JobRun.UNFINISHED, host=host)
    return rows.select_related("job__project", "job__after").order_by("made_at", "pk")


def end_if_lost(run: JobRun, now: dt.datetime) -> bool:
    """End a run whose worker died; whether it did."""
    if run.worker_pid is None or process.is_alive(run.worker_pid, run.worker_started):
        return False
    said = process.DIED
    end(run, RunResult(Status.FAILED, said), now)
    return True
