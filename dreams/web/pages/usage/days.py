"""Rows by their day in the person's zone, by the database's own means.

Django's way calls Python for every row on SQLite, and costs ten times the sum. Here a row is known by its date in UTC and
by how many of that date's local midnights came before it: two small texts, and a handful of groups for each day.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from typing import Any

from django.db.models import Case, CharField, IntegerField, QuerySet, Value, When
from django.db.models.functions import Cast, Substr
from django.utils import timezone

# The shortest time for which a zone has kept a clock of its own is the month of Ramadan.
_LOOKS = dt.timedelta(days=7)


def by_day(
    rows: QuerySet[Any], since: dt.datetime, field: str = "at"
) -> tuple[QuerySet[Any], Callable[[str, int], dt.date]]:  # Any: the stubs cannot name what was annotated
    """`rows` with `date` and `part`, to be grouped by both, and what makes of the two a day. `field` is nowhere null."""
    cuts = _midnights(since)
    text = Cast(field, CharField())
    whens = [When(clock__gte=cut, then=Value(n)) for n, cut in reversed(list(enumerate(cuts, 1)))]
    part = Case(*whens, default=Value(0), output_field=IntegerField())
    found = rows.annotate(date=Substr(text, 1, 10), clock=Substr(text, 12, 5)).annotate(part=part)
    starts = ["00:00", *cuts]

    def day(date: str, number: int) -> dt.date:
        first = dt.datetime.fromisoformat(f"{date} {starts[number]}").replace(tzinfo=dt.UTC)
        return timezone.localtime(first).date()

    return found, day


def _midnights(since: dt.datetime) -> list[str]:
    """At what time in UTC days began in the zone between `since` and now: "05:00"; twice a year it may change."""
    zone = timezone.get_current_timezone()
    looks = range((timezone.now() - since) // _LOOKS + 2)
    offsets = {(since + _LOOKS * look).astimezone(zone).utcoffset() or dt.timedelta() for look in looks}
    any_midnight = dt.datetime(2000, 1, 2, tzinfo=dt.UTC)
    times = {f"{any_midnight - offset:%H:%M}" for offset in offsets}
    return sorted(times - {"00:00"})
