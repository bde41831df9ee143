"""A question about an index that is too long: every row can be read before it is ticked."""

from __future__ import annotations

import html
import re
from pathlib import Path

import pytest
from django.test import Client

from dreams.engines.types import Edit, Option, Place, Question
from dreams.models import Project
from dreams.web.pages import diffs, question_card
from tests.world import directory as world, questions as asked

pytestmark = pytest.mark.django_db(transaction=True)
ROWS = [f"- [Note {number}](note_{number:02}.md) — what note {number} says\n" for number in range(25)]
INDEX = "# Memory\n\n" + "".join(ROWS)


def _without(row: str) -> Edit:
    path = row.partition("(")[2].partition(")")[0]
    return Edit("MEMORY.md", INDEX, INDEX.replace(row, ""), path, "update", f"Shortens {path}.")


def _ask(project: Project) -> None:
    places = tuple(Place("MEMORY.md", number, row.rstrip("\n")) for number, row in enumerate(ROWS, 3))
    shorten = Option("demote", "Shorten the selected rows", tuple(map(_without, ROWS)))
    asked.ask(project, Question("index", "too long", "The index is too long.", places, (shorten, asked.KEEP)))


@pytest.fixture
def card(browser: Client, tmp_path: Path) -> str:
    project = world.make_project(tmp_path, {"MEMORY.md": INDEX})
    _ask(project)
    page = html.unescape(browser.get(f"/projects/{project.pk}/questions/").content.decode())
    return page.partition('class="question-rows"')[2].partition("</fieldset>")[0]


def test_a_change_of_a_long_index_lays_out_no_line_that_its_card_does_not_show(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    laid_out: list[str] = []
    runs = diffs.runs
    monkeypatch.setattr(diffs, "runs", lambda row: (laid_out.append(row.text), runs(row))[1])
    long = INDEX + "".join(ROWS) * 9
    made = question_card.file_diff("MEMORY.md", long, long.replace(ROWS[0], "", 1), lambda said: said)
    assert len(laid_out) == sum(len(block.lines) for block in made.blocks)


def test_each_row_is_shown_with_its_text_and_its_line(card: str) -> None:
    for number, row in enumerate(ROWS, 3):
        assert f"<span>{row.strip()}</span>" in card, row
        assert re.search(rf"MEMORY\.md:{number}</a>", card), f"line {number}"


def test_after_the_first_rows_the_rest_is_folded(card: str) -> None:
    first, _, folded = card.partition("17 more")
    assert first.count('name="row"') == 8 and folded.count('name="row"') == 17


@pytest.mark.more
def test_no_places_are_said_to_be_left_out(browser: Client, tmp_path: Path) -> None:
    project = world.make_project(tmp_path, {"MEMORY.md": INDEX})
    _ask(project)
    assert "more place" not in browser.get(f"/projects/{project.pk}/questions/").content.decode()


def test_one_link_ticks_every_row_and_another_none(browser: Client, tmp_path: Path) -> None:
    project = world.make_project(tmp_path, {"MEMORY.md": INDEX})
    _ask(project)
    here = f"/projects/{project.pk}/questions/"
    text = html.unescape(browser.get(here).content.decode())
    for words, ticked in (("Tick all 25", 25), ("Tick none", 0)):
        address = re.search(rf'<a href="([^"]+)"[^>]*>{words}</a>', text, re.DOTALL)
        assert address is not None, words
        card = html.unescape(browser.get(address[1]).content.decode())
        assert card.count(" checked>") == ticked
        assert ('<details class="fold more-rows" open>' in card) == (ticked > 0), "no ticked row is folded"
        assert f'name="next" value="{here}"' in card, "the answer leads back to the page"
