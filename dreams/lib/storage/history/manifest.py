"""PURE: the manifest of one state (modes, mtimes, xattrs, sha256s), and where a path lives in the git tree.

The manifest is JSON with one entry per line, so that an ordinary `git diff` of two states stays readable.
Names that are not UTF-8 are kept as JSON's lone surrogates.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Mapping
from typing import TypeAlias

from .message import to_text
from .model import Entry, HistoryDamaged, Meta

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
