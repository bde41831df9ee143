"""Exports a project's history to one file and imports it, for another machine or after the data directory was lost.

The imported states come first, followed by those saved here meanwhile, so that nothing is lost on either side. The
memory directory is not changed: only versions are imported, and `restore` writes one of them to the directory.
"""

import datetime as dt
import logging
import secrets
import shutil
from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from django.db import transaction
from django.utils import timezone

from dreams.lib import process, progress
from dreams.lib.files import flush, text
from dreams.lib.refusal import Ambiguous, Refusal
from dreams.lib.storage import history
from dreams.lib.storage.history import HistoryStore, ManifestEntry
from dreams.models import Blob, Memory, Project, Version
from dreams.services import auditlog, blobs, database, lookup, project_lock, secret_purge
from dreams.services.memories import syncing, time_travel
from dreams.services.review import Actor
from dreams.services.secret_purge import carried

log = logging.getLogger(__name__)
#: The trailer with the memory directory of a state.
DIRECTORY = "Directory"
#: How many changes or texts are in memory at a time.
PAGE = 200
#: What an import corrects in a version that was only found here.
RENEWED = ("number", "size", "mode", "mtime_ns", "at", "origin", "actor", "indexed")
#: The copy that an import works in, with its process: `.import-PID-START-…`.
COPY = ".import-"


class NotBroughtBack(Refusal):
    """An export cannot be imported; the message says why and what to do. Nothing was changed."""


@dataclass(frozen=True, slots=True)
class BroughtBack:
    """The project of an import, how many states and versions were imported, and from how many texts that were stored here a
    secret was removed, as it was purged before the export was made."""

    project: Project
    states: int
    versions: int
    purged: int


def refresh_if_possible(project: Project) -> None:
    """What is kept is listed and exported even if the folder cannot be read now."""
    try:
        syncing.refresh_if_here(project)
    except OSError as error:
        log.warning("%s is as last seen: %s", project, flush.refusal(error, project.memory_dir))


def write(project: Project, target: Path) -> None:
    """Export the history of `project` to the file `target`, even if its folder cannot be read now. Raises history.HistoryError,
    OSError."""
    refresh_if_possible(project)
    store = time_travel.history_if_there(project)
    if store is None:
        raise history.HistoryError(f"{project} has no versions yet; there is nothing to export")
    with store:
        carried.note(project, store)
        store.export(target)


def bring_back(
    file: Path, reviewer: Actor, project: Project | None = None, *, purge: bool = False
) -> BroughtBack:
    """Import the export `file` into `project`, or into the project that it was made from. What was purged here is not imported, and
    with `purge` what was purged before the file was made is purged here, too.

    Raises NotBroughtBack, also where a secret that was purged is still here, and project_lock.ProjectBusy.
    """
    aside = syncing.history_folder() / f"{COPY}{process.mark()}-{secrets.token_hex(8)}"
    try:
        with _opened(aside, file) as brought:
            found = project or _project_of(brought, file)
            with project_lock.hold(found, "import", keep_dir_mtime=True) as held:
                syncing.refresh(found)
                states, purged = _join(found, brought, aside, reviewer if purge else None)
                versions = _tell(found, reviewer)
                held.release_keeping_clock()
    except history.HistoryError as error:
        raise NotBroughtBack(str(error)) from error
    except OSError as error:
        place = file if error.filename == str(file) else syncing.history_folder()
        raise NotBroughtBack(f"Nothing was brought back: {flush.refusal(error, place)}") from error
    finally:
        for made in (aside, _in_place_of_none(aside)):
            shutil.rmtree(made, ignore_errors=True)
    if purged:
        secret_purge.resume()  # of a lost history, which is there now
    return BroughtBack(found, states, versions, purged)


def _in_place_of_none(aside: Path) -> Path:
    return aside.with_name(f"{aside.name}-none")


def _ours(project: Project, aside: Path) -> HistoryStore:
    """Its history. A lost one counts as empty, but is not begun anew: where the import fails, that would hide the loss."""
    kept = time_travel.history_if_there(project)
    return kept or HistoryStore.open_or_create(_in_place_of_none(aside))


def _opened(aside: Path, file: Path) -> HistoryStore:
    aside.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    return HistoryStore.import_bundle(aside, file)


def _project_of(brought: HistoryStore, file: Path) -> Project:
    newest = brought.log(1)
    directory = newest[0].trailers.get(DIRECTORY, "") if newest else ""
    if not directory:
        raise NotBroughtBack(f"{file} does not say which project it belongs to. Name one with --project.")
    try:
        return lookup.project(directory)
    except (lookup.Unknown, Ambiguous) as error:
        raise NotBroughtBack(
            f"{file} is of {directory}, which is no project here. Run discover, or name one with --project."
        ) from error


def _join(project: Project, brought: HistoryStore, aside: Path, purger: Actor | None) -> tuple[int, int]:
    """Add our missing states to `brought` and replace the history with it; returns how many states it had before, and from how
    many texts here a secret was removed: for good, so only if `purger` wants it."""
    place = syncing.history_path(project)
    count = sum(1 for _ in brought.states())
    with _ours(project, aside) as ours:
        gone = _purged(project, ours, brought)
    try:
        reason = "Purged elsewhere, as an import shows."
        purged = secret_purge.purge_also_here(project, gone.secrets, purger, reason)
    except secret_purge.PurgeRefused as refused:
        why = "Nothing was brought back: a secret that was purged before this export was made is still here."
        raise NotBroughtBack(f"{why} {refused} Then import again.") from refused
    # What another process saved here meanwhile would be lost with the history that is replaced.
    with _ours(project, aside) as ours, ours.left_alone():
        # Copies texts that are not part of a state (evidence, edits).
        waiting = [sha for sha in ours.texts() if not brought.has(sha)]
        for start in range(0, len(waiting), PAGE):
            brought.put_many([ours.read(sha) for sha in waiting[start : start + PAGE]])
        _purge_again(brought, gone)  # a purged state has another id, and shall be known by it
        known = {commit.id for commit in brought.states()}
        _replay([commit for commit in ours.states() if commit.id not in known], ours, brought)
        _purge_again(brought, gone)
        brought.note_purged(ours.purged())
        if problems := brought.verify():
            raise NotBroughtBack(f"It is damaged ({problems[0].what}), so nothing was changed.")
        brought.close()
        if ours.path == place:
            _take_its_place(aside, place)
        else:
            aside.rename(place)  # which fails where one was begun since
    return count, purged


def _take_its_place(aside: Path, place: Path) -> None:
    """Two renames. After a crash between them, the next use or `recover` renames the old history back."""
    old = syncing.replaced(place)
    place.rename(old)
    aside.rename(place)
    shutil.rmtree(old, ignore_errors=True)


def recover() -> list[str]:
    """Restore histories whose replacement a crash interrupted, and remove the copies of killed imports, which may have a
    secret that was purged since. Returns a line for each history."""
    said = []
    for old in syncing.history_folder().glob(f".*{syncing.REPLACED}"):
        place = old.with_name(old.name.removeprefix(".").removesuffix(syncing.REPLACED))
        if syncing.restore_replaced(place):
            said.append(f"{place.name}: restored, because an import of it was interrupted.")
        elif place.exists():
            shutil.rmtree(old, ignore_errors=True)
    for copy in syncing.history_folder().glob(f"*{COPY}*-*-*"):  # one that is being filled has a longer name
        if not process.is_marked_alive(copy.name.partition(COPY)[2]):
            shutil.rmtree(copy, ignore_errors=True)
    return said


@dataclass(frozen=True, slots=True)
class _Purged:
    """Secrets (value → rule), and texts with the one in their place (by sha256), that shall not be imported."""

    secrets: Mapping[str, str]
    texts: Mapping[str, bytes]


def _purged(project: Project, ours: HistoryStore, brought: HistoryStore) -> _Purged:
    """What was purged here or before the export was made, so far as either history still has it. A purge in another project
    counts for what is not here: of a copy of its memories."""
    own = carried.note(project, ours)
    every = blobs.instead_of_purged(project)
    texts = {old: new for old, new in every.items() if brought.has(old) and (old in own or not ours.has(old))}
    return _Purged(carried.secrets_purged(project, ours, brought, texts), texts)


def _purge_again(brought: HistoryStore, gone: _Purged) -> None:
    """An export made before a purge still contains the secrets."""
    texts = {old: new for old, new in gone.texts.items() if brought.has(old)}
    instead = texts | carried.holding(brought, gone.secrets)
    if instead:
        brought.purge(list(instead), "A secret", "owner", timezone.now(), instead)
        carried.add(brought, instead)


def _replay(states: list[history.Commit], ours: HistoryStore, brought: HistoryStore) -> None:
    """Commits our states to `brought`, oldest first. A state equal to the one before it makes no commit."""
    for commit in reversed(states):
        manifest = ours.restore_manifest(commit.id)
        files = {path: ours.read(entry.sha256) for path, entry in manifest.items() if entry.sha256}
        metas = {path: entry.meta for path, entry in manifest.items() if entry.meta}
        brought.commit(history.State(files, metas, commit.subject, commit.trailers, commit.at, commit.author))


@dataclass(frozen=True, slots=True)
class _Change:
    """What a state has of a memory and the one before it had not; no `entry`: the file was removed."""

    path: str
    entry: ManifestEntry | None
    commit: history.Commit
    is_first_look: bool

    @property
    def sha256(self) -> str:
        return (self.entry.sha256 or "") if self.entry else ""

    def version(self, memory: int, number: int, size: int) -> Version:
        """As the history tells it. One from a first look has its file's time."""
        at, origin, author = self.commit.at, self.commit.trailers.get("Origin", ""), self.commit.author
        made = Version(memory_id=memory, number=number, sha256=self.sha256, size=size, at=at, origin=origin)
        made.actor = "" if author == "memoryweb" else text.storable(author, 150)
        if meta := self.entry and self.entry.meta:
            made.mode, made.mtime_ns = meta.mode, meta.mtime_ns
        if self.is_first_look:
            made.origin = Version.Origin.FOUND
            made.at = min(at, dt.datetime.fromtimestamp(meta.mtime_ns / 1e9, dt.UTC)) if meta else at
        elif origin not in Version.Origin.values:
            made.origin = Version.Origin.OUTSIDE
        return made

    def known(self, rows: Sequence[Version], told: Container[int]) -> Version | None:
        """Its row. Git has whole seconds only, so times may differ; and what a first look found has its file's time."""
        same = [row for row in rows if row.sha256 == self.sha256]
        near = (row for row in same if abs(row.at - self.commit.at) <= dt.timedelta(seconds=2))
        found = (row for row in same if self.is_after(row) and row.pk and row.pk not in told)
        return next(near, None) or next(found, None)

    def is_after(self, row: Version) -> bool:
        """Whether `row` was already there, by its file's time."""
        return row.origin == Version.Origin.FOUND and row.at <= self.commit.at


@dataclass(frozen=True, slots=True)
class _Told:
    """What an import has told: the last version's number of each memory, and the rows."""

    numbers: dict[int, int] = field(default_factory=dict)
    rows: set[int] = field(default_factory=set)


def _tell(project: Project, reviewer: Actor) -> int:
    """Add a row for every version in the joined history that the database lacks; returns how many. After a crash, the next
    import adds the rest."""
    with syncing.open_history(project) as store, progress.finishing("Importing versions"):
        told, made = _Told(), 0
        for some in database.in_parts(list(_changes(store)), PAGE, "Importing versions"):
            made += _tell_some(project, store, some, told)
        time_travel.bring_back_texts(project, store)
        auditlog.record("history.imported", actor=reviewer, project=project, versions=made)
    return made


def _changes(store: HistoryStore) -> Iterator[_Change]:
    before: dict[str, str] = {}
    for commit in reversed(list(store.states())):
        entries = store.restore_manifest(commit.id)
        after = {path: it.sha256 for path, it in entries.items() if it.sha256 and syncing.is_memory(path)}
        for path in sorted(before.keys() | after.keys()):
            if before.get(path) != after.get(path):
                yield _Change(path, entries.get(path), commit, is_first_look=not before)
        before = after


def _tell_some(project: Project, store: HistoryStore, some: Sequence[_Change], told: _Told) -> int:
    """In one short transaction, with the texts read before it."""
    shas = {change.sha256 for change in some if change.sha256}
    sizes = {"": 0, **dict(Blob.objects.filter(sha256__in=shas).values_list("sha256", "size"))}
    texts = {sha: store.read(sha) for sha in shas - sizes.keys()}
    sizes |= {sha: len(data) for sha, data in texts.items()}
    with transaction.atomic():
        memories, rows = _rows(project, some)
        was = {row.pk: row.number for kept in rows.values() for row in kept}
        states = (_state(it, pk := memories[it.path], rows[pk], sizes[it.sha256], told) for it in some)
        written = [row for row in states if row]
        new = [row for row in written if not row.pk]
        fresh = {row.pk for row in written}
        saved = [
            row for kept in rows.values() for row in kept if row.pk in fresh or was[row.pk] != row.number
        ]
        blobs.put_many(texts[sha] for sha in {row.sha256 for row in written} & texts.keys())
        Version.objects.bulk_create(saved, update_conflicts=True, unique_fields=["id"], update_fields=RENEWED)
    told.rows.update(row.pk for row in new)
    return len(new)


def _rows(project: Project, some: Sequence[_Change]) -> tuple[dict[str, int], dict[int, list[Version]]]:
    """The memories by path, made where they are missing, and the versions of each in their order."""
    first = {change.path: change for change in reversed(some)}
    made = [
        Memory(project=project, path=path, kind=syncing.kind_of(path), gone_at=it.commit.at, sha256=it.sha256)
        for path, it in first.items()
    ]
    Memory.objects.bulk_create(made, ignore_conflicts=True)
    memories = dict(project.memories.filter(path__in=first).values_list("path", "pk"))
    rows: dict[int, list[Version]] = {pk: [] for pk in memories.values()}
    for row in Version.objects.filter(memory__in=rows).order_by("number"):
        rows[row.memory_id].append(row)
    return memories, rows


def _state(change: _Change, memory: int, rows: list[Version], size: int, told: _Told) -> Version | None:
    """The version to save, put among `rows`, where later numbers rise; None if one of them is it."""
    row = change.known(rows, told.rows)
    last = told.numbers.get(memory) or max((it.number for it in rows if change.is_after(it)), default=0)
    is_told = row and (not row.pk or row.pk in told.rows)
    is_kept = is_told or (row and (row.origin != Version.Origin.FOUND or change.is_first_look))
    if row and row.pk:
        told.rows.add(row.pk)
    if row and is_kept:
        told.numbers[memory] = max(row.number, last)
        return None
    # New here, or only found here, where the history knows how it came to be.
    told.numbers[memory] = last + 1
    made = change.version(memory, last + 1, size)
    if row:
        made.pk, made.indexed = row.pk, False
        rows.remove(row)
    for it in rows:
        it.number += it.number > last
    rows.append(made)
    rows.sort(key=lambda it: it.number)
    return made
