"""Taking back what a check would hold against a person's approval, and a wrong day: rules have no second idea, so the step goes. PURE."""

from __future__ import annotations

from dreams.engines import drafts
from dreams.engines.rules.notes.tree import Recorder
from dreams.engines.types import Job
from dreams.lib.files import text

# Warnings of which a person could only say that the day is wrong.
_WRONG_DAYS = frozenset({"date-changed", "date-without-source"})


def take_back(job: Job, rec: Recorder) -> int:
    """Undo the operations that block; returns how many. The edits stay listed: no line of theirs is left to explain."""
    problems = [
        problem for problem in job.examine(rec.edits) if problem.blocks or problem.code in _WRONG_DAYS
    ]
    wanted = frozenset[str]().union(*(problem.operations for problem in problems))
    if not wanted:
        return 0
    before = job.workspace.snapshot.contents()
    now = job.workspace.contents()
    made = drafts.draft(before, now, rec.edits)
    kept = drafts.only(made, before, made.operations.keys() - wanted)
    rec.take_back(
        frozenset[str]().union(*(made.operations[key].steps for key in wanted & made.operations.keys()))
    )
    for path in sorted(now.keys() | kept.keys()):
        if now.get(path) != kept.get(path):
            _put(job, rec, path, kept.get(path))
    return len(wanted & made.operations.keys())


def _put(job: Job, rec: Recorder, path: str, data: bytes | None) -> None:
    content = None if data is None else text.decode(data)
    if content is None:
        job.workspace.delete(path)
    else:
        job.workspace.write(path, content)
    rec.tree.put(path, content)
