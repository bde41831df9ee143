"""The review page as it opens: what is proposed, why, with which proof, and what is called out."""

from __future__ import annotations

import datetime as dt
import html
import itertools
import re
from pathlib import Path
from unittest import mock

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from dreams.engines import drafts
from dreams.engines.types import Edit
from dreams.lib.files import workspace
from dreams.models import DreamSession, Evidence, FileChange, Hunk, Project, Proposal, Session
from dreams.services import proposals, review
from dreams.services.memories import syncing
from dreams.web.pages import diffs
from tests.world import directory as world, review as desk

pytestmark = pytest.mark.django_db


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """Without a proposal."""
    return desk.make_project(tmp_path)


@pytest.fixture
def opened(opened: str) -> str:
    return html.unescape(opened)


def page(browser: Client, proposal: Proposal, query: str = "", status: int = 200) -> str:
    response = browser.get(f"/review/{proposal.public_id}/{query}")
    assert response.status_code == status
    return html.unescape(response.content.decode())


def card(text: str, hunk: Hunk) -> str:
    """The part of the page that is this hunk's card."""
    start = text.index(f'id="hunk-{hunk.pk}"')
    return text[start : text.index("</article>", start)]


def test_a_proposal_is_found_by_its_own_id_and_by_its_dreams(browser: Client, proposal: Proposal) -> None:
    assert proposal.dream is not None
    response = browser.get(f"/review/{proposal.dream.public_id}/")
    assert response["Location"] == f"/review/{proposal.public_id}/"
    assert browser.get("/review/d00000000/").status_code == 404


def test_sessions_of_last_year_are_dated_with_their_year(browser: Client, proposal: Proposal) -> None:
    Session.objects.update(last_at=dt.datetime(2025, 9, 3, 12, tzinfo=dt.UTC))
    assert proposal.dream is not None
    DreamSession.objects.get_or_create(dream=proposal.dream, session=Session.objects.earliest("pk"))
    assert "since 3 Sep 2025" in " ".join(page(browser, proposal).split())


def test_a_card_of_one_index_row_does_not_prepare_the_lines_of_all_others(
    browser: Client, tmp_path: Path
) -> None:
    row = "- [Topic {0}](topic_{0}.md) — what is known of {0}\n"
    texts = ["# Memory\n\n" + "".join(map(row.format, range(60)))]
    texts += [texts[0].replace("# Memory", "# All memories")]
    for number in range(0, 60, 6):
        texts.append(texts[-1].replace(f"known of {number}\n", f"known of topic {number}\n"))
    project = world.make_project(tmp_path / "large", {"MEMORY.md": texts[0]})
    edits = (world.edit("MEMORY.md", a, b, f"row {n}") for n, (a, b) in enumerate(itertools.pairwise(texts)))
    proposal = world.propose(project, *edits)
    page(browser, proposal)
    with mock.patch.object(diffs, "line_of", wraps=diffs.line_of) as made:
        assert page(browser, proposal).count("<article ") >= 10
    assert made.call_count < 200


def test_the_page_has_one_heading_and_nothing_inline(opened: str) -> None:
    assert len(re.findall(r"<h1[ >]", opened)) == 1
    assert not re.search(r"<script(?![^>]*\ssrc=)|<style|\sstyle=|\son[a-z]+=|javascript:", opened)


def test_files_come_first_with_kind_size_findings_and_verdicts(browser: Client, proposal: Proposal) -> None:
    desk.add_finding(proposal, "very short", "block", "An invisible character.")
    text = page(browser, proposal)
    entry = text[text.index(f'id="entry-{proposal.files.get(path="user_role.md").pk}"') :]
    entry = entry[: entry.index("</li>")]
    assert "user_role.md" in entry and "+1" in entry and "−1" in entry and "1 undecided" in entry
    assert re.search(r"\d+ findings?", entry)
    assert text.index('id="review-files"') < text.index('id="file-')


def test_a_change_shows_its_reason_its_words_and_its_evidence(proposal: Proposal, opened: str) -> None:
    shown = card(opened, desk.hunk_with(proposal, "PostgreSQL 16"))
    assert "Updated" in shown and "You changed the database on 12 November." in shown
    assert re.search(r"<del>.*staging-db.*</del>", shown) and re.search(
        r"<ins>.*localhost:5433.*</ins>", shown
    )
    assert "from now on run them against the pg16 container" in shown
    assert "Quote found in the transcript" in shown and "line 214" in shown
    assert "Superseded by" in shown


def test_a_quote_that_is_not_in_its_transcript_is_called_out(proposal: Proposal, opened: str) -> None:
    shown = card(opened, desk.hunk_with(proposal, "Releases leave on Tuesdays"))
    assert "Quote not found in the transcript" in shown


def test_a_decision_is_one_card_with_all_its_changes(proposal: Proposal, opened: str) -> None:
    assert "5 decisions, 8 changes" in opened and opened.count("data-hunk=") == 5
    assert opened.count('data-key="a"') == 5
    row, file = desk.hunk_with(proposal, "[Release train]"), desk.hunk_with(proposal, "Releases leave")
    learnt = card(opened, file)
    assert f'<div class="part" id="hunk-{row.pk}"' in learnt and "when releases leave" in learnt
    merged = card(opened, desk.hunk_with(proposal, "Never update them"))
    assert "feedback_tests_2.md" in merged and "[Tests, again]" in merged
    # A file that has no card of its own says where its changes are.
    index = opened[opened.index(f'id="file-{row.file_id}"') :]
    assert f'Decided with <a href="#hunk-{desk.hunk_with(proposal, "Never update them").pk}">' in index


@pytest.mark.more
def test_evidence_that_the_changes_of_a_decision_share_is_shown_once(
    browser: Client, proposal: Proposal
) -> None:
    row, memory = desk.hunk_with(proposal, "[Release train]"), desk.hunk_with(proposal, "Releases leave")
    for quote in Evidence.objects.filter(hunk=memory):
        quote.pk, quote.hunk = None, row
        quote.save()
    assert card(page(browser, proposal), memory).count("<blockquote") == 1
    Evidence.objects.filter(hunk=row).update(quote="another one")
    assert card(page(browser, proposal), memory).count("<blockquote") == 2


def test_a_new_memory_reads_as_what_was_said_and_what_is_kept_of_it(
    browser: Client, proposal: Proposal
) -> None:
    memory = desk.hunk_with(proposal, "Releases leave")
    session = Session.objects.get()
    said = {"found": True, "role": "user", "session": session, "line_no": 7, "at": timezone.now()}
    Evidence.objects.filter(hunk=memory).update(**said)
    shown = card(page(browser, proposal), memory)
    told, _, kept = shown.partition("What your agent will remember")
    assert "What you said" in told and "releases leave on tuesdays" in told
    # There is no memory to open yet: the key opens the session in which it was said.
    assert re.search(r'href="/sessions/\d+/[^"]*" data-key="o"', told)
    assert f'href="/sessions/{session.pk}/?line=7#line-7"' in told and "You, " in told
    text, _, front = kept.partition("Frontmatter, 6 lines")
    assert "Releases leave on Tuesdays" in text and "name: Release train" not in text
    assert "name: Release train" in front
    assert "line 1<" not in shown and '<details class="proof"' not in shown


def test_a_change_is_shown_once(proposal: Proposal, opened: str) -> None:
    shown = card(opened, desk.hunk_with(proposal, "very short"))
    assert shown.count('<div class="diff sides-') == 1


def test_what_cannot_be_seen_is_written_out(proposal: Proposal, opened: str) -> None:
    shown = card(opened, desk.hunk_with(proposal, "very short"))
    assert "API⟨U+200B⟩ team" in shown


def test_a_changed_link_target_is_called_out(proposal: Proposal, opened: str) -> None:
    shown = card(opened, desk.hunk_with(proposal, "reference_runbook"))
    assert "A link’s target changes, which the text does not show: runbook.md → reference_runbook.md" in shown


def test_unchanged_lines_open_in_place(proposal: Proposal, opened: str) -> None:
    shown = card(opened, desk.hunk_with(proposal, "PostgreSQL 16"))
    assert "10 unchanged lines" in shown
    assert "Rule 7: a test" in shown


def test_the_rendered_view_is_one_link_away_and_shows_no_raw_html(browser: Client, project: Project) -> None:
    before = workspace.take(syncing.memory_dir(project)).contents()
    after = {
        **before,
        "user_role.md": b"---\nname: R\nmetadata:\n  type: user\n---\n\n# Role\n\n<img src=x onerror=alert(1)>\n",
    }
    made = proposals.create(
        project, proposals.ProposalOrigin(Proposal.Origin.DREAM), drafts.draft(before, after, []), before
    )
    response = browser.get(f"/review/{made.public_id}/?file={made.files.get().pk}&view=rendered")
    text = response.content.decode()
    assert "<h2>Role</h2>" in text
    assert "metadata.type" in text and "{&#x27;" not in text
    assert "<img" not in text


def test_the_layout_is_chosen_by_a_link_and_remembered(
    browser: Client, proposal: Proposal, opened: str
) -> None:
    assert "layout-auto" in opened
    response = browser.get(f"/review/{proposal.public_id}/?show=undecided&layout=split")
    assert response["Location"] == f"/review/{proposal.public_id}/?show=undecided"
    assert "layout-split" in page(browser, proposal)


def test_a_filter_that_matches_nothing_says_so(browser: Client, proposal: Proposal) -> None:
    review.decide(proposal, review.select_hunks(proposal), Hunk.Verdict.REJECTED, world.ME)
    assert "None matching" in page(browser, proposal, "?show=undecided")


def test_what_the_agent_will_load_follows_the_verdicts(
    browser: Client, proposal: Proposal, opened: str
) -> None:
    assert "<b>5</b> of 200 lines" in opened
    review.decide(proposal, [desk.hunk_with(proposal, "[Release train]")], Hunk.Verdict.REJECTED, world.ME)
    assert "<b>4</b> of 200 lines" in page(browser, proposal)


def test_rows_that_come_back_into_what_is_loaded_are_named(browser: Client, tmp_path: Path) -> None:
    rows = [f"- [Topic {n}](topic_{n}.md) — about {n}\n" for n in range(201)]
    project = world.make_project(tmp_path, {"MEMORY.md": "".join(rows)})
    made = world.propose(
        project, world.edit("MEMORY.md", "".join(rows), "".join(rows[:5] + rows[6:]), "prune")
    )
    assert "1 row that fell off before will be read again: Topic 200" in page(browser, made)


def test_a_file_that_changed_on_disk_is_told_and_not_touched(
    browser: Client, proposal: Proposal, opened: str
) -> None:
    file = world.folder(proposal.project) / "user_role.md"
    assert "Changed since" not in opened
    file.write_text(desk.ROLE + "Lives in Oslo.\n")
    text = page(browser, proposal)
    assert "Changed since" in text and "Bring up to date" in text
    assert proposal.files.get(path="user_role.md").rebased_from == ""
    file.unlink()
    text = " ".join(page(browser, proposal).split())
    assert (
        "1 file of this proposal is no longer on disk (user_role.md)" in text
        and "changed on disk" not in text
    )


@pytest.mark.more
def test_one_file_is_a_page_or_a_fragment_at_the_same_address(browser: Client, tmp_path: Path) -> None:
    _, made = many_files(tmp_path, 60)
    last = made.files.order_by("path").last()
    assert last is not None
    alone = page(browser, made, f"?file={last.pk}")
    assert f'id="file-{last.pk}"' in alone and "<html" in alone
    part = browser.get(
        f"/review/{made.public_id}/?file={last.pk}", headers={"HX-Request": "true"}
    ).content.decode()
    assert f'id="file-{last.pk}"' in part and "<html" not in part


@pytest.mark.more
def test_the_number_of_queries_does_not_grow_with_the_proposal(browser: Client, tmp_path: Path) -> None:
    _, small = many_files(tmp_path / "a", 2)
    _, large = many_files(tmp_path / "b", 50)
    page(browser, small), page(browser, large)  # what is only asked once, such as the session, is asked here
    few, many = queries(browser, small), queries(browser, large)
    assert many <= few
    assert many < 35


def queries(browser: Client, proposal: Proposal) -> int:
    with CaptureQueriesContext(
        connection,
    ) as seen:
        page(browser, proposal)
    return len(seen)


def many_files(folder: Path, count: int) -> tuple[Project, Proposal]:
    texts = {f"topic_{n:03}.md": f"First {n}.\n\nSecond.\n\nThird {n}.\n" for n in range(count)}
    project = world.make_project(folder, texts)
    Project.objects.filter(pk=project.pk).update(name=folder.name)
    edits = [
        Edit(
            path, old, old.replace("First", "1st").replace("Third", "3rd"), f"op-{path}", "update", "Shorter."
        )
        for path, old in texts.items()
    ]
    before = workspace.take(syncing.memory_dir(project)).contents()
    after = {edit.path: (edit.after or "").encode() for edit in edits}
    origin = proposals.ProposalOrigin(Proposal.Origin.DREAM, summary="Many.")
    return project, proposals.create(project, origin, drafts.draft(before, after, edits), before)


def test_a_file_that_is_not_text_can_be_decided_and_not_edited(browser: Client, tmp_path: Path) -> None:
    project = world.make_project(tmp_path, {"odd.md": b"caf\xe9\n"})
    before = {"odd.md": b"caf\xe9\n"}
    made = proposals.create(
        project,
        proposals.ProposalOrigin(Proposal.Origin.DREAM),
        drafts.draft(before, {"odd.md": b"th\xe9\n"}, []),
        before,
    )
    shown = card(page(browser, made), Hunk.objects.get(file__proposal=made))
    assert "⟨0xE9⟩" in shown
    assert "Approve" in shown and "<textarea" not in shown


def test_viewed_is_gone_when_the_file_changes(browser: Client, proposal: Proposal) -> None:
    file = proposal.files.get(path="user_role.md")
    browser.post(f"/review/{proposal.public_id}/viewed/", {"file": file.pk, "viewed": "1"})
    assert "1 of 5 files viewed" in page(browser, proposal)
    FileChange.objects.filter(pk=file.pk).update(base_sha=desk.rows.blob("another state"))
    assert "0 of 5 files viewed" in page(browser, proposal)
