"""What sessions used, summed up by the database: one pass over the requests of the time shown by day, one by project.

A cell for each day of each project would be as many rows as there are sessions.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence

from django.db.models import Case, Count, F, IntegerField, QuerySet, Value, When
from django.utils import timezone

from dreams.engines.anthropic.usage import rate_for
from dreams.engines.tokens import Tokens
from dreams.models import RequestUsage
from dreams.pricing import PriceBook
from dreams.web.selectors import usage_days
from dreams.web.selectors.usage_cells import NO_PROJECT, SUMS, Cell


def by_day(since: dt.datetime, book: PriceBook) -> list[Cell]:
    """A cell for each day, model and price tier, of all projects together."""
    rows, day_of = usage_days.by_day(_tiered(_of(since), book.thresholds), since)
    summed = rows.values("date", "part", "model", "tier").annotate(**SUMS, n=Count("pk"))
    return [
        _cell(
            book,
            day_of(row["date"], row["part"]),
            row["model"],
            row["tier"],
            NO_PROJECT,
            Tokens.of(row),
            row["n"],
        )
        for row in summed.order_by()
    ]


def by_project(since: dt.datetime, book: PriceBook) -> list[Cell]:
    """A cell for each project, model, price tier and time between two changes of prices."""
    starts = _price_dates(since, book)
    rows = _tiered(_of(since), book.thresholds).annotate(epoch=_epoch(starts))
    summed = rows.values("session__project", "model", "tier", "epoch").annotate(**SUMS, n=Count("pk"))
    return [
        _cell(
            book,
            starts[row["epoch"]],
            row["model"],
            row["tier"],
            row["session__project"],
            Tokens.of(row),
            row["n"],
        )
        for row in summed.order_by()
    ]


def _of(since: dt.datetime) -> QuerySet[RequestUsage]:
    return RequestUsage.objects.filter(at__gte=since)


def _cell(
    book: PriceBook, day: dt.date, model: str, tier: int, project: int, tokens: Tokens, count: int
) -> Cell:
    # One more than the threshold stands for every prompt above it.
    rate = rate_for(book.on(day), model, tier + 1)
    return Cell(day, model, project, tokens, rate.cost(tokens) if rate else None, count)


def _tiered(rows: QuerySet[RequestUsage], thresholds: Sequence[int]) -> QuerySet[RequestUsage]:
    """Each request with the highest threshold that its prompt exceeds: long prompts cost more with some models."""
    prompt = (
        F("input_tokens") + F("cache_write_5m_tokens") + F("cache_write_1h_tokens") + F("cache_read_tokens")
    )
    whens = [When(prompt__gt=limit, then=Value(limit)) for limit in sorted(thresholds, reverse=True)]
    return rows.annotate(prompt=prompt, tier=Case(*whens, default=Value(0), output_field=IntegerField()))


# --- Prices -----------------------------------------------------------------------------------------------------


def _price_dates(since: dt.datetime, book: PriceBook) -> list[dt.date]:
    """The first day, and every later one on which a price changed: between two of them a sum has one price."""
    first = timezone.localtime(since).date()
    return [first, *sorted({row.since for row in book.rows if row.since > first})]


def _epoch(starts: Sequence[dt.date]) -> Case:
    midnights = [timezone.make_aware(dt.datetime.combine(day, dt.time())) for day in starts]
    whens = [When(at__gte=midnights[n], then=Value(n)) for n in range(len(starts) - 1, 0, -1)]
    return Case(*whens, default=Value(0), output_field=IntegerField())
