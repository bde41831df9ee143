"""The Atom feed of waiting items, for feed readers that cannot log in. The token in its address gives access to titles only.

Only the token's hash is stored. There is one address at a time; a new one replaces it.
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

#: How often the time of the last read is saved, so that a reader that asks every minute does not cause a write each time.
READ_EVERY = dt.timedelta(hours=1)


@dataclass(frozen=True, slots=True)
class FeedEntry:
    """One title. `id` changes with the item's kind, so that a feed reader shows it again."""

    id: str
    title: str
    url: str
    at: dt.datetime


def make_token(actor: str) -> str:
    """Create a token, which is shown once; the old one no longer works."""
    token = secrets.token_urlsafe(32)
    with transaction.atomic():
        FeedToken.objects.all().delete()
        FeedToken.objects.create(token_hash=login.hashed(token), made_at=timezone.now(), made_by=actor)
        auditlog.record("feed.made", actor=actor)
    return token


def revoke(actor: str) -> bool:
    """Delete the token; False if there was none."""
    with transaction.atomic():
        deleted, _ = FeedToken.objects.all().delete()
        if deleted:
            auditlog.record("feed.revoked", actor=actor)
    return bool(deleted)


def may_read(token: str, now: dt.datetime) -> bool:
    """Whether the token is valid. Compares the hashes in constant time, and saves the time of the read."""
    given = login.hashed(token)
    found = [row for row in FeedToken.objects.all() if hmac.compare_digest(row.token_hash, given)]
    for row in found:
        if row.used_at is None or row.used_at < now - READ_EVERY:
            FeedToken.objects.filter(pk=row.pk).update(used_at=now)
    return bool(found)


def entries(now: dt.datetime) -> list[FeedEntry]:
    """The waiting items that the owner has not snoozed, newest first: projects, kinds and counts, without secrets."""
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
