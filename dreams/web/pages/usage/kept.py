"""Sums of whole months, kept for as long as nothing of them changed (see `usagemarks`); the rest is summed up anew.

A month is one of the person's zone, so its key has the zone in it, and all else that its sums hang on.
"""

from __future__ import annotations

import datetime as dt
import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from django.core.cache import cache
from django.db.models import Q
from django.utils import timezone

from dreams.services import usage_rollups

KEPT_SECONDS = 40 * 86_400
# A change of how sums are made must not meet sums that were made otherwise.
FORM = 1
Sum = TypeVar("Sum")


@dataclass(frozen=True, slots=True)
class Span:
    """From a local midnight to another; `end` None: to now. `key` is "" where nothing can be kept."""

    start: dt.datetime
    end: dt.datetime | None
    key: str = ""

    def holds(self, day: dt.date) -> bool:
        return self.start.date() <= day and (self.end is None or day < self.end.date())


Summing = Callable[[Sequence[Span]], Sequence[list[Sum]]]


def summed(what: str, since: dt.datetime, on: Iterable[object], summing: Summing[Sum]) -> list[Sum]:
    """All sums since `since`, those of a span together. `on` is what they hang on besides the rows.

    `summing` gives those of each span that it is asked for, in one query.
    """
    spans = _keyed(_spans(since), what, on)
    kept: dict[str, list[Sum]] = cache.get_many([span.key for span in spans if span.key])
    missing = [span for span in spans if span.key not in kept]
    made = summing(missing) if missing else []
    cache.set_many(
        {span.key: sums for span, sums in zip(missing, made, strict=True) if span.key}, KEPT_SECONDS
    )
    return [one for sums in (*kept.values(), *made) for one in sums]


def within(spans: Sequence[Span]) -> Q:
    """Rows of any of these; neighbours are asked for as one, which an index answers in one go."""
    found = Q()
    start = spans[0].start
    for span, following in zip(spans, [*spans[1:], None], strict=True):
        if following is None or span.end != following.start:
            found |= Q(at__gte=start, at__lt=span.end) if span.end else Q(at__gte=start)
            start = following.start if following else start
    return found


def _spans(since: dt.datetime) -> list[Span]:
    """`since` to the first whole month, each month that is over, and the one that is not."""
    this = timezone.localtime().replace(day=1).date()
    starts = [since]
    while starts[-1].date() < this:
        later = (starts[-1].date().replace(day=28) + dt.timedelta(days=4)).replace(day=1)
        starts.append(timezone.make_aware(dt.datetime.combine(later, dt.time())))
    return [Span(start, end) for start, end in zip(starts, [*starts[1:], None], strict=True)]


def _keyed(spans: list[Span], what: str, on: Iterable[object]) -> list[Span]:
    if not usage_rollups.has_marks() or not any(map(_is_whole, spans)):
        return spans
    marks = usage_rollups.marks(spans[0].start.astimezone(dt.UTC).date())
    shape = (FORM, what, str(timezone.get_current_timezone()), *on)
    return [
        Span(span.start, span.end, _key(span, marks, shape)) if _is_whole(span) else span for span in spans
    ]


def _is_whole(span: Span) -> bool:
    return span.end is not None and span.start.day == 1


def _key(span: Span, marks: Mapping[str, int], shape: tuple[object, ...]) -> str:
    ends = [moment.astimezone(dt.UTC).date().isoformat() for moment in (span.start, span.end or span.start)]
    standing = sorted((date, mark) for date, mark in marks.items() if ends[0] <= date <= ends[1])
    return "usage:" + hashlib.sha256(repr((shape, span.start, span.end, standing)).encode()).hexdigest()
