"""Snoozes inbox items for an account, until a time or until the next dream ends."""

import datetime as dt
from collections.abc import Iterable
from typing import Any

from django.db import transaction
from django.db.models import Exists, F, OuterRef, Q, QuerySet

from dreams.models import DreamRun, Proposal, ScheduledJob, Snooze
from dreams.models.prepared import prepared
from dreams.services import auditlog, login

#: The key of the item for all open questions.
QUESTIONS_KEY = "questions"


def in_force(now: dt.datetime) -> QuerySet[Snooze]:
    """The snoozes in force, the first to end first. Ignores those made in the future by a clock that ran ahead."""
    ended = DreamRun.objects.filter(status__in=DreamRun.TERMINAL, ended_at__gt=OuterRef("made_at"))
    rows = Snooze.objects.filter(Q(until__gt=now) | (Q(until__isnull=True) & ~Exists(ended)))
    return rows.filter(made_at__lte=now).order_by(F("until").asc(nulls_last=True), "made_at")


def put_off_by(reader: str, now: dt.datetime) -> QuerySet[Snooze]:
    return in_force(now).filter(made_by=reader)


snoozes = prepared(put_off_by)


def whose(reader: str) -> str:
    """The account whose snoozes count. "" (as for the digest) is the owner, who set it up."""
    return reader or login.ensure_owner().get_username()


def put_off(items: Iterable[tuple[str, str]], until: dt.datetime | None, actor: str, now: dt.datetime) -> int:
    """Snooze `items` (id, kind) for the account `actor`, without `until` until the next dream ends. Returns how many."""
    rows = [Snooze(item=item, kind=kind, until=until, made_at=now, made_by=actor) for item, kind in items]
    with transaction.atomic():
        # Otherwise the rows of decided proposals would never be deleted.
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
    """End this account's snooze; False if there was none."""
    with transaction.atomic():
        deleted, _ = Snooze.objects.filter(item=item, made_by=actor).delete()
        if deleted:
            _record("inbox.brought_back", item, actor)
    return bool(deleted)


def _record(action: str, item: str, actor: str, **data: Any) -> None:
    """Log it with its project, and with a job's label, as the job may be removed later."""
    proposal = Proposal.objects.filter(public_id=item).select_related("project").first()
    job = None if proposal else ScheduledJob.objects.filter(public_id=item).select_related("project").first()
    if job:
        data["label"] = str(job)
    auditlog.record(action, actor=actor, about=proposal or job, object_id=item, **data)
