"""The page of what agents left unfinished: by session, each at its line, bounded, and only to be read."""

from __future__ import annotations

import datetime as dt

import pytest
from django.test import Client
from django.utils import timezone

from dreams.models import OpenEnd, Project, Session
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
