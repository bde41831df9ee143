"""The texts of a proposal: the old and new text of each file with secrets masked, the rendered result, also for an unsaved
edit, and where each moved line went or came from.
"""

import re
import threading
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, TypeVar

from django.db.models import Model
from django.urls import reverse

from dreams.engines import drafts
from dreams.findings.base import NewFinding
from dreams.findings.ledger import derived
from dreams.lib import diff, memdir
from dreams.lib.files import text
from dreams.lib.secrets.masking import Mask
from dreams.models import FileChange, Hunk, LedgerEntry
from dreams.services import blobs, proposals, review
from dreams.web.hidden_secrets import Sight
from dreams.web.pages import diffs
from dreams.web.pages.diffs import Block, DiffLine, Tie
from dreams.web.pages.review_proposal import LoadedProposal, address

Row = TypeVar("Row", bound=Model)


@dataclass(frozen=True, slots=True)
class FileTexts:
    """The old and new text of a file, and its hunks with their lines. `edited` has the texts typed by a person."""

    base: bytes | None
    new: bytes | None
    hunks: tuple[tuple[Hunk, diff.Hunk], ...]
    edited: Mapping[str, str]

    @property
    def is_text(self) -> bool:
        return text.is_utf8(self.base or b"") and text.is_utf8(self.new or b"")

    def decided(self) -> bytes | None:
        """The file with everything that is not rejected; None if it will not exist."""
        pending = Hunk.Verdict.PENDING
        chosen = {
            row.hunk_id: self.edited.get(row.hunk_id, row.is_taken or row.verdict == pending)
            for row, _ in self.hunks
        }
        return drafts.rebuild(self.base, self.new, [hunk for _, hunk in self.hunks], chosen)

    def whole(self, row: Hunk) -> str:
        """The new text of a file with a single change: the person's text if there is one."""
        return self.edited.get(row.hunk_id, text.decode(self.new or b""))

    def as_shown(self) -> list[diff.Hunk]:
        """The hunks with the person's text instead of the proposed one."""
        return [
            replace(hunk, new_lines=tuple(diff.split_lines(self.edited[row.hunk_id])))
            if row.hunk_id in self.edited
            else hunk
            for row, hunk in self.hunks
        ]

    def as_submitted(self, of: Hunk) -> list[diff.Hunk]:
        """What was approved of `as_shown`, and `of`: the lines have the numbers that they have in the file."""
        kept = {row.hunk_id for row, _ in self.hunks if row.is_taken or row == of}
        return [hunk for hunk in self.as_shown() if hunk.id in kept]


def shas(loaded: LoadedProposal, file: FileChange) -> Iterator[str]:
    """The digests of all texts of a shown file: old, new, of its old name, and edits."""
    for part in loaded.parts_of(file):
        yield from (part.base_sha, part.new_sha)
    yield from (hunk.edited_sha for hunk in loaded.hunks[file.pk])


def texts_of(loaded: LoadedProposal, shown: Collection[int]) -> Mapping[str, bytes]:
    """The texts of these files and of the index, in one query."""
    wanted = [file for file in loaded.files if file.pk in shown or file.path == memdir.INDEX_NAME]
    return blobs.get_many(sha for file in wanted for sha in shas(loaded, file))


def file_texts(file: FileChange, rows: Sequence[Hunk], texts: Mapping[str, bytes]) -> FileTexts:
    base, new = texts.get(file.base_sha), texts.get(file.new_sha)
    old_lines, new_lines = (diff.split_lines(text.decode(side or b"")) for side in (base, new))
    return FileTexts(
        base=base if file.base_sha else None,
        new=new if file.new_sha else None,
        hunks=tuple((row, proposals.diff_hunk(row, old_lines, new_lines)) for row in rows),
        edited={
            row.hunk_id: text.decode(texts.get(row.edited_sha, b""))
            for row in rows
            if row.verdict == Hunk.Verdict.EDITED
        },
    )


@dataclass(frozen=True, slots=True)
class TextSight(Sight):
    """Masks the secrets of a card. `plain` are the unmasked texts (sha256 → bytes), `texts` the masked ones."""

    plain: Mapping[str, bytes]
    texts: Mapping[str, bytes]

    def secrets_in(self, *shas: str) -> int:
        return self.known.count("\n".join(text.decode(self.plain.get(sha, b"")) for sha in shas))

    def rows(self, rows: Iterable[Row], *fields: str) -> list[Row]:
        """Rows with the text of `fields` masked; they must not be saved."""
        found = list(rows)
        if self.mask.shown:
            for row in found:
                for name in fields:
                    setattr(row, name, self.mask.deep(getattr(row, name)))
        return found


def sight(loaded: LoadedProposal, texts: Mapping[str, bytes]) -> TextSight:
    seen = Sight.of(map(text.decode, texts.values()), is_bare=loaded.is_bare)
    return TextSight(seen.known, seen.is_bare, texts, masked(texts, seen.mask))


def masked(texts: Mapping[str, bytes], mask: Mask) -> Mapping[str, bytes]:
    return {sha: mask.bytes(data) for sha, data in texts.items()}


_FENCE = re.compile(r"^ {0,3}(`{3,}|~{3,})")


@dataclass(frozen=True, slots=True)
class SourceLines:
    """Markdown source of consecutive lines. `kind` is equal, ins or del."""

    kind: str
    source: str


@dataclass(frozen=True, slots=True)
class Rendered:
    """`fields` are those of the resulting frontmatter."""

    fields: tuple[tuple[str, str], ...]
    passages: tuple[SourceLines, ...]

    @property
    def is_marked(self) -> bool:
        return any(passage.kind != "equal" for passage in self.passages)


def rendered(found: FileTexts, before: bytes | None) -> Rendered:
    """The result with everything that is not rejected, with the changes since `before` marked."""
    document = memdir.parse(found.decided() or b"")
    front = document.frontmatter
    fields = tuple(front.fields) if front else ()
    old = memdir.parse(before or b"").body
    return Rendered(fields, tuple(_passages(_blocks(old), _blocks(document.body))))


def _passages(old: Sequence[str], new: Sequence[str]) -> Iterator[SourceLines]:
    at = 0
    for change in diff.line_changes(old, new, "block"):
        yield from _passage("equal", old[at : change.a0])
        yield from _passage("del", old[change.a0 : change.a1])
        yield from _passage("ins", new[change.b0 : change.b1])
        at = change.a1
    yield from _passage("equal", old[at:])


def _passage(kind: str, blocks: Sequence[str]) -> Iterator[SourceLines]:
    source = "".join(blocks)
    if source.strip():
        yield SourceLines(kind, diff.visible(source))


def _blocks(body: str) -> list[str]:
    """The lines; fenced code and tables are one block each, as half of one would not render."""
    out: list[str] = []
    fence, in_table = "", False
    for line in diff.split_lines(body):
        mark = _FENCE.match(line)
        is_row = not fence and line.lstrip().startswith("|")
        if out and (fence or (is_row and in_table)):
            out[-1] += line
        else:
            out.append(line)
        in_table = is_row
        if mark and (not fence or line.strip().startswith(fence)):
            fence = "" if fence else mark[1]
    return out


def typed(loaded: LoadedProposal, hunk: Hunk, preview: review.EditPreview) -> dict[str, Any]:
    texts = texts_of(loaded, {part.pk for part in loaded.parts_of(hunk.file)})
    mask = Sight.of([preview.text, *map(text.decode, texts.values())], is_bare=loaded.is_bare).mask
    texts, shown = masked(texts, mask), mask(preview.text)
    old = loaded.renames.get(hunk.file_id)
    if old is not None:
        base = text.decode(texts.get(old.base_sha, b""))
        made = diff.hunks(base, shown, path=hunk.file.path)
    else:
        found = file_texts(hunk.file, [hunk], texts)
        base = text.decode(found.base or b"")
        made = [replace(lines, new_lines=tuple(diff.split_lines(shown))) for _, lines in found.hunks]
    blocks = tuple(diffs.blocks(base, made, hunk.file.path, folds=False))
    plain = preview.text.replace("\r\n", "\n")
    # The text of a new memory starts with its frontmatter, which is not rendered.
    read = shown.replace("\r\n", "\n")
    body = memdir.parse(read.encode()).body if not hunk.base_start else read
    return {
        "blocks": blocks,
        "text": plain,
        "source": diff.visible(body),
        "findings": _said_of(loaded, hunk, preview),
    }


def _said_of(loaded: LoadedProposal, hunk: Hunk, preview: review.EditPreview) -> tuple[NewFinding, ...]:
    """The findings on the edited text, and new findings on the other parts of its decision."""
    known = set(loaded.proposal.findings.values_list("key", flat=True))
    own = (hunk.file.path, hunk.hunk_id)
    return tuple(
        replace(found, message=found.message_parts.remark or found.message)
        if (found.path, found.hunk_id) == own
        else found
        for found in preview.findings
        if (found.path, found.hunk_id) == own or found.key not in known
    )


# How many pairs are compared to find reworded lines; identical lines are always found.
NEARLY_THE_SAME = 40_000
# The moves of recent proposals are kept: the fragment of every file needs them.
MOST_KEPT = 16
_kept: dict[str, list[diff.Move]] = {}
_keeping = threading.Lock()
_NOT_KEPT = {
    LedgerEntry.Fate.STATED: "stated",
    LedgerEntry.Fate.UNEXPLAINED: "lost",
}
# Fates with a changed text, which is quoted; for others the text is the same.
QUOTED = {LedgerEntry.Fate.MERGED, LedgerEntry.Fate.SUPERSEDED}
MOST_SAID = 160


@dataclass
class Ties:
    """Where lines moved to or from. `shown` are the decisions with cards on the page, `files` the files
    on the page."""

    loaded: LoadedProposal
    shown: Collection[int]
    files: Collection[int] = ()
    ledger: Mapping[int, Sequence[LedgerEntry]] = field(default_factory=dict)

    @cached_property
    def _files(self) -> Mapping[str, FileChange]:
        """By path; the old path of a renamed file leads to the new file."""
        return {file.path: self.loaded.old_names.get(file.pk, file) for file in self.loaded.files}

    @cached_property
    def _elsewhere(self) -> Mapping[str, int]:
        """Memories outside this proposal that the ledger names as places of lines."""
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
        """The ledger's entries on the removed lines of this hunk, by line; `tied` removes those it shows."""
        found: defaultdict[str, list[LedgerEntry]] = defaultdict(list)
        for entry in self.ledger.get(row.pk, ()):
            found[entry.text.strip()].append(entry)
        return found

    def tied(self, row: Hunk, block: Block, entries: Mapping[str, list[LedgerEntry]]) -> Block:
        """The block with each line's ties."""
        hunk = block.hunk
        within = dict(diff.moved_within(hunk))
        came = {new: old for old, new in within.items()}
        out: list[DiffLine] = []
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
        """The move or the ledger entry of one removed line; the entry is removed from `entries`."""
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
            _NOT_KEPT.get(fate, "kept"),
            "Left out:" if fate == LedgerEntry.Fate.STATED else str(fate.label),
            _place(entry.target_path, entry.target_line, here) if entry.target_path else "",
            self._target(entry),
            # No quote of text in the same change: it is right there.
            quote=_short(entry.target_text) if fate in QUOTED and not _is_in(entry, here) else "",
            note=_short(_going_on(entry.note)),
        )

    def _target(self, entry: LedgerEntry) -> str:
        """The address of the change with the line's new place; else its file in the review; else its memory's page."""
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
        """The address of a change: at its decision, for a renamed file under the new name."""
        new = self.loaded.old_names.get(hunk.file_id)
        part = self.loaded.hunks[new.pk][0] if new else hunk
        decision = self.loaded.decision_of[part.pk]
        if decision.key in self.shown:
            return f"#hunk-{part.pk}"
        return address(
            self.loaded.proposal, file=decision.file_id, hunk=decision.pk, anchor=f"hunk-{part.pk}"
        )


def moves(loaded: LoadedProposal) -> list[diff.Move]:
    """The moves between all files of the proposal, computed once for each state."""
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


def _all_hunks(loaded: LoadedProposal) -> dict[str, list[diff.Hunk]]:
    """The hunks of all files except renamed ones, whose lines did not move."""
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
    """Whether the line's new place is within this change."""
    line = entry.target_line or 0
    return entry.target_path == hunk.file.path and hunk.new_start < line <= hunk.new_start + hunk.new_count


def _place(path: str, line: int | None, here: Hunk) -> str:
    where = "" if path == here.file.path else path
    return ", ".join(filter(None, (where, f"line {line}" if line else ""))) or path


def _going_on(note: str) -> str:
    """A standard note continues "Left out:" or a place, so it is not capitalised; a reason from somebody is unchanged."""
    return f"{note[:1].lower()}{note[1:].rstrip('.')}" if note in derived.NOTES else note


def _short(said: str) -> str:
    return diff.visible(text.shortened(said, MOST_SAID))
