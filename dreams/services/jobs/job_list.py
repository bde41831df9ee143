"""The list of scheduled jobs: adding and removing them, and when each runs next."""

import datetime as dt
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any

from django.conf import settings
from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from dreams import conf
from dreams.lib import cron
from dreams.models import JobRun, Project, ScheduledJob
from dreams.models.prepared import prepared
from dreams.services import auditlog, database
from dreams.services.hosts import host

MOST = 50  # a person's list; chosen
SHOWN = 5  # times ahead; chosen
LONGEST = 100  # characters of a schedule, as in the column
DAILY = "0 8 * * *"
Kind = ScheduledJob.Kind


class BadJob(ValueError):
    """An invalid job; the message says why and what to do."""


class TooManyJobs(BadJob):
    """The limit of jobs is reached."""


class SameJob(BadJob):
    """The list has this job already, for example because a form was sent twice."""


@dataclass(frozen=True, slots=True)
class Clock:
    """The person's zone and quiet hours, read once."""

    zone: dt.tzinfo
    zone_name: str
    quiet: conf.QuietHours | None

    @classmethod
    def load(cls) -> "Clock":
        config = conf.current()
        return cls(
            conf.zone(config), config.time_zone or settings.TIME_ZONE, conf.quiet_hours(config.quiet_hours)
        )

    def quiet_until(self, moment: dt.datetime) -> dt.datetime | None:
        return self.quiet.ends_at(moment, self.zone) if self.quiet else None

    def day(self, moment: dt.datetime) -> dt.date:
        return moment.astimezone(self.zone).date()


@dataclass(frozen=True, slots=True)
class Wanted:
    """A requested job: by `cron`, or `after` another one."""

    kind: str
    cron: str = ""
    after: ScheduledJob | None = None
    project: Project | None = None
    once: bool = False
    until: dt.date | None = None


@dataclass(frozen=True, slots=True)
class JobTime:
    """One time of a job: by the schedule, and when it really starts."""

    due_at: dt.datetime
    starts_at: dt.datetime


# --- Adding and removing ------------------------------------------------------------------------------------------


def add(wanted: Wanted, *, actor: str, now: dt.datetime | None = None) -> ScheduledJob:
    """Raises BadJob."""
    at, clock = now or timezone.now(), Clock.load()
    with transaction.atomic():
        database.one_at_a_time("jobs")
        job = checked(wanted, at, clock)
        job.made_by = actor
        job.save(force_insert=True)
        _record("job.added", job, actor)
    return job


def checked(wanted: Wanted, now: dt.datetime, clock: Clock) -> ScheduledJob:
    """The unsaved job for `wanted`, with its first time. Raises BadJob."""
    if wanted.kind not in Kind.values:
        raise BadJob(f"“{wanted.kind}” is not one of {', '.join(Kind.values)}.")
    if bool(wanted.cron.strip()) == bool(wanted.after):
        raise BadJob("A job needs either a schedule such as “0 3 * * *” or another job to follow, not both.")
    if wanted.project and wanted.kind == Kind.DIGEST:
        raise BadJob("A digest covers all projects. Leave the project out.")
    if wanted.until and wanted.until < clock.day(now):
        raise BadJob(f"{wanted.until.isoformat()} is in the past. Choose a later last day.")
    if wanted.after and wanted.after.ended_at:
        raise BadJob(f"{wanted.after.public_id} has ended, so nothing can follow it.")
    job = ScheduledJob(
        host=wanted.project.host if wanted.project else host(),
        kind=wanted.kind,
        project=wanted.project,
        cron=_cron(wanted.cron),
        after=wanted.after,
        once=wanted.once,
        until=wanted.until,
        zone=clock.zone_name,
        made_at=now,
    )
    if job.cron:
        _set_turn(job, next_turn(job, now, clock))
        if job.next_at is None:
            raise BadJob(f"“{job.cron}” is not due until {wanted.until}. Choose a later last day.")
    _refuse_more(job)
    return job


def _refuse_more(job: ScheduledJob) -> None:
    """Raises SameJob and TooManyJobs."""
    names = ("host", "kind", "project", "cron", "after", "once", "until")
    rows = ScheduledJob.objects.filter(ended_at__isnull=True)
    if same := rows.filter(**{name: getattr(job, name) for name in names}).first():
        raise SameJob(f"{job}: already scheduled like this ({same.public_id}).")
    if rows.count() >= MOST:
        raise TooManyJobs(f"There are {MOST} jobs, which is the limit. Remove one first.")


def _cron(expression: str) -> str:
    if not expression.strip():
        return ""
    try:
        found = cron.checked(expression)
    except cron.BadCron as error:
        raise BadJob(str(error)) from error
    if len(found) > LONGEST:
        raise BadJob(f"A schedule has at most {LONGEST} characters. Write ranges and steps, such as */5.")
    return found


def remove(job: ScheduledJob, *, actor: str) -> list[ScheduledJob]:
    """Remove a job and those that follow it; returns all removed jobs."""
    with transaction.atomic():
        database.one_at_a_time("jobs")
        gone = [job, *_followers(job)]
        JobRun.objects.filter(job__in=gone, status=JobRun.Status.PENDING).update(
            status=JobRun.Status.NOTHING, ended_at=timezone.now(), text="Its job was removed."
        )
        for each in gone:
            _record("job.removed", each, actor)
        ScheduledJob.objects.filter(pk__in=[each.pk for each in gone]).delete()
    return gone


def _followers(job: ScheduledJob) -> Iterator[ScheduledJob]:
    for follower in job.followers.all():
        yield follower
        yield from _followers(follower)


def _record(action: str, job: ScheduledJob, actor: str) -> None:
    auditlog.record(action, actor=actor, about=job, label=str(job), when=job.cron or f"after {job.after}")


def find(public_id: str) -> ScheduledJob | None:
    return ScheduledJob.objects.select_related("project", "after").filter(public_id=public_id).first()


def ensure_digest(actor: str = "") -> ScheduledJob | None:
    """Add a daily digest at 08:00 if no job sends one, else None. The caller knows that there is an address."""
    if ScheduledJob.objects.filter(kind=Kind.DIGEST, ended_at__isnull=True).exists():
        return None
    return add(Wanted(Kind.DIGEST, DAILY), actor=actor)


# --- When ---------------------------------------------------------------------------------------------------------


def next_turn(job: ScheduledJob, after: dt.datetime, clock: Clock) -> JobTime | None:
    """The first time after `after`; None if there is none, or the last day is over."""
    due = cron.next_time(job.cron, after, clock.zone)
    if due is None or (job.until and clock.day(due) > job.until):
        return None
    if job.once:
        return JobTime(due, due - cron.head_start(job.public_id, due.astimezone(clock.zone)))
    following = cron.next_time(job.cron, due, clock.zone)
    return JobTime(due, due + cron.delay(job.public_id, following - due) if following else due)


def after_firing(job: ScheduledJob, now: dt.datetime, clock: Clock) -> dict[str, Any]:
    """The changes of a job's row when it starts; missed times count as this one."""
    turn = None
    if job.cron and not job.once:
        turn = next_turn(job, max(now, job.due_at or now), clock)
    is_over = turn is None if job.cron else job.once or bool(job.after and job.after.ended_at)
    return {
        "due_at": turn.due_at if turn else None,
        "next_at": turn.starts_at if turn else None,
        "zone": clock.zone_name,
        "ended_at": now if is_over else None,
    }


def upcoming(job: ScheduledJob, now: dt.datetime, clock: Clock) -> list[dt.datetime]:
    """The next starts, with quiet hours; none for a job that follows another or has ended."""
    return list(islice(_starts(job, now, clock), SHOWN))


def due_times(job: ScheduledJob, now: dt.datetime, clock: Clock) -> list[dt.datetime]:
    """The next times of the schedule itself, without delays and quiet hours."""
    coming = islice(cron.times(job.cron, now, clock.zone), 1 if job.once else SHOWN)
    return [at for at in coming if job.until is None or clock.day(at) <= job.until]


def _starts(job: ScheduledJob, now: dt.datetime, clock: Clock) -> Iterator[dt.datetime]:
    if job.ended_at:
        return
    turn = _present_turn(job, now, clock)
    while turn is not None:
        starts = max(turn.starts_at, now)
        starts = clock.quiet_until(starts) or starts
        yield starts
        turn = None if job.once or not job.cron else next_turn(job, max(starts, turn.due_at), clock)


def _present_turn(job: ScheduledJob, now: dt.datetime, clock: Clock) -> JobTime | None:
    """The time it waits for; for a new job the first one from now."""
    if job.due_at and job.next_at:
        return JobTime(job.due_at, job.next_at)
    return next_turn(job, now, clock) if job.cron else None


def period(job: ScheduledJob, now: dt.datetime, clock: Clock) -> dt.timedelta:
    """The time between two starts; for a job that follows another, that one's. Zero if it runs once."""
    if job.once:
        return dt.timedelta(0)
    if not job.cron:
        return period(job.after, now, clock) if job.after else dt.timedelta(0)
    first, second = [*islice(cron.times(job.cron, now, clock.zone), 2), now, now][:2]
    return max(second - first, dt.timedelta(0))


@prepared
def active(host: str) -> QuerySet[ScheduledJob]:
    """The jobs of a host that have not ended."""
    return ScheduledJob.objects.filter(ended_at__isnull=True, host=host).select_related("project", "after")


def replan(rows: Iterable[ScheduledJob], now: dt.datetime, clock: Clock) -> None:
    """Compute the next time of jobs without one, or whose time was computed in another zone or by a wrong clock. Due jobs stay
    due."""
    for job in rows:
        waits = job.next_at is not None and job.next_at > now
        is_old = job.next_at is None or (waits and job.zone != clock.zone_name)
        if job.cron and (is_old or (waits and _is_ahead(job, now, clock))):
            was = job.next_at
            _set_turn(job, next_turn(job, now, clock))
            job.zone = clock.zone_name
            ScheduledJob.objects.filter(pk=job.pk, next_at=was, ended_at__isnull=True).update(
                due_at=job.due_at, next_at=job.next_at, zone=job.zone, ended_at=None if job.next_at else now
            )


def _is_ahead(job: ScheduledJob, now: dt.datetime, clock: Clock) -> bool:
    """Whether it waits for a later time than the next one. False within a day of its time, as that passes by itself."""
    if job.due_at is None or job.due_at < now + dt.timedelta(days=1):
        return False
    turn = next_turn(job, now, clock)
    return turn is not None and turn.due_at < job.due_at


def _set_turn(job: ScheduledJob, turn: JobTime | None) -> None:
    job.due_at = turn.due_at if turn else None
    job.next_at = turn.starts_at if turn else None
