"""After a rebase what a person confirmed, ticked and edited stays so: it is not asked again where it says the same."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from dreams.models import Hunk, Proposal
from dreams.services import review
from dreams.services.apply import applying
from tests.world import directory as world

pytestmark = pytest.mark.django_db
LINE = "Use make reset before a run.\n"
#: The lines around the change, so that an outside edit can touch it.
BEFORE, AFTER = "Tests run against a real database.\n", "Snapshots are reviewed by hand.\n"


def _confirmed_loss(project_folder: Path) -> Proposal:
    """Approved: a line goes that nothing explains, and the person confirmed the finding on it."""
    project = world.make_project(project_folder)
    gone = world.TESTING.replace(LINE + "\n", "")
    said = world.edit("feedback_testing.md", world.TESTING, gone, "reset")
    proposal = world.propose(project, replace(said, fates=()))
    review.decide(proposal, review.select_hunks(proposal), Hunk.Verdict.APPROVED, world.ME)
    assert review.confirm(proposal, review.blocking_findings(proposal), world.ME) == 1
    return proposal


OUTSIDE = {
    "a line far away": world.TESTING.replace("name: Testing", "name: Tests"),
    "a line at the end": world.TESTING + "\nA line from a live session.\n",
    "the line before it": world.TESTING.replace(BEFORE, "Tests run against the real database.\n"),
    "the line behind it": world.TESTING.replace(AFTER, "Snapshots are never reviewed by hand.\n"),
    "a new line right behind it": world.TESTING.replace(LINE, LINE + "Then wait for the queue.\n"),
    "a new line right before it": world.TESTING.replace(LINE, "Stop the queue first.\n" + LINE),
    "the empty line behind it gone": world.TESTING.replace(LINE + "\n", LINE),
}


@pytest.mark.more
@pytest.mark.parametrize("changed", OUTSIDE)
def test_a_confirmed_finding_is_not_asked_again_after_a_rebase(tmp_path: Path, changed: str) -> None:
    proposal = _confirmed_loss(tmp_path)
    file = world.folder(proposal.project) / "feedback_testing.md"
    file.write_text(OUTSIDE[changed])
    report = applying.apply(proposal, world.ME)
    assert report.rebased or report.conflicts
    if report.rebased:
        assert applying.apply(proposal, world.ME, rebased=True).complete
        assert LINE not in file.read_text()


@pytest.mark.more
def test_a_finding_confirmed_on_a_persons_own_words_is_not_asked_again(tmp_path: Path) -> None:
    project = world.make_project(tmp_path)
    after = world.DEPLOY.replace("host alpha", "host beta")
    proposal = world.propose(project, world.edit("project_deploy.md", world.DEPLOY, after, "host"))
    review.edit(proposal, Hunk.objects.get(), "The API runs on host\u200b gamma.\n", world.ME)
    assert review.confirm(proposal, review.blocking_findings(proposal), world.ME)
    file = world.folder(project) / "project_deploy.md"
    file.write_text(world.DEPLOY + "It has two disks.\n")
    assert applying.apply(proposal, world.ME).rebased
    assert Hunk.objects.get().verdict == "edited"
    assert applying.apply(proposal, world.ME, rebased=True).complete
    assert "gamma.\nIt has two disks." in file.read_text()


@pytest.mark.not_on_postgresql
def test_findings_confirmed_on_two_changes_stay_so_where_these_become_one(tmp_path: Path) -> None:
    project = world.make_project(tmp_path)
    gone = world.TESTING.replace(LINE, "").replace(BEFORE, "")
    said = world.edit("feedback_testing.md", world.TESTING, gone, "both")
    proposal = world.propose(project, replace(said, fates=()))
    assert Hunk.objects.count() == 2
    review.decide(proposal, review.select_hunks(proposal), Hunk.Verdict.APPROVED, world.ME)
    assert review.confirm(proposal, review.blocking_findings(proposal), world.ME) == 2
    file = world.folder(project) / "feedback_testing.md"
    file.write_text(world.TESTING.replace(BEFORE + "\n", BEFORE))
    report = applying.apply(proposal, world.ME)
    assert report.rebased and not report.conflicts
    assert applying.apply(proposal, world.ME, rebased=True).complete
