"""What approving several proposals at once would do, line by line: nothing is written or removed that was not shown."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field

from dreams.lib.files.text import plural
from dreams.models import Hunk
from dreams.services import blobs, proposals
from dreams.services.proposals import decisions
from dreams.web.pages.by_kind import Part, index_last, masked_parts, texts_of

#: A proposal that changes more lines is decided on its own page.
MOST_LINES = 80


@dataclass(frozen=True, slots=True)
class Decision:
    """One undecided decision with all its lines."""

    kind: str
    reason: str
    parts: Sequence[Part]


@dataclass(frozen=True, slots=True)
class Shown:
    """Of one proposal. `why_not` says why it cannot be approved together with others; empty when it can."""

    decisions: Sequence[Decision] = field(default_factory=tuple)
    why_not: str = ""


def of(proposal_pks: Collection[int]) -> dict[int, Shown]:
    """Proposal → its undecided decisions. Two queries, however many there are."""
    rows = Hunk.objects.filter(file__proposal__in=proposal_pks, verdict=Hunk.Verdict.PENDING)
    rows = rows.select_related("file", "operation").order_by("file__path", "number")
    found: dict[int, list[Hunk]] = {pk: [] for pk in proposal_pks}
    for row in index_last(rows):
        found[row.file.proposal_id].append(row)
    texts = texts_of(rows)
    return {pk: _of_one(hunks, texts) for pk, hunks in found.items()}


def _of_one(hunks: Sequence[Hunk], texts: proposals.Texts) -> Shown:
    try:
        return _in_full(hunks, texts)
    except blobs.MissingBlob:
        return Shown(why_not="The text of one of its files is not kept, so it cannot be shown. Review it.")


def _in_full(hunks: Sequence[Hunk], texts: proposals.Texts) -> Shown:
    count = sum(hunk.base_count + hunk.new_count for hunk in hunks)
    if count > MOST_LINES:
        return Shown(why_not=f"It changes {plural(count, 'line')}, too many to show here. Review it.")
    shown, _, mask = masked_parts(hunks, texts)
    if mask.shown:
        return Shown(why_not="It has a secret, which is hidden here. Review it.")
    parts = {hunk.pk: part for hunk, part in zip(hunks, shown, strict=True)}
    groups = decisions.grouped(hunks).values()
    return Shown([_decision(group, [parts[hunk.pk] for hunk in group]) for group in groups])


def _decision(hunks: Sequence[Hunk], parts: Sequence[Part]) -> Decision:
    operation = hunks[0].operation
    return Decision(
        kind=str(operation.get_kind_display()) if operation else "Changed",
        reason=operation.reason if operation else "",
        parts=parts,
    )
