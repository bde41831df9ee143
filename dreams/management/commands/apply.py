"""`apply DREAM [--rebased] [--wait S]`: write the approved changes, or request that from the host that has the files."""

import shlex
from functools import partial

from dreams.lib.storage import journal
from dreams.management import base, named, queued, shown
from dreams.models import DreamRun, Proposal
from dreams.services import host_requests, lookup, project_lock, review
from dreams.services.apply import applying, writing
from dreams.services.review import submitting


class Command(base.Command):
    help = "Submit the review and write what was approved, including answered questions of the same project."

    def arguments(self, parser: base.CommandParser) -> None:
        named.add_dream(parser)
        parser.add_argument(
            "--rebased", action="store_true", help="confirm the changed results reported by the last call"
        )
        queued.add_wait(parser)

    def run(self, options: base.Options) -> base.Result:
        proposal = _proposal(options["dream"])
        if host_requests.is_elsewhere(proposal.project):
            new_request = partial(host_requests.to_apply, proposal, rebased=options["rebased"])
            return queued.ask(new_request, options["wait"])
        writing.recover()
        try:
            done = applying.apply_with_answers(proposal, named.me(), rebased=options["rebased"])
        except (review.ReviewRefused, project_lock.ProjectBusy, journal.JournalBusy) as error:
            why = why_refused(error, proposal)
            refused = applying.ApplyReport(error=why, proposal=proposal.public_id)
            raise base.Refused(why, shown.report(refused) if options["json"] else None) from error
        result = shown.report(done)
        if not done.complete:
            raise base.Refused(_why(done), result)
        return result

    def words(self, result: base.Result) -> base.Words:
        return queued.words(result) if result.get("queued") else shown.report_words(result)


def why_refused(error: Exception, proposal: Proposal) -> str:
    """The reason; for a finding also the command that confirms it, or rejects what nobody can confirm."""
    if not isinstance(error, review.BlockingFinding):
        return str(error)
    finding, verdict = error.finding, "--approve --confirm-findings"
    if finding.severity == finding.Severity.REFUSE:
        verdict = f"--reject --path {shlex.quote(finding.file.path)}" if finding.file else "--reject"
    return f"{error} On the review page, or: decide {proposal.public_id} {verdict}"


def _proposal(name: str) -> Proposal:
    """The proposal of the dream; for a dream with only questions, the waiting answers of its project."""
    try:
        return lookup.proposal(name)
    except lookup.Unknown:
        dream = DreamRun.objects.filter(public_id=name).select_related("project").first()
        answers = applying.waiting_answers(dream.project) if dream else []
        if not answers:
            raise
        return answers[0]


def _why(done: applying.ApplyReport) -> str:
    if done.error:
        return done.refusal
    if done.gone:
        return done.gone
    if done.conflicts:
        if all(waiting.why == submitting.NEEDS_ANOTHER for waiting in done.conflicts):
            names = ", ".join(waiting.path for waiting in done.conflicts)
            return f"{names}: {submitting.NEEDS_ANOTHER}, on its page or as `proposal {done.proposal}` says."
        whys = [f"{waiting.path}: {waiting.why.removeprefix('conflict: ')}" for waiting in done.conflicts]
        return f"{'; '.join(whys)}. Solve it on the review page, or reject the change there."
    names = ", ".join(waiting.path for waiting in done.rebased)
    return (
        f"{names} changed since the review. Look at the new result, then `apply {done.proposal} --rebased`."
    )
