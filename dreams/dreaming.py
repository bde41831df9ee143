"""The story of one dream: claim → lock → look → engine in the workspace → proposal → policy → done.

Every way out leaves the lock and the clock as they should be: a completed dream moves the clock, a failed or killed
one rewinds it. Nothing leaves a terminal state: each step into one is a conditional update that counts its rows.
"""

from __future__ import annotations

import datetime as dt
import logging
import threading
import time
import zoneinfo
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Self

from django.conf import settings
from django.db import close_old_connections, connection, transaction
from django.db.models import F
from django.utils import timezone

from dreams import (
    apply as applying,
)
from dreams import (
    auditlog,
    blobs,
    conf,
    discovery,
    drafts,
    engines,
    holds,
    inputs,
    linedates,
    locks,
    memories,
    policies,
    process,
    proposals,
    review,
    workspace,
)
from dreams.engines.base import (
    Cancelled,
    EngineError,
    Job,
    LineDate,
    Outcome,
    Phase,
    PromptBrief,
    SessionBrief,
    Usage,
)
from dreams.models import (
    DreamRun,
    DreamSession,
    Hunk,
    MemoryWrite,
    Project,
    Prompt,
    Proposal,
    Session,
    Turn,
    Version,
)
from dreams.review import Reviewer, ReviewRefused

log = logging.getLogger(__name__)

LEASE = dt.timedelta(seconds=90)
LEASE_EVERY_SECONDS = 15.0
CANCEL_LOOK_SECONDS = 0.5
MAX_PROMPTS = 5_000
MAX_VERSIONS = 50

POLICY = Reviewer("policy")


class TimeIsUp(EngineError):
    """The dream took longer than its setting allows."""


def request(
    project: Project, trigger: DreamRun.Trigger, *, engine: str = "", forced: bool = False, actor: str = ""
) -> DreamRun:
    """A pending dream. Raises holds.ProjectBusy when one is pending or running."""
    config = conf.current(project)
    chosen = engine or config.engine
    with transaction.atomic():
        running = project.dreams.filter(status__in=[DreamRun.Status.PENDING, DreamRun.Status.RUNNING]).first()
        if running is not None:
            raise holds.ProjectBusy(
                f"{project} already dreams ({running.public_id}). Wait for it, or cancel it."
            )
        dream = DreamRun.objects.create(
            project=project,
            engine=chosen,
            model=config.model if chosen != "rules" else "",
            trigger=trigger,
            forced=forced,
            requested_by=actor,
        )
        auditlog.record(
            "dream.requested",
            actor=actor,
            project=project,
            object_id=dream.public_id,
            engine=chosen,
            forced=forced,
        )
    return dream


def cancel(dream: DreamRun, actor: str) -> bool:
    """Kill a dream: a pending one at once, a running one at its next checkpoint. False when it was over already."""
    now = timezone.now()
    killed = DreamRun.objects.filter(pk=dream.pk, status=DreamRun.Status.PENDING).update(
        status=DreamRun.Status.KILLED, ended_at=now, error="Cancelled before it began."
    )
    asked = DreamRun.objects.filter(pk=dream.pk, status=DreamRun.Status.RUNNING).update(
        cancel_requested_at=now
    )
    if killed or asked:
        auditlog.record("dream.cancelled", actor=actor, project=dream.project, object_id=dream.public_id)
    return bool(killed or asked)


def run_dream(dream_pk: int) -> DreamRun | None:
    """Run a pending dream to its end. None when it is gone or somebody else has claimed it; never raises for a dream
    that fails: the row says why."""
    dream = _claim(dream_pk)
    if dream is None:
        return None
    try:
        with (
            holds.hold(dream.project, "dream") as held,
            locks.Heartbeat(held) as beat,
            Watch(dream, beat) as watch,
        ):
            _dream_under_lock(dream, held, watch)
    except Cancelled:
        _end(dream, DreamRun.Status.KILLED, "Cancelled. Nothing was changed, and the clock was put back.")
    except (EngineError, holds.ProjectBusy) as error:
        _end(dream, DreamRun.Status.FAILED, str(error))
    except Exception as error:
        log.exception("dream %s failed", dream.public_id)
        _end(
            dream,
            DreamRun.Status.FAILED,
            f"An unexpected fault ended it ({type(error).__name__}). The log has more.",
        )
    except BaseException:
        # The queue's timeout and Ctrl-C arrive as SystemExit and KeyboardInterrupt; keep this short.
        _end(
            dream,
            DreamRun.Status.KILLED,
            "Its worker was stopped. Nothing was changed, and the clock was put back.",
        )
        raise
    dream.refresh_from_db()
    return dream


def _claim(dream_pk: int) -> DreamRun | None:
    """Take a pending dream by a conditional update, so that a task handed out twice runs once."""
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


def _end(dream: DreamRun, status: DreamRun.Status, error: str = "", **more: object) -> bool:
    """Move a running dream into a terminal state; False when it was in one already."""
    now = timezone.now()
    moved = DreamRun.objects.filter(pk=dream.pk, status=DreamRun.Status.RUNNING).update(
        status=status, ended_at=now, lease_until=None, error=error, **more
    )
    if not moved:
        return False
    project = Project.objects.filter(pk=dream.project_id)
    if status == DreamRun.Status.FAILED:
        failures = dream.project.failures + 1
        project.update(failures=failures, not_before=now + back_off(dream.project, failures))
    elif status == DreamRun.Status.COMPLETED:
        project.update(failures=0, not_before=None)
    auditlog.record(
        "dream.ended",
        project=dream.project,
        object_id=dream.public_id,
        status=status.value,
        error=error[:300],
    )
    return True


def back_off(project: Project, failures: int) -> dt.timedelta:
    """How long a project waits after failures in a row: doubling, a day at most, a day after the last try."""
    config = conf.current(project)
    if failures >= config.max_attempts:
        return dt.timedelta(days=1)
    minutes: float = config.retry_minutes * 2.0 ** (failures - 1)
    return min(dt.timedelta(minutes=minutes), dt.timedelta(days=1))


def lost_its_worker(dream: DreamRun) -> str:
    """Mark a running dream whose worker died failed, or killed where a person had cancelled it; says so.

    Lock and clock are healed by `holds.heal`.
    """
    if dream.cancel_requested_at is not None:
        said = "Cancelled; its worker was stopped. Nothing was changed, and the clock is put back."
        return said if _end(dream, DreamRun.Status.KILLED, said) else ""
    said = "Its worker died. Nothing was changed; the clock is put back and it is tried again later."
    return said if _end(dream, DreamRun.Status.FAILED, said) else ""


# --- Under the lock ---------------------------------------------------------------------------------------------


def _dream_under_lock(dream: DreamRun, held: locks.Held, watch: Watch) -> None:
    project = dream.project
    config = conf.current(project)
    discovery.refresh(project)
    snapshot = workspace.take(memories.memory_dir(project))
    memories.sync(project, snapshot)
    fingerprint = inputs.fingerprint(project)
    if fingerprint == project.inputs_hash and not dream.forced:
        _complete(dream, held, fingerprint, "Nothing changed since the last dream.")
        return
    sessions = _review_sessions(dream)
    folder = Path(settings.DATA_DIR) / "workspaces" / dream.public_id
    with workspace.Workspace.create(folder, snapshot) as scratch:
        job = Job(
            project_name=str(project),
            repo_dir=Path(project.repo_dir) if project.repo_dir else None,
            workspace=scratch,
            sessions=sessions,
            line_dates=_line_dates(project, _zone(config)),
            config=config,
            now=timezone.now(),
            time_zone=_zone(config),
        )
        outcome = engines.get(dream.engine).run(job, watch)
        after = scratch.contents()
    watch.checkpoint()
    _propose(dream, snapshot.contents(), after, outcome)
    _complete(dream, held, fingerprint, outcome.summary, outcome.usage)
    _apply_by_policy(dream, held)


def _zone(config: conf.Config) -> dt.tzinfo:
    return zoneinfo.ZoneInfo(config.time_zone or settings.TIME_ZONE)


def _review_sessions(dream: DreamRun) -> list[SessionBrief]:
    """The sessions with something new, recorded as reviewed by this dream, with what was typed in the new part."""
    now = timezone.now()
    quiet = now - dt.timedelta(minutes=conf.current(dream.project).live_minutes)
    live = discovery.live_session_ids(dream.project)
    chosen = [
        session
        for session in inputs.new_sessions(dream.project)[: inputs.MAX_SESSIONS]
        if dream.forced or (session.session_id not in live and session.touched_at <= quiet)
    ]
    DreamSession.objects.bulk_create(
        DreamSession(dream=dream, session=session, from_byte=session.used_bytes, to_byte=session.size)
        for session in chosen
    )
    prompts: dict[int, list[PromptBrief]] = {}
    rows = Prompt.objects.filter(session__in=chosen, offset__gte=F("session__used_bytes")).order_by(
        "at", "session", "offset"
    )
    for row in rows[:MAX_PROMPTS]:
        prompts.setdefault(row.session_id, []).append(PromptBrief(row.text, row.line_no, row.offset, row.at))
    return [_brief(session, prompts.get(session.pk, ())) for session in reversed(chosen)]


def _brief(session: Session, prompts: Sequence[PromptBrief]) -> SessionBrief:
    return SessionBrief(
        pk=session.pk,
        session_id=session.session_id,
        path=Path(session.path),
        title=session.title,
        started_at=session.started_at,
        last_at=session.last_at,
        from_byte=session.used_bytes,
        to_byte=session.size,
        corrections=session.corrections,
        prompts=tuple(prompts),
    )


def _line_dates(project: Project, zone: dt.tzinfo) -> Mapping[str, Sequence[LineDate | None]]:
    """For every memory, when each of its lines was written."""
    found: dict[str, Sequence[LineDate | None]] = {}
    writes = dict(
        MemoryWrite.objects.filter(session__project=project, at__isnull=False)
        .order_by("at")
        .values_list("path", "at")
    )
    for memory in project.memories.filter(gone_at__isnull=True):
        rows = list(memory.versions.exclude(sha256="").order_by("at", "pk"))[-MAX_VERSIONS:]
        texts = blobs.get_many(row.sha256 for row in rows)
        kept = [
            linedates.KeptVersion(
                data=texts[row.sha256],
                at=row.at,
                mtime=dt.datetime.fromtimestamp(row.mtime_ns / 1e9, dt.UTC),
                seen_change=row.origin != Version.Origin.FOUND,
                written_at=writes.get(str(memories.memory_dir(project) / memory.path)),
            )
            for row in rows
            if row.sha256 in texts
        ]
        found[memory.path] = linedates.line_dates(kept, zone)
    return found


def _propose(
    dream: DreamRun, before: Mapping[str, bytes], after: Mapping[str, bytes], outcome: Outcome
) -> None:
    """Turn what the engine did into proposals: the part that a policy lets in, and the part for a person."""
    project = dream.project
    whole = drafts.draft(before, after, outcome.edits, proposals.rejected_before(project))
    verdicts = {}
    waiting = proposals.open_for(project)
    if waiting is not None:
        verdicts = proposals.supersede(waiting, dream.requested_by)
    left_out = [{"path": path, "hunk": hunk} for path, hunk in whole.left_out]
    DreamRun.objects.filter(pk=dream.pk).update(left_out=left_out)
    if whole.is_empty:
        return
    automatic = policies.automatic(project, whole)
    origin = proposals.Origin(Proposal.Origin.DREAM, summary=outcome.summary, dream=dream)
    if automatic:
        halfway = policies.only(whole, before, automatic)
        part = proposals.Origin(Proposal.Origin.DREAM, summary=outcome.summary, dream=dream, by_policy=True)
        proposals.create(project, part, drafts.draft(before, halfway, outcome.edits), before)
        whole = drafts.draft(halfway, policies.only(whole, before, whole.operations), outcome.edits)
        before = halfway
    if not whole.is_empty:
        made = proposals.create(project, origin, whole, before)
        proposals.carry_over(made, verdicts)


def _complete(
    dream: DreamRun, held: locks.Held, fingerprint: str, summary: str, usage: Usage | None = None
) -> None:
    """The dream is done: the clock moves, once the row says so."""
    usage = usage or Usage()
    now = timezone.now()
    ended = _end(
        dream,
        DreamRun.Status.COMPLETED,
        summary=summary,
        inputs_hash=fingerprint,
        input_tokens=usage.input_tokens,
        output_tokens=usage.output_tokens,
        cache_read_tokens=usage.cache_read_tokens,
        cache_creation_tokens=usage.cache_creation_tokens,
        cost_usd=usage.cost_usd,
    )
    if not ended:
        raise Cancelled
    released = held.release_completed(now)
    if not released.done:
        log.warning("dream %s: %s", dream.public_id, released.problem)
    Project.objects.filter(pk=dream.project_id).update(last_consolidated_at=now, inputs_hash=fingerprint)
    if not dream.proposals.exists():
        # Nothing to decide on: what was read is learnt.
        for reviewed in dream.reviewed.all():
            Session.objects.filter(pk=reviewed.session_id).update(
                used_bytes=reviewed.to_byte, given_back_at=None
            )


def _apply_by_policy(dream: DreamRun, held: locks.Held) -> None:
    """Write the part that a policy lets in. What a finding blocks waits for a person like everything else."""
    part = dream.proposals.filter(by_policy=True).first()
    if part is None:
        return
    try:
        review.decide(part, review.select(part), Hunk.Verdict.APPROVED, POLICY, reason="Allowed by policy.")
        applying.apply(part, POLICY)
    except (ReviewRefused, holds.ProjectBusy) as error:
        log.warning("dream %s: not applied by policy: %s", dream.public_id, error)


# --- Telling, and being told to stop ------------------------------------------------------------------------------


@dataclass(slots=True)
class _Counter:
    number: int = 0


class Watch:
    """The engine's reporter: writes turns, keeps the lease, and sees a cancel, a lost lock and the end of its time."""

    def __init__(self, dream: DreamRun, beat: locks.Heartbeat) -> None:
        self._dream = dream
        self._beat = beat
        self._count = _Counter()
        self._deadline = time.monotonic() + conf.current(dream.project).max_seconds
        self._looked_at = 0.0
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._keep_lease, name="dream-lease", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stop.set()
        self._thread.join(5.0)

    def _keep_lease(self) -> None:
        """Off the engine's thread, so that a long call to a model does not look like a dead worker."""
        try:
            while not self._stop.wait(LEASE_EVERY_SECONDS):
                DreamRun.objects.filter(pk=self._dream.pk, status=DreamRun.Status.RUNNING).update(
                    lease_until=timezone.now() + LEASE
                )
                close_old_connections()
        finally:
            connection.close()

    def checkpoint(self) -> None:
        if self._beat.lost is not None:
            raise EngineError(f"The lock was lost: {self._beat.lost} Nothing was changed.")
        now = time.monotonic()
        if now > self._deadline:
            raise TimeIsUp(
                "It took longer than its setting allows (Seconds of one dream). Nothing was changed."
            )
        if now - self._looked_at < CANCEL_LOOK_SECONDS:
            return
        self._looked_at = now
        state = (
            DreamRun.objects.filter(pk=self._dream.pk).values_list("status", "cancel_requested_at").first()
        )
        if state is None or state[0] != DreamRun.Status.RUNNING or state[1] is not None:
            raise Cancelled

    def turn(
        self,
        phase: Phase,
        text: str,
        *,
        tools: Sequence[Mapping[str, object]] = (),
        files: Sequence[str] = (),
        counts: Mapping[str, int] | None = None,
        usage: Usage | None = None,
    ) -> None:
        self._count.number += 1
        Turn.objects.create(
            dream=self._dream,
            number=self._count.number,
            phase=phase,
            text=text,
            tools=[dict(tool) for tool in tools],
            files=list(files),
            counts=dict(counts or {}),
            at=timezone.now(),
            input_tokens=usage.input_tokens if usage else 0,
            output_tokens=usage.output_tokens if usage else 0,
        )
        DreamRun.objects.filter(pk=self._dream.pk, status=DreamRun.Status.RUNNING).update(phase=phase)
        self.checkpoint()
