"""What a job does: what the command of the same name does, for one project or for all of this machine."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from django.conf import settings
from django.utils import timezone

from dreams.lib.files.text import plural
from dreams.lib.storage import history
from dreams.models import JobRun, Project, ScheduledJob
from dreams.services import notify
from dreams.services.hosts import host
from dreams.services.jobs import book
from dreams.services.jobs.runs import Result
from dreams.services.memories import checkup, exports, syncing
from dreams.services.project_lock import ProjectElsewhere
from dreams.services.upkeep import verifying

log = logging.getLogger(__name__)

#: So many exports of a project are kept; older ones of ours are removed.
EXPORTS = 7
SUFFIX = ".bundle"
Part = dict[str, Any]
Status = JobRun.Status


def do(run: JobRun) -> Result:
    """The result of a run that starts no dreams."""
    if run.job is None:
        return Result(Status.NOTHING, "Its job was removed.")
    return _WORK[run.kind](run.job)


def projects_of(job: ScheduledJob) -> list[Project]:
    """Those that it is for; the most recently used first."""
    if job.project is not None:
        return [job.project]
    return list(Project.objects.filter(host=host(), gone_at__isnull=True).order_by("-last_session_at", "pk"))


def part(project: Project, state: str, said: str) -> Part:
    return {"project": project.pk, "name": str(project), "state": state, "text": said}


def _each(job: ScheduledJob, one: Callable[[Project], str], summary: Callable[[int], str]) -> Result:
    """One project that fails stops no other."""
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


def in_one_line(parts: Sequence[Part], summary: Callable[[int], str]) -> Result:
    """A failure first; of one project, what it says."""
    failed = [each for each in parts if each["state"] == Status.FAILED]
    done = [each for each in parts if each["state"] == Status.DONE]
    if failed:
        more = f" {plural(len(failed) - 1, 'more project')} failed." if len(failed) > 1 else ""
        return Result(Status.FAILED, f"{failed[0]['name']}: {failed[0]['text'].rstrip('.')}.{more}", [*parts])
    if len(parts) == 1:
        return Result(Status.DONE if done else Status.NOTHING, parts[0]["text"], [*parts])
    if not done:
        return Result(Status.NOTHING, summary(0), [*parts])
    return Result(Status.DONE, summary(len(done)), [*parts])


def _checkup(job: ScheduledJob) -> Result:
    warnings = 0

    def look(project: Project) -> str:
        nonlocal warnings
        syncing.refresh_if_here(project)
        found = checkup.look(project)
        warnings += found.warnings
        said = f"{plural(found.warnings, 'warning')} and {plural(found.notes, 'note')}"
        return f"{said} in {plural(found.memories, 'memory', 'memories')}."

    return _each(job, look, lambda n: f"{plural(n, 'project')} checked, {plural(warnings, 'warning')}.")


def _verify(job: ScheduledJob) -> Result:
    report = verifying.verify(job.project)
    if report.problems:
        first = report.problems[0]
        number = plural(len(report.problems), "thing is", "things are")
        return Result(
            Status.FAILED, f"{number} damaged: {first.what} ({first.where}). The command verify lists all."
        )
    read = ", ".join(f"{count:,} {kind}" for kind, count in report.checked.items())
    return Result(Status.DONE, f"Everything is as it was written: {read}.")


def _export(job: ScheduledJob) -> Result:
    def write(project: Project) -> str:
        if not syncing.history_path(project).exists():
            return "Nothing is kept of it yet."
        folder = export_folder(project)
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        target = folder / f"{timezone.now():%Y-%m-%dT%H%M%SZ}{SUFFIX}"
        exports.write(project, target)
        for old in sorted(folder.glob(f"*{SUFFIX}"))[:-EXPORTS]:
            old.unlink(missing_ok=True)
        return f"{target.stat().st_size:,} bytes in {target}"

    return _each(job, write, lambda n: f"{plural(n, 'project')} exported to {export_root()}.")


def export_root() -> Path:
    return Path(settings.DATA_DIR) / "exports"


def export_folder(project: Project) -> Path:
    """Named for people, and by the history's key, as two projects may have one slug."""
    return export_root() / f"{project.slug.strip('-')[:80]}-{project.history_key[:8]}"


def _digest(job: ScheduledJob) -> Result:
    now = timezone.now()
    if not notify.configured():
        return Result(Status.NOTHING, "No address is set for a digest.")
    outcome = notify.send_scheduled(now, book.period(job, now, book.Clock.load()))
    if problems := notify.failing():
        said = " ".join(f"{name}: {problem}" for name, problem in problems.items())
        return Result(Status.FAILED, f"{said} It is tried again later.")
    if not outcome:
        return Result(Status.NOTHING, "Nothing new is waiting.")
    return Result(Status.DONE, f"Sent by {' and '.join(outcome)}.")


_WORK: Mapping[str, Callable[[ScheduledJob], Result]] = {
    book.Kind.CHECKUP: _checkup,
    book.Kind.VERIFY: _verify,
    book.Kind.EXPORT: _export,
    book.Kind.DIGEST: _digest,
}
