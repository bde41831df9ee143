"""When a project dreams next: what all its closed gates wait for, in one sentence, and how many sessions are new to it.

Pages ask for many projects at once, from rows alone: the stored judgement of a project names only its first closed
gate, as the scheduler stops there. The gates are judged by the very rules of `dreams.services.scheduling.gates`; those that are
`costly` there are taken as they were last judged.
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from django.db.models import CharField, Count, F, OuterRef, Q, QuerySet, Subquery
from django.db.models.functions import Cast, Coalesce

from dreams.lib import ages
from dreams.lib.files.text import plural
from dreams.lib.timestamps import from_ns, to_ns
from dreams.models import GateEvaluation, Project, Session
from dreams.services import discovery, hosts
from dreams.services.scheduling import gates
from dreams.services.scheduling.gate_inputs import Everywhere, facts_of, why_closed
from dreams.services.scheduling.gates.facts import ENOUGH, Tally

_DISTANCE = re.compile(r"(?:; opens |; tried again |, which was )")
_AS_JUDGED = tuple(gate.name for gate in gates.GATES.values() if gate.costly)
_FROM_ROWS = tuple(gate.name for gate in gates.GATES.values() if not gate.costly)
_BY_SESSIONS = tuple(gate.name for gate in gates.GATES.values() if gate.by_sessions)
_BEFORE_SESSIONS = tuple(name for name in _FROM_ROWS if name not in _BY_SESSIONS)


@dataclass(frozen=True, slots=True)
class NextDream:
    """The closed gates of a project. `new_sessions` are counted as its sessions gate counts them."""

    closed: tuple[gates.GateResult, ...]
    new_sessions: int = 0

    @classmethod
    def of(cls, results: Sequence[gates.GateResult], new_sessions: int = 0) -> NextDream:
        closed = [result for result in results if not result.passed]
        # How often the sessions are looked through is nothing to wait for, where something else is closed too.
        waited_for = [result for result in closed if not result.is_pause] or closed
        return cls(tuple(waited_for), new_sessions)

    @property
    def missing(self) -> int:
        """So many sessions are needed still."""
        return max((result.missing for result in self.closed), default=0)

    @property
    def opens_at(self) -> dt.datetime | None:
        """When all gates are open; None where one does not open by the clock."""
        moments = [result.opens_at for result in self.closed]
        known = [moment for moment in moments if moment is not None]
        return max(known) if known and len(known) == len(moments) else None

    @property
    def blocking(self) -> gates.GateResult | None:
        """The first closed gate that neither the clock nor sessions open."""
        names = () if not self.missing else _BY_SESSIONS
        return next((one for one in self.closed if one.opens_at is None and one.name not in names), None)

    @property
    def is_off(self) -> bool:
        """No dream starts by itself here until somebody changes that: also none that failed is tried again."""
        return any(one.name in gates.SWITCHES for one in self.closed)

    def sentence(self, now: dt.datetime) -> str:
        """What it waits for, or that it waits for nothing. A moment that is `opens_at` is not told again."""
        if not self.closed:
            return "All gates are open."
        if self.blocking:
            return self.blocking.reason
        later = [one.opens_at for one in self.closed if one.opens_at and one.opens_at > now]
        if not self.missing:
            return as_stored(self.closed[-1].reason)
        wait = f", and {ages.span(max(later) - now)}" if later else ""
        heavy = next((f"; {one.heavy}" for one in self.closed if one.missing and one.heavy), "")
        return f"Needs {plural(self.missing, 'more session')}{wait}{heavy}."


def look(
    projects: Sequence[Project], now: dt.datetime, everywhere: Everywhere | None = None
) -> dict[int, NextDream]:
    """Project (its pk) → its next dream. A fixed number of queries, however many there are."""
    everywhere = everywhere or Everywhere.load()
    tallies = new_sessions(projects, now)
    judged = {
        row.project_id: row
        for row in latest_gates(Project.objects.filter(pk__in=[project.pk for project in projects]))
    }
    return {
        project.pk: _next(project, everywhere, tallies[project.pk], judged.get(project.pk), now)
        for project in projects
    }


def upcoming(now: dt.datetime, most: int, host: str = "") -> list[tuple[Project, NextDream]]:
    """Projects, of one host or of all, that dream without a person: first those that wait for the clock alone, then those
    that need sessions."""
    everywhere = Everywhere.load()
    rows = Project.objects.filter(gone_at__isnull=True, **({"host": host} if host else {}))
    # To count the new sessions of all projects takes longer than everything else here.
    projects = {row.pk: row for row in rows if not _waits_for_somebody(row, everywhere, now)}
    found = [
        (projects[pk], one)
        for pk, one in look(list(projects.values()), now, everywhere).items()
        if one.closed and not one.blocking and (one.new_sessions or not one.missing)
    ]
    late = dt.datetime.max.replace(tzinfo=dt.UTC)
    return sorted(found, key=lambda pair: (pair[1].opens_at or late, pair[1].missing, pair[0].pk))[:most]


def why_off(project: Project, now: dt.datetime) -> str:
    """Why no dream starts by itself in a project, as of its switches; "" where nobody switched it off."""
    return why_closed(project, Everywhere.load(), now, gates.SWITCHES)


def _waits_for_somebody(project: Project, everywhere: Everywhere, now: dt.datetime) -> bool:
    """Whether a gate is closed that neither the clock nor sessions open, as far as rows tell without its sessions."""
    results = _judged(project, everywhere, Tally(0, 0, 0, 0, weight=1), now, _BEFORE_SESSIONS)
    return any(not one.passed and one.opens_at is None and not one.is_pause for one in results)


def _next(
    project: Project,
    everywhere: Everywhere,
    tally: Tally,
    judged: GateEvaluation | None,
    now: dt.datetime,
) -> NextDream:
    results = _judged(project, everywhere, tally, now, _FROM_ROWS)
    return NextDream.of([*results, *_as_judged(judged, now)], tally.plain + tally.corrected)


def _judged(
    project: Project, everywhere: Everywhere, tally: Tally, now: dt.datetime, names: Sequence[str]
) -> list[gates.GateResult]:
    facts = replace(
        facts_of(project, everywhere, now),
        last_scan_at=None,
        clock=lambda: to_ns(project.last_consolidated_at) if project.last_consolidated_at else None,
        sessions=lambda: tally,
    )
    config = everywhere.gate_config(project)
    return gates.evaluate(facts, config, now, stop_at_first=False, names=names)


def counted_sessions(
    project: Project, facts: gates.Facts, tally: Tally
) -> Iterable[gates.SessionFact] | Tally:
    """A project's sessions for the rule that counts them, from what was counted for many projects in one query; its own
    rows where the lock file on disk says something else than the row that was counted by."""
    seen = project.last_consolidated_at
    if from_ns(facts.clock() or 0) != (seen or from_ns(0)) or tally.plain + tally.corrected >= ENOUGH:
        return facts.sessions()
    return tally


def _as_judged(row: GateEvaluation | None, now: dt.datetime) -> list[gates.GateResult]:
    """Gates that rows do not tell of, where the last judgement found one closed and its moment has not come."""
    found = []
    for gate in row.results if row else ():
        name, opens_at = str(gate.get("name")), moment(gate.get("opens_at"))
        if name in _AS_JUDGED and not gate.get("passed") and (opens_at is None or opens_at > now):
            found.append(gates.GateResult(name, False, as_stored(str(gate.get("reason", ""))), opens_at))
    return found


def new_sessions(projects: Sequence[Project], now: dt.datetime) -> dict[int, Tally]:
    """Project (its pk) → its sessions that are new to the next dream, as the sessions gate counts them. One query.

    Touched since the last dream or given back; forks of one session are one; those that run are not ready yet.
    """
    root = Coalesce(Cast("root_key", CharField()), "session_id")
    just_now = (now - gates.LIVE_GRACE, now + gates.LIVE_GRACE)
    live = Q(touched_at__range=just_now) | Q(session_id__in=running(projects))
    ready = Q(own=False) & ~live
    since = (
        Q(given_back_at__isnull=False)
        | Q(project__last_consolidated_at__isnull=True)
        | Q(project__last_consolidated_at__gt=just_now[1])
        | Q(touched_at__gt=F("project__last_consolidated_at"))
    )
    rows = Session.objects.filter(since, project__in=[p.pk for p in projects], gone_at__isnull=True)
    counted = (
        rows.order_by()
        .values("project")
        .annotate(
            roots=Count(root, filter=ready, distinct=True),
            corrected=Count(root, filter=ready & Q(corrections__gt=0), distinct=True),
            live=Count("pk", filter=live & Q(own=False)),
            own_ones=Count("pk", filter=Q(own=True)),
        )
    )
    found = {
        row["project"]: Tally(
            row["roots"] - row["corrected"], row["corrected"], row["live"], row["own_ones"], weight=1
        )
        for row in counted
    }
    return {project.pk: found.get(project.pk, Tally(0, 0, 0, 0, weight=1)) for project in projects}


def running(projects: Sequence[Project]) -> set[str]:
    """Session ids by the agents' registries of running sessions, one for each config folder."""
    by_root = {project.root: project for project in projects if project.host == hosts.host()}
    return {found for project in by_root.values() for found in discovery.live_session_ids(project)}


def latest_gates(projects: QuerySet[Project]) -> QuerySet[GateEvaluation]:
    """The newest judgement of each. One step into an index per project: the past ones are a hundred times as many."""
    past = GateEvaluation.objects.filter(project=OuterRef("pk")).order_by("-at", "-pk")
    newest = projects.order_by().annotate(newest=Subquery(past.values("pk")[:1]))
    return GateEvaluation.objects.filter(pk__in=newest.values_list("newest", flat=True))


def without_distance(reason: str) -> str:
    """A reason without its "opens in 6 h"; the moment is shown beside it."""
    head, mark, _ = reason.partition("; opens ")
    return f"{head}." if mark else reason


def as_stored(reason: str) -> str:
    """A reason without "38 min ago" too, which was true when it was written."""
    head = _DISTANCE.split(reason, maxsplit=1)[0]
    return reason if head == reason else f"{head}."


def moment(text: object) -> dt.datetime | None:
    """An ISO moment of stored JSON; None where it is missing or no moment with an offset."""
    try:
        found = dt.datetime.fromisoformat(text) if isinstance(text, str) else None
    except ValueError:
        return None
    return found if found and found.tzinfo else None
