"""Every state that a memory was in, and the difference between any two."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from django.db.models import OuterRef, Q, QuerySet, Subquery

from dreams.lib.files import text
from dreams.lib.secrets import masking
from dreams.lib.secrets.masking import Mask
from dreams.models import Memory, Version
from dreams.services import blobs
from dreams.services.proposals import summaries
from dreams.web.pages import difflines
from dreams.web.pages.difflines import DiffLine
from dreams.web.pages.narrowed import EVERYTHING, OUTSIDE, SYSTEM, WORDS, Filter
from dreams.web.paging import Listed, page_of

VERSIONS_PAGE = 30
MOST_ROWS = 3_000
MOST_CHOICES = 200


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
    reason: str
    proposal: str
    dream: str
    previous: int | None


@dataclass(frozen=True, slots=True)
class Choices:
    """What the filters offer: what occurs in this memory's past."""

    kinds: list[tuple[str, str]]
    people: list[tuple[str, str]]


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
    secrets: int


ORIGINS = {
    Version.Origin.FOUND: ("eye", "", "Already there when memoryweb started"),
    Version.Origin.OUTSIDE: ("edit", "", "Changed outside"),
    Version.Origin.APPLY: ("moon", "accent", "Applied from a dream"),
    Version.Origin.ROLLBACK: ("undo", "warn", "Undone"),
    Version.Origin.RESTORE: ("redo", "ok", "Restored"),
    Version.Origin.EDIT: ("edit", "ok", "Edited by hand"),
    Version.Origin.FORGET: ("trash", "warn", "Forgotten"),
    Version.Origin.REDACTION: ("shield", "ok", "Redacted"),
}


# Nobody of ours made these; who did is not known.
_NOT_OURS = (Version.Origin.FOUND, Version.Origin.OUTSIDE)


def versions(memory: Memory, number: str | None = None, wanted: Filter = EVERYTHING) -> Listed[VersionRow]:
    """Newest first. `previous` is the state before it, whatever is filtered."""
    rows = _matching(memory.versions.all(), wanted).annotate(previous=Subquery(_before_each()))
    page = page_of(rows.select_related("proposal__dream").order_by("-at", "-pk"), number, VERSIONS_PAGE)
    shown = list(page.object_list)
    reasons = _reasons(shown, memory)
    return Listed([_version(row, memory, row.previous, reasons) for row in shown], page)


def _reasons(rows: Iterable[Version], memory: Memory) -> Mapping[int, str]:
    return summaries.reasons_in(memory.path, (row.proposal for row in rows if row.proposal))


def _before_each() -> QuerySet[Version, int]:
    earlier = Q(at__lt=OuterRef("at")) | Q(at=OuterRef("at"), pk__lt=OuterRef("pk"))
    rows = Version.objects.filter(earlier, memory=OuterRef("memory")).order_by("-at", "-pk")
    return rows.values_list("pk", flat=True)[:1]


def _matching(rows: QuerySet[Version], wanted: Filter) -> QuerySet[Version]:
    if wanted.kind:
        rows = rows.filter(origin=wanted.kind)
    if wanted.who == OUTSIDE:
        return rows.filter(actor="", origin__in=_NOT_OURS)
    if wanted.who == SYSTEM:
        return rows.filter(actor="").exclude(origin__in=_NOT_OURS)
    return rows.filter(actor=wanted.who) if wanted.who else rows


def filters(memory: Memory) -> Choices:
    """One query."""
    seen = set(memory.versions.order_by().values_list("origin", "actor").distinct())
    people = sorted({actor for _, actor in seen if actor})
    named = [(actor, actor) for actor in people]
    if any(not actor and origin not in _NOT_OURS for origin, actor in seen):
        named.append((SYSTEM, WORDS[SYSTEM]))
    if any(not actor and origin in _NOT_OURS for origin, actor in seen):
        named.append((OUTSIDE, WORDS[OUTSIDE]))
    kinds = {origin for origin, _ in seen}
    return Choices([(name, what) for name, (_, _, what) in ORIGINS.items() if name in kinds], named)


def last_kept(memory: Memory) -> int | None:
    """The newest version that was no removal: what a removed memory said last."""
    rows = memory.versions.exclude(sha256="").order_by("-at", "-pk")
    return rows.values_list("pk", flat=True).first()


def version(memory: Memory, pk: int) -> VersionRow | None:
    row = memory.versions.select_related("proposal__dream").filter(pk=pk).first()
    return None if row is None else _version(row, memory, None, _reasons([row], memory))


def _version(row: Version, memory: Memory, previous: int | None, reasons: Mapping[int, str]) -> VersionRow:
    icon, tone, what = ORIGINS[Version.Origin(row.origin)]
    removed = not row.sha256
    if removed and row.origin == Version.Origin.OUTSIDE:
        icon, tone, what = "trash", "warn", "Removed outside"
    if row.aside_at:
        icon, tone, what = "warn", "warn", "Written at the moment of an apply, not in the file"
    return VersionRow(
        pk=row.pk,
        at=row.at,
        what=what,
        origin=row.origin,
        icon=icon,
        tone=tone,
        who=row.actor or _nobody(row),
        size=row.size,
        sha=row.sha256,
        is_now=bool(row.sha256) and memory.gone_at is None and row.sha256 == memory.sha256,
        is_removal=removed,
        reason=reasons.get(row.proposal_id or 0, ""),
        proposal=row.proposal.public_id if row.proposal else "",
        dream=row.proposal.dream.public_id if row.proposal and row.proposal.dream else "",
        previous=previous,
    )


def _nobody(row: Version) -> str:
    """What brought such a version says already that it was somebody outside."""
    return "" if row.origin in _NOT_OURS else WORDS[SYSTEM]


def compare(old: VersionRow, new: VersionRow, *, is_bare: bool = False) -> Comparison:
    """The difference between two kept states; a removed file is an empty one. `is_bare`: with its secrets."""
    kept = blobs.get_many([old.sha, new.sha])
    missing = next((row.sha[:12] for row in (old, new) if row.sha and row.sha not in kept), "")
    if missing:
        return Comparison(old, new, [], 0, 0, is_cut=False, missing=missing, secrets=0)
    before, after = (text.decode(kept.get(row.sha, b"")) for row in (old, new))
    known = Mask.of((before, after))
    rows = masking.rows(Mask() if is_bare else known, before, after)
    return Comparison(
        old,
        new,
        rows=[] if before == after else difflines.lines(rows[:MOST_ROWS]),
        added=sum(row.kind == "ins" for row in rows),
        removed=sum(row.kind == "del" for row in rows),
        is_cut=len(rows) > MOST_ROWS,
        missing="",
        secrets=len(known.shown),
    )


def choices(memory: Memory) -> list[VersionRow]:
    """Versions for the two pickers of the compare page."""
    rows = list(memory.versions.select_related("proposal__dream").order_by("-at", "-pk")[:MOST_CHOICES])
    reasons = _reasons(rows, memory)
    return [_version(row, memory, None, reasons) for row in rows]


def with_picked(options: Sequence[VersionRow], picked: Iterable[VersionRow]) -> list[VersionRow]:
    """The choices, and behind them those picked that are older than all that are offered."""
    known = {row.pk for row in options}
    return [*options, *(row for row in picked if row.pk not in known)]
