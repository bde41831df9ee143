"""Finds and keeps texts that somebody wrote during an apply and that have no place in the directory; returned once.

There are two kinds: texts found while files were swapped, and texts written to a replaced file afterwards, through a
handle opened before. For the second, replaced files are kept for a while.
"""

import os
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from dreams.lib.files.safefs import SafeFsError, held
from dreams.lib.files.text import is_there
from dreams.lib.storage.journal.plan import JournalDamaged, Kept, KeptTexts, ResolvedPlan
from dreams.lib.storage.journal.resolving import seen_file
from dreams.lib.storage.journal.store import Journal, attempts, locked
from dreams.lib.storage.journal.system import Patience, StillOpen, System, nobody_writes

# Seconds. Other processes need milliseconds between finding a file and opening it; a day is for those that we cannot
# inspect, and for handles that are never closed.
LOOK_AGAIN = 60
AT_MOST = 24 * 3600


@dataclass(frozen=True, slots=True)
class Late:
    """One text, with its attempt, its file (the path in the plan), and the plan's notes."""

    attempt: str
    path: str
    sha256: str
    data: bytes
    meta: dict[str, str]


def collect_late(
    journal_dir: str | os.PathLike[str], system: System | None = None, wait_seconds: float = 10
) -> list[Late]:
    """Checks replaced files again, removes those that nobody can write to any more, and returns every waiting text.

    A text is returned until `handed_over`. Raises JournalBusy if a plan runs for longer than `wait_seconds`.
    """
    if not Path(journal_dir).is_dir():
        return []
    found: list[Late] = []
    with locked(journal_dir, wait_seconds) as where:
        for path in attempts(where):
            with suppress(OSError, SafeFsError, JournalDamaged):
                if is_there(path / "old") or is_there(path / "kept.json"):
                    with Journal(system or System(), path) as journal:
                        found += _of(journal)
    return found


def handed_over(journal_dir: str | os.PathLike[str], late: Late) -> None:
    """Records that the text is a version now, so that it is not returned again."""
    with locked(journal_dir) as where, Journal(System(), where / late.attempt) as journal:
        kept = journal.get("kept", KeptTexts)
        rest = tuple(one for one in (kept.texts if kept else ()) if one != Kept(late.path, late.sha256))
        if rest:
            journal.put("kept", KeptTexts(rest))
        else:
            journal.drop("kept")


def _of(journal: Journal) -> Iterator[Late]:
    resolved = journal.get("record", ResolvedPlan)
    if resolved is None:
        return
    if (journal.path / "old").exists():
        _look_at_all(journal, {task.temp: task.path for task in resolved.tasks})
    kept = journal.get("kept", KeptTexts)
    for one in kept.texts if kept else ():
        yield Late(journal.path.name, one.path, one.sha256, journal.blob(one.sha256), dict(resolved.meta))


def _look_at_all(journal: Journal, paths: dict[str, str]) -> None:
    with held(journal.old_folder()) as folder:
        age = time.time() - os.fstat(folder).st_mtime
        for name in sorted(one.name for one in (journal.path / "old").iterdir()):
            path = next((path for temp, path in paths.items() if name.startswith(f"{temp}.")), None)
            if path is not None:
                _look_at(journal, folder, name, path, age)
    with suppress(OSError):
        (journal.path / "old").rmdir()


def _look_at(journal: Journal, folder: int, name: str, path: str, age: float) -> None:
    _keep_what_is_new(journal, folder, name, path)
    if age < LOOK_AGAIN:
        return
    if age >= AT_MOST:
        journal.system.unlink(folder, name)
        return
    with (
        suppress(StillOpen),
        nobody_writes(journal.system, folder, name, Patience(journal.system, share=0)) as leased,
    ):
        if leased:
            _keep_what_is_new(journal, folder, name, path)
            journal.system.unlink(folder, name)


def _keep_what_is_new(journal: Journal, folder: int, name: str, path: str) -> None:
    seen = seen_file(journal.system, folder, name)
    if seen is not None and seen.data is not None and not journal.knows(seen.sha256 or ""):
        journal.keep(path, seen.data)
