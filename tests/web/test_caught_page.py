"""The page of cards: one press decides a card, and the same presses work without JavaScript."""

from __future__ import annotations

from pathlib import Path

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from dreams.models import Card, Project
from dreams.services.catching import cards, lifecycle
from tests.world import directory as world
from tests.world.talking import first_start, say

pytestmark = pytest.mark.django_db

WISHES = (
    "Remember that the staging database is db-2.internal.",
    "Remember that releases are cut on Tuesdays.",
    "Remember that backups run at 04:00.",
)


def caught(root: Path, *texts: str) -> tuple[Project, list[Card]]:
    project = first_start(root)
    say(root, *(texts or WISHES))
    lifecycle.catch(project)
    return project, list(Card.objects.filter(state="open"))


def address(project: Project) -> str:
    return f"/projects/{project.pk}/caught/"


def test_a_card_shows_what_was_said_and_what_will_be_remembered(browser: Client, tmp_path: Path) -> None:
    project, (card, *_) = caught(tmp_path)
    page = browser.get(address(project)).content.decode()
    assert "You said" in page and "Will be remembered as" in page
    assert card.said in page and "project_" not in card.text
    assert f"/sessions/{card.session_id}/?line=1#line-1" in page


def test_one_press_decides_a_card_and_leads_to_the_next(browser: Client, tmp_path: Path) -> None:
    project, (first, second, _) = caught(tmp_path)
    answer = browser.post(f"/cards/{first.public_id}/decide/", {"verdict": "approve"})
    assert (
        answer.status_code == 303 and answer["Location"] == f"{address(project)}?after={first.public_id}#now"
    )
    page = browser.get(answer["Location"]).content.decode()
    assert f'id="now" aria-labelledby="said-{second.public_id}"' in " ".join(page.split())
    assert "Save 1 to memory " in " ".join(page.split())


@pytest.mark.more
def test_with_htmx_the_same_address_answers_with_the_cards_alone(browser: Client, tmp_path: Path) -> None:
    _, (first, *_) = caught(tmp_path)
    answer = browser.post(
        f"/cards/{first.public_id}/decide/", {"verdict": "reject"}, headers={"HX-Request": "true"}
    )
    page = answer.content.decode()
    assert answer.status_code == 200 and "<html" not in page and "Rejected." in page


@pytest.mark.more
def test_a_press_can_be_undone_and_words_can_be_changed(browser: Client, tmp_path: Path) -> None:
    project, (first, second, third) = caught(tmp_path)
    browser.post(f"/cards/{first.public_id}/decide/", {"verdict": "reject"})
    browser.post(f"/cards/{first.public_id}/take-back/")
    assert Card.objects.get(pk=first.pk).state == "open"
    browser.post(f"/cards/{second.public_id}/edit/", {"text": "A release is cut each Tuesday."})
    browser.post(f"/cards/{third.public_id}/decide/", {"verdict": "reject"})
    answer = browser.post(f"{address(project)}submit/", follow=True).content.decode()
    assert "Remembered in" in answer
    texts = "".join(path.read_text() for path in world.folder(project).glob("*.md"))
    assert "A release is cut each Tuesday." in texts and "db-2" not in texts and "04:00" not in texts


def test_what_blocks_is_confirmed_by_a_press_of_its_own(browser: Client, tmp_path: Path) -> None:
    project, (card,) = caught(tmp_path, "Remember that the mail of the office is info\u200b@acme.dev.")
    page = browser.get(address(project)).content.decode()
    assert "Remember anyway" in page
    browser.post(f"/cards/{card.public_id}/decide/", {"verdict": "approve"})
    assert Card.objects.get(pk=card.pk).state == "open"
    browser.post(f"/cards/{card.public_id}/decide/", {"verdict": "approve", "confirm": "1"})
    assert Card.objects.get(pk=card.pk).state == "approved"


def test_a_closed_gate_is_told_on_the_page(browser: Client, tmp_path: Path) -> None:
    from dreams.services import settings_changes

    project, _ = caught(tmp_path)
    settings_changes.set_override("paused", "on", actor="me")
    assert "Nothing is caught here now." in browser.get(address(project)).content.decode()


def test_sessions_are_read_on_request(browser: Client, tmp_path: Path) -> None:
    project = first_start(tmp_path)
    say(tmp_path, WISHES[0], minutes_ago=0)
    answer = browser.post(f"{address(project)}read/", follow=True).content.decode()
    assert "caught 2 things" in answer, "what is asked for is read whether it is quiet and new or not"


def test_the_project_and_its_tabs_count_cards(browser: Client, tmp_path: Path) -> None:
    project, _ = caught(tmp_path)
    page = browser.get(f"/projects/{project.pk}/").content.decode()
    assert "3 caught" in page and address(project) in page


@pytest.mark.more
def test_the_page_asks_as_often_for_five_cards_as_for_one(browser: Client, tmp_path: Path) -> None:
    project, _ = caught(tmp_path, WISHES[0])
    browser.get(address(project))
    with CaptureQueriesContext(connection) as few:
        browser.get(address(project))
    say(tmp_path, *WISHES[1:], "Remember that the mobile app ships on Fridays.", name="more")
    lifecycle.catch(project)
    assert Card.objects.filter(state="open").count() == 4
    browser.get(address(project))  # what is kept until something changes is counted again
    with CaptureQueriesContext(connection) as many:
        browser.get(address(project))
    assert len(many) == len(few)


def test_nobody_but_the_owner_sees_or_decides_cards(client: Client, tmp_path: Path) -> None:
    project, (card, *_) = caught(tmp_path)
    assert client.get(address(project)).status_code == 302
    assert client.post(f"/cards/{card.public_id}/decide/", {"verdict": "approve"}).status_code == 302
    assert Card.objects.get(pk=card.pk).state == "open"


def test_the_policy_for_cards_is_set_in_the_settings(browser: Client) -> None:
    from dreams.models import Policy

    page = browser.get("/settings/").content.decode()
    assert "Caught in your sessions" in page
    browser.post("/settings/", {"any-catch": "auto"})
    assert Policy.objects.get().operation == "catch"


def test_nothing_is_said_to_be_decided_while_cards_wait_for_room(browser: Client, tmp_path: Path) -> None:
    project, listed = caught(
        tmp_path, *(f"Remember that service s{n} listens on port 81{n}." for n in range(10, 17))
    )
    for card in listed:
        browser.post(f"/cards/{card.public_id}/decide/", {"verdict": "approve"})
    page = " ".join(browser.get(address(project)).content.decode().split())
    assert "2 more follow once you save or reject some of these." in page and "All is decided." not in page
    page = browser.post(f"{address(project)}submit/", follow=True).content.decode()
    assert all(f"/cards/{card.public_id}/decide/" in page for card in project.cards.filter(state="open"))


def test_whoever_rejected_many_cards_in_a_day_is_shown_those_to_decide_on(
    browser: Client, tmp_path: Path
) -> None:
    project, _ = caught(
        tmp_path, *(f"Remember that service s{n} listens on port {8100 + n}." for n in range(24))
    )
    for _ in range(4):
        for card in project.cards.filter(state="open"):
            browser.post(f"/cards/{card.public_id}/decide/", {"verdict": "reject"})
        cards.refresh(project)
    page = browser.get(address(project)).content.decode()
    to_decide = project.cards.filter(state="open")
    assert len(to_decide) == 4
    assert all(f"/cards/{card.public_id}/decide/" in page for card in to_decide)
    assert page.count("/take-back/") > 4, "the last rejections can be undone"


@pytest.mark.parametrize("headers", [{}, {"HX-Request": "true"}])
def test_words_that_are_refused_stay_in_their_field(
    browser: Client, tmp_path: Path, headers: dict[str, str]
) -> None:
    _, (first, second, _) = caught(tmp_path)
    answer = browser.post(f"/cards/{first.public_id}/edit/", {"text": second.text}, headers=headers)
    text = answer.content.decode()
    assert answer.status_code == (200 if headers else 409) and "Another card says this already." in text
    card = text.partition(f'id="text-{first.public_id}"')
    assert card[2].partition(">")[2].partition("</textarea>")[0].strip() == second.text
    assert card[0].rpartition("<details")[2].startswith(' class="caught-edit" open')
    # Somebody else rejected it meanwhile: there is no field any more, the words are said.
    cards.reject(first, world.ME)
    answer = browser.post(f"/cards/{first.public_id}/edit/", {"text": "My own words."}, headers=headers)
    assert "You typed: “My own words.”" in answer.content.decode()
    # Another window has written it: there is no card any more, either.
    cards.approve(second, world.ME)
    cards.submit(second.project, world.ME)
    answer = browser.post(f"/cards/{second.public_id}/edit/", {"text": "My own words."}, headers=headers)
    shown = answer.content.decode()
    assert f"/cards/{second.public_id}/" not in shown and "You typed: “My own words.”" in shown
