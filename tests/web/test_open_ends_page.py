"""The page of what agents left unfinished: by session, each at its line, bounded, and only to be read."""

from __future__ import annotations

import datetime as dt

import pytest
from django.db import connection
from django.test import Client
from django.utils import timezone

from dreams.models import OpenEnd, Project, Session
from dreams.web.pages import project as pages
from tests.world import rows as make

pytestmark = pytest.mark.django_db


@pytest.fixture
def project() -> Project:
    return make.make_project()


@pytest.fixture
def session(project: Project) -> Session:
    return make.make_session(project, "Move the database")


def _text(browser: Client, project: Project, page: str = "") -> str:
    response = browser.get(f"/projects/{project.pk}/open-ends/", {"page": page} if page else {})
    assert response.status_code == 200
    return " ".join(response.content.decode().split())


def test_each_task_is_shown_with_its_status_blockers_and_line(
    browser: Client, project: Project, session: Session
) -> None:
    make.make_open_end(session, "Write it", status=OpenEnd.Status.IN_PROGRESS, line_no=7)
    make.make_open_end(session, "Run <it>", blocked_by=["Write it"])
    text = _text(browser, project)
    assert f'href="/sessions/{session.pk}/?line=7#line-7">Write it</a>' in text
    assert "Run &lt;it&gt;" in text and "Waits for: Write it" in text
    assert "in progress" in text and "not started" in text
    assert text.count("Move the database") == 1


def test_the_newest_session_comes_first(browser: Client, project: Project, session: Session) -> None:
    make.make_open_end(session, "Newer")
    old = make.make_session(project, "Long ago", touched_at=timezone.now() - dt.timedelta(days=9))
    make.make_open_end(old, "Older")
    text = _text(browser, project)
    assert text.index("Newer") < text.index("Older")


def test_the_tab_counts_them_and_is_there_only_where_there_are_some(
    browser: Client, project: Project, session: Session
) -> None:
    assert "Open ends" not in browser.get(f"/projects/{project.pk}/").content.decode()
    make.make_open_end(session)
    make.make_open_end(make.make_session(make.make_project("other")), "Elsewhere")
    for path in ("", "instructions/"):
        text = " ".join(browser.get(f"/projects/{project.pk}/{path}").content.decode().split())
        assert 'Open ends <span class="tab-count">1</span>' in text


def _steps_to_count(project: Project) -> int:
    """How many hundreds of its own steps SQLite takes for the counts of a project's page."""
    steps: list[int] = []
    connection.ensure_connection()
    connection.connection.set_progress_handler(lambda: steps.append(1), 100)
    pages.counts(project)
    connection.connection.set_progress_handler(None, 0)
    return len(steps)


@pytest.mark.more
@pytest.mark.not_on_postgresql  # whose steps nobody counts
def test_counting_them_grows_with_the_sessions_and_not_with_their_square(project: Project) -> None:
    steps = []
    for keys in (range(100), range(100, 200)):
        for key in keys:
            make.make_open_end(make.make_session(project, root_key=key))
        pages.counts(project)  # what is kept beside a mark
        steps.append(_steps_to_count(project))
    assert steps[1] < 3 * steps[0]


def test_a_project_without_any_says_so(browser: Client, project: Project) -> None:
    assert "No open ends" in _text(browser, project)


@pytest.mark.more
def test_very_many_are_paged(browser: Client, project: Project, session: Session) -> None:
    for number in range(201):
        make.make_open_end(session, f"Task {number}.")
    assert "Task 199." in _text(browser, project) and "Task 200." not in _text(browser, project)
    assert "Task 200." in _text(browser, project, "2")


def test_nothing_can_be_posted(browser: Client, project: Project) -> None:
    assert browser.post(f"/projects/{project.pk}/open-ends/").status_code == 405
