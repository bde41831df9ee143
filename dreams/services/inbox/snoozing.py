"""Snoozes inbox items for an account, until a time or until the next dream ends."""

import datetime as dt
from collections.abc import Iterable
from typing import Any

from django.db import transaction
from django.db.models import Exists, F, OuterRef, Q, QuerySet

from dreams.models import DreamRun, Proposal, ScheduledJob, Snooze
from dreams.models.prepared import prepared
from dreams.services import auditlog, login

#: What all open questions are called, which wait as one thing.
QUESTIONS_KEY = "questions"


def in_force(now: dt.datetime) -> QuerySet[Snooze]:
    """What anybody has put off now, what comes back first at the top. A clock that ran ahead put nothing off."""
    ended = DreamRun.objects.filter(status__in=DreamRun.TERMINAL, ended_at__gt=OuterRef("made_at"))
    rows = Snooze.objects.filter(Q(until__gt=now) | (Q(until__isnull=True) & ~Exists(ended)))
    return rows.filter(made_at__lte=now).order_by(F("until").asc(nulls_last=True), "made_at")


def put_off_by(reader: str, now: dt.datetime) -> QuerySet[Snooze]:
    return in_force(now).filter(made_by=reader)


snoozes = prepared(put_off_by)


def whose(reader: str) -> str:
    """Whose list it is. "" is nobody's list, such as the digest: then the owner's, who set it up."""
    return reader or login.ensure_owner().get_username()


def put_off(items: Iterable[tuple[str, str]], until: dt.datetime | None, actor: str, now: dt.datetime) -> int:
    """Put off `items` (id, why each waits) for the account `actor`; `until` None is until the next dream has ended. Returns how many."""
    rows = [Snooze(item=item, kind=kind, until=until, made_at=now, made_by=actor) for item, kind in items]
    with transaction.atomic():
        # Rows of proposals that are long decided would stay for ever.
        Snooze.objects.exclude(pk__in=in_force(now).values("pk")).delete()
        Snooze.objects.bulk_create(
            rows,
            update_conflicts=True,
            unique_fields=["item", "made_by"],
            update_fields=["kind", "until", "made_at"],
        )
        for row in rows:
            _record("inbox.snoozed", row.item, actor, until=until.isoformat() if until else "")
    return len(rows)


def bring_back(item: str, actor: str) -> bool:
    """Show it to this account again now. False where that had not put it off."""
    with transaction.atomic():
        deleted, _ = Snooze.objects.filter(item=item, made_by=actor).delete()
        if deleted:
            _record("inbox.brought_back", item, actor)
    return bool(deleted)


def _record(action: str, item: str, actor: str, **data: Any) -> None:
    """With its project, and a job's words, by which the audit log names it: a job may be removed later."""
    proposal = Proposal.objects.filter(public_id=item).select_related("project").first()
    job = None if proposal else ScheduledJob.objects.filter(public_id=item).select_related("project").first()
    if job:
        data["label"] = str(job)
    auditlog.record(action, actor=actor, about=proposal or job, object_id=item, **data)
