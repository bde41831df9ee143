"""Keys of the review that lead somewhere: the present mark is where the focus is, and nothing typed is lost unasked."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

from dreams.models import Hunk, Proposal
from dreams.services import review
from dreams.services.login import make_link
from tests.browser.windows import Line, until
from tests.world import directory as world, review as desk

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Dialog, Locator, Page

pytestmark = pytest.mark.django_db(transaction=True)
FOCUS = "document.activeElement.id"
# Where the bar at the foot begins, what is under the middle of an element, and what sticks out below.
COVERED = """card => {
  const bar = document.getElementById('review-bar').getBoundingClientRect().top;
  const buttons = [...card.querySelectorAll('.verdict .button')].map(e => e.getBoundingClientRect());
  const shown = [...card.querySelectorAll('.diff-text, .evidence blockquote')].filter(e => e.checkVisibility())
    .map(e => e.getBoundingClientRect()).filter(box => box.bottom > bar && box.top < bar);
  return [buttons.every(box => box.bottom <= bar && box.top > innerHeight / 2), shown.length,
          Math.abs(bar + document.getElementById('review-bar').offsetHeight - innerHeight) < 2];
}"""

# Links and folds of the changes that are behind a bar when they get the focus.
BEHIND = """() => [...document.querySelectorAll('.review-main :is(a[href], summary)')].filter(one => {
  one.focus();
  const box = one.getBoundingClientRect(), x = box.left + Math.min(box.width / 2, 30), y = box.top + box.height / 2;
  return document.elementFromPoint(x, y)?.closest('.hunk-end, .action-bar') && !one.closest('.hunk-end');
}).map(one => one.innerText)"""


@pytest.fixture
def proposal(tmp_path: Path) -> Proposal:
    made = desk.make_proposal(desk.make_project(tmp_path))
    made.findings.all().delete()
    return made


def card(page: Page, hunk: Hunk) -> Locator:
    return page.locator(f"#hunk-{hunk.pk}")


@pytest.mark.more
def test_keys_lead_to_the_next_open_decision_and_back_to_what_was_undone(
    window: Page, address: str, proposal: Proposal
) -> None:
    page, keys = window, window.keyboard
    first, second, third = (
        desk.hunk_with(proposal, words)
        for words in ("PostgreSQL 16", "Never update them", "reference_runbook")
    )
    role = desk.hunk_with(proposal, "very short")
    page.goto(f"{address}/review/{proposal.public_id}/")
    # The first Approve is a few steps from the top of the page, by a link that skips the rest.
    keys.press("Tab")
    keys.press("Tab")
    expect(page.get_by_role("link", name="Skip to the first open decision")).to_be_focused()
    keys.press("Enter")
    expect(card(page, first)).to_be_focused()
    steps = 2
    while page.evaluate(FOCUS) != f"approve-{first.pk}":
        keys.press("Tab")
        steps += 1
        assert steps <= 10
    keys.press("Enter")
    expect(card(page, first)).to_contain_text("approved")
    # One step of j is one decision, however many changes it has.
    keys.press("j")
    expect(card(page, second)).to_be_focused()
    keys.press("j")
    expect(card(page, third)).to_be_focused()
    keys.press("r")
    expect(card(page, third)).to_contain_text("rejected")
    keys.press("k")
    keys.press("d")
    train = desk.hunk_with(proposal, "Releases leave")
    expect(card(page, train)).to_be_focused()
    keys.press("d")
    expect(card(page, role)).to_be_focused()
    keys.press("d")  # from the last on to the first
    expect(card(page, second)).to_be_focused()
    # What is undone is said, and gone to.
    page.evaluate("scrollTo(0, document.documentElement.scrollHeight)")
    keys.press("u")
    expect(page.locator("#review-bar")).to_contain_text("Undone: rejected 1 decision in feedback_testing.md.")
    expect(card(page, third)).to_be_focused()
    expect(card(page, third)).to_be_in_viewport()
    # Also where a filter hides it.
    page.goto(f"{address}/review/{proposal.public_id}/?q=very+short")
    page.wait_for_load_state("networkidle")
    keys.press("u")
    expect(card(page, first)).to_be_focused()
    assert page.url.endswith(f"/?hunk={first.pk}#hunk-{first.pk}")


def test_the_first_key_on_a_page_leads_to_a_card_and_the_second_decides_it(
    window: Page, address: str, proposal: Proposal
) -> None:
    """Each card shows its keys, and no card was chosen: a key that did nothing at all looked broken."""
    page, keys = window, window.keyboard
    first, second = (desk.hunk_with(proposal, words) for words in ("PostgreSQL 16", "Never update them"))
    page.goto(f"{address}/review/{proposal.public_id}/")
    keys.press("a")
    expect(card(page, first)).to_be_focused()
    assert not Hunk.objects.exclude(verdict=Hunk.Verdict.PENDING).exists()
    keys.press("a")
    expect(card(page, first)).to_contain_text("approved")
    # What is approved already is not what the key is meant for.
    page.goto(f"{address}/review/{proposal.public_id}/")
    keys.press("a")
    expect(card(page, second)).to_be_focused()


@pytest.mark.more
def test_a_key_pressed_while_the_next_page_comes_decides_nothing_on_the_last_one(
    window: Page, address: str, proposal: Proposal
) -> None:
    """On a page with its last decision made, `d` leads to the next page; a quick `a` took back what was approved."""
    page = window
    first = desk.hunk_with(proposal, "PostgreSQL 16")
    page.goto(f"{address}/review/{proposal.public_id}/#hunk-{first.pk}")
    expect(card(page, first)).to_be_focused()
    # The address changes; no page comes.
    page.route("**/projects/", lambda route: route.fulfill(status=204))
    # A real key may come before anything that the page put off until later.
    page.evaluate("""() => {
      location.assign('/projects/');
      document.activeElement.dispatchEvent(new KeyboardEvent('keydown', { key: 'a', bubbles: true, cancelable: true }));
    }""")
    page.keyboard.press("a")
    page.wait_for_timeout(400)
    page.unroute("**/projects/")
    first.refresh_from_db()
    assert first.verdict == Hunk.Verdict.PENDING


@pytest.mark.more
def test_the_present_mark_and_the_focus_stay_together(window: Page, address: str, proposal: Proposal) -> None:
    page, keys = window, window.keyboard
    page.goto(f"{address}/review/{proposal.public_id}/")
    keys.press("j")
    keys.press("v")
    file = proposal.files.get(path="feedback_testing.md")
    expect(page.locator("#review-viewed")).to_have_text("1 of 5 files viewed")
    expect(page.locator("#review-filters")).to_contain_text(
        "In unviewed files 3"
    )  # decisions: one is in other files, too
    marked = "[...document.querySelectorAll('.now')].map(e => e.id)"
    expect(page.locator(f"#file-{file.pk}")).to_be_focused()
    assert page.evaluate(marked) == [f"file-{file.pk}"]
    keys.press("j")
    assert page.evaluate(marked) == [page.evaluate(FOCUS)]
    keys.press("f")
    expect(page.locator("#files-q")).to_be_focused()
    keys.type("v")
    keys.press("Escape")
    assert page.evaluate(marked) == [page.evaluate(FOCUS)] != ["files-q"]


def test_what_is_typed_while_the_list_is_looked_through_stays_and_is_looked_for(
    window: Page, address: str, proposal: Proposal
) -> None:
    page, keys = window, window.keyboard
    line = Line(page, "**/review/*/?*q=*")
    page.goto(f"{address}/review/{proposal.public_id}/")
    keys.press("f")
    field = page.get_by_placeholder("Find in files")
    expect(field).to_be_focused()
    with line.held():
        with page.expect_request("**q=Post*"):
            keys.type("Post")
        keys.type("greSQL 1")
    expect(page.locator(".review-bulk")).to_contain_text("with “PostgreSQL 1”")
    keys.type("6")
    expect(page.locator(".review-bulk")).to_contain_text("with “PostgreSQL 16”")
    expect(field).to_have_value("PostgreSQL 16")
    expect(field).to_be_focused()


@pytest.mark.more
def test_a_typed_text_is_not_lost_without_a_word(window: Page, address: str, proposal: Proposal) -> None:
    page = window
    page.goto(f"{address}/review/{proposal.public_id}/")
    role = desk.hunk_with(proposal, "very short")
    asked: list[str] = []

    def stay(dialog: Dialog) -> None:
        asked.append(dialog.type)
        dialog.dismiss()

    page.on("dialog", stay)
    card(page, role).get_by_text("Edit").click()
    box = card(page, role).get_by_role("textbox")
    box.fill("Likes brief answers.")
    page.get_by_role("link", name="Projects").first.click(no_wait_after=True)
    expect(box).to_have_value("Likes brief answers.")
    page.get_by_role("searchbox", name="Words in a path").fill("train")
    until(page, lambda: len(asked) == 2)
    page.wait_for_timeout(100)  # in which it would be swapped
    expect(box).to_have_value("Likes brief answers.")
    assert asked == ["beforeunload", "confirm"]
    card(page, role).get_by_role("button", name="Save and approve").click()
    expect(card(page, role)).to_contain_text("Your version, compared with the proposal")
    page.get_by_role("link", name="Projects").first.click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Projects")
    assert len(asked) == 2
    page.remove_listener("dialog", stay)


def test_in_a_narrow_window_nothing_that_has_the_focus_is_behind_the_bars(
    window: Page, address: str, proposal: Proposal
) -> None:
    window.set_viewport_size({"width": 390, "height": 844})
    window.goto(f"{address}/review/{proposal.public_id}/")
    window.evaluate(
        "document.querySelectorAll('.review-main details.proof').forEach(fold => { fold.open = true; })"
    )
    assert window.evaluate(BEHIND) == []


@pytest.mark.more
def test_on_a_phone_one_decision_fills_the_screen_and_its_verdict_is_at_the_thumb(
    phone: Page, address: str, proposal: Proposal
) -> None:
    page = phone
    page.goto(address + make_link().path)
    page.wait_for_url(f"{address}/")
    review.decide(proposal, [desk.hunk_with(proposal, "very short")], Hunk.Verdict.REJECTED, world.ME)
    page.goto(f"{address}/review/{proposal.public_id}/")
    for words in ("PostgreSQL 16", "Never update them", "reference_runbook", "Releases leave"):
        shown = card(page, desk.hunk_with(proposal, words))
        shown.evaluate("card => card.scrollIntoView({ block: 'start', behavior: 'instant' })")
        until(page, lambda shown=shown: shown.evaluate(COVERED) == [True, 0, True])
        assert shown.evaluate("card => card.offsetHeight") > 600
        is_at_thumb, covered, is_at_foot = shown.evaluate(COVERED)
        assert is_at_thumb and not covered and is_at_foot, words
    own = card(page, desk.hunk_with(proposal, "very short"))
    own.get_by_placeholder("In your own words").fill("Not so.")
    own.get_by_role("button", name="Save reason", exact=True).tap()
    expect(own).to_contain_text("Reason saved")


@pytest.mark.parametrize("meanwhile", ["applied", pytest.param("decided", marks=pytest.mark.more)])
def test_a_text_that_cannot_be_saved_stays_in_its_field_with_the_reason_below_it(
    chromium: Browser, window: Page, address: str, proposal: Proposal, meanwhile: str
) -> None:
    context = chromium.new_context(storage_state=window.context.storage_state())
    page = context.new_page()  # whose console may say that it was refused
    page.goto(f"{address}/review/{proposal.public_id}/")
    page.locator("#review [data-hunk]").first.focus()
    page.keyboard.press("e")
    field, below = (page.locator(f"details.edit[open] {one}") for one in ("textarea", ".edit-preview"))
    field.fill("In my own words.")
    expect(below).to_contain_text("As it will read")
    if meanwhile == "applied":
        Proposal.objects.filter(pk=proposal.pk).update(state=Proposal.State.APPLIED)
    else:
        review.decide(proposal, review.select_hunks(proposal), Hunk.Verdict.APPROVED, world.ME)
    page.keyboard.press("Control+Enter")
    expect(below).to_contain_text("Your version is not saved")
    expect(field).to_have_value("In my own words.")
    context.close()
