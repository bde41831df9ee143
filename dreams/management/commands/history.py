"""`history PROJECT [PATH]`: every kept version."""

from dreams.management import base, named
from dreams.models import Version
from dreams.services import lookup
from dreams.services.memories import exports

LIMIT = 10_000  # rows at once; chosen


class Command(base.Command):
    help = "List the versions of a project's memories, newest first."

    def arguments(self, parser: base.CommandParser) -> None:
        named.add_project(parser)
        parser.add_argument("path", nargs="?", metavar="PATH")
        parser.add_argument("--limit", type=base.limit, default=200, help=f"rows, at most {LIMIT}")

    def run(self, options: base.Options) -> base.Result:
        project = lookup.project(options["project"])
        exports.refresh_if_possible(project)
        rows = Version.objects.filter(memory__project=project).select_related("memory", "proposal__dream")
        if options["path"]:
            rows = rows.filter(memory__path=options["path"]).order_by("-number", "-pk")
            if not rows.exists():
                raise base.Refused(
                    f"{project.slug} never had a memory {options['path']}. `history {project.slug}` lists them."
                )
        rows = rows[: min(options["limit"], LIMIT)]
        return {"project": project.slug, "versions": [_shown(row) for row in rows]}

    def words(self, result: base.Result) -> base.Words:
        rows = [
            (v["at"].isoformat(), v["origin"], v["sha256"][:12] if v["sha256"] else "(removed)", v["path"])
            for v in result["versions"]
        ]
        return base.table(("when", "how", "version", "memory"), rows)


def _shown(row: Version) -> base.Result:
    return {
        "version": row.sha256 or None,
        "path": row.memory.path,
        "sha256": row.sha256 or None,
        **base.fields(row, "size", "at", "origin", "actor"),
        "proposal": row.proposal.public_id if row.proposal else None,
        "dream": row.proposal.dream.public_id if row.proposal and row.proposal.dream else None,
    }
