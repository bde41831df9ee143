"""What the inbox shows, in a fixed number of queries."""

from __future__ import annotations

import datetime as dt
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from django.db.models import Exists, OuterRef, Prefetch, Q
from django.utils import timezone

from dreams.models import Application, DreamRun, Project, Proposal
from dreams.services.proposals import summaries
from dreams.services.proposals.summaries import Deed
from dreams.services.scheduling import next_dream
from dreams.web.pages.inbox_list import Asked, Listing, listing

MOST = 100
MOST_NEXT = 6
MOST_NEWS = 8
MOST_LATELY = 5
LATELY = dt.timedelta(days=7)


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
    """What became of a dream that left nothing to review; told until the person has seen it."""

    public_id: str
    project: str
    text: str
    state: str
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
    reason: str
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


def mark_seen(dreams: Collection[str]) -> None:
    """A person has read what became of these; they are not told again."""
    runs = DreamRun.objects.filter(public_id__in=dreams, told_at__isnull=True)
    runs.update(told_at=timezone.now())


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
    """What ended without a proposal for the person: such a proposal is in the list above until it is decided."""
    reviewed = Exists(Proposal.objects.filter(dream=OuterRef("pk"), by_policy=False))
    rows = DreamRun.objects.filter(~reviewed, status__in=DreamRun.TERMINAL, told_at__isnull=True)
    runs = list(rows.select_related("project").order_by("-ended_at")[:MOST_NEWS])
    told = summaries.of_dreams(runs)
    return [
        News(run.public_id, str(run.project), told[run.pk].line, told[run.pk].tone, run.ended_at)
        for run in runs
    ]


def _lately(now: dt.datetime) -> list[Written]:
    recent = Application.objects.filter(at__gte=now - LATELY).select_related("proposal__project")
    done = Q(state=Proposal.State.APPLIED) & ~Q(applications__undone_at__isnull=False)
    undos = Prefetch("proposal__undone_by", Proposal.objects.filter(done), to_attr="undos")
    rows = list(recent.prefetch_related(undos).order_by("-at", "-pk")[:MOST_LATELY])
    told = summaries.of_applications(rows)
    return [_written(row, told[row.pk], row.proposal.undos) for row in rows]  # type: ignore[attr-defined] # prefetched above


def _written(row: Application, deed: Deed, undos: Sequence[Proposal]) -> Written:
    """With what withdraws it: its own undo, or, where it was undone, the undo of that."""
    undo = undos[-1].public_id if undos else ""
    return Written(
        proposal=row.proposal.public_id,
        project=str(row.proposal.project),
        project_pk=row.proposal.project_id,
        what=deed.text,
        reason=deed.reason,
        who=row.actor or "a policy",
        at=row.at,
        is_undone=deed.is_undone,
        undo=undo if deed.is_undone else row.proposal.public_id,
        is_redo=deed.is_undone or row.proposal.origin == Proposal.Origin.ROLLBACK,
    )


def _next(now: dt.datetime) -> list[Next]:
    return [
        Next(str(project), project.pk, one.sentence(now), one.opens_at)
        for project, one in next_dream.upcoming(now, MOST_NEXT)
    ]
