"""One decision as its card shows it, its file, and beside each line where it went or came from."""

from __future__ import annotations

import datetime as dt
import threading
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

from django.urls import reverse

from dreams.findings.evidence import MOST_NEW
from dreams.findings.ledger import derived
from dreams.lib import diff
from dreams.lib.files import text
from dreams.lib.files.text import plural
from dreams.lib.prose.comparing import says_more
from dreams.models import Evidence, FileChange, Hunk, LedgerEntry
from dreams.services import blobs
from dreams.services.proposals.decisions import State
from dreams.web.pages import review_proof as evidence
from dreams.web.pages.diffs import Block, Line, Tie
from dreams.web.pages.review_proof import Offer, Proof, Remark, Said, Statement
from dreams.web.pages.review_proposal import Loaded, address
from dreams.web.pages.review_shown import Batch
from dreams.web.pages.review_texts import Rendered, file_texts

LONG_PATH = 48
# Places of evidence that a card shows at once, and that are folded behind them.
OPEN_PLACES = 3
FOLDED_PLACES = 50


@dataclass(frozen=True, slots=True)
class Part:
    """One change of a decision. `yours` compares a person's own text with what was proposed; `goes_with`: the filter is
    about another part of the decision."""

    pk: int
    file_pk: int
    base_sha: str
    path: str
    letter: str
    kind: str
    line: int | None
    what: str
    memory_pk: int | None
    blocks: tuple[Block, ...]
    cut: int
    said: Said
    edit_text: str
    edit_hides: int
    is_removal: bool
    is_edited: bool
    can_edit: bool
    yours: tuple[Block, ...]
    mends: tuple[Offer, ...]
    goes_with: bool

    @property
    def edit_rows(self) -> int:
        return min(18, max(2, self.edit_text.count("\n") + 1))


@dataclass(frozen=True, slots=True)
class Card:
    """One decision. `seen` names the states of all files that it touches; `refused` why it cannot be approved; `told` is
    what a person said that a new memory will keep."""

    pk: int
    file_pk: int
    base_sha: str
    seen: str
    kind: str
    reason: str
    state: State
    decide_reason: str
    parts: tuple[Part, ...]
    told: Evidence | None
    quotes: tuple[Evidence, ...]
    statements: tuple[Statement, ...]
    ledger: tuple[LedgerEntry, ...]
    refused: str
    can_decide: bool
    can_approve: bool
    is_applied: bool
    is_undone: bool
    undo_href: str

    @property
    def main(self) -> Part:
        return self.parts[0]

    @property
    def others(self) -> tuple[Part, ...]:
        return self.parts[1:]

    @property
    def is_new(self) -> bool:
        """A memory that did not exist, told as a sentence."""
        return self.main.letter == "A"

    @property
    def is_edited(self) -> bool:
        return self.state == "edited"

    @property
    def is_taken(self) -> bool:
        return self.state in ("approved", "edited")

    @property
    def is_rejected(self) -> bool:
        return self.state == "rejected"

    @property
    def heard(self) -> tuple[tuple[Statement, bool], ...]:
        return evidence.beside(self.quotes, self.statements)

    @property
    def is_all_said(self) -> bool:
        """The quotes shown have every statement that comes, word for word or nearly so."""
        shown = [quote.quote for quote in self.quotes if quote.found]
        return bool(self.statements) and all(
            is_quoted and any(not says_more(one.text, quote, MOST_NEW) for quote in shown)
            for one, is_quoted in self.heard
        )

    @property
    def has_proof(self) -> bool:
        return len(self._whole_proof) > 0

    @property
    def _whole_proof(self) -> Proof:
        beside = tuple(quote for quote in self.quotes if quote != self.told)
        return Proof(beside, () if self.is_all_said else self.heard, self.ledger)

    @property
    def open_proof(self) -> Proof:
        """What is read at once; what a session contradicts comes first."""
        return self._whole_proof.part(0, OPEN_PLACES, heard_first=self.contradicted > 0)

    @property
    def folded_proof(self) -> Proof:
        most = OPEN_PLACES + FOLDED_PLACES
        return self._whole_proof.part(OPEN_PLACES, most, heard_first=self.contradicted > 0)

    @property
    def rest_of_proof(self) -> int:
        """Places of evidence behind the open ones, folded or not on the page at all."""
        return max(0, len(self._whole_proof) - OPEN_PLACES)

    @property
    def proof(self) -> str:
        """What the folded evidence holds, in words; what is contradicted is called out beside them."""
        quotes = len(self._whole_proof.quotes)
        said = [plural(quotes, "quote")] if quotes else []
        if self.is_all_said and quotes:
            said[-1] += " that says all of this" if quotes == 1 else " that say all of this"
        if self.ledger:
            said.append("where it went" if len(self.ledger) == 1 else f"where {len(self.ledger)} lines went")
        if self.statements and not self.is_all_said:
            said.append(evidence.summary(one for one in self.statements if one.answer != "contradicted"))
        return ", ".join(filter(None, said))

    @property
    def contradicted(self) -> int:
        """Statements that a session says otherwise."""
        return sum(one.answer == "contradicted" for one in self.statements)

    @property
    def missing(self) -> int:
        """Quotes that were not found where they are said to be."""
        return sum(not quote.found for quote in self.quotes)


@dataclass(frozen=True, slots=True)
class Elsewhere:
    """A change of a file that is shown with another one, as the index row of a new memory."""

    label: str
    href: str


@dataclass(frozen=True, slots=True)
class FileCard:
    """One file with the decisions that are shown with it. `was` is its old name, where it only got another one.
    `secrets` are in what changes or were; `is_bare` shows them. `decisions` counts also those on other pages."""

    pk: int
    path: str
    was: str
    letter: str
    kind: str
    memory_type: str
    memory_pk: int | None
    changed_at: dt.datetime | None
    base_sha: str
    cards: tuple[Card, ...]
    elsewhere: tuple[Elsewhere, ...]
    findings: tuple[Remark, ...]
    is_viewed: bool
    is_open: bool
    is_stale: bool
    is_rebased: bool
    has_conflict: bool
    is_text: bool
    standing: int
    decisions: int
    batch: Batch
    href: str
    undo_href: str
    view: str
    rendered: Rendered | None
    secrets: int
    is_bare: bool

    @property
    def folder(self) -> str:
        """Of a path too long for a head that stays in sight: shown above it. Else ""."""
        folder, slash, _ = self.path.rpartition("/")
        return folder + slash if len(self.path) > LONG_PATH else ""

    @property
    def name(self) -> str:
        """The path, or the rest of a long one."""
        return self.path.removeprefix(self.folder)

    @property
    def has_buttons(self) -> bool:
        """For all of it at once: where that is more than one card's own buttons do."""
        undecided = len(self.batch.undecided)
        return undecided > 1 or (undecided > 0 and bool(self.view))


# Reworded lines are looked for among so many pairs; the very same words are always found.
NEARLY_THE_SAME = 40_000
# The moves of the proposals looked at last: every file's fragment asks for them.
MOST_KEPT = 16
_kept: dict[str, list[diff.Move]] = {}
_keeping = threading.Lock()
KINDS = {
    LedgerEntry.Fate.STATED: "stated",
    LedgerEntry.Fate.UNEXPLAINED: "lost",
}
# What is kept says the same there; only what became something else is worth reading beside it.
QUOTED = {LedgerEntry.Fate.MERGED, LedgerEntry.Fate.SUPERSEDED}
MOST_SAID = 160


@dataclass
class Ties:
    """Everything known of where lines went; `shown` are the decisions whose cards are on the page, `files` those
    that have a place of their own there."""

    loaded: Loaded
    shown: Collection[int]
    files: Collection[int] = ()
    ledger: Mapping[int, Sequence[LedgerEntry]] = field(default_factory=dict)

    @cached_property
    def _files(self) -> Mapping[str, FileChange]:
        """By path; a renamed file stands under its new name also where its old one is asked for."""
        return {file.path: self.loaded.old_names.get(file.pk, file) for file in self.loaded.files}

    @cached_property
    def _elsewhere(self) -> Mapping[str, int]:
        """Memories that this proposal does not touch and that lines are said to stand in."""
        wanted = {entry.target_path for entries in self.ledger.values() for entry in entries} - set(
            self._files
        )
        if not wanted:
            return {}
        rows = self.loaded.proposal.project.memories.filter(path__in=wanted, gone_at__isnull=True)
        return dict(rows.values_list("path", "pk"))

    @cached_property
    def _moves(self) -> tuple[Mapping[diff.HunkLine, diff.Move], Mapping[diff.HunkLine, diff.Move]]:
        found = moves(self.loaded)
        return {move.source: move for move in found}, {move.target: move for move in found}

    def entries(self, row: Hunk) -> defaultdict[str, list[LedgerEntry]]:
        """What the ledger says of the lines that leave in this hunk, by line; `tied` takes out what it shows."""
        found: defaultdict[str, list[LedgerEntry]] = defaultdict(list)
        for entry in self.ledger.get(row.pk, ()):
            found[entry.text.strip()].append(entry)
        return found

    def tied(self, row: Hunk, block: Block, entries: Mapping[str, list[LedgerEntry]]) -> Block:
        """The block with each line's ties."""
        hunk = block.hunk
        within = dict(diff.moved_within(hunk))
        came = {new: old for old, new in within.items()}
        out: list[Line] = []
        removed = added = 0
        for line in block.lines:
            ties: tuple[Tie, ...] = ()
            if line.kind == "del":
                said = text.storable(hunk.base_lines[removed]).strip()
                ties = self._went(row, hunk, removed, within, entries.get(said, []))
                removed += 1
            elif line.kind == "ins":
                ties = self._came(row, hunk, added, came)
                added += 1
            out.append(replace(line, ties=ties) if ties else line)
        return replace(block, lines=tuple(out))

    def _went(
        self,
        row: Hunk,
        hunk: diff.Hunk,
        number: int,
        within: Mapping[int, int],
        entries: list[LedgerEntry],
    ) -> tuple[Tie, ...]:
        """The move or the ledger's answer for one removed line; an answer is taken out of `entries`."""
        entry = entries.pop(0) if entries else None
        if number in within:
            return (
                Tie("moved", "Moved within this change to", f"line {hunk.new_start + within[number] + 1}"),
            )
        move = self._moves[0].get(diff.HunkLine(row.file.path, row.hunk_id, number))
        if move is not None:
            return (self._move("Moved to", "Moved, lightly reworded, to", move, move.target, row),)
        return (self._entry(entry, row),) if entry is not None else ()

    def _came(self, row: Hunk, hunk: diff.Hunk, number: int, came: Mapping[int, int]) -> tuple[Tie, ...]:
        if number in came:
            return (
                Tie("moved", "Moved within this change from", f"line {hunk.base_start + came[number] + 1}"),
            )
        move = self._moves[1].get(diff.HunkLine(row.file.path, row.hunk_id, number))
        if move is None or row.verdict == Hunk.Verdict.EDITED:
            return ()
        return (self._move("Moved from", "Moved, lightly reworded, from", move, move.source, row),)

    def _move(self, word: str, reworded: str, move: diff.Move, there: diff.HunkLine, here: Hunk) -> Tie:
        other = next((hunk for hunk in self._rows(there.path) if hunk.hunk_id == there.hunk), None)
        start = 0 if other is None else other.new_start if there is move.target else other.base_start
        place = _place(there.path, start + there.line + 1, here)
        return Tie(
            "moved", word if move.likeness == 1 else reworded, place, self.href(other) if other else ""
        )

    def _entry(self, entry: LedgerEntry, here: Hunk) -> Tie:
        fate = LedgerEntry.Fate(entry.fate)
        return Tie(
            KINDS.get(fate, "kept"),
            "Left out:" if fate == LedgerEntry.Fate.STATED else str(fate.label),
            _place(entry.target_path, entry.target_line, here) if entry.target_path else "",
            self._target(entry),
            # What stands in the same change is read right there.
            quote=_short(entry.target_text) if fate in QUOTED and not _is_in(entry, here) else "",
            note=_short(_going_on(entry.note)),
        )

    def _target(self, entry: LedgerEntry) -> str:
        """The change that brings the line's new place; else its file on this page; else its memory's page."""
        if not entry.target_path:
            return ""
        file = self._files.get(entry.target_path)
        if file is None:
            pk = self._elsewhere.get(entry.target_path)
            return reverse("memory", args=[pk]) if pk else ""
        line = entry.target_line or 0
        for hunk in self.loaded.hunks[file.pk]:
            if hunk.new_start < line <= hunk.new_start + hunk.new_count:
                return self.href(hunk)
        if file.pk in self.files:
            return f"#file-{file.pk}"
        return address(self.loaded.proposal, file=file.pk, anchor=f"file-{file.pk}")

    def _rows(self, path: str) -> Sequence[Hunk]:
        file = self._files.get(path)
        return self.loaded.hunks[file.pk] if file else ()

    def href(self, hunk: Hunk) -> str:
        """Where a change is shown: with its decision, and of a renamed file under the new name."""
        new = self.loaded.old_names.get(hunk.file_id)
        part = self.loaded.hunks[new.pk][0] if new else hunk
        decision = self.loaded.decision_of[part.pk]
        if decision.key in self.shown:
            return f"#hunk-{part.pk}"
        return address(
            self.loaded.proposal, file=decision.file_id, hunk=decision.pk, anchor=f"hunk-{part.pk}"
        )


def moves(loaded: Loaded) -> list[diff.Move]:
    """Between all files of the proposal, worked out once for each of its states."""
    key = f"{loaded.proposal.public_id} {loaded.digest}"
    with _keeping:
        found = _kept.get(key)
    if found is None:
        found = diff.moved(_all_hunks(loaded), comparisons=NEARLY_THE_SAME)
        with _keeping:
            _kept[key] = found
            while len(_kept) > MOST_KEPT:
                del _kept[next(iter(_kept))]
    return found


def _all_hunks(loaded: Loaded) -> dict[str, list[diff.Hunk]]:
    """Of all files but those that only got another name: their lines did not move."""
    renamed = {pk for new, old in loaded.renames.items() for pk in (new, old.pk)}
    files = [file for file in loaded.files if file.pk not in renamed]
    texts = blobs.get_many(sha for file in files for sha in (file.base_sha, file.new_sha))
    return {
        file.path: [hunk for _, hunk in file_texts(file, loaded.hunks[file.pk], texts).hunks]
        for file in files
    }


def by_hunk(entries: Iterable[LedgerEntry]) -> Mapping[int, list[LedgerEntry]]:
    found: defaultdict[int, list[LedgerEntry]] = defaultdict(list)
    for entry in entries:
        found[entry.hunk_id].append(entry)
    return found


def _is_in(entry: LedgerEntry, hunk: Hunk) -> bool:
    """Whether the line's new place is within this very change."""
    line = entry.target_line or 0
    return entry.target_path == hunk.file.path and hunk.new_start < line <= hunk.new_start + hunk.new_count


def _place(path: str, line: int | None, here: Hunk) -> str:
    where = "" if path == here.file.path else path
    return ", ".join(filter(None, (where, f"line {line}" if line else ""))) or path


def _going_on(note: str) -> str:
    """A note of the ledger's own goes on after "Left out:" or a place; what somebody gave as a reason stays as it is."""
    return f"{note[:1].lower()}{note[1:].rstrip('.')}" if note in derived.NOTES else note


def _short(said: str) -> str:
    return diff.visible(said if len(said) <= MOST_SAID else said[: MOST_SAID - 1] + "…")
