"""The list of files: narrowed by words, kind and folder, decided as it is narrowed, walked page by page."""

from __future__ import annotations

import html
from pathlib import Path

import pytest
from django.test import Client

from dreams.models import Hunk, Proposal
from dreams.web.selectors.review import desk as selector
from tests.web import kinds_world as kinds
from tests.web.test_review_page import many_files

pytestmark = pytest.mark.django_db


@pytest.fixture
def proposal(tmp_path: Path) -> Proposal:
    return kinds.make_proposal(kinds.make_project(tmp_path))


def page(browser: Client, proposal: Proposal, query: str = "") -> str:
    return html.unescape(browser.get(f"/review/{proposal.public_id}/{query}").content.decode())


def listed(browser: Client, proposal: Proposal, query: str) -> set[str]:
    text = page(browser, proposal, query)
    return {file.path for file in proposal.files.all() if f'id="entry-{file.pk}"' in text}


NARROWED = {
    "?q=importer": {"project_importer.md", "project_billing.md"},
    "?q=gamma+workers": {"project_deploy.md"},
    "?q=수요일": {"user_speech.md"},
    "?q=wednesday": {"user_speech.md"},
    "?kind=R": {"project_oncall_rota.md"},
    "?kind=D": {"feedback_flaky.md", "project_editor_trial.md"},
    "?kind=date": {f"topics/topic_{n:02}.md" for n in range(1, kinds.TOPICS + 1)},
    "?folder=topics/&q=topic_03": {"topics/topic_03.md"},
    "?show=findings&kind=A": {"project_release_train.md"},
}


def test_the_list_is_narrowed_by_words_kind_and_folder(browser: Client, proposal: Proposal) -> None:
    assert {query: listed(browser, proposal, query) for query in NARROWED} == NARROWED


def test_what_is_listed_is_decided_with_one_verdict(browser: Client, proposal: Proposal) -> None:
    bases = selector.load(proposal).digest
    text = page(browser, proposal, "?folder=topics/")
    assert "4 files" in text and "Approve 4" in text and "Reject 4" in text
    data = {"scope": "listed", "bases": bases, "back": "folder=topics/", "verdict": "rejected", "count": 4}
    browser.post(f"/review/{proposal.public_id}/decide/", data)
    rejected = Hunk.objects.filter(file__proposal=proposal, verdict="rejected")
    assert {path.partition("/")[0] for path in rejected.values_list("file__path", flat=True)} == {"topics"}
    assert rejected.count() == kinds.TOPICS


def test_a_verdict_on_a_list_whose_filter_was_lost_is_refused(browser: Client, proposal: Proposal) -> None:
    bases = selector.load(proposal).digest
    data = {"scope": "listed", "bases": bases, "back": "", "verdict": "rejected", "count": 4}
    assert browser.post(f"/review/{proposal.public_id}/decide/", data).status_code == 409
    assert not Hunk.objects.filter(file__proposal=proposal, verdict="rejected").exists()


def test_a_list_that_htmx_narrows_carries_its_own_filter(browser: Client, proposal: Proposal) -> None:
    headers = {"HX-Request": "true", "HX-Current-URL": f"http://127.0.0.1/review/{proposal.public_id}/"}
    response = browser.get(f"/review/{proposal.public_id}/?q=topic_0", headers=headers)
    assert 'name="back" value="q=topic_0"' in response.content.decode()


def test_approving_what_is_listed_leaves_out_what_has_findings(browser: Client, proposal: Proposal) -> None:
    bases = selector.load(proposal).digest
    data = {"scope": "listed", "bases": bases, "back": "q=taste", "verdict": "approved", "count": 0}
    response = browser.post(f"/review/{proposal.public_id}/decide/", data)
    assert response.status_code == 409 and "Nothing is left to decide there." in response.content.decode()
    assert not Hunk.objects.filter(file__proposal=proposal, verdict="approved").exists()


def test_a_list_that_is_narrowed_says_how_and_comes_whole_after_a_verdict(
    browser: Client, proposal: Proposal
) -> None:
    bases = selector.load(proposal).digest
    back = "show=undecided&kind=date"
    data = {"scope": "listed", "bases": bases, "back": back, "verdict": "approved", "count": 4}
    response = browser.post(f"/review/{proposal.public_id}/decide/", data, headers={"HX-Request": "true"})
    text = response.content.decode()
    assert 'id="review-listed"' in text and "undecided, dated" in text
    assert "topic_01.md" not in text.partition('id="review-loads"')[0].partition('id="review-listed"')[2]


def test_a_link_of_a_refused_form_leads_to_the_page_and_not_to_the_form(
    browser: Client, proposal: Proposal
) -> None:
    data = {"scope": "rest", "bases": "old", "verdict": "approved", "back": "show=undecided"}
    response = browser.post(f"/review/{proposal.public_id}/decide/", data)
    text = response.content.decode()
    assert response.status_code == 409
    assert (
        'href="?' not in text
        and f'href="/review/{proposal.public_id}/?show=undecided&amp;layout=split"' in text
    )


def test_a_long_list_is_walked_page_by_page(
    browser: Client, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(selector, "LISTED", 20)
    _, made = many_files(tmp_path, 45)
    first = page(browser, made)
    assert "1–20 of 45" in first and f"/review/{made.public_id}/?start=20" in first
    last = page(browser, made, "?start=40")
    assert "41–45 of 45" in last and last.count('id="entry-') == 5
