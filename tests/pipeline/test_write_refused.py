"""A write that the journal cannot even begin is told in words, and nothing is lost."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest
from django.test import Client

from dreams.lib.files import text
from dreams.lib.files.safefs import SafeFsError
from dreams.lib.storage import journal
from dreams.models import AuditEntry, Hunk, Project, Proposal
from dreams.services import review
from dreams.services.apply import applying
from dreams.services.memories import syncing
from tests.world import directory as world
from tests.world.agent_folder import closed_to_us

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def approved(tmp_path: Path) -> Proposal:
    project: Project = world.make_project(tmp_path)
    proposal = world.three_changes(project)
    review.decide(proposal, review.select_hunks(proposal), Hunk.Verdict.APPROVED, world.ME)
    review.confirm(proposal, proposal.findings.filter(severity="block"), world.ME)
    return proposal


@pytest.mark.more
@pytest.mark.parametrize(
    "error", [SafeFsError("notes", "is a link now"), PermissionError(13, "Permission denied")]
)
def test_a_folder_that_was_exchanged_is_a_failed_write(
    approved: Proposal, error: Exception, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise error

    with monkeypatch.context() as patched:
        patched.setattr(journal, "run", refuse)
        report = applying.apply(approved, world.ME)
    assert report.error and not report.applied
    assert AuditEntry.objects.filter(action="apply.failed").exists()
    assert applying.apply(approved, world.ME).applied


@pytest.mark.not_on_postgresql
def test_a_folder_that_was_exchanged_for_a_link_since_it_was_read_is_not_followed(
    approved: Proposal, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, outside, run = world.folder(approved.project), tmp_path / "outside", journal.run

    def exchanged(*given: Any) -> journal.Result:
        shutil.copytree(folder, outside)
        folder.rename(tmp_path / "aside")
        folder.symlink_to(outside)
        try:
            return run(*given)
        finally:
            folder.unlink()
            (tmp_path / "aside").rename(folder)

    before = {path.name: path.read_bytes() for path in folder.iterdir() if path.suffix == ".md"}
    with monkeypatch.context() as patched:
        patched.setattr(journal, "run", exchanged)
        report = applying.apply(approved, world.ME)
    assert "replaced after it was read" in report.error and not report.applied
    for place in (folder, outside):
        assert {path.name: path.read_bytes() for path in place.iterdir() if path.suffix == ".md"} == before
    assert applying.apply(approved, world.ME).complete


@pytest.mark.not_on_postgresql
def test_a_history_that_cannot_be_kept_now_is_told_and_kept_at_the_next_look(
    approved: Proposal, browser: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise PermissionError(13, "Permission denied", "/history/a.git")

    with monkeypatch.context() as patched:
        patched.setattr(syncing, "commit", refuse)
        report = applying.apply(approved, world.ME)
    assert report.complete and report.applied and "history cannot be saved now" in report.said[0]
    assert "/history/a.git: Permission denied. Give yourself the right to it" in report.said[0]
    with closed_to_us(syncing.history_folder()):
        page = browser.get(f"/projects/{approved.project_id}/").content.decode()
    assert "Permission denied. Give yourself the right to it, then try again. Until" in page
    syncing.refresh(approved.project)
    now = (world.folder(approved.project) / "project_export.md").read_bytes()
    with syncing.open_history(approved.project) as store:
        assert store.has(text.sha256(now))


def test_another_process_that_writes_is_named_on_the_page(
    approved: Proposal, browser: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    def busy(*_: object) -> None:
        raise journal.JournalBusy("another process is writing memory files; try again when it is done")

    monkeypatch.setattr(journal, "run", busy)
    page = browser.get(f"/review/{approved.public_id}/").content.decode()
    bases = page.partition('name="bases" value="')[2].partition('"')[0]
    answers = page.partition('name="answers" value="')[2].partition('"')[0]
    seen = {"bases": bases, "answers": answers}
    answer = browser.post(f"/review/{approved.public_id}/submit/", seen, follow=True)
    assert answer.status_code == 200
    assert "another process is writing memory files" in answer.content.decode()
