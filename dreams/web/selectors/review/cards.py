"""The cards of the review page: per file its hunks, each with its reason, lines, evidence, findings and ledger.

`material` reads what they are made from; `parts` names what is decided together with a change.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from urllib.parse import urlencode

from django.urls import reverse

from dreams import review, text, textdiff
from dreams.models import FileChange, Hunk, LedgerEntry
from dreams.web.selectors import diffs
from dreams.web.selectors.diffs import Block
from dreams.web.selectors.review import heard as review_heard
from dreams.web.selectors.review import mends
from dreams.web.selectors.review import parts as review_parts
from dreams.web.selectors.review import rendered as review_rendered
from dreams.web.selectors.review import said as review_said
from dreams.web.selectors.review import state as review_state
from dreams.web.selectors.review import texts as review_texts
from dreams.web.selectors.review.card import FileCard, HunkCard
from dreams.web.selectors.review.listing import LETTERS
from dreams.web.selectors.review.loaded import HunkRow, Loaded, address
from dreams.web.selectors.review.material import Material, gather
from dreams.web.selectors.review.mends import Offer
from dreams.web.selectors.review.window import OPEN_LINES

# A hunk of many thousand lines would hold the page up; the rest is told as a number.
MOST_LINES = 800
MOST_PARTS = 6
FEW_MORE = 8


def cards(
    loaded: Loaded,
    files: Sequence[FileChange],
    texts: Mapping[str, bytes],
    state: review_state.State,
    view: str,
    only: frozenset[int] | None = None,
) -> list[FileCard]:
    """Five more queries at most, whatever the number of files. `only`: the changes that are on the page."""
    made_from = gather(loaded, files, texts, state, only)
    return [_file_card(made_from, file, view) for file in files]


def _file_card(made_from: Material, file: FileChange, view: str) -> FileCard:
    loaded, state, texts = made_from.loaded, made_from.state, made_from.sight.texts
    rows, old = loaded.hunks[file.pk], loaded.renames.get(file.pk)
    found = review_texts.of(file, rows, texts)
    memory = loaded.memories.get(old.path if old else file.path)
    paths = {part.path for part in loaded.parts_of(file)}
    before = texts.get(old.base_sha) if old else found.base
    rendered = review_rendered.rendered(found, before) if view == "rendered" and found.is_text else None
    return FileCard(
        pk=file.pk,
        path=file.path,
        was=old.path if old else "",
        letter="R" if old else LETTERS[file.kind],
        kind="Renamed" if old else file.get_kind_display(),
        memory_type=file.memory_type,
        memory_pk=memory.pk if memory else None,
        changed_at=memory.changed_at if memory else None,
        base_sha=file.base_sha,
        hunks=() if rendered else _hunk_cards(made_from, file, found),
        findings=review_said.plain(
            made_from.findings_on(loaded.parts_of(file)),
            review_said.Beside(loaded.proposal.project_id, state.is_open or state.waits),
        ),
        is_viewed=review.is_viewed(file),
        is_open=state.is_open,
        is_stale=bool(paths & state.stale),
        is_rebased=file.path in state.unconfirmed,
        has_conflict=bool(file.conflict),
        is_text=found.is_text,
        standing=sum(h.applied_in_id is not None and h.undone_in_id is None for h in rows),
        undecided=sum(h.verdict == Hunk.Verdict.PENDING for h in rows),
        free=len(loaded.without_findings(rows)),
        changes=len(rows),
        href=address(loaded.proposal, file=file.pk),
        undo_href=_undo(loaded, path=file.path),
        view="rendered" if rendered else "",
        rendered=rendered,
        secrets=made_from.sight.secrets_in(*review_texts.shas(loaded, file)),
        is_bare=loaded.is_bare,
    )


def _hunk_cards(made_from: Material, file: FileChange, found: review_texts.FileTexts) -> tuple[HunkCard, ...]:
    old = made_from.loaded.renames.get(file.pk)
    is_editable = found.is_text and bool(file.new_sha)
    if old is not None:
        return (_renamed_card(made_from, file, old, found),)
    base = text.decode(found.base or b"")
    blocks = {block.hunk.id: block for block in diffs.blocks(base, found.as_shown(), file.path)}
    # What an edit starts from is what stands there, to the letter.
    plain = review_texts.of(file, made_from.loaded.hunks[file.pk], made_from.sight.plain).as_shown()
    typed = {hunk.id: hunk.added for hunk in plain}
    return tuple(
        _hunk_card(made_from, row, [row], (blocks[row.hunk_id],), is_editable, typed[row.hunk_id])
        for row, _ in found.hunks
        if made_from.only is None or row.pk in made_from.only
    )


def _renamed_card(
    made_from: Material,
    file: FileChange,
    old: FileChange,
    found: review_texts.FileTexts,
) -> HunkCard:
    """One decision over two rows, shown as the difference between the two texts."""
    [row], [gone] = made_from.loaded.hunks[file.pk], made_from.loaded.hunks[old.pk]
    base = text.decode(made_from.sight.texts.get(old.base_sha, b""))
    new = found.whole(row)
    blocks = diffs.blocks(base, textdiff.hunks(base, new, path=file.path), file.path)
    plain = review_texts.of(file, [row], made_from.sight.plain).whole(row)
    card = _hunk_card(made_from, row, [gone, row], tuple(blocks), found.is_text, plain)
    # Most lines stay, and are not shown as removed: nothing is to be said of them.
    stays = {line.strip() for line in textdiff.split_lines(new)}
    return replace(card, ledger=tuple(entry for entry in card.ledger if entry.text.strip() not in stays))


def _hunk_card(
    made_from: Material,
    row: HunkRow,
    rows: Sequence[HunkRow],
    blocks: tuple[Block, ...],
    is_editable: bool,
    typed: str,
) -> HunkCard:
    """`rows` are those shown in this card; the first of them holds what is said of the lines that leave. `typed` is what
    an edit starts from."""
    loaded, file, operation = made_from.loaded, row.file, made_from.whole[row.pk].operation
    pks = {part.pk for part in rows}
    others = [part for part in loaded.together(row) if part.pk not in pks]
    memory = loaded.memories.get(file.path)
    parts = review_parts.listed(made_from, others, row)
    tied, ledger = _tied(made_from, rows[0], blocks)
    bounded, cut = _bounded(tied)
    shown = _folded(bounded)
    quotes = made_from.quotes(rows)
    shown_by = review_parts.shown_by(made_from, row, others, quotes)
    heard = review_heard.statements((made_from.whole[part.pk] for part in rows), made_from.sight.mask)
    refusing = review_parts.refusing(made_from, [row, *others])
    can_decide = made_from.state.is_open and not file.conflict
    can_edit = can_decide and is_editable and not refusing
    beside = review_said.Beside(
        loaded.proposal.project_id,
        made_from.state.is_open or (made_from.state.waits and row.applied_in_id is None),
        heard,
        any(not quote.is_found for quote in quotes) and not shown_by,
        file.path,
    )
    whats = {block.what for block in blocks}
    return HunkCard(
        pk=row.pk,
        hunk_id=row.hunk_id,
        file_pk=file.pk,
        base_sha=file.base_sha,
        seen=loaded.seen(row),
        line=row.line,
        what=whats.pop() if len(whats) == 1 else "",
        memory_pk=memory.pk if memory else None,
        kind=operation.get_kind_display() if operation else "Changed",
        reason=made_from.sight.mask(operation.reason) if operation else "",
        verdict=row.verdict,
        decide_reason=row.decide_reason,
        parts=parts[:MOST_PARTS],
        more_parts=max(0, len(parts) - MOST_PARTS),
        shown_by=shown_by,
        blocks=shown,
        cut=cut,
        quotes=() if shown_by else quotes,
        statements=tuple(one for one in heard if not shown_by or one.answer != "supported"),
        ledger=tuple(ledger),
        said=review_said.said(made_from.findings(rows), beside),
        refused=refusing.message if refusing else "",
        refused_part=review_parts.refused_part(made_from, refusing, row, pks),
        edit_text=typed.replace("\r\n", "\n"),
        edit_hides=made_from.sight.mask.count(typed),
        edit_rows=_rows_for(typed),
        is_removal=not row.new_count,
        can_edit=can_edit,
        mends=_mends(made_from, rows) if can_edit else (),
        can_decide=can_decide,
        can_approve=can_decide and not refusing,
        is_applied=row.applied_in_id is not None and row.undone_in_id is None,
        is_undone=row.undone_in_id is not None,
        undo_href=_undo(loaded, path=file.path, hunk=row.hunk_id),
    )


def _mends(made_from: Material, rows: Sequence[HunkRow]) -> tuple[Offer, ...]:
    """None for a file under another name, whose one card is two changes."""
    if len(rows) > 1:
        return ()
    [row] = rows
    ledger = made_from.ties.ledger.get(row.pk, ())
    return tuple(mends.offers(made_from.findings(rows), ledger, row, len(made_from.loaded.together(row))))


def _tied(
    made_from: Material, row: HunkRow, blocks: tuple[Block, ...]
) -> tuple[tuple[Block, ...], list[LedgerEntry]]:
    """The blocks with their lines' ties, and the rows of the ledger that no shown line answers to."""
    entries = made_from.ties.entries(row)
    return tuple(made_from.ties.tied(row, block, entries) for block in blocks), [
        entry for left in entries.values() for entry in left
    ]


def _bounded(blocks: Sequence[Block]) -> tuple[tuple[Block, ...], int]:
    """At most MOST_LINES lines in all, and how many are left out."""
    room = MOST_LINES
    out = []
    for block in blocks:
        out.append(replace(block, lines=block.lines[:room]) if len(block.lines) > room else block)
        room = max(0, room - len(block.lines))
    return tuple(out), sum(len(block.lines) for block in blocks) - sum(len(block.lines) for block in out)


def _folded(blocks: Sequence[Block]) -> tuple[Block, ...]:
    """The blocks, of a long change with a fold. A few lines more are not worth one."""
    if sum(len(block.lines) for block in blocks) <= OPEN_LINES + FEW_MORE:
        return tuple(blocks)
    room, out = OPEN_LINES, []
    for block in blocks:
        out.append(replace(block, fold_at=room) if len(block.lines) > room else block)
        room = max(0, room - len(block.lines))
    return tuple(out)


def _rows_for(typed: str) -> int:
    return min(18, max(2, typed.count("\n") + 1))


def _undo(loaded: Loaded, **query: object) -> str:
    return f"{reverse('undo', args=[loaded.proposal.public_id])}?{urlencode(query)}"
