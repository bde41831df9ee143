"""From rows to hunks and bytes. Rows hold ids, sha256s and line ranges; the texts are blobs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from dreams import blobs, drafts, memdir, text, textdiff
from dreams.engines.base import Citation, Fate
from dreams.models import (
    FileChange,
    Hunk,
)


def bytes_of(sha: str) -> bytes | None:
    """The bytes of a file's state; None for a file that does not exist."""
    return blobs.get(sha) if sha else None


def text_hunks(file: FileChange) -> list[tuple[Hunk, textdiff.Hunk]]:
    """The rows of a file's hunks with their lines, in order."""
    base = textdiff.split_lines(blobs.get_text(file.base_sha))
    new = textdiff.split_lines(blobs.get_text(file.new_sha))
    return [(row, lines_of(row, base, new)) for row in file.hunks.all()]


def lines_of(row: Hunk, base: Sequence[str], new: Sequence[str]) -> textdiff.Hunk:
    """The row of a hunk with its lines, from the split texts of its file."""
    return textdiff.Hunk(
        row.hunk_id,
        row.base_start,
        tuple(base[row.base_start : row.base_start + row.base_count]),
        row.new_start,
        tuple(new[row.new_start : row.new_start + row.new_count]),
    )


def choices(
    file: FileChange, *, undecided: bool, instead: Mapping[int, str] | None = None
) -> dict[str, textdiff.Choice]:
    """hunk id → taken, not taken, or the text in its place. `undecided` says what a pending hunk counts as.

    `instead`, hunk pk → text, is what somebody is typing and has not saved.
    """
    chosen: dict[str, textdiff.Choice] = {}
    for hunk in file.hunks.all():
        if instead and hunk.pk in instead:
            chosen[hunk.hunk_id] = instead[hunk.pk]
        elif hunk.verdict == Hunk.Verdict.EDITED:
            chosen[hunk.hunk_id] = blobs.get_text(hunk.edited_sha)
        else:
            chosen[hunk.hunk_id] = hunk.is_taken or (undecided and hunk.verdict == Hunk.Verdict.PENDING)
    return chosen


def decided_bytes(
    file: FileChange, *, undecided: bool = False, instead: Mapping[int, str] | None = None
) -> bytes | None:
    """The file as the verdicts want it; None when it is not to exist. `instead` as for `choices`."""
    found = [hunk for _, hunk in text_hunks(file)]
    chosen = choices(file, undecided=undecided, instead=instead)
    return drafts.rebuild(bytes_of(file.base_sha), bytes_of(file.new_sha), found, chosen)


def citations_of(row: Hunk) -> tuple[Citation, ...]:
    return tuple(
        Citation(
            source=e.source,  # type: ignore[arg-type] # TextChoices holds the same words
            quote=e.quote,
            place=e.place,
            session_pk=e.session_id,
            line_no=e.line_no,
            offset=e.offset,
            role=e.role,
            at=e.at,
            context=e.context,
            found=e.found,
            note=e.note,
        )
        for e in row.evidence.all()
    )


def fates_of(row: Hunk) -> tuple[Fate, ...]:
    """What the engine said of removed lines. The ledger checks it anew each time: a claim is never proof."""
    return tuple(Fate(c["text"], c["fate"], c["path"], c["target"], c["note"]) for c in row.claims)


def added_lines(row: Hunk) -> list[str]:
    """The new lines of a hunk, as any database takes them."""
    lines = next((hunk.new_lines for found, hunk in text_hunks(row.file) if found.pk == row.pk), ())
    return [text.storable(line.strip(), 1000) for line in lines if line.strip()]


def inputs_key(hunk: Hunk) -> str:
    """As `drafts.DraftHunk.inputs_key`, from the saved evidence."""
    return drafts.DraftHunk(textdiff.Hunk(hunk.hunk_id, 0, (), 0, ()), "", citations_of(hunk), ()).inputs_key


def memory_type(path: str, data: bytes | None) -> str:
    """`index` for MEMORY.md, else the memory's own type, else empty."""
    if path.rpartition("/")[2] == "MEMORY.md":
        return "index"
    return memdir.memory_type(memdir.parse(data or b""), path) or ""
