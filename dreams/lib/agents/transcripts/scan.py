"""A transcript file → batches of rows for the database. Pure: no Django.

    state = Scan()                       # or the one saved at the last reading
    for batch in scan(path, state):      # read from state.cursor on
        …write batch.usage, batch.prompts, batch.memory_writes, and state…

After each batch `state` is consistent with exactly what was handed out so far, so it may be saved with it: a reading
that is cut off goes on after the last batch that was written. All keys are stable, so writing a row twice is harmless.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime

import msgspec

from .keys import key64
from .reader import Cancelled, Cursor, Problem, Progress, Reader, Source
from .records import Line, Message, ToolResult, present
from .summary import Summary, one_line
from .times import Stamp, instant
from .typed import content_text, is_correction, typed_text
from .usage import UsageRow, better_line, keep_best, reported, same_request, usage_row

BATCH_LINES = 20_000

_text = msgspec.json.Decoder(str)
_NOT_TEXT = (msgspec.DecodeError, UnicodeDecodeError)
_MEMORY_FOLDERS = ("/memory/", "/agent-memory/", "/agent-memory-local/")


class Prompt(msgspec.Struct, frozen=True, gc=False, array_like=True):
    """One typed text. `key` is the same for the copies of a line in forked sessions. `at` is aware UTC."""

    key: int
    offset: int
    line: int
    at: datetime | None
    text: str
    correction: bool


class MemoryWrite(msgspec.Struct, frozen=True, gc=False, array_like=True):
    """A write to a memory file; the text before it stands in the record at `offset`, and is not kept here."""

    path: str
    offset: int
    line: int
    at: datetime | None
    created: bool


@dataclass(slots=True)
class Scan:
    """Where a file's reading stands: saved after a batch, given again at the next reading."""

    cursor: Cursor = field(default_factory=Cursor)
    summary: Summary = field(default_factory=Summary)


@dataclass(slots=True)
class Batch:
    """Rows found since the last batch. `uuids` (when asked for) are keys of conversation lines, see `key64`."""

    usage: dict[int, UsageRow] = field(default_factory=dict)
    prompts: list[Prompt] = field(default_factory=list)
    memory_writes: list[MemoryWrite] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    uuids: array[int] = field(default_factory=lambda: array("q"))
    lines: int = 0
    bytes_read: int = 0


def uuid_key(uuid: str) -> int:
    """The key by which a line's copies in other files are recognised."""
    return key64("uuid", uuid)


def scan(
    source: Source,
    state: Scan,
    *,
    reader: Reader | None = None,
    progress: Progress | None = None,
    batch_lines: int = BATCH_LINES,
    uuids: bool = False,
) -> Iterator[Batch]:
    """Read `source` from `state.cursor` on; always at least one batch, the last one with the problems.

    Give one `reader` for many files. Raises OSError, and Cancelled when `progress` returned False: `state` then
    stands at the last batch handed out.
    """
    reader = reader or Reader()
    run = _Run(state.summary, reader, uuids=uuids)
    stopped: Exception | None = None
    try:
        for line, offset, number in reader.read(source, state.cursor, progress=progress):
            run.add(line, offset, number)
            # Only between lines: the reader is already past a plain line, and not yet past a glued one.
            if run.batch.lines >= batch_lines and reader.position > offset:
                yield run.hand_out(state)
    except (Cancelled, OSError) as error:
        stopped = error
    yield run.hand_out(state)
    if stopped is not None:
        raise stopped


class _Run:
    """One reading of one file: the batch being filled."""

    def __init__(self, summary: Summary, reader: Reader, *, uuids: bool) -> None:
        self.summary, self.reader, self.uuids = summary, reader, uuids
        self.batch = Batch()
        self._pending: Line | None = None
        self._stamps: list[Stamp] = []
        self._malformed = self._problems = self._bytes = 0

    def add(self, line: Line, offset: int, number: int) -> None:
        self.summary.add(line)
        self.batch.lines += 1
        kind, message = line.type, line.message
        if line.timestamp is not None:
            self._stamps.append(line.timestamp)
        if kind == "progress":
            inner = reported(line)
            if inner is not None and _has_usage(inner):
                self._add_usage(inner)
            return
        if message.__class__ is Message and message.usage is not None:
            self._add_usage(line)
        if kind == "user":
            self._add_user_line(line, offset, number)
        elif kind == "attachment":
            self._add_typed(line, offset, number)
        if self.uuids and line.uuid and kind in ("user", "assistant"):
            self.batch.uuids.append(uuid_key(line.uuid))

    def _add_usage(self, line: Line) -> None:
        """Lines of one request follow each other: only the best of a run becomes a row."""
        last = self._pending
        if last is None or not same_request(last, line):
            self._flush_usage()
        elif not better_line(line, last):
            return
        self._pending = line

    def _flush_usage(self) -> None:
        if self._pending is not None:
            row = usage_row(self._pending)
            self._pending = None
            if row is not None:
                keep_best(self.batch.usage, row)

    def _add_user_line(self, line: Line, offset: int, number: int) -> None:
        result = line.tool_use_result
        if result is None:
            self._add_typed(line, offset, number)
        elif isinstance(result, ToolResult) and len(result.original_file) and present(result.file_path):
            self._add_memory_write(line, result, offset, number)

    def _add_typed(self, line: Line, offset: int, number: int) -> None:
        text = typed_text(line)
        if text is None:
            self._note_first_text(line)
            return
        correction = is_correction(text)
        self.summary.add_typed(text, correction=correction)
        key = uuid_key(line.uuid) if line.uuid else key64("typed", str(line.timestamp), text)
        self.batch.prompts.append(Prompt(key, offset, number, instant(line.timestamp), text, correction))

    def _note_first_text(self, line: Line) -> None:
        if not self.summary.first_text and not line.is_meta and isinstance(line.message, Message):
            self.summary.first_text = one_line(content_text(line.message.content))

    def _add_memory_write(self, line: Line, edit: ToolResult, offset: int, number: int) -> None:
        try:
            path, before = _text.decode(edit.file_path), edit.original_file
        except _NOT_TEXT:
            return
        if not in_memory_folder(path):
            return
        self.summary.memory_writes += 1
        at = instant(line.timestamp)
        self.batch.memory_writes.append(MemoryWrite(path, offset, number, at, created=not present(before)))

    def hand_out(self, state: Scan) -> Batch:
        """The batch so far, with `state` brought to the same point."""
        self._flush_usage()
        self.summary.add_times(self._stamps)
        self._stamps = []
        batch, reader = self.batch, self.reader
        batch.problems = reader.problems[self._problems :]
        batch.bytes_read = reader.bytes_read - self._bytes
        self.summary.malformed += reader.malformed - self._malformed
        self._problems, self._bytes, self._malformed = (
            len(reader.problems),
            reader.bytes_read,
            reader.malformed,
        )
        state.cursor, state.summary = reader.cursor, self.summary
        self.batch = Batch()
        return batch


def _has_usage(line: Line) -> bool:
    message = line.message
    return message is not None and isinstance(message, Message) and message.usage is not None


def in_memory_folder(path: str) -> bool:
    """Whether a written path looks like a memory file; the importer checks it against the folders it knows."""
    slashed = path.replace("\\", "/")
    return slashed.endswith(".md") and any(folder in slashed for folder in _MEMORY_FOLDERS)
