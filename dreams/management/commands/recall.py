"""`recall PROJECT QUESTION`: what an agent would load for a question."""

from dreams.lib.amounts import money
from dreams.lib.prose import recall
from dreams.management import base, named
from dreams.services import lookup, recalling


class Command(base.Command):
    help = "Show which memories an agent would open for a question, and why each was or was not chosen."

    def arguments(self, parser: base.CommandParser) -> None:
        named.add_project(parser)
        parser.add_argument("question", metavar="QUESTION", help="as you would ask your agent")
        parser.add_argument(
            "--shown",
            metavar="PATH",
            action="append",
            default=[],
            help="a memory that the session has already been shown; may be given several times",
        )
        parser.add_argument("--tools", metavar="A,B", default="", help="tools in use, separated by commas")

    def run(self, options: base.Options) -> base.Result:
        question = " ".join(options["question"].split())
        if not question:
            raise base.BadUsage("The question is empty.")
        project = lookup.project(options["project"])
        files = recalling.fresh(project)
        shown = [path for path in options["shown"] if path in files]
        tools = [tool.strip() for tool in options["tools"].split(",") if tool.strip()]
        seen = recall.LoadedSoFar(shown, sum(len(files[path]) for path in shown), tools)
        return recalling.as_json(recalling.ask(project, files, question, seen))

    def words(self, result: base.Result) -> base.Words:
        for one in result["chosen"]:
            yield base.in_one_line(
                f"{one['path']}: {one['why']}, {one['age']}{', its beginning' * one['cut']}"
            )
        if not result["chosen"]:
            yield "No memory would be opened."
        yield from (base.in_one_line(f"not {one['path']}: {one['why']}") for one in result["left_out"])
        cost = "" if result["cost_usd"] is None else f", {money(result['cost_usd'])}"
        yield f"Chosen by {result['chosen_by']}{cost}. {result['note']}".rstrip()
        yield f"{result['bytes']:,} bytes, and {result['index_bytes']:,} of the index."
