"""Who reviews, what a refusal is, and the lock that every step of a review takes first."""

from __future__ import annotations

from dataclasses import dataclass

from dreams.models import Finding, Proposal

REASON_LIMIT = 500


class ReviewRefused(Exception):
    """The decision cannot be taken; the message names the thing and the remedy."""


class FindingInTheWay(ReviewRefused):
    """Something approved has a finding that nobody confirmed; a page leads to it."""

    def __init__(self, finding: Finding) -> None:
        where = f" in {finding.file.path}" if finding.file else ""
        super().__init__(
            f"Nothing was written. An approved change{where} has an open finding: {finding.message} "
            "Confirm it, or reject the change."
        )
        self.finding = finding


@dataclass(frozen=True, slots=True)
class Reviewer:
    """Who decides, and whether by command: such approvals are marked as such."""

    name: str
    by_command: bool = False


def hold_open(proposal: Proposal, *, or_submitted: bool = False) -> None:
    """Lock the row, so that a verdict cannot slip in behind a submit.

    `or_submitted`: a rebase may bring a finding up after the submit, and it can be confirmed then too.
    """
    state = Proposal.objects.select_for_update().values_list("state", flat=True).get(pk=proposal.pk)
    if state != Proposal.State.OPEN and not (or_submitted and state == Proposal.State.SUBMITTED):
        raise ReviewRefused(
            f"{proposal.public_id} is {Proposal.State(state).label.lower()}: its verdicts can no longer change. "
            "What was applied can be undone."
        )
