"""One reading: check the disk · check the gates · read the new part of each quiet session · make cards · draft the proposal ·
apply a policy.

It takes no lock. During a dream of the project it waits: the cursors do not move, and the next tick continues. Its gates
are those of a dream about switches and money (`GATES`); time, throttle, sessions and review do not matter. The budget is
checked for one window of text, and again before each request.
"""

import datetime as dt
import functools
import logging
import os
from collections import defaultdict
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
    """The result of one reading. `closed`: why nothing was read; `stopped`: why it ended early."""

    read: list[Session] = field(default_factory=list)
    cards: list[Card] = field(default_factory=list)
    proposal: Proposal | None = None
    closed: str = ""
    stopped: str = ""


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
    news = _News(everywhere, now)
    for project in unread_parts.active(host(), now - ACTIVE).order_by("-last_session_at"):
        is_due = False
        with going_on(f"catching in {project}"):
            is_due = (
                everywhere.config(project).catching  # the cheapest first: most projects have nothing new
                and news.has(project)
                and not why_not_read(project, everywhere, now)
                and not is_dreaming(project, everywhere, now)
            )
        if is_due:
            yield project


class _News:
    """Which active projects have something new, in a fixed number of queries for all of them."""

    def __init__(self, everywhere: Everywhere, now: dt.datetime) -> None:
        self._everywhere, self._now, here = everywhere, now, (host(), now - ACTIVE)
        # By the pause after which a session is quiet, which a project may have of its own.
        self._quiet = functools.cache(
            lambda pause: {*unread_parts.with_quiet(*here, now - pause, now + pause)}
        )
        self._prompts = functools.cache(lambda pause: dict(unread_parts.last_prompts(*here, now - pause)))
        self._first = functools.cache(unread_parts.first_run)

    def has(self, project: Project) -> bool:
        pause = dt.timedelta(minutes=self._everywhere.config(project).catch_minutes)
        last = self._prompts(pause).get(project.pk)
        return (
            project.pk in self._quiet(pause)
            or bool(last and last >= unread_parts.began(project, self._first(project.host)))
            or any(at > known for at, known in self._touched(project.pk) if at <= self._now - pause)
        )

    @functools.cached_property
    def _folders(self) -> dict[int, list[str]]:
        found = defaultdict[int, list[str]](list)
        for project, path in unread_parts.folders_of_active(host(), self._now - ACTIVE):
            found[project].append(path)
        return found

    @functools.cached_property
    def _known(self) -> dict[str, dt.datetime]:
        return dict(unread_parts.touched(host(), self._now - ACTIVE))

    def _touched(self, project: int) -> Iterator[tuple[dt.datetime, dt.datetime]]:
        """(current modification time, the one at the last reading) of each transcript on disk; one directory listing."""
        for folder in self._folders.get(project, ()):
            try:
                with os.scandir(folder) as entries:
                    found = [entry for entry in entries if entry.name.endswith(".jsonl")]
            except OSError:
                continue
            for entry in found:
                with suppress(OSError, ValueError):  # deleted since it was listed, or with an impossible date
                    if entry.is_file(follow_symlinks=False):
                        at = dt.datetime.fromtimestamp(entry.stat(follow_symlinks=False).st_mtime, dt.UTC)
                        yield at, self._known.get(entry.path, LONG_AGO) + CLOCK_STEP


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
    discovery.refresh(project)
    project.refresh_from_db()
    session_end_hook.note_lately(project)
    parts = _parts(project, now, asked, session)
    fresh = [part for part in parts if part.prompts and not part.by_agent]
    try:
        found = statements.found(project, fresh, now) if fresh else statements.CatchingResult([], [])
    except EngineError as error:
        found = statements.CatchingResult([], [], str(error), failed=True)
    if found.failed:
        cache.set(_failed(project.pk), found.why, config.retry_minutes * 60)
        if not found.parts:
            return Caught(closed=found.why)
    read = [*found.parts, *(part for part in parts if part not in fresh)]
    _keep_said_again(project, found)
    made = Caught(stopped=found.why)

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


def _keep_said_again(project: Project, found: statements.CatchingResult) -> None:
    """A fault here loses what was said again, not the cards."""
    try:
        said_again.record(project, found.repeated)
    except Exception:
        log.exception("%s: what was said again is not kept", project.slug)


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
