"""A page is made once for the same rows, and never shown once any row changed."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Callable
from functools import partial
from threading import Event, Thread, Timer

import pytest
from django.contrib.auth.models import AbstractUser
from django.db import connection, transaction
from django.http import HttpResponse
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from dreams.models import Project
from dreams.services import cached_counts, people
from dreams.services.review import Actor
from dreams.web import htmx, page_cache
from tests.conftest import logged_in
from tests.world.rows import World, make_world

pytestmark = pytest.mark.django_db(transaction=True)
TOKEN = re.compile(r'X-CSRFToken": "(\w+)"')
OWNER = Actor("owner")
#: Who asks and whose login it is; the rest of a page is asked for once.
MOST_QUERIES = 6


@pytest.fixture
def world(owner: AbstractUser) -> World:
    page_cache._pages.clear()
    return make_world()


def _asked(browser: Client, address: str) -> tuple[str, int]:
    """The page, and how many queries it took."""
    with CaptureQueriesContext(connection) as queries:
        page = browser.get(address).content.decode()
    return page, len(queries)


@pytest.mark.not_on_postgresql  # a commit in any other database of the server counts there
@pytest.mark.parametrize("address", ["/", "/projects/", "project", "/usage/", "/dreams/", "/search/?q=test"])
def test_the_same_page_is_not_made_twice_and_its_forms_have_a_token_of_their_own(
    browser: Client, world: World, address: str
) -> None:
    address = f"/projects/{world.project.pk}/" if address == "project" else address
    browser.get("/account/")  # the first page of a visit writes down what its forms are known by
    first, asked = _asked(browser, address)
    again, asked_again = _asked(browser, address)
    tokens = [TOKEN.findall(page) for page in (first, again)]
    assert asked > MOST_QUERIES >= asked_again
    assert len(tokens[0]) == len(tokens[1]) == 1 and tokens[0] != tokens[1]
    assert again.replace(tokens[1][0], tokens[0][0]) == first


def test_a_form_of_a_kept_page_is_taken(world: World, owner: AbstractUser) -> None:
    browser = Client(enforce_csrf_checks=True)
    logged_in(browser, owner)
    browser.get("/")
    [token] = TOKEN.findall(_asked(browser, "/")[0])
    assert browser.post("/seen/", {"csrfmiddlewaretoken": token}).status_code == 303
    assert browser.post("/seen/", {"csrfmiddlewaretoken": "no" * 32}).status_code == 403


def _by_a_row_of_ours(project: Project) -> None:
    Project.objects.filter(pk=project.pk).update(name="renamed")


def _by_another_connection(project: Project) -> None:
    def change() -> None:
        try:
            _by_a_row_of_ours(project)
        finally:
            connection.close()

    other = Thread(target=change)
    other.start()
    other.join()


@pytest.mark.parametrize("change", [_by_a_row_of_ours, _by_another_connection])
def test_a_changed_row_is_on_the_next_page(
    browser: Client, world: World, change: Callable[[Project], None]
) -> None:
    for _ in range(2):
        assert "renamed" not in _asked(browser, "/projects/")[0]
    change(world.project)
    assert "renamed" in _asked(browser, "/projects/")[0]


def test_a_row_that_changes_while_a_page_is_made_is_on_the_next_one(
    browser: Client, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    def late(*given: object, **named: object) -> HttpResponse:
        answer = page(*given, **named)  # type: ignore[arg-type] # as it was given
        _by_a_row_of_ours(world.project)
        return answer

    page = htmx.page
    monkeypatch.setattr("dreams.web.views.project.page", late)
    assert "renamed" not in _asked(browser, "/projects/")[0]
    assert "renamed" in _asked(browser, "/projects/")[0]


def test_a_page_is_kept_for_a_few_seconds_and_for_one_account(
    browser: Client, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = Client()
    logged_in(other, people.add("guest", people.Role.VIEWER, OWNER))
    _asked(browser, "/projects/")
    assert _asked(other, "/projects/")[1] > MOST_QUERIES
    later = timezone.now() + page_cache.FRESH + dt.timedelta(milliseconds=1)
    monkeypatch.setattr(timezone, "now", lambda: later)
    assert _asked(browser, "/projects/")[1] > MOST_QUERIES


def test_what_is_told_once_is_on_one_page(browser: Client, world: World) -> None:
    _asked(browser, "/")
    assert browser.get("/next/?after=" + world.proposal.public_id).status_code == 303
    assert "Nothing else is waiting" in _asked(browser, "/")[0]
    assert "Nothing else is waiting" not in _asked(browser, "/")[0]


def test_within_a_transaction_nothing_is_known_to_be_unchanged(world: World) -> None:
    assert cached_counts.database_state() is not None
    with transaction.atomic():
        assert cached_counts.database_state() is None


@pytest.mark.not_on_postgresql  # a commit in any other database of the server counts there
@pytest.mark.parametrize("is_steady", [True, False])
def test_who_comes_while_a_page_is_made_waits_for_it_where_it_may_be_kept(
    browser: Client, world: World, monkeypatch: pytest.MonkeyPatch, is_steady: bool
) -> None:
    begun, goes_on, made = Event(), Event(), list[int]()

    def slowly(*given: object, **named: object) -> HttpResponse:
        made.append(len(made))
        if len(made) == 1:
            begun.set()
            goes_on.wait(20)
        return page(*given, **named)  # type: ignore[arg-type] # as it was given

    def first() -> None:
        try:
            _asked(browser, "/projects/")
        finally:
            connection.close()

    page = htmx.page
    monkeypatch.setattr("dreams.web.views.project.page", slowly)
    monkeypatch.setattr(page_cache, "_KeptPage", partial(page_cache._KeptPage, is_steady=is_steady))
    browser.get("/account/")
    other = Thread(target=first)
    other.start()
    assert begun.wait(20)
    later = Timer(0.2 if is_steady else 20, goes_on.set)
    later.start()
    _asked(browser, "/projects/")
    assert goes_on.is_set() == is_steady
    later.cancel()
    goes_on.set()
    other.join()
    assert len(made) == (1 if is_steady else 2)
