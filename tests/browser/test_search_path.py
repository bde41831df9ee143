"""Search and the session reader as a person uses them: by key, while typing, without JavaScript, on any width."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from dreams.models import Prompt, Session
from dreams.services.login import make_link
from dreams.services.search import index
from tests.browser.judging import bring_rules, broken_rules
from tests.world import rows as make


@pytest.fixture
def session(transactional_db: None, tmp_path: Path) -> Session:
    """A session in which a turbine was spoken of, beside a memory that speaks of it too."""
    project = make.make_project()
    text = "# Deploys\n\n" + "Filler.\n\n" * 60 + "Deploys go through the turbine pipeline.\n"
    make.make_memory(project, path="deploys.md", text=text)
    path = tmp_path / "s.jsonl"
    turns = [
        {"type": "user", "message": {"role": "user", "content": f"Turn {n}{', a turbine' * (n % 40 == 0)}"}}
        for n in range(1, 121)
    ]
    lines = [json.dumps(turn) + "\n" for turn in turns]
    path.write_text("".join(lines))
    found = make.make_session(project, path=str(path), size=1)
    Prompt.objects.create(
        key=1, session=found, offset=len("".join(lines[:39])), line_no=40, text="Turn 40, a turbine"
    )
    index.catch_up(5)
    return found


def test_a_slash_searches_from_any_page_and_arrows_lead_to_the_place(
    window: Page, address: str, session: Session
) -> None:
    window.goto(f"{address}/health/")
    window.keyboard.press("/")
    window.keyboard.type("turb")
    found = window.locator("#quick-found")
    expect(found.get_by_role("link")).to_have_count(3)
    expect(found.locator("mark").first).to_have_text("turb")
    window.keyboard.press("Escape")
    expect(found).to_be_hidden()
    window.keyboard.press("ArrowDown")
    expect(found.get_by_role("link").first).to_be_focused()
    window.keyboard.press("ArrowDown")
    window.keyboard.press("Enter")
    window.wait_for_url(f"{address}/sessions/{session.pk}/?line=40#line-40")
    expect(window.locator(".turn.marked")).to_be_in_viewport()


def test_results_come_while_typing_and_a_memory_opens_with_its_words_in_sight(
    window: Page, address: str, session: Session
) -> None:
    other = make.make_project("other")
    make.make_memory(other, path="else.md", text="Another turbine pipe.\n")
    index.catch_up(5)
    window.goto(f"{address}/search/")
    window.get_by_label("Search for").fill("turbine pipe")
    expect(window.locator(".found-rows li")).to_have_count(2)
    window.get_by_label("Project").select_option(str(session.project_id))
    expect(window.locator(".found-rows li")).to_have_count(1)
    assert f"project={session.project_id}" in window.url
    window.get_by_role("link", name="deploys.md").click()
    window.wait_for_url("**/memories/**")
    window.wait_for_function("window.scrollY > 400")


@pytest.mark.more
def test_inside_a_session_n_and_p_go_from_match_to_match(
    window: Page, address: str, session: Session
) -> None:
    window.goto(f"{address}/sessions/{session.pk}/")
    window.get_by_label("Search inside this transcript").fill("turbine")
    window.keyboard.press("Enter")
    expect(window.get_by_text("1 of 3")).to_be_visible()
    window.locator("h1").click()
    window.keyboard.press("n")
    window.wait_for_url("**line=80*")
    expect(window.locator(".turn.marked mark")).to_have_text("turbine")
    window.keyboard.press("p")
    window.wait_for_url("**line=40*")


@pytest.mark.sweep
def test_without_javascript_search_is_a_page(plain: Page, address: str, session: Session) -> None:
    page = plain
    page.goto(address + make_link().path)
    page.goto(f"{address}/login/")
    page.get_by_label("Code").fill(make_link().code)
    page.get_by_role("button", name="Log in").click()
    page.get_by_label("Search memories and sessions").fill("turbine")
    page.keyboard.press("Enter")
    page.get_by_role("link", name="Fix flaky auth tests").click()
    expect(page.locator(".turn.marked")).to_contain_text("a turbine")


@pytest.mark.sweep
def test_search_and_reader_fit_every_width_and_the_quick_list_breaks_no_rule(
    window: Page, address: str, session: Session
) -> None:
    for path in ("/search/?q=turbine", f"/sessions/{session.pk}/?q=turbine&line=7"):
        window.goto(address + path)
        for width in (360, 830, 1030, 1280):
            window.set_viewport_size({"width": width, "height": 800})
            assert window.evaluate("document.documentElement.scrollWidth") <= width, (path, width)
    window.get_by_label("Search memories and sessions").fill("turbine")
    expect(window.locator("#quick-found a").first).to_be_visible()
    bring_rules(window)
    for scheme in ("light", "dark"):
        window.emulate_media(color_scheme=scheme, reduced_motion="reduce")  # type: ignore[arg-type] # one of the two
        assert broken_rules(window) == [], scheme
