"""What one host asks another to do: a write happens where the memory is.

Asking makes a row: project, deed, ids, and the sha256s that the person saw. No task crosses hosts, as a queue runs what its
own key signed: the scheduler of the host that has the files takes the row, once, and hands it to its own queue; the worker
looks at the sha256s and the findings again before it does it. What came of it is in the row, for whoever asked. A host takes
requests only while a file in its data directory says so, which nobody can make by writing to the database.
"""

from __future__ import annotations

import datetime as dt
import hashlib
import json
import logging
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from django.conf import settings
from django.db import IntegrityError, transaction
from django.db.models import Q
from django.db.models.functions import Now

from dreams.lib import process
from dreams.lib.files import text
from dreams.lib.files.text import plural
from dreams.lib.secrets.redact import redact
from dreams.lib.storage import history, journal
from dreams.models import Card, Host, HostRequest, Memory, Project, Proposal, ScheduledJob
from dreams.services import (
    auditlog,
    blobs,
    hosts,
    jobs,
    project_lock,
    proposals,
    review,
    rollback,
    secret_purge,
)
from dreams.services.apply import applying, writing
from dreams.services.apply.applying import ApplyReport
from dreams.services.catching import cards, states, story
from dreams.services.memories import hand_edits, syncing
from dreams.services.review import Actor
from dreams.services.scheduling import scheduler

log = logging.getLogger(__name__)

Deed = HostRequest.Deed
State = HostRequest.State
#: After so long a decision is asked again instead of written: memory has moved on.
TOO_OLD = dt.timedelta(days=7)
#: A request that no worker took for this long has lost its task.
HAND_OUT_AGAIN = dt.timedelta(minutes=5)
MOST_ATTEMPTS = 3
MOST_AT_ONCE = 50
OVER = (Proposal.State.APPLIED, Proposal.State.REJECTED, Proposal.State.SUPERSEDED)


class NotAccepted(project_lock.ProjectElsewhere):
    """The host that has the files takes no requests; the message has the remedy."""


@dataclass(frozen=True, slots=True)
class Wish:
    """What a person wants done, as ids. `seen` maps a path to the sha256 that they saw, "" where there is no file."""

    deed: HostRequest.Deed
    project: Project | None
    given: Mapping[str, Any] = field(default_factory=dict)
    seen: Mapping[str, str] = field(default_factory=dict)
    proposal: Proposal | None = None
    host: str = ""

    @property
    def owner(self) -> str:
        return self.host or (self.project.host if self.project else hosts.host())

    @property
    def digest(self) -> str:
        what = [self.owner, self.project and self.project.pk, self.deed, self.proposal and self.proposal.pk]
        return hashlib.sha256(json.dumps([*what, self.given], sort_keys=True).encode()).hexdigest()


def is_elsewhere(project: Project) -> bool:
    return project.host != hosts.host()


# --- Whether this host takes requests -----------------------------------------------------------------------------


def accepts() -> bool:
    return _mark().is_file()


def set_accepts(wanted: bool, actor: str) -> None:
    """Take requests of other hosts from now on, or take none: run on the host itself."""
    if wanted:
        _mark().touch(mode=0o600)
    else:
        _mark().unlink(missing_ok=True)
    hosts.register()
    with transaction.atomic():
        Host.objects.filter(key=hosts.host()).update(accepts_requests=wanted)
        name = hosts.name_of(hosts.host())
        auditlog.record("host.accepts" if wanted else "host.declines", actor=actor, object_id=name)


def _mark() -> Path:
    return Path(settings.DATA_DIR) / "accepts_requests"


def refuse_unless_accepted(project: Project) -> None:
    """Raises NotAccepted for a project of another host that takes no requests: before anything is decided for it."""
    if is_elsewhere(project) and not Host.objects.filter(key=project.host, accepts_requests=True).exists():
        raise _not_accepted(project.host, project.slug)


def _not_accepted(key: str, what: str) -> NotAccepted:
    owner = hosts.name_of(key)
    return NotAccepted(
        f"{what} belongs to {owner}, and this is {hosts.name_of(hosts.host())}. Nothing was changed. "
        f"Do it on {owner}, or run `hosts accept` there so that it takes requests from here."
    )


# --- Asking -------------------------------------------------------------------------------------------------------


def ask(wish: Wish, actor: Actor) -> HostRequest:
    """The row that asks for it; the one that waits already, where it was asked before. Raises NotAccepted."""
    if not Host.objects.filter(key=wish.owner, accepts_requests=True).exists():
        raise _not_accepted(wish.owner, wish.project.slug if wish.project else "This")
    try:
        with transaction.atomic():
            made = HostRequest.objects.create(
                host=wish.owner,
                asked_on=hosts.host(),
                project=wish.project,
                proposal=wish.proposal,
                deed=wish.deed,
                given=dict(wish.given),
                seen=dict(wish.seen),
                digest=wish.digest,
                asked_by=actor.name,
                by_command=actor.by_command,
                asked_at=Now(),
            )
            _record("request.asked", made, actor)
    except IntegrityError:
        made = HostRequest.objects.get(digest=wish.digest, state__in=HostRequest.OPEN)
    made.refresh_from_db()
    return made


def withdraw(request: HostRequest, actor: Actor) -> bool:
    """Take it back; False when its host has taken it already, or it is over."""
    with transaction.atomic():
        moved = _end(request, State.WITHDRAWN, "", was=State.WAITING)
        if moved:
            _record("request.withdrawn", request, actor)
    return moved


def _record(action: str, request: HostRequest, actor: Actor) -> None:
    auditlog.record(
        action,
        actor=actor.name,
        project=request.project,
        object_id=request.proposal.public_id if request.proposal else request.public_id,
        by_command=actor.by_command,
        deed=request.deed,
        host=hosts.name_of(request.host),
        seen=request.seen,
    )


def to_apply(proposal: Proposal, *, rebased: bool = False) -> Wish:
    """Raises FindingInTheWay: what blocks it is confirmed where it is asked."""
    if proposal.state == Proposal.State.OPEN:
        review.refuse_open_findings(proposal)
    seen = _decided(proposal)
    return Wish(Deed.APPLY, proposal.project, {"rebased": rebased}, seen, proposal)


def _decided(proposal: Proposal) -> dict[str, str]:
    """What would be written, with the answers that go with it: proposal and path → sha256, "" for a file removed."""
    with_answers = (
        applying.waiting_answers(proposal.project) if proposal.origin == Proposal.Origin.DREAM else []
    )
    found = {}
    for one in [proposal, *with_answers]:
        files = [
            file for file in one.files.prefetch_related("hunks") if any(h.is_taken for h in file.hunks.all())
        ]
        texts = proposals.texts_of(files)
        for file in files:
            data = proposals.decided_bytes(file, texts=texts)
            found[f"{one.public_id} {file.path}"] = text.sha256(data) if data is not None else ""
    return found


def to_undo(
    proposal: Proposal, selection: rollback.Selection, *, reason: str = "", never_again: bool = False
) -> Wish:
    given = {
        "paths": list(selection.paths),
        "hunks": list(selection.hunk_ids),
        "reason": redact(reason),
        "never_again": never_again,
    }
    seen = _current(proposal.project, proposal.files.values_list("path", flat=True))
    return Wish(Deed.UNDO, proposal.project, given, seen, proposal)


def to_edit(memory: Memory, content: str, base_sha: str, reason: str = "") -> Wish:
    [sha] = blobs.put_many([text.encode(content)])
    given = {"memory": memory.pk, "text": sha, "reason": redact(reason)}
    return Wish(Deed.EDIT, memory.project, given, {memory.path: base_sha})


def to_forget(memory: Memory, reason: str = "") -> Wish:
    given = {"memory": memory.pk, "reason": redact(reason)}
    return Wish(Deed.FORGET, memory.project, given, {memory.path: memory.sha256})


def to_restore(project: Project, path: str, sha: str, reason: str = "") -> Wish:
    given = {"path": path, "sha": sha, "reason": redact(reason)}
    return Wish(Deed.RESTORE, project, given, _current(project, [path]))


def to_write_cards(project: Project) -> Wish:
    return Wish(Deed.CARDS, project, {}, _approved_cards(project))


def _approved_cards(project: Project) -> dict[str, str]:
    approved = [card for card in states.listed(project) if card.state == Card.State.APPROVED]
    return {card.public_id: text.sha256(card.text.encode()) for card in approved}


def _current(project: Project, paths: Any) -> dict[str, str]:
    """Path → sha256 of each file as last seen."""
    rows = project.memories.filter(path__in=list(paths), gone_at__isnull=True)
    return dict.fromkeys(paths, "") | dict(rows.values_list("path", "sha256"))


# --- Taking: the scheduler of the host that has the files ---------------------------------------------------------


def take() -> list[HostRequest]:
    """One round: end what is too old or over, hand out what is asked of this host. What a dead worker had is looked at."""
    mine = HostRequest.objects.filter(host=hosts.host(), state__in=HostRequest.OPEN)
    for old in mine.filter(state=State.WAITING, asked_at__lt=Now() - TOO_OLD):
        _end(
            old,
            State.EXPIRED,
            "It waited for more than a week. Look at it again, then ask anew.",
            was=State.WAITING,
        )
    over = Q(proposal__state__in=OVER) & Q(deed=Deed.APPLY)
    for done in mine.filter(over, state=State.WAITING).select_related("proposal"):
        what = done.proposal.get_state_display().lower() if done.proposal else ""
        _end(done, State.REFUSED, f"The proposal is {what} meanwhile.", was=State.WAITING)
    if not accepts():
        return []
    for stuck in mine.filter(state=State.TAKEN):
        _look_after(stuck)
    taken = []
    for waiting in mine.filter(state=State.WAITING).order_by("pk")[:MOST_AT_ONCE]:
        moved = HostRequest.objects.filter(pk=waiting.pk, state=State.WAITING).update(
            state=State.TAKEN, taken_at=Now()
        )
        if moved:
            _hand_out(waiting)
            taken.append(waiting)
    return taken


def _hand_out(request: HostRequest) -> None:
    from django_q.tasks import async_task  # noqa: PLC0415 - the queue's models need the app registry

    async_task(
        "dreams.tasks.carry_out",
        request.pk,
        cluster=hosts.cluster_name(hosts.host()),
        task_name=f"request {request.public_id}",
    )


def _look_after(request: HostRequest) -> None:
    """Its task may be lost, or its worker dead: then what it began is finished or undone first."""
    rows = HostRequest.objects.filter(pk=request.pk, state=State.TAKEN, worker_pid=request.worker_pid)
    if request.worker_pid is None:
        if rows.filter(taken_at__lt=Now() - HAND_OUT_AGAIN).update(taken_at=Now()):
            _hand_out(request)
    elif not process.is_alive(request.worker_pid, request.worker_started):
        if request.deed != Deed.APPLY or request.attempts >= MOST_ATTEMPTS:
            _end(request, State.REFUSED, "Its worker was killed. Look at what is there now, then ask anew.")
        elif rows.update(worker_pid=None, taken_at=Now()):
            _hand_out(request)


# --- Doing it: a worker of the host that has the files ------------------------------------------------------------


def carry_out(pk: int) -> HostRequest | None:
    """Do a taken request. Handed out twice, it is done once. None when somebody else has it."""
    me = process.current()
    claimed = HostRequest.objects.filter(pk=pk, host=hosts.host(), state=State.TAKEN, worker_pid=None)
    request = claimed.select_related("project", "proposal__project").first() if accepts() else None
    if request is None or not claimed.update(
        worker_pid=me.pid, worker_started=me.start_time, attempts=request.attempts + 1
    ):
        return None
    try:
        state, said, report = _done(request)
    except _REFUSALS as refused:
        state, said, report = State.REFUSED, str(refused), None
    except Exception as error:
        log.exception("request %s", request.public_id)
        state, said = State.REFUSED, f"An unexpected fault: {type(error).__name__}. The log there has more."
        report = None
    _end(request, state, said, report=report)
    request.refresh_from_db()
    return request


_REFUSALS = (
    review.ReviewRefused,
    rollback.NothingToUndo,
    hand_edits.Stale,
    project_lock.ProjectBusy,
    journal.JournalBusy,
    blobs.MissingBlob,
    history.HistoryError,
    scheduler.GateClosed,
    jobs.AlreadyRunning,
    secret_purge.PurgeRefused,
    OSError,
)


def _done(request: HostRequest) -> tuple[HostRequest.State, str, ApplyReport | None]:
    actor = Actor(request.asked_by, by_command=request.by_command)
    if request.project is not None:
        project_lock.refuse_elsewhere(request.project)
        writing.recover()
        syncing.refresh(request.project)
    refused = _changed_since(request)
    if refused:
        return State.REFUSED, refused, None
    found = _DEEDS[Deed(request.deed)](request, actor)
    if isinstance(found, str):
        return State.DONE, found, None
    return (State.DONE if found.complete else State.REFUSED), _in_words(found), found


def _changed_since(request: HostRequest) -> str:
    """Why it is not what the person saw; "" when it is. A write that a crash cut off was checked before it began."""
    if request.attempts and request.deed == Deed.APPLY:
        return ""
    if request.proposal is not None and request.deed == Deed.APPLY and request.proposal.state in OVER:
        return f"The proposal is {request.proposal.get_state_display().lower()} meanwhile."
    now = _now(request)
    changed = sorted(key for key in now.keys() | request.seen.keys() if now.get(key) != request.seen.get(key))
    if not changed:
        return ""
    names = [key.partition(" ")[2] if request.deed == Deed.APPLY else key for key in changed[:5]]
    return f"Changed since it was asked: {', '.join(names)}. Nothing was written. Look at it again, then ask anew."


def _now(request: HostRequest) -> Mapping[str, str]:
    """What `seen` would be now."""
    if request.project is None:
        return {}
    if request.deed == Deed.CARDS:
        return _approved_cards(request.project)
    if request.deed == Deed.APPLY and request.proposal is not None:
        return _decided(request.proposal)
    return _current(request.project, request.seen)


def _in_words(report: ApplyReport) -> str:
    if report.complete:
        return f"Written: {plural(len(report.applied), 'file')}." if report.applied else " ".join(report.said)
    waits = [*report.conflicts, *report.rebased]
    return report.refusal if report.error else "; ".join(f"{one.path}: {one.why}" for one in waits)


def _proposal(request: HostRequest) -> Proposal:
    if request.proposal is None:
        raise review.ReviewRefused("Its proposal is gone.")
    return request.proposal


def _project(request: HostRequest) -> Project:
    if request.project is None:
        raise review.ReviewRefused("Its project is gone.")
    return request.project


def _memory(request: HostRequest) -> Memory:
    found = Memory.objects.filter(pk=request.given["memory"], project=request.project).select_related(
        "project"
    )
    row = found.first()
    if row is None:
        raise review.ReviewRefused("The memory is gone.")
    return row


def _apply(request: HostRequest, actor: Actor) -> ApplyReport:
    return applying.apply_with_answers(_proposal(request), actor, rebased=bool(request.given["rebased"]))


def _undo(request: HostRequest, actor: Actor) -> ApplyReport:
    selection = rollback.Selection(tuple(request.given["paths"]), tuple(request.given["hunks"]))
    return rollback.rollback(
        _proposal(request),
        actor,
        selection,
        reason=request.given["reason"],
        never_again=bool(request.given["never_again"]),
    )


def _edit(request: HostRequest, actor: Actor) -> ApplyReport:
    memory = _memory(request)
    data = blobs.get(request.given["text"])
    base = request.seen[memory.path]
    return hand_edits.edit(memory, text.decode(data), base, actor, reason=request.given["reason"])


def _forget(request: HostRequest, actor: Actor) -> ApplyReport:
    return hand_edits.forget(_memory(request), actor, reason=request.given["reason"])


def _restore(request: HostRequest, actor: Actor) -> ApplyReport:
    given = request.given
    return hand_edits.restore(_project(request), given["path"], given["sha"], actor, reason=given["reason"])


def _redact(request: HostRequest, actor: Actor) -> str:
    made = secret_purge.propose(_project(request), actor)
    return f"Proposal {made.public_id} waits for your review." if made else "No memory holds a secret now."


def _cards(request: HostRequest, actor: Actor) -> ApplyReport:
    return cards.submit(_project(request), actor)


def _extract(request: HostRequest, actor: Actor) -> str:
    found = story.catch(_project(request), asked=True)
    return (
        found.closed
        or f"Read {plural(len(found.read), 'session')}, caught {plural(len(found.cards), 'thing')}."
    )


def _dream(request: HostRequest, actor: Actor) -> str:
    given = request.given
    run = scheduler.dream_now(
        _project(request),
        engine=given["engine"],
        forced=given["forced"],
        logs=given.get("logs", False),
        actor=actor.name,
    )
    return f"Dream {run.public_id} was started."


def _job(request: HostRequest, actor: Actor) -> str:
    job = ScheduledJob.objects.filter(pk=request.given["job"], host=hosts.host()).first()
    if job is None:
        raise review.ReviewRefused("The job was removed.")
    run = jobs.start_now(job, actor=actor.name)
    jobs.begin(run, scheduler.enqueue)
    return f"{job}: started."


_DEEDS: Mapping[HostRequest.Deed, Callable[[HostRequest, Actor], ApplyReport | str]] = {
    Deed.APPLY: _apply,
    Deed.UNDO: _undo,
    Deed.EDIT: _edit,
    Deed.FORGET: _forget,
    Deed.RESTORE: _restore,
    Deed.REDACT: _redact,
    Deed.CARDS: _cards,
    Deed.EXTRACT: _extract,
    Deed.DREAM: _dream,
    Deed.JOB: _job,
}


def _end(
    request: HostRequest,
    state: HostRequest.State,
    said: str,
    *,
    was: HostRequest.State = State.TAKEN,
    report: ApplyReport | None = None,
) -> bool:
    """Close it, unless it is in another state than `was` meanwhile."""
    return bool(
        HostRequest.objects.filter(pk=request.pk, state=was).update(
            state=state,
            text=redact(said)[:1000],
            report=asdict(report) if report else {},
            ended_at=Now(),
        )
    )


# --- Looking ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Shown:
    """A request as a page shows it: what, where, what became of it; `last_seen` of its host."""

    public_id: str
    what: str
    host: str
    state: str
    label: str
    asked_by: str
    asked_at: dt.datetime
    last_seen: dt.datetime | None
    is_away: bool
    text: str

    @property
    def is_waiting(self) -> bool:
        return self.state == State.WAITING

    @property
    def is_open(self) -> bool:
        return self.state in HostRequest.OPEN


MOST_SHOWN = 5
SHOWN_FOR = dt.timedelta(days=7)


def of_project(project: Project) -> list[Shown]:
    """What is asked of another host for a project, and what came of the last ones; empty for a project of this host."""
    if not is_elsewhere(project):
        return []
    rows = HostRequest.objects.filter(project=project, asked_at__gt=Now() - SHOWN_FOR)
    shown = list(rows.exclude(state=State.WITHDRAWN).order_by("-pk")[:MOST_SHOWN])
    known = {one.key: one for one in hosts.known()} if shown else {}
    return [_shown(row, known.get(row.host)) for row in shown]


def _shown(row: HostRequest, host: hosts.Known | None) -> Shown:
    return Shown(
        public_id=row.public_id,
        what=row.get_deed_display(),
        host=host.name if host else row.host,
        state=row.state,
        label=row.get_state_display(),
        asked_by=row.asked_by,
        asked_at=row.asked_at,
        last_seen=host.last_seen if host else None,
        is_away=host is None or host.is_away,
        text=row.text,
    )
