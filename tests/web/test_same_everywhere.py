"""Numbers, moments and words about one thing are the same on every page, and in the commands."""

from __future__ import annotations

import datetime as dt
import json

import pytest
from django.core.management import call_command
from django.db import connection
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from dreams.management import shown
from dreams.models import (
    COUNTED_MEMORIES,
    DreamRun,
    Memory,
    Operation,
    Project,
    Proposal,
    Question,
    TranscriptFolder,
    Turn,
)
from dreams.services import hosts, secret_paths, settings_changes
from dreams.services.inbox import waiting
from dreams.services.notify.digest import collect
from dreams.services.policies import earned
from dreams.services.search import index
from dreams.web.pages import inbox as inbox_page, project as project_page, timeline
from dreams.web.pages.inbox import InboxQuery
from tests.world import rows as make

pytestmark = pytest.mark.django_db

TOPICS = 11


@pytest.fixture
def project() -> Project:
    """Eleven topics, a team memory, two indexes and a daily log; no dream yet."""
    project = make.make_project(host=hosts.host())
    kinds = {
        "MEMORY.md": Memory.Kind.INDEX,
        "team/MEMORY.md": Memory.Kind.TEAM,
        "team/release.md": Memory.Kind.TEAM,
        "logs/2026/03/2026-03-01.md": Memory.Kind.LOG,
        **{f"topic_{number}.md": Memory.Kind.TOPIC for number in range(TOPICS)},
    }
    for path, kind in kinds.items():
        make.make_memory(project, path, kind=kind)
    return project


def _text(browser: Client, url: str) -> str:
    return " ".join(browser.get(url).content.decode().split())


def test_memories_are_counted_alike_by_the_list_the_page_the_command_and_the_inbox(
    browser: Client, project: Project, capsys: pytest.CaptureFixture[str]
) -> None:
    counted = TOPICS + 1
    assert project.memories.filter(COUNTED_MEMORIES).count() == counted
    assert project_page.head(project).memories == counted
    assert f"<b>{counted} memories</b>" in _text(browser, reverse("project", args=[project.pk]))
    assert f"{counted} memories and no dream yet." in _text(browser, reverse("inbox"))
    call_command("projects", "--json")
    (row,) = json.loads(capsys.readouterr().out)["projects"]
    assert row["memories"] == counted


def test_a_project_whose_folder_is_gone_is_counted_by_no_page_and_no_command(
    browser: Client, project: Project, capsys: pytest.CaptureFixture[str]
) -> None:
    gone = timezone.now()
    make.make_project("gone", host=hosts.host(), gone_at=gone)
    make.make_project("unwatched", host=hosts.host(), gone_at=gone, unwatched_at=gone)
    call_command("projects", "--json")
    assert len(json.loads(capsys.readouterr().out)["projects"]) == 1
    text = _text(browser, reverse("projects"))
    assert "<b>1 project</b>. 2 more are gone or not watched." in text
    assert "All <b>3</b>" in text


def test_questions_of_a_project_that_is_not_watched_are_asked_nowhere(
    browser: Client, project: Project, capsys: pytest.CaptureFixture[str]
) -> None:
    dream = make.make_dream(project)
    question = Question.objects.create(
        project=project, dream=dream, kind="changed", subject="now", asked=True
    )
    Question.objects.create(project=project, dream=dream, kind="changed", subject="later", asked=False)
    page, asked, run = (
        reverse("project", args=[project.pk]),
        reverse("project-questions", args=[project.pk]),
        reverse("dream", args=[dream.public_id]),
    )
    assert question.public_id in _text(browser, asked) and "1 question</a>" in _text(browser, page)
    Project.objects.update(gone_at=timezone.now(), unwatched_at=timezone.now())
    assert question.public_id not in _text(browser, asked) + _text(browser, reverse("questions"))
    assert "No open questions" in _text(browser, asked) and "until the project returns" in _text(
        browser, asked
    )
    assert "1 question" not in _text(browser, page) + _text(browser, run)
    call_command("questions", str(project.pk), "--json")
    found = json.loads(capsys.readouterr().out)
    assert (found["questions"], found["more"]) == ([], 0)


def test_what_waits_of_a_project_that_is_not_watched_rests_and_decided_work_is_still_listed(
    browser: Client, project: Project
) -> None:
    waits = make.make_proposal(project, make.make_dream(project))
    decided = make.make_proposal(project, state="submitted")
    assert "<title>(2) Inbox" in _text(browser, "/")
    digest = collect(timezone.now())
    assert (digest.to_review, digest.to_finish) == (1, 1)
    assert "feedback_testing.md" in _text(browser, "/by-kind/")
    Project.objects.update(gone_at=timezone.now(), unwatched_at=timezone.now())
    text = _text(browser, "/")
    assert waits.public_id not in text and decided.public_id in text
    assert "its project is gone or not watched" in text and "Write now" not in text
    assert "Snoozed (1)" in text and "until its project is back" in text and "Bring back" not in text
    assert "<title>Inbox" in text and collect(timezone.now()).is_empty
    assert "feedback_testing.md" not in _text(browser, "/by-kind/")
    decided.delete()
    assert waits.public_id in _text(browser, reverse("project", args=[project.pk]))
    Project.objects.update(gone_at=None, unwatched_at=None)
    text = _text(browser, "/")
    assert waits.public_id in text and "<title>(1) Inbox" in text


def test_where_no_project_is_watched_it_is_not_said_that_there_is_none(
    browser: Client, project: Project, capsys: pytest.CaptureFixture[str]
) -> None:
    Project.objects.update(gone_at=timezone.now(), unwatched_at=timezone.now())
    call_command("gates")
    for text in (_text(browser, reverse("engines")), capsys.readouterr().out):
        assert "No projects yet" not in text and "gone or not watched" in text


@pytest.mark.parametrize("part", ["", "?show=memories"])
def test_logs_beside_no_memories_are_not_passed_off_as_memories(browser: Client, part: str) -> None:
    project = make.make_project(mode="daily-log")
    for day in ("2026-03-01", "2026-03-02"):
        make.make_memory(project, f"logs/2026/03/{day}.md", kind=Memory.Kind.LOG)
    text = _text(browser, reverse("project", args=[project.pk]) + part)
    assert 'Memories <span class="tab-count">0</span>' in text and "No memories here, only 2 logs." in text


def test_sessions_on_disk_are_counted_and_listed_alike_by_the_tab_and_the_command(
    browser: Client, project: Project, capsys: pytest.CaptureFixture[str]
) -> None:
    for title in ("Kept one", "Kept two"):
        make.make_session(project, title)
    make.make_session(project, "Swept away", gone_at=timezone.now())
    call_command("projects", "--json")
    (row,) = json.loads(capsys.readouterr().out)["projects"]
    url = reverse("project", args=[project.pk])
    overview, there, gone = (
        _text(browser, url + part) for part in ("", "?show=sessions", "?show=sessions&gone=1")
    )
    assert f'Sessions <span class="tab-count">{row["sessions"]}</span>' in there
    assert row["sessions"] == 2 == there.count(">Kept ") == overview.count(">Kept ")
    assert "Swept away" not in there and "Swept away" not in overview and "1 gone from disk" in overview
    assert "Swept away" in gone and ">Kept " not in gone


def test_as_many_sessions_are_marked_as_new_as_the_head_of_the_page_counts(
    browser: Client, project: Project
) -> None:
    quiet = timezone.now() - dt.timedelta(hours=1)
    for hours in range(3):
        make.make_session(project, touched_at=quiet - dt.timedelta(hours=hours), root_key=7)
    make.make_session(project, touched_at=quiet)
    text = _text(browser, reverse("project", args=[project.pk]) + "?show=sessions")
    assert "<b>2 new sessions</b>" in text
    assert text.count(">new</span>") == 2 == text.count(">continued later</span>")


def test_a_session_continued_in_a_file_that_is_gone_is_the_new_one(browser: Client, project: Project) -> None:
    quiet = timezone.now() - dt.timedelta(hours=1)
    make.make_session(project, touched_at=quiet, root_key=7, gone_at=timezone.now())
    make.make_session(project, touched_at=quiet - dt.timedelta(hours=1), root_key=7)
    text = _text(browser, reverse("project", args=[project.pk]) + "?show=sessions")
    assert "<b>1 new session</b>" in text and ">new</span>" in text and "continued later" not in text


@pytest.mark.not_on_postgresql
def test_whether_a_session_was_continued_is_not_looked_for_in_all_of_its_project(project: Project) -> None:
    plan = project_page._sessions(project.pk, gone=False).explain()
    assert "SEARCH U0 USING INDEX session_root (root_key=?)" in plan


def test_the_turns_of_a_dream_are_counted_alike_by_its_page_and_the_command(
    browser: Client, project: Project
) -> None:
    run = make.make_dream(project, engine="anthropic")
    for number, api_ms in enumerate((0, 40, 50)):
        Turn.objects.create(dream=run, number=number, phase="orient", at=timezone.now(), api_ms=api_ms)
    assert '<dt>Turns</dt><dd class="number">2</dd>' in _text(browser, reverse("dream", args=[run.public_id]))
    assert shown.dream(run)["turns"] == 2, "to name the model is no turn"


def test_the_chart_counts_the_sessions_on_disk_as_the_tab_does_and_names_those_that_are_gone(
    browser: Client, project: Project
) -> None:
    now = timezone.now()
    for title in ("Kept one", "Kept two"):
        make.make_session(project, title, touched_at=now)
    make.make_session(project, "Made by a dream", touched_at=now, own=True)
    overview = reverse("project", args=[project.pk])
    assert "3 sessions in 12 weeks" in _text(browser, overview)
    make.make_session(project, "Swept away", touched_at=now, gone_at=now)
    text = _text(browser, overview)
    assert 'Sessions <span class="tab-count">3</span>' in text
    assert "3 sessions in 12 weeks and 1 gone from disk" in text


def test_a_first_dream_is_offered_where_none_ran_whatever_waits_elsewhere(
    browser: Client, project: Project
) -> None:
    make.make_memory(small := make.make_project("small"))
    make.make_proposal(small)
    found = inbox_page.inbox(timezone.now(), InboxQuery()).untidied
    assert [(str(item["project"]), item["memories"]) for item in found] == [(str(project), TOPICS + 1)]
    for key, where in (("dreaming", project), ("paused", None)):
        settings_changes.set_override(key, key == "paused", actor="owner", project=where)
        assert inbox_page.inbox(timezone.now(), InboxQuery()).untidied == [], "no dream may start there"
        settings_changes.reset_override(key, actor="owner", project=where)
    assert inbox_page.inbox(timezone.now(), InboxQuery()).untidied
    make.make_dream(project, DreamRun.Status.FAILED)
    assert inbox_page.inbox(timezone.now(), InboxQuery()).untidied == []


@pytest.mark.not_on_postgresql  # whose steps nobody counts
def test_to_find_what_was_never_tidied_does_not_go_through_the_dreams_of_each_memory(
    project: Project,
) -> None:
    steps = []
    for dreams in (20, 60):
        for _ in range(dreams):
            make.make_dream(project)
        inbox_page.inbox(timezone.now(), InboxQuery())  # what is kept, and the SQL
        counted: list[int] = []
        connection.connection.set_progress_handler(lambda counted=counted: counted.append(1), 100)
        inbox_page.inbox(timezone.now(), InboxQuery())
        connection.connection.set_progress_handler(None, 0)
        steps.append(len(counted))
    assert steps[1] < 1.5 * steps[0]


@pytest.mark.not_on_postgresql  # as above
def test_to_find_what_waits_does_not_go_through_what_was_closed(project: Project) -> None:
    steps = []
    for closed in (1, 400):
        rows = (Proposal(project=project, origin="edit", state="applied") for _ in range(closed))
        Proposal.objects.bulk_create(rows)
        connection.cursor().execute("ANALYZE")
        waiting.waiting(timezone.now())  # the SQL
        counted: list[int] = []
        connection.connection.set_progress_handler(lambda counted=counted: counted.append(1), 100)
        waiting.waiting(timezone.now())
        connection.connection.set_progress_handler(None, 0)
        steps.append(len(counted))
    assert steps[1] < steps[0] + 10


@pytest.mark.not_on_postgresql  # as above
def test_no_page_goes_through_all_folders_and_the_inbox_not_through_all_changes(project: Project) -> None:
    steps = []
    proposal = make.make_proposal(project)
    for number in (1, 400):
        folders = (TranscriptFolder(project=project, path=f"/{number}/{n}") for n in range(number))
        TranscriptFolder.objects.bulk_create(folders)
        Operation.objects.bulk_create(
            Operation(proposal=proposal, key=f"{number} {n}") for n in range(number)
        )
        counted: list[int] = []
        for seen in ([], counted):  # the first prepares the SQL
            connection.connection.set_progress_handler(lambda seen=seen: seen.append(1), 20)
            secret_paths.known()
            earned.applied_since(timezone.now())
        connection.connection.set_progress_handler(None, 0)
        steps.append(len(counted))
    assert steps[1] < steps[0] + 10


def test_a_directory_that_the_agent_tidied_itself_is_not_called_never_tidied(
    browser: Client, project: Project
) -> None:
    Project.objects.update(last_consolidated_at=timezone.now())
    assert "last dream" in _text(browser, reverse("project", args=[project.pk]))
    assert "no dream yet" not in _text(browser, reverse("inbox"))


def test_a_copied_transcript_is_as_old_in_the_chart_as_in_the_lists(
    browser: Client, project: Project
) -> None:
    now = timezone.now()
    make.make_session(project, "Long ago", last_at=now - dt.timedelta(days=400), touched_at=now)
    make.make_session(project, "Lately", last_at=now - dt.timedelta(days=2), touched_at=now)
    assert sum(timeline._sessions(project, now)[0].values()) == 1
    index.catch_up(5)
    for page in (reverse("project", args=[project.pk]), reverse("search") + "?q=Long+ago"):
        assert (now - dt.timedelta(days=400)).strftime("%Y-%m-%dT") in _text(browser, page)


def test_a_session_that_runs_still_is_not_called_new_where_none_is_counted(
    browser: Client, project: Project
) -> None:
    make.make_session(project, "At it now")
    text = _text(browser, reverse("project", args=[project.pk]))
    assert "0 new sessions" in text
    assert "still running" in text
