"""What is printed is whole: paper does not scroll."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.world import review as desk

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.more]
# A long text in each kind of box that scrolls on a screen → those of which a part would stay hidden.
HIDDEN = """() => {
  const boxes = ['question-place', 'evidence', 'evidence of-several', 'piece', 'loaded-text'];
  const texts = boxes.map(name => {
    const box = document.querySelector('main').appendChild(document.createElement('div'));
    box.className = name;
    const text = box.appendChild(document.createElement(/piece|loaded/.test(name) ? 'pre' : 'blockquote'));
    text.innerText = 'A line.\\n'.repeat(200);
    return text;
  });
  return boxes.filter((_, at) => texts[at].scrollHeight > texts[at].clientHeight + 2);
}"""
DATED = "time => time.title && getComputedStyle(time, '::after').content.includes(time.title)"
UNCHANGED = ".diff-skip:not(.diff-rest, .diff-front)"
FOLDED = """unchanged => [...document.querySelectorAll(`main details:not([open], ${unchanged}, .no-print *)`)]
  .filter(fold => fold.checkVisibility() && ![...fold.children].some(
    part => part.tagName !== 'SUMMARY' && part.checkVisibility({contentVisibilityAuto: true}) && part.offsetHeight))
  .map(fold => fold.innerText)"""


# What a long change, and a new memory, have folded.
ADD_FOLDS = """() => ['diff-rest', 'diff-front'].map(name => {
  const fold = document.querySelector('main').appendChild(document.createElement('details'));
  fold.className = `diff-skip ${name}`;
  fold.innerHTML = '<summary>More</summary><div class="diff-lines">A line.</div>';
}).length"""


# Headings of sections of which nothing else is printed.
ALONE = """() => [...document.querySelectorAll('main section')].filter(part => part.checkVisibility())
  .filter(part => ![...part.querySelectorAll('*')].some(one => one.checkVisibility() && one.offsetHeight
    && !one.closest('h1, h2, h3, .section-head') && one.innerText?.trim()))
  .map(part => part.innerText).filter(text => text.trim())"""


def test_no_long_text_is_cut_on_paper(window: Page, address: str, tmp_path: Path) -> None:
    proposal = desk.make_proposal(desk.make_project(tmp_path))
    window.goto(f"{address}/review/{proposal.public_id}/")
    assert window.evaluate(HIDDEN), "on a screen they scroll"
    window.emulate_media(media="print")
    made_at = window.locator("main time[data-age]").first
    assert made_at.evaluate(DATED), "a distance in time alone would be untrue the day after"
    hidden = window.evaluate(HIDDEN)
    assert window.evaluate(ADD_FOLDS) == 2
    assert window.evaluate(FOLDED, UNCHANGED) == [], "what is folded is on paper"
    window.emulate_media(media="screen")
    assert hidden == []


def test_no_heading_is_alone_on_paper(window: Page, address: str, tmp_path: Path) -> None:
    proposal = desk.make_proposal(desk.make_project(tmp_path))
    window.emulate_media(media="print")
    for path in ("", f"/projects/{proposal.project_id}/", f"/review/{proposal.public_id}/", "/health/"):
        window.goto(f"{address}{path}")
        assert window.evaluate(ALONE) == [], path
