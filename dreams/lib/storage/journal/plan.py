"""What a caller asks for (`Plan`) and what it is told (`Result`). Pure: no disk, no Django."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from dreams.lib.files.safefs import UnsafePath, split

FILE_LIMIT = 64 * 1024 * 1024  # bytes; a memory is a few kilobytes, and old and new texts are held in memory
Status = Literal["applied", "conflict", "failed", "dry_run"]

_ID = re.compile(r"[A-Za-z0-9_-]{1,64}\Z")


class BadPlan(ValueError):
    """The plan contradicts itself or names a path outside its directory; nothing was written."""


class JournalBusy(RuntimeError):
    """Another process is writing, or an interrupted plan on the same directory waits for `recover`."""


class JournalDamaged(RuntimeError):
    """A record or a kept text no longer has its checksum."""


def sha256_of(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


@dataclass(frozen=True, slots=True)
class FileOp:
    """One file to change, add or delete.

    `expected` is the sha256 of what must stand at `path` now, None when nothing may. `data` is the new content,
    None to delete. `mode`, `mtime_ns` and `xattrs` left at None: kept from the old file (a new one: 0600, now,
    none). They are given by a rollback, which restores them.
    """

    path: str
    expected: str | None
    data: bytes | None
    mode: int | None = None
    mtime_ns: int | None = None
    xattrs: Mapping[str, bytes] | None = None


@dataclass(frozen=True, slots=True)
class FileState:
    """A regular file as it was. Owner ids are None where they do not matter."""

    sha256: str
    mode: int
    mtime_ns: int | None
    xattrs: Mapping[str, bytes] = field(default_factory=dict)
    uid: int | None = None
    gid: int | None = None


@dataclass(frozen=True, slots=True)
class DirState:
    """A directory as it was. `names` is a digest of the names in it, those with a leading dot left out.

    A directory's old mtime is put back only where its names are the old ones too ("" asks for no such care):
    else a file that somebody added meanwhile would be hidden from everyone who trusts the mtime.
    """

    mode: int
    mtime_ns: int
    names: str = ""


@dataclass(frozen=True, slots=True)
class Plan:
    """A set of changes below `target_dir` (absolute) that happen all or not at all.

    `id` is unique among plans; running an id again that was applied writes nothing. Directory paths are relative
    to the target: "" is the target itself, ".." its parent, and so on up. Missing directories that a file needs are
    made (mode 0700, or as `make_dirs` says); `remove_dirs` are removed where they are empty in the end;
    `dir_states` are the mtimes to put back last of all. `identity` is (device, inode) of the directory that the plan was
    made for; None: it was missing then, or whichever is there will do.
    """

    target_dir: str
    ops: tuple[FileOp, ...]
    id: str
    made_at: str
    meta: Mapping[str, str] = field(default_factory=dict)
    make_dirs: Mapping[str, int] = field(default_factory=dict)
    remove_dirs: tuple[str, ...] = ()
    dir_states: Mapping[str, DirState] = field(default_factory=dict)
    identity: tuple[int, int] | None = None


@dataclass(frozen=True, slots=True)
class Applied:
    """One file before and after: None where there was, or is, none."""

    path: str
    before: FileState | None
    sha256: str | None


@dataclass(frozen=True, slots=True)
class Conflict:
    """One file that did not hold what the plan expects; `found` is its sha256, None when there is none to tell."""

    path: str
    expected: str | None
    found: str | None
    why: str


@dataclass(frozen=True, slots=True)
class Result:
    """What a run did. Only with `status` "applied" has anything changed.

    `applied` lists what changed (in a dry run: would change); files that already were as asked are in `untouched`.
    The `dirs_*` fields use the directory paths of `Plan` and are what an inverse plan needs.
    """

    plan_id: str
    target_dir: str
    status: Status
    applied: tuple[Applied, ...] = ()
    untouched: tuple[str, ...] = ()
    conflicts: tuple[Conflict, ...] = ()
    dirs_made: tuple[str, ...] = ()
    dirs_removed: tuple[str, ...] = ()
    dirs_before: Mapping[str, DirState] = field(default_factory=dict)
    said: tuple[str, ...] = ()
    error: str = ""
    repeated: bool = False


def check_plan(plan: Plan) -> None:
    """Raises BadPlan, with the path named, for a plan that could never be carried out as meant."""
    if not _ID.match(plan.id):
        raise BadPlan(f"the plan id {plan.id!r} must be 1 to 64 letters, digits, '-' or '_'")
    if not plan.target_dir.startswith("/"):
        raise BadPlan(f"the target directory {plan.target_dir!r} must be absolute")
    _check_paths([op.path for op in plan.ops])
    for op in plan.ops:
        if op.expected is None and op.data is None:
            raise BadPlan(f"{op.path!r} is to be absent before and after; leave it out")
        if op.data is not None and len(op.data) > FILE_LIMIT:
            raise BadPlan(f"{op.path!r} would be larger than {FILE_LIMIT:,} bytes")
    for rel in (*plan.make_dirs, *plan.remove_dirs, *plan.dir_states):
        check_dir(rel)


def _check_paths(paths: list[str]) -> None:
    seen: set[str] = set()
    for path in paths:
        try:
            split(path)
        except UnsafePath as error:
            raise BadPlan(str(error)) from error
        if path in seen:
            raise BadPlan(f"{path!r} is named twice")
        seen.add(path)
    for path in paths:
        above = path.rpartition("/")[0]
        while above:
            if above in seen:
                raise BadPlan(f"{above!r} cannot be both a file and the folder of {path!r}")
            above = above.rpartition("/")[0]


def check_dir(rel: str) -> None:
    """Raises BadPlan unless `rel` is "", some ".." alone, or a path below the target."""
    if rel == "" or set(rel.split("/")) == {".."}:
        return
    try:
        split(rel)
    except UnsafePath as error:
        raise BadPlan(str(error)) from error
