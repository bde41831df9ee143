"""`proposal DREAM`: its changes, with evidence, findings and ledger."""

from dreams.management import base, named, shown
from dreams.services import lookup, review
from dreams.services.dreaming import unfinished


class Command(base.Command):
    help = "Show a proposal. --partial first creates one from the changes of an unfinished dream."

    def arguments(self, parser: base.CommandParser) -> None:
        named.add_dream(parser)
        parser.add_argument("--diff", action="store_true", help="show the changed lines")
        named.add_show_secrets(parser)
        parser.add_argument(
            "--partial",
            action="store_true",
            help="propose the changes that a failed or cancelled dream made before it stopped",
        )

    def run(self, options: base.Options) -> base.Result:
        if options["partial"]:
            found = unfinished.propose(lookup.dream(options["dream"]), named.me().name)
        else:
            found = lookup.proposal(options["dream"])
        is_bare = options["show_secrets"]
        if is_bare:
            review.log_secrets_shown(found, named.me())
        return shown.proposal(found, diff=options["diff"] or not options["json"], is_bare=is_bare)

    def words(self, result: base.Result) -> base.Words:
        return shown.diff_words(result)
