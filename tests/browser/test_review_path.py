"""The main path in a real browser, on real files: log in, review, submit, undo. With and without JavaScript."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

from dreams.models import Finding, Hunk, Project, Proposal
from dreams.services import proposals, review
from dreams.services.apply import applying
from dreams.services.login import make_link
from dreams.services.memories import syncing
from dreams.services.proposals import rebase
from tests.browser.judging import judge
from tests.world import directory as world, review as desk
from tests.world.manifest import manifest

if TYPE_CHECKING:
    from playwright.sync_api import Locator, Page

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return desk.make_project(tmp_path)


@pytest.fixture
def proposal(project: Project) -> Proposal:
    """Without the checks' own findings, and with one that blocks."""
    made = desk.make_proposal(project)
    Finding.objects.filter(proposal=made).delete()
    desk.add_finding(made, "very short", "block", "The line holds an invisible character.")
    return made


def card(page: Page, hunk: Hunk) -> Locator:
    return page.locator(f"#hunk-{hunk.pk}")


def memory(project: Project) -> Path:
    return world.folder(project)


def test_from_the_link_to_the_undo_with_javascript(visitor: Page, address: str, proposal: Proposal) -> None:
    page, project = visitor, proposal.project
    before = manifest(memory(project))
    page.goto(address + make_link().path)
    page.get_by_role("link", name=str(project)).first.click()
    expect(page.get_by_role("heading", level=1)).to_have_text("acme-api")
    link, role = desk.hunk_with(proposal, "reference_runbook"), desk.hunk_with(proposal, "very short")
    train, row = desk.hunk_with(proposal, "Releases leave"), desk.hunk_with(proposal, "[Release train]")

    card(page, link).get_by_role("button", name="Approve").click()
    expect(card(page, link).get_by_role("button", name="Approved")).to_be_visible()
    expect(page.get_by_text("1 of 5 decided", exact=True)).to_be_visible()
    card(page, train).get_by_role("button", name="Reject").click()
    expect(card(page, train)).to_contain_text("rejected")  # with its row, replaced without a reload
    expect(card(page, train).locator(f"#hunk-{row.pk}")).to_contain_text("[Release train]")
    card(page, train).get_by_role("button", name="Not worth keeping").click()
    expect(card(page, train).get_by_role("button", name="Not worth keeping")).to_have_attribute(
        "aria-pressed", "true"
    )
    card(page, role).get_by_text("Edit").click()
    card(page, role).get_by_role("textbox").fill("Likes brief answers.")
    card(page, role).get_by_role("button", name="Save and approve").click()
    expect(card(page, role)).to_contain_text("edited by you")
    expect(page.locator("#review-said")).to_contain_text("Edited and approved 1 decision")
    assert manifest(memory(project)) == before  # nothing is written before the submit

    # A submit that takes its time is told for how long; back on the page it can be sent again.
    page.evaluate("addEventListener('submit', (event) => event.preventDefault(), { once: true })")
    page.get_by_role("button", name="Submit review").click()
    expect(page.locator("#submit-says")).to_contain_text("writing all of it or nothing. · 1 s")
    expect(page.get_by_role("button", name="Writing…")).to_be_disabled()
    page.evaluate("dispatchEvent(new Event('pageshow'))")
    expect(page.locator("#submit-says")).to_contain_text("Writes 2 decisions")
    page.get_by_role("button", name="Submit review").click()
    expect(page.locator("#messages")).to_contain_text("Written: 2 files.")
    assert "](reference_runbook.md)" in (memory(project) / "feedback_testing.md").read_text()
    assert (memory(project) / "user_role.md").read_text() == desk.ROLE.replace("Likes short", "Likes brief")
    assert not (memory(project) / "project_release_train.md").exists()

    page.get_by_role("link", name="Undo all").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Undo all of this dream")
    page.get_by_role("checkbox", name="The runbook has another name.").uncheck()
    expect(page.get_by_role("button", name="Undo 1 decision")).to_be_visible()
    page.get_by_role("checkbox", name="The runbook has another name.").check()
    expect(page.get_by_role("button", name="Undo 2 decisions")).to_be_visible()
    page.get_by_text("It was wrong").click()
    page.evaluate("addEventListener('submit', (event) => event.preventDefault(), { once: true })")
    page.get_by_role("button", name="Undo 2 decisions").click()
    expect(page.get_by_role("button", name="Undoing…")).to_be_disabled()
    # It is on its way: a link away from it would not leave it as it is.
    expect(page.get_by_role("link", name="Cancel")).to_be_hidden()
    page.evaluate("dispatchEvent(new Event('pageshow'))")
    page.get_by_role("button", name="Undo 2 decisions").click()
    expect(page.locator("#messages")).to_contain_text("Undone: changed 2 files.")
    assert manifest(memory(project)) == before


@pytest.mark.more
def test_from_the_code_to_the_undo_without_javascript(plain: Page, address: str, proposal: Proposal) -> None:
    project = proposal.project
    before = manifest(memory(project))
    page = plain
    page.goto(f"{address}/review/{proposal.public_id}/")
    page.get_by_label("Code").fill(make_link().code)
    page.get_by_role("button", name="Log in").click()
    link, role = desk.hunk_with(proposal, "reference_runbook"), desk.hunk_with(proposal, "very short")

    card(page, link).get_by_role("button", name="Approve").click()
    assert page.url.endswith(f"#hunk-{link.pk}")
    expect(card(page, link).get_by_role("button", name="Approved")).to_be_visible()
    page.get_by_role("button", name="Undo", exact=True).click()
    expect(page.get_by_text("0 of 5 decided")).to_be_visible()
    card(page, link).get_by_role("button", name="Approve").click()
    card(page, role).get_by_text("Edit").click()
    card(page, role).get_by_role("textbox").fill("Likes brief answers.")
    card(page, role).get_by_role("button", name="Save and approve").click()
    page.get_by_role("button", name="Submit review").click()
    expect(page.locator("#messages")).to_contain_text("Written: 2 files.")
    assert "Likes brief answers." in (memory(project) / "user_role.md").read_text()
    page.get_by_role("link", name="Undo all").click()
    page.get_by_role("button", name="Undo 2 decisions").click()
    expect(page.locator("#messages")).to_contain_text("Undone")
    assert manifest(memory(project)) == before


@pytest.mark.more
def test_keys_decide_the_present_change_and_undo_it(window: Page, address: str, proposal: Proposal) -> None:
    window.goto(f"{address}/review/{proposal.public_id}/")
    second = Hunk.objects.filter(file__proposal=proposal, file__path="feedback_testing.md").order_by(
        "number"
    )[1]
    window.keyboard.press("j")
    window.keyboard.press("j")
    expect(card(window, second)).to_be_focused()
    window.keyboard.press("r")
    expect(card(window, second)).to_contain_text("rejected")
    # The card was replaced, and is still the one that keys act on.
    expect(card(window, second)).to_be_focused()
    # It stays where it is on the screen, too: at its top edge the browser's own anchoring would move the page.
    top = "card => card.getBoundingClientRect().top"
    card(window, second).evaluate("card => scrollBy(0, card.getBoundingClientRect().top - 50)")
    before = card(window, second).evaluate(top)
    window.keyboard.press("2")
    reason = card(window, second).get_by_role("button", name="Outdated")
    expect(reason).to_have_attribute("aria-pressed", "true")
    expect(card(window, second)).to_be_focused()
    assert abs(card(window, second).evaluate(top) - before) < 3
    # What the keyboard stood on is stood on again, and a reason that was written leads back to its card.
    card(window, second).get_by_role("button", name="Wrong").press("Enter")
    expect(card(window, second).get_by_role("button", name="Wrong")).to_have_attribute("aria-pressed", "true")
    expect(card(window, second).get_by_role("button", name="Wrong")).to_be_focused()
    written = card(window, second).get_by_placeholder("In your own words")
    written.fill("Not so")
    written.press("Enter")
    expect(card(window, second)).to_be_focused()
    for _ in range(4):
        window.keyboard.press("u")
    expect(window.get_by_text("0 of 5 decided")).to_be_visible()
    window.keyboard.press("e")
    expect(card(window, second).get_by_role("textbox")).to_be_focused()
    window.keyboard.press("a")  # typed, not pressed
    window.keyboard.press("Escape")
    expect(card(window, second).get_by_role("textbox")).to_be_hidden()
    second.refresh_from_db()
    assert second.verdict == Hunk.Verdict.PENDING
    window.keyboard.press("e")
    card(window, second).get_by_role("textbox").press("Control+Enter")
    expect(card(window, second)).to_contain_text("edited by you")
    expect(card(window, second)).to_be_focused()
    window.keyboard.press("?")
    window.keyboard.press("Escape")
    expect(card(window, second)).to_be_focused()


def test_what_a_submit_does_is_read_in_one_or_two_lines(
    window: Page, address: str, proposal: Proposal, tmp_path: Path
) -> None:
    """With another proposal waiting there is a third button beside it."""
    desk.make_proposal(desk.make_project(tmp_path / "other"))
    window.goto(f"{address}/review/{proposal.public_id}/")
    for width in (1440, 1200, 1000):
        window.set_viewport_size({"width": width, "height": 800})
        said = window.locator("#submit-says").bounding_box()
        assert said and said["height"] < 40, width


def test_the_durable_button_never_has_the_focus_first(window: Page, address: str, proposal: Proposal) -> None:
    window.goto(f"{address}/review/{proposal.public_id}/")
    assert window.evaluate("document.activeElement.tagName") == "BODY"
    window.keyboard.press("Enter")
    proposal.refresh_from_db()
    assert proposal.state == Proposal.State.OPEN


@pytest.mark.sweep
def test_a_link_to_a_file_on_another_page_leads_there_also_where_its_name_is_long(
    window: Page, address: str, tmp_path: Path
) -> None:
    from tests.web.test_review_page import many_files

    _, made = many_files(tmp_path, 40)
    made.files.filter(path__endswith="39.md").update(path=f"topics/{'a' * 100}.md")
    window.goto(f"{address}/review/{made.public_id}/")
    assert window.locator("[data-hunk]").count() < 80
    window.set_viewport_size({"width": 390, "height": 800})
    assert window.evaluate("document.documentElement.scrollWidth") <= 390
    last = made.files.order_by("path").last()
    window.locator(f"#entry-{last.pk} a").click()  # type: ignore[union-attr] # there are forty
    expect(window.locator(f"#file-{last.pk}")).to_be_visible()  # type: ignore[union-attr] # as above
    assert window.evaluate("document.documentElement.scrollWidth") <= 390


@pytest.mark.sweep
def test_the_pages_break_no_rule_of_accessibility(window: Page, address: str, proposal: Proposal) -> None:
    desk.add_finding(proposal, "PostgreSQL 16", "warn", "No date.", "Name the day.")
    desk.add_finding(proposal, "Releases leave", "refuse", "Out of scope.")
    at = f"{address}/review/{proposal.public_id}/"
    review.decide(proposal, [desk.hunk_with(proposal, "PostgreSQL 16")], Hunk.Verdict.APPROVED, world.ME)
    review.decide(proposal, [desk.hunk_with(proposal, "very short")], Hunk.Verdict.REJECTED, world.ME)
    check(window, f"{at}?layout=split")
    change = proposal.files.get(path="feedback_testing.md")
    check(window, f"{at}?file={change.pk}&view=rendered")
    now = desk.TESTING.replace("shared PostgreSQL 15", "shared PostgreSQL 17").encode()
    (memory(proposal.project) / "feedback_testing.md").write_bytes(now)
    check(window, at)  # changed since
    assert rebase.rebase(change, now) == "conflict"
    check(window, at)


@pytest.mark.more
def test_what_is_applied_breaks_no_rule_of_accessibility(
    window: Page, address: str, proposal: Proposal
) -> None:
    review.decide(proposal, review.select_hunks(proposal), Hunk.Verdict.APPROVED, world.ME)
    apply_all(proposal)
    at = f"{address}/review/{proposal.public_id}/"
    check(window, at)


def apply_all(proposal: Proposal) -> None:
    """Apply, confirming whatever the checks say of the whole."""
    proposals.examine(proposal, syncing.contents(proposal.project), undecided=False)
    review.confirm(proposal, proposal.findings.filter(severity=Finding.Severity.BLOCK), world.ME)
    assert applying.apply(proposal, world.ME).complete


def check(page: Page, at: str) -> None:
    """The page at `at`; no colour is judged on its way to another."""
    page.emulate_media(color_scheme="light", reduced_motion="reduce")
    page.goto(at)
    assert judge(page) == []


@pytest.mark.more
def test_a_button_that_has_only_just_come_is_answered_in_place(
    window: Page, address: str, proposal: Proposal
) -> None:
    """Two keys in quick succession: the second must not load the page anew and lose where one was."""
    window.goto(f"{address}/review/{proposal.public_id}/")
    first = desk.hunk_with(proposal, "reference_runbook")
    window.evaluate(
        """() => {
            window.stayed = true;
            new MutationObserver((changes, observer) => {
                const undo = document.getElementById("take-back");
                if (undo) { observer.disconnect(); undo.click(); }
            }).observe(document.body, {childList: true, subtree: true});
        }"""
    )
    with window.expect_response(lambda answer: "take-back" in answer.url):
        card(window, first).get_by_role("button", name="Approve").click()
    expect(window.get_by_text("0 of 5 decided")).to_be_visible()
    assert window.evaluate("window.stayed") is True


@pytest.mark.more
def test_a_change_named_in_the_address_is_the_present_one(
    window: Page, address: str, proposal: Proposal
) -> None:
    link = desk.hunk_with(proposal, "reference_runbook")
    window.goto(f"{address}/review/{proposal.public_id}/#hunk-{link.pk}")
    expect(card(window, link)).to_be_focused()
    window.keyboard.press("a")
    expect(card(window, link)).to_contain_text("approved")
