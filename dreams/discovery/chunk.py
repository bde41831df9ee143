"""Rows waiting to be written together, and what a session's row is made of."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cache
from typing import TypeVar

from django.conf import settings
from django.db import transaction
from django.utils import timezone

from dreams.discovery import rows
from dreams.discovery.listing import Job
from dreams.discovery.resume import Problems, identity_of, stat_mark, state_of
from dreams.gates.moments import from_ns
from dreams.text import storable
from dreams.transcripts import Batch, Prompt, Scan, UsageRow, uuid_key

FILES_AT_ONCE = 2_000
ROWS_AT_ONCE = 20_000
TEXT_AT_ONCE = 16 << 20
PROBLEMS_KEPT = 20
T = TypeVar("T")


@dataclass(slots=True)
class Reading:
    """One file being read. `owner` is the path of the main transcript of the session it belongs to."""

    job: Job
    fd: int
    before: os.stat_result
    state: Scan
    problems: Problems
    _owner: str = ""

    @property
    def owner(self) -> str:
        """Settled with the first batch: later lines of one file may name another session."""
        self._owner = self._owner or self._find_owner()
        return self._owner

    def _find_owner(self) -> str:
        found = self.job.found
        if found.kind == "main" or self.job.known is not None:
            return found.path
        parent = found.parent or self.state.summary.session_id
        return f"{self.job.folder_path}/{parent}.jsonl" if _is_name(parent) else found.path


def _is_name(text: str) -> bool:
    """Whether a session id from a record may stand in a path."""
    return bool(text) and len(text) <= 200 and "/" not in text and text.isprintable()


@dataclass(slots=True)
class Chunk:
    """Rows by the path of their session's main transcript; `write` turns paths into ids.

    `_ids` begins with the sessions known already, and keeps those met on the way: sub-agents come last.
    """

    host: str
    _ids: dict[str, int]
    replays_possible: bool = False
    _sessions: dict[str, rows.Row] = field(default_factory=dict)
    _orphans: dict[str, rows.Row] = field(default_factory=dict)
    _files: dict[str, tuple[str, int, rows.Row]] = field(default_factory=dict)
    _usage: list[tuple[str, UsageRow]] = field(default_factory=list)
    _prompts: list[tuple[str, Prompt]] = field(default_factory=list)
    _writes: list[tuple[str, rows.Row]] = field(default_factory=list)
    _text: int = 0

    @property
    def full(self) -> bool:
        return (
            len(self._files) >= FILES_AT_ONCE
            or len(self._usage) + len(self._prompts) >= ROWS_AT_ONCE
            or self._text >= TEXT_AT_ONCE
        )

    def add(self, reading: Reading, batch: Batch) -> None:
        """Take over the rows of one batch."""
        owner = reading.owner
        self._usage.extend((owner, row) for row in batch.usage.values())
        self._prompts.extend((owner, row) for row in batch.prompts)
        self._text += sum(len(row.text) for row in batch.prompts)
        self._writes.extend(
            (owner, (storable(w.path), w.offset, rows.moment(w.at))) for w in batch.memory_writes
        )
        if room := PROBLEMS_KEPT - len(reading.problems):
            reading.problems.extend(
                {"line": p.line, "offset": p.offset, "reason": p.reason} for p in batch.problems[:room]
            )

    def keep(self, reading: Reading, *, whole: bool) -> None:
        """Remember how far a file was read, and what its session amounts to. Raises OSError."""
        owner, job, cursor = reading.owner, reading.job, reading.state.cursor
        if job.known is not None:
            self._ids[owner] = job.known.session
        size, mtime_ns = stat_mark(reading.before, cursor.offset, whole=whole)
        if job.found.kind == "main":
            self._sessions[owner] = _session_row(reading)
        elif owner not in self._ids:
            self._orphans.setdefault(owner, _orphan_row(reading, owner))
        self._files[job.found.path] = (
            owner,
            job.project,
            (
                job.found.path,
                job.found.kind,
                _signed(reading.before.st_dev),
                _signed(reading.before.st_ino),
                size,
                mtime_ns,
                cursor.offset,
                cursor.lines,
                identity_of(reading.fd, cursor.offset),
                state_of(reading.state),
                rows.as_json(reading.problems),
                None,
            ),
        )

    def write(self) -> None:
        """Everything in one transaction; afterwards the chunk is empty."""
        if not self._files:
            return
        with transaction.atomic():
            newest = rows.newest_session()
            rows.put_sessions(list(self._sessions.values()))
            self._resolve(newest)
            rows.put_files([(self._ids[owner], *row) for owner, _, row in self._files.values()])
            rows.put_usage([_usage_row(pk, row) for pk, row in self._with_ids(self._usage)])
            rows.put_prompts([_prompt_row(pk, row) for pk, row in self._with_ids(self._prompts)])
            rows.put_writes([(pk, *row) for pk, row in self._with_ids(self._writes)])
        self.replays_possible = self.replays_possible or any(row.message_key for _, row in self._usage)
        self._clear()

    def _with_ids(self, owned: Iterable[tuple[str, T]]) -> Iterator[tuple[int, T]]:
        """Rows of a file that failed before its place was kept are left out: it will be read again."""
        return ((self._ids[owner], row) for owner, row in owned if owner in self._ids)

    def _resolve(self, newest: int) -> None:
        """Ids of all owners: of sessions just written, else of older ones, else of ones made to hold an orphan."""
        self._ids |= rows.sessions_after(newest, self.host)
        for project, owners in self._unresolved().items():
            self._ids |= rows.sessions_of(project, owners)
        missing = {owner for owners in self._unresolved().values() for owner in owners}
        if missing:
            rows.put_missing_sessions([self._orphans[owner] for owner in missing if owner in self._orphans])
            self._ids |= rows.sessions_after(newest, self.host)

    def _unresolved(self) -> dict[int, list[str]]:
        """Owners without an id, by project. Few: a sub-agent's, whose main transcript was never seen."""
        found: dict[int, list[str]] = {}
        for owner, project, _ in self._files.values():
            if owner not in self._ids:
                found.setdefault(project, []).append(owner)
        return found

    def _clear(self) -> None:
        for gathered in (
            self._sessions,
            self._orphans,
            self._files,
            self._usage,
            self._prompts,
            self._writes,
        ):
            gathered.clear()
        self._text = 0


def _signed(number: int) -> int:
    """Some file systems use the whole unsigned range; the column is signed."""
    return number - 2**64 if number >= 2**63 else number


def _session_row(reading: Reading) -> rows.Row:
    job, summary, cursor = reading.job, reading.state.summary, reading.state.cursor
    touched = from_ns(reading.before.st_mtime_ns) or timezone.now()
    return (
        job.project,
        job.folder,
        job.found.session_id[:200],
        job.found.path,
        storable(summary.title, 300),
        rows.moment(summary.first_at),
        rows.moment(summary.last_at),
        rows.moment(touched),
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


def _orphan_row(reading: Reading, owner: str) -> rows.Row:
    """The session of a sub-agent whose main transcript is not there (any more): gone, but its tokens count."""
    job = reading.job
    name = owner.rpartition("/")[2].removesuffix(".jsonl")[:200]
    now = rows.moment(timezone.now())
    touched = rows.moment(from_ns(reading.before.st_mtime_ns)) or now
    empty: tuple[rows.Cell, ...] = ("", None, None, touched, "", "", "", None, 0, 0, 0, 0, 0, 0)
    return (job.project, job.folder, name, owner, *empty, False, now, 0)


def is_own(cwd: str) -> bool:
    """Whether a session was made by a dream of ours: its cwd is one of our workspaces."""
    if not cwd:
        return False
    return any(cwd == place or cwd.startswith(place + "/") for place in _workspaces(str(settings.DATA_DIR)))


@cache
def _workspaces(data_dir: str) -> frozenset[str]:
    """As written, and with links resolved."""
    ours = f"{data_dir}/workspaces"
    return frozenset({ours, os.path.realpath(ours)})


def _usage_row(session: int, row: UsageRow) -> rows.Row:
    long = min(row.cache_creation_1h, row.cache_creation)
    return (
        row.key,
        session,
        row.message_key,
        storable(row.model, 100),
        rows.moment(row.at),
        row.sidechain,
        row.input,
        row.output,
        row.cache_creation - long,
        long,
        row.cache_read,
        row.web_searches,
    )


def _prompt_row(session: int, row: Prompt) -> rows.Row:
    return (row.key, session, row.offset, row.line, rows.moment(row.at), storable(row.text))
