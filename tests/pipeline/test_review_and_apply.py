"""Decide, submit, apply: only what was approved is written, exactly as it was seen."""

from __future__ import annotations

import os
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command

from dreams.lib.diff.merge import Edited
from dreams.lib.files import text
from dreams.management.base import Refused
from dreams.management.shown import report_words
from dreams.models import AuditEntry, Decision, FileChange, Hunk, LeftOut, Proposal, Version
from dreams.services import auditlog, blobs, proposals, review, rollback
from dreams.services.apply import applying, writing
from dreams.services.memories import syncing
from dreams.services.proposals import rebase
from dreams.services.review import Actor, submitting
from tests.world import directory as world
from tests.world.kept import Keep, Kept
from tests.world.manifest import manifest

pytestmark = [pytest.mark.django_db, pytest.mark.not_on_postgresql]


@pytest.fixture(scope="module")
def made(kept: Keep[Proposal]) -> Kept[Proposal]:
    return kept(lambda folder: world.three_changes(world.make_project(folder)))


@pytest.fixture
def proposal(made: Kept[Proposal]) -> Proposal:
    """Two changes of a file, and a new file with its row in the index; nothing is decided."""
    return made.anew()


def hunk_with(proposal: Proposal, words: str) -> Hunk:
    from dreams.services import proposals

    for file in proposal.files.all():
        for row, lines in proposals.text_hunks(file):
            if words in lines.added:
                return row
    raise AssertionError(f"no hunk adds {words!r}")


@pytest.mark.not_on_postgresql
def test_everything_approved_is_on_disk_and_the_rest_is_untouched(proposal: Proposal) -> None:
    project = proposal.project
    folder = world.folder(project)
    deploy = os.stat(folder / "project_deploy.md")
    review.decide(proposal, review.select_hunks(proposal), Hunk.Verdict.APPROVED, world.ME)

    report = applying.apply(proposal, world.ME)

    assert report.complete
    assert {w.path for w in report.applied} == {"MEMORY.md", "feedback_testing.md", "project_export.md"}
    assert "never with -u" in (folder / "feedback_testing.md").read_text()
    for written in report.applied:
        assert text.sha256((folder / written.path).read_bytes()) == written.sha256
    assert (folder / "feedback_testing.md").stat().st_mode & 0o777 == 0o640
    after = os.stat(folder / "project_deploy.md")
    assert (after.st_ino, after.st_mtime_ns) == (deploy.st_ino, deploy.st_mtime_ns)
    proposal.refresh_from_db()
    assert proposal.state == Proposal.State.APPLIED
    assert not (folder / ".consolidate-lock").exists()


def test_a_review_in_which_nothing_is_decided_is_not_closed(proposal: Proposal) -> None:
    project = proposal.project
    before = manifest(world.folder(project))
    with pytest.raises(review.ReviewRefused, match=f"Nothing of {proposal.public_id} is decided yet"):
        applying.apply(proposal, world.ME)
    proposal.refresh_from_db()
    assert proposal.state == Proposal.State.OPEN
    assert not LeftOut.objects.exists() and not proposal.submitting_by
    assert manifest(world.folder(project)) == before


@pytest.mark.more
@pytest.mark.not_on_postgresql
def test_of_a_new_index_only_the_rows_that_were_approved_are_written_and_undone(tmp_path: Path) -> None:
    project = world.make_project(
        tmp_path, {"feedback_testing.md": world.TESTING, "project_deploy.md": world.DEPLOY}
    )
    before = manifest(world.folder(project))
    testing, deploy = world.INDEX.splitlines(keepends=True)[-2:]
    proposal = world.propose(
        project,
        world.edit("MEMORY.md", None, testing, "testing", "index"),
        world.edit("MEMORY.md", testing, testing + deploy, "deploy", "index"),
    )
    review.decide(proposal, [hunk_with(proposal, testing)], Hunk.Verdict.REJECTED, world.ME)
    review.decide(proposal, [hunk_with(proposal, deploy)], Hunk.Verdict.APPROVED, world.ME)
    assert applying.apply(proposal, world.ME).complete
    assert (world.folder(project) / "MEMORY.md").read_text() == deploy
    rollback.rollback(proposal, world.ME, reason="changed my mind")
    assert manifest(world.folder(project)) == before


def test_nothing_is_written_of_a_proposal_that_another_replaced(proposal: Proposal) -> None:
    before = manifest(world.folder(proposal.project))
    review.decide(proposal, review.select_hunks(proposal), Hunk.Verdict.APPROVED, world.ME)
    Proposal.objects.filter(pk=proposal.pk).update(state=Proposal.State.SUPERSEDED)
    with pytest.raises(review.ReviewRefused, match="is superseded; nothing of it can be applied"):
        applying.apply(proposal, world.ME)
    assert manifest(world.folder(proposal.project)) == before


def test_of_two_who_submit_at_once_the_second_closes_nothing(
    proposal: Proposal, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first submits between the checks of the second and its last transaction."""
    review.decide(proposal, review.select_hunks(proposal), Hunk.Verdict.APPROVED, world.ME)
    checked = submitting.refuse_saved_findings

    def beaten(of: Proposal) -> None:
        checked(of)
        monkeypatch.undo()
        Proposal.objects.filter(pk=of.pk).update(state=Proposal.State.SUBMITTED, submitted_by="ana")

    monkeypatch.setattr(submitting, "refuse_saved_findings", beaten)
    with pytest.raises(review.ReviewRefused, match="Someone else has closed this proposal"):
        review.submit(proposal, world.ME)
    assert not AuditEntry.objects.filter(action="review.submitted").exists()


def test_nothing_is_written_before_the_review_is_submitted(proposal: Proposal) -> None:
    project = proposal.project
    before = manifest(world.folder(project))
    review.decide(proposal, review.select_hunks(proposal), Hunk.Verdict.APPROVED, world.ME)
    assert manifest(world.folder(project)) == before


def test_one_hunk_of_a_file_can_be_approved_without_the_other(proposal: Proposal) -> None:
    project = proposal.project
    review.decide(proposal, [hunk_with(proposal, "make fresh")], Hunk.Verdict.APPROVED, world.ME)
    review.decide(
        proposal, [hunk_with(proposal, "never with -u")], Hunk.Verdict.REJECTED, world.ME, reason="no"
    )

    report = applying.apply(proposal, world.ME)

    written = (world.folder(project) / "feedback_testing.md").read_text()
    assert "make fresh" in written and "-u" not in written
    assert [w.path for w in report.applied] == ["feedback_testing.md"]
    assert LeftOut.objects.get().reason == "no"


def test_the_parts_of_an_operation_are_decided_together(proposal: Proposal) -> None:
    decided = review.decide(proposal, [hunk_with(proposal, "04:00 UTC")], Hunk.Verdict.REJECTED, world.ME)
    assert {hunk.file.path for hunk in decided} == {"project_export.md", "MEMORY.md"}
    assert {hunk.verdict for hunk in decided} == {"rejected"}


@pytest.mark.not_on_postgresql
def test_an_edited_hunk_writes_the_persons_text_with_the_files_line_ends(tmp_path: Path) -> None:
    crlf = world.TESTING.replace("\n", "\r\n")
    project = world.make_project(tmp_path, {"MEMORY.md": world.INDEX, "feedback_testing.md": crlf.encode()})
    new = crlf.replace("make reset", "make fresh")
    proposal = world.propose(project, world.edit("feedback_testing.md", crlf, new, "reset"))
    review.edit(proposal, hunk_with(proposal, "make fresh"), "Use make clean first.\nThen wait.", world.ME)
    applying.apply(proposal, world.ME)
    written = (world.folder(project) / "feedback_testing.md").read_bytes()
    assert b"Use make clean first.\r\nThen wait.\r\n" in written
    assert b"\n" not in written.replace(b"\r\n", b"")


def test_an_edit_outlives_the_approval_of_all_and_goes_with_the_approval_of_itself(
    proposal: Proposal,
) -> None:
    edited = hunk_with(proposal, "04:00 UTC")
    review.edit(proposal, edited, "- The export runs at 05:00 UTC.", world.ME)
    review.decide(proposal, review.select_hunks(proposal), Hunk.Verdict.APPROVED, world.ME)
    edited.refresh_from_db()
    assert edited.verdict == "edited" and edited.edited_sha
    assert {hunk.verdict for hunk in review.select_hunks(proposal)} == {"approved", "edited"}
    review.decide(proposal, [edited], Hunk.Verdict.APPROVED, world.ME)
    edited.refresh_from_db()
    assert (edited.verdict, edited.edited_sha) == ("approved", "")


def test_applying_twice_writes_once_and_the_audit_log_has_every_decision_and_write(
    proposal: Proposal,
) -> None:
    project = proposal.project
    review.decide(proposal, review.select_hunks(proposal), Hunk.Verdict.APPROVED, world.ME, reason="fine")
    first = applying.apply(proposal, world.ME)
    once = manifest(world.folder(project))
    again = applying.apply(proposal, world.ME)
    assert {(w.path, w.sha256) for w in again.applied} == {(w.path, w.sha256) for w in first.applied}
    assert manifest(world.folder(project)) == once
    assert proposal.applications.count() == 1
    rollback.rollback(proposal, world.ME, reason="changed my mind")
    actions = list(AuditEntry.objects.order_by("number").values_list("action", flat=True))
    assert [
        a for a in actions if a in ("review.decided", "review.submitted", "apply.done", "rollback.done")
    ] == [
        "review.decided",
        "review.submitted",
        "apply.done",
        "review.decided",
        "rollback.done",
    ]
    assert auditlog.verify_chain() == []
    AuditEntry.objects.filter(number=2).update(actor="someone else")
    assert auditlog.verify_chain() == ["Audit entry 2 was changed after it was written."]


@pytest.mark.not_on_postgresql
def test_a_file_changed_since_the_verdict_is_rebased_shown_and_confirmed_once(proposal: Proposal) -> None:
    project = proposal.project
    folder = world.folder(project)
    review.decide(proposal, review.select_hunks(proposal), Hunk.Verdict.APPROVED, world.ME)
    outside = world.TESTING + "\nA line from a live session.\n"
    world.put(folder / "feedback_testing.md", outside)

    report = applying.apply(proposal, world.ME)

    assert not report.complete
    assert [w.path for w in report.rebased] == ["feedback_testing.md"]
    assert (folder / "feedback_testing.md").read_text() == outside, (
        "nothing is written to a file that changed"
    )
    assert (folder / "project_export.md").exists(), "what does not depend on it is written"

    confirmed = applying.apply(proposal, world.ME, rebased=True)
    assert confirmed.complete and confirmed.untouched == (), "what was written by the first call counts"
    logged = AuditEntry.objects.get(action="review.rebase_confirmed")
    assert logged.actor == world.ME.name and logged.data["path"] == "feedback_testing.md"
    written = (folder / "feedback_testing.md").read_text()
    assert "A line from a live session." in written and "never with -u" in written
    assert text.sha256(written.encode()) == report.rebased[0].sha256, "what is applied is what was shown"
    versions = Version.objects.filter(memory__path="feedback_testing.md").order_by("pk")
    assert [v.origin for v in versions][:2] == ["found", "outside"], "kept before anything is written over it"


@pytest.mark.not_on_postgresql
def test_a_change_in_the_same_place_is_a_conflict_and_writes_nothing_there(proposal: Proposal) -> None:
    project = proposal.project
    folder = world.folder(project)
    review.decide(proposal, review.select_hunks(proposal), Hunk.Verdict.APPROVED, world.ME)
    outside = world.TESTING.replace("make reset", "make wipe")
    world.put(folder / "feedback_testing.md", outside)
    report = applying.apply(proposal, world.ME)
    assert [w.path for w in report.conflicts] == ["feedback_testing.md"]
    assert (folder / "feedback_testing.md").read_text() == outside


def _moved_line(folder: Path) -> Proposal:
    """One operation removes a line and another, which also changes another line, adds it to another file; all approved."""
    line = "Snapshots are reviewed by hand."
    out = world.edit("feedback_testing.md", world.TESTING, world.TESTING.replace(f"{line}\n", ""), "out")
    there = world.DEPLOY.replace("host alpha.", f"host beta. {line}")
    put = world.edit("project_deploy.md", world.DEPLOY, there, "in")
    made = world.propose(world.make_project(folder), replace(out, fates=()), put)
    review.decide(made, review.select_hunks(made), Hunk.Verdict.APPROVED, world.ME)
    return made


def test_a_removed_line_stays_on_disk_while_the_file_that_keeps_it_waits(tmp_path: Path) -> None:
    proposal = _moved_line(tmp_path)
    folder = world.folder(proposal.project)
    world.put(folder / "project_deploy.md", world.DEPLOY.replace("name: Deploy", "name: Deployment"))
    report = applying.apply(proposal, world.ME)
    assert [waiting.path for waiting in report.rebased] == ["project_deploy.md"] and not report.applied
    assert (folder / "feedback_testing.md").read_text() == world.TESTING
    assert applying.apply(proposal, world.ME, rebased=True).complete
    assert "by hand" in (folder / "project_deploy.md").read_text()


@pytest.mark.parametrize("seconds", [10_000_000_000, -12_000_000_000], ids=["2286", "1589"])
def test_a_file_whose_time_no_column_takes_is_written_recorded_and_restored(
    tmp_path: Path, seconds: int
) -> None:
    project = world.make_project(tmp_path, {"project_deploy.md": world.DEPLOY})
    file = world.folder(project) / "project_deploy.md"
    os.utime(file, (seconds, seconds))
    after = world.DEPLOY.replace("alpha", "beta")
    made = world.propose(project, world.edit("project_deploy.md", world.DEPLOY, after, "host"))
    review.decide(made, review.select_hunks(made), Hunk.Verdict.APPROVED, world.ME)
    assert applying.apply(made, world.ME).complete and file.read_text() == after
    rollback.rollback(made, world.ME, reason="changed my mind")
    assert file.read_text() == world.DEPLOY


def test_a_file_waits_for_no_other_that_lost_its_line_to_the_same_memory(tmp_path: Path) -> None:
    """The memory that has both lines is not written at all."""
    line, other = "Snapshots are reviewed by hand.", "Releases leave on Tuesdays."
    first, second = f"{line}\nThe host is alpha.\n", f"{other}\nThe port is 8080.\n"
    files = {"first.md": first, "second.md": second, "both.md": f"{line}\n{other}\n"}
    project = world.make_project(tmp_path, files)
    edits = (
        world.edit("first.md", first, first.replace(f"{line}\n", ""), "first"),
        world.edit("second.md", second, second.replace(f"{other}\n", ""), "second"),
    )
    made = world.propose(project, *(replace(edit, fates=()) for edit in edits))
    review.decide(made, review.select_hunks(made), Hunk.Verdict.APPROVED, world.ME)
    world.put(world.folder(project) / "first.md", first.replace("by hand", "by nobody"))
    report = applying.apply(made, world.ME)
    assert [waiting.path for waiting in report.conflicts] == ["first.md"]
    assert [written.path for written in report.applied] == ["second.md"]


def test_a_removed_line_whose_new_place_is_not_written_is_a_loss_to_confirm(tmp_path: Path) -> None:
    proposal = _moved_line(tmp_path)
    folder = world.folder(proposal.project)
    world.put(folder / "project_deploy.md", world.DEPLOY.replace("alpha", "gamma"))
    report = applying.apply(proposal, world.ME)
    assert [waiting.path for waiting in report.conflicts] == ["project_deploy.md"] and not report.applied
    review.solve_conflict(proposal.files.get(path="project_deploy.md"), {0: "ours"}, world.ME)
    with pytest.raises(review.ReviewRefused, match="Unexplained loss"):
        applying.apply(proposal, world.ME)
    assert (folder / "feedback_testing.md").read_text() == world.TESTING


@pytest.mark.also_on_postgresql
@pytest.mark.more
def test_an_apply_in_which_every_file_waits_is_not_recorded_as_written(proposal: Proposal) -> None:
    project = proposal.project
    folder = world.folder(project)
    review.decide(proposal, review.select_hunks(proposal), Hunk.Verdict.APPROVED, world.ME)
    world.put(folder / "MEMORY.md", world.INDEX + "- [New](new.md) — appended meanwhile\n")
    world.put(folder / "feedback_testing.md", world.TESTING + "\nA line from a live session.\n")
    for _ in range(2):
        report = applying.apply(proposal, world.ME)
        assert len(report.rebased) == 2 and report.applied == ()
        assert not proposal.applications.exists()
    assert not AuditEntry.objects.filter(action="apply.done").exists()
    assert applying.apply(proposal, world.ME, rebased=True).complete
    assert proposal.applications.get().files.count() == 3


@pytest.mark.not_on_postgresql
def test_of_two_proposals_that_append_to_one_file_both_additions_stay_and_each_is_undone_alone(
    tmp_path: Path,
) -> None:
    files = {"MEMORY.md": world.INDEX, "feedback_testing.md": world.TESTING}
    project = world.make_project(tmp_path, files)
    memory = world.folder(project) / "feedback_testing.md"
    said = "- Staging is reset on Mondays.\n", "- Ana reviews every migration.\n"
    first, second = (
        world.propose(
            project,
            world.edit("feedback_testing.md", world.TESTING, world.TESTING + more, "more"),
            origin=origin,
        )
        for more, origin in zip(said, (Proposal.Origin.CAUGHT, Proposal.Origin.DREAM), strict=True)
    )
    for proposal in (first, second):
        review.decide(proposal, review.select_hunks(proposal), Hunk.Verdict.APPROVED, world.ME)
    assert applying.apply(first, world.ME).complete
    report = applying.apply(second, world.ME)
    assert [w.path for w in report.rebased] == ["feedback_testing.md"], "a person sees the result first"
    assert memory.read_text() == world.TESTING + said[0]
    assert applying.apply(second, world.ME, rebased=True).complete
    assert memory.read_text() == world.TESTING + "".join(said)
    assert rollback.rollback(first, world.ME).complete
    assert memory.read_text() == world.TESTING + said[1]
    assert rollback.rollback(second, world.ME).complete
    assert memory.read_text() == world.TESTING


def test_rows_that_a_live_session_appended_to_the_index_are_kept(proposal: Proposal) -> None:
    project = proposal.project
    folder = world.folder(project)
    review.decide(proposal, review.select_hunks(proposal), Hunk.Verdict.APPROVED, world.ME)
    world.put(folder / "MEMORY.md", world.INDEX + "- [New](new.md) — appended meanwhile\n")
    assert {w.path for w in applying.apply(proposal, world.ME).rebased} == {"MEMORY.md"}
    assert not (folder / "project_export.md").exists(), "its row waits, so the file waits with it"
    assert applying.apply(proposal, world.ME, rebased=True).complete
    index = (folder / "MEMORY.md").read_text()
    assert "appended meanwhile" in index and "project_export.md" in index


def test_an_undecided_change_that_clashes_is_a_conflict_and_the_others_stay(proposal: Proposal) -> None:
    from dreams.services.proposals import rebase

    file = proposal.files.get(path="feedback_testing.md")
    outcome = rebase.rebase(file, world.TESTING.replace("make reset", "make wipe").encode())
    assert outcome == "conflict"
    assert file.hunks.count() == 2, "nothing vanishes unseen"


def _edited_beside_an_outside_change(proposal: Proposal, state: str) -> FileChange:
    from dreams.services.proposals import rebase

    review.decide(proposal, review.select_hunks(proposal), Hunk.Verdict.APPROVED, world.ME)
    review.edit(proposal, hunk_with(proposal, "make fresh"), "Use make clean before a run.\n", world.ME)
    Proposal.objects.update(state=state)
    proposal.refresh_from_db()
    file = proposal.files.get(path="feedback_testing.md")
    assert rebase.rebase(file, world.TESTING.replace("a real", "the real").encode()) == "rebased"
    return file


@pytest.mark.parametrize("state", ["open", "submitted"])
def test_a_persons_edit_is_still_theirs_after_a_rebase(proposal: Proposal, state: str) -> None:
    file = _edited_beside_an_outside_change(proposal, state)
    edited, other = file.hunks.order_by("number")
    assert (edited.verdict, other.verdict) == ("edited", "approved")
    assert blobs.get_text(edited.edited_sha) == "Use make clean before a run.\n"
    assert (edited.decided_by, other.decided_by) == (world.ME.name, world.ME.name)
    assert b"make clean" in (proposals.decided_bytes(file) or b"")


def test_an_edit_is_brought_onto_lines_that_changed_around_it(tmp_path: Path) -> None:
    from dreams.services.proposals import rebase

    project = world.make_project(tmp_path)
    long = "---\nname: L\ntype: project\n---\n\nOne.\nTwo.\nThree.\nFour.\n"
    world.put(world.folder(project) / "long.md", long)
    proposal = world.propose(
        project, world.edit("long.md", long, long.replace("One.\n", "1.\n").replace("Four.", "4."), "numbers")
    )
    file = proposal.files.get()
    hunk = file.hunks.order_by("number").first()
    assert hunk
    review.edit(proposal, hunk, "First.\n", world.ME)
    rebase.rebase(file, long.replace("Two.\n", "Two and a half.\n").encode())
    assert b"First.\nTwo and a half.\n" in (proposals.decided_bytes(file) or b"")
    assert "edited" in set(file.hunks.values_list("verdict", flat=True))


def test_what_was_deleted_on_both_sides_is_no_clash(tmp_path: Path) -> None:
    from dreams.services.proposals import rebase

    project = world.make_project(tmp_path)
    proposal = world.propose(project, world.edit("project_deploy.md", world.DEPLOY, None, "gone", "prune"))
    assert rebase.rebase(proposal.files.get(), None) == "already-there"


def test_a_row_that_was_read_before_the_apply_writes_nothing_again(proposal: Proposal) -> None:
    project = proposal.project
    review.decide(proposal, review.select_hunks(proposal), Hunk.Verdict.APPROVED, world.ME)
    stale = Proposal.objects.get(pk=proposal.pk)
    assert applying.apply(proposal, world.ME).complete
    before = manifest(world.folder(project))
    again = applying.apply(stale, world.ME)
    assert again.complete and manifest(world.folder(project)) == before


@pytest.mark.not_on_postgresql
def test_what_is_decided_while_a_file_is_rebased_is_not_lost(proposal: Proposal) -> None:
    """The rows were read before, and are saved whole."""
    path = "feedback_testing.md"
    file = proposal.files.prefetch_related("hunks").get(path=path)
    assert [hunk.verdict for hunk in file.hunks.all()] == ["pending", "pending"]
    review.decide(proposal, review.select_hunks(proposal, paths=[path]), Hunk.Verdict.APPROVED, world.ME)
    assert rebase.rebase(file, f"{world.TESTING}\nSeen on Friday.\n".encode()) == "rebased"
    assert set(Hunk.objects.filter(file=file).values_list("verdict", flat=True)) == {"approved"}


def test_an_edit_of_a_change_that_is_on_disk_meanwhile_is_refused(proposal: Proposal) -> None:
    hunk = hunk_with(proposal, "never with -u")
    file = proposal.files.get(path="feedback_testing.md")
    assert rebase.rebase(file, proposals.bytes_of(file.new_sha)) == "already-there"
    with pytest.raises(review.ReviewRefused, match="changed since you opened the page"):
        review.edit(proposal, hunk, "Mine.\n", world.ME)


def test_nobody_brings_up_to_date_what_is_being_submitted_or_written(
    proposal: Proposal, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was written would then count as there already, and could not be undone."""
    review.decide(proposal, review.select_hunks(proposal), Hunk.Verdict.APPROVED, world.ME)
    with review.claimed(proposal), pytest.raises(review.ReviewRefused, match="is being submitted"):
        applying.bring_up_to_date(proposal)
    record = writing.record_result

    def late(*given: Any) -> tuple[str, ...]:
        with pytest.raises(review.ReviewRefused, match="is being written"):
            applying.bring_up_to_date(Proposal.objects.latest("pk"))
        return record(*given)

    with monkeypatch.context() as patched:
        patched.setattr(writing, "record_result", late)
        assert applying.apply(proposal, world.ME).complete
        assert rollback.rollback(proposal, world.ME).complete
    undo = Proposal.objects.latest("pk")
    assert set(Proposal.objects.values_list("state", "submitting_by")) == {("applied", "")}
    assert rollback.rollback(undo, world.ME).complete, "a redo"


def test_rejecting_the_clashing_change_lets_the_rest_of_the_file_be_applied(proposal: Proposal) -> None:
    project = proposal.project
    from dreams.services.proposals import rebase

    review.decide(proposal, [hunk_with(proposal, "never with -u")], Hunk.Verdict.APPROVED, world.ME)
    outside = world.TESTING.replace("make reset", "make wipe")
    world.put(world.folder(project) / "feedback_testing.md", outside)
    file = proposal.files.get(path="feedback_testing.md")
    assert rebase.rebase(file, outside.encode()) == "conflict"
    review.decide(proposal, [hunk_with(proposal, "make fresh")], Hunk.Verdict.REJECTED, world.ME)
    assert [w.path for w in applying.apply(proposal, world.ME).rebased] == ["feedback_testing.md"]
    assert applying.apply(proposal, world.ME, rebased=True).complete
    written = (world.folder(project) / "feedback_testing.md").read_text()
    assert "make wipe" in written and "never with -u" in written


@pytest.mark.also_on_postgresql
def test_a_finding_that_a_rebase_brings_up_after_the_submit_can_be_confirmed(tmp_path: Path) -> None:
    project = world.make_project(tmp_path)
    folder = world.folder(project)
    gone = world.TESTING.replace("Use make reset before a run.\n\n", "")
    said = world.edit("feedback_testing.md", world.TESTING, gone, "reset")
    kept = world.edit(
        "project_deploy.md", world.DEPLOY, world.DEPLOY + "\nUse make reset before a run.\n", "reset"
    )
    proposal = world.propose(project, replace(said, fates=()), kept)
    review.decide(proposal, review.select_hunks(proposal), Hunk.Verdict.APPROVED, world.ME)
    review.submit(proposal, world.ME)
    # Somebody takes the line's new place away: its removal is a loss now.
    proposal.files.filter(path="project_deploy.md").delete()
    with pytest.raises(review.ReviewRefused, match="Confirm it, or reject the change"):
        applying.apply(proposal, world.ME)
    assert review.confirm(proposal, review.blocking_findings(proposal), world.ME) == 1
    assert applying.apply(proposal, world.ME).complete
    assert (folder / "feedback_testing.md").read_text() == gone


@pytest.mark.parametrize(
    "said",
    [
        ("One\u200bword is here.", "Another\u200bword is there."),
        tuple(f"It is gh{'p_' + 4 * word}." for word in ("a1B2c3D4e5", "z1Y2x3W4v5")),
    ],
)
def test_findings_that_read_alike_are_confirmed_one_by_one(tmp_path: Path, said: tuple[str, str]) -> None:
    one, other = said
    project = world.make_project(tmp_path)
    there = world.DEPLOY + f"\n{one}\n{other}\n"
    reset = world.TESTING.replace("make reset", "make fresh")
    proposal = world.propose(
        project,
        world.edit("project_deploy.md", world.DEPLOY, there, "in"),
        world.edit("feedback_testing.md", world.TESTING, reset, "reset"),
    )
    hunk = hunk_with(proposal, one)
    review.decide(proposal, [hunk], Hunk.Verdict.APPROVED, world.ME)
    first, second = review.blocking_findings(proposal)
    review.confirm(proposal, [first], world.ME)
    with pytest.raises(review.ReviewRefused, match=f"line {second.line_no}"):
        review.submit(proposal, world.ME)
    assert len(review.blocking_findings(proposal)) == 1
    review.edit(proposal, hunk_with(proposal, one), f"\n{other}\n", world.ME)
    assert len(review.blocking_findings(proposal)) == 1, "what was confirmed is gone, and the other is not it"


def test_a_finding_that_another_check_saved_again_or_took_away_meanwhile_stops_no_page(
    tmp_path: Path,
) -> None:
    project = world.make_project(tmp_path)
    hidden = world.edit("project_deploy.md", world.DEPLOY, f"{world.DEPLOY}\nOne\u200bword is here.\n", "in")
    proposal = world.propose(project, hidden)
    review.decide(proposal, review.select_hunks(proposal), Hunk.Verdict.APPROVED, world.ME)
    shown = review.blocking_findings(proposal)
    proposal.findings.all().delete()
    with pytest.raises(review.ReviewRefused, match="no longer there"):
        review.confirm(proposal, shown, world.ME)
    proposals.examine(proposal, {**syncing.contents(project), "new.md": b"Another file.\n"})
    assert review.confirm(proposal, shown, world.ME) == 1
    assert not review.blocking_findings(proposal)


@pytest.mark.also_on_postgresql
def test_what_a_rejected_destination_loses_is_kept_for_the_person_to_confirm(tmp_path: Path) -> None:
    project = world.make_project(tmp_path)
    gone = world.TESTING.replace("Use make reset before a run.\n\n", "")
    said = world.edit("feedback_testing.md", world.TESTING, gone, "leave")
    kept = world.edit(
        "project_deploy.md", world.DEPLOY, world.DEPLOY + "\nUse make reset before a run.\n", "arrive"
    )
    proposal = world.propose(project, replace(said, fates=()), kept)
    leaves, arrives = (proposal.files.get(path=path) for path in ("feedback_testing.md", "project_deploy.md"))
    review.decide(proposal, list(leaves.hunks.all()), Hunk.Verdict.APPROVED, world.ME)
    review.decide(proposal, list(arrives.hunks.all()), Hunk.Verdict.REJECTED, world.ME)
    assert not review.blocking_findings(proposal), "nothing is lost as long as it arrives elsewhere"
    with pytest.raises(review.ReviewRefused, match="Unexplained loss"):
        review.submit(proposal, world.ME)
    assert len(review.blocking_findings(proposal)) == 1, "the finding is there to be seen"
    review.confirm(proposal, review.blocking_findings(proposal), world.ME)
    assert applying.apply(proposal, world.ME).complete


@pytest.mark.also_on_postgresql
def test_what_is_said_of_an_undecided_change_stays_when_a_submit_is_refused(tmp_path: Path) -> None:
    project = world.make_project(tmp_path)
    gone = world.TESTING.replace("Use make reset before a run.\n\n", "")
    also = world.DEPLOY.replace("The API runs on host alpha.\n", "")
    proposal = world.propose(
        project,
        replace(world.edit("feedback_testing.md", world.TESTING, gone, "one"), fates=()),
        replace(world.edit("project_deploy.md", world.DEPLOY, also, "two"), fates=()),
    )
    review.decide(
        proposal,
        review.select_hunks(proposal, paths=["feedback_testing.md"]),
        Hunk.Verdict.APPROVED,
        world.ME,
    )
    with pytest.raises(review.ReviewRefused):
        review.submit(proposal, world.ME)
    blocked = proposal.findings.filter(severity="block").values_list("file__path", flat=True)
    assert set(blocked) == {"feedback_testing.md", "project_deploy.md"}


@pytest.mark.also_on_postgresql
def test_a_directory_that_was_away_and_came_back_as_it_was_asks_for_nothing(
    proposal: Proposal, tmp_path: Path
) -> None:
    project = proposal.project
    folder = world.folder(project)
    review.decide(proposal, review.select_hunks(proposal), Hunk.Verdict.APPROVED, world.ME)
    away = folder.rename(tmp_path / "away")
    refused = applying.apply(proposal, world.ME)
    assert {"conflict: the memory directory is gone"} == {waiting.why for waiting in refused.conflicts}
    with pytest.raises(
        Refused, match=r"^2 files were not written: .* Bring the folder back, then apply again\.$"
    ) as said:
        call_command("apply", proposal.public_id, json=True)
    assert said.value.result and "conflict" not in " ".join(report_words(said.value.result))
    assert not proposal.files.filter(conflict__isnull=False).exists(), "the inbox would ask to solve them"
    away.rename(folder)

    report = applying.apply(proposal, world.ME)

    assert report.complete and not report.rebased
    assert {w.path for w in report.applied} == {"MEMORY.md", "feedback_testing.md", "project_export.md"}


@pytest.mark.not_on_postgresql
def test_a_file_to_remove_is_not_taken_for_removed_while_its_directory_is_away(tmp_path: Path) -> None:
    project = world.make_project(tmp_path)
    folder = world.folder(project)
    proposal = world.propose(project, world.edit("project_deploy.md", world.DEPLOY, None, "gone", "prune"))
    review.decide(proposal, review.select_hunks(proposal), Hunk.Verdict.APPROVED, world.ME)
    away = folder.rename(tmp_path / "away")
    refused = applying.apply(proposal, world.ME)
    assert [waiting.why for waiting in refused.conflicts] == ["conflict: the memory directory is gone"]
    away.rename(folder)
    assert applying.apply(proposal, world.ME).complete
    assert not (folder / "project_deploy.md").exists()


@pytest.mark.also_on_postgresql
def test_a_memory_that_an_apply_removes_ends_with_a_version_of_that_apply(tmp_path: Path) -> None:
    project = world.make_project(tmp_path)
    gone = world.edit("project_deploy.md", world.DEPLOY, None, "remove", "prune")
    made = world.propose(project, gone)
    review.decide(made, review.select_hunks(made), Hunk.Verdict.APPROVED, world.ME)
    review.confirm(made, made.findings.filter(severity="block"), world.ME)
    assert applying.apply(made, world.ME).complete
    last = project.memories.get(path="project_deploy.md").versions.latest("pk")
    assert (last.sha256, last.origin, last.proposal) == ("", "apply", made)


def test_a_directory_that_leads_elsewhere_since_the_review_gets_nothing_until_a_person_says_so(
    tmp_path: Path,
) -> None:
    project = world.make_project(tmp_path, {})
    folder, home = world.folder(project), tmp_path / "home"
    proposal = world.propose(project, world.edit("project_deploy.md", None, world.DEPLOY, "learn", "learn"))
    review.decide(proposal, review.select_hunks(proposal), Hunk.Verdict.APPROVED, world.ME)
    home.mkdir()
    shutil.move(folder, tmp_path / "set aside")
    folder.symlink_to(home)
    said = rf"^Nothing was written\. The memory folder was {folder} when .* and is {home} now\."
    with pytest.raises(review.ReviewRefused, match=said):
        applying.apply(proposal, world.ME)
    assert not list(home.iterdir())
    applying.bring_up_to_date(proposal)
    assert applying.apply(proposal, world.ME).complete
    assert (home / "project_deploy.md").read_text() == world.DEPLOY


LINES = "".join(f"Line {number} says what it says.\n" for number in range(9))


def two_changes_of_a_file(folder: Path) -> Proposal:
    """Of its first line and of its fifth, each decided alone."""
    project = world.make_project(folder, {"project_deploy.md": LINES})
    lines = LINES.splitlines(keepends=True)
    first = LINES.replace(lines[0], "Cranes nest in April.\n")
    both = first.replace(lines[4], "Nobody signs the tags.\n")
    path = "project_deploy.md"
    return world.propose(project, world.edit(path, LINES, first, "a"), world.edit(path, first, both, "b"))


def in_conflict(proposal: Proposal) -> FileChange:
    """All is approved, and somebody has changed the first line since."""
    review.decide(proposal, review.select_hunks(proposal), Hunk.Verdict.APPROVED, world.ME)
    path = world.folder(proposal.project) / "project_deploy.md"
    path.write_text(path.read_text().replace("Line 0", "Number 0"))
    assert applying.apply(proposal, world.ME).conflicts
    return proposal.files.get()


def test_a_conflict_solved_in_own_words_is_an_edit_of_that_place_alone(tmp_path: Path) -> None:
    file = in_conflict(two_changes_of_a_file(tmp_path))
    review.solve_conflict(file, {0: Edited("Nought says what it says.\n")}, Actor("bea"))
    rows = Decision.objects.filter(actor="bea")
    added = {row.hunk_id: lines.added for row, lines in proposals.text_hunks(file)}
    assert {added[row.hunk_id]: row.verdict for row in rows} == {
        "Nought says what it says.\n": "edited",
        "Nobody signs the tags.\n": "approved",
    }


@pytest.mark.also_on_postgresql
def test_who_kept_what_is_in_the_file_is_among_the_decisions(tmp_path: Path) -> None:
    project = world.make_project(tmp_path, {"project_deploy.md": LINES})
    new = LINES.replace("Line 0", "The first line")
    file = in_conflict(world.propose(project, world.edit("project_deploy.md", LINES, new, "a")))
    review.solve_conflict(file, {0: "ours"}, Actor("bea"))
    [row] = Decision.objects.filter(actor="bea")
    assert (row.verdict, row.path) == ("rejected", "project_deploy.md")


def test_changes_that_become_one_are_undecided_again_unless_they_were_decided_alike(tmp_path: Path) -> None:
    for number, verdict in enumerate((Hunk.Verdict.PENDING, Hunk.Verdict.REJECTED, Hunk.Verdict.APPROVED)):
        proposal = two_changes_of_a_file(tmp_path / str(number))
        first, second = review.select_hunks(proposal)
        review.decide(proposal, [first], Hunk.Verdict.APPROVED, world.ME)
        review.decide(proposal, [second], verdict, world.ME)
        path = world.folder(proposal.project) / "project_deploy.md"
        path.write_text("".join(line for line in LINES.splitlines(keepends=True) if line[5] not in "123"))
        applying.bring_up_to_date(proposal)
        [joined] = review.select_hunks(proposal)
        assert joined.verdict == (verdict if verdict == Hunk.Verdict.APPROVED else Hunk.Verdict.PENDING)


@pytest.mark.also_on_postgresql
def test_a_change_that_is_in_the_file_already_leaves_the_verdict_of_another_with_an_empty_line(
    tmp_path: Path,
) -> None:
    """They are no changes that became one: an empty line is in most of them."""
    old = "".join(f"Line {number} says what it says.\n\n" for number in range(5))
    first = old.replace("Line 1", "Cranes nest in April.\n\nLine 1")
    by_hand = "\nNobody signs the tags.\n"
    project, path = world.make_project(tmp_path, {"project_deploy.md": old}), "project_deploy.md"
    proposal = world.propose(
        project, world.edit(path, old, first, "a"), world.edit(path, first, first + by_hand, "b")
    )
    review.decide(proposal, [hunk_with(proposal, "Cranes")], Hunk.Verdict.APPROVED, world.ME)
    (world.folder(project) / path).write_text(old + by_hand)
    applying.bring_up_to_date(proposal)
    [left] = review.select_hunks(proposal)
    assert left.verdict == Hunk.Verdict.APPROVED


def test_what_somebody_else_wrote_in_the_same_words_is_said_to_be_on_disk(tmp_path: Path) -> None:
    project = world.make_project(tmp_path)
    proposal = world.propose(project, world.edit("project_deploy.md", world.DEPLOY, None, "gone", "prune"))
    review.decide(proposal, review.select_hunks(proposal), Hunk.Verdict.APPROVED, world.ME)
    (world.folder(project) / "project_deploy.md").unlink()
    done = applying.apply_with_answers(proposal, world.ME)
    assert (done.complete, done.applied, done.already) == (True, (), False)
    assert done.said == ("Everything approved is on disk already; nothing was written.",)
