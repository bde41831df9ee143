"""Whether a digest goes out when its job is due, and what became of it.

Something new is always told. The same things again are a reminder, after twice, four times … the time between two
digests, at most a week. What fails is tried again after 15 min, doubling up to a day.
"""

from __future__ import annotations

import datetime as dt
import logging
from collections.abc import Iterable

from django.db.models import Q
from django.utils import timezone

from dreams import conf
from dreams.lib.files import text
from dreams.models import Channel
from dreams.services import auditlog
from dreams.services.notify import mail, webhook
from dreams.services.notify.digest import Digest, collect
from dreams.services.notify.mail import NotSent

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


def send_scheduled(now: dt.datetime, period: dt.timedelta) -> dict[str, str]:
    """Send what the schedule asks for: channel → "" or why not; those with nothing to tell are left out.

    `period` is the time from one digest to the next. A channel that fails never stops the other.
    """
    return _each(configured(), now, period)


def retries_due(now: dt.datetime) -> list[str]:
    """Channels whose last digest failed and is to be tried again."""
    rows = Channel.objects.filter(
        _may_send(now), name__in=configured(), failures__gt=0, next_at__isnull=False
    )
    return list(rows.values_list("name", flat=True))


def failing() -> dict[str, str]:
    """Channel → why its last digest did not go out, for those that are to be tried again."""
    rows = Channel.objects.filter(name__in=configured(), failures__gt=0)
    return dict(rows.values_list("name", "error"))


def retry(now: dt.datetime | None = None) -> list[str]:
    """Try again what failed; what became of it, a line each."""
    at = now or timezone.now()
    return [f"{name}: {problem or 'sent'}" for name, problem in _each(retries_due(at), at, None).items()]


def send(now: dt.datetime | None = None, *, actor: str) -> dict[str, str]:
    """Send the digest now over every configured channel, new or not: channel → "" or why not."""
    at = now or timezone.now()
    return {name: _deliver(_row(name), collect(at), to, at, actor) for name, to in configured().items()}


def _each(names: Iterable[str], now: dt.datetime, period: dt.timedelta | None) -> dict[str, str]:
    found = {name: _send_one(name, now, period) for name in names}
    return {name: problem for name, problem in found.items() if problem is not None}


def _send_one(name: str, now: dt.datetime, period: dt.timedelta | None) -> str | None:
    """ "" or why not; None where there is nothing to tell, or somebody else sends. Without `period` it is a retry."""
    row = _row(name)
    claimed = Channel.objects.filter(_may_send(now), pk=row.pk)
    if not claimed.update(next_at=now + LEASE):
        return None
    digest = collect(now, row.sent_at)
    if digest.is_empty or (period and _is_too_soon(row, digest, now, period)):
        Channel.objects.filter(pk=row.pk).update(next_at=None, failures=0, error="")
        return None
    return _deliver(row, digest, configured().get(name, ""), now, "")


def _may_send(now: dt.datetime) -> Q:
    """Nothing waits, or no longer. No pause is longer than a day, so a later time is of a clock that ran ahead."""
    return Q(next_at__isnull=True) | Q(next_at__lte=now) | Q(next_at__gt=now + DAY)


def _is_too_soon(row: Channel, digest: Digest, now: dt.datetime, period: dt.timedelta) -> bool:
    """What has no news is told again after twice, four times … the period; half a period is no matter."""
    if row.sent_at is None or row.sent_at > now or set(digest.ids) - set(row.told):
        return False
    pause = min(period * 2 ** min(row.reminders + 1, 10), max(WEEK, period))
    opens: dt.datetime = row.sent_at + pause - period / 2
    return opens > now


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
        next_at=None,
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
