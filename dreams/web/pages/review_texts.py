"""The texts of a proposal: both states of each file with secrets masked, how a file will read, and what an agent loads of the index."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from django.db.models import Model

from dreams import conf
from dreams.engines import drafts
from dreams.lib import diff, memdir
from dreams.lib.files import text
from dreams.lib.secrets.masking import Mask
from dreams.models import AppliedFile, FileChange, Hunk, Proposal
from dreams.services import blobs, proposals
from dreams.web.hidden_secrets import Sight
from dreams.web.pages.review_proposal import Loaded

Row = TypeVar("Row", bound=Model)


@dataclass(frozen=True, slots=True)
class FileTexts:
    """Both states of a file and its hunks with their lines. `edited` has the texts that a person put in."""

    base: bytes | None
    new: bytes | None
    hunks: tuple[tuple[Hunk, diff.Hunk], ...]
    edited: Mapping[str, str]

    @property
    def is_text(self) -> bool:
        return text.is_utf8(self.base or b"") and text.is_utf8(self.new or b"")

    def decided(self) -> bytes | None:
        """The file with everything that is not rejected; None when it is not to exist."""
        pending = Hunk.Verdict.PENDING
        chosen = {
            row.hunk_id: self.edited.get(row.hunk_id, row.is_taken or row.verdict == pending)
            for row, _ in self.hunks
        }
        return drafts.rebuild(self.base, self.new, [hunk for _, hunk in self.hunks], chosen)

    def whole(self, row: Hunk) -> str:
        """The new text, of a file that is one change: a person's own where there is one."""
        return self.edited.get(row.hunk_id, text.decode(self.new or b""))

    def as_shown(self) -> list[diff.Hunk]:
        """The hunks with a person's own text in place of the proposed one."""
        return [
            replace(hunk, new_lines=tuple(diff.split_lines(self.edited[row.hunk_id])))
            if row.hunk_id in self.edited
            else hunk
            for row, hunk in self.hunks
        ]


def shas(loaded: Loaded, file: FileChange) -> Iterator[str]:
    """Every text of a shown file: before and after, of its old name too, and what a person put in."""
    for part in loaded.parts_of(file):
        yield from (part.base_sha, part.new_sha)
    yield from (hunk.edited_sha for hunk in loaded.hunks[file.pk])


def texts_of(loaded: Loaded, shown: Collection[int]) -> Mapping[str, bytes]:
    """The blobs of these files and of the index, in one query."""
    wanted = [file for file in loaded.files if file.pk in shown or file.path == memdir.INDEX_NAME]
    return blobs.get_many(sha for file in wanted for sha in shas(loaded, file))


def file_texts(file: FileChange, rows: Sequence[Hunk], texts: Mapping[str, bytes]) -> FileTexts:
    base, new = texts.get(file.base_sha), texts.get(file.new_sha)
    old_lines, new_lines = (diff.split_lines(text.decode(side or b"")) for side in (base, new))
    return FileTexts(
        base=base if file.base_sha else None,
        new=new if file.new_sha else None,
        hunks=tuple((row, proposals.lines_of(row, old_lines, new_lines)) for row in rows),
        edited={
            row.hunk_id: text.decode(texts.get(row.edited_sha, b""))
            for row in rows
            if row.verdict == Hunk.Verdict.EDITED
        },
    )


@dataclass(frozen=True, slots=True)
class TextSight(Sight):
    """What a card shows in place of secrets. `plain` are the texts themselves (sha256 → bytes), `texts` as shown."""

    plain: Mapping[str, bytes]
    texts: Mapping[str, bytes]

    def secrets_in(self, *shas: str) -> int:
        return self.known.count("\n".join(text.decode(self.plain.get(sha, b"")) for sha in shas))

    def rows(self, rows: Iterable[Row], *fields: str) -> list[Row]:
        """Rows read for a page, and never saved, with their words masked."""
        found = list(rows)
        if self.mask.shown:
            for row in found:
                for name in fields:
                    setattr(row, name, self.mask.deep(getattr(row, name)))
        return found


def sight(loaded: Loaded, texts: Mapping[str, bytes]) -> TextSight:
    seen = Sight.of(map(text.decode, texts.values()), is_bare=loaded.is_bare)
    return TextSight(seen.known, seen.is_bare, texts, masked(texts, seen.mask))


def masked(texts: Mapping[str, bytes], mask: Mask) -> Mapping[str, bytes]:
    return {sha: mask.bytes(data) for sha, data in texts.items()}


_FENCE = re.compile(r"^ {0,3}(`{3,}|~{3,})")


@dataclass(frozen=True, slots=True)
class Passage:
    """Markdown source of a run of lines. `kind` is equal, ins or del."""

    kind: str
    source: str


@dataclass(frozen=True, slots=True)
class Rendered:
    """`fields` are those of the frontmatter as it will be."""

    fields: tuple[tuple[str, str], ...]
    passages: tuple[Passage, ...]

    @property
    def is_marked(self) -> bool:
        return any(passage.kind != "equal" for passage in self.passages)


def rendered(found: FileTexts, before: bytes | None) -> Rendered:
    """What is left when everything not rejected is taken, with what changes in it against `before` marked."""
    document = memdir.parse(found.decided() or b"")
    front = document.frontmatter
    fields = tuple(front.fields) if front else ()
    old = memdir.parse(before or b"").body
    return Rendered(fields, tuple(_passages(_blocks(old), _blocks(document.body))))


def _passages(old: Sequence[str], new: Sequence[str]) -> Iterator[Passage]:
    at = 0
    for change in diff.line_changes(old, new, "block"):
        yield from _passage("equal", old[at : change.a0])
        yield from _passage("del", old[change.a0 : change.a1])
        yield from _passage("ins", new[change.b0 : change.b1])
        at = change.a1
    yield from _passage("equal", old[at:])


def _passage(kind: str, blocks: Sequence[str]) -> Iterator[Passage]:
    source = "".join(blocks)
    if source.strip():
        yield Passage(kind, diff.visible(source))


def _blocks(body: str) -> list[str]:
    """Lines; but fenced code and a table are one piece each, as half of either would not read as what it is."""
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


INDEX = memdir.INDEX_NAME


@dataclass(frozen=True, slots=True)
class Loads:
    """The index with everything that is not rejected; `is_on_disk`: as it is now, with what it was before the proposal
    was written. `off` and `back` are titles of rows that change sides."""

    is_on_disk: bool
    lines: int
    max_lines: int
    bytes: int
    max_bytes: int
    lines_before: int
    bytes_before: int
    off: tuple[str, ...]
    back: tuple[str, ...]
    still_off: int

    @property
    def kilobytes(self) -> str:
        """ "20.4 of 25 KB", in thousands, as the limit is counted."""
        return f"{_tenths(self.bytes)} of {self.max_bytes / 1000:g} KB"

    @property
    def kilobytes_before(self) -> str:
        return _tenths(self.bytes_before)

    @property
    def moved_bytes(self) -> bool:
        """Whether the difference shows at all in tenths of a kilobyte."""
        return _tenths(self.bytes) != self.kilobytes_before

    @property
    def words(self) -> str:
        return f"{self.lines:,} of {self.max_lines:,} lines, {self.bytes:,} of {self.max_bytes:,} bytes"


def _tenths(count: int) -> str:
    """Kilobytes. A few bytes are not none: "0.0" would say that nothing is loaded."""
    return f"{max(count / 1000, 0.1 if count else 0):.1f}"


def loads(loaded: Loaded, texts: Mapping[str, bytes]) -> Loads | None:
    """None where the project has no index and gets none, and where nothing of a closed proposal was ever written."""
    is_on_disk = any(hunk.applied_in_id for hunk in loaded.all_hunks)
    waits = loaded.proposal.state in (Proposal.State.OPEN, Proposal.State.SUBMITTED)
    if not (is_on_disk or waits):
        return None
    before, after = _written(loaded) if is_on_disk else _decided(loaded, texts)
    if before is None and after is None:
        return None
    config = conf.current(loaded.proposal.project)
    limits = {"max_lines": config.index_max_lines, "max_bytes": config.index_max_bytes}
    old, new = memdir.loaded(before or b"", **limits), memdir.loaded(after or b"", **limits)
    fell, falls = _titles(old), _titles(new)
    rows = {row.title or row.target for row in memdir.parse_index(text.decode(after or b"")).rows}
    return Loads(
        is_on_disk=is_on_disk,
        lines=new.lines,
        max_lines=config.index_max_lines,
        bytes=new.bytes,
        max_bytes=config.index_max_bytes,
        lines_before=old.lines,
        bytes_before=old.bytes,
        off=tuple(title for title in falls if title not in fell),
        back=tuple(title for title in fell if title not in falls and title in rows),
        still_off=len(falls),
    )


def _titles(found: memdir.Loaded) -> list[str]:
    return [row.title or row.target for row in found.rows_dropped]


def _written(loaded: Loaded) -> tuple[bytes | None, bytes | None]:
    """The index as it was before anything of this was written, and as it is on disk."""
    now = _sha_now(loaded)
    written = AppliedFile.objects.filter(application__proposal=loaded.proposal.pk, path=INDEX)
    before = written.order_by("pk").values_list("before_sha", flat=True).first()
    before = now if before is None else before
    kept = blobs.get_many(filter(None, {before, now}))
    return kept.get(before), kept.get(now)


def _decided(loaded: Loaded, texts: Mapping[str, bytes]) -> tuple[bytes | None, bytes | None]:
    """The index as the proposal starts from it, and as the verdicts want it; what waits counts until the submit."""
    file = next((file for file in loaded.files if file.path == INDEX), None)
    if file is None:
        now = _sha_now(loaded)
        data = blobs.get_many([now]).get(now) if now else None
        return data, data
    lines = file_texts(file, loaded.hunks[file.pk], texts)
    if loaded.is_open:
        return lines.base, lines.decided()
    taken = {row.hunk_id: lines.edited.get(row.hunk_id, row.is_taken) for row, _ in lines.hunks}
    return lines.base, drafts.rebuild(lines.base, lines.new, [hunk for _, hunk in lines.hunks], taken)


def _sha_now(loaded: Loaded) -> str:
    rows = loaded.proposal.project.memories.filter(path=INDEX, gone_at__isnull=True)
    return rows.values_list("sha256", flat=True).first() or ""
