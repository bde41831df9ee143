"""`projects`: the known projects."""

from collections.abc import Mapping

from django.utils import timezone

from dreams.lib import amounts
from dreams.management import base
from dreams.models import COUNTED_MEMORIES, COUNTED_SESSIONS, Memory, Project, Session
from dreams.services import hosts
from dreams.services.cached_counts import per_project


class Command(base.Command):
    help = "List all known projects: slug, memory directory, sessions, memories, last dream."

    def arguments(self, parser: base.CommandParser) -> None:
        parser.add_argument(
            "--host",
            metavar="NAME",
            type=base.some_text,
            help="only projects of this host; `all` for every host",
        )

    def run(self, options: base.Options) -> base.Result:
        names, host = hosts.names(), _wanted(options["host"])
        memories = dict(per_project(Memory.objects.filter(COUNTED_MEMORIES)))
        sessions = dict(per_project(Session.objects.filter(COUNTED_SESSIONS)))
        rows = Project.objects.filter(gone_at__isnull=True, **({"host": host} if host else {}))
        return {
            "projects": [
                _row(row, names, sessions.get(row.pk, 0), memories.get(row.pk, 0))
                for row in rows.order_by("name", "slug", "pk")
            ]
        }

    def words(self, result: base.Result) -> base.Words:
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
                    amounts.ago(row["last_consolidated_at"], now) if row["last_consolidated_at"] else "never",
                    row["memory_dir"],
                    *([row["host"]] if several else []),
                )
                for row in rows
            ],
        )


def _wanted(name: str | None) -> str:
    """The key of the named host; this host's without a name, "" for all. Raises Refused."""
    if not name:
        return hosts.host()
    key = "" if name == "all" else hosts.key_of(name)
    if not key and name != "all":
        raise base.Refused(f"No host is called {name}. `hosts` lists them.")
    return key


def _row(project: Project, names: Mapping[str, str], sessions: int, memories: int) -> base.Result:
    return {
        **base.fields(project, "id", "slug", "name", "memory_dir", "last_consolidated_at"),
        "agent": project.agent_name or None,
        "scope": project.scope or None,
        "host": names.get(project.host, project.host),
        "sessions": sessions,
        "memories": memories,
    }
