"""From rows to hunks and bytes. Rows hold ids, sha256s and line ranges; the texts are blobs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Protocol

from dreams.engines import drafts
from dreams.engines.types import Citation, Fate
from dreams.lib import diff, memdir
from dreams.lib.files import text
from dreams.models import (
    FileChange,
    Hunk,
)
from dreams.services import blobs


class Texts:
    """Blobs by sha256, and their lines, each looked up and split once: a proposal of many files is one query, not four a file."""

    def __init__(self, kept: Mapping[str, bytes] | None = None) -> None:
        self._kept = dict(kept or {})
        self._lines: dict[str, list[str]] = {}

    def data(self, sha: str) -> bytes:
        """As `blobs.get`. Raises MissingBlob."""
        if sha not in self._kept:
            self._kept[sha] = blobs.get(sha)
        return self._kept[sha]

    def text(self, sha: str) -> str:
        return text.decode(self.data(sha))

    def lines(self, sha: str) -> Sequence[str]:
        if sha not in self._lines:
            self._lines[sha] = diff.split_lines(self.text(sha))
        return self._lines[sha]


def texts_of(files: Iterable[FileChange]) -> Texts:
    """Every text of these files and of their hunks, which are best fetched with them already."""
    shas = [sha for f in files for sha in (f.base_sha, f.new_sha, *(h.edited_sha for h in f.hunks.all()))]
    return Texts(blobs.get_many(shas))


def bytes_of(sha: str, texts: Texts | None = None) -> bytes | None:
    """The bytes of a file's state; None for a file that does not exist."""
    return (texts or Texts()).data(sha) if sha else None


def text_hunks(file: FileChange, texts: Texts | None = None) -> list[tuple[Hunk, diff.Hunk]]:
    """The rows of a file's hunks with their lines, in order."""
    texts = texts or Texts()
    base, new = texts.lines(file.base_sha), texts.lines(file.new_sha)
    return [(row, lines_of(row, base, new)) for row in file.hunks.all()]


class Placed(Protocol):
    """What says which lines a hunk takes away and puts in place."""

    @property
    def hunk_id(self) -> str: ...
    @property
    def base_start(self) -> int: ...
    @property
    def base_count(self) -> int: ...
    @property
    def new_start(self) -> int: ...
    @property
    def new_count(self) -> int: ...


def lines_of(row: Placed, base: Sequence[str], new: Sequence[str]) -> diff.Hunk:
    """The row of a hunk with its lines, from the split texts of its file."""
    return diff.Hunk(
        row.hunk_id,
        row.base_start,
        tuple(base[row.base_start : row.base_start + row.base_count]),
        row.new_start,
        tuple(new[row.new_start : row.new_start + row.new_count]),
    )


def choices(
    file: FileChange,
    *,
    undecided: bool,
    instead: Mapping[int, str] | None = None,
    texts: Texts | None = None,
) -> dict[str, diff.Choice]:
    """hunk id → taken, not taken, or the text in its place. `undecided` says what a pending hunk counts as.

    `instead`, hunk pk → text, is what somebody is typing and has not saved.
    """
    texts = texts or Texts()
    chosen: dict[str, diff.Choice] = {}
    for hunk in file.hunks.all():
        if instead and hunk.pk in instead:
            chosen[hunk.hunk_id] = instead[hunk.pk]
        elif hunk.verdict == Hunk.Verdict.EDITED:
            chosen[hunk.hunk_id] = texts.text(hunk.edited_sha)
        else:
            chosen[hunk.hunk_id] = hunk.is_taken or (undecided and hunk.verdict == Hunk.Verdict.PENDING)
    return chosen


def decided_bytes(
    file: FileChange,
    *,
    undecided: bool = False,
    instead: Mapping[int, str] | None = None,
    texts: Texts | None = None,
) -> bytes | None:
    """The file as the verdicts want it; None when it is not to exist. `instead` as for `choices`."""
    texts = texts or Texts()
    found = [hunk for _, hunk in text_hunks(file, texts)]
    chosen = choices(file, undecided=undecided, instead=instead, texts=texts)
    return drafts.rebuild(bytes_of(file.base_sha, texts), bytes_of(file.new_sha, texts), found, chosen)


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


def added_lines(lines: diff.Hunk) -> list[str]:
    """The new lines of a hunk, as any database takes them."""
    return [text.storable(line.strip(), 1000) for line in lines.new_lines if line.strip()]


def inputs_key(hunk: Hunk) -> str:
    """As `drafts.DraftHunk.inputs_key`, from the saved evidence."""
    return drafts.DraftHunk(diff.Hunk(hunk.hunk_id, 0, (), 0, ()), "", citations_of(hunk), ()).inputs_key


def memory_type(path: str, data: bytes | None) -> str:
    """`index` for MEMORY.md, else the memory's own type, else empty."""
    if path.rpartition("/")[2] == "MEMORY.md":
        return "index"
    return memdir.memory_type(memdir.parse(data or b""), path) or ""
