"""Answering a dream's questions in a real browser: by keys, without scripts, at every width; axe finds nothing."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

from dreams.models import Proposal, Question
from dreams.services.login import make_link
from tests.browser.judging import bring_rules, broken_rules
from tests.world import questions as asked

if TYPE_CHECKING:
    from playwright.sync_api import Locator, Page

pytestmark = pytest.mark.django_db(transaction=True)


def card(page: Page, question: Question) -> Locator:
    return page.locator(f"#question-{question.public_id}")


def state(question: Question) -> str:
    return Question.objects.values_list("state", flat=True).get(pk=question.pk)


@pytest.mark.more
def test_by_keys_beside_a_review(window: Page, address: str, tmp_path: Path) -> None:
    project = asked.make_project(tmp_path)
    proposal = asked.propose(project)
    conflict, changed, expired, blocked, _ = asked.ask_all(project, proposal)
    page = window
    page.set_viewport_size({"width": 1200, "height": 900})
    page.goto(f"{address}/review/{proposal.public_id}/")
    expect(page.locator(".questions-count")).to_have_text("5 questions")
    # The first question is the present one: one key answers it, and one takes the answer back.
    page.keyboard.press("1")
    expect(card(page, conflict)).to_contain_text("You answered: Port 8443")
    expect(page.locator("#review-bar")).to_contain_text("1 of 3 decided")
    expect(page.locator(".questions-count")).to_have_text("4 questions")
    page.keyboard.press("u")
    expect(card(page, conflict)).to_contain_text("Port 9443")
    expect(page.locator("#review-bar")).to_contain_text("0 of 2 decided")
    page.keyboard.press("2")
    expect(card(page, conflict)).to_contain_text("You answered: Port 9443")
    page.keyboard.press("j")
    expect(card(page, changed)).to_be_focused()
    page.keyboard.press("1")
    expect(card(page, changed)).to_contain_text("You answered: Change it to PostgreSQL 16")
    page.keyboard.press("j")
    page.keyboard.press("s")
    expect(card(page, expired)).to_contain_text("Not now.")
    # One key never takes what wants a person's word: it opens the question, and no key confirms it.
    page.keyboard.press("j")
    page.keyboard.press("1")
    expect(card(page, blocked)).to_contain_text("Nothing has changed yet.")
    expect(card(page, blocked).get_by_role("checkbox").first).to_be_focused()
    page.keyboard.press("1")
    page.keyboard.press("y")
    assert state(blocked) == "open"
    bring_rules(page)
    assert broken_rules(page) == []
    for box in card(page, blocked).get_by_role("checkbox").all():
        box.check()
    card(page, blocked).get_by_role("button", name="Confirm and answer").click()
    expect(card(page, blocked)).to_contain_text("You answered: Remove it")
    page.get_by_role("button", name="Submit review").click()
    expect(page.locator("#messages")).to_contain_text("Written: ")
    assert "9443" in asked.read(project, "project_deploys.md")
    assert "PostgreSQL 16" in asked.read(project, "feedback_testing.md")
    assert state(conflict) == state(changed) == "answered" and state(expired) == "later"


@pytest.mark.more
def test_the_key_of_a_decision_leads_from_the_questions_to_the_first_undecided_one(
    window: Page, address: str, tmp_path: Path
) -> None:
    project = asked.make_project(tmp_path)
    proposal = asked.propose(project)
    asked.ask_all(project, proposal)
    window.goto(f"{address}/review/{proposal.public_id}/")
    window.keyboard.press("a")
    expect(window.locator("article.review-hunk").first).to_be_focused()
    expect(window.locator("#review-bar")).to_contain_text("0 of 2 decided")
    window.keyboard.press("a")
    expect(window.locator("#review-bar")).to_contain_text("1 of 2 decided")


@pytest.mark.sweep
def test_keys_act_on_no_question_out_of_sight_and_not_in_fields(
    window: Page, address: str, tmp_path: Path
) -> None:
    project = asked.make_project(tmp_path)
    proposal = asked.propose(project)
    first, *_ = asked.ask_all(project, proposal)
    page = window
    page.set_viewport_size({"width": 1200, "height": 700})
    page.goto(f"{address}/review/{proposal.public_id}/")
    page.locator("#files-q").fill("")
    page.locator("#files-q").press("1")
    expect(page.locator("#files-q")).to_have_value("1")
    page.goto(f"{address}/review/{proposal.public_id}/")
    page.evaluate("scrollTo(0, document.body.scrollHeight)")
    page.keyboard.press("1")
    expect(card(page, first)).to_be_in_viewport()
    assert state(first) == "open"


def test_the_sheet_of_keys_names_them(window: Page, address: str) -> None:
    window.goto(address)
    window.keyboard.press("?")
    sheet = window.locator("#keys")
    expect(sheet).to_contain_text("answer a question")
    expect(sheet).to_contain_text("not now")


@pytest.mark.sweep
def test_without_scripts(plain: Page, address: str, tmp_path: Path) -> None:
    project = asked.make_project(tmp_path)
    conflict, _, expired, blocked, index = asked.ask_all(project)
    page = plain
    page.set_viewport_size({"width": 390, "height": 844})
    page.goto(address)
    page.get_by_label("Code").fill(make_link().code)
    page.get_by_role("button", name="Log in").click()
    expect(page.locator("#questions")).to_contain_text("5 questions in 1 project")
    # What an option would change is seen before it is chosen.
    card(page, conflict).get_by_text("Show change").first.click()
    expect(card(page, conflict).locator(".option-file").first).to_contain_text("on port 8443")
    card(page, conflict).get_by_role("button", name="Port 8443").click()
    page.wait_for_url(f"**/questions/#question-{conflict.public_id}")
    card(page, conflict).get_by_role("button", name="Undo").click()
    assert state(conflict) == "open"
    card(page, conflict).get_by_role("button", name="Port 9443").click()
    card(page, index).get_by_label("Freeze").check()
    card(page, index).get_by_role("button", name="Move the ticked rows out").click()
    card(page, expired).get_by_role("button", name="Not now").click()
    card(page, blocked).get_by_role("button", name="Remove it").click()
    expect(page.get_by_role("heading", name="Confirm an answer")).to_be_visible()
    page.get_by_role("link", name="Back to the question").click()
    assert state(blocked) == "open"
    page.get_by_role("link", name="Review and submit").click()
    page.get_by_role("button", name="Submit review").click()
    expect(page.locator("#messages")).to_contain_text("Written: 2 files.")
    assert "Freeze" not in asked.read(project, "MEMORY.md") and "Staging" in asked.read(project, "MEMORY.md")
    assert Proposal.objects.filter(state="applied").count() == 1


@pytest.mark.more
@pytest.mark.parametrize("where", ["/projects/{project}/questions/", "/questions/{question}/"])
def test_the_last_question_is_answered_and_opened_again_wherever_it_is_shown(
    window: Page, address: str, tmp_path: Path, where: str
) -> None:
    """The window's console complains where an answer has no place on the page, and fails the test."""
    project = asked.make_project(tmp_path)
    (question,) = asked.ask(project, asked.expired())
    window.goto(address + where.format(project=project.pk, question=question.public_id))
    card = window.locator(".question")
    card.get_by_role("button", name="Not now").click()
    expect(card).to_contain_text("Not now.")
    window.reload()
    window.locator(".question-answered > summary, .question-done").first.wait_for()
    card.get_by_role("button", name="Undo").click()
    expect(card.get_by_role("button", name="Remove it")).to_be_visible()
    if "projects" in where:
        expect(window.locator(".questions-count")).to_have_text("1 question")
        expect(window.locator(".questions-left")).to_have_text("1")


def test_in_a_narrow_window_a_quote_that_scrolls_is_reached_by_keyboard(
    window: Page, address: str, tmp_path: Path
) -> None:
    (question,) = asked.ask(asked.make_project(tmp_path), asked.expired())
    question.places[0]["text"] = "The importer of step two keeps what it read in a table. " * 5 + "It is old."
    question.save()
    window.set_viewport_size({"width": 360, "height": 844})
    window.goto(f"{address}/questions/{question.public_id}/")
    scrolling = "all => all.filter(one => one.scrollHeight > one.clientHeight).map(one => one.tabIndex)"
    assert window.locator(".question blockquote").evaluate_all(scrolling) == [0]


def test_an_answer_in_the_inbox_changes_only_what_is_shown_there(
    window: Page, address: str, tmp_path: Path
) -> None:
    """The console complains of what has no place on the page. A proposal without a row is named above the questions."""
    question, other = asked.ask(asked.make_project(tmp_path), asked.conflict(), asked.expired())
    window.goto(address)
    card(window, question).get_by_role("button", name="Port 8443").click()
    expect(card(window, question)).to_contain_text("You answered: Port 8443")
    expect(window.locator("#questions-wait")).to_contain_text("1 answer in orders-api waits for your submit.")
    expect(window.locator("#why-questions")).to_contain_text("1 question in 1 project")
    card(window, other).get_by_role("button", name="Not now").click()
    expect(window.locator("#why-questions")).to_have_text("No open questions.")
    card(window, question).get_by_role("button", name="Undo").click()
    expect(card(window, question).get_by_role("button", name="Port 8443")).to_be_visible()
    expect(window.locator("#questions-wait")).to_have_text("")


@pytest.mark.parametrize("narrowed", ["", "?kind=questions"])
def test_after_an_answer_the_inbox_counts_what_it_counts_when_it_is_loaded_again(
    window: Page, address: str, tmp_path: Path, narrowed: str
) -> None:
    question, other = asked.ask(asked.make_project(tmp_path), asked.conflict(), asked.expired())
    fresh = window.context.new_page()
    window.goto(f"{address}/{narrowed}")

    def counts(page: Page) -> list[str]:
        parts = ("#inbox-title", "#inbox-counts", "nav[aria-label=Main] [data-waiting]")
        return [page.title(), *(" ".join(page.locator(part).inner_text().split()) for part in parts)]

    def press(one: Question, button: str, said: str) -> list[str]:
        card(window, one).get_by_role("button", name=button).click()
        expect(card(window, one).locator(".question-done, .question-options")).to_contain_text(said)
        fresh.goto(f"{address}/{narrowed}")
        assert counts(window) == counts(fresh)
        return counts(window)

    assert "(1)" in press(question, "Port 8443", "You answered")[0]
    if narrowed:
        expect(window.locator("#to-review")).to_have_text("1 of 2 waiting")
    assert press(other, "Not now", "Not now.")[1:3] == ["Inbox Go through it g", "1 to finish."]
    assert "(1)" not in press(question, "Undo", "Port 9443")[0]
