"""A spring, an autumn and by hand a year of a schedule, over sleep, restarts and changes of the clock: nothing starts twice,
nothing is lost."""

from __future__ import annotations

import contextlib
import datetime as dt
import itertools
import random
import zoneinfo

import pytest
from django.core.cache import cache
from django.utils import timezone

from dreams.lib import cron
from dreams.models import JobRun, ScheduledJob
from dreams.services import jobs, settings_changes
from dreams.services.jobs import runs

pytestmark = pytest.mark.django_db
ZONE = zoneinfo.ZoneInfo("America/New_York")
Days = tuple[dt.date, dt.date]
SPRING: Days = (dt.date(2026, 2, 15), dt.date(2026, 4, 10))
AUTUMN: Days = (dt.date(2026, 10, 10), dt.date(2026, 12, 5))
YEAR: Days = (dt.date(2026, 1, 1), dt.date(2027, 1, 1))
SCHEDULES = ["30 2 * * *", "0 1 * * sun", "15 1,2 * * sat,sun", "0 8 1 * *", "45 * * 3,11 sun"]


class PowerCut(BaseException):
    """The process is gone between two writes."""


def machine_is_on(begin: dt.datetime, end: dt.datetime, chance: random.Random) -> Spans:
    """From when to when the machine is awake: mostly for days, with sleeps of minutes to a week between."""
    found = []
    now = begin.astimezone(dt.UTC)
    while now < end:
        awake = now + dt.timedelta(minutes=chance.randint(30, 5 * 24 * 60))
        found.append((now, awake))
        now = awake + dt.timedelta(minutes=chance.choice([2, 40, 600, 7 * 24 * 60]))
    return found


# When the clock goes forward, and when it goes back.
CHANGES = [dt.datetime(2026, 3, 8, 7, tzinfo=dt.UTC), dt.datetime(2026, 11, 1, 6, tzinfo=dt.UTC)]
SECOND, MINUTE, HOUR = (dt.timedelta(**{unit: 1}) for unit in ("seconds", "minutes", "hours"))
Spans = list[tuple[dt.datetime, dt.datetime]]


# A year with a tick each minute is 330,000 of them, about a quarter of an hour: it is run by hand. Else it ticks when
# something is due, as a tick between finds nothing.
@pytest.mark.sweep
@pytest.mark.parametrize(
    ("days", "each_minute"),
    [
        pytest.param(SPRING, False, id="spring"),
        pytest.param(AUTUMN, False, id="autumn"),
        pytest.param(YEAR, True, id="each-minute-of-a-year", marks=pytest.mark.by_hand),
    ],
)
def test_every_job_starts_for_each_of_its_times_and_never_twice(
    monkeypatch: pytest.MonkeyPatch, days: Days, each_minute: bool
) -> None:
    begin, end = (dt.datetime.combine(day, dt.time(), ZONE) for day in days)
    settings_changes.set_override("time_zone", str(ZONE), actor="owner")
    monkeypatch.setattr(timezone, "now", lambda: pytest.fail("the year has its own clock"))
    monkeypatch.setattr(jobs, "hand_out", lambda run: None)
    monkeypatch.setattr(runs, "KEPT", 10**6)
    monkeypatch.setattr(jobs.job_list, "_record", lambda *told: None)
    made = [jobs.add(jobs.Wanted("verify", expression), actor="owner", now=begin) for expression in SCHEDULES]
    follower = jobs.add(jobs.Wanted("export", after=made[0]), actor="owner", now=begin)
    chance = random.Random(3)  # noqa: S311 - the same year each time
    real = runs._made

    def made_or_cut(*told, **more) -> JobRun:
        run = real(*told, **more)
        if chance.random() < 0.05:
            raise PowerCut
        return run

    monkeypatch.setattr(runs, "_made", made_or_cut)
    spans = machine_is_on(begin, end, chance)
    changes = [change - 2 * HOUR for change in CHANGES if begin < change < end]
    assert changes and all(wakes(before, spans) == before for before in changes)
    for awake, stop in spans:
        live_through(awake, stop, chance, each_minute=each_minute)
        cache.clear()  # a restart: nothing is known but the database
    for job in made:
        check(job, begin, spans)
    first = JobRun.objects.filter(job=made[0], ended_at__isnull=False).count()
    assert abs(JobRun.objects.filter(job=follower).count() - first) <= 1
    assert first > (end - begin).days * 0.5


def live_through(begin: dt.datetime, stop: dt.datetime, chance: random.Random, *, each_minute: bool) -> None:
    now = begin
    while now < stop:
        for _ in range(chance.choice([1, 1, 1, 2])):  # at times a second scheduler beside it
            with contextlib.suppress(PowerCut):
                jobs.tick(now, enqueue=lambda dream: None)
        for run in JobRun.objects.filter(status="pending"):
            runs.end(run, runs.RunResult(JobRun.Status.DONE, ""), now + dt.timedelta(seconds=5))
        following = now + MINUTE
        if not each_minute and all(abs(now - change) > 2 * HOUR for change in CHANGES):
            coming = ScheduledJob.objects.filter(next_at__isnull=False).order_by("next_at")
            due = coming.values_list("next_at", flat=True)[0]
            changes = [change - 2 * HOUR for change in CHANGES if change - 2 * HOUR > now]
            following = max(following, min([due + chance.randint(0, 59) * SECOND, *changes]))
        now = following


def check(job: ScheduledJob, begin: dt.datetime, spans: Spans) -> None:
    started = list(JobRun.objects.filter(job=job).order_by("made_at").values_list("due_at", "made_at"))
    due = [slot for slot, _ in started]
    assert len(due) == len(set(due)), "no time starts it twice"
    last = spans[-1][1]
    times = list(itertools.takewhile(lambda at: at < last, cron.times(job.cron, begin, ZONE)))
    assert set(due) <= set(times), "it starts for a time of its schedule alone"
    moments = [made for _, made in started]
    assert all(made >= slot for slot, made in started)
    for slot in times:
        latest = wakes(slot + dt.timedelta(minutes=15), spans) + dt.timedelta(minutes=3)
        if latest < last:
            assert any(slot <= made <= latest for made in moments), f"{job.cron} lost {slot}"


def wakes(moment: dt.datetime, spans: Spans) -> dt.datetime:
    """The moment, or when the machine is awake again."""
    return next((max(moment, begin) for begin, stop in spans if moment < stop), spans[-1][1])
