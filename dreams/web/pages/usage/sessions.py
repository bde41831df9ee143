"""What sessions used, summed up by the database: one pass over the requests of the time shown by day, one by project.

Months that are over and did not change since are not summed up again, see `kept`.

A cell for each day of each project would be as many rows as there are sessions.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping, Sequence
from functools import partial
from operator import add
from typing import Any, TypeAlias

from django.db.models import Case, Count, F, IntegerField, QuerySet, Value, When
from django.utils import timezone

from dreams.engines.tokens import KINDS, Tokens, rate_for
from dreams.models import RequestUsage
from dreams.services.pricing import PriceBook
from dreams.web.pages.usage import days, kept
from dreams.web.pages.usage.cells import NO_PROJECT, SUMS, Cell
from dreams.web.pages.usage.kept import Span

# Tokens of each kind, and the number of requests: plain, as they are kept.
Used: TypeAlias = tuple[int, ...]
Day: TypeAlias = tuple[dt.date, str, int, Used]
InProject: TypeAlias = tuple[int, str, int, dt.date, Used]


def by_day(since: dt.datetime, book: PriceBook) -> list[Cell]:
    """A cell for each day, model and price tier, of all projects together."""
    found = kept.summed("day", since, book.thresholds, partial(_days, since, book.thresholds))
    return [_cell(book, day, model, tier, NO_PROJECT, used) for day, model, tier, used in found]


def _days(since: dt.datetime, thresholds: Sequence[int], spans: Sequence[Span]) -> list[list[Day]]:
    rows, day_of = days.by_day(_tiered(_of(spans), thresholds), since)
    summed = rows.values("date", "part", "model", "tier").annotate(**SUMS, n=Count("pk")).order_by()
    made: list[list[Day]] = [[] for _ in spans]
    for row in summed:
        day = day_of(row["date"], row["part"])
        place = next(n for n, span in enumerate(spans) if span.holds(day))
        made[place].append((day, row["model"], row["tier"], _used(row)))
    return made


def by_project(since: dt.datetime, book: PriceBook) -> list[Cell]:
    """A cell for each project, model, price tier and time between two changes of prices."""
    changes = sorted({row.since for row in book.rows})
    on = (*book.thresholds, *changes)
    found = kept.summed("project", since, on, partial(_projects, book.thresholds, changes))
    sums: dict[tuple[int, str, int, dt.date], Used] = {}
    for project, model, tier, day, used in found:
        # Any day between two changes has the same price, so months need not stand apart.
        key = (
            project,
            model,
            tier,
            max((change for change in changes if change <= day), default=dt.date.min),
        )
        before = sums.get(key)
        sums[key] = tuple(map(add, before, used)) if before else used
    return [
        _cell(book, day, model, tier, project, used) for (project, model, tier, day), used in sums.items()
    ]


def _projects(
    thresholds: Sequence[int], changes: Sequence[dt.date], spans: Sequence[Span]
) -> list[list[InProject]]:
    starts = sorted(
        {span.start.date() for span in spans} | {day for day in changes if day > spans[0].start.date()}
    )
    rows = _tiered(_of(spans), thresholds).annotate(epoch=_epoch(starts))
    summed = (
        rows.values("session__project", "model", "tier", "epoch").annotate(**SUMS, n=Count("pk")).order_by()
    )
    made: list[list[InProject]] = [[] for _ in spans]
    for row in summed:
        day = starts[row["epoch"]]
        place = next(n for n, span in enumerate(spans) if span.holds(day))
        made[place].append((row["session__project"], row["model"], row["tier"], day, _used(row)))
    return made


def _used(row: Mapping[str, Any]) -> Used:
    return (*(row[kind] for kind in KINDS), row["n"])


def _of(spans: Sequence[Span]) -> QuerySet[RequestUsage]:
    return RequestUsage.objects.filter(kept.within(spans))


def _cell(book: PriceBook, day: dt.date, model: str, tier: int, project: int, used: Used) -> Cell:
    *counts, requests = used
    tokens = Tokens(**dict(zip(KINDS, counts, strict=True)))
    # One more than the threshold stands for every prompt above it.
    rate = rate_for(book.on(day), model, tier + 1)
    return Cell(day, model, project, tokens, rate.cost(tokens) if rate else None, requests)


def _tiered(rows: QuerySet[RequestUsage], thresholds: Sequence[int]) -> QuerySet[RequestUsage]:
    """Each request with the highest threshold that its prompt exceeds: long prompts cost more with some models."""
    prompt = (
        F("input_tokens") + F("cache_write_5m_tokens") + F("cache_write_1h_tokens") + F("cache_read_tokens")
    )
    whens = [When(prompt__gt=limit, then=Value(limit)) for limit in sorted(thresholds, reverse=True)]
    return rows.annotate(prompt=prompt, tier=Case(*whens, default=Value(0), output_field=IntegerField()))


def _epoch(starts: Sequence[dt.date]) -> Case:
    midnights = [timezone.make_aware(dt.datetime.combine(day, dt.time())) for day in starts]
    whens = [When(at__gte=midnights[n], then=Value(n)) for n in range(len(starts) - 1, 0, -1)]
    return Case(*whens, default=Value(0), output_field=IntegerField())
