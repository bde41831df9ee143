"""The frame of every page in a real browser: login, fences, keys, with and without JavaScript."""

from __future__ import annotations

from itertools import pairwise

import pytest
from playwright.sync_api import Page, expect

from dreams.services import people
from dreams.services.login import make_link
from dreams.services.people import Role
from dreams.services.review import Actor
from tests.browser.shots import log_in
from tests.browser.windows import SIZE
from tests.world import rows as make


@pytest.mark.parametrize("before", ["about:blank", "/login/"])
def test_the_link_logs_in_and_leaves_nothing_in_the_address_bar(
    visitor: Page, address: str, before: str
) -> None:
    visitor.goto(before.replace("/login/", f"{address}/login/"))
    visitor.goto(address + make_link().path)
    visitor.wait_for_url(f"{address}/")
    expect(visitor.get_by_role("heading", level=1)).to_have_text("Inbox")
    visitor.go_back()
    assert "token" not in visitor.url


def test_a_link_opened_while_logged_in_leaves_no_code_in_the_address_bar(window: Page, address: str) -> None:
    window.goto(address + make_link().path)
    expect(window.get_by_role("heading", level=1)).to_have_text("Inbox")
    expect(window).to_have_url(f"{address}/")


def test_a_link_opened_while_logged_in_as_somebody_else_logs_in_the_owner(
    visitor: Page, address: str
) -> None:
    people.add("robin", Role.REVIEWER, Actor("owner"), password="heron and bittern 7")
    visitor.goto(f"{address}/login/")
    visitor.get_by_label("Name").fill("robin")
    visitor.get_by_label("Password").fill("heron and bittern 7")
    visitor.get_by_role("button", name="Log in").last.click()
    expect(visitor.get_by_role("heading", level=1)).to_have_text("Inbox")
    visitor.goto(f"{address}/login/")
    expect(visitor.get_by_text("You are logged in as robin.")).to_be_visible()
    visitor.goto(address + make_link().path)
    visitor.wait_for_url(f"{address}/")
    visitor.goto(f"{address}/account/")
    expect(visitor.get_by_role("heading", level=1)).to_have_text("owner")


@pytest.mark.sweep
def test_without_javascript_the_code_can_be_pasted(plain: Page, address: str) -> None:
    page = plain
    page.goto(f"{address}/settings/")
    page.get_by_label("Code").fill(make_link().code)
    page.get_by_role("button", name="Log in").click()
    assert page.url == f"{address}/settings/"
    page.get_by_label("Hours between dreams").fill("12")
    page.get_by_role("button", name="Save").first.click()
    expect(page.get_by_role("status")).to_contain_text("1 setting changed.")
    page.get_by_role("button", name="Reset Hours between dreams").click()
    expect(page.get_by_role("status")).to_contain_text("reset")


def test_a_link_on_another_site_leads_to_the_page_still_logged_in(visitor: Page, address: str) -> None:
    window = visitor
    log_in(window, address)
    # Another host name is another site to the browser, though the same server answers.
    window.goto(address.replace("127.0.0.1", "localhost") + "/login/")
    window.evaluate("target => { location.href = target }", f"{address}/settings/?from=mail#policies")
    window.wait_for_url(f"{address}/settings/?from=mail**")
    expect(window.get_by_role("heading", level=1)).to_have_text("Settings")
    assert window.url.endswith("#policies")


def test_keys_walk_are_ignored_in_fields_and_can_be_switched_off(
    window: Page, address: str, world: object
) -> None:
    make.make_proposal(make.make_project("second"))
    window.goto(f"{address}/")
    window.keyboard.press("j")
    window.keyboard.press("j")
    expect(window.locator("[data-hunk].now")).to_contain_text("second")
    window.keyboard.press("k")
    expect(window.locator("[data-hunk].now")).to_contain_text("acme-api")
    window.keyboard.press("?")
    expect(window.get_by_role("table")).to_contain_text("previous decision")
    window.get_by_label("Keys are on").uncheck()
    window.keyboard.press("Escape")
    window.reload()
    window.keyboard.press("j")
    expect(window.locator("[data-hunk].now")).to_have_count(0)


@pytest.mark.parametrize("width", [390, 1200])
def test_the_sheet_of_keys_leaves_the_bar_with_save_in_sight(window: Page, address: str, width: int) -> None:
    window.set_viewport_size({"width": width, "height": 800})
    window.goto(f"{address}/settings/")
    for key in ("?", "End"):
        window.keyboard.press(key)
        sheet, bar = window.locator("#keys").bounding_box(), window.locator(".action-bar").bounding_box()
        assert sheet and bar and sheet["y"] >= 0 and sheet["y"] + sheet["height"] <= bar["y"]


def test_enter_opens_the_row_that_was_walked_to(window: Page, address: str, world: object) -> None:
    window.goto(f"{address}/projects/")
    window.keyboard.press("j")
    expect(window.locator("[data-hunk].now")).to_be_focused()
    window.keyboard.press("Enter")
    window.wait_for_url("**/projects/*/")


def test_the_menu_opens_on_a_narrow_window(window: Page, address: str) -> None:
    window.set_viewport_size({"width": 390, "height": 800})
    window.goto(f"{address}/")
    window.get_by_text("Menu").click()
    window.get_by_role("navigation", name="Main, small").get_by_role("link", name="Settings").click()
    expect(window.get_by_role("heading", level=1)).to_have_text("Settings")


def test_the_header_holds_its_links_and_search_at_every_width(window: Page, address: str) -> None:
    for number in range(12):
        make.make_proposal(make.make_project(f"waiting-{number}"))
    window.goto(f"{address}/schedules/")
    spilled = []
    for width in (1000, 1060, 1081, 1100, 1121, 1140, 1200):
        window.set_viewport_size({"width": width, "height": 500})
        parts = window.locator(".top-in > :visible").evaluate_all(
            "parts => parts.map(part => part.getBoundingClientRect())"
        )
        edge = width - parts[0]["left"]
        if parts[-1]["right"] > edge + 1 or any(a["right"] > b["left"] for a, b in pairwise(parts)):
            spilled.append(width)
    assert spilled == []


def test_a_name_that_has_no_place_to_break_does_not_widen_the_page(window: Page, address: str) -> None:
    make.make_project("n" * 200)
    window.goto(f"{address}/engines/")
    assert window.evaluate("document.documentElement.scrollWidth") <= SIZE["width"]


def test_at_four_times_the_size_nothing_is_beside_the_window(window: Page, address: str) -> None:
    """WCAG 1.4.10: a window of 1,280 px at 400 % is 320 px wide. The search in the header is still there to press."""
    proposal = make.make_proposal(make.make_project("waiting"))
    window.set_viewport_size({"width": 320, "height": 720})
    for path in ("/", f"/snooze/?proposal={proposal.public_id}"):
        window.goto(address + path)
        assert window.evaluate("document.documentElement.scrollWidth") == 320, path
        box = window.locator(".quick-link").bounding_box()
        assert box and box["width"] >= 24, path


@pytest.mark.more
def test_in_forced_colours_the_current_page_is_still_marked(window: Page, address: str) -> None:
    window.emulate_media(forced_colors="active")
    window.goto(f"{address}/projects/")
    style = "(one, name) => getComputedStyle(one)[name]"
    border, other = (
        window.locator(f".nav a{which}").first.evaluate(style, "borderBottomColor")
        for which in ("[aria-current]", ":not([aria-current])")
    )
    canvas = window.locator("body").evaluate(style, "backgroundColor")
    assert other == canvas != border


def test_every_stop_of_the_tab_key_in_a_field_for_a_day_shows_where_it_is(window: Page, address: str) -> None:
    window.goto(f"{address}/schedules/")
    window.get_by_label("Last day").focus()
    stops = []
    while (stop := window.evaluate("document.activeElement.name")) == "until":
        stops.append(window.evaluate("getComputedStyle(document.activeElement).outlineStyle"))
        window.keyboard.press("Tab")
    assert set(stops) == {"solid"}, stop


@pytest.mark.parametrize("width", [390, 1200])
def test_what_an_action_says_is_seen_where_it_leads_back_to_its_place(
    window: Page, address: str, width: int
) -> None:
    window.set_viewport_size({"width": width, "height": 800})
    window.goto(f"{address}/settings/")
    window.get_by_role("button", name="Make an address").click()
    window.wait_for_url("**/settings/#feed")
    said = window.locator("#messages").get_by_text("The feed’s address, shown once")
    expect(said).to_be_in_viewport(ratio=1)
    expect(window.locator("#feed-title")).to_be_in_viewport(ratio=1)
    box, title = window.locator("#messages").bounding_box(), window.locator("#feed-title").bounding_box()
    assert box and title and box["y"] + box["height"] <= title["y"], "neither hides the other"
