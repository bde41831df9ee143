"""Builds the digest: what waits for a person, what a policy applied, which policies ended, and which dreams failed. It has
names, counts and links, never content."""

import datetime as dt
from collections.abc import Collection, Iterator
from dataclasses import asdict, dataclass
from itertools import islice
from typing import Any

from django.db.models import QuerySet
from django.urls import reverse

from dreams import conf
from dreams.lib import amounts, diff
from dreams.lib.files.text import one_line, plural
from dreams.models import AppliedBatch, DreamRun, Proposal
from dreams.services import server_registry
from dreams.services.inbox import waiting
from dreams.services.inbox.waiting import ProposalFacts
from dreams.services.policies import POLICY_ACTOR, earned
from dreams.services.proposals import summaries

#: A digest is a reminder, not the inbox: it lists this many and counts the rest.
MOST = 20


@dataclass(frozen=True, slots=True)
class DigestItem:
    """A proposal that waits or that a policy applied, a policy that ended, or a failed dream. `url` is empty if this server's
    address is unknown."""

    id: str
    project: str
    at: dt.datetime
    url: str
    kind: str = ""
    origin: str = ""
    why: str = ""
    files: int = 0
    decisions: int = 0
    changes: int = 0
    to_confirm: int = 0
    warnings: int = 0


@dataclass(frozen=True, slots=True)
class Digest:
    """`more` items wait besides those in `waiting`, `more_failed` dreams failed besides those in `failed`; `applied` is whole,
    newest first, and listed up to MOST.
    `link` opens the first thing to do, which leads on to the next."""

    at: dt.datetime
    link: str
    waiting: tuple[DigestItem, ...]
    failed: tuple[DigestItem, ...]
    applied: tuple[DigestItem, ...] = ()
    ended: tuple[DigestItem, ...] = ()  # earned policies
    more: int = 0
    more_failed: int = 0
    to_review: int = 0
    questions: int = 0  # open ones, which no other number counts

    @property
    def to_finish(self) -> int:
        """The number of decided proposals that still need a step, such as submitting or confirming."""
        return len(self.waiting) + self.more - self.to_review

    @property
    def is_empty(self) -> bool:
        return not (self.waiting or self.applied or self.ended or self.failed)

    @property
    def ids(self) -> list[str]:
        """The ids of all items that it lists; the same ids again make a reminder."""
        return sorted(item.id for item in (*self.waiting, *self.applied[:MOST], *self.ended, *self.failed))

    @property
    def subject(self) -> str:
        parts = []
        if self.to_review:
            parts.append(f"{plural(self.to_review, 'proposal')} to review")
        if self.to_finish:
            parts.append(f"{plural(self.to_finish, 'proposal')} to finish")
        if self.applied:
            decided = sum(item.decisions for item in self.applied)
            parts.append(f"{plural(decided, 'decision')} applied by a policy")
        if self.ended:
            parts.append(f"{plural(len(self.ended), 'policy', 'policies')} ended")
        if self.failed:
            parts.append(f"{plural(len(self.failed) + self.more_failed, 'dream')} failed")
        return f"memoryweb: {', '.join(parts) or 'nothing to review'}"

    def as_text(self) -> str:
        """The plain-text body of a mail."""
        return "\n".join(_lines(self)) + "\n"

    def as_json(self) -> dict[str, Any]:
        """The JSON for a webhook; times are ISO 8601 in UTC."""
        return {
            "kind": "digest",
            "at": _iso(self.at),
            "link": self.link,
            "subject": self.subject,
            "waiting": [_fields(item, self.at) for item in self.waiting],
            "more": self.more,
            "questions": self.questions,
            "applied": [_only(_OF_AN_APPLIED, item, self.at) for item in self.applied[:MOST]],
            "ended": [_only(_OF_A_POLICY, item, self.at) for item in self.ended],
            "failed": [_only(_OF_A_FAILURE, item, self.at) for item in self.failed],
        }


_OF_A_FAILURE = ("id", "project", "at", "url", "age_seconds")
_OF_A_POLICY = ("id", "why", "at", "url", "age_seconds")
_OF_AN_APPLIED = (*_OF_A_FAILURE, "decisions")


def collect(now: dt.datetime, since: dt.datetime | None = None) -> Digest:
    """What waits now, and what a policy applied or failed after `since` (without it, or if a clock that ran ahead made it: in the
    last day)."""
    base, since = _address(), since if since and since <= now else now - dt.timedelta(days=1)
    found = tuple(_item(row, facts, base) for row, facts in islice(_told(now), MOST))
    # Not of the rows: only so many are read.
    to_review = waiting.open_decisions(now).count()
    failed = DreamRun.objects.filter(status=DreamRun.Status.FAILED, ended_at__gt=since)
    return Digest(
        at=now,
        link=_url(base, "next"),
        waiting=found,
        failed=_failed(failed, since, base),
        applied=_applied(since, base),
        ended=tuple(_ended(since, base)),
        more=max(0, to_review + waiting.to_finish(now) - len(found)),
        more_failed=max(0, failed.count() - MOST),
        to_review=to_review,
        questions=sum(count for count, *_ in waiting.questions_counted()),
    )


def _told(now: dt.datetime) -> Iterator[tuple[waiting.WaitingItem, ProposalFacts]]:
    """Waiting proposals only: questions are counted apart, and the inbox shows snoozed items."""
    for row in waiting.waiting(now):
        if row.facts and not row.snooze:
            yield row, row.facts


def _item(row: waiting.WaitingItem, facts: ProposalFacts, base: str) -> DigestItem:
    return DigestItem(
        id=row.key,
        project=row.project,
        at=row.since,
        url=base + row.url if base else "",
        kind=row.kind.value,
        origin=facts.origin,
        why=row.why,
        files=facts.files,
        decisions=facts.counts.decisions,
        changes=facts.counts.changes,
        to_confirm=facts.to_confirm,
        warnings=facts.warnings,
    )


def _failed(rows: QuerySet[DreamRun], since: dt.datetime, base: str) -> tuple[DigestItem, ...]:
    return tuple(
        DigestItem(row.public_id, str(row.project), row.ended_at or since, _url(base, "dream", row.public_id))
        for row in rows.select_related("project").order_by("-ended_at")[:MOST]
    )


def _applied(since: dt.datetime, base: str) -> tuple[DigestItem, ...]:
    """Changes that a policy applied and nobody undid."""
    written = AppliedBatch.objects.filter(actor=POLICY_ACTOR, at__gt=since, undone_at__isnull=True)
    rows = list(written.select_related("proposal__project").order_by("-at"))
    deeds = summaries.of_applications(rows)
    return tuple(
        DigestItem(
            row.proposal.public_id,
            str(row.proposal.project),
            row.at,
            _url(base, "review", row.proposal.public_id),
            decisions=deeds[row.pk].decisions - deeds[row.pk].undone,
        )
        for row in rows
    )


def _ended(since: dt.datetime, base: str) -> Iterator[DigestItem]:
    """Earned policies that the refusal or undo of a change ended."""
    for found in earned.ended_since(since, ""):
        name, row = found["name"], found["row"]
        why = f"{name} are no longer applied without asking. {row.note.removesuffix('.')} ({row.changed_by})."
        yield DigestItem(f"policy-{row.pk}", "", row.changed_at, _url(base, "settings"), why=why)


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


def _only(names: Collection[str], item: DigestItem, now: dt.datetime) -> dict[str, Any]:
    return {name: value for name, value in _fields(item, now).items() if name in names}


def _fields(item: DigestItem, now: dt.datetime) -> dict[str, Any]:
    return {**asdict(item), "at": _iso(item.at), "age_seconds": int((now - item.at).total_seconds())}


def _lines(digest: Digest) -> Iterator[str]:
    if digest.is_empty:
        yield "No proposal is waiting for you, no policy applied anything, and no dream failed."
    if digest.waiting:
        yield "Waiting for you:"
        yield ""
        for item in digest.waiting:
            yield from _waiting_lines(item, digest.at)
        yield from _more(digest.more)
    if digest.applied:
        yield "Applied by a policy, without asking you:"
        yield ""
        for item in digest.applied[:MOST]:
            yield from _placed(f"{item.project}: {plural(item.decisions, 'decision')}", item, digest.at)
        yield from _more(len(digest.applied) - MOST)
    if digest.ended:
        yield "Policies that ended:"
        yield ""
        for item in digest.ended:
            yield from _placed(item.why, item, digest.at)
    if digest.failed:
        yield "Dreams that failed:"
        yield ""
        for item in digest.failed:
            yield from _placed(item.project, item, digest.at)
        yield from _more(digest.more_failed)
    if digest.questions:
        yield f"{plural(digest.questions, 'question is', 'questions are')} open."
    if digest.waiting and digest.link:
        yield f"Go through what waits: {digest.link}"
    if digest.to_review:
        # Only for reviews: approved changes are written after a confirmation or a second approval.
        yield "What waits for a review is not written to your notes until it is submitted."


def _more(count: int) -> Iterator[str]:
    if count > 0:
        yield f"and {count} more"
        yield ""


def _waiting_lines(item: DigestItem, now: dt.datetime) -> Iterator[str]:
    care = [f"{item.to_confirm} to confirm"] if item.to_confirm else []
    # As in the inbox: whoever decided has seen them.
    care += [plural(item.warnings, "warning")] if item.warnings and item.kind == "review" else []
    what = "; ".join(filter(None, [item.why.rstrip("."), ", ".join(care)]))
    # What a dream or a session brought says so itself.
    told = item.origin in ("", Proposal.Origin.DREAM, Proposal.Origin.CAUGHT)
    origin = "" if told else f", {Proposal.Origin(item.origin).label.lower()}"
    yield from _placed(f"{item.project}{origin}: {what}", item, now)


def _placed(said: str, item: DigestItem, now: dt.datetime) -> Iterator[str]:
    # The name of a file may have line breaks, and a terminal may show the mail.
    yield f"  {one_line(diff.visible(said))}, {amounts.ago(item.at, now)}"
    if item.url:
        yield f"  {item.url}"
    yield ""
