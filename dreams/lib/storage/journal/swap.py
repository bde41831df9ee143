"""Writes temporary files next to the files they will replace, swaps them, and finishes once the commit record is on
disk."""

import errno
import os
import secrets
import stat as st
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import partial

from dreams.lib import progress
from dreams.lib.files.safefs import Root, SafeFsError, held
from dreams.lib.storage.journal.plan import Conflict, FileState, ResolvedPlan, Staged, Task
from dreams.lib.storage.journal.resolving import SeenFile, Texts, Who, restore_mtime, seen_file, who
from dreams.lib.storage.journal.store import Journal
from dreams.lib.storage.journal.system import Patience, StillOpen, System, nobody_writes


@dataclass(slots=True)
class Work:
    """One resolved plan in progress."""

    system: System
    root: Root
    journal: Journal
    resolved: ResolvedPlan
    inodes: Mapping[str, int] | None = None
    said: list[str] = field(default_factory=list)
    mended: set[str] = field(default_factory=set)

    def texts(self, task: Task) -> Texts:
        """From the journal. Raises JournalDamaged."""
        old, new = (self.journal.blob(one.sha256) if one else None for one in (task.before, task.after))
        return Texts(old, new)

    def who(self, task: Task, seen: SeenFile | None) -> Who:
        """Whose file was seen. The texts are read only if needed."""
        found = who(seen, task, self.inode(task), Texts(None, None))
        if found != "other" or seen is None or seen.data is None or self.inodes is None:
            return found
        return who(seen, task, self.inode(task), self.texts(task))

    def inode(self, task: Task) -> int | None:
        return (self.inodes or {}).get(task.temp)

    def sync_folders(self) -> None:
        for rel in self.resolved.folders():
            with suppress(FileNotFoundError), held(self.root.open_dir(rel)) as fd:
                self.system.fsync_dir(fd, rel)
        self.journal.sync_old()


def make_dirs(work: Work) -> None:
    """Makes the missing directories, outermost first; the mode is set separately, because mkdir applies the umask."""
    for rel, mode in work.resolved.make_dirs.items():
        with work.root.parent(rel) as (folder, name):
            work.system.mkdir(folder, name, mode)
            work.system.fsync_dir(folder, rel)
        with held(work.root.open_dir(rel)) as fd:
            work.system.chmod(fd, mode, rel)


def stage(work: Work) -> None:
    """Writes every temporary file to disk, then records their inodes."""
    inodes = {}
    new = [(task, task.after) for task in work.resolved.tasks if task.after is not None]
    with _one_step(work, len(new)) as together:
        for task, state in progress.each("Writing files", new):
            inodes[task.temp] = write_temp(work, task, state, task.temp, together)
    work.journal.put("staged", Staged(inodes))
    work.inodes = inodes


@contextmanager
def _one_step(work: Work, files: int) -> Iterator[int | None]:
    """A handle on the file system for one flush at the end, instead of an fsync for each new file; None for few files.

    The handle is opened before the files are written, so that it reports errors of writing them.
    """
    if not work.system.syncs_together(files):
        yield None
        return
    with held(work.root.open_dir()) as fd:
        yield os.fstat(fd).st_dev
        work.system.fsync_all(fd, "staged")


def write_temp(work: Work, task: Task, state: FileState, name: str, together: int | None = None) -> int:
    """A new file `name` beside the task's, with the content and metadata of `state`, on disk; its inode.

    On the file system `together` it is not yet on disk: many are flushed at once later.
    """
    system, data = work.system, work.journal.blob(state.sha256)
    with work.root.parent(task.where) as (folder, _), held(system.create(folder, name)) as fd:
        system.write(fd, data, name)
        _dress(system, fd, state, name)
        found = os.fstat(fd)
        if found.st_dev != together:
            system.fsync(fd, name)
        return found.st_ino


def _dress(system: System, fd: int, state: FileState, name: str) -> None:
    """Owner first (it clears mode bits), then mode, then attributes (an ACL refines the mode), mtime last."""
    own = os.fstat(fd)
    uid = own.st_uid if state.uid is None else state.uid
    gid = own.st_gid if state.gid is None else state.gid
    if (uid, gid) != (own.st_uid, own.st_gid):
        _forgiven(partial(system.chown, fd, uid, gid, name))
    system.chmod(fd, state.mode, name)
    for key, value in state.xattrs.items():
        if key.startswith("user."):
            system.set_xattr(fd, key, value, name)
        else:
            _forgiven(partial(system.set_xattr, fd, key, value, name))
    if state.mtime_ns is not None:
        system.set_mtime(fd, state.mtime_ns, name)


def _forgiven(action: Callable[[], None]) -> None:
    """Ignores errors of owner and system attributes: only a privileged process may set some of them."""
    try:
        action()
    except OSError as error:
        if error.errno not in (errno.EPERM, errno.ENOTSUP, errno.EACCES):
            raise


# --- In place --------------------------------------------------------------------------------------------------------

# The share of the patience for handles opened before a swap: the new texts are visible while we wait.
_DRAIN = 0.4
# Errors if the journal's folder cannot store a file: another file system, or a full one.
_NO_ROOM_THERE = (errno.EXDEV, errno.ENOSPC, errno.EDQUOT, errno.EMLINK, errno.EPERM, errno.EACCES)


class Raced(Exception):
    """Somebody changed a file between the check and the swap. Nothing of theirs is lost; the plan is undone."""

    def __init__(self, conflict: Conflict) -> None:
        super().__init__(f"{conflict.path!r} {conflict.why}")
        self.conflict = conflict


def exchange(system: System, folder: int, task: Task, name: str) -> None:
    """Swaps the temporary name with the file's. Afterwards the old file is at the temporary name.

    If the system has no such rename, the old inode is linked aside first. Then a foreign file renamed over the name
    between our second check and our rename would be lost; without the exchanging rename that gap cannot be closed.
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


def swap_all(work: Work) -> None:
    """Swaps every file in. Raises Raced if a replaced file was not the expected one."""
    for task in work.resolved.tasks:
        with work.root.parent(task.where) as (folder, name):
            _swap(work.system, folder, task, name)
            if task.before is not None:
                _verify(work.system, folder, task)
    work.sync_folders()


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


def _verify(system: System, folder: int, task: Task) -> None:
    """Checks that the replaced file is the one checked before: content, mode, one name."""
    out = seen_file(system, folder, task.temp)
    if out is None:
        raise _raced(task, None, "was removed meanwhile")
    mode_changed = task.before is not None and st.S_IMODE(out.stat.st_mode) != task.before.mode
    if out.trouble or mode_changed or task.before is None or out.sha256 != task.before.sha256:
        raise _raced(task, out, out.trouble or "was changed meanwhile")


def wait_for_writers(work: Work) -> None:
    """Before any swap: waits for processes that have an old file open for writing. Raises Raced if they keep it open."""
    patience = Patience(work.system)
    for task in work.resolved.tasks:
        if task.before is None:
            continue
        with work.root.parent(task.where) as (folder, name):
            _quiet(work.system, folder, task, name, patience)


def _quiet(system: System, folder: int, task: Task, name: str, patience: Patience) -> None:
    try:
        with nobody_writes(system, folder, name, patience):
            return
    except StillOpen as busy:
        raise _raced(task, None, str(busy)) from None
    except (FileNotFoundError, SafeFsError):
        raise _raced(task, None, "was removed or replaced meanwhile") from None


def verify_still(work: Work) -> None:
    """The last check before the commit: somebody may still write to an old file through a handle opened before the swap.

    With a lease nobody has one, and nobody can get a new one by the file's name.
    """
    patience = Patience(work.system, _DRAIN)
    for task in work.resolved.tasks:
        if task.before is None:
            continue
        with work.root.parent(task.where) as (folder, _):
            try:
                with nobody_writes(work.system, folder, task.temp, patience):
                    _verify(work.system, folder, task)
            except StillOpen as busy:
                raise _raced(task, None, str(busy)) from None
    if not is_where_it_was(work):
        first = work.resolved.tasks[0] if work.resolved.tasks else None
        if first is not None:
            raise _raced(first, None, "is in a directory that was moved or exchanged meanwhile")


def is_where_it_was(work: Work) -> bool:
    """Whether the base's path still leads to the open directory."""
    try:
        with Root.open_resolved(work.resolved.base) as now:
            return now.identity() == work.root.identity()
    except (OSError, SafeFsError):
        return False


def _raced(task: Task, seen: SeenFile | None, why: str) -> Raced:
    expected = task.before.sha256 if task.before else None
    return Raced(Conflict(task.path, expected, seen.sha256 if seen else None, why))


def finish(work: Work) -> list[str]:
    """After the commit: removes the old files, then directories, then restores mtimes. Returns the errors.

    Safe to repeat from any point; recovery does it with a committed plan.
    """
    troubles = _drop_all_old(work)
    for rel in work.resolved.remove_dirs:
        try:
            remove_dir(work, rel)
        except (OSError, SafeFsError) as error:
            troubles.append(f"the directory {rel!r} could not be removed: {error}")
    try:
        for rel, state in work.resolved.dir_states.items():
            restore_mtime(work.system, work.root, rel, state)
        work.sync_folders()
    except (OSError, SafeFsError) as error:
        troubles.append(f"a directory could not be brought to disk: {error}")
    return troubles


def _drop_all_old(work: Work) -> list[str]:
    troubles = []
    for task in work.resolved.tasks:
        try:
            _drop_old(work, task)
        except (OSError, SafeFsError) as error:
            troubles.append(f"{task.path!r}: {error}")
    return troubles


def _drop_old(work: Work, task: Task) -> None:
    try:
        with work.root.parent(task.where) as (folder, _):
            with suppress(FileNotFoundError):
                work.system.unlink(folder, task.rebuilt)
            for name in (task.temp, task.mended):
                old = seen_file(work.system, folder, name)
                if old is None:
                    continue
                if not is_known(work, old):
                    keep(work, task, old)
                retire(work, folder, task, name)
    except FileNotFoundError:
        return


def is_known(work: Work, seen: SeenFile) -> bool:
    """Whether these bytes are in the journal already."""
    return seen.sha256 is not None and work.journal.knows(seen.sha256)


def keep(work: Work, task: Task, seen: SeenFile) -> None:
    """Keeps somebody's text that loses its name in the journal until it is a version, and reports it."""
    if seen.data is None:
        raise OSError(errno.EBUSY, "something that is not a readable file has our temporary name", task.temp)
    sha256 = work.journal.keep(task.path, seen.data)
    work.said.append(
        f"{task.path!r}: a text written at the same moment is kept as a version of it ({sha256})"
    )


def retire(work: Work, folder: int, task: Task, name: str) -> None:
    """Removes a temporary name whose bytes are in the journal, without losing what is written to the file later.

    The file is kept next to the journal, where `collect_late` checks it again, because another process may open a
    file some time after finding it. On another file system it is removed, under a lease. If the file has another
    name, only this one is removed.
    """
    if os.stat(name, dir_fd=folder, follow_symlinks=False).st_nlink > 1:
        work.system.unlink(folder, name)
        return
    try:
        with held(work.journal.old_folder()) as old:
            work.system.move_away(folder, name, old, f"{name}.{secrets.token_hex(4)}")
            return
    except OSError as error:
        if error.errno not in _NO_ROOM_THERE:
            raise
    try:
        with nobody_writes(work.system, folder, name, Patience(work.system, _DRAIN)):
            seen = seen_file(work.system, folder, name)
            if seen is not None and not is_known(work, seen):
                keep(work, task, seen)
            work.system.unlink(folder, name)
    except StillOpen as busy:
        raise OSError(errno.EBUSY, str(busy), name) from None


def remove_dir(work: Work, rel: str) -> None:
    """Removes a directory if it is empty; one that is used by now stays, which is reported."""
    try:
        with work.root.parent(rel) as (folder, name):
            work.system.rmdir(folder, name)
    except FileNotFoundError:
        return
    except OSError as error:
        if error.errno not in (errno.ENOTEMPTY, errno.EEXIST):
            raise
        work.said.append(f"the directory {rel!r} is not empty and stays")
