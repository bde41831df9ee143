"""The prompts of a project: one session's first, those of the history marked, hidden and shown again; no file is touched."""

from __future__ import annotations

import html
import json
import re
from pathlib import Path

import pytest
from django.test import Client

from dreams.models import HiddenPrompt, Project, Prompt, Session
from dreams.services import doctor
from dreams.services.search import index
from tests.world.agent_folder import Root, typed

pytestmark = pytest.mark.django_db
NOTE = "prompt history, no answer kept"


@pytest.fixture
def root(tmp_path: Path) -> Root:
    made = Root(tmp_path)
    app = made.repository("app")
    made.session(app, "here", [typed("Say hello", cwd=str(app), sessionId="here")])
    pasted = {
        "1": {"id": 1, "type": "text", "content": "a short one"},
        "2": {"id": 2, "contentHash": "00ff00ff"},
    }
    rows = [("Use tabs everywhere", 1_700_000_000_000, pasted), ("Ship on Friday", 1_700_000_060_000, {})]
    text = "".join(
        json.dumps(
            {
                "display": said,
                "timestamp": at,
                "project": str(app),
                "sessionId": "gone",
                "pastedContents": more,
            }
        )
        + "\n"
        for said, at, more in rows
    )
    (made.path / "history.jsonl").write_text(text)
    (made.path / "paste-cache").mkdir()
    (made.path / "paste-cache" / "00ff00ff.txt").write_text("a very long paste")
    made.discover()
    return made


def look(browser: Client, **query: object) -> str:
    response = browser.get(f"/projects/{Project.objects.get().pk}/prompts/", query)
    assert response.status_code == 200
    return response.content.decode()


def test_what_could_not_be_read_or_placed_is_counted(root: Root, browser: Client) -> None:
    assert "could not be" not in look(browser)
    stray = {"display": "Hi", "timestamp": 1, "project": "/nowhere/else", "sessionId": "x"}
    with (root.path / "history.jsonl").open("a") as file:
        file.write("{broken\n" + json.dumps(stray) + "\n")
    root.discover()
    text = " ".join(look(browser).split())
    assert "<b>1 line</b> could not be read, and <b>1 prompt</b> is from folders of no known project." in text
    check = doctor.work.prompt_history()
    assert check.state == "ok"
    assert check.said == "4 lines; 1 line could not be read; 1 prompt from folders of no known project"


def hide(browser: Client, text: str, **more: str) -> None:
    key = Prompt.objects.get(text=text).pk
    response = browser.post(f"/projects/{Project.objects.get().pk}/prompts/hide/", {"key": key, **more})
    assert response.status_code == 303


def test_prompts_stand_newest_first_and_say_where_no_answer_was_kept(browser: Client, root: Root) -> None:
    text = look(browser)
    places = [text.index(said) for said in ("Say hello", "Ship on Friday", "Use tabs everywhere")]
    assert places == sorted(places) and text.count(NOTE) == 2


def test_the_session_asked_for_comes_first(browser: Client, root: Root) -> None:
    text = look(browser, session=Session.objects.get(session_id="gone").pk)
    assert text.index("Use tabs everywhere</span>") < text.index("Say hello</span>")


def test_a_hidden_prompt_is_neither_shown_nor_found_until_it_is_shown_again(
    browser: Client, root: Root
) -> None:
    before = (root.path / "history.jsonl").read_bytes()
    index.catch_up(5)
    hide(browser, "Use tabs everywhere")
    assert "Use tabs everywhere" not in look(browser)
    assert "Use tabs everywhere" in look(browser, hidden=1)
    assert "<mark>tabs</mark>" not in browser.get("/search/", {"q": "tabs"}).content.decode()
    root.discover()
    assert "Use tabs everywhere" not in look(browser)
    hide(browser, "Use tabs everywhere", show="1")
    assert "Use tabs everywhere" in look(browser)
    assert HiddenPrompt.objects.count() == 0
    assert (root.path / "history.jsonl").read_bytes() == before


@pytest.mark.parametrize("query", [{}, {"hidden": 1}])
def test_the_button_that_hides_a_prompt_leads_back_to_the_list_it_stood_in(
    browser: Client, root: Root, query: dict[str, int]
) -> None:
    if query:
        hide(browser, "Use tabs everywhere")
    form = re.compile(r'action="([^"]+/hide/[^"]*)".*?name="key" value="([^"]+)"', re.DOTALL)
    action, key = form.findall(look(browser, **query))[0]
    answer = browser.post(html.unescape(action), {"key": key})
    here = f"/projects/{Project.objects.get().pk}/prompts/"
    assert answer.status_code == 303 and answer["Location"] == here + "?hidden=1" * len(query)


def test_a_long_paste_is_read_only_when_it_is_asked_for(browser: Client, root: Root) -> None:
    key = Prompt.objects.get(text="Use tabs everywhere").pk
    text = look(browser)
    assert "a short one" in text and "a very long paste" not in text
    assert "a very long paste" in look(browser, paste=key)
    (root.path / "paste-cache" / "00ff00ff.txt").unlink()
    assert "Pasted text #2 is no longer on disk." in look(browser, paste=key)


def test_search_finds_them_and_says_that_no_answer_was_kept(browser: Client, root: Root) -> None:
    index.catch_up(5)
    assert NOTE in browser.get("/search/", {"q": "tabs"}).content.decode()


def test_the_session_says_it_too_and_shows_what_was_typed(browser: Client, root: Root) -> None:
    session = Session.objects.get(session_id="gone")
    text = browser.get(f"/sessions/{session.pk}/").content.decode()
    assert NOTE in text and "Ship on Friday" in text
    listed = browser.get(
        f"/projects/{session.project_id}/", {"show": "sessions", "gone": "1"}
    ).content.decode()
    assert "Use tabs everywhere" in listed


def test_a_prompt_of_another_project_or_no_number_is_not_found(browser: Client, root: Root) -> None:
    project = Project.objects.get().pk
    for key in ("", "x", "9" * 40, "1"):
        assert browser.post(f"/projects/{project}/prompts/hide/", {"key": key}).status_code == 404
        assert look(browser, paste=key)
