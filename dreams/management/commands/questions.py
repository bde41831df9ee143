"""`questions DREAM|PROJECT`: the questions for the person."""

from dreams.lib.files.text import plural
from dreams.management import base, named
from dreams.models import DreamRun
from dreams.services.questions import asking, shown_questions


class Command(base.Command):
    help = "List the questions of a dream or project, and what each answer would change."

    def arguments(self, parser: base.CommandParser) -> None:
        named.add_dream_or_project(parser)
        parser.add_argument(
            "--all", action="store_true", help="also questions not shown yet, answered and outdated ones"
        )
        parser.add_argument("--more", action="store_true", help="first show the next seven questions")
        named.add_show_secrets(parser)

    def run(self, options: base.Options) -> base.Result:
        found = named.dream_or_project(options["of"])
        project = found.project if isinstance(found, DreamRun) else found
        if options["more"]:
            asking.show_more(project)
        listed = (
            shown_questions.of_dream(found, everything=options["all"])
            if isinstance(found, DreamRun)
            else shown_questions.of_project(project, everything=options["all"])
        )
        return {
            "questions": shown_questions.as_json(listed, is_bare=options["show_secrets"]),
            "more": asking.unshown(project).count(),
            "no_longer_asked": sorted(asking.muted_kinds(project)),
        }

    def words(self, result: base.Result) -> base.Words:
        for one in result["questions"]:
            yield from _question(one)
        if not result["questions"]:
            yield "No question is shown yet." if result["more"] else "No questions."
        if result["more"]:
            yield f"{plural(result['more'], 'more question')}: `questions … --more` shows the next."
        for kind in result["no_longer_asked"]:
            yield f"Questions of kind {kind} are no longer asked here: most answers left things as they were."


def _question(one: base.Result) -> base.Words:
    yield f"{one['id']} [{one['state']}] {one['kind']}: {one['why']}"
    for place in one["places"]:
        line = f", line {place['line']}" if place["line"] else ""
        yield f"    {place['session'] or place['path']}{line}: {place['text']}"
    yield from (f"    {cited['path']}: {cited['note']}" for cited in one["evidence"] if cited["note"])
    for option in one["options"]:
        mark = "*" if option["id"] == one["answer"] else " "
        yield f"  {mark} {option['id']}: {option['label']}"
        yield from (f"      {line}" for line in option["diff"].splitlines())
    yield ""
