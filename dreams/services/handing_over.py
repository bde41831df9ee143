"""Hand-over notes by a model: requested by a person, written by the queue or in the foreground, and cancellable.

A request is a row, claimed once by a conditional update. Terminal states do not change. If a limit or the model's server ends
a request, the written sections are kept; if it is cancelled, nothing is.
"""

import datetime as dt
import logging
import time
from dataclasses import dataclass, field

from django.db import IntegrityError, transaction
from django.db.models import Q, QuerySet
from django.utils import timezone

from dreams import conf
from dreams.engines.handover import model, rules
from dreams.engines.types import Cancelled, EngineError
from dreams.lib.files.text import plural
from dreams.lib.refusal import Refusal
from dreams.models import ModelRequest, NotesRequest, Project, Session, SessionNotes
from dreams.models.prepared import prepared
from dreams.services import forecast, hosts, pricing, project_lock, session_notes
from dreams.services.hosts import host
from dreams.services.scheduling import gates
from dreams.services.scheduling.gate_inputs import Everywhere, paid, why_closed

log = logging.getLogger(__name__)

#: As the agent's own notes: least tokens, least new tokens, and least tool calls unless the session ends with text.
TOKENS_TO_ASK, TOKENS_TO_ASK_AGAIN = 10_000, 5_000
CALLS_TO_ASK_AGAIN = 3
LOOK_SECONDS, BEAT_SECONDS = 1.0, 10.0
#: Ten missed beats: the worker is gone.
LOST = dt.timedelta(seconds=100)
NOT_TAKEN = dt.timedelta(minutes=30)  # in the queue, after which its task is lost; chosen
INTERRUPTED = "It was interrupted before it finished. Ask again."


class NotAsked(Refusal):
    """The model cannot be asked now; the message says why, and what to do."""


class TooLittle(NotAsked):
    """The session is short, or little of it is new; a person may still ask."""


def request(session: Session, actor: str, *, force: bool = False) -> NotesRequest:
    """Create a pending request. `force`: even if the session is short or little is new.

    Raises NotAsked, TooLittle, session_notes.NotReadable, project_lock.ProjectElsewhere.
    """
    project_lock.refuse_elsewhere(session.project)
    now = timezone.now()
    if why := closed(session, now):
        raise NotAsked(why)
    found, _ = session_notes.drafted(session)
    if not force and (why := too_little(session, found)):
        raise TooLittle(why)
    repair(now)
    try:
        with transaction.atomic():
            return NotesRequest.objects.create(
                session=session,
                model=conf.current(session.project).model[:100],
                asked_by=actor,
                asked_at=now,
                session_tokens=found.tokens,
                session_calls=found.calls,
            )
    except IntegrityError:
        raise NotAsked(
            "A model is already writing notes on this session. Wait for it, or cancel it."
        ) from None


def enqueue(asked: NotesRequest) -> None:
    """Queue a pending request on this host; its task may be delivered twice, and is claimed once."""
    hosts.enqueue("write_notes", asked.pk, name=f"notes {asked.pk}")


def closed(session: Session, now: dt.datetime) -> str:
    """Why no model can be asked, by the engine and budget gates; "" if it can."""
    project, everywhere = session.project, Everywhere.load()
    config = everywhere.config(project)
    estimate = forecast.of_notes(session, config.model)
    return why_closed(
        project,
        everywhere,
        now,
        gates.OF_MODELS,
        engine="anthropic",
        spending=lambda: paid(project, config, now, estimate, "writing the notes"),
    )


def too_little(session: Session, found: rules.ReadTranscript) -> str:
    """Why the session is too short for a model, or has too little new in it; "" if it has enough."""
    last = session.notes_requests.filter(status=NotesRequest.Status.DONE).first()
    if last is None:
        if found.tokens >= TOKENS_TO_ASK:
            return ""
        return (
            f"The session has about {found.tokens:,} tokens; a model is only asked from {TOKENS_TO_ASK:,}. Notes by "
            "rules need no model."
        )
    new, calls = found.tokens - last.session_tokens, found.calls - last.session_calls
    if new < TOKENS_TO_ASK_AGAIN:
        return (
            f"About {max(0, new):,} tokens are new since a model wrote notes; it is asked again after "
            f"{TOKENS_TO_ASK_AGAIN:,}."
        )
    if calls < CALLS_TO_ASK_AGAIN and not found.ends_in_words:
        return f"Since a model wrote notes the agent called {plural(calls, 'tool')} and has not finished. Ask again later."
    return ""


def cancel(asked: NotesRequest) -> bool:
    """Cancel a request: a waiting one at once, a running one within a second. False if it was over."""
    now = timezone.now()
    rows = NotesRequest.objects.filter(pk=asked.pk)
    return bool(
        rows.filter(status=NotesRequest.Status.PENDING).update(
            status=NotesRequest.Status.CANCELLED, ended_at=now
        )
        or rows.filter(status=NotesRequest.Status.RUNNING).update(cancel_asked_at=now)
    )


def repair(now: dt.datetime) -> int:
    """End requests of this host whose worker died, or that no queue took. Returns how many."""
    rows = NotesRequest.objects.filter(pk__in=[pk for pk, place in _unfinished() if place == host()])
    lost = Q(status=NotesRequest.Status.RUNNING, seen_at__lt=now - LOST)
    left = Q(status=NotesRequest.Status.PENDING, asked_at__lt=now - NOT_TAKEN)
    return rows.filter(lost | left).update(status=NotesRequest.Status.FAILED, ended_at=now, error=INTERRUPTED)


@prepared
def _unfinished() -> QuerySet[NotesRequest, tuple[int, str]]:
    """With their hosts: a query for those of one host would pass all its sessions."""
    rows = NotesRequest.objects.filter(status__in=NotesRequest.UNFINISHED)
    return rows.values_list("pk", "session__project__host")


def run(asked_pk: int) -> NotesRequest | None:
    """Write the notes of a pending request; None if it was claimed or cancelled meanwhile."""
    now = timezone.now()
    taken = NotesRequest.objects.filter(pk=asked_pk, status=NotesRequest.Status.PENDING).update(
        status=NotesRequest.Status.RUNNING, started_at=now, seen_at=now
    )
    if not taken:
        return None
    asked = NotesRequest.objects.select_related("session__project").get(pk=asked_pk)
    writing = _Writing(asked)
    try:
        writing.write()
    except Cancelled:
        _end(asked, NotesRequest.Status.CANCELLED, writing)
    except (EngineError, session_notes.NotReadable) as error:
        _end(asked, NotesRequest.Status.FAILED, writing, str(error))
    except BaseException:
        log.exception("hand-over notes of %s", asked.session)
        _end(asked, NotesRequest.Status.FAILED, writing, INTERRUPTED)
        raise
    else:
        _end(asked, NotesRequest.Status.DONE, writing)
    asked.refresh_from_db()
    return asked


def _end(asked: NotesRequest, status: NotesRequest.Status, writing: "_Writing", error: str = "") -> None:
    NotesRequest.objects.filter(pk=asked.pk, status=NotesRequest.Status.RUNNING).update(
        status=status, ended_at=timezone.now(), error=error, cost_usd=writing.meter.cost
    )


@dataclass(slots=True)
class _Writing:
    """A running request."""

    asked: NotesRequest
    meter: pricing.Meter = field(init=False)
    written: dict[str, str] = field(default_factory=dict)
    _looked: float = 0.0
    _beat: float = 0.0

    def __post_init__(self) -> None:
        self.meter = pricing.Meter(self.project, ModelRequest.Purpose.HANDOVER)

    @property
    def project(self) -> Project:
        return self.asked.session.project

    def write(self) -> None:
        """Raises Cancelled, EngineError, session_notes.NotReadable."""
        session, config = self.asked.session, conf.current(self.project)
        found, by_rules = session_notes.drafted(session)
        window = pricing.PriceBook.load().limits(config.model).context_window
        material = model.material(found, by_rules, model.conversation_room(window))
        try:
            with self.meter, model.line(config, pricing.table(), self.meter, self._watch) as line:
                model.write(line.talk, material, self.written, self._tell)
        except EngineError:
            self._keep(by_rules, found)
            raise
        self._keep(by_rules, found)

    def _keep(self, by_rules: dict[str, str], found: rules.ReadTranscript) -> None:
        if self.written:
            bodies = model.joined(by_rules, self.written)
            session_notes.keep_bodies(self.asked.session, SessionNotes.Origin.MODEL, bodies, found)

    def _tell(self, sections: int) -> None:
        NotesRequest.objects.filter(pk=self.asked.pk).update(sections=sections)
        self._look(time.monotonic())

    def _watch(self) -> None:
        now = time.monotonic()
        if now - self._looked >= LOOK_SECONDS:
            self._look(now)

    def _look(self, now: float) -> None:
        """Renew the heartbeat and check for a cancel. Raises Cancelled."""
        self._looked = now
        rows = NotesRequest.objects.filter(
            pk=self.asked.pk, status=NotesRequest.Status.RUNNING, cancel_asked_at=None
        )
        if now - self._beat >= BEAT_SECONDS:
            self._beat = now
            going_on = bool(rows.update(seen_at=timezone.now()))
        else:
            going_on = rows.exists()
        if not going_on:
            raise Cancelled
