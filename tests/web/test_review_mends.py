"""What a finding advises is one press beside the change: keep the line, leave the secret or the unseen out, go to redact."""

from __future__ import annotations

import html
from pathlib import Path

import pytest
from django.test import Client

from dreams.engines.types import Edit
from dreams.models import AuditEntry, Hunk, Proposal
from dreams.services import review
from dreams.services.apply import applying
from tests.world import directory as world

pytestmark = pytest.mark.django_db
TOKEN = "ghp_" + "x7Kq2ZpL9vB4nM1cD8sF3gH6jW0tR5yUaEiO"
BEFORE = "# Deploy\n\nDeploys leave on Tuesdays at 10:00.\nRoll back with `make rollback`.\n\nAsk Dana.\n"


def _proposal(tmp_path: Path, after: str | None, before: str = BEFORE) -> Proposal:
    project = world.make_project(tmp_path, {"deploy.md": before})
    return world.propose(project, Edit("deploy.md", before, after, "step", "update", "Tidied."))


def _page(browser: Client, proposal: Proposal) -> str:
    return html.unescape(browser.get(f"/review/{proposal.public_id}/").content.decode())


def _press(browser: Client, proposal: Proposal, how: str) -> str:
    hunk = review.select_hunks(proposal)[0]
    form = {"hunk": hunk.pk, "base": hunk.file.base_sha, "how": how}
    response = browser.post(f"/review/{proposal.public_id}/mend/", form, follow=True)
    return html.unescape(response.content.decode())


def _text(proposal: Proposal) -> str:
    review.submit(proposal, world.ME)
    applying.apply(proposal, world.ME)
    return (world.folder(proposal.project) / "deploy.md").read_text()


def test_a_line_that_would_be_lost_is_kept_on_one_press_and_the_loss_is_gone(
    browser: Client, tmp_path: Path
) -> None:
    after = BEFORE.replace("Deploys leave on Tuesdays at 10:00.\n", "Deploys leave when ready.\n")
    proposal = _proposal(tmp_path, after)
    assert "Unexplained loss" in _page(browser, proposal)
    text = _press(browser, proposal, "keep")
    assert "Unexplained loss" not in text and "Keep the old line too" not in text
    assert review.select_hunks(proposal)[0].verdict == Hunk.Verdict.EDITED
    assert AuditEntry.objects.filter(action="review.decided").exists()
    assert "Tuesdays at 10:00.\nDeploys leave when ready.\n" in _text(proposal)


@pytest.mark.more
def test_the_last_line_of_a_file_is_kept_as_a_line_of_its_own(browser: Client, tmp_path: Path) -> None:
    before = "# Deploy\n\nDeploys leave on Tuesdays at 10:00."
    proposal = _proposal(tmp_path, "# Deploy\n\nDeploys leave when ready.\n", before)
    _press(browser, proposal, "keep")
    assert _text(proposal) == f"{before}\nDeploys leave when ready.\n"


@pytest.mark.more
def test_what_a_person_let_go_is_not_kept_with_the_rest(browser: Client, tmp_path: Path) -> None:
    proposal = _proposal(tmp_path, BEFORE.replace(BEFORE[10:-10], "Deploys leave.\n\n"))
    gone = proposal.findings.get(code="unexplained-loss", message__contains="make rollback")
    review.confirm(proposal, [gone], world.ME)
    assert "Keep the old line too" in _page(browser, proposal)
    _press(browser, proposal, "keep")
    text = _text(proposal)
    assert "Tuesdays at 10:00" in text and "make rollback" not in text


def test_what_only_goes_is_kept_by_rejecting_it(browser: Client, tmp_path: Path) -> None:
    for name, after in (("line", BEFORE.replace("Roll back with `make rollback`.\n", "")), ("file", None)):
        text = _page(browser, _proposal(tmp_path / name, after))
        assert (
            "Unexplained loss" in text or "no longer appear anywhere" in text
        ) and "Keep the old" not in text


@pytest.mark.more
def test_a_secret_and_what_is_unseen_are_left_out(browser: Client, tmp_path: Path) -> None:
    proposal = _proposal(tmp_path, BEFORE + f"\nThe to\u200bken is {TOKEN}.\n")
    assert "Leave the secret out" in _page(browser, proposal)
    assert "Leave the secret out" not in _press(browser, proposal, "redact")
    text = _press(browser, proposal, "unhide")
    assert "Leave out invisible characters" not in text and "holds what cannot be seen" not in text
    assert "I saw this, allow it" not in text
    assert _text(proposal) == BEFORE + "\nThe token is [redacted: github-token].\n"


def test_a_remedy_with_nothing_to_mend_says_so_and_an_unknown_one_is_none(
    browser: Client, tmp_path: Path
) -> None:
    proposal = _proposal(tmp_path, BEFORE.replace("Ask Dana.", "Ask Dana or Kim."))
    assert "Nothing in this change needs fixing" in _press(browser, proposal, "redact")
    assert review.select_hunks(proposal)[0].verdict == Hunk.Verdict.PENDING
    assert browser.post(f"/review/{proposal.public_id}/mend/", {"how": "burn"}).status_code == 404


def test_a_secret_that_stands_leads_to_where_it_is_taken_out(browser: Client, tmp_path: Path) -> None:
    before = BEFORE + f"\nThe token is {TOKEN}.\n"
    proposal = _proposal(tmp_path, before.replace("Ask Dana.", "Ask Dana or Kim."), before)
    assert f'<a href="/projects/{proposal.project_id}/secrets/">Remove it …</a>' in _page(browser, proposal)


def test_what_nobody_can_confirm_of_a_file_leaves_only_a_rejection(browser: Client, tmp_path: Path) -> None:
    project = world.make_project(tmp_path, {"deploy.md": BEFORE})
    proposal = world.propose(project, Edit("Deploy.md", None, "A copy.\n", "copy", "learn", "Another."))
    text = _page(browser, proposal)
    assert "by case or Unicode form only" in text
    assert 'value="rejected"' in text and 'value="approved"' not in text
    assert "to confirm or reject first" not in text


def test_what_is_said_of_a_file_of_which_nothing_is_taken_holds_nothing_up(
    browser: Client, tmp_path: Path
) -> None:
    project = world.make_project(tmp_path, {"deploy.md": BEFORE, "rest.md": "Text.\n"})
    copy = Edit("Deploy.md", None, "A copy.\n", "copy", "learn", "Another.")
    kim = BEFORE.replace("Ask Dana.", "Ask Dana or Kim.")
    proposal = world.propose(project, copy, Edit("deploy.md", BEFORE, kim, "kim", "update", "Kim too."))
    review.decide(
        proposal, review.select_hunks(proposal, paths=["deploy.md"]), Hunk.Verdict.APPROVED, world.ME
    )
    assert "to confirm or reject first" not in _page(browser, proposal)
    assert "Kim" in _text(proposal)
