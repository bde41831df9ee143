"""What is counted once and kept beside a mark is what a count of all rows finds, whatever happened to them since."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from dreams.models import Memory, Project, Session, Version
from dreams.services import cached_counts, discovery
from dreams.services.cached_counts import CountKind
from dreams.services.scheduling import next_dream
from dreams.services.scheduling.gates.facts import Tally
from dreams.web.pages import project as pages, projects as projects_page, timeline
from tests.world import rows as world
from tests.world.cases import each

pytestmark = pytest.mark.django_db
NOW = timezone.now()
LONG_AGO = NOW - dt.timedelta(days=3)


def _session(project: Project, **fields: object) -> Session:
    return world.make_session(project, **{"touched_at": LONG_AGO, "last_at": LONG_AGO, **fields})


@pytest.fixture
def project() -> Project:
    project = world.make_project()
    for number in range(4):
        _session(project, corrections=number % 2, root_key=number // 2)
        world.make_memory(project, path=f"note_{number}.md")
    return project


def _told(now: dt.datetime = NOW) -> list[object]:
    """Everything that is kept, of all projects."""
    projects = [
        Project.objects.get(pk=pk) for pk in Project.objects.order_by("pk").values_list("pk", flat=True)
    ]
    return [
        next_dream.tally_sessions(projects, now),
        [(pages.counts(each), timeline.pictures(each, now)) for each in projects],
        [pages._asides(each) for each in projects],
        [pages.some_memories(each, pages.counts(each).files).items for each in projects],
        [timeline.timeline(each)["entries"] for each in projects],
        [row.figures for row in projects_page.projects().listed.items],
    ]


def _told_anew(now: dt.datetime = NOW) -> list[object]:
    cached_counts._kept.clear()
    next_dream._counted.clear()
    return _told(now)


def _moved(project: Project) -> None:
    Session.objects.filter(pk=project.sessions.earliest("pk").pk).update(project=world.make_project("other"))


def _memory_moved(project: Project) -> None:
    Memory.objects.filter(pk=project.memories.earliest("pk").pk).update(project=world.make_project("other"))


def _version_added(project: Project) -> None:
    memory = project.memories.earliest("pk")
    Version.objects.bulk_create(
        [Version(memory=memory, number=2, sha256="a" * 64, size=5_000, at=NOW, origin=Version.Origin.OUTSIDE)]
    )


CHANGES: list[Callable[[Project], object]] = [
    _session,
    lambda project: Session.objects.bulk_create([Session(project=project, session_id="new", path="/new", touched_at=LONG_AGO)]),
    lambda project: project.sessions.earliest("pk").delete(),
    lambda project: project.sessions.update(own=True),
    lambda project: project.sessions.update(root_key=7),
    lambda project: project.sessions.update(corrections=0),
    lambda project: project.sessions.update(gone_at=NOW),
    lambda project: project.sessions.update(touched_at=NOW - dt.timedelta(minutes=1)),
    lambda project: project.sessions.update(last_at=LONG_AGO - dt.timedelta(days=9)),
    lambda project: Project.objects.update(last_consolidated_at=LONG_AGO + dt.timedelta(hours=1)),
    _moved,
    lambda project: world.make_memory(project, path="one_more.md"),
    lambda project: world.make_memory(project, path="MEMORY.md", kind=Memory.Kind.INDEX, lines=7),
    lambda project: project.memories.update(description="Said otherwise."),
    lambda project: project.memories.update(gone_at=NOW),
    lambda project: project.memories.earliest("pk").delete(),
    lambda project: Version.objects.update(size=77),
    lambda project: Version.objects.update(aside_at=NOW),
    lambda project: Version.objects.all().delete(),
    _memory_moved,
    _version_added,
]  # fmt: skip


@pytest.mark.parametrize("change", CHANGES)
def test_what_is_kept_is_what_is_counted(project: Project, change: Callable[[Project], object]) -> None:
    before = _told()
    assert _told() == before
    change(project)
    assert _told() == _told_anew()
    assert _told() != before


@pytest.mark.not_on_postgresql
def test_a_project_without_sessions_is_counted_once_too() -> None:
    empty = world.make_project("empty")
    next_dream.tally_sessions([empty], NOW)
    with CaptureQueriesContext(connection) as again:
        next_dream.tally_sessions([empty], NOW)
    assert not [query for query in again if "dreams_session" in query["sql"]]


def test_a_session_given_back_counts_again(project: Project) -> None:
    Project.objects.update(last_consolidated_at=LONG_AGO + dt.timedelta(hours=1))
    assert _told()[0] == {project.pk: Tally(0, 0, 0, 0, weight=1)}
    project.sessions.update(given_back_at=NOW)
    assert _told()[0] == {project.pk: Tally(0, 2, 0, 0, weight=1)}


@each("minutes", [0, 5, 9, 11, 30])
@pytest.mark.not_on_postgresql
def test_a_session_that_may_be_running_is_new_once_it_was_quiet_for_long_enough(
    project: Project, minutes: int
) -> None:
    _session(project, touched_at=NOW, root_key=99)
    ahead = _session(project, touched_at=NOW + dt.timedelta(minutes=15), root_key=100)
    _told()
    later = NOW + dt.timedelta(minutes=minutes)
    assert _told(later) == _told_anew(later), f"of {ahead.touched_at}"


def test_a_last_dream_by_a_clock_that_ran_ahead_is_none_until_its_moment_comes(project: Project) -> None:
    Project.objects.update(last_consolidated_at=NOW + dt.timedelta(minutes=30))
    _told()
    for minutes in (0, 15, 25, 45):
        later = NOW + dt.timedelta(minutes=minutes)
        assert _told(later) == _told_anew(later)


def test_a_session_that_the_agent_says_is_running_is_not_new(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    runs = _session(project, session_id="resumed", root_key=50)
    first = _told()
    monkeypatch.setattr(discovery, "live_session_ids", lambda project: {runs.session_id})
    assert _told() == _told_anew() != first
    monkeypatch.setattr(discovery, "live_session_ids", lambda project: set())
    assert _told() == first


@pytest.mark.not_on_postgresql
def test_a_session_that_may_be_running_is_counted_once_while_it_may(project: Project) -> None:
    def counted(minutes: int) -> bool:
        with CaptureQueriesContext(connection) as queries:
            next_dream.tally_sessions([project], NOW + dt.timedelta(minutes=minutes))
        return any("dreams_session" in query["sql"] for query in queries)

    _session(project, touched_at=NOW)
    assert [counted(minutes) for minutes in (0, 0, 5, 9, 11, 12)] == [True, False, False, False, True, False]


def test_a_clock_that_was_put_back_has_a_session_running_again(project: Project) -> None:
    _session(project, touched_at=NOW)
    quiet = NOW + dt.timedelta(minutes=11)
    assert next_dream.tally_sessions([project], quiet)[project.pk].live == 0
    assert next_dream.tally_sessions([project], NOW)[project.pk].live == 1


def test_what_changes_with_every_line_of_a_transcript_keeps_the_marks(project: Project) -> None:
    before = cached_counts.of_projects(CountKind.SESSIONS)
    project.sessions.update(size=99, lines=3, used_bytes=7)
    assert cached_counts.of_projects(CountKind.SESSIONS) == before
    assert bool(before) is cached_counts.has_marks()


def test_nothing_is_counted_twice_where_nothing_changed(project: Project) -> None:
    with CaptureQueriesContext(connection) as first:
        _told()
    with CaptureQueriesContext(connection) as queries:
        _told()
    assert any("COUNT(DISTINCT" in query["sql"] for query in first)
    counted = [query["sql"] for query in queries if "COUNT(DISTINCT" in query["sql"]]
    assert bool(counted) is not cached_counts.has_marks()
