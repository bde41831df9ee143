"""What the journal keeps on disk, and how it is checked when read back. Pure: no disk, no Django."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, TypeVar

import msgspec

from .plan import DirState, FileState, JournalDamaged, Result, sha256_of

T = TypeVar("T")

Outcome = Literal["applied", "conflict", "failed", "undone", "abandoned"]


@dataclass(frozen=True, slots=True)
class Task:
    """One file, made ready. `where` is its path below the script's base; `temp` lies in the same folder."""

    path: str
    where: str
    temp: str
    before: FileState | None
    after: FileState | None

    @property
    def aside(self) -> str:
        """Where the old inode is linked for a moment on systems without an exchanging rename."""
        return f"{self.temp}.old"

    @property
    def rebuilt(self) -> str:
        """Where undo writes a text anew: an old one whose name was removed, or one with what was appended meanwhile."""
        return f"{self.temp}.new"

    @property
    def mended(self) -> str:
        """Where such a text lies once it is whole, ready to be exchanged with the file; then, what came out."""
        return f"{self.temp}.put"


@dataclass(frozen=True, slots=True)
class Script:
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
    # Which directory `base` was, so that recovery finds the same: device and inode, and the boot in which the device had
    # that number. None in journals of earlier versions.
    device: int | None = None
    inode: int | None = None
    boot: str = ""

    def folders(self) -> list[str]:
        """Every directory whose entries this script changes, deepest first."""
        found = {task.where.rpartition("/")[0] for task in self.tasks}
        found |= {rel.rpartition("/")[0] for rel in (*self.make_dirs, *self.remove_dirs)}
        return sorted(found | set(self.dir_states), key=lambda rel: (-len(rel.split("/")) if rel else 1, rel))


@dataclass(frozen=True, slots=True)
class Staged:
    """Inode numbers of our finished temporary files: what tells our new file from somebody's equal one."""

    inodes: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Kept:
    """A text of somebody else that has no place in the directory: one file's path, and the text's sha256."""

    path: str
    sha256: str


@dataclass(frozen=True, slots=True)
class KeptTexts:
    """Those of one attempt that nobody has asked for yet."""

    texts: tuple[Kept, ...]


@dataclass(frozen=True, slots=True)
class End:
    """The last record of a journal. `said` is for a person."""

    outcome: Outcome
    result: Result | None = None
    said: tuple[str, ...] = ()


def encode(value: object) -> bytes:
    """A checksum line, then JSON. Plain ASCII, because file names that are no text travel as lone surrogates."""
    body = json.dumps(msgspec.to_builtins(value)).encode("ascii")
    return sha256_of(body).encode("ascii") + b"\n" + body


def decode(data: bytes, kind: type[T]) -> T:
    """Raises JournalDamaged when one bit is not what was written."""
    checksum, _, body = data.partition(b"\n")
    if sha256_of(body).encode("ascii") != checksum:
        raise JournalDamaged(f"a {kind.__name__} record does not have its checksum")
    try:
        return msgspec.convert(json.loads(body), kind)
    except (ValueError, msgspec.ValidationError) as error:
        raise JournalDamaged(f"a {kind.__name__} record cannot be read: {error}") from error
