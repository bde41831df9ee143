"""The inbox: everything that waits for the person, snoozed items, and recent events."""

import datetime as dt
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from django.db.models import Count, Exists, OuterRef, Prefetch, Q, QuerySet
from django.http import QueryDict
from django.utils import timezone

from dreams import conf
from dreams.findings.index_limits import MANY_WITHOUT_A_DREAM
from dreams.models import COUNTED_MEMORIES, AppliedBatch, DreamRun, Memory, Policy, Project, Proposal
from dreams.models.prepared import prepared
from dreams.services import hosts, people
from dreams.services.doctor.check import Check
from dreams.services.inbox import waiting
from dreams.services.inbox.waiting import WaitingItem, WaitingKind
from dreams.services.proposals import summaries
from dreams.services.proposals.summaries import Summary, WriteSummary
from dreams.services.scheduling import next_dream
from dreams.web.pages.projects import config_folders, looking, with_unique_names
from dreams.web.paging import chosen, number_or_none

FINDINGS: Mapping[str, str] = {
    "confirm": "To confirm",
    "warnings": "Warnings only",
    "none": "No findings",
}
SORTS: Mapping[str, str] = {
    "": "Most urgent first",
    "oldest": "Oldest first",
    "newest": "Newest first",
    "project": "By project name",
    "small": "Smallest first",
}
#: Filters are shown from this many items on.
FEW = 4


@dataclass(frozen=True, slots=True)
class InboxQuery:
    """The filters in the address; an empty field matches everything."""

    project: int | None = None
    kind: str = ""
    finding: str = ""
    sort: str = ""
    is_grouped: bool = False
    all_selected: bool = False
    host: str = ""

    @property
    def is_narrowed(self) -> bool:
        return bool(self.project or self.kind or self.finding or self.host)


def parse_query(given: QueryDict, host: str = "") -> InboxQuery:
    return InboxQuery(
        host=host,
        project=number_or_none(given.get("project")),
        kind=chosen(given.get("kind"), list(WaitingKind)),
        finding=chosen(given.get("finding"), list(FINDINGS)),
        sort=chosen(given.get("sort"), list(SORTS)),
        is_grouped=given.get("group") == "project",
        all_selected=given.get("select") == "all",
    )


@dataclass(frozen=True, slots=True)
class InboxGroup:
    """Items under one heading; the heading is empty if the list is not grouped."""

    title: str
    items: Sequence[WaitingItem]


@dataclass(frozen=True, slots=True)
class Listing:
    """`waits` counts all items that are not snoozed, `groups` are those shown, `later` the snoozed ones.

    `others` are waiting for somebody else after the reader's part. `to_go_through` counts those that a person can work
    on now, `to_review` proposals with an open decision, `to_finish` other proposals; the title counts both.
    """

    asked: InboxQuery
    groups: Sequence[InboxGroup]
    shown: int
    waits: int
    to_go_through: int
    to_review: int
    to_finish: int
    to_look_at: int
    projects: Sequence[tuple[int, str]]
    kinds: Sequence[WaitingKind]
    oldest: WaitingItem | None
    later: Sequence[WaitingItem]
    others: Sequence[WaitingItem]
    findings: ClassVar = FINDINGS
    sorts: ClassVar = SORTS

    @property
    def nobody_else(self) -> bool:
        """Whether one of `others` waits for a second person and there is no such account."""
        return any(not people.reviewers().exclude(username__in=item.not_for).exists() for item in self.others)

    @property
    def has_filters(self) -> bool:
        return self.waits >= FEW or self.asked.is_narrowed

    @property
    def is_several(self) -> bool:
        return self.waits > 1

    @property
    def are_questions_later(self) -> bool:
        return any(item.kind is WaitingKind.QUESTIONS for item in self.later)

    @property
    def keys(self) -> list[str]:
        return [item.key for group in self.groups for item in group.items]


def listing(now: dt.datetime, asked: InboxQuery, reader: str = "") -> Listing:
    found = waiting.waiting(now, reader)
    everything = [item for item in found if reader not in item.not_for]
    items = [item for item in everything if item.snooze is None]
    shown = _sorted([item for item in items if _passes(item, asked)], asked.sort)
    reviews = sum(item.kind is WaitingKind.REVIEW for item in items)
    proposals = sum(item.facts is not None for item in items)
    to_review, to_finish = reviews, proposals - reviews
    if sum(item.facts is not None for item in found) >= waiting.MOST:
        to_review, to_finish = waiting.open_decisions(now, reader).count(), waiting.to_finish(now, reader)
    unlisted = max(0, to_review + to_finish - proposals)
    # The item for the questions of all projects has no project.
    dated = [item for item in items if item.project_pk]
    return Listing(
        asked=asked,
        groups=_groups(shown) if asked.is_grouped else [InboxGroup("", shown)],
        shown=len(shown),
        waits=len(items) + unlisted,
        to_go_through=sum(_is_a_persons_move(item) for item in items) + unlisted,
        to_review=to_review,
        to_finish=to_finish,
        to_look_at=sum(item.kind in (WaitingKind.MOVED, WaitingKind.JOB) for item in items),
        projects=sorted(
            with_unique_names({item.project_pk: item.project for item in items if item.project_pk}.items()),
            key=lambda project: project[1].casefold(),
        ),
        kinds=sorted({item.kind for item in items}, key=list(WaitingKind).index),
        oldest=min(dated, key=lambda item: item.since) if len(dated) > 1 else None,
        later=sorted((item for item in everything if item.snooze), key=_comes_back),
        others=[item for item in found if reader in item.not_for],
    )


def _comes_back(item: WaitingItem) -> tuple[bool, float]:
    until = item.snooze.until if item.snooze else None
    return (until is None, until.timestamp() if until else 0)


def _passes(item: WaitingItem, asked: InboxQuery) -> bool:
    return (
        (asked.project is None or item.project_pk == asked.project)
        and asked.host in ("", item.of)
        and asked.kind in ("", item.kind)
        and asked.finding in ("", _finding(item))
    )


def _finding(item: WaitingItem) -> str:
    if item.facts is None:
        return ""
    return "confirm" if item.facts.to_confirm else "warnings" if item.facts.warnings else "none"


_KEYS: Mapping[str, Callable[[WaitingItem], Any]] = {
    "oldest": lambda item: item.since.timestamp(),
    "newest": lambda item: -item.since.timestamp(),
    "project": lambda item: item.project.casefold(),
    "small": lambda item: item.facts.counts.undecided if item.facts else 0,
}


def _sorted(items: list[WaitingItem], by: str) -> list[WaitingItem]:
    """Sorts the items. The sort is stable: equal items stay in order of urgency."""
    return sorted(items, key=_KEYS[by]) if by else items


def _groups(items: Sequence[WaitingItem]) -> list[InboxGroup]:
    """Grouped by project, in the order of each project's first item."""
    found: dict[int | None, list[WaitingItem]] = {}
    for item in items:
        found.setdefault(item.project_pk, []).append(item)
    return [InboxGroup(rows[0].project, rows) for rows in found.values()]


def next_after(now: dt.datetime, reader: str, key: str = "") -> WaitingItem | None:
    """The next item for `reader` after the item `key`, or the first; None if no other item waits."""
    items = [
        item for item in waiting.waiting(now, reader) if item.snooze is None and _is_a_persons_move(item)
    ]
    items = [item for item in items if reader not in item.not_for]
    keys = [item.key for item in items]
    at = keys.index(key) + 1 if key in keys else 0
    others = [*items[at:], *items[:at]]
    return next((item for item in others if item.key != key), None)


def _is_a_persons_move(item: WaitingItem) -> bool:
    """Whether it waits for a person, not for another host that was asked to continue."""
    return not item.host


DREAM = "dream"


@dataclass(frozen=True, slots=True)
class Until:
    """`at` is None for the next dream; `words` end a sentence."""

    at: dt.datetime | None
    words: str


def choices(today: dt.date) -> list[dict[str, Any]]:
    tomorrow = today + dt.timedelta(days=1)
    # On a Sunday, tomorrow is a Monday too: "next week" is then the Monday after.
    monday = tomorrow + dt.timedelta(days=7 - tomorrow.weekday())
    days = [("Tomorrow", tomorrow), ("Next week", monday)]
    found = [
        {"value": day.isoformat(), "label": label, "day": day, "key": str(n)}
        for n, (label, day) in enumerate(days, 1)
    ]
    return [
        *found,
        {"value": DREAM, "label": "Until the next dream ends", "day": None, "key": str(len(days) + 1)},
    ]


def until_of(pressed: str, typed: str, today: dt.date) -> Until | None:
    """The choice: a button's value, else the typed day. None unless it is a day in the future."""
    if pressed == DREAM:
        return Until(None, "until the next dream ends")
    try:
        day = dt.date.fromisoformat(pressed or typed)
    except ValueError:
        return None
    if day <= today:
        return None
    at = timezone.make_aware(dt.datetime.combine(day, dt.time()))
    return Until(at, f"until {day:%-d %b %Y}")


MOST = 100  # rows; chosen
MOST_NEXT = 6  # rows; chosen
MOST_UNTIDIED = 3  # rows; chosen
MOST_NEWS = 8  # rows; chosen
MOST_LATELY = 5  # rows; chosen
LATELY = dt.timedelta(days=7)  # changes written since then are shown; chosen


@dataclass(frozen=True, slots=True)
class News:
    """The result of a dream without a review; shown until the person has seen it."""

    run: DreamRun
    told: Summary

    @property
    def by_policy(self) -> bool:
        """Whether a policy applied its changes."""
        return bool(self.told.counts.written)


@dataclass(frozen=True, slots=True)
class Inbox:
    waiting: Listing
    running: list[DreamRun]
    news: list[News]
    next: list[dict[str, Any]]
    untidied: list[dict[str, Any]]
    lately: list[dict[str, Any]]

    @property
    def projects(self) -> int:
        """The number of projects; only queried if nothing waits."""
        return sum(_projects_counted())

    @property
    def places(self) -> list[tuple[str, str]]:
        return config_folders()

    @property
    def looking(self) -> Check | None:
        return looking()

    @property
    def any_ever(self) -> bool:
        """Whether there ever was a proposal; only queried if nothing waits."""
        return bool(_any_proposal())


def inbox(now: dt.datetime, asked: InboxQuery, reader: str = "") -> Inbox:
    waits = listing(now, asked, reader)
    return Inbox(
        waiting=waits,
        running=_running(asked.host),
        news=_news(asked.host),
        next=_next(now, asked.host),
        untidied=_untidied(asked.host),
        lately=_lately(now, asked.host),
    )


@prepared
def _projects_counted() -> QuerySet[Project, int]:
    """The number of projects in one row; no row if there are none."""
    rows = Project.objects.filter(gone_at__isnull=True).order_by().values("gone_at")
    return rows.annotate(n=Count("pk")).values_list("n", flat=True)


@prepared
def _any_proposal() -> QuerySet[Proposal, int]:
    return Proposal.objects.order_by().values_list("pk", flat=True)[:1]


@prepared
def _running(host: str) -> QuerySet[DreamRun]:
    return DreamRun.objects.filter(status__in=DreamRun.UNFINISHED, **_of(host)).select_related("project")[
        :MOST
    ]


def _of(host: str) -> dict[str, str]:
    """Filters for rows of one host's projects; empty for ""."""
    return {"project__host": host} if host else {}


def _news(host: str) -> list[News]:
    """Dreams that ended without a proposal for the person: those with one are in the list of waiting items."""
    runs = _ended(host)
    told = summaries.of_dreams(runs)
    return [News(run, told[run.pk]) for run in runs]


@prepared
def _ended(host: str) -> QuerySet[DreamRun]:
    reviewed = Exists(Proposal.objects.filter(dream=OuterRef("pk"), by_policy=False))
    # Excludes unfinished states: with the finished ones, SQLite would scan all such dreams, not just those nobody has seen.
    rows = DreamRun.objects.filter(
        ~reviewed, ~Q(status__in=DreamRun.UNFINISHED), notified_at__isnull=True, **_of(host)
    )
    return rows.select_related("project").order_by("-ended_at")[:MOST_NEWS]


def _lately(now: dt.datetime, host: str) -> list[dict[str, Any]]:
    rows = _applied(now - LATELY, host)
    told = summaries.of_applications(rows) if rows else {}
    return [_written(row, told[row.pk], row.proposal.undos) for row in rows]  # type: ignore[attr-defined] # prefetched by _applied


@prepared
def _applied(since: dt.datetime, host: str) -> QuerySet[AppliedBatch]:
    recent = AppliedBatch.objects.filter(at__gte=since).select_related("proposal__project")
    recent = recent.filter(proposal__project__host=host) if host else recent
    own = Policy.objects.filter(project=OuterRef("proposal__project"), action=Policy.Action.AUTO)
    recent = recent.annotate(by_own_policy=Exists(own))
    done = Q(state=Proposal.State.APPLIED) & ~Q(applications__undone_at__isnull=False)
    undos = Prefetch("proposal__undone_by", Proposal.objects.filter(done), to_attr="undos")
    return recent.prefetch_related(undos).order_by("-at", "-pk")[:MOST_LATELY]


def _written(row: AppliedBatch, deed: WriteSummary, undos: Sequence[Proposal]) -> dict[str, Any]:
    """`undo` is the proposal to undo: this one or, if it was undone, its undo."""
    redo = undos[-1].public_id if undos and deed.is_undone else ""
    return {"batch": row, "deed": deed, "undo": row.proposal.public_id if deed.can_be_undone else redo}


def _next(now: dt.datetime, host: str) -> list[dict[str, Any]]:
    return [
        {"project": project, "reason": one.what_next(now), "dream": one}
        for project, one in next_dream.upcoming(now, MOST_NEXT, host)
    ]


def _untidied(host: str) -> list[dict[str, Any]]:
    """Projects of this host where a first dream would help most and may start."""
    overrides = conf.Overrides.load()
    usual = overrides.config(None)
    if usual.paused or host not in ("", hosts.host()):
        return []
    # Projects whose setting differs from the default. Few have this one; all settings of 400 projects take 14 ms.
    own = [pk for pk, rows in overrides.by_project.items() if "dreaming" in rows]
    others = [pk for pk in own if overrides.config(pk).dreaming != usual.dreaming]
    found = _never_tidied(hosts.host(), usual.dreaming, others)
    return [{"project": project, "memories": project.n} for project in found]


@prepared
def _never_tidied(host: str, but: bool, others: list[int]) -> QuerySet[Any]:
    """Projects with most memories (`n`): all except `others` if `but`, else only `others`."""
    # Checks each project for dreams first: with a join, the check would run for each of its memories.
    never = Project.objects.filter(
        ~Exists(DreamRun.objects.filter(project=OuterRef("pk"))),
        last_consolidated_at=None,  # set by the agent's own dreams too
        gone_at=None,
        host=host,
    )
    never = never.exclude(pk__in=others) if but else never.filter(pk__in=others)
    n = waiting.counted(Memory.objects.filter(COUNTED_MEMORIES, project=OuterRef("pk")), "project")
    return never.annotate(n=n).filter(n__gte=MANY_WITHOUT_A_DREAM).order_by("-n", "pk")[:MOST_UNTIDIED]
