"""However much a dream proposes, a page of its review can be read: in pixels, in a real browser."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.browser.judging import bring_rules, broken_rules
from tests.web.test_review_page import many_files
from tests.web.test_review_pages import many_quotes

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytestmark = [pytest.mark.sweep, pytest.mark.django_db(transaction=True)]
MOST_PIXELS = 20_000


def test_no_page_of_a_large_review_is_higher_than_a_person_reads(
    window: Page, address: str, tmp_path: Path
) -> None:
    page = window
    page.set_viewport_size({"width": 1200, "height": 900})
    _, small = many_files(tmp_path / "files", 75)
    made = [small, many_quotes(tmp_path / "rows", 72, 70), many_quotes(tmp_path / "more", 150, 5)]
    for proposal in made:
        page.goto(f"{address}/review/{proposal.public_id}/")
        page.mouse.wheel(0, 50_000)
        page.wait_for_load_state("networkidle")
        assert page.evaluate("document.documentElement.scrollHeight") < MOST_PIXELS
        assert page.locator("[data-hunk]").count() <= 25
    bring_rules(page)
    assert broken_rules(page) == []
    page.get_by_role("link", name="Next").first.click()
    page.wait_for_url("**page=2**")
    assert page.evaluate("document.documentElement.scrollHeight") < MOST_PIXELS
