"""What waits for a person stays in the inbox until it is done, and says whose move it is; the title counts all of it."""

from __future__ import annotations

import html
import re
from pathlib import Path

import pytest
from django.test import Client
from django.utils import timezone

from dreams.lib.files import workspace
from dreams.lib.storage import journal
from dreams.models import HostRequest, Hunk, Project, Proposal
from dreams.services import review
from dreams.services.apply import applying, writing
from dreams.services.inbox import waiting
from dreams.services.proposals import rebase
from tests.world import directory as world
from tests.world.kept import Keep, Kept

pytestmark = pytest.mark.django_db
HOST = "host alpha"


def proposed(folder: Path) -> Proposal:
    after = world.DEPLOY.replace(HOST, "host beta")
    made = world.propose(
        world.make_project(folder), world.edit("project_deploy.md", world.DEPLOY, after, "x")
    )
    made.findings.all().delete()
    return made


@pytest.fixture(scope="module")
def made(kept: Keep[Proposal]) -> Kept[Proposal]:
    """One change of one line, on a real directory."""
    return kept(proposed)


def _inbox(browser: Client) -> str:
    return html.unescape(browser.get("/").content.decode())


def _row(text: str, proposal: Proposal) -> str:
    """The row of the list that leads to this proposal; empty without one."""
    rows = re.findall(r"<li data-hunk.*?</li>", text, re.S)
    return next((row for row in rows if f"/review/{proposal.public_id}/" in row), "")


def _approve(proposal: Proposal) -> None:
    review.decide(proposal, review.select_hunks(proposal), Hunk.Verdict.APPROVED, world.ME)


def _change(proposal: Proposal, content: str) -> None:
    (world.folder(proposal.project) / "project_deploy.md").write_text(content)


def test_an_open_decision_waits_and_is_counted_in_the_title(browser: Client, proposal: Proposal) -> None:
    text = _inbox(browser)
    assert "<title>(1) Inbox" in text
    assert "Your move" in _row(text, proposal)


def test_what_is_decided_and_not_submitted_waits_and_is_counted_until_it_is_put_off(
    browser: Client, proposal: Proposal
) -> None:
    _approve(proposal)
    text = _inbox(browser)
    assert "<title>(1) Inbox" in text and "<b>1 to finish</b>" in text
    assert "submit" in _row(text, proposal)
    browser.post("/snooze/", {"proposal": proposal.public_id, "until": "dream"})
    assert "<title>Inbox" in _inbox(browser)


def test_approved_work_that_was_stale_at_the_submit_waits_to_be_confirmed(
    browser: Client, proposal: Proposal
) -> None:
    _approve(proposal)
    _change(proposal, world.DEPLOY + "\nIt has two disks.\n")
    applying.apply(proposal, world.ME)
    text = _inbox(browser)
    assert "<title>(1) Inbox" in text
    row = _row(text, proposal)
    assert "project_deploy.md changed on disk after it was approved" in row and "Confirm" in row


def test_approved_work_in_conflict_waits_and_leads_to_the_choice(browser: Client, proposal: Proposal) -> None:
    _approve(proposal)
    _change(proposal, world.DEPLOY.replace(HOST, "host gamma"))
    applying.apply(proposal, world.ME)
    row = _row(_inbox(browser), proposal)
    assert f"/review/{proposal.public_id}/conflict/{proposal.files.get().pk}/" in row and "Solve" in row


def test_an_open_conflict_waits_too(browser: Client, proposal: Proposal) -> None:
    _approve(proposal)
    _change(proposal, world.DEPLOY.replace(HOST, "host gamma"))
    now = workspace.take(world.folder(proposal.project)).contents()
    rebase.rebase(proposal.files.get(), now["project_deploy.md"])
    assert "Solve" in _row(_inbox(browser), proposal)


def test_approved_work_whose_write_failed_waits_and_says_why(
    browser: Client, proposal: Proposal, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(plan: journal.Plan, *_: object, **__: object) -> journal.Result:
        return journal.Result(plan.id, plan.target_dir, "failed", error="No space left on device")

    _approve(proposal)
    monkeypatch.setattr(journal, "run", fail)
    assert applying.apply(proposal, world.ME).error
    row = _row(_inbox(browser), proposal)
    assert "No space left on device" in row and "Try again" in row


def test_approved_work_that_is_not_written_yet_waits(
    browser: Client, proposal: Proposal, monkeypatch: pytest.MonkeyPatch
) -> None:
    _approve(proposal)
    review.submit(proposal, world.ME)
    assert "Write now" in _row(_inbox(browser), proposal)
    assert writing.unapplied(proposal.pk)


def test_a_finding_that_keeps_approved_work_from_being_written_is_named(
    browser: Client, proposal: Proposal
) -> None:
    _approve(proposal)
    review.submit(proposal, world.ME)
    proposal.findings.create(
        hunk=Hunk.objects.get(), key="k", check_name="injection", code="x", severity="block", message="No."
    )
    row = _row(_inbox(browser), proposal)
    assert "1 finding to confirm" in row and "Write now" not in row
    assert f'href="/review/{proposal.public_id}/?show=findings"' in row and "Confirm" in row


def test_until_another_host_was_asked_to_write_what_it_has_it_is_your_move(
    browser: Client, proposal: Proposal
) -> None:
    _approve(proposal)
    review.submit(proposal, world.ME)
    Project.objects.update(host="laptop-d")
    row = _row(_inbox(browser), proposal)
    assert "Your move" in row and "Write now" in row and "laptop-d" in row
    HostRequest.objects.create(
        host="laptop-d", project=proposal.project, proposal=proposal, deed="apply", asked_at=timezone.now()
    )
    row = _row(_inbox(browser), proposal)
    assert waiting.ASKED in row and "Write now" not in row and "laptop-d" in row


@pytest.mark.parametrize(
    "state", [Proposal.State.APPLIED, Proposal.State.REJECTED, Proposal.State.SUPERSEDED]
)
def test_what_is_over_waits_no_longer(browser: Client, proposal: Proposal, state: str) -> None:
    Proposal.objects.update(state=state)
    text = _inbox(browser)
    assert not _row(text, proposal) and "<title>Inbox" in text
