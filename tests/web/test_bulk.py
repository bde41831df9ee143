"""One verdict on several proposals: shown first, done on a second press, and never where something needs attention."""

from __future__ import annotations

import html
import re
from pathlib import Path

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from dreams.models import Decision, Hunk, Project, Proposal
from dreams.services import review
from dreams.services.questions import answering
from dreams.services.review import deciding
from dreams.web.pages.review_proposal import load
from tests.world import directory as world, questions as question_world

pytestmark = pytest.mark.django_db
PLAIN = world.DEPLOY.replace("host alpha", "host beta")


@pytest.fixture
def two(tmp_path: Path) -> list[Proposal]:
    """Two projects; nothing speaks against either's proposal."""
    return [_proposal(tmp_path / name) for name in ("one", "two")]


def _proposal(root: Path, after: str = PLAIN) -> Proposal:
    project = world.make_project(root)
    Project.objects.filter(pk=project.pk).update(name=root.name)
    project.refresh_from_db()
    proposal = world.propose(project, world.edit("project_deploy.md", world.DEPLOY, after, "moved"))
    proposal.findings.exclude(severity="block").update(severity="info")
    return proposal


def _form(browser: Client, proposals: list[Proposal], verdict: str) -> dict[str, object]:
    """What the second page would post."""
    page = browser.get("/several/", {"proposal": [p.public_id for p in proposals], "verdict": verdict})
    fields = re.findall(r'<input type="hidden" name="([^"]+)" value="([^"]+)"', page.content.decode())
    form: dict[str, object] = {name: value for name, value in fields if "-" in name}
    return {**form, "proposal": [value for name, value in fields if name == "proposal"], "verdict": verdict}


def _text(proposal: Proposal) -> str:
    return (world.folder(proposal.project) / "project_deploy.md").read_text()


def test_the_first_page_says_what_would_be_done_and_does_nothing(
    browser: Client, two: list[Proposal]
) -> None:
    page = browser.get("/several/", {"proposal": [p.public_id for p in two], "verdict": "approve"})
    text = page.content.decode()
    assert "Approve 2 proposals?" in text and "2 decisions will be written" in text
    assert text.count("project_deploy.md") == 4, "the file of each, and above its changed lines"
    assert not Decision.objects.exists()
    assert [_text(p) for p in two] == [world.DEPLOY] * 2


def test_looking_at_several_asks_the_database_no_more_often_than_looking_at_one(
    browser: Client, two: list[Proposal]
) -> None:
    asked = []
    for proposals in (two[:1], two[:1], two):  # the first look of all reads what is kept from then on
        with CaptureQueriesContext(connection) as queries:
            browser.get("/several/", {"proposal": [p.public_id for p in proposals], "verdict": "approve"})
        asked.append(len(queries))
    assert asked[1] == asked[2]


def test_approving_several_writes_each_and_each_can_be_undone(browser: Client, two: list[Proposal]) -> None:
    page = browser.post("/several/decide/", _form(browser, two, "approve"), follow=True).content.decode()
    assert [_text(p) for p in two] == [PLAIN] * 2
    assert "Written: one (1 file), two (1 file)." in page
    for proposal in two:
        assert browser.get(f"/review/{proposal.public_id}/undo/").status_code == 200


@pytest.mark.more
def test_several_proposals_of_one_change_each_are_one_batch(browser: Client, two: list[Proposal]) -> None:
    browser.post("/several/decide/", _form(browser, two, "approve"))
    batches = set(Decision.objects.values_list("batch", flat=True))
    assert Decision.objects.count() == 2 and len(batches) == 1 and "" not in batches


def test_rejecting_several_writes_nothing_and_keeps_the_reason(browser: Client, two: list[Proposal]) -> None:
    form = {**_form(browser, two, "reject"), "chip": "Outdated"}
    page = browser.post("/several/decide/", form, follow=True).content.decode()
    assert "Rejected: one, two. Nothing was written." in page
    assert [_text(p) for p in two] == [world.DEPLOY] * 2
    assert set(Proposal.objects.values_list("state", flat=True)) == {Proposal.State.REJECTED}
    assert set(Decision.objects.values_list("reason", flat=True)) == {"Outdated"}


def test_what_is_no_proposal_is_left_out_and_told(browser: Client, two: list[Proposal]) -> None:
    chosen = [two[0].public_id, "questions"]
    text = browser.get("/several/", {"proposal": chosen, "verdict": "approve"}).content.decode()
    assert "Approve 1 proposal?" in text and "Left out 1 item: only proposals are decided here" in text
    chosen = [p.public_id for p in two]
    text = browser.get("/several/", {"proposal": chosen, "verdict": "approve"}).content.decode()
    assert "Left out" not in text


def test_what_is_being_submitted_is_left_and_says_so(browser: Client, two: list[Proposal]) -> None:
    form = _form(browser, two, "reject")
    with deciding.claimed(two[0]):
        page = browser.post("/several/decide/", form, follow=True).content.decode()
    assert "one: This proposal is being submitted." in page
    assert "Rejected: two." in page


def test_a_proposal_with_a_finding_is_left_and_says_so(browser: Client, two: list[Proposal]) -> None:
    two[0].findings.update(severity="warn")
    text = browser.get(
        "/several/", {"proposal": [p.public_id for p in two], "verdict": "approve"}
    ).content.decode()
    assert "Approve 1 proposal?" in text
    assert "1 decision with a finding or a conflict: decide on it in its review." in text
    form = {**_form(browser, two, "approve"), "proposal": [p.public_id for p in two]}
    browser.post("/several/decide/", form)
    assert [_text(p) for p in two] == [world.DEPLOY, PLAIN]


@pytest.mark.more
@pytest.mark.parametrize("verdict", ["approve", "reject"])
def test_what_changed_or_was_decided_elsewhere_since_the_first_page_is_left(
    browser: Client, two: list[Proposal], verdict: str
) -> None:
    form = _form(browser, two, verdict)
    two[0].files.update(new_sha="0" * 64)
    review.decide(two[1], review.select_hunks(two[1]), Hunk.Verdict.APPROVED, world.ME)
    page = browser.post("/several/decide/", form, follow=True).content.decode()
    assert "one was left unchanged. The proposal changed since this page was shown." in page
    assert "two was left unchanged. Something was decided elsewhere since this page was shown." in page
    assert [_text(p) for p in two] == [world.DEPLOY] * 2
    assert set(Proposal.objects.values_list("state", flat=True)) == {Proposal.State.OPEN}


def test_a_file_that_changed_on_disk_is_named(browser: Client, two: list[Proposal]) -> None:
    (world.folder(two[1].project) / "project_deploy.md").write_text("By hand.\n")
    text = browser.get("/several/", {"proposal": [two[1].public_id], "verdict": "approve"}).content.decode()
    assert "None of these can be approved together" in text
    assert (
        "project_deploy.md changed on disk since it was proposed. Bring it up to date in its review." in text
    )


def test_of_two_that_write_the_same_file_the_second_is_left_for_after(
    browser: Client, two: list[Proposal]
) -> None:
    first, other = two
    Proposal.objects.filter(pk=first.pk).update(origin=Proposal.Origin.CAUGHT)
    second = world.propose(
        first.project, world.edit("project_deploy.md", world.DEPLOY, world.DEPLOY + "Then watch.\n", "learnt")
    )
    second.findings.exclude(severity="block").update(severity="info")
    page = browser.get(
        "/several/", {"proposal": [p.public_id for p in (first, second, other)], "verdict": "approve"}
    )
    text = page.content.decode()
    assert "Approve 2 proposals?" in text and "2 decisions will be written" in text
    assert "One above writes project_deploy.md too: approve this one once that is written." in text
    page = browser.get("/several/", {"proposal": [p.public_id for p in (first, second)], "verdict": "reject"})
    assert "Reject 2 proposals?" in page.content.decode()


def test_nothing_ticked_leads_back_to_the_inbox(browser: Client) -> None:
    assert "Select the proposals first." in browser.get("/several/", follow=True).content.decode()
    page = browser.get("/several/", {"proposal": ["moved-1"], "verdict": "approve"}, follow=True)
    assert "Nothing that you selected is a proposal." in page.content.decode()
    page = browser.post("/several/decide/", {"verdict": "sideways"}, follow=True).content.decode()
    assert "choose to approve or to reject" in page


def test_the_inbox_offers_it_only_where_several_wait(browser: Client, two: list[Proposal]) -> None:
    assert browser.get("/").content.count(b'form="several"') == 5
    two[0].delete()
    assert b"several" not in browser.get("/").content


def test_every_line_is_shown_before_anything_is_approved_together(
    browser: Client, two: list[Proposal]
) -> None:
    page = browser.get("/several/", {"proposal": [p.public_id for p in two], "verdict": "approve"})
    text = re.sub(r"<[^>]+>", "", html.unescape(page.content.decode()))
    assert text.count("The API runs on host alpha.") == text.count("The API runs on host beta.") == 2


def test_what_was_approved_before_is_counted_and_said_not_to_be_shown(
    browser: Client, tmp_path: Path
) -> None:
    made = question_world.propose(question_world.make_project(tmp_path))
    made.findings.update(severity="info")
    shown = next(iter(made.files.filter(kind="modify"))).hunks.all()
    review.decide(made, list(shown), Hunk.Verdict.APPROVED, world.ME)
    page = browser.get("/several/", {"proposal": [made.public_id], "verdict": "approve"}).content.decode()
    text = " ".join(re.sub(r"<[^>]+>", " ", page).split())
    assert "Includes 1 approved before; its lines are in its review." in text
    assert "Every line that changes" not in text and "1 decision will be written" not in text
    assert "2 decisions will be written" in text and "Leaves out" not in text
    review.decide(made, list(shown), Hunk.Verdict.REJECTED, world.ME)
    page = browser.get("/several/", {"proposal": [made.public_id], "verdict": "approve"}).content.decode()
    assert "1 decision will be written" in page and "Leaves out 1 rejected before." in page


LONG = "---\nname: Long\ntype: project\n---\n\n" + "".join(f"Fact number {n} is kept.\n" for n in range(80))


def _removing(root: Path, text: str) -> Proposal:
    project = world.make_project(root, {"long.md": text})
    proposal = world.propose(project, world.edit("long.md", text, None, "gone", "prune"))
    proposal.findings.update(severity="info")
    return proposal


@pytest.mark.more
@pytest.mark.parametrize(
    ("text", "why"),
    [
        (LONG, "It changes 85 lines, too many to show here. Review it."),
        (
            "The token is ghp_" + "a1B2c3D4e5" * 3 + "F6g7H8.\n",
            "It contains a secret, which is hidden here. Review it.",
        ),
    ],
)
def test_what_cannot_be_shown_is_not_approved_together_with_others(
    browser: Client, tmp_path: Path, text: str, why: str
) -> None:
    proposal = _removing(tmp_path, text)
    page = browser.get("/several/", {"proposal": proposal.public_id, "verdict": "approve"}).content.decode()
    assert why in page and "None of these can be approved together" in page
    loaded = load(proposal)
    form = {
        "verdict": "approve",
        "proposal": proposal.public_id,
        f"bases-{proposal.public_id}": loaded.digest,
        f"answers-{proposal.public_id}": loaded.answers,
    }
    assert why in browser.post("/several/decide/", form, follow=True).content.decode()
    assert (world.folder(proposal.project) / "long.md").exists()


@pytest.mark.more
def test_the_answers_that_wait_in_a_project_are_announced_and_written_too(
    browser: Client, tmp_path: Path
) -> None:
    project = question_world.make_project(tmp_path)
    [question] = question_world.ask(project, question_world.conflict())
    answering.answer(question, "first", world.ME)
    proposal = question_world.propose(project)
    proposal.findings.update(severity="info")
    look = browser.get("/several/", {"proposal": [proposal.public_id], "verdict": "approve"})
    assert "Includes 1 of your answers." in look.content.decode()
    page = browser.post("/several/decide/", _form(browser, [proposal], "approve"), follow=True)
    assert "not even once" in question_world.read(project, "feedback_testing.md")
    assert "on port 8443" in question_world.read(project, "reference_staging.md")
    assert "Written: orders-api (3 files)." in page.content.decode()


@pytest.mark.more
def test_rejecting_several_leaves_the_answers_of_their_projects_waiting(
    browser: Client, tmp_path: Path
) -> None:
    project = question_world.make_project(tmp_path)
    [question] = question_world.ask(project, question_world.conflict())
    answering.answer(question, "first", world.ME)
    proposal = question_world.propose(project)
    page = browser.get("/several/", {"proposal": [proposal.public_id], "verdict": "reject"})
    assert "of yours" not in page.content.decode()
    browser.post("/several/decide/", _form(browser, [proposal], "reject"))
    assert "on port 9443" in question_world.read(project, "reference_staging.md")
    assert project.proposals.get(origin=Proposal.Origin.ANSWERS).state == Proposal.State.OPEN


def test_a_reason_is_kept_where_some_could_not_be_rejected_yet(browser: Client, two: list[Proposal]) -> None:
    form = {**_form(browser, two, "reject"), "chip": "Outdated", "reason": "It moved to the wiki"}
    review.decide(two[0], review.select_hunks(two[0]), Hunk.Verdict.APPROVED, world.ME)
    page = browser.post("/several/decide/", form)
    text = page.content.decode()
    assert page.status_code == 409 and "Rejected: two. Nothing was written." in text
    assert "one was left unchanged." in text and "Reject 1 proposal?" in text
    assert 'value="It moved to the wiki"' in text and 'value="Outdated" checked' in text
    again = {"verdict": "reject", "reason": "It moved to the wiki", "proposal": two[0].public_id}
    fields = re.findall(r'<input type="hidden" name="([^"]+-[^"]+)" value="([^"]+)"', text)
    done = browser.post("/several/decide/", {**again, **dict(fields)}, follow=True)
    assert "Rejected: one. Nothing was written." in done.content.decode()
