"""A job starts when it is due, once, and what follows it starts when it has ended."""

from __future__ import annotations

import datetime as dt
import zoneinfo
from pathlib import Path

import pytest
from django.core.cache import cache
from django.db import OperationalError
from django_q.models import OrmQ

from dreams import conf, tasks
from dreams.lib import cron
from dreams.models import AuditEntry, JobRun, ScheduledJob
from dreams.services import jobs, settings_changes
from dreams.services.inbox import waiting
from dreams.services.jobs import runs
from dreams.services.scheduling import scheduler
from tests.world import directory as world

pytestmark = pytest.mark.django_db
BERLIN = zoneinfo.ZoneInfo("Europe/Berlin")
START = dt.datetime(2026, 6, 1, 12, 0, tzinfo=BERLIN)
DAY = dt.timedelta(days=1)
MINUTE = dt.timedelta(minutes=1)


@pytest.fixture(autouse=True)
def in_berlin(db: None) -> None:
    cache.clear()
    settings_changes.set_override("time_zone", "Europe/Berlin", actor="owner")


def add(kind: str = "verify", expression: str = "0 3 * * *", **more: object) -> ScheduledJob:
    wanted = jobs.Wanted(kind, expression, **more)  # type: ignore[arg-type] # as a test names them
    return jobs.add(wanted, actor="owner", now=START)


def at(day: int, hour: int, minute: int = 0) -> dt.datetime:
    return dt.datetime(2026, 6, day, hour, minute, tzinfo=BERLIN)


def start(now: dt.datetime) -> list[str]:
    """The labels of what starts at `now`."""
    return [run.label for run in jobs.tick(now, enqueue=lambda dream: None)]


def end_all(now: dt.datetime, status: JobRun.Status = JobRun.Status.DONE) -> None:
    for run in JobRun.objects.filter(status__in=JobRun.UNFINISHED):
        runs.end(run, runs.RunResult(status, "A disk is full."), now)


def test_it_starts_when_it_is_due_and_not_a_second_time() -> None:
    add()
    assert start(at(2, 2, 59)) == []
    assert start(at(2, 3, 16)) == ["Verify: all projects"]
    end_all(at(2, 3, 17))
    assert start(at(2, 3, 18)) == []
    assert start(at(3, 3, 16)) == ["Verify: all projects"]


def test_what_a_sleep_missed_starts_once() -> None:
    add()
    assert len(start(at(9, 10))) == 1
    end_all(at(9, 10, 1))
    assert start(at(9, 10, 2)) == []
    assert len(start(at(10, 3, 16))) == 1


def test_of_two_that_saw_it_due_one_starts_it() -> None:
    job = add()
    clock = jobs.Clock.load()
    mine, yours = ScheduledJob.objects.get(), ScheduledJob.objects.get()
    assert runs.fire(mine, at(2, 4), clock) is not None
    end_all(at(2, 4))
    assert runs.fire(yours, at(2, 4), clock) is None
    assert JobRun.objects.filter(job=job).count() == 1


def test_it_stays_due_while_its_last_run_is_not_over() -> None:
    add(expression="*/10 * * * *")
    assert len(start(START + 11 * MINUTE)) == 1
    assert start(START + 60 * MINUTE) == []
    end_all(START + 61 * MINUTE)
    assert len(start(START + 62 * MINUTE)) == 1


@pytest.mark.not_on_postgresql
def test_it_starts_a_little_later_than_its_time_and_always_as_much() -> None:
    late = set()
    for hour in range(20):
        job = add(expression=f"0 {hour} * * *")
        assert job.due_at and job.next_at
        late.add(job.next_at - job.due_at)
        assert dt.timedelta(0) <= job.next_at - job.due_at <= dt.timedelta(minutes=15)
    assert len(late) > 10
    hourly = add(expression="0 * * * *")
    assert hourly.next_at and hourly.due_at
    assert hourly.next_at - hourly.due_at <= dt.timedelta(minutes=6)


def test_a_job_of_once_starts_early_by_90_seconds_at_most_and_ends() -> None:
    job = add(once=True)
    assert job.due_at == at(2, 3) and job.next_at
    assert dt.timedelta(0) <= job.due_at - job.next_at < dt.timedelta(seconds=90)
    odd = add(expression="7 3 * * *", once=True)
    assert odd.due_at == odd.next_at
    assert len(start(at(2, 3, 8))) == 2
    end_all(at(2, 3, 9))
    assert start(at(5, 3, 8)) == []
    assert all(row.ended_at for row in ScheduledJob.objects.all())


def test_a_recurring_job_ends_after_its_last_day() -> None:
    add(until=dt.date(2026, 6, 3))
    for day in (2, 3):
        assert len(start(at(day, 4))) == 1
        end_all(at(day, 5))
    assert start(at(4, 4)) == []
    assert ScheduledJob.objects.get().ended_at is not None


def test_a_recurring_job_without_a_last_day_goes_on() -> None:
    add()
    assert len(start(at(1, 23) + 900 * DAY)) == 1
    assert ScheduledJob.objects.get().ended_at is None


def test_nothing_starts_in_quiet_hours_and_all_of_it_once_when_they_end() -> None:
    settings_changes.set_override("quiet_hours", "22:00-07:00", actor="owner")
    add(expression="0 * * * *")
    assert start(at(2, 3, 30)) == []
    assert start(at(2, 6, 59)) == []
    assert len(start(at(2, 7))) == 1
    end_all(at(2, 7))
    assert start(at(2, 7, 1)) == []


@pytest.mark.parametrize("text", ["late", "22:00", "7-7"])
def test_quiet_hours_that_make_no_sense_are_refused(text: str) -> None:
    with pytest.raises(conf.BadValue, match=r"Quiet hours: .*such as 22:00-07:00"):
        settings_changes.set_override("quiet_hours", text, actor="owner")


@pytest.mark.not_on_postgresql
def test_what_follows_starts_when_the_one_before_has_ended() -> None:
    checkup = add("checkup")
    dream = add("verify", "", after=checkup)
    add("export", "", after=dream)
    said = []
    for minute in range(16, 26):
        said += start(at(2, 3, minute))
        end_all(at(2, 3, minute))
    assert said == ["Checkup: all projects", "Verify: all projects", "Export: all projects"]
    assert start(at(2, 12)) == []
    assert start(at(3, 3, 16)) == ["Checkup: all projects"]


def test_what_follows_also_starts_after_a_failure() -> None:
    add("digest", "", after=add("verify"))
    start(at(2, 3, 16))
    end_all(at(2, 3, 17), JobRun.Status.FAILED)
    assert start(at(2, 3, 18)) == ["Digest"]


def test_what_follows_a_job_of_once_ends_with_it() -> None:
    add("digest", "", after=add("verify", once=True))
    start(at(2, 3, 16))
    end_all(at(2, 3, 17))
    assert start(at(2, 3, 18)) == ["Digest"]
    assert all(row.ended_at for row in ScheduledJob.objects.all())


def test_what_follows_waits_for_the_quiet_hours_too() -> None:
    settings_changes.set_override("quiet_hours", "03:16-07:00", actor="owner")
    add("digest", "", after=add("verify"))
    assert len(start(at(2, 3, 15))) == 1
    end_all(at(2, 3, 17))
    assert start(at(2, 3, 18)) == []
    assert start(at(2, 7)) == ["Digest"]


@pytest.mark.more
def test_the_next_five_times_are_those_at_which_it_starts() -> None:
    settings_changes.set_override("quiet_hours", "22:00-07:00", actor="owner")
    job = add(expression="0 */4 * * *")
    shown = jobs.upcoming(job, START, jobs.Clock.load())
    started = []
    now, step = START, 5 * MINUTE
    while len(started) < 5:
        now += step
        started += [now] if start(now) else []
        end_all(now)
    assert len(shown) == 5
    assert all(dt.timedelta(0) <= one - two < step for one, two in zip(started, shown, strict=True))


def test_a_job_that_no_tick_has_seen_yet_has_its_next_times_too() -> None:
    job = add()
    shown = jobs.upcoming(job, START, jobs.Clock.load())
    job.next_at = job.due_at = None
    assert jobs.upcoming(job, START, jobs.Clock.load()) == shown


def test_another_time_zone_moves_what_is_to_come_and_loses_nothing() -> None:
    add()
    settings_changes.set_override("time_zone", "Asia/Tokyo", actor="owner")
    assert start(at(1, 12, 1)) == []
    assert start(at(1, 20, 16)) == ["Verify: all projects"], "03:00 in Tokyo is 20:00 in Berlin"
    end_all(at(1, 21))
    settings_changes.set_override("time_zone", "Europe/Berlin", actor="owner")
    assert len(start(at(2, 20, 16))) == 1, "it was due already when the zone changed"


@pytest.mark.not_on_postgresql
def test_there_are_fifty_jobs_at_most_and_ended_ones_do_not_count() -> None:
    for minute in range(50):
        add(expression=f"{minute} 3 * * *")
    with pytest.raises(jobs.TooManyJobs, match="There are 50 jobs"):
        add(expression="0 4 * * *")
    ScheduledJob.objects.filter(pk=ScheduledJob.objects.values("pk")[:1]).update(ended_at=START)
    assert add(expression="0 4 * * *")


@pytest.mark.not_on_postgresql
def test_a_job_is_in_the_list_once_until_it_has_ended(tmp_path: Path) -> None:
    first = add()
    with pytest.raises(jobs.SameJob, match=rf"Verify: all projects: already scheduled .*{first.public_id}"):
        add()
    assert (
        add("checkup")
        and add(expression="0 4 * * *")
        and add("checkup", project=world.make_project(tmp_path))
    )
    follower = add("export", "", after=first)
    with pytest.raises(jobs.SameJob, match=follower.public_id):
        add("export", "", after=first)
    ScheduledJob.objects.filter(pk=first.pk).update(ended_at=START)
    assert add()


def test_a_job_removed_takes_what_follows_it_along_and_leaves_its_runs() -> None:
    first = add()
    second = add("digest", "", after=first)
    start(at(2, 3, 16))
    assert {gone.pk for gone in jobs.remove(first, actor="owner")} == {first.pk, second.pk}
    assert not ScheduledJob.objects.exists()
    run = JobRun.objects.get()
    assert (run.label, run.status) == ("Verify: all projects", "nothing")
    assert AuditEntry.objects.filter(action="job.removed").count() == 2


@pytest.mark.not_on_postgresql
@pytest.mark.parametrize(
    ("more", "says"),
    [
        ({"kind": "nap"}, "“nap” is not one of dream, checkup"),
        ({"expression": ""}, "needs either a schedule"),
        ({"expression": "0 3 * *"}, "not five fields"),
        ({"until": dt.date(2026, 5, 31)}, "2026-05-31 is in the past"),
        ({"expression": "0 3 5 6 *", "until": dt.date(2026, 6, 4)}, "is not due until 2026-06-04"),
    ],
)
def test_a_job_that_cannot_be_is_refused(more: dict[str, object], says: str) -> None:
    with pytest.raises(jobs.BadJob, match=says):
        add(**more)  # type: ignore[arg-type] # as a test names them


def test_a_digest_is_of_no_single_project(tmp_path: Path) -> None:
    with pytest.raises(jobs.BadJob, match="covers all projects"):
        add("digest", project=world.make_project(tmp_path))


@pytest.mark.not_on_postgresql
def test_three_failures_in_a_row_are_in_the_inbox_until_it_works() -> None:
    job = add()
    for day in (2, 3, 4):
        assert waiting.waiting(at(day, 3)) == []
        start(at(day, 3, 16))
        end_all(at(day, 4), JobRun.Status.FAILED)
    [item] = waiting.waiting(at(4, 5))
    assert (item.key, item.kind.label, item.since) == (job.public_id, "Schedule failed", at(2, 4))
    assert item.why == "“Verify: all projects” failed 3 times in a row. A disk is full."
    assert item.url.endswith(f"/schedules/#{job.public_id}")
    start(at(5, 3, 16))
    end_all(at(5, 4))
    assert waiting.waiting(at(5, 5)) == []


@pytest.mark.not_on_postgresql
def test_a_failing_job_of_a_project_stands_under_the_projects_name(tmp_path: Path) -> None:
    project = world.make_project(tmp_path)
    job = add("export", project=project)
    for _ in range(3):
        runs.end(runs.start_now(job, actor=""), runs.RunResult(JobRun.Status.FAILED, ""))
    [item] = waiting.waiting(START)
    assert (item.project, item.project_pk) == ("app", project.pk)
    assert item.why == "“Export: app” failed 3 times in a row."


def test_a_job_of_another_host_is_left_to_it() -> None:
    job = add()
    ScheduledJob.objects.update(host="elsewhere")
    assert start(at(2, 3, 16)) == []
    dream = add("dream")
    ScheduledJob.objects.update(host="elsewhere")
    dream.refresh_from_db()
    run = runs.start_now(dream, actor="owner")
    jobs.begin(run, enqueue=lambda started: pytest.fail("its files are elsewhere"))
    run.refresh_from_db()
    assert run.status == "pending" and job.pk


def test_a_tick_hands_a_run_to_the_queue_once_and_again_when_nobody_took_it() -> None:
    add()
    scheduler.tick(at(2, 3, 16))
    scheduler.tick(at(2, 3, 17))
    assert [task.func() for task in OrmQ.objects.all()] == ["dreams.tasks.run_job"]
    cache.clear()  # five minutes later
    scheduler.tick(at(2, 3, 23))
    assert OrmQ.objects.count() == 2, "a task that was lost; the run is claimed once however often it arrives"


def test_a_run_that_arrives_twice_is_done_once() -> None:
    add()
    start(at(2, 3, 16))
    run = JobRun.objects.get()
    assert runs.claim(run.pk) is not None
    assert runs.claim(run.pk) is None


def test_a_run_whose_worker_died_has_failed() -> None:
    add()
    start(at(2, 3, 16))
    JobRun.objects.update(status="running", worker_pid=2**22 - 3, worker_started=1.0)
    start(at(2, 3, 18))
    run = JobRun.objects.get()
    assert run.status == "failed" and "worker died" in run.text


def test_a_run_whose_end_a_full_disk_does_not_take_fails_later_instead_of_running_for_ever(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def full(*given: object) -> bool:
        raise OperationalError("database or disk is full")

    add()
    start(at(2, 3, 16))
    with monkeypatch.context() as patched:
        patched.setattr("dreams.services.jobs.end", full)
        with pytest.raises(SystemExit):  # else its worker lives on, and seems to be at work
            tasks.run_job(JobRun.objects.get().pk)
    assert JobRun.objects.get().status == "running"
    JobRun.objects.update(worker_pid=2**22 - 3)
    start(at(2, 3, 18))
    assert JobRun.objects.get().status == "failed"


def test_a_delay_never_reaches_the_next_time() -> None:
    """What starts late must not swallow the time after it."""
    clock = jobs.Clock.load()
    for expression in ("* * * * *", "*/2 * * * *", "0,5 * * * *", "0 2,3 * * *"):
        job = add(expression=expression)
        for _ in range(100):
            assert job.due_at and job.next_at
            following = cron.next_time(expression, job.due_at, clock.zone)
            assert following and job.next_at < following
            job.due_at, job.next_at = following, following
