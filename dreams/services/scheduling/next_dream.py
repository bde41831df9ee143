"""When a project dreams next: one sentence on what its closed gates wait for, and how many sessions are new.

Pages ask for many projects at once, from database rows alone: a project's stored evaluation only has its first closed
gate, as the scheduler stops there. The rules are those of `dreams.services.scheduling.gates`; for `costly` gates the
last stored result is used.
"""

import datetime as dt
import re
from collections.abc import Iterable, Mapping, Sequence, Set as AbstractSet
from dataclasses import dataclass, replace
from typing import Any

from django.db.models import CharField, Count, F, Max, Min, OuterRef, Q, QuerySet, Subquery
from django.db.models.functions import Cast, Coalesce

from dreams.lib import amounts
from dreams.lib.files.text import plural
from dreams.lib.timestamps import to_ns
from dreams.models import DreamRun, GateEvaluation, Project, Session
from dreams.models.prepared import prepared
from dreams.services import cached_counts, discovery, hosts
from dreams.services.scheduling import gates
from dreams.services.scheduling.gate_inputs import Everywhere, case_of
from dreams.services.scheduling.gates.facts import Tally

_DISTANCE = re.compile(r"(?:; opens |; tried again |, which was )")
_AS_JUDGED = tuple(gate.name for gate in gates.GATES.values() if gate.costly)
_FROM_ROWS = tuple(gate.name for gate in gates.GATES.values() if not gate.costly)
#: How many projects are considered for the next dreams, most recently used first; chosen: a page shows the first few.
MOST_LOOKED_AT = 100
#: Shown for a project whose gates are open: a setting limits how many dream at once; the scheduler takes them in this order.
IN_TURN = "Dreams in turn; the most recently used project goes first."
_BY_SESSIONS = tuple(gate.name for gate in gates.GATES.values() if gate.by_sessions)


@dataclass(frozen=True, slots=True)
class NextDream:
    """The closed gates of a project. `new_sessions` are counted as its sessions gate counts them."""

    closed: tuple[gates.GateResult, ...]
    new_sessions: int = 0

    @classmethod
    def of(cls, results: Sequence[gates.GateResult], new_sessions: int = 0) -> "NextDream":
        closed = [result for result in results if not result.passed]
        # The check interval does not matter if another gate is closed too.
        waited_for = [result for result in closed if not result.is_pause] or closed
        return cls(tuple(waited_for), new_sessions)

    @property
    def missing(self) -> int:
        """How many more sessions are needed."""
        return max((result.missing for result in self.closed), default=0)

    @property
    def opens_at(self) -> dt.datetime | None:
        """When all gates will be open; None if one does not open by waiting."""
        moments = [result.opens_at for result in self.closed]
        known = [moment for moment in moments if moment is not None]
        return max(known) if known and len(known) == len(moments) else None

    @property
    def held_by(self) -> gates.GateResult | None:
        """The first closed gate that neither time nor new sessions will open."""
        names = () if not self.missing else _BY_SESSIONS
        return next((one for one in self.closed if one.opens_at is None and one.name not in names), None)

    @property
    def why_off(self) -> str:
        """Why no dream starts here, not even a retry, until somebody changes a switch; "" if dreams may start."""
        return next((one.reason for one in self.closed if one.name in gates.SWITCHES), "")

    def retry(self, now: dt.datetime) -> tuple[str, dt.datetime | None]:
        """When a failed dream is tried again: (text, time). The text says what it waits for if that is not time alone.

        A forced dream ran despite closed gates, but its retry waits for them.
        """
        if not self.closed or self.why_off:
            return "", None
        if self.opens_at is not None:
            return "", self.opens_at
        return f"Before it is tried again: {self.sentence(now)}", None

    def what_next(self, now: dt.datetime) -> str:
        """What it waits for, or whose turn is next if all gates are open; for pages that show elsewhere that they are."""
        return self.sentence(now) if self.closed else IN_TURN

    def sentence(self, now: dt.datetime) -> str:
        """What it waits for, or that all gates are open. Does not repeat the time of `opens_at`."""
        if not self.closed:
            return "All gates are open."
        if self.held_by:
            return self.held_by.reason
        later = [one.opens_at for one in self.closed if one.opens_at and one.opens_at > now]
        if not self.missing:
            return as_stored(self.closed[-1].reason)
        wait = f", and at least {amounts.span(max(later) - now)} must pass" if later else ""
        heavy = next((f"; {one.heavy}" for one in self.closed if one.missing and one.heavy), "")
        return f"Needs {plural(self.missing, 'more session')}{wait}{heavy}."


def of_projects(
    projects: Sequence[Project],
    now: dt.datetime,
    everywhere: Everywhere | None = None,
    tallies: Mapping[int, Tally] | None = None,
) -> dict[int, NextDream]:
    """Project pk → its next dream. A fixed number of queries for any number of projects."""
    everywhere = everywhere or Everywhere.load()
    tallies = tallies or tally_sessions(projects, now)
    judged = dict(latest_gates([project.pk for project in projects]))
    return {
        project.pk: _next(project, everywhere, tallies[project.pk], judged.get(project.pk), now)
        for project in projects
    }


def upcoming(now: dt.datetime, most: int, host: str = "") -> list[tuple[Project, NextDream]]:
    """Projects, of one host or of all, that will dream without a person's action: first those whose gates are open, in the
    scheduler's order, then those that only wait for time, then those that need sessions. Only the most recently used
    are considered: a project that nobody works on does not dream again."""
    everywhere = Everywhere.load()
    # Evaluating gates is the slowest step here, so projects without new sessions or with a proposal to review are left
    # out: no dream is near, or none starts without a person.
    rows = _used_last(host, list(everywhere.open_proposals))
    tallies = tally_sessions(rows, now)
    projects = {row.pk: row for row in rows if tallies[row.pk].plain + tallies[row.pk].corrected}
    found = [
        (projects[pk], one)
        for pk, one in of_projects(list(projects.values()), now, everywhere, tallies).items()
        if not one.held_by
    ]
    return sorted(found, key=_order)[:most]


def _order(pair: tuple[Project, NextDream]) -> tuple[bool, dt.timedelta, dt.datetime, int, int]:
    project, one = pair
    late = dt.datetime.max.replace(tzinfo=dt.UTC)
    unused = late - project.last_session_at if project.last_session_at else dt.timedelta.max
    in_turn = dt.timedelta(0) if one.closed else unused
    return bool(one.closed), in_turn, one.opens_at or late, one.missing, project.pk


@prepared
def _used_last(host: str, others: list[int]) -> QuerySet[Project]:
    """The most recently used projects, except `others` and those that are dreaming."""
    rows = Project.objects.filter(gone_at__isnull=True, **({"host": host} if host else {}))
    used_last = rows.order_by(F("last_session_at").desc(nulls_last=True), "pk")[:MOST_LOOKED_AT]
    dreaming = DreamRun.objects.filter(status__in=DreamRun.UNFINISHED).values("project")
    found = Project.objects.filter(pk__in=used_last.values("pk")).exclude(pk__in=others)
    return found.exclude(pk__in=dreaming).order_by()


def _next(
    project: Project,
    everywhere: Everywhere,
    tally: Tally,
    judged: Sequence[Mapping[str, Any]] | None,
    now: dt.datetime,
) -> NextDream:
    case = case_of(project, everywhere, now)
    facts = replace(
        case.facts,
        last_scan_at=None,
        clock=lambda: to_ns(project.last_consolidated_at) if project.last_consolidated_at else None,
        sessions=lambda: tally,
    )
    results = gates.evaluate(replace(case, facts=facts), stop_at_first=False, names=_FROM_ROWS)
    return NextDream.of([*results, *_as_judged(judged, now)], tally.plain + tally.corrected)


def _as_judged(results: Sequence[Mapping[str, Any]] | None, now: dt.datetime) -> list[gates.GateResult]:
    """The costly gates that were closed at the last evaluation and whose opening time has not come, and any that it could
    not check: rows alone would open it."""
    found = []
    for gate in results or ():
        name, opens_at = str(gate.get("name")), stored_moment(gate.get("opens_at"))
        reason = as_stored(str(gate.get("reason", "")))
        is_news = name in _AS_JUDGED or reason.startswith(gates.UNCHECKED)
        if is_news and not gate.get("passed") and (opens_at is None or opens_at > now):
            found.append(gates.GateResult(name, False, reason, opens_at))
    return found


@dataclass(frozen=True, slots=True)
class _Counted:
    """A project's session counts at `mark`, for a last dream at `last`, while the sessions in `live` were running.

    After `until` the counts may differ without any change, as one of them may have stopped running.
    """

    mark: int
    last: dt.datetime | None
    live: AbstractSet[str]
    at: dt.datetime
    until: dt.datetime
    tally: Tally

    def holds(self, mark: int, last: dt.datetime | None, live: AbstractSet[str], now: dt.datetime) -> bool:
        return (self.mark, self.last, self.live) == (mark, last, live) and self.at <= now <= self.until


NOBODY: AbstractSet[str] = frozenset()
#: The last counts of this process, by project pk.
_counted: dict[int, _Counted] = {}


def tally_sessions(projects: Sequence[Project], now: dt.datetime) -> dict[int, Tally]:
    """Project pk → its sessions that are new to the next dream, as the sessions gate counts them.

    Touched since the last dream or given back; forks count once; running sessions are not ready yet. At most two queries;
    projects where nothing changed since the last count are not counted again.
    """
    live = _running_by_root(projects)
    if not cached_counts.has_marks():
        return {pk: one.tally for pk, one in _count(projects, live, now, {}).items()}
    marks = cached_counts.of_projects(cached_counts.CountKind.SESSIONS)
    kept = {
        project.pk: one
        for project in projects
        if (one := _counted.get(project.pk))
        and one.holds(
            marks.get(project.pk, 0), project.last_consolidated_at, live.get(project.root, NOBODY), now
        )
    }
    found = _count([project for project in projects if project.pk not in kept], live, now, marks)
    _counted.update(found)
    return {project.pk: (kept.get(project.pk) or found[project.pk]).tally for project in projects}


def _count(
    projects: Sequence[Project],
    live: Mapping[str, AbstractSet[str]],
    now: dt.datetime,
    marks: Mapping[int, int],
) -> dict[int, _Counted]:
    runs = set[str]().union(*live.values())
    rows = {row["project"]: row for row in _per_project(projects, runs, now)} if projects else {}
    none = {"roots": 0, "corrected": 0, "live": 0, "own_ones": 0, "first": None, "newest": None}
    found = {}
    for project in projects:
        row, last = rows.get(project.pk, none), project.last_consolidated_at
        plain = row["roots"] - row["corrected"]
        tally = Tally(plain, row["corrected"], row["live"], row["own_ones"], weight=1)
        until = _until(now, last, row["first"], row["newest"])
        mark, mine = marks.get(project.pk, 0), live.get(project.root, NOBODY)
        found[project.pk] = _Counted(mark, last, mine, now, until, tally)
    return found


def _until(
    now: dt.datetime, last: dt.datetime | None, first: dt.datetime | None, newest: dt.datetime | None
) -> dt.datetime:
    """Until when a count made `now` is valid: until the `first` session that may be running has been quiet long enough;
    only now if a time is in the future."""
    if (last and last > now) or (newest and newest > now + gates.LIVE_GRACE):
        return now
    return first + gates.LIVE_GRACE if first else dt.datetime.max.replace(tzinfo=dt.UTC)


def _per_project(projects: Sequence[Project], live: AbstractSet[str], now: dt.datetime) -> Iterable[Any]:
    root = Coalesce(Cast("root_key", CharField()), "session_id")
    just_now = (now - gates.LIVE_GRACE, now + gates.LIVE_GRACE)
    runs = Q(touched_at__range=just_now) | Q(session_id__in=live)
    ready = Q(own=False) & ~runs
    since = (
        Q(given_back_at__isnull=False)
        | Q(project__last_consolidated_at__isnull=True)
        | Q(project__last_consolidated_at__gt=just_now[1])
        | Q(touched_at__gt=F("project__last_consolidated_at"))
    )
    rows = Session.objects.filter(since, project__in=[p.pk for p in projects], gone_at__isnull=True)
    return (
        rows.order_by()
        .values("project")
        .annotate(
            roots=Count(root, filter=ready, distinct=True),
            corrected=Count(root, filter=ready & Q(corrections__gt=0), distinct=True),
            live=Count("pk", filter=runs & Q(own=False)),
            own_ones=Count("pk", filter=Q(own=True)),
            first=Min("touched_at", filter=Q(touched_at__gte=just_now[0])),
            newest=Max("touched_at"),
        )
    )


def running(projects: Sequence[Project]) -> set[str]:
    """The session ids in the agents' registries of running sessions."""
    return set[str]().union(*_running_by_root(projects).values())


def _running_by_root(projects: Sequence[Project]) -> dict[str, AbstractSet[str]]:
    """Config folder → ids of its running sessions."""
    by_root = {project.root: project for project in projects if project.host == hosts.host()}
    return {root: discovery.live_session_ids(project) for root, project in by_root.items()}


@prepared
def latest_gates(projects: list[int]) -> QuerySet[GateEvaluation, tuple[int, Any]]:
    """(project, results) of each project's newest evaluation. One index lookup per project, as there are a hundred times as
    many old ones."""
    past = GateEvaluation.objects.filter(project=OuterRef("pk")).order_by("-at", "-pk")
    newest = (
        Project.objects.filter(pk__in=projects).order_by().annotate(newest=Subquery(past.values("pk")[:1]))
    )
    rows = GateEvaluation.objects.filter(pk__in=newest.values_list("newest", flat=True))
    return rows.values_list("project_id", "results")


def beside_its_moment(result: gates.GateResult) -> str:
    """Its reason without "opens in 6 h", for places that also show the time."""
    head, mark, _ = result.reason.partition("; opens ")
    return f"{head}." if mark and result.opens_at else result.reason


def as_stored(reason: str) -> str:
    """A stored reason without "38 min ago", which was only true when it was written."""
    head = _DISTANCE.split(reason, maxsplit=1)[0]
    return reason if head == reason else f"{head}."


def stored_moment(text: object) -> dt.datetime | None:
    """An ISO time from stored JSON; None if it is missing or has no offset."""
    try:
        found = dt.datetime.fromisoformat(text) if isinstance(text, str) else None
    except ValueError:
        return None
    return found if found and found.tzinfo else None
