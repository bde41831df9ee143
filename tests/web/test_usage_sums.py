"""What sessions used is exact, whatever the zone: each request counts on the day its person had, at that day's price."""

from __future__ import annotations

import datetime as dt
import random
from collections import defaultdict
from decimal import Decimal
from itertools import count
from zoneinfo import ZoneInfo

import pytest
from django.utils import timezone

from dreams.engines.tokens import Tokens, rate_for
from dreams.models import Price, RequestUsage
from dreams.services.pricing import PriceBook
from dreams.web.pages import usage as selector, usage_sums
from tests.world import rows as world

_keys = count(1)
NOW = dt.datetime(2026, 11, 21, 22, 10, tzinfo=dt.UTC)
# Whole hours with a change of the clock inside the time shown, half an hour, and a quarter.
ZONES = ("UTC", "America/New_York", "Asia/Kolkata", "Asia/Kathmandu")


def _price(since: str, above: int, dollars: int) -> None:
    Price.objects.create(
        model="m-1",
        since=since,
        above_prompt_tokens=above,
        input=dollars,
        output=dollars * 5,
        cache_write_5m=dollars,
        cache_write_1h=dollars,
        cache_read=dollars,
    )


def _requests() -> list[RequestUsage]:
    """Over seven weeks, two projects and two models, many of them within an hour of somebody's midnight."""
    chance = random.Random(3)  # noqa: S311 - rows for a test, the same each time
    sessions = [world.make_session(world.make_project(name=name)) for name in ("one", "two")]
    made = [
        RequestUsage(
            key=next(_keys),
            session=chance.choice(sessions),
            model=chance.choice(("m-1", "other")),
            at=NOW - dt.timedelta(days=chance.randrange(50), minutes=chance.randrange(1_440)),
            input_tokens=chance.choice((10, 150_000)),
            output_tokens=chance.randrange(100),
            cache_read_tokens=chance.randrange(1_000),
        )
        for _ in range(400)
    ]
    return RequestUsage.objects.bulk_create(made)


@pytest.mark.parametrize("name", ZONES)
@pytest.mark.django_db
def test_days_and_projects_add_up_to_what_each_request_used_and_cost(name: str) -> None:
    Price.objects.all().delete()
    for since, above, dollars in (("2020-01-01", 0, 1), ("2020-01-01", 100_000, 2), ("2026-11-12", 0, 4)):
        _price(since, above, dollars)
    requests = _requests()
    book = PriceBook.load()
    zone = ZoneInfo(name)
    days: defaultdict[dt.date, int] = defaultdict(int)
    projects: defaultdict[int, tuple[int, Decimal]] = defaultdict(lambda: (0, Decimal(0)))
    first = NOW.astimezone(zone).date() - dt.timedelta(29)
    for row in requests:
        assert row.at is not None
        day = row.at.astimezone(zone).date()
        if day < first:
            continue
        tokens = Tokens(row.input_tokens, row.output_tokens, row.cache_read_tokens)
        rate = rate_for(book.on(day), row.model, tokens.prompt)
        days[day] += tokens.total
        used, cost = projects[row.session.project_id]
        projects[row.session.project_id] = (
            used + tokens.total,
            cost + (rate.cost(tokens) if rate else Decimal(0)),
        )
    with timezone.override(zone):
        found = selector.usage(NOW, "30")
        since = timezone.make_aware(dt.datetime.combine(first, dt.time()))
        told = usage_sums.sessions_by_day(usage_sums.session_days(since, book), book)
    assert {day: one.tokens.total for day, one in usage_sums.total_by_day(told)} == days
    lines = {line.pk: (line.sum.tokens.total, line.sum.cost) for line in found.sessions.projects}
    assert lines == projects
    assert found.sessions.total.cost == sum(cost for _, cost in projects.values())
    assert found.sessions.total.requests == sum(
        row.at is not None and row.at.astimezone(zone).date() >= first for row in requests
    )
