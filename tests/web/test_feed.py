"""A feed of what waits: its address reads titles and nothing else, is shown once, and can be revoked."""

from __future__ import annotations

import re
from xml.etree import ElementTree

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from dreams.models import AuditEntry, FeedToken, Hunk, Proposal
from dreams.services.inbox import feed
from tests.world import rows as make
from tests.world.rows import World

pytestmark = pytest.mark.django_db
ATOM = "{http://www.w3.org/2005/Atom}"


def _address(browser: Client) -> str:
    text = browser.post("/settings/feed/make/", follow=True).content.decode()
    found = re.search(r"http://testserver(/feed/[\w-]+/)", text)
    assert found
    return found[1]


def _titles(reader: Client, address: str) -> list[str]:
    response = reader.get(address)
    assert response.status_code == 200 and response["Content-Type"].startswith("application/atom+xml")
    root = ElementTree.fromstring(response.content)  # noqa: S314 - our own answer
    return [title.text or "" for title in root.iterfind(f"{ATOM}entry/{ATOM}title")]


def test_there_is_none_until_it_is_asked_for(client: Client) -> None:
    assert client.get("/feed/anything/").status_code == 404
    assert not FeedToken.objects.exists()


def test_a_reader_without_a_login_gets_titles_and_nothing_else(browser: Client, world: World) -> None:
    address = _address(browser)
    reader = Client()
    assert _titles(reader, address) == ["acme-api: 1 decision to review"]
    text = reader.get(address).content.decode()
    assert "database" not in text and "feedback_testing" not in text
    assert f"/review/{world.proposal.public_id}/" in text
    assert reader.get("/").status_code == 302, "the address is no login"


def test_what_waits_for_another_reason_is_another_entry(browser: Client, world: World) -> None:
    before = feed.entries(world.proposal.created_at)[0]
    Hunk.objects.update(verdict=Hunk.Verdict.APPROVED)
    Proposal.objects.update(state=Proposal.State.SUBMITTED)
    after = feed.entries(world.proposal.created_at)[0]
    assert after.id != before.id and after.title == "acme-api: not written yet"


def test_its_token_is_shown_once_and_only_its_hash_is_kept(browser: Client) -> None:
    token = _address(browser).split("/")[2]
    assert token not in browser.get("/settings/").content.decode()
    assert FeedToken.objects.get().token_hash != token
    assert token not in str(AuditEntry.objects.filter(action="feed.made").values())


def test_a_new_address_ends_the_old_one_and_a_revoked_one_reads_nothing(
    browser: Client, world: World
) -> None:
    old, new = _address(browser), _address(browser)
    assert [Client().get(address).status_code for address in (old, new)] == [404, 200]
    assert b"last read" in browser.get("/settings/").content
    browser.post("/settings/feed/revoke/")
    assert Client().get(new).status_code == 404
    assert AuditEntry.objects.filter(action="feed.revoked").count() == 1


@pytest.mark.parametrize("verb", ["make", "revoke"])
def test_only_the_owner_makes_and_revokes_it(client: Client, verb: str) -> None:
    assert client.post(f"/settings/feed/{verb}/").status_code == 302
    assert not FeedToken.objects.exists()


def test_a_secret_in_a_projects_name_is_not_told(browser: Client) -> None:
    token = "ghp_" + "a1B2c3D4e5" * 3 + "F6g7H8"
    make.make_proposal(make.make_project(token))
    assert token not in Client().get(_address(browser)).content.decode()


@pytest.mark.more
def test_forty_entries_cost_no_more_queries_than_four(browser: Client) -> None:
    address, costs = _address(browser), []
    Client().get(address)
    for more in (4, 36):
        for number in range(more):
            make.make_proposal(make.make_project(f"p{number}"))
        with CaptureQueriesContext(connection) as queries:
            Client().get(address)
        costs.append(len(queries))
    assert costs[0] == costs[1]
