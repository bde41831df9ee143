"""`answer DREAM|PROJECT QUESTION OPTION`: answer a question with one of its options."""

from dreams.management import base, named
from dreams.models import DreamRun, Question
from dreams.services.questions import answering

UNDO = "undo"


class Command(base.Command):
    help = "Answer an open question. Nothing is written until `apply`."

    def arguments(self, parser: base.CommandParser) -> None:
        named.add_dream_or_project(parser)
        parser.add_argument("question", metavar="QUESTION", help="id of a question of the project")
        parser.add_argument(
            "option",
            metavar="OPTION",
            help="id of an option; `later` for not now; `undo` to undo the answer",
        )
        parser.add_argument(
            "--row",
            action="append",
            default=[],
            metavar="PATH",
            help="for questions about the index: path of a row to change; may be repeated (default: all rows)",
        )
        parser.add_argument(
            "--confirm-findings",
            action="store_true",
            help="confirm blocking findings: you have read them and still want this answer",
        )

    def run(self, options: base.Options) -> base.Result:
        found = named.dream_or_project(options["of"])
        project = found.project if isinstance(found, DreamRun) else found
        question = project.questions.filter(public_id=options["question"]).first()
        if question is None:
            raise base.Refused(
                f"{project} has no question {options['question']!r}. `questions {options['of']}` lists them."
            )
        done = self._answered(question, options)
        return {
            "question": done.question.public_id,
            "operation": done.operations[0].key if done.operations else None,
            "proposal": done.proposal.public_id if done.proposal else None,
            "state": done.question.state,
        }

    def _answered(self, question: Question, options: base.Options) -> answering.Answered:
        if options["option"] == UNDO:
            return answering.Answered(answering.take_back(question, named.me()))
        return answering.answer(
            question, options["option"], named.me(), options["row"], confirm=options["confirm_findings"]
        )

    def words(self, result: base.Result) -> base.Words:
        if result["proposal"]:
            yield f"Answered. The change waits in {result['proposal']}; `apply {result['proposal']}` writes it."
        else:
            yield f"{result['question']} is {result['state']}; nothing changes."
