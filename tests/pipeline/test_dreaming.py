"""One dream from claim to clock: completed moves it, everything else puts it back."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest
from django.db import OperationalError
from django.test import Client
from django.utils import timezone

from dreams.engines.types import Citation, Edit, EngineError, Fate, Job, Reporter
from dreams.lib import locks
from dreams.models import DreamRun, Hunk, LeftOut, LockHold, Policy, Project, Proposal, Turn
from dreams.services import dreaming, project_lock, review, settings_changes
from dreams.services.proposals import saving
from dreams.services.scheduling import gate_inputs
from tests.world import directory as world, engines
from tests.world.manifest import manifest

pytestmark = pytest.mark.django_db(transaction=True)

FRESH = engines.rewrite("feedback_testing.md", "make reset", "make fresh")


def dream(project: Project, *, forced: bool = True) -> DreamRun:
    run = dreaming.run_dream(dreaming.request(project, DreamRun.Trigger.COMMAND, forced=forced).pk)
    assert run is not None
    return run


def clock(project: Project) -> int | None:
    return locks.last_consolidated_ns(world.folder(project))


def test_a_completed_dream_proposes_changes_nothing_and_moves_the_clock(tmp_path: Path, monkeypatch) -> None:
    project = world.make_project(tmp_path)
    engines.use(monkeypatch, FRESH)
    before = manifest(world.folder(project))
    run = dream(project)
    assert run.status == "completed"
    after = manifest(world.folder(project))
    lock = after.pop(".consolidate-lock")
    before.pop(""), after.pop("")
    assert after == before
    assert lock.mtime_ns > 0 and (world.folder(project) / ".consolidate-lock").read_bytes() == b""
    assert Proposal.of(run) is not None and Proposal.of(run).state == "open"
    assert not LockHold.objects.exists()
    assert [turn.phase for turn in Turn.objects.filter(dream=run)] == ["orient"]


def test_gates_that_were_open_before_a_dream_are_not_called_open_after_it(
    tmp_path: Path, monkeypatch, browser: Client
) -> None:
    project = world.make_project(tmp_path)
    Project.objects.update(gate_fingerprint="open")
    engines.use(monkeypatch, engines.nothing)
    assert dream(project, forced=False).status == "completed"
    page = browser.get("/projects/").content.decode()
    assert "Gates open" not in page and "The scheduler checks gates once a minute while it runs." in page


def test_a_failed_dream_puts_the_clock_back_and_makes_the_project_wait(tmp_path: Path, monkeypatch) -> None:
    project = world.make_project(tmp_path)
    lock = world.folder(project) / ".consolidate-lock"
    world.put(lock, "")
    prior = clock(project)

    def fail(job: Job, report: Reporter) -> list:
        job.workspace.write("MEMORY.md", "half done")
        raise EngineError("The model's key is wrong. Set another one.")

    engines.use(monkeypatch, fail)
    run = dream(project)
    assert (run.status, run.failure) == ("failed", "engine")
    assert run.error == "The model's key is wrong. Set another one."
    assert clock(project) == prior
    assert (world.folder(project) / "MEMORY.md").read_text() == world.INDEX
    project.refresh_from_db()
    assert project.failures == 1 and project.not_before is not None
    assert not Proposal.objects.exists()


def test_an_unexpected_fault_is_one_line_and_no_traceback(tmp_path: Path, monkeypatch) -> None:
    project = world.make_project(tmp_path)

    def crash(job: Job, report: Reporter) -> list:
        raise ZeroDivisionError("secret detail")

    engines.use(monkeypatch, crash)
    run = dream(project)
    assert (run.status, run.failure) == ("failed", "fault")
    assert "secret detail" not in run.error and "\n" not in run.error
    assert clock(project) is None


def test_a_dream_that_finds_no_room_says_where_and_what_to_do(tmp_path: Path, monkeypatch) -> None:
    def crash(job: Job, report: Reporter) -> list:
        raise OSError(errno.ENOSPC, "No space left on device", "/data/workspaces/w1/MEMORY.md")

    engines.use(monkeypatch, crash)
    run = dream(world.make_project(tmp_path))
    assert (run.status, run.failure) == ("failed", "fault")
    assert run.error == "No space is left for /data/workspaces/w1/MEMORY.md. Make room on that disk."


def test_a_cancelled_dream_is_killed_at_its_next_checkpoint_and_proposes_nothing(
    tmp_path: Path, monkeypatch
) -> None:
    project = world.make_project(tmp_path)

    def act(job: Job, report: Reporter) -> list:
        edits = FRESH(job, report)
        assert dreaming.cancel(DreamRun.objects.get(), "owner")
        monkeypatch.setattr("dreams.services.dreaming.reporter.CANCEL_LOOK_SECONDS", 0.0)
        report.checkpoint()
        return edits

    engines.use(monkeypatch, act)
    run = dream(project)
    assert run.status == "killed"
    assert clock(project) is None and not Proposal.objects.exists()
    project.refresh_from_db()
    assert project.failures == 0, "a cancel is no failure"


def test_a_dream_that_is_cancelled_at_its_very_end_proposes_nothing(tmp_path: Path, monkeypatch) -> None:
    project = world.make_project(tmp_path)

    def act(job: Job, report: Reporter) -> list:
        edits = FRESH(job, report)
        report.checkpoint()  # the row is looked at, and not again for half a second
        assert dreaming.cancel(DreamRun.objects.get(), "owner")
        return edits

    engines.use(monkeypatch, act)
    assert dream(project).status == "killed"
    assert clock(project) is None and not Proposal.objects.exists()


def test_no_policy_applies_what_was_cancelled_while_it_was_proposed(tmp_path: Path, monkeypatch) -> None:
    project = world.make_project(tmp_path)
    Policy.objects.create(operation="add", action="auto")
    settings_changes.set_override("policy_findings", "warn", actor="owner")
    fact = "---\nname: Export\ntype: project\n---\n\nThe export runs at 04:00 UTC.\n"
    engines.use(monkeypatch, engines.add("project_export.md", fact))
    monkeypatch.setattr(
        "dreams.services.dreaming.lifecycle._ask", lambda run, outcome: dreaming.cancel(run, "owner")
    )
    dream(project)
    assert Proposal.objects.get().state == "open"
    assert not (world.folder(project) / "project_export.md").exists()


def test_nothing_leaves_a_terminal_state(tmp_path: Path, monkeypatch) -> None:
    project = world.make_project(tmp_path)
    engines.use(monkeypatch, FRESH)
    run = dream(project)
    assert dreaming.cancel(run, "owner") is False
    assert dreaming.lost_its_worker(run) == ""
    assert dreaming.run_dream(run.pk) is None, "handed out twice, it runs once"
    run.refresh_from_db()
    assert (run.status, run.attempts) == ("completed", 1)


def test_a_second_dream_of_the_same_project_is_refused(tmp_path: Path) -> None:
    project = world.make_project(tmp_path)
    dreaming.request(project, DreamRun.Trigger.PAGE)
    with pytest.raises(project_lock.ProjectBusy):
        dreaming.request(project, DreamRun.Trigger.PAGE)


def test_a_lock_that_another_process_holds_fails_the_dream_and_is_not_touched(
    tmp_path: Path, monkeypatch
) -> None:
    project = world.make_project(tmp_path)
    engines.use(monkeypatch, FRESH)
    lock = world.folder(project) / ".consolidate-lock"
    lock.write_text(str(os.getppid()))
    run = dream(project)
    assert (run.status, run.failure) == ("failed", "lock") and str(os.getppid()) in run.error
    assert lock.read_text() == str(os.getppid())


def test_a_directory_that_is_moved_while_a_dream_runs_fails_it_and_no_policy_makes_another(
    tmp_path: Path, monkeypatch
) -> None:
    project = world.make_project(tmp_path)
    settings_changes.set_policy("add", "auto", actor="owner")
    settings_changes.set_override("policy_findings", "warn", actor="owner")

    def act(job: Job, reporter: Reporter) -> list[Edit]:
        made = engines.add("project_export.md", "---\ntype: project\n---\n\nExports run at night.\n")(
            job, reporter
        )
        world.folder(project).rename(tmp_path / "moved")
        return made

    engines.use(monkeypatch, act)
    run = dream(project)
    assert (run.status, run.failure) == ("failed", "lock") and "was moved or replaced" in run.error
    assert not world.folder(project).exists() and not run.proposals.exists()


def test_a_dream_of_a_folder_that_is_away_records_no_memory_as_removed(tmp_path: Path, monkeypatch) -> None:
    project = world.make_project(tmp_path)
    engines.use(
        monkeypatch, engines.add("project_export.md", "---\ntype: project\n---\n\nExports run at night.\n")
    )
    folder = world.folder(project).parent
    away = folder.rename(tmp_path.with_name(f"{tmp_path.name}-away"))
    run = dream(project)
    assert run.status == "failed" and not run.proposals.exists()
    assert not folder.exists()
    assert not project.memories.filter(gone_at__isnull=False).exists()
    away.rename(folder)


def test_unchanged_inputs_never_reach_the_engine(tmp_path: Path, monkeypatch) -> None:
    project = world.make_project(tmp_path)
    engines.use(monkeypatch, engines.rewrite("feedback_testing.md", "not there", "x"))
    dream(project)

    def unexpected(job: Job, report: Reporter) -> list:
        raise AssertionError("the engine was asked")

    engines.use(monkeypatch, unexpected)
    run = dream(Project.objects.get(), forced=False)
    assert run.status == "completed" and run.summary == "Nothing changed since the last dream."


def test_after_a_dream_that_found_nothing_to_change_no_gate_says_that_inputs_changed(
    tmp_path: Path, monkeypatch, settings
) -> None:
    settings.ROOTS = (tmp_path,)
    project = world.discovered(tmp_path)
    engines.use(monkeypatch, engines.rewrite("feedback_testing.md", "not there", "x"))
    run = dream(project)
    assert run.status == "completed" and run.reviewed.count() == 2
    everywhere = gate_inputs.Everywhere.load()
    inputs = gate_inputs.case_of(Project.objects.get(), everywhere, timezone.now()).facts.inputs()
    assert inputs.current == inputs.last


def test_a_rejected_hunk_is_left_out_and_listed(tmp_path: Path, monkeypatch) -> None:
    project = world.make_project(tmp_path)
    engines.use(monkeypatch, FRESH)
    first = Proposal.of(dream(project))
    assert first is not None
    review.decide(first, review.select_hunks(first), Hunk.Verdict.REJECTED, world.ME, reason="I like reset")
    review.submit(first, world.ME)
    assert LeftOut.objects.count() == 1
    again = dream(project)
    assert Proposal.of(again) is None
    assert [left["path"] for left in again.left_out] == ["feedback_testing.md"]


def test_a_forced_dream_supersedes_the_open_proposal_and_carries_verdicts_over(
    tmp_path: Path, monkeypatch, settings
) -> None:
    settings.ROOTS = (tmp_path,)
    project = world.discovered(tmp_path)
    engines.use(monkeypatch, FRESH)
    first = Proposal.of(dream(project))
    assert first is not None
    review.decide(first, review.select_hunks(first), Hunk.Verdict.APPROVED, world.ME, reason="good")
    # Given back once, and by what is replaced: the dream that waits now has read them.
    project.sessions.update(given_back_at=timezone.now())
    second = Proposal.of(dream(project))
    assert second is not None and second.pk != first.pk
    assert set(project.sessions.values_list("given_back_at", flat=True)) == {None}
    first.refresh_from_db()
    assert first.state == "superseded"
    hunk = Hunk.objects.get(file__proposal=second)
    assert (hunk.verdict, hunk.decide_reason) == ("approved", "good")


def test_a_forced_dream_that_fails_leaves_the_open_proposal_and_its_verdicts(
    tmp_path: Path, monkeypatch, settings
) -> None:
    settings.ROOTS = (tmp_path,)
    project = world.discovered(tmp_path)
    engines.use(monkeypatch, FRESH)
    first = Proposal.of(dream(project))
    assert first is not None
    review.decide(first, review.select_hunks(first), Hunk.Verdict.APPROVED, world.ME, reason="good")

    def fail(*_: object, **__: object) -> None:
        raise OperationalError("database is locked")

    monkeypatch.setattr(saving, "check_draft", fail)
    run = dreaming.run_dream(dreaming.request(project, DreamRun.Trigger.COMMAND, forced=True).pk)
    assert run is not None and run.status == "failed"
    first.refresh_from_db()
    assert first.state == "open"
    assert {hunk.verdict for hunk in Hunk.objects.filter(file__proposal=first)} == {"approved"}


def test_a_policy_lets_additions_in_and_leaves_changes_to_a_person(tmp_path: Path, monkeypatch) -> None:
    project = world.make_project(tmp_path)
    Policy.objects.create(operation="add", action="auto")
    settings_changes.set_override("policy_findings", "warn", actor="owner")
    fact = "---\nname: Export\ntype: project\n---\n\nThe export runs at 04:00 UTC.\n"

    def act(job: Job, report: Reporter) -> list:
        return [*FRESH(job, report), *engines.add("project_export.md", fact)(job, report)]

    engines.use(monkeypatch, act)
    run = dream(project)
    assert (world.folder(project) / "project_export.md").read_text() == fact
    assert (world.folder(project) / "feedback_testing.md").read_text() == world.TESTING
    assert {p.by_policy: p.state for p in run.proposals.all()} == {True: "applied", False: "open"}
    assert Proposal.of(run) is not None and [f.path for f in Proposal.of(run).files.all()] == [
        "feedback_testing.md"
    ]


def test_a_policy_that_is_ended_before_the_write_lets_nothing_in(tmp_path: Path, monkeypatch) -> None:
    project = world.make_project(tmp_path)
    settings_changes.set_policy("add", "auto", actor="owner")
    settings_changes.set_override("policy_findings", "warn", actor="owner")
    engines.use(monkeypatch, engines.add("project_export.md", "---\ntype: project\n---\n\nAt night.\n"))

    def ended(*_: object) -> None:
        """Between the choice of what needs no person and its write the dream's checks and questions take seconds."""
        settings_changes.set_policy("add", "", actor="owner")

    monkeypatch.setattr("dreams.services.dreaming.lifecycle._ask", ended)
    run = dream(project)
    assert run.status == "completed" and not (world.folder(project) / "project_export.md").exists()
    assert run.proposals.get().state == "open", "it waits for the person"


def test_a_removal_is_never_automatic_unless_a_policy_names_removals(tmp_path: Path, monkeypatch) -> None:
    project = world.make_project(tmp_path)
    for operation in ("add", "change"):
        Policy.objects.create(operation=operation, action="auto")

    def act(job: Job, report: Reporter) -> list:
        before = job.workspace.read("project_deploy.md")
        job.workspace.delete("project_deploy.md")
        return [engines.Edit("project_deploy.md", before, None, "gone", "prune", "Expired.")]

    engines.use(monkeypatch, act)
    dream(project)
    assert (world.folder(project) / "project_deploy.md").exists()


@pytest.mark.more
@pytest.mark.parametrize("engine", ["rules", "anthropic"])
@pytest.mark.parametrize("moved", [False, True], ids=["gone", "moved to where no policy writes"])
def test_a_policy_for_removals_takes_no_models_word_for_why_a_line_may_go(
    engine: str, moved: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What a person typed is cited, and says nothing of the line: only the model's reason accounts for it."""
    project = world.make_project(tmp_path)
    Policy.objects.create(operation="remove", action="auto")
    settings_changes.set_override("policy_findings", "warn", actor="owner")
    gone = "Snapshots are reviewed by hand."

    def act(job: Job, report: Reporter) -> list[Edit]:
        after = world.TESTING.replace(f"\n{gone}\n", "")
        job.workspace.write("feedback_testing.md", after)
        said = Citation("transcript", "add a health check", "s.jsonl", line_no=3, role="user")
        fate = Fate(gone, "stated", note="It is no longer so.")
        edits = [Edit("feedback_testing.md", world.TESTING, after, "a", "prune", "Old.", (said,), (fate,))]
        return [*edits, *engines.add("project_snapshots.md", f"{gone}\n")(job, report)] if moved else edits

    engines.use(monkeypatch, act)
    run = dreaming.run_dream(
        dreaming.request(project, DreamRun.Trigger.COMMAND, engine=engine, forced=True).pk
    )
    assert run is not None and run.status == "completed", run and run.error
    kept = gone in (world.folder(project) / "feedback_testing.md").read_text()
    assert kept == (engine == "anthropic"), "what certain rules say of a line still counts"
    assert run.proposals.filter(state="open").exists() == (kept or moved)
