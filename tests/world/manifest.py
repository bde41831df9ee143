"""The state of a directory tree: bytes, kinds, modes, mtimes and extended attributes, to compare before with after.

Read with `safefs`, which follows no links.
"""

from __future__ import annotations

import hashlib
import os
import stat as st
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from dreams.lib.files.safefs import Root
from dreams.lib.storage.journal.resolving import read_xattrs

Kind = Literal["file", "dir", "link", "other"]


@dataclass(frozen=True, slots=True)
class Entry:
    """One path. `sha256` is of a file's bytes or of a link's target; "" for other kinds."""

    kind: Kind
    sha256: str
    mode: int
    mtime_ns: int
    xattrs: Mapping[str, bytes] = field(default_factory=dict)


def manifest(directory: str | os.PathLike[str]) -> dict[str, Entry]:
    """Every path below `directory`, which itself is "". Empty if the directory does not exist.

    Raises OSError when something cannot be read.
    """
    found: dict[str, Entry] = {}
    try:
        root = Root.open(directory)
    except FileNotFoundError:
        return found
    with root:
        pending = [""]
        while pending:
            rel = pending.pop()
            with root.sub(rel) as folder:
                found[rel] = _of_handle("dir", folder.fileno(), "")
                pending += _read_folder(folder, rel, found)
    return dict(sorted(found.items()))


def _read_folder(folder: Root, rel: str, found: dict[str, Entry]) -> list[str]:
    """Adds the entries of one folder to `found` and returns its subfolders."""
    deeper = []
    for name in folder.listdir():
        path = f"{rel}/{name}" if rel else name
        if st.S_ISDIR(folder.lstat(name).st_mode):
            deeper.append(path)
        else:
            found[path] = _entry(folder, name)
    return deeper


def _entry(folder: Root, name: str) -> Entry:
    found = folder.lstat(name)
    if st.S_ISREG(found.st_mode):
        with folder.open_file(name) as file:
            return _of_handle("file", file.fileno(), hashlib.file_digest(file, "sha256").hexdigest())
    if st.S_ISLNK(found.st_mode):
        target = os.fsencode(os.readlink(name, dir_fd=folder.fileno()))
        return Entry("link", hashlib.sha256(target).hexdigest(), st.S_IMODE(found.st_mode), found.st_mtime_ns)
    return Entry("other", "", st.S_IMODE(found.st_mode), found.st_mtime_ns)


def _of_handle(kind: Kind, fd: int, sha256: str) -> Entry:
    found = os.fstat(fd)
    return Entry(kind, sha256, st.S_IMODE(found.st_mode), found.st_mtime_ns, read_xattrs(fd))
