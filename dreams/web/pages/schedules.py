"""The schedule page: jobs in the order of their chains, recent runs, and the form for a new job."""

import datetime as dt
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import Exists, OuterRef

from dreams import conf
from dreams.lib.amounts import span
from dreams.models import JobRun, Project, ScheduledJob
from dreams.services import jobs, notify
from dreams.web.pages.projects import with_unique_names
from dreams.web.paging import listed, page_of

# Rows of the page, chosen: runs; projects of one run; jobs that have ended.
MOST_RUNS, MOST_PARTS, MOST_ENDED = 50, 20, 20
#: Common choices for the list below the field.
EXAMPLES: Mapping[str, str] = {
    "0 3 * * *": "every day at 03:00",
    "0 8 * * mon-fri": "on weekdays at 08:00",
    "0 */6 * * *": "every six hours",
    "0 9 * * mon": "on Mondays at 09:00",
    "0 9 1 * *": "on the first of the month at 09:00",
}
ABOUT: Mapping[str, str] = {
    "dream": "a dream, if all gates but the time gate are open",
    "checkup": "checks the memories as they are now",
    "digest": "sends what is waiting for you by mail or webhook",
    "verify": "reads everything stored and reports damage",
    "export": "writes the history into the data directory; the last 7 are kept",
}
_STATES = {
    JobRun.Status.DONE: ("ok", "ok"),
    JobRun.Status.NOTHING: ("", "dot"),
    JobRun.Status.FAILED: ("block", "block"),
    JobRun.Status.RUNNING: ("info", "running"),
    JobRun.Status.PENDING: ("", "clock"),
}


@dataclass(frozen=True, slots=True)
class Typed:
    """The submitted form. `upcoming` are its next times, `error` says why there are none."""

    kind: str = "dream"
    cron: str = ""
    after: str = ""
    project: str = ""
    once: bool = False
    until: str = ""
    error: str = ""
    upcoming: Sequence[dt.datetime] = ()


def schedule(now: dt.datetime, typed: Typed, host: str = "", number: str | None = None) -> dict[str, Any]:
    """The schedule of one host or of all, in a fixed number of queries."""
    of = {"host": host} if host else {}
    failed = JobRun.objects.filter(job=OuterRef("pk"), status=JobRun.Status.FAILED).values("text")[:1]
    rows: list[Any] = list(
        ScheduledJob.objects.filter(**of)
        .select_related("project", "after__project")
        .annotate(said=failed, is_followed=Exists(ScheduledJob.objects.filter(after=OuterRef("pk"))))
    )
    runs = listed(page_of(JobRun.objects.filter(**of), number, MOST_RUNS), _run)
    has_address = bool(notify.configured())
    clock = jobs.Clock.load()
    ended = [(row.ended_at, row.pk) for row in rows if row.ended_at]
    older = {pk for _, pk in sorted(ended, reverse=True)[MOST_ENDED:]}
    shown = [
        _job(row, depth, jobs.upcoming(row, now, clock), _note(row, has_address))
        for row, depth in _in_chains(rows)
        if row.pk not in older
    ]
    to_follow = [job for job in shown if job["row"].ended_at is None]
    projects = Project.objects.filter(gone_at__isnull=True).order_by("name")
    return {
        "jobs": shown,
        "ended_before": len(older),
        "runs": runs,
        "projects": with_unique_names(projects.values_list("pk", "name")),
        "typed": typed,
        "quiet": conf.current().quiet_hours,
        "kinds": [(kind.value, kind.label, ABOUT[kind]) for kind in ScheduledJob.Kind],
        "examples": EXAMPLES,
        "to_follow": to_follow,
        "is_full": ScheduledJob.objects.filter(ended_at__isnull=True).count() >= jobs.MOST,
    }


def _in_chains(rows: Sequence[ScheduledJob]) -> Iterator[tuple[ScheduledJob, int]]:
    """Each job is followed by its successors; ended jobs are last. One that follows a job of another host begins a chain."""
    pks = {row.pk for row in rows}
    following: dict[int | None, list[ScheduledJob]] = {}
    for row in rows:
        following.setdefault(row.after_id if row.after_id in pks else None, []).append(row)

    def chains(rows: Iterable[ScheduledJob], depth: int) -> Iterator[tuple[ScheduledJob, int]]:
        for row in rows:
            yield row, depth
            yield from chains(following.get(row.pk, ()), depth + 1)

    yield from chains(sorted(following.get(None, ()), key=lambda row: row.ended_at is not None), 0)


def _note(row: Any, has_address: bool) -> str:
    """`row.said`: what its last failed run says."""
    if row.kind == ScheduledJob.Kind.DIGEST and not has_address:
        return "Sends nothing: no address is set in Settings, Digest."
    if row.failures:
        times = "Failed" if row.failures == 1 else f"Failed {row.failures} times in a row"
        return f"{times}. {row.said or ''}".strip()
    return ""


def _job(row: ScheduledJob, depth: int, upcoming: list[dt.datetime], note: str) -> dict[str, Any]:
    """`depth` is the number of its predecessors, `upcoming` has its next five times."""
    state, icon = ("block", "block") if row.failures else ("warn", "warn") if note else ("ok", "clock")
    ends = "once" if row.once else f"until {row.until:%-d %b %Y}" if row.until else ""
    return {
        "row": row,
        "when": row.cron or f"after {row.after}",
        "depth": min(depth, 5),
        "ends": ends,
        "upcoming": upcoming,
        "state": "" if row.ended_at else state,
        "icon": "stop" if row.ended_at else icon,
        "note": note,
    }


def _run(run: JobRun) -> dict[str, Any]:
    state, icon = _STATES[JobRun.Status(run.status)]
    is_one = len(run.parts) == 1
    parts = () if is_one else sorted(run.parts, key=lambda part: part.get("state") != JobRun.Status.FAILED)
    return {
        "row": run,
        "state": state,
        "icon": icon,
        "took": _took(run),
        "dream": run.parts[0].get("dream", "") if is_one else "",
        "parts": [{"dream": "", **part} for part in parts[:MOST_PARTS]],
        "projects": len(parts),
    }


def _took(run: JobRun) -> str:
    """The duration of a run; "" if under a minute."""
    took = run.ended_at - run.started_at if run.ended_at and run.started_at else dt.timedelta(0)
    return span(took) if took >= dt.timedelta(minutes=1) else ""
