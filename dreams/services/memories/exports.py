"""Exports a project's history to one file and imports it, for another machine or after the data directory was lost.

What is brought back comes first, and what was kept here meanwhile follows it, so that nothing is lost on either side.
The memory directory itself is not touched: versions come back, and `restore` brings one of them to its place.
"""

import datetime as dt
import itertools
import secrets
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from django.db import transaction
from django.db.models import Q

from dreams.lib.files import flush
from dreams.lib.refusal import Refusal
from dreams.lib.storage import history
from dreams.lib.storage.history import HistoryStore
from dreams.models import Memory, Project, Purge, Version
from dreams.services import auditlog, blobs, lookup, project_lock
from dreams.services.memories import syncing
from dreams.services.review import Actor

#: The trailer that says which memory directory a state is of.
DIRECTORY = "Directory"
#: Commits in memory at a time.
PAGE = 200
REPLACED = ".replaced"


class NotBroughtBack(Refusal):
    """An export cannot be brought back; the message says why and what to do. Nothing was changed."""


@dataclass(frozen=True, slots=True)
class BroughtBack:
    """How many states and versions came back into which project."""

    project: Project
    states: int
    versions: int


def write(project: Project, target: Path) -> None:
    """Everything kept of `project` into the file `target`. Raises history.HistoryError, OSError."""
    syncing.refresh_if_here(project)
    with syncing.open_history(project) as store:
        store.export(target)


def bring_back(file: Path, reviewer: Actor, project: Project | None = None) -> BroughtBack:
    """Bring the export `file` back into `project`, or into the one that it was made of.

    Raises NotBroughtBack, holds.ProjectBusy.
    """
    aside = syncing.history_folder() / f".import-{secrets.token_hex(8)}"
    try:
        with _opened(aside, file) as brought:
            found = project or _project_of(brought, file)
            with project_lock.hold(found, "import", keep_dir_mtime=True) as held:
                syncing.refresh(found)
                states = _join(found, brought, aside)
                versions = _tell(found, reviewer)
                held.release_keeping_clock()
    except history.HistoryError as error:
        raise NotBroughtBack(str(error)) from error
    except OSError as error:
        place = file if error.filename == str(file) else syncing.history_folder()
        raise NotBroughtBack(f"Nothing was brought back: {flush.refusal(error, place)}") from error
    finally:
        shutil.rmtree(aside, ignore_errors=True)
    return BroughtBack(found, states, versions)


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
    except (lookup.Unknown, lookup.Ambiguous) as error:
        raise NotBroughtBack(
            f"{file} is of {directory}, which is no project here. Run discover, or name one with --project."
        ) from error


def _join(project: Project, brought: HistoryStore, aside: Path) -> int:
    """The states of `brought`, then those of ours that it does not have, take the history's place in one rename."""
    place = syncing.history_path(project)
    count = sum(1 for _ in _states(brought))
    if place.exists():
        with HistoryStore(place) as ours:
            _copy_texts(ours, brought)
            known = {commit.id for commit in _states(brought)}
            _replay([commit for commit in _states(ours) if commit.id not in known], ours, brought)
    _purge_again(brought)
    if problems := brought.verify():
        raise NotBroughtBack(f"It is damaged ({problems[0].what}), so nothing was changed.")
    brought.close()
    _take_its_place(aside, place)
    return count


def _take_its_place(aside: Path, place: Path) -> None:
    """Two renames, between which a crash leaves the old one under another name: `recover` puts it back."""
    old = place.with_name(f".{place.name}{REPLACED}")
    if place.exists():
        place.rename(old)
    aside.rename(place)
    shutil.rmtree(old, ignore_errors=True)


def recover() -> list[str]:
    """Put a history back whose replacement a crash interrupted; what was done, a line each."""
    said = []
    for old in syncing.history_folder().glob(f".*{REPLACED}"):
        place = old.with_name(old.name.removeprefix(".").removesuffix(REPLACED))
        if place.exists():
            shutil.rmtree(old, ignore_errors=True)
        else:
            old.rename(place)
            said.append(f"{place.name}: restored, because an import of it was interrupted.")
    return said


def _purge_again(brought: HistoryStore) -> None:
    """An export made before a purge still holds the secret: it must not come back with it."""
    for made in Purge.objects.all():
        kept = blobs.get_many(made.replaced.values())
        instead = {old: kept[new] for old, new in made.replaced.items() if new in kept and brought.has(old)}
        if instead:
            brought.purge(list(instead), "A secret", made.actor or "owner", made.at, instead)


def _replay(states: list[history.Commit], ours: HistoryStore, brought: HistoryStore) -> None:
    """Oldest first. A state that equals the one before it makes no new one."""
    for commit in reversed(states):
        manifest = ours.restore_manifest(commit.id)
        files = {path: ours.read(entry.sha256) for path, entry in manifest.items() if entry.sha256}
        metas = {path: entry.meta for path, entry in manifest.items() if entry.meta}
        brought.commit(history.State(files, metas, commit.subject, commit.trailers, commit.at, commit.author))


def _copy_texts(ours: HistoryStore, brought: HistoryStore) -> None:
    """Texts put aside beside the states (evidence, edits) come along."""
    waiting = [sha for sha in ours.texts() if not brought.has(sha)]
    for start in range(0, len(waiting), PAGE):
        brought.put_many([ours.read(sha) for sha in waiting[start : start + PAGE]])


def _states(store: HistoryStore) -> Iterator[history.Commit]:
    """Newest first."""
    for offset in itertools.count(step=PAGE):
        page = store.log(PAGE, offset)
        yield from page
        if len(page) < PAGE:
            return


def _tell(project: Project, reviewer: Actor) -> int:
    """Rows for every version that the joined history has and the database has not; how many."""
    with syncing.open_history(project) as store, transaction.atomic():
        made = 0
        before: dict[str, str] = {}
        for commit in reversed(list(_states(store))):
            after = store.tree_at(commit.id)
            after = {path: sha for path, sha in after.items() if syncing.is_memory(path)}
            for path in sorted(before.keys() | after.keys()):
                if before.get(path) != after.get(path):
                    made += _version(
                        project, store, path, after.get(path, ""), commit, is_first_look=not before
                    )
            before = after
        auditlog.record("history.imported", actor=reviewer, project=project, versions=made)
    return made


def _version(
    project: Project, store: HistoryStore, path: str, sha: str, commit: history.Commit, *, is_first_look: bool
) -> int:
    """1 when the version is new to the database. Git keeps whole seconds, so a row may differ by less than one; and what
    a first look finds has the time of its file."""
    memory, is_new = Memory.objects.get_or_create(
        project=project,
        path=path,
        defaults={"kind": syncing.kind_of(path), "gone_at": commit.at, "sha256": sha},
    )
    near = (commit.at - dt.timedelta(seconds=2), commit.at + dt.timedelta(seconds=2))
    known = Q(at__range=near)
    if is_first_look:
        known |= Q(origin=Version.Origin.FOUND, at__lte=commit.at)
    if not is_new and memory.versions.filter(known, sha256=sha).exists():
        return 0
    data = store.read(sha) if sha else b""
    if sha:
        blobs.put(data)
    origin = commit.trailers.get("Origin", "")
    Version.objects.create(
        memory=memory,
        sha256=sha,
        size=len(data),
        at=commit.at,
        origin=origin if origin in Version.Origin.values else Version.Origin.OUTSIDE,
        actor="" if commit.author == "memoryweb" else commit.author[:150],
    )
    return 1
