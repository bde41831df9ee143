"""Sums of days that are over are kept, and never told once anything of them changed."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from itertools import count

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from dreams.models import RequestUsage, Session
from dreams.services import cached_counts
from dreams.services.pricing import PriceBook
from dreams.web.pages import usage as selector, usage_sums
from tests.world import rows as world

pytestmark = pytest.mark.django_db
_keys = count(10_000)


def _request(session: Session, days: int, tokens: int = 10, **fields: object) -> RequestUsage:
    at = timezone.now() - dt.timedelta(days=days)
    return RequestUsage(key=next(_keys), session=session, model="m", at=at, input_tokens=tokens, **fields)


def _told() -> tuple[int, dict[int | None, int], dict[dt.date, int]]:
    found = selector.usage(timezone.now(), "365")
    projects = {line.pk: line.sum.tokens.total for line in found.sessions.projects}
    book, since = PriceBook.load(), usage_sums.midnight(timezone.localdate() - dt.timedelta(364))
    cells = usage_sums.sessions_by_day(usage_sums.session_days(since, book), book)
    days = {day: one.tokens.total for day, one in usage_sums.total_by_day(cells)}
    return found.sessions.total.tokens.total, projects, days


def _half_a_year(session: Session) -> None:
    RequestUsage.objects.bulk_create([_request(session, days) for days in range(0, 364, 3)])


def _added(session: Session) -> None:
    RequestUsage.objects.bulk_create([_request(session, 150, 7)], ignore_conflicts=True)


def _added_lately(session: Session) -> None:
    RequestUsage.objects.bulk_create([_request(session, days, 7) for days in (0, 1, 2, 3, 10, 25)])


def _changed(session: Session) -> None:
    RequestUsage.objects.filter(key=_of_half_a_year_ago(session).key).update(input_tokens=1_000)


def _moved_in_time(session: Session) -> None:
    row = _of_half_a_year_ago(session)
    RequestUsage.objects.filter(key=row.key).update(at=timezone.now() - dt.timedelta(days=90))


def _removed(session: Session) -> None:
    _of_half_a_year_ago(session).delete()


def _moved_to_another_project(session: Session) -> None:
    Session.objects.filter(pk=session.pk).update(project=world.make_project(name="other"))


def _of_half_a_year_ago(session: Session) -> RequestUsage:
    return RequestUsage.objects.filter(
        session=session, at__lt=timezone.now() - dt.timedelta(days=180)
    ).latest("at")


@pytest.mark.more
@pytest.mark.parametrize(
    "change", [_added, _added_lately, _changed, _moved_in_time, _removed, _moved_to_another_project]
)
def test_what_changes_in_days_long_over_is_told_at_once(change: Callable[[Session], None]) -> None:
    session = world.make_session(world.make_project())
    _half_a_year(session)
    before = _told()
    assert _told() == before
    change(session)
    after = _told()
    rows = RequestUsage.objects.all()
    assert after != before
    assert after[0] == sum(row.input_tokens for row in rows) == sum(after[2].values())
    assert after[1] == {Session.objects.get(pk=session.pk).project_id: after[0]}


def test_a_month_that_is_over_is_summed_up_once() -> None:
    session = world.make_session(world.make_project())
    _half_a_year(session)
    asked = []
    for _ in range(2):
        with CaptureQueriesContext(connection) as queries:
            selector.usage(timezone.now(), "365")
        asked.append([query["sql"] for query in queries if "dreams_requestusage" in query["sql"]])
    first, second = asked
    assert len(first) == len(second) == 2
    # PostgreSQL sums up a year as fast as it would look after what is kept.
    assert (first == second) is not cached_counts.has_marks()


def test_a_request_without_a_moment_has_no_mark() -> None:
    session = world.make_session(world.make_project())
    before = cached_counts.of_days(dt.date(2000, 1, 1))
    RequestUsage.objects.create(key=next(_keys), session=session, model="m", at=None)
    assert cached_counts.of_days(dt.date(2000, 1, 1)) == before
