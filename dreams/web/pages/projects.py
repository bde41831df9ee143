"""The list of projects and its orders. A fixed number of queries."""

import datetime as dt
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal, NamedTuple

from django.core.cache import cache
from django.db.models import (
    BooleanField,
    Case,
    Count,
    ExpressionWrapper,
    F,
    IntegerField,
    OuterRef,
    Q,
    QuerySet,
    Subquery,
    TextChoices,
    Value,
    When,
)
from django.db.models.expressions import OrderBy
from django.db.models.functions import Lower
from django.utils import timezone

from dreams import conf
from dreams.lib.agents import registry
from dreams.models import COUNTED_MEMORIES, DreamRun, Memory, Override, Project, Proposal
from dreams.models.prepared import Fixed, prepared
from dreams.services import discovery, hosts, server_registry
from dreams.services.cached_counts import CountKind, kept_each, per_project
from dreams.services.discovery import configured_roots
from dreams.services.doctor import work
from dreams.services.doctor.check import Check
from dreams.services.proposals.decisions import is_any_open
from dreams.services.scheduling import next_dream, scheduler
from dreams.services.scheduling.next_dream import NextDream
from dreams.web.pages.index_size import IndexSize, size_by_row
from dreams.web.paging import PageOfRows, RowQuery, page_of
from dreams.web.tags.desk import short_path

FigureKind = Literal["age", "number", "index"]
PAGE_SIZE = 40  # rows; chosen


class RowState(NamedTuple):
    """The state of a project: a word, its colour and its icon."""

    name: str
    label: str
    tone: str
    icon: str


# Worst first; the number is the sort key of the list.
REVIEW, FAILING, OPEN, DREAMING, CLOSED, UNSEEN, OFF, UNWATCHED, GONE = range(9)
STATES: Mapping[int, RowState] = {
    REVIEW: RowState("review", "Proposal open", "accent", "inbox"),
    FAILING: RowState("failing", "Failing", "block", "block"),
    OPEN: RowState("open", "Gates open", "ok", "gate-open"),
    DREAMING: RowState("dreaming", "Dreaming", "info", "running"),
    CLOSED: RowState("closed", "Gates closed", "", "gate-closed"),
    UNSEEN: RowState("unseen", "Not checked yet", "", "clock"),
    OFF: RowState("off", "Off", "", "pause"),
    UNWATCHED: RowState("unwatched", "Not watched", "", "eye"),
    GONE: RowState("gone", "Gone", "", "trash"),
}
FILTERS = {state.name: state.label for state in STATES.values()}


class ProjectOrder(TextChoices):
    """The orders of the list. To add one, add it here and its sorting to `ORDERS`."""

    URGENT = "urgent", "What needs you first"
    NAME = "name", "By name"
    SESSION = "session", "Newest session first"
    DREAM = "dream", "Longest without a dream first"


#: The sort keys before the name.
ORDERS: Mapping[ProjectOrder, Sequence[OrderBy]] = {
    ProjectOrder.URGENT: (F("rank").asc(), F("last_session_at").desc(nulls_last=True)),
    ProjectOrder.NAME: (),
    ProjectOrder.SESSION: (F("last_session_at").desc(nulls_last=True),),
    ProjectOrder.DREAM: (F("last_consolidated_at").asc(nulls_first=True),),
}


@dataclass(frozen=True, slots=True)
class Figure:
    """One cell of a row. `kind` is how `_project_figure.html` writes the value."""

    title: str
    kind: FigureKind
    value: object

    @property
    def moment(self) -> dt.datetime | None:
        """The value of an age."""
        return self.value if isinstance(self.value, dt.datetime) else None


@dataclass(frozen=True, slots=True)
class ProjectRow:
    """One line of the list."""

    pk: int
    name: str
    host: str
    place: str
    kind: str
    agent: str
    state: str
    label: str
    tone: str
    icon: str
    why: str
    opens_at: dt.datetime | None
    figures: tuple[Figure, ...]
    review: str
    is_decided: bool  # and not submitted
    dream: str


@dataclass(frozen=True, slots=True)
class Projects:
    """The page of rows; `total` counts all projects, `away` those that no command lists, `counts` those of each state. The
    counts ignore the search."""

    listed: PageOfRows[ProjectRow]
    total: int
    away: int
    counts: list[tuple[str, str, int]]
    places: list[tuple[str, str]]
    looking: Check | None

    @property
    def here(self) -> int:
        """The number of projects, as the command `projects` lists them."""
        return self.total - self.away


def projects(
    text: str = "",
    state: str = "",
    number: str | None = None,
    host: str = "",
    order: ProjectOrder = ProjectOrder.URGENT,
) -> Projects:
    counted = dict(_counts(host))
    wanted = next((rank for rank, one in STATES.items() if one.name == state), None)
    if text:
        page = page_of(_matching(text, wanted, host, order), number, PAGE_SIZE)
    else:
        total = sum(counted.values()) if wanted is None else counted.get(wanted, 0)
        page = page_of(RowQuery(total, partial(_listed, wanted, host, order)), number, PAGE_SIZE)
    rows = list(page.object_list)
    facts = _Facts.of(rows)
    return Projects(
        listed=PageOfRows([_row(row, facts) for row in rows], page),
        total=sum(counted.values()),
        away=counted.get(GONE, 0) + counted.get(UNWATCHED, 0),
        counts=[
            (STATES[rank].name, STATES[rank].label, counted[rank]) for rank in STATES if counted.get(rank)
        ],
        places=[] if counted else config_folders(),
        looking=None if counted else looking(),
    )


def looking() -> Check | None:
    """The scheduler, until its first look for projects is over: one that finds none clears its mark at its end."""
    if cache.get(scheduler.LAST_TICK) is not None and cache.get(discovery.LAST_LOOK) is None:
        return None
    now, server = timezone.now(), server_registry.running()
    is_new = server is not None and now - server.since < work.LATE
    return Check("Scheduler", "ok", "Starting") if is_new else work.ticks(now)


def config_folders() -> list[tuple[str, str]]:
    """The config folders of agents, and why nothing is read in one; "" if its projects are."""
    return [(str(root), registry.why_unread(root)) for root in configured_roots()]


def _ranked() -> QuerySet[Any]:
    """Every project with its state as a number. Uses only EXISTS; counts are queried for one page of projects.

    Waiting proposals and running dreams are found by their state, once for all projects, as they are few.
    """
    off = Override.objects.filter(key="dreaming", value=False, project__isnull=False)
    waiting = Proposal.objects.filter(state__in=Proposal.UNFINISHED)
    dreaming = DreamRun.objects.filter(status__in=DreamRun.UNFINISHED)
    return Project.objects.annotate(
        rank=Case(
            When(Q(unwatched_at__isnull=False), then=Value(UNWATCHED)),
            When(Q(gone_at__isnull=False), then=Value(GONE)),
            When(pk__in=waiting.order_by().values("project"), then=Value(REVIEW)),
            When(pk__in=dreaming.order_by().values("project"), then=Value(DREAMING)),
            When(pk__in=off.order_by().values("project"), then=Value(OFF)),
            When(failures__gt=0, then=Value(FAILING)),
            When(gate_fingerprint="open", then=Value(OPEN)),
            When(gate_fingerprint="", then=Value(UNSEEN)),
            default=Value(CLOSED),
            output_field=IntegerField(),
        )
    )


def _of_host(host: str) -> QuerySet[Any]:
    return _ranked().filter(host=host) if host else _ranked()


@prepared
def _counts(host: str) -> QuerySet[Any, tuple[int, int]]:
    rows: QuerySet[Any] = _of_host(host).order_by().values("rank").annotate(n=Count("pk"))
    return rows.values_list("rank", "n")


@prepared
def _listed(rank: int | None, host: str, order: ProjectOrder, start: Fixed) -> QuerySet[Any]:
    return _ordered(_of_host(host), rank, order)[start : start + PAGE_SIZE]


def _ordered(ranked: QuerySet[Any], rank: int | None, order: ProjectOrder) -> QuerySet[Any]:
    """Projects that no longer exist are last in each order."""
    rows = ranked if rank is None else ranked.filter(rank=rank)
    is_away = ExpressionWrapper(Q(rank__gte=UNWATCHED), BooleanField())
    return rows.order_by(is_away.asc(), *ORDERS[order], Lower("name"), "pk")


def _matching(text: str, rank: int | None, host: str, order: ProjectOrder) -> QuerySet[Any]:
    found = _of_host(host).filter(
        Q(name__icontains=text)
        | Q(slug__icontains=text)
        | Q(memory_dir__icontains=text)
        | Q(repo_dir__icontains=text)
    )
    return _ordered(found, rank, order)


@dataclass(frozen=True, slots=True)
class _Facts:
    """The data for one page of rows, by project."""

    memories: Mapping[int, tuple[int, tuple[int, int] | None]]
    next: Mapping[int, NextDream]
    reviews: Mapping[int, tuple[str, bool]]  # and whether all of it is decided, but not submitted
    open: Mapping[int, bool]  # the proposals not submitted; whether a decision is open
    dreams: Mapping[int, str]
    errors: Mapping[int, str]
    overrides: conf.Overrides
    now: dt.datetime

    @classmethod
    def of(cls, rows: Sequence[Project]) -> "_Facts":
        now = timezone.now()
        pks = [row.pk for row in rows]
        waiting = _waiting(pks)
        return cls(
            memories=kept_each(CountKind.MEMORIES, pks, "in list", _memories),
            next=next_dream.of_projects(rows, now),
            # The newest of each project, as on its page.
            reviews={
                pk: (public_id, state == Proposal.State.OPEN and not is_any)
                for pk, public_id, state, is_any in waiting
            },
            open={pk: is_any for pk, _, state, is_any in waiting if state == Proposal.State.OPEN},
            dreams=dict(_active(pks)),
            errors=dict(_last_errors(pks)),
            overrides=conf.Overrides.load(),
            now=now,
        )


def _memories(projects: list[int]) -> dict[int, tuple[int, tuple[int, int] | None]]:
    """Each project's number of memories, and the lines and bytes of its index."""
    counted = dict(_memories_counted(projects))
    index = {pk: (lines, size) for pk, lines, size in _indexes(projects)}
    return {pk: (counted.get(pk, 0), index.get(pk)) for pk in projects}


@prepared
def _memories_counted(projects: list[int]) -> QuerySet[Memory, tuple[int, int]]:
    return per_project(Memory.objects.filter(COUNTED_MEMORIES, project__in=projects))


@prepared
def _indexes(projects: list[int]) -> QuerySet[Memory, tuple[int, int, int]]:
    rows = Memory.objects.filter(project__in=projects, gone_at=None, kind=Memory.Kind.INDEX)
    return rows.values_list("project_id", "lines", "size")


@prepared
def _waiting(projects: list[int]) -> QuerySet[Proposal, tuple[int, str, str, bool]]:
    rows = Proposal.objects.filter(project__in=projects, state__in=Proposal.UNFINISHED).order_by(
        "created_at", "pk"
    )
    return rows.values_list("project_id", "public_id", "state", is_any_open())


@prepared
def _active(projects: list[int]) -> QuerySet[DreamRun, tuple[int, str]]:
    rows = DreamRun.objects.filter(project__in=projects, status__in=DreamRun.UNFINISHED)
    return rows.values_list("project_id", "public_id")


@prepared
def _last_errors(pks: list[int]) -> QuerySet[DreamRun, tuple[int, str]]:
    failing = Project.objects.filter(pk__in=pks, failures__gt=0)
    past = DreamRun.objects.filter(project=OuterRef("pk"), status=DreamRun.Status.FAILED)
    newest = Subquery(past.order_by("-created_at", "-pk").values("pk")[:1])
    failed = DreamRun.objects.filter(pk__in=failing.order_by().annotate(newest=newest).values("newest"))
    return failed.values_list("project_id", "error")


def _row(row: Project, facts: _Facts) -> ProjectRow:
    rank: int = row.rank  # type: ignore[attr-defined] # annotated by _ranked
    state = STATES[rank]
    why, opens_at = _why(row, rank, facts)
    review, is_decided = facts.reviews.get(row.pk, ("", False))
    return ProjectRow(
        pk=row.pk,
        name=str(row),
        host=row.host,
        place=row.repo_dir or row.memory_dir,
        kind=row.get_kind_display() if row.kind == Project.Kind.AGENT else "",
        agent=row.agent_name,
        state=state.name,
        label=state.label,
        tone=state.tone,
        icon=state.icon,
        why=why,
        opens_at=opens_at,
        figures=tuple(Figure(title, kind, value(row, facts)) for title, kind, value in COLUMNS),
        review=review,
        is_decided=is_decided,
        dream=facts.dreams.get(row.pk, ""),
    )


def _index(row: Project, facts: _Facts) -> IndexSize | None:
    _, size = facts.memories[row.pk]
    return size_by_row(*size, facts.overrides.config(row.pk)) if size else None


#: The figures of a row, in order. To add one, add it here and its data to `_Facts`.
COLUMNS: Sequence[tuple[str, FigureKind, Callable[[Project, _Facts], object]]] = (
    ("Last dream", "age", lambda row, facts: row.last_consolidated_at),
    ("New sessions", "number", lambda row, facts: facts.next[row.pk].new_sessions),
    ("Memories", "number", lambda row, facts: facts.memories[row.pk][0]),
    ("Index", "index", _index),
)


#: By whether a decision is open; None where all of it was submitted.
_OF_REVIEW = {
    True: "Not all of it is decided yet.",
    False: "It is decided, but not submitted yet.",
    None: "Approved, but not all of it is written yet.",
}


def _why(row: Project, rank: int, facts: _Facts) -> tuple[str, dt.datetime | None]:
    """One sentence on the state, and when it ends if that is known."""
    if rank == FAILING:
        waits, retried_at = facts.next[row.pk].retry(facts.now)
        failed = facts.errors.get(row.pk) or "A dream failed."
        return f"{failed} {waits}".rstrip(), retried_at
    if rank == OFF:
        return "Dreams are off for this project.", None
    if rank == UNWATCHED:
        return "Its config folder is no longer in Settings, Places; history is kept.", None
    if rank == GONE:
        return "Its folders are no longer on disk; history is kept.", None
    if rank == REVIEW:
        return _OF_REVIEW[facts.open.get(row.pk)], None
    if rank == DREAMING:
        return "A dream is running.", None
    found = facts.next[row.pk]
    if rank == UNSEEN:
        return "The scheduler checks gates once a minute while it runs.", None
    return found.what_next(facts.now), found.opens_at


def with_unique_names(choices: Iterable[tuple[int, str]]) -> list[tuple[int, str]]:
    """(id, name) of projects; duplicate names get the host or else the folder added. No query if all names are unique."""
    rows = list(choices)
    often = Counter(name for _, name in rows)
    shared = [pk for pk, name in rows if often[name] > 1]
    if not shared:
        return rows
    names = hosts.names()
    found = Project.objects.filter(pk__in=shared).values_list("pk", "name", "host", "repo_dir", "memory_dir")
    owners = Counter((name, owner) for _, name, owner, _, _ in found)
    repos = Counter((name, owner, repo) for _, name, owner, repo, _ in found)
    where = {
        pk: names.get(owner, owner)
        if owners[name, owner] == 1
        else short_path(repo if repo and repos[name, owner, repo] == 1 else folder)
        for pk, name, owner, repo, folder in found
    }
    return [(pk, f"{name} ({where[pk]})" if where.get(pk) else name) for pk, name in rows]
