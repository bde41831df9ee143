"""Finds git histories that are missing from the data directory or damaged, and what is lost with them."""

import datetime as dt
from dataclasses import dataclass

from django.db.models import Exists, OuterRef, QuerySet
from django.utils import timezone

from dreams.lib.storage import history
from dreams.models import AuditEntry, Blob, Project, Version
from dreams.models.prepared import prepared
from dreams.services import auditlog, hosts
from dreams.services.auditlog import Actor
from dreams.services.memories import syncing


@dataclass(frozen=True, slots=True)
class LostHistory:
    """`begun_at`: when a new one was begun; None while it is missing or damaged. `texts`: how many versions lost their text.
    `damage`: the error on reading it; no change can be saved then."""

    begun_at: dt.datetime | None
    texts: int
    damage: str = ""


def of(project: Project) -> LostHistory | None:
    """None if the history exists or was imported again, and for a project of another host."""
    if project.host != hosts.host():
        return None
    last = max((row[1:] for row in _events() if row[0] == project.pk), default=None)
    damage = _damage(project)
    begun_at = last[1] if last and last[2] == "history.begun_anew" and not damage else None
    if begun_at is None and not damage and not is_missing(project):
        return None
    versions = Version.objects.filter(memory__project=project).exclude(sha256="")
    without = versions.exclude(Exists(Blob.objects.filter(sha256=OuterRef("sha256"))))
    return LostHistory(begun_at, without.count(), damage)


def set_aside(project: Project, by: Actor) -> str:
    """Rename a damaged history, so that an export can be imported or a new one begins. Returns its new name; empty if it
    is not damaged. Raises OSError."""
    if project.host != hosts.host() or not _damage(project):
        return ""
    path = syncing.history_path(project)
    aside = path.with_suffix(f".damaged-{timezone.now():%Y%m%d-%H%M%S}")
    path.rename(aside)
    auditlog.record("history.set_aside", actor=by, project=project, object_id=aside.name)
    return aside.name


def _damage(project: Project) -> str:
    """The error on reading the newest state and the index of texts, as each change does. `verify` reads everything."""
    try:
        if (path := syncing.history_path(project)).exists():
            with history.HistoryStore(path) as store:
                store.log(1)
                store.has("0" * 64)
    except history.HistoryError as error:
        return str(error.args[0])
    return ""


def is_missing(project: Project) -> bool:
    """Whether the project has versions but no history."""
    return (
        not syncing.history_path(project).exists()
        and Version.objects.filter(memory__project=project).exists()
    )


@prepared
def _events() -> QuerySet[AuditEntry, tuple[int | None, int, dt.datetime, str]]:
    """Of all projects: such entries are few, while all entries of one project may be many."""
    rows = AuditEntry.objects.filter(action__in=["history.begun_anew", "history.imported"]).order_by()
    return rows.values_list("project_id_was", "number", "at", "action")
