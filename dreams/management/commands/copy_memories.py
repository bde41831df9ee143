"""`copy_memories FROM TO`: propose the memories of one project to another, for example after a repository was moved."""

from dreams.lib.files import safefs
from dreams.management import base, named
from dreams.services.memories import moved


class Command(base.Command):
    help = "Propose the memories of one project to another, for example after its repository was moved."

    def arguments(self, parser: base.CommandParser) -> None:
        for name, metavar in (("source", "FROM"), ("target", "TO")):
            parser.add_argument(name, metavar=metavar, help="slug, memory directory or id of a project")

    def run(self, options: base.Options) -> base.Result:
        source, target = named.project(options["source"]), named.project(options["target"])
        try:
            made = moved.propose(source, target, named.me())
        except (safefs.SafeFsError, OSError) as error:
            raise base.Refused(str(error)) from error
        return {"proposal": made.public_id if made else None, "summary": made.summary if made else ""}

    def words(self, result: base.Result) -> base.Words:
        if result["proposal"] is None:
            return ["All of its memories are already there."]
        return [f"Proposal {result['proposal']}: {result['summary']} Nothing is written yet."]
