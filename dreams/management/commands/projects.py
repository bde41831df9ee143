"""`projects`: the projects that are known."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable, Mapping
from typing import Any

from django.core.management.base import CommandParser
from django.db.models import Count, IntegerField, OuterRef, QuerySet, Subquery
from django.db.models.functions import Coalesce
from django.utils import timezone

from dreams.lib import ages
from dreams.management import base
from dreams.models import COUNTED_MEMORIES, COUNTED_SESSIONS, Memory, Project, Session
from dreams.services import hosts


class Command(base.Command):
    help = "List all known projects: slug, memory directory, sessions, memories, last dream."

    def arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--host", metavar="NAME", help="those of another host; `all` for every host")

    def run(self, options: Mapping[str, Any]) -> Mapping[str, Any]:
        names = hosts.names()
        return {"projects": [_row(project, names) for project in present(_wanted(options["host"]))]}

    def words(self, result: Mapping[str, Any]) -> Iterable[str]:
        rows = result["projects"]
        if not rows:
            return ["No projects are known yet. `discover` looks for them."]
        now = timezone.now()
        several = len({row["host"] for row in rows}) > 1
        head = ("Id", "Slug", "Sessions", "Memories", "Last dream", "Memory directory")
        keys = ("id", "slug", "sessions", "memories")
        return base.table(
            (*head, "Host") if several else head,
            [
                (
                    *(row[key] for key in keys),
                    _age(row["last_consolidated_at"], now),
                    row["memory_dir"],
                    *([row["host"]] if several else []),
                )
                for row in rows
            ],
        )


def _wanted(name: str | None) -> str:
    """The key of the host, this one's without a name, "" for all. Raises Refused."""
    if not name:
        return hosts.host()
    key = "" if name == "all" else hosts.key_of(name)
    if not key and name != "all":
        raise base.Refused(f"No host is called {name}. `hosts` lists them.")
    return key


def present(host: str) -> QuerySet[Project]:
    """The projects that are not gone, of one host (by its key) or of all, with `session_count` and `memory_count`. One
    query."""
    memories = Memory.objects.filter(COUNTED_MEMORIES)
    sessions = Session.objects.filter(COUNTED_SESSIONS)
    return (
        Project.objects.filter(gone_at__isnull=True, **({"host": host} if host else {}))
        .annotate(session_count=_count(sessions), memory_count=_count(memories))
        .order_by("name", "slug", "pk")
    )


def _count(rows: QuerySet[Any]) -> Coalesce:
    mine = rows.filter(project=OuterRef("pk")).order_by()
    counted = mine.values("project").annotate(total=Count("pk")).values("total")
    return Coalesce(Subquery(counted, output_field=IntegerField()), 0)


def _row(project: Any, names: Mapping[str, str]) -> dict[str, object]:
    return {
        "id": project.pk,
        "slug": project.slug,
        "name": project.name,
        "agent": project.agent_name or None,
        "scope": project.scope or None,
        "host": names.get(project.host, project.host),
        "memory_dir": project.memory_dir,
        "sessions": project.session_count,
        "memories": project.memory_count,
        "last_consolidated_at": project.last_consolidated_at,
    }


def _age(moment: dt.datetime | None, now: dt.datetime) -> str:
    return ages.ago(moment, now) if moment else "never"
