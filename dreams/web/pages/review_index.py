"""What the agent will load of MEMORY.md once the review is submitted: a budget, and the rows it costs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from dreams import blobs, conf, memdir, text
from dreams.models import FileChange
from dreams.web.pages.review_loaded import Loaded, file_texts

INDEX = memdir.INDEX_NAME


@dataclass(frozen=True, slots=True)
class Loads:
    """The index with everything that is not rejected. `off` and `back` are titles of rows that change sides."""

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
    """None where the project has no index and gets none, and where nothing of a closed proposal stands."""
    if not loaded.is_open and not any(h.applied_in_id and not h.undone_in_id for h in loaded.all_hunks):
        return None
    file = next((file for file in loaded.files if file.path == INDEX), None)
    before, after = _states(loaded, file, texts)
    if before is None and after is None:
        return None
    config = conf.current(loaded.proposal.project)
    limits = {"max_lines": config.index_max_lines, "max_bytes": config.index_max_bytes}
    old, new = memdir.loaded(before or b"", **limits), memdir.loaded(after or b"", **limits)
    fell, falls = _titles(old), _titles(new)
    rows = {row.title or row.target for row in memdir.parse_index(text.decode(after or b"")).rows}
    return Loads(
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


def _states(
    loaded: Loaded, file: FileChange | None, texts: Mapping[str, bytes]
) -> tuple[bytes | None, bytes | None]:
    if file is None:
        sha = (
            loaded.proposal.project.memories.filter(path=INDEX, gone_at__isnull=True)
            .values_list("sha256", flat=True)
            .first()
        )
        now = blobs.get_many([sha]).get(sha) if sha else None
        return now, now
    lines = file_texts(file, loaded.hunks[file.pk], texts)
    return lines.base, lines.decided()
