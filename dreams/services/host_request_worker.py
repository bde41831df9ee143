"""Carries out requests from other hosts: the scheduler of the host that has the files claims a request, a worker executes it."""

import datetime as dt
import logging
from collections.abc import Callable, Mapping
from dataclasses import asdict
from typing import TypeVar

from django.db.models import Q
from django.db.models.functions import Now

from dreams.lib import process
from dreams.lib.files import text
from dreams.lib.files.text import plural
from dreams.lib.refusal import Refusal
from dreams.models import HostRequest, Memory, Project, Proposal, ScheduledJob
from dreams.services import blobs, hosts, jobs, project_lock, review, rollback, secret_purge
from dreams.services.apply import applying, writing
from dreams.services.apply.applying import ApplyReport, FolderMoved
from dreams.services.catching import cards, lifecycle
from dreams.services.host_requests import (
    OVER,
    TOO_OLD,
    Deed,
    State,
    accepts,
    approved_cards,
    close,
    current,
    decided,
)
from dreams.services.memories import hand_edits, syncing
from dreams.services.review import Actor
from dreams.services.scheduling import scheduler

log = logging.getLogger(__name__)
T = TypeVar("T")

#: A request that no worker took for this long has lost its task.
HAND_OUT_AGAIN = dt.timedelta(minutes=5)
MOST_ATTEMPTS = 3  # after a worker died at it; chosen
MOST_AT_ONCE = 50


# --- Claiming: the scheduler of the host that has the files -------------------------------------------------------


def take() -> list[HostRequest]:
    """One round: ends requests that are too old or obsolete, queues those for this host, and checks those of dead workers."""
    mine = HostRequest.objects.filter(host=hosts.host(), state__in=HostRequest.OPEN)
    for old in mine.filter(state=State.WAITING, asked_at__lt=Now() - TOO_OLD):
        close(
            old,
            State.EXPIRED,
            "It waited for more than a week. Check it again, then send a new request.",
            was=State.WAITING,
        )
    over = Q(proposal__state__in=OVER) & Q(deed=Deed.APPLY)
    for done in mine.filter(over, state=State.WAITING).select_related("proposal"):
        what = done.proposal.get_state_display().lower() if done.proposal else ""
        close(done, State.REFUSED, f"The proposal is {what} now.", was=State.WAITING)
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
    hosts.enqueue("carry_out", request.pk, name=f"request {request.public_id}")


def _look_after(request: HostRequest) -> None:
    """Checks a taken request: queues it again if its task was lost; repeats or refuses it if its worker died."""
    rows = HostRequest.objects.filter(pk=request.pk, state=State.TAKEN, worker_pid=request.worker_pid)
    if request.worker_pid is None:
        if rows.filter(taken_at__lt=Now() - HAND_OUT_AGAIN).update(taken_at=Now()):
            _hand_out(request)
    elif not process.is_alive(request.worker_pid, request.worker_started):
        if request.deed != Deed.APPLY or request.attempts >= MOST_ATTEMPTS:
            close(
                request,
                State.REFUSED,
                "Its worker was killed. Check the current state, then send a new request.",
            )
        elif rows.update(worker_pid=None, taken_at=Now()):
            _hand_out(request)


# --- Executing: a worker of the host that has the files -----------------------------------------------------------


def carry_out(pk: int) -> HostRequest | None:
    """Executes a taken request, only once even if it was queued twice. None when another worker has it."""
    me = process.current()
    claimed = HostRequest.objects.filter(pk=pk, host=hosts.host(), state=State.TAKEN, worker_pid=None)
    request = claimed.select_related("project", "proposal__project").first() if accepts() else None
    if request is None or not claimed.update(
        worker_pid=me.pid, worker_started=me.start_time, attempts=request.attempts + 1
    ):
        return None
    try:
        state, said, done = _done(request)
        report = asdict(done) if done else {}
    except (Refusal, OSError) as refused:
        state, said = State.REFUSED, str(refused)
        report = {"moved_to": refused.now} if isinstance(refused, FolderMoved) else {}
    except Exception as error:
        log.exception("request %s", request.public_id)
        state, said = State.REFUSED, f"An unexpected fault: {type(error).__name__}. The log there has more."
        report = {}
    close(request, state, said, report=report)
    request.refresh_from_db()
    return request


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
    """How the files differ from what the person saw; "" if they do not. A write interrupted by a crash was already checked."""
    if request.attempts and request.deed == Deed.APPLY:
        return ""
    if request.proposal is not None and request.deed == Deed.APPLY and request.proposal.state in OVER:
        return f"The proposal is {request.proposal.get_state_display().lower()} now."
    now = _now(request)
    changed = sorted(key for key in now.keys() | request.seen.keys() if now.get(key) != request.seen.get(key))
    if not changed:
        return ""
    names = [key.partition(" ")[2] if request.deed == Deed.APPLY else key for key in changed[:5]]
    return f"Changed since it was asked: {', '.join(names)}. Nothing was written. Check it again, then send a new request."


def _now(request: HostRequest) -> Mapping[str, str]:
    """The current values of `seen`."""
    if request.project is None:
        return {}
    if request.deed == Deed.CARDS:
        return approved_cards(request.project)
    if request.deed == Deed.APPLY and request.proposal is not None:
        return decided(request.proposal)
    return current(request.project, request.seen)


def _in_words(report: ApplyReport) -> str:
    if report.complete:
        return f"Written: {plural(len(report.applied), 'file')}." if report.applied else " ".join(report.said)
    waits = [*report.conflicts, *report.rebased]
    return report.refusal if report.error else "; ".join(f"{one.path}: {one.why}" for one in waits)


def _there(found: T | None, what: str) -> T:
    if found is None:
        raise review.ReviewRefused(f"{what} is gone.")
    return found


def _proposal(request: HostRequest) -> Proposal:
    return _there(request.proposal, "Its proposal")


def _project(request: HostRequest) -> Project:
    return _there(request.project, "Its project")


def _memory(request: HostRequest) -> Memory:
    rows = Memory.objects.filter(pk=request.given["memory"], project=request.project)
    return _there(rows.select_related("project").first(), "The memory")


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
    return f"Proposal {made.public_id} waits for a review." if made else "No memory contains a secret now."


def _purge(request: HostRequest, actor: Actor) -> str:
    project, given = _project(request), request.given
    wanted = secret_purge.ids_at(project, given["places"])
    done = secret_purge.purge(project, wanted, actor, reason=given["reason"])
    waits = [f" It is not finished: {why}" for why in done.waits]
    return "".join([f"Removed from {plural(done.texts, 'stored text')}.", *waits])


def _moment(request: HostRequest, actor: Actor) -> str:
    given, when = request.given, dt.datetime.fromisoformat(request.given["when"])
    made = hand_edits.propose_moment(_project(request), when, actor, given["paths"], reason=given["reason"])
    return (
        f"Proposal {made.public_id} waits for a review."
        if made
        else "Nothing differs from the current files."
    )


def _bring_up(request: HostRequest, actor: Actor) -> str:
    outcomes = applying.bring_up_to_date(_proposal(request)).values()
    moved = sum(outcome in ("rebased", "already-there") for outcome in outcomes)
    return f"{plural(moved, 'file')} updated to the current version on disk. Check the new result."


def _extract(request: HostRequest, actor: Actor) -> str:
    found = lifecycle.catch(_project(request), asked=True)
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
    Deed.PURGE: _purge,
    Deed.MOMENT: _moment,
    Deed.BRING_UP: _bring_up,
    Deed.CARDS: lambda request, actor: cards.submit(_project(request), actor),
    Deed.EXTRACT: _extract,
    Deed.DREAM: _dream,
    Deed.JOB: _job,
}
