"""Transcripts that changed → rows, file by file through one buffer, committed by the thousand.

Memory is bounded by one buffer and one chunk of rows: a transcript of any size is written in several chunks, each with
the place where the next reading goes on, so a reading that is cut off loses nothing and repeats nothing. Where there is
much to read that was never read before, the other cores read ahead; rows are made and written here, in the same order.
"""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Iterator

from django.db import DatabaseError

from dreams.lib.agents.claude_code.listing import printable, why
from dreams.lib.agents.transcripts import Cancelled, Reader, Scan, Whole, scan, seen
from dreams.lib.agents.transcripts.ahead import Ahead, children_for
from dreams.lib.agents.transcripts.reader import opened
from dreams.services.discovery.chunk import Chunk
from dreams.services.discovery.listing import Job, Plan
from dreams.services.discovery.reading import Reading
from dreams.services.discovery.report import IsCancelled, OnProgress, Progress, Tally
from dreams.services.discovery.resume import Kept, kept, resume, start_over
from dreams.services.discovery.rows import drop_replays

log = logging.getLogger(__name__)

JOBS_AT_ONCE = 500
LINES_AT_ONCE = 20_000


class Importer:
    """Reads the jobs of one plan. One instance for one run."""

    def __init__(
        self,
        plan: Plan,
        host: str,
        tally: Tally,
        *,
        progress: OnProgress | None = None,
        cancelled: IsCancelled | None = None,
    ) -> None:
        self._plan, self._host, self._tally = plan, host, tally
        self._progress, self._cancelled = progress, cancelled
        self._queue = deque(plan.jobs)
        self._reader = Reader()
        self._chunk = Chunk(host, {path: row.session for path, row in plan.known.items()})
        new = [(job.found.path, job.found.size) for job in plan.jobs if job.known is None]
        self._ahead = Ahead(new, children=children_for(size for _, size in new), tick=self._tell)
        self._files, self._files_total = 0, len(plan.jobs)
        self._bytes, self._bytes_total = 0, sum(_expected(job) for job in plan.jobs)

    def run(self) -> None:
        """Read everything; after a cancelled run what was read is kept. One bad file never stops the others."""
        try:
            with self._ahead:
                for job, state in self._jobs():
                    self._try(job, state)
                    self._files += 1
                    self._tell()
        except Cancelled:
            self._tally.cancelled = True
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
                self._start_over(job)
            if self._chunk.full:
                self._write()
            problems = list(state.problems) if state and start else []
            self._scan(Reading(job, before, start or Scan(), problems, fd))

    def _keep(self, job: Job, whole: Whole) -> None:
        if self._chunk.full:
            self._write()
        reading = Reading(job, whole.seen, whole.state(), [], whole=whole)
        for part in whole.parts:
            self._tally.bytes_read += part.bytes_read
            self._bytes += part.bytes_read
            self._chunk.add(reading, part.batch())
        self._chunk.keep(reading, whole=True)

    def _scan(self, reading: Reading) -> None:
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

    def _start_over(self, job: Job) -> None:
        """The file is another one now: its session's rows go, and all that may have shared them is read again."""
        self._write()
        if job.known is None:
            return
        paths = start_over(job.known.session, main=job.known.kind == "main")
        again = [self._plan.again(path) for path in paths if path != job.found.path]
        self._queue.extend(other for other in again if other is not None)

    def _heard(self, read: int) -> bool:
        self._bytes += read
        self._tell()
        return not (self._cancelled and self._cancelled())

    def _tell(self) -> None:
        if self._progress:
            self._progress(Progress(self._files, self._files_total, self._bytes, self._bytes_total))
        if self._cancelled and self._cancelled():
            raise Cancelled


def _expected(job: Job) -> int:
    grown = job.found.size - job.known.size if job.known else job.found.size
    return grown if grown > 0 else job.found.size
