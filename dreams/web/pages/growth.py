"""What a project's pictures show: how its memory grew, and on which days there were sessions."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable, Mapping

from django.db.models import Count, TextField
from django.db.models.functions import Cast, Substr
from django.utils import timezone

from dreams.lib.files.text import plural
from dreams.models import Project, Session, Version
from dreams.services.memories import time_travel
from dreams.web.charts.base import Picture, short_size, size, whole
from dreams.web.charts.calendar import WEEKS, by_day
from dreams.web.charts.series import Measure, over_time

GROWTH_DAYS = 182
# A directory that changes this often in half a year is told by its newest changes.
MOST_VERSIONS = 50_000


def pictures(project: Project, now: dt.datetime) -> list[Picture]:
    """Three queries, whatever the project's size."""
    days, files, sizes = _growth(project, now)
    measures = (
        Measure("Size", sizes, size, short_size),
        Measure("Files", files, lambda count: plural(round(count), "file"), whole),
    )
    return [
        by_day(
            "sessions-by-day",
            "Sessions by day",
            _sessions(project, now),
            _day(now),
            f"No session in the last {WEEKS} weeks.",
        ),
        over_time("growth", "Memory growth", days, measures, "No memory has been seen yet."),
    ]


def _sessions(project: Project, now: dt.datetime) -> dict[dt.date, int]:
    """By the day on which each was last active.

    Counted in the database by ten minutes of UTC, and only those put into days: SQLite would ask Python for the day of
    every single row.
    """
    since = now - dt.timedelta(weeks=WEEKS + 1)
    rows = Session.objects.filter(project=project, own=False, touched_at__gte=since).order_by()
    stamp = Substr(Cast("touched_at", TextField()), 1, len("2026-03-01 12:3"))
    found: dict[dt.date, int] = {}
    for text, count in (
        rows.annotate(stamp=stamp).values("stamp").annotate(n=Count("pk")).values_list("stamp", "n")
    ):
        day = _day(dt.datetime.fromisoformat(f"{text}0").replace(tzinfo=dt.UTC))
        found[day] = found.get(day, 0) + count
    return found


def _day(moment: dt.datetime) -> dt.date:
    return timezone.localtime(moment).date()


Change = tuple[int, str, int, dt.datetime]


def _growth(project: Project, now: dt.datetime) -> tuple[list[dt.date], list[float], list[float]]:
    """Days, and files and bytes at the end of each, from the first day on which anything is known."""
    start, changes = _changes(project, now)
    held = dict(time_travel.memories_at(project, start).values_list("pk", "then_size"))
    ends = {_day(start): (len(held), sum(held.values()))} if held else {}
    ends |= _ends(held, start, changes)
    found = _filled(ends, _day(now))
    return [day for day, _, _ in found], [files for _, files, _ in found], [total for _, _, total in found]


def _changes(project: Project, now: dt.datetime) -> tuple[dt.datetime, list[Change]]:
    """The versions of the time shown, oldest first, and the moment from which on none is missing."""
    start = now - dt.timedelta(GROWTH_DAYS)
    rows = Version.objects.filter(memory__project=project, at__gt=start, at__lte=now)
    newest = rows.order_by("-at", "-pk").values_list("memory_id", "sha256", "size", "at")[:MOST_VERSIONS]
    changes = list(newest)[::-1]
    if len(changes) < MOST_VERSIONS:
        return start, changes
    start = changes[0][3]
    return start, [change for change in changes if change[3] > start]


def _ends(
    held: Mapping[int, int], start: dt.datetime, changes: Iterable[Change]
) -> dict[dt.date, tuple[int, int]]:
    """Files and bytes at the end of each day with a change; `held` is the size of each memory at the start."""
    sizes, total, until = dict(held), sum(held.values()), start
    day, ends = _day(start), {}
    for pk, sha, count, at in changes:
        if at >= until:
            # Asked once a day: the day of a moment in a zone is dear.
            day = _day(at)
            until = timezone.make_aware(dt.datetime.combine(day + dt.timedelta(1), dt.time()))
        total -= sizes.pop(pk, 0)
        if sha:
            sizes[pk] = count
            total += count
        ends[day] = (len(sizes), total)
    return ends


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
