"""Days named from afar in memories ("tomorrow"), with the day that each line was written and the date that follows.

The model cannot know when a line was written: without this it would have to leave them, or guess. PURE.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice

from dreams.engines.types import Job, LineDate
from dreams.lib import memdir
from dreams.lib.prose import dates

MOST_LINES = 40
LINE_CHARS = 200


def dated_lines(job: Job) -> list[str]:
    """One line for each line of a memory that names a day so, in order; at most `MOST_LINES`."""
    found = (
        line
        for path, known in sorted(job.line_dates.items())
        if not job.workspace.read_only_because(path)
        for line in _of_file(path, job.workspace.read(path) or "", known)
    )
    return list(islice(found, MOST_LINES))


def _of_file(path: str, text: str, known: Sequence[LineDate | None]) -> Iterator[str]:
    for number, (raw, day) in enumerate(zip(memdir.split_lines(text), known, strict=False), start=1):
        if day is None or day.ours or (day.source == "file" and path.endswith(memdir.INDEX_NAME)):
            continue  # sessions add to the index all the time: its own day says little about one of its rows
        spans = dates.told(raw, day.day)
        if spans:
            meant = ", ".join(f"“{span.text}” is {span.meant}" for span in spans)
            yield f"- {path} line {number} ({day.note}: {day.day:%Y-%m-%d}), {meant}: {raw.strip()[:LINE_CHARS]}"
