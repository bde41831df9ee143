"""A narrowed list acts on what it shows and on nothing else: changes are filtered, decisions are shown whole and counted."""

from __future__ import annotations

import html
import re
from pathlib import Path

import pytest
from django.test import Client

from dreams.models import Hunk, Proposal
from dreams.services import review
from dreams.services.proposals import decisions
from dreams.web.pages import review as review_page, review_filter
from tests.web.test_review_page import many_files
from tests.world import directory as world, every_kind as kinds, review as desk
from tests.world.kept import Keep, Kept
from tests.world.pressing import form, labels, press

pytestmark = pytest.mark.django_db


@pytest.fixture(scope="module")
def large(kept: Keep) -> Kept[Proposal]:
    return kept(lambda folder: kinds.make_proposal(kinds.make_project(folder)))


@pytest.fixture(scope="module")
def less(kept: Keep) -> Kept[Proposal]:
    def make(folder: Path) -> Proposal:
        made = desk.make_proposal(desk.make_project(folder))
        made.findings.all().delete()
        return made

    return kept(make)


@pytest.fixture
def proposal(large: Kept[Proposal], db: None) -> Proposal:
    return large.anew()


@pytest.fixture
def small(less: Kept[Proposal], db: None) -> Proposal:
    """Five decisions, eight changes; nothing speaks against any."""
    return less.anew()


def page(browser: Client, proposal: Proposal, query: str = "") -> str:
    return browser.get(f"/review/{proposal.public_id}/{query}").content.decode()


def listed(browser: Client, proposal: Proposal, query: str) -> set[str]:
    text = page(browser, proposal, query)
    return {file.path for file in proposal.files.all() if f'id="entry-{file.pk}"' in text}


def shown(text: str) -> set[int]:
    """The decisions that have a card."""
    return {int(pk) for pk in re.findall(r'data-hunk="(\d+)"', text)}


def decided(proposal: Proposal) -> set[str]:
    """Words of the operations that have a verdict."""
    rows = Hunk.objects.filter(file__proposal=proposal).exclude(verdict="pending")
    return {str(row.operation) for row in rows.select_related("operation")}


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


@pytest.mark.more
def test_the_list_is_narrowed_by_words_kind_and_folder(browser: Client, proposal: Proposal) -> None:
    assert {query: listed(browser, proposal, query) for query in NARROWED} == NARROWED


def test_a_search_decides_on_the_changes_that_hold_the_words_and_on_no_other_of_the_file(
    browser: Client, small: Proposal
) -> None:
    # Three decisions are about this file; one of them says "5433".
    text = page(browser, small, "?q=5433")
    assert shown(text) == {desk.hunk_with(small, "PostgreSQL 16").pk}
    assert "Approve 1" in labels(text) and "Approve 3" not in labels(text)
    press(browser, text, "Approve 1")
    assert decided(small) == {"You changed the database on 12 November."}


def test_a_decision_with_a_matching_change_is_shown_whole_and_its_other_parts_are_marked(
    browser: Client, small: Proposal
) -> None:
    text = page(browser, small, "?q=never+before+a+holiday")
    train, row = desk.hunk_with(small, "Releases leave"), desk.hunk_with(small, "[Release train]")
    assert shown(text) == {train.pk}
    card = text[text.index(f'id="hunk-{train.pk}"') :].partition("</article>")[0]
    before, _, part = card.partition(f'id="hunk-{row.pk}"')
    assert "goes with this" in part and "goes with this" not in before
    assert "goes with this" not in page(browser, small)
    press(browser, text, "Reject 1")
    assert {row.file.path for row in Hunk.objects.filter(verdict="rejected").select_related("file")} == {
        "project_release_train.md",
        "MEMORY.md",
    }


def test_what_is_decided_is_not_listed_as_undecided(browser: Client, small: Proposal) -> None:
    review.decide(small, [desk.hunk_with(small, "PostgreSQL 16")], Hunk.Verdict.APPROVED, world.ME)
    text = page(browser, small, "?show=undecided")
    # The file has two more decisions, which wait.
    assert shown(text) == {
        desk.hunk_with(small, words).pk
        for words in ("Never update them", "reference_runbook", "Releases leave", "very short")
    }
    assert "Reject 4" in labels(text)
    press(browser, text, "Reject 4")
    assert desk.hunk_with(small, "PostgreSQL 16").verdict == "approved"


def test_a_filter_whose_decisions_are_all_decided_offers_nothing(browser: Client, small: Proposal) -> None:
    review.decide(small, [desk.hunk_with(small, "Releases leave")], Hunk.Verdict.APPROVED, world.ME)
    text = page(browser, small, "?kind=learn")
    assert shown(text) == {desk.hunk_with(small, "Releases leave").pk}
    offered = [label for label in labels(text) if label.startswith(("Approve ", "Reject "))]
    assert [label for label in offered if label.split()[1].isdecimal()] == []


def test_beside_a_narrowed_list_no_button_decides_on_what_it_hides(browser: Client, small: Proposal) -> None:
    for query in ("?q=5433", "?kind=learn", f"?file={small.files.get(path='user_role.md').pk}"):
        text = page(browser, small, query)
        assert not any(
            label.startswith(("Approve all", "Reject all", "Approve the")) for label in labels(text)
        )
        assert 'name="scope" value="all"' not in text
    whole = page(browser, small)
    assert "Approve all 5" in labels(whole) and "Reject all 5" in labels(whole)
    first, *rest = review.select_hunks(small)
    review.decide(
        small,
        [hunk for hunk in rest if hunk.operation_id != first.operation_id],
        Hunk.Verdict.APPROVED,
        world.ME,
    )
    assert "Approve the last one" in labels(page(browser, small))


def test_a_list_over_several_pages_decides_on_the_page_that_is_shown(
    browser: Client, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(review_filter, "PAGED_FROM", 4)
    monkeypatch.setattr(review_filter, "MOST_ON_PAGE", 2)
    _, made = many_files(tmp_path, 5)
    made.findings.all().delete()
    text = page(browser, made, "?q=topic&page=2")
    on_page = shown(text)
    assert len(on_page) == 2
    press(browser, text, "Approve 2")
    taken = Hunk.objects.filter(file__proposal=made, verdict="approved")
    assert decisions.count(taken) == 2 and on_page <= {hunk.pk for hunk in taken}


def test_buttons_of_a_file_decide_on_what_is_shown_with_it(browser: Client, small: Proposal) -> None:
    text = page(browser, small, "?q=5433")
    file = small.files.get(path="feedback_testing.md")
    head = text[text.index(f'id="file-head-{file.pk}"') :].partition("</header>")[0]
    assert "Approve" not in head
    whole = page(browser, small)
    press(browser, whole[whole.index(f'id="file-head-{file.pk}"') :].partition("</header>")[0], "Reject 3")
    assert len(decided(small)) == 3 and desk.hunk_with(small, "[Tests, again]").verdict == "rejected"


@pytest.mark.more
@pytest.mark.parametrize(
    ("query", "label"), [("?q=topic_0", "Approve 4"), ("", "Approve 13 without findings")]
)
def test_a_press_on_a_list_that_changed_meanwhile_is_refused_with_the_new_count(
    browser: Client, proposal: Proposal, query: str, label: str
) -> None:
    text = page(browser, proposal, query)
    address, fields = form(text, label)
    first = proposal.files.get(path="topics/topic_01.md").hunks.get()
    review.decide(proposal, [first], Hunk.Verdict.REJECTED, world.ME)
    refused = browser.post(address, fields)
    left = int(label.split()[1]) - 1
    said = f"it has {left} decisions now. Nothing was decided."
    assert refused.status_code == 409 and said in html.unescape(refused.content.decode())
    part = browser.post(address, fields, headers={"HX-Request": "true"})
    assert part.status_code == 409 and "<html" not in part.content.decode()
    assert said in html.unescape(part.content.decode())
    assert not Hunk.objects.filter(file__proposal=proposal, verdict="approved").exists()


@pytest.mark.more
def test_a_verdict_on_a_list_whose_filter_was_lost_is_refused(browser: Client, proposal: Proposal) -> None:
    address, fields = form(page(browser, proposal, "?folder=topics/"), "Reject 4")
    assert browser.post(address, {**fields, "back": ""}).status_code == 409
    assert not Hunk.objects.filter(file__proposal=proposal, verdict="rejected").exists()


@pytest.mark.more
def test_a_list_that_htmx_narrows_carries_its_own_filter(browser: Client, proposal: Proposal) -> None:
    headers = {"HX-Request": "true", "HX-Current-URL": f"http://127.0.0.1/review/{proposal.public_id}/"}
    response = browser.get(f"/review/{proposal.public_id}/?q=topic_0", headers=headers)
    assert 'name="back" value="q=topic_0"' in response.content.decode()


def test_approving_what_is_listed_leaves_out_what_has_findings(browser: Client, proposal: Proposal) -> None:
    text = page(browser, proposal, "?q=taste")
    listed = text[text.index('id="review-listed"') :].partition("</ol>")[0]
    assert [label for label in labels(listed) if label.startswith("Approve")] == []
    data = {"scope": "listed", "back": "q=taste", "verdict": "approved", "count": 0, "digest": ""}
    assert browser.post(f"/review/{proposal.public_id}/decide/", data).status_code == 409
    assert not Hunk.objects.filter(file__proposal=proposal, verdict="approved").exists()


def test_a_list_that_is_narrowed_says_how_and_comes_whole_after_a_verdict(
    browser: Client, proposal: Proposal
) -> None:
    text = page(browser, proposal, "?show=undecided&kind=date")
    answer = press(browser, text, "Approve 4", **{"HX-Request": "true"}).content.decode()
    assert 'id="review-listed"' in answer and "undecided, dated" in answer
    assert "topic_01.md" not in answer.partition('id="review-loads"')[0].partition('id="review-listed"')[2]


def test_a_decision_that_left_the_list_when_it_was_decided_goes_with_nothing(
    browser: Client, small: Proposal
) -> None:
    text = page(browser, small, "?show=undecided")
    train, row = desk.hunk_with(small, "Releases leave"), desk.hunk_with(small, "[Release train]")
    card = text[text.index(f'id="hunk-{train.pk}"') :].partition("</article>")[0]
    address, fields = form(card, "Approve a")
    sent = {**fields, "shown": str(train.pk)}
    answer = browser.post(address, sent, headers={"HX-Request": "true"}).content.decode()
    assert f'id="hunk-{train.pk}"' in answer and f'id="hunk-{row.pk}"' in answer
    assert "goes with this" not in answer


def test_what_only_the_reason_has_is_marked_where_another_change_has_the_words(
    browser: Client, small: Proposal
) -> None:
    # The reason for both parts has the words, and so have the lines of one of them.
    train, row = desk.hunk_with(small, "Releases leave"), desk.hunk_with(small, "[Release train]")
    assert train.operation is not None
    train.operation.reason = "Never before a holiday, as you said."
    train.operation.save()
    text = page(browser, small, "?q=never+before+a+holiday")
    part = text[text.index(f'id="hunk-{row.pk}"') :].partition("</article>")[0]
    assert shown(text) == {train.pk} and "goes with this" in part
    # What is said in the reason alone is said of the whole decision.
    text = page(browser, small, "?q=as+you+said")
    assert train.pk in shown(text) and "goes with this" not in text


def counted(text: str) -> dict[str, int]:
    """The filters of the list with their counts."""
    filters = text[text.index('id="review-filters"') :].partition("</ul>")[0]
    return {
        label.strip(): int(count) for label, count in re.findall(r">([A-Z][a-z ]+) <span>(\d+)<", filters)
    }


@pytest.mark.parametrize("headers", [pytest.param({}, marks=pytest.mark.sweep), {"HX-Request": "true"}])
def test_the_counts_beside_the_filters_follow_every_verdict(
    browser: Client, small: Proposal, headers: dict[str, str]
) -> None:
    assert counted(page(browser, small)) == {
        "All": 5,
        "Undecided": 5,
        "With findings": 0,
        "In unviewed files": 5,
    }

    def after(verb: str, data: dict[str, object]) -> dict[str, int]:
        answer = browser.post(f"/review/{small.public_id}/{verb}/", data, headers=headers)
        return counted(answer.content.decode() if headers else page(browser, small))

    train = desk.hunk_with(small, "Releases leave")
    about = {"hunk": train.pk, "base": train.file.base_sha}
    assert after("decide", {**about, "verdict": "approved"})["Undecided"] == 4
    assert after("edit", {**about, "text": "---\nname: T\n---\n\nOn Mondays.\n"})["Undecided"] == 4
    assert after("take-back", {})["Undecided"] == 4
    assert after("take-back", {})["Undecided"] == 5
    role = small.files.get(path="user_role.md")
    assert after("viewed", {"file": role.pk, "viewed": "1"})["In unviewed files"] == 4
    assert after("viewed", {"file": role.pk, "viewed": "0"})["In unviewed files"] == 5


@pytest.mark.more
def test_a_link_of_a_refused_form_leads_to_the_page_and_not_to_the_form(
    browser: Client, proposal: Proposal
) -> None:
    data = {"scope": "all", "digest": "old", "verdict": "approved", "back": "show=undecided"}
    response = browser.post(f"/review/{proposal.public_id}/decide/", data)
    text = response.content.decode()
    assert response.status_code == 409
    assert (
        'href="?' not in text
        and f'href="/review/{proposal.public_id}/?show=undecided&amp;layout=split"' in text
    )


@pytest.mark.more
def test_a_long_list_is_walked_page_by_page(
    browser: Client, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(review_page, "LISTED", 20)
    _, made = many_files(tmp_path, 45)
    first = page(browser, made)
    assert "1–20 of 45" in first and f"/review/{made.public_id}/?start=20" in first
    last = page(browser, made, "?start=40")
    assert "41–45 of 45" in last and last.count('id="entry-') == 5


def test_what_a_verdict_replaces_is_there_where_one_file_has_no_filters(
    browser: Client, tmp_path: Path
) -> None:
    project = world.make_project(tmp_path)
    edit = world.edit("project_deploy.md", world.DEPLOY, world.DEPLOY + "\nIt is slow.\n", "a")
    proposal = world.propose(project, edit)
    whole = page(browser, proposal)
    row = proposal.files.get().hunks.get()
    response = browser.post(
        f"/review/{proposal.public_id}/decide/",
        {"hunk": row.pk, "base": row.file.base_sha, "verdict": "approved"},
        headers={"HX-Request": "true"},
    )
    replaced = re.findall(r'id="([\w-]+)"[^>]*hx-swap-oob', response.content.decode())
    assert "review-filters" in replaced
    assert [name for name in replaced if f'id="{name}"' not in whole] == []
    assert re.search(r'id="review-filters"[^>]* hidden', whole)


@pytest.mark.more
def test_an_answer_sends_of_the_list_only_what_is_on_the_page(
    browser: Client, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(review_page, "LISTED", 3)
    _, made = many_files(tmp_path, 8)
    made.findings.all().delete()
    for query in ("", "?start=3"):
        text = page(browser, made, query)
        on_page = re.findall(r'id="entry-(\d+)"', text)
        assert len(on_page) == 3
        answer = press(browser, text, "Approve all 8", **{"HX-Request": "true"}).content.decode()
        assert re.findall(r'id="entry-(\d+)"', answer) == on_page
        Hunk.objects.filter(file__proposal=made).update(verdict="pending")
