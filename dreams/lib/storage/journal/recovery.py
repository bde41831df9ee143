"""After a crash: an interrupted plan without its commit record is undone, one with it is finished.

The rule is so simple because the commit record is written only after every file is in its place and on disk. One
exception: if every file was swapped, and somebody has since appended to one of them, the plan is finished.
Both depend only on the disk, so recovery may be killed and run again. Needs no network, no database and no model.
"""

import os
from collections.abc import Collection, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from dreams.lib.files import flush
from dreams.lib.files.safefs import Root, SafeFsError
from dreams.lib.files.text import is_there
from dreams.lib.storage.journal.plan import End, JournalDamaged, KeptTexts, ResolvedPlan, Result, Staged
from dreams.lib.storage.journal.resolving import boot_id
from dreams.lib.storage.journal.run import complete
from dreams.lib.storage.journal.store import Journal, attempts, discard, locked, sweep
from dreams.lib.storage.journal.swap import Work
from dreams.lib.storage.journal.system import System
from dreams.lib.storage.journal.undo import is_built_upon, undo

JournalState = Literal["open", "applied", "conflict", "failed", "undone", "abandoned", "damaged", "unread"]


@dataclass(frozen=True, slots=True)
class Recovered:
    """The result for one interrupted plan. `said` is for a person; "nothing" means that it still waits."""

    plan_id: str
    action: Literal["finished", "undone", "nothing"]
    files: tuple[str, ...] = ()
    said: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class JournalEntry:
    """One attempt at a plan, read from its journal; "unread": the system does not let us."""

    name: str
    plan_id: str
    state: JournalState
    made_at: str = ""
    target_dir: str = ""
    meta: dict[str, str] = field(default_factory=dict)
    result: Result | None = None
    said: tuple[str, ...] = ()


def recover(
    journal_dir: str | os.PathLike[str], system: System | None = None, wait_seconds: float = 10
) -> list[Recovered]:
    """Ends every interrupted plan; one that cannot be ended does not stop the others.

    A file that somebody changed meanwhile is not changed, which is reported. Raises JournalBusy while a plan runs.
    """
    if not Path(journal_dir).is_dir():
        return []
    found = []
    with locked(journal_dir, wait_seconds) as where:
        sweep(where)
        for path in attempts(where):
            done = _recover_one(system or System(), path)
            if done is not None:
                found.append(done)
    return found


def _recover_one(system: System, path: Path) -> Recovered | None:
    plan_id = path.name.rpartition(".")[0]
    try:
        if is_there(path / "end.json"):
            return None
        if not any(is_there(path / f"{name}.json") for name in ("record", "staged", "commit")):
            discard(path)  # it died while preparing; no memory file was changed
            return None
        with Journal(system, path) as journal:
            return _end(system, journal)
    except (OSError, SafeFsError, JournalDamaged) as error:
        why = flush.refusal(error, path) if isinstance(error, OSError) else str(error)
        remedy = f"Then run `recover` again, or give this write up: `recover --abandon {plan_id}`."
        return Recovered(plan_id, "nothing", said=(f"It cannot be ended: {why}", remedy))


def _end(system: System, journal: Journal) -> Recovered:
    resolved = journal.get("record", ResolvedPlan)
    if resolved is None:
        raise JournalDamaged("the record is gone")
    staged = journal.get("staged", Staged)
    files = tuple(task.path for task in resolved.tasks)
    try:
        root = Root.open_resolved(resolved.base)
    except OSError as error:
        error.filename = resolved.base
        raise
    with root:
        _refuse_another(resolved, root)
        work = Work(system, root, journal, resolved, staged.inodes if staged else None)
        if journal.get("commit", End) is None and is_built_upon(work):
            journal.put("commit", End("applied"))
        if journal.get("commit", End) is not None:
            result = complete(work)
            done = journal.has("end")
            return Recovered(resolved.plan_id, "finished" if done else "nothing", files, result.said)
        return _undo(work, files)


def _refuse_another(resolved: ResolvedPlan, root: Root) -> None:
    """Raises JournalDamaged unless this is the directory that was written to.

    Device numbers change at each boot, which macOS does not tell; those of network and container file systems, which
    Linux counts itself, at each mount.
    """
    device, inode = root.identity()
    is_lasting = bool(resolved.boot) and resolved.boot == boot_id() and os.major(resolved.device or 0) != 0
    if resolved.inode is None or (resolved.inode == inode and (not is_lasting or resolved.device == device)):
        return
    raise JournalDamaged(f"{resolved.base!r} is another directory now; put the one back that was written to.")


def _undo(work: Work, files: tuple[str, ...]) -> Recovered:
    troubles = undo(work)
    if troubles:
        said = (*work.said, "undoing is not complete; run recover again", *troubles)
        return Recovered(work.resolved.plan_id, "nothing", files, said)
    work.journal.put("end", End("undone", None, tuple(work.said)))
    return Recovered(work.resolved.plan_id, "undone", files, tuple(work.said))


def plan_ids(journal_dir: str | os.PathLike[str]) -> set[str]:
    """The plans with an attempt in the journal; from one listing, without opening files."""
    return {path.name.rpartition(".")[0] for path in attempts(Path(journal_dir))}


def read_journal(journal_dir: str | os.PathLike[str], plan_id: str) -> JournalEntry | None:
    """The latest attempt at one plan."""
    found = attempts(Path(journal_dir), plan_id)
    return entry_at(found[-1]) if found else None


def entry_at(path: Path) -> JournalEntry:
    """What the folder of an attempt has."""
    plan_id = path.name.rpartition(".")[0]
    try:
        with Journal(System(), path) as journal:
            resolved, end = journal.get("record", ResolvedPlan), journal.get("end", End)
            state: JournalState = end.outcome if end else "open"
    except PermissionError as error:
        return JournalEntry(path.name, plan_id, "unread", said=(str(error),))
    except (OSError, SafeFsError, JournalDamaged) as error:
        return JournalEntry(path.name, plan_id, "damaged", said=(str(error),))
    result, said = (end.result, end.said) if end else (None, ())
    if resolved is None:
        return JournalEntry(path.name, plan_id, state, result=result, said=said)
    meta = dict(resolved.meta)
    return JournalEntry(path.name, plan_id, state, resolved.made_at, resolved.target_dir, meta, result, said)


def verify_journals(journal_dir: str | os.PathLike[str]) -> tuple[int, list[str | OSError]]:
    """How many journals there are, and the damaged or missing records and texts, each with its name; the error of a journal that
    the system does not let us read."""
    troubles = list[str | OSError]()
    found = attempts(Path(journal_dir))
    for path in found:
        try:
            with Journal(System(), path) as journal:
                troubles += _verify(journal)
        except PermissionError as error:
            troubles.append(OSError(error.errno, error.strerror, str(path)))
        except (OSError, SafeFsError, JournalDamaged) as error:
            if path.exists():  # else it ended, and was discarded meanwhile
                troubles.append(f"{path.name}: {error}")
    return len(found), troubles


def _verify(journal: Journal) -> list[str]:
    resolved = journal.get("record", ResolvedPlan)
    journal.get("staged", Staged)
    journal.get("commit", End)
    journal.get("end", End)
    journal.get("kept", KeptTexts)
    named = (
        {state.sha256 for task in resolved.tasks for state in (task.before, task.after) if state}
        if resolved
        else set()
    )
    troubles = []
    for sha256 in sorted(named | {path.name for path in (journal.path / "blobs").iterdir()}):
        try:
            if not sha256.endswith(".tmp"):
                journal.blob(sha256)
        except JournalDamaged as error:
            troubles.append(str(error))
    return troubles


def texts(journal_dir: str | os.PathLike[str], plan_ids: Collection[str]) -> Iterator[tuple[str, bytes]]:
    """The sha256 and bytes of each text that ended attempts at these plans still have; without damaged ones. Raises JournalBusy,
    OSError."""
    with locked(journal_dir) as where:
        for path in attempts(where):
            is_wanted = path.name.rpartition(".")[0] in plan_ids
            # A disk may have lost the texts
            if is_wanted and is_there(path / "end.json") and is_there(path / "blobs"):
                with Journal(System(), path) as journal:
                    for name in sorted(blob.name for blob in (path / "blobs").iterdir()):
                        with suppress(SafeFsError, JournalDamaged):
                            yield name, journal.blob(name)


def forget_texts(journal_dir: str | os.PathLike[str], sha256s: Collection[str]) -> list[str]:
    """Removes the ended attempts with one of these texts; returns their names. Interrupted ones stay."""
    removed = []
    with locked(journal_dir) as where:
        for path in attempts(where):
            holds = any(is_there(path / "blobs" / sha256) for sha256 in sha256s)
            if holds and is_there(path / "end.json"):
                discard(path)
                removed.append(path.name)
    return removed


def abandon(journal_dir: str | os.PathLike[str], name: str, why: str) -> bool:
    """Abandons one interrupted attempt (if its directory is lost, say), so that it no longer blocks others. False if it ended."""
    with locked(journal_dir) as where:
        (where / name / "blobs").mkdir(mode=0o700, exist_ok=True)  # a disk may have lost it
        with Journal(System(), where / name) as journal:
            if journal.has("end"):
                return False
            journal.put("end", End("abandoned", None, (why,)))
            return True
