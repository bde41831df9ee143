"""Records an engine's turns, renews the lease, and stops it for a cancel, a lost lock or the time limit."""

import datetime as dt
import logging
import threading
import time
from collections.abc import Collection, Mapping
from dataclasses import asdict
from decimal import Decimal
from typing import Any, Self

from django.db import DatabaseError, close_old_connections, connection, transaction
from django.db.models import F, Q, QuerySet
from django.utils import timezone

from dreams import conf
from dreams.engines.types import (
    Allowance,
    Cancelled,
    EngineError,
    EngineTurn,
    LimitReached,
)
from dreams.lib import locks, process
from dreams.lib.secrets import redact
from dreams.models import DreamRun, Project, Turn
from dreams.models.prepared import prepared
from dreams.services import auditlog, database, hosts, pricing, project_lock
from dreams.services.dreaming import steps
from dreams.services.dreaming.steps import book

# The states of a dream: requested, claimed, ended, cancelled. Nothing leaves a terminal one: each step into
# one is a conditional update that counts its rows.


log = logging.getLogger(__name__)


LEASE = dt.timedelta(seconds=90)  # six missed renewals: the worker is gone


def note_told(public_ids: Collection[str]) -> None:
    """Record that a person has seen the results of these dreams, so that they are not reported again."""
    untold = DreamRun.objects.filter(public_id__in=public_ids, notified_at__isnull=True)
    untold.update(notified_at=timezone.now())


@prepared
def active() -> QuerySet[DreamRun]:
    """Pending and running dreams of all projects, which are few; SQLite would otherwise scan all dreams of a project."""
    found = DreamRun.objects.filter(status__in=DreamRun.UNFINISHED)
    return found.only("project", "public_id", "status").order_by()


def refuse_second(project: Project) -> None:
    """Raises ProjectBusy while a dream of `project` is pending or running."""
    running = project.dreams.filter(status__in=DreamRun.UNFINISHED).first()
    if running is not None:
        raise project_lock.ProjectBusy(
            f"{project} is already dreaming ({running.public_id}). Wait for it, or cancel it."
        )


def request(
    project: Project,
    trigger: DreamRun.Trigger,
    *,
    engine: str = "",
    forced: bool = False,
    logs: bool = False,
    actor: str = "",
) -> DreamRun:
    """Create a pending dream; `logs`: requested to read the daily logs. Raises ProjectBusy if one is pending or running."""
    config = conf.current(project)
    chosen = engine or config.engine
    asked: dict[str, Any] = {"logs": True} if logs else {}
    # A command's dream is in no queue: this shows if the command died before it began.
    me = process.current() if trigger == DreamRun.Trigger.COMMAND else None
    with transaction.atomic():
        database.one_at_a_time(f"dreams of {project.pk}")
        refuse_second(project)
        dream = DreamRun.objects.create(
            project=project,
            engine=chosen,
            model=config.model if chosen != "rules" else "",
            trigger=trigger,
            forced=forced,
            requested_by=actor,
            worker_pid=me.pid if me else None,
            worker_started=me.start_time if me else None,
        )
        auditlog.record(
            "dream.requested",
            actor=actor,
            project=project,
            object_id=dream.public_id,
            engine=chosen,
            forced=forced,
            **asked,
        )
    return dream


#: This long after its lease ended any host may end a dream. Longer than any dream, and than differences of clocks.
FORSAKEN = dt.timedelta(hours=2)


def under_way(host: str, now: dt.datetime) -> int:
    """The number of pending and running dreams of `host`, without those whose lease ended."""
    ended = Q(status=DreamRun.Status.RUNNING, lease_until__lt=now)
    return DreamRun.objects.filter(project__host=host, status__in=DreamRun.UNFINISHED).exclude(ended).count()


def forsaken(now: dt.datetime) -> QuerySet[DreamRun]:
    """Running dreams whose lease ended long ago on hosts that are not running, so that nobody else ends them."""
    running = DreamRun.objects.filter(status=DreamRun.Status.RUNNING, lease_until__lt=now - FORSAKEN)
    return running.filter(project__host__in=hosts.away().values("key"))


def cancel(dream: DreamRun, actor: str) -> bool:
    """Kill a dream: a pending or forsaken one at once, a running one at its next checkpoint. False when it was over already."""
    now = timezone.now()
    killed = DreamRun.objects.filter(pk=dream.pk, status=DreamRun.Status.PENDING).update(
        status=DreamRun.Status.KILLED, ended_at=now, error="Cancelled before it started."
    )
    asked = DreamRun.objects.filter(pk=dream.pk, status=DreamRun.Status.RUNNING).update(
        cancel_requested_at=now
    )
    if killed or asked:
        auditlog.record("dream.cancelled", actor=actor, about=dream)
    if asked and forsaken(now).filter(pk=dream.pk).exists():
        dream.refresh_from_db()
        lost_its_worker(dream)
    return bool(killed or asked)


def claim(dream_pk: int) -> DreamRun | None:
    """Claim a pending dream by a conditional update, so that a task delivered twice runs once."""
    me = process.current()
    now = timezone.now()
    taken = DreamRun.objects.filter(pk=dream_pk, status=DreamRun.Status.PENDING).update(
        status=DreamRun.Status.RUNNING,
        started_at=now,
        lease_until=now + LEASE,
        worker_pid=me.pid,
        worker_started=me.start_time,
        attempts=F("attempts") + 1,
    )
    return DreamRun.objects.select_related("project").get(pk=dream_pk) if taken else None


def end(
    dream: DreamRun,
    status: DreamRun.Status,
    error: str = "",
    *,
    failure: DreamRun.Failure | None = None,
    wait: dt.timedelta = dt.timedelta(0),
    **more: object,
) -> bool:
    """Move a running dream into a terminal state; False if it already was in one.

    `failure` is what failed. A failed dream is retried after the back-off, and not before `wait`.
    """
    now = timezone.now()
    moved = DreamRun.objects.filter(pk=dream.pk, status=DreamRun.Status.RUNNING).update(
        status=status, ended_at=now, lease_until=None, failure=failure or "", error=error, **more
    )
    if not moved:
        return False
    project = Project.objects.filter(pk=dream.project_id)
    if status == DreamRun.Status.FAILED:
        failures = dream.project.failures + 1
        project.update(failures=failures, not_before=now + max(wait, back_off(dream.project, failures)))
    elif status == DreamRun.Status.COMPLETED:
        project.update(failures=0, not_before=None)
    # Its gates were open before it ran; the next tick judges them again.
    project.filter(gate_fingerprint="open").update(gate_fingerprint="")
    auditlog.record("dream.ended", about=dream, status=status.value, error=error[:300])
    return True


def back_off(project: Project, failures: int) -> dt.timedelta:
    """The wait after consecutive failures: doubling, at most a day, and a day from `max_attempts` on."""
    config = conf.current(project)
    if failures >= config.max_attempts:
        return dt.timedelta(days=1)
    minutes: float = config.retry_minutes * 2.0 ** (failures - 1)
    return min(dt.timedelta(minutes=minutes), dt.timedelta(days=1))


def lost_its_command(dream: DreamRun) -> bool:
    """End a pending dream whose command died before it began; False when it has begun or ended meanwhile."""
    ended = DreamRun.objects.filter(pk=dream.pk, status=DreamRun.Status.PENDING).update(
        status=DreamRun.Status.KILLED,
        ended_at=timezone.now(),
        error="The command that requested it was stopped before it started. Nothing was changed.",
    )
    if ended:
        auditlog.record("dream.ended", about=dream, status="killed")
    return bool(ended)


def lost_its_worker(dream: DreamRun) -> str:
    """Mark a running dream whose worker died as failed, or as killed if a person had cancelled it.

    Returns a sentence, "" if it had ended already. Lock and clock are healed by `project_lock.heal`.
    """
    if dream.cancel_requested_at is not None:
        said = "Its worker was stopped. Nothing was changed, and the clock is put back."
        return said if end(dream, DreamRun.Status.KILLED, said) else ""
    said = process.DIED
    return said if end(dream, DreamRun.Status.FAILED, said, failure=DreamRun.Failure.WORKER) else ""


LEASE_EVERY_SECONDS = 15.0  # far below LEASE, which it renews; chosen

CANCEL_LOOK_SECONDS = 0.5  # between two looks at the row; chosen


class DirectoryTaken(EngineError):
    """Another process took the directory during the dream."""


class TimeIsUp(LimitReached):
    """The dream took longer than its setting allows."""


class DreamReporter:
    """The engine's reporter: writes turns, keeps the lease, and sees a cancel, a lost lock and the end of its time."""

    def __init__(self, dream: DreamRun, beat: locks.Heartbeat) -> None:
        self._dream = dream
        self._beat = beat
        self._turns = 0
        self._deadline = time.monotonic() + conf.current(dream.project).max_seconds
        self._looked_at = 0.0
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._keep_lease, name="dream-lease", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join(5.0)

    def _keep_lease(self) -> None:
        """In a separate thread, so that a long model call does not look like a dead worker."""
        try:
            while not self._stop.wait(LEASE_EVERY_SECONDS):
                self._renew()
        finally:
            connection.close()

    def _renew(self) -> None:
        """If the database is busy, for example with a large proposal, the next beat renews."""
        running = DreamRun.objects.filter(pk=self._dream.pk, status=DreamRun.Status.RUNNING)
        try:
            close_old_connections()
            running.update(lease_until=timezone.now() + LEASE)
        except DatabaseError as error:
            log.info("The lease was not renewed: %s.", error)

    def checkpoint(self) -> None:
        if self._beat.lost is not None:
            raise DirectoryTaken(f"The lock was lost: {self._beat.lost} Nothing was changed.")
        now = time.monotonic()
        if now > self._deadline:
            raise TimeIsUp(
                "It took longer than its setting allows (Time limit per dream). Nothing was changed."
            )
        if now - self._looked_at < CANCEL_LOOK_SECONDS:
            return
        self._looked_at = now
        state = (
            DreamRun.objects.filter(pk=self._dream.pk).values_list("status", "cancel_requested_at").first()
        )
        if state is None or state[0] != DreamRun.Status.RUNNING or state[1] is not None:
            raise Cancelled

    def last_checkpoint(self) -> None:
        """Check again before proposing, as the directory may have been moved or taken since the last beat."""
        self._beat.beat()
        self.checkpoint()

    def turn(self, turn: EngineTurn) -> None:
        self._turns += 1
        number, now, used = self._turns, timezone.now(), turn.usage
        with transaction.atomic():
            Turn.objects.create(
                dream=self._dream,
                number=number,
                phase=turn.phase,
                text=redact.redact(turn.text),
                tools=[_without_secrets(tool) for tool in turn.tools],
                files=list(turn.files),
                counts=dict(turn.counts),
                at=now,
                input_tokens=used.input_tokens + used.cache_read_tokens + used.cache_creation_tokens,
                output_tokens=used.output_tokens,
                **asdict(turn.work),
            )
            book(self._dream, number, now, used)
            steps.save(self._dream, turn.edits)
        DreamRun.objects.filter(pk=self._dream.pk, status=DreamRun.Status.RUNNING).update(phase=turn.phase)
        self.checkpoint()

    def dollars_left(self) -> Allowance | None:
        """What the tightest budget of day, month and project still allows, including this dream's turns; None: no limit."""
        config = conf.current(self._dream.project)
        return pricing.dollars_left(
            self._dream.project, config, timezone.now(), conf.zone(config), besides=self._dream
        )

    def reserve(self, dollars: Decimal) -> Allowance | None:
        """Set `dollars` aside for what is asked next, instead of what was; see `pricing.set_aside`."""

        def keep(aside: Decimal | None) -> None:
            DreamRun.objects.filter(pk=self._dream.pk).update(reserved_usd=aside)

        return pricing.set_aside(dollars, self.dollars_left, keep)


def _without_secrets(tool: Mapping[str, object]) -> dict[str, object]:
    """A tool call without secrets, as a model can copy them from a file into a command."""
    return {key: redact.redact(value) if isinstance(value, str) else value for key, value in tool.items()}
