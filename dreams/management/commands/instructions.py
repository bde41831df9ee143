"""`instructions PROJECT`: the instruction files that an agent loads, in order, with their problems."""

from dreams.management import base, named
from dreams.services import lookup
from dreams.services.memories import instructions


class Command(base.Command):
    help = "List the instruction files (CLAUDE.md, what it includes, rules) that an agent loads, in loading order."

    def arguments(self, parser: base.CommandParser) -> None:
        named.add_project(parser)
        parser.add_argument(
            "--cwd",
            metavar="DIR",
            type=base.some_text,
            help="a folder of the repository; else its top",
        )

    def run(self, options: base.Options) -> base.Result:
        project = lookup.project(options["project"])
        report = instructions.report(project, options["cwd"] or "")
        return {"files": [_row(one) for one in report.files], "bytes": report.bytes, "tokens": report.tokens}

    def words(self, result: base.Result) -> base.Words:
        if not result["files"]:
            return ["No instruction files are loaded here."]
        head = ("File", "Scope", "Bytes", "Tokens", "Loaded", "Problems")
        rows = [
            (
                "  " * one["depth"] + one["name"],
                one["scope"],
                one["bytes"],
                one["tokens"],
                f"at {one['when']}" if one["when"] else "always",
                "; ".join(one["problems"]),
            )
            for one in result["files"]
        ]
        return [*base.table(head, rows), f"{result['tokens']:,} tokens are loaded in every session."]


def _row(one: instructions.CheckedFile) -> base.Result:
    return {
        **base.fields(one, "name", "tokens", "problems"),
        **base.fields(one.file, "path", "scope", "depth", "line", "when"),
        "included_by": one.file.included_by or None,
        "bytes": one.file.size,
    }
