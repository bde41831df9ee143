"""Git histories that are gone from the data directory, and what is lost with them."""

import datetime as dt
from dataclasses import dataclass

from django.db.models import Exists, OuterRef, QuerySet

from dreams.models import AuditEntry, Blob, Project, Version
from dreams.models.prepared import prepared
from dreams.services import hosts
from dreams.services.memories import syncing


@dataclass(frozen=True, slots=True)
class LostHistory:
    """`begun_at`: when a new one was begun; None while it is missing. `texts`: versions whose text is nowhere now."""

    begun_at: dt.datetime | None
    texts: int


def of(project: Project) -> LostHistory | None:
    """None where the history is there, or was brought back. A project of another host is not judged here."""
    if project.host != hosts.host():
        return None
    last = max((row[1:] for row in _events() if row[0] == project.pk), default=None)
    begun_at = last[1] if last and last[2] == "history.begun_anew" else None
    if begun_at is None and not is_missing(project):
        return None
    versions = Version.objects.filter(memory__project=project).exclude(sha256="")
    without = versions.exclude(Exists(Blob.objects.filter(sha256=OuterRef("sha256"))))
    return LostHistory(begun_at, without.count())


def is_missing(project: Project) -> bool:
    """Whether there should be one, and is none."""
    return (
        not syncing.history_path(project).exists()
        and Version.objects.filter(memory__project=project).exists()
    )


@prepared
def _events() -> QuerySet[AuditEntry, tuple[int | None, int, dt.datetime, str]]:
    """Of all projects, which are few: the entries of one project alone may be many."""
    rows = AuditEntry.objects.filter(action__in=["history.begun_anew", "history.imported"]).order_by()
    return rows.values_list("project_id_was", "number", "at", "action")
