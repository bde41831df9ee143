"""The workspace of a dream: a snapshot of the memory directory, and a scratch copy that the engine may change.

The real directory is only read, once, by handle. Control files and dotfiles are not copied; logs, files that are not
UTF-8, files with several hard links and files that are not Markdown are copied for reading, and `write` refuses them.
"""

import shutil
import stat as st
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Self

from dreams.lib import process
from dreams.lib.files import safefs, text
from dreams.lib.files.seen import seen
from dreams.lib.memdir import names

MAX_FILES = 5_000  # of a memory directory; chosen
MAX_FILE_BYTES = 4 * 1024 * 1024  # of one; chosen
FOLDER = "is a folder"  # why a folder with a memory's name was not read


def scratch_folder(data: Path | str, name: str) -> Path:
    """Where this process may create a scratch copy, below the data directory `data`."""
    return Path(data) / "workspaces" / f"{name}@{process.mark()}"


def remove_abandoned(data: Path | str) -> None:
    """Remove the scratch copies of processes that were killed: one may have a secret that is purged later."""
    for copy in (Path(data) / "workspaces").glob("*"):
        marked = copy.name.partition("@")[2]  # nothing in those of earlier versions
        if not marked or not process.is_marked_alive(marked):
            shutil.rmtree(copy, ignore_errors=True)


class WorkspaceRefused(Exception):
    """A write that the workspace refuses; the message names the path, why, and the remedy."""


@dataclass(frozen=True, slots=True)
class SnapshotFile:
    """One regular file as it was read."""

    path: str
    data: bytes
    mode: int
    mtime_ns: int
    inode: int
    links: int
    sha256: str = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "sha256", text.sha256(self.data))  # frozen; read many times

    @property
    def read_only_because(self) -> str:
        """Why an engine may not change this file, else ""."""
        if not self.path.endswith(".md"):
            return "is not a Markdown file"
        if PurePosixPath(self.path).parts[0] == "logs":
            return "is a log, which is only read"
        if self.links > 1:
            return "has more than one hard link, so a change would show somewhere else too"
        if not text.is_utf8(self.data):
            return "is not UTF-8 text"
        return ""


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A memory directory at one moment. A missing directory is an empty snapshot with `exists` False."""

    exists: bool
    files: Mapping[str, SnapshotFile] = field(default_factory=dict)
    skipped: Mapping[str, str] = field(default_factory=dict)
    # (device, inode) of the directory that was read.
    identity: tuple[int, int] | None = None
    # Of a directory with too many names: those that were looked for and do not exist.
    absent: frozenset[str] = frozenset()

    def contents(self) -> dict[str, bytes]:
        return {path: file.data for path, file in self.files.items()}

    def unread(self, path: str) -> str:
        """Why `path`, or a folder above it, could not be read; "" if it was read or is unknown."""
        if path in self.files or path in self.absent:
            return ""
        above = (path, *(str(parent) for parent in PurePosixPath(path).parents[:-1]), "")
        return next(
            (why for name in above if (why := self.skipped.get(name)) and not self._was_read(name)), ""
        )

    def _was_read(self, name: str) -> bool:
        """Whether files of a folder with a memory's name were read: the memory with that name no longer exists."""
        return self.skipped[name] == FOLDER and any(file.startswith(f"{name}/") for file in self.files)


def take(memory_dir: Path, named: Iterable[str] = ()) -> Snapshot:
    """Reads every memory below `memory_dir`. An odd file is skipped with its reason and does not stop the others.

    Of a directory with more than MAX_FILES names it also reads the files `named`: a change concerns few of them.
    """
    try:
        root = safefs.Root.open(memory_dir)
    except FileNotFoundError:
        return Snapshot(exists=False)
    files: dict[str, SnapshotFile] = {}
    skipped: dict[str, str] = {}
    with root:
        identity = root.identity()
        for name in root.listdir(limit=MAX_FILES):
            if name.endswith(".md") and _is_folder(root, name):
                skipped[name] = FOLDER
        for entry in root.walk(limit=MAX_FILES):
            if isinstance(entry, safefs.Skipped):
                skipped[entry.rel] = entry.why
            elif not _is_hidden(entry.rel):
                _read_into(root, entry, files, skipped)
        absent = frozenset(_read_named(root, named, files, skipped) if "" in skipped else ())
    return Snapshot(exists=True, files=files, skipped=skipped, identity=identity, absent=absent)


def _read_named(
    root: safefs.Root, named: Iterable[str], files: dict[str, SnapshotFile], skipped: dict[str, str]
) -> Iterator[str]:
    """Reads what the walk did not reach; yields what does not exist."""
    for path in named:
        try:
            found = root.lstat(path) if path not in files else None
        except FileNotFoundError:
            yield path
        except (OSError, safefs.SafeFsError):
            continue  # it stays unread
        else:
            if found and st.S_ISREG(found.st_mode):
                _read_into(root, safefs.WalkedFile(path, found), files, skipped)


def _is_folder(root: safefs.Root, name: str) -> bool:
    """Whether it is a folder; False if it disappeared or cannot be checked, which the walk explains."""
    try:
        return st.S_ISDIR(root.lstat(name).st_mode)
    except (OSError, safefs.SafeFsError):
        return False


def _is_hidden(path: str) -> bool:
    """Whether it is a dotfile, such as `.consolidate-lock`: these belong to the agent or to us."""
    return any(part.startswith(".") for part in PurePosixPath(path).parts)


def _read_into(
    root: safefs.Root, entry: safefs.WalkedFile, files: dict[str, SnapshotFile], skipped: dict[str, str]
) -> None:
    if not text.is_utf8(entry.rel.encode("utf-8", "surrogateescape")):
        skipped[text.storable(entry.rel)] = "has a name that is not UTF-8"
        return
    try:
        data = root.read_bytes(entry.rel, limit=MAX_FILE_BYTES)
    except (OSError, safefs.SafeFsError) as error:
        skipped[entry.rel] = safefs.reason(error)
        return
    found = entry.stat
    _, mtime_ns, inode = seen(found)
    files[entry.rel] = SnapshotFile(
        path=entry.rel,
        data=data,
        mode=found.st_mode & 0o7777,
        mtime_ns=mtime_ns,
        inode=inode,
        links=found.st_nlink,
    )


class Workspace:
    """The scratch copy. Paths are relative to the memory directory; texts are decoded so that all bytes are preserved."""

    def __init__(self, folder: Path, snapshot: Snapshot) -> None:
        self.folder = folder
        self.snapshot = snapshot
        self._root = safefs.Root.open(folder)

    @classmethod
    def create(cls, folder: Path, snapshot: Snapshot) -> Self:
        """Copies `snapshot` into `folder` (0700), which must not contain an older workspace."""
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(mode=0o700, parents=True)
        made = cls(folder, snapshot)
        for file in snapshot.files.values():
            made._put(file.path, file.data)
        return made

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.remove()

    def remove(self) -> None:
        self._root.close()
        shutil.rmtree(self.folder, ignore_errors=True)

    def paths(self) -> list[str]:
        """Every file in the scratch copy, in name order."""
        return sorted(self._walk())

    def editable(self) -> list[str]:
        """The memories an engine may change."""
        return [path for path in self.paths() if not self.read_only_because(path)]

    def read_only_because(self, path: str) -> str:
        """Why `path` must not be written, else ""."""
        if _is_hidden(path) or not path.endswith(".md"):
            return "is not a Markdown memory"
        if PurePosixPath(path).parts[0] == "logs":
            return "is a log, which is only read"
        known = self.snapshot.files.get(path)
        if known is not None:
            return known.read_only_because
        # An unread item at the path (a link, a folder, a file too large) would be lost, or block the apply later.
        if unread := self.snapshot.unread(path):
            return f"could not be read ({unread})"
        present = set(self._walk())
        if any(name.startswith(f"{path}/") for name in present):
            return FOLDER
        if other := names.twin(path, names.spellings(sorted(present))):
            return f"differs from {other} only by case or Unicode form"
        return "" if path in present else names.unfit(path)

    def read(self, path: str) -> str | None:
        """The text in the scratch copy, or None if there is no such file."""
        try:
            return text.decode(self._root.read_bytes(path, limit=MAX_FILE_BYTES))
        except FileNotFoundError:
            return None

    def write(self, path: str, content: str) -> None:
        """Replace or make `path`. Raises WorkspaceRefused with the reason."""
        self._put(path, self.checked(path, content))

    def delete(self, path: str) -> None:
        self.checked(path)
        self._root.unlink(path)

    def contents(self) -> dict[str, bytes]:
        """Everything in the scratch copy, by path."""
        return {path: self._root.read_bytes(path, limit=MAX_FILE_BYTES) for path in self.paths()}

    def checked(self, path: str, content: str = "") -> bytes:
        """The bytes of a new text for `path`. Raises WorkspaceRefused with the reason if it must not be written."""
        safefs.split(path)
        if reason := self.read_only_because(path):
            remedy = "Leave it as it is." if self._root.exists(path) else "Choose another name."
            raise WorkspaceRefused(f"{path} {reason}. {remedy}")
        data = text.encode(content)
        if len(data) > MAX_FILE_BYTES:
            raise WorkspaceRefused(f"{path} would be larger than {MAX_FILE_BYTES:,} bytes. Split it.")
        return data

    def _put(self, path: str, data: bytes) -> None:
        parent = str(PurePosixPath(path).parent)
        if parent != ".":
            self._root.mkdirs(parent)
        self._root.write_bytes(path, data)

    def _walk(self) -> Iterator[str]:
        for entry in self._root.walk(limit=MAX_FILES * 2):
            if isinstance(entry, safefs.WalkedFile):
                yield entry.rel


class TrialWorkspace:
    """For trials: starts from the snapshot of a workspace and changes only a copy in the process's memory. Refuses what the
    workspace would refuse."""

    def __init__(self, workspace: Workspace) -> None:
        self.snapshot = workspace.snapshot
        self.read_only_because = workspace.read_only_because
        self._checked = workspace.checked
        self._texts = {path: text.decode(file.data) for path, file in workspace.snapshot.files.items()}

    def paths(self) -> list[str]:
        return sorted(self._texts)

    def editable(self) -> list[str]:
        return [path for path in self.paths() if not self.read_only_because(path)]

    def read(self, path: str) -> str | None:
        return self._texts.get(path)

    def write(self, path: str, content: str) -> None:
        """Raises WorkspaceRefused with the reason."""
        self._checked(path, content)
        self._texts[path] = content

    def delete(self, path: str) -> None:
        """Raises WorkspaceRefused with the reason."""
        self._checked(path)
        del self._texts[path]
