"""What `bench/growth.py` measures besides pages: discovery, ticks, dreams, reviews and whole directories.

Each function makes its data and returns CPU seconds by path. Children count too: histories are written by git, and
transcripts are read by other processes.
"""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING
from unittest import mock

from bench._table import least, start_django

if TYPE_CHECKING:
    from dreams.models import Project

Found = dict[str, float]
#: What the largest size has. All of a size is in proportion.
SESSIONS, PROJECTS, MEMORIES, DREAMT, CHANGED, PAIRS = 20_000, 2_000, 4_900, 3_000, 1_000, 10_000
WHAT = ("tests", "uploads", "invoices", "backups", "deploys", "reports", "alerts", "imports")
WHERE = ("in staging", "in production", "on Linux", "behind the proxy", "in the worker", "at night")
RULES = (
    "must be reviewed by Ana",
    "are kept for 30 days",
    "never run twice",
    "use port 8443",
    "go through `make ship`",
)


def of(count: int, size: float) -> int:
    return max(10, round(count * size))


def directory(memories: int) -> dict[str, str]:
    """Memories of three statements, one of ten repeated elsewhere, and their index."""
    from bench.statement_index import files_of

    files = files_of(memories * 3, each=3)
    rows = "".join(f"- [{path[:-3]}]({path}) — what is known of {path[5:-3]}\n" for path in files)
    return {"MEMORY.md": f"# Memory\n\n{rows}", **files}


def make_project(folder: Path, files: Mapping[str, str]) -> Project:
    from tests.world import directory as world

    return world.make_project(folder / "root", files)


# --- Many files, many projects --------------------------------------------------------------------------------------


def discoveries(size: float, folder: Path) -> Found:
    from bench.corpus import Corpus

    root = folder / "root"
    Corpus("small", seed=11).root(
        root, 60 * size, projects=40, sessions=of(SESSIONS, size), memories=of(SESSIONS // 10, size)
    )
    start_django(folder / "data")
    from dreams.services.discovery import discover
    from dreams.services.search import index

    first = least(lambda: discover([root]))
    again = least(lambda: discover([root]), 3)
    return {
        "first discovery of small sessions and a tenth as many memories": first,
        "discovery, nothing changed": again,
        "search indexing of them": least(lambda: index.catch_up(3_600)),
    }


def ticks(size: float, folder: Path) -> Found:
    from bench.tick import make_projects

    os.environ["MEMORYWEB_ROOTS"] = str(folder / "root")
    start_django(folder / "data")
    make_projects(folder, of(PROJECTS, size))
    from dreams.services.scheduling import scheduler

    with mock.patch("dreams.services.discovery.discover"):
        scheduler.tick()
        return {"a tick over projects used this week": least(scheduler.tick, 5)}


# --- One directory --------------------------------------------------------------------------------------------------


def one_directory(size: float, folder: Path) -> Found:
    """Recall, checkup and the like over one directory with one memory a file, as rows and on disk."""
    files = directory(of(MEMORIES, size))
    start_django(folder / "data")
    from django.core.cache import cache

    from dreams.lib.prose import comparing
    from dreams.models import Project
    from dreams.services import hosts, recalling
    from dreams.services.memories import checkup, exports, syncing
    from dreams.services.review import Actor
    from dreams.services.search import index

    project = make_project(folder, files)
    said = [f"The {what} {where} {rule}" for what in WHAT for where in WHERE for rule in RULES]
    pairs = [(f"{said[n % 240]} {n}", f"{said[(n * 7 + 1) % 240]} {n % 97}") for n in range(of(PAIRS, size))]
    bundle = folder / "history.bundle"

    def brought_back() -> None:
        empty = folder / "empty"
        empty.mkdir()
        other = Project.objects.create(
            host=hosts.host(), memory_dir=str(empty), slug="-empty", name="empty", history_key="other"
        )
        assert exports.bring_back(bundle, Actor("owner"), other).versions >= len(files)

    def checked() -> None:
        cache.clear()
        checkup.check(project)

    asked = "which port does the gateway listen on"
    index.begin_again()
    return {
        "a sync, nothing changed": least(lambda: syncing.refresh(project), 3),
        "search indexing of memories": least(lambda: index.catch_up(3_600)),
        "a checkup": least(checked),
        "recall, with its files": least(lambda: recalling.ask(project, recalling.fresh(project), asked), 3),
        "similar": least(lambda: [(comparing.same(a, b), comparing.compare(a, b)) for a, b in pairs]),
        "an export": least(lambda: exports.write(project, bundle)),
        "an import into another project": least(brought_back),
    }


def dreams(size: float, folder: Path) -> Found:
    """A whole dream by rules, and the pages and lists of what it asks."""
    files = directory(of(DREAMT, size))
    start_django(folder / "data")
    from django.test import Client

    from dreams.models import DreamRun, Question
    from dreams.services import dreaming
    from dreams.services.login import ensure_owner
    from dreams.services.questions import shown_questions
    from dreams.services.serving import web_server

    web_server.collect()
    project = make_project(folder, files)

    def dream() -> None:
        made = dreaming.request(project, DreamRun.Trigger.COMMAND, forced=True, actor="owner")
        dreaming.run_dream(made.pk)
        made.refresh_from_db()
        assert made.status == DreamRun.Status.COMPLETED, made.error

    client = Client(HTTP_HOST="127.0.0.1:8765", SERVER_PORT="8765")
    client.force_login(ensure_owner())
    found = {"a dream by rules": least(dream)}
    assert Question.objects.exists()
    client.get("/questions/")
    return found | {
        "the page of questions": least(lambda: client.get("/questions/"), 5),
        "questions, all of a project": least(lambda: shown_questions.of_project(project, everything=True), 3),
    }


def reviews(size: float, folder: Path) -> Found:
    """A proposal that changes all files of a directory, from its checks to its undo."""
    start_django(folder / "data")
    from bench.large_review import no_checks, on_disk, propose
    from dreams.models import Hunk
    from dreams.services import proposals, review, rollback
    from dreams.services.apply import applying
    from dreams.services.memories import syncing
    from dreams.services.review import Actor

    me = Actor("owner")
    with no_checks():
        proposal = propose(folder / "root", of(CHANGED, size), 3)
        made, old = list(review.select_hunks(proposal)), on_disk(proposal)
        decided = least(lambda: review.decide(proposal, made, Hunk.Verdict.APPROVED, me))
        submitted = least(lambda: review.submit(proposal, me))
        proposal.refresh_from_db()
        applied = least(lambda: applying.apply(proposal, me))
        undone = least(lambda: rollback.rollback(proposal, me))
        assert on_disk(proposal) == old
        shutil.rmtree(folder / "root")
        type(proposal.project).objects.all().update(memory_dir="/nowhere", slug="-older")
        proposal = propose(folder / "other", of(CHANGED, size), 3)
    before = syncing.contents(proposal.project)
    type(proposal).objects.update(checked_digest="")
    return {
        "approving all changes": decided,
        "a submit of changes": submitted,
        "an application": applied,
        "an undo": undone,
        "findings of changed files": least(lambda: proposals.examine(proposal, before)),
    }


MEASURED: dict[str, Callable[[float, Path], Found]] = {
    "discovery": discoveries,
    "tick": ticks,
    "directory": one_directory,
    "dream": dreams,
    "review": reviews,
}


def measure(name: str, size: float, folder: Path) -> Found:
    """Measures in an own folder, which is removed."""
    base = folder / f"{name}-{size}-{time.time_ns()}"
    base.mkdir()
    try:
        return MEASURED[name](size, base)
    finally:
        shutil.rmtree(base, ignore_errors=True)
