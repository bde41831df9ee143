"""Loads the facts that the gates check: cheap ones from database rows, costly ones from disk only when needed."""

import datetime as dt
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from functools import partial
from pathlib import Path

from django.db.models import Q, QuerySet

from dreams import conf
from dreams.engines.anthropic import keys
from dreams.lib import locks, process
from dreams.lib.timestamps import from_ns, to_ns
from dreams.models import LockHold, Project, Proposal, Session
from dreams.models.prepared import prepared
from dreams.services import daily_logs, discovery, dreaming, forecast, hosts, pricing, review
from dreams.services.dreaming import dream_inputs
from dreams.services.proposals.decisions import is_any_open
from dreams.services.scheduling import gates
from dreams.services.scheduling.gates.facts import ENOUGH, Tally, Waits

AT_ONCE = 500  # rows at once; chosen


@dataclass(frozen=True, slots=True)
class Many:
    """Facts loaded for many projects at once, by project id."""

    holds: dict[int, LockHold]
    fingerprints: dict[int, str]

    @classmethod
    def of(cls, projects: Sequence[Project]) -> "Many":
        # A few at most
        holds = {row.project_id: row for row in LockHold.objects.filter(project__host=hosts.host())}
        dreamt = [project for project in projects if project.inputs_hash]
        return cls(holds, dream_inputs.fingerprints(dreamt) if dreamt else {})


@dataclass(slots=True)
class Everywhere:
    """Facts that one tick loads once for all projects."""

    overrides: conf.Overrides
    open_proposals: dict[int, str]
    #: What each decided proposal waits for.
    waits: dict[int, Waits]
    #: Facts loaded in bulk; None where each project is queried separately.
    many: Many | None = None
    configs: dict[int | None, conf.Config] = field(default_factory=dict)

    @classmethod
    def load(cls, projects: Sequence[Project] = ()) -> "Everywhere":
        """`projects`: also loads what their costly gates need, in a fixed number of queries."""
        many = Many.of(projects) if projects else None
        rows = _open_proposals()
        names = {project: public_id for project, public_id, *_ in rows}
        decided = {pk: (project, state) for project, _, state, pk, is_any_open in rows if not is_any_open}
        return cls(conf.Overrides.load(), names, _waits(decided), many)

    def config(self, project: Project) -> conf.Config:
        """The project's settings; projects without overrides share one object."""
        return self.config_of(project.pk if project.pk in self.overrides.by_project else None)

    def config_of(self, key: int | None) -> conf.Config:
        """The settings of a project with overrides, by its id; None: of all others."""
        if key not in self.configs:
            self.configs[key] = self.overrides.config(key)
        return self.configs[key]

    def room(self, now: dt.datetime) -> int:
        """How many more dreams may start on this host."""
        return self.overrides.config(None).max_dreams_at_once - dreaming.under_way(hosts.host(), now)


def count_sessions(project: Project, now: dt.datetime) -> None:
    """Counts the sessions again; the check interval gate limits how often."""
    Project.objects.filter(pk=project.pk).update(sessions_scanned_at=now)
    discovery.refresh(project)
    project.refresh_from_db()


@prepared
def _open_proposals() -> QuerySet[Proposal, tuple[int, str, str, int, bool]]:
    waiting = Proposal.objects.filter(
        origin=Proposal.Origin.DREAM, by_policy=False, state__in=Proposal.UNFINISHED
    )
    return waiting.values_list("project_id", "public_id", "state", "pk", is_any_open())


def _waits(decided: Mapping[int, tuple[int, str]]) -> dict[int, Waits]:
    """Project → what its decided proposal waits for; `decided` maps proposals to projects and states."""
    submitted = [pk for pk, (_, state) in decided.items() if state == Proposal.State.SUBMITTED]
    second = review.second_person_waits(list(Proposal.objects.filter(pk__in=submitted))) if submitted else {}
    return {
        project: "submit" if state == Proposal.State.OPEN else "second" if pk in second else "writing"
        for pk, (project, state) in decided.items()
    }


def case_of(
    project: Project,
    everywhere: Everywhere,
    now: dt.datetime,
    *,
    scan: Callable[[Project], object] | None = None,
    engine: str = "",
    tally: Tally | None = None,
) -> gates.Case:
    """The input for one project's gates. `scan` is called before sessions are counted; without it, stored rows are used.

    `engine` overrides the project's setting. `tally`: its session counts, where they were loaded for many projects at once.
    """
    config = everywhere.config(project)
    config = replace(config, engine=engine) if engine not in ("", config.engine) else config
    is_here = project.host == hosts.host()
    clock: Callable[[], int | None] = partial(_clock if is_here else _clock_seen, project)
    sessions: Callable[[], Iterable[gates.SessionFact] | Tally] = partial(_sessions, project, now, scan)
    if tally is not None:
        clock = _Once(clock)
        sessions = partial(_counted, project, clock, tally, sessions)
    facts = gates.Facts(
        paused=config.paused,
        project_on=config.dreaming,
        is_watched=project.unwatched_at is None,
        agent_dreams=project.agent_settings.get("auto_dream"),
        open_proposal=everywhere.open_proposals.get(project.pk),
        proposal_waits=everywhere.waits.get(project.pk, "review"),
        memory=_memory_switch(project),
        mode=gates.Mode(project.mode) if project.mode else gates.Mode.NORMAL,
        last_scan_at=project.sessions_scanned_at,
        retry_at=project.not_before,
        failures=project.failures,
        clock=clock,
        sessions=sessions,
        log_lines=partial(_log_lines, project, scan),
        inputs=partial(_inputs, project, everywhere.many),
        engine=partial(_engine, config),
        spending=partial(_spending, project, config, now),
        lock=partial(_lock, project, now, everywhere.many),
    )
    return gates.Case(facts, config, now)


def why_closed(
    project: Project,
    everywhere: Everywhere,
    now: dt.datetime,
    names: Iterable[str],
    *,
    engine: str,
    spending: Callable[[], gates.SpendingFact],
) -> str:
    """The reason of the first closed gate among `names`, for work other than a dream; empty when all are open.

    `engine` and `spending` are those of that work.
    """
    case = case_of(project, everywhere, now, engine=engine)
    closed = gates.first_closed(
        gates.evaluate(replace(case, facts=replace(case.facts, spending=spending)), names=names)
    )
    return closed.reason if closed else ""


def _memory_switch(project: Project) -> gates.Switch:
    found = project.agent_settings
    return gates.Switch(
        bool(found.get("auto_memory", True)), str(found.get("auto_memory_source", "the default"))
    )


def _clock(project: Project) -> int | None:
    """The lock file's mtime; for a directory that does not exist yet, the time that our last dream stored in the database."""
    plain = locks.plain_mtime_ns(project.memory_dir)
    if plain is not None:
        return plain
    folder = Path(project.memory_dir)
    found = locks.last_consolidated_ns(folder)
    return _clock_seen(project) if found is None and not folder.exists() else found


def _clock_seen(project: Project) -> int | None:
    """The same time from the database alone."""
    return int(project.last_consolidated_at.timestamp() * 1e9) if project.last_consolidated_at else None


class _Once:
    """Calls a function at most once. For thousands of projects, creating a `functools.cache` costs more than the call."""

    __slots__ = ("_ask", "_found", "_is_asked")

    def __init__(self, ask: Callable[[], int | None]) -> None:
        self._ask, self._is_asked = ask, False
        self._found: int | None = None

    def __call__(self) -> int | None:
        if not self._is_asked:
            self._found, self._is_asked = self._ask(), True
        return self._found


def _counted(
    project: Project,
    clock: Callable[[], int | None],
    tally: Tally,
    rows: Callable[[], Iterable[gates.SessionFact] | Tally],
) -> Iterable[gates.SessionFact] | Tally:
    """The counts loaded for many projects in one query; the project's own rows instead where the lock file's time differs from
    the stored one, or where the count ended early and dreams' own sessions would be reported."""
    seen = project.last_consolidated_at
    ends_early = tally.plain + tally.corrected >= ENOUGH
    if from_ns(clock() or 0) != (seen or from_ns(0)) or (ends_early and tally.own):
        return rows()
    return tally


def _sessions(
    project: Project, now: dt.datetime, scan: Callable[[Project], object] | None
) -> Iterator[gates.SessionFact]:
    """Newest first, read only as far as needed: a project that never dreamt may have a hundred thousand."""
    if scan is not None:
        scan(project)
    is_here = project.host == hosts.host()
    live = discovery.live_session_ids(project) if is_here else set()
    last = _clock(project) if is_here else _clock_seen(project)
    rows = _touched(project, gates.past(last, to_ns(now))).values_list(
        "session_id", "root_key", "touched_at", "own", "given_back_at", "corrections"
    )
    for session_id, root, touched, own, given_back, corrections in rows.iterator(AT_ONCE):
        yield gates.SessionFact(
            session_id=session_id,
            root_id="" if root is None else str(root),
            mtime_ns=int(touched.timestamp() * 1e9),
            live=gates.is_live(True if session_id in live else None, touched, now),
            own=own,
            given_back=given_back is not None,
            corrected=corrections > 0,
        )


def _log_lines(project: Project, scan: Callable[[Project], object] | None) -> int:
    if scan is not None:
        scan(project)
    return daily_logs.new_lines(project)


def _touched(project: Project, clock: int | None) -> QuerySet[Session]:
    rows = project.sessions.filter(gone_at__isnull=True).order_by("-touched_at")
    last = None if clock is None else from_ns(clock)
    if last is None:
        return rows
    # A microsecond of slack: rows keep microseconds, the gate compares nanoseconds.
    return rows.filter(
        Q(given_back_at__isnull=False) | Q(touched_at__gte=last - dt.timedelta(microseconds=1))
    )


def _inputs(project: Project, many: Many | None) -> gates.InputsFact:
    if not project.inputs_hash:
        return gates.InputsFact("", None)  # nothing to compare with
    known = many.fingerprints.get(project.pk) if many else None
    return gates.InputsFact(known or dream_inputs.fingerprint(project), project.inputs_hash)


def _engine(config: conf.Config) -> gates.EngineFact:
    if config.engine == "rules":
        return gates.EngineFact()
    if not config.model.strip():
        return gates.EngineFact(config.engine, "No model is chosen; choose one in the settings (Model).")
    return gates.EngineFact(config.engine, keys.state().remedy)


def _spending(project: Project, config: conf.Config, now: dt.datetime) -> gates.SpendingFact:
    if config.engine == "rules":
        return gates.SpendingFact(free=True)
    return paid(project, config, now, forecast.forecast(project, config).likely)


def paid(
    project: Project, config: conf.Config, now: dt.datetime, estimate: Decimal | None, what: str = "a dream"
) -> gates.SpendingFact:
    """Past spending and the estimate for `what`; without a price, only past spending counts."""
    zone = conf.zone(config)
    spent = pricing.spent(project, now, zone)
    return gates.SpendingFact(
        free=False,
        what=what,
        estimate=estimate or Decimal(0),
        today=spent.today,
        month=spent.month,
        project_month=spent.project_month,
        zone=zone,
    )


@prepared
def _hold(project: int) -> QuerySet[LockHold]:
    return LockHold.objects.filter(project_id=project)


def _lock(project: Project, now: dt.datetime, many: Many | None) -> locks.LockFact:
    if project.host != hosts.host():
        return locks.LockFact()  # the folder at that path on this host is a different one
    row = many.holds.get(project.pk) if many else next(iter(_hold(project.pk)), None)
    known = process.ProcessIdentity(row.pid, row.process_started) if row else None
    return locks.status(project.memory_dir, now, known=known)
