"""The pictures of a project: sessions by day, and how its memory grew."""

from __future__ import annotations

import datetime as dt

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from dreams.models import Memory, Project, Version
from dreams.services import blobs
from dreams.web.pages import timeline
from tests.world import rows as world

NOW = dt.datetime(2026, 3, 20, 15, tzinfo=dt.UTC)


@pytest.fixture
def project(db: None) -> Project:
    return world.make_project()


def _version(memory: Memory, days_ago: int, size: int) -> None:
    Version.objects.create(
        memory=memory,
        sha256=blobs.put(b"x" * size) if size else "",
        size=size,
        at=NOW - dt.timedelta(days_ago),
        origin=Version.Origin.OUTSIDE,
    )


def _memory(project: Project, path: str) -> Memory:
    return Memory.objects.create(project=project, path=path)


def test_files_and_bytes_are_those_of_each_days_end(project: Project) -> None:
    a, b = _memory(project, "a.md"), _memory(project, "b.md")
    for memory, days_ago, size in ((a, 300, 100), (b, 10, 50), (a, 10, 200), (a, 3, 0)):
        _version(memory, days_ago, size)
    picture = timeline.pictures(project, NOW)[1]
    assert picture.rows == (
        ("17 March 2026", "50 bytes", "1 file"),
        ("10 March 2026", "250 bytes", "2 files"),
        ("19 September 2025", "100 bytes", "1 file"),
    )


def test_of_very_many_changes_the_newest_are_told_and_the_end_is_right(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(timeline, "MOST_VERSIONS", 2)
    a, b = _memory(project, "a.md"), _memory(project, "b.md")
    for memory, days_ago, size in ((a, 30, 100), (b, 20, 50), (a, 10, 200), (b, 3, 0)):
        _version(memory, days_ago, size)
    rows = timeline.pictures(project, NOW)[1].rows
    assert rows == (("17 March 2026", "200 bytes", "1 file"), ("10 March 2026", "250 bytes", "2 files"))


def test_sessions_are_counted_on_the_day_they_were_last_active_our_own_as_in_the_list(
    project: Project,
) -> None:
    for hours, own in ((1, False), (3, False), (30, False), (2, True)):
        world.make_session(project, touched_at=NOW, last_at=NOW - dt.timedelta(hours=hours), own=own)
    world.make_session(world.make_project("other"), touched_at=NOW, last_at=NOW)
    assert timeline.pictures(project, NOW)[0].rows == (("20 March 2026", "3"), ("19 March 2026", "1"))


def test_a_day_is_a_day_of_the_pages_zone(project: Project) -> None:
    world.make_session(project, touched_at=NOW.replace(hour=23), last_at=None)
    with timezone.override("Asia/Tokyo"):
        assert timeline.pictures(project, NOW + dt.timedelta(1))[0].rows == (("21 March 2026", "1"),)


def test_an_empty_project_has_sentences_and_no_drawings(browser: Client, project: Project) -> None:
    shown = browser.get(reverse("project", args=[project.pk])).content.decode()
    assert "No session in the last 12 weeks." in shown
    assert "No memory has been seen yet." in shown
    assert "picture-svg" not in shown


def test_on_the_page_each_picture_is_an_image_with_a_name_and_a_table(
    browser: Client, project: Project
) -> None:
    world.make_session(project)
    world.make_memory(project)
    shown = browser.get(reverse("project", args=[project.pk])).content.decode()
    assert shown.count('role="img" aria-labelledby=') == 2
    assert shown.count("As a table") == 2


def test_the_queries_do_not_grow_with_what_happened(project: Project) -> None:
    counts = []
    for more in (1, 20):
        for number in range(more):
            _version(_memory(project, f"{more}-{number}.md"), number, 10)
            world.make_session(project)
        with CaptureQueriesContext(connection) as queries:
            timeline.pictures(project, NOW)
        counts.append(len(queries))
    assert counts in ([3, 3], [5, 5])  # where there are marks, two for those
