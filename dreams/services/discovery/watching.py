"""Watches files: a change makes memoryweb read its project early, instead of at the next check.

Nothing relies on it. A folder that cannot be watched, a hint that is lost and a watcher that ends cost only the wait for the
next check. A watch of Linux is one for each folder below, of a number that all programs of a person share, hence the bound;
file systems of other machines tell nothing of what is changed there. One thread; while nothing changes it wakes twice a second
and asks the database once a minute which folders there are: an agent makes its own when it is first used.
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
from django.db import connections
from django.db.models import Q

from dreams import conf
from dreams.lib.files.text import is_folder
from dreams.models import Project, TranscriptFolder
from dreams.services.discovery.run import LAST_LOOK, configured_roots, refresh
from dreams.services.hosts import host

log = logging.getLogger(__name__)

#: A session that is being written changes every second: its project is looked at once in so long.
PACE_SECONDS = 60.0
#: Cuts a burst of changes into one, and bounds how long `stop` takes.
_STEP_MS, _MOST_MS, _WAKE_MS = 500, 2_000, 1_000
_MOST_PLACES = 200  # changed at once; more are left to the next check
_KINDS = (".jsonl", ".md")
_DEEPEST = 4
#: Folders of the agent below a root that hold sessions and memories.
_WATCHED = ("projects", "agent-memory")
#: Folders below one root; a person's limit is 8,192 on small machines, and editors take of it too. Counted in about 0.1 s.
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
)

Tell = Callable[[list[str]], object]


@dataclass(frozen=True, slots=True)
class Watchable:
    """`why_not` is empty for a folder that can be watched."""

    path: Path
    why_not: str = ""


def judge(folders: Iterable[Path]) -> list[Watchable]:
    """Of those that exist, in their order. A link is followed: the folder that it leads to is judged."""
    mounts = _mounts()
    there = dict.fromkeys(folder for folder in folders if is_folder(folder))
    return [Watchable(folder, _why_not(Path(os.path.realpath(folder)), mounts)) for folder in there]


def _why_not(folder: Path, mounts: Sequence[tuple[str, str]]) -> str:
    kind = next((kind for mount, kind in mounts if folder.is_relative_to(mount)), "")
    if kind.startswith(_OF_OTHER_MACHINES):
        return f"it is on a network or user file system ({kind})"
    return f"it holds more than {MOST_FOLDERS:,} folders" if has_more_folders(folder) else ""


def _mounts() -> list[tuple[str, str]]:
    """Where each file system is mounted, and its kind; the innermost first."""
    found = [(one.mountpoint, one.fstype.lower()) for one in psutil.disk_partitions(all=True)]
    return sorted(found, key=lambda one: len(one[0]), reverse=True)


def has_more_folders(folder: Path) -> bool:
    number = 0
    for _, inner, _ in os.walk(folder):
        number += len(inner)
        if number > MOST_FOLDERS:
            return True
    return False


def plan() -> list[Watchable]:
    """The folders to watch, and those that are too large or too far away for it."""
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
    """Calls `tell` with the folders of changed files, at most once in `pace` seconds. It may be stopped at any time."""

    def __init__(self, tell: Tell, *, pace: float = PACE_SECONDS, again: float = PACE_SECONDS) -> None:
        self._tell, self._pace, self._again = tell, pace, again
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._guarded, name="watcher", daemon=True)
        self.watched: list[Path] = []
        #: Set once changes are seen, or none ever will be.
        self.begun = threading.Event()

    def start(self) -> None:
        self._thread.start()

    def tell_to_stop(self) -> None:
        self._stop.set()

    def stop(self, seconds: float = 5.0) -> None:
        """Wait until it has ended: a thread that is in the watching library must not be cut off there."""
        self.tell_to_stop()
        if self._thread.is_alive():
            self._thread.join(seconds)

    def _guarded(self) -> None:
        try:
            self._watch()
        except Exception as error:  # the system's own limit of watches, a folder that is taken away
            log.info("changes are no longer watched for: %s", error)
        finally:
            self.begun.set()
            connections.close_all()

    def _watch(self) -> None:
        while not self._stop.is_set():
            folders = _wanted()
            self.watched = [one.path for one in judge(folders) if not one.why_not]
            if self.watched:
                self._watch_while(folders)
            else:
                self.begun.set()
                self._stop.wait(self._again)

    def _watch_while(self, folders: list[Path]) -> None:
        """Until these are no longer the ones to watch."""
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
            # What is put into a new folder at once is not seen, so the folder itself is a change.
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


def look(folders: Iterable[str]) -> list[Project]:
    """Read what changed in these folders; returns the projects that were looked at.

    A folder of no project that is known makes the next tick look for new ones.
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
    """The project whose folder this is, or is in: sub-agents and topics have folders of their own, a few deep."""
    for path in dict.fromkeys((folder, Path(os.path.realpath(folder)))):
        for near in (path, *path.parents[:_DEEPEST]):
            if str(near) in places:
                return places[str(near)]
    return None
