"""Names below a root: which spellings are taken, and how a refusal is worded."""

from __future__ import annotations

import os
import stat as st

MAX_DEPTH = 64
MAX_PATH_BYTES = 4096


class SafeFsError(Exception):
    """A path was not read or written, for a reason other than the system's own OSError."""

    def __init__(self, path: str, why: str) -> None:
        # repr: a name may hold escapes or undecodable bytes, and the message goes to terminals and logs.
        super().__init__(f"{path!r} {why}")
        self.path = path
        self.why = why


class UnsafePath(SafeFsError):
    """The path leaves the root, or something on it is neither a directory nor a regular file."""


class TooLarge(SafeFsError):
    """The file holds more bytes than the caller is ready to read."""

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
    """The components of `rel`. Raises UnsafePath for anything but one plain spelling of a path below a root.

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
    """What a mode is, as a word for a person."""
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
