"""Keys pressed while an answer is still on its way to the server: none is lost, and none acts on another thing."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

from dreams.models import Hunk
from tests.browser.test_questions_path import card, state
from tests.browser.windows import Line
from tests.world import questions as asked

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def line(window: Page) -> Iterator[Line]:
    yield Line(window, "**/answer/")
    window.unroute_all(behavior="wait")


@pytest.mark.more
def test_an_answer_is_taken_back_by_a_key_that_was_too_early(
    window: Page, line: Line, address: str, tmp_path: Path
) -> None:
    conflict, *_ = asked.ask_all(asked.make_project(tmp_path))
    window.goto(f"{address}/questions/")
    with line.held():
        window.keyboard.press("1")
        window.keyboard.press("u")
    expect(window.locator("#questions-said")).to_have_text("Open again.")
    expect(card(window, conflict)).to_contain_text("Port 9443")
    assert state(conflict) == "open"
    window.keyboard.press("2")
    expect(card(window, conflict)).to_contain_text("You answered: Port 9443")


@pytest.mark.more
def test_beside_a_review_it_takes_back_the_answer_and_no_verdict(
    window: Page, line: Line, address: str, tmp_path: Path
) -> None:
    project = asked.make_project(tmp_path)
    proposal = asked.propose(project)
    conflict, *_ = asked.ask_all(project, proposal)
    window.goto(f"{address}/review/{proposal.public_id}/")
    window.locator("#review [data-hunk] [data-key=a]").first.click()
    expect(window.locator("#take-back")).to_be_visible()
    card(window, conflict).focus()
    with line.held():
        window.keyboard.press("1")
        window.keyboard.press("u")
    expect(window.locator("#questions-said")).to_have_text("Open again.")
    assert state(conflict) == "open"
    assert Hunk.objects.filter(verdict=Hunk.Verdict.APPROVED).exists(), "the verdict before was taken back"


@pytest.mark.more
def test_who_went_on_to_the_next_question_is_not_called_back(
    window: Page, line: Line, address: str, tmp_path: Path
) -> None:
    conflict, changed, *_ = asked.ask_all(asked.make_project(tmp_path))
    window.goto(f"{address}/questions/")
    with line.held():
        window.keyboard.press("1")
        window.keyboard.press("j")
    expect(card(window, conflict)).to_contain_text("You answered: Port 8443")
    expect(card(window, changed)).to_be_focused()
    window.keyboard.press("1")
    expect(card(window, changed)).to_contain_text("You answered: Change it to PostgreSQL 16")


def test_each_of_several_answers_that_were_quicker_than_the_server_is_kept(
    window: Page, line: Line, address: str, tmp_path: Path
) -> None:
    questions = asked.ask_all(asked.make_project(tmp_path))[:3]
    window.goto(f"{address}/questions/")
    with line.held():
        for key in "sjsjs":
            window.keyboard.press(key)
    for question in questions:
        expect(card(window, question)).to_contain_text("Not now.")
    expect(card(window, questions[-1])).to_be_focused()
    assert {state(question) for question in questions} == {"later"}
