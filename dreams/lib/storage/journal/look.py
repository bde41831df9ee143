"""What stands at a name right now, and the state of a directory."""

from __future__ import annotations

import os
import stat as st
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from dreams.lib.files.manifest import read_xattrs
from dreams.lib.files.safefs import Root, SafeFsError, kind_of

from .plan import FILE_LIMIT, DirState, FileState, sha256_of
from .records import Task
from .system import System

Who = Literal["absent", "ours", "grown", "old", "other"]


@dataclass(frozen=True, slots=True)
class Texts:
    """What a task replaces and what with; None where there is no file."""

    old: bytes | None
    new: bytes | None


@dataclass(frozen=True, slots=True)
class Seen:
    """A name's content and stat; `data` is None for what is no regular file, or is too large to be a memory."""

    stat: os.stat_result
    data: bytes | None

    @property
    def sha256(self) -> str | None:
        return None if self.data is None else sha256_of(self.data)

    @property
    def trouble(self) -> str:
        """Why this must not be changed, in words; "" when it may."""
        if not st.S_ISREG(self.stat.st_mode):
            return f"is {kind_of(self.stat.st_mode)}, which is never changed"
        if self.data is None:
            return f"is larger than {FILE_LIMIT:,} bytes"
        if self.stat.st_nlink > 1:
            return "has several hard links; a change would split them"
        return ""


def look(system: System, folder: int, name: str) -> Seen | None:
    """None when nothing is there. A file that is swapped while we look is looked at again by the next caller."""
    try:
        data, found = system.read(folder, name, FILE_LIMIT)
    except FileNotFoundError:
        return None
    except SafeFsError:
        return Seen(os.stat(name, dir_fd=folder, follow_symlinks=False), None)
    return Seen(found, data if len(data) <= FILE_LIMIT else None)


def state_of(root: Root, rel: str, seen: Seen) -> FileState:
    """A regular file's state, with its extended attributes. Raises OSError, SafeFsError."""
    fd = root.open_fd(rel)
    try:
        xattrs = read_xattrs(fd)
    finally:
        os.close(fd)
    stat = seen.stat
    mode = st.S_IMODE(stat.st_mode)
    return FileState(seen.sha256 or "", mode, stat.st_mtime_ns, xattrs, stat.st_uid, stat.st_gid)


def who(seen: Seen | None, task: Task, inode: int | None, texts: Texts) -> Who:
    """Whose file this is: the inode tells our new file from an equal one that somebody else wrote.

    What begins with our new text and goes on is ours and has "grown": somebody appended to it, in place or by saving
    the whole anew.
    """
    if seen is None:
        return "absent"
    if task.after and seen.sha256 == task.after.sha256 and seen.stat.st_ino == inode:
        return "ours"
    if task.before and seen.sha256 == task.before.sha256:
        return "old"
    return "grown" if texts.new is not None and _has_grown(seen, texts, texts.new, inode) else "other"


def _has_grown(seen: Seen, texts: Texts, new: bytes, inode: int | None) -> bool:
    if seen.data is None or len(seen.data) <= len(new) or not seen.data.startswith(new):
        return False
    if seen.stat.st_ino == inode:
        return True
    return bool(new) and (texts.old is None or not seen.data.startswith(texts.old))


def dir_state(root: Root, rel: str) -> DirState:
    """The state of an existing directory."""
    fd = root.open_dir(rel)
    try:
        found = os.fstat(fd)
        return DirState(st.S_IMODE(found.st_mode), found.st_mtime_ns, _names(fd))
    finally:
        os.close(fd)


def _names(fd: int) -> str:
    names = sorted(os.fsencode(name) for name in os.listdir(fd) if not name.startswith("."))
    return sha256_of(b"\0".join(names))


def with_dir(root: Root, rel: str, action: Callable[[int], None]) -> bool:
    """Run `action` on a directory's handle. False when the directory is not there."""
    try:
        fd = root.open_dir(rel)
    except FileNotFoundError:
        return False
    try:
        action(fd)
    finally:
        os.close(fd)
    return True


def restore_mtime(system: System, root: Root, rel: str, state: DirState) -> bool:
    """Put a directory's mtime back where its names are the old ones. False when it was left."""
    done = False

    def act(fd: int) -> None:
        nonlocal done
        if not state.names or _names(fd) == state.names:
            system.set_mtime(fd, state.mtime_ns, rel)
            done = True

    return with_dir(root, rel, act) and done
