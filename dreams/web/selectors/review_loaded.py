"""A proposal loaded whole, in five queries: what every part of the review page is made from."""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from urllib.parse import urlencode

from django.urls import reverse

from dreams.models import FileChange, Finding, Hunk, Memory, Proposal

WORST = [severity.value for severity in Finding.Severity]


@dataclass
class Loaded:
    """A proposal with everything the page tells of it, except texts, evidence and ledger."""

    proposal: Proposal
    files: list[FileChange]
    hunks: Mapping[int, list[Hunk]]
    findings: list[Finding]
    memories: Mapping[str, Memory]

    @cached_property
    def all_hunks(self) -> list[Hunk]:
        return [hunk for file in self.files for hunk in self.hunks[file.pk]]

    @cached_property
    def parts(self) -> Mapping[int, list[Hunk]]:
        """Operation → its hunks, wherever they are."""
        found = defaultdict(list)
        for hunk in self.all_hunks:
            if hunk.operation_id is not None:
                found[hunk.operation_id].append(hunk)
        return found

    @cached_property
    def said(self) -> Mapping[int | None, list[Finding]]:
        """Hunk → its findings, worst first; None holds those on a file or on the whole."""
        found = defaultdict(list)
        for finding in sorted(self.findings, key=lambda f: WORST.index(f.severity)):
            found[finding.hunk_id].append(finding)
        return found

    def together(self, hunk: Hunk) -> list[Hunk]:
        """The hunk and the other parts of its operation."""
        return self.parts.get(hunk.operation_id or 0) or [hunk]

    @cached_property
    def digest(self) -> str:
        """Changes when any file of the proposal does: what a verdict on several files was made on."""
        states = "\n".join(f"{f.pk} {f.base_sha} {f.new_sha} {bool(f.conflict)}" for f in self.files)
        return hashlib.sha256(states.encode()).hexdigest()[:24]

    @property
    def is_open(self) -> bool:
        return self.proposal.state == Proposal.State.OPEN

    def without_findings(self, hunks: Sequence[Hunk]) -> list[Hunk]:
        """Those undecided ones that nothing speaks against, neither here nor in another part of the operation."""
        spoken_of = {file for finding in self.said[None] if _counts(finding) for file in [finding.file_id]}
        unsolved = {file.pk for file in self.files if file.conflict}
        return [
            hunk
            for hunk in hunks
            if hunk.verdict == Hunk.Verdict.PENDING
            and not any(
                part.file_id in unsolved | spoken_of or any(map(_counts, self.said.get(part.pk, ())))
                for part in self.together(hunk)
            )
        ]


def _counts(finding: Finding) -> bool:
    return finding.severity != Finding.Severity.INFO and finding.confirmed_at is None


def find(public_id: str) -> Proposal | None:
    """By its own id or by its dream's."""
    rows = Proposal.objects.select_related("project", "dream", "undoes", "undoes__dream")
    own = rows.filter(public_id=public_id).first()
    if own is not None:
        return own
    return rows.filter(dream__public_id=public_id).order_by("by_policy", "-pk").first()


def load(proposal: Proposal) -> Loaded:
    """Five queries, whatever the size of the proposal."""
    files = list(proposal.files.all())
    for file in files:
        file.proposal = proposal
    hunks: dict[int, list[Hunk]] = {file.pk: [] for file in files}
    by_pk = {file.pk: file for file in files}
    for hunk in Hunk.objects.filter(file__proposal=proposal).select_related("operation").order_by("number"):
        hunk.file = by_pk[hunk.file_id]
        hunks[hunk.file_id].append(hunk)
    memories = proposal.project.memories.filter(path__in=[file.path for file in files])
    return Loaded(proposal, files, hunks, list(proposal.findings.all()), {m.path: m for m in memories})


def address(proposal: Proposal, *, anchor: str = "", **query: object) -> str:
    """The page's address, at a file or a hunk."""
    given = {key: value for key, value in query.items() if value not in (None, "")}
    return (
        reverse("review", args=[proposal.public_id])
        + (f"?{urlencode(given)}" if given else "")
        + (f"#{anchor}" if anchor else "")
    )
