"""Daily logs are read on a page, by day and line; found by search; and led to from what they speak for."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from django.test import Client
from django.urls import reverse

from dreams.models import DreamRun, Evidence, Memory, Project, Proposal
from dreams.services import dreaming, review
from dreams.services.apply import applying
from dreams.services.memories import syncing
from dreams.services.search import index
from dreams.web.pages import daily_logs as selector
from tests.world import directory as world

pytestmark = pytest.mark.django_db

SECOND = "logs/2026/03/2026-03-02.md"
TEXT = "# Monday\n\n- 14:02 Remember: invoices are sent by Paul\n- Ran <b>the</b> tests\n"
FILES = {
    "MEMORY.md": world.INDEX,
    SECOND: TEXT,
    "logs/2026/03/2026-03-01.md": "- Began\n",
    "logs/2026/03/2026-03-03-evening.md": "- Late\n",
    "logs/2026/03/2026-03-03.md": "- Early\n",
    "logs/session.md": "- Some day\n",
}


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return world.make_project(tmp_path, FILES)


def text(browser: Client, url: str, **query: str) -> str:
    response = browser.get(url, query)
    assert response.status_code == 200
    return " ".join(response.content.decode().split())


def logs(browser: Client, project: Project, **query: str) -> str:
    return text(browser, f"/projects/{project.pk}/logs/", **query)


def proposed(project: Project) -> Proposal:
    dreaming.run_dream(dreaming.request(project, DreamRun.Trigger.PAGE).pk)
    return Proposal.objects.get()


def test_the_newest_day_is_shown_with_all_its_logs_and_the_way_to_the_others(
    browser: Client, project: Project
) -> None:
    page = logs(browser, project)
    assert "Tuesday, 3 March 2026" in page and "Early" in page and "Late" in page and "Began" not in page
    assert "2 logs" in page and "Without a date" in page
    assert 'href="?day=2026-03-02" rel="prev"' in page and 'rel="next"' not in page


def test_a_day_has_its_lines_with_numbers_and_marks_and_no_markup_of_its_own(
    browser: Client, project: Project
) -> None:
    page = logs(browser, project, day="2026-03-02")
    pk = Memory.objects.get(path=SECOND).pk
    assert f'<li id="log-{pk}-3" class="new">' in page and f'<li id="log-{pk}-1" class="heading">' in page
    assert "Ran &lt;b&gt;the&lt;/b&gt; tests" in page
    assert (
        page.count('<span class="sr-only">new</span>') == 2 and "2 lines, marked at the edge, are new" in page
    )
    assert 'href="?day=2026-03-01" rel="prev"' in page and 'href="?day=2026-03-03" rel="next"' in page


def test_a_line_says_what_became_of_it(browser: Client, project: Project) -> None:
    proposal = proposed(project)
    href = f'href="{reverse("review", args=[proposal.public_id])}"'
    page = logs(browser, project, day="2026-03-02")
    assert f"{href}>in review</a>" in page and "the next dream reads" not in page
    assert f"are new until <a {href}>proposal {proposal.public_id}</a> is submitted" in page
    review.decide(proposal, review.select_hunks(proposal), "approved", world.ME)
    applying.apply(proposal, world.ME)
    page = logs(browser, project, day="2026-03-02")
    made = Memory.objects.get(path__startswith="project_", gone_at=None)
    assert f'href="{reverse("memory", args=[made.pk])}">in ' in page and "are new" not in page


def test_lines_that_no_submit_uses_up_are_for_the_next_dream(browser: Client, project: Project) -> None:
    """Not those of a log that came or grew since, nor what an unfinished dream read."""
    proposal = proposed(project)
    Proposal.objects.update(partial=True)
    assert "the next dream reads" in logs(browser, project, day="2026-03-02")
    Proposal.objects.update(partial=False)
    for path, now in ((SECOND.replace(".md", "-evening.md"), "- Late\n"), (SECOND, f"{TEXT}- Went home\n")):
        file = world.folder(project) / path
        world.put(file, now)
        syncing.refresh(project)
        page = logs(browser, project, day="2026-03-02")
        assert "3 lines" in page and "the next dream reads" in page and proposal.public_id in page
        file.unlink()


@pytest.mark.more
def test_evidence_leads_to_the_line(browser: Client, project: Project) -> None:
    proposal = proposed(project)
    page = text(browser, reverse("review", args=[proposal.public_id]))
    led = re.search(r"/evidence/\d+/", page)
    assert led and "Your agent’s log" in page
    answer = browser.get(led[0])
    pk = Memory.objects.get(path=SECOND).pk
    assert answer["Location"] == f"/projects/{project.pk}/logs/?day=2026-03-02#log-{pk}-3"
    assert f'id="log-{pk}-3"' in text(browser, answer["Location"].partition("#")[0])
    review.decide(proposal, review.select_hunks(proposal), "approved", world.ME)
    applying.apply(proposal, world.ME)
    made = Memory.objects.get(path__startswith="project_", gone_at=None)
    for name in ("memory", "memory-blame"):
        page = text(browser, reverse(name, args=[made.pk]))
        assert "/evidence/" in page and "Your agent’s log" in page


def test_other_evidence_leads_nowhere(browser: Client, project: Project) -> None:
    proposed(project)
    Evidence.objects.update(role="")
    assert browser.get(f"/evidence/{Evidence.objects.earliest('pk').pk}/").status_code == 404


def test_a_line_is_found_by_search(browser: Client, project: Project) -> None:
    index.catch_up(10)
    page = text(browser, "/search/", q="invoices Paul")
    assert f"/memories/{Memory.objects.get(path=SECOND).pk}/" in page


def test_a_secret_in_a_log_is_not_shown(browser: Client, project: Project) -> None:
    secret = "gh" + "p_" + "q8Rt2" * 7 + "x"
    world.put(world.folder(project) / SECOND, f"- The token is {secret}\n")
    syncing.refresh(project)
    page = logs(browser, project, day="2026-03-02")
    assert "The token is" in page and secret not in page


def test_a_long_log_is_cut_and_says_so(
    browser: Client, project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(selector, "MOST_LINES", 2)
    assert "And 2 more lines in the file." in logs(browser, project, day="2026-03-02")


def test_days_are_listed_by_pages_and_the_chosen_one_is_among_them(
    browser: Client, project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(selector, "DAYS_PAGE", 2)
    page = logs(browser, project, day="2026-03-01")
    assert 'href="?day=2026-03-01" aria-current="page"' in page and 'href="?day=2026-03-03"' not in page


def test_a_project_without_logs_says_so_and_has_no_tab(browser: Client, tmp_path: Path) -> None:
    bare = world.make_project(tmp_path, {"MEMORY.md": "# Memory\n"})
    assert "No logs" in logs(browser, bare)
    assert "/logs/" not in text(browser, f"/projects/{bare.pk}/")


def test_a_day_that_is_not_there_shows_the_newest(browser: Client, project: Project) -> None:
    assert "3 March 2026" in logs(browser, project, day="2026-13-99")


def test_a_question_from_a_log_names_the_log_and_leads_to_the_line(browser: Client, project: Project) -> None:
    world.put(
        world.folder(project) / SECOND, "- We decided to keep Postgres 14 until the new host is there\n"
    )
    dreaming.run_dream(dreaming.request(project, DreamRun.Trigger.PAGE).pk)
    page = text(browser, f"/projects/{project.pk}/questions/")
    pk = Memory.objects.get(path=SECOND).pk
    assert f'href="/projects/{project.pk}/logs/?day=2026-03-02#log-{pk}-1"' in page
    assert "Your agent’s log" in page and "12:00" not in page


# --- Distil logs ------------------------------------------------------------------------------------------------------


def test_the_press_is_there_in_daily_log_mode_only(browser: Client, project: Project) -> None:
    assert "Distil logs" not in text(browser, f"/projects/{project.pk}/")
    Project.objects.update(mode="daily-log")
    page = text(browser, f"/projects/{project.pk}/")
    assert "Distil logs" in page and "Dream now" not in page
    assert "This reads 7 new lines of 5" in page and f'href="/projects/{project.pk}/logs/"' in page


def test_a_press_asks_for_a_dream(browser: Client, project: Project) -> None:
    Project.objects.update(mode="daily-log")
    answer = browser.post(f"/projects/{project.pk}/dream/", {"logs": "1"})
    run = DreamRun.objects.get()
    assert answer["Location"] == f"/dreams/{run.public_id}/" and not run.forced


@pytest.mark.more
def test_what_stands_in_its_way_is_said(browser: Client, project: Project) -> None:
    proposal = proposed(project)
    Project.objects.update(mode="daily-log")
    page = text(browser, f"/projects/{project.pk}/")
    assert (
        "disabled" in page and f"{proposal.public_id}</a> is waiting for a review; finish that first" in page
    )
    browser.post(f"/projects/{project.pk}/dream/", {"logs": "1"})
    assert DreamRun.objects.count() == 1
