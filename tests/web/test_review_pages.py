"""A large review has pages of changes: each change is on one of them, links lead to the right one, verdicts stay there."""

from __future__ import annotations

import html
import re
from pathlib import Path

import pytest
from django.test import Client

from dreams.engines import drafts
from dreams.engines.types import Citation, Edit
from dreams.lib.files import workspace
from dreams.models import Hunk, Proposal
from dreams.services import proposals
from dreams.services.memories import syncing
from tests.web.test_review_page import many_files
from tests.world import directory as world

pytestmark = pytest.mark.django_db


def page(browser: Client, proposal: Proposal, query: str = "") -> str:
    return html.unescape(browser.get(f"/review/{proposal.public_id}/{query}").content.decode())


def changes(text: str) -> list[int]:
    return [int(pk) for pk in re.findall(r'data-hunk="(\d+)"', text)]


def many_quotes(folder: Path, rows: int, quotes: int) -> Proposal:
    """One file of which each of so many lines changes, each change with evidence in so many places."""
    old = "".join(
        f"- Row {n} says one thing at some length, so that it takes a line or two.\n\nKept {n}.\n\n"
        for n in range(rows)
    )
    project = world.make_project(folder, {"notes.md": old})
    edits, now = [], old
    for n in range(rows):
        after = now.replace(f"- Row {n} says one thing", f"- Row {n} tells another")
        cited = tuple(
            Citation("memory", f"Quote {n} {q}: " + "words that go on " * 12, place="notes.md", line_no=q + 1)
            for q in range(quotes)
        )
        edits.append(Edit("notes.md", now, after, f"op-{n}", "update", f"Change {n}.", cited))
        now = after
    before = workspace.take(syncing.memory_dir(project)).contents()
    origin = proposals.ProposalOrigin(Proposal.Origin.DREAM, summary="Many rows.")
    return proposals.create(project, origin, drafts.draft(before, {"notes.md": now.encode()}, edits), before)


@pytest.mark.more
def test_every_decision_is_on_one_page(browser: Client, tmp_path: Path) -> None:
    _, made = many_files(tmp_path, 75)
    seen: list[int] = []
    query = ""
    for _ in range(20):
        text = page(browser, made, query)
        assert 0 < len(changes(text)) <= 25
        seen += changes(text)
        following = re.search(r'rel="next" href="[^"?]*(\?[^"#]*)#review"', text)
        if following is None:
            break
        query = following[1]
    # Two changes of a file go together: one decision.
    assert len(seen) == len(set(seen)) == 75
    operations = Hunk.objects.filter(pk__in=seen).values("operation").distinct()
    assert operations.count() == made.operations.count() == 75


def test_a_small_review_has_no_pages(browser: Client, tmp_path: Path) -> None:
    _, made = many_files(tmp_path, 10)
    text = page(browser, made)
    assert len(changes(text)) == 10 and "review-window" not in text


@pytest.mark.more
def test_a_change_is_found_on_its_page(browser: Client, tmp_path: Path) -> None:
    _, made = many_files(tmp_path, 75)
    last = changes(page(browser, made, "?page=99"))[-1]
    assert last not in changes(page(browser, made))
    assert last in changes(page(browser, made, f"?hunk={last}"))


@pytest.mark.more
def test_a_verdict_on_a_page_comes_back_to_it(browser: Client, tmp_path: Path) -> None:
    _, made = many_files(tmp_path, 75)
    pk = changes(page(browser, made, "?page=3"))[0]
    hunk = Hunk.objects.select_related("file").get(pk=pk)
    data = {"hunk": pk, "base": hunk.file.base_sha, "verdict": "approved", "back": "page=3"}
    response = browser.post(f"/review/{made.public_id}/decide/", data)
    assert response.headers["Location"] == f"/review/{made.public_id}/?page=3#hunk-{pk}"
    answer = browser.post(
        f"/review/{made.public_id}/decide/",
        {**data, "verdict": "pending", "shown": f"{pk}"},
        headers={"HX-Request": "true"},
    ).content.decode()
    assert changes(answer) == [pk]


@pytest.mark.more
def test_a_file_with_more_changes_than_a_page_has_pages_of_its_own(browser: Client, tmp_path: Path) -> None:
    made = many_quotes(tmp_path, 60, 1)
    [file] = made.files.all()
    text = page(browser, made, f"?file={file.pk}")
    assert "of its 60 decisions are on this page" in text
    first, second = changes(text), changes(page(browser, made, f"?file={file.pk}&page=2"))
    assert first and second and not set(first) & set(second)


@pytest.mark.more
def test_a_card_shows_three_places_of_evidence_and_folds_the_rest(browser: Client, tmp_path: Path) -> None:
    made = many_quotes(tmp_path, 1, 5)
    text = page(browser, made)
    shown, _, folded = text.partition('<details class="fold more-proof">')
    assert shown.count('<figure class="evidence') == 3
    assert "2 more places" in folded and folded.count('<figure class="evidence') == 2


@pytest.mark.more
def test_a_long_change_is_folded_and_whole(browser: Client, tmp_path: Path) -> None:
    project = world.make_project(tmp_path, {"MEMORY.md": "# Memory\n"})
    before = workspace.take(syncing.memory_dir(project)).contents()
    long = "".join(f"Line {n} of the new memory.\n" for n in range(200))
    edit = Edit("long.md", None, long, "add", "learn", "New.", ())
    made = proposals.create(
        project,
        proposals.ProposalOrigin(Proposal.Origin.DREAM),
        drafts.draft(before, {**before, "long.md": long.encode()}, [edit]),
        before,
    )
    text = page(browser, made)
    shown, _, folded = text.partition("160 more lines of this change")
    assert "Line 39 of" in shown and "Line 40 of" not in shown
    assert "Line 40 of" in folded and "Line 199 of" in folded
