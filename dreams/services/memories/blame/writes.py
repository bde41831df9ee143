"""The lines that an agent's own write added to a memory file, as the transcript's record tells. PURE: no Django.

A record of a tool's result holds what was written in one of several shapes: a patch, a whole text, or the old and the
new words of an edit. Whatever is odd adds nothing.
"""

from __future__ import annotations

import os
from collections.abc import Container, Iterable, Iterator

from dreams.lib.agents.transcripts.decode import Json, objects
from dreams.lib.agents.transcripts.reader import Source, opened

#: A record with a whole memory in it is some ten kilobytes; the longest line ever seen had 2.1 MB.
MAX_RECORD_BYTES = 4 << 20
_CHUNK = 64 << 10


def added_at(
    source: Source, offset: int, names: Container[str], limit: int = MAX_RECORD_BYTES
) -> frozenset[str] | None:
    """The lines (stripped, none blank) that the record at this byte offset added to a file of one of these names.

    None where no such write stands there. Raises OSError.
    """
    return added_by(_record(source, offset, limit), names)


def _record(source: Source, offset: int, limit: int) -> bytes:
    """The line that begins at `offset`, without its end; empty when it is longer than `limit` bytes."""
    found = bytearray()
    with opened(source) as handle:
        while len(found) <= limit:
            part = os.pread(handle, _CHUNK, offset + len(found))
            head, end, _ = part.partition(b"\n")
            found += head
            if end or not part:
                break
    return bytes(found) if len(found) <= limit else b""


def added_by(record: bytes, names: Container[str]) -> frozenset[str] | None:
    """As `added_at`, of a record's bytes."""
    results = [found.get("toolUseResult") for _, found in objects(record) if isinstance(found, dict)]
    wrote = [result for result in results if isinstance(result, dict) and _path(result) in names]
    return frozenset(line for result in wrote for line in _stripped(_added(result))) if wrote else None


def _path(result: dict[str, Json]) -> str:
    path = result.get("filePath")
    return path if isinstance(path, str) else ""


def _added(result: dict[str, Json]) -> Iterable[str]:
    patched = list(_patched(result.get("structuredPatch")))
    if patched:
        return patched
    new = [*_texts(result, "content", "newString"), *_edited(result.get("edits"), "new_string")]
    old = [*_texts(result, "originalFile", "oldString"), *_edited(result.get("edits"), "old_string")]
    before = set(_lines(old))
    return (line for line in _lines(new) if line not in before)


def _patched(patch: Json) -> Iterator[str]:
    for hunk in patch if isinstance(patch, list) else []:
        lines = hunk.get("lines") if isinstance(hunk, dict) else None
        for line in lines if isinstance(lines, list) else []:
            if isinstance(line, str) and line.startswith("+"):
                yield line[1:]


def _texts(result: dict[str, Json], *names: str) -> Iterator[str]:
    for name in names:
        value = result.get(name)
        if isinstance(value, str):
            yield value


def _edited(edits: Json, name: str) -> Iterator[str]:
    for edit in edits if isinstance(edits, list) else []:
        if isinstance(edit, dict):
            yield from _texts(edit, name)


def _lines(texts: Iterable[str]) -> Iterator[str]:
    for text in texts:
        yield from text.split("\n")


def _stripped(lines: Iterable[str]) -> Iterator[str]:
    return (line.strip() for line in lines if line.strip())
