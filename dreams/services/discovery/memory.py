"""Imports changed memory directories into the database and the history, and reads each project's state."""

import datetime as dt
import logging
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from django.db import transaction
from django.db.models import OuterRef, Subquery
from django.utils import timezone

from dreams.lib import locks, memdir, stopwatch
from dreams.lib.agents.base import NOT_MARKDOWN, AgentSettings, FoundMemory
from dreams.lib.files import safefs, text, workspace
from dreams.lib.files.workspace import Snapshot, SnapshotFile
from dreams.lib.secrets.redact import redact
from dreams.lib.storage.history import HistoryStore
from dreams.lib.timestamps import from_ns
from dreams.models import LockHold, Memory, Project, Proposal, Version
from dreams.services import blobs, database
from dreams.services.discovery.places import KnownProject
from dreams.services.discovery.rows import Tally
from dreams.services.memories import syncing
from dreams.services.scheduling import gates
from dreams.services.search import index

log = logging.getLogger(__name__)

Numbers = dict[str, tuple[int, int, int]]
Files = Mapping[str, SnapshotFile]
# Bytes read from new or changed directories before they are written.
DIRECTORIES_AT_ONCE = 50
BYTES_AT_ONCE = 32 << 20
_STATE = ["agent_settings", "mode", "last_consolidated_at", "left_alone"]


def refresh_all(places: list[KnownProject], host: str, tally: Tally) -> None:
    """One query for all projects; only a directory whose sizes or times differ is read."""
    known: dict[int, Numbers] = {}
    rows = Memory.objects.filter(project__host=host, gone_at__isnull=True)
    if len(places) == 1:
        rows = rows.filter(project=places[0].project)
    unread: dict[int, list[str]] = {}
    for project, path, why, *seen in rows.values_list(
        "project_id", "path", "unread", "size", "mtime_ns", "inode"
    ):
        known.setdefault(project, {})[path] = seen[0], seen[1], seen[2]
        if why:
            unread.setdefault(project, []).append(path)
    looks = [
        _look(place, known.get(place.project.pk, {}), unread.get(place.project.pk, ()), tally)
        for place in places
    ]
    _sync([look for look in looks if look.stale], tally)
    changed = list[Project]()
    for look in looks:
        with _passed_over(look.place, tally):
            if look.found is not None and _describe(look.place, look.found, look.unread):
                changed.append(look.place.project)
    Project.objects.bulk_update(changed, _STATE, batch_size=200)


@dataclass(slots=True)
class _Look:
    """The listing of one memory directory; `found` is None if it could not be listed. `stale`: files differ from their rows;
    `rows`: paths with a row; `unread`: names that are not read, with the reason."""

    place: KnownProject
    rows: Set[str]
    found: list[FoundMemory] | None = None
    stale: bool = False
    unread: dict[str, str] = field(default_factory=dict)


def _look(place: KnownProject, known: Numbers, unread: Iterable[str], tally: Tally) -> _Look:
    look = _Look(place, known.keys())
    with _passed_over(place, tally):
        found = []
        for entry in place.source.memories(place.project.memory_dir):
            if isinstance(entry, FoundMemory):
                found.append(entry)
            else:
                tally.pass_over(entry)
                if entry.path == place.project.memory_dir and not found:
                    return look
                if entry.reason != NOT_MARKDOWN:
                    look.unread[entry.path.removeprefix(f"{place.project.memory_dir}/")] = entry.reason
        tally.memories += sum(map(_is_topic, found))
        now = {e.path: (e.size, e.mtime_ns, e.inode) for e in found if syncing.is_memory(e.path)}
        for path in unread:
            # A right that comes back changes neither size nor time, so the file is opened; the others are not read for it.
            if why := look.unread.get(path) or _why_unread(place, path):
                now[path] = known[path]
                look.unread[path] = why
                tally.skip(f"{place.project.memory_dir}/{path}", why)
            else:
                now[path] = -1, -1, -1
        look.found, look.stale = found, now != known
    return look


def _why_unread(place: KnownProject, path: str) -> str:
    """Why the file still cannot be read; "" if it can, or is gone."""
    try:
        with safefs.Root.open(syncing.memory_dir(place.project)) as root:
            root.read_bytes(path, limit=workspace.MAX_FILE_BYTES)
    except FileNotFoundError:
        return ""
    except (OSError, safefs.SafeFsError) as error:
        return safefs.reason(error)
    return ""


def _sync(stale: Sequence[_Look], tally: Tally) -> None:
    """Reads changed directories, several at a time: the histories of new ones are flushed to disk together."""
    waiting: dict[int, tuple[_Look, Snapshot]] = {}
    size = 0
    for look in stale:
        with _passed_over(look.place, tally):
            snapshot = workspace.take(syncing.memory_dir(look.place.project))
            waiting[look.place.project.pk] = look, snapshot
            size += sum(len(file.data) for file in snapshot.files.values())
        if len(waiting) >= DIRECTORIES_AT_ONCE or size >= BYTES_AT_ONCE:
            _write(waiting, tally)
            waiting, size = {}, 0
    _write(waiting, tally)


def _write(waiting: dict[int, tuple[_Look, Snapshot]], tally: Tally) -> None:
    saved = set[int]()
    try:
        saved = _save_new((look.place.project, shot) for look, shot in waiting.values())
    except Exception as error:
        log.warning("first looks: %s", error)  # each one is now tried separately, and reports its error
    for pk, (look, snapshot) in waiting.items():
        with _passed_over(look.place, tally):
            found = {file.path: file for file in look.found or ()}
            for path in sorted(found.keys() & snapshot.skipped.keys()):
                # It was already counted if it was read before.
                tally.memories -= path not in look.rows and _is_topic(found[path])
                tally.skip(f"{look.place.project.memory_dir}/{path}", snapshot.skipped[path])
                look.unread[text.storable(path)] = snapshot.skipped[path]
            if pk not in saved:
                syncing.sync(look.place.project, snapshot)


def _save_new(found: Iterable[tuple[Project, Snapshot]]) -> set[int]:
    """Save histories, then rows, of projects that have neither yet, in few transactions and disk flushes; returns the ids of
    those that have both now.

    `syncing.sync` handles all others and reports errors. Raises the same errors as it.
    """
    looks = {project.pk: (project, snapshot.files) for project, snapshot in found if snapshot.files}
    known = {pk for model in (Memory, Proposal) for pk in _with_any(model, looks)}
    for pk in known:
        del looks[pk]
    begun = _histories(looks.values())
    for some in _together((project, files) for project, files in looks.values() if project.pk in begun):
        begun -= _rows(some)
    return begun


def _with_any(model: type[Memory | Proposal], projects: Iterable[int]) -> set[int]:
    rows = model.objects.filter(project__in=list(projects)).order_by()
    return set(rows.values_list("project", flat=True).distinct())


@stopwatch.part("history")
def _histories(looks: Iterable[tuple[Project, Files]]) -> set[int]:
    """Begin the missing histories; returns the ids of their projects."""
    new = {path.name: look for look in looks if not (path := syncing.history_path(look[0])).exists()}
    states = {
        name: syncing.history_state(project, files, syncing.Cause(), first_look=True)
        for name, (project, files) in new.items()
    }
    made = HistoryStore.begin(syncing.history_folder(), states) if states else set()
    return {new[name][0].pk for name in made}


def _together(looks: Iterable[tuple[Project, Files]]) -> Iterator[dict[Project, Files]]:
    """Batches for one transaction each: larger ones would block SQLite's only writer for seconds."""
    some: dict[Project, Files] = {}
    for project, files in looks:
        some[project] = files
        if sum(map(len, some.values())) >= syncing.ROWS_AT_ONCE:
            yield some
            some = {}
    if some:
        yield some


def _rows(looks: dict[Project, Files]) -> set[int]:
    """Add rows and bytes; returns the ids of projects to which another process added rows meanwhile."""
    now = timezone.now()
    found = [(syncing.new_row(project, file), file) for project, file in _memories(looks)]
    with transaction.atomic():
        for pk in sorted(project.pk for project in looks):
            database.one_at_a_time(f"memories of {pk}")
        late = _with_any(Memory, [project.pk for project in looks])
        new = [(row, file) for row, file in found if row.project_id not in late]
        blobs.put_many(file.data for _, file in new)
        rows = Memory.objects.bulk_create([row for row, _ in new])
        syncing.add_versions(rows, syncing.Cause(), now, first_look=True)
        with stopwatch.part("search"):
            index.add({file.sha256: file.data for _, file in new})
    return late


def _memories(looks: Mapping[Project, Files]) -> Iterator[tuple[Project, SnapshotFile]]:
    for project, files in looks.items():
        for path, file in files.items():
            if syncing.is_memory(path):
                yield project, file


@contextmanager
def _passed_over(place: KnownProject, tally: Tally) -> Iterator[None]:
    """One bad project never stops the others."""
    try:
        yield
    except Exception as error:
        # A disk error, or a lock file that a person has to remove, is not our bug: no traceback.
        log.warning(
            "memories of %s: %s", place.project.memory_dir, error, exc_info=not isinstance(error, OSError)
        )
        said = text.one_line(str(error))[:200] or type(error).__name__
        tally.skip(place.project.memory_dir, f"its memories could not be read: {said}")


def _is_topic(entry: FoundMemory) -> bool:
    """Whether it is a memory: not an index or a log."""
    return entry.kind in ("topic", "team") and not memdir.is_index(entry.path)


def _describe(place: KnownProject, found: Sequence[FoundMemory], unread: Mapping[str, str]) -> bool:
    project = place.project
    settings = place.source.settings(place.home)
    logs_written = any(entry.kind == "log" for entry in found)
    topics = {entry.path for entry in found if entry.kind == "topic"}
    mode = gates.detect_mode(
        "1" if settings.remote.value else None,
        logs_written=logs_written,
        topic_files=len(topics - _distilled(project)) if logs_written and topics else len(topics),
    )
    wanted = (
        as_json(settings),
        "" if mode is gates.Mode.NORMAL else mode.value,
        _consolidated(project),
        # No file is opened by these names, so they are stored without secrets.
        [[redact(name), why] for name, why in sorted(unread.items())[: Project.MOST_LEFT_ALONE]],
    )
    if tuple(getattr(project, name) for name in _STATE) == wanted:
        return False
    for name, value in zip(_STATE, wanted, strict=True):
        setattr(project, name, value)
    return True


def _distilled(project: Project) -> set[str]:
    """Files first written by one of our dreams, which do not count as topic files of an agent in daily-log mode."""
    first = Version.objects.filter(memory=OuterRef("pk")).order_by("number", "pk").values("origin")
    rows = project.memories.filter(gone_at__isnull=True).annotate(first=Subquery(first[:1]))
    return set(rows.filter(first=Version.Origin.APPLY).values_list("path", flat=True))


def as_json(settings: AgentSettings) -> dict[str, bool | int | str | None]:
    """The agent's switches as stored in `Project.agent_settings`: each value and its source."""
    return {
        "auto_memory": settings.auto_memory.value,
        "auto_memory_source": _source(settings.auto_memory.source),
        "auto_dream": settings.auto_dream.value,
        "auto_dream_source": _source(settings.auto_dream.source),
        "cleanup_days": settings.cleanup_days.value,
        "cleanup_days_source": _source(settings.cleanup_days.source),
    }


def _source(source: str) -> str:
    return "the default" if source == "default" else source


def _consolidated(project: Project) -> dt.datetime | None:
    """The lock file's mtime, or its mtime before we took the lock. If there is no directory yet, the stored time is kept."""
    folder = Path(project.memory_dir)
    found = locks.last_consolidated_ns(folder)
    if found is None:
        return None if folder.exists() else project.last_consolidated_at
    seen = from_ns(found)
    return seen if seen == project.last_consolidated_at else _before_our_hold(project, seen)


def _before_our_hold(project: Project, seen: dt.datetime | None) -> dt.datetime | None:
    """While we have the lock, its mtime only shows that we are alive: a dream counts when it is completed. The record of a hold
    that ended while the database was away says nothing."""
    held = LockHold.objects.filter(project=project).only("pid", "prior_mtime_ns").first()
    if held is None or locks.status(project.memory_dir, timezone.now()).pid != held.pid:
        return seen
    return None if held.prior_mtime_ns is None else from_ns(held.prior_mtime_ns)
