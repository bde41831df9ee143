"""What the sessions say of each added statement stands on its card, with a way to the place; what is denied comes first."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from django.test import Client

from dreams.models import Evidence, Project, Proposal, Session
from dreams.services import proposals, review
from dreams.services.memories import syncing
from tests.web.test_review_page import card, page
from tests.world import directory as world, review as desk

pytestmark = pytest.mark.django_db
TRAIN = "Releases leave on Tuesdays at 10:00 UTC, from `main`, and never before a holiday."


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return desk.make_project(tmp_path)


def heard(project: Project, folder: Path, *said: tuple[str, object]) -> Proposal:
    """The proposal, looked at anew with what was said in its session."""
    proposal = desk.make_proposal(project)
    path = folder / "session.jsonl"
    turns = ({"type": role, "message": {"role": role, "content": text}} for role, text in said)
    path.write_text("".join(json.dumps(turn) + "\n" for turn in turns))
    Session.objects.update(path=str(path))
    proposals.examine(proposal, syncing.contents(project))
    return proposal


def test_a_supported_statement_is_quoted_with_a_link_to_its_line(
    browser: Client, project: Project, tmp_path: Path
) -> None:
    proposal = heard(project, tmp_path, ("user", "Hello."), ("user", TRAIN))
    text = card(page(browser, proposal), desk.hunk_with(proposal, "Releases leave"))
    session = Session.objects.get()
    assert "What the sessions say" in text
    assert f'href="/sessions/{session.pk}/?line=2#line-2"' in text
    assert "2 statements found in a session" in text and f"<q>{TRAIN}</q>" in text
    # Once the quote beside it is that line, it needs no list of its own.
    quote = {"quote": TRAIN, "session": session, "line_no": 2, "role": "user", "found": True}
    Evidence.objects.filter(hunk=desk.hunk_with(proposal, "Releases leave")).update(**quote)
    text = card(page(browser, proposal), desk.hunk_with(proposal, "Releases leave"))
    assert "and it says all of this" in text and "What the sessions say" not in text


@pytest.mark.more
def test_what_an_edit_adds_is_not_said_by_the_quote_beside_it(
    browser: Client, project: Project, tmp_path: Path
) -> None:
    proposal = heard(project, tmp_path, ("user", "Hello."), ("user", TRAIN))
    hunk = desk.hunk_with(proposal, "Releases leave")
    quote = {"quote": TRAIN, "session": Session.objects.get(), "line_no": 2, "role": "user", "found": True}
    Evidence.objects.filter(hunk=hunk).update(**quote)
    text = desk.TRAIN.replace("a holiday.", "a holiday and Petra bakes a cake each time.")
    review.edit(proposal, hunk, text, world.ME)
    shown = card(page(browser, proposal), hunk)
    assert "says all of this" not in shown
    assert "not found in the sessions" in shown and "Petra bakes a cake" in shown


def test_what_stands_on_a_page_of_the_web_is_nobodys_word(
    browser: Client, project: Project, tmp_path: Path
) -> None:
    call = [{"type": "tool_use", "id": "w", "name": "WebFetch", "input": {"url": "https://trains.example"}}]
    answer = [{"type": "tool_result", "tool_use_id": "w", "content": TRAIN}]
    proposal = heard(project, tmp_path, ("assistant", call), ("user", answer))
    text = card(page(browser, proposal), desk.hunk_with(proposal, "Releases leave"))
    assert f"A page of the web: <q>{TRAIN}</q>" in text
    assert "Nobody said this: it is from a web page." in text


def test_what_a_session_says_otherwise_is_called_out_before_the_card_is_opened(
    browser: Client, project: Project, tmp_path: Path
) -> None:
    proposal = heard(project, tmp_path, ("user", "Hello."), ("user", TRAIN.replace("10:00", "16:00")))
    text = card(page(browser, proposal), desk.hunk_with(proposal, "Releases leave"))
    summary = text[text.index('<details class="proof"') :].partition("</summary>")[0]
    assert "a session says otherwise" in summary
    assert "Contradicted" in text and "16:00" in text


@pytest.mark.more
def test_what_no_session_says_is_told_so_and_an_unread_one_is_no_answer(
    browser: Client, project: Project, tmp_path: Path
) -> None:
    proposal = heard(project, tmp_path, ("user", "Hello there, the weather is fine."))
    hunk = desk.hunk_with(proposal, "Releases leave")
    assert "not found in the sessions" in card(page(browser, proposal), hunk)
    Session.objects.update(path=str(tmp_path / "gone.jsonl"))
    other = desk.hunk_with(proposal, "Releases leave")
    type(other).objects.update(transcript_verdicts=[])
    proposals.examine(proposal, syncing.contents(project))
    assert "What the sessions say" not in card(page(browser, proposal), hunk)
