"""What a job of each kind does, and what its run says of it."""

from __future__ import annotations

import datetime as dt
import os
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest
from django.conf import settings
from django.core.cache import cache
from django.utils import timezone
from django_q.models import OrmQ

from dreams.lib.files.text import sha256
from dreams.models import Blob, DreamRun, JobRun, Override, Project, ScheduledJob
from dreams.services import discovery, dreaming, jobs
from dreams.services.jobs import runs
from dreams.services.memories import checkup, exports
from dreams.services.scheduling import scheduler
from tests.world import directory as world

pytestmark = pytest.mark.django_db
HOUR = dt.timedelta(hours=1)


@pytest.fixture(autouse=True)
def own_cache_and_root(tmp_path: Path, settings) -> None:
    cache.clear()
    settings.ROOTS = (tmp_path,)


def job(kind: str, **more: object) -> ScheduledJob:
    return jobs.add(jobs.Wanted(kind, "0 3 * * *", **more), actor="owner")  # type: ignore[arg-type] # as named


def done(kind: str, **more: object) -> JobRun:
    """A run of a new job, done here."""
    return ran(job(kind, **more))


def ran(made: ScheduledJob) -> JobRun:
    return jobs.run_here(runs.start_now(made, actor="owner"))


def ready(tmp_path: Path, sessions: int = 5) -> Project:
    """A project that dreamt an hour ago and has had so many sessions since."""
    world.write_sessions(tmp_path, sessions, days_ago=0.02)
    memory = tmp_path / "projects/-home-dev-app/memory"
    world.put(memory / "MEMORY.md", world.INDEX)
    world.put(memory / ".consolidate-lock", "")
    an_hour_ago = (timezone.now() - HOUR).timestamp()
    os.utime(memory / ".consolidate-lock", (an_hour_ago, an_hour_ago))
    discovery.discover()
    return Project.objects.get()


# --- Checkup, verify, export --------------------------------------------------------------------------------------


@pytest.mark.not_on_postgresql
def test_a_checkup_says_what_the_page_says(tmp_path: Path) -> None:
    project = world.make_project(tmp_path)
    run = done("checkup", project=project)
    assert (run.status, run.text) == ("done", checkup.check(project).sentence)
    assert "in 3 files." in run.text and "note" not in run.text
    bare = world.make_project(tmp_path / "bare", {})
    assert done("checkup", project=bare).text == "No memories to check."


def test_of_all_projects_one_that_fails_stops_no_other(tmp_path: Path, monkeypatch) -> None:
    first = world.make_project(tmp_path / "one")
    other = world.make_project(tmp_path / "two")
    Project.objects.filter(pk=other.pk).update(name="other")
    real = checkup.check
    broken = lambda project: real(project) if project == other else 1 / 0  # noqa: E731
    monkeypatch.setattr(runs, "checkup", SimpleNamespace(check=broken))
    run = done("checkup")
    assert run.status == "failed" and run.text == "app: An unexpected fault (ZeroDivisionError)."
    assert {part["project"]: part["state"] for part in run.parts} == {first.pk: "failed", other.pk: "done"}


@pytest.mark.not_on_postgresql
def test_verify_fails_where_something_is_damaged(tmp_path: Path) -> None:
    world.make_project(tmp_path)
    verify = job("verify")
    assert ran(verify).status == "done"
    Blob.objects.filter(sha256=sha256(world.DEPLOY.encode())).delete()
    run = ran(verify)
    assert run.status == "failed" and run.text.startswith("1 thing is damaged: version")


@pytest.mark.not_on_postgresql
def test_of_exports_the_last_seven_are_kept_and_each_can_be_brought_back(tmp_path: Path, monkeypatch) -> None:
    project = world.make_project(tmp_path)
    export = job("export", project=project)
    start = timezone.now()
    for day in range(9):
        monkeypatch.setattr(runs.timezone, "now", lambda day=day: start + dt.timedelta(days=day))
        run = ran(export)
        assert run.status == "done", run.text
    monkeypatch.undo()
    folder = runs.export_folder(project)
    kept = sorted(folder.iterdir())
    assert len(kept) == 7 and str(kept[-1]) in run.text
    assert folder.is_relative_to(settings.DATA_DIR)
    assert folder.stat().st_mode & 0o077 == 0 and kept[0].stat().st_mode & 0o077 == 0
    assert exports.bring_back(kept[-1], world.ME).project == project


def test_exports_stay_beside_seven_of_a_clock_that_ran_ahead(tmp_path: Path, monkeypatch) -> None:
    project = world.make_project(tmp_path)
    for day in range(1, 8):
        world.put(runs.export_folder(project) / f"2036-01-0{day}T030000Z{runs.SUFFIX}", "old")
    export, start = job("export", project=project), timezone.now()
    for day in range(2):
        monkeypatch.setattr(runs.timezone, "now", lambda day=day: start + dt.timedelta(days=day))
        assert ran(export).status == "done"
    names = sorted(path.name for path in runs.export_folder(project).iterdir())
    assert len(names) == 7 and not names[1].startswith("2036"), names


def test_what_is_in_the_folder_of_exports_and_no_export_stays(tmp_path: Path) -> None:
    project = world.make_project(tmp_path)
    mine = runs.export_folder(project) / "notes.txt"
    world.put(mine, "mine")
    done("export", project=project)
    assert mine.read_text() == "mine"


# --- Dreams -------------------------------------------------------------------------------------------------------


def tick_until_over(run: JobRun, now: dt.datetime | None = None) -> JobRun:
    """Ticks, with a worker that runs each dream in between."""
    for minute in range(5):
        scheduler.tick((now or timezone.now()) + minute * dt.timedelta(minutes=1))
        for dream in DreamRun.objects.filter(status="pending"):
            dreaming.run_dream(dream.pk)
        run.refresh_from_db()
        if run.status not in JobRun.UNFINISHED:
            break
    return run


@pytest.mark.not_on_postgresql
def test_a_scheduled_dream_takes_the_place_of_the_time_gate(tmp_path: Path) -> None:
    project = ready(tmp_path)
    assert not scheduler.tick().started, "the last dream was an hour ago"
    run = tick_until_over(runs.start_now(job("dream", project=project), actor=""))
    dream = DreamRun.objects.get()
    assert (dream.trigger, dream.status, run.status) == ("job", "completed", "done")
    assert run.parts[0]["dream"] == dream.public_id and run.text


@pytest.mark.more
@pytest.mark.parametrize(
    ("closed", "says"),
    [
        (lambda project: Override.objects.create(key="paused", value=True), "paused everywhere"),
        (lambda project: Override.objects.create(project=project, key="dreaming", value=False), "are off"),
        (world.three_changes, "finish that first"),
        (lambda project: Override.objects.create(key="min_sessions", value=9), "5 of 9 sessions"),
        (
            lambda project: Project.objects.update(not_before=timezone.now() + HOUR, failures=1),
            "A dream failed; tried again",
        ),
        (
            lambda project: world.put(Path(project.root) / "settings.json", '{"autoMemoryEnabled": false}'),
            "auto memory is off",
        ),
    ],
    ids=["pause", "switch", "review", "sessions", "back-off", "memory"],
)
def test_every_other_gate_holds(tmp_path: Path, closed: Callable[[Project], object], says: str) -> None:
    project = ready(tmp_path)
    world.put(Path(project.memory_dir) / "feedback_testing.md", world.TESTING)
    world.put(Path(project.memory_dir) / "project_deploy.md", world.DEPLOY)
    closed(project)
    discovery.discover()
    run = tick_until_over(runs.start_now(job("dream", project=project), actor=""))
    assert run.status == "nothing" and says in run.text
    assert not DreamRun.objects.exists()


def test_a_budget_that_is_spent_holds_a_scheduled_dream(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-" + "test" * 6)
    project = ready(tmp_path)
    Override.objects.create(key="engine", value="anthropic")
    Override.objects.create(key="max_cost_dream", value=0.000001)
    run = tick_until_over(runs.start_now(job("dream", project=project), actor=""))
    assert run.status == "nothing" and "over the $" in run.text


def held_lock(project: Project) -> Path:
    """Somebody else has dreamt for 50 minutes; the sessions came since."""
    lock = Path(project.memory_dir) / ".consolidate-lock"
    lock.write_text(str(os.getpid()))
    since = (timezone.now() - dt.timedelta(minutes=50)).timestamp()
    os.utime(lock, (since, since))
    return lock


@pytest.mark.more
def test_a_lock_is_waited_for(tmp_path: Path) -> None:
    project = ready(tmp_path)
    lock = held_lock(project)
    run = runs.start_now(job("dream", project=project), actor="")
    scheduler.tick()
    run.refresh_from_db()
    assert run.status == "running" and run.parts[0]["state"] == "waiting"
    since = lock.stat().st_mtime
    lock.write_text("")
    os.utime(lock, (since, since))
    assert tick_until_over(run, timezone.now() + dt.timedelta(minutes=11)).status == "done"
    assert DreamRun.objects.get().trigger == "job"


def test_a_lock_is_waited_for_an_hour_and_no_longer(tmp_path: Path) -> None:
    project = ready(tmp_path)
    lock = held_lock(project)
    run = runs.start_now(job("dream", project=project), actor="")
    scheduler.tick()
    # Its holder keeps it fresh, and there are sessions since.
    later = timezone.now() + dt.timedelta(minutes=40)
    os.utime(lock, (later.timestamp(), later.timestamp()))
    project.sessions.update(touched_at=later + dt.timedelta(minutes=5))
    scheduler.tick(timezone.now() + HOUR + dt.timedelta(minutes=1))
    run.refresh_from_db()
    assert run.status == "nothing" and "lock is held" in run.text


@pytest.mark.more
@pytest.mark.not_on_postgresql
def test_a_dream_that_is_under_way_is_waited_for(tmp_path: Path) -> None:
    project = ready(tmp_path)
    Override.objects.create(key="max_dreams_at_once", value=4)
    other = dreaming.request(project, DreamRun.Trigger.PAGE)
    run = runs.start_now(job("dream", project=project), actor="")
    scheduler.tick()
    run.refresh_from_db()
    assert run.parts[0]["state"] == "waiting" and other.public_id in run.parts[0]["text"]
    dreaming.cancel(other, "owner")
    assert tick_until_over(run).status == "done"


@pytest.mark.more
def test_dreams_of_all_projects_run_one_after_the_other(tmp_path: Path) -> None:
    for number in (1, 2, 3):
        world.write_sessions(tmp_path, 5, slug=f"-home-dev-p{number}", days_ago=0.02)
        world.put(tmp_path / f"projects/-home-dev-p{number}/memory/MEMORY.md", world.INDEX)
    discovery.discover()
    Override.objects.create(key="min_hours", value=8000.0)
    run = runs.start_now(job("dream"), actor="")
    scheduler.tick()
    assert DreamRun.objects.count() == 1, "one at a time"
    assert tick_until_over(run).text == "3 dreams in 3 projects."
    assert DreamRun.objects.filter(trigger="job", status="completed").count() == 3


def test_a_dream_that_failed_fails_the_run(tmp_path: Path) -> None:
    project = ready(tmp_path)
    run = runs.start_now(job("dream", project=project), actor="")
    scheduler.tick()
    DreamRun.objects.update(status="failed", error="The engine is away.", ended_at=timezone.now())
    scheduler.tick()
    run.refresh_from_db()
    assert run.status == "failed" and "The engine is away" in run.text


def test_two_ticks_at_once_start_one_dream(tmp_path: Path) -> None:
    project = ready(tmp_path)
    Override.objects.create(key="max_dreams_at_once", value=4)
    runs.start_now(job("dream", project=project), actor="")
    for _ in range(3):
        scheduler.tick()
    assert DreamRun.objects.count() == 1
    assert OrmQ.objects.count() == 1


@pytest.mark.not_on_postgresql
def test_by_command_the_dream_runs_in_the_foreground(tmp_path: Path) -> None:
    project = ready(tmp_path)
    run = done("dream", project=project)
    assert run.status == "done"
    assert DreamRun.objects.get().status == "completed"
