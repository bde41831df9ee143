"""A query whose SQL is built once finds what the query itself finds, whatever it is asked with."""

from __future__ import annotations

import datetime as dt
import sqlite3
import threading
from collections.abc import Iterator
from typing import Any

import pytest
from django.db import OperationalError, ProgrammingError, connection, connections, transaction
from django.db.models import Count, F, Max, Model, QuerySet, Sum, prefetch_related_objects
from django.db.models.functions import TruncDate
from django.db.transaction import TransactionManagementError
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from dreams.models import DreamUsage, GateEvaluation, HistoryPrompt, Project, Prompt, Proposal, Session
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
    assert sum("\N{REPLACEMENT CHARACTER}" in name for _, name, _ in built) == 1
    assert ask(projects[1].pk, "x", now - dt.timedelta(days=4_000))


def test_rows_are_models_as_the_queryset_makes_them_and_nobody_elses() -> None:
    project = world.make_project(name="one")
    session = world.make_session(project)
    ask = prepared(
        lambda pk: (
            Session.objects.filter(pk=pk)
            .select_related("project")
            .prefetch_related("project__sessions")
            .annotate(n=Count("pk"))
        )
    )
    [one], [again] = ask(session.pk), ask(session.pk)
    with connection.execute_wrapper(lambda *_: pytest.fail("it was asked again")):
        assert (one, one.n, one.project.name, one.touched_at) == (session, 1, "one", session.touched_at)
        assert list(one.project.sessions.all()) == [session]
    assert one is not again


@pytest.mark.parametrize(
    "make",
    [
        lambda: Session.objects.select_related("project").order_by("pk"),
        lambda: Proposal.objects.select_related("dream", "project").only(
            "state", "dream__engine", "project__name"
        ),
        lambda: Prompt.objects.select_related("session__project", "history").order_by("key"),
        lambda: Project.objects.annotate(last=Max("sessions__touched_at"), n=Count("sessions")).order_by(
            "pk"
        ),
        lambda: Session.objects.values_list("pk", "touched_at", "own", "gone_at").order_by("pk"),
        lambda: Session.objects.values_list("touched_at", flat=True).order_by("pk"),
        lambda: Session.objects.values_list("project__name", "touched_at", named=True).order_by("pk"),
        lambda: Session.objects.values("project").annotate(last=Max("touched_at")).order_by("project"),
        lambda: Session.objects.annotate(late=F("touched_at")).order_by("late").values("own").distinct(),
        lambda: DreamUsage.objects.values_list("cost_usd", "at"),
        lambda: DreamUsage.objects.values_list(TruncDate("at"), Sum("cost_usd")).order_by(),
        lambda: GateEvaluation.objects.values_list("results", "open"),
    ],
)
def test_rows_of_every_kind_are_those_of_the_queryset(make: Any) -> None:
    project, gone = world.make_project(name="one"), world.make_project(name="gone", gone_at=timezone.now())
    for number in range(3):
        session = world.make_session(project, title=f"{number}")
        Prompt.objects.create(key=number, session=session, offset=0, line_no=1, at=timezone.now(), text="a")
    HistoryPrompt.objects.create(prompt_id=1, pastes=[{"text": "b"}])
    dream = world.make_dream(project)
    world.make_proposal(project, dream=dream)
    world.make_proposal(gone)
    DreamUsage.objects.create(dream=dream, turn=1, at=timezone.now(), model="m", cost_usd="0.02")
    GateEvaluation.objects.create(
        project=project, at=timezone.now(), open=True, fingerprint="", results=[{"name": "a"}]
    )
    expected = [_whole(row) for row in make()]
    assert [_whole(row) for row in prepared(make)()] == expected
    assert expected


def _whole(row: Any) -> object:
    """Everything about a row: of a model also what is loaded, from where, and the models that are joined to it."""
    if not isinstance(row, Model):
        return type(row), row, getattr(row, "_fields", None)
    joined = {
        name: other and (type(other), other.__dict__ | {"_state": 0})
        for name, other in row._state.fields_cache.items()
    }
    return type(row), row.__dict__ | {"_state": 0}, row._state.adding, row._state.db, joined


def test_a_list_of_any_length_is_put_in_its_place() -> None:
    built = []

    @prepared
    def ask(pks: list[int], names: list[str]) -> QuerySet[Session]:
        built.append(pks)
        return Session.objects.filter(pk__in=pks).exclude(session_id__in=names).order_by("pk")

    project = world.make_project()
    sessions = [world.make_session(project) for _ in range(9)]
    for most in range(10):
        assert ask([one.pk for one in sessions[:most]], []) == sessions[:most]
    some = [sessions[0].session_id, sessions[4].session_id]
    assert ask([one.pk for one in sessions[:5]], some) == sessions[1:4]
    lengths = {len(pks) for pks in built if pks and pks[0] > 2_000_000_000}
    assert lengths == {1, 2, 4, 8, 16}


@pytest.fixture
def as_built_by_its_makers() -> Iterator[None]:
    """SQLite as most systems have it; Debian's takes 250,000 values."""
    connection.ensure_connection()
    before = connection.connection.setlimit(sqlite3.SQLITE_LIMIT_VARIABLE_NUMBER, 32_766)
    yield
    connection.connection.setlimit(sqlite3.SQLITE_LIMIT_VARIABLE_NUMBER, before)


@pytest.mark.not_on_postgresql
@pytest.mark.usefixtures("as_built_by_its_makers")
@pytest.mark.parametrize("most", [32_700, 100_000])
def test_a_list_may_be_longer_than_the_database_takes_values(most: int) -> None:
    @prepared
    def ask(pks: list[int]) -> QuerySet[Session]:
        return Session.objects.filter(pk__in=pks)

    session = world.make_session(world.make_project())
    many = [*range(10**6, 10**6 + most)]
    names = [session.session_id, *(f"“{number}”\n" for number in many)]
    assert ask(many) == []
    assert ask([*many, session.pk]) == [session]
    assert Session.objects.get(pk__in=[*many, session.pk], session_id__in=names) == session
    assert Session.objects.get(project__in={*many, session.project_id}) == session
    assert Session.objects.get(project_id__in={*many, session.project_id}, pk__in=[session.pk]) == session
    assert not Session.objects.exclude(session_id__in=names).exists()
    assert Session.objects.filter(touched_at__in=[session.touched_at, None] * most).count() == 1
    nothing = Proposal.objects.filter(project__sessions__in=many, created_at__in=[None])
    assert not nothing.exists() and not Session.objects.filter(pk__in=many).update(title="other")


@pytest.mark.not_on_postgresql
@pytest.mark.usefixtures("as_built_by_its_makers")
def test_rows_of_more_than_the_database_takes_values_are_prefetched() -> None:
    session = world.make_session(world.make_project())
    many = [Project(pk=10**6 + number) for number in range(40_000)]
    prefetch_related_objects([*many, session.project], "sessions")
    assert list(session.project.sessions.all()) == [session] and not many[0].sessions.all()


def test_what_may_decide_the_form_decides_it() -> None:
    @prepared
    def ask(
        *, host: str = "", gone: bool | None = None, state: Proposal.State | None = None
    ) -> QuerySet[Project]:
        rows = Project.objects.order_by("pk")
        rows = rows.filter(host=host) if host else rows
        rows = rows if gone is None else rows.filter(gone_at__isnull=not gone)
        return rows.filter(proposals__state=state) if state else rows

    here, gone = world.make_project(name="here"), world.make_project(name="gone", gone_at=timezone.now())
    proposal = world.make_proposal(here)
    for _ in range(2):
        assert ask() == [here, gone]
        assert ask(gone=True) == ask(host=gone.host, gone=True) == [gone]
        assert ask(host="another") == ask(host=here.host, state=Proposal.State.APPLIED) == []
        assert ask(state=Proposal.State(proposal.state)) == [here]


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


@pytest.mark.parametrize(
    ("make", "given", "why"),
    [
        (lambda pk: Session.objects.all(), 1, "nowhere"),
        (lambda pk: Session.objects.filter(user_turns=pk + 1), 1, "nowhere"),
        (lambda name: Session.objects.filter(title__icontains=name), "a", "nowhere"),
        (lambda pk: Session.objects.filter(pk=pk, pk__in=list(Session.objects.all())), 1, "may not ask"),
    ],
)
def test_what_would_be_true_only_once_is_refused(make: Any, given: Any, why: str) -> None:
    with pytest.raises(ValueError, match=why):
        prepared(make)(given)


def test_whoever_watches_queries_sees_it_and_finds_the_same() -> None:
    session = world.make_session(world.make_project(), title="100 % of “%s”")
    ask = prepared(lambda title: Session.objects.filter(title=title).exclude(title__in=("%s", "100 %")))
    alone = ask(session.title)
    with CaptureQueriesContext(connection) as seen:
        watched = ask(session.title)
    assert alone == watched == [session]
    assert [query["sql"].startswith("SELECT") for query in seen] == [True]


def test_a_database_that_refuses_is_reported_in_the_words_of_django() -> None:
    ask = prepared(lambda pk: Session.objects.filter(pk=pk))
    ask(1)
    with pytest.raises(TransactionManagementError), transaction.atomic():
        transaction.set_rollback(True)
        ask(1)
    with connection.cursor() as cursor, transaction.atomic():
        cursor.execute("ALTER TABLE dreams_session RENAME TO other")
        with pytest.raises(OperationalError if connection.vendor == "sqlite" else ProgrammingError):
            ask(1)
        transaction.set_rollback(True)


@pytest.mark.django_db(transaction=True)
def test_each_thread_asks_by_its_own_connection() -> None:
    session = world.make_session(world.make_project())
    ask = prepared(lambda pk: Session.objects.filter(pk=pk))
    found: list[Any] = []

    def other() -> None:
        found.append(ask(session.pk))
        connections.close_all()

    assert ask(session.pk) == [session]
    thread = threading.Thread(target=other)
    thread.start()
    thread.join()
    assert found == [[session]]
