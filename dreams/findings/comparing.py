"""Two states of a directory as a subject: the hunks between them, with nothing said of them by anybody. PURE."""

from __future__ import annotations

from collections.abc import Mapping

from dreams import drafts
from dreams.conf import Config
from dreams.findings.base import ChangedHunk, Subject


def between(
    before: Mapping[str, bytes],
    after: Mapping[str, bytes],
    *,
    config: Config | None = None,
    instructions: str = "",
    hard_linked: frozenset[str] = frozenset(),
    irregular: Mapping[str, str] | None = None,
) -> Subject:
    """What changed from `before` to `after`, whoever changed it."""
    hunks = [
        hunk
        for path in sorted(before.keys() | after.keys())
        if before.get(path) != after.get(path)
        for hunk in _hunks(path, before.get(path), after.get(path))
    ]
    return Subject(
        before,
        after,
        hunks,
        config or Config(),
        instructions,
        hard_linked=hard_linked,
        irregular=irregular or {},
    )


def _hunks(path: str, base: bytes | None, new: bytes | None) -> list[ChangedHunk]:
    return [
        ChangedHunk(
            path,
            hunk.id,
            hunk.base_start,
            tuple(line.rstrip("\r\n") for line in hunk.base_lines),
            hunk.new_start,
            tuple(line.rstrip("\r\n") for line in hunk.new_lines),
        )
        for hunk in drafts.file_hunks(path, base, new)
    ]
