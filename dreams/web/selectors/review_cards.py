"""The cards of the review page: per file its hunks, each with its reason, lines, evidence, findings and ledger."""

from __future__ import annotations

import datetime as dt
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import urlencode

from django.urls import reverse

from dreams import memdir, review, text, textdiff
from dreams.models import Evidence, FileChange, Finding, Hunk, LedgerEntry
from dreams.text import plural
from dreams.web.selectors import diffs, review_state, review_texts
from dreams.web.selectors.diffs import Gap, Line

if TYPE_CHECKING:
    from dreams.web.selectors.review_loaded import Loaded

ROLES = {"user": "You", "assistant": "The agent", "tool": "A tool", "system": "The system"}
# A hunk of many thousand lines would hold the page up; the rest is told as a number.
MOST_LINES = 800
MOST_PARTS = 6
PLACES = {
    Evidence.Source.MEMORY: "From the memory",
    Evidence.Source.FILE: "From the file’s date",
    Evidence.Source.HISTORY: "From the history",
    Evidence.Source.REPOSITORY: "From the repository",
}


@dataclass(frozen=True, slots=True)
class Quote:
    """One piece of evidence. `who` said it, or what it is taken from."""

    who: str
    quote: str
    at: dt.datetime | None
    session_pk: int | None
    session: str
    place: str
    line_no: int | None
    is_found: bool
    is_transcript: bool
    note: str


@dataclass(frozen=True, slots=True)
class Part:
    """Another hunk of the same operation."""

    label: str
    href: str


@dataclass(frozen=True, slots=True)
class HunkCard:
    pk: int
    hunk_id: str
    file_pk: int
    base_sha: str
    line: int
    memory_pk: int | None
    kind: str
    reason: str
    verdict: str
    decide_reason: str
    parts: tuple[Part, ...]
    more_parts: int
    sides: str
    above: Gap | None
    lines: tuple[Line, ...]
    cut: int
    below: Gap | None
    notes: tuple[str, ...]
    quotes: tuple[Quote, ...]
    ledger: tuple[LedgerEntry, ...]
    findings: tuple[Finding, ...]
    edit_text: str
    edit_rows: int
    can_edit: bool
    can_decide: bool
    can_approve: bool
    is_applied: bool
    is_undone: bool
    undo_href: str

    @property
    def is_approved(self) -> bool:
        return self.verdict == Hunk.Verdict.APPROVED

    @property
    def is_edited(self) -> bool:
        return self.verdict == Hunk.Verdict.EDITED

    @property
    def is_taken(self) -> bool:
        return self.is_approved or self.is_edited

    @property
    def is_rejected(self) -> bool:
        return self.verdict == Hunk.Verdict.REJECTED

    @property
    def proof(self) -> str:
        """What the folded evidence holds, in words."""
        said = [plural(len(self.quotes), "quote")] if self.quotes else []
        if self.ledger:
            said.append("where it went" if len(self.ledger) == 1 else f"where {len(self.ledger)} lines went")
        return ", ".join(said)


@dataclass(frozen=True, slots=True)
class FileCard:
    pk: int
    path: str
    letter: str
    kind: str
    memory_type: str
    memory_pk: int | None
    changed_at: dt.datetime | None
    base_sha: str
    hunks: tuple[HunkCard, ...]
    findings: tuple[Finding, ...]
    is_viewed: bool
    is_open: bool
    is_stale: bool
    is_rebased: bool
    has_conflict: bool
    is_text: bool
    standing: int
    undecided: int
    free: int
    href: str
    undo_href: str
    view: str
    rendered: str
    fields: tuple[tuple[str, str], ...]

    @property
    def can_approve(self) -> bool:
        """The whole file with one verdict: not while a finding wants to be looked at."""
        return self.is_open and self.undecided > 0 and self.free == self.undecided


def cards(
    loaded: Loaded,
    files: Sequence[FileChange],
    texts: Mapping[str, bytes],
    state: review_state.State,
    view: str,
) -> list[FileCard]:
    """Two more queries, for evidence and ledger of all the files together."""
    hunks = [hunk.pk for file in files for hunk in loaded.hunks[file.pk]]
    quotes: dict[int, list[Evidence]] = defaultdict(list)
    for row in Evidence.objects.filter(hunk__in=hunks).select_related("session"):
        quotes[row.hunk_id].append(row)
    ledger: dict[int, list[LedgerEntry]] = defaultdict(list)
    for entry in LedgerEntry.objects.filter(hunk__in=hunks):
        ledger[entry.hunk_id].append(entry)
    maker = _Maker(loaded, {file.pk for file in files}, quotes, ledger)
    return [_file_card(maker, file, texts, state, view) for file in files]


@dataclass(frozen=True, slots=True)
class _Maker:
    loaded: Loaded
    shown: set[int]
    quotes: Mapping[int, list[Evidence]]
    ledger: Mapping[int, list[LedgerEntry]]


def _file_card(
    maker: _Maker, file: FileChange, texts: Mapping[str, bytes], state: review_state.State, view: str
) -> FileCard:
    loaded = maker.loaded
    found = review_texts.of(file, loaded.hunks[file.pk], texts)
    memory = loaded.memories.get(file.path)
    rows = loaded.hunks[file.pk]
    shown = view if view == "rendered" and found.is_text else ""
    rendered, fields = _rendered(found) if shown else ("", ())
    return FileCard(
        pk=file.pk,
        path=file.path,
        letter={"add": "A", "modify": "M", "delete": "D"}[file.kind],
        kind=file.get_kind_display(),
        memory_type=file.memory_type,
        memory_pk=memory.pk if memory else None,
        changed_at=memory.changed_at if memory else None,
        base_sha=file.base_sha,
        hunks=() if shown else _hunk_cards(maker, file, found, state),
        findings=tuple(f for f in loaded.said[None] if f.file_id == file.pk),
        is_viewed=review.is_viewed(file),
        is_open=state.is_open,
        is_stale=file.path in state.stale,
        is_rebased=file.path in state.unconfirmed,
        has_conflict=bool(file.conflict),
        is_text=found.is_text,
        standing=sum(h.applied_in_id is not None and h.undone_in_id is None for h in rows),
        undecided=sum(h.verdict == Hunk.Verdict.PENDING for h in rows),
        free=len(loaded.without_findings(rows)),
        href=_page(loaded, file=file.pk),
        undo_href=_undo(loaded, path=file.path),
        view=shown,
        rendered=rendered,
        fields=fields,
    )


def _rendered(found: review_texts.FileTexts) -> tuple[str, tuple[tuple[str, str], ...]]:
    """The text that is left when everything not rejected is taken, and its frontmatter's fields."""
    document = memdir.parse(found.decided(undecided=True) or b"")
    front = document.frontmatter
    fields = tuple(
        (key, str(value)) for key, value in (front.raw if front else {}).items() if value is not None
    )
    return textdiff.visible(document.body), fields


def _hunk_cards(
    maker: _Maker, file: FileChange, found: review_texts.FileTexts, state: review_state.State
) -> tuple[HunkCard, ...]:
    base = text.decode(found.base or b"")
    blocks = {block.hunk.id: block for block in diffs.blocks(base, found.as_shown(), file.path)}
    return tuple(
        _hunk_card(maker, row, hunk, blocks[row.hunk_id], found.is_text and bool(file.new_sha), state)
        for row, hunk in found.hunks
    )


def _hunk_card(
    maker: _Maker,
    row: Hunk,
    hunk: textdiff.Hunk,
    block: diffs.Block,
    is_editable: bool,
    state: review_state.State,
) -> HunkCard:
    loaded, file, operation = maker.loaded, row.file, row.operation
    findings = tuple(loaded.said.get(row.pk, ()))
    memory = loaded.memories.get(file.path)
    others = [part for part in loaded.together(row) if part.pk != row.pk]
    typed = "".join(block.hunk.new_lines).replace("\r\n", "\n")
    can_decide = state.is_open and not file.conflict
    refused = any(
        f.severity == Finding.Severity.REFUSE for part in [row, *others] for f in loaded.said.get(part.pk, ())
    )
    return HunkCard(
        pk=row.pk,
        hunk_id=row.hunk_id,
        file_pk=file.pk,
        base_sha=file.base_sha,
        line=(row.new_start if row.new_count else row.base_start) + 1,
        memory_pk=memory.pk if memory else None,
        kind=operation.get_kind_display() if operation else "Changed",
        reason=operation.reason if operation else "",
        verdict=row.verdict,
        decide_reason=row.decide_reason,
        parts=tuple(_part(maker, part, row) for part in others[:MOST_PARTS]),
        more_parts=max(0, len(others) - MOST_PARTS),
        sides=block.sides,
        above=block.above,
        lines=block.lines[:MOST_LINES],
        cut=max(0, len(block.lines) - MOST_LINES),
        below=block.below,
        notes=block.notes,
        quotes=tuple(map(_quote, maker.quotes.get(row.pk, ()))),
        ledger=tuple(maker.ledger.get(row.pk, ())),
        findings=findings,
        edit_text=typed,
        edit_rows=min(18, max(2, typed.count("\n") + 1)),
        can_edit=can_decide and is_editable and not refused,
        can_decide=can_decide,
        can_approve=can_decide and not refused,
        is_applied=row.applied_in_id is not None and row.undone_in_id is None,
        is_undone=row.undone_in_id is not None,
        undo_href=_undo(loaded, path=file.path, hunk=row.hunk_id),
    )


def _part(maker: _Maker, part: Hunk, seen_from: Hunk) -> Part:
    anchor = f"#hunk-{part.pk}"
    is_shown = part.file_id in maker.shown
    label = f"line {part.new_start + 1} here" if part.file_id == seen_from.file_id else part.file.path
    return Part(label, anchor if is_shown else _page(maker.loaded, file=part.file_id) + anchor)


def _quote(row: Evidence) -> Quote:
    is_transcript = row.source == Evidence.Source.TRANSCRIPT
    return Quote(
        who=ROLES.get(row.role, row.role.capitalize() or "A session")
        if is_transcript
        else PLACES.get(Evidence.Source(row.source), row.get_source_display()),
        quote=row.quote,
        at=row.at,
        session_pk=row.session_id,
        session=str(row.session) if row.session else "",
        place=row.place,
        line_no=row.line_no,
        is_found=row.found,
        is_transcript=is_transcript,
        note=row.note,
    )


def _page(loaded: Loaded, **query: object) -> str:
    return f"{reverse('review', args=[loaded.proposal.public_id])}?{urlencode(query)}"


def _undo(loaded: Loaded, **query: object) -> str:
    return f"{reverse('undo', args=[loaded.proposal.public_id])}?{urlencode(query)}"
