"""`checkup PROJECT`: findings about the current memories."""

from collections import Counter
from contextlib import suppress

from dreams.findings import prompt_injection
from dreams.lib.files.text import plural
from dreams.lib.secrets.redact import redact
from dreams.management import base, named
from dreams.services import lookup
from dreams.services.memories import checkup, said_again, syncing
from dreams.services.questions import shown_questions

MOST_ALIKE = 3  # hints of a kind that are printed


class Command(base.Command):
    help = "Check a project's memories as they are now: secrets, hidden text, lost rows, the index budget."

    def arguments(self, parser: base.CommandParser) -> None:
        named.add_project(parser)

    def run(self, options: base.Options) -> base.Result:
        project = lookup.project(options["project"])
        with suppress(OSError):  # one of the findings, then
            syncing.refresh_if_here(project)
        made = checkup.check(project)
        names = ("code", "severity", "path", "message", "remedy")
        return {
            "project": project.slug,
            "files": made.files,
            "findings": [{**base.fields(one, *names), "line": one.line_no} for one in made.found],
            "said_again": [_said_again(one) for one in said_again.listed(project)],
            "no_longer_asked": [
                {"id": row.public_id, "kind": row.kind, "why": redact(row.why)}
                for row in shown_questions.no_longer_asked(project)
            ],
        }

    def words(self, result: base.Result) -> base.Words:
        if not result["findings"]:
            yield f"{result['project']}: no problems in {plural(result['files'], 'file')}."
        hints = Counter(one["code"] for one in result["findings"] if _is_hint(one))
        printed = Counter[str]()
        for one in result["findings"]:
            code = one["code"]
            printed[code] += _is_hint(one)
            if not _is_hint(one) or printed[code] <= MOST_ALIKE:
                yield from named.words(one)
            elif printed[code] == hints[code]:
                more = plural(hints[code] - MOST_ALIKE, "more hint")
                yield f"       … and {more} of this kind; --json lists all."
        for one in result["said_again"]:
            yield f"{one['path']}:{one['line']}: you said this again ({plural(one['times'], 'time')}): {one['text']} {one['remedy']}"
        for one in result["no_longer_asked"]:
            yield f"{one['id']} {one['kind']}: {one['why']}"
        if result["no_longer_asked"]:
            yield (
                "These are no longer asked, because most answers of their kind left things as they were. "
                f"`answer {result['project']} QUESTION OPTION` still answers one."
            )


def _said_again(one: said_again.StatementSaidAgain) -> base.Result:
    return {
        **base.fields(one, "path", "loaded", "remedy"),
        "line": one.line_no,
        "text": redact(one.statement),
        "times": len(one.prompts),
        "prompts": [
            {
                "session": quote.prompt.session.session_id,
                "line": quote.prompt.line_no,
                "at": quote.prompt.at,
                "text": redact(quote.text),
            }
            for quote in one.quotes
        ],
    }


def _is_hint(found: base.Result) -> bool:
    """Whether many of its kind may be left out; never what could steer an agent."""
    return found["severity"] == "info" and found["code"] not in prompt_injection.COULD_STEER
