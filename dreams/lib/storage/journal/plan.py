"""The input of the journal (`Plan`), its output (`Result`), and its records on disk. Pure: no disk, no Django."""

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeVar

import msgspec

from dreams.lib.files.safefs import UnsafePath, split
from dreams.lib.refusal import Refusal

FILE_LIMIT = 64 * 1024 * 1024  # bytes; a memory is a few kilobytes, and old and new texts are held in memory
Status = Literal["applied", "conflict", "failed"]

_ID = re.compile(r"[A-Za-z0-9_-]{1,64}\Z")


class BadPlan(ValueError):
    """The plan contradicts itself or names a path outside its directory; nothing was written."""


class JournalBusy(Refusal):
    """Another process is writing, or an interrupted plan on the same directory waits for `recover`."""


class JournalDamaged(RuntimeError):
    """A record or a kept text no longer has its checksum."""


def sha256_of(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


@dataclass(frozen=True, slots=True)
class FileOp:
    """One file to change, add or delete.

    `expected` is the sha256 of the file at `path` now, None if there must be none. `data` is the new content,
    None to delete. `mode`, `mtime_ns` and `xattrs` of None are kept from the old file (a new one: 0600, now,
    none). A rollback sets them, to restore them.
    """

    path: str
    expected: str | None
    data: bytes | None
    mode: int | None = None
    mtime_ns: int | None = None
    xattrs: Mapping[str, bytes] | None = None


@dataclass(frozen=True, slots=True)
class FileState:
    """A regular file as it was. Owner ids are None if they do not matter."""

    sha256: str
    mode: int
    mtime_ns: int | None
    xattrs: Mapping[str, bytes] = field(default_factory=dict)
    uid: int | None = None
    gid: int | None = None


@dataclass(frozen=True, slots=True)
class DirState:
    """A directory as it was. `names` is a digest of the names in it, without those with a leading dot.

    A directory's old mtime is restored only if its names are the old ones too ("" skips this check): else a file
    that somebody added meanwhile would be hidden from everyone who trusts the mtime.
    """

    mode: int
    mtime_ns: int
    names: str = ""


@dataclass(frozen=True, slots=True)
class Plan:
    """A set of changes below `target_dir` (absolute), all or none of which are made.

    `id` is unique among plans; running an applied id again writes nothing. Directory paths are relative
    to the target: "" is the target itself, ".." its parent, and so on up. Missing directories that a file needs are
    made (mode 0700, or as `make_dirs` says); `remove_dirs` are removed if empty in the end;
    `dir_states` are the mtimes to restore last. `identity` is (device, inode) of the directory that the plan was
    made for; None: it was missing then, or any directory is accepted.
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
    """One file before and after, each None if it did not exist."""

    path: str
    before: FileState | None
    sha256: str | None


@dataclass(frozen=True, slots=True)
class Conflict:
    """One file without the expected content; `found` is its sha256, None if unknown."""

    path: str
    expected: str | None
    found: str | None
    why: str


@dataclass(frozen=True, slots=True)
class Result:
    """The result of a run. Files changed only if `status` is "applied".

    `applied` lists the changed files; those that already had the new content are in `untouched`.
    The `dirs_*` fields use the directory paths of `Plan`, for a plan that undoes this one.
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
    """Raises BadPlan, with the path, for a plan that could never be carried out."""
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


# --- On disk ---------------------------------------------------------------------------------------------------------

T = TypeVar("T")

Outcome = Literal["applied", "conflict", "failed", "undone", "abandoned"]


@dataclass(frozen=True, slots=True)
class Task:
    """One file, made ready. `where` is its path below the resolved plan's base; `temp` lies in the same folder."""

    path: str
    where: str
    temp: str
    before: FileState | None
    after: FileState | None

    @property
    def aside(self) -> str:
        """Where the old inode is linked briefly on systems without an exchanging rename."""
        return f"{self.temp}.old"

    @property
    def rebuilt(self) -> str:
        """Where undo writes a text again: an old one whose name was removed, or one with appended text."""
        return f"{self.temp}.new"

    @property
    def mended(self) -> str:
        """Where such a text is once complete, ready to be exchanged with the file; afterwards, the replaced file."""
        return f"{self.temp}.put"


@dataclass(frozen=True, slots=True)
class ResolvedPlan:
    """A plan resolved against the disk, enough to finish or undo it. Directory paths are below `base`."""

    plan_id: str
    made_at: str
    target_dir: str
    base: str
    prefix: str
    meta: Mapping[str, str]
    tasks: tuple[Task, ...]
    make_dirs: Mapping[str, int]
    remove_dirs: tuple[str, ...]
    dirs_before: Mapping[str, DirState]
    dir_states: Mapping[str, DirState]
    untouched: tuple[str, ...] = ()
    # Identifies the directory `base` for recovery: device and inode, and the boot in which the device had that
    # number. None in journals of earlier versions.
    device: int | None = None
    inode: int | None = None
    boot: str = ""

    def folders(self) -> list[str]:
        """Every directory whose entries this plan changes, deepest first."""
        found = {task.where.rpartition("/")[0] for task in self.tasks}
        found |= {rel.rpartition("/")[0] for rel in (*self.make_dirs, *self.remove_dirs)}
        return sorted(found | set(self.dir_states), key=lambda rel: (-len(rel.split("/")) if rel else 1, rel))


@dataclass(frozen=True, slots=True)
class Staged:
    """Inode numbers of our complete temporary files, to distinguish our new file from somebody's equal one."""

    inodes: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Kept:
    """Somebody's text without a place in the directory: one file's path, and the text's sha256."""

    path: str
    sha256: str


@dataclass(frozen=True, slots=True)
class KeptTexts:
    """The kept texts of one attempt that were not handed over yet."""

    texts: tuple[Kept, ...]


@dataclass(frozen=True, slots=True)
class End:
    """The last record of a journal. `said` is for a person."""

    outcome: Outcome
    result: Result | None = None
    said: tuple[str, ...] = ()


def encode(value: object) -> bytes:
    """A checksum line, then JSON. Plain ASCII, because undecodable file names contain lone surrogates."""
    body = json.dumps(msgspec.to_builtins(value)).encode("ascii")
    return sha256_of(body).encode("ascii") + b"\n" + body


def decode(data: bytes, kind: type[T], file: str) -> T:
    """A record of this `file`. Raises JournalDamaged if any bit has changed."""
    checksum, _, body = data.partition(b"\n")
    if sha256_of(body).encode("ascii") != checksum:
        raise JournalDamaged(f"{file} differs from what was written")
    try:
        return msgspec.convert(json.loads(body), kind)
    except (ValueError, msgspec.ValidationError) as error:
        raise JournalDamaged(f"{file} cannot be read: {error}") from error
