"""One tick: judge, keep what changed, start what is open, repair what a crash left."""

from __future__ import annotations

import datetime as dt
import os
from pathlib import Path

import pytest
from django.contrib.sessions.models import Session as BrowserSession
from django.core.cache import cache
from django.db import connection
from django.db.models import F
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone
from django_q.brokers import get_broker
from django_q.models import Failure, OrmQ, Schedule
from django_q.monitor import save_task

from dreams import conf, tasks
from dreams.lib import process
from dreams.models import (
    DreamRun,
    GateEvaluation,
    LockHold,
    Override,
    Project,
    Proposal,
    ScheduledJob,
    Session,
)
from dreams.services import discovery, dreaming
from dreams.services.catching import lifecycle as catching
from dreams.services.doctor import work
from dreams.services.hosts import host
from dreams.services.scheduling import scheduler
from dreams.services.scheduling.gate_inputs import Everywhere
from tests.world import directory as world, engines
from tests.world.rows import make_project

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def own_cache_and_root(tmp_path: Path, settings) -> None:
    cache.clear()
    settings.ROOTS = (tmp_path,)


def found_project(tmp_path: Path, sessions: int) -> Project:
    world.write_sessions(tmp_path, sessions)
    folder = tmp_path / "projects/-home-dev-app/memory"
    world.put(folder / "MEMORY.md", world.INDEX)
    discovery.discover()
    return Project.objects.get()


def dream_tasks() -> int:
    return sum(row.func() == "dreams.tasks.run_dream" for row in OrmQ.objects.all())


def test_five_sessions_and_no_lock_start_one_dream(tmp_path: Path) -> None:
    project = found_project(tmp_path, 5)
    report = scheduler.tick()
    assert len(report.started) == 1
    dream = DreamRun.objects.get()
    assert (dream.project, dream.status, dream.trigger) == (project, "pending", "schedule")
    assert dream_tasks() == 1
    assert GateEvaluation.objects.get().open


def test_the_first_project_is_found_by_the_next_tick_and_further_ones_at_the_next_check(
    tmp_path: Path, settings
) -> None:
    settings.ROOTS = [tmp_path]
    scheduler.tick()
    for slug in ("-home-dev-app", "-home-dev-other"):
        world.write_sessions(tmp_path, 1, slug=slug)
        scheduler.tick()
        assert Project.objects.count() == 1


@pytest.mark.not_on_postgresql
def test_four_sessions_start_nothing_and_the_reason_is_kept_once(tmp_path: Path) -> None:
    found_project(tmp_path, 4)
    first = scheduler.tick()
    second = scheduler.tick(first.at + dt.timedelta(minutes=11))
    assert not first.started and not second.started
    kept = GateEvaluation.objects.get()
    assert not kept.open
    assert "4 of 5" in kept.results[-1]["reason"]


def test_a_refusal_names_the_gate_that_stays_closed_and_not_the_pause_after_a_check(tmp_path: Path) -> None:
    project = found_project(tmp_path, 3)
    scheduler.tick()
    project.refresh_from_db()
    with pytest.raises(scheduler.GateClosed, match="3 of 5 sessions"):
        scheduler.refuse_closed(project, forced=False)


def test_nothing_after_the_first_closed_gate_is_asked(tmp_path: Path, monkeypatch) -> None:
    project = found_project(tmp_path, 5)
    Override.objects.create(project=project, key="dreaming", value=False)
    monkeypatch.setattr(discovery, "refresh", lambda project: pytest.fail("the disk was scanned"))
    scheduler.tick()
    assert GateEvaluation.objects.get().results[-1]["name"] == "project"


@pytest.mark.more
@pytest.mark.not_on_postgresql
def test_a_first_start_on_a_large_root_makes_no_storm(tmp_path: Path) -> None:
    for number, days in ((1, 30), (2, 2), (3, 9)):
        world.write_sessions(tmp_path, 5, slug=f"-home-dev-p{number}", days_ago=days)
        world.put(tmp_path / f"projects/-home-dev-p{number}/memory/MEMORY.md", world.INDEX)
    discovery.discover()
    scheduler.tick()
    assert DreamRun.objects.get().project.slug == "-home-dev-p2", "the most recently used first"
    scheduler.tick()
    assert DreamRun.objects.count() == 1, "one at a time"
    Override.objects.create(key="max_dreams_at_once", value=3)
    scheduler.tick()
    assert DreamRun.objects.count() == 3


def test_the_next_project_dreams_when_one_dream_has_ended_and_still_one_at_a_time(tmp_path: Path) -> None:
    for number in (1, 2, 3):
        world.write_sessions(tmp_path, 5, slug=f"-home-dev-p{number}", days_ago=number)
        world.put(tmp_path / f"projects/-home-dev-p{number}/memory/MEMORY.md", world.INDEX)
    discovery.discover()
    scheduler.tick()
    for slug in ("-home-dev-p2", "-home-dev-p3"):
        tasks.run_dream(DreamRun.objects.get(status=DreamRun.Status.PENDING).pk)
        assert DreamRun.objects.get(status=DreamRun.Status.PENDING).project.slug == slug
    assert DreamRun.objects.count() == dream_tasks() == 3


@pytest.mark.more
@pytest.mark.not_on_postgresql
def test_a_pause_during_a_dream_keeps_the_next_from_starting(tmp_path: Path) -> None:
    for number in (1, 2):
        world.write_sessions(tmp_path, 5, slug=f"-home-dev-p{number}", days_ago=number)
        world.put(tmp_path / f"projects/-home-dev-p{number}/memory/MEMORY.md", world.INDEX)
    discovery.discover()
    scheduler.tick()
    Override.objects.create(key="paused", value=True)
    tasks.run_dream(DreamRun.objects.get().pk)
    assert DreamRun.objects.count() == 1


def test_a_project_that_nobody_used_comes_last() -> None:
    """Databases sort what is not there before or behind all else."""
    used = timezone.now() - dt.timedelta(days=300)
    make_project(host=host(), memory_dir="/a/memory", slug="-unused")
    make_project(host=host(), memory_dir="/b/memory", slug="-used", last_session_at=used)
    assert [project.slug for project in scheduler._projects(())] == ["-used", "-unused"]


def test_a_pause_everywhere_closes_every_gate(tmp_path: Path) -> None:
    found_project(tmp_path, 5)
    Override.objects.create(key="paused", value=True)
    assert not scheduler.tick().started


def test_a_dream_whose_worker_died_is_failed_its_clock_restored_and_the_project_waits(tmp_path: Path) -> None:
    project = found_project(tmp_path, 5)
    lock = Path(project.memory_dir) / ".consolidate-lock"
    world.put(lock, "")
    prior = lock.stat().st_mtime_ns
    dead = 2**22 - 3
    dream = dreaming.request(project, DreamRun.Trigger.SCHEDULE)
    DreamRun.objects.update(status="running", worker_pid=dead, worker_started=1.0, attempts=1)
    LockHold.objects.create(
        project=project,
        pid=dead,
        process_started=1.0,
        prior_mtime_ns=prior,
        taken_at=timezone.now(),
        purpose="dream",
    )
    lock.write_text(str(dead))

    report = scheduler.tick()

    dream.refresh_from_db()
    project.refresh_from_db()
    assert dream.status == "failed" and report.lost == [dream.public_id]
    assert lock.stat().st_mtime_ns == prior
    assert not LockHold.objects.exists()
    assert project.failures == 1
    waits = project.not_before - timezone.now()
    assert dt.timedelta(minutes=10) < waits < dt.timedelta(minutes=20)
    assert not report.started, "it is not tried again at once"


def test_a_poison_project_is_pushed_further_each_time_and_a_day_in_the_end(tmp_path: Path) -> None:
    project = world.make_project(tmp_path)
    waits = [dreaming.back_off(project, failures) for failures in (1, 2, 3, 9)]
    assert waits == [
        dt.timedelta(minutes=15),
        dt.timedelta(minutes=30),
        dt.timedelta(days=1),
        dt.timedelta(days=1),
    ]


def test_a_project_that_waits_after_a_failure_opens_again(tmp_path: Path) -> None:
    project = found_project(tmp_path, 5)
    now = timezone.now()
    Project.objects.update(failures=1, not_before=now + dt.timedelta(minutes=15))
    assert not scheduler.tick(now).started
    assert scheduler.tick(now + dt.timedelta(minutes=16)).started
    assert project.dreams.count() == 1


def test_a_pending_dream_whose_task_was_lost_is_handed_out_again(tmp_path: Path) -> None:
    project = found_project(tmp_path, 5)
    dreaming.request(project, DreamRun.Trigger.PAGE)
    now = timezone.now()
    assert dream_tasks() == 0
    scheduler.tick(now + dt.timedelta(minutes=6))
    assert dream_tasks() == 1
    scheduler.tick(now + dt.timedelta(minutes=7))
    assert dream_tasks() == 1, "not every minute"


def test_a_task_that_a_worker_took_and_lost_keeps_no_other_dream_from_being_handed_out_again(
    tmp_path: Path,
) -> None:
    """As after the database was away: the queue locks what was taken for an hour."""
    project = found_project(tmp_path, 5)
    scheduler.enqueue(dreaming.request(project, DreamRun.Trigger.PAGE))
    now = timezone.now()
    OrmQ.objects.update(lock=now + dt.timedelta(hours=1))
    scheduler.tick(now + dt.timedelta(minutes=6))
    assert dream_tasks() == 2


def test_a_dream_whose_command_died_before_it_began_blocks_nobody(tmp_path: Path) -> None:
    project = found_project(tmp_path, 5)
    dream = dreaming.request(project, DreamRun.Trigger.COMMAND)
    assert not scheduler.repair().lost, "its command lives"
    DreamRun.objects.update(worker_pid=2**22 - 3, worker_started=1.0)
    assert scheduler.repair().lost == [dream.public_id]
    dream.refresh_from_db()
    assert dream.status == "killed" and "before it started" in dream.error
    assert dreaming.request(project, DreamRun.Trigger.COMMAND)


def test_a_running_dream_with_a_living_worker_is_left_alone(tmp_path: Path) -> None:
    project = found_project(tmp_path, 5)
    dreaming.request(project, DreamRun.Trigger.SCHEDULE)
    me = process.current()
    DreamRun.objects.update(
        status="running", worker_pid=os.getpid(), worker_started=me.start_time, lease_until=timezone.now()
    )
    assert not scheduler.tick().lost


def test_a_machine_that_wakes_up_does_not_end_a_dream_whose_worker_had_no_time_to_renew_its_lease(
    tmp_path: Path,
) -> None:
    project = found_project(tmp_path, 5)
    dream = dreaming.request(project, DreamRun.Trigger.SCHEDULE)
    me, evening = process.current(), timezone.now()
    DreamRun.objects.update(
        status="running", worker_pid=os.getpid(), worker_started=me.start_time, lease_until=evening
    )
    woken = evening + dt.timedelta(hours=9)
    assert not scheduler.repair(scheduler.TickReport(at=woken)).lost
    DreamRun.objects.update(lease_until=woken)
    morning = woken + dt.timedelta(minutes=20)
    assert not scheduler.repair(scheduler.TickReport(at=morning)).lost, "it was renewed since"
    assert not scheduler.repair(scheduler.TickReport(at=morning + dreaming.LEASE)).lost
    hangs = morning + dreaming.LEASE * 2
    assert scheduler.repair(scheduler.TickReport(at=hangs)).lost == [dream.public_id]


@pytest.mark.parametrize(
    ("broken", "named"),
    [
        ("dreams.services.catching.lifecycle.why_not_read", "catching"),
        (f"{scheduler.__name__}.judge", "gates"),
    ],
)
@pytest.mark.not_on_postgresql
def test_a_project_that_cannot_be_looked_at_stops_nothing_and_the_health_page_names_it(
    tmp_path: Path, monkeypatch, broken: str, named: str
) -> None:
    project = found_project(tmp_path, 5)
    with monkeypatch.context() as patched:
        patched.setattr(broken, lambda *given, **more: int("no number"))
        scheduler.tick()
    check = work.ticks(timezone.now())
    assert check.state == "warn"
    assert f"{named} " in check.detail and str(project) in check.detail and "no number" in check.detail
    scheduler.tick()
    assert work.ticks(timezone.now()).state == "ok"


@pytest.mark.parametrize("broken", ["repair", "demo.leave"])
def test_a_repair_that_fails_keeps_no_dream_from_starting(tmp_path: Path, monkeypatch, broken: str) -> None:
    found_project(tmp_path, 5)
    monkeypatch.setattr(f"{scheduler.__name__}.{broken}", lambda *given: int("no number"))
    assert scheduler.tick().started
    assert "no number" in work.ticks(timezone.now()).detail


def test_failed_tasks_do_not_pile_up_in_the_database() -> None:
    scheduler.hosts.enqueue("tick")
    failed = OrmQ.objects.get().task
    save_task({**failed, "success": False, "result": "Traceback …", "stopped": timezone.now()}, get_broker())
    assert Failure.objects.exists()
    tasks.tick()
    assert not Failure.objects.exists()


def test_expired_browser_sessions_do_not_pile_up_in_the_database() -> None:
    for _ in range(2):
        Client().get(reverse("login"))  # as a health check asks, without a cookie
    first, second = BrowserSession.objects.all()
    BrowserSession.objects.filter(pk=first.pk).update(expire_date=timezone.now() - scheduler.EVERY)
    tasks.tick()
    assert BrowserSession.objects.get() == second


@pytest.mark.parametrize("broken", ["hosts.forget_failures", "login.forget_expired"])
def test_what_cannot_be_removed_keeps_no_request_of_another_host_waiting(monkeypatch, broken: str) -> None:
    taken: list[str] = []
    monkeypatch.setattr(f"{tasks.__name__}.{broken}", lambda: int("no number"))
    monkeypatch.setattr(tasks.host_request_worker, "take", lambda: taken.append("requests"))
    tasks.tick()
    assert taken == ["requests"]


def test_there_is_one_schedule_row_however_often_it_is_ensured() -> None:
    scheduler.ensure_schedule()
    scheduler.ensure_schedule()
    row = Schedule.objects.get()
    assert row.func == "dreams.tasks.tick" and row.cluster == scheduler.cluster_name(scheduler.host())


def test_an_applied_dream_uses_its_sessions_up_and_an_undo_gives_them_back(
    tmp_path: Path, monkeypatch
) -> None:
    from dreams.models import Hunk
    from dreams.services import review, rollback
    from dreams.services.apply import applying

    project = found_project(tmp_path, 5)
    engines.use(monkeypatch, engines.add("project_export.md", "The export runs at four.\n"))
    run = dreaming.run_dream(dreaming.request(project, DreamRun.Trigger.COMMAND, forced=True).pk)
    assert run is not None and Proposal.of(run) is not None
    assert not Session.objects.filter(used_bytes__gt=0).exists(), "not used up before a person has decided"
    review.decide(Proposal.of(run), review.select_hunks(Proposal.of(run)), Hunk.Verdict.APPROVED, world.ME)
    applying.apply(Proposal.of(run), world.ME)
    assert Session.objects.filter(used_bytes__gt=0).count() == 5
    rollback.rollback(Proposal.of(run), world.ME)
    assert Session.objects.filter(used_bytes=0, given_back_at__isnull=False).count() == 5


def test_a_tick_asks_the_database_no_more_per_project_than_a_few_times(
    tmp_path: Path, django_assert_max_num_queries
) -> None:
    for number in range(20):
        Project.objects.create(
            host=scheduler.host(),
            memory_dir=str(tmp_path / f"m{number}"),
            slug=f"-m{number}",
            name=f"m{number}",
            history_key=f"m{number}",
        )
    Override.objects.create(key="paused", value=True)
    scheduler.tick()
    with django_assert_max_num_queries(24):
        scheduler.tick()
    assert conf.current().paused


def test_looking_for_quiet_sessions_of_many_projects_costs_no_more_queries_than_of_few(
    tmp_path: Path,
) -> None:
    counts = []
    for name in ("ab", "cdefgh"):
        for letter in name:
            world.write_sessions(tmp_path, 2, slug=f"-quiet-{letter}")
        discovery.discover()
        Session.objects.update(caught_bytes=F("size"))
        with CaptureQueriesContext(connection) as queries:
            assert not list(catching.due(timezone.now(), Everywhere.load()))
        counts.append(len(queries))
    assert counts[0] == counts[1]


@pytest.mark.more
def test_what_was_left_undecided_is_proposed_again_by_a_later_dream(tmp_path: Path) -> None:
    from dreams.models import Hunk
    from dreams.services import review

    project = found_project(tmp_path, 5)
    first = dreaming.run_dream(dreaming.request(project, DreamRun.Trigger.COMMAND).pk)
    assert first is not None and Proposal.of(first) is not None
    hunks = review.select_hunks(Proposal.of(first))
    review.submit(Proposal.of(first), world.ME)  # nothing decided at all
    assert Session.objects.filter(used_bytes__gt=0).count() == 0, "they still speak for what is undecided"
    again = dreaming.run_dream(dreaming.request(Project.objects.get(), DreamRun.Trigger.COMMAND).pk)
    assert again is not None and Proposal.of(again) is not None
    assert {hunk.hunk_id for hunk in review.select_hunks(Proposal.of(again))} == {
        hunk.hunk_id for hunk in hunks
    }
    review.decide(
        Proposal.of(again), review.select_hunks(Proposal.of(again)), Hunk.Verdict.REJECTED, world.ME
    )
    review.submit(Proposal.of(again), world.ME)
    assert Session.objects.filter(used_bytes__gt=0).count() == 5


def test_the_queue_has_one_schedule_and_an_address_of_the_environment_has_a_job(monkeypatch) -> None:
    scheduler.ensure_schedule()
    assert not ScheduledJob.objects.exists()
    monkeypatch.setenv("MEMORYWEB_DIGEST_EMAIL", "me@example.org")
    for _ in range(2):
        scheduler.ensure_schedule()
    assert Schedule.objects.count() == 1, "jobs have a table of their own"
    assert [(job.kind, job.cron) for job in ScheduledJob.objects.all()] == [("digest", "0 8 * * *")]
