"""A write happens where the memory is: what is asked elsewhere is a row, which the host with the files takes, checks and does."""

from __future__ import annotations

import datetime as dt
import json
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from django.core.management import call_command
from django.db import IntegrityError
from django.utils import timezone
from django_q.models import OrmQ

from dreams import tasks
from dreams.management.base import BadUsage, Refused
from dreams.models import (
    AuditEntry,
    Blob,
    Card,
    DreamRun,
    Host,
    HostRequest,
    Hunk,
    Memory,
    Proposal,
    ScheduledJob,
)
from dreams.services import (
    host_request_worker,
    host_requests,
    jobs,
    project_lock,
    review,
    rollback,
    secret_purge,
)
from dreams.services.apply import applying
from dreams.services.catching import lifecycle as catching
from dreams.services.host_requests import Deed, NewRequest
from dreams.services.inbox import waiting
from dreams.services.memories import syncing
from dreams.services.proposals.transcript_verdicts import TranscriptVerdicts
from dreams.services.scheduling import scheduler
from tests.world import directory as world
from tests.world.kept import Keep, Kept
from tests.world.manifest import manifest
from tests.world.rows import make_session
from tests.world.two_hosts import TwoHosts

if TYPE_CHECKING:
    from pytest_django.fixtures import SettingsWrapper

pytestmark = pytest.mark.django_db
State = HostRequest.State


@pytest.fixture
def two(settings: SettingsWrapper, tmp_path: Path) -> TwoHosts:
    return TwoHosts(settings, tmp_path)


@pytest.fixture(scope="module")
def made(kept: Keep) -> Kept[Proposal]:
    return kept(world.all_approved)


@pytest.fixture
def approved(made: Kept[Proposal], two: TwoHosts) -> Proposal:
    """Everything of it is approved here; its files are on desk, which takes requests."""
    proposal = made.anew()
    two.give(proposal.project)
    two.accept()
    return proposal


def _ask(proposal: Proposal) -> HostRequest:
    return host_requests.ask(host_requests.to_apply(proposal), world.ME)


def _memory(proposal: Proposal) -> Memory:
    return Memory.objects.select_related("project").get(project=proposal.project, path="feedback_testing.md")


@pytest.mark.not_on_postgresql
def test_asking_writes_nothing_and_makes_no_task(approved: Proposal) -> None:
    before = manifest(world.folder(approved.project))
    asked = _ask(approved)
    approved.refresh_from_db()
    assert (asked.state, approved.state) == (State.WAITING, Proposal.State.OPEN)
    assert manifest(world.folder(approved.project)) == before
    assert not OrmQ.objects.exists()
    assert AuditEntry.objects.filter(action="request.asked", object_id=approved.public_id).exists()


def test_a_reason_and_a_result_that_no_database_holds_are_stored_without_it(approved: Proposal) -> None:
    """As a terminal in Latin-1 types one, and a folder with such a name gives the other."""
    asked = host_requests.ask(host_requests.to_forget(_memory(approved), "", "caf\udce9"), world.ME)
    assert asked.given["reason"] == "caf\ufffd"
    assert host_requests.close(asked, State.REFUSED, "No folder caf\udce9.", was=State.WAITING)
    asked.refresh_from_db()
    assert asked.text == "No folder caf\ufffd."


@pytest.mark.not_on_postgresql
def test_the_host_with_the_files_takes_it_once_into_its_own_queue_and_writes(
    approved: Proposal, two: TwoHosts
) -> None:
    asked = _ask(approved)
    assert host_request_worker.take() == []
    [done] = two.work()
    assert (done.pk, done.state) == (asked.pk, State.DONE)
    assert done.text.startswith("Written: ")
    assert two.tasks(two.desk) == OrmQ.objects.count() == 1
    approved.refresh_from_db()
    assert approved.state == Proposal.State.APPLIED and approved.submitted_by == world.ME.name
    assert {item["path"] for item in done.report["applied"]} >= {"feedback_testing.md"}
    with two.there():
        assert tasks.carry_out(asked.pk) == "nothing to do"
        assert host_request_worker.take() == []


@pytest.mark.not_on_postgresql
def test_a_host_that_did_not_accept_is_asked_for_nothing_and_takes_nothing(
    approved: Proposal, two: TwoHosts
) -> None:
    with two.there():
        host_requests.set_accepts(False, "me")
    with pytest.raises(host_requests.NotAccepted, match=r"desk.*hosts accept"):
        _ask(approved)
    # Whoever can write to the database can set the column and make the row: the file on the host is what counts.
    Host.objects.filter(key=two.desk).update(accepts_requests=True)
    asked = _ask(approved)
    assert two.work() == []
    HostRequest.objects.update(state=State.TAKEN)
    with two.there():
        assert host_request_worker.carry_out(asked.pk) is None
    approved.refresh_from_db()
    assert approved.state == Proposal.State.OPEN


def test_asked_twice_it_is_one_request(approved: Proposal) -> None:
    assert _ask(approved).pk == _ask(approved).pk
    assert HostRequest.objects.count() == 1


def test_a_request_is_made_though_an_equal_one_ended_at_the_same_moment(
    approved: Proposal, monkeypatch: pytest.MonkeyPatch
) -> None:
    create = HostRequest.objects.create

    def there_is_one_still(**_: object) -> None:
        monkeypatch.setattr(HostRequest.objects, "create", create)
        raise IntegrityError("asked_once")

    monkeypatch.setattr(HostRequest.objects, "create", there_is_one_still)
    assert _ask(approved).state == State.WAITING


def test_a_request_about_what_is_gone_is_not_tried_without_end(
    approved: Proposal, monkeypatch: pytest.MonkeyPatch
) -> None:
    tried: list[object] = []

    def gone(**given: object) -> None:
        tried.append(given["proposal"])
        raise IntegrityError("FOREIGN KEY constraint failed")  # the database says it at the commit

    monkeypatch.setattr(HostRequest.objects, "create", gone)
    with pytest.raises(IntegrityError):
        _ask(approved)
    assert tried == [approved, approved]


def test_it_can_be_withdrawn_until_it_is_taken(approved: Proposal, two: TwoHosts) -> None:
    asked = _ask(approved)
    assert host_requests.withdraw(asked, world.ME)
    assert two.work() == []
    again = _ask(approved)
    with two.there():
        host_request_worker.take()
    assert not host_requests.withdraw(again, world.ME)


@pytest.mark.not_on_postgresql
def test_it_ends_with_its_proposal(approved: Proposal, two: TwoHosts) -> None:
    asked = _ask(approved)
    with two.there():
        assert applying.apply(approved, world.ME).complete
    assert two.work() == []
    asked.refresh_from_db()
    assert asked.state == State.REFUSED and "applied now" in asked.text


@pytest.mark.not_on_postgresql
def test_after_a_week_it_asks_again_instead_of_writing(approved: Proposal, two: TwoHosts) -> None:
    asked = _ask(approved)
    HostRequest.objects.update(asked_at=timezone.now() - dt.timedelta(days=8))
    assert two.work() == []
    asked.refresh_from_db()
    assert asked.state == State.EXPIRED
    assert _ask(approved).pk != asked.pk


@pytest.mark.not_on_postgresql
def test_what_was_decided_otherwise_meanwhile_is_not_written(approved: Proposal, two: TwoHosts) -> None:
    _ask(approved)
    before = manifest(world.folder(approved.project))
    review.decide(
        approved,
        review.select_hunks(approved, paths=["feedback_testing.md"]),
        Hunk.Verdict.REJECTED,
        world.ME,
    )
    [done] = two.work()
    assert done.state == State.REFUSED and "feedback_testing.md" in done.text
    assert manifest(world.folder(approved.project)) == before


@pytest.mark.not_on_postgresql
def test_what_only_its_host_can_see_stops_it(approved: Proposal, two: TwoHosts, tmp_path: Path) -> None:
    _ask(approved)
    (tmp_path / "second-name").hardlink_to(world.folder(approved.project) / "feedback_testing.md")
    before = manifest(world.folder(approved.project))
    [done] = two.work()
    assert done.state == State.REFUSED and "hard link" in done.text
    assert manifest(world.folder(approved.project)) == before


@pytest.mark.more
def test_a_file_that_changed_there_is_shown_anew_and_confirmed_from_here(
    approved: Proposal, two: TwoHosts
) -> None:
    _ask(approved)
    path = world.folder(approved.project) / "feedback_testing.md"
    path.write_text(path.read_text() + "\nAdded by a session.\n")
    [done] = two.work()
    assert done.state == State.REFUSED and "feedback_testing.md" in done.text
    assert "Added by a session." in path.read_text()
    approved.refresh_from_db()
    host_requests.ask(host_requests.to_apply(approved, rebased=True), world.ME)
    [done] = two.work()
    assert done.state == State.DONE, done.text
    assert "Added by a session." in path.read_text()


def test_an_apply_that_was_cut_off_is_finished_by_the_next_worker(approved: Proposal, two: TwoHosts) -> None:
    asked = _ask(approved)
    with two.there():
        host_request_worker.take()
    HostRequest.objects.update(worker_pid=2**22 - 1, worker_started=1.0, attempts=1)
    with two.there():
        assert applying.apply(approved, world.ME).complete
        host_request_worker.take()
        done = host_request_worker.carry_out(asked.pk)
    assert done is not None and done.state == State.DONE


def test_what_is_no_apply_and_was_cut_off_is_asked_anew(approved: Proposal, two: TwoHosts) -> None:
    memory = _memory(approved)
    asked = host_requests.ask(host_requests.to_forget(memory, memory.sha256), world.ME)
    with two.there():
        host_request_worker.take()
        HostRequest.objects.update(worker_pid=2**22 - 1, worker_started=1.0, attempts=1)
        host_request_worker.take()
    asked.refresh_from_db()
    assert asked.state == State.REFUSED and "killed" in asked.text


def test_a_task_that_was_lost_is_handed_out_again(approved: Proposal, two: TwoHosts) -> None:
    _ask(approved)
    with two.there():
        host_request_worker.take()
        HostRequest.objects.update(taken_at=timezone.now() - dt.timedelta(minutes=6))
        host_request_worker.take()
        host_request_worker.take()
    assert two.tasks(two.desk) == 2


WRITES: dict[str, Callable[[Proposal], NewRequest]] = {
    "edit": lambda made: host_requests.to_edit(_memory(made), "Other.\n", _memory(made).sha256, "Better"),
    "forget": lambda made: host_requests.to_forget(_memory(made), _memory(made).sha256),
    "restore": lambda made: host_requests.to_restore(
        made.project,
        "feedback_testing.md",
        _memory(made).versions.earliest("pk").sha256,
        _memory(made).sha256,
    ),
    "undo": lambda made: host_requests.to_undo(made, rollback.Selection()),
}


@pytest.mark.more
@pytest.mark.also_on_postgresql
@pytest.mark.parametrize("name", WRITES)
def test_each_write_is_done_there_as_it_is_done_here(approved: Proposal, two: TwoHosts, name: str) -> None:
    with two.there():
        assert applying.apply(approved, world.ME).complete
    before = manifest(world.folder(approved.project))
    host_requests.ask(WRITES[name](approved), world.ME)
    assert manifest(world.folder(approved.project)) == before
    [done] = two.work()
    assert (done.state, done.report["applied"] != []) == (State.DONE, True), done.text
    assert manifest(world.folder(approved.project)) != before


@pytest.mark.parametrize("name", WRITES)
@pytest.mark.not_on_postgresql
def test_no_write_is_done_on_another_text_than_was_seen(approved: Proposal, two: TwoHosts, name: str) -> None:
    with two.there():
        assert applying.apply(approved, world.ME).complete
    host_requests.ask(WRITES[name](approved), world.ME)
    (world.folder(approved.project) / "feedback_testing.md").write_text("Changed meanwhile.\n")
    before = manifest(world.folder(approved.project))
    [done] = two.work()
    assert done.state == State.REFUSED and "feedback_testing.md" in done.text
    assert manifest(world.folder(approved.project)) == before


def test_redaction_extraction_a_dream_and_a_job_are_started_there(approved: Proposal, two: TwoHosts) -> None:
    project = approved.project
    job = ScheduledJob.objects.create(
        host=two.desk, project=project, kind="verify", cron="0 3 * * *", made_at=timezone.now()
    )
    Proposal.objects.filter(pk=approved.pk).update(state=Proposal.State.REJECTED)
    for new_request in (
        NewRequest(Deed.REDACT, project),
        NewRequest(Deed.EXTRACT, project),
        NewRequest(Deed.DREAM, project, {"engine": "rules", "forced": True}),
        NewRequest(Deed.JOB, project, {"job": job.pk}, host=two.desk),
    ):
        host_requests.ask(new_request, world.ME)
    done = two.work()
    assert [one.state for one in done] == [State.DONE] * 4, [one.text for one in done]
    run = DreamRun.objects.get(project=project)
    assert run.requested_by == world.ME.name and run.public_id in done[2].text
    assert job.runs.count() == 1


@pytest.mark.also_on_postgresql
@pytest.mark.more
def test_a_purge_is_done_there_though_each_host_names_secrets_with_a_key_of_its_own(
    two: TwoHosts, tmp_path: Path, settings: SettingsWrapper
) -> None:
    token = "gh" + "p_" + "m2Rk9WvX4cT7pB1zN6hQ8dJ3sL5yG0fAuEoI"
    project = world.make_project(tmp_path / "root", {"deploy.md": f"Deploys use {token} there.\n"})
    world.put(world.folder(project) / "deploy.md", "Deploys use a token.\n")
    syncing.refresh(project)
    [leak] = secret_purge.find_secrets(project).found
    history = syncing.history_path(project)
    two.give(project)
    with two.there():
        syncing.history_folder().mkdir(parents=True)
        history.rename(syncing.history_path(project))
    two.accept()
    asked = host_requests.ask(host_requests.to_purge(project, [leak.id], "leaked"), world.ME)
    assert token not in str(asked.given) and leak.id not in str(asked.given)
    settings.SECRET_KEY = "the-key-of-desk"
    [done] = two.work()
    assert (done.state, done.text) == (State.DONE, "Removed from 1 stored text.")
    assert not secret_purge.find_secrets(project).found
    assert not Blob.objects.filter(data__contains=token.encode()).exists()


@pytest.mark.more
def test_by_command_secrets_of_another_host_are_listed_and_their_removal_is_asked_of_it(
    two: TwoHosts, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    token = "gh" + "p_" + "m2Rk9WvX4cT7pB1zN6hQ8dJ3sL5yG0fAuEoI"
    project = world.make_project(tmp_path / "root", {"deploy.md": f"Deploys use {token} there.\n"})
    two.give(project)
    [leak] = secret_purge.find_secrets(project).found
    with pytest.raises(Refused, match="hosts accept"):
        call_command("secrets", str(project.pk), "--redact")
    two.accept()
    with pytest.raises(Refused, match=f"no secret of that id here. There are: {leak.id}"):
        call_command("secrets", str(project.pk), "--purge", "nothing")
    with pytest.raises(BadUsage, match="one thing at a time"):
        call_command("secrets", str(project.pk), "--redact", "--purge", leak.id)
    assert not HostRequest.objects.exists()
    call_command("secrets", str(project.pk), "--redact")
    assert "Queued for desk" in capsys.readouterr().out
    [redacted] = two.work()
    assert redacted.state == State.DONE and "waits for a review" in redacted.text
    Proposal.objects.update(state=Proposal.State.SUPERSEDED)
    with two.there():
        world.put(world.folder(project) / "deploy.md", "Deploys use a token.\n")
        syncing.refresh(project)
    call_command("secrets", str(project.pk), "--purge", leak.id, "--reason", "leaked", "--json")
    told = json.loads(capsys.readouterr().out)
    assert (told["queued"][0]["host"], told["purged"]) == ("desk", 0)
    assert [one["id"] for one in told["secrets"]] == [leak.id], "nothing is removed before it was done there"
    assert two.work()[0].state == State.DONE
    assert not secret_purge.find_secrets(project).found


@pytest.mark.more
def test_a_state_of_before_is_proposed_there(approved: Proposal, two: TwoHosts) -> None:
    before = timezone.now()
    with two.there():
        assert applying.apply(approved, world.ME).complete
    new_request = host_requests.to_propose_moment(
        approved.project, before, ["feedback_testing.md"], "as it was"
    )
    host_requests.ask(new_request, world.ME)
    [done] = two.work()
    made = approved.project.proposals.get(origin=Proposal.Origin.RESTORE)
    assert (done.state, done.text) == (State.DONE, f"Proposal {made.public_id} waits for a review.")
    assert [file.path for file in made.files.all()] == ["feedback_testing.md"]


@pytest.mark.not_on_postgresql
def test_a_file_that_changed_there_is_brought_up_to_date_there_and_confirmed_here(
    approved: Proposal, two: TwoHosts
) -> None:
    path = world.folder(approved.project) / "feedback_testing.md"
    path.write_text(path.read_text() + "\nAdded by a session.\n")
    host_requests.ask(NewRequest(Deed.BRING_UP, approved.project, proposal=approved), world.ME)
    [done] = two.work()
    assert done.state == State.DONE and done.text.startswith("1 file updated"), done.text
    file = approved.files.get(path="feedback_testing.md")
    assert not file.rebase_confirmed
    assert review.confirm_rebase(file, file.base_sha, world.ME)
    _ask(approved)
    [done] = two.work()
    assert done.state == State.DONE, done.text
    assert "Added by a session." in path.read_text()


@pytest.mark.more
def test_the_inbox_says_of_a_file_that_changes_faster_than_its_host_looks(
    approved: Proposal, two: TwoHosts
) -> None:
    path = world.folder(approved.project) / "feedback_testing.md"
    said = []
    for turn in range(3):
        host_requests.ask(host_requests.to_apply(approved, rebased=turn > 0), world.ME)
        path.write_text(path.read_text() + f"\nAdded by a session, {turn}.\n")
        [done] = two.work()
        assert done.state == State.REFUSED
        [item] = [one for one in waiting.waiting(timezone.now()) if one.kind == waiting.WaitingKind.CONFIRM]
        said.append(item.why)
    assert "confirm the new result" in said[1] and "3 times" not in said[1]
    assert said[2].startswith(
        "feedback_testing.md changed again each of the 3 times memoryweb tried to write it"
    )
    assert "Confirm it on desk" in said[2]


def test_no_task_is_made_for_the_queue_of_another_host(approved: Proposal, two: TwoHosts) -> None:
    with pytest.raises(project_lock.ProjectElsewhere):
        scheduler.dream_now(approved.project)
    scheduler.enqueue(DreamRun.objects.create(project=approved.project))
    assert not catching.enqueue(approved.project)
    job = ScheduledJob.objects.create(
        host=two.desk, project=approved.project, kind="verify", cron="0 3 * * *", made_at=timezone.now()
    )
    jobs.begin(jobs.start_now(job, actor="me"), scheduler.enqueue)
    assert not OrmQ.objects.exists()


def test_sessions_of_another_host_are_not_read_here(approved: Proposal, tmp_path: Path) -> None:
    """A file of that path on this disk would be somebody else's."""
    transcript = tmp_path / "same-path.jsonl"
    transcript.write_text(
        '{"type":"user","message":{"role":"user","content":"The API runs on host alpha."}}\n'
    )
    dream = DreamRun.objects.create(project=approved.project)
    session = make_session(approved.project, path=str(transcript))
    dream.reviewed.create(session=session, from_byte=0, to_byte=9)
    found = TranscriptVerdicts.of_dream(dream)
    assert found.ask("The API runs on host alpha.") is None
    assert found.left_out() is not None


@pytest.mark.not_on_postgresql
def test_approved_cards_are_written_there_unless_one_changed(approved: Proposal, two: TwoHosts) -> None:
    asked = host_requests.ask(host_requests.to_write_cards(approved.project), world.ME)
    assert asked.seen == {}
    [done] = two.work()
    assert (done.state, done.text) == (State.REFUSED, "No card is approved yet.")
    assert not Card.objects.exists()


@pytest.mark.not_on_postgresql
def test_apply_prints_who_has_it_queued_and_waits_where_that_is_asked(
    approved: Proposal, two: TwoHosts, capsys: pytest.CaptureFixture[str]
) -> None:
    call_command("apply", approved.public_id, "--json")
    printed = json.loads(capsys.readouterr().out)
    assert [(one["host"], one["is_away"]) for one in printed["queued"]] == [("desk", False)]
    assert printed["queued"][0]["last_seen"] and printed["applied"] == []


@pytest.mark.more
@pytest.mark.not_on_postgresql
def test_apply_waits_for_what_came_of_it_where_that_is_asked(
    approved: Proposal,
    two: TwoHosts,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("dreams.management.queued.time.sleep", lambda seconds: two.work())
    call_command("apply", approved.public_id, "--json", "--wait", "60")
    printed = json.loads(capsys.readouterr().out)
    assert "queued" not in printed and "feedback_testing.md" in {one["path"] for one in printed["applied"]}
    with pytest.raises(Refused, match="applied now"):
        call_command("apply", approved.public_id, "--wait", "60")


def test_a_host_that_is_away_is_named_with_when_it_was_last_seen(
    approved: Proposal, two: TwoHosts, capsys: pytest.CaptureFixture[str]
) -> None:
    Host.objects.filter(key=two.desk).update(last_seen_at=timezone.now() - dt.timedelta(hours=3))
    call_command("apply", approved.public_id)
    assert "It is away (last seen 3 h ago)" in capsys.readouterr().out


@pytest.mark.not_on_postgresql
def test_the_scheduler_of_a_host_takes_what_is_asked_of_it(approved: Proposal, two: TwoHosts) -> None:
    asked = _ask(approved)
    with two.there():
        tasks.tick()
    asked.refresh_from_db()
    assert asked.state == State.TAKEN
