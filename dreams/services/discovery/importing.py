"""Imports changed transcripts into the database, file by file through one buffer, a thousand per commit.

Memory use is limited to one buffer and one chunk of rows: a transcript of any size is written in several chunks, each with
the place where the next reading continues, so an interrupted reading loses and repeats nothing. If there is much unread
data, other processes read ahead on the other cores; rows are made and written here, in the same order.
"""

import logging
from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import NamedTuple, TypeVar

from django.db import DatabaseError, DataError, IntegrityError, transaction

from dreams.lib.agents.base import printable, why
from dreams.lib.agents.transcripts import Batch, Prompt, Reader, Scan, UsageRow, begins_as, scan, seen
from dreams.lib.agents.transcripts.read_ahead import Ahead, children_for
from dreams.lib.agents.transcripts.reader import opened
from dreams.lib.agents.transcripts.whole_file import Whole
from dreams.lib.files.seen import signed
from dreams.lib.files.text import storable
from dreams.lib.process import without_collecting
from dreams.services.discovery import rows
from dreams.services.discovery.listing import Job, ReadingPlan
from dreams.services.discovery.reading import (
    FileReading,
    leave_out_secrets,
    open_end_rows,
    orphan_row,
    prompt_rows,
    session_row,
    usage_row,
)
from dreams.services.discovery.resume import Kept, kept, resume, start_over, stat_mark, state_of
from dreams.services.discovery.rows import OnProgress, ReadingProgress, Tally, drop_replays

# Rows waiting to be written together.
FILES_AT_ONCE = 1_000  # in one transaction; chosen
ROWS_AT_ONCE = 10_000  # in one transaction; chosen
TEXT_AT_ONCE = 16 << 20  # in one transaction; chosen
PROBLEMS_KEPT = 20  # of one session; chosen
T = TypeVar("T")
# Errors that one bad row can cause. A database that is locked, full or unreachable ends the discovery instead.
REFUSED = (DataError, IntegrityError, OverflowError, UnicodeError, ValueError, TypeError)

log = logging.getLogger(__name__)


class Place(NamedTuple):
    """How far a file was read; `size` and `mtime_ns` are the values to store."""

    owner: str
    reading: FileReading
    size: int
    mtime_ns: int
    identity: bytes


@dataclass(slots=True)
class Chunk:
    """Rows that were read but not yet written, by the path of the session's main transcript; `write` turns paths into ids.

    `_ids` starts with the known sessions and collects new ones, as sub-agents are read last. `messages` are the keys of
    all messages whose usage was written.
    """

    host: str
    _ids: dict[str, int]
    messages: set[int] = field(default_factory=set)
    _sessions: dict[str, FileReading] = field(default_factory=dict)
    _orphans: dict[str, FileReading] = field(default_factory=dict)
    _files: dict[str, Place] = field(default_factory=dict)
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

    def add(self, reading: FileReading, found: Batch) -> None:
        owner = reading.owner
        self._usage.extend([(owner, row) for row in found.usage.values()])
        for row in found.prompts:
            self._prompts.append((owner, row))
            self._text += len(row.text)
        for w in found.memory_writes:
            self._writes.append((owner, (storable(w.path), w.offset, rows.as_cell(w.at))))
        if found.problems and (room := PROBLEMS_KEPT - len(reading.problems)):
            reading.problems.extend(
                {"line": p.line, "offset": p.offset, "reason": p.reason} for p in found.problems[:room]
            )

    def keep(self, reading: FileReading, *, whole: bool) -> None:
        """Notes how far a file was read, and its session's totals. Both are written before reading continues. Raises OSError."""
        owner, job = reading.owner, reading.job
        if job.known is not None:
            self._ids[owner] = job.known.session
        if job.found.kind == "main":
            self._sessions[owner] = reading
        elif owner not in self._ids:
            self._orphans.setdefault(owner, reading)
        mark = stat_mark(reading.before, reading.state.cursor.offset, whole=whole)
        self._files[job.found.path] = Place(owner, reading, *mark, reading.identity)

    def write(self) -> list[str]:
        """Writes everything and clears the chunk; returns the main transcripts whose rows the database refused.

        One refused row rolls back its transaction, so each session is then written in a separate one.
        """
        if not self._files:
            return []
        refused: list[str] = []
        try:
            self._write()
        except REFUSED:
            refused = [owner for owner, part in self._parts().items() if not part._try_alone(owner)]
        self.messages.update(row.message_key for _, row in self._usage)
        self._clear()
        return refused

    def _write(self) -> None:
        unknown = {owner for owners in self._unresolved().values() for owner in owners}
        try:
            with transaction.atomic():
                self._put()
        except BaseException:
            for owner in unknown:
                self._ids.pop(owner, None)  # rolled back with its row
            raise

    def _put(self) -> None:
        leave_out_secrets([place.reading.state.summary for place in self._files.values()])
        newest = rows.newest_session()
        rows.put_sessions([session_row(reading) for reading in self._sessions.values()])
        self._resolve(newest)
        rows.put_files([(self._ids[place.owner], *_file_row(place)) for place in self._files.values()])
        rows.put_usage([usage_row(pk, row) for pk, row in self._with_ids(self._usage)])
        rows.put_prompts(prompt_rows(list(self._with_ids(self._prompts))))
        rows.put_writes([(pk, *row) for pk, row in self._with_ids(self._writes)])
        told = ((owner, reading.state.summary) for owner, reading in self._sessions.items())
        ends = [(self._ids[owner], open_end_rows(summary)) for owner, summary in told if summary.tasks]
        rows.put_open_ends([pk for pk, _ in ends], [(pk, *row) for pk, some in ends for row in some])

    def _try_alone(self, owner: str) -> bool:
        try:
            self._write()
        except REFUSED:
            log.exception("rows of %s", owner)
            return False
        return True

    def _parts(self) -> "dict[str, Chunk]":
        """One chunk per owner."""
        parts: dict[str, Chunk] = {}
        for path, place in self._files.items():
            part = parts.setdefault(place.owner, Chunk(self.host, self._ids))
            part._files[path] = place
        for owner, part in parts.items():
            part._sessions = {owner: self._sessions[owner]} if owner in self._sessions else {}
            part._orphans = {owner: self._orphans[owner]} if owner in self._orphans else {}
        for gathered in ("_usage", "_prompts", "_writes"):
            for owner, row in getattr(self, gathered):
                if owner in parts:
                    getattr(parts[owner], gathered).append((owner, row))
        return parts

    def _with_ids(self, owned: Iterable[tuple[str, T]]) -> Iterator[tuple[int, T]]:
        """Leaves out rows of a file that failed before its place was stored: it will be read again."""
        return ((self._ids[owner], row) for owner, row in owned if owner in self._ids)

    def _resolve(self, newest: int) -> None:
        """Ids of all owners: sessions just written, else older ones, else new ones made for a sub-agent without a parent."""
        self._ids |= self._made_after(newest)
        for project, owners in self._unresolved().items():
            self._ids |= rows.sessions_of(project, owners)
        missing = {owner for owners in self._unresolved().values() for owner in owners}
        if missing:
            orphans = ((owner, reading) for owner, reading in self._orphans.items() if owner in missing)
            rows.put_missing_sessions([orphan_row(reading, owner) for owner, reading in orphans])
            self._ids |= self._made_after(newest)

    def _made_after(self, newest: int) -> dict[str, int]:
        """Ids of new sessions, by the paths that are in memory already: there may be a hundred thousand."""
        made = rows.sessions_after(newest, self.host)
        return {owner: made[owner] for owner in (*self._sessions, *self._orphans) if owner in made}

    def _unresolved(self) -> dict[int, list[str]]:
        """Owners without an id, by project. Few: only of sub-agents whose main transcript was never seen."""
        found: dict[int, list[str]] = {}
        for place in self._files.values():
            if place.owner not in self._ids:
                found.setdefault(place.reading.job.project, []).append(place.owner)
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


def _file_row(place: Place) -> rows.Row:
    """The row of a file without the session id."""
    job, state, before = place.reading.job, place.reading.state, place.reading.before
    return (
        job.found.path,
        job.found.kind,
        signed(before.device),
        signed(before.inode),
        place.size,
        place.mtime_ns,
        state.cursor.offset,
        state.cursor.lines,
        place.identity,
        state_of(state),
        rows.as_json(place.reading.problems),
        None,
    )


JOBS_AT_ONCE = 500  # given to the readers; chosen
LINES_AT_ONCE = 20_000  # between two transactions; chosen


class Importer:
    """Reads the jobs of one plan. One instance per run."""

    def __init__(self, plan: ReadingPlan, host: str, tally: Tally, progress: OnProgress | None) -> None:
        self._plan, self._tally = plan, tally
        self._progress = progress
        self._queue = deque(plan.jobs)
        plan.jobs.clear()  # there may be a hundred thousand: each is removed when done
        self._reader = Reader()
        self._chunk = Chunk(host, {path: row.session for path, row in plan.known.items()})
        new = [(job.found.path, job.found.size) for job in self._queue if job.known is None]
        self._ahead = Ahead(new, children=children_for(size for _, size in new), tick=self._tell)
        self._files, self._files_total = 0, len(self._queue)
        self._bytes, self._bytes_total = 0, sum(_expected(job) for job in self._queue)

    def run(self) -> None:
        """Reads everything. One bad file never stops the others."""
        with without_collecting(), self._ahead:
            for job, state in self._jobs():
                self._try(job, state)
                self._files += 1
                self._tell()
        self._write()
        drop_replays(self._chunk.messages)

    def _jobs(self) -> Iterator[tuple[Job, Kept | None]]:
        while self._queue:
            some = [self._queue.popleft() for _ in range(min(JOBS_AT_ONCE, len(self._queue)))]
            states = kept([job.known.pk for job in some if job.known and not job.fresh])
            for job in some:
                yield job, states.get(job.known.pk) if job.known else None

    def _try(self, job: Job, state: Kept | None) -> None:
        try:
            self._read(job, state)
        except OSError as error:
            self._tally.skip(printable(job.found.path), why(error))
        except DatabaseError:
            raise
        except (ValueError, ArithmeticError, LookupError, TypeError, RecursionError) as error:
            log.exception("reading %s", job.found.path)
            self._tally.skip(
                printable(job.found.path), f"could not be read ({type(error).__name__}); see the log"
            )

    def _read(self, job: Job, state: Kept | None) -> None:
        whole = self._ahead.take(job.found.path) if job.known is None else None
        if whole is not None:
            self._keep(job, whole)
            return
        with opened(job.found.path) as fd:
            before = seen(fd)
            start = resume(state, fd)
            if start is None:
                self._start_over(job, is_copy=state is not None and begins_as(state.mark, fd))
            if self._chunk.full:
                self._write()
            problems = list(state.problems) if state and start else []
            self._scan(FileReading(job, before, start or Scan(), problems, fd))

    def _keep(self, job: Job, whole: Whole) -> None:
        if self._chunk.full:
            self._write()
        reading = FileReading(job, whole.seen, whole.state(), [], whole=whole)
        for part in whole.parts:
            self._tally.bytes_read += part.bytes_read
            self._bytes += part.bytes_read
            self._chunk.add(reading, part)
        self._chunk.keep(reading, whole=True)

    def _scan(self, reading: FileReading) -> None:
        try:
            for batch in scan(
                reading.fd,
                reading.state,
                reader=self._reader,
                progress=self._heard,
                batch_lines=LINES_AT_ONCE,
            ):
                self._tally.bytes_read += batch.bytes_read
                self._chunk.add(reading, batch)
                if self._chunk.full:
                    self._chunk.keep(reading, whole=False)
                    self._write()
        except Exception:
            self._chunk.keep(reading, whole=False)
            raise
        self._chunk.keep(reading, whole=True)

    def _write(self) -> None:
        for path in self._chunk.write():
            self._tally.skip(printable(path), "the database refused what it holds; see the log")

    def _start_over(self, job: Job, *, is_copy: bool) -> None:
        """The file was replaced: deletes its session's rows, and reads all files that may have shared them again."""
        self._write()
        if job.known is None:
            return
        files = start_over(job.known.session, is_other=job.known.kind == "main" and not is_copy)
        self._queue.extend(
            self._plan.again({pk: path for pk, path in files.items() if path != job.found.path})
        )

    def _heard(self, read: int) -> None:
        self._bytes += read
        self._tell()

    def _tell(self) -> None:
        if self._progress:
            self._progress(ReadingProgress(self._files, self._files_total, self._bytes, self._bytes_total))


def _expected(job: Job) -> int:
    grown = job.found.size - job.known.size if job.known else job.found.size
    return grown if grown > 0 else job.found.size
