"""`people`: accounts by command, as whoever owns the data directory; the audit log names who that was."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.core.management import call_command

from dreams.management.base import BadUsage, Refused
from dreams.models import AuditEntry
from dreams.services import audit_sentences, login
from tests.world.rows import make_world

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("getpass.getuser", lambda: "sam")


def people(capsys: pytest.CaptureFixture[str], *words: str) -> dict[str, Any]:
    call_command("people", *words, "--json")
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    return found


def test_a_new_machine_has_its_owner_and_nobody_else(capsys: pytest.CaptureFixture[str]) -> None:
    [owner] = people(capsys)["people"]
    assert (owner["name"], owner["role"], owner["password"]) == ("owner", "admin", False)


def test_a_person_is_added_changed_and_removed_and_the_log_names_who_did(
    capsys: pytest.CaptureFixture[str],
) -> None:
    people(capsys, "add", "bea", "--role", "viewer")
    people(capsys, "role", "bea", "--role", "reviewer")
    login.set_password("bea", "seven brown kettles")
    roles = {one["name"]: one["role"] for one in people(capsys)["people"]}
    assert roles == {"owner": "admin", "bea": "reviewer"}
    people(capsys, "remove", "bea")
    assert [one["name"] for one in people(capsys)["people"]] == ["owner"]
    rows = list(AuditEntry.objects.filter(action__startswith="person.").order_by("number"))
    sentences = audit_sentences.Sentences.of(rows)
    assert [sentences.sentence(row) for row in rows] == [
        "Sam added bea as a viewer, by command.",
        "Sam made bea a reviewer (before: viewer), by command.",
        "Sam removed the account of bea, by command.",
    ]


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (("remove", "owner"), "stays an admin"),
        (("role", "owner", "--role", "viewer"), "stays an admin"),
        (("remove", "nobody"), "No account is called nobody"),
        (("end", "nobody"), "No account is called nobody"),
    ],
)
def test_what_cannot_be_done_is_refused_in_one_line(words: tuple[str, ...], why: str) -> None:
    with pytest.raises(Refused, match=why):
        call_command("people", *words)


@pytest.mark.not_on_postgresql
@pytest.mark.parametrize(
    "words", [("add", "bea"), ("list", "bea"), ("remove", "bea", "--role", "admin"), ("end",)]
)
def test_words_that_do_not_fit_are_wrong_usage(words: tuple[str, ...]) -> None:
    with pytest.raises(BadUsage):
        call_command("people", *words)


def test_logins_are_listed_and_ended(capsys: pytest.CaptureFixture[str], client: Any) -> None:
    client.post("/login/", {"code": login.make_link().code})
    [row] = people(capsys, "logins")["logins"]
    assert row["name"] == "owner" and "key" not in str(row)
    people(capsys, "end", "owner")
    assert people(capsys, "logins") == {"logins": []}
    assert client.get("/").status_code == 302


def test_a_decision_by_command_names_whoever_ran_it() -> None:
    proposal = make_world().proposal
    call_command("decide", proposal.public_id, "--reject")
    decided = AuditEntry.objects.get(action="review.decided")
    assert (decided.actor, decided.data["by_command"]) == ("sam", True)
