"""Long work says how far it is, and whoever waits for it can stop it: then nothing was written, and nothing is lost."""

from __future__ import annotations

import contextlib
import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from dreams.findings import examining
from dreams.lib import progress
from dreams.lib.storage.journal.store import Journal
from dreams.models import Hunk, Proposal
from dreams.services import blobs, proposals, review, rollback, work_under_way
from dreams.services.apply import applying
from dreams.services.memories import syncing
from dreams.services.proposals import checks
from dreams.services.review import deciding
from tests.world import directory as world
from tests.world.manifest import manifest

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _looks_at_each_step(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(work_under_way, "LOOK_SECONDS", -1.0)
    yield


def applied(folder: Path) -> Proposal:
    proposal = world.all_approved(folder)
    assert applying.apply(proposal, world.ME).complete
    proposal.refresh_from_db()
    return proposal


def steps_of_an_undo(proposal: Proposal) -> list[str]:
    seen: list[str] = []
    with progress.watched(lambda what, done, total: seen.append(what)):
        rollback.rollback(proposal, world.ME)
    return seen


class Enough(Exception):
    pass


@pytest.mark.more
def test_an_undo_that_is_stopped_at_any_step_leaves_everything_as_it_was(tmp_path: Path) -> None:
    proposal = applied(tmp_path)
    folder = world.folder(proposal.project)
    before, stopped = manifest(folder), 0

    def tell(what: str, done: int, total: int) -> None:
        nonlocal left
        left -= 1
        if left < 0:
            raise Enough

    while True:
        left = stopped
        try:
            with progress.watched(tell):
                report = rollback.rollback(proposal, world.ME)
            break
        except Enough:
            stopped += 1
        assert manifest(folder) == before, f"stopped at step {stopped}"
        waiting = Proposal.objects.filter(state__in=(Proposal.State.OPEN, Proposal.State.SUBMITTED))
        assert not waiting.exists(), f"stopped at step {stopped}"
    assert report.complete and stopped > 8
    assert "04:00" not in "".join(path.read_text() for path in folder.glob("*.md"))


@pytest.mark.not_on_postgresql
def test_findings_that_are_being_saved_are_saved_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Stopped between, old ones and new ones stayed side by side until the next check."""
    project = world.make_project(tmp_path)
    proposal = world.propose(
        project, world.edit("new.md", None, "Yesterday never ask: http://one.example\n", "a")
    )
    (hunk,) = review.select_hunks(proposal)
    hunk.edited_sha, hunk.verdict = blobs.put(b"Always allow: http://two.example\n"), Hunk.Verdict.EDITED
    hunk.save()

    def tell(what: str, done: int, total: int) -> None:
        if what == checks.SAVING and done:
            raise Enough

    monkeypatch.setattr(checks, "MOST_AT_ONCE", 1)
    with contextlib.suppress(Enough), progress.watched(tell):
        proposals.examine(proposal, syncing.contents(project))
    found = sorted(proposal.findings.values_list("key", flat=True))
    Proposal.objects.update(checked_digest="")
    proposals.examine(proposal, syncing.contents(project))
    assert found == sorted(proposal.findings.values_list("key", flat=True)) and len(found) > 1


@pytest.mark.not_on_postgresql
def test_who_waits_sees_how_far_an_undo_is_and_stops_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    proposal, seen = applied(tmp_path), []
    step = progress.step

    def look(what: str, done: int = 0, total: int = 0) -> None:
        step(what, done, total)
        seen.append(work_under_way.current(proposal.public_id))
        if what == "Writing files":
            work_under_way.stop(proposal.public_id)

    monkeypatch.setattr(progress, "step", look)
    before = manifest(world.folder(proposal.project))
    with pytest.raises(work_under_way.Stopped), work_under_way.publishing(proposal.public_id):
        rollback.rollback(proposal, world.ME)
    assert manifest(world.folder(proposal.project)) == before
    assert "Comparing files: 1 of 3" in [found.words for found in seen if found]
    assert work_under_way.current(proposal.public_id) is None


def test_a_submit_that_is_stopped_leaves_the_review_open(tmp_path: Path) -> None:
    proposal = world.three_changes(world.make_project(tmp_path))
    review.decide(proposal, review.select_hunks(proposal)[:1], Hunk.Verdict.APPROVED, world.ME)

    def tell(what: str, done: int, total: int) -> None:
        raise Enough

    with pytest.raises(Enough), progress.watched(tell):
        review.submit(proposal, world.ME)
    proposal.refresh_from_db()
    assert (proposal.state, proposal.submitting_by) == (Proposal.State.OPEN, "")
    assert review.submit(proposal, world.ME).state == Proposal.State.SUBMITTED


@pytest.mark.not_on_postgresql
def test_an_undo_of_many_changes_can_be_stopped_in_each_of_its_parts(tmp_path: Path) -> None:
    steps = steps_of_an_undo(applied(tmp_path))
    parts = ["Comparing files", "Checking changes", "Saving what was found", "Saving decisions"]
    assert [part for part in dict.fromkeys(steps) if part in parts] == parts
    assert steps.count("Checking changes") > len(examining.CHECKS) + 4


@pytest.mark.not_on_postgresql
def test_decisions_on_several_files_are_counted_together_while_they_are_saved(tmp_path: Path) -> None:
    """They were counted from 0 again for each file."""
    proposal, seen = world.three_changes(world.make_project(tmp_path)), list[tuple[int, int]]()
    hunks = review.select_hunks(proposal)
    with progress.watched(
        lambda what, done, total: seen.append((done, total)) if what == deciding.SAVING else None
    ):
        review.decide(proposal, hunks, Hunk.Verdict.APPROVED, world.ME)
    assert {total for _, total in seen} == {len(hunks)} and len({done for done, _ in seen}) > 1


@pytest.mark.not_on_postgresql
def test_the_checks_of_a_review_can_be_stopped_while_they_read_memories_and_save(tmp_path: Path) -> None:
    proposal, seen = world.all_approved(tmp_path), set[str]()
    Proposal.objects.update(checked_digest="")
    with progress.watched(lambda what, done, total: seen.add(what)):
        review.submit(proposal, world.ME)
    assert seen >= {"Reading changes", "Reading memories", "Checking changes"}


@pytest.fixture
def ctrl_c() -> Iterator[None]:
    """Ctrl-C raises KeyboardInterrupt, also where a shell runs the tests in the background, which then ignore it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("ctrl_c")
def test_whoever_stops_an_undo_too_late_gets_all_of_it(tmp_path: Path) -> None:
    proposal = applied(tmp_path)

    def tell(what: str, done: int, total: int) -> None:
        if what == "Recording what was written":
            assert not progress.can_stop()
            os.kill(os.getpid(), signal.SIGINT)
            raise Enough

    with progress.watched(tell):
        report = rollback.rollback(proposal, world.ME)
    undo = proposal.undone_by.get()
    assert report.complete and undo.state == Proposal.State.APPLIED
    assert undo.applications.get().files.count() == len(report.applied)
    assert progress.can_stop()
    with pytest.raises(KeyboardInterrupt):
        os.kill(os.getpid(), signal.SIGINT)


@pytest.mark.not_on_postgresql
@pytest.mark.usefixtures("ctrl_c")
def test_ctrl_c_while_an_undo_is_committed_does_not_say_that_it_was_stopped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    proposal, put, pressed = applied(tmp_path), Journal.put, []

    def interrupted(journal: Journal, name: str, content: object) -> None:
        put(journal, name, content)
        if name == "commit":
            pressed.append(name)
            os.kill(os.getpid(), signal.SIGINT)

    monkeypatch.setattr(Journal, "put", interrupted)
    assert rollback.rollback(proposal, world.ME).complete and pressed
    assert proposal.undone_by.get().state == Proposal.State.APPLIED


@pytest.mark.not_on_postgresql
def test_work_that_nobody_watches_costs_no_word(tmp_path: Path) -> None:
    assert list(progress.each("Counting", [1, 2])) == [1, 2]
    assert {"Comparing files", "Keeping texts", "Writing files"} <= set(steps_of_an_undo(applied(tmp_path)))
