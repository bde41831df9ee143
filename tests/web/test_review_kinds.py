"""What kind of change it is shows: moved, renamed, frontmatter, index rows; where each line went; as it will read."""

from __future__ import annotations

import html
import re
from pathlib import Path

import pytest
from django.test import Client

from dreams.models import FileChange, Hunk, Proposal
from dreams.services import review
from tests.world import directory as world, every_kind as kinds, review as desk
from tests.world.kept import Keep, Kept
from tests.world.pressing import labels, press

pytestmark = pytest.mark.django_db


@pytest.fixture(scope="module")
def made(kept: Keep) -> Kept[Proposal]:
    return kept(lambda folder: kinds.make_proposal(kinds.make_project(folder)))


def page(browser: Client, proposal: Proposal, query: str = "") -> str:
    return html.unescape(browser.get(f"/review/{proposal.public_id}/{query}").content.decode())


def of_file(browser: Client, proposal: Proposal, path: str, more: str = "") -> str:
    return page(browser, proposal, f"?file={proposal.files.get(path=path).pk}{more}")


def hunk(proposal: Proposal, path: str, words: str) -> Hunk:
    """The hunk of this file that adds or removes the words."""
    found = [
        row
        for row, lines in kinds.proposals.text_hunks(proposal.files.get(path=path))
        if words in lines.added + lines.removed
    ]
    return found[0]


@pytest.mark.more
def test_a_line_that_went_to_another_file_says_so_at_both_ends_and_leads_there(
    browser: Client, proposal: Proposal
) -> None:
    gone = hunk(proposal, "project_deploy.md", "Never deploy on a Friday")
    come = hunk(proposal, "feedback_rules.md", "Never deploy on a Friday")
    text = page(browser, proposal)
    assert f'Moved to <a href="#hunk-{come.pk}">feedback_rules.md, line 11</a>' in text
    assert f'Moved from <a href="#hunk-{gone.pk}">project_deploy.md, line 22</a>' in text
    # A file alone shows its decisions whole, with what they change elsewhere.
    alone = of_file(browser, proposal, "project_deploy.md")
    assert f'<div class="part" id="hunk-{gone.pk}"' in alone
    assert f'Moved to <a href="#hunk-{come.pk}">feedback_rules.md, line 11</a>' in alone


@pytest.mark.more
def test_evidence_of_an_operation_is_shown_once(browser: Client, proposal: Proposal) -> None:
    for path in ("feedback_rules.md", "project_deploy.md"):
        assert of_file(browser, proposal, path).count("<blockquote") == 1


@pytest.mark.more
def test_a_line_that_changed_its_place_in_the_file_says_so(browser: Client, proposal: Proposal) -> None:
    text = of_file(browser, proposal, "feedback_rules.md")
    assert ">line 10</a>" in text and "Moved to" in text and "Moved from" in text


@pytest.mark.more
def test_a_removed_line_has_beside_it_where_it_went_or_why_it_left(
    browser: Client, proposal: Proposal
) -> None:
    text = page(browser, proposal)
    assert "Now in" in text and "Left out: its file is removed" in text and "Not explained" in text
    assert "“q12 is gone since Monday”" in of_file(browser, proposal, "reference_queues.md")


def test_a_renamed_file_is_one_file_with_its_difference(browser: Client, proposal: Proposal) -> None:
    old, new = (proposal.files.get(path=f"project_{name}.md") for name in ("oncall", "oncall_rota"))
    text = page(browser, proposal)
    assert f'id="entry-{new.pk}"' in text and f'id="entry-{old.pk}"' not in text
    assert "was project_oncall.md" in text and "17 files" in text
    several = browser.get("/several/", {"proposal": proposal.public_id, "verdict": "reject"})
    assert "26 changes" in several.content.decode()
    card = of_file(browser, proposal, "project_oncall_rota.md")
    assert "<del>hand</del>" in card and "<ins>the bot</ins>" in card
    assert f'id="file-{new.pk}"' in of_file(browser, proposal, "project_oncall.md")


@pytest.mark.more
def test_one_verdict_decides_the_whole_rename(browser: Client, proposal: Proposal) -> None:
    row = hunk(proposal, "project_oncall_rota.md", "wiki")
    at = f"/review/{proposal.public_id}/decide/"
    browser.post(at, {"hunk": row.pk, "base": row.file.base_sha, "verdict": "approved"})
    taken = Hunk.objects.filter(file__proposal=proposal, verdict="approved")
    assert sorted(taken.values_list("file__path", flat=True)) == [
        "MEMORY.md",
        "project_oncall.md",
        "project_oncall_rota.md",
    ]
    assert "1 of 16 decided" in page(browser, proposal)
    assert "15 of 16 decisions" in browser.get("/").content.decode()


@pytest.mark.more
def test_a_verdict_is_refused_when_another_part_of_its_operation_changed(
    browser: Client, proposal: Proposal
) -> None:
    from dreams.web.pages import review_proposal as selector

    row = hunk(proposal, "project_oncall_rota.md", "wiki")
    seen = selector.load(proposal).decision_of[row.pk].seen
    FileChange.objects.filter(proposal=proposal, path="project_oncall.md").update(
        base_sha=desk.rows.blob("other")
    )
    data = {"hunk": row.pk, "base": row.file.base_sha, "seen": seen, "verdict": "approved"}
    assert browser.post(f"/review/{proposal.public_id}/decide/", data).status_code == 409


@pytest.mark.more
def test_frontmatter_index_rows_tables_and_code_are_named_and_what_is_invisible_is_called_out(
    browser: Client, proposal: Proposal
) -> None:
    text = page(browser, proposal)
    for what in ("table", "code"):
        assert f'<span class="hunk-what">{what}</span>' in text, what
    assert '<span class="hunk-what">index row</span>' in of_file(browser, proposal, "MEMORY.md")
    queues = of_file(browser, proposal, "reference_queues.md")
    assert "The frontmatter changes, which the text does not show: description." in queues
    boards = of_file(browser, proposal, "reference_dashboards.md")
    assert "A link’s target changes" in boards


@pytest.mark.more
def test_the_rendered_view_marks_what_comes_and_goes_and_its_links_lead_somewhere(
    browser: Client, proposal: Proposal
) -> None:
    deploy = of_file(browser, proposal, "project_deploy.md", "&view=rendered")
    assert "what is added and removed is marked" in deploy
    assert '<del class="passage">' in deploy and '<ins class="passage">' in deploy
    assert len(re.findall('<table [^>]*dir="auto"', deploy)) == 2 and deploy.count("<pre>") == 2
    boards = proposal.files.get(path="reference_dashboards.md")
    read = of_file(browser, proposal, boards.path, "&view=rendered")
    # No cards are shown there, so the file has buttons; beside its one card it needs none.
    assert "Approve 1" in labels(read)
    assert "Approve 1" not in labels(of_file(browser, proposal, boards.path))
    answer = press(browser, read, "Reject 1", **{"HX-Request": "true"})
    assert (
        f'id="file-{boards.pk}"' in (text := answer.content.decode()) and '<ins class="passage">' not in text
    )
    billing = of_file(browser, proposal, "project_billing.md", "&view=rendered")
    importer = proposal.project.memories.get(path="project_importer.md")
    assert f'<a class="wikilink" href="/memories/{importer.pk}/"' in billing
    train = proposal.files.get(path="project_release_train.md")
    review.decide(proposal, [hunk(proposal, "user_taste.md", "Korean")], Hunk.Verdict.REJECTED, world.ME)
    assert f'id="entry-{train.pk}"' in page(browser, proposal, "?show=undecided")


def test_what_to_do_is_said_once_on_a_card(browser: Client, tmp_path: Path) -> None:
    project = world.make_project(tmp_path)
    added = "\nSee https://one.example/a.\n\nSee https://two.example/b.\n"
    made = world.propose(
        project, world.edit("project_deploy.md", world.DEPLOY, world.DEPLOY + added, "hosts")
    )
    text = page(browser, made)
    assert text.count("Mentions a new host") == 2
    assert text.count("Make sure that you know this address.") == 1
