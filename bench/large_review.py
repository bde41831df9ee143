"""A review of thousands of changes: how long its submit locks SQLite for writing, and the cost of an undo and the checks.

    .venv/bin/python bench/table.py submit undo findings

Each is measured in a separate process and data directory. The limit is an earlier version, if
MEMORYWEB_BENCH_BEFORE names a checkout of it; its own copy of this script measures it, as it knows its names.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

if TYPE_CHECKING:
    from bench._table import Cost, Measured
    from dreams.models import Proposal

LINE = (
    "Service {n} of part {m} is looked after by team {t}, answers on port {p}, and is restarted by hand.\n\n"
)


# --- In the child: the code that is measured ------------------------------------------------------------------------


def texts(files: int, lines: int) -> dict[str, str]:
    """Memories of so many statements, all different."""
    head = "---\nname: Topic {n}\ntype: project\n---\n\n# Topic {n}\n\n"
    return {
        f"topic_{n:04}.md": head.format(n=n)
        + "".join(LINE.format(n=n, m=m, t=(n + m) % 7, p=1024 + n * 31 + m) for m in range(lines))
        for n in range(files)
    }


def propose(folder: Path, files: int, lines: int) -> Proposal:
    """A proposal that changes every statement."""
    from dreams.engines import drafts
    from dreams.engines.types import Edit
    from dreams.models import Proposal
    from dreams.services import proposals
    from tests.world import directory as world

    old = texts(files, lines)
    new = {path: text.replace("by hand", "by the timer") for path, text in old.items()}
    project = world.make_project(folder, old)
    before, after = ({path: text.encode() for path, text in side.items()} for side in (old, new))
    edits = [Edit(path, old[path], new[path], path, "update", "Restarted by a timer now.") for path in old]
    return proposals.create(
        project, proposals.ProposalOrigin(Proposal.Origin.DREAM), drafts.draft(before, after, edits), before
    )


def on_disk(proposal: Proposal) -> dict[str, bytes]:
    from tests.world import directory as world

    return {path.name: path.read_bytes() for path in world.folder(proposal.project).glob("topic_*.md")}


@contextmanager
def no_checks() -> Iterator[None]:
    """Turns the checks off: only the writes of a submit are measured."""
    from dreams import findings
    from dreams.findings.base import FindingsReport, RemovedLine, Subject

    def examine(subject: Subject) -> FindingsReport:
        rows = (
            RemovedLine(hunk.path, hunk.hunk_id, line, "stated")
            for hunk in subject.hunks
            for line in hunk.removed
            if line
        )
        return FindingsReport((), tuple(rows))

    whole, findings.examine = findings.examine, examine
    try:
        yield
    finally:
        findings.examine = whole


@contextmanager
def longest_lock() -> Iterator[list[tuple[float, float]]]:
    """Wall and CPU seconds of every transaction that begins in the block."""
    from django.db.backends.sqlite3.base import DatabaseWrapper

    kept: list[tuple[float, float]] = []
    begun: list[tuple[float, float]] = []
    wrapper: Any = DatabaseWrapper
    begin, commit = wrapper._start_transaction_under_autocommit, wrapper._commit

    def begins(self: Any) -> None:
        begin(self)
        begun[:] = [(time.perf_counter(), time.process_time())]

    def commits(self: Any) -> None:
        commit(self)
        if begun:
            wall, cpu = begun.pop()
            kept.append((time.perf_counter() - wall, time.process_time() - cpu))

    wrapper._start_transaction_under_autocommit, wrapper._commit = begins, commits
    try:
        yield kept
    finally:
        wrapper._start_transaction_under_autocommit, wrapper._commit = begin, commit


def submit(folder: Path, files: int, lines: int) -> tuple[float, float]:
    """The longest transaction of the submit of a review, half of it rejected."""
    from dreams.models import Hunk
    from dreams.services import review
    from dreams.services.review import Actor

    me = Actor("owner")
    with no_checks():
        proposal = propose(folder, files, lines)
        hunks = review.select_hunks(proposal)
        review.decide(proposal, hunks[: len(hunks) // 2], Hunk.Verdict.APPROVED, me)
        review.decide(proposal, hunks[len(hunks) // 2 :], Hunk.Verdict.REJECTED, me)
        with longest_lock() as locks:
            review.submit(proposal, me)
    return max(locks)


def undo(folder: Path, files: int, lines: int) -> tuple[float, float]:
    from dreams.models import Hunk
    from dreams.services import review, rollback
    from dreams.services.apply import applying
    from dreams.services.review import Actor

    me = Actor("owner")
    with no_checks():
        proposal = propose(folder, files, lines)
        old = on_disk(proposal)
        review.decide(proposal, review.select_hunks(proposal), Hunk.Verdict.APPROVED, me)
        applying.apply(proposal, me)
        assert on_disk(proposal) != old
    taken = seconds(lambda: rollback.rollback(proposal, me))
    assert on_disk(proposal) == old
    return taken


def findings_of(folder: Path, files: int, lines: int) -> tuple[float, float]:
    from dreams.services import proposals
    from dreams.services.memories import syncing

    with no_checks():
        proposal = propose(folder, files, lines)
    before = syncing.contents(proposal.project)
    type(proposal).objects.update(checked_digest="")
    return seconds(lambda: proposals.examine(proposal, before))


WORKS = {"submit": submit, "undo": undo, "findings": findings_of}


def seconds(work: Callable[[], object]) -> tuple[float, float]:
    from bench._table import cost_of

    found = cost_of(work)
    return found.wall, found.cpu


def child(what: str, data: Path, files: int, lines: int) -> None:
    os.environ |= {
        "MEMORYWEB_DATA_DIR": str(data / "data"),
        "MEMORYWEB_ROOTS": str(data / "root"),
        "DJANGO_SETTINGS_MODULE": "memoryweb.settings",
    }
    import django

    django.setup()
    from dreams.services import database

    database.ensure()
    print(json.dumps(WORKS[what](data, files, lines)))


# --- The rows -------------------------------------------------------------------------------------------------------


def cost_in(code: Path, what: str, folder: Path, files: int, lines: int) -> Cost:
    from bench._table import Cost

    folder.mkdir(parents=True)
    own = code / "bench" / Path(__file__).name
    line = [sys.executable, str(own), what, str(folder), str(files), str(lines)]
    done = subprocess.run(line, stdout=subprocess.PIPE, text=True, check=True, cwd=code)
    return Cost(*json.loads(done.stdout.splitlines()[-1]))


def measure(what: str, files: int, lines: int, base: Path, size: float) -> Measured:
    from itertools import count

    from bench._table import older_code, side_by_side

    number, few, before = count(), max(2, int(files * size)), older_code()

    def work(code: Path) -> Cost:
        return cost_in(code, what, base / str(next(number)), few, lines)

    ours = Path(__file__).resolve().parents[1]
    return side_by_side(
        partial(work, ours), limit=partial(work, before) if before else None, rounds=1 if size >= 1 else 3
    )


def rows() -> list[Any]:
    from bench._table import Row

    older = "the code of before"
    return [
        Row(
            "submit",
            "longest lock of a submit of 5,000 changes",
            partial(measure, "submit", 50, 100),
            {"seconds": 0.2},
            older,
        ),
        Row(
            "undo",
            "undo of 200 files with 2,000 changes",
            partial(measure, "undo", 200, 10),
            {"limit": 0.2},
            older,
        ),
        Row(
            "findings",
            "findings of 1,000 changed files",
            partial(measure, "findings", 1000, 3),
            {"limit": 0.1},
            older,
        ),
    ]


if __name__ == "__main__":
    child(sys.argv[1], Path(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4]))
else:
    ROWS = rows()
