"""Many projects: a tick and `gates` take a fixed number of queries, and say what each project by itself would."""

from __future__ import annotations

import datetime as dt
import os
import random
from collections.abc import Callable
from pathlib import Path

import pytest
from django.core.cache import cache
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from dreams import conf
from dreams.lib.timestamps import from_ns, to_ns
from dreams.models import GateEvaluation, LeftOut, Override, Project, Prompt, TranscriptFolder
from dreams.services import discovery
from dreams.services.catching import lifecycle as catching
from dreams.services.dreaming import dream_inputs
from dreams.services.hosts import host
from dreams.services.scheduling import gates, scheduler
from dreams.services.scheduling.gate_inputs import Everywhere
from tests.world import rows as make

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def no_walk(settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cache.clear()
    settings.ROOTS = (tmp_path,)
    monkeypatch.setattr(discovery, "discover", lambda: None)


def dreamt(tmp_path: Path, number: int, hours: float) -> Project:
    """A project with sessions whose last dream was so many hours ago."""
    folder = tmp_path / f"projects/-p{number}/memory"
    folder.mkdir(parents=True)
    lock = folder / ".consolidate-lock"
    lock.touch()
    at = to_ns(timezone.now() - dt.timedelta(hours=hours))
    os.utime(lock, ns=(at, at))
    project = make.make_project(
        f"p{number}",
        host=host(),
        memory_dir=str(folder),
        root=str(tmp_path),
        last_consolidated_at=from_ns(at),
    )
    for session in range(number % 7):
        make.make_session(
            project,
            touched_at=timezone.now() - dt.timedelta(hours=session / 2),
            corrections=session % 2,
            own=session == 5,
        )
    return project


def queries(work: Callable[[], object]) -> int:
    with CaptureQueriesContext(connection) as found:
        work()
    return len(found)


def test_a_tick_over_projects_closed_by_the_clock_asks_no_more_for_more_of_them(tmp_path: Path) -> None:
    for number in range(3):
        dreamt(tmp_path, number, 1)
    assert scheduler.tick().changed == 3
    few = queries(scheduler.tick)
    for number in range(3, 12):
        dreamt(tmp_path, number, 1)
    scheduler.tick()
    assert queries(scheduler.tick) == few
    report = scheduler.tick()
    assert (report.evaluated, report.changed) == (12, 0)


def test_what_opens_or_closes_a_project_otherwise_is_seen_at_the_next_tick(tmp_path: Path) -> None:
    old, off, own, switched, odd, left = (dreamt(tmp_path, number, 1) for number in range(6))
    scheduler.tick()
    assert {row.gate_fingerprint for row in Project.objects.all()} == {gates.CLOSED_BY_CLOCK}
    long_ago = to_ns(timezone.now() - dt.timedelta(hours=30))
    os.utime(Path(old.memory_dir) / ".consolidate-lock", ns=(long_ago, long_ago))
    Override.objects.create(project=off, key="dreaming", value=False)
    Override.objects.create(project=own, key="min_hours", value=0.5)
    Project.objects.filter(pk=switched.pk).update(agent_settings={"auto_memory": False})
    lock = Path(odd.memory_dir) / ".consolidate-lock"
    lock.unlink()
    lock.mkdir()
    scheduler.tick()
    said = {row.pk: row.gate_fingerprint for row in Project.objects.all()}
    assert said[off.pk] == "project: off" and said[switched.pk] == "memory: off"
    assert said[old.pk].startswith("sessions:") and said[own.pk].startswith("sessions:")
    assert said[odd.pk].startswith("time: error")
    assert said[left.pk] == gates.CLOSED_BY_CLOCK
    Override.objects.create(key="paused", value=True)
    scheduler.tick()
    assert set(Project.objects.values_list("gate_fingerprint", flat=True)) == {
        "paused: paused",
        "project: off",
    } or (set(Project.objects.values_list("gate_fingerprint", flat=True)) == {"paused: paused"})
    assert GateEvaluation.objects.filter(project=left).count() == 2


def test_many_projects_together_are_judged_as_each_by_itself_in_a_fixed_number_of_queries(
    tmp_path: Path,
) -> None:
    for number in range(8):
        project = dreamt(tmp_path, number, number * 8)
        Project.objects.filter(pk=project.pk).update(
            inputs_hash=("", "x", dream_inputs.fingerprint(project))[number % 3]
        )
    moved = Project.objects.get(name="p6")  # since the last discovery
    now = timezone.now()
    os.utime(Path(moved.memory_dir) / ".consolidate-lock", (now.timestamp(), now.timestamp()))
    projects = list(Project.objects.order_by("pk"))
    alone = [scheduler.evaluate_all(project, now) for project in projects]
    assert list(scheduler.evaluate_many(projects, now)) == alone
    some = [project for project in projects if project != moved]
    assert queries(lambda: list(scheduler.evaluate_many(some, now))) == queries(
        lambda: list(scheduler.evaluate_many(some[:3], now))
    )


def test_the_inputs_of_many_projects_are_told_as_those_of_one(tmp_path: Path) -> None:
    projects = [dreamt(tmp_path, number, 1) for number in range(4)]
    make.make_memory(projects[1], "a.md")
    make.make_memory(projects[1], "b.md")
    LeftOut.objects.create(project=projects[2], path="a.md", hunk_id="h1", inputs_key="k", at=timezone.now())
    Override.objects.create(project=projects[3], key="engine", value="anthropic")
    together = dream_inputs.fingerprints(projects)
    assert together == {project.pk: dream_inputs.fingerprint(project) for project in projects}
    assert len(set(together.values())) == 4


def used(tmp_path: Path, number: int, chance: random.Random, now: dt.datetime) -> Project:
    """A project with settings, a session, prompts and a transcript by chance."""

    def ago(*minutes: int) -> dt.datetime:
        return now - dt.timedelta(minutes=chance.choice(minutes))

    project = make.make_project(f"u{number}", host=host(), last_session_at=ago(5, 60, 60 * 24 * 8))
    Project.objects.filter(pk=project.pk).update(first_seen_at=ago(0, 60 * 24, 60 * 24 * 20))
    for key, value in (("catching", chance.random() < 0.5), ("catch_minutes", chance.choice((1, 30)))):
        if chance.random() < 0.2:
            Override.objects.create(project=project, key=key, value=value)
    folder = tmp_path / f"projects/-u{number}"
    folder.mkdir(parents=True)
    TranscriptFolder.objects.create(project=project, path=str(folder), slug=folder.name)
    transcript, at = folder / "one.jsonl", ago(0, 10, 60)
    session = make.make_session(
        project,
        path=str(transcript),
        touched_at=at,
        last_at=ago(2, 10, 60 * 24 * 2),
        size=100,
        caught_bytes=chance.choice((None, 0, 100, 100, 100)),
        own=chance.random() < 0.1,
        hinted_at=chance.choice((None, None, now)),
        gone_at=chance.choice((None, None, now)),
    )
    if chance.random() < 0.5:
        offset = chance.choice((50, 150))
        Prompt.objects.create(key=number, session=session, offset=offset, line_no=1, at=now, text="Hello")
    if session.gone_at is None:
        transcript.touch()
        written = to_ns(chance.choice((at, at, at, ago(2, 10))))
        os.utime(transcript, ns=(written, written))
    return project


def has_news(project: Project, now: dt.datetime) -> bool:
    """What the rows and the transcript of this project alone say."""
    config = conf.current(project)
    assert project.last_session_at is not None
    if not config.catching or project.last_session_at < now - catching.ACTIVE:
        return False
    quiet = now - dt.timedelta(minutes=config.catch_minutes)
    for session in project.sessions.filter(gone_at=None):
        written = from_ns(os.stat(session.path).st_mtime_ns)
        if session.touched_at + catching.CLOCK_STEP < written <= quiet:
            return True
    return bool(catching._parts(project, now, False, None))


@pytest.mark.parametrize("seed", range(3))
def test_a_tick_reads_the_projects_in_which_each_by_itself_has_something_new(
    tmp_path: Path, seed: int
) -> None:
    chance, now = random.Random(seed), timezone.now()  # noqa: S311 - a chance, no secret
    projects = [used(tmp_path, number, chance, now) for number in range(60)]
    due = [project.name for project in catching.due(now, Everywhere.load())]
    expected = {project.name for project in projects if has_news(Project.objects.get(pk=project.pk), now)}
    assert sorted(due) == sorted(expected)
    assert 5 < len(due) < 55
    last = [Project.objects.get(name=name).last_session_at for name in due]
    assert last == sorted(last, reverse=True)
