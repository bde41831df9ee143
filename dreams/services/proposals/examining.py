"""Findings and ledger of exactly the text that would be written, saved beside the hunks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from dreams import findings
from dreams.findings.base import Report
from dreams.findings.statements.units import units_of_lines
from dreams.models import Proposal
from dreams.services import host_key
from dreams.services.proposals import reports
from dreams.services.proposals.hearing import Hearing, of_proposal
from dreams.services.proposals.subjects import listening, subject_of


def examine(
    proposal: Proposal,
    before: Mapping[str, bytes],
    *,
    undecided: bool = True,
    heard: Hearing | None = None,
) -> None:
    """Check what would be written and save findings, ledger and the sessions' answers anew; confirmations stay by key.

    `undecided` False looks at exactly what was approved: a rejected destination then shows as a loss. What was said of
    other changes stays beside them. Where the last look was at the very same texts nothing is done.
    """
    host_key.use()
    heard = heard or of_proposal(proposal)
    subject = subject_of(proposal, before, undecided=undecided)
    key = reports.key_of(subject, heard)
    if reports.stands(proposal, key):
        return
    report = findings.examine(listening(subject, heard))
    left_out = heard.left_out()
    if left_out:  # another look may hear more
        report, key = replace(report, findings=(*report.findings, left_out)), ""
    reports.save(proposal, {(hunk.path, hunk.hunk_id) for hunk in subject.hunks}, report, key)


def report_with(proposal: Proposal, before: Mapping[str, bytes], instead: Mapping[int, str]) -> Report:
    """What the checks would say with these texts (hunk pk → text) in place of the proposed ones. Saves nothing."""
    host_key.use()
    subject = subject_of(proposal, before, undecided=True, instead=instead)
    return findings.examine(listening(subject, of_proposal(proposal)))


def listened(proposal: Proposal, typed: str) -> Hearing:
    """What the proposal's sessions say, `typed` looked up already: before a transaction, which waits for no disk."""
    heard = of_proposal(proposal)
    heard.listen(unit.text for unit in units_of_lines(typed.splitlines()))
    return heard
