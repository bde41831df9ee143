"""The page of one project: gates, memories, sessions, instruction files and figures. A fixed number of queries."""

import datetime as dt
from collections.abc import Callable, Set as AbstractSet
from dataclasses import asdict, dataclass
from functools import cache, partial
from typing import TYPE_CHECKING, Any, TypedDict

from django.core.paginator import Page
from django.db.models import Case, Count, F, IntegerField, OuterRef, Q, QuerySet, Value, When
from django.utils import timezone

from dreams import conf
from dreams.engines.anthropic import keys
from dreams.lib.files.text import is_folder
from dreams.models import (
    COUNTED_MEMORIES,
    COUNTED_SESSIONS,
    Card,
    DreamRun,
    DreamSession,
    Memory,
    Project,
    Proposal,
    Question,
    Session,
    TranscriptFolder,
    Version,
)
from dreams.models.prepared import Fixed, prepared
from dreams.models.sessions import continued_later
from dreams.services import hosts, session_notes, verifying
from dreams.services.cached_counts import CountKind, kept
from dreams.services.inbox.waiting import counted
from dreams.services.memories import instructions, moved
from dreams.services.proposals.decisions import is_any_open
from dreams.services.questions.question_states import NOW_ASKED
from dreams.services.scheduling import gates, next_dream
from dreams.services.scheduling.gates.facts import Tally
from dreams.web.paging import PageOfRows, RowQuery, listed, page_of

if TYPE_CHECKING:
    from django_stubs_ext.annotations import WithAnnotations

FEW = 10  # rows of an overview; chosen
FEW_SESSIONS = 6  # rows of an overview; chosen
MEMORIES_PAGE = 60  # rows; chosen
SESSIONS_PAGE = 40  # rows; chosen
MOST_FILES = 200  # names; chosen
CAUGHT = Proposal.Origin.CAUGHT  # its cards have a page of their own
ASIDE_DAYS = dt.timedelta(days=14)  # how long a text kept aside is shown; chosen
# The index first, then topics, team notes and logs.
READING_ORDER = Case(
    When(kind=Memory.Kind.INDEX, then=Value(0)),
    When(kind=Memory.Kind.TOPIC, then=Value(1)),
    When(kind=Memory.Kind.TEAM, then=Value(2)),
    default=Value(3),
    output_field=IntegerField(),
)
SHOWN = (
    *("pk", "path", "name", "description", "kind", "type", "size"),
    *("pinned", "changed_at", "gone_at", "unread"),
)
LISTED = (READING_ORDER, F("changed_at").desc(nulls_last=True), "path")


@dataclass(frozen=True, slots=True)
class SessionRow:
    pk: int
    title: str
    at: dt.datetime
    size: int
    turns: int
    corrections: int
    state: str
    tone: str


@dataclass(frozen=True, slots=True)
class TabCounts:
    """The counts on a project's tabs. `memories` and `sessions` are those on disk, as in the `projects` command."""

    memories: int
    files: int
    logs: int
    gone: int
    sessions: int
    gone_sessions: int
    questions: int
    caught: int
    open_ends: int


@dataclass(frozen=True, slots=True)
class Head(TabCounts):
    """The head and the side of a project's page: figures, folders, switches."""

    review: str
    is_decided: bool  # and not submitted
    dreaming_on: bool
    config: conf.Config
    engines: list[dict[str, Any]]
    has_key: bool
    tally: Tally
    auto_memory: str
    agent_dreams: str
    cleanup_days: int | None
    asides: list[Version]
    lost_history: verifying.LostHistory | None
    only_agent_dreamt: bool

    @property
    def may_cost(self) -> bool:
        """Whether a dream might use a model."""
        return self.has_key or self.config.engine != "rules"

    @property
    def new_sessions(self) -> int:
        return self.tally.plain + self.tally.corrected


def head(project: Project) -> Head:
    config = conf.current(project)
    tally = next_dream.tally_sessions([project], timezone.now())[project.pk]
    review, state, is_open = next(iter(_to_review(project.pk)), ("", "", True))
    labels = conf.specs()["engine"].choices or {}
    switches = project.agent_settings
    return Head(
        **asdict(counts(project)),
        review=review,
        is_decided=state == Proposal.State.OPEN and not is_open,
        dreaming_on=config.dreaming,
        config=config,
        engines=[
            {"value": value, "label": label, "chosen": value == config.engine}
            for value, label in labels.items()
        ],
        has_key=keys.state().usable,
        tally=tally,
        auto_memory=_switch(switches.get("auto_memory", True)),
        agent_dreams=_switch(switches.get("auto_dream")),
        cleanup_days=switches.get("cleanup_days"),
        asides=_asides(project),
        lost_history=verifying.lost_history(project),
        only_agent_dreamt=not _completed(project.pk),
    )


@prepared
def row(project: int) -> QuerySet[Project]:
    return Project.objects.filter(pk=project)


@prepared
def _completed(project: int) -> QuerySet[DreamRun, int]:
    """One completed dream, if there is one."""
    rows = DreamRun.objects.filter(project=project, status=DreamRun.Status.COMPLETED)
    return rows.values_list("pk", flat=True).order_by()[:1]


def counts(project: Project) -> TabCounts:
    """For the other pages of a project; three queries."""
    memories = kept(
        CountKind.MEMORIES,
        project.pk,
        "counts",
        lambda: next(iter(_memories_counted(project.pk)), (0, 0, 0, 0)),
    )
    sessions = kept(
        CountKind.SESSIONS, project.pk, "counts", lambda: next(iter(_sessions_counted(project.pk)), (0, 0))
    )
    [others] = _waiting_counted(project.pk)
    return TabCounts(*memories, *sessions, *others)


def _asides(project: Project) -> list[Version]:
    """Texts of the last two weeks that were written during an apply and are in no file."""
    since = timezone.now() - ASIDE_DAYS
    found = kept(CountKind.MEMORIES, project.pk, "asides", lambda: _newest_asides(project.pk))
    return [row for row in found if row.aside_at and row.aside_at >= since]


@prepared
def _newest_asides(project: int) -> QuerySet[Version]:
    rows = Version.objects.filter(memory__project=project, aside_at__isnull=False)
    return rows.select_related("memory").order_by("-aside_at")[:FEW]


def _switch(value: object) -> str:
    return "not set" if value is None else "on" if value else "off"


@prepared
def _memories_counted(project: int) -> QuerySet[Memory, tuple[int, ...]]:
    """In the order of `TabCounts`: `files` are all current ones, with indexes and logs; `memories` without them."""
    present = Q(gone_at__isnull=True)
    rows = Memory.objects.filter(project_id=project).order_by().values("project")
    return rows.annotate(
        memories=Count("pk", filter=COUNTED_MEMORIES),
        files=Count("pk", filter=present),
        logs=Count("pk", filter=present & Q(kind=Memory.Kind.LOG)),
        gone=Count("pk", filter=~present),
    ).values_list("memories", "files", "logs", "gone")


@prepared
def _sessions_counted(project: int) -> QuerySet[Session, tuple[int, ...]]:
    """Sessions on disk, and those of which only the row is left."""
    rows = Session.objects.filter(project_id=project).order_by().values("project")
    rows = rows.annotate(n=Count("pk", filter=COUNTED_SESSIONS), gone=Count("pk", filter=~COUNTED_SESSIONS))
    return rows.values_list("n", "gone")


@prepared
def _waiting_counted(project: int) -> QuerySet[Project, tuple[int, ...]]:
    """Open questions that were asked, cards to review, and tasks that agents left unfinished."""
    asked = Question.objects.filter(NOW_ASKED, project=OuterRef("pk"))
    cards = Card.objects.filter(project=OuterRef("pk"), state=Card.State.OPEN)
    left = session_notes.open_ends(OuterRef("pk"))
    rows = Project.objects.filter(pk=project).order_by()
    return rows.values_list(
        counted(asked, "project"), counted(cards, "project"), counted(left, "session__project")
    )


@prepared
def _to_review(project: int) -> QuerySet[Proposal, tuple[str, str, bool]]:
    rows = Proposal.objects.filter(project_id=project, state__in=Proposal.UNFINISHED).exclude(origin=CAUGHT)
    return rows.order_by("-created_at").values_list("public_id", "state", is_any_open())[:1]


def move_choices(project: Project, memories: int) -> dict[str, Any] | None:
    """The choices for a project that moved; `memories` is the number of its own. None on another host."""
    if project.host != hosts.host():
        return None
    if source := next((row.moved_from for row in moved.unanswered(project.pk)), None):
        return {"source": source, "memories": counts(source).memories, "targets": ()}
    if not (project.repo_gone_at and memories) or project.moved_to.exists():
        return None
    others = Project.objects.filter(
        host=project.host, kind=Project.Kind.AUTO, gone_at=None, repo_gone_at=None
    )
    others = others.exclude(repo_dir="").order_by("-first_seen_at", "name")
    return {"source": None, "memories": memories, "targets": list(others[:MOST_FILES])}


@prepared
def folders(project: int) -> QuerySet[TranscriptFolder, str]:
    rows = TranscriptFolder.objects.filter(project_id=project, gone_at__isnull=True)
    return rows.values_list("path", flat=True)[:MOST_FILES]


def memories(project: Project, text: str, number: str | None, *, gone: bool, total: int) -> PageOfRows[Any]:
    """The index, then topics by their last change, then team notes and logs. `total` as in `sessions`."""
    rows: Any = RowQuery(total, partial(_memories_listed, project.pk, gone=gone, most=Fixed(MEMORIES_PAGE)))
    if text:
        is_match = Q(path__icontains=text) | Q(name__icontains=text) | Q(description__icontains=text)
        rows = _memories(project.pk, gone=gone).filter(is_match)
    return listed(page_of(rows, number, MEMORIES_PAGE), lambda row: row)


def some_memories(project: Project, total: int) -> PageOfRows[Any]:
    """The first few of `total`, which is not counted again."""
    ask = partial(_memories_listed, project.pk, Fixed(0), gone=False, most=Fixed(FEW))
    rows = kept(CountKind.MEMORIES, project.pk, "some", ask)
    return PageOfRows(rows, page_of(RowQuery(total, lambda _: rows), 1, FEW))


def _memories(project: int, *, gone: bool) -> QuerySet[Memory, Any]:
    """As plain values, so that the rendered rows can be cached by them."""
    rows = Memory.objects.filter(project_id=project, gone_at__isnull=not gone).order_by(*LISTED)
    return rows.values_list(*SHOWN, named=True)


@prepared
def _memories_listed(project: int, start: Fixed, *, gone: bool, most: Fixed) -> QuerySet[Memory, Any]:
    return _memories(project, gone=gone)[start : start + most]


def sessions(
    project: Project, text: str, number: str | None, *, gone: bool, total: int
) -> PageOfRows[SessionRow]:
    """`total` is the number of sessions, which is not counted again. A search counts its matches."""
    rows: Any = RowQuery(total, partial(_sessions_listed, project.pk, gone=gone, most=Fixed(SESSIONS_PAGE)))
    if text:
        is_match = Q(title__icontains=text) | Q(session_id__icontains=text) | Q(branch__icontains=text)
        rows = _sessions(project.pk, gone=gone).filter(is_match)
    return _sessions_rows(project, page_of(rows, number, SESSIONS_PAGE))


def some_sessions(project: Project, total: int) -> PageOfRows[SessionRow]:
    """As `some_memories`."""
    ask = partial(_sessions_listed, project.pk, gone=False, most=Fixed(FEW_SESSIONS))
    return _sessions_rows(project, page_of(RowQuery(total, ask), 1, FEW_SESSIONS))


class _Listed(TypedDict):
    is_continued: bool


def _sessions(project: int, *, gone: bool) -> QuerySet[Session]:
    rows = Session.objects.filter(~COUNTED_SESSIONS if gone else COUNTED_SESSIONS, project_id=project)
    return rows.annotate(is_continued=continued_later(gone_at=None)).order_by("-touched_at", "-pk")


@prepared
def _sessions_listed(project: int, start: Fixed, *, gone: bool, most: Fixed) -> QuerySet[Session]:
    return _sessions(project, gone=gone)[start : start + most]


@prepared
def _in_review(sessions: list[int]) -> QuerySet[DreamSession, int]:
    """Those of `sessions` whose dream's proposal waits for a person."""
    rows = DreamSession.objects.filter(session__in=sessions, dream__proposals__state__in=Proposal.UNFINISHED)
    return rows.values_list("session_id", flat=True)


def _sessions_rows(project: Project, page: Page[Any]) -> PageOfRows[SessionRow]:
    # The agent's registry is on disk: it is read at most once, and only if a session might be running.
    running = cache(partial(next_dream.running, [project]))
    in_review = frozenset(_in_review([row.pk for row in page.object_list]))
    return listed(page, partial(_session, project, in_review, running, timezone.now()))


def _session(
    project: Project,
    in_review: frozenset[int],
    running: Callable[[], AbstractSet[str]],
    now: dt.datetime,
    row: "WithAnnotations[Session, _Listed]",
) -> SessionRow:
    state, tone = ("in review", "accent") if row.pk in in_review else _learnt(project, row)
    if state == "new" and gates.is_live(row.session_id in running() or None, row.touched_at, now):
        state, tone = "still running", "info"
    elif state == "new" and row.is_continued:
        state, tone = "continued later", ""
    return SessionRow(
        pk=row.pk,
        title=str(row),
        at=row.at,
        size=row.size,
        turns=row.user_turns + row.assistant_turns,
        corrections=row.corrections,
        state=state,
        tone=tone,
    )


def _learnt(project: Project, row: Session) -> tuple[str, str]:
    """A session's state in a word, and its colour.

    Apart from those that were continued later, "new" and "to be read again" are those that the head of the page counts.
    """
    if row.gone_at is not None:
        return "gone from disk", "warn"
    if row.own:
        return "created by a dream", ""
    if row.given_back_at is not None:
        return "to be read again", "info"
    if row.used_bytes >= row.size > 0:
        return "used", ""
    if row.used_bytes:
        return "partly used", "accent"
    last = project.last_consolidated_at
    return ("not used yet", "") if last and row.touched_at <= last else ("new", "accent")


def instruction_files(project: Project) -> list[dict[str, Any]]:
    """The instruction files that the agent always loads in this project, in loading order."""
    found = instructions.files(project, conditional=False)
    return [
        {"name": instructions.shown(project, file.path), "scope": file.scope}
        for file in found
        if not file.problem
    ]


def exists_on_disk(project: Project) -> bool:
    return project.host != hosts.host() or is_folder(project.memory_dir)
