"""Edits that a finding suggests, and the preview of any edit before it is saved."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from dreams.findings.base import SEVERITIES, NewFinding
from dreams.findings.invisible import without_hidden
from dreams.lib import diff
from dreams.lib.diff.lines import terminated
from dreams.lib.secrets.redact import values, without
from dreams.models import Finding, Hunk, LedgerEntry, Proposal
from dreams.services import blobs, proposals
from dreams.services.auditlog import Actor
from dreams.services.memories import syncing
from dreams.services.proposals.decisions import HunkOfFile
from dreams.services.review.deciding import ReviewRefused, edit, with_parts

LOSS = "unexplained-loss"
Mend = Literal["keep", "redact", "unhide"]


def mend(
    proposal: Proposal, hunk: Hunk, how: Mend, reviewer: Actor, seen: Sequence[HunkOfFile] = ()
) -> list[Hunk]:
    """Returns all hunks that were decided, as `edit`. Raises ReviewRefused if there is nothing to mend."""
    lines = next(lines for row, lines in proposals.text_hunks(hunk.file) if row.pk == hunk.pk)
    if hunk.verdict == Hunk.Verdict.EDITED:
        typed = diff.split_lines(blobs.get_text(hunk.edited_sha))
        lines = replace(lines, new_lines=tuple(typed))
    made = _MENDS[how](hunk, lines)
    if made == lines.added:
        raise ReviewRefused("Nothing in this change needs fixing any more. Look at it again.")
    return edit(proposal, hunk, made, reviewer, seen=seen)


def with_lines(lines: diff.Hunk, lost: set[str]) -> str:
    """The new text, preceded by the removed lines that are in `lost`."""
    back = [line for line in lines.base_lines if line.strip() in lost]
    if back and lines.new_lines and not terminated(back[-1]):
        back[-1] += "\n"
    return "".join(back) + lines.added


def _kept(hunk: Hunk, lines: diff.Hunk) -> str:
    gone = hunk.ledger.filter(fate=LedgerEntry.Fate.UNEXPLAINED).values_list("text", flat=True)
    losses = Finding.objects.filter(hunk=hunk, code=LOSS)
    answers = [(f.message_parts.get("statement", ""), f.confirmed_at is not None) for f in losses]
    return with_lines(lines, {line.strip() for line in gone if not _may_be_removed(line, answers)})


def _may_be_removed(line: str, answers: Sequence[tuple[str, bool]]) -> bool:
    """Whether a person confirmed the loss of every statement in the line that has a finding, and of at least one."""
    confirmed = {is_confirmed for statement, is_confirmed in answers if statement and statement in line}
    return confirmed == {True}


def _redacted(hunk: Hunk, lines: diff.Hunk) -> str:
    return without(lines.added, values(lines.added))


_MENDS: Mapping[Mend, Callable[[Hunk, diff.Hunk], str]] = {
    "keep": _kept,
    "redact": _redacted,
    "unhide": lambda _hunk, lines: "".join(map(without_hidden, lines.new_lines)),
}


@dataclass(frozen=True, slots=True)
class EditPreview:
    """`text` has the hunk's line ends; `findings` are on it and the hunks decided with it, worst first."""

    text: str
    findings: tuple[NewFinding, ...]


def preview_edit(proposal: Proposal, hunk: Hunk, replacement: str) -> EditPreview:
    """The result of `edit` with `replacement`. Saves nothing."""
    lines = next(lines for row, lines in proposals.text_hunks(hunk.file) if row.pk == hunk.pk)
    fitted = diff.fitted(lines, replacement)
    report = proposals.report_with(proposal, syncing.contents(proposal.project), {hunk.pk: fitted})
    places = {(part.file.path, part.hunk_id) for part in with_parts([hunk])}
    findings = [found for found in report.findings if (found.path, found.hunk_id) in places]
    return EditPreview(fitted, tuple(sorted(findings, key=lambda found: SEVERITIES.index(found.severity))))
