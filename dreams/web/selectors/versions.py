"""Every state that a memory was in, and the difference between any two."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass

from django.db.models import Q

from dreams import blobs, text, textdiff
from dreams.models import Memory, Version
from dreams.web.paging import Listed, page_of
from dreams.web.selectors import difflines
from dreams.web.selectors.difflines import DiffLine

VERSIONS_PAGE = 30
MOST_ROWS = 3_000


@dataclass(frozen=True, slots=True)
class VersionRow:
    pk: int
    at: dt.datetime
    what: str
    origin: str
    icon: str
    tone: str
    who: str
    size: int
    sha: str
    is_now: bool
    is_removal: bool
    proposal: str
    previous: int | None


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two versions as rows. `same_text` is True where only what a text does not show differs, or nothing."""

    old: VersionRow
    new: VersionRow
    rows: list[DiffLine]
    added: int
    removed: int
    is_cut: bool
    missing: str


ORIGINS = {
    Version.Origin.FOUND: ("eye", "", "Found when first looked at"),
    Version.Origin.OUTSIDE: ("edit", "", "Changed outside"),
    Version.Origin.APPLY: ("moon", "accent", "Applied from a dream"),
    Version.Origin.ROLLBACK: ("undo", "warn", "Undone"),
    Version.Origin.RESTORE: ("redo", "ok", "Restored"),
    Version.Origin.EDIT: ("edit", "ok", "Edited by hand"),
    Version.Origin.FORGET: ("trash", "warn", "Forgotten"),
    Version.Origin.REDACTION: ("shield", "ok", "Redacted"),
}


def versions(memory: Memory, number: str | None = None) -> Listed[VersionRow]:
    rows = memory.versions.select_related("proposal").order_by("-at", "-pk")
    page = page_of(rows, number, VERSIONS_PAGE)
    found = list(page.object_list)
    before = _version_before(memory, found[-1]) if found else None
    older = [row.pk for row in found[1:]] + [before]
    made = [_version(row, memory, previous) for row, previous in zip(found, older, strict=True)]
    return Listed(made, page)


def _version_before(memory: Memory, row: Version) -> int | None:
    earlier = memory.versions.filter(Q(at__lt=row.at) | Q(at=row.at, pk__lt=row.pk)).order_by("-at", "-pk")
    return earlier.values_list("pk", flat=True).first()


def version(memory: Memory, pk: int) -> VersionRow | None:
    row = memory.versions.select_related("proposal").filter(pk=pk).first()
    return None if row is None else _version(row, memory, None)


def _version(row: Version, memory: Memory, previous: int | None) -> VersionRow:
    icon, tone, what = ORIGINS[Version.Origin(row.origin)]
    removed = not row.sha256
    if removed and row.origin == Version.Origin.OUTSIDE:
        icon, tone, what = "trash", "warn", "Removed outside"
    return VersionRow(
        pk=row.pk,
        at=row.at,
        what=what,
        origin=row.origin,
        icon=icon,
        tone=tone,
        who=row.actor,
        size=row.size,
        sha=row.sha256,
        is_now=bool(row.sha256) and memory.gone_at is None and row.sha256 == memory.sha256,
        is_removal=removed,
        proposal=row.proposal.public_id if row.proposal else "",
        previous=previous,
    )


def compare(old: VersionRow, new: VersionRow) -> Comparison:
    """The difference between two kept states; a removed file is an empty one."""
    kept = blobs.get_many([old.sha, new.sha])
    missing = next((row.sha[:12] for row in (old, new) if row.sha and row.sha not in kept), "")
    if missing:
        return Comparison(old, new, [], 0, 0, is_cut=False, missing=missing)
    before, after = (text.decode(kept.get(row.sha, b"")) for row in (old, new))
    rows = textdiff.rows(before, textdiff.hunks(before, after))
    return Comparison(
        old,
        new,
        rows=[] if before == after else difflines.lines(rows[:MOST_ROWS]),
        added=sum(row.kind == "ins" for row in rows),
        removed=sum(row.kind == "del" for row in rows),
        is_cut=len(rows) > MOST_ROWS,
        missing="",
    )


def choices(memory: Memory) -> list[VersionRow]:
    """Versions for the two pickers of the compare page."""
    rows = memory.versions.select_related("proposal").order_by("-at", "-pk")[:200]
    return [_version(row, memory, None) for row in rows]
