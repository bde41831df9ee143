"""`Root`: a chosen directory, held by handle, and everything that is done below it."""

from __future__ import annotations

import io
import os
import secrets
import stat as st
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from itertools import islice
from types import TracebackType
from typing import Self

from .handles import mode_to_keep, open_directory, open_plain, open_regular, write_new
from .paths import SafeFsError, TooLarge, UnsafePath, kind_of, reason, split
from .walking import Budget, Found, Skipped, walk

DEFAULT_LIMIT = 64 * 1024 * 1024


class Root:
    """A chosen directory, held by handle. Close it, or use it as a context manager."""

    def __init__(self, fd: int, path: str) -> None:
        """Take ownership of the directory handle `fd`; `path` is only for messages."""
        self._fd: int | None = fd
        self.path = path

    @classmethod
    def open(cls, path: str | os.PathLike[str]) -> Root:
        """Open a chosen root, which may be a link. Raises OSError when it is not a readable directory."""
        text = os.fspath(path)
        if "\0" in text:
            raise UnsafePath(text, "holds a NUL character")
        return cls(os.open(text, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC), text)

    @classmethod
    def open_resolved(cls, path: str) -> Root:
        """Open an absolute path that was resolved before. Raises UnsafePath when a part of it is a link now, OSError."""
        return cls(open_plain(path), path)

    def sub(self, rel: str) -> Root:
        """A root of its own at the directory `rel`: cheaper when many files below it are wanted."""
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

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
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
        """(handle of the directory that holds `rel`, last name). The handle is closed on leaving."""
        *folders, name = split(rel)
        fd = self.open_dir("/".join(folders))
        try:
            yield fd, name
        finally:
            os.close(fd)

    def open_fd(self, rel: str) -> int:
        """A read-only descriptor of the regular file `rel`. The caller closes it."""
        with self.parent(rel) as (folder, name):
            return open_regular(folder, name, rel)

    def open_file(self, rel: str) -> io.BufferedReader:
        """The regular file `rel`, open for reading; use it in a `with`."""
        return os.fdopen(self.open_fd(rel), "rb")

    # Reading

    def read_bytes(self, rel: str, limit: int = DEFAULT_LIMIT) -> bytes:
        """All bytes of `rel`. Raises TooLarge above `limit`, also when the file grows while it is read."""
        with self.open_file(rel) as file:
            if os.fstat(file.fileno()).st_size > limit:
                raise TooLarge(rel, limit)
            data = file.read(limit + 1)
        if len(data) > limit:
            raise TooLarge(rel, limit)
        return data

    def lstat(self, rel: str) -> os.stat_result:
        """What stands at `rel`, whatever its kind; a link is told, never followed."""
        with self.parent(rel) as (folder, name):
            return os.stat(name, dir_fd=folder, follow_symlinks=False)

    def stat(self, rel: str = "") -> os.stat_result:
        """Of a regular file or directory ("" is the root). Raises UnsafePath for any other kind."""
        if not rel:
            return os.fstat(self.fileno())
        found = self.lstat(rel)
        if not (st.S_ISREG(found.st_mode) or st.S_ISDIR(found.st_mode)):
            raise UnsafePath(rel, f"is {kind_of(found.st_mode)}, not a regular file")
        return found

    def exists(self, rel: str) -> bool:
        """Whether any name stands at `rel`, a dangling link included."""
        try:
            self.lstat(rel)
        except (FileNotFoundError, NotADirectoryError):
            return False
        return True

    def listdir(self, rel: str = "", limit: int = 100_000) -> list[str]:
        """The names in a directory, sorted, at most `limit` of them."""
        fd = self.open_dir(rel)
        try:
            with os.scandir(fd) as entries:
                return sorted(entry.name for entry in islice(entries, limit))
        finally:
            os.close(fd)

    def walk(self, limit: int = 100_000, rel: str = "", max_depth: int = 32) -> Iterator[Found | Skipped]:
        """Regular files below `rel` in name order, and what was skipped. At most `limit` names are looked at.

        An unreadable directory, a link or a device is one Skipped and stops nothing. A last Skipped says so
        when there was more than `limit`.
        """
        budget = Budget(limit)
        try:
            fd = self.open_dir(rel)
        except (OSError, SafeFsError) as error:
            yield Skipped(rel, reason(error))
            return
        try:
            yield from walk(fd, rel, budget, max_depth)
        finally:
            os.close(fd)
        if budget.ran_out:
            yield Skipped(rel, f"more than {limit:,} names; the rest was not read")

    # Writing: for scratch copies. Real memory directories are written by the journal alone.

    def mkdirs(self, rel: str, mode: int = 0o700) -> None:
        """Make the directory `rel` and those above it; existing ones are kept as they are."""
        fd = os.dup(self.fileno())
        for name in split(rel):
            try:
                with suppress(FileExistsError):
                    os.mkdir(name, mode, dir_fd=fd)
                deeper = open_directory(fd, name, rel)
            finally:
                os.close(fd)
            fd = deeper
        os.close(fd)

    def write_bytes(self, rel: str, data: bytes, mode: int | None = None) -> None:
        """Write `rel` whole: a reader sees the old or the new bytes. The folder must exist.

        An existing file keeps its mode unless `mode` is given; a new one gets 0600. Not fsynced. Raises
        UnsafePath when something other than a regular file stands there.
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

    def rmdir(self, rel: str) -> None:
        """Remove the empty directory `rel`."""
        with self.parent(rel) as (folder, name):
            os.rmdir(name, dir_fd=folder)
