"""The fences around every page: host, origin, policy, errors."""

from __future__ import annotations

import errno
import logging
import os
import sqlite3
import time
from contextlib import closing
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest
from django.conf import settings
from django.core.cache import cache
from django.core.handlers.wsgi import WSGIHandler
from django.db import OperationalError, connection
from django.http import HttpRequest, HttpResponse
from django.test import Client, RequestFactory, override_settings
from django.urls import path

from dreams.services import server_registry
from dreams.services.doctor import work
from dreams.services.login import make_link
from dreams.web import middleware
from dreams.web.access import safe_next
from tests.world import directory as world
from tests.world.cases import each

pytestmark = pytest.mark.django_db
PORT = settings.PORT


@each("host", [f"127.0.0.1:{PORT}", f"localhost:{PORT}", f"[::1]:{PORT}", f"LOCALHOST:{PORT}"])
def test_the_served_addresses_answer(client: Client, host: str) -> None:
    assert client.get("/login/", headers={"host": host}).status_code == 200


@each(
    "host",
    [
        "127.0.0.1",
        f"127.0.0.1:{PORT + 1}",
        "localhost:80",
        f"evil.example:{PORT}",
        "evil.example",
        f"localhost.evil.example:{PORT}",
        f"127.0.0.1.evil.example:{PORT}",
        f"evil.example@127.0.0.1:{PORT}",
        f"127.0.0.1:{PORT}, evil.example",
        f"127.0.0.1:{PORT}0",
        f"127.0.0.1:0{PORT}x",
        f"127.1:{PORT}",
        f"localhost.:{PORT}",
        "",
    ],
)
def test_any_other_address_is_refused_before_a_view_runs(client: Client, host: str) -> None:
    response = client.get("/login/", headers={"host": host})
    assert response.status_code == 400
    assert b"Log in" not in response.content


def test_a_wildcard_never_opens_the_door(client: Client) -> None:
    with override_settings(ALLOWED_HOSTS=["*"]):
        assert client.get("/login/", headers={"host": "evil.example"}).status_code == 400


def test_a_name_the_person_gave_answers_bare_or_with_the_served_port(client: Client) -> None:
    with override_settings(ALLOWED_HOSTS=["desk.example"]):
        assert client.get("/login/", headers={"host": "desk.example"}).status_code == 200
        assert client.get("/login/", headers={"host": f"desk.example:{PORT}"}).status_code == 200
        assert client.get("/login/", headers={"host": "desk.example:1"}).status_code == 400


@each("address", ["/", "/login/", "/nothing/", "/static/css/base.css", "/admin/login/"])
def test_every_answer_carries_the_policy(client: Client, address: str) -> None:
    response = client.get(address)
    policy = response["Content-Security-Policy"]
    assert policy.startswith("default-src 'none'; ")
    assert "unsafe" not in policy
    assert "frame-ancestors 'none'" in policy
    for name, value in middleware.HEADERS.items():
        assert response[name] == value


@pytest.mark.parametrize("address", ["/login/", "/nowhere/", "/audit/export/", "/static/css/base.css"])
@pytest.mark.parametrize("host", [f"127.0.0.1:{PORT}", "evil.example"])
def test_an_answer_to_head_has_no_body_which_would_pass_for_the_next_answer(
    browser: Client, address: str, host: str
) -> None:
    cookie = browser.cookies.output(header="", sep=";").strip()
    named = {"PATH_INFO": address, "HTTP_HOST": host, "HTTP_COOKIE": cookie}
    found: dict[str, tuple[str, str | None, bytes]] = {}
    for verb in ("GET", "HEAD"):
        said: list[Any] = []
        environ = RequestFactory()._base_environ(REQUEST_METHOD=verb, **named)
        answer = WSGIHandler()(environ, lambda *head, said=said: said.extend(head))
        found[verb] = (said[0], dict(said[1]).get("Content-Length"), b"".join(answer))
    (status, length, body), bare = found["GET"], found["HEAD"]
    assert body and (bare[0], bare[2]) == (status, b"") and bare[1] in (length, str(len(body)))


def test_pages_stay_in_no_cache_and_static_files_may(client: Client) -> None:
    assert "no-store" in client.get("/login/")["Cache-Control"]
    assert "no-store" not in client.get("/static/css/base.css")["Cache-Control"]


@each(
    "headers",
    [
        {"sec-fetch-site": "cross-site"},
        {"sec-fetch-site": "same-site"},
        {"sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate", "sec-fetch-dest": "document"},
        {"origin": "https://evil.example"},
        {"origin": "null"},
        {"origin": "https://testserver"},
        {"origin": "http://testserver:8000"},
        {"sec-fetch-site": "same-origin", "origin": "https://evil.example"},
        {"sec-fetch-site": "nonsense"},
    ],
)
def test_no_other_site_may_post(browser: Client, headers: dict[str, str]) -> None:
    assert browser.post("/logout/", headers=headers).status_code == 403
    assert browser.get("/health/").status_code == 200


@each(
    ("headers", "status"),
    [
        ({"origin": "http://[::1"}, 403),
        ({"origin": "null"}, 403),
        ({"origin": "http://testserver/"}, 403),
        ({"host": f"127.0.0.1:{'9' * 5000}"}, 400),
        ({"host": "127.0.0.1:\u0668\u0667"}, 400),
    ],
)
def test_a_header_that_says_nothing_is_refused_like_a_wrong_one(
    browser: Client, headers: dict[str, str], status: int
) -> None:
    assert browser.post("/logout/", headers=headers).status_code == status


@pytest.mark.parametrize(
    "headers",
    [{}, {"origin": "http://testserver"}, {"sec-fetch-site": "same-origin", "origin": "http://testserver"}],
)
def test_a_page_of_ours_may_post(browser: Client, headers: dict[str, str]) -> None:
    assert browser.post("/logout/", headers=headers).status_code == 303


FOLLOWED = {"sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate", "sec-fetch-dest": "document"}


def test_a_link_from_elsewhere_leads_on_through_a_page_of_ours(browser: Client) -> None:
    response = browser.get("/settings/?a=1&b=2", headers=FOLLOWED)
    text = response.content.decode()
    assert response.status_code == 200
    assert 'content="0; url=/settings/?a=1&amp;b=2"' in text
    assert 'href="/settings/?a=1&amp;b=2"' in text
    assert "Policies" not in text


def test_leading_on_never_leads_to_another_site(client: Client) -> None:
    response = client.get("//evil.example/x", headers=FOLLOWED)
    assert "//evil.example" not in response.content.decode()


@each("destination", ["iframe", "image", "script", "empty", "object"])
def test_no_other_site_may_embed_or_read_a_page(browser: Client, destination: str) -> None:
    headers = {**FOLLOWED, "sec-fetch-dest": destination}
    assert browser.get("/settings/", headers=headers).status_code == 403


def test_a_form_from_before_the_login_is_told_so(owner: object) -> None:
    strict = Client(enforce_csrf_checks=True)
    strict.force_login(owner)  # type: ignore[arg-type] # the fixture's user
    response = strict.post("/settings/pause/")
    assert response.status_code == 403
    assert b"too old" in response.content
    assert b"If you typed something, go back and copy it first. Then reload the page" in response.content


def test_a_form_of_an_ended_login_is_told_so_and_leads_back_to_its_page(client: Client) -> None:
    strict = Client(enforce_csrf_checks=True, headers={"referer": "http://testserver/review/p1/?q=x"})
    response = strict.post("/review/p1/decide/")
    assert response.status_code == 403
    page = response.content.decode()
    assert "If you typed something, go back and copy it first." in page
    assert "You are logged out" in page and 'href="/login/?next=%2Freview%2Fp1%2F%3Fq%3Dx"' in page


def test_a_part_of_a_page_leads_a_stranger_to_the_login_and_back_to_that_page(client: Client) -> None:
    asks = {"hx-request": "true", "hx-current-url": "http://testserver/projects/?q=x"}
    login = f"/login/?{urlencode({'next': '/projects/?q=x'})}"
    assert client.get("/search/", headers=asks).headers["HX-Redirect"] == login
    pulse = client.get("/pulse/", headers=asks)
    # It is asked by the page itself, in which somebody may be typing.
    assert "HX-Redirect" not in pulse.headers and f'href="{login}"' in pulse.content.decode()


@pytest.mark.parametrize("address", ["/search/", "/pulse/"])
def test_an_unreadable_address_of_the_asking_page_leads_to_the_login(client: Client, address: str) -> None:
    asks = {"hx-request": "true", "hx-current-url": "http://[::bad"}
    response = client.get(address, headers=asks)
    assert (
        response.status_code,
        "/login/" in response.headers.get("HX-Redirect", response.content.decode()),
    ) == (200, True)


@pytest.mark.parametrize(
    "wanted",
    [
        "https://evil.example/",
        "//evil.example/",
        "/\\evil.example",
        "javascript:alert(1)",
        "evil",
        "\t//evil",
    ],
)
def test_a_login_never_leads_to_another_site(wanted: str) -> None:
    request = RequestFactory().get("/login/", {"next": wanted})
    assert safe_next(request) == "/"


def test_a_login_leads_back_to_where_one_was() -> None:
    request = RequestFactory().get("/login/", {"next": "/settings/?x=1#policies"})
    assert safe_next(request) == "/settings/?x=1#policies"


def _broken(request: object) -> None:
    raise RuntimeError("a secret path: /home/me")


def _locked(request: HttpRequest) -> HttpResponse:
    """A database that another connection writes to, as Django tells it."""
    file = request.GET["file"]
    with closing(sqlite3.connect(file)) as other, closing(sqlite3.connect(file, timeout=0)) as ours:
        other.execute("BEGIN IMMEDIATE")
        try:
            ours.execute("BEGIN IMMEDIATE")
        except sqlite3.OperationalError as error:
            raise OperationalError(*error.args) from error
    return HttpResponse("not locked")


def _full(request: HttpRequest) -> HttpResponse:
    """A disk without room, as the system and as the database tell it."""
    if "file" in request.GET:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), request.GET["file"])
    with closing(sqlite3.connect(":memory:")) as ours:
        ours.execute("PRAGMA max_page_count = 1")
        try:
            ours.execute("CREATE TABLE t (x)")
        except sqlite3.OperationalError as error:
            raise OperationalError(*error.args) from error
    return HttpResponse("not full")


# Called as addresses that ask for no account.
urlpatterns = [
    path("broken/", _broken, name="login"),  # type: ignore[arg-type] # never returns
    path("locked/", _locked, name="feed"),
    path("full/", _full, name="logout"),
]
handler500 = "dreams.web.views.errors.server_error"


def test_a_failure_shows_a_way_on_and_no_traceback(caplog: pytest.LogCaptureFixture) -> None:
    client = Client(raise_request_exception=False)
    with override_settings(ROOT_URLCONF=__name__), caplog.at_level(logging.ERROR):
        response = client.get("/broken/")
    assert response.status_code == 500
    assert b"secret path" not in response.content
    assert b"Traceback" not in response.content
    assert "secret path" in caplog.text


def test_a_failure_after_an_update_under_the_server_says_to_start_it_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(settings, "DATA_DIR", tmp_path)
    module = tmp_path / "program" / "a.py"
    module.parent.mkdir()
    module.write_text("old")
    monkeypatch.setattr(server_registry, "PROGRAM", (module.parent,))
    server_registry.write("http://127.0.0.1:1", 1)
    client = Client(raise_request_exception=False)
    with override_settings(ROOT_URLCONF=__name__):
        before = client.get("/broken/").content.decode()
        time.sleep(0.02)  # more than the file system's clock needs for another time
        module.write_text("new")
        after = client.get("/broken/").content.decode()
    assert "memoryweb was updated" not in before and "Something failed here" in before
    assert "memoryweb was updated" in after and "start it again" in after
    check = work.server()
    assert check.state == "warn" and "start it again" in check.remedy


@pytest.mark.parametrize("method", ["get", "post"])
def test_a_busy_database_is_said_and_to_try_again(tmp_path: Path, method: str) -> None:
    client, address = Client(raise_request_exception=False), f"/locked/?file={tmp_path / 'd.sqlite3'}"
    with override_settings(ROOT_URLCONF=__name__):
        response = getattr(client, method)(address, headers={"referer": "http://testserver/settings/"})
    text = response.content.decode()
    assert (response.status_code, response.headers["Retry-After"]) == (503, "10")
    assert "The database is busy" in text and "Try again in a moment." in text
    onward = {"get": f'href="{address}">Try again<', "post": 'href="/settings/">Reload it<'}[method]
    assert onward in text
    assert ("Nothing was changed" in text) is (method == "get"), "some of a form may have been done"


@pytest.mark.parametrize("address", ["/full/", "/full/?file=/notes/a.md"])
def test_a_full_disk_is_said_and_to_make_room(address: str) -> None:
    client = Client(raise_request_exception=False, headers={"referer": "http://testserver/settings/"})
    with override_settings(ROOT_URLCONF=__name__):
        response = client.post(address)
    text = response.content.decode()
    assert response.status_code == 507
    assert (
        "The disk is full" in text
        and "check before you try again" in text
        and "log has the details" not in text
    )
    assert ("/notes/a.md" if "file" in address else str(settings.DATA_DIR)) in text


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("address", ["/", "/usage/", "/projects/{}/checkup/", "/projects/{}/statements/"])
@pytest.mark.parametrize("where", ["the database", "the cache"])
def test_a_page_that_only_reads_is_shown_on_a_full_disk(
    browser: Client, tmp_path: Path, address: str, where: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = world.make_project(tmp_path / "root", {"notes.md": "The port is 80.\n"})
    browser.get("/health/")  # its first page saves the token of forms
    cache.clear()

    def no_room(*_: object, **__: object) -> object:
        if where == "the cache":
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return _full(RequestFactory().get("/"))

    for name in ("set", "add", "set_many") if where == "the cache" else ():
        monkeypatch.setattr(cache, name, no_room)

    def execute(run: Any, sql: str, *given: object) -> object:
        writes = where == "the database" and sql.startswith(("UPDATE", "INSERT", "DELETE"))
        return no_room() if writes else run(sql, *given)

    with connection.execute_wrapper(execute):
        response = browser.get(address.format(project.pk))
    assert response.status_code == 200


@pytest.mark.django_db
def test_a_setting_that_does_not_fit_is_named_on_any_page(
    browser: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MEMORYWEB_MIN_HOURS", "many")
    browser.raise_request_exception = False
    text = browser.get("/settings/").content.decode()
    assert "is not a number. Health shows where it is set." in text and 'href="/health/"' in text
    health = browser.get("/health/").content.decode()
    assert "Correct or unset MEMORYWEB_MIN_HOURS" in health
    assert health.count("is not a number") == 1, "the other checks do not repeat it"


def test_a_form_that_is_too_long_is_told_so(client: Client) -> None:
    response = client.post("/login/", {"code": "x" * (settings.DATA_UPLOAD_MAX_MEMORY_SIZE + 1)})
    assert response.status_code == 413
    assert "at most 4 MB and 5,000 fields" in response.content.decode()


def test_an_error_page_that_fails_itself_still_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*args: object) -> None:
        raise RuntimeError("no templates today")

    monkeypatch.setattr("dreams.web.views.errors.render_to_string", fail)
    response = Client(raise_request_exception=False).get("/nothing/")
    assert response.status_code == 404
    assert b"Nothing here" in response.content


def test_the_last_net_catches_what_no_handler_did() -> None:
    def fail(request: object) -> None:
        raise RuntimeError("deep down")

    response = middleware.plain_errors(fail)(RequestFactory().get("/"))  # type: ignore[arg-type] # it never returns
    assert response.status_code == 500
    assert b"deep down" not in response.content


@pytest.mark.parametrize("address", ["/nothing/", "/projects/999/settings/"])
def test_what_is_not_there_says_so_with_a_way_on(browser: Client, address: str) -> None:
    response = browser.get(address)
    assert response.status_code == 404
    assert b"To the inbox" in response.content


def test_cookies_are_strict_and_named_by_port(client: Client) -> None:
    client.post("/login/", {"code": make_link().code})
    cookie = client.cookies[f"memoryweb_{PORT}"]
    assert cookie["samesite"] == "Strict"
    assert cookie["httponly"]
