"""`Root`: a chosen directory, open by handle, and all operations below it. Each name is checked, then opened or created from
the handle of its directory: the system never gets a complete path."""

import errno
import io
import os
import secrets
import stat as st
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from itertools import islice
from typing import Self


@dataclass(frozen=True, slots=True)
class WalkedFile:
    """A regular file found by a walk. `stat.st_nlink` tells whether other names share its bytes."""

    rel: str
    stat: os.stat_result


@dataclass(frozen=True, slots=True)
class Skipped:
    """A name that a walk skipped, and why, in words for a person."""

    rel: str
    why: str


@dataclass(slots=True)
class Budget:
    left: int
    ran_out: bool = False

    def entries(self, fd: int) -> list[os.DirEntry[str]]:
        """The sorted names of one directory, counted against the remaining limit."""
        with os.scandir(fd) as found:
            taken = list(islice(found, self.left + 1))
        self.ran_out = self.ran_out or len(taken) > self.left
        taken = taken[: self.left]
        self.left -= len(taken)
        return sorted(taken, key=lambda entry: entry.name)


def walk(fd: int, prefix: str, budget: Budget, depth: int) -> Iterator[WalkedFile | Skipped]:
    try:
        entries = budget.entries(fd)
    except OSError as error:
        yield Skipped(prefix, reason(error))
        return
    for entry in entries:
        rel = f"{prefix}/{entry.name}" if prefix else entry.name
        try:
            found = os.stat(entry.name, dir_fd=fd, follow_symlinks=False)
        except OSError as error:
            yield Skipped(rel, reason(error))
            continue
        if st.S_ISREG(found.st_mode):
            yield WalkedFile(rel, found)
        elif st.S_ISDIR(found.st_mode):
            yield from _descend(fd, entry.name, rel, budget, depth)
        else:
            yield Skipped(rel, f"is {kind_of(found.st_mode)}, which is never followed")


def _descend(fd: int, name: str, rel: str, budget: Budget, depth: int) -> Iterator[WalkedFile | Skipped]:
    if depth <= 0:
        yield Skipped(rel, "is too deep")
        return
    try:
        deeper = open_directory(fd, name, rel)
    except (OSError, SafeFsError) as error:
        yield Skipped(rel, reason(error))
        return
    with held(deeper):
        yield from walk(deeper, rel, budget, depth - 1)


MAX_DEPTH = 64  # folders in one path; chosen
MAX_PATH_BYTES = 4096  # PATH_MAX of Linux


class SafeFsError(Exception):
    """A path was not read or written, for a reason other than the system's own OSError."""

    def __init__(self, path: str, why: str) -> None:
        # repr: a name may contain escapes or undecodable bytes, and the message is shown in terminals and logs.
        super().__init__(f"{path!r} {why}")
        self.path = path
        self.why = why


class UnsafePath(SafeFsError):
    """The path leaves the root, or a part of it is neither a directory nor a regular file."""


class TooLarge(SafeFsError):
    """The file has more bytes than the caller's limit."""

    def __init__(self, path: str, limit: int) -> None:
        super().__init__(path, f"is larger than the limit of {limit:,} bytes")
        self.limit = limit


def _encodable(path: str) -> bool:
    try:
        os.fsencode(path)
    except UnicodeEncodeError:
        return False
    return True


def split(rel: str) -> tuple[str, ...]:
    """The components of `rel`. Raises UnsafePath unless it is the plain spelling of a path below a root.

    `./a`, `a//b` and `a/` are refused too: two spellings of one file defeat every check keyed by path.
    """
    if not rel:
        raise UnsafePath(rel, "is empty")
    if not _encodable(rel):
        raise UnsafePath(rel, "holds characters that no file name on this system can hold")
    if "\0" in rel:
        raise UnsafePath(rel, "holds a NUL character")
    if rel.startswith("/"):
        raise UnsafePath(rel, "is absolute; give a path below the root")
    parts = tuple(rel.split("/"))
    if ".." in parts:
        raise UnsafePath(rel, "names a parent directory (..)")
    if "" in parts or "." in parts:
        raise UnsafePath(rel, "has an empty or '.' component; write it plainly")
    if len(parts) > MAX_DEPTH or len(os.fsencode(rel)) > MAX_PATH_BYTES:
        raise UnsafePath(rel, "is too deep or too long")
    return parts


def kind_of(mode: int) -> str:
    """The kind of file of a mode, in words for a person."""
    names = (
        (st.S_ISREG, "a file"),
        (st.S_ISDIR, "a directory"),
        (st.S_ISLNK, "a link"),
        (st.S_ISFIFO, "a FIFO"),
        (st.S_ISSOCK, "a socket"),
    )
    return next((name for test, name in names if test(mode)), "a device")


def reason(error: OSError | SafeFsError) -> str:
    """Why something failed, without its path, for a list of skipped names."""
    return error.why if isinstance(error, SafeFsError) else error.strerror or "cannot be read"


# O_NONBLOCK keeps a FIFO without a writer from hanging the open.
_COMMON = os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_READ_FILE = os.O_RDONLY | _COMMON
_READ_DIR = os.O_RDONLY | os.O_DIRECTORY | _COMMON
# Folders on the way need only search permission; on systems without O_PATH they must be readable.
_WAY = getattr(os, "O_PATH", os.O_RDONLY) | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
NEW_FILE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | _COMMON


def open_directory(folder: int, name: str, rel: str) -> int:
    try:
        return os.open(name, _READ_DIR, dir_fd=folder)
    except OSError as error:
        raise _explained(error, folder, name, rel) from error


def open_plain(path: str) -> int:
    """The directory of an absolute path from `os.path.realpath`; no part of it may be a link now."""
    names = [name for name in path.split("/") if name]
    fd = os.open("/", _WAY if names else _READ_DIR)
    for number, name in enumerate(names, 1):
        flags = _READ_DIR if number == len(names) else _WAY
        try:
            deeper = os.open(name, flags, dir_fd=fd)
        except OSError as error:
            why = _explained(error, fd, name, path)
            os.close(fd)
            raise why from error
        os.close(fd)
        fd = deeper
    return fd


def open_regular(folder: int, name: str, rel: str) -> int:
    try:
        fd = os.open(name, _READ_FILE, dir_fd=folder)
    except OSError as error:
        raise _explained(error, folder, name, rel) from error
    # From the handle, not the name: the name may be another file by now.
    mode = os.fstat(fd).st_mode
    if not st.S_ISREG(mode):
        os.close(fd)
        raise UnsafePath(rel, f"is {kind_of(mode)}, not a regular file")
    return fd


def _explained(error: OSError, folder: int, name: str, rel: str) -> OSError | UnsafePath:
    """UnsafePath if the open failed because of the kind of file; the stat here is only for the message."""
    if error.errno in (errno.ENOENT, errno.EACCES):
        return error
    try:
        mode = os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode
    except OSError:
        return error
    if error.errno == errno.ELOOP or not (st.S_ISREG(mode) or st.S_ISDIR(mode)):
        return UnsafePath(rel, f"goes through {name!r}, which is {kind_of(mode)}")
    return error


def mode_to_keep(folder: int, name: str, rel: str) -> int:
    try:
        found = os.stat(name, dir_fd=folder, follow_symlinks=False)
    except FileNotFoundError:
        return 0o600
    if not st.S_ISREG(found.st_mode):
        raise UnsafePath(rel, f"is {kind_of(found.st_mode)}, not a regular file")
    return st.S_IMODE(found.st_mode)


def write_new(folder: int, name: str, data: bytes, mode: int) -> None:
    with os.fdopen(os.open(name, NEW_FILE, 0o600, dir_fd=folder), "wb") as file:
        file.write(data)
        file.flush()
        os.fchmod(file.fileno(), mode)


DEFAULT_LIMIT = 64 * 1024 * 1024  # of a file read at once; chosen


@contextmanager
def held(fd: int) -> Iterator[int]:
    """A descriptor that is closed after the block."""
    try:
        yield fd
    finally:
        os.close(fd)


class Root:
    """A chosen directory, open by handle. Close it, or use it as a context manager."""

    def __init__(self, fd: int, path: str) -> None:
        """Takes ownership of the directory handle `fd`; `path` is only for messages."""
        self._fd: int | None = fd
        self.path = path

    @classmethod
    def open(cls, path: str | os.PathLike[str]) -> "Root":
        """Opens a chosen root, which may be a link. Raises OSError if it is not a readable directory."""
        text = os.fspath(path)
        if "\0" in text:
            raise UnsafePath(text, "holds a NUL character")
        return cls(os.open(text, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC), text)

    @classmethod
    def open_resolved(cls, path: str) -> "Root":
        """Opens an absolute path that was resolved before. Raises OSError, and UnsafePath if a part of it is a link now."""
        return cls(open_plain(path), path)

    def sub(self, rel: str) -> "Root":
        """A separate root at the directory `rel`: cheaper for many files below it."""
        return Root(self.open_dir(rel), f"{self.path.rstrip('/')}/{rel}" if rel else self.path)

    def fileno(self) -> int:
        """The directory handle. Raises ValueError once closed."""
        if self._fd is None:
            raise ValueError(f"the root {self.path!r} is closed")
        return self._fd

    def close(self) -> None:
        fd, self._fd = self._fd, None
        if fd is not None:
            os.close(fd)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __del__(self) -> None:
        with suppress(OSError):
            self.close()

    def identity(self) -> tuple[int, int]:
        """(device, inode) of the directory: the same for two paths that lead to one directory."""
        found = os.fstat(self.fileno())
        return found.st_dev, found.st_ino

    # Opening

    def open_dir(self, rel: str = "") -> int:
        """A new handle on the directory `rel` ("" is the root itself). The caller closes it."""
        fd = os.dup(self.fileno())
        for name in split(rel) if rel else ():
            try:
                deeper = open_directory(fd, name, rel)
            finally:
                os.close(fd)
            fd = deeper
        return fd

    @contextmanager
    def parent(self, rel: str) -> Iterator[tuple[int, str]]:
        """(handle of the directory that contains `rel`, last name). The handle is closed after the block."""
        *folders, name = split(rel)
        with held(self.open_dir("/".join(folders))) as fd:
            yield fd, name

    def open_fd(self, rel: str) -> int:
        """A read-only descriptor of the regular file `rel`. The caller closes it."""
        with self.parent(rel) as (folder, name):
            return open_regular(folder, name, rel)

    def open_file(self, rel: str) -> io.BufferedReader:
        """The regular file `rel`, open for reading; use it in a `with`."""
        return os.fdopen(self.open_fd(rel), "rb")

    # Reading

    def read_bytes(self, rel: str, limit: int = DEFAULT_LIMIT) -> bytes:
        """All bytes of `rel`. Raises TooLarge above `limit`, also if the file grows while it is read."""
        with self.open_file(rel) as file:
            if os.fstat(file.fileno()).st_size > limit:
                raise TooLarge(rel, limit)
            data = file.read(limit + 1)
        if len(data) > limit:
            raise TooLarge(rel, limit)
        return data

    def lstat(self, rel: str) -> os.stat_result:
        """The stat of `rel`, of any kind; a link is not followed."""
        with self.parent(rel) as (folder, name):
            return os.stat(name, dir_fd=folder, follow_symlinks=False)

    def stat(self, rel: str = "") -> os.stat_result:
        """The stat of a regular file or directory ("" is the root). Raises UnsafePath for any other kind."""
        if not rel:
            return os.fstat(self.fileno())
        found = self.lstat(rel)
        if not (st.S_ISREG(found.st_mode) or st.S_ISDIR(found.st_mode)):
            raise UnsafePath(rel, f"is {kind_of(found.st_mode)}, not a regular file")
        return found

    def exists(self, rel: str) -> bool:
        """Whether the name `rel` exists, even as a dangling link."""
        try:
            self.lstat(rel)
        except (FileNotFoundError, NotADirectoryError):
            return False
        return True

    def listdir(self, rel: str = "", limit: int = 100_000) -> list[str]:
        """The names in a directory, sorted, at most `limit` of them."""
        with held(self.open_dir(rel)) as fd, os.scandir(fd) as entries:
            return sorted(entry.name for entry in islice(entries, limit))

    def walk(
        self, limit: int = 100_000, rel: str = "", max_depth: int = 32
    ) -> Iterator[WalkedFile | Skipped]:
        """Regular files below `rel` in name order, and skipped names. Reads at most `limit` names.

        An unreadable directory, a link or a device is one Skipped and does not stop the walk. A last Skipped
        reports that there are more names than `limit`.
        """
        budget = Budget(limit)
        try:
            fd = self.open_dir(rel)
        except (OSError, SafeFsError) as error:
            yield Skipped(rel, reason(error))
            return
        with held(fd):
            yield from walk(fd, rel, budget, max_depth)
        if budget.ran_out:
            yield Skipped(rel, f"more than {limit:,} names; the rest was not read")

    # Writing: for scratch copies. Real memory directories are written by the journal alone.

    def mkdirs(self, rel: str) -> None:
        """Makes the directory `rel` and those above it; existing ones are not changed."""
        fd = os.dup(self.fileno())
        for name in split(rel):
            try:
                with suppress(FileExistsError):
                    os.mkdir(name, 0o700, dir_fd=fd)
                deeper = open_directory(fd, name, rel)
            finally:
                os.close(fd)
            fd = deeper
        os.close(fd)

    def write_bytes(self, rel: str, data: bytes, mode: int | None = None) -> None:
        """Replaces `rel` in one step: a reader sees the old or the new bytes. The folder must exist.

        An existing file keeps its mode unless `mode` is given; a new one gets 0600. Not fsynced. Raises
        UnsafePath if it exists and is not a regular file.
        """
        with self.parent(rel) as (folder, name):
            keep = mode_to_keep(folder, name, rel) if mode is None else mode
            temp = f".memoryweb-{secrets.token_hex(8)}.tmp"
            try:
                write_new(folder, temp, data, keep)
                os.replace(temp, name, src_dir_fd=folder, dst_dir_fd=folder)
            except BaseException:
                with suppress(FileNotFoundError):
                    os.unlink(temp, dir_fd=folder)
                raise

    def unlink(self, rel: str) -> None:
        """Remove the regular file `rel`; links and devices are refused."""
        with self.parent(rel) as (folder, name):
            found = os.stat(name, dir_fd=folder, follow_symlinks=False)
            if not st.S_ISREG(found.st_mode):
                raise UnsafePath(rel, f"is {kind_of(found.st_mode)}, not a regular file")
            os.unlink(name, dir_fd=folder)
