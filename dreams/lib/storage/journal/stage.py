"""Temporary files: written whole beside the file they will replace, with its mode, owner and attributes."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial

from dreams.lib.files.safefs import Root

from .look import Seen, Texts, Who, who
from .plan import FileState
from .records import Script, Staged, Task
from .store import Journal
from .system import System


@dataclass(slots=True)
class Work:
    """One script in progress."""

    system: System
    root: Root
    journal: Journal
    script: Script
    inodes: Mapping[str, int] | None = None
    said: list[str] = field(default_factory=list)
    mended: set[str] = field(default_factory=set)

    def texts(self, task: Task) -> Texts:
        """From the journal. Raises JournalDamaged."""
        old, new = (self.journal.blob(one.sha256) if one else None for one in (task.before, task.after))
        return Texts(old, new)

    def who(self, task: Task, seen: Seen | None) -> Who:
        """Whose file was seen. The texts are read only where they decide."""
        found = who(seen, task, self.inode(task), Texts(None, None))
        if found != "other" or seen is None or seen.data is None or self.inodes is None:
            return found
        return who(seen, task, self.inode(task), self.texts(task))

    def inode(self, task: Task) -> int | None:
        return (self.inodes or {}).get(task.temp)

    def sync_folders(self) -> None:
        for rel in self.script.folders():
            with suppress(FileNotFoundError):
                fd = self.root.open_dir(rel)
                try:
                    self.system.fsync_dir(fd, rel)
                finally:
                    os.close(fd)
        self.journal.sync_old()


def make_dirs(work: Work) -> None:
    """Make the missing directories, outermost first; the mode is set apart, because mkdir's obeys the umask."""
    for rel, mode in work.script.make_dirs.items():
        with work.root.parent(rel) as (folder, name):
            work.system.mkdir(folder, name, mode)
            work.system.fsync_dir(folder, rel)
        fd = work.root.open_dir(rel)
        try:
            work.system.chmod(fd, mode, rel)
        finally:
            os.close(fd)


def stage(work: Work) -> None:
    """Write every temporary file, on disk, then note their inodes."""
    inodes = {}
    for task in work.script.tasks:
        if task.after is not None:
            inodes[task.temp] = write_temp(work, task, task.after, task.temp)
    work.journal.put("staged", Staged(inodes))
    work.inodes = inodes


def write_temp(work: Work, task: Task, state: FileState, name: str) -> int:
    """A new file `name` beside the task's, with the content and metadata of `state`, fsynced; its inode."""
    system, data = work.system, work.journal.blob(state.sha256)
    with work.root.parent(task.where) as (folder, _):
        fd = system.create(folder, name)
        try:
            system.write(fd, data, name)
            _dress(system, fd, state, name)
            system.fsync(fd, name)
            return os.fstat(fd).st_ino
        finally:
            os.close(fd)


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
    """Owner and system attributes are best effort: only a privileged process may set some of them."""
    try:
        action()
    except OSError as error:
        if error.errno not in (errno.EPERM, errno.ENOTSUP, errno.EACCES):
            raise
