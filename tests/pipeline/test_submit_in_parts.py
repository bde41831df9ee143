"""A submit of many changes is several short transactions: a kill between two of them leaves the review open, as it was."""

from __future__ import annotations

import os
import signal
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import psutil
import pytest
from django.db import OperationalError, connection
from django.utils import timezone

from dreams.lib import process
from dreams.models import Finding, Hunk, LeftOut, Proposal
from dreams.services import hosts, review
from dreams.services.review import deciding, submitting
from tests.world import directory as world
from tests.world.processes import commands as forked
from tests.world.processes.servers import with_database

FILES = {f"note_{n}.md": f"---\nname: Note {n}\ntype: project\n---\n\nHost h{n} is up.\n" for n in range(4)}


def four_changes(folder: Path, *, taken: int = 2) -> Proposal:
    """`taken` of four changes are approved, the rest is rejected; the second and the third were rejected once before."""
    project = world.make_project(folder, FILES)
    edits = [
        # without a word on where the old line went: a loss, which blocks until somebody confirms it
        replace(world.edit(path, said, said.replace("is up", "was lost"), path), fates=())
        for path, said in FILES.items()
    ]
    proposal = world.propose(project, *edits)
    hunks = review.select_hunks(proposal)
    for part, verdict in ((hunks[:taken], Hunk.Verdict.APPROVED), (hunks[taken:], Hunk.Verdict.REJECTED)):
        review.decide(proposal, part, verdict, world.ME)
    review.confirm(proposal, proposal.findings.filter(severity=Finding.Severity.BLOCK), world.ME)
    for hunk in hunks[1:3]:
        LeftOut.objects.create(
            project=project,
            path=hunk.file.path,
            hunk_id=hunk.hunk_id,
            inputs_key="",
            added=["x"],
            at=timezone.now(),
        )
    return proposal


def left_out() -> list[str]:
    return sorted(LeftOut.objects.decided().values_list("path", flat=True))


@pytest.mark.django_db
def test_what_a_submit_has_written_counts_when_the_submit_is_through(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    proposal = four_changes(tmp_path)
    before = left_out()
    closed = submitting._close

    def look_around(*given: object) -> None:
        assert LeftOut.objects.filter(is_staged=True).count() == 2
        assert left_out() == before
        closed(*given)  # type: ignore[arg-type] # what it was given

    monkeypatch.setattr(submitting, "_close", look_around)
    review.submit(proposal, world.ME)
    assert left_out() == ["note_2.md", "note_3.md"]


@pytest.mark.django_db
def test_no_verdict_changes_and_no_second_submit_begins_while_one_is_under_way(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    proposal = four_changes(tmp_path)
    hunks = review.select_hunks(proposal)
    closed = submitting._close

    def interfere(*given: object) -> None:
        with pytest.raises(review.ReviewRefused, match="being submitted"):
            review.decide(proposal, hunks[:1], Hunk.Verdict.REJECTED, world.ME)
        with pytest.raises(review.ReviewRefused, match="being submitted"):
            review.submit(proposal, world.ME)
        closed(*given)  # type: ignore[arg-type] # what it was given

    monkeypatch.setattr(submitting, "_close", interfere)
    review.submit(proposal, world.ME)
    proposal.refresh_from_db()
    assert (proposal.state, proposal.submitting_by) == (Proposal.State.SUBMITTED, "")


@pytest.mark.django_db
def test_of_what_was_left_out_the_lines_that_are_approved_now_are_let_in(tmp_path: Path) -> None:
    proposal = four_changes(tmp_path)
    lines = ["Host h0 was lost.", "Host h9 was lost."]
    fields = {"path": "hosts.md", "hunk_id": "h", "inputs_key": "", "added": lines, "at": timezone.now()}
    row = LeftOut.objects.create(project=proposal.project, **fields)
    review.submit(proposal, world.ME)
    row.refresh_from_db()
    assert row.added == lines[1:]


@pytest.mark.django_db
def test_lines_that_another_submit_lets_in_meanwhile_are_not_left_out_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    proposal = four_changes(tmp_path)
    lines = ["Host h0 was lost.", "Host h8 was lost.", "Host h9 was lost."]
    fields = {"path": "hosts.md", "hunk_id": "h", "inputs_key": "", "added": lines, "at": timezone.now()}
    row = LeftOut.objects.create(project=proposal.project, **fields)
    rows = LeftOut.objects.filter(pk=row.pk)
    monkeypatch.setattr(submitting, "_stage_rejected", lambda _: rows.update(added=[lines[0], lines[2]]))
    review.submit(proposal, world.ME)
    row.refresh_from_db()
    assert row.added == [lines[2]]


@pytest.mark.django_db
def test_a_finding_that_comes_up_while_a_submit_is_under_way_refuses_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    proposal = four_changes(tmp_path)
    monkeypatch.setattr(submitting, "_stage_rejected", lambda made: made.findings.update(confirmed_at=None))
    with pytest.raises(review.BlockingFinding):
        review.submit(proposal, world.ME)
    assert Proposal.objects.get().state == Proposal.State.OPEN


@pytest.mark.django_db
def test_a_submit_that_refuses_leaves_no_claim_behind(tmp_path: Path) -> None:
    proposal = four_changes(tmp_path)
    assert proposal.findings.filter(severity=Finding.Severity.BLOCK).update(confirmed_at=None)
    with pytest.raises(review.ReviewRefused):
        review.submit(proposal, world.ME)
    review.decide(proposal, review.select_hunks(proposal)[:1], Hunk.Verdict.PENDING, world.ME)


@pytest.mark.django_db
def test_the_claim_of_a_process_that_is_gone_holds_nobody_up(tmp_path: Path) -> None:
    proposal = four_changes(tmp_path)
    me = process.current()
    for claim in (f"{hosts.host()} {me.pid} {me.start_time - 60} x", "another-host 1 1.0 x"):
        Proposal.objects.filter(pk=proposal.pk).update(submitting_by=claim, submitting_since=None)
        review.decide(proposal, review.select_hunks(proposal)[:1], Hunk.Verdict.APPROVED, world.ME)
    assert review.submit(proposal, world.ME).state == Proposal.State.SUBMITTED


@pytest.mark.django_db
@pytest.mark.parametrize("pid", [os.getppid(), 10**6], ids=["another process", "another host"])
def test_the_claim_of_a_submit_that_cannot_be_asked_is_over_after_a_while(tmp_path: Path, pid: int) -> None:
    """Of one that lives, too: the database may have been away when it was to end its claim."""
    proposal = four_changes(tmp_path)
    host = hosts.host() if pid == os.getppid() else "another-host"
    started = process._start_time(psutil.Process(pid)) if pid == os.getppid() else 1.0
    since = timezone.now()
    rows = Proposal.objects.filter(pk=proposal.pk)
    rows.update(submitting_by=f"{host} {pid} {started} x", submitting_since=since)
    with pytest.raises(review.ReviewRefused, match="being submitted"):
        review.submit(proposal, world.ME)
    rows.update(submitting_since=since - deciding.LONGEST_SUBMIT)
    assert review.submit(proposal, world.ME).state == Proposal.State.SUBMITTED


@pytest.mark.django_db(transaction=True)
def test_a_submit_during_which_the_database_went_away_can_be_repeated_at_once(tmp_path: Path) -> None:
    """The process lives on, and could not end its claim."""
    proposal = four_changes(tmp_path)
    is_away = False

    def away(execute: Any, sql: str, *given: Any) -> Any:
        nonlocal is_away
        is_away = is_away or "dreams_leftout" in sql
        if is_away:
            raise OperationalError("server closed the connection unexpectedly")
        return execute(sql, *given)

    with connection.execute_wrapper(away), pytest.raises(OperationalError):
        review.submit(proposal, world.ME)
    assert Proposal.objects.get().submitting_by
    review.decide(proposal, review.select_hunks(proposal)[:1], Hunk.Verdict.APPROVED, world.ME)
    assert review.submit(proposal, world.ME).state == Proposal.State.SUBMITTED


@pytest.mark.more
def test_a_kill_at_any_commit_of_a_submit_leaves_the_review_open(tmp_path: Path) -> None:
    data = with_database(tmp_path / "data")
    code = f"from tests.pipeline.test_submit_in_parts import sweep; sweep({str(tmp_path)!r})"
    done = forked.run("shell", "-v", "0", "-c", code, environment=forked.environment(data))
    assert done.returncode == 0, done.stderr
    assert int(done.stdout.split()[-1]) >= 5, (
        done.stdout
    )  # claim, two of what is left out, findings, the last


def sweep(folder: str) -> None:
    """Submit in children that die before their first commit, their second, …, until one lives; write how many died."""
    from django.db import connections

    proposal = four_changes(Path(folder))
    before, died = (left_out(), confirmed(proposal)), 0
    while True:
        connections.close_all()
        if not (child := os.fork()):
            submit_and_die(proposal, commits=died)
        if not os.WIFSIGNALED(os.waitpid(child, 0)[1]):
            break
        proposal.refresh_from_db()
        assert proposal.state == Proposal.State.OPEN, f"after {died} commits"
        assert left_out() == before[0] and confirmed(proposal) >= before[1], f"after {died} commits"
        again = review.select_hunks(proposal)[:1]
        for verdict in (Hunk.Verdict.PENDING, Hunk.Verdict.APPROVED):
            review.decide(proposal, again, verdict, world.ME)
        died += 1
    proposal.refresh_from_db()
    assert proposal.state == Proposal.State.SUBMITTED
    assert left_out() == ["note_2.md", "note_3.md"]
    sys.stdout.write(str(died))


def confirmed(proposal: Proposal) -> set[str]:
    return set(proposal.findings.filter(confirmed_at__isnull=False).values_list("key", flat=True))


def submit_and_die(proposal: Proposal, commits: int) -> None:
    from django.db import connection

    from dreams.services.proposals import checks

    checks.MOST_AT_ONCE = submitting.MOST_AT_ONCE = 1
    left, commit = [commits], connection._commit  # type: ignore[attr-defined] # of Django's own wrapper

    def count() -> None:
        if not left[0]:
            os.kill(os.getpid(), signal.SIGKILL)
        left[0] -= 1
        commit()

    connection._commit = count  # type: ignore[attr-defined] # as above
    code = 1
    try:
        review.submit(proposal, world.ME)
        code = 0
    finally:
        if code:
            sys.excepthook(*sys.exc_info())  # type: ignore[arg-type] # there is one
        os._exit(code)
