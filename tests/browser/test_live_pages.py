"""What only a real browser shows: a dream that grows while one reads, a live preview."""

from __future__ import annotations

from pathlib import Path

import pytest
from django.conf import settings
from django.contrib.sessions.models import Session
from django.test import Client
from django.utils import timezone
from playwright.sync_api import Browser, Page, expect

from dreams.models import DreamRun, Hunk, Turn
from dreams.services.login import ensure_owner, make_link
from dreams.services.memories import syncing
from tests.world import directory as real, rows as make
from tests.world.rows import World


def _turn(run: DreamRun, number: int, phase: str = "gather") -> None:
    Turn.objects.create(dream=run, number=number, phase=phase, text=f"Step {number}", at=timezone.now())


def test_a_dream_grows_while_one_reads_and_stops_asking_when_it_is_over(window: Page, address: str) -> None:
    run = make.make_dream(make.make_project(), DreamRun.Status.RUNNING, phase="gather")
    _turn(run, 1)
    window.goto(f"{address}/dreams/{run.public_id}/")
    first = window.locator("#turn-1").element_handle()
    window.focus("#dream-cancel")
    _turn(run, 2, "prune")
    DreamRun.objects.filter(pk=run.pk).update(phase="prune")
    expect(window.locator("#turn-2")).to_be_visible()
    assert first.evaluate("node => node.isConnected")
    expect(window.locator("#dream-cancel")).to_be_focused()
    expect(window.locator(".steps .now")).to_contain_text("Prune")
    DreamRun.objects.filter(pk=run.pk).update(status="completed", ended_at=timezone.now())
    expect(window.locator("#dream-result")).to_contain_text("Nothing to improve")
    expect(window.locator("#dream-cancel")).to_have_count(0)
    expect(window.locator("main [data-poll]:not(#pulse)")).to_have_count(0)


def test_the_preview_follows_what_is_typed_and_nothing_is_saved(window: Page, address: str) -> None:
    memory = make.make_memory(make.make_project("مشروع"), path=f"{'word_' * 40}end.md", name="קבצים")
    window.goto(f"{address}/memories/{memory.pk}/edit/")
    assert window.evaluate("document.documentElement.scrollWidth") <= window.evaluate("innerWidth")
    places = window.eval_on_selector_all(
        ".crumbs a", "all => all.map(one => one.getBoundingClientRect().left)"
    )
    assert places == sorted(places), "the project stands before its memory, whatever their script"
    window.get_by_label("Text").fill("# Hello\n\nA new beginning.")
    expect(window.locator("#preview h2").first).to_have_text("Hello")
    expect(window.locator("#preview .diff-row.ins").first).to_be_visible()
    assert memory.versions.count() == 1


def test_a_save_that_nobody_answers_keeps_what_was_typed(
    chromium: Browser, address: str, tmp_path: Path
) -> None:
    """A form that is sent without htmx ends on the browser's own page, and Back has forgotten the text."""
    memory = real.make_project(tmp_path).memories.get(path="project_deploy.md")
    file = Path(memory.project.memory_dir) / memory.path
    page = chromium.new_page()  # whose console may say that nobody answered
    _let_in(page, address)
    page.goto(f"{address}/memories/{memory.pk}/edit/")
    text, save = page.get_by_label("Text"), page.get_by_role("button", name="Save")
    text.fill("# Typed once")
    page.get_by_role("button", name="Show what changes").click()
    expect(page.locator("#preview .diff-row.ins").first).to_be_visible()
    page.route("**/memories/*/edit/", lambda route: route.abort())
    save.click()
    expect(page.locator("#messages")).to_contain_text("The server did not answer")
    expect(text).to_have_value("# Typed once")
    assert not page.evaluate("dispatchEvent(new Event('beforeunload', { cancelable: true }))"), "it warns"
    page.unroute("**/memories/*/edit/")
    file.write_text("Somebody else was quicker.\n")
    syncing.refresh(memory.project)
    save.click()
    expect(page.locator("#editor")).to_contain_text("It changed while you were editing.")
    expect(text).to_have_value("# Typed once")
    save.click()
    expect(page.locator("#messages")).to_contain_text("Saved project_deploy.md")
    assert page.url == f"{address}/memories/{memory.pk}/" and file.read_text().startswith("# Typed once")
    page.close()


@pytest.mark.more
def test_what_is_typed_outlives_the_login(chromium: Browser, address: str) -> None:
    proposal = make.make_proposal(make.make_project("second"))
    hunk = Hunk.objects.filter(file__proposal=proposal).first()
    assert hunk is not None
    page = chromium.new_page()
    _let_in(page, address)
    page.goto(f"{address}/review/{proposal.public_id}/")
    page.set_viewport_size({"width": 390, "height": 500})
    page.locator(f"#hunk-{hunk.pk}").focus()
    Session.objects.all().delete()
    page.keyboard.press("a")
    expect(page.locator("#messages a")).to_be_in_viewport(ratio=1)
    expect(page.locator("#messages")).to_be_in_viewport(ratio=0.9)
    _let_in(page, address)
    page.reload()
    page.locator(f"#hunk-{hunk.pk}").focus()
    page.keyboard.press("e")
    text = page.locator(f"#hunk-{hunk.pk}").get_by_role("textbox")
    text.fill("In my own words.")
    Session.objects.all().delete()
    text.press("Control+Enter")
    expect(page.locator("#messages")).to_contain_text("You are logged out. Nothing was changed.")
    expect(page.locator("#messages a")).to_have_attribute(
        "href", f"/login/?next=%2Freview%2F{proposal.public_id}%2F"
    )
    _let_in(page, address)
    text.press("Control+Enter")
    expect(page.locator("#messages")).to_contain_text("Do it again now.")
    text.press("Control+Enter")
    # Its words stand in the preview already.
    expect(page.locator(f"#hunk-{hunk.pk}")).to_contain_text("edited by you")
    expect(page.locator("#messages")).to_have_text("")
    hunk.refresh_from_db()
    assert hunk.verdict == Hunk.Verdict.EDITED
    page.close()


def _let_in(page: Page, address: str) -> None:
    client = Client()
    client.force_login(ensure_owner())
    name = settings.SESSION_COOKIE_NAME
    page.context.add_cookies([{"name": name, "value": client.cookies[name].value, "url": address}])


@pytest.mark.sweep
def test_without_javascript_a_memory_is_previewed_and_found(plain: Page, address: str, world: World) -> None:
    page = plain
    page.goto(f"{address}/projects/")
    page.get_by_label("Code").fill(make_link().code)
    page.get_by_role("button", name="Log in").click()
    page.get_by_label("Search projects").fill("acme")
    page.get_by_role("button", name="Search").click()
    page.get_by_role("link", name="acme-api", exact=True).click()
    page.get_by_role("link", name="Testing", exact=True).click()
    page.get_by_role("link", name="Edit").click()
    page.get_by_label("Text").fill("Other words.")
    page.get_by_role("button", name="Show what changes").click()
    expect(page.locator(".diff-row.ins")).to_contain_text("Other words.")
    expect(page.get_by_label("Text")).to_have_value("Other words.")
