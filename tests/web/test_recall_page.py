"""The recall tester: what an agent would have before it for a question, now and after the open proposal."""

from __future__ import annotations

from pathlib import Path

import pytest
from django.test import Client

from dreams.models import Project
from tests.world import directory as world

pytestmark = pytest.mark.django_db


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return world.make_project(tmp_path / "claude")


def _ask(browser: Client, project: Project, question: str, **more: str) -> str:
    response = browser.get(f"/projects/{project.pk}/recall/", {"q": question, **more})
    assert response.status_code == 200
    return response.content.decode()


def test_the_memory_that_would_be_opened_is_shown_with_its_lines(browser: Client, project: Project) -> None:
    text = _ask(browser, project, "a database for the tests")
    assert "feedback_testing.md" in text and "Tests run against a real database." in text
    opened, _, left = text.partition("not chosen, and why")
    assert "project_deploy.md" not in opened and "project_deploy.md" in left
    assert "shares no distinctive word with the question" in left
    assert 'Memories <span class="tab-count">2<' in text and 'Sessions <span class="tab-count">0<' in text


def test_a_row_of_the_index_is_shown_with_its_title(browser: Client, tmp_path: Path) -> None:
    files = {name: f"The {name} service.\n" for name in ("mail.md", "shop.md")}
    rows = "- [Mail](mail.md) — how the service runs\n- [Shop](shop.md) — how the service runs\n"
    text = _ask(browser, world.make_project(tmp_path / "x", {"MEMORY.md": rows, **files}), "how mail runs")
    assert text.count("Mail: how the service runs") == 1 and "<span>Mail</span>" not in text


def test_where_nothing_speaks_to_it_that_is_said_with_the_remedy(browser: Client, project: Project) -> None:
    text = _ask(browser, project, "which colour is the button?")
    assert "No memory would be opened" in text and "give it a description" in text


def test_the_open_proposal_is_asked_too_on_a_tick(browser: Client, project: Project) -> None:
    gone = world.edit("feedback_testing.md", world.TESTING, None, "gone", "prune")
    world.propose(project, gone)
    assert "After the open proposal" not in _ask(browser, project, "how are the tests run?")
    text = _ask(browser, project, "how are the tests run?", after="1")
    now, _, then = text.partition("After the open proposal")
    assert "Tests run against a real database." in now and "feedback_testing.md" not in then


def test_what_was_shown_and_references_for_tools_in_use_are_left_out_with_the_reason(
    browser: Client, tmp_path: Path
) -> None:
    reference = (
        "---\nname: psql commands\ndescription: how psql lists tables\ntype: reference\n---\n\nUse \\dt.\n"
    )
    project = world.make_project(
        tmp_path / "x", {"psql.md": reference, "tables.md": "# Tables of psql\n\nTwo.\n"}
    )
    opened, _, left = _ask(browser, project, "psql tables", tools="psql", shown="tables.md").partition(
        "not chosen"
    )
    assert "No memory would be opened" in opened
    assert "a reference for psql, which is in use" in left and "already shown in this session" in left
    assert 'value="psql"' in opened and 'value="tables.md"' in opened


def test_the_fragment_is_the_answer_alone(browser: Client, project: Project) -> None:
    response = browser.get(f"/projects/{project.pk}/recall/", {"q": "tests"}, headers={"hx-request": "true"})
    assert b"<html" not in response.content and b"feedback_testing.md" in response.content


def test_markup_in_a_question_or_memory_is_text(browser: Client, tmp_path: Path) -> None:
    project = world.make_project(
        tmp_path / "x", {"a.md": "# <b>Bold</b> tests\n\nRun <script>x</script> tests.\n"}
    )
    text = _ask(browser, project, "<script>tests bold</script>")
    assert "<script>x" not in text and "<b>Bold" not in text and "&lt;script&gt;" in text
