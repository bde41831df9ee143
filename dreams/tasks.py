"""What the queue calls: ids in, rows read anew, a quiet return when the row is gone."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager

from django.core.cache import cache
from django.db import DatabaseError

from dreams.lib.files.text import plural
from dreams.models import Project
from dreams.services import database, dreaming, handing_over, host_request_worker, jobs, notify
from dreams.services.catching import lifecycle as catching
from dreams.services.discovery import watching
from dreams.services.scheduling import scheduler
from dreams.services.search import index

log = logging.getLogger(__name__)


@contextmanager
def _ends_with_the_database() -> Iterator[None]:
    """A row says that this process is at work on it, and nobody could be told otherwise: the process ends.

    The queue starts another, and the next tick ends what a process had that is gone, instead of waiting for its lease.
    """
    try:
        yield
    except DatabaseError as error:
        if not database.is_away(error):
            raise
        log.exception("a task of the queue was cut off")
        raise SystemExit(1) from error


def tick() -> str:
    """One round of the scheduler, and of what other hosts ask of this one."""
    try:
        host_request_worker.take()
    except Exception:
        log.exception("requests of other hosts")
    report = scheduler.tick()
    return f"{plural(report.evaluated, 'project')} judged, {plural(len(report.started), 'dream')} started"


def look(folders: list[str]) -> str:
    """Read the projects whose folders changed, ahead of their next check."""
    projects = watching.look(folders)
    return f"{plural(len(projects), 'project')} checked"


def index_texts() -> str:
    """Take more texts into the search index than a tick has room for."""
    waiting = index.catch_up(scheduler.INDEX_TASK_SECONDS)
    return f"{plural(waiting, 'text')} not indexed yet"


@_ends_with_the_database()
def run_dream(dream_pk: int) -> str:
    """Run one pending dream, and start the next project's when it has ended. Handed out twice, it runs once."""
    dream = dreaming.run_dream(dream_pk)
    if dream is None:
        return "nothing to do"
    if dream.status != dream.Status.KILLED:  # as all are when the server stops, and nothing may start then
        scheduler.go_on()
    return f"{dream.public_id} {dream.status}"


def catch(project_pk: int) -> str:
    """Read what is new in a project's quiet sessions for what the person said."""
    cache.delete(catching.in_queue(project_pk))
    project = Project.objects.filter(pk=project_pk).first()
    if project is None:
        return "nothing to do"
    found = catching.catch(project)
    return (
        found.closed
        or f"{plural(len(found.read), 'session')} read, {len(found.cards)} caught. {found.stopped}".rstrip()
    )


@_ends_with_the_database()
def write_notes(asked_pk: int) -> str:
    """Have a model write hand-over notes. Handed out twice, it writes once."""
    asked = handing_over.run(asked_pk)
    return f"{asked.session}: {asked.get_status_display()}" if asked else "nothing to do"


@_ends_with_the_database()
def run_job(run_pk: int) -> str:
    """Do one run of a job. Handed out twice, it is done once."""
    run = jobs.run_job(run_pk)
    return f"{run.label}: {run.get_status_display()}" if run else "nothing to do"


@_ends_with_the_database()
def carry_out(request_pk: int) -> str:
    """Do what was asked on another host. Handed out twice, it is done once."""
    request = host_request_worker.carry_out(request_pk)
    return f"{request}: {request.get_state_display()}" if request else "nothing to do"


def retry_digests() -> str:
    """Send the digests again that did not go out."""
    return "; ".join(notify.retry()) or "nothing to send"
