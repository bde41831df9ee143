"""What a project's pictures show: how its memory grew, and on which days there were sessions."""

from __future__ import annotations

import datetime as dt

from django.db.models import Count
from django.db.models.functions import TruncDate
from django.utils import timezone

from dreams import moments
from dreams.models import Project, Session, Version
from dreams.text import plural
from dreams.web.pictures.base import Picture, size, whole
from dreams.web.pictures.calendar import WEEKS, by_day
from dreams.web.pictures.series import Measure, over_time

GROWTH_DAYS = 182
# A directory that changes this often in half a year is told by its newest changes.
MOST_VERSIONS = 50_000


def pictures(project: Project, now: dt.datetime) -> list[Picture]:
    """Three queries, whatever the project's size."""
    days, files, sizes = _growth(project, now)
    measures = (
        Measure("Size", sizes, size, size),
        Measure("Files", files, lambda count: plural(round(count), "file"), whole),
    )
    return [
        by_day(
            "sessions-by-day",
            "Sessions by day",
            _sessions(project, now),
            timezone.localtime(now).date(),
            f"No session in the last {WEEKS} weeks.",
        ),
        over_time("growth", "Memory growth", days, measures, "No memory has been seen yet."),
    ]


def _sessions(project: Project, now: dt.datetime) -> dict[dt.date, int]:
    """By the day on which each was last active."""
    since = now - dt.timedelta(weeks=WEEKS + 1)
    rows = Session.objects.filter(project=project, own=False, touched_at__gte=since).order_by()
    counted = rows.annotate(day=TruncDate("touched_at")).values("day").annotate(n=Count("pk"))
    return dict(counted.values_list("day", "n"))


def _growth(project: Project, now: dt.datetime) -> tuple[list[dt.date], list[float], list[float]]:
    """Days, and files and bytes at the end of each, from the first day on which anything is known."""
    today = timezone.localtime(now).date()
    start = now - dt.timedelta(GROWTH_DAYS)
    held = dict(moments.memories_at(project, start).values_list("pk", "then_size"))
    rows = Version.objects.filter(memory__project=project, at__gt=start, at__lte=now).order_by("at", "pk")
    changes = rows.values_list("memory_id", "sha256", "size", "at")[:MOST_VERSIONS]
    ends: dict[dt.date, tuple[int, int]] = {}
    if held:
        ends[timezone.localtime(start).date()] = (len(held), sum(held.values()))
    total = sum(held.values())
    for pk, sha, count, at in changes:
        total -= held.pop(pk, 0)
        if sha:
            held[pk] = count
            total += count
        ends[timezone.localtime(at).date()] = (len(held), total)
    found = _filled(ends, today)
    return [day for day, _, _ in found], [files for _, files, _ in found], [total for _, _, total in found]


def _filled(ends: dict[dt.date, tuple[int, int]], today: dt.date) -> list[tuple[dt.date, int, int]]:
    """Every day from the first known one: a day without a change is as the day before."""
    if not ends:
        return []
    day, found = min(ends), []
    files, total = ends[day]
    while day <= today:
        files, total = ends.get(day, (files, total))
        found.append((day, files, total))
        day += dt.timedelta(1)
    return found
