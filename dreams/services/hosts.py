"""Identifies installations ("hosts"). A project belongs to the host that has its files, and its work is queued there.

A host is a data directory with its queue, so two people on one computer are two hosts. Rows store its key, which does not
change when the computer is renamed; people see its name.
"""

import datetime as dt
import getpass
import os
import platform
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path

from django.conf import settings
from django.db import connection, transaction
from django.db.models import Count, Q, QuerySet
from django.db.models.functions import Now
from django.utils import timezone

from dreams.lib import amounts
from dreams.lib.files.text import is_folder
from dreams.lib.refusal import Refusal
from dreams.models import (
    HistoryFile,
    Host,
    JobRun,
    Memory,
    ModelRequest,
    Project,
    ScheduledJob,
    Version,
)
from dreams.models.prepared import prepared
from dreams.services import auditlog, database
from memoryweb import datadir

#: A host whose scheduler did not report for this long is away. It reports once a minute.
AWAY = dt.timedelta(minutes=3)
LONGEST_NAME = 200


class CannotAdopt(Refusal):
    """The host's data cannot be taken over; the message says why and what to do."""


def host() -> str:
    """This host's key."""
    return _key(os.fspath(settings.DATA_DIR))  # called for each of thousands of projects


@lru_cache(maxsize=8)
def _key(folder: str) -> str:
    return datadir.host_id(Path(folder))


def cluster_name(key: str) -> str:
    """The name of the queue that a host's cluster reads."""
    return f"{settings.Q_CLUSTER['name']}@{key}"


def enqueue(task: str, *args: object, name: str = "") -> None:
    """Adds a function of `dreams.tasks` to this host's queue; it may run twice."""
    from django_q.tasks import async_task  # noqa: PLC0415 - the queue's models need the app registry

    async_task(f"dreams.tasks.{task}", *args, cluster=cluster_name(host()), task_name=name)


def forget_failures() -> None:
    """Deletes this host's failed tasks, which the queue keeps forever and nobody sees: the log has their tracebacks."""
    from django_q.models import Failure  # noqa: PLC0415 - as above

    Failure.objects.filter(cluster=cluster_name(host())).delete()


# --- Names --------------------------------------------------------------------------------------------------------


def names() -> dict[str, str]:
    """Key → name of every host of this database. One query."""
    return dict(_names())


@prepared
def _names() -> QuerySet[Host, tuple[str, str]]:
    return Host.objects.values_list("key", "name")


def name_of(key: str) -> str:
    """The host's name. A key without a host is a name from before hosts had keys."""
    return names().get(key, key)


def key_of(name: str) -> str:
    """The key of the host called `name`; "" for none."""
    return Host.objects.filter(name=name).values_list("key", flat=True).first() or ""


@dataclass(frozen=True, slots=True)
class KnownHost:
    """A host as a person sees it. `last_seen` uses this machine's clock, not that host's."""

    key: str
    name: str
    is_here: bool
    last_seen: dt.datetime | None
    is_away: bool
    projects: int
    accepts: bool

    @property
    def seen(self) -> str:
        return (
            f"last seen {amounts.ago(self.last_seen, timezone.now())}" if self.last_seen else "not seen yet"
        )


def known() -> list[KnownHost]:
    """Every host of this database, by name. Two queries."""
    counted = Project.objects.filter(gone_at__isnull=True).order_by().values_list("host")
    projects = dict(counted.annotate(n=Count("pk")))
    return [_known(row, projects.get(row.key, 0)) for row in Host.objects.annotate(now=Now())]


def _known(row: Host, projects: int) -> KnownHost:
    now: dt.datetime = row.now  # type: ignore[attr-defined] # annotated by known
    silent = now - row.last_seen_at if row.last_seen_at else None
    return KnownHost(
        key=row.key,
        name=row.name,
        is_here=row.key == host(),
        last_seen=timezone.now() - silent if silent is not None else None,
        is_away=silent is None or silent > AWAY,
        projects=projects,
        accepts=row.accepts_requests,
    )


def away() -> QuerySet[Host]:
    """The other hosts whose scheduler did not report for too long, by the database's clock."""
    silent = Q(last_seen_at__isnull=True) | Q(last_seen_at__lt=Now() - AWAY)
    return Host.objects.filter(silent).exclude(key=host())


def note_seen() -> None:
    """Stores that this host's scheduler is running."""
    if not Host.objects.filter(key=host()).update(last_seen_at=Now()):
        register()


# --- Registering this host ----------------------------------------------------------------------------------------


def register() -> None:
    """Makes sure that this host has a row with the right name. One query when there is nothing to do.

    Data stored under this computer's name from before hosts had keys becomes this host's.
    """
    row = Host.objects.filter(key=host()).first()
    if row is not None and (row.name == settings.HOST_NAME or not settings.HOST_NAME):
        return
    with transaction.atomic():
        database.one_at_a_time("hosts")
        Host.objects.update_or_create(key=host(), defaults={"name": _free_name()})
        former = platform.node() or "localhost"
        if row is None and not Host.objects.filter(key=former).exists():
            _move(former, [project for project in Project.objects.filter(host=former) if _is_mine(project)])


def _free_name() -> str:
    """The configured name or the computer's; if it is taken, with the person's name or a number."""
    wanted, person = _wanted_name(), ""
    with suppress(KeyError, OSError):
        person = getpass.getuser()
    tries = [wanted, *([f"{person}@{wanted}"] if person else []), *(f"{wanted}-{n}" for n in range(2, 1000))]
    taken = set(Host.objects.exclude(key=host()).values_list("name", flat=True))
    return next(name[:LONGEST_NAME] for name in tries if name[:LONGEST_NAME] not in taken)


def _wanted_name() -> str:
    return settings.HOST_NAME or platform.node() or "localhost"


def before_another_id() -> str:
    """The name of an absent host with this one's name and folders: this one before its `host_id` was replaced. Else ""."""
    name = _wanted_name()
    if not any(one.name == name and one.is_away and not one.is_here for one in known()):
        return ""
    folders = Project.objects.filter(host=key_of(name), gone_at__isnull=True).values_list(
        "memory_dir", flat=True
    )
    return name if any(is_folder(folder) for folder in folders) else ""


def _is_mine(project: Project) -> bool:
    """Whether the project is this person's. A database file has one user; on a server, two people on one computer once shared
    its name, so the folder's owner decides."""
    if connection.vendor == "sqlite":
        return True
    try:
        return Path(project.root or project.memory_dir).stat().st_uid == os.getuid()
    except OSError:
        return False


# --- Taking over a former host ------------------------------------------------------------------------------------


@dataclass(slots=True)
class Adopted:
    """Slugs of the projects that moved to this host; those in `left` were used under both names and did not move."""

    moved: list[str] = field(default_factory=list)
    left: list[str] = field(default_factory=list)


def adopt(former: str, actor: str) -> Adopted:
    """Moves all data of the host called `former` to this host. Raises CannotAdopt."""
    register()
    found = {one.name: one for one in known()}
    key = found[former].key if former in found else former
    rows = Project.objects.filter(host=key)
    if key == host():
        raise CannotAdopt(f"{former} is this host.")
    if former in found and not found[former].is_away:
        raise CannotAdopt(
            f"{former} is running. Stop it there first, or it will find all its projects again."
        )
    if former not in found and not rows.exists() and not ScheduledJob.objects.filter(host=key).exists():
        others = ", ".join(sorted({*found, *unnamed()} - {name_of(host())})) or "none"
        raise CannotAdopt(f"No host is called {former}. Others in this database: {others}.")
    with transaction.atomic():
        database.one_at_a_time("hosts")
        done = _move(key, rows)
        auditlog.record(
            "host.adopted", actor=actor, object_id=former, moved=len(done.moved), left=len(done.left)
        )
    return done


def unnamed() -> set[str]:
    """Host values in rows that match no host: names from before hosts had keys."""
    return set(Project.objects.order_by().values_list("host", flat=True).distinct()) - set(names())


def _move(former: str, projects: Iterable[Project]) -> Adopted:
    done = Adopted()
    for project in projects:
        twin = Project.objects.filter(host=host(), memory_dir=project.memory_dir).first()
        if twin is not None and _was_worked_on(twin):
            done.left.append(project.slug)
            continue
        if twin is not None:
            _keep_what_was_seen(twin, project)
            twin.delete()  # only discovery wrote it: the next one updates the older row
        Project.objects.filter(pk=project.pk).update(host=host())
        done.moved.append(project.slug)
    jobs = ScheduledJob.objects.filter(host=former).exclude(project__host=former)
    JobRun.objects.filter(host=former, job__in=jobs).update(host=host())
    jobs.update(host=host())
    _move_prompts(former)
    _forget_queue(former)
    if not Project.objects.filter(host=former).exists():
        JobRun.objects.filter(host=former).update(host=host())
        Host.objects.filter(key=former).delete()
    return done


def _was_worked_on(project: Project) -> bool:
    made = ("dreams", "proposals", "jobs", "overrides", "policies", "requests")
    return (
        any(getattr(project, rows).exists() for rows in made)
        or project.cards.filter(decided_at__isnull=False).exists()
        or project.sessions.filter(notes_requests__isnull=False).exists()
    )


_OF_LAST_VERSION = [one.name for one in Memory._meta.concrete_fields if one.name not in ("id", "project")]


def _keep_what_was_seen(twin: Project, project: Project) -> None:
    """The costs, and the versions that `project` has not. Their bytes are in the database and in the history of `twin`, which stays
    on disk; the next discovery commits the last ones to that of `project`."""
    ModelRequest.objects.filter(project=twin).update(project=project)
    known = {row.path: row for row in project.memories.all()}
    for memory in twin.memories.all():
        row = known.get(memory.path)
        seen = list(memory.versions.order_by("number"))
        last = row.versions.order_by("-number").first() if row else None
        if last and seen and seen[0].sha256 == last.sha256:
            del seen[0]
        if not seen:
            continue
        row = row or Memory(project=project)
        for name in _OF_LAST_VERSION:
            setattr(row, name, getattr(memory, name))
        row.save()
        for number, version in enumerate(seen, start=last.number + 1 if last else 1):
            Version.objects.filter(pk=version.pk).update(memory=row, number=number)
    project.memories.update(inode=0)  # no file has it, so that all are looked at


def _move_prompts(former: str) -> None:
    """Moves how far the agent's prompt history was read, for the config folders whose projects moved."""
    roots = Project.objects.filter(host=host()).order_by().values("root")
    rows = HistoryFile.objects.filter(host=former, root__in=roots)
    HistoryFile.objects.filter(host=host(), root__in=list(rows.values_list("root", flat=True))).delete()
    rows.update(host=host())


def _forget_queue(former: str) -> None:
    """Deletes the former host's queue, which nobody reads any more; dreams that waited in it are queued again."""
    from django_q.models import OrmQ, Schedule  # noqa: PLC0415 - the queue reads its settings on import

    OrmQ.objects.filter(key=cluster_name(former)).delete()
    Schedule.objects.filter(cluster=cluster_name(former)[:100]).delete()


def name_secrets() -> None:
    """Makes findings name secrets with this host's key: the names are the same in every process and reveal nothing without the
    key. Call it before running findings with a database."""
    from dreams.findings import secrets  # noqa: PLC0415 - a second to load, and most commands only ask which host this is

    secrets.use_key(settings.SECRET_KEY.encode())
