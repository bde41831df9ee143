"""Each way of deciding, in a real browser on a proposal with every kind of change: mouse, keys, thumb, no scripts.

One journey per way: a browser is dear. The windows fail on any complaint of their console, so on any violation of the
content policy too, and on any request to another host.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

from dreams.models import Finding, Hunk, Proposal
from dreams.services.login import make_link
from tests.browser.judging import COLOURS, bring_rules, broken_rules
from tests.world import directory as world, every_kind as kinds, review as desk, rows

if TYPE_CHECKING:
    from playwright.sync_api import Locator, Page

# The chief path is walked in test_review_path, which every run has.
pytestmark = [pytest.mark.sweep, pytest.mark.django_db(transaction=True)]

# What a finger can hit. Links within a sentence are excepted, as the guideline has it.
TARGETS = """() => [...document.querySelectorAll('button, select, summary, input:not([type=hidden]), a.button, .files a')]
  .filter(e => e.checkVisibility() && !e.closest('.sr-only, .diff-text') && !e.matches('.sr-only, .as-link'))
  .map(e => [e, (e.closest('label') ?? e.closest('.files > li') ?? e).getBoundingClientRect()])
  .filter(([, box]) => box.width && (box.height < 24 || box.width < 24))
  .map(([e, box]) => `${e.outerHTML.slice(0, 80)} ${box.width} x ${box.height}`)"""


@pytest.fixture
def proposal(tmp_path: Path) -> Proposal:
    return kinds.make_proposal(kinds.make_project(tmp_path))


def at(address: str, proposal: Proposal, query: str = "") -> str:
    return f"{address}/review/{proposal.public_id}/{query}"


def card(page: Page, hunk: Hunk) -> Locator:
    return page.locator(f"#hunk-{hunk.pk}")


def verdicts(proposal: Proposal, path: str) -> set[str]:
    return set(
        Hunk.objects.filter(file__proposal=proposal, file__path=path).values_list("verdict", flat=True)
    )


def decided(page: Page, count: int) -> None:
    expect(page.locator("#review-bar")).to_contain_text(f"{count} of 16 decided")


def read(proposal: Proposal, path: str) -> str:
    return (world.folder(proposal.project) / path).read_text()


def test_by_mouse(window: Page, address: str, proposal: Proposal) -> None:
    page = window
    page.set_viewport_size({"width": 1280, "height": 900})
    page.goto(at(address, proposal))
    # A line that moved leads to where it stands now; what comes later loads on the way.
    page.get_by_role("link", name="feedback_rules.md, line 11").first.click()
    present = page.locator("[data-hunk].now")
    expect(present).to_contain_text("Moved from project_deploy.md, line 22")
    # One decision: its parts in two files on one card, without a reload.
    expect(present).to_contain_text("Moved to feedback_rules.md, line 11")
    present.get_by_role("button", name="Approve").click()
    expect(present.get_by_role("button", name="Approved")).to_be_visible()
    decided(page, 1)
    # A rename is one file and one verdict.
    rename = desk.hunk_with(proposal, "written there by the bot")
    page.get_by_role("link", name="project_oncall_rota.md").first.click()
    card(page, rename).get_by_role("button", name="Reject").click()
    card(page, rename).get_by_placeholder("In your own words").fill("The name was fine.")
    card(page, rename).get_by_role("button", name="Save reason").click()
    expect(card(page, rename).get_by_placeholder("In your own words")).to_have_attribute(
        "value", "The name was fine."
    )
    decided(page, 2)
    assert verdicts(proposal, "project_oncall.md") == {"rejected"}
    page.get_by_role("button", name="Undo", exact=True).click()
    expect(card(page, rename).get_by_placeholder("In your own words")).to_have_value("")
    page.get_by_role("button", name="Undo", exact=True).click()
    decided(page, 1)
    # Rendered, a finding confirmed, viewed.
    taste = desk.hunk_with(proposal, "very short")
    file = page.locator(f"#file-{taste.file_id}")
    page.get_by_role("link", name="user_taste.md").first.click()
    file.get_by_role("link", name="Rendered").click()
    expect(file.locator("ins.passage")).to_contain_text("very short answers")
    file.get_by_role("link", name="Source").click()
    file.get_by_role("button", name="I saw this, allow it").click()
    expect(file).to_contain_text("Confirmed by owner")
    file.get_by_role("button", name="Viewed").click()
    expect(page.locator("#review-viewed")).to_have_text("1 of 17 files viewed")
    expect(file.locator(f"#hunk-{taste.pk}")).to_be_hidden()
    # Typing shows what would stand there and what the checks say, before anything is kept.
    speech = desk.hunk_with(proposal, "수요일")
    page.get_by_role("link", name="user_speech.md").first.click()
    card(page, speech).get_by_text("Edit").click()
    box = card(page, speech).get_by_role("textbox")
    box.press("Control+a")
    box.press_sequentially("- **월요일** 10시")
    expect(card(page, speech).locator(".edit-preview strong")).to_have_text("월요일")
    card(page, speech).get_by_role("button", name="Save and approve").click()
    expect(card(page, speech)).to_contain_text("edited by you")
    # A list narrowed as one types, and decided as it is narrowed.
    page.get_by_placeholder("Find in files").fill("topic_0")
    expect(page.locator(".review-bulk")).to_contain_text("4 decisions")
    page.get_by_role("button", name="Reject 4").click()
    decided(page, 6)
    page.get_by_role("link", name="Show all").click()
    # The rest, and nothing is written by any of it.
    page.locator("#review-bar").get_by_role("button", name="without findings").click()
    expect(page.locator("#review-said")).to_contain_text("Approved ")
    assert "월요일" not in read(proposal, "user_speech.md")


def test_by_keys_alone(window: Page, address: str, proposal: Proposal) -> None:
    page, keys = window, window.keyboard
    first = Hunk.objects.filter(file__proposal=proposal, file__path="feedback_flaky.md").get()
    for number in (1, 2, 3):
        rows.make_finding(
            proposal, "block", hunk=first, file=first.file, code="one-kind", message=f"Lost {number}."
        )
    page.goto(at(address, proposal))
    keys.press("j")
    expect(card(page, first)).to_be_focused()
    # What waits for a word is gone to first; each further press allows one, and Enter keeps what is ticked.
    for ticked in (0, 1, 2):
        keys.press("y")
        expect(card(page, first).locator("input:checked")).to_have_count(ticked)
    expect(card(page, first).get_by_label("Lost 3.")).to_be_focused()
    keys.press("Enter")
    expect(card(page, first)).to_contain_text("Lost 3.")
    expect(card(page, first).locator(".confirmed")).to_have_count(2)
    expect(card(page, first)).to_be_focused()
    keys.press("a")
    expect(card(page, first)).to_contain_text("approved")
    keys.press("u")
    decided(page, 0)
    expect(card(page, first)).to_be_focused()
    keys.press("n")
    present = page.locator("[data-file].now")
    expect(present).to_be_focused()
    expect(present).to_contain_text("feedback_rules.md")
    keys.press("j")
    expect(page.locator("[data-hunk].now")).to_be_focused()
    keys.press("n")
    keys.press("p")
    keys.press("v")
    expect(page.locator("#review-viewed")).to_have_text("1 of 17 files viewed")
    expect(present.get_by_role("button", name="Viewed")).to_have_attribute("aria-pressed", "true")
    keys.press("?")
    sheet = page.locator("#keys")
    expect(sheet.get_by_role("table")).to_have_accessible_name(
        "A key works on pages where its action is possible, and never while you type."
    )
    for key in ("j", "n", "a", "r", "e", "u", "o", "v", "f"):
        expect(sheet.locator("kbd", has_text=key).first).to_be_visible()
    sheet.get_by_label("Keys are on").press("Space")
    keys.press("Escape")
    keys.press("j")
    keys.press("a")
    decided(page, 0)
    keys.press("?")
    sheet.get_by_label("Keys are on").press("Space")
    keys.press("Escape")
    keys.press("f")
    expect(page.get_by_placeholder("Find in files")).to_be_focused()
    keys.type("third working day")
    keys.press("Enter")
    expect(page.locator(".review-bulk")).to_contain_text("with “third working day”")
    page.get_by_role("button", name="Approve 1").press("Enter")
    decided(page, 1)
    # Submitting is reached, never stood on.
    assert page.evaluate("document.activeElement.textContent").strip() != "Submit review"
    Finding.objects.filter(proposal=proposal).delete()
    page.get_by_role("button", name="Submit review").press("Enter")
    expect(page.locator("#messages")).to_contain_text("Written: 2 files.")
    assert "[Billing](project_billing.md)" in read(proposal, "MEMORY.md")
    expect(page.locator("details.proof[open]").first).to_be_attached()  # the keys listen
    page.locator("article.approved").first.focus()
    keys.press("u")
    expect(page.get_by_role("heading", level=1)).to_have_text("Undo one decision")


def test_by_thumb_at_390(phone: Page, address: str, proposal: Proposal) -> None:
    page = phone
    page.goto(address + make_link().path)
    page.wait_for_url(f"{address}/")
    page.goto(at(address, proposal))
    importer = desk.hunk_with(proposal, "batches of 2,000")
    page.get_by_text("0 of 17 files viewed").tap()
    page.get_by_role("link", name="project_importer.md").first.tap()
    approve = card(page, importer).get_by_role("button", name="Approve")
    # While any of a long change is seen, its buttons are in reach, and the bar does not cover them.
    expect(approve).to_be_in_viewport(ratio=1)
    approve.tap()
    decided(page, 1)
    card(page, importer).get_by_text("1 quote").tap()
    expect(card(page, importer).get_by_text("Quote found in the transcript")).to_be_visible()
    card(page, importer).get_by_role("button", name="Reject").tap()
    card(page, importer).get_by_role("button", name="Outdated").tap()
    page.get_by_role("button", name="Undo", exact=True).tap()
    bring_rules(page)
    assert page.evaluate(TARGETS) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    assert broken_rules(page) == []
    page.emulate_media(color_scheme="dark")
    assert broken_rules(page, COLOURS) == []
    page.goto(at(address, proposal, "?folder=topics/"))
    page.get_by_role("button", name="Approve 4").tap()
    decided(page, 5)
    page.get_by_role("button", name="Submit review").tap()
    page.wait_for_url(at(address, proposal))
    expect(page.locator("#messages")).to_contain_text("Written: 4 files.")


def test_without_scripts(plain: Page, address: str, proposal: Proposal) -> None:
    page = plain
    page.goto(at(address, proposal))
    page.get_by_label("Code").fill(make_link().code)
    page.get_by_role("button", name="Log in").click()
    expect(page.locator("kbd").filter(visible=True)).to_have_count(0)
    # Each file alone is one link away.
    page.get_by_label("Kind of change").select_option("date")
    page.get_by_role("button", name="Find", exact=True).click()
    page.get_by_role("button", name="Approve 4").click()
    decided(page, 4)
    page.get_by_role("link", name="Show all").click()
    board = desk.hunk_with(proposal, "/d/api-latency")
    page.get_by_role("link", name="reference_dashboards.md").first.click()
    card(page, board).get_by_text("Edit").click()
    card(page, board).get_by_role("textbox").fill("Start at [latency](https://grafana.example/d/p99).")
    card(page, board).get_by_role("button", name="Preview").click()
    expect(page.get_by_role("link", name="latency")).to_have_attribute(
        "href", "https://grafana.example/d/p99"
    )
    page.get_by_role("button", name="Save and approve").click()
    decided(page, 5)
    # The file changes in the same place meanwhile: told, brought up, solved after a look.
    Finding.objects.filter(proposal=proposal).delete()
    path = world.folder(proposal.project) / "reference_dashboards.md"
    path.write_text(path.read_text().replace("/d/old-board", "/d/other"))
    page.goto(at(address, proposal))
    page.get_by_role("button", name="Bring up to date").click()
    page.get_by_role("link", name="Solve").first.click()
    page.get_by_label("This dream").check()
    page.get_by_role("button", name="Preview the result").click()
    expect(page.locator("#solution")).to_contain_text("All places are decided.")
    page.get_by_role("button", name="Save this solution").click()
    expect(page.locator("#messages")).to_contain_text("solved")
    page.get_by_role("button", name="I saw this, allow it").first.click()
    page.get_by_role("button", name="Submit review").click()
    expect(page.locator("#messages")).to_contain_text("Written: ")
    assert "February 2026" in read(proposal, "topics/topic_01.md")
    # One change of it is undone alone, after a look.
    page.get_by_role("link", name="Undo all").click()
    for box in page.get_by_role("checkbox", name="“Last month”").all()[1:]:
        box.uncheck()
    page.get_by_role("button", name="Show what this would do").click()
    page.get_by_role("button", name="Undo ").last.click()
    expect(page.locator("#messages")).to_contain_text("Undone: ")
    assert "last month" in read(proposal, "topics/topic_01.md")
    assert "February 2026" in read(proposal, "topics/topic_02.md")
