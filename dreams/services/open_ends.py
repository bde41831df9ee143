"""The tasks that agents left unfinished in a project, as its page and the command show them. Read-only."""

from __future__ import annotations

from collections.abc import Iterable

from django.db.models import Exists, OuterRef, Q, QuerySet

from dreams.models import OpenEnd, Project, Session


def of_project(project: Project) -> QuerySet[OpenEnd]:
    """Of the newest session first, and in the agent's order within it.

    A session that was resumed in another file took its tasks along: they are told once, as the newer one left them.
    """
    later = Q(touched_at__gt=OuterRef("session__touched_at")) | Q(
        touched_at=OuterRef("session__touched_at"), pk__gt=OuterRef("session_id")
    )
    resumed = Session.objects.filter(
        later, root_key=OuterRef("session__root_key"), project=OuterRef("session__project")
    )
    rows = OpenEnd.objects.filter(~Exists(resumed), session__project=project)
    return rows.order_by("-session__touched_at", "-session_id", "number")


def of_sessions(sessions: Iterable[int]) -> dict[int, list[OpenEnd]]:
    """The tasks of each, for search: a session is found by what it left unfinished. One query."""
    found: dict[int, list[OpenEnd]] = {}
    for row in OpenEnd.objects.filter(session__in=list(sessions)).order_by("session", "number"):
        found.setdefault(row.session_id, []).append(row)
    return found
