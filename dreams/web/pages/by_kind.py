"""One kind of change across projects: every line and its evidence in view, one verdict for those on screen."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from dreams.lib import diff, memdir
from dreams.lib.files.text import plural
from dreams.lib.secrets import masking
from dreams.lib.secrets.masking import Mask
from dreams.models import Evidence, Finding, Hunk, Operation, Proposal
from dreams.services import blobs, proposals
from dreams.services.review import triage
from dreams.services.review.triage import KindCount
from dreams.web.pages.diffs import Line, runs
from dreams.web.paging import Listed, page_of

PAGE_SIZE = 25
#: A decision with more lines is shown in its review: what is not in view is not decided here.
MOST_LINES = 40
MOST_QUOTES = 2
MISSING = "The text of one of its files is missing. Decide on it in its review."


@dataclass(frozen=True, slots=True)
class Part:
    """The changed lines of one file."""

    path: str
    what: str
    lines: tuple[Line, ...]


@dataclass(frozen=True, slots=True)
class Card:
    """One decision. `why_not` says why it cannot be approved here; empty when it can."""

    pk: int
    project: str
    project_pk: int
    proposal: str
    anchor: str
    reason: str
    parts: list[Part]
    more_lines: int
    quotes: list[Evidence]
    findings: list[Finding]
    why_not: str
    digest: str


@dataclass(frozen=True, slots=True)
class ByKind:
    """`digest` is of all that can be decided on this page, `able` are those."""

    kind: str
    counts: list[KindCount]
    present: KindCount | None
    cards: Listed[Card]
    able: list[Card]
    digest: str
    ready: list[str]
    at: int | None

    @property
    def projects(self) -> int:
        return len({card.project_pk for card in self.able})


def by_kind(kind: str, page: str | None, at: int | None = None) -> ByKind:
    """`at` is the place of the card that keys act on. Nine queries, however many changes and projects there are."""
    counts = triage.counts()
    chosen = kind or (counts[0].kind if counts else "")
    shown = page_of(triage.of_kind(chosen), page, PAGE_SIZE)
    operations = list(shown.object_list)
    parts = triage.parts([row.pk for row in operations])
    hunks = [hunk for each in parts.values() for hunk in each]
    against = triage.spoken_against(hunks)
    texts = texts_of(hunks)
    cards = [_card(row, parts[row.pk], against.get(row.pk, []), texts) for row in operations]
    able = [card for card in cards if not card.why_not]
    return ByKind(
        kind=chosen,
        counts=counts,
        present=next((count for count in counts if count.kind == chosen), None),
        cards=Listed(cards, shown),
        able=able,
        digest=triage.digest([parts[card.pk] for card in able], ()),
        ready=triage.ready(),
        at=None if at is None else min(at, len(cards) - 1),
    )


def _card(row: Operation, hunks: Sequence[Hunk], against: list[Finding], texts: proposals.Texts) -> Card:
    hunks = index_last(hunks)
    try:
        parts, removed, mask = masked_parts(hunks, texts)
        missing = False
    except blobs.MissingBlob:
        parts, removed = [], ""
        mask = Mask.of([row.reason, *(one.quote for one in _evidence(hunks))])
        missing = True
    total = sum(len(part.lines) for part in parts)
    return Card(
        pk=row.pk,
        project=str(row.proposal.project),
        project_pk=row.proposal.project_id,
        proposal=row.proposal.public_id,
        anchor=f"hunk-{hunks[0].pk}",
        reason=mask(row.reason),
        parts=_cut(parts),
        more_lines=max(0, total - MOST_LINES),
        quotes=[_quote(one, removed, mask) for one in _evidence(hunks)],
        findings=against,
        why_not=MISSING if missing else _why_not(hunks, against, total, mask),
        digest=triage.digest([hunks], [row.pk] if against else ()),
    )


def texts_of(hunks: Iterable[Hunk]) -> proposals.Texts:
    """Both states of every file that is changed here, in one query."""
    return proposals.Texts(
        blobs.get_many({sha for hunk in hunks for sha in (hunk.file.base_sha, hunk.file.new_sha)})
    )


def index_last(hunks: Iterable[Hunk]) -> list[Hunk]:
    """What is remembered comes before the row that names it."""
    return sorted(hunks, key=lambda hunk: hunk.file.path == memdir.INDEX_NAME)


def masked_parts(hunks: Sequence[Hunk], texts: proposals.Texts) -> tuple[list[Part], str, Mask]:
    """The lines of each hunk with secrets hidden, all that is removed as it is, and what hides. Raises MissingBlob."""
    found = [
        proposals.lines_of(hunk, texts.lines(hunk.file.base_sha), texts.lines(hunk.file.new_sha))
        for hunk in hunks
    ]
    mask = Mask.of(text for lines in found for text in (lines.removed, lines.added))
    shown = masking.hunks(mask, found)
    parts = [_part(hunk, lines) for hunk, lines in zip(hunks, shown, strict=True)]
    return parts, "".join(lines.removed for lines in found), mask


def _part(hunk: Hunk, lines: diff.Hunk) -> Part:
    shown = tuple(
        Line(line.kind, line.old_no if line.kind == "del" else line.new_no, runs(line))
        for line in diff.hunk_rows(lines)
    )
    what = {"add": "new memory", "delete": "removes the file"}.get(hunk.file.kind, "")
    return Part(hunk.file.path, what, shown)


def _cut(parts: Sequence[Part]) -> list[Part]:
    left, shown = MOST_LINES, list[Part]()
    for part in parts:
        shown.append(Part(part.path, part.what, part.lines[:left]))
        left -= len(shown[-1].lines)
    return shown


def _evidence(hunks: Sequence[Hunk]) -> list[Evidence]:
    """What the person said first; each quote once."""
    rows = {row.quote: row for hunk in hunks for row in hunk.evidence.all()}
    return sorted(rows.values(), key=lambda row: row.role != "user")[:MOST_QUOTES]


def _quote(row: Evidence, removed: str, mask: Mask) -> Evidence:
    """Masked, for the page alone. A quote that is the old line itself need not be read twice."""
    is_shown = row.source == Evidence.Source.FILE and row.quote.strip() in removed
    row.quote = "" if is_shown else mask(row.quote)
    return row


def _why_not(hunks: Sequence[Hunk], against: Sequence[Finding], lines: int, mask: Mask) -> str:
    if any(hunk.file.conflict for hunk in hunks):
        return "It is in conflict with the file. Solve that in its review."
    if against:
        return f"It has {plural(len(against), 'finding')}. Decide on it in its review."
    if mask.shown:
        return "It holds a secret, which is hidden here. Decide on it in its review."
    if lines > MOST_LINES:
        return "It is too long to show here. Decide on it in its review."
    return ""


@dataclass(frozen=True, slots=True)
class Done:
    """What was just decided here, to take it back at once."""

    operations: list[int]
    digest: str
    sentence: str


def done(operations: Sequence[int]) -> Done | None:
    """None when something of it was decided otherwise or submitted since."""
    parts = triage.parts(operations)
    hunks = [hunk for each in parts.values() for hunk in each]
    verdicts = {hunk.verdict for hunk in hunks}
    is_open = all(hunk.file.proposal.state == Proposal.State.OPEN for hunk in hunks)
    if len(verdicts) != 1 or Hunk.Verdict.PENDING in verdicts or not is_open:
        return None
    projects = {hunk.file.proposal.project_id for hunk in hunks}
    said = f"{plural(len(parts), 'decision')} in {plural(len(projects), 'project')}"
    return Done(
        operations=list(parts),
        digest=triage.digest(list(parts.values()), triage.spoken_against(hunks)),
        sentence=f"{Hunk.Verdict(verdicts.pop()).label}: {said}. Nothing is written yet.",
    )
