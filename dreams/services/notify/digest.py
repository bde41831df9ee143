"""Builds the digest: what is waiting for a person, and which dreams failed. Names, counts and links, never content."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

from django.urls import reverse

from dreams import conf
from dreams.lib import amounts
from dreams.lib.files.text import plural
from dreams.models import DreamRun, Proposal
from dreams.services import server_registry
from dreams.services.inbox import waiting
from dreams.services.inbox.waiting import Kind, ProposalFacts

#: A digest is a reminder, not the inbox: what is beyond is counted.
MOST = 20


@dataclass(frozen=True, slots=True)
class Item:
    """One proposal that waits, or one dream that failed. `url` is empty where this server's address is not known."""

    id: str
    project: str
    at: dt.datetime
    url: str
    kind: str = ""
    why: str = ""
    files: int = 0
    decisions: int = 0
    changes: int = 0
    to_confirm: int = 0
    warnings: int = 0


@dataclass(frozen=True, slots=True)
class Digest:
    """`more` items wait besides those in `waiting`. `link` opens the first thing to do, from which each leads on."""

    at: dt.datetime
    link: str
    waiting: tuple[Item, ...]
    failed: tuple[Item, ...]
    more: int = 0
    to_review: int = 0

    @property
    def to_finish(self) -> int:
        """Proposals that are decided and still need a step, such as a submit or a confirmation."""
        return len(self.waiting) + self.more - self.to_review

    @property
    def is_empty(self) -> bool:
        return not self.waiting and not self.failed

    @property
    def ids(self) -> list[str]:
        """What it tells of; the same ids again are a reminder."""
        return sorted(item.id for item in (*self.waiting, *self.failed))

    @property
    def subject(self) -> str:
        parts = []
        if self.to_review:
            parts.append(f"{plural(self.to_review, 'proposal')} to review")
        if self.to_finish:
            parts.append(f"{plural(self.to_finish, 'proposal')} to finish")
        if self.failed:
            parts.append(f"{plural(len(self.failed), 'dream')} failed")
        return f"memoryweb: {', '.join(parts) or 'nothing to review'}"

    def as_text(self) -> str:
        """The body of a mail, in lines of plain text."""
        return "\n".join(_lines(self)) + "\n"

    def as_json(self) -> dict[str, Any]:
        """What a webhook gets; moments are ISO 8601 in UTC."""
        return {
            "kind": "digest",
            "at": _iso(self.at),
            "link": self.link,
            "subject": self.subject,
            "waiting": [_fields(item, self.at) for item in self.waiting],
            "more": self.more,
            "failed": [
                {key: value for key, value in _fields(item, self.at).items() if key in _OF_A_FAILURE}
                for item in self.failed
            ],
        }


_OF_A_FAILURE = ("id", "project", "at", "url", "age_seconds")


def collect(now: dt.datetime, since: dt.datetime | None = None) -> Digest:
    """What waits now, and what failed after `since` (or in the last day)."""
    base = _address()
    rows = list(_told(now))
    found = tuple(_item(row, facts, base) for row, facts in rows[:MOST])
    return Digest(
        at=now,
        link=_url(base, "next"),
        waiting=found,
        failed=_failed(since or now - dt.timedelta(days=1), base),
        more=max(0, len(rows) - MOST),
        to_review=sum(row.kind is Kind.REVIEW for row, _ in rows),
    )


def _told(now: dt.datetime) -> Iterator[tuple[waiting.Item, ProposalFacts]]:
    """Proposals alone: questions and answers are left to the inbox, and so is what a person put off."""
    for row in waiting.waiting(now):
        if row.facts and row.facts.origin != Proposal.Origin.ANSWERS and not row.snooze:
            yield row, row.facts


def _item(row: waiting.Item, facts: ProposalFacts, base: str) -> Item:
    return Item(
        id=row.key,
        project=row.project,
        at=row.since,
        url=base + row.url if base else "",
        kind=row.kind.value,
        why=row.why,
        files=facts.files,
        decisions=facts.counts.decisions,
        changes=facts.counts.changes,
        to_confirm=facts.to_confirm,
        warnings=facts.warnings,
    )


def _failed(since: dt.datetime, base: str) -> tuple[Item, ...]:
    rows = DreamRun.objects.filter(status=DreamRun.Status.FAILED, ended_at__gt=since)
    return tuple(
        Item(row.public_id, str(row.project), row.ended_at or since, _url(base, "dream", row.public_id))
        for row in rows.select_related("project").order_by("-ended_at")[:MOST]
    )


def _address() -> str:
    given = conf.current().public_url
    if given:
        return given.rstrip("/")
    running = server_registry.running()
    return running.address.rstrip("/") if running else ""


def _url(base: str, name: str, *args: str) -> str:
    return base + reverse(name, args=args) if base else ""


def _iso(moment: dt.datetime) -> str:
    return moment.astimezone(dt.UTC).isoformat()


def _fields(item: Item, now: dt.datetime) -> dict[str, Any]:
    return {**asdict(item), "at": _iso(item.at), "age_seconds": int((now - item.at).total_seconds())}


def _lines(digest: Digest) -> Iterator[str]:
    if digest.is_empty:
        yield "No proposal is waiting for you, and no dream failed."
    if digest.waiting:
        yield "Waiting for you:"
        yield ""
        for item in digest.waiting:
            yield from _waiting_lines(item, digest.at)
        if digest.more:
            yield f"and {digest.more} more"
            yield ""
    if digest.failed:
        yield "Dreams that failed:"
        yield ""
        for item in digest.failed:
            yield f"  {item.project}, {amounts.ago(item.at, digest.at)}"
            if item.url:
                yield f"  {item.url}"
            yield ""
    if digest.waiting:
        if digest.link:
            yield f"Go through what waits: {digest.link}"
        yield "Nothing is written to your notes until you submit a review."


def _waiting_lines(item: Item, now: dt.datetime) -> Iterator[str]:
    care = [f"{item.to_confirm} to confirm"] if item.to_confirm else []
    care += [plural(item.warnings, "warning")] if item.warnings else []
    yield f"  {item.project}: {', '.join([item.why.rstrip('.'), *care])}, {amounts.ago(item.at, now)}"
    if item.url:
        yield f"  {item.url}"
    yield ""
