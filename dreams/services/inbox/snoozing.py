"""Putting something off that waits: until a day, or until the next dream has ended. What is put off is never lost: it
comes back by itself, and earlier where it waits for another reason than before.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable

from django.db import transaction
from django.db.models import Exists, F, OuterRef, Q, QuerySet

from dreams.models import DreamRun, Snooze
from dreams.services import auditlog


def in_force(now: dt.datetime) -> QuerySet[Snooze]:
    """What is put off now, what comes back first at the top."""
    ended = DreamRun.objects.filter(status__in=DreamRun.TERMINAL, ended_at__gt=OuterRef("made_at"))
    rows = Snooze.objects.filter(Q(until__gt=now) | (Q(until__isnull=True) & ~Exists(ended)))
    return rows.order_by(F("until").asc(nulls_last=True), "made_at")


def put_off(items: Iterable[tuple[str, str]], until: dt.datetime | None, actor: str, now: dt.datetime) -> int:
    """Put off `items` (id, why each waits); `until` None is until the next dream has ended. Returns how many."""
    rows = [Snooze(item=item, kind=kind, until=until, made_at=now, made_by=actor) for item, kind in items]
    with transaction.atomic():
        _forget_old(now)
        Snooze.objects.bulk_create(
            rows,
            update_conflicts=True,
            unique_fields=["item"],
            update_fields=["kind", "until", "made_at", "made_by"],
        )
        for row in rows:
            auditlog.record(
                "inbox.snoozed", actor=actor, object_id=row.item, until=until.isoformat() if until else ""
            )
    return len(rows)


def bring_back(item: str, actor: str) -> bool:
    """Show it again now. False where it was not put off."""
    with transaction.atomic():
        deleted, _ = Snooze.objects.filter(item=item).delete()
        if deleted:
            auditlog.record("inbox.brought_back", actor=actor, object_id=item)
    return bool(deleted)


def _forget_old(now: dt.datetime) -> None:
    """Take away what is no longer put off: rows of proposals that are long decided would stay for ever."""
    Snooze.objects.exclude(pk__in=in_force(now).values("pk")).delete()
