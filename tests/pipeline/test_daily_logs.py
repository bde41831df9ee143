"""New lines of daily logs are read once, first, and again only where what came of them was not decided or was undone."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from django.core.management import call_command

from dreams.management.base import Refused
from dreams.models import AuditEntry, DreamLog, DreamRun, Evidence, Policy, Project, Proposal
from dreams.services import daily_logs, discovery, dreaming, review, rollback
from dreams.services.apply import applying
from dreams.services.scheduling import scheduler
from tests.world import directory as world

pytestmark = pytest.mark.django_db

LOG = "logs/2026/03/2026-03-02.md"
FIRST = "- 14:02 Remember: invoices are sent by Paul\n"
SECOND = "- 15:30 Decided: builds run on ARM machines\n"


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return world.make_project(tmp_path, {"MEMORY.md": world.INDEX, LOG: FIRST})


@pytest.fixture
def logger(tmp_path: Path) -> Project:
    """A project in the agent's daily-log mode."""
    found = world.make_project(tmp_path, {LOG: FIRST})
    Project.objects.update(mode="daily-log")
    found.refresh_from_db()
    return found


def dream(project: Project) -> DreamRun:
    run = dreaming.run_dream(dreaming.request(project, DreamRun.Trigger.PAGE).pk)
    assert run is not None and run.status == "completed", run and run.error
    return run


def write(project: Project, text: str, log: str = LOG) -> None:
    world.put(world.folder(project) / log, text)


def memory(project: Project) -> str:
    return "\n".join(path.read_text() for path in sorted(world.folder(project).glob("*.md")))


def decide(proposal: Proposal, verdict: str = "approved") -> None:
    review.decide(proposal, review.select_hunks(proposal), verdict, world.ME)
    applying.apply(proposal, world.ME)


def proposed(run: DreamRun) -> Proposal:
    proposal = Proposal.of(run)
    assert proposal is not None
    return proposal


def test_what_a_log_reports_is_proposed_with_its_line_and_read_once(project: Project) -> None:
    proposal = proposed(dream(project))
    for row in Evidence.objects.filter(hunk__file__proposal=proposal):
        assert (row.source, row.role, row.place, row.line_no) == ("memory", "log", LOG, 1)
        assert row.at and row.at.date().isoformat() == "2026-03-02" and row.found
    assert proposal.findings.filter(code="only-log", severity="warn").exists()
    decide(proposal)
    assert "invoices are sent by Paul" in memory(project) and daily_logs.new_lines(project) == 0
    write(project, FIRST + SECOND)
    run = dream(project)
    assert "1 new line of 1 log" in run.turns.get(phase="gather").text
    texts = [row.quote for row in Evidence.objects.filter(hunk__file__proposal=proposed(run))]
    assert set(texts) == {SECOND.strip()}


@pytest.mark.more
def test_lines_are_used_up_by_the_decision_and_not_by_the_dream(project: Project) -> None:
    proposal = proposed(dream(project))
    assert daily_logs.new_lines(project) == 1
    decide(proposal, "rejected")
    assert daily_logs.new_lines(project) == 0


@pytest.mark.more
def test_lines_of_which_nothing_came_are_used_up(project: Project) -> None:
    write(project, "- 14:02 Fixed the flaky test\n")
    assert Proposal.of(dream(project)) is None and daily_logs.new_lines(project) == 0


@pytest.mark.more
def test_an_undo_gives_the_lines_back(project: Project) -> None:
    proposal = proposed(dream(project))
    decide(proposal)
    assert daily_logs.new_lines(project) == 0
    rollback.rollback(proposal, world.ME)
    assert daily_logs.new_lines(project) == 1


@pytest.mark.more
def test_a_change_that_is_left_undecided_keeps_its_log_new(project: Project) -> None:
    write(project, FIRST + SECOND)
    write(project, "- Remember: the wiki is read by finance\n", "logs/2026/03/2026-03-03.md")
    proposal = proposed(dream(project))
    kept = [
        hunk for hunk in review.select_hunks(proposal) if hunk.operation and "wiki" in hunk.operation.reason
    ]
    rest = [hunk for hunk in review.select_hunks(proposal) if hunk not in kept]
    review.decide(proposal, rest, "approved", world.ME)
    applying.apply(proposal, world.ME)
    assert [log.path for log in daily_logs.unread(project)] == ["logs/2026/03/2026-03-03.md"]


@pytest.mark.more
def test_a_line_that_comes_while_a_dream_runs_is_new_for_the_next(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    from dreams.services.dreaming import lifecycle

    real = lifecycle.line_dates

    def meanwhile(*args: object) -> object:
        write(project, FIRST + SECOND)
        return real(*args)  # type: ignore[arg-type]

    monkeypatch.setattr(lifecycle, "line_dates", meanwhile)
    proposal = proposed(dream(project))
    monkeypatch.undo()
    decide(proposal)
    scheduler.discovery.refresh(project)
    from dreams.services.memories import syncing

    syncing.refresh(project)
    assert [sorted(log.new) for log in daily_logs.unread(project)] == [[2]]


@pytest.mark.more
def test_a_dream_reads_a_bounded_number_of_lines_the_newest_days_first(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(daily_logs, "MOST_LINES", 2)
    for day in (3, 4, 5):
        write(project, f"- Ran job {day}\n- Ran another\n", f"logs/2026/03/2026-03-0{day}.md")
    Path(world.folder(project) / LOG).unlink()
    dream(project)
    assert [row.memory.path for row in DreamLog.objects.all()] == ["logs/2026/03/2026-03-05.md"]
    assert [log.path for log in daily_logs.unread(project)] == ["logs/2026/03/2026-03-04.md"]


@pytest.mark.more
def test_no_policy_of_the_default_applies_what_only_a_log_says(project: Project) -> None:
    Policy.objects.create(action="auto", kind="learn")
    Policy.objects.create(action="auto", operation="add")
    proposal = proposed(dream(project))
    assert not proposal.by_policy and "Paul" not in memory(project)


@pytest.mark.more
def test_odd_logs_stop_nothing(project: Project) -> None:
    write(project, b"\xff\xfe- Remember: bytes\r\n\x00\n", "logs/2026/03/03.md")  # type: ignore[arg-type]
    write(project, "", "logs/2026/03/04.md")
    write(project, "- Remember: text files are not read\n", "logs/2026/03/05.txt")
    write(project, "- Remember: the tunnel is in Oslo\n" * 3, "logs/9999/99/99.md")
    run = dream(project)
    quotes = set(Evidence.objects.filter(hunk__file__proposal=proposed(run)).values_list("quote", flat=True))
    assert FIRST.strip() in quotes and not any("text files" in quote for quote in quotes)


@pytest.mark.more
def test_a_question_from_a_log_stays_open_when_the_next_dream_does_not_read_it_again(
    project: Project,
) -> None:
    write(project, "- We decided to keep Postgres 14 until the new host is there\n")
    dream(project)
    assert [row.state for row in project.questions.all()] == ["open"]
    write(project, "- We decided to keep Postgres 14 until the new host is there\n- Ran the tests\n")
    dream(project)
    assert [row.state for row in project.questions.all()] == ["open"]


# --- On demand --------------------------------------------------------------------------------------------------------


@pytest.mark.more
def test_in_daily_log_mode_a_dream_reads_the_logs_only_when_asked(logger: Project) -> None:
    with pytest.raises(Refused, match=r"tidies them itself\. --logs reads them"):
        call_command("dream", str(logger.memory_dir))
    call_command("dream", str(logger.memory_dir), "--logs", "--json")
    proposal = Proposal.objects.get()
    assert proposal.origin == "dream" and AuditEntry.objects.filter(action="dream.requested").exists()
    assert AuditEntry.objects.get(action="dream.requested").data["logs"] is True
    decide(proposal)
    assert "invoices are sent by Paul" in memory(logger)


@pytest.mark.more
def test_the_mode_stays_when_what_was_distilled_is_a_file_of_its_own(tmp_path: Path) -> None:
    project = world.make_project(tmp_path, {LOG: FIRST})
    discovery.refresh(project)
    project.refresh_from_db()
    assert project.mode == "daily-log"
    call_command("dream", str(project.memory_dir), "--logs", "--json")
    decide(Proposal.objects.get())
    assert list(world.folder(project).glob("[a-z]*.md")), "a topic file that a dream wrote"
    discovery.refresh(project)
    project.refresh_from_db()
    assert project.mode == "daily-log", "the agent keeps logs as before"
    world.put(world.folder(project) / "own_topic.md", "The agent wrote this itself.\n")
    discovery.refresh(project)
    project.refresh_from_db()
    assert project.mode == ""


@pytest.mark.more
def test_time_is_passed_and_a_waiting_review_is_not(
    logger: Project, capsys: pytest.CaptureFixture[str]
) -> None:
    call_command("dream", str(logger.memory_dir), "--logs", "--json")
    assert json.loads(capsys.readouterr().out)["status"] == "completed"
    write(logger, FIRST + SECOND)
    with pytest.raises(Refused, match="is waiting for a review; finish that first"):
        call_command("dream", str(logger.memory_dir), "--logs")
    decide(Proposal.objects.get(), "rejected")
    call_command("dream", str(logger.memory_dir), "--logs")
    assert DreamRun.objects.count() == 2, "the first one moved the clock a moment ago"


@pytest.mark.more
def test_without_new_lines_it_is_refused(logger: Project) -> None:
    write(logger, "- 14:02 Fixed the flaky test\n")
    call_command("dream", str(logger.memory_dir), "--logs")
    with pytest.raises(Refused, match="No lines were added to the daily logs"):
        call_command("dream", str(logger.memory_dir), "--logs")


@pytest.mark.more
def test_a_press_sees_lines_that_were_written_a_moment_ago(logger: Project) -> None:
    write(logger, "- 14:02 Fixed the flaky test\n")
    call_command("dream", str(logger.memory_dir), "--logs")
    write(logger, FIRST + SECOND)
    run = scheduler.dream_now(logger, forced=False, logs=True, actor="owner")
    assert run.status == "pending" and not run.forced
