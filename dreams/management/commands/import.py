"""`import FILE`: restore a project's history from an export."""

from dreams.lib.files.text import plural
from dreams.management import base, named
from dreams.services.memories import exports


class Command(base.Command):
    help = "Import a project's history from a file written by `export`. Memory files are not changed."

    def arguments(self, parser: base.CommandParser) -> None:
        parser.add_argument("file", type=base.some_path, metavar="FILE")
        parser.add_argument(
            "--project",
            metavar="PROJECT",
            help="the project to import into (default: the one named in the file)",
        )

        parser.add_argument(
            "--purge",
            action="store_true",
            help="remove from what is stored here, for good, the secrets that were purged before the file was made",
        )

    def run(self, options: base.Options) -> base.Result:
        project = named.any_project(options["project"])
        done = exports.bring_back(base.path(options["file"]), named.me(), project, purge=options["purge"])
        counts = {"states": done.states, "versions": done.versions, "purged": done.purged}
        return {"project": done.project.slug, **counts}

    def words(self, result: base.Result) -> base.Words:
        states, versions = plural(result["states"], "state"), plural(result["versions"], "version")
        yield f"{result['project']}: {states}, {versions} new here."
        if result["purged"]:
            yield f"A secret that was purged before the export was made was removed from {plural(result['purged'], 'stored text')} here."
