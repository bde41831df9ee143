"""A clock that ran ahead once leaves times that have not come yet. They count as none, so nothing waits for them."""

from __future__ import annotations

import datetime as dt
import shutil
from pathlib import Path

import pytest
import time_machine
from django.conf import settings
from django.core.cache import cache
from django.utils import timezone
from django_q.brokers.orm import ORM
from django_q.conf import Conf
from django_q.models import OrmQ, Schedule
from django_q.scheduler import scheduler as look_at_schedules

from dreams import conf
from dreams.lib.files import text
from dreams.models import Channel, DreamRun, Project, Proposal, Question, ScheduledJob, Session
from dreams.services import (
    agent_settings,
    discovery,
    jobs,
    login,
    notify,
    settings_changes,
    suggesting,
)
from dreams.services.catching import unread_parts
from dreams.services.dreaming import dream_inputs as dream_reading
from dreams.services.inbox import snoozing
from dreams.services.questions import question_states
from dreams.services.scheduling import gates, next_dream, scheduler
from tests.world import directory as world, rows

pytestmark = pytest.mark.django_db
YEARS = dt.timedelta(days=3650)


@pytest.fixture(autouse=True)
def nothing_remembered() -> None:
    cache.clear()


def _next_run() -> dt.datetime:
    found: dt.datetime = Schedule.objects.get().next_run
    return found


@pytest.mark.parametrize("heal", [scheduler.ensure_schedule, scheduler.tick], ids=["start", "tick"])
def test_a_schedule_that_waits_for_years_runs_now(heal) -> None:
    scheduler.ensure_schedule()
    Schedule.objects.update(next_run=timezone.now() + YEARS)
    heal()
    assert _next_run() <= timezone.now() + dt.timedelta(minutes=1)


@pytest.mark.parametrize(
    "now",
    # Also in the hour that comes twice.
    [dt.datetime(2036, 11, 22, 12, tzinfo=dt.UTC), dt.datetime(2036, 10, 26, 0, 59, 30, tzinfo=dt.UTC)],
    ids=["years", "autumn"],
)
def test_years_without_a_tick_are_one_tick_and_not_a_step_for_each_minute(
    now: dt.datetime, monkeypatch: pytest.MonkeyPatch, settings
) -> None:
    settings.TIME_ZONE = "Europe/Berlin"
    scheduler.ensure_schedule()
    monkeypatch.setattr("django_q.scheduler.close_old_django_connections", lambda: None)  # the test's own
    monkeypatch.setattr(Conf, "CLUSTER_NAME", Schedule.objects.get().cluster)
    Schedule.objects.update(next_run=dt.datetime(2026, 1, 1, tzinfo=dt.UTC))
    steps = []
    step = Schedule.calculate_next_run

    def counted(row: Schedule, *given: object) -> dt.datetime:
        steps.append(row)
        assert len(steps) < 10, "the database's write lock is held meanwhile"
        return step(row, *given)

    monkeypatch.setattr(Schedule, "calculate_next_run", counted)
    with time_machine.travel(now):
        look_at_schedules(broker=ORM(list_key=Conf.CLUSTER_NAME))
        assert now < _next_run() <= now + dt.timedelta(minutes=2) and OrmQ.objects.count() == 1


def test_a_job_whose_next_time_a_wrong_clock_worked_out_runs_at_its_next_true_one() -> None:
    wrong = timezone.now() + YEARS
    jobs.add(jobs.Wanted("verify", "0 3 * * *"), actor="me", now=wrong)
    jobs.tick(timezone.now(), lambda dream: None)
    job = ScheduledJob.objects.get()
    assert job.next_at and job.next_at < timezone.now() + dt.timedelta(days=2)


def test_a_dream_that_failed_then_is_tried_again(tmp_path: Path) -> None:
    facts = gates.Facts(retry_at=timezone.now() + YEARS, failures=1)
    found = gates.evaluate(gates.Case(facts, conf.Config(), timezone.now()), stop_at_first=False)
    assert next(one for one in found if one.name == "throttle").passed


@pytest.mark.not_on_postgresql
def test_discovery_and_lost_tasks_wait_for_no_such_time(tmp_path: Path, settings) -> None:
    settings.ROOTS = [tmp_path]
    cache.set(discovery.LAST_LOOK, (timezone.now() + YEARS).isoformat(), None)
    world.write_sessions(tmp_path, 1)
    scheduler.tick()
    assert Project.objects.exists()


def test_a_session_from_then_is_quiet_and_read() -> None:
    project = rows.make_project()
    Session.objects.filter(pk=rows.make_session(project).pk).update(touched_at=timezone.now() + YEARS, size=9)
    session = Session.objects.get()
    assert not gates.is_live(None, session.touched_at, timezone.now())
    minute = dt.timedelta(minutes=1)
    assert unread_parts.quiet(
        project.sessions.all(), timezone.now() - minute, timezone.now() + minute
    ).exists()
    dream = rows.make_dream(project, "running")
    assert [brief.session_id for brief in dream_reading.review_sessions(dream)] == [session.session_id]


def test_a_question_put_off_then_may_be_asked_again() -> None:
    assert question_states.is_due(Question(later_until=timezone.now() + YEARS))
    assert not question_states.is_due(Question(later_until=timezone.now() + dt.timedelta(days=6)))


def test_what_was_put_off_then_is_in_the_inbox() -> None:
    later = timezone.now() + YEARS
    snoozing.put_off([("pabc", "review")], later + dt.timedelta(days=1), "me", later)
    snoozing.put_off([("pdef", "review")], timezone.now() + dt.timedelta(days=1), "me", timezone.now())
    assert [row.item for row in snoozing.put_off_by("me", timezone.now())] == ["pdef"]


@pytest.mark.more
def test_suggestions_of_then_do_not_fill_todays_limit(tmp_path: Path) -> None:
    project = world.make_project(tmp_path)
    for number in range(suggesting.MOST_A_DAY):
        wanted = suggesting.Suggestion(f"Fact {number}", "a fact", "project", f"Fact {number} holds.")
        Proposal.objects.filter(pk=suggesting.suggest(project, wanted).pk).update(state="rejected")
    Proposal.objects.update(created_at=timezone.now() + YEARS)
    assert suggesting.suggest(project, suggesting.Suggestion("New", "a fact", "project", "It holds.")).pk


def test_what_the_gates_said_then_is_not_shown_once_they_say_something_else() -> None:
    project, now = rows.make_project(), timezone.now()
    for reason, at in (("Off then.", now + YEARS), ("Needs 2 more sessions.", now)):
        scheduler.remember(project, [gates.GateResult("sessions", False, reason, cause=reason)], at)
    [(_, shown)] = next_dream.latest_gates([project.pk])
    assert [gate["reason"] for gate in shown] == ["Needs 2 more sessions."]
    assert not project.gate_evaluations.filter(at__gt=now).exists(), "the timeline has no such day either"


def test_copies_of_then_make_room_for_those_made_now(tmp_path: Path) -> None:
    root, mine = tmp_path / "agent", tmp_path / "mine.json"
    world.put(root / "settings.json", "{}")
    settings_changes.write(mine)
    change = agent_settings.with_hook(root)
    before = f"{text.sha_of(str(root))[:16]}-"
    for folder in ("settings", "agent-settings"):  # of tests that ran before
        shutil.rmtree(Path(settings.DATA_DIR) / folder, ignore_errors=True)
    for year in range(2091, 2097):
        world.put(Path(settings.DATA_DIR) / f"settings/{year}0101T000000000000Z.json", "then")
        world.put(Path(settings.DATA_DIR) / f"agent-settings/{before}{year}0101T000000000000Z.json", "then")
    agent_settings.add_hook(root, change.shown, "me")
    agent_settings.remove_hook(root, agent_settings.without_hook(root).shown, "me")
    for _ in range(2):
        settings_changes.read(mine, "me")
    for folder in ("settings", "agent-settings"):
        names = [path.name for path in (Path(settings.DATA_DIR) / folder).glob("*.json")]
        of_now = [name for name in names if not name.removeprefix(before).startswith("209")]
        assert (len(of_now), len(names)) == (2, 5), names


def test_a_digest_that_failed_then_is_tried_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MEMORYWEB_DIGEST_EMAIL", "me@example.org")
    Channel.objects.create(name="email", failures=1, next_at=timezone.now() + YEARS)
    assert notify.retries_due(timezone.now()) == ["email"]


def test_a_digest_sent_then_keeps_no_failed_dream_from_the_next_one() -> None:
    now = timezone.now()
    failed = rows.make_dream(rows.make_project(), DreamRun.Status.FAILED, ended_at=now)
    assert notify.collect(now, now + YEARS).ids == [failed.public_id]


def test_a_login_link_made_then_is_not_good_for_years(owner) -> None:
    link = login.make_link(timezone.now() + YEARS)
    assert login.use_code(link.code) is None
