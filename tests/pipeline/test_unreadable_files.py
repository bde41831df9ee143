"""A memory that is there and cannot be read is not taken for removed: neither by an apply nor by an undo."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command

from dreams.lib.files import safefs, workspace
from dreams.management import shown
from dreams.management.base import Refused
from dreams.models import Hunk, Project, Proposal
from dreams.services import discovery, review, rollback
from dreams.services.apply import applying
from dreams.services.memories import syncing
from dreams.services.scheduling import scheduler
from tests.world import directory as world

pytestmark = pytest.mark.django_db(transaction=True)
GONE, ADDED = "project_deploy.md", "project_export.md"


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return world.make_project(tmp_path)


@pytest.fixture
def unreadable(monkeypatch: pytest.MonkeyPatch) -> Any:
    """The disk refuses to read the files that are put into this set."""
    names: set[str] = set()
    read = safefs.Root.read_bytes

    def refusing(self: safefs.Root, rel: str, **given: Any) -> bytes:
        if rel in names:
            raise OSError(5, "Input/output error", rel)
        return read(self, rel, **given)

    monkeypatch.setattr(safefs.Root, "read_bytes", refusing)
    return names


def approved(proposal: Proposal) -> Proposal:
    review.decide(proposal, review.select_hunks(proposal), Hunk.Verdict.APPROVED, world.ME)
    review.confirm(proposal, proposal.findings.filter(severity="block"), world.ME)
    return proposal


@pytest.mark.more
@pytest.mark.not_on_postgresql
def test_a_removal_of_a_file_that_cannot_be_read_is_not_done_and_waits(
    project: Project, unreadable: set[str]
) -> None:
    proposal = approved(world.propose(project, world.edit(GONE, world.DEPLOY, None, "gone", "prune")))
    unreadable.add(GONE)
    report = applying.apply(proposal, world.ME)
    assert not report.complete and "Input/output error" in report.conflicts[0].why
    told = shown.report_words(shown.report(report))
    assert f"conflict {GONE}: it cannot be read now (Input/output error)" in told, "said once"
    proposal.refresh_from_db()
    assert proposal.state == Proposal.State.SUBMITTED
    unreadable.clear()
    assert applying.apply(proposal, world.ME).complete
    assert not (world.folder(project) / GONE).exists()


def test_a_change_of_a_file_that_cannot_be_read_is_no_conflict_once_it_can(
    project: Project, unreadable: set[str]
) -> None:
    one = world.TESTING.replace("make reset", "make fresh")
    proposal = approved(
        world.propose(project, world.edit("feedback_testing.md", world.TESTING, one, "reset"))
    )
    unreadable.add("feedback_testing.md")
    assert [waiting.path for waiting in applying.apply(proposal, world.ME).conflicts] == [
        "feedback_testing.md"
    ]
    assert proposal.files.get().conflict is None
    unreadable.clear()
    assert applying.apply(proposal, world.ME).complete


def test_a_review_that_is_brought_up_to_date_leaves_a_file_that_cannot_be_read_as_it_is(
    project: Project, unreadable: set[str]
) -> None:
    one = world.TESTING.replace("make reset", "make fresh")
    changed = world.edit("feedback_testing.md", world.TESTING, one, "reset")
    proposal = world.propose(project, changed, world.edit(GONE, world.DEPLOY, None, "gone", "prune"))
    unreadable |= {"feedback_testing.md", GONE}
    applying.bring_up_to_date(proposal)
    assert all(file.base_sha and file.conflict is None for file in proposal.files.all())
    assert proposal.files.filter(rebase_confirmed=True).count() == 2, "nothing of it was settled unseen"
    unreadable.clear()
    assert applying.apply(approved(proposal), world.ME).complete
    assert not (world.folder(project) / GONE).exists()


@pytest.mark.not_on_postgresql
def test_an_added_file_that_cannot_be_read_is_not_taken_for_undone(
    project: Project, unreadable: set[str]
) -> None:
    proposal = approved(world.three_changes(project))
    assert applying.apply(proposal, world.ME).complete
    unreadable.add(ADDED)
    for undo in (rollback.rollback, rollback.propose):
        with pytest.raises(review.ReviewRefused, match=rf"{ADDED} \(Input/output error\) cannot be read now"):
            undo(proposal, world.ME, rollback.Selection())
    # Nor is it called changed by somebody, before anything is pressed.
    with pytest.raises(review.ReviewRefused, match=rf"{ADDED} \(Input/output error\) cannot be read now"):
        rollback.preview(proposal)
    unreadable.clear()
    assert rollback.rollback(proposal, world.ME).complete
    assert not (world.folder(project) / ADDED).exists()


def test_a_file_whose_name_a_folder_has_now_is_gone(project: Project) -> None:
    """Kept as it was last seen it would be a file and a folder, which no state can hold: nothing went on."""
    folder = world.folder(project)
    proposal = approved(world.propose(project, world.edit(GONE, world.DEPLOY, None, "gone", "prune")))
    (folder / GONE).unlink()
    world.put(folder / GONE / "alpha.md", "The API has a host of its own.\n")
    assert applying.apply(proposal, world.ME).complete
    assert sorted(project.memories.filter(gone_at=None).values_list("path", flat=True)) == [
        "MEMORY.md",
        "feedback_testing.md",
        f"{GONE}/alpha.md",
    ]
    world.put(folder / GONE / "beta.md", "Another.\n")
    syncing.refresh(project)
    (folder / GONE / "beta.md").unlink()
    assert syncing.refresh(project) == [f"{GONE}/beta.md"], "a removed file in such a folder is removed"


def test_a_memory_directory_that_is_a_link_to_itself_is_told_about_in_words(project: Project) -> None:
    folder = world.folder(project)
    folder.rename(folder.with_name("elsewhere"))
    folder.symlink_to("memory")
    with pytest.raises(Refused, match=r"cannot be used: .*memory.*then try again"):
        call_command("dream", project.memory_dir, "--force")
    assert scheduler.tick().failures == []


def test_a_directory_with_a_file_that_cannot_be_read_is_read_again_once_it_can(
    project: Project, unreadable: set[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    unreadable.add(GONE)
    world.put(world.folder(project) / GONE, "New.\n")
    discovery.discover(roots=[project.root])
    read: list[Path] = []
    take = workspace.take
    monkeypatch.setattr(workspace, "take", lambda folder: read.append(folder) or take(folder))
    discovery.discover(roots=[project.root])
    assert read == [] and project.memories.exclude(unread="").count() == 1
    unreadable.clear()
    discovery.discover(roots=[project.root])
    assert len(read) == 1 and not project.memories.exclude(unread="").exists()


def test_a_memory_that_became_a_link_is_told_once_by_each_look(project: Project, tmp_path: Path) -> None:
    memory = world.folder(project) / GONE
    memory.rename(tmp_path / "elsewhere.md")
    memory.symlink_to(tmp_path / "elsewhere.md")
    for _ in range(3):
        told = discovery.discover(roots=[project.root]).skipped
        assert [(Path(one.path).name, one.reason) for one in told] == [
            (GONE, "a link; links are not followed")
        ]
