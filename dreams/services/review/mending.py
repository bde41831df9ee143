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
from dreams.services.review.deciding import ReviewRefused, edit, together

LOSS = "unexplained-loss"
Mend = Literal["keep", "redact", "unhide"]


def mend(proposal: Proposal, hunk: Hunk, how: Mend, reviewer: Actor) -> list[Hunk]:
    """Returns all that were decided, as `edit`. Raises ReviewRefused where there is nothing to mend."""
    lines = next(lines for row, lines in proposals.text_hunks(hunk.file) if row.pk == hunk.pk)
    if hunk.verdict == Hunk.Verdict.EDITED:
        typed = diff.split_lines(blobs.get_text(hunk.edited_sha))
        lines = replace(lines, new_lines=tuple(typed))
    made = _MENDS[how](hunk, lines)
    if made == lines.added:
        raise ReviewRefused("Nothing in this change needs fixing any more. Look at it again.")
    return edit(proposal, hunk, made, reviewer)


def with_lines(lines: diff.Hunk, lost: set[str]) -> str:
    """The new text with those removed lines before it whose words are `lost`."""
    back = [line for line in lines.base_lines if line.strip() in lost]
    if back and lines.new_lines and not terminated(back[-1]):
        back[-1] += "\n"
    return "".join(back) + lines.added


def _kept(hunk: Hunk, lines: diff.Hunk) -> str:
    gone = hunk.ledger.filter(fate=LedgerEntry.Fate.UNEXPLAINED).values_list("text", flat=True)
    losses = Finding.objects.filter(hunk=hunk, code=LOSS)
    said = [(f.message_parts.get("statement", ""), f.confirmed_at is not None) for f in losses]
    return with_lines(lines, {line.strip() for line in gone if not _may_go(line, said)})


def _may_go(line: str, said: Sequence[tuple[str, bool]]) -> bool:
    """A person said so of a statement in it, and nothing else in it waits for an answer."""
    answers = {is_confirmed for statement, is_confirmed in said if statement and statement in line}
    return answers == {True}


def _redacted(hunk: Hunk, lines: diff.Hunk) -> str:
    return without(lines.added, values(lines.added))


def _unhidden(hunk: Hunk, lines: diff.Hunk) -> str:
    return "".join(without_hidden(line) for line in lines.new_lines)


_MENDS: Mapping[Mend, Callable[[Hunk, diff.Hunk], str]] = {
    "keep": _kept,
    "redact": _redacted,
    "unhide": _unhidden,
}


@dataclass(frozen=True, slots=True)
class EditPreview:
    """`text` has the hunk's own line ends; `findings` are on it and on the parts decided with it, worst first."""

    text: str
    findings: tuple[NewFinding, ...]


def preview_edit(proposal: Proposal, hunk: Hunk, replacement: str) -> EditPreview:
    """What `edit` would make of `replacement`. Saves nothing."""
    lines = next(lines for row, lines in proposals.text_hunks(hunk.file) if row.pk == hunk.pk)
    fitted = diff.fitted(lines, replacement)
    report = proposals.report_with(proposal, syncing.contents(proposal.project), {hunk.pk: fitted})
    places = {(part.file.path, part.hunk_id) for part in together([hunk])}
    said = [found for found in report.findings if (found.path, found.hunk_id) in places]
    return EditPreview(fitted, tuple(sorted(said, key=lambda found: SEVERITIES.index(found.severity))))
