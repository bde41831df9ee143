"""PURE: the manifest of one state (modes, mtimes, xattrs, sha256s), and where a path lives in the git tree.

The manifest is JSON with one entry per line, so that an ordinary `git diff` of two states stays readable.
Names that are not UTF-8 are kept as JSON's lone surrogates."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Mapping
from typing import TypeAlias

from dreams.lib.files.text import one_line
from dreams.lib.storage.history.model import Entry, HistoryDamaged, Meta

FORMAT = 1
MANIFEST = b"manifest.json"
MEMORY = b"memory"
#: Files that git refuses to check out by their names (`.git` and its spellings) live here, by a hash of the path.
ODD_NAMES = b"odd-names"

Location: TypeAlias = tuple[bytes, ...]

_SHA256 = re.compile(r"[0-9a-f]{64}\Z")
# Git refuses `.git` in any case, its NTFS short name and stream, trailing dots and spaces, and HFS+'s ignorables.
_ODD = re.compile(r"(\.git|git~\d+)([ .]*\Z|[ .]*:|\\)", re.IGNORECASE)
_IGNORABLE = re.compile("[\u200c-\u200f\u202a-\u202e\u206a-\u206f\ufeff]")


def is_sha256(text: str) -> bool:
    """Whether `text` is a sha256 in lower-case hexadecimal digits."""
    return bool(_SHA256.match(text))


def location(path: str) -> Location:
    """The tree entry of a memory path, as names from the commit's root.

    Raises ValueError for a path that does not stay below the memory directory.
    """
    parts = path.split("/")
    if "\0" in path or any(part in ("", ".", "..") for part in parts):
        raise ValueError(f"{path!r} is no path below a memory directory")
    try:
        raw = path.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError as error:
        raise ValueError(f"{path!r} is no file name on this system") from error
    if any(_ODD.match(_IGNORABLE.sub("", part)) for part in parts):
        return (ODD_NAMES, hashlib.sha256(raw).hexdigest().encode())
    return (MEMORY, *raw.split(b"/"))


def dump(entries: Mapping[str, Entry]) -> bytes:
    """The manifest's bytes; equal entries always give equal bytes."""
    lines = [
        f"{json.dumps(path)}: {json.dumps(_to_json(entry))}"
        for path, entry in sorted(
            entries.items(), key=lambda item: item[0].encode("utf-8", "surrogateescape")
        )
    ]
    body = ",\n".join(lines)
    return f'{{"format": {FORMAT}, "entries": {{\n{body}\n}}}}\n'.encode()


def load(raw: bytes) -> dict[str, Entry]:
    """Path → entry. Raises HistoryDamaged if it is no manifest of ours, or names a path outside."""
    try:
        document = json.loads(to_text(raw))
        if document["format"] != FORMAT:
            raise HistoryDamaged(
                f"manifest format {document['format']} is newer than this program; update it"
            )
        return {path: _from_json(path, value) for path, value in document["entries"].items()}
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise HistoryDamaged(
            f"a manifest cannot be read ({error}); import an export of this history"
        ) from error


def _to_json(entry: Entry) -> dict[str, object]:
    value: dict[str, object] = {}
    if entry.sha256 is not None:
        value |= {"sha256": entry.sha256, "size": entry.size}
    if entry.meta is not None:
        xattrs = {name: base64.b64encode(raw).decode() for name, raw in sorted(entry.meta.xattrs.items())}
        value |= {"mode": f"{entry.meta.mode:04o}", "mtime_ns": entry.meta.mtime_ns}
        value |= {"xattrs": xattrs} if xattrs else {}
    return value


def _from_json(path: str, value: dict[str, object]) -> Entry:
    sha256 = value.get("sha256")
    if sha256 is not None and not is_sha256(str(sha256)):
        raise ValueError(f"{sha256!r} is no sha256")
    if path or sha256 is not None:  # "" is the memory directory itself
        location(path)
    return Entry(None if sha256 is None else str(sha256), _integer(value.get("size", 0)), _meta(value))


def _meta(value: dict[str, object]) -> Meta | None:
    if "mode" not in value:
        return None
    xattrs = value.get("xattrs", {})
    if not isinstance(xattrs, dict):
        raise ValueError("xattrs is no object")
    kept = {str(name): base64.b64decode(str(raw), validate=True) for name, raw in xattrs.items()}
    return Meta(int(str(value["mode"]), 8), _integer(value["mtime_ns"]), kept)


def _integer(value: object) -> int:
    if not isinstance(value, int):
        raise ValueError(f"{value!r} is no whole number")
    return value


_KEY = re.compile(r"[A-Za-z][A-Za-z0-9-]{0,63}\Z")


def to_bytes(text: str) -> bytes:
    """UTF-8 in which names that are not UTF-8 keep their own bytes; NUL, which git forbids, is dropped."""
    text = text.replace("\0", "")
    try:
        return text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:  # a lone surrogate that stands for no byte
        return text.encode("utf-8", "replace")


def to_text(raw: bytes) -> str:
    """The inverse of `to_bytes`."""
    return raw.decode("utf-8", "surrogateescape")


def message(subject: str, trailers: Mapping[str, str]) -> bytes:
    """The bytes of a commit message.

    Raises ValueError for a trailer name that git could not read back.
    """
    lines = [one_line(subject.replace("\0", "")) or "(no message)", ""]
    for key, value in trailers.items():
        if not _KEY.match(key):
            raise ValueError(f"{key!r} is no trailer name; use letters, digits and hyphens")
        first, *more = value.split("\n")
        # Git's own way to go on in the next line is a leading space; a blank one would end the trailers.
        lines += [f"{key}: {first}", *(f" {_guarded(line)}" for line in more)]
    return to_bytes("\n".join(lines) + "\n")


def read_message(raw: bytes) -> tuple[str, dict[str, str]]:
    """Subject and trailers; lines of a foreign commit that are no trailers are left out."""
    subject, _, body = to_text(raw).removesuffix("\n").partition("\n\n")
    trailers: dict[str, str] = {}
    key = ""
    for line in body.split("\n"):
        name, colon, value = line.partition(": ")
        if line.startswith(" ") and key:
            trailers[key] += "\n" + line[1:].removeprefix(".")
        elif colon and _KEY.match(name):
            key = name
            trailers[key] = value
    return one_line(subject), trailers


def identity(author: str) -> bytes:
    """`author` as git's `Name <address>`; a plain name gets an address that leads nowhere."""
    name = re.sub(r"[<>\r\n]", " ", author).strip() or "unknown"
    return to_bytes(name) + b" <memoryweb@localhost>"


def author_of(raw: bytes) -> str:
    """The name in a git identity."""
    return to_text(raw.rpartition(b" <")[0] or raw)


def _guarded(line: str) -> str:
    return f".{line}" if not line.strip() or line.startswith(".") else line
