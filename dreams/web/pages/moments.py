"""A memory directory at one moment, and one file of it."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from django.utils import timezone

from dreams import conf
from dreams.lib import diff, memdir
from dreams.lib.files import text
from dreams.lib.secrets.masking import Mask
from dreams.lib.storage import history
from dreams.models import Memory, Project, Version
from dreams.services.memories import time_travel
from dreams.web.pages import budget
from dreams.web.pages.memory import Body, body_of
from dreams.web.pages.project import READING_ORDER
from dreams.web.pages.sight import Sight
from dreams.web.pages.versions import ORIGINS
from dreams.web.paging import Listed, page_of

PAGE_SIZE = 60
INDEX = "MEMORY.md"


@dataclass(frozen=True, slots=True)
class FileThen:
    """One file as it was then; `since` says what became of it: "", changed or gone. `is_found`: `at` is its file's own time."""

    pk: int
    path: str
    kind: str
    version: int
    size: int
    at: dt.datetime
    what: str
    icon: str
    tone: str
    who: str
    proposal: str
    since: str
    is_found: bool


@dataclass(frozen=True, slots=True)
class Step:
    """A neighbouring change, as a link."""

    at: dt.datetime
    iso: str


@dataclass(frozen=True, slots=True)
class Loaded:
    """The index as an agent would have had it at its start."""

    budget: budget.Budget
    text: str
    warning: str


@dataclass(frozen=True, slots=True)
class Directory:
    """`since`: it was so from that change on. `first_look`: before it, only the files' own times are known."""

    when: dt.datetime
    iso: str
    files: Listed[FileThen]
    since: Step | None
    previous: Step | None
    next: Step | None
    first_look: dt.datetime
    is_now: bool
    loaded: Loaded | None
    newer: int

    @property
    def is_before_look(self) -> bool:
        return self.when < self.first_look


@dataclass(frozen=True, slots=True)
class Reading:
    """One file's text as it was then."""

    file: FileThen
    body: Body
    sight: Sight


def iso(moment: dt.datetime) -> str:
    """As addresses carry it: to the microsecond, so that a change's own moment is on the right side of it."""
    return moment.astimezone(dt.UTC).isoformat().replace("+00:00", "Z")


def moment_of(typed: str) -> dt.datetime | None:
    """What was typed or linked; without an offset it is in the page's zone.

    A day, a minute or a second means its end: a change within it has happened. None where it is no moment.
    """
    given = typed.strip()[:40]
    try:
        found = dt.datetime.fromisoformat(given)
    except ValueError:
        return None
    try:
        if found.tzinfo is None:
            return timezone.make_aware(found + _rest_of(given))
        return found.astimezone(dt.UTC)
    except (OverflowError, ValueError):
        return None


def _rest_of(given: str) -> dt.timedelta:
    """From the beginning of the unit that was typed to its end."""
    units = {10: dt.timedelta(days=1), 16: dt.timedelta(minutes=1), 19: dt.timedelta(seconds=1)}
    unit = units.get(len(given))
    return unit - dt.timedelta(microseconds=1) if unit else dt.timedelta()


def directory(project: Project, when: dt.datetime, number: str | None = None) -> Directory:
    since = time_travel.last_change(project, when)
    after = time_travel.change_after(project, when)
    rows = time_travel.memories_at(project, when)
    page = page_of(rows.order_by(READING_ORDER, "path"), number, PAGE_SIZE)
    now = project.memories.filter(gone_at__isnull=True).count()
    return Directory(
        when=when,
        iso=iso(when),
        files=Listed(_files(list(page.object_list)), page),
        since=_step(since),
        previous=_step(time_travel.change_before(project, since) if since else None),
        next=_step(after),
        first_look=project.first_seen_at,
        is_now=after is None,
        loaded=_loaded(project, when),
        newer=now - rows.filter(gone_at__isnull=True).count(),
    )


def _step(at: dt.datetime | None) -> Step | None:
    return None if at is None else Step(at, iso(at))


def _files(rows: Sequence[time_travel.MemoryThen]) -> list[FileThen]:
    pks = [row.then for row in rows]
    versions = Version.objects.select_related("proposal").in_bulk(pks)
    return [_file(row, versions[pk]) for row, pk in zip(rows, pks, strict=True)]


def _file(row: time_travel.MemoryThen, version: Version) -> FileThen:
    icon, tone, what = ORIGINS[Version.Origin(version.origin)]
    changed = "" if row.sha256 == version.sha256 else "changed"
    return FileThen(
        pk=row.pk,
        path=row.path,
        kind=row.kind,
        version=version.pk,
        size=version.size,
        at=version.at,
        what=what,
        icon=icon,
        tone=tone,
        who=version.actor,
        proposal=version.proposal.public_id if version.proposal else "",
        since="gone" if row.gone_at else changed,
        is_found=version.origin == Version.Origin.FOUND,
    )


def _loaded(project: Project, when: dt.datetime) -> Loaded | None:
    row = time_travel.memories_at(project, when).filter(path=INDEX).first()
    data = _bytes(project, row.then_sha) if row else None
    if data is None:
        return None
    config = conf.current(project)
    found = memdir.loaded(data, max_lines=config.index_max_lines, max_bytes=config.index_max_bytes)
    return Loaded(
        budget.of_index(data, config), diff.visible(Mask.of([found.text])(found.text)), found.warning
    )


def reading(
    project: Project, when: dt.datetime, path: str, is_bare: Callable[[Memory], bool]
) -> Reading | None:
    """None where no such file stood there then, or its bytes are not kept."""
    row = time_travel.memories_at(project, when).filter(path=path).first()
    if row is None:
        return None
    data = _bytes(project, row.then_sha)
    if data is None:
        return None
    sight = Sight.of([text.decode(data)], is_bare=is_bare(row))
    return Reading(_files([row])[0], body_of(sight.mask.bytes(data)), sight)


def _bytes(project: Project, sha: str) -> bytes | None:
    """From the rows, else from the history; None where they are kept nowhere."""
    try:
        return time_travel.bytes_of(project, [sha])[sha]
    except (history.HistoryError, OSError):
        return None
