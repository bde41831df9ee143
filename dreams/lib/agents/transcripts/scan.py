"""Turns a transcript file into batches of rows for the database, and a summary. Pure: no Django."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime

import msgspec
from msgspec import Raw, Struct

from dreams.lib.agents.transcripts.reader import Cancelled, Cursor, Progress, Reader, Source, UnreadPlace
from dreams.lib.agents.transcripts.records import (
    DECODE_ERRORS,
    Message,
    Stamp,
    ToolResult,
    TranscriptRecord,
    instant,
    key64,
    present,
    span,
)
from dreams.lib.agents.transcripts.tasks import Tasks, tasks_after
from dreams.lib.agents.transcripts.typed_prompts import (
    command_typed,
    content_text,
    is_correction,
    title_of,
    typed_text,
)
from dreams.lib.agents.transcripts.usage import (
    UsageRow,
    better_line,
    keep_best,
    reported,
    same_request,
    usage_row,
)

_decode_text = msgspec.json.Decoder(str)


class Summary(Struct, omit_defaults=True):
    """Facts of one file, from its first byte to the cursor; saved as JSON and continued later.

    Times are aware UTC. Turns of sub-agents do not count: `user_turns` are typed, `assistant_turns` distinct
    consecutive messages.
    """

    session_id: str = ""
    root_uuid: str = ""
    version: str = ""
    first_at: datetime | None = None
    last_at: datetime | None = None
    first_cwd: str = ""
    last_branch: str = ""
    custom_title: str = ""
    ai_title: str = ""
    last_prompt: str = ""
    summary: str = ""
    first_typed: str = ""
    first_text: str = ""
    lines: int = 0
    malformed: int = 0
    user_turns: int = 0
    assistant_turns: int = 0
    corrections: int = 0
    last_message_id: str = ""
    tasks: Tasks | None = None

    @property
    def title(self) -> str:
        """The person's own title, else the agent's, else the last prompt, the summary, the first thing typed.

        A session without typed text (an accepted plan, a sub-agent) uses its first user text.
        """
        return (
            self.custom_title
            or self.ai_title
            or self.last_prompt
            or self.summary
            or self.first_typed
            or self.first_text
        )

    def add(self, line: TranscriptRecord) -> None:
        """Adds the facts of one record (the scan itself adds times, typed text and corrections)."""
        kind = line.type
        self.first_cwd = self.first_cwd or line.cwd or ""
        self.last_branch = line.git_branch or self.last_branch
        if kind == "progress":
            return
        if kind in ("assistant", "user"):
            self._add_turn(line)
        else:
            self._add_rare(line)

    def add_times(self, stamps: list[Stamp]) -> None:
        """Widens the span by the timestamps of many records."""
        if (found := span(stamps)) is not None:
            self.first_at = min(self.first_at or found[0], found[0])
            self.last_at = max(self.last_at or found[1], found[1])

    def _add_turn(self, line: TranscriptRecord) -> None:
        if line.session_id and line.session_id != self.session_id:
            self.session_id = line.session_id
        if line.version and line.version != self.version:
            self.version = line.version
        if not self.root_uuid and line.uuid:
            self.root_uuid = line.uuid
        if line.is_sidechain:
            return
        message = line.message
        if line.type == "assistant" and isinstance(message, Message):
            name = message.id or line.uuid or ""
            if name != self.last_message_id:
                self.last_message_id = name
                self.assistant_turns += 1

    def _add_rare(self, line: TranscriptRecord) -> None:
        if line.session_id and not self.session_id:
            self.session_id = line.session_id
        if line.type == "custom-title":
            self.custom_title = _title(line.custom_title) or self.custom_title
        elif line.type == "ai-title":
            self.ai_title = _title(line.ai_title) or self.ai_title
        elif line.type == "last-prompt":
            self.last_prompt = _title(line.last_prompt) or self.last_prompt
        elif line.type == "summary":
            self.summary = _title(line.summary) or self.summary

    def add_typed(self, text: str, *, correction: bool) -> None:
        self.user_turns += 1
        self.corrections += correction
        self.first_typed = self.first_typed or title_of(text)


def _title(raw: Raw) -> str:
    if not present(raw):
        return ""
    try:
        return title_of(_decode_text.decode(raw))
    except DECODE_ERRORS:
        return ""


# --- Batches ---------------------------------------------------------------------------------------------------------

BATCH_LINES = 20_000  # between two checks whether to stop; chosen

_MEMORY_FOLDERS = ("/memory/", "/agent-memory/", "/agent-memory-local/")


class Prompt(msgspec.Struct, frozen=True, gc=False, array_like=True):
    """One typed text. Copies of a line in forked sessions have the same `key`. `at` is aware UTC."""

    key: int
    offset: int
    line: int
    at: datetime | None
    text: str


class MemoryWrite(msgspec.Struct, frozen=True, gc=False, array_like=True):
    """A write to a memory file; the text before it is in the record at `offset`."""

    path: str
    offset: int
    line: int
    at: datetime | None


@dataclass(slots=True)
class Scan:
    """How far a file was read: saved after a batch, passed in at the next reading."""

    cursor: Cursor = field(default_factory=Cursor)
    summary: Summary = field(default_factory=Summary)


class Batch(Struct, array_like=True):
    """Rows found since the last batch, in the order in which they were found."""

    usage: dict[int, UsageRow] = {}
    prompts: list[Prompt] = []
    memory_writes: list[MemoryWrite] = []
    problems: list[UnreadPlace] = []
    lines: int = 0
    bytes_read: int = 0


def uuid_key(uuid: str) -> int:
    """The key that all copies of a line have, in any file."""
    return key64("uuid", uuid)


def scan(
    source: Source,
    state: Scan,
    *,
    reader: Reader | None = None,
    progress: Progress | None = None,
    batch_lines: int = BATCH_LINES,
) -> Iterator[Batch]:
    """Reads `source` from `state.cursor` on; yields at least one batch, the last one with the problems.

    Use one `reader` for many files. Raises OSError, and Cancelled when `progress` returned False: `state` is then
    at the last batch yielded.
    """
    reader = reader or Reader()
    run = _FileScan(state.summary, reader)
    stopped: Exception | None = None
    try:
        for line, offset, number in reader.read(source, state.cursor, progress=progress):
            run.add(line, offset, number)
            # Only between lines: the reader is already past a plain line, but not yet past one with two records.
            if run.batch.lines >= batch_lines and reader.position > offset:
                yield run.hand_out(state)
                run.begin()
    except (Cancelled, OSError) as error:
        stopped = error
    yield run.hand_out(state)
    if stopped is not None:
        raise stopped


def scan_at_once(fd: int, size: int, reader: Reader) -> tuple[Scan, Batch] | None:
    """What `scan` finds in a small file without odd lines, else None: use `scan`. Raises OSError."""
    entries = reader.at_once(fd, size)
    if entries is None or len(entries) > BATCH_LINES:
        return None
    state = Scan()
    run = _FileScan(state.summary, reader)
    add = run.add
    for line, offset, number in entries:
        add(line, offset, number)
    return state, run.hand_out(state)


class _FileScan:
    """One reading of one file: the batch being filled."""

    def __init__(self, summary: Summary, reader: Reader) -> None:
        self.summary, self.reader = summary, reader
        self._pending: TranscriptRecord | None = None
        self._malformed = self._problems = self._bytes = 0
        self.begin()

    def begin(self) -> None:
        """Starts an empty batch."""
        self.batch = Batch()
        self._stamps: list[Stamp] = []

    def add(self, line: TranscriptRecord, offset: int, number: int) -> None:
        self.summary.add(line)
        kind, message = line.type, line.message
        self.batch.lines += 1
        if line.timestamp is not None:
            self._stamps.append(line.timestamp)
        if kind == "progress":
            inner = reported(line)
            if inner is not None and isinstance(inner.message, Message) and inner.message.usage is not None:
                self._add_usage(inner)
            return
        if isinstance(message, Message):
            if message.usage is not None:
                self._add_usage(line)
            self.summary.tasks = tasks_after(self.summary.tasks, line, message, offset, number)
        if kind == "user":
            result = line.tool_use_result
            if result is None:
                self._add_typed(line, offset, number)
            elif isinstance(result, ToolResult) and len(result.original_file) and present(result.file_path):
                self._add_memory_write(line, result, offset, number)
        elif kind == "attachment":
            self._add_typed(line, offset, number)

    def _add_usage(self, line: TranscriptRecord) -> None:
        """Lines of one request are consecutive: only the best of a run becomes a row."""
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

    def _add_typed(self, line: TranscriptRecord, offset: int, number: int) -> None:
        text = typed_text(line)
        if text is None:
            if not self.summary.first_text and not line.is_meta and isinstance(line.message, Message):
                self.summary.first_text = title_of(command_typed(content_text(line.message.content)))
            return
        self.summary.add_typed(text, correction=is_correction(text))
        key = uuid_key(line.uuid) if line.uuid else key64("typed", str(line.timestamp), text)
        self.batch.prompts.append(Prompt(key, offset, number, instant(line.timestamp), text))

    def _add_memory_write(self, line: TranscriptRecord, edit: ToolResult, offset: int, number: int) -> None:
        try:
            path = _decode_text.decode(edit.file_path)
        except DECODE_ERRORS:
            return
        # Only what looks like a memory; the importer checks it against the folders it knows.
        slashed = path.replace("\\", "/")
        if slashed.endswith(".md") and any(folder in slashed for folder in _MEMORY_FOLDERS):
            self.batch.memory_writes.append(MemoryWrite(path, offset, number, instant(line.timestamp)))

    def hand_out(self, state: Scan) -> Batch:
        """Returns the batch so far and moves `state` to the same point."""
        self._flush_usage()
        self.summary.add_times(self._stamps)
        batch, reader = self.batch, self.reader
        self.summary.lines += batch.lines
        batch.problems = reader.problems[self._problems :]
        batch.bytes_read = reader.bytes_read - self._bytes
        self.summary.malformed += reader.malformed - self._malformed
        self._problems, self._bytes, self._malformed = (
            len(reader.problems),
            reader.bytes_read,
            reader.malformed,
        )
        state.cursor, state.summary = reader.cursor, self.summary
        return batch
