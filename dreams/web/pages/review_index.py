"""What the agent loads of MEMORY.md: before a submit what it would load, after it what is on disk and what was before."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from dreams import conf
from dreams.engines import drafts
from dreams.lib import memdir
from dreams.lib.files import text
from dreams.models import AppliedFile, Proposal
from dreams.services import blobs
from dreams.web.pages.review_loaded import Loaded, file_texts

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
