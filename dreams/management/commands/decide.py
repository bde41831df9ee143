"""`decide DREAM`: record verdicts on hunks, files or everything; also as the second person if the project requires one."""

from collections.abc import Sequence
from pathlib import Path

from dreams.lib.files import text
from dreams.management import base, named, shown
from dreams.models import Hunk, Proposal
from dreams.services import lookup, review


class Command(base.Command):
    help = "Approve, reject or edit changes of a proposal; all of them unless --path or --hunk is given."

    def arguments(self, parser: base.CommandParser) -> None:
        named.add_dream(parser)
        verdict = parser.add_mutually_exclusive_group(required=True)
        verdict.add_argument("--approve", action="store_true")
        verdict.add_argument("--reject", action="store_true")
        verdict.add_argument(
            "--edit", metavar="FILE", help="file with the text to use instead of the new lines of one change"
        )
        named.add_part(parser)
        parser.add_argument(
            "--confirm-findings",
            action="store_true",
            help="confirm blocking findings: you have read them and still want the change",
        )
        parser.add_argument(
            "--second",
            metavar="SEEN",
            help="as the second person, approve or reject exactly what `proposal` showed; it prints this code",
        )
        parser.add_argument("--reason", default="", metavar="TEXT", help="why, kept with the decision")

    def run(self, options: base.Options) -> base.Result:
        if options["second"] is not None:
            return _as_second(options)
        proposal, reviewer, confirmed = lookup.proposal(options["dream"]), named.me(), 0
        chosen = review.select_hunks(proposal, paths=options["path"], hunk_ids=options["hunk"])
        decided = self._decide(proposal, chosen, reviewer, options)
        if options["confirm_findings"]:
            found = review.blocking_findings(proposal, decided)
            confirmed = review.confirm(proposal, [f for f in found if f.severity != "refuse"], reviewer)
        return {
            "proposal": decided[0].file.proposal.public_id if decided else None,
            "decided": [{"path": h.file.path, "hunk": h.hunk_id, "verdict": h.verdict} for h in decided],
            "confirmed_findings": confirmed,
        }

    def _decide(
        self,
        proposal: Proposal,
        chosen: Sequence[Hunk],
        reviewer: review.Actor,
        options: base.Options,
    ) -> list[Hunk]:
        if proposal.state == Proposal.State.SUBMITTED and options["approve"] and options["confirm_findings"]:
            # The verdicts are final; only new results of a rebase can be confirmed.
            return [hunk for hunk in chosen if hunk.is_taken]
        if options["edit"] is None:
            verdict = Hunk.Verdict.APPROVED if options["approve"] else Hunk.Verdict.REJECTED
            return review.decide(proposal, chosen, verdict, reviewer, reason=options["reason"])
        if len(chosen) != 1:
            raise base.BadUsage(f"--edit takes one change; name it with --hunk ({len(chosen)} match).")
        try:
            content = text.decode(Path(options["edit"]).read_bytes())
        except OSError as error:
            raise base.Refused(f"{options['edit']} cannot be read: {error.strerror}.") from error
        return review.edit(proposal, chosen[0], content, reviewer, reason=options["reason"])

    def words(self, result: base.Result) -> base.Words:
        for row in result["decided"]:
            yield f"{row['verdict']:<9} {row['hunk']} {row['path']}"
        yield f"{text.plural(len(result['decided']), 'change')} decided; nothing is written before `apply`."


def _as_second(options: base.Options) -> base.Result:
    """The verdict applies to everything that waits for a second person, in the state that was shown."""
    if options["edit"] is not None or options["path"] or options["hunk"] or options["confirm_findings"]:
        raise base.BadUsage(
            "--second needs --approve or --reject, and may have --reason; it applies to everything that was shown."
        )
    proposal = lookup.proposal(options["dream"])
    waits = review.second_person_waits([proposal]).get(proposal.pk)
    seen = options["second"]
    if waits and len(seen) >= shown.LEAST_SEEN and waits.seen.startswith(seen):
        seen = waits.seen
    if options["approve"]:
        hunks = review.approve_as_second(proposal, seen, named.me())
    else:
        hunks = review.reject_as_second(proposal, seen, named.me(), options["reason"])
    verdict = Hunk.Verdict.APPROVED if options["approve"] else Hunk.Verdict.REJECTED
    return {
        "proposal": proposal.public_id,
        "decided": [{"path": h.file.path, "hunk": h.hunk_id, "verdict": verdict.value} for h in hunks],
        "confirmed_findings": 0,
    }
