"""A look at an edit before it is kept: the text as it would stand, and what the checks would say of it."""

from __future__ import annotations

from dataclasses import dataclass

from dreams.findings.base import SEVERITIES, Found
from dreams.lib import diff
from dreams.models import Hunk, Proposal
from dreams.services import proposals
from dreams.services.memories import syncing
from dreams.services.review.selecting import together


@dataclass(frozen=True, slots=True)
class EditPreview:
    """`text` has the hunk's own line ends; `findings` are on it and on the parts decided with it, worst first."""

    text: str
    findings: tuple[Found, ...]


def preview_edit(proposal: Proposal, hunk: Hunk, replacement: str) -> EditPreview:
    """What `edit` would make of `replacement`. Saves nothing."""
    lines = next(lines for row, lines in proposals.text_hunks(hunk.file) if row.pk == hunk.pk)
    fitted = diff.fitted(lines, replacement)
    report = proposals.report_with(proposal, syncing.contents(proposal.project), {hunk.pk: fitted})
    places = {(part.file.path, part.hunk_id) for part in together([hunk])}
    said = [found for found in report.findings if (found.path, found.hunk_id) in places]
    return EditPreview(fitted, tuple(sorted(said, key=lambda found: SEVERITIES.index(found.severity))))
