"""What the inbox shows, in a fixed number of queries."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import Count, Prefetch, Q

from dreams.models import Application, DreamRun, Project, Proposal
from dreams.services import next_dream
from dreams.web.pages.inbox_list import Asked, Listing, listing
from dreams.web.selectors import counted
from dreams.web.selectors.counted import NOTES

MOST = 100
MOST_NEXT = 6
MOST_NEWS = 8
MOST_LATELY = 5
LATELY = dt.timedelta(days=7)
WRITTEN: Mapping[str, str] = {
    Proposal.Origin.DREAM: "Improved",
    Proposal.Origin.ROLLBACK: "Undid changes to",
    Proposal.Origin.RESTORE: "Restored",
    Proposal.Origin.EDIT: "Edited",
    Proposal.Origin.FORGET: "Forgot",
    Proposal.Origin.REDACTION: "Removed secrets from",
    Proposal.Origin.ANSWERS: "Answered questions about",
}


@dataclass(frozen=True, slots=True)
class Running:
    public_id: str
    project: str
    status: str
    phase: str
    engine: str
    since: dt.datetime
    is_waiting: bool


@dataclass(frozen=True, slots=True)
class News:
    """What became of a dream; told once."""

    public_id: str
    project: str
    text: str
    state: str
    proposal: str
    ended_at: dt.datetime | None


@dataclass(frozen=True, slots=True)
class Next:
    """A project that dreams without a person, and what it waits for. `opens_at` is None where it needs sessions."""

    project: str
    project_pk: int
    reason: str
    opens_at: dt.datetime | None


@dataclass(frozen=True, slots=True)
class Written:
    """What came into memory, or was taken back, in the last days."""

    proposal: str
    project: str
    project_pk: int
    what: str
    summary: str
    who: str
    at: dt.datetime
    is_undone: bool
    undo: str
    is_redo: bool


@dataclass(frozen=True, slots=True)
class Inbox:
    waiting: Listing
    running: list[Running]
    news: list[News]
    next: list[Next]
    lately: list[Written]
    projects: int
    any_ever: bool


def inbox(now: dt.datetime, asked: Asked) -> Inbox:
    return Inbox(
        waiting=listing(now, asked),
        running=_running(),
        news=_news(),
        next=_next(now),
        lately=_lately(now),
        projects=Project.objects.filter(gone_at__isnull=True).count(),
        any_ever=Proposal.objects.exists(),
    )


def mark_told(news: Iterable[News], now: dt.datetime) -> None:
    """A person has seen these; they do not come up again."""
    ids = [item.public_id for item in news]
    if ids:
        DreamRun.objects.filter(public_id__in=ids, told_at__isnull=True).update(told_at=now)


def _running() -> list[Running]:
    rows = DreamRun.objects.filter(
        status__in=[DreamRun.Status.PENDING, DreamRun.Status.RUNNING]
    ).select_related("project")
    return [
        Running(
            public_id=row.public_id,
            project=str(row.project),
            status=row.get_status_display(),
            phase=row.get_phase_display() if row.phase else "",
            engine=row.engine,
            since=row.started_at or row.created_at,
            is_waiting=row.started_at is None,
        )
        for row in rows[:MOST]
    ]


def _news() -> list[News]:
    made = Proposal.objects.filter(origin=Proposal.Origin.DREAM).annotate(
        files_n=Count("files"), notes_n=NOTES
    )
    rows = (
        DreamRun.objects.filter(status__in=DreamRun.TERMINAL, told_at__isnull=True)
        .select_related("project")
        .prefetch_related(Prefetch("proposals", queryset=made.order_by("created_at"), to_attr="made"))
        .order_by("-ended_at")
    )
    return [_news_of(row, row.made) for row in rows[:MOST_NEWS]]


def _news_of(run: DreamRun, made: Sequence[Proposal]) -> News:
    text, state = _told(run, made)
    return News(
        public_id=run.public_id,
        project=str(run.project),
        text=text,
        state=state,
        proposal=made[-1].public_id if made else "",
        ended_at=run.ended_at,
    )


def _told(run: DreamRun, made: Sequence[Proposal]) -> tuple[str, str]:
    """A sentence for a person, and the colour of its sign."""
    if run.status == DreamRun.Status.FAILED:
        return f"Failed: {run.error or 'no reason was given'}", "block"
    if run.status == DreamRun.Status.KILLED:
        return "Cancelled; nothing was changed", "warn"
    files = sum(proposal.files_n for proposal in made)  # type: ignore[attr-defined] # annotated by _news
    if not files:
        return "Nothing to improve", "ok"
    memories = counted.memories(sum(proposal.notes_n for proposal in made))  # type: ignore[attr-defined] # as above
    if all(proposal.state == Proposal.State.APPLIED for proposal in made):
        return f"Improved {memories}", "ok"
    return f"Proposes to improve {memories}", "accent"


def _lately(now: dt.datetime) -> list[Written]:
    rows = Application.objects.filter(at__gte=now - LATELY).select_related("proposal__project")
    done = Q(state=Proposal.State.APPLIED) & ~Q(applications__undone_at__isnull=False)
    undos = Prefetch("proposal__undone_by", Proposal.objects.filter(done), to_attr="undos")
    latest = rows.annotate(notes_n=NOTES).prefetch_related(undos).order_by("-at", "-pk")[:MOST_LATELY]
    return [_written(row, row.proposal.undos) for row in latest]  # type: ignore[attr-defined] # prefetched above


def _written(row: Any, undos: Sequence[Proposal]) -> Written:
    """With what takes it back: its own undo, or, where it was undone, the undo of that."""
    is_undone = row.undone_at is not None
    undo = undos[-1].public_id if is_undone and undos else "" if is_undone else row.proposal.public_id
    return Written(
        proposal=row.proposal.public_id,
        project=str(row.proposal.project),
        project_pk=row.proposal.project_id,
        what=f"{WRITTEN.get(row.proposal.origin, 'Changed')} {counted.memories(row.notes_n)}",
        summary=row.proposal.summary,
        who=row.actor or "a policy",
        at=row.at,
        is_undone=is_undone,
        undo=undo,
        is_redo=is_undone or row.proposal.origin == Proposal.Origin.ROLLBACK,
    )


def _next(now: dt.datetime) -> list[Next]:
    return [
        Next(str(project), project.pk, one.sentence(now), one.opens_at)
        for project, one in next_dream.upcoming(now, MOST_NEXT)
    ]
