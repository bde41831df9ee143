"""Three processes that write to one PostgreSQL at the same moment: nothing of it fails, and nothing is there twice.

SQLite lets one process write at a time; PostgreSQL does not, and a row that is read before another is added must be
guarded.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.world import directory as world
from tests.world.processes import commands as forked, postgres

pytestmark = pytest.mark.sweep

WRITERS = 3


class Site:
    """One database, one data directory."""

    def __init__(self, server: postgres.Server, folder: Path) -> None:
        self.server = server
        self.writers = postgres.Writers(server.url(), folder / "data")

    def together(self, work: str, **given: object) -> list[object]:
        """Three processes do it at once; what went wrong in any of them."""
        done = self._done(work, **given)
        return [error for one in done for error in one["errors"]]

    def results(self, work: str, **given: object) -> list[Any]:
        """What each of three processes returned that did it at once."""
        done = self._done(work, **given)
        assert [one["errors"] for one in done] == [[]] * WRITERS
        return [one["result"] for one in done]

    def _done(self, work: str, **given: object) -> list[Any]:
        return list(self.writers.at_once(WRITERS, work, **given))

    def alone(self, work: str, **given: object) -> Any:
        [done] = self.writers.at_once(1, work, **given)
        assert done["errors"] == []
        return done["result"]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    if reason := postgres.missing():
        pytest.skip(reason)
    folder = tmp_path_factory.mktemp("postgres")
    with postgres.server() as server:
        url = server.url()
        done = forked.run("migrate", "-v0", environment=forked.environment(folder / "data", DATABASE_URL=url))
        assert done.returncode == 0, done.stderr
        site = Site(server, folder)
        yield site
        site.writers.close()


def test_the_audit_log_is_written_by_three_at_once_and_its_chain_holds(site: Site) -> None:
    before = site.alone("figures")
    assert site.together("audit", times=50) == []
    after = site.alone("figures")
    assert after["chain"] == []
    assert after["entries"] - before["entries"] == 50 * WRITERS


def test_a_change_with_its_record_is_made_by_three_at_once(site: Site) -> None:
    assert site.together("setting", times=1) == []
    assert site.together("mutation", times=20) == []
    after = site.alone("figures")
    assert (after["overrides"], after["chain"]) == (2, [])


def test_the_schedule_is_there_once(site: Site) -> None:
    assert site.together("schedule", times=5) == []
    assert site.alone("figures")["schedules"] == 1


def test_whole_stories_side_by_side(site: Site, tmp_path: Path) -> None:
    """Their memory directories and projects are different ones; the audit log and the texts are the same."""
    assert site.together("story", folder=str(tmp_path)) == []
    assert site.alone("figures")["chain"] == []


def test_one_root_is_discovered_by_three_at_once(site: Site, tmp_path: Path) -> None:
    site.alone("root", folder=str(tmp_path))
    before = site.alone("figures")
    assert site.together("discover", folder=str(tmp_path)) == []
    after = site.alone("figures")
    assert (after["projects"] - before["projects"], after["sessions"] - before["sessions"]) == (3, 9)
    assert after["versions"] - before["versions"] == 3


def test_one_project_is_looked_at_by_three_at_once_and_each_version_is_kept_once(
    site: Site, tmp_path: Path
) -> None:
    project = site.alone("project", folder=str(tmp_path))
    before = site.alone("figures")["versions"]
    for number in range(20):
        world.put(tmp_path / "projects/-home-dev-app/memory" / f"new_{number}.md", f"New {number}.\n")
    assert site.together("sync", times=1, project=project) == []
    assert site.alone("figures")["versions"] == before + 20
    assert site.together("request", times=1, project=project) == []
    assert site.alone("figures")["dreams"] == 1


def test_what_is_asked_of_a_host_is_taken_once_and_done_once(site: Site, tmp_path: Path) -> None:
    assert site.alone("asked", folder=str(tmp_path)) == 3
    before = site.alone("figures")
    assert sum(site.results("take")) == 3
    assert sum(site.results("carry")) == 3
    after = site.alone("figures")
    assert after["applied"] - before["applied"] == 3
    assert after["chain"] == []


def test_a_job_that_is_due_is_started_once(site: Site) -> None:
    site.alone("job")
    started = site.results("jobs_due")
    assert sum(len(one) for one in started) == 1
    assert site.alone("figures")["job runs"] == 1


def test_a_host_makes_itself_known_once(site: Site) -> None:
    assert len(set(site.results("register"))) == 1
    assert site.alone("figures")["hosts"] == 1


def test_of_three_that_want_more_than_half_of_the_budget_one_gets_it(site: Site, tmp_path: Path) -> None:
    project = site.alone("budget", folder=str(tmp_path))
    assert sorted(site.results("reserve", project=project)) == [False, False, True]


def test_an_answer_beside_a_dream_that_replaces_the_proposal_waits_for_nothing_that_waits_for_it(
    site: Site, tmp_path: Path
) -> None:
    proposal = site.alone("waiting", folder=str(tmp_path))
    assert site.together("replace", proposal=proposal) == []


def test_a_dream_that_lost_the_database_is_ended_by_the_next_tick_as_its_process_ends_too(
    site: Site, tmp_path: Path
) -> None:
    """A worker that went on would look alive, and the dream would run until nobody renewed its lease for minutes."""
    try:
        dream = site.alone("dream_and_lose", folder=str(tmp_path), server=site.server.pid)
    finally:
        site.server.start()
    found = site.alone("repair")
    assert [dream, "running"] in found["before"]
    assert dream in found["lost"]
