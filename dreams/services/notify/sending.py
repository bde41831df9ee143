"""When a digest goes out, and what became of it.

Something new is told once the digest's hours have passed since the last one. The same things again are a reminder,
after twice, four times … the hours, at most a week. What fails is tried again after 15 min, doubling up to a day.
"""

from __future__ import annotations

import datetime as dt
import logging

from django.db.models import Q
from django.utils import timezone

from dreams import conf
from dreams.lib.files import text
from dreams.models import Channel
from dreams.services import auditlog
from dreams.services.notify import mail, webhook
from dreams.services.notify.digest import Digest, collect
from dreams.services.notify.failure import NotSent

log = logging.getLogger(__name__)

WEEK = dt.timedelta(days=7)
DAY = dt.timedelta(days=1)
RETRY = dt.timedelta(minutes=15)
#: A process that sends may be killed: after this another one may send again.
LEASE = dt.timedelta(minutes=5)


def configured() -> dict[str, str]:
    """Channel → where to, for those that a person has set."""
    config = conf.current()
    wanted = {
        Channel.Name.EMAIL.value: config.digest_email,
        Channel.Name.WEBHOOK.value: config.digest_webhook,
    }
    return {name: to for name, to in wanted.items() if to}


def due(now: dt.datetime) -> list[str]:
    """Channels whose time has come; whether there is anything to tell is looked at by `send_due`."""
    names = list(configured())
    if not names:
        return []
    waits = set(Channel.objects.filter(name__in=names, next_at__gt=now).values_list("name", flat=True))
    return [name for name in names if name not in waits]


def send_due(now: dt.datetime | None = None) -> list[str]:
    """Send what is due; what was done, a line each. A channel that fails never stops the other."""
    at = now or timezone.now()
    return [said for name in due(at) if (said := _send_one(name, at))]


def send(now: dt.datetime | None = None, *, actor: str) -> dict[str, str]:
    """Send the digest now over every configured channel, new or not: channel → "" or why not."""
    at = now or timezone.now()
    return {name: _deliver(_row(name), collect(at), to, at, actor) for name, to in configured().items()}


def _send_one(name: str, now: dt.datetime) -> str:
    row = _row(name)
    claimed = Channel.objects.filter(Q(next_at__isnull=True) | Q(next_at__lte=now), pk=row.pk)
    if not claimed.update(next_at=now + LEASE):
        return ""
    digest = collect(now, row.sent_at)
    wait = _not_yet(row, digest, now)
    if wait is not None:
        Channel.objects.filter(pk=row.pk).update(next_at=wait)
        return ""
    problem = _deliver(row, digest, configured().get(name, ""), now, "")
    return f"{name}: {problem or 'sent'}"


def _not_yet(row: Channel, digest: Digest, now: dt.datetime) -> dt.datetime | None:
    """When to look again, or None to send now."""
    hours = dt.timedelta(hours=conf.current().digest_hours)
    if digest.is_empty:
        # Looked at again soon: what arrives in a quiet time should not wait for another day.
        return now + RETRY
    is_new = bool(set(digest.ids) - set(row.told))
    pause = hours if is_new else min(hours * 2 ** min(row.reminders + 1, 10), max(WEEK, hours))
    opens = row.sent_at + pause if row.sent_at else now
    return None if opens <= now else min(opens, now + RETRY)


def _deliver(row: Channel, digest: Digest, to: str, now: dt.datetime, actor: str) -> str:
    """Send and keep what became of it; "" or why not."""
    try:
        (mail if row.name == Channel.Name.EMAIL else webhook).send(digest, to)
    except NotSent as error:
        return _failed(row, str(error), now)
    is_new = bool(set(digest.ids) - set(row.told))
    Channel.objects.filter(pk=row.pk).update(
        sent_at=now,
        told=digest.ids,
        reminders=0 if is_new else row.reminders + 1,
        next_at=now + RETRY,
        failures=0,
        error="",
    )
    auditlog.record("digest.sent", actor=actor, object_id=row.name, told=digest.ids)
    return ""


def _failed(row: Channel, problem: str, now: dt.datetime) -> str:
    log.warning("digest by %s: %s", row.name, problem)
    pause = min(RETRY * 2 ** min(row.failures, 10), DAY)
    Channel.objects.filter(pk=row.pk).update(
        failures=row.failures + 1, error=text.storable(problem, 500), next_at=now + pause
    )
    return problem


def _row(name: str) -> Channel:
    return Channel.objects.get_or_create(name=name)[0]
