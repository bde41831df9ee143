"""What is pressed while a decision is on its way to the server waits for it, a submit too: what was decided is written."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

from dreams.models import AuditEntry, Hunk, Proposal
from dreams.services import review
from dreams.services.apply import applying
from tests.browser.windows import Line, until
from tests.world import directory as world, review as desk

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def line(window: Page) -> Iterator[Line]:
    yield Line(window, "**/decide/")
    window.unroute_all(behavior="wait")


@pytest.fixture
def proposal(window: Page, address: str, tmp_path: Path, line: Line) -> Proposal:
    made = desk.make_proposal(desk.make_project(tmp_path))
    made.findings.all().delete()
    window.goto(f"{address}/review/{made.public_id}/")
    return made


def test_the_last_decision_is_written_though_submit_was_quicker(
    window: Page, line: Line, proposal: Proposal
) -> None:
    window.locator("#review [data-hunk]").first.focus()
    with line.held():
        window.keyboard.press("a")
        window.keyboard.press("w")
        expect(window.locator("#submit-says")).to_have_text("Submits when the last decision is kept.")
    expect(window.locator(".message").first).to_contain_text("Written")
    assert Hunk.objects.filter(verdict=Hunk.Verdict.APPROVED).exists()


@pytest.mark.parametrize(
    ("keys", "decided", "verdict", "reason"),
    [
        pytest.param("ar", 2, "rejected", "", marks=pytest.mark.more),
        ("r1", 2, "rejected", "Wrong"),
        ("au", 2, "pending", ""),
        ("aa", 1, "approved", ""),
    ],
)
def test_keys_on_a_card_that_is_being_saved_are_pressed_when_it_is(
    window: Page, line: Line, proposal: Proposal, keys: str, decided: int, verdict: str, reason: str
) -> None:
    card = window.locator("#review [data-hunk]").first
    pk = card.get_attribute("data-hunk")
    card.focus()
    with line.held():
        for key in keys:
            window.keyboard.press(key)
    until(window, lambda: _times_decided() == decided)
    window.wait_for_timeout(400)  # what waits is pressed after a tenth of a second
    hunk = Hunk.objects.get(pk=pk)
    assert (_times_decided(), hunk.verdict, hunk.decide_reason) == (decided, verdict, reason)


def _times_decided() -> int:
    return AuditEntry.objects.filter(action="review.decided").count()


def test_what_is_typed_for_the_text_of_a_card_that_is_being_saved_decides_nothing(
    window: Page, line: Line, proposal: Proposal
) -> None:
    window.locator("#review [data-hunk]").first.focus()
    with line.held():
        window.keyboard.type("aejar")
    expect(window.locator("details.edit[open] textarea")).to_be_focused()
    taken = Hunk.objects.exclude(verdict=Hunk.Verdict.PENDING).values_list("verdict", "operation").distinct()
    assert [verdict for verdict, _ in taken] == ["approved"]


@pytest.mark.more
def test_nothing_is_submitted_when_the_decision_was_not_kept(
    chromium: Browser, window: Page, proposal: Proposal
) -> None:
    context = chromium.new_context(storage_state=window.context.storage_state())
    page = context.new_page()
    page.goto(window.url)
    other = Line(page, "**/decide/")
    page.locator("#review [data-hunk]").first.focus()
    context.clear_cookies()
    with other.held():
        page.keyboard.press("a")
        page.keyboard.press("w")
    expect(page.locator("#messages .message")).to_be_visible()
    page.wait_for_timeout(300)  # what would be pressed is pressed after a tenth of a second
    assert page.url == window.url
    context.close()
    proposal.refresh_from_db()
    assert proposal.state == Proposal.State.OPEN


@pytest.mark.more
def test_boxes_of_an_undo_that_are_unticked_quicker_than_the_server_stay_unticked(
    window: Page, address: str, tmp_path: Path
) -> None:
    made = world.three_changes(world.make_project(tmp_path))
    review.decide(made, review.select_hunks(made), Hunk.Verdict.APPROVED, world.ME)
    applying.apply(made, world.ME)
    line = Line(window, "**/undo/?*")
    window.goto(f"{address}/review/{made.public_id}/undo/")
    boxes = window.locator("#undo input[name=hunk]")
    count = boxes.count()
    with line.held():
        boxes.nth(0).uncheck()
        boxes.nth(1).uncheck()
    expect(window.locator("#undo")).to_contain_text(f"{count - 2} of {count} ticked")
    expect(boxes.nth(0)).not_to_be_checked()
    expect(boxes.nth(1)).not_to_be_checked()
    window.unroute_all(behavior="wait")
