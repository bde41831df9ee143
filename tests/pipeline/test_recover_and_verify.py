"""`recover` puts right what a crash left; `verify` names what is damaged. Both on real files."""

from __future__ import annotations

import errno
import json
import os
import re
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth import get_user_model
from django.core.management import call_command
from django.db import connection
from django.test import Client
from django.urls import reverse
from django.utils import timezone
from pytest_django import Settings

from dreams.lib import process
from dreams.lib.files import text, workspace
from dreams.lib.refusal import Refusal
from dreams.lib.storage import journal
from dreams.lib.storage.history import HistoryBusy, HistoryStore
from dreams.lib.storage.journal import store
from dreams.management.base import BadUsage, Refused
from dreams.models import (
    AppliedBatch,
    AuditEntry,
    Blob,
    DreamRun,
    Hunk,
    LockHold,
    Project,
    Proposal,
    Purge,
    Version,
)
from dreams.services import (
    audit_sentences,
    auditlog,
    blobs,
    dreaming,
    recovery,
    review,
    rollback,
    secret_purge,
    verifying,
)
from dreams.services.apply import applying, writing
from dreams.services.doctor import installation
from dreams.services.memories import hand_edits, syncing
from dreams.services.project_lock import ProjectBusy
from dreams.web.pages import memory as pages
from tests.world import directory as world
from tests.world.agent_folder import closed_to_us
from tests.world.journal import DyingAt
from tests.world.processes.killed import dies
from tests.world.rows import make_dream

pytestmark = pytest.mark.django_db(transaction=True)
PRIOR_NS = 1_780_000_000_123_456_789
TOKEN = "ghp_" + "q4Wn8TzVkX2cB6rM1yJ9hD3sL7pF5gA0uEoI"


@pytest.fixture
def project(tmp_path: Path, settings: Settings) -> Project:
    settings.DATA_DIR = tmp_path / "data"
    settings.DATA_DIR.mkdir()
    return world.make_project(tmp_path / "root")


def call(name: str, **options: object) -> dict[str, Any]:
    out = StringIO()
    call_command(name, json=True, stdout=out, **options)
    return json.loads(out.getvalue())


def damage(name: str, **options: object) -> dict[str, Any]:
    """The result of a command that must refuse."""
    with pytest.raises(Refused) as refused:
        call(name, **options)
    assert refused.value.result is not None
    return dict(refused.value.result)


def apply_all(project: Project) -> str:
    proposal = world.three_changes(project)
    review.decide(proposal, review.select_hunks(proposal), Hunk.Verdict.APPROVED, world.ME)
    report = applying.apply(proposal, world.ME)
    assert report.complete
    return proposal.public_id


# --- recover ------------------------------------------------------------------------------------------------------


def test_where_nothing_was_interrupted_there_is_nothing_to_recover(project: Project) -> None:
    apply_all(project)
    assert call("recover") == {"applies": [], "histories": [], "dreams": [], "problems": []}
    out = StringIO()
    call_command("recover", stdout=out)
    assert out.getvalue().strip() == "Nothing to recover."


def test_an_apply_that_died_before_it_told_the_rows_is_told_now(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    def die(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(writing, "record_result", die)
    with pytest.raises(KeyboardInterrupt):
        apply_all(project)
    monkeypatch.undo()
    assert not AppliedBatch.objects.exists()
    said = call("recover")
    assert len(said["applies"]) == 1
    assert AppliedBatch.objects.count() == 1
    assert call("recover")["applies"] == []


def test_a_dream_of_a_dead_worker_is_ended_and_its_clock_put_back(project: Project) -> None:
    lock = world.folder(project) / ".consolidate-lock"
    dead = 2**22 + 1  # above the largest PID of a default system
    lock.write_text(str(dead))
    LockHold.objects.create(
        project=project,
        pid=dead,
        process_started=1.0,
        prior_mtime_ns=PRIOR_NS,
        taken_at=timezone.now(),
        purpose="dream",
    )
    dream = make_dream(project, DreamRun.Status.RUNNING, worker_pid=dead, worker_started=1.0)
    said = call("recover")["dreams"]
    dream.refresh_from_db()
    assert dream.status == DreamRun.Status.FAILED
    assert lock.stat().st_mtime_ns == PRIOR_NS
    assert not LockHold.objects.exists()
    assert any(dream.public_id in line for line in said)


def test_the_scratch_copy_of_a_killed_process_is_removed_and_that_of_a_living_one_stays(
    project: Project, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By the next start, by the end of a dream that lost its worker, and by a purge of what the copy may have."""
    snapshot = workspace.take(world.folder(project))
    ours = workspace.Workspace.create(workspace.scratch_folder(settings.DATA_DIR, "alive"), snapshot)
    ended = process.ProcessIdentity(2**22 + 1, 1.0)  # beyond the largest PID of Linux
    dream = make_dream(project, DreamRun.Status.RUNNING, worker_pid=ended.pid, worker_started=1.0)

    def purge() -> None:
        with pytest.raises(secret_purge.PurgeRefused):
            secret_purge.purge(project, ["none"], world.ME)

    for heal in (recovery.recover, lambda: dreaming.lost_its_worker(dream), purge):
        with monkeypatch.context() as patched:
            patched.setattr(process, "current", lambda: ended)
            killed = workspace.scratch_folder(settings.DATA_DIR, dream.public_id)
        workspace.Workspace.create(killed, snapshot)
        heal()
        assert not killed.exists() and ours.folder.exists()


def test_a_cancelled_dream_of_a_dead_worker_is_killed_and_no_failure(project: Project) -> None:
    dream = make_dream(
        project,
        DreamRun.Status.RUNNING,
        worker_pid=2**22 + 1,
        worker_started=1.0,
        cancel_requested_at=timezone.now(),
    )
    call("recover")
    dream.refresh_from_db()
    project.refresh_from_db()
    assert (dream.status, project.failures) == (DreamRun.Status.KILLED, 0)


def test_what_cannot_be_recovered_is_named_and_stops_nothing_else(
    project: Project, settings: Settings
) -> None:
    (settings.DATA_DIR / "history" / "0000.git").mkdir(parents=True)
    dream = make_dream(project, DreamRun.Status.RUNNING, worker_pid=2**22 + 1, worker_started=1.0)
    result = damage("recover")
    [problem] = result["problems"]
    assert "0000.git" in problem and problem.endswith("`verify` says what is damaged.")
    dream.refresh_from_db()
    assert dream.status == DreamRun.Status.FAILED


def test_a_write_whose_folder_is_another_one_now_is_a_problem_until_it_is_given_up(
    project: Project, tmp_path: Path
) -> None:
    folder = world.folder(project)
    plan = journal.Plan(
        str(folder), (journal.FileOp("new.md", None, b"new\n"),), "p1-1", "", {"proposal": "p1"}
    )
    assert dies(journal.run, plan, writing.journal_dir(), DyingAt("commit.json.tmp"))
    folder.rename(tmp_path / "aside")
    shutil.copytree(tmp_path / "aside", folder)
    [problem] = damage("recover")["problems"]
    assert "p1-1: not ended yet" in problem and "recover --abandon p1-1" in problem
    with pytest.raises(Refused, match="No interrupted write is called p2-1"):
        call("recover", abandon="p2-1")
    assert call("recover", abandon="p1-1")["problems"] == []
    assert AuditEntry.objects.get(action="apply.abandoned").object_id == "p1-1"
    assert apply_all(project)


@pytest.mark.parametrize("lost", ["record.json", "blobs"])
def test_what_a_write_that_began_kept_is_not_removed_with_a_part_of_its_journal(
    project: Project, lost: str, tmp_path: Path
) -> None:
    """Without its record it looked like one that had not begun, and the texts of before were removed."""
    folder = world.folder(project)
    old = (folder / "project_deploy.md").read_bytes()
    op = journal.FileOp("project_deploy.md", text.sha256(old), b"new\n")
    plan = journal.Plan(str(folder), (op,), "p1-1", "", {"proposal": "p1"})
    assert dies(journal.run, plan, writing.journal_dir(), DyingAt("commit.json.tmp"))
    [kept] = writing.journal_dir().glob("p1-1.*")
    (kept / lost).rename(tmp_path / lost)
    [problem] = damage("recover")["problems"]
    assert "recover --abandon p1-1" in problem
    texts = [path.read_bytes() for path in [*kept.rglob("*"), *tmp_path.glob("blobs/*")] if path.is_file()]
    assert old in texts
    assert call("recover", abandon="p1-1")["problems"] == []
    assert apply_all(project)


def test_a_write_whose_record_is_damaged_is_a_problem_until_it_is_given_up(project: Project) -> None:
    folder = world.folder(project)
    plan = journal.Plan(
        str(folder), (journal.FileOp("new.md", None, b"new\n"),), "p1-1", "", {"proposal": "p1"}
    )
    assert dies(journal.run, plan, writing.journal_dir(), DyingAt("commit.json.tmp"))
    [record] = writing.journal_dir().glob("p1-1.*/record.json")
    record.chmod(0o600)
    record.write_bytes(record.read_bytes().replace(b"new.md", b"old.md"))
    [problem] = damage("recover")["problems"]
    assert "record.json differs from what was written" in problem and "recover --abandon p1-1" in problem
    assert call("recover", abandon="p1-1")["problems"] == []
    assert AuditEntry.objects.get(action="apply.abandoned").object_id == "p1-1"
    with pytest.raises(Refused, match="No interrupted write is called p1-1"):
        call("recover", abandon="p1-1")
    assert "record.json" in " ".join(problem["what"] for problem in damage("verify")["problems"])
    assert apply_all(project)


def test_what_the_disk_refused_has_its_remedy(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object, **__: object) -> list[str]:
        raise OSError(errno.ENOSPC, "No space left on device", "/data/journal")

    monkeypatch.setattr(writing, "recovered", full)
    [problem] = recovery.recover().problems
    assert problem.endswith(
        "/data/journal: No space left on device. The disk is full: make room on it, then try again."
    )


def test_an_apply_that_runs_now_is_left_alone(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    def busy(*_: object, **__: object) -> list[str]:
        raise journal.JournalBusy("busy")

    monkeypatch.setattr(writing, "recovered", busy)
    assert "being applied right now" in recovery.recover().problems[0]


def test_what_is_written_while_another_process_writes_waits_and_changes_nothing(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    def busy(*_: object, **__: object) -> list[str]:
        raise journal.JournalBusy("another process is writing memory files; try again when it is done")

    before = {path.name: path.read_bytes() for path in world.folder(project).iterdir()}
    with monkeypatch.context() as patched, pytest.raises(ProjectBusy, match="when it is done"):
        patched.setattr(journal, "recover", busy)
        apply_all(project)
    assert {path.name: path.read_bytes() for path in world.folder(project).iterdir()} == before
    proposal = Proposal.objects.get()
    assert proposal.state == Proposal.State.OPEN and applying.apply(proposal, world.ME).complete


def test_what_was_recorded_is_not_recorded_twice(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[tuple[Any, ...]] = []
    record = writing.record_result
    monkeypatch.setattr(writing, "record_result", lambda *given: [told.append(given), record(*given)][1])
    apply_all(project)
    before = (AuditEntry.objects.count(), Version.objects.count())
    assert record(*told[0]) == ()
    assert (AuditEntry.objects.count(), Version.objects.count()) == before
    assert AppliedBatch.objects.count() == 1


def test_a_purge_of_a_project_that_is_gone_has_no_history_to_rewrite(project: Project) -> None:
    made = Purge.objects.create(at=timezone.now(), replaced={"0" * 64: "1" * 64}, histories=["gone"])
    assert recovery.recover().histories == ["Finished a purge of 1 text."]
    made.refresh_from_db()
    assert made.done_at is not None and made.histories == []


def test_a_version_whose_text_the_database_lost_is_restored_from_the_history(project: Project) -> None:
    apply_all(project)
    first = project.memories.get(path="feedback_testing.md").versions.earliest("pk")
    Blob.objects.filter(sha256=first.sha256).delete()
    assert hand_edits.restore(project, "feedback_testing.md", first.sha256, world.ME).complete
    assert (world.folder(project) / "feedback_testing.md").read_text() == world.TESTING


def test_a_history_that_somebody_writes_to_is_left_alone(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    def busy(_: HistoryStore) -> list[str]:
        raise HistoryBusy("Another process writes to it")

    apply_all(project)
    monkeypatch.setattr(HistoryStore, "recover", busy)
    name = syncing.history_path(project).name
    assert recovery.recover().problems == [f"the history {name}: Another process writes to it"]


def test_what_was_written_for_a_proposal_that_this_database_lacks_is_named_and_kept(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As with a database that was restored from a copy of the day before."""

    def die(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched, pytest.raises(KeyboardInterrupt):
        patched.setattr(writing, "record_result", die)
        apply_all(project)
    proposal = Proposal.objects.get()
    name = proposal.public_id
    Proposal.objects.filter(pk=proposal.pk).update(public_id="pgone0000")
    [said] = call("recover")["applies"]
    assert said == (
        f"{name}-1 was applied; its proposal is not in this database, so only the journal has a record of it."
    )
    assert not AppliedBatch.objects.exists()
    assert call("recover")["applies"] == []
    kept = AuditEntry.objects.get(action="apply.unknown")
    assert audit_sentences.Sentences().sentence(kept) == (
        "memoryweb found 1 write in its journal whose proposals are not in this database."
    )
    Proposal.objects.filter(pk=proposal.pk).update(public_id=name)
    assert call("recover")["applies"] == [f"{name}-1 was on disk and is now in the database too."]
    assert AppliedBatch.objects.get().proposal == proposal


def test_the_writes_of_a_lost_database_are_named_in_one_line(project: Project) -> None:
    for number in range(5):
        new = journal.FileOp(f"{number}.md", None, b"New.\n")
        journal.run(
            journal.Plan(str(world.folder(project)), (new,), f"p{number}-1", ""), writing.journal_dir()
        )
    assert call("recover")["applies"] == [
        "5 writes were applied (p0-1, p1-1, p2-1, …); their proposals are not in this database, so only the journal has a "
        "record of them."
    ]
    assert call("recover")["applies"] == []


# --- verify -------------------------------------------------------------------------------------------------------


def test_all_that_was_kept_is_read_back(project: Project) -> None:
    apply_all(project)
    found = call("verify")
    assert (found["ok"], found["problems"]) == (True, [])
    checked = found["checked"]
    assert (checked["histories"], checked["journals"]) == (1, 1)
    assert checked["versions"] == Version.objects.exclude(sha256="").count() > 3
    assert checked["texts"] == Blob.objects.count()
    assert checked["audit entries"] == AuditEntry.objects.count() > 0
    out = StringIO()
    call_command("verify", stdout=out)
    assert "Everything is as it was written." in out.getvalue() and "Read: 1 history, " in out.getvalue()


def test_a_flipped_bit_in_a_text_is_found_and_its_memory_named(project: Project) -> None:
    blob = Blob.objects.get(sha256=project.memories.get(path="project_deploy.md").sha256)
    data = bytearray(blob.data)
    data[10] ^= 1
    Blob.objects.filter(pk=blob.pk).update(data=bytes(data))
    [problem] = damage("verify")["problems"]
    assert blob.sha256 in problem["what"]
    assert "project_deploy.md" in problem["where"]
    assert problem["remedy"]


def flipped(sha: str) -> None:
    """A disk that gives other bytes back than it was given."""
    blob = Blob.objects.get(sha256=sha)
    Blob.objects.filter(pk=blob.pk).update(data=bytes([blob.data[0] ^ 1]) + bytes(blob.data[1:]))


def test_a_text_that_is_damaged_in_the_database_is_undone_and_restored_from_the_history(
    project: Project,
) -> None:
    proposal = Proposal.objects.get(public_id=apply_all(project))
    file = proposal.files.get(path="feedback_testing.md")
    flipped(file.base_sha)
    assert rollback.rollback(proposal, world.ME, rollback.Selection()).complete
    assert (world.folder(project) / "feedback_testing.md").read_text() == world.TESTING
    (world.folder(project) / "feedback_testing.md").write_text("Something else.\n")
    syncing.refresh(project)
    assert hand_edits.restore(project, "feedback_testing.md", file.base_sha, world.ME).complete
    assert (world.folder(project) / "feedback_testing.md").read_text() == world.TESTING


def test_what_was_approved_is_not_written_from_a_damaged_text(project: Project) -> None:
    proposal = world.three_changes(project)
    review.decide(proposal, review.select_hunks(proposal), Hunk.Verdict.APPROVED, world.ME)
    before = {path.name: path.read_bytes() for path in world.folder(project).iterdir()}
    flipped(proposal.files.get(path="feedback_testing.md").new_sha)
    with pytest.raises(Refusal, match="is lost or damaged"):
        applying.apply(proposal, world.ME)
    assert {path.name: path.read_bytes() for path in world.folder(project).iterdir()} == before


def test_an_undo_and_a_restore_of_what_both_have_lost_say_so_and_write_nothing(
    project: Project, caplog: pytest.LogCaptureFixture
) -> None:
    proposal = Proposal.objects.get(public_id=apply_all(project))
    before = {path.name: path.read_bytes() for path in world.folder(project).iterdir()}
    file = proposal.files.get(path="feedback_testing.md")
    flipped(file.base_sha)
    shutil.rmtree(syncing.history_path(project))
    said = f"The text {file.base_sha} is lost or damaged. Run `"
    with pytest.raises(Refusal, match=said):
        rollback.rollback(proposal, world.ME, rollback.Selection())
    with pytest.raises(Refusal, match=said):
        hand_edits.restore(project, file.path, file.base_sha, world.ME)
    client = Client(raise_request_exception=False)
    client.force_login(get_user_model().objects.create_superuser("owner"))
    page = client.get(reverse("undo", args=[proposal.public_id]), {"all": "1"})
    assert page.status_code == 409 and f"The text {file.base_sha} is lost or damaged" in page.content.decode()
    assert not [record for record in caplog.records if record.exc_info], "a traceback is for faults of ours"
    assert not syncing.history_path(project).exists(), "reading does not hide that it is lost"
    assert {path.name: path.read_bytes() for path in world.folder(project).iterdir()} == before


@pytest.mark.parametrize("spoil", [flipped, lambda sha: Blob.objects.filter(sha256=sha).delete()])
def test_a_damaged_or_lost_text_comes_back_as_its_remedy_says(
    project: Project, spoil: Callable[[str], Any], tmp_path: Path
) -> None:
    spoil(project.memories.get(path="project_deploy.md").sha256)
    [problem] = damage("verify")["problems"]
    assert problem["remedy"].endswith("Then `export PROJECT FILE` and `import FILE` bring it back.")
    call_command("export", str(project.pk), str(tmp_path / "out.bundle"), stdout=StringIO())
    call_command("import", str(tmp_path / "out.bundle"), stdout=StringIO())
    assert call("verify")["problems"] == []


def test_a_lost_text_is_found(project: Project) -> None:
    sha = project.memories.get(path="MEMORY.md").sha256
    Blob.objects.filter(pk=sha).delete()
    [problem] = damage("verify")["problems"]
    assert sha in problem["what"]
    assert "MEMORY.md" in problem["what"]


def test_a_flipped_bit_in_a_history_is_found(project: Project) -> None:
    pack, *_ = syncing.history_path(project).glob("objects/pack/*.pack")
    data = bytearray(pack.read_bytes())
    data[len(data) // 2] ^= 1
    pack.chmod(0o600)
    pack.write_bytes(data)
    assert pack.name in " ".join(
        problem["what"] + problem["where"] for problem in damage("verify")["problems"]
    )


def test_a_history_that_may_not_be_read_is_named_and_the_others_are_still_read(
    project: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = world.make_project(tmp_path / "other")
    first, second = sorted((syncing.history_path(project), syncing.history_path(other)))
    (second / "refs/heads/main").write_bytes(b"")
    verify = HistoryStore.verify

    def refuses(store: HistoryStore) -> object:
        if store.path == first:
            raise PermissionError(errno.EACCES, "Permission denied", str(first / "objects/pack"))
        return verify(store)

    monkeypatch.setattr(HistoryStore, "verify", refuses)
    found = damage("verify")
    [unread] = [one for one in found["problems"] if one["where"] == str(first)]
    assert unread["what"] == "this history cannot be read" and "Permission denied" in unread["remedy"]
    assert "refs/heads/main" in str(found["problems"])
    assert found["checked"]["audit entries"] == AuditEntry.objects.count()


def test_a_closed_history_is_not_taken_for_none_that_should_be_moved_away(project: Project) -> None:
    path = syncing.history_path(project)
    with closed_to_us(path):
        [problem] = damage("verify")["problems"]
    assert problem["where"] == str(path) and "Permission denied" in problem["remedy"]
    assert "Move the folder" not in str(problem)


def test_what_is_closed_to_us_is_not_called_damaged_and_all_else_is_read(
    project: Project, browser: Client
) -> None:
    apply_all(project)
    for folder, what in (
        (syncing.history_folder(), "this history cannot be read"),
        (writing.journal_dir(), "the folder of journals cannot be read"),
        (next(writing.journal_dir().glob("*.1")), "this journal cannot be read"),
    ):
        with closed_to_us(folder), pytest.raises(Refused, match=r"^1 thing cannot be read\.$") as refused:
            call("verify")
        assert refused.value.result is not None
        [problem] = refused.value.result["problems"]
        assert (problem["what"], problem["is_unread"]) == (what, True)
        assert refused.value.result["checked"]["audit entries"] == AuditEntry.objects.count()
    Blob.objects.filter(sha256=project.memories.get(path="MEMORY.md").sha256).update(data=b"x")
    with closed_to_us(syncing.history_folder()):
        with pytest.raises(Refused, match=r"^1 thing is damaged and 1 thing cannot be read\.$"):
            call("verify")
        here = browser.get(reverse("project", args=[project.pk])).content.decode()
        assert "cannot be read: " in here and "damaged" not in here
        asked = browser.post(reverse("project-set-aside", args=[project.pk]), follow=True).content.decode()
        assert "No damage was found in the history, so it stays where it is." in asked
        assert installation.kept(thorough=False).state == "info"
        assert "differs from what was stored" in installation.kept(thorough=True).said


@pytest.mark.also_on_postgresql
@pytest.mark.more
def test_with_a_damaged_history_an_undo_says_what_helps_and_that_helps(
    project: Project, tmp_path: Path, client: Client
) -> None:
    before = world.folder(project).joinpath("feedback_testing.md").read_bytes()
    proposal = Proposal.objects.get(public_id=apply_all(project))
    path = syncing.history_path(project)
    (path / "refs/heads/main").write_bytes(b"")
    world.put(world.folder(project) / "new.md", "Written by hand.\n")
    assert "refs/heads/main" in str(damage("verify")["problems"])
    with pytest.raises(Refused, match=r"is no ref\. Move the folder of the history away"):
        call_command("rollback", proposal.public_id)
    client.force_login(get_user_model().objects.create_superuser("owner"))
    page = reverse("undo", args=[proposal.public_id])
    seen = re.search(r'name="seen" value="([^"]+)"', client.get(page).content.decode())
    answer = client.post(page, {"seen": seen and seen[1]}, follow=True)
    assert answer.status_code == 409 and "Move the folder of the history away" in answer.content.decode()
    path.rename(tmp_path / "damaged")
    call_command("rollback", proposal.public_id)
    assert world.folder(project).joinpath("feedback_testing.md").read_bytes() == before
    assert call("verify")["problems"] == []


def test_the_projects_page_says_that_the_index_of_its_history_is_damaged(
    project: Project, browser: Client
) -> None:
    (syncing.history_path(project) / "refs/memoryweb/index").write_bytes(b"")
    assert (
        "refs/memoryweb/index is no ref"
        in browser.get(reverse("project", args=[project.pk])).content.decode()
    )


@pytest.mark.more
def test_the_projects_page_says_that_its_history_is_damaged_and_sets_it_aside(
    project: Project, browser: Client
) -> None:
    here, path = reverse("project", args=[project.pk]), syncing.history_path(project)
    button = reverse("project-set-aside", args=[project.pk])
    browser.post(button)
    assert path.exists() and "damaged" not in browser.get(here).content.decode()
    (path / "refs/heads/main").write_bytes(b"")
    page = browser.get(here).content.decode()
    assert "refs/heads/main is no ref" in page and button in page
    memory = project.memories.get(path="feedback_testing.md")
    typed = {"content": "Anew.\n", "base_sha": memory.sha256}
    saved = browser.post(reverse("memory-edit", args=[memory.pk]), typed, follow=True).content.decode()
    assert "Undo</a>" in saved and "its history cannot be saved now" in saved
    told = browser.post(button, follow=True).content.decode()
    assert "Set aside as" in told and "history of this project is missing" in told and button not in told
    world.put(world.folder(project) / "new.md", "Written by hand.\n")
    syncing.refresh(project)
    assert call("verify")["problems"] == [] and "a new one was begun" in browser.get(here).content.decode()
    [kept] = path.parent.glob("*.damaged-*")
    assert [*AuditEntry.objects.filter(action="history.set_aside").values_list("object_id", flat=True)] == [
        kept.name
    ]


@pytest.mark.not_on_postgresql
@pytest.mark.parametrize("part", [False, True])
def test_what_was_written_since_the_copy_of_a_database_that_is_back_is_approved(
    project: Project, part: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As with a copy from before an update: the journal knows more than it. Nothing that is on disk waits for a verdict, which
    could be a rejection; nor if recording it was cut off once."""
    proposal = world.three_changes(project)
    with closing(sqlite3.connect(":memory:")) as kept:
        connection.ensure_connection()
        connection.connection.backup(kept)
        hunks = review.select_hunks(proposal)
        review.decide(proposal, hunks[:1] if part else hunks, Hunk.Verdict.APPROVED, world.ME)
        review.confirm(proposal, proposal.findings.filter(severity="block"), world.ME)
        assert applying.apply(proposal, world.ME).complete
        kept.backup(connection.connection)
    proposal.refresh_from_db()
    assert proposal.state == "open" and not Hunk.objects.exclude(verdict="pending").exists()

    def die(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched, pytest.raises(KeyboardInterrupt):
        patched.setattr(syncing, "sync", die)
        recovery.recover()
    recovery.recover()
    proposal.refresh_from_db()
    assert proposal.state == ("open" if part else "applied")
    for hunk in Hunk.objects.filter(file__proposal=proposal):
        assert (hunk.verdict == "approved") is (hunk.applied_in is not None)
    assert Hunk.objects.filter(applied_in=None).exists() is part
    if not part:
        assert rollback.rollback(proposal, world.ME).complete


def test_verify_opens_each_journal_once(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    opened = list[Path]()
    begin = store.Journal.__init__
    assert apply_all(project)

    def counted(one: store.Journal, system: journal.System, path: Path) -> None:
        opened.append(path)
        begin(one, system, path)

    monkeypatch.setattr(store.Journal, "__init__", counted)
    checked = verifying.verify().checked["journals"]
    assert checked == len(opened) > 0


def test_the_text_of_an_empty_memory_cannot_be_lost(project: Project) -> None:
    """Nor is it said to be, as an import would not bring its row back."""
    (world.folder(project) / "empty.md").write_bytes(b"")
    syncing.refresh(project)
    assert Blob.objects.filter(size=0).delete()[0]
    assert blobs.get(blobs.NOTHING) == b""
    assert call("verify")["problems"] == []
    shutil.rmtree(syncing.history_path(project))
    assert (lost := verifying.lost_history(project)) and lost.texts == 0


def test_a_lost_history_is_found(project: Project, tmp_path: Path) -> None:
    os.rename(syncing.history_path(project), tmp_path / "elsewhere")
    for given in ({"project": project.slug}, {}):
        [problem] = damage("verify", **given)["problems"]
        assert str(syncing.history_path(project)) in problem["where"]


def test_a_history_that_something_else_began_anew_is_said_to_be_lost_all_the_same(
    project: Project, tmp_path: Path
) -> None:
    """A purge stores a text in it before the next change makes a commit."""
    os.rename(syncing.history_path(project), tmp_path / "elsewhere")
    syncing.open_history(project).close()
    world.put(world.folder(project) / "new.md", "New.\n")
    syncing.refresh(project)
    assert AuditEntry.objects.filter(action="history.begun_anew").count() == 1


def test_the_doctor_names_a_lost_history_before_a_new_one_is_begun(project: Project, tmp_path: Path) -> None:
    assert installation.kept(thorough=False).state == "info"
    os.rename(syncing.history_path(project), tmp_path / "elsewhere")
    told = installation.kept(thorough=False)
    assert (told.state, told.said) == ("warn", "1 history is missing")
    assert str(syncing.history_path(project)) in told.detail
    assert "`import FILE`" in told.remedy and "begins a new one" in told.remedy
    world.put(world.folder(project) / "new.md", "New.\n")
    syncing.refresh(project)
    assert installation.kept(thorough=False).state == "info"
    entry = AuditEntry.objects.get(action="history.begun_anew")
    assert str(entry.project_label) == str(project)


@pytest.mark.more
def test_the_projects_page_says_that_its_history_is_lost_and_what_that_costs(
    project: Project, tmp_path: Path, browser: Client
) -> None:
    def page() -> str:
        text = browser.get(reverse("project", args=[project.pk])).content.decode()
        return " ".join(text.split())

    made = Proposal.objects.get(public_id=apply_all(project))
    assert "git history" not in page()
    os.rename(syncing.history_path(project), tmp_path / "elsewhere")
    assert "The git history of this project is missing." in page()
    world.put(world.folder(project) / "new.md", "New.\n")
    syncing.refresh(project)
    assert "was missing, and a new one was begun" in page()
    assert "it can still be read and undone" in page() and "in neither" not in page()
    assert rollback.rollback(made, world.ME, rollback.Selection()).complete
    Blob.objects.filter(sha256=Version.objects.filter(memory__path="new.md").latest("pk").sha256).delete()
    assert "The text of 1 earlier version is in neither: it can no longer be read" in page()


def test_a_damaged_journal_is_found(project: Project, settings: Settings) -> None:
    apply_all(project)
    blob = next((settings.DATA_DIR / "journal").glob("*/blobs/*"))
    blob.chmod(0o600)
    blob.write_bytes(blob.read_bytes() + b"!")
    assert blob.name in " ".join(problem["what"] for problem in damage("verify")["problems"])


def test_a_changed_entry_of_the_audit_log_is_found(project: Project) -> None:
    auditlog.record("project.trusted", actor="owner", project=project)
    last = AuditEntry.objects.latest("number")
    AuditEntry.objects.filter(pk=last.pk).update(actor="nobody")
    [problem] = damage("verify")["problems"]
    assert f"Audit entry {last.number} was changed" in problem["what"]


def test_one_project_alone_is_read_and_an_unknown_one_refused(project: Project, tmp_path: Path) -> None:
    other = Project.objects.create(
        host=project.host, memory_dir="/x/-other/memory", slug="-other", name="other", history_key="other"
    )
    assert call("verify", project=other.slug)["checked"]["versions"] == 0
    assert call("verify", project=project.slug)["checked"]["versions"] == 3
    with pytest.raises(Refused, match="No project"):
        call("verify", project="-nobody")
    Project.objects.filter(pk=other.pk).update(slug=project.slug)
    with pytest.raises(BadUsage, match="more than one project"):
        call("verify", project=project.slug)


def test_a_lost_disk_does_not_print_a_line_for_each_of_its_texts(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("dreams.services.verifying.MOST", 2)
    Blob.objects.all().delete()
    problems = damage("verify")["problems"]
    assert len(problems) == 3
    assert "more than 2 versions are damaged" in problems[-1]["what"]


def test_a_damaged_text_of_the_file_on_disk_does_not_stop_what_is_approved_for_it(project: Project) -> None:
    """What was read from the disk takes its place, when a proposal is made and when it is brought up to date."""
    file = world.folder(project) / "feedback_testing.md"
    flipped(project.memories.get(path=file.name).sha256)
    proposal = world.three_changes(project)
    review.decide(proposal, review.select_hunks(proposal), Hunk.Verdict.APPROVED, world.ME)
    file.write_text(file.read_text() + "\nAdded by a session.\n")
    syncing.refresh(project)
    flipped(project.memories.get(path=file.name).sha256)
    assert [one.path for one in applying.apply(proposal, world.ME).rebased] == [file.name]
    assert applying.apply(proposal, world.ME, rebased=True).complete
    assert "Added by a session." in file.read_text()


def test_a_memory_whose_text_is_damaged_in_the_database_is_shown_whole_edited_and_forgotten(
    project: Project,
) -> None:
    """What the form shows is what an edit is compared with: else the damage would be saved as the person's own words."""
    row = project.memories.get(path="project_deploy.md")
    flipped(row.sha256)
    shown = pages.current_bytes(row)
    assert shown == world.DEPLOY.encode()
    edited = world.DEPLOY.replace("alpha", "beta")
    assert hand_edits.edit(row, edited, row.sha256, world.ME).complete
    assert (world.folder(project) / row.path).read_text() == edited
    row.refresh_from_db()
    flipped(row.sha256)
    assert hand_edits.forget(row, world.ME).complete
    assert not (world.folder(project) / row.path).exists()


def test_a_secret_in_a_text_that_is_damaged_in_the_database_is_seen_in_the_memory(
    project: Project,
) -> None:
    path = world.folder(project) / "project_deploy.md"
    path.write_text(world.DEPLOY + f"\n{TOKEN}\n")
    syncing.refresh(project)
    [leak] = secret_purge.find_secrets(project).found
    Blob.objects.filter(sha256=project.memories.get(path=path.name).sha256).update(data=b"Damaged.\n")
    with pytest.raises(Refusal, match=r"It is still in project_deploy\.md"):
        secret_purge.purge_also_here(project, {TOKEN: leak.rule}, world.ME, "")
    assert secret_purge.propose(project, world.ME)


def test_a_file_that_cannot_be_read_now_gets_no_version_of_a_damaged_text_and_stays_in_the_history(
    project: Project,
) -> None:
    row = project.memories.get(path="project_deploy.md")
    flipped(row.sha256)
    path = world.folder(project) / row.path
    path.rename(path.with_suffix(".aside"))
    path.symlink_to(path.with_suffix(".aside"))
    syncing.refresh(project)
    assert [one.sha256 for one in row.versions.all()] == [row.sha256]
    row.refresh_from_db()
    assert row.unread and row.gone_at is None
    with syncing.open_history(project) as store:
        assert store.tree_at(store.log(1)[0].id)[row.path] == row.sha256
