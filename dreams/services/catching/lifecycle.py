"""One reading: check the disk · check the gates · read the new part of each quiet session · make cards · draft the proposal ·
apply a policy.

It takes no lock. During a dream of the project it waits: the cursors do not move, and the next tick continues. Its gates
are those of a dream about switches and money (`GATES`); time, throttle, sessions and review do not matter. The budget is
checked for one window of text, and again before each request.
"""

import datetime as dt
import logging
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext, suppress
from dataclasses import dataclass, field

from django.core.cache import cache
from django.db import transaction
from django.utils import timezone

from dreams import conf
from dreams.engines.types import EngineError
from dreams.models import Card, DreamRun, Project, Proposal, Session
from dreams.services import discovery, forecast, hosts, proposals
from dreams.services.catching import card_states, cards, session_end_hook, statements, unread_parts
from dreams.services.hosts import host
from dreams.services.memories import said_again
from dreams.services.review import ReviewRefused
from dreams.services.scheduling import gates
from dreams.services.scheduling.gate_inputs import Everywhere, case_of, paid, why_closed

log = logging.getLogger(__name__)
GATES = gates.SWITCHES + gates.OF_MODELS

#: Projects without a session for longer than this are only checked by discovery.
ACTIVE = dt.timedelta(days=7)
QUEUED_TOO_LONG = dt.timedelta(minutes=5)  # a task that no worker took for this long is lost
LONG_AGO = dt.datetime(1970, 1, 1, tzinfo=dt.UTC)
CLOCK_STEP = dt.timedelta(milliseconds=1)  # rows store microseconds, file systems more digits


def why_not_read(project: Project, everywhere: Everywhere, now: dt.datetime) -> str:
    """Why sessions of this project are not read now, with the remedy; empty if they are."""
    config = everywhere.config(project)
    if not config.catching:
        return "Catching is off for this project; turn it on in its settings."
    return why_closed(
        project,
        everywhere,
        now,
        GATES,
        engine=config.catch_engine,
        spending=lambda: _spending(project, config, now),
    )


def _spending(project: Project, config: conf.Config, now: dt.datetime) -> gates.SpendingFact:
    if config.catch_engine == "rules":
        return gates.SpendingFact(free=True)
    return paid(project, config, now, forecast.of_a_window(project, config.model), "reading ten messages")


def is_dreaming(project: Project, everywhere: Everywhere, now: dt.datetime) -> bool:
    """Whether a dream is pending or running, or somebody has the lock."""
    return (
        project.dreams.filter(status__in=DreamRun.UNFINISHED).exists()
        or case_of(project, everywhere, now).facts.lock().held
    )


@dataclass(slots=True)
class Caught:
    """The result of one reading. `closed`: why nothing was read; `stopped`: why it ended early; `skipped`: what could not be
    read."""

    read: list[Session] = field(default_factory=list)
    cards: list[Card] = field(default_factory=list)
    proposal: Proposal | None = None
    closed: str = ""
    stopped: str = ""
    skipped: tuple[discovery.Skip, ...] = ()


def in_queue(project_pk: int) -> str:
    """The cache key that marks a project whose task is queued: one at a time."""
    return f"memoryweb:catching:{project_pk}"


def enqueue(project: Project) -> bool:
    """Queues the reading of a project's new sessions; False if it is already queued, or for a project of another host."""
    if project.host != host() or not cache.add(in_queue(project.pk), 1, QUEUED_TOO_LONG.total_seconds()):
        return False
    hosts.enqueue("catch", project.pk, name=f"catch {project.pk}")
    return True


def due(
    now: dt.datetime,
    everywhere: Everywhere,
    going_on: Callable[[str], AbstractContextManager[object]] = nullcontext,
) -> Iterator[Project]:
    """The projects of this host with a quiet session that was not read yet. Lists files, reads none.

    `going_on` handles an error in one project, so that the others are still checked.
    """
    found = Project.objects.in_bulk(_News(everywhere, now).projects())
    for project in sorted(found.values(), key=lambda row: row.last_session_at or LONG_AGO, reverse=True):
        is_due = False
        with going_on(f"catching in {project}"):
            is_due = not why_not_read(project, everywhere, now) and not is_dreaming(project, everywhere, now)
        if is_due:
            yield project


class _News:
    """Which active projects have something new, in a fixed number of queries: most have nothing, and their rows are not read."""

    def __init__(self, everywhere: Everywhere, now: dt.datetime) -> None:
        self._everywhere, self._now, self._here = everywhere, now, (host(), now - ACTIVE)
        own = everywhere.overrides.by_project.keys()
        #: After which pause a session is quiet, for projects with settings of their own and (None) all others; where catching is on.
        self._pauses = {
            key: dt.timedelta(minutes=config.catch_minutes)
            for key in (None, *own)
            if (config := everywhere.config_of(key)).catching
        }

    def projects(self) -> set[int]:
        found = set[int]()
        if not self._pauses or not unread_parts.active(*self._here).exists():
            return found
        for pause in {*self._pauses.values()}:
            before = self._now - pause
            quiet = unread_parts.with_quiet(*self._here, before, self._now + pause)
            typed = unread_parts.with_prompts(*self._here, before)
            found.update(one for one in (*quiet, *typed) if self._pause(one) == pause)
        return found.union(self._touched(found))

    def _pause(self, project: int) -> dt.timedelta | None:
        return self._pauses.get(project if project in self._everywhere.overrides.by_project else None)

    def _touched(self, without: set[int]) -> Iterator[int]:
        """Those with a quiet transcript on disk that is newer than its last reading; one directory listing each."""
        folders = unread_parts.folders_of_active(*self._here)
        known = dict(unread_parts.touched(*self._here)) if folders else {}
        for project, folder in folders:
            pause = self._pause(project)
            if pause is not None and project not in without:
                before = self._now - pause
                if any(
                    known.get(path, LONG_AGO) + CLOCK_STEP < at <= before for path, at in _transcripts(folder)
                ):
                    yield project


def _transcripts(folder: str) -> Iterator[tuple[str, dt.datetime]]:
    """The path of each transcript on disk, and its modification time."""
    try:
        with os.scandir(folder) as entries:
            found = [entry for entry in entries if entry.name.endswith(".jsonl")]
    except (OSError, ValueError):
        return
    for entry in found:
        with suppress(OSError, ValueError):  # deleted since it was listed, or with an impossible date
            if entry.is_file(follow_symlinks=False):
                yield (
                    entry.path,
                    dt.datetime.fromtimestamp(entry.stat(follow_symlinks=False).st_mtime, dt.UTC),
                )


def catch(
    project: Project,
    now: dt.datetime | None = None,
    *,
    asked: bool = False,
    session: Session | None = None,
) -> Caught:
    """Reads the new parts of the project's quiet sessions and stores what the person asked for as cards.

    `asked`: a person wants it now, quiet or not and however old; `session`: only this one, from its first byte.
    """
    now = now or timezone.now()
    everywhere = Everywhere.load()
    why = why_not_read(project, everywhere, now)
    config = everywhere.config(project)
    if not why and not asked and config.catch_engine != "rules":
        why = cache.get(_failed(project.pk), "")  # retried after a while, or at once by a person
    if not why and is_dreaming(project, everywhere, now):
        why = "A dream is running here; this waits until it ends."
    if why:
        return Caught(closed=why)
    skipped = discovery.refresh(project)
    project.refresh_from_db()
    session_end_hook.note_lately(project)
    parts = _parts(project, now, asked, session)
    fresh = [part for part in parts if part.prompts and not part.by_agent]
    try:
        found = statements.found(project, fresh, now) if fresh else statements.CatchingResult([], [])
    except ReviewRefused as refused:
        return Caught(closed=str(refused))
    except EngineError as error:
        found = statements.CatchingResult([], [], str(error), failed=True)
    if found.failed:
        cache.set(_failed(project.pk), found.why, config.retry_minutes * 60)
        if not found.parts:
            return Caught(closed=found.why)
    read = [*found.parts, *(part for part in parts if part not in fresh)]
    # A fault here loses what was said again, not the cards.
    try:
        said_again.record(project, found.repeated)
    except Exception:
        log.exception("%s: what was said again is not kept", project.slug)
    made = Caught(stopped=found.why, skipped=skipped)

    def keep() -> None:
        moved = {part.session.pk for part in unread_parts.move(read, now)}
        made.read = [part.session for part in read if part.session.pk in moved]
        made.cards = cards.create(
            project, [one for one in found.statements if moved.issuperset(one.sessions)]
        )
        card_states.outdate(card for card in found.taken_back if card.session_id in moved)

    made.proposal = _kept(project, keep, changed=bool(found.statements or found.taken_back))
    made.cards = list(Card.objects.filter(pk__in=[card.pk for card in made.cards]))
    return made


def _kept(project: Project, keep: Callable[[], None], *, changed: bool) -> Proposal | None:
    """Keeps what was read together with the proposal that lists it; while that is being submitted, new cards wait to be listed."""
    try:
        listed = cards.refresh(project, decide=keep) if changed else None
    except ReviewRefused:
        changed = False
    if changed:
        cards.remember_by_policy(project)
        return listed
    with transaction.atomic():
        keep()
    return proposals.open_with_origin(project, Proposal.Origin.CAUGHT)


def _failed(project_pk: int) -> str:
    return f"memoryweb:catching-failed:{project_pk}"


def _parts(
    project: Project, now: dt.datetime, asked: bool, session: Session | None
) -> Sequence[unread_parts.UnreadPart]:
    if session is not None:
        session.refresh_from_db()
        return unread_parts.parts([session], None, again=True)
    rows = project.sessions.all()
    if asked:
        return unread_parts.parts([*unread_parts.unread(rows), *unread_parts.unread_prompts(rows, now)], None)
    began, pause = unread_parts.began(project), dt.timedelta(minutes=conf.current(project).catch_minutes)
    quiet = unread_parts.quiet(rows, now - pause, now + pause)
    return unread_parts.parts([*quiet, *unread_parts.unread_prompts(rows, now - pause, began)], began)
