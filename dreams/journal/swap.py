"""Putting the new files in place, and finishing once the commit record is on disk."""

from __future__ import annotations

import errno
import os
import stat as st

from dreams.safefs import SafeFsError

from .look import Seen, look, restore_mtime
from .plan import Conflict
from .records import Task
from .stage import Work
from .system import System


class Raced(Exception):
    """Somebody changed a file between the check and the swap. Nothing of theirs is lost; the plan is undone."""

    def __init__(self, conflict: Conflict) -> None:
        super().__init__(f"{conflict.path!r} {conflict.why}")
        self.conflict = conflict


def exchange(system: System, folder: int, task: Task, name: str) -> None:
    """Swap the temporary name with the file's. Afterwards the temporary name holds what the file's name held.

    Where the system has no such rename, the old inode is linked aside first. Then a foreign file that is renamed
    over the name in the instant between our second look and our rename would be lost; there is no way to close
    that gap without the exchanging rename.
    """
    if system.exchange(folder, task.temp, name):
        return
    system.link(folder, name, task.aside)
    if _inode(folder, name) != _inode(folder, task.aside):
        system.unlink(folder, task.aside)
        raise BlockingIOError(errno.EAGAIN, "the file was replaced at this moment", name)
    system.replace(folder, task.temp, name)
    system.replace(folder, task.aside, task.temp)


def _inode(folder: int, name: str) -> int:
    return os.stat(name, dir_fd=folder, follow_symlinks=False).st_ino


def swap_all(work: Work) -> dict[str, os.stat_result]:
    """Swap every file in. Returns what came out, by temporary name. Raises Raced when that was not expected."""
    came_out = {}
    for task in work.script.tasks:
        with work.root.parent(task.where) as (folder, name):
            _swap(work.system, folder, task, name)
            if task.before is not None:
                came_out[task.temp] = _verify(work.system, folder, task)
    work.sync_folders()
    return came_out


def _swap(system: System, folder: int, task: Task, name: str) -> None:
    try:
        if task.before is None:
            system.move_new(folder, task.temp, name)
        elif task.after is None:
            system.move_new(folder, name, task.temp)
        else:
            exchange(system, folder, task, name)
    except FileExistsError:
        raise _raced(task, None, "has appeared meanwhile") from None
    except (FileNotFoundError, BlockingIOError):
        raise _raced(task, None, "was removed or replaced meanwhile") from None


def _verify(system: System, folder: int, task: Task) -> os.stat_result:
    """What came out must be what the check saw: content, mode, one name."""
    out = look(system, folder, task.temp)
    if out is None:
        raise _raced(task, None, "was removed meanwhile")
    mode_changed = task.before is not None and st.S_IMODE(out.stat.st_mode) != task.before.mode
    if out.trouble or mode_changed or task.before is None or out.sha256 != task.before.sha256:
        raise _raced(task, out, out.trouble or "was changed meanwhile")
    return out.stat


def verify_still(work: Work, came_out: dict[str, os.stat_result]) -> None:
    """Last look before the commit: an editor may still write into the old file through an open handle."""
    for task in work.script.tasks:
        if task.before is None:
            continue
        with work.root.parent(task.where) as (folder, _):
            now, then = os.stat(task.temp, dir_fd=folder, follow_symlinks=False), came_out[task.temp]
        if (now.st_mtime_ns, now.st_size, now.st_ino) != (then.st_mtime_ns, then.st_size, then.st_ino):
            raise _raced(task, None, "was written to meanwhile")


def _raced(task: Task, seen: Seen | None, why: str) -> Raced:
    expected = task.before.sha256 if task.before else None
    return Raced(Conflict(task.path, expected, seen.sha256 if seen else None, why))


def finish(work: Work) -> list[str]:
    """After the commit: remove the old files, then directories, then put mtimes back. Returns what went wrong.

    Safe to repeat from any point; it is what recovery does with a committed plan.
    """
    troubles = _drop_all_old(work)
    for rel in work.script.remove_dirs:
        try:
            remove_dir(work, rel)
        except (OSError, SafeFsError) as error:
            troubles.append(f"the directory {rel!r} could not be removed: {error}")
    try:
        for rel, state in work.script.dir_states.items():
            restore_mtime(work.system, work.root, rel, state)
        work.sync_folders()
    except (OSError, SafeFsError) as error:
        troubles.append(f"a directory could not be brought to disk: {error}")
    return troubles


def _drop_all_old(work: Work) -> list[str]:
    troubles = []
    for task in work.script.tasks:
        try:
            _drop_old(work, task)
        except (OSError, SafeFsError) as error:
            troubles.append(f"{task.path!r}: {error}")
    return troubles


def _drop_old(work: Work, task: Task) -> None:
    try:
        with work.root.parent(task.where) as (folder, _):
            old = look(work.system, folder, task.temp)
            if old is None:
                return
            if task.before is None or old.sha256 != task.before.sha256:
                keep(work, task, old)
            work.system.unlink(folder, task.temp)
    except FileNotFoundError:
        return


def keep(work: Work, task: Task, seen: Seen) -> None:
    """Bytes of somebody else that lose their name: kept in the journal, and said."""
    if seen.data is None:
        raise OSError(
            errno.EBUSY, "something that is no readable file stands at our temporary name", task.temp
        )
    sha256 = work.journal.put_blob(seen.data)
    work.journal.sync_blobs()
    work.said.append(
        f"{task.path!r}: a version written at the same moment is kept in the journal as {sha256}"
    )


def remove_dir(work: Work, rel: str) -> None:
    """Remove a directory if it is empty; one that somebody uses by now stays, and that is said."""
    try:
        with work.root.parent(rel) as (folder, name):
            work.system.rmdir(folder, name)
    except FileNotFoundError:
        return
    except OSError as error:
        if error.errno not in (errno.ENOTEMPTY, errno.EEXIST):
            raise
        work.said.append(f"the directory {rel!r} is not empty and stays")
