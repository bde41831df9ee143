"""Watches files: a change makes memoryweb read its project at once instead of at the next check.

Nothing relies on it. If a folder cannot be watched, an event is lost or the watcher ends, the change is read at the next
check. Linux needs one watch for each subfolder, from a number that all programs of a person share, hence the limit; network
file systems do not report changes made on other machines. One thread; while nothing changes it wakes twice a second and
asks the database once a minute for the folders, as an agent creates its folder at first use.
"""

import logging
import os
import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import psutil
from django.core.cache import cache
from django.db import DatabaseError, connections
from django.db.models import Q

from dreams import conf
from dreams.lib.files.text import is_folder
from dreams.models import Project, TranscriptFolder
from dreams.services.discovery.run import LAST_LOOK, configured_roots, refresh
from dreams.services.hosts import host

log = logging.getLogger(__name__)

#: A session that is being written changes every second: its project is read at most once in this time.
PACE_SECONDS = 60.0
#: Combines a burst of changes into one, and limits how long `stop` takes.
_STEP_MS, _MOST_MS, _WAKE_MS = 500, 2_000, 1_000
_MOST_PLACES = 200  # changed at the same time; more are read at the next check
_KINDS = (".jsonl", ".md")
_DEEPEST = 4
#: The agent's folders below a root that contain sessions and memories.
_WATCHED = ("projects", "agent-memory")
#: Folders below one root; the limit per person is 8,192 on small machines, and editors use it too. Counted in about 0.1 s.
MOST_FOLDERS = 4_000
_OF_OTHER_MACHINES = (
    "nfs",
    "cifs",
    "smb",
    "afs",
    "9p",
    "ncp",
    "ceph",
    "glusterfs",
    "lustre",
    "davfs",
    "webdav",
    "fuse",
    "macfuse",
    "virtiofs",
    "drvfs",
    "vboxsf",
)

Tell = Callable[[list[str]], object]


@dataclass(frozen=True, slots=True)
class Watchable:
    """A folder to watch; `why_not` is empty if it can be watched."""

    path: Path
    why_not: str = ""


def judge(folders: Iterable[Path]) -> list[Watchable]:
    """Which of the existing folders can be watched, in their order. For a link, its target is checked."""
    # (mount point, type) of each file system; innermost first.
    found = [(one.mountpoint, one.fstype.lower()) for one in psutil.disk_partitions(all=True)]
    mounts = sorted(found, key=lambda one: len(one[0]), reverse=True)
    there = dict.fromkeys(folder for folder in folders if is_folder(folder))
    return [Watchable(folder, _why_not(Path(os.path.realpath(folder)), mounts)) for folder in there]


def _why_not(folder: Path, mounts: Sequence[tuple[str, str]]) -> str:
    kind = next((kind for mount, kind in mounts if folder.is_relative_to(mount)), "")
    if kind.startswith(_OF_OTHER_MACHINES):
        return f"it is on a network or user file system ({kind})"
    return f"it holds more than {MOST_FOLDERS:,} folders" if has_more_folders(folder) else ""


def has_more_folders(folder: Path) -> bool:
    number = 0
    for _, inner, _ in os.walk(folder):
        number += len(inner)
        if number > MOST_FOLDERS:
            return True
    return False


def plan() -> list[Watchable]:
    """The folders to watch, including those that are too large or on a network file system."""
    return judge(_folders())


def _folders() -> list[Path]:
    named = (root / name for root in configured_roots() for name in _WATCHED)
    return [folder for folder in named if is_folder(folder)]


def _wanted() -> list[Path]:
    try:
        return _folders() if conf.current().watch else []
    finally:
        connections.close_all()


class Watcher:
    """Calls `tell` with the folders of changed files, at most once in `pace` seconds. Can be stopped at any time."""

    def __init__(self, tell: Tell, *, pace: float = PACE_SECONDS, again: float = PACE_SECONDS) -> None:
        self._tell, self._pace, self._again = tell, pace, again
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._guarded, name="watcher", daemon=True)
        self.watched: list[Path] = []
        #: Set when watching has started, has failed, or has nothing to watch.
        self.begun = threading.Event()

    def start(self) -> None:
        self._thread.start()

    def tell_to_stop(self) -> None:
        self._stop.set()

    def stop(self, seconds: float = 5.0) -> None:
        """Waits until it has ended: a thread inside the watching library must not be killed there."""
        self.tell_to_stop()
        if self._thread.is_alive():
            self._thread.join(seconds)

    def _guarded(self) -> None:
        try:
            self._watch()
        except Exception as error:  # the system's limit of watches, a deleted folder
            log.info("changes are no longer watched for: %s", error)
        finally:
            self.begun.set()
            connections.close_all()

    def _watch(self) -> None:
        while not self._stop.is_set():
            try:
                folders = _wanted()
                self.watched = [one.path for one in judge(folders) if not one.why_not]
                if self.watched:
                    self._watch_while(folders)
                    continue
            except DatabaseError as error:  # its server is away for a while
                log.info("changes are not watched for a moment: %s", error)
                connections.close_all()
            self.begun.set()
            self._stop.wait(self._again)

    def _watch_while(self, folders: list[Path]) -> None:
        """Watches these folders until the folders to watch change."""
        from watchfiles import Change, watch  # noqa: PLC0415 - only this thread of one process needs it

        waiting: set[str] = set()
        told_at, asked_at, added = -self._pace, time.monotonic(), 0
        for changes in watch(
            *self.watched,
            watch_filter=None,
            debounce=_MOST_MS,
            step=_STEP_MS,
            stop_event=self._stop,
            rust_timeout=_WAKE_MS,
            yield_on_timeout=True,
            raise_interrupt=False,
            force_polling=False,
            ignore_permission_denied=True,
        ):
            self.begun.set()
            # Files created in a new folder right away cause no event, so the new folder itself counts as a change.
            new = {path for kind, path in changes if kind is Change.added and Path(path).is_dir()}
            added += len(new)
            if added > MOST_FOLDERS:
                return
            waiting |= new | {str(Path(path).parent) for _, path in changes if path.endswith(_KINDS)}
            if waiting and time.monotonic() - told_at >= self._pace:
                self._tell(sorted(waiting)[:_MOST_PLACES])
                connections.close_all()
                waiting, told_at = set(), time.monotonic()
            if time.monotonic() - asked_at >= self._again:
                if _wanted() != folders:
                    return
                asked_at = time.monotonic()


def read_changed(folders: Iterable[str]) -> list[Project]:
    """Reads what changed in these folders; returns the projects that were read.

    For a folder of no known project, the next tick looks for new projects.
    """
    if not conf.current().watch:
        return []
    here = Q(project__host=host(), project__gone_at__isnull=True)
    places = dict(Project.objects.filter(host=host(), gone_at__isnull=True).values_list("memory_dir", "pk"))
    places |= dict(TranscriptFolder.objects.filter(here, gone_at__isnull=True).values_list("path", "project"))
    found: set[int] = set()
    for folder in folders:
        owner = _owner(Path(folder), places)
        if owner is None:
            cache.delete(LAST_LOOK)
        else:
            found.add(owner)
    projects = list(Project.objects.filter(pk__in=found))
    for project in projects:
        refresh(project)
    return projects


def _owner(folder: Path, places: Mapping[str, int]) -> int | None:
    """The project whose folder this is, or is in: sub-agents and topics have nested folders, a few deep."""
    for path in dict.fromkeys((folder, Path(os.path.realpath(folder)))):
        for near in (path, *path.parents[:_DEEPEST]):
            if str(near) in places:
                return places[str(near)]
    return None
