"""Undo: exactly, singly, and also after later edits."""

from __future__ import annotations

import contextlib
import importlib
import os
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.apps import apps
from django.core.management import call_command
from django.db import OperationalError

from dreams.lib.diff import merge
from dreams.lib.files import workspace
from dreams.lib.storage import journal
from dreams.management import shown
from dreams.management.base import Refused
from dreams.models import AppliedBatch, AuditEntry, DreamRun, Hunk, LeftOut, Proposal, Version
from dreams.services import audit_sentences, dreaming, project_lock, proposals, review, rollback
from dreams.services.apply import applying, writing
from dreams.services.proposals import rebase, saving, summaries
from dreams.services.rollback import Selection
from tests.world import directory as world
from tests.world.kept import Keep, Kept
from tests.world.manifest import manifest
from tests.world.rows import make_dream

pytestmark = pytest.mark.django_db


def applied(project) -> Proposal:
    proposal = world.three_changes(project)
    review.decide(proposal, review.select_hunks(proposal), Hunk.Verdict.APPROVED, world.ME)
    assert applying.apply(proposal, world.ME).complete
    return proposal


@pytest.fixture(scope="module")
def written(kept: Keep[Proposal]) -> Kept[Proposal]:
    return kept(lambda folder: applied(world.make_project(folder)))


@pytest.fixture
def proposal(written: Kept[Proposal]) -> Proposal:
    """Three changes that were applied."""
    return written.anew()


def hunk_id(proposal: Proposal, words: str) -> str:
    found = [
        row.hunk_id
        for file in proposal.files.all()
        for row, lines in proposals.text_hunks(file)
        if words in lines.added
    ]
    return found[0]


@pytest.mark.not_on_postgresql
def test_a_dream_is_undone_to_the_same_bytes_modes_and_mtimes(tmp_path: Path) -> None:
    project = world.make_project(tmp_path)
    before = manifest(world.folder(project))
    proposal = applied(project)
    report = rollback.rollback(proposal, world.ME)
    assert report.complete
    assert manifest(world.folder(project)) == before
    assert Version.objects.filter(origin="rollback").exists()


def test_who_undoes_while_another_undo_writes_reads_what_is_going_on(proposal: Proposal) -> None:
    with project_lock.hold(proposal.project, "rollback"), pytest.raises(project_lock.ProjectBusy) as busy:
        rollback.rollback(proposal, world.ME)
    assert str(busy.value) == "memoryweb undoes something in app at the moment. Try again once it is done."


def test_an_undo_does_not_touch_a_file_that_is_as_before_already(proposal: Proposal) -> None:
    file = world.folder(proposal.project) / "feedback_testing.md"
    file.write_text(world.TESTING)
    before = manifest(file.parent)[file.name]
    planned = rollback.preview(proposal)
    assert [one.path for one in planned.files if one.changes] == ["MEMORY.md", "project_export.md"]
    assert rollback.rollback(proposal, world.ME).complete
    assert manifest(file.parent)[file.name] == before
    [undo] = proposal.undone_by.all()
    assert not undo.applications.filter(files__path=file.name).exists()


@pytest.mark.parametrize("paths", [(), ("feedback_testing.md",)], ids=["all is undone", "one file is"])
def test_a_removed_file_comes_back_with_its_attributes(tmp_path: Path, paths: tuple[str, ...]) -> None:
    project = world.make_project(tmp_path)
    file = world.folder(project) / "feedback_testing.md"
    with contextlib.suppress(OSError):  # not every file system has them
        os.setxattr(file, "user.note", b"of a person")
    proposal = world.propose(
        project,
        world.edit(file.name, world.TESTING, None, "prune", "prune"),
        world.edit("project_deploy.md", world.DEPLOY, world.DEPLOY + "\nIt takes a minute.\n", "a"),
    )
    before = manifest(world.folder(project))
    review.decide(proposal, review.select_hunks(proposal), Hunk.Verdict.APPROVED, world.ME)
    review.confirm(proposal, proposal.findings.filter(severity="block"), world.ME)
    assert applying.apply(proposal, world.ME).complete
    assert rollback.rollback(proposal, world.ME, Selection(paths)).complete
    kept = paths or before.keys()
    assert {name: manifest(world.folder(project))[name] for name in kept} == {
        name: before[name] for name in kept
    }


@pytest.mark.more
def test_an_undo_that_died_before_the_rows_were_told_is_one_after_recovery(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = world.make_project(tmp_path)
    before = manifest(world.folder(project))
    proposal = applied(project)

    def die(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(writing, "record_result", die)
        with pytest.raises(KeyboardInterrupt):
            rollback.rollback(proposal, world.ME, never_again=True, reason="Not so.")
    writing.recover()
    assert manifest(world.folder(project)) == before
    assert not Hunk.objects.filter(file__proposal=proposal, undone_in=None).exists()
    assert not proposal.applications.filter(undone_at=None).exists()
    assert set(LeftOut.objects.values_list("reason", flat=True)) == {"Not so."}
    assert proposal.undone_by.get().state == Proposal.State.APPLIED
    with pytest.raises(rollback.NothingToUndo):
        rollback.rollback(proposal, world.ME)


@pytest.mark.more
@pytest.mark.parametrize("how", ["refused", "died"])
def test_an_undo_that_was_not_written_does_not_wait_to_be_written(
    proposal: Proposal, how: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise OSError(28, "No space left on device") if how == "refused" else KeyboardInterrupt

    with monkeypatch.context() as patched, contextlib.suppress(KeyboardInterrupt):
        patched.setattr(journal, "run", fail)
        assert "No space left on device. The disk is full" in rollback.rollback(proposal, world.ME).error
    assert rollback.rollback(proposal, world.ME).complete
    states = sorted(proposal.undone_by.values_list("state", flat=True))
    assert states == [Proposal.State.APPLIED, Proposal.State.REJECTED]


@pytest.mark.more
@pytest.mark.not_on_postgresql
def test_a_removed_file_comes_back_in_a_directory_with_too_many_names(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever a look does not reach: only the files of the change are looked for by name."""
    project = world.make_project(tmp_path)
    before = manifest(world.folder(project))
    made = world.propose(project, world.edit("project_deploy.md", world.DEPLOY, None, "forget", "prune"))
    monkeypatch.setattr(workspace, "MAX_FILES", 1)
    review.decide(made, review.select_hunks(made), Hunk.Verdict.APPROVED, world.ME)
    assert applying.apply(made, world.ME).complete
    row = project.memories.get(path="project_deploy.md")
    assert row.gone_at and not (world.folder(project) / row.path).exists()
    assert [file.path for file in rollback.preview(made).files] == [row.path]
    assert rollback.rollback(made, world.ME).complete
    row.refresh_from_db()
    assert manifest(world.folder(project)) == before and row.gone_at is None
    assert row.versions.latest("pk").origin == Version.Origin.ROLLBACK


def test_an_undo_of_a_dream_that_proposed_nothing_is_refused(tmp_path: Path) -> None:
    dream = dreaming.request(world.make_project(tmp_path), DreamRun.Trigger.COMMAND)
    with pytest.raises(Refused, match="nothing to undo"):
        call_command("rollback", dream.public_id)


@pytest.mark.not_on_postgresql
def test_by_command_a_part_that_was_undone_before_leaves_no_other_part_standing(tmp_path: Path) -> None:
    project = world.make_project(tmp_path)
    before = manifest(world.folder(project))
    applied(project)
    more = world.edit("project_deploy.md", world.DEPLOY, world.DEPLOY + "\nIt takes a minute.\n", "a")
    second = world.propose(project, more)
    review.decide(second, review.select_hunks(second), Hunk.Verdict.APPROVED, world.ME)
    assert applying.apply(second, world.ME).complete
    dream = make_dream(project, DreamRun.Status.COMPLETED)
    project.proposals.update(dream=dream)
    rollback.rollback(second, world.ME)
    call_command("rollback", dream.public_id)
    assert manifest(world.folder(project)) == before
    out = StringIO()
    call_command("rollback", dream.public_id, stdout=out)
    assert "has already been undone" in out.getvalue()


def test_by_command_what_is_undone_is_left_out_for_good_if_that_is_asked(tmp_path: Path) -> None:
    made = applied(world.make_project(tmp_path))
    call_command("rollback", made.public_id, "--path", "feedback_testing.md", "--never-again")
    assert {left.path for left in LeftOut.objects.all()} == {"feedback_testing.md"}


def test_by_command_a_file_or_change_of_one_part_is_undone_and_an_unknown_one_undoes_nothing(
    tmp_path: Path,
) -> None:
    project = world.make_project(tmp_path)
    first = applied(project)
    second = world.propose(project, world.edit("later.md", None, "Written later.\n", "a"))
    review.decide(second, review.select_hunks(second), Hunk.Verdict.APPROVED, world.ME)
    assert applying.apply(second, world.ME).complete
    dream = make_dream(project, DreamRun.Status.COMPLETED)
    project.proposals.update(dream=dream)
    path = world.folder(project) / "feedback_testing.md"
    path.rename(path.with_name("renamed.md"))
    with pytest.raises(Refused, match=r"^Not all was undone\. feedback_testing\.md: ") as refused:
        call_command("rollback", dream.public_id)
    assert (refused.value.result or {})["said"] == []  # “Nothing was written.”, beside what was
    path.with_name("renamed.md").rename(path)
    undone = project.proposals.get(origin="rollback", applications__isnull=False)
    call_command("rollback", undone.public_id)
    everything = manifest(world.folder(project))
    with pytest.raises(Refused, match="no file nothing"):
        call_command("rollback", dream.public_id, "--path", "later.md", "--path", "nothing.md")
    assert manifest(world.folder(project)) == everything
    call_command("rollback", dream.public_id, "--path", "later.md")
    assert not (world.folder(project) / "later.md").exists() and first.applications.get().undone_at is None
    hunk = Hunk.objects.filter(file__proposal=first).latest("pk")
    call_command("rollback", dream.public_id, "--hunk", hunk.hunk_id)
    hunk.refresh_from_db()
    assert hunk.undone_in is not None


@pytest.mark.not_on_postgresql
def test_one_hunk_is_undone_and_the_others_stay_and_then_its_file(proposal: Proposal) -> None:
    project = proposal.project
    rollback.rollback(proposal, world.ME, Selection(hunk_ids=(hunk_id(proposal, "make fresh"),)))
    written = (world.folder(project) / "feedback_testing.md").read_text()
    assert "make reset" in written and "never with -u" in written
    rollback.rollback(proposal, world.ME, Selection(paths=("feedback_testing.md",)))
    assert (world.folder(project) / "feedback_testing.md").read_text() == world.TESTING
    assert (world.folder(project) / "project_export.md").exists()


def test_what_was_undone_is_applied_again_by_undoing_the_undo_alone(proposal: Proposal) -> None:
    rollback.rollback(proposal, world.ME)
    before = manifest(world.folder(proposal.project))
    undo = proposal.undone_by.get()
    with pytest.raises(review.ReviewRefused, match=f"To apply it again, undo the undo: {undo.public_id}\\."):
        applying.apply(proposal, world.ME)
    assert manifest(world.folder(proposal.project)) == before


@pytest.mark.not_on_postgresql
def test_what_was_not_applied_or_is_undone_is_not_undone_again(tmp_path: Path) -> None:
    proposal = world.three_changes(world.make_project(tmp_path))
    review.decide(proposal, review.select_hunks(proposal), Hunk.Verdict.APPROVED, world.ME)
    reset, snapshots = (Selection(hunk_ids=(hunk_id(proposal, said),)) for said in ("make fresh", "with -u"))
    review.decide(
        proposal, review.select_hunks(proposal, hunk_ids=reset.hunk_ids), Hunk.Verdict.REJECTED, world.ME
    )
    assert applying.apply(proposal, world.ME).complete
    before = manifest(world.folder(proposal.project))
    why = f"None of that is currently applied in {proposal.public_id}; there is nothing to undo."
    with pytest.raises(rollback.NothingToUndo, match=why) as never:
        rollback.rollback(proposal, world.ME, reset)
    assert not isinstance(never.value, rollback.AlreadyUndone)
    assert manifest(world.folder(proposal.project)) == before
    rollback.rollback(proposal, world.ME, snapshots)
    with pytest.raises(rollback.AlreadyUndone, match=why):
        rollback.rollback(proposal, world.ME, snapshots)


@pytest.mark.more
def test_the_rest_can_be_undone_after_one_hunk_was(tmp_path: Path) -> None:
    project = world.make_project(tmp_path)
    original = {p.name: p.read_bytes() for p in world.folder(project).iterdir()}
    proposal = applied(project)
    rollback.rollback(proposal, world.ME, Selection(hunk_ids=(hunk_id(proposal, "make fresh"),)))
    assert not proposal.applications.filter(undone_at__isnull=False).exists(), "a part of it still stands"
    rollback.rollback(proposal, world.ME)
    assert not proposal.applications.filter(undone_at=None).exists(), "nothing of it stands"
    assert {p.name: p.read_bytes() for p in world.folder(project).iterdir()} == original
    with pytest.raises(rollback.NothingToUndo):
        rollback.rollback(proposal, world.ME)


@pytest.mark.more
def test_a_file_that_is_undone_change_by_change_is_at_last_as_it_was(tmp_path: Path) -> None:
    """Each undo changes it, which is no edit by anybody else."""
    project = world.make_project(tmp_path)
    before = manifest(world.folder(project))["feedback_testing.md"]
    proposal = applied(project)
    first, last = (
        Selection(hunk_ids=(hunk_id(proposal, words),)) for words in ("never with -u", "make fresh")
    )
    rollback.rollback(proposal, world.ME, first)
    assert not rollback.preview(proposal, last).files[0].restored.mode, "an existing file keeps it"
    rollback.rollback(proposal, world.ME, last)
    assert manifest(world.folder(project))["feedback_testing.md"] == before


@pytest.mark.not_on_postgresql
def test_a_later_edit_elsewhere_in_the_file_and_a_mode_that_was_set_since_survive_the_undo(
    proposal: Proposal,
) -> None:
    """Somebody made it private: an undo of its text must not open it to others again."""
    path = world.folder(proposal.project) / "feedback_testing.md"
    path.write_text(path.read_text() + "\nLater line.\n")
    path.chmod(0o600)
    assert rollback.rollback(proposal, world.ME).complete
    assert path.read_text() == world.TESTING + "\nLater line.\n"
    assert path.stat().st_mode & 0o777 == 0o600


@pytest.mark.not_on_postgresql
def test_a_later_edit_in_the_same_place_is_a_conflict_and_nothing_is_written(proposal: Proposal) -> None:
    project = proposal.project
    path = world.folder(project) / "feedback_testing.md"
    path.write_text(path.read_text().replace("make fresh", "make other"))
    before = manifest(world.folder(project))
    report = rollback.rollback(proposal, world.ME)
    assert [w.path for w in report.conflicts] == ["feedback_testing.md"]
    assert manifest(world.folder(project)) == before


@pytest.mark.not_on_postgresql
def test_a_refused_undo_names_what_happened_to_each_file_and_what_to_do(
    proposal: Proposal, tmp_path: Path
) -> None:
    project = proposal.project
    path = world.folder(project) / "feedback_testing.md"
    path.rename(path.with_name("renamed.md"))
    with pytest.raises(
        Refused, match=r"^Nothing was written\. feedback_testing\.md: .* been removed; solve it"
    ):
        call_command("rollback", proposal.public_id)
    away = world.folder(project).rename(tmp_path / "elsewhere")
    with pytest.raises(Refused, match="its memory directory is not there now; undo it once it is back"):
        call_command("rollback", proposal.public_id)
    (away / "renamed.md").rename(away / "feedback_testing.md")
    away.rename(world.folder(project))
    call_command("rollback", proposal.public_id)
    assert path.read_text() == world.TESTING


@pytest.mark.not_on_postgresql
def test_a_conflict_of_an_undo_can_be_solved_and_applied(proposal: Proposal) -> None:
    project = proposal.project
    path = world.folder(project) / "feedback_testing.md"
    path.write_text(path.read_text().replace("make fresh", "make other"))
    undo = rollback.propose(proposal, world.ME, Selection(paths=("feedback_testing.md",)))
    file = undo.files.get(path="feedback_testing.md")
    assert rebase.three_way(rebase.sides_of(file), file.path).conflicts
    rebase.resolve(file, {0: "theirs"})
    assert applying.apply(undo, world.ME).complete
    assert "make reset" in path.read_text()


def clashing_undo(proposal: Proposal, selection: Selection = rollback.EVERYTHING, **how: Any) -> Proposal:
    """The undo as a review, because somebody has changed one of the lines since."""
    path = world.folder(proposal.project) / "feedback_testing.md"
    path.write_text(path.read_text().replace("make fresh", "make other"))
    return rollback.propose(proposal, world.ME, selection, **how)


def solve(undo: Proposal, choice: merge.Choice) -> None:
    rebase.resolve(undo.files.get(path="feedback_testing.md"), {0: choice})


@pytest.mark.not_on_postgresql
def test_an_undo_that_is_asked_for_twice_waits_once(proposal: Proposal) -> None:
    undo = clashing_undo(proposal, reason="It was wrong")
    assert rollback.propose(proposal, world.ME, reason="It was wrong", selection=rollback.EVERYTHING) == undo
    assert clashing_undo(proposal, never_again=True) != undo


@pytest.mark.also_on_postgresql
@pytest.mark.more
@pytest.mark.parametrize("clashes", [False, True])
def test_an_undo_that_is_asked_for_again_before_it_is_made_waits_once(
    proposal: Proposal, clashes: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    check, made = saving.check_draft, list[Proposal]()

    def ask() -> Proposal:
        if clashes:
            return clashing_undo(proposal)
        return rollback.propose(proposal, world.ME, rollback.EVERYTHING)

    def check_beside_another(*given: Any, **more: Any) -> Any:
        monkeypatch.setattr(saving, "check_draft", check)
        made.append(ask())
        return check(*given, **more)

    monkeypatch.setattr(saving, "check_draft", check_beside_another)
    assert [ask()] == made == list(proposal.undone_by.all())
    assert made[0].state == (Proposal.State.OPEN if clashes else Proposal.State.SUBMITTED)


@pytest.mark.not_on_postgresql
def test_an_undo_that_a_person_worded_is_the_same_when_it_is_asked_for_again(proposal: Proposal) -> None:
    undo = clashing_undo(proposal)
    words = merge.Edited("Reset it with make clean.\n")
    review.solve_conflict(undo.files.get(path="feedback_testing.md"), {0: words}, world.ME)
    assert rollback.propose(proposal, world.ME, rollback.EVERYTHING) == undo


def killed_undo(proposal: Proposal, monkeypatch: pytest.MonkeyPatch, **how: Any) -> Proposal:
    def die(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched, pytest.raises(KeyboardInterrupt):
        patched.setattr(writing, "write", die)
        patched.setattr(rollback, "_withdraw", lambda _: None)  # a killed process withdraws nothing
        rollback.rollback(proposal, world.ME, **how)
    return proposal.undone_by.get()


@pytest.mark.more
def test_an_undo_that_was_killed_before_its_write_is_written_in_a_persons_own_words(
    proposal: Proposal, monkeypatch: pytest.MonkeyPatch
) -> None:
    undo = killed_undo(proposal, monkeypatch)
    path = world.folder(proposal.project) / "feedback_testing.md"
    path.write_text(path.read_text().replace("make fresh", "make other"))
    assert applying.apply(undo, world.ME).conflicts
    words = merge.Edited("Reset it with make clean.\n")
    review.solve_conflict(undo.files.get(path=path.name), {0: words}, world.ME)
    undo.refresh_from_db()
    review.confirm(undo, review.blocking_findings(undo), world.ME)
    assert applying.apply(undo, world.ME).complete
    assert "make clean" in path.read_text()


@pytest.mark.also_on_postgresql
@pytest.mark.more
def test_an_undo_that_was_killed_before_its_write_is_one_once_it_is_written(
    proposal: Proposal, monkeypatch: pytest.MonkeyPatch
) -> None:
    undo = killed_undo(proposal, monkeypatch, reason="Not so.", never_again=True)
    assert applying.apply(undo, world.ME).complete
    assert not Hunk.objects.filter(file__proposal=proposal).exclude(undone_in__proposal=undo).exists()
    assert not proposal.applications.filter(undone_at=None).exists()
    assert {row.reason for row in LeftOut.objects.filter(proposal=proposal)} == {"Not so."}


@pytest.mark.more
def test_an_undo_that_was_killed_in_an_earlier_version_is_withdrawn_by_the_next(
    proposal: Proposal, monkeypatch: pytest.MonkeyPatch
) -> None:
    undo = killed_undo(proposal, monkeypatch)
    Proposal.objects.filter(pk=undo.pk).update(undo_asked={})
    importlib.import_module("dreams.migrations.0065_worded_files").move(apps, None)
    assert rollback.rollback(proposal, world.ME).complete
    undo.refresh_from_db()
    assert undo.state == Proposal.State.REJECTED


def test_an_undo_that_was_killed_keeps_a_persons_own_words_when_another_file_is_undone(
    proposal: Proposal, monkeypatch: pytest.MonkeyPatch
) -> None:
    undo = killed_undo(proposal, monkeypatch, selection=Selection(paths=("feedback_testing.md",)))
    path = world.folder(proposal.project) / "feedback_testing.md"
    path.write_text(path.read_text().replace("make fresh", "make other"))
    assert applying.apply(undo, world.ME).conflicts
    words = merge.Edited("Reset it with make clean.\n")
    review.solve_conflict(undo.files.get(path=path.name), {0: words}, world.ME)
    assert rollback.rollback(proposal, world.ME, Selection(paths=("project_export.md",))).complete
    undo.refresh_from_db()
    assert undo.state == Proposal.State.SUBMITTED
    path.write_text(path.read_text().replace("make other", "make fresh"))
    assert rollback.rollback(proposal, world.ME).complete
    undo.refresh_from_db()
    assert undo.state == Proposal.State.SUPERSEDED  # nothing is left that it could undo


@pytest.mark.more
def test_an_undo_that_was_submitted_and_waits_is_not_proposed_again(proposal: Proposal) -> None:
    undo = clashing_undo(proposal)
    solve(undo, "theirs")
    review.decide(undo, review.select_hunks(undo), Hunk.Verdict.APPROVED, world.ME)
    review.submit(undo, world.ME)
    assert clashing_undo(proposal) == undo
    Hunk.objects.filter(file__proposal=undo, file__path="project_export.md").update(verdict="rejected")
    assert clashing_undo(proposal) != undo, "it would not write all of it"


@pytest.mark.more
def test_an_undo_whose_conflicts_were_solved_by_hand_is_an_undo(proposal: Proposal) -> None:
    undo = clashing_undo(proposal, reason="It was wrong", never_again=True)
    solve(undo, "theirs")
    review.decide(undo, review.select_hunks(undo), Hunk.Verdict.APPROVED, world.ME)
    assert applying.apply(undo, world.ME).complete
    assert not Hunk.objects.filter(file__proposal=proposal).exclude(undone_in__proposal=undo).exists()
    assert not proposal.applications.filter(undone_at=None).exists(), "nothing of it stands"
    assert {row.reason for row in LeftOut.objects.filter(proposal=proposal)} == {"It was wrong"}
    with pytest.raises(rollback.NothingToUndo):
        rollback.rollback(proposal, world.ME)


@pytest.mark.not_on_postgresql
def test_one_file_that_a_person_keeps_in_an_undo_leaves_the_others_to_be_undone(proposal: Proposal) -> None:
    folder = world.folder(proposal.project)
    undo = clashing_undo(proposal)
    review.solve_conflict(undo.files.get(path="feedback_testing.md"), {0: "ours"}, world.ME)
    rest = review.select_hunks(undo, paths=("MEMORY.md", "project_export.md"))
    assert {hunk.verdict for hunk in rest} == {Hunk.Verdict.PENDING}, "decided with another file"
    review.decide(undo, rest, Hunk.Verdict.APPROVED, world.ME)
    assert applying.apply(undo, world.ME).complete
    assert (folder / "MEMORY.md").read_text() == world.INDEX and not (folder / "project_export.md").exists()
    assert "make other" in (folder / "feedback_testing.md").read_text()


@pytest.mark.more
def test_what_an_undo_by_review_leaves_as_it_is_can_still_be_undone(proposal: Proposal) -> None:
    undo = clashing_undo(proposal)
    solve(undo, "ours")
    review.decide(undo, review.select_hunks(undo), Hunk.Verdict.APPROVED, world.ME)
    export = review.select_hunks(undo, paths=["project_export.md"])
    review.decide(undo, export, Hunk.Verdict.REJECTED, world.ME)
    assert applying.apply(undo, world.ME).complete
    left = Hunk.objects.filter(file__proposal=proposal, undone_in=None)
    kept = set(left.values_list("file__path", flat=True))
    assert kept == {"MEMORY.md", "project_export.md"}
    assert proposal.applications.filter(undone_at=None).exists(), "a part of it still stands"
    assert not LeftOut.objects.filter(proposal=proposal).exists()


@pytest.mark.more
def test_an_undo_by_review_of_some_files_leaves_the_others_done(proposal: Proposal) -> None:
    undo = clashing_undo(proposal, Selection(paths=("feedback_testing.md",)))
    solve(undo, "theirs")
    assert applying.apply(undo, world.ME).complete
    undone = Hunk.objects.filter(file__proposal=proposal, undone_in__isnull=False)
    assert set(undone.values_list("file__path", flat=True)) == {"feedback_testing.md"}
    assert rollback.rollback(proposal, world.ME).complete, "the rest can be undone, too"
    assert not proposal.applications.filter(undone_at=None).exists()


@pytest.mark.more
def test_an_undo_by_review_can_itself_be_undone(proposal: Proposal) -> None:
    undo = clashing_undo(proposal)
    now = {p.name: p.read_bytes() for p in world.folder(proposal.project).iterdir()}
    solve(undo, "theirs")
    review.decide(undo, review.select_hunks(undo), Hunk.Verdict.APPROVED, world.ME)
    assert applying.apply(undo, world.ME).complete
    assert rollback.rollback(undo, world.ME).complete
    assert {p.name: p.read_bytes() for p in world.folder(proposal.project).iterdir()} == now
    assert not Hunk.objects.filter(file__proposal=proposal, undone_in__isnull=False).exists()


@pytest.mark.more
def test_an_undo_by_review_that_waits_for_a_word_survives_another_undo(proposal: Proposal) -> None:
    """Submitted, and not written because its file changed once more."""
    undo = clashing_undo(proposal, Selection(paths=("feedback_testing.md",)))
    solve(undo, "theirs")
    review.submit(undo, world.ME)
    path = world.folder(proposal.project) / "feedback_testing.md"
    path.write_text(path.read_text() + "\nOne more line.\n")
    assert not applying.apply(undo, world.ME).complete
    assert rollback.rollback(proposal, world.ME, Selection(paths=("project_export.md",))).complete
    undo.refresh_from_db()
    assert undo.state == Proposal.State.SUBMITTED
    assert applying.apply(undo, world.ME, rebased=True).complete
    assert not Hunk.objects.filter(file__proposal=proposal, file__path=path.name, undone_in=None).exists()


def test_an_undo_that_broke_off_before_it_was_submitted_does_not_wait_for_a_review(
    proposal: Proposal, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise OperationalError("database is locked")

    with monkeypatch.context() as patched, pytest.raises(OperationalError):
        patched.setattr(review, "decide", fail)
        rollback.rollback(proposal, world.ME)
    assert set(proposal.undone_by.values_list("state", flat=True)) == {Proposal.State.REJECTED}


def test_an_undo_by_review_is_made_with_its_conflicts_or_not_at_all(
    proposal: Proposal, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise OperationalError("database is locked")

    with monkeypatch.context() as patched, pytest.raises(OperationalError):
        patched.setattr(saving, "save_check_results", fail)  # after its files
        clashing_undo(proposal)
    assert not proposal.undone_by.exists()
    with monkeypatch.context() as patched, pytest.raises(OperationalError):
        patched.setattr(review, "decide", fail)
        patched.setattr(Proposal.objects, "select_for_update", fail)  # the first step behind it
        clashing_undo(proposal)
    assert proposal.undone_by.get().files.filter(conflict__isnull=False).exists()


@pytest.mark.more
def test_a_folder_that_the_apply_made_goes_with_its_undo_though_the_journal_cannot_be_read(
    tmp_path: Path,
) -> None:
    project = world.make_project(tmp_path)
    proposal = world.propose(project, world.edit("team/export.md", None, "It runs at four.\n", "add"))
    review.confirm(proposal, review.blocking_findings(proposal, review.select_hunks(proposal)), world.ME)
    review.decide(proposal, review.select_hunks(proposal), Hunk.Verdict.APPROVED, world.ME)
    assert applying.apply(proposal, world.ME).complete
    [end] = writing.journal_dir().glob(f"{proposal.public_id}*/end.json")
    end.write_bytes(b"{")
    assert rollback.rollback(proposal, world.ME).complete
    assert not (world.folder(project) / "team").exists()


@pytest.mark.not_on_postgresql
def test_an_undo_can_be_undone(proposal: Proposal) -> None:
    project = proposal.project
    with_changes = {p.name: p.read_bytes() for p in world.folder(project).iterdir()}
    report = rollback.rollback(proposal, world.ME)
    undo = Proposal.objects.get(public_id=report.proposal)
    rollback.rollback(undo, world.ME)
    assert {p.name: p.read_bytes() for p in world.folder(project).iterdir()} == with_changes


@pytest.mark.not_on_postgresql
def test_a_preview_writes_nothing_and_equals_the_later_undo(proposal: Proposal) -> None:
    project = proposal.project
    before = manifest(world.folder(project))
    preview = rollback.preview(proposal)
    assert manifest(world.folder(project)) == before
    rollback.rollback(proposal, world.ME)
    for file in preview.files:
        path = world.folder(project) / file.path
        assert (path.read_bytes() if path.exists() else None) == file.result


def test_a_memory_directory_that_the_apply_made_goes_with_its_undo(tmp_path: Path) -> None:
    project = world.make_project(tmp_path, {})
    folder = world.folder(project)
    folder.rmdir()
    parent = manifest(folder.parent)
    proposal = world.propose(project, world.edit("MEMORY.md", None, "# Memory\n", "first", "learn"))
    review.decide(proposal, review.select_hunks(proposal), Hunk.Verdict.APPROVED, world.ME)
    assert applying.apply(proposal, world.ME).complete
    assert (folder / "MEMORY.md").read_text() == "# Memory\n"
    assert rollback.rollback(proposal, world.ME).complete
    assert not folder.exists()
    assert manifest(folder.parent) == parent
    # The lock file that went with the folder is told as no memory.
    undo = AppliedBatch.objects.get(proposal__in=proposal.undone_by.all())
    told = [summaries.of_applications([undo])[undo.pk].text]
    rows = list(AuditEntry.objects.filter(action="rollback.done"))
    told += [audit_sentences.Sentences.of(rows).sentence(row) for row in rows]
    assert len(told) == 2 and not [one for one in told if "consolidate" in one]


def test_a_write_that_failed_is_not_called_one_with_nothing_to_write() -> None:
    assert shown.report_words(shown.report(applying.ApplyReport(error="The disk is full"))) == []
    assert shown.report_words(shown.report(applying.ApplyReport())) == ["Nothing to write."]


def test_a_tab_or_a_line_end_in_a_files_name_is_written_out_in_what_a_write_reports() -> None:
    name, shows = "a\tb\nc.md", "a⟨U+0009⟩b⟨U+000A⟩c.md"
    done = applying.ApplyReport(
        applied=(applying.Written(name, None),),
        conflicts=(applying.NotWritten(name, "it changed"),),
        untouched=(name,),
        said=(f"{name} was left as it is.",),
    )
    assert shown.report_words(shown.report(done)) == [
        f"removed  {shows}",
        f"conflict {shows}: it changed",
        f"left     {shows}",
        f"{shows} was left as it is.",
    ]
    preview = shown.preview(name, b"a\tb\n", None, "removed")
    assert shown.preview_words([preview]) == [f"{shows}: removed\n  - a\tb"]
