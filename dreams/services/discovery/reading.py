"""The state of one file while it is read, and the resulting rows."""

import datetime as dt
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from operator import attrgetter

from django.conf import settings
from django.utils import timezone

from dreams.lib.agents.transcripts import (
    FIRST_YEAR,
    FileStat,
    Prompt,
    Scan,
    Summary,
    UsageRow,
    Whole,
    identity_of,
    uuid_key,
)
from dreams.lib.files.text import storable
from dreams.lib.secrets.redact import redact, redact_all
from dreams.lib.timestamps import from_ns, later
from dreams.services.discovery import rows
from dreams.services.discovery.listing import Job
from dreams.services.discovery.resume import Problems

_CLOCKS_DIFFER = dt.timedelta(days=1)  # at most, if a transcript came from another machine
MOST = 2**53  # tokens: an absurd number in one record must not overflow a column and stop all others


@dataclass(slots=True)
class FileReading:
    """One file being read. `owner` is the path of the main transcript of the session it belongs to.

    `whole` is its data if it was read ahead, else `fd` is the open file. Raises OSError when it accesses the file.
    """

    job: Job
    before: FileStat
    state: Scan
    problems: Problems
    fd: int = -1
    whole: Whole | None = None
    _owner: str = ""

    @property
    def identity(self) -> bytes:
        return self.whole.identity if self.whole else identity_of(self.fd, self.state.cursor.offset)

    @property
    def owner(self) -> str:
        """Set by the first batch: later lines of the same file may name another session."""
        self._owner = self._owner or self._find_owner()
        return self._owner

    def _find_owner(self) -> str:
        found = self.job.found
        if found.kind == "main" or self.job.known is not None:
            return found.path
        named = self.whole.named if self.whole else self.state.summary.session_id
        parent = found.parent or named
        return f"{self.job.folder_path}/{parent}.jsonl" if _is_name(parent) else found.path


def _is_name(text: str) -> bool:
    """Whether a session id from a record is safe to use in a path."""
    return bool(text) and len(text) <= 200 and "/" not in text and text.isprintable()


def _believed(said: dt.datetime | None, touched: dt.datetime) -> dt.datetime | None:
    """When a record was written: not much later than its file's time, or than now if that is from before there were agents."""
    last = touched if touched.year >= FIRST_YEAR else timezone.now()
    limit = later(last, _CLOCKS_DIFFER)
    return last if said is not None and limit is not None and said > limit else said


def session_row(reading: FileReading) -> rows.Row:
    job, summary, cursor = reading.job, reading.state.summary, reading.state.cursor
    touched = from_ns(reading.before.mtime_ns) or timezone.now()
    return (
        job.project,
        job.folder,
        job.found.session_id[:200],
        job.found.path,
        storable(summary.title),
        rows.as_cell(_believed(summary.first_at, touched)),
        rows.as_cell(_believed(summary.last_at, touched)),
        rows.as_cell(touched),
        storable(summary.last_branch, 255),
        storable(summary.first_cwd),
        storable(summary.version, 50),
        uuid_key(summary.root_uuid) if summary.root_uuid else None,
        cursor.offset,
        summary.lines,
        summary.user_turns,
        summary.assistant_turns,
        summary.corrections,
        summary.malformed,
        is_own(summary.first_cwd),
        None,
        0,
    )


def orphan_row(reading: FileReading, owner: str) -> rows.Row:
    """The session of a sub-agent whose main transcript is missing: marked as gone, but its tokens count."""
    job = reading.job
    name = owner.rpartition("/")[2].removesuffix(".jsonl")[:200]
    now = rows.as_cell(timezone.now())
    touched = rows.as_cell(from_ns(reading.before.mtime_ns)) or now
    empty: tuple[rows.Cell, ...] = ("", None, None, touched, "", "", "", None, 0, 0, 0, 0, 0, 0)
    return (job.project, job.folder, name, owner, *empty, False, now, 0)


def is_own(cwd: str) -> bool:
    """Whether a session was made by one of our dreams: its cwd is one of our workspaces."""
    return f"{cwd}/".startswith(_workspaces(str(settings.DATA_DIR)))


@cache
def _workspaces(data_dir: str) -> tuple[str, str]:
    """The workspaces folder as configured, and with links resolved."""
    ours = f"{data_dir}/workspaces"
    return f"{ours}/", f"{os.path.realpath(ours)}/"


def usage_row(session: int, row: UsageRow) -> rows.Row:
    long = min(row.cache_creation_1h, row.cache_creation)
    counts: tuple[int, ...] = (row.input, row.output, row.cache_creation - long, long, row.cache_read)
    if max(counts) > MOST or min(counts) < 0:
        counts = tuple(min(max(count, 0), MOST) for count in counts)
    return (
        row.key,
        session,
        row.message_key,
        _model(row.model),
        rows.as_cell(row.at),
        row.sidechain,
        *counts,
        min(row.web_searches, 2**31 - 1),
        row.agent_micros,
    )


@lru_cache(1_000)
def _model(name: str) -> str:
    return storable(redact(name), 100)


def prompt_rows(owned: Sequence[tuple[int, Prompt]]) -> list[rows.Row]:
    """The rows of (session, prompt) pairs."""
    texts = redact_all([row.text for _, row in owned])
    keys = rows.own_keys(row.key for _, row in owned)
    return [
        (keys[row.key], session, row.offset, row.line, rows.as_cell(row.at), storable(text))
        for (session, row), text in zip(owned, texts, strict=True)
    ]


def open_end_rows(summary: Summary) -> list[rows.Row]:
    """Rows without the session id; none for tasks of one of our dreams, which ended with it."""
    if summary.tasks is None or is_own(summary.first_cwd):
        return []
    return [
        (
            number,
            storable(task.subject),
            task.status,
            rows.as_json([storable(subject) for subject in task.blocked_by]),
            task.offset,
            task.line,
            rows.as_cell(task.at),
        )
        for number, task in enumerate(summary.tasks.unfinished(), 1)
    ]


WRITTEN = (
    *("custom_title", "ai_title", "last_prompt", "summary", "first_typed", "first_text"),
    "last_branch",
)


def leave_out_secrets(summaries: Sequence[Summary]) -> None:
    """Removes secrets from texts of people and agents before they are stored; the transcript is not changed."""
    lines = list({line for summary in summaries for line in _written(summary)})
    clean = {line: text for line, text in zip(lines, redact_all(lines), strict=True) if text != line}
    if not clean:
        return
    for summary in summaries:
        for name in WRITTEN:
            setattr(summary, name, clean.get(line := getattr(summary, name), line))
        for task in summary.tasks.all() if summary.tasks else ():
            task.subject = clean.get(task.subject, task.subject)


_texts = attrgetter(*WRITTEN)


def _written(summary: Summary) -> Iterator[str]:
    """The texts of a summary, without empty ones; the same texts may repeat."""
    yield from filter(None, _texts(summary))
    if summary.tasks is not None:
        yield from (task.subject for task in summary.tasks.all())
