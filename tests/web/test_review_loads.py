"""What the agent loads, beside a review: before the submit what it would load, after it what is on disk and what was before."""

from __future__ import annotations

import html
import re
from pathlib import Path

import pytest
from django.test import Client
from django.utils import timezone

from dreams.models import Finding, Hunk, Memory, Proposal
from dreams.services import review, rollback, settings_changes
from dreams.services.apply import applying
from dreams.services.memories import syncing
from dreams.services.rollback import Selection
from tests.world import directory as world, review as desk

pytestmark = pytest.mark.django_db

#: What counts of an index of so many rows: its title, and a blank line.
ROWS_3, ROWS_2 = 5, 4


def loads(browser: Client, proposal: Proposal) -> str:
    page = browser.get(f"/review/{proposal.public_id}/").content.decode()
    part = page.partition('id="review-loads"')[2].partition("</section>")[0]
    return " ".join(html.unescape(re.sub(r"<[^>]+>", " ", part.partition(">")[2])).split())


def write_the_merge(proposal: Proposal) -> None:
    """The row of the merged file goes; the new memory and its row are left undecided."""
    hunks = review.with_parts([desk.hunk_with(proposal, "Never update them")])
    review.decide(proposal, hunks, Hunk.Verdict.APPROVED, world.ME)
    for _ in range(3):
        review.confirm(proposal, proposal.findings.filter(severity=Finding.Severity.BLOCK), world.ME)
    assert applying.apply(proposal, world.ME).complete
    proposal.refresh_from_db()


def test_before_the_submit_it_is_what_would_be_loaded(browser: Client, proposal: Proposal) -> None:
    assert "What your agent will load" in loads(browser, proposal)
    assert f"{ROWS_3} of 200 lines" in loads(browser, proposal)


def test_after_the_submit_it_is_what_is_on_disk_and_what_was_before(
    browser: Client, proposal: Proposal
) -> None:
    write_the_merge(proposal)
    said = loads(browser, proposal)
    assert f"{ROWS_2} of 200 lines (before: {ROWS_3})" in said
    assert "What your agent loads now" in said and "MEMORY.md on disk" in said


@pytest.mark.more
def test_after_an_undo_it_is_what_is_on_disk_then(browser: Client, proposal: Proposal) -> None:
    write_the_merge(proposal)
    rollback.rollback(proposal, world.ME)
    said = loads(browser, proposal)
    assert f"{ROWS_3} of 200 lines" in said and "before:" not in said


@pytest.mark.more
def test_what_was_written_to_the_index_since_is_on_disk_too(browser: Client, proposal: Proposal) -> None:
    write_the_merge(proposal)
    index = world.folder(proposal.project) / "MEMORY.md"
    index.write_text(index.read_text() + "- [One](one.md)\n- [Two](two.md)\n")
    syncing.refresh(proposal.project)
    assert f"{ROWS_2 + 2} of 200 lines (before: {ROWS_3})" in loads(browser, proposal)


@pytest.mark.more
def test_an_undo_of_one_change_leaves_the_others_on_disk(browser: Client, proposal: Proposal) -> None:
    write_the_merge(proposal)
    rollback.rollback(proposal, world.ME, Selection(paths=("MEMORY.md",)))
    assert f"{ROWS_3} of 200 lines" in loads(browser, proposal)


def test_what_is_approved_and_not_written_counts_without_what_was_left(
    browser: Client, proposal: Proposal
) -> None:
    hunks = review.with_parts([desk.hunk_with(proposal, "Never update them")])
    review.decide(proposal, hunks, Hunk.Verdict.APPROVED, world.ME)
    Proposal.objects.filter(pk=proposal.pk).update(state=Proposal.State.SUBMITTED)
    assert f"{ROWS_2} of 200 lines (now {ROWS_3})" in loads(browser, proposal)
    Memory.objects.filter(project=proposal.project, path="MEMORY.md").update(gone_at=timezone.now())
    assert f"{ROWS_2} of 200 lines (when this was proposed: {ROWS_3})" in loads(browser, proposal)


@pytest.mark.more
def test_a_row_that_no_session_loads_is_not_told_as_known_alone(browser: Client, tmp_path: Path) -> None:
    project = desk.make_project(tmp_path)
    settings_changes.set_override("index_max_lines", 10, actor="owner", project=project)
    folder = world.folder(project)
    rows = "".join(f"- [Filler {number}](filler_{number}.md) — fills\n" for number in range(12))
    index = (folder / "MEMORY.md").read_text()
    (folder / "MEMORY.md").write_text(index + rows)
    syncing.refresh(project)
    note = "---\nname: New\n---\n\nA new note.\n"
    made = world.propose(
        project,
        world.edit("new_note.md", None, note, "new"),
        world.edit("MEMORY.md", index + rows, index + rows + "- [New](new_note.md) — new\n", "new"),
    )
    review.decide(made, review.select_hunks(made), Hunk.Verdict.APPROVED, world.ME)
    assert applying.apply(made, world.ME).complete
    page = browser.get(f"/review/{made.public_id}/").content.decode()
    card = page.partition('class="card written"')[2].partition("</section>")[0]
    said = " ".join(re.sub(r"<[^>]+>", " ", card).split())
    assert "The index is too long, so a session does not begin with this row: New" in said
