"""An open page learns that a new proposal waits, without losing what is being read."""

from __future__ import annotations

import json

import pytest
from django.test import Client

from dreams.models import Proposal
from tests.world import rows as make
from tests.world.rows import World

pytestmark = pytest.mark.django_db


def _state() -> dict[str, int]:
    newest = Proposal.objects.latest("pk").pk
    return {"count": Proposal.objects.filter(state="open").count(), "last": newest, "since": newest}


def test_while_nothing_changed_the_answer_is_empty(browser: Client, world: World) -> None:
    assert browser.get("/pulse/", _state()).status_code == 204


def test_a_new_proposal_is_announced_with_a_link_and_the_tab_follows(browser: Client, world: World) -> None:
    before = _state()
    make.make_proposal(make.make_project("other"))
    response = browser.get("/pulse/", before)
    assert "1 new proposal to review." in response.content.decode()
    told = json.loads(response["HX-Trigger"])["waiting"]
    assert told["count"] == before["count"] + 1
    assert f"favicon-{told['count']}" in told["icon"]


def test_a_proposal_decided_elsewhere_only_lowers_the_count(browser: Client, world: World) -> None:
    before = _state()
    Proposal.objects.update(state=Proposal.State.REJECTED)
    response = browser.get("/pulse/", before)
    assert b"new proposal" not in response.content
    assert json.loads(response["HX-Trigger"])["waiting"]["count"] == 0


def test_odd_numbers_are_taken_as_none(browser: Client) -> None:
    odd = {"count": "-1", "last": "9" * 40, "since": "x"}
    assert browser.get("/pulse/", odd).status_code == 204


def test_every_page_asks_with_what_it_shows(browser: Client, world: World) -> None:
    state = _state()
    text = browser.get("/projects/").content.decode()
    asked = f"/pulse/?count={state['count']}&amp;last={state['last']}&amp;since={state['last']}"
    assert asked in text
