"""`export PROJECT FILE`: a project's full history as one git bundle."""

from dreams.lib.storage import history
from dreams.management import base, named
from dreams.services import lookup
from dreams.services.memories import exports


class Command(base.Command):
    help = "Write a project's history as a git bundle (`git clone FILE` reads it)."

    def arguments(self, parser: base.CommandParser) -> None:
        named.add_project(parser)
        parser.add_argument("file", type=base.some_path, metavar="FILE")

    def run(self, options: base.Options) -> base.Result:
        project = lookup.project(options["project"])
        target = base.path(options["file"])
        try:
            exports.write(project, target)
        except history.HistoryError as error:
            raise base.Refused(f"{target} was not written: {error}") from error
        except OSError as error:
            raise base.Refused(base.refusal(error, target)) from error
        return {"project": project.slug, "file": str(target), "bytes": target.stat().st_size}

    def words(self, result: base.Result) -> base.Words:
        yield f"{result['project']}: {result['bytes']:,} bytes in {result['file']}"
