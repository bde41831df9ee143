"""Login by a one-time link: once, for ten minutes, and nothing else."""

from __future__ import annotations

import datetime as dt
import threading
import time
from contextlib import suppress

import pytest
import time_machine
from django.contrib.auth.models import User
from django.db import connections
from django.test import Client
from django.utils import timezone

from dreams.models import AuditEntry, LoginLink
from dreams.services import login

pytestmark = pytest.mark.django_db


def test_a_link_logs_the_owner_in_once(client: Client) -> None:
    path, code = login.make_link()
    assert path == f"/login/#token={code.replace('-', '')}"
    response = client.post("/login/", {"code": code, "next": "/settings/"})
    assert response.status_code == 303
    assert response["Location"] == "/settings/"
    assert client.get("/").status_code == 200
    again = Client().post("/login/", {"code": code})
    assert again.status_code == 422
    assert b"login_url" in again.content


def test_an_address_that_is_too_long_to_come_back_to_leads_to_the_login(client: Client) -> None:
    response = client.get("/search/", {"q": "x" * 17_000})
    assert (response.status_code, response["Location"]) == (302, "/login/")
    assert "next=" in client.get("/search/", {"q": "x" * 1_000})["Location"]


def test_a_link_is_over_after_ten_minutes() -> None:
    made = timezone.now()
    _, code = login.make_link(made)
    assert login.use_code(code, made + dt.timedelta(minutes=10)) is None
    _, code = login.make_link(made)
    assert login.use_code(code, made + dt.timedelta(minutes=9, seconds=59)) is not None


def test_only_the_hash_is_kept() -> None:
    _, code = login.make_link()
    kept = str(LoginLink.objects.values().get()) + str(list(AuditEntry.objects.values()))
    assert code.replace("-", "") not in kept
    assert code not in kept


def test_a_code_may_be_typed_as_people_type() -> None:
    _, code = login.make_link()
    assert login.use_code(f"  {code.lower().replace('-', ' ')} ".replace("0", "o")) is not None


@pytest.mark.parametrize("code", ["", "-", "AAAAA-AAAAA-AAAAA-AAAAA", "\ud800", "x" * 100_000, "%00"])
def test_a_wrong_code_is_none(code: str) -> None:
    login.make_link()
    assert login.use_code(code) is None


@pytest.mark.django_db(transaction=True)
def test_of_two_browsers_with_one_link_one_gets_in() -> None:
    _, code = login.make_link()
    login.ensure_owner()
    start, got = threading.Barrier(6), []

    def enter() -> None:
        start.wait()
        got.append(login.use_code(code))
        connections.close_all()

    threads = [threading.Thread(target=enter) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len([user for user in got if user is not None]) == 1


def test_the_owner_has_no_password_and_the_admin_is_open(client: Client) -> None:
    client.post("/login/", {"code": login.make_link().code})
    owner = User.objects.get()
    assert not owner.has_usable_password()
    assert client.get("/admin/").status_code == 200


def test_a_superuser_that_is_there_is_the_owner() -> None:
    made = User.objects.create_superuser("alice")
    assert login.ensure_owner() == made
    assert User.objects.count() == 1


def test_the_first_visitor_becomes_nobody(client: Client) -> None:
    assert client.get("/").status_code == 302
    assert client.get("/login/").status_code == 200
    assert not User.objects.exists()


def test_a_password_is_asked_for_only_where_one_exists(client: Client) -> None:
    login.ensure_owner()
    assert b"password" not in client.get("/login/").content.lower().replace(b"there is no password", b"")
    word = "-".join(["correct", "horse"])
    User.objects.create_superuser("alice", password=word)
    assert b'type="password"' in client.get("/login/").content
    wrong = client.post("/login/password/", {"name": "alice", "password": "no"})
    assert wrong.status_code == 422
    assert b'value="alice"' in wrong.content
    assert client.post("/login/password/", {"name": "alice", "password": word}).status_code == 303


def _try(client: Client, name: str, password: str, address: str = "127.0.0.1") -> int:
    form = {"name": name, "password": password}
    return client.post("/login/password/", form, REMOTE_ADDR=address).status_code


def test_a_right_code_always_works_however_many_wrong_ones_and_passwords_came_before(client: Client) -> None:
    for _ in range(login.TRIES * 3):
        assert client.post("/login/", {"code": "wrong"}).status_code == 422
        _try(client, login.OWNER, "wrong")
    assert client.post("/login/", {"code": login.make_link().code}).status_code == 303


def test_wrong_passwords_are_counted_for_one_account_from_one_address(client: Client) -> None:
    word = "-".join(["correct", "horse"])
    for name in ("alice", "bert"):
        User.objects.create_superuser(name, password=word)
    for _ in range(login.TRIES):
        assert _try(client, "alice", "wrong") == 422
    assert _try(client, "alice", word) == 429, "from here it is guessed"
    assert _try(client, "alice", word, "10.0.0.7") == 303
    assert _try(Client(), "bert", word) == 303


def test_wrong_passwords_at_the_same_time_are_counted_too(monkeypatch: pytest.MonkeyPatch) -> None:
    checked: list[str] = []

    def wrong(username: str, password: str) -> None:
        checked.append(password)
        time.sleep(0.2)

    def guess(password: str) -> None:
        with suppress(login.TooManyTries):
            login.use_password("alice", password, "10.0.0.7")

    monkeypatch.setattr(login, "authenticate", wrong)
    tries = [threading.Thread(target=guess, args=[str(number)]) for number in range(login.TRIES * 3)]
    for one in tries:
        one.start()
    for one in tries:
        one.join()
    assert len(checked) == login.TRIES


def test_guessing_at_many_accounts_forgets_no_count(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(login, "authenticate", lambda **_: None)
    for _ in range(login.TRIES):
        login.use_password("alice", "wrong", "10.0.0.7")
    for number in range(320):  # the cache has room for 300 entries
        login.use_password(f"nobody {number}", "wrong", "10.0.0.7")
    with pytest.raises(login.TooManyTries):
        login.use_password("alice", "wrong", "10.0.0.7")


def test_a_try_does_not_lengthen_the_wait(client: Client) -> None:
    word = "-".join(["correct", "horse"])
    User.objects.create_superuser("alice", password=word)
    begun = timezone.now()
    with time_machine.travel(begun, tick=False) as clock:
        for _ in range(login.TRIES):
            _try(client, "alice", "wrong")
        clock.move_to(begun + dt.timedelta(seconds=59))
        assert _try(client, "alice", word) == 429
        clock.move_to(begun + dt.timedelta(seconds=61))
        assert _try(client, "alice", word) == 303


def test_a_clock_that_ran_ahead_keeps_nobody_out(client: Client) -> None:
    word = "-".join(["correct", "horse"])
    User.objects.create_superuser("alice", password=word)
    with time_machine.travel(timezone.now() + dt.timedelta(days=400)):
        for _ in range(login.TRIES):
            _try(client, "alice", "wrong")
    assert _try(client, "alice", word) == 303


def test_the_admin_has_no_second_door_for_passwords(client: Client) -> None:
    User.objects.create_superuser("alice", password="-".join(["correct", "horse"]))
    form = {"username": "alice", "password": "-".join(["correct", "horse"])}
    client.post("/admin/login/", form)
    assert client.get("/").status_code == 302


def test_logging_in_and_out_is_audited_and_takes_a_post(browser: Client, client: Client) -> None:
    answer = browser.get("/logout/")
    assert answer.status_code == 405
    assert answer.headers["Allow"] == "POST"
    assert "To the inbox" in answer.content.decode()
    assert browser.post("/logout/").status_code == 303
    assert browser.get("/").status_code == 302
    client.post("/login/", {"code": login.make_link().code})
    actions = list(AuditEntry.objects.order_by("number").values_list("action", "actor"))
    assert actions == [("login.link", ""), ("login", "owner")]


def test_a_session_gets_a_new_key_at_login(client: Client) -> None:
    client.get("/login/")
    before = client.session.session_key
    client.post("/login/", {"code": login.make_link().code})
    assert client.session.session_key != before


def test_old_links_are_cleared_away() -> None:
    login.make_link(timezone.now() - dt.timedelta(days=3))
    login.make_link()
    assert LoginLink.objects.count() == 1


def test_a_fragment_asked_for_by_a_stranger_sends_the_whole_page_to_the_login(client: Client) -> None:
    response = client.get("/health/", headers={"hx-request": "true"})
    assert response["HX-Redirect"] == "/login/"
