"""The tasks of the queue: they get ids, read the rows again, and do nothing if a row is gone."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager

from django.core.cache import cache
from django.db import DatabaseError

from dreams.lib.files.text import plural
from dreams.models import Project
from dreams.services import (
    dreaming,
    handing_over,
    host_request_worker,
    hosts,
    jobs,
    login,
    notify,
    secret_purge,
)
from dreams.services.catching import lifecycle as catching
from dreams.services.discovery import watching
from dreams.services.scheduling import scheduler
from dreams.services.search import index

log = logging.getLogger(__name__)


@contextmanager
def _ends_with_the_database() -> Iterator[None]:
    """Ends the process if the database is away, full or locked: its row says that it is running, which could not be changed.

    The queue starts another, and the next tick ends the work of a dead process; of a living one it would run for ever.
    """
    try:
        yield
    except DatabaseError as error:
        log.exception("a task of the queue was cut off")
        raise SystemExit(1) from error


def tick() -> str:
    """One round of the scheduler, after removing what has expired and taking the requests of other hosts."""
    for what, step in (
        ("failed tasks of the queue", hosts.forget_failures),
        ("expired browser sessions", login.forget_expired),
        ("requests of other hosts", host_request_worker.take),
        ("unfinished purges", secret_purge.finish_later),
    ):
        try:
            step()
        except Exception:
            log.exception(what)
    report = scheduler.tick()
    return f"{plural(report.evaluated, 'project')} judged, {plural(len(report.started), 'dream')} started"


def finish_purges() -> str:
    """Finishes what a purge had to leave."""
    return " ".join(secret_purge.resume()) or "nothing to do"


def look(folders: list[str]) -> str:
    """Reads projects whose folders changed, before their next check."""
    projects = watching.read_changed(folders)
    return f"{plural(len(projects), 'project')} checked"


def index_texts() -> str:
    """Adds texts to the search index for longer than a tick can."""
    waiting = index.catch_up(scheduler.INDEX_TASK_SECONDS)
    return f"{plural(waiting, 'text')} not indexed yet"


@_ends_with_the_database()
def run_dream(dream_pk: int) -> str:
    """Runs one pending dream, then starts the next project's. Runs once even if delivered twice."""
    dream = dreaming.run_dream(dream_pk)
    if dream is None:
        return "nothing to do"
    if dream.status != dream.Status.KILLED:  # a stopping server kills all, and must not start others
        scheduler.start_next_dreams()
    return f"{dream.public_id} {dream.status}"


def catch(project_pk: int) -> str:
    """Reads new parts of a project's quiet sessions for things to remember."""
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
    """Lets a model write hand-over notes. Runs once even if delivered twice."""
    asked = handing_over.run(asked_pk)
    return f"{asked.session}: {asked.get_status_display()}" if asked else "nothing to do"


@_ends_with_the_database()
def run_job(run_pk: int) -> str:
    """Executes one run of a job. Runs once even if delivered twice."""
    run = jobs.run_job(run_pk)
    return f"{run.label}: {run.get_status_display()}" if run else "nothing to do"


@_ends_with_the_database()
def carry_out(request_pk: int) -> str:
    """Executes the request of another host. Runs once even if delivered twice."""
    request = host_request_worker.carry_out(request_pk)
    return f"{request}: {request.get_state_display()}" if request else "nothing to do"


def retry_digests() -> str:
    """Sends failed digests again."""
    return "; ".join(notify.retry()) or "nothing to send"
