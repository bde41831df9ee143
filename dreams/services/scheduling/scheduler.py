"""The scheduler: the only place that decides to dream.

One tick: repair after a crash · look for new files, at most every few minutes · start the jobs that are due · check the
gates of every project, cheapest first, and stop at the first closed one · claim and enqueue dreams for open projects, the most
recent sessions first, never more at once than the setting allows · update the search index. When a dream ends, the
next one starts at once.
"""

import datetime as dt
import json
import logging
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import lru_cache

from django.core.cache import cache
from django.db import IntegrityError, transaction
from django.db.models import F, QuerySet, TextField
from django.db.models.functions import Cast
from django.utils import timezone

from dreams import conf
from dreams.lib import locks, process, stopwatch
from dreams.lib.refusal import Refusal
from dreams.lib.secrets.redact import redact
from dreams.lib.storage import journal
from dreams.lib.timestamps import to_ns
from dreams.models import DreamRun, GateEvaluation, LockHold, Project
from dreams.models.prepared import prepared
from dreams.services import (
    database,
    demo,
    discovery,
    dreaming,
    handing_over,
    hosts,
    jobs,
    notify,
    project_lock,
)
from dreams.services.apply import writing
from dreams.services.catching import lifecycle as catching
from dreams.services.dreaming import unfinished
from dreams.services.hosts import cluster_name, host
from dreams.services.scheduling import gates, next_dream
from dreams.services.scheduling.gate_inputs import Everywhere, case_of, count_sessions
from dreams.services.scheduling.gates.facts import Tally
from dreams.services.search import index

log = logging.getLogger(__name__)

SCHEDULE_NAME = "memoryweb tick"
INDEX_SECONDS = 10.0  # of a tick, which runs every 60: the rest is done by a separate task
INDEXING, INDEX_TASK_SECONDS = "indexing", 50
EVERY = dt.timedelta(minutes=1)  # between two ticks, as fine as cron
LAST_TICK = "memoryweb:last-tick"
LAST_FAILURES = "memoryweb:last-tick-failures"
# A pending dream that no worker took for this long has lost its task: it is queued again.
PENDING_TOO_LONG = dt.timedelta(minutes=5)


@dataclass(slots=True)
class TickReport:
    """What one tick did, for the log, the health page and tests."""

    at: dt.datetime
    healed: list[str] = field(default_factory=list)
    lost: list[str] = field(default_factory=list)
    evaluated: int = 0
    changed: int = 0
    started: list[str] = field(default_factory=list)
    caught: int = 0
    jobs: list[str] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)

    @contextmanager
    def going_on(self, what: str) -> Iterator[None]:
        """An error in this block does not stop the rest of the tick. It is logged in full; the health page shows it and why."""
        try:
            yield
        except Exception as error:
            log.exception("%s", what)
            self.failures.append(redact(f"{what}: {str(error) or type(error).__name__}"))


def tick(now: dt.datetime | None = None) -> TickReport:
    """One round. An error in one project never stops the others."""
    report = TickReport(at=now or timezone.now())
    cache.set(LAST_TICK, report.at.isoformat(), None)
    hosts.note_seen()
    _schedule_from_a_clock_ahead()
    with report.going_on("repairs after a crash"):
        repair(report)
    with report.going_on("the demo"):
        demo.leave()
    _discover_now_and_then(report)
    # In a separate task: a mail server that does not answer must not delay the tick.
    if notify.retries_due(report.at):
        hosts.enqueue("retry_digests", name="digest")
    with report.going_on("jobs of the schedule"):
        report.jobs += [run.label for run in jobs.tick(report.at, enqueue)]
    everywhere = Everywhere.load()
    # Reads sessions that went quiet in separate tasks, as one may ask a model.
    with report.going_on("catching"):
        for project in catching.due(report.at, everywhere, report.going_on):
            report.caught += catching.enqueue(project)
    _start_open(report, everywhere)
    cache.set(LAST_FAILURES, report.failures, None)
    # Last, as dreams are more urgent than search; in a separate task, one at a time:
    # a first discovery finds more than a tick can index.
    if index.catch_up(INDEX_SECONDS) and cache.add(INDEXING, True, INDEX_TASK_SECONDS):
        hosts.enqueue("index_texts", name="index")
    return report


def start_next_dreams() -> None:
    """Starts dreams of open projects right after a dream ended, not at the next tick; the setting's limit still applies."""
    _start_open(TickReport(at=timezone.now()), Everywhere.load())


def _start_open(report: TickReport, everywhere: Everywhere) -> None:
    free = everywhere.room(report.at)
    closed = _still_closed_by_clock(everywhere, report.at)
    report.evaluated += len(closed)
    for project in _projects(closed):
        opened = False
        with report.going_on(f"gates of {project}"):
            opened = judge(project, everywhere, report, scan=free > 0)
        # Checked again: a tick and the end of a dream may run this at the same time.
        if opened and free > 0 and everywhere.room(report.at) > 0 and _start(project, report):
            free -= 1


def _still_closed_by_clock(everywhere: Everywhere, now: dt.datetime) -> set[int]:
    """Projects that the last tick found closed by the time gate alone, and whose lock file shows that they still are.

    This is true of nearly all projects nearly always, and costs one row and one stat each instead of an evaluation. A
    project with any other change (an override, a proposal, the agent's switches) is evaluated as usual.
    """
    config, now_ns = everywhere.overrides.config(None), to_ns(now)
    if config.paused or not config.dreaming:
        return set()
    judged_anew = everywhere.overrides.by_project.keys() | everywhere.open_proposals.keys()
    min_age = dt.timedelta(hours=config.min_hours)
    return {
        pk
        for pk, memory_dir, switches in _closed_by_clock(host())
        if pk not in judged_anew
        and _has_memory(switches)
        and (last := locks.plain_mtime_ns(memory_dir)) is not None
        and gates.is_recent(last, now_ns, min_age)
    }


@prepared
def _closed_by_clock(host: str) -> QuerySet[Project, tuple[int, str, str]]:
    rows = _of(host).filter(gate_fingerprint=gates.CLOSED_BY_CLOCK, mode="").order_by()
    return rows.values_list("pk", "memory_dir", Cast("agent_settings", TextField()))


@lru_cache(maxsize=1_024)  # thousands of projects share a few
def _has_memory(agent_settings: str) -> bool:
    return bool(json.loads(agent_settings).get("auto_memory", True))


def _of(host: str) -> QuerySet[Project]:
    return Project.objects.filter(host=host, gone_at__isnull=True)


def _projects(without: Collection[int]) -> Sequence[Project]:
    """Projects of this host that are not dreaming now; most recently used first, as these matter at a first start."""
    wanted = [pk for pk in _not_dreaming(host()) if pk not in without]
    found = Project.objects.in_bulk(wanted)
    return [found[pk] for pk in wanted if pk in found]


@prepared
def _not_dreaming(host: str) -> QuerySet[Project, int]:
    busy = DreamRun.objects.filter(status__in=DreamRun.UNFINISHED)
    rows = _of(host).exclude(pk__in=busy.values("project"))
    return rows.order_by(F("last_session_at").desc(nulls_last=True), "pk").values_list("pk", flat=True)


def _discover_now_and_then(report: TickReport) -> None:
    now, last = report.at, cache.get(discovery.LAST_LOOK)
    throttle = dt.timedelta(minutes=conf.current().scan_minutes)
    if last is None or not dt.timedelta(0) <= now - dt.datetime.fromisoformat(last) < throttle:
        cache.set(discovery.LAST_LOOK, now.isoformat(), None)
        with report.going_on("discovery"):
            try:
                if not discovery.discover(leave_others=True).projects and not _of(host()).exists():
                    # No project yet: a person waits for the agent's first session, so the next tick looks again.
                    cache.delete(discovery.LAST_LOOK)
            except discovery.DiscoveryBusy as error:
                log.warning("%s", error)
        unfinished.sweep(now)


# --- Judging ------------------------------------------------------------------------------------------------------


def judge(project: Project, everywhere: Everywhere, report: TickReport, *, scan: bool = True) -> bool:
    """Evaluates the gates of one project up to the first closed one, and stores the answer if it changed.

    Without `scan` (no dream could start now) stored rows are enough, and the check interval is not used up.
    """
    look = (lambda found: count_sessions(found, report.at)) if scan else None
    results = gates.evaluate(case_of(project, everywhere, report.at, scan=look))
    report.evaluated += 1
    report.changed += remember(project, results, report.at)
    return gates.is_open(results)


def remember(project: Project, results: Sequence[gates.GateResult], now: dt.datetime) -> bool:
    """Stores an evaluation whose answer differs from the last one; True if it did."""
    found = gates.fingerprint(results)
    if found is None or found == project.gate_fingerprint:
        return False
    with transaction.atomic():
        Project.objects.filter(pk=project.pk).update(gate_fingerprint=found[:300])
        # Those from a clock that ran ahead would be the newest for as long.
        GateEvaluation.objects.filter(project=project, at__gt=now).update(at=now)
        GateEvaluation.objects.create(
            project=project,
            at=now,
            open=gates.is_open(results),
            results=[result.as_json() for result in results],
            fingerprint=found[:64],
        )
    project.gate_fingerprint = found[:300]
    return True


def evaluate_all(
    project: Project,
    now: dt.datetime,
    everywhere: Everywhere | None = None,
    *,
    logs: bool = False,
    tally: Tally | None = None,
) -> list[gates.GateResult]:
    """Evaluates all gates of a project for the page and the command; starts and stores nothing. `tally`: its session counts,
    if already known."""
    case = case_of(project, everywhere or Everywhere.load(), now, tally=tally)
    return gates.evaluate(case, logs=logs, stop_at_first=False)


def evaluate_many(projects: Sequence[Project], now: dt.datetime) -> Iterator[list[gates.GateResult]]:
    """`evaluate_all` for many projects, in a fixed number of queries if they use the rules engine."""
    with stopwatch.part("memories"):
        everywhere = Everywhere.load(projects)
    with stopwatch.part("transcripts"):
        tallies = next_dream.tally_sessions(projects, now)
    for project in projects:
        yield evaluate_all(project, now, everywhere, tally=tallies[project.pk])


# --- Starting -----------------------------------------------------------------------------------------------------


def _start(project: Project, report: TickReport) -> bool:
    try:
        dream = dreaming.request(project, DreamRun.Trigger.SCHEDULE)
    except (project_lock.ProjectBusy, IntegrityError):
        return False
    enqueue(dream)
    report.started.append(dream.public_id)
    return True


def enqueue(dream: DreamRun) -> None:
    """Adds a pending dream to this host's queue; its task may arrive twice, but is claimed once.

    A dream of another host is left to that host's scheduler: a queue only runs tasks signed with its own key.
    """
    if dream.project.host == host():
        hosts.enqueue("run_dream", dream.pk, name=dream.public_id)


def dream_now(
    project: Project, *, engine: str = "", forced: bool = True, logs: bool = False, actor: str = ""
) -> DreamRun:
    """Starts a dream that a person asked for on a page; with `logs` it reads the daily logs.

    Raises GateClosed when a gate is closed that this cannot pass, and project_lock.ProjectElsewhere.
    """
    project_lock.refuse_elsewhere(project)
    refuse_closed(project, forced=forced, engine=engine, logs=logs, scan=discovery.refresh)
    dream = dreaming.request(
        project, DreamRun.Trigger.PAGE, engine=engine, forced=forced, logs=logs, actor=actor
    )
    enqueue(dream)
    return dream


class GateClosed(Refusal):
    """A gate is closed; the message says which project, why, and when it opens."""

    def __init__(self, project: Project, gate: gates.GateResult) -> None:
        super().__init__(f"{project}: {gate.reason}")
        self.gate = gate


def refuse_closed(
    project: Project,
    *,
    forced: bool,
    engine: str = "",
    logs: bool = False,
    scan: Callable[[Project], object] | None = None,
) -> None:
    """Raises GateClosed unless every gate is open or passed for a dream with `engine` or the chosen one. `scan`: see `case_of`.

    Raises ProjectBusy during a dream: its lock would be read as that of the last dream.
    """
    dreaming.refuse_second(project)
    case = case_of(project, Everywhere.load(), timezone.now(), scan=scan, engine=engine)
    results = gates.evaluate(case, force=forced, logs=logs, stop_at_first=False)
    # A person who waited for the next check of the sessions would then be refused by the other gate.
    lasting = gates.first_closed(result for result in results if not result.is_pause)
    if closed := lasting or gates.first_closed(results):
        raise GateClosed(project, closed)


# --- Repairing ----------------------------------------------------------------------------------------------------


def repair(report: TickReport | None = None) -> TickReport:
    """Finishes interrupted applies, restores locks of dead holders, ends dreams of dead workers, and queues lost tasks again."""
    report = report or TickReport(at=timezone.now())
    _finish_applies(report)
    handing_over.repair(report.at)
    for dream in _dreams(host(), DreamRun.Status.RUNNING):
        if _worker_is_dead(dream, report.at):
            report.lost += [dream.public_id] if dreaming.lost_its_worker(dream) else []
    for dream in dreaming.forsaken(report.at).select_related("project"):
        report.lost += [dream.public_id] if dreaming.lost_its_worker(dream) else []
    for hold in _holds(host()):
        said = project_lock.heal(hold.project)
        report.healed += [said] if said else []
    for dream in _dreams(host(), DreamRun.Status.PENDING):
        if dream.worker_pid is not None and _worker_is_dead(dream, report.at):
            report.lost += [dream.public_id] if dreaming.lost_its_command(dream) else []
        elif not report.at - PENDING_TOO_LONG <= dream.created_at <= report.at + PENDING_TOO_LONG:
            _hand_out_again(dream, report.at)
    return report


@prepared
def _dreams(host: str, status: DreamRun.Status) -> QuerySet[DreamRun]:
    return DreamRun.objects.filter(status=status, project__host=host).select_related("project")


@prepared
def _holds(host: str) -> QuerySet[LockHold]:
    return LockHold.objects.filter(project__host=host).select_related("project")


def _finish_applies(report: TickReport) -> None:
    """Finishes applies that a killed process, or one that lost the database, left half done. Running applies are not touched."""
    with report.going_on("interrupted applies"), suppress(journal.JournalBusy):
        writing.recover(wait_seconds=0)


def _worker_is_dead(dream: DreamRun, now: dt.datetime) -> bool:
    if dream.worker_pid is None or not process.is_alive(dream.worker_pid, dream.worker_started):
        return True
    return dream.lease_until is not None and _does_not_keep(dream, dream.lease_until, now)


def _does_not_keep(dream: DreamRun, lease: dt.datetime, now: dt.datetime) -> bool:
    """Whether it is alive but does not renew its lease: it hangs where no signal reaches it. Its lock expires without help.

    After a machine wakes up every lease has expired: only one that is unchanged a full lease later counts.
    """
    if now - lease <= dreaming.LEASE * 4:
        return False
    key = f"memoryweb:lease-over:{dream.public_id}"
    found = cache.get(key)
    if found is None or found[0] != lease.isoformat() or now < dt.datetime.fromisoformat(found[1]):
        cache.set(key, [lease.isoformat(), now.isoformat()], 3600)
        return False
    return now - dt.datetime.fromisoformat(found[1]) > dreaming.LEASE


def _hand_out_again(dream: DreamRun, now: dt.datetime) -> None:
    key = f"memoryweb:handed-out:{dream.public_id}"
    last = cache.get(key)
    if last is None or not dt.timedelta(0) <= now - dt.datetime.fromisoformat(last) < PENDING_TOO_LONG:
        cache.set(key, now.isoformat(), 3600)
        if last is not None or not _in_queue(dream):
            enqueue(dream)


def _in_queue(dream: DreamRun) -> bool:
    from django_q.models import OrmQ  # noqa: PLC0415 - as above

    # A task taken by a worker is locked for an hour; if it was lost with its worker, it must not delay others.
    return bool(OrmQ.objects.filter(key=cluster_name(dream.project.host), lock__lte=timezone.now()).exists())


def ensure_schedule() -> None:
    """The one schedule row of this host. `Schedule.name` is not unique, so it is updated, never added twice.

    Jobs have a separate table. A digest address set in the environment needs a job that sends the digest.
    """
    from django_q.models import Schedule  # noqa: PLC0415 - as above

    name = f"{SCHEDULE_NAME} {host()}"[:100]
    with transaction.atomic():
        database.one_at_a_time(name)
        Schedule.objects.update_or_create(
            name=name,
            defaults={
                "func": "dreams.tasks.tick",
                # Computed from the current minute: MINUTES steps through all missed runs, which after a clock
                # that was wrong by years takes hours, with the database locked for writing.
                "schedule_type": Schedule.CRON,
                "cron": "* * * * *",
                "next_run": timezone.now(),
                "repeats": -1,
                "cluster": cluster_name(host())[:100],
            },
        )
    if notify.configured():
        jobs.ensure_digest()


def _schedule_from_a_clock_ahead() -> None:
    """Resets a next run that a wrong clock put years ahead."""
    from django_q.models import Schedule  # noqa: PLC0415 - as above

    now, mine = timezone.now(), Schedule.objects.filter(cluster=cluster_name(host())[:100])
    mine.filter(next_run__gt=now + 2 * EVERY).update(next_run=now)
