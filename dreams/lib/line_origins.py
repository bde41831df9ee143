"""Finds the state of a file in which each of its lines was added. PURE: no Django, no disk.

Lines are compared without line ends, so that a file rewritten with other line ends keeps its history. A line that
moved within the file keeps its state; if the same words were in the file before, and were moved with a new mark,
slightly reworded, or missing for a while, that earlier place is returned too.
"""

import os
from collections import defaultdict
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from dreams.lib import diff
from dreams.lib.agents.transcripts.reader import Source, opened
from dreams.lib.agents.transcripts.records import Json, objects, text_at

# Shorter lines ("---", "type: user") are in many places independently.
MIN_KNOWN = 16


@dataclass(frozen=True, slots=True)
class StateLine:
    """A line of a state: `state` counts from 0 in the states given, `line` from 0 in that state."""

    state: int
    line: int


@dataclass(frozen=True, slots=True)
class LineOrigin:
    """Where a line was added, and where the same words were in this file before, if anywhere."""

    state: int
    line: int
    before: StateLine | None = None

    @property
    def here(self) -> StateLine:
        return StateLine(self.state, self.line)

    @property
    def first(self) -> StateLine:
        """The earliest known place of these words."""
        return self.before or self.here


def lines_of(text: str) -> list[str]:
    """The lines of a text without their ends."""
    return [line.removesuffix("\n").removesuffix("\r") for line in diff.split_lines(text)]


def origins(states: Iterable[str | None]) -> list[LineOrigin]:
    """One entry per line of the last state; `states` are oldest first, None if the file did not exist.

    The state has more copies of that line than the state before it. Costs one line diff per state.
    """
    lines: list[str] = []
    found: list[LineOrigin] = []
    known: dict[str, StateLine] = {}
    for number, text in enumerate(states):
        now = [] if text is None else lines_of(text)
        if now == lines:
            continue
        step = _Step.of(lines, now)
        found = [
            found[was] if was is not None else _new(StateLine(number, line), now[line], step, found, known)
            for line, was in enumerate(step.kept)
        ]
        known.update(
            (now[origin.line], origin.first)
            for origin in found
            if origin.state == number and len(now[origin.line]) >= MIN_KNOWN
        )
        lines = now
    return found


def _new(
    here: StateLine, text: str, step: "_Step", found: Sequence[LineOrigin], known: Mapping[str, StateLine]
) -> LineOrigin:
    """A line added in this state, with the earlier place of its words."""
    source = step.reworded.get(here.line)
    before = found[source].first if source is not None else known.get(text)
    return LineOrigin(here.state, here.line, before)


@dataclass(frozen=True, slots=True)
class _Step:
    """From one state to the next: the unchanged old line of each new line, and lines that moved reworded."""

    kept: list[int | None]
    reworded: dict[int, int]

    @classmethod
    def of(cls, old: Sequence[str], new: Sequence[str]) -> "_Step":
        changes = diff.hunks(_text(old), _text(new), granularity="block")
        kept: list[int | None] = list(_unchanged(changes, len(new)))
        free = _gone(old, changes)
        for line, told in enumerate(new):
            if kept[line] is None and free[told]:
                kept[line] = free[told].pop(0)
        return cls(kept, dict(_reworded(changes, kept)))


def _text(lines: Sequence[str]) -> str:
    return "".join(line + "\n" for line in lines)


def _unchanged(changes: Sequence[diff.Hunk], count: int) -> Iterator[int | None]:
    """For every new line its unchanged old line, None if it was added."""
    at, shift = 0, 0
    for change in changes:
        yield from range(at + shift, change.new_start + shift)
        yield from [None] * len(change.new_lines)
        at = change.new_start + len(change.new_lines)
        shift = change.base_end - at
    yield from range(at + shift, count + shift)


def _gone(old: Sequence[str], changes: Sequence[diff.Hunk]) -> defaultdict[str, list[int]]:
    """The old places of each removed line."""
    found: defaultdict[str, list[int]] = defaultdict(list)
    for change in changes:
        for line in range(change.base_start, change.base_end):
            found[old[line]].append(line)
    return found


def _reworded(changes: Sequence[diff.Hunk], kept: Sequence[int | None]) -> Iterator[tuple[int, int]]:
    """(new line, old line) of those that moved with another mark or slightly reworded."""
    by_id = {change.id: change for change in changes}
    for move in diff.moved({"": changes}):
        new = by_id[move.target.hunk].new_start + move.target.line
        if kept[new] is None:
            yield new, by_id[move.source.hunk].base_start + move.source.line


# The lines that an agent's write added to a memory file, from the transcript's record.


#: A record with a complete memory has some ten kilobytes; the longest line measured had 2.1 MB.
MAX_RECORD_BYTES = 4 << 20
_CHUNK = 64 << 10


def added_at(
    source: Source, offset: int, names: Container[str], limit: int = MAX_RECORD_BYTES
) -> frozenset[str] | None:
    """The lines (stripped, none blank) that the record at this byte offset added to a file of one of these names.

    None if there is no such write. Raises OSError.
    """
    return added_by(_record(source, offset, limit), names)


def _record(source: Source, offset: int, limit: int) -> bytes:
    """The line that begins at `offset`, without its end; empty if longer than `limit` bytes."""
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
    """As `added_at`, from a record's bytes."""
    results = [found.get("toolUseResult") for _, found in objects(record) if isinstance(found, dict)]
    wrote = [each for each in results if isinstance(each, dict) and text_at(each, "filePath") in names]
    added = (line.strip() for result in wrote for line in _added(result))
    return frozenset(filter(None, added)) if wrote else None


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
