"""What is being typed is shown as it would stand and read, with what the checks say, and nothing is kept."""

from __future__ import annotations

import html

import pytest
from django.test import Client

from dreams.models import Blob, Decision, FileChange, Hunk, Proposal
from tests.world import review as desk

pytestmark = pytest.mark.django_db


def preview(browser: Client, hunk: Hunk, text: str, **headers: str):
    data = {"hunk": hunk.pk, "base": hunk.file.base_sha, "text": text}
    return browser.post(f"/review/{hunk.file.proposal.public_id}/preview/", data, headers=headers)


def test_a_preview_shows_the_lines_the_reading_and_the_findings_and_keeps_nothing(
    browser: Client, proposal: Proposal
) -> None:
    hunk = desk.hunk_with(proposal, "very short")
    before = (Blob.objects.count(), Decision.objects.count(), proposal.findings.count())
    response = preview(browser, hunk, "Likes **brief** answers.\u202e\r\n", **{"HX-Request": "true"})
    text = html.unescape(response.content.decode())
    assert response.status_code == 200 and "<html" not in text
    assert "<strong>brief</strong>" in text and "⟨U+202E⟩" in text
    assert "U+202E" in text.partition('class="finding')[2]
    hunk.refresh_from_db()
    assert hunk.verdict == "pending"
    assert (Blob.objects.count(), Decision.objects.count(), proposal.findings.count()) == before


@pytest.mark.more
def test_a_preview_compares_what_is_typed_without_the_lines_around_it(
    browser: Client, proposal: Proposal
) -> None:
    for hunk in Hunk.objects.filter(file__proposal=proposal, file__kind="modify"):
        assert (
            "diff-skip" not in preview(browser, hunk, "Other.\n", **{"HX-Request": "true"}).content.decode()
        )


def test_without_scripts_the_preview_is_a_page_that_can_be_kept_from(
    browser: Client, proposal: Proposal
) -> None:
    hunk = desk.hunk_with(proposal, "very short")
    text = preview(browser, hunk, "Likes brief answers.").content.decode()
    assert "<html" in text and "Nothing is saved yet." in text and "Likes brief answers." in text
    assert f'action="/review/{proposal.public_id}/edit/"' in text


def test_a_preview_of_no_lines_says_that_they_go(browser: Client, proposal: Proposal) -> None:
    text = preview(
        browser, desk.hunk_with(proposal, "very short"), "", **{"HX-Request": "true"}
    ).content.decode()
    assert "Nothing: these lines are removed." in text


def test_a_preview_that_comes_behind_the_save_is_no_conflict(browser: Client, proposal: Proposal) -> None:
    """It was on its way when the text was saved: the card that asked for it is another one by then."""
    hunk = desk.hunk_with(proposal, "very short")
    data = {"hunk": hunk.pk, "base": hunk.file.base_sha, "text": "Likes brief answers.", "seen": "before"}
    late = browser.post(f"/review/{proposal.public_id}/preview/", data, headers={"HX-Request": "true"})
    assert late.status_code == 200 and "Likes brief answers." in late.content.decode()
    assert browser.post(f"/review/{proposal.public_id}/edit/", data).status_code == 409


def test_a_preview_on_a_state_that_is_gone_is_refused(browser: Client, proposal: Proposal) -> None:
    hunk = desk.hunk_with(proposal, "very short")
    FileChange.objects.filter(pk=hunk.file_id).update(base_sha=desk.rows.blob("another"))
    assert preview(browser, hunk, "x").status_code == 409
