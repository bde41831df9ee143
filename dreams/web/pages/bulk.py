"""One verdict on many decisions: all changes of one kind across projects, with their evidence; or several proposals at
once, with every line that the verdict would change, and the proposals that must be reviewed one by one.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from django.db.models import Count
from django.utils import timezone

from dreams.lib import diff, memdir
from dreams.lib.files.text import plural
from dreams.lib.secrets import masking
from dreams.lib.secrets.masking import Mask
from dreams.models import Evidence, Finding, Hunk, Operation, Proposal, Question
from dreams.services import blobs, proposals
from dreams.services.proposals import decisions, rebase, undos
from dreams.services.proposals.decisions import Counts
from dreams.services.review import triage
from dreams.services.review.triage import KindCount
from dreams.web.pages import review_proposal
from dreams.web.pages.diffs import DiffLine, line_of
from dreams.web.pages.review_proposal import LoadedProposal
from dreams.web.paging import PageOfRows, page_of

PAGE_SIZE = 25  # rows; chosen
#: A decision with more lines is made in its review: only visible lines are decided here.
MOST_LINES_OF_ONE = 40
MOST_QUOTES = 2
MISSING = "The text of one of its files is missing. Decide on it in its review."


@dataclass(frozen=True, slots=True)
class FileChanges:
    path: str
    what: str
    lines: tuple[DiffLine, ...]


@dataclass(frozen=True, slots=True)
class ByKind:
    """`able` are the cards that can be decided on this page, `digest` covers them."""

    kind: str
    counts: list[KindCount]
    present: KindCount | None
    cards: PageOfRows[dict[str, Any]]
    able: list[dict[str, Any]]
    digest: str
    ready: list[str]
    at: int | None

    @property
    def projects(self) -> int:
        return len({card["operation"].proposal.project_id for card in self.able})


def by_kind(kind: str, page: str | None, reader: str, at: int | None = None) -> ByKind:
    """`at` is the index of the card for keyboard shortcuts. Eleven queries for any number of changes and projects."""
    now = timezone.now()
    counts = triage.counts(now, reader)
    chosen = kind or (counts[0].kind if counts else "")
    shown = page_of(triage.of_kind(chosen, now, reader), page, PAGE_SIZE)
    operations = list(shown.object_list)
    parts = triage.parts([row.pk for row in operations])
    hunks = [hunk for each in parts.values() for hunk in each]
    against = triage.findings_by_decision(hunks)
    texts = texts_of(hunks)
    cards = [_card(row, parts[row.pk], against.get(row.pk, []), texts) for row in operations]
    able = [card for card in cards if not card["why_not"]]
    return ByKind(
        kind=chosen,
        counts=counts,
        present=next((count for count in counts if count.kind == chosen), None),
        cards=PageOfRows(cards, shown),
        able=able,
        digest=triage.digest([parts[card["operation"].pk] for card in able], ()),
        ready=triage.ready_to_submit(),
        at=None if at is None else min(at, len(cards) - 1),
    )


def _card(
    row: Operation, hunks: Sequence[Hunk], against: list[Finding], texts: proposals.Texts
) -> dict[str, Any]:
    """One decision. `why_not` says why it cannot be approved here; empty if it can."""
    hunks = index_last(hunks)
    evidence = _evidence(hunks)
    try:
        parts, removed, mask = masked_parts(hunks, texts)
        missing = False
    except blobs.MissingBlob:
        parts, removed = [], ""
        mask = Mask.of([row.reason, *(one.quote for one in evidence)])
        missing = True
    total = sum(len(part.lines) for part in parts)
    return {
        "operation": row,
        "anchor": f"hunk-{hunks[0].pk}",
        "reason": mask(row.reason),
        "parts": _cut(parts),
        "more_lines": max(0, total - MOST_LINES_OF_ONE),
        "quotes": [_quote(one, removed, mask) for one in evidence[:MOST_QUOTES]],
        "more_quotes": max(0, len(evidence) - MOST_QUOTES),
        "findings": against,
        "why_not": MISSING if missing else _why_not_here(hunks, against, total, mask),
        "digest": triage.digest([hunks], [row.pk] if against else ()),
    }


def texts_of(hunks: Iterable[Hunk]) -> proposals.Texts:
    """The old and new text of every changed file, in one query."""
    return proposals.Texts(
        blobs.get_many({sha for hunk in hunks for sha in (hunk.file.base_sha, hunk.file.new_sha)})
    )


def index_last(hunks: Iterable[Hunk]) -> list[Hunk]:
    """The memory comes before its index row."""
    return sorted(hunks, key=lambda hunk: hunk.file.path == memdir.INDEX_NAME)


def masked_parts(hunks: Sequence[Hunk], texts: proposals.Texts) -> tuple[list[FileChanges], str, Mask]:
    """The lines of each hunk with secrets masked, all removed text unmasked, and the mask. Raises MissingBlob."""
    found = [
        proposals.diff_hunk(hunk, texts.lines(hunk.file.base_sha), texts.lines(hunk.file.new_sha))
        for hunk in hunks
    ]
    mask = Mask.of(text for lines in found for text in (lines.removed, lines.added))
    shown = masking.hunks(mask, found)
    parts = [_part(hunk, lines) for hunk, lines in zip(hunks, shown, strict=True)]
    return parts, "".join(lines.removed for lines in found), mask


def _part(hunk: Hunk, lines: diff.Hunk) -> FileChanges:
    shown = tuple(map(line_of, diff.hunk_rows(lines)))
    what = {"add": "new memory", "delete": "removes the file"}.get(hunk.file.kind, "")
    return FileChanges(hunk.file.path, what, shown)


def _cut(parts: Sequence[FileChanges]) -> list[FileChanges]:
    left, shown = MOST_LINES_OF_ONE, list[FileChanges]()
    for part in parts:
        shown.append(FileChanges(part.path, part.what, part.lines[:left]))
        left -= len(shown[-1].lines)
    return shown


def _evidence(hunks: Sequence[Hunk]) -> list[Evidence]:
    """Quotes of the person first; each quote once."""
    rows = {row.quote: row for hunk in hunks for row in hunk.evidence.all()}
    return sorted(rows.values(), key=lambda row: row.role != "user")


def _quote(row: Evidence, removed: str, mask: Mask) -> Evidence:
    """A masked quote for the page. Empty if it only repeats the old line."""
    is_shown = row.source == Evidence.Source.FILE and row.quote.strip() in removed
    row.quote = "" if is_shown else mask(row.quote)
    return row


def _why_not_here(hunks: Sequence[Hunk], against: Sequence[Finding], lines: int, mask: Mask) -> str:
    if any(hunk.file.conflict for hunk in hunks):
        return "It conflicts with the file. Solve that in its review."
    if against:
        return f"It has {plural(len(against), 'finding')}. Decide on it in its review."
    if mask.shown:
        return "It contains a secret, which is hidden here. Decide on it in its review."
    if lines > MOST_LINES_OF_ONE:
        return "It is too long to show here. Decide on it in its review."
    return ""


def done(operations: Sequence[int]) -> dict[str, Any] | None:
    """None if part of it was decided differently or submitted since."""
    parts = triage.parts(operations)
    hunks = [hunk for each in parts.values() for hunk in each]
    verdicts = {hunk.verdict for hunk in hunks}
    is_open = all(hunk.file.proposal.state == Proposal.State.OPEN for hunk in hunks)
    if len(verdicts) != 1 or Hunk.Verdict.PENDING in verdicts or not is_open:
        return None
    projects = {hunk.file.proposal.project_id for hunk in hunks}
    said = f"{plural(len(parts), 'decision')} in {plural(len(projects), 'project')}"
    return {
        "operations": list(parts),
        "digest": triage.digest(list(parts.values()), triage.findings_by_decision(hunks)),
        "sentence": f"{Hunk.Verdict(verdicts.pop()).label}: {said}. Nothing is written yet.",
    }


# --- Several proposals

#: A proposal with more changed lines is decided on its own page.
MOST_LINES = 80


@dataclass(frozen=True, slots=True)
class BulkProposal:
    """`why_not` says why the proposal cannot be approved together with others; empty if it can."""

    decisions: Sequence[dict[str, Any]] = field(default_factory=tuple)
    why_not: str = ""


def of(proposal_pks: Collection[int]) -> dict[int, BulkProposal]:
    """Proposal → its undecided decisions. Two queries in all, one more with undos."""
    rows = Hunk.objects.filter(file__proposal__in=proposal_pks, verdict=Hunk.Verdict.PENDING)
    rows = rows.select_related("file", "operation").order_by("file__path", "number")
    found: dict[int, list[Hunk]] = {pk: [] for pk in proposal_pks}
    for row in index_last(rows):
        found[row.file.proposal_id].append(row)
    texts, again = texts_of(rows), _redos(row.operation for row in rows if row.operation)
    return {pk: _of_one(hunks, texts, is_redo=pk in again) for pk, hunks in found.items()}


def _redos(operations: Iterable[Operation]) -> set[int]:
    """The proposals that redo what was undone; no query without an undo."""
    return undos.redos({one.proposal_id for one in operations if one.kind == Operation.Kind.UNDO})


def _of_one(hunks: Sequence[Hunk], texts: proposals.Texts, *, is_redo: bool) -> BulkProposal:
    count = sum(hunk.base_count + hunk.new_count for hunk in hunks)
    if count > MOST_LINES:
        return BulkProposal(why_not=f"It changes {plural(count, 'line')}, too many to show here. Review it.")
    try:
        shown, _, mask = masked_parts(hunks, texts)
    except blobs.MissingBlob:
        return BulkProposal(
            why_not="The text of one of its files is not stored, so it cannot be shown. Review it."
        )
    if mask.shown:
        return BulkProposal(why_not="It contains a secret, which is hidden here. Review it.")
    parts = {hunk.pk: part for hunk, part in zip(hunks, shown, strict=True)}
    groups = decisions.grouped(hunks).values()
    shown_parts = ((group, [parts[hunk.pk] for hunk in group]) for group in groups)
    return BulkProposal([_decision(group, each, is_redo=is_redo) for group, each in shown_parts])


def _decision(hunks: Sequence[Hunk], parts: Sequence[FileChanges], *, is_redo: bool) -> dict[str, Any]:
    operation = hunks[0].operation
    return {
        "kind": undos.kind(operation, is_redo=is_redo),
        "reason": operation.reason if operation else "",
        "parts": parts,
    }


#: The files of each proposal are read.
MOST = 20
MOST_PATHS = 6
MOST_REASONS = 12
APPROVE, REJECT = "approve", "reject"


def chosen(public_ids: Sequence[str], verdict: str) -> list[dict[str, Any]]:
    """The proposals that exist, in the given order; at most MOST. A fixed number of queries."""
    wanted = list(dict.fromkeys(public_ids))[:MOST]
    rows = {
        row.public_id: row
        for row in Proposal.objects.filter(public_id__in=wanted).select_related("project", "dream")
    }
    loaded = review_proposal.load_all([rows[name] for name in wanted if name in rows])
    operations = Operation.objects.filter(proposal__in=list(rows.values())).in_bulk()
    pks, again = [one.proposal.pk for one in loaded], _redos(operations.values())
    counts = decisions.counts(pks)
    lines = of(pks) if verdict == APPROVE else {}
    yours = _answers(rows.values()) if verdict == APPROVE else {}
    choices = [
        _choice(
            one,
            verdict,
            counts[one.proposal.pk],
            lines.get(one.proposal.pk, BulkProposal()),
            _reasons(one, operations, is_redo=one.proposal.pk in again),
            yours.get(one.proposal.project_id, 0),
        )
        for one in loaded
    ]
    if verdict == APPROVE:
        _leave_for_after(loaded, choices)
    return choices


def _leave_for_after(loaded: Sequence[LoadedProposal], choices: Sequence[dict[str, Any]]) -> None:
    """Of two proposals that write the same file the second would find it changed: it is left out beforehand."""
    written: set[tuple[int, str]] = set()
    for one, choice in zip(loaded, choices, strict=True):
        files = {(one.proposal.project_id, file.path) for file in one.files}
        if not choice["why_not"] and (both := sorted(files & written)):
            choice["why_not"] = f"One above writes {both[0][1]} too: approve this one once that is written."
        if not choice["why_not"]:
            written |= files


def _answers(proposals: Iterable[Proposal]) -> Mapping[int, int]:
    """Project → how many answers will be written together with a dream's changes."""
    dreams = {row.project_id for row in proposals if row.origin == Proposal.Origin.DREAM}
    waiting = Question.objects.filter(
        project__in=dreams,
        state=Question.State.WAITING,
        operation__proposal__origin=Proposal.Origin.ANSWERS,
    )
    return dict(waiting.order_by().values_list("project").annotate(count=Count("pk")))


def _choice(
    loaded: LoadedProposal,
    verdict: str,
    counts: Counts,
    shown: BulkProposal,
    reasons: Sequence[tuple[str, str]],
    yours: int,
) -> dict[str, Any]:
    """One selected proposal. `shown` is what would be approved, line by line; `why_not` says why it is skipped, empty
    if the verdict is possible; `yours` are the person's answers that are written with it."""
    return {
        "proposal": loaded.proposal,
        "paths": [file.path for file in loaded.shown_files[:MOST_PATHS]],
        "more_paths": max(0, len(loaded.shown_files) - MOST_PATHS),
        "counts": counts,
        "shown": shown.decisions,
        "reasons": reasons[:MOST_REASONS],
        "more_reasons": max(0, len(reasons) - MOST_REASONS),
        "digest": loaded.digest,
        "answers": loaded.answers,
        "why_not": why_not(loaded, verdict) or shown.why_not,
        "yours": yours,
    }


def _reasons(
    loaded: LoadedProposal, operations: Mapping[int, Operation], *, is_redo: bool
) -> list[tuple[str, str]]:
    """The kind and reason of each operation, without duplicates."""
    found = [operations[hunk.operation_id] for hunk in loaded.all_hunks if hunk.operation_id is not None]
    return list(dict.fromkeys((undos.kind(one, is_redo=is_redo), one.reason) for one in found))


def why_not(loaded: LoadedProposal, verdict: str) -> str:
    """Only proposals without findings or conflicts can be approved together; rejecting writes nothing, so it is always possible."""
    if not loaded.is_open:
        return f"It is no longer open ({loaded.proposal.get_state_display().lower()})."
    if verdict == REJECT:
        return ""
    undecided = [one for one in loaded.decisions if one.is_open]
    left = len(undecided) - len(loaded.free(undecided))
    if left:
        return f"{plural(left, 'decision')} with a finding or a conflict: decide on {'it' if left == 1 else 'them'} in its review."
    stale = rebase.changed_since(loaded.proposal, loaded.files, loaded.memories)
    if stale:
        is_gone = min(stale) in rebase.missing_on_disk(loaded.proposal, stale)
        return (
            f"{min(stale)} {'is no longer on disk' if is_gone else 'changed on disk since it was proposed'}."
            " Bring it up to date in its review."
        )
    return ""
