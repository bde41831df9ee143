"""One tick, and `gates`, over many projects, compared with the bare stats that they need.

`python bench/table.py tick gates` measures them. Every project has sessions, but its time gate is closed: its lock file was
touched an hour ago, as in most minutes. Queries are counted, and may not grow with the projects.
"""

from __future__ import annotations

import datetime as dt
import os
import time
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest import mock

from bench._table import Measured, Row, side_by_side, start_django

PROJECTS = 2_000
SESSIONS = 3  # of each project


def make_projects(base: Path, count: int) -> list[Path]:
    """Makes rows and memory directories with a lock file touched an hour ago; returns those directories."""
    from django.utils import timezone

    from dreams.lib.timestamps import from_ns
    from dreams.models import Project, Session
    from dreams.services.hosts import host

    an_hour_ago_ns, root = time.time_ns() - 3600 * 10**9, base / "root"
    folders = [root / "projects" / f"-p{number}" / "memory" for number in range(count)]
    for folder in folders:
        folder.mkdir(parents=True)
        lock = folder / ".consolidate-lock"
        lock.touch()
        os.utime(lock, ns=(an_hour_ago_ns, an_hour_ago_ns))
    projects = Project.objects.bulk_create(
        Project(
            host=host(),
            memory_dir=str(folder),
            root=str(root),
            slug=folder.parent.name,
            name=f"p{n}",
            history_key=uuid.uuid4().hex,
            last_consolidated_at=from_ns(an_hour_ago_ns),
            last_session_at=timezone.now(),  # so that quiet sessions are looked for
        )
        for n, folder in enumerate(folders)
    )
    Session.objects.bulk_create(
        Session(project=p, path=f"{p.memory_dir}/../{n}.jsonl", session_id=f"{n}", touched_at=timezone.now())
        for p in projects
        for n in range(SESSIONS)
    )
    return folders


def queries_of(work: Callable[[], object]) -> int:
    from django.db import connection
    from django.test.utils import CaptureQueriesContext

    with CaptureQueriesContext(connection) as found:
        work()
    return len(found)


def many_projects(base: Path, size: float) -> list[Path]:
    os.environ["MEMORYWEB_ROOTS"] = str(base / "root")
    start_django(base / "data")
    return make_projects(base, max(10, int(PROJECTS * size)))


def beside_stats(folders: list[Path], work: Callable[[], Any]) -> Measured:
    work()  # fills the cache of each project
    queries = queries_of(work)
    return side_by_side(
        work,
        limit=lambda: [os.stat(folder / ".consolidate-lock") for folder in folders] and None,
        rounds=5,
        note=f"{queries} queries",
    )


def measure_tick(base: Path, size: float) -> Measured:
    folders = many_projects(base, size)
    from dreams.services.scheduling import scheduler

    # The search for new files has separate rows.
    with mock.patch("dreams.services.discovery.discover"):
        return beside_stats(folders, scheduler.tick)


def add_transcripts(folders: list[Path]) -> None:
    """Gives every session a transcript on disk that is as its row says."""
    from dreams.models import Project, Session, TranscriptFolder

    for folder in folders:
        for number in range(SESSIONS):
            (folder.parent / f"{number}.jsonl").touch()
    projects = Project.objects.only("memory_dir")
    TranscriptFolder.objects.bulk_create(
        TranscriptFolder(project=p, path=os.path.dirname(p.memory_dir), slug="-p") for p in projects
    )
    sessions = list(Session.objects.select_related("project"))
    for session in sessions:
        session.path = os.path.normpath(session.path)
        session.touched_at = dt.datetime.fromtimestamp(os.stat(session.path).st_mtime, dt.UTC)
    Session.objects.bulk_update(sessions, ["path", "touched_at"], batch_size=500)


def listed(folder: Path) -> list[os.stat_result]:
    with os.scandir(folder.parent) as entries:
        return [entry.stat() for entry in entries]


def measure_files(base: Path, size: float) -> Measured:
    folders = many_projects(base, size)
    add_transcripts(folders)
    from dreams.services.scheduling import scheduler

    with mock.patch("dreams.services.discovery.discover"):
        scheduler.tick()
        return side_by_side(
            scheduler.tick,
            limit=lambda: (
                [(listed(folder), os.stat(folder / ".consolidate-lock")) for folder in folders] and None
            ),
            rounds=5,
        )


def measure_gates(base: Path, size: float) -> Measured:
    folders = many_projects(base, size)
    from dreams.management.commands.gates import Command

    return beside_stats(folders, lambda: Command().run({"now": None, "project": None, "json": False}))


ROWS = [
    Row(
        "tick",
        "one tick over 2,000 projects closed by the clock",
        measure_tick,
        {"limit": 3.0},
        limit="one stat each",
    ),
    Row(
        "tick-files",
        "the same with three transcripts each that did not change",
        measure_files,
        {"limit": 3.0},
        limit="one listing each, one stat a file",
    ),
    Row("gates", "`gates` of 2,000 projects", measure_gates, {"seconds": 0.6}, limit="one stat each"),
]
