"""The tree that an agent sees: `/memory`, `/transcripts/…`, `/repo`, and nothing else.

Each mount is a safefs Root under a name. Real absolute paths below a mounted directory lead to the same files, so
that paths quoted in transcripts work; the longest prefix of complete components decides, also between nested
mounts. Paths are normalised as text, before anything is opened, and links are never followed, so no path leads
outside.
"""

import errno
import os
import stat as st
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from itertools import chain
from pathlib import PurePosixPath

from dreams.lib.files.safefs import Root, SafeFsError, held

LONGEST_PATH = 4096  # PATH_MAX of Linux
MOST_ENTRIES = 200_000  # of one folder; chosen


@dataclass(slots=True)
class Mount:
    """A directory under a name. `stands_for`: the real absolute paths that lead to it, the actual one first."""

    name: str
    root: Root
    stands_for: tuple[str, ...] = ()
    hidden: Callable[[str, bool], bool] = field(default=lambda rel, is_folder: False)

    @property
    def point(self) -> str:
        return "/" + self.name


@dataclass(frozen=True, slots=True)
class MountedPath:
    """Where a path leads: a mount and a path below it, or (mount None) a folder that only contains mounts."""

    path: str
    mount: Mount | None
    rel: str
    must_be_folder: bool = False


@dataclass(frozen=True, slots=True)
class FolderEntry:
    """One entry of a folder with its kind; links are reported, never followed."""

    name: str
    stat: os.stat_result

    @property
    def is_file(self) -> bool:
        return st.S_ISREG(self.stat.st_mode)


def normal(path: str, cwd: str = "/") -> str:
    """`path` made absolute, without `.`, `..` and double slashes; `..` stops at the root."""
    parts: list[str] = []
    for part in f"{cwd}/{path}".split("/") if not path.startswith("/") else path.split("/"):
        if part == "..":
            del parts[-1:]
        elif part not in ("", "."):
            parts.append(part)
    return "/" + "/".join(parts)


def _below(path: str, prefix: str) -> str | None:
    """The rest of `path` under `prefix` ("" for itself), or None. `/mem-evil` is not below `/mem`."""
    if path == prefix:
        return ""
    return path[len(prefix) + 1 :] if path.startswith(prefix + "/") else None


class Tree:
    """All mounts. Commands access all files through it."""

    def __init__(self, mounts: Iterable[Mount]) -> None:
        self.mounts = tuple(mounts)
        pairs = [(alias, mount) for mount in self.mounts for alias in (mount.point, *mount.stands_for)]
        self._prefixes = sorted(((normal(p), m) for p, m in pairs), key=lambda pair: -pair[0].count("/"))
        above = (PurePosixPath(mount.point).parents for mount in self.mounts)
        self._folders = {"/", *map(str, chain.from_iterable(above))}
        self.opened: dict[str, MountedPath] = {}  # since it was last cleared

    def close(self) -> None:
        for mount in self.mounts:
            mount.root.close()

    # Paths

    def place(self, path: str, cwd: str) -> MountedPath:
        """Where `path` leads. Raises FileNotFoundError outside every mount."""
        if not path or len(path) > LONGEST_PATH or "\0" in path:
            raise FileNotFoundError(errno.ENOENT, "No such file or directory")
        full = normal(path, cwd)
        folder = path.endswith(("/", "/.", "/.."))
        found = self._mounted(full)
        if found is not None:
            mount, rel = self._innermost(*found)
            self._refuse_hidden(mount, rel, folder)
            return MountedPath(full, mount, rel, folder)
        if full in self._folders:
            return MountedPath(full, None, full)
        here = ", ".join(mount.point for mount in self.mounts[:6])
        raise FileNotFoundError(errno.ENOENT, f"No such file or directory (here are only {here})")

    def _mounted(self, full: str) -> tuple[Mount, str] | None:
        for prefix, mount in self._prefixes:
            rel = _below(full, prefix)
            if rel is not None:
                return mount, rel
        return None

    def _innermost(self, mount: Mount, rel: str) -> tuple[Mount, str]:
        """The innermost mount of the path, under any of its names."""
        if rel and mount.stands_for:
            return self._mounted(normal(f"{mount.stands_for[0]}/{rel}")) or (mount, rel)
        return mount, rel

    @staticmethod
    def _refuse_hidden(mount: Mount, rel: str, folder: bool) -> None:
        if rel and mount.hidden(rel, folder):
            raise FileNotFoundError(errno.ENOENT, "No such file or directory")

    # Files

    def stat(self, place: MountedPath) -> os.stat_result:
        """The stat of a path; of a link, the link's own. Raises OSError or SafeFsError."""
        if place.mount is None:
            return _FOLDER
        found = place.mount.root.lstat(place.rel) if place.rel else place.mount.root.stat()
        is_folder = st.S_ISDIR(found.st_mode)
        if place.must_be_folder and not is_folder:
            raise NotADirectoryError(errno.ENOTDIR, "Not a directory")
        self._refuse_hidden(place.mount, place.rel, is_folder)
        return found

    def open(self, place: MountedPath) -> int:
        """A read-only descriptor of a regular file. Raises OSError or SafeFsError; the caller closes it."""
        if place.mount is None or not place.rel:
            raise IsADirectoryError(errno.EISDIR, "Is a directory")
        if place.must_be_folder:
            self.stat(place)
        self.opened[place.path] = place
        return place.mount.root.open_fd(place.rel)

    def entries(self, place: MountedPath) -> list[FolderEntry]:
        """The entries of a folder, in the file system's order, without ignored names."""
        if place.mount is None:
            return [FolderEntry(name, _FOLDER) for name in self._mounted_below(place.rel)]
        self._refuse_hidden(place.mount, place.rel, True)
        with held(place.mount.root.open_dir(place.rel)) as fd:
            return list(_shown(place.mount, place.rel, fd))

    def _mounted_below(self, folder: str) -> list[str]:
        top = folder.rstrip("/")
        rests = (_below(mount.point, top) for mount in self.mounts)
        return sorted({rest.split("/")[0] for rest in rests if rest})

    def link_target(self, place: MountedPath) -> str:
        """The text of a link, for listings; it is never followed."""
        if place.mount is None or not place.rel:
            raise OSError(errno.EINVAL, "Invalid argument")
        with place.mount.root.parent(place.rel) as (folder, name):
            return os.readlink(name, dir_fd=folder)


def _shown(mount: Mount, rel: str, fd: int) -> Iterator[FolderEntry]:
    with os.scandir(fd) as found:
        names = [entry.name for _, entry in zip(range(MOST_ENTRIES), found, strict=False)]
    for name in names:
        try:
            stat = os.stat(name, dir_fd=fd, follow_symlinks=False)
        except OSError:
            continue  # gone since the listing
        if not mount.hidden(f"{rel}/{name}" if rel else name, st.S_ISDIR(stat.st_mode)):
            yield FolderEntry(name, stat)


# A virtual folder: mode, inode, device, links, owner, group, size, three times.
_FOLDER = os.stat_result(
    (st.S_IFDIR | 0o555, 1, 0, 2, 0, 0, 4096, 0, 0, 0),
    {"st_blocks": 8, "st_blksize": 4096, "st_atime_ns": 0, "st_mtime_ns": 0, "st_ctime_ns": 0},
)


def trouble(error: OSError | SafeFsError) -> str:
    """Why a file was not read, in the words of the usual tools if they have some."""
    if isinstance(error, OSError):
        return error.strerror or "cannot be read"
    if error.why == "is a directory, not a regular file":
        return "Is a directory"
    return f"{error.why}; links, FIFOs and devices are never opened"
