"""What a dream would read: the sessions that are new to it, and a fingerprint of all its inputs.

No change in the inputs means no dream, and never a call to a model.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable

from django.db.models import F, QuerySet

from dreams import conf
from dreams.models import LeftOut, Project, Session

MAX_SESSIONS = 500


def new_sessions(project: Project) -> QuerySet[Session]:
    """Sessions with bytes that no submitted proposal has learnt from, newest first; not the dreams' own."""
    return project.sessions.filter(gone_at__isnull=True, own=False, size__gt=F("used_bytes")).order_by(
        "-touched_at"
    )


def fingerprint(project: Project) -> str:
    """A digest of memories, new sessions, what stays out and the engine. Two queries and no disk."""
    digest = hashlib.sha256()
    for row in _rows(project):
        digest.update("\0".join(map(str, row)).encode("utf-8", "surrogatepass") + b"\n")
    return digest.hexdigest()


def _rows(project: Project) -> Iterable[tuple[object, ...]]:
    yield ("engine", conf.current(project).engine)
    yield from project.memories.filter(gone_at__isnull=True).order_by("path").values_list("path", "sha256")
    yield from (
        new_sessions(project)
        .order_by("session_id")
        .values_list("session_id", "used_bytes", "size")[:MAX_SESSIONS]
    )
    yield from (
        LeftOut.objects.filter(project=project).order_by("pk").values_list("path", "hunk_id", "inputs_key")
    )
