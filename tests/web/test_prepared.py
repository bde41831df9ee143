"""A query whose SQL is built once finds what the query itself finds, whatever it is asked with."""

from __future__ import annotations

import datetime as dt
from typing import Any

import pytest
from django.db.models import Count, QuerySet
from django.utils import timezone

from dreams.models import Session
from dreams.models.prepared import prepared
from tests.world import rows as world

pytestmark = pytest.mark.django_db


def _sessions(project: int, name: str, since: dt.datetime) -> QuerySet[Session, Any]:
    rows = Session.objects.filter(project_id=project, touched_at__gte=since).exclude(session_id=name)
    return rows.order_by("pk").values_list("pk", "session_id")


def test_numbers_texts_and_moments_are_put_in_their_places() -> None:
    built = []

    def build(*given: Any) -> QuerySet[Session, Any]:
        built.append(given)
        return _sessions(*given)

    ask, now = prepared(build), timezone.now()
    projects = [world.make_project(name=name) for name in ("one", "two")]
    sessions = [world.make_session(project) for project in projects for _ in range(3)]
    for project in projects:
        for name in (sessions[0].session_id, "no such name"):
            for since in (now - dt.timedelta(days=4_000), now + dt.timedelta(days=1)):
                asked = (project.pk, name, since)
                assert ask(*asked) == list(_sessions(*asked))
    assert len(built) == 1
    assert ask(projects[1].pk, "x", now - dt.timedelta(days=4_000))


def test_a_number_of_the_query_itself_stays() -> None:
    project = world.make_project()
    world.make_session(project)
    ask = prepared(
        lambda project: (
            Session.objects.filter(project_id=project, user_turns__lt=1_000, own=False)
            .order_by()
            .values("project")
            .annotate(n=Count("pk"))
            .values_list("n")
        )
    )
    assert ask(project.pk) == [(1,)]
    assert ask(project.pk + 1) == []


def test_an_argument_that_is_nowhere_in_the_query_is_refused() -> None:
    ask = prepared(lambda project: Session.objects.values_list("pk"))
    with pytest.raises(ValueError, match="nowhere"):
        ask(1)


def test_an_empty_text_is_refused_as_a_query_may_ask_whether_there_is_one() -> None:
    ask = prepared(lambda name: Session.objects.filter(session_id=name or "everything").values_list("pk"))
    assert ask("a name") == []
    with pytest.raises(ValueError, match="empty"):
        ask("")
