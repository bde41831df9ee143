"""What sessions used, summed up by the database: one pass over the requests of the time shown by day, one by project.

A cell for each day of each project would be as many rows as there are sessions. Neither pass calls Python for a request:
SQLite does that for every date it is to put into a zone, and it is most of the time.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence

from django.db.models import Case, CharField, Count, F, IntegerField, QuerySet, Value, When
from django.db.models.functions import Cast, Substr
from django.utils import timezone

from dreams.engines.anthropic.usage import rate_for
from dreams.engines.tokens import Tokens
from dreams.models import RequestUsage
from dreams.pricing import PriceBook
from dreams.web.selectors.usage_cells import SUMS, Cell

# How much of a moment's text tells its day in a zone: "2026-11-21 06", "2026-11-21 06:3", "2026-11-21 06:30".
_WIDTHS = {3_600: 13, 600: 15, 60: 16}
NO_PROJECT = 0


def by_day(since: dt.datetime, book: PriceBook) -> list[Cell]:
    """A cell for each day, model and price tier, of all projects together."""
    part = Substr(Cast("at", CharField()), 1, _width(since))
    rows = _tiered(_of(since), book.thresholds).annotate(part=part).values("part", "model", "tier")
    sums: dict[tuple[dt.date, str, int], tuple[Tokens, int]] = {}
    days: dict[str, dt.date] = {}
    for row in rows.annotate(**SUMS, n=Count("pk")).order_by():
        day = days.get(row["part"]) or days.setdefault(row["part"], _day(row["part"]))
        key = (day, row["model"], row["tier"])
        tokens, count = sums.get(key, (Tokens(), 0))
        sums[key] = tokens + Tokens.of(row), count + row["n"]
    return [
        _cell(book, day, model, tier, NO_PROJECT, tokens, count)
        for (day, model, tier), (tokens, count) in sums.items()
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


# --- Days and prices ----------------------------------------------------------------------------------------------


def _width(since: dt.datetime) -> int:
    """Characters of a moment in UTC that are enough to know its day in the person's zone, from `since` to now."""
    zone = timezone.get_current_timezone()
    # Twice a year a zone may change: a look at every month sees both.
    looks = [since + dt.timedelta(days) for days in range(0, (timezone.now() - since).days + 31, 30)]
    offsets = [int((look.astimezone(zone).utcoffset() or dt.timedelta()).total_seconds()) for look in looks]
    return next(
        (width for step, width in _WIDTHS.items() if not any(offset % step for offset in offsets)), 16
    )


def _day(part: str) -> dt.date:
    text = f"{part}0" if len(part) == _WIDTHS[600] else part
    return timezone.localtime(dt.datetime.fromisoformat(text).replace(tzinfo=dt.UTC)).date()


def _price_dates(since: dt.datetime, book: PriceBook) -> list[dt.date]:
    """The first day, and every later one on which a price changed: between two of them a sum has one price."""
    first = timezone.localtime(since).date()
    return [first, *sorted({row.since for row in book.rows if row.since > first})]


def _epoch(starts: Sequence[dt.date]) -> Case:
    midnights = [timezone.make_aware(dt.datetime.combine(day, dt.time())) for day in starts]
    whens = [When(at__gte=midnights[n], then=Value(n)) for n in range(len(starts) - 1, 0, -1)]
    return Case(*whens, default=Value(0), output_field=IntegerField())
