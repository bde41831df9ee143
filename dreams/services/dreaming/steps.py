"""The steps of a dream, kept as they happen: what a dream that ends early had changed, with its reasons and evidence.

Bounded in steps, bytes, days and dreams. What is kept is a beginning: the steps up to a bound, never some in between.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence

from django.db.models import Max

from dreams.engines.types import Edit
from dreams.lib.files import text
from dreams.models import DreamRun, Session, WorkStep, WorkText
from dreams.services.proposals import saving

MOST_STEPS = 1_000  # of one dream, for what is left of it when it fails; chosen
MOST_BYTES = 16 * 1024 * 1024
KEEP = dt.timedelta(days=14)  # that unfinished work can be looked at; chosen
MOST_DREAMS = 20  # whose unfinished work is kept, the newest


def keep(dream: DreamRun, edits: Sequence[Edit]) -> None:
    """Keep the steps of one turn; call it in the transaction that keeps the turn."""
    if not edits:
        return
    last = dream.steps.aggregate(last=Max("number"))["last"] or 0
    sizes = dict(dream.step_texts.values_list("sha256", "size"))
    for number, edit in enumerate(edits, last + 1):
        found = {text.sha256(data): data for data in _bytes_of(edit)}
        fresh = {sha: data for sha, data in found.items() if sha not in sizes}
        sizes |= {sha: len(data) for sha, data in fresh.items()}
        if number > MOST_STEPS or sum(sizes.values()) > MOST_BYTES:
            break
        WorkText.objects.bulk_create(
            WorkText(dream=dream, sha256=sha, data=data, size=len(data)) for sha, data in fresh.items()
        )
        _row(dream, number, edit).save(force_insert=True)


def _bytes_of(edit: Edit) -> list[bytes]:
    return [text.encode(side) for side in (edit.before, edit.after) if side is not None]


def _sha_of(side: str | None) -> str:
    return "" if side is None else text.sha256(text.encode(side))


def _row(dream: DreamRun, number: int, edit: Edit) -> WorkStep:
    return WorkStep(
        dream=dream,
        number=number,
        path=edit.path,
        before_sha=_sha_of(edit.before),
        after_sha=_sha_of(edit.after),
        operation=text.storable(edit.operation, 200),
        kind=edit.kind,
        reason=text.storable(edit.reason, 2000),
        citations=[saving.stored_citation(found) for found in edit.citations],
        fates=[saving.stored_fate(fate) for fate in edit.fates],
    )


# --- Read back ----------------------------------------------------------------------------------------------------


def changed(dream: DreamRun) -> list[str]:
    """The files that stand otherwise after the kept steps than before them, by name; one query."""
    ends: dict[str, tuple[str, str]] = {}
    for path, before, after in dream.steps.values_list("path", "before_sha", "after_sha"):
        ends[path] = (ends[path][0] if path in ends else before, after)
    return sorted(path for path, (before, after) in ends.items() if before != after)


def edits_of(dream: DreamRun) -> list[Edit]:
    """The kept steps as the engine made them, in order."""
    texts = {row.sha256: text.decode(bytes(row.data)) for row in dream.step_texts.all()}
    rows = list(dream.steps.all())
    named = {c.get("session_pk") for row in rows for c in row.citations}
    sessions = set(Session.objects.filter(pk__in=named - {None}).values_list("pk", flat=True))
    return [
        Edit(
            path=row.path,
            before=texts[row.before_sha] if row.before_sha else None,
            after=texts[row.after_sha] if row.after_sha else None,
            operation=row.operation,
            kind=saving.operation_kind(row.kind),
            reason=row.reason,
            citations=tuple(saving.citation(found, sessions) for found in row.citations),
            fates=tuple(saving.fate(found) for found in row.fates),
        )
        for row in rows
    ]


# --- Sweeping -----------------------------------------------------------------------------------------------------


def forget(dream: DreamRun) -> None:
    """Nothing of its steps is needed any more: it ended well, or they were proposed."""
    dream.steps.all().delete()
    dream.step_texts.all().delete()


def sweep(now: dt.datetime) -> int:
    """Forget the steps of dreams that ended too long ago, or before many others that ended early; returns how many."""
    early = DreamRun.objects.filter(status__in=DreamRun.TERMINAL, steps__isnull=False).distinct()
    kept = early.filter(ended_at__gt=now - KEEP).order_by("-ended_at").values_list("pk", flat=True)
    old = list(early.exclude(pk__in=list(kept[:MOST_DREAMS])))
    for dream in old:
        forget(dream)
    return len(old)
