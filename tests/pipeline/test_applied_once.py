"""What is on disk already is not applied again, whoever asks, also where the rows do not know of it yet."""

from __future__ import annotations

from pathlib import Path

import pytest
from django.db import OperationalError
from pytest_django import Settings

from dreams.lib.storage import journal
from dreams.lib.storage.journal.store import locked
from dreams.models import AppliedBatch, Hunk, Project, Proposal
from dreams.services import review, rollback
from dreams.services.apply import applying, writing
from dreams.services.memories import syncing
from dreams.services.scheduling import scheduler
from tests.world import directory as world

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def approved(tmp_path: Path, settings: Settings) -> Proposal:
    settings.DATA_DIR = tmp_path / "data"
    project: Project = world.make_project(tmp_path / "root")
    proposal = world.three_changes(project)
    review.decide(proposal, review.select_hunks(proposal), Hunk.Verdict.APPROVED, world.ME)
    review.confirm(proposal, proposal.findings.filter(severity="block"), world.ME)
    return proposal


def contents(proposal: Proposal) -> dict[str, bytes]:
    folder = world.folder(proposal.project)
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*.md")}


def written_but_not_recorded(proposal: Proposal, monkeypatch: pytest.MonkeyPatch) -> dict[str, bytes]:
    """The files are written; the database went away before it was told so."""

    def gone(*_: object) -> None:
        raise OperationalError("the database is gone")

    before = contents(proposal)
    with monkeypatch.context() as patched:
        patched.setattr(writing, "record_result", gone)
        with pytest.raises(OperationalError):
            applying.apply(proposal, world.ME)
    assert not AppliedBatch.objects.exists()
    after = contents(proposal)
    assert after != before
    return after


def test_an_apply_that_was_not_recorded_is_recorded_by_the_next_and_not_written_again(
    approved: Proposal, monkeypatch: pytest.MonkeyPatch
) -> None:
    after = written_but_not_recorded(approved, monkeypatch)
    topic = world.folder(approved.project) / "MEMORY.md"
    topic.write_bytes(topic.read_bytes() + b"- appended by a session\n")
    after["MEMORY.md"] += b"- appended by a session\n"
    report = applying.apply(approved, world.ME)
    assert (report.complete, report.conflicts, report.rebased) == (True, (), ())
    assert contents(approved) == after
    assert AppliedBatch.objects.count() == 1
    approved.refresh_from_db()
    assert approved.state == Proposal.State.APPLIED
    assert not approved.files.filter(conflict=True).exists()


@pytest.mark.more
def test_a_part_that_waited_is_written_where_the_first_part_was_not_recorded(
    approved: Proposal, monkeypatch: pytest.MonkeyPatch
) -> None:
    testing = world.folder(approved.project) / "feedback_testing.md"
    world.put(testing, world.TESTING + "\nA line from a live session.\n")
    written_but_not_recorded(approved, monkeypatch)
    assert "make fresh" not in testing.read_text()
    report = applying.apply(approved, world.ME, rebased=True)
    assert report.complete
    assert "make fresh" in testing.read_text()
    assert "A line from a live session." in testing.read_text()
    assert AppliedBatch.objects.count() == 2


@pytest.mark.not_on_postgresql
def test_an_undo_records_first_what_was_written(approved: Proposal, monkeypatch: pytest.MonkeyPatch) -> None:
    before = contents(approved)
    written_but_not_recorded(approved, monkeypatch)
    report = rollback.rollback(approved, world.ME)
    assert report.complete
    assert contents(approved) == before


@pytest.mark.not_on_postgresql
def test_the_scheduler_records_it_while_the_server_runs(
    approved: Proposal, monkeypatch: pytest.MonkeyPatch
) -> None:
    written_but_not_recorded(approved, monkeypatch)
    scheduler.repair()
    assert AppliedBatch.objects.count() == 1
    approved.refresh_from_db()
    assert approved.state == Proposal.State.APPLIED


def test_the_scheduler_goes_on_while_another_process_writes(
    approved: Proposal, monkeypatch: pytest.MonkeyPatch
) -> None:
    def busy(*_: object, **__: object) -> None:
        raise journal.JournalBusy("busy")

    monkeypatch.setattr(journal, "recover", busy)
    with locked(writing.journal_dir()):
        scheduler.repair()


@pytest.mark.not_on_postgresql
def test_what_the_rows_know_is_not_read_from_the_journal_again(
    approved: Proposal, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert applying.apply(approved, world.ME).complete
    syncing.refresh(approved.project)

    def never(*_: object) -> None:
        raise AssertionError("nothing waits")

    monkeypatch.setattr(journal, "read_journal", never)
    assert writing.recover() == []
