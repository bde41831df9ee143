"""Where an account is logged in is listed and can be ended; admins add, change and remove people. With real logins."""

from __future__ import annotations

import importlib
import sqlite3
import time
from contextlib import closing

import pytest
from django.apps import apps
from django.contrib.auth.models import User
from django.core.cache import cache
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from dreams.models import AuditEntry, LoginSession
from dreams.services import login, people
from dreams.services.people import PersonRefused, Role
from dreams.services.review import Actor
from tests.web.reading import Reader
from tests.world import rows
from tests.world.cases import each

pytestmark = pytest.mark.django_db

BY = Actor("owner")
WORD = "seven brown kettles"
FIREFOX = "Mozilla/5.0 (X11; Linux x86_64; rv:145.0) Gecko/20100101 Firefox/145.0"
EDGE = "Mozilla/5.0 (Windows NT 10.0; Win64) AppleWebKit/537.36 Chrome/142.0 Safari/537.36 Edg/142.0"


def person(name: str, role: Role) -> User:
    return people.add(name, role, BY, password=WORD)


def logged_in(name: str = "", agent: str = FIREFOX) -> Client:
    """As a person does it: the owner by a one-time link, others by their password."""
    client = Reader(headers={"user-agent": agent})
    if name:
        answer = client.post(reverse("login-password"), {"name": name, "password": WORD})
    else:
        answer = client.post(reverse("login"), {"code": login.make_link().code})
    assert answer.status_code == 303
    return client


def page(client: Client) -> str:
    return client.get(reverse("account")).content.decode()


def is_out(client: Client) -> bool:
    return client.get("/").headers.get("Location", "").startswith("/login/")


def test_the_logins_of_an_account_are_listed_with_device_and_address() -> None:
    here, other = logged_in(), logged_in(agent=EDGE)
    text = page(here)
    assert "Firefox on Linux" in text and "Edge on Windows" in text
    assert text.count("This one") == 1 and "127.0.0.1" in text
    assert "Edge" in page(other)


def test_a_login_that_was_ended_is_out_with_its_next_request() -> None:
    here, other = logged_in(), logged_in(agent=EDGE)
    row = LoginSession.objects.get(device="Edge on Windows")
    assert not is_out(other)
    here.post(reverse("login-end", args=[row.pk]))
    assert is_out(other) and not is_out(here)
    again = here.post(reverse("login-end", args=[row.pk]), follow=True).content.decode()
    assert "That login has ended already, or is not yours." in again
    alone = here.post(reverse("logins-end-others"), follow=True).content.decode()
    assert "You are logged in nowhere else." in alone and "Ended 0" not in alone
    assert "Edge" not in page(here)
    assert AuditEntry.objects.filter(action="login.ended", actor="owner", object_id="owner").count() == 1


def test_all_others_end_at_once_and_this_one_stays() -> None:
    here, others = logged_in(), [logged_in(), logged_in()]
    person("bea", Role.VIEWER)
    bea = logged_in("bea")
    here.post(reverse("logins-end-others"))
    assert all(map(is_out, others))
    assert not is_out(here) and not is_out(bea)


def test_an_admin_ends_anybodys_login_and_others_only_their_own() -> None:
    person("bea", Role.REVIEWER)
    admin, bea = logged_in(), logged_in("bea", EDGE)
    owners = LoginSession.objects.get(user__username="owner")
    assert "Firefox" not in page(bea) and "Edge" in page(admin)
    bea.post(reverse("login-end", args=[owners.pk]))
    assert not is_out(admin)
    admin.post(reverse("login-end", args=[LoginSession.objects.get(user__username="bea").pk]))
    assert is_out(bea)


def test_logging_out_takes_a_login_from_the_list() -> None:
    here, other = logged_in(), logged_in(agent=EDGE)
    other.post(reverse("logout"))
    assert "Edge" not in page(here)


def test_when_a_login_was_last_used_is_kept_to_ten_minutes() -> None:
    client = logged_in()
    first = LoginSession.objects.get().seen_at
    client.get("/health/")
    once = LoginSession.objects.get().seen_at
    client.get("/health/")
    assert LoginSession.objects.get().seen_at == once > first
    cache.clear()
    client.get("/health/")
    assert LoginSession.objects.get().seen_at > once


@pytest.mark.not_on_postgresql
@pytest.mark.django_db(transaction=True)
def test_no_page_waits_for_another_writer_to_note_that_it_was_seen() -> None:
    client = logged_in()
    dream = rows.make_dream(rows.make_project())
    cache.clear()
    with closing(sqlite3.connect(connection.settings_dict["NAME"], isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        start = time.monotonic()
        assert client.get("/settings/").status_code == 200
        assert client.get(f"/dreams/{dream.public_id}/").status_code == 200, (
            "which also notes that it was seen"
        )
        assert time.monotonic() - start < 10, "the database waits for 20 s"
    with connection.cursor() as cursor:
        cursor.execute("PRAGMA busy_timeout")
        assert cursor.fetchone() == (20_000,), "what must be written still waits"
    cache.clear()
    before = LoginSession.objects.get().seen_at
    client.get("/settings/")
    assert LoginSession.objects.get().seen_at > before


def test_a_person_changes_their_password_and_every_other_login_ends() -> None:
    person("bea", Role.VIEWER)
    here, other = logged_in("bea"), logged_in("bea", EDGE)
    form, new = reverse("account-password"), "nine green lamps"
    assert here.post(form, {"old": "wrong", "new": new}).status_code == 422
    assert here.post(form, {"old": WORD, "new": "short"}).status_code == 422
    assert not is_out(other)
    assert here.post(form, {"old": WORD, "new": new}).status_code == 303
    assert is_out(other) and not is_out(here)
    assert page(here).count("This one") == 1
    assert login.use_password("bea", WORD) is None and login.use_password("bea", new)


def test_an_admin_gives_somebody_a_new_password_and_all_their_logins_end() -> None:
    bea = person("bea", Role.REVIEWER)
    admin, hers = logged_in(), logged_in("bea", EDGE)
    form, new = reverse("person-password", args=[bea.pk]), "nine green lamps"
    assert form in page(admin)
    short = admin.post(form, {"password": "short"})
    assert short.status_code == 422 and '<details class="fold" open>' in short.content.decode()
    assert not is_out(hers)
    assert admin.post(form, {"password": new}).status_code == 303
    assert is_out(hers) and not LoginSession.objects.filter(user=bea).exists()
    assert login.use_password("bea", WORD) is None and login.use_password("bea", new)
    assert AuditEntry.objects.filter(action="login.password", actor="owner", object_id="bea").count() == 2


def test_a_first_password_logs_nobody_out() -> None:
    admin, bea = logged_in(), people.add("bea", Role.REVIEWER, BY)
    assert "This logs bea out everywhere" not in " ".join(page(admin).split())
    form = reverse("person-password", args=[bea.pk])
    for told in ("bea has a password now.", "bea has a new password."):
        assert told in admin.post(form, {"password": WORD}, follow=True).content.decode()
    logged_in("bea", EDGE)
    answer = admin.post(form, {"password": WORD}, follow=True).content.decode()
    assert "bea has a new password and was logged out everywhere." in answer


def test_nobody_gets_round_a_present_password_by_resetting_it() -> None:
    cas, owner = person("cas", Role.ADMIN), login.ensure_owner()
    hers, given = logged_in("cas"), {"password": "nine green lamps"}
    text = page(hers)
    for one in (cas, owner):
        form = reverse("person-password", args=[one.pk])
        assert form not in text
        hers.post(form, given)
        one.refresh_from_db()
        assert not one.check_password(given["password"])
    with pytest.raises(PersonRefused, match="the current one"):
        people.reset_password("cas", "nine green lamps", Actor("cas"))


def test_the_present_password_cannot_be_guessed_there() -> None:
    person("bea", Role.VIEWER)
    here, given = logged_in("bea"), {"old": "wrong", "new": "nine green lamps"}
    answers = [here.post(reverse("account-password"), given).status_code for _ in range(login.TRIES + 1)]
    assert answers == [422] * login.TRIES + [429]


def test_who_has_no_password_is_offered_none_to_change() -> None:
    owner = logged_in()
    assert "Change the password" not in page(owner)
    assert owner.post(reverse("account-password"), {"old": "", "new": "nine green lamps"}).status_code == 422


def test_a_database_from_before_lists_its_logins_and_lets_nobody_in_who_was_not() -> None:
    roles = importlib.import_module("dreams.migrations.0046_roles")
    client = Client()
    client.force_login(login.ensure_owner())
    User.objects.create_user("visitor")
    for step in (roles.lock_out_as_before, roles.list_logins):
        step(apps, None)
    assert [row.user.get_username() for row in login.sessions()] == ["owner"]
    assert "This one" in page(client)
    assert [user.username for user in people.everybody()] == ["owner"]


# --- People ---------------------------------------------------------------------------------------------------------


def test_with_one_account_nobody_sees_a_role() -> None:
    text = page(logged_in())
    assert "Your account is" not in text
    assert text.index("Add a person") < text.index("Reviewer")
    assert "Role of" not in text


def test_an_admin_adds_a_person_who_logs_in_by_password() -> None:
    admin = logged_in()
    given = {"name": "bea", "role": "reviewer", "password": WORD}
    assert admin.post(reverse("person-add"), given).status_code == 303
    bea = logged_in("bea")
    text = page(bea)
    assert "Your role: reviewer." in text and "Add a person" not in text
    assert "Role of bea" in page(admin)


@each(
    ("given", "why"),
    [
        ({"name": "OWNER", "role": "viewer"}, "already"),
        ({"name": "", "role": "viewer"}, "This name cannot be used"),
        ({"name": "policy", "role": "admin"}, "has a special meaning"),
        ({"name": "bea", "role": "king"}, "not a role"),
        ({"name": "bea", "role": "viewer", "password": "short"}, "at least 10"),
    ],
)
def test_what_cannot_be_added_is_said_and_nothing_is_kept(given: dict[str, str], why: str) -> None:
    admin = logged_in()
    answer = admin.post(reverse("person-add"), given)
    assert answer.status_code == 422
    assert why in answer.content.decode()
    assert people.everybody().count() == 1


def test_a_refused_person_keeps_the_role_that_was_chosen() -> None:
    given = {"name": "bea", "role": "viewer", "password": "short"}
    text = logged_in().post(reverse("person-add"), given).content.decode()
    assert 'value="viewer" checked' in text and 'value="reviewer" checked' not in text
    assert text.count("autofocus") == 1 and "autofocus" not in page(logged_in()), "the form comes into view"


def test_a_role_counts_with_the_next_request() -> None:
    bea = person("bea", Role.VIEWER)
    admin, client = logged_in(), logged_in("bea")
    assert client.get(reverse("engines")).status_code == 403
    admin.post(reverse("person-role", args=[bea.pk]), {"role": "reviewer"})
    assert client.get(reverse("engines")).status_code == 200
    same = admin.post(reverse("person-role", args=[bea.pk]), {"role": "reviewer"}, follow=True)
    assert "bea: reviewer, as before." in same.content.decode()
    assert AuditEntry.objects.get(action="person.changed").data["was"] == "viewer"


def test_a_person_who_is_removed_is_out_at_once_and_keeps_the_name() -> None:
    bea = person("bea", Role.ADMIN)
    admin, client = logged_in(), logged_in("bea")
    before, button = page(admin).split(f'action="{reverse("person-remove", args=[bea.pk])}"')
    assert before.rpartition("<details")[2].count("</details>") == 0, "one press is not enough"
    assert "Past decisions keep" in button.partition("</form>")[0]
    admin.post(reverse("person-remove", args=[bea.pk]))
    assert is_out(client)
    assert login.use_password("bea", WORD) is None
    page(admin)  # says so, once
    assert "bea" not in page(admin)
    assert (
        people.add("bea", Role.VIEWER, BY).pk == bea.pk
    )  # the same person again, and without the old password
    assert login.use_password("bea", WORD) is None


def test_the_last_admin_can_neither_be_removed_nor_made_less() -> None:
    owner = login.ensure_owner()
    bea = person("bea", Role.ADMIN)
    client = logged_in("bea")
    for name, given in (("person-remove", {}), ("person-role", {"role": "viewer"})):
        client.post(reverse(name, args=[owner.pk]), given)
    owner.refresh_from_db()
    assert owner.is_active and owner.is_superuser
    with pytest.raises(PersonRefused, match="there is always one"):
        people.remove("owner", BY)
    assert people.set_role(bea.username, Role.VIEWER, BY)


def test_the_page_asks_as_often_with_many_people_as_with_few() -> None:
    person("bea", Role.VIEWER)
    client = logged_in()
    page(client)
    with CaptureQueriesContext(
        connection,
    ) as few:
        page(client)
    for number in range(5):
        User.objects.create_user(f"p{number}")
    with CaptureQueriesContext(connection) as many:
        page(client)
    assert len(few) == len(many)
