"""The Atom feed of waiting items, for readers that cannot log in. Its address contains a token that gives access to titles only.

Only the token's hash is kept. There is one address at a time; a new one ends the old one.
"""

import datetime as dt
import hmac
import secrets
from dataclasses import dataclass

from django.db import transaction
from django.utils import timezone

from dreams.lib.files.text import plural
from dreams.lib.secrets.redact import redact
from dreams.models import FeedToken, Proposal
from dreams.services import auditlog, login
from dreams.services.inbox import waiting
from dreams.services.inbox.waiting import WaitingItem, WaitingKind

#: How exactly it is known when the feed was last read: a reader that asks every minute is no write every minute.
READ_EVERY = dt.timedelta(hours=1)


@dataclass(frozen=True, slots=True)
class FeedEntry:
    """One title. `id` changes with the reason why something waits, so that a reader shows it anew."""

    id: str
    title: str
    url: str
    at: dt.datetime


def make_token(actor: str) -> str:
    """A new token, which is shown once; the old one is good no more."""
    token = secrets.token_urlsafe(32)
    with transaction.atomic():
        FeedToken.objects.all().delete()
        FeedToken.objects.create(token_hash=login.hashed(token), made_at=timezone.now(), made_by=actor)
        auditlog.record("feed.made", actor=actor)
    return token


def revoke(actor: str) -> bool:
    """False where there was none."""
    with transaction.atomic():
        deleted, _ = FeedToken.objects.all().delete()
        if deleted:
            auditlog.record("feed.revoked", actor=actor)
    return bool(deleted)


def may_read(token: str, now: dt.datetime) -> bool:
    """Compared in constant time, and the hashes instead of the tokens."""
    given = login.hashed(token)
    found = [row for row in FeedToken.objects.all() if hmac.compare_digest(row.token_hash, given)]
    for row in found:
        if row.used_at is None or row.used_at < now - READ_EVERY:
            FeedToken.objects.filter(pk=row.pk).update(used_at=now)
    return bool(found)


def entries(now: dt.datetime) -> list[FeedEntry]:
    """What waits and is not put off, the newest first: projects, kinds and counts, without secrets."""
    items = [
        item
        for item in waiting.waiting(now)
        if item.snooze is None and not (item.facts and item.facts.origin == Proposal.Origin.ANSWERS)
    ]
    made = [FeedEntry(f"{item.key}-{item.kind}", _title(item), item.url, item.since) for item in items]
    return sorted(made, key=lambda entry: entry.at, reverse=True)


def _title(item: WaitingItem) -> str:
    if item.kind is WaitingKind.QUESTIONS:
        return redact(item.why)
    what = item.kind.label.lower()
    if item.kind is WaitingKind.REVIEW and item.facts:
        what = f"{plural(item.facts.counts.undecided, 'decision')} to review"
    return redact(f"{item.project}: {what}")
