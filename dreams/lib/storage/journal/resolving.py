"""Compares a plan with the disk: returns a `ResolvedPlan` ready to run, or the conflicts that prevent it. Changes
nothing."""

import errno
import os
import posixpath
import stat as st
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from dreams.lib.files.safefs import Root, SafeFsError, UnsafePath, held, kind_of
from dreams.lib.storage.journal.plan import (
    FILE_LIMIT,
    BadPlan,
    Conflict,
    DirState,
    FileOp,
    FileState,
    Plan,
    ResolvedPlan,
    Task,
    check_plan,
    sha256_of,
)
from dreams.lib.storage.journal.system import System

Who = Literal["absent", "ours", "grown", "old", "other"]


def read_xattrs(fd: int) -> dict[str, bytes]:
    """The extended attributes of an open file or directory; none if the system or file system has none."""
    if not hasattr(os, "listxattr"):
        return {}
    try:
        return {name: os.getxattr(fd, name) for name in sorted(os.listxattr(fd))}
    except OSError as error:
        if error.errno in (errno.ENOTSUP, errno.EPERM):
            return {}
        raise


@dataclass(frozen=True, slots=True)
class Texts:
    """A task's old and new text; None if there is no file."""

    old: bytes | None
    new: bytes | None


@dataclass(frozen=True, slots=True)
class SeenFile:
    """A name's content and stat; `data` is None if it is no regular file, or too large to be a memory."""

    stat: os.stat_result
    data: bytes | None

    @property
    def sha256(self) -> str | None:
        return None if self.data is None else sha256_of(self.data)

    @property
    def trouble(self) -> str:
        """Why this must not be changed, in words, else ""."""
        if not st.S_ISREG(self.stat.st_mode):
            return f"is {kind_of(self.stat.st_mode)}, which is never changed"
        if self.data is None:
            return f"is larger than {FILE_LIMIT:,} bytes"
        if self.stat.st_nlink > 1:
            return "has several hard links; a change would split them"
        return ""


def seen_file(system: System, folder: int, name: str) -> SeenFile | None:
    """The file at a name, None if there is none. A file swapped while we read is read again by the next caller."""
    try:
        data, found = system.read(folder, name, FILE_LIMIT)
    except FileNotFoundError:
        return None
    except SafeFsError:
        return SeenFile(os.stat(name, dir_fd=folder, follow_symlinks=False), None)
    return SeenFile(found, data if len(data) <= FILE_LIMIT else None)


def state_of(root: Root, rel: str, seen: SeenFile) -> FileState:
    """A regular file's state, with its extended attributes. Raises OSError, SafeFsError."""
    with held(root.open_fd(rel)) as fd:
        xattrs = read_xattrs(fd)
    stat = seen.stat
    mode = st.S_IMODE(stat.st_mode)
    return FileState(seen.sha256 or "", mode, stat.st_mtime_ns, xattrs, stat.st_uid, stat.st_gid)


def who(seen: SeenFile | None, task: Task, inode: int | None, texts: Texts) -> Who:
    """Whose file this is: the inode distinguishes our new file from an equal one of somebody else.

    A longer file that begins with our new text has "grown": somebody appended to it, in place or by saving the
    complete file again.
    """
    if seen is None:
        return "absent"
    if task.after and seen.sha256 == task.after.sha256 and seen.stat.st_ino == inode:
        return "ours"
    if task.before and seen.sha256 == task.before.sha256:
        return "old"
    return "grown" if texts.new is not None and _has_grown(seen, texts, texts.new, inode) else "other"


def _has_grown(seen: SeenFile, texts: Texts, new: bytes, inode: int | None) -> bool:
    if seen.data is None or len(seen.data) <= len(new) or not seen.data.startswith(new):
        return False
    if seen.stat.st_ino == inode:
        return True
    return bool(new) and (texts.old is None or not seen.data.startswith(texts.old))


def dir_state(root: Root, rel: str) -> DirState:
    """The state of an existing directory."""
    with held(root.open_dir(rel)) as fd:
        found = os.fstat(fd)
        return DirState(st.S_IMODE(found.st_mode), found.st_mtime_ns, _names(fd))


def _names(fd: int) -> str:
    names = sorted(os.fsencode(name) for name in os.listdir(fd) if not name.startswith("."))
    return sha256_of(b"\0".join(names))


def restore_mtime(system: System, root: Root, rel: str, state: DirState) -> None:
    """Restores a directory's mtime, if it is there, is ours, and its names are the old ones."""
    with suppress(FileNotFoundError), held(root.open_dir(rel)) as fd:
        if not state.names or _names(fd) == state.names:
            with suppress(PermissionError):
                system.set_mtime(fd, state.mtime_ns, rel)


# --- A plan against it -----------------------------------------------------------------------------------------------

NEW_FILE_MODE = 0o600  # for the owner only; a plan may set others
NEW_DIR_MODE = 0o700  # for the owner only


@dataclass(frozen=True, slots=True)
class CheckedPlan:
    """The result of a check. With conflicts, the plan must not be run."""

    root: Root
    resolved: ResolvedPlan
    conflicts: tuple[Conflict, ...]
    old_texts: tuple[bytes, ...]


@dataclass(frozen=True, slots=True)
class PlanBase:
    """Where a plan works: an existing directory, and the path from it to the target ("" if it is the target)."""

    base: str
    prefix: str

    def inner(self, rel: str) -> str:
        """The path below the base of a path given relative to the target."""
        found = posixpath.normpath(posixpath.join(self.prefix, rel))
        return "" if found == "." else found

    def outer(self, where: str) -> str:
        """The path relative to the target of a path below the base."""
        found = posixpath.relpath(f"/{where}", f"/{self.prefix}")
        return "" if found == "." else found


def locate(plan: Plan) -> PlanBase:
    """The deepest existing directory from which the target, and the plan's paths above it, can be reached.

    The chosen directory may be a link and is resolved here, once. Raises BadPlan if a part of the path is no
    directory.
    """
    path, missing = Path(posixpath.normpath(plan.target_dir)), list[str]()
    while not os.path.lexists(path):
        missing.insert(0, path.name)
        path = path.parent
    real = Path(os.path.realpath(path))
    if not real.is_dir():
        raise BadPlan(f"{str(path)!r} is not a directory; move it away or choose another memory directory")
    for _ in range(_levels_up(plan) - len(missing)):
        missing.insert(0, real.name)
        real = real.parent
    return PlanBase(str(real), "/".join(missing))


def _levels_up(plan: Plan) -> int:
    """How many directories above the target the plan works in; removing one needs the one above it."""
    removed = max((_ups(rel) + 1 for rel in plan.remove_dirs if _ups(rel) or not rel), default=0)
    return max([removed, *(_ups(rel) for rel in plan.dir_states)])


def _ups(rel: str) -> int:
    return rel.split("/").count("..")


@contextmanager
def check(system: System, plan: Plan) -> Iterator[CheckedPlan]:
    """Compares the plan with the disk; its base is open by handle for the block, so that the checked files are written.

    Raises BadPlan, and OSError or UnsafePath if the base directory cannot be opened.
    """
    check_plan(plan)
    place = locate(plan)
    with Root.open_resolved(place.base) as root:
        _refuse_exchanged(plan, place, root)
        checker = _Checker(system, plan, place, root)
        for number, op in enumerate(plan.ops):
            checker.add(number, op)
        yield checker.finish()


def _refuse_exchanged(plan: Plan, place: PlanBase, root: Root) -> None:
    if plan.identity is None:
        return
    try:
        with root.sub(place.prefix) as target:
            if target.identity() == plan.identity:
                return
    except FileNotFoundError:
        pass
    raise UnsafePath(plan.target_dir, "was moved or replaced after it was read; check it again")


class _Checker:
    def __init__(self, system: System, plan: Plan, place: PlanBase, root: Root) -> None:
        self.system, self.plan, self.place, self.root = system, plan, place, root
        self.tasks: list[Task] = []
        self.untouched: list[str] = []
        self.conflicts: list[Conflict] = []
        self.old_texts: list[bytes] = []

    def add(self, number: int, op: FileOp) -> None:
        where = self.place.inner(op.path)
        try:
            seen = self._look(where)
        except (OSError, SafeFsError) as error:
            self._conflict(op, None, f"cannot be read: {error}")
            return
        found = seen.sha256 if seen else None
        if seen is not None and seen.trouble:
            self._conflict(op, found, seen.trouble)
        elif found != op.expected:
            gone_or_there = "is gone" if found is None else "is already there"
            self._conflict(op, found, "changed" if op.expected and found else gone_or_there)
        else:
            self._task(number, op, where, seen)

    def _look(self, where: str) -> SeenFile | None:
        try:
            with self.root.parent(where) as (folder, name):
                return seen_file(self.system, folder, name)
        except FileNotFoundError:
            return None

    def _conflict(self, op: FileOp, found: str | None, why: str) -> None:
        self.conflicts.append(Conflict(op.path, op.expected, found, why))

    def _task(self, number: int, op: FileOp, where: str, seen: SeenFile | None) -> None:
        before = state_of(self.root, where, seen) if seen else None
        after = _after(op, before)
        if before is not None and after is not None and _same(before, after):
            self.untouched.append(op.path)
            return
        temp = f".memoryweb-{self.plan.id}-{number}.tmp"
        self.tasks.append(Task(op.path, where, temp, before, after))
        if seen is not None and seen.data is not None:
            self.old_texts.append(seen.data)

    def finish(self) -> CheckedPlan:
        plan, inner = self.plan, self.place.inner
        make_dirs = self._missing_dirs()
        remove = tuple(sorted({inner(rel) for rel in plan.remove_dirs}, key=lambda rel: -rel.count("/")))
        states = {inner(rel): state for rel, state in plan.dir_states.items()}
        device, inode = self.root.identity()
        resolved = ResolvedPlan(
            plan_id=plan.id,
            made_at=plan.made_at,
            target_dir=plan.target_dir,
            base=self.place.base,
            prefix=self.place.prefix,
            meta=dict(plan.meta),
            tasks=tuple(self.tasks),
            make_dirs=make_dirs,
            remove_dirs=remove,
            dirs_before=self._dirs_before((*make_dirs, *remove, *states), remove),
            dir_states=states,
            untouched=tuple(self.untouched),
            device=device,
            inode=inode,
            boot=boot_id(),
        )
        return CheckedPlan(self.root, resolved, tuple(self.conflicts), tuple(self.old_texts))

    def _missing_dirs(self) -> Mapping[str, int]:
        """The directories to make with their modes, outermost first."""
        wanted = {self.place.inner(rel): mode for rel, mode in self.plan.make_dirs.items()}
        needed = {task.where.rpartition("/")[0] for task in self.tasks if task.after} | set(wanted)
        every = {"/".join(rel.split("/")[:n]) for rel in needed if rel for n in range(1, rel.count("/") + 2)}
        missing = sorted(
            (rel for rel in every if not self._there(rel)), key=lambda rel: (rel.count("/"), rel)
        )
        return {rel: wanted.get(rel, NEW_DIR_MODE) for rel in missing}

    def _there(self, rel: str) -> bool:
        try:
            return self.root.exists(rel)
        except (OSError, SafeFsError):
            return True  # the files below it are conflicts already

    def _dirs_before(self, named: Iterable[str], removed: Iterable[str]) -> Mapping[str, DirState]:
        touched = {task.where.rpartition("/")[0] for task in self.tasks}
        touched |= {rel.rpartition("/")[0] for rel in named if rel} | set(removed)
        found = {}
        for rel in sorted(touched):
            try:
                found[rel] = dir_state(self.root, rel)
            except (OSError, SafeFsError):
                continue  # missing ones are made; others are conflicts of their files
        return found


def boot_id() -> str:
    """An id that changes with each boot; "" if the system has none."""
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_text("ascii").strip()
    except OSError:
        return ""


def _after(op: FileOp, before: FileState | None) -> FileState | None:
    if op.data is None:
        return None
    return FileState(
        sha256=sha256_of(op.data),
        mode=op.mode if op.mode is not None else before.mode if before else NEW_FILE_MODE,
        mtime_ns=op.mtime_ns,
        xattrs=op.xattrs if op.xattrs is not None else before.xattrs if before else {},
        uid=before.uid if before else None,
        gid=before.gid if before else None,
    )


def _same(before: FileState, after: FileState) -> bool:
    kept = (before.sha256, before.mode, dict(before.xattrs)) == (after.sha256, after.mode, dict(after.xattrs))
    return kept and after.mtime_ns in (None, before.mtime_ns)
