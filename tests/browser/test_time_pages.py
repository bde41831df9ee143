"""The pages of time in a real browser: two versions, a moment, a restore without a script; times on focus."""

from __future__ import annotations

import datetime as dt
from pathlib import Path

import pytest
from django.utils import timezone
from playwright.sync_api import Page, expect

from dreams.models import Hunk, Project, Version
from dreams.services import review
from dreams.services.apply import applying
from dreams.services.login import make_link
from dreams.services.memories import syncing, time_travel
from tests.browser.shots import outside_loop
from tests.world import directory as real, rows as make


@pytest.fixture
def project(transactional_db: None, tmp_path: Path) -> Project:
    """Found three days ago, changed by a dream two days ago, and by somebody outside a moment ago."""
    return outside_loop(lambda: _make(tmp_path))


def _make(tmp_path: Path) -> Project:
    project = real.make_project(tmp_path)
    now = timezone.now()
    Version.objects.update(at=now - dt.timedelta(3))
    Project.objects.update(first_seen_at=now - dt.timedelta(3))
    proposal = real.three_changes(project)
    proposal.dream = make.make_dream(project)
    proposal.save()
    review.decide(proposal, review.select_hunks(proposal), Hunk.Verdict.APPROVED, real.ME)
    applying.apply(proposal, real.ME)
    Version.objects.filter(at__gte=now).update(at=now - dt.timedelta(2))
    (Path(project.memory_dir) / "project_deploy.md").unlink()
    syncing.refresh(project)
    make.make_session(project)
    return project


@pytest.mark.sweep
def test_without_a_script_a_removed_memory_comes_back_and_two_versions_are_compared(
    plain: Page, address: str, project: Project
) -> None:
    page = plain
    page.set_viewport_size({"width": 390, "height": 800})
    page.goto(f"{address}/projects/{project.pk}/")
    page.get_by_label("Code").fill(make_link().code)
    page.get_by_role("button", name="Log in").click()
    page.get_by_role("link", name="As it was", exact=True).click()
    expect(page.get_by_role("link", name="project_deploy.md")).to_have_count(0)
    page.get_by_role("link", name="Change before").click()
    page.get_by_role("link", name="project_deploy.md").click()
    expect(page.locator(".prose")).to_contain_text("The API runs on host alpha.")
    page.get_by_role("link", name="Restore this file").click()
    expect(page.locator(".diff-row.ins").last).to_contain_text("The API runs on host alpha.")
    page.get_by_role("button", name="Propose restoring it").click()
    page.wait_for_url("**/review/**")
    expect(page.locator("main")).to_contain_text("project_deploy.md")
    assert "project_deploy.md" not in time_travel.states_now(project)
    memory = project.memories.get(path="feedback_testing.md")
    page.goto(f"{address}/memories/{memory.pk}/")
    expect(page.locator("time.moment noscript").first).to_be_visible()
    page.get_by_label("from").last.check()
    page.get_by_label("to", exact=True).first.check()
    page.get_by_role("button", name="Compare the two").click()
    expect(page.locator("ins").first).to_contain_text("fresh")


@pytest.mark.more
def test_times_are_absolute_on_focus(window: Page, address: str, project: Project) -> None:
    window.goto(f"{address}/projects/{project.pk}/?show=timeline")
    time = window.locator("time.moment").first
    time.focus()
    shown = time.evaluate("node => getComputedStyle(node, '::after').content")
    assert shown.strip('"') == time.get_attribute("title")


def test_in_a_narrow_window_no_word_of_a_table_is_cut_and_what_scrolls_is_reached_by_keyboard(
    window: Page, address: str, transactional_db: None, tmp_path: Path
) -> None:
    head = "| Service | Port | Host | Owner | Note |\n|---|---|---|---|---|\n"
    row = "| payments | 3000 | production | infrastructure | a note that is longer than the others |\n"
    text = head + row + f"| {'x' * 10_000} | 3001 | staging | infrastructure | none |\n"
    project = outside_loop(lambda: real.make_project(tmp_path, {"ports.md": text}))
    window.set_viewport_size({"width": 390, "height": 844})
    window.goto(f"{address}/memories/{project.memories.get(path='ports.md').pk}/")
    first = window.locator(".prose tbody tr").first.get_by_role("cell")
    lines = "all => all.map(cell => { const r = new Range(); r.selectNodeContents(cell); return r.getClientRects().length })"
    assert first.evaluate_all(lines)[:4] == [1, 1, 1, 1]
    table = window.locator(".prose table")
    assert table.evaluate("table => [table.tabIndex, table.scrollWidth < 1000]") == [0, True]
    proposal = outside_loop(
        lambda: real.propose(project, real.edit("ports.md", text, text + "More.\n", "more"))
    )
    window.goto(f"{address}/review/{proposal.public_id}/?file={proposal.files.get().pk}&view=rendered")
    shown = window.locator(".review-rendered table")
    assert shown.evaluate("table => table.getBoundingClientRect().right <= innerWidth"), (
        "a review hides nothing"
    )
