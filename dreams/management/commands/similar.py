"""`similar`: would the rules engine merge two statements, ask about them, or leave them alone? Needs no database."""

from dreams.lib.prose import comparing
from dreams.lib.prose.comparing import compare
from dreams.management import base, batch
from dreams.management.batch import BatchCommand


class Command(BatchCommand):
    help = "Compare statements: JSON lines {a, b} to {same, mergeable, score, why}, or two texts and the rule that decides."

    def arguments(self, parser: base.CommandParser) -> None:
        mode = parser.add_mutually_exclusive_group(required=True)
        mode.add_argument("--batch", action="store_true", help="read JSON lines from standard input")
        mode.add_argument(
            "--explain", nargs=2, metavar=("FIRST", "SECOND"), help="say which rule decides about two texts"
        )
        parser.add_argument(
            "--json", action="store_true", help="same as without; the output of --batch is always JSON lines"
        )

    def run(self, options: base.Options) -> None:
        if options["explain"]:
            self.stdout.write(explained(*options["explain"]))
        else:
            super().run(options)

    def reply(self, row: batch.Row) -> batch.Row:
        one, other = batch.text_of(row, "a"), batch.text_of(row, "b")
        certain, likely = comparing.same(one, other), compare(one, other)
        return {
            "same": certain or likely.relation == "same",
            "mergeable": certain,
            "score": 1.0 if certain else likely.score,
            "why": "the same words" if certain else likely.rule,
        }


def explained(one: str, other: str) -> str:
    """What the rules engine does with two statements, and the rule for it."""
    if comparing.same(one, other):
        return "Merged without asking: the same words."
    likely = compare(one, other)
    refused = "Not merged without asking: other words, or in another order."
    if likely.relation == "none":
        return f"{refused} No question: {likely.rule}."
    values = f" ({likely.old.key}, {likely.new.key})" if likely.old and likely.new else ""
    return f"{refused} A question is asked: {likely.rule}{values}."
