"""A changed file has its project looked at before the next check is due; nothing relies on it."""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.core.cache import cache
from django.db import OperationalError
from pytest_django import Settings

from dreams.models import Override, Session
from dreams.services import discovery, doctor
from dreams.services.discovery import watching
from tests.world import directory as world
from tests.world.processes.servers import PROMPTLY, Home, link_of, stop, until

SECONDS = 60  # more than any machine needs for what is waited for


@pytest.fixture
def root(tmp_path: Path, settings: Settings) -> Path:
    root = tmp_path / "root"
    settings.ROOTS = (root,)
    (root / "projects" / "-home-dev-app").mkdir(parents=True)
    return root


@pytest.fixture
def told() -> queue.Queue[list[str]]:
    return queue.Queue()


@pytest.fixture
def watcher(root: Path, told: queue.Queue[list[str]], transactional_db: None) -> Iterator[watching.Watcher]:
    made = watching.Watcher(told.put, pace=0)
    made.start()
    assert made.begun.wait(SECONDS)
    yield made
    made.stop(SECONDS)


@pytest.mark.more
def test_folders_of_changed_sessions_and_memories_are_told_and_nothing_else(
    root: Path, watcher: watching.Watcher, told: queue.Queue[list[str]]
) -> None:
    project = root / "projects" / "-home-dev-app"
    world.put(project / "notes.txt", "nothing to read")
    world.put(project / "memory" / "deploy.md", "Deploy on Mondays.\n")
    seen = told.get(timeout=SECONDS)
    world.put(project / "sub" / "one.jsonl", "{}\n")
    while str(project / "sub") not in seen:
        seen += told.get(timeout=SECONDS)
    assert set(seen) <= {str(project / "memory"), str(project / "sub")}


@pytest.mark.more
def test_many_changes_are_told_once_while_the_pace_lasts(
    root: Path, told: queue.Queue[list[str]], transactional_db: None
) -> None:
    made = watching.Watcher(told.put, pace=3_600)
    made.start()
    assert made.begun.wait(SECONDS)
    project = root / "projects" / "-home-dev-app"
    world.put(project / "one.jsonl", "{}\n")
    assert told.get(timeout=SECONDS) == [str(project)]
    for number in range(50):
        world.put(project / f"{number}.jsonl", "{}\n")
    made.stop(SECONDS)
    assert told.empty()


def test_folders_that_an_agent_makes_later_are_watched_too(
    tmp_path: Path, settings: Settings, told: queue.Queue[list[str]], transactional_db: None
) -> None:
    settings.ROOTS = (tmp_path / "first", tmp_path / "second")
    made = watching.Watcher(told.put, pace=0, again=0.1)
    made.start()
    assert made.begun.wait(SECONDS)
    assert made.watched == []
    for name in ("first", "second"):  # while nothing is watched, and beside what is
        folder = tmp_path / name / "projects" / "-home-dev-app"
        number = 0
        while told.empty() or str(folder) not in told.get():
            number += 1
            assert number < SECONDS * 10
            world.put(folder / f"{number}.jsonl", "{}\n")
            time.sleep(0.1)
    made.stop(SECONDS)


def test_a_database_that_is_away_for_a_while_ends_no_watching(
    tmp_path: Path, settings: Settings, told: queue.Queue[list[str]], monkeypatch, transactional_db: None
) -> None:
    settings.ROOTS = (tmp_path,)
    folder = tmp_path / "projects" / "-home-dev-app"
    folder.mkdir(parents=True)
    asked, current = queue.Queue[int](), watching.conf.current

    def away() -> None:
        asked.put(1)
        raise OperationalError("the server is away")

    monkeypatch.setattr(watching.conf, "current", away)
    made = watching.Watcher(told.put, pace=0, again=0.1)
    made.start()
    for _ in range(3):
        asked.get(timeout=SECONDS)
    monkeypatch.setattr(watching.conf, "current", current)
    assert made.begun.wait(SECONDS)
    number = 0
    while told.empty():
        number += 1
        assert number < SECONDS * 10
        world.put(folder / f"{number}.jsonl", "{}\n")
        time.sleep(0.1)
    made.stop(SECONDS)


def test_a_watcher_that_is_stopped_leaves_no_thread(watcher: watching.Watcher) -> None:
    assert "watcher" in {thread.name for thread in threading.enumerate()}
    watcher.stop(SECONDS)
    assert "watcher" not in {thread.name for thread in threading.enumerate()}


def test_what_is_switched_off_watches_nothing_and_follows_no_hint(
    root: Path, told: queue.Queue[list[str]], transactional_db: None
) -> None:
    Override.objects.create(key="watch", value=False)
    made = watching.Watcher(told.put)
    made.start()
    assert made.begun.wait(SECONDS)
    assert made.watched == []
    project = world.discovered(root)
    world.write_sessions(root, 3)
    assert watching.read_changed([str(root / "projects" / project.slug)]) == []
    assert Session.objects.filter(project=project).count() == 2
    made.stop(SECONDS)


@pytest.mark.django_db
def test_a_hint_has_the_project_read_whose_folder_changed(root: Path) -> None:
    project = world.discovered(root)
    world.write_sessions(root, 5)
    inside = root / "projects" / project.slug / "sub" / "agents"
    assert watching.read_changed([str(inside)]) == [project]
    assert Session.objects.filter(project=project).count() == 5


@pytest.mark.django_db
def test_a_hint_of_a_new_folder_has_the_next_tick_look_for_projects(root: Path) -> None:
    world.discovered(root)
    cache.set(discovery.LAST_LOOK, "2026-03-01T12:00:00+00:00", None)
    assert watching.read_changed([str(root / "projects" / "-home-dev-new")]) == []
    assert cache.get(discovery.LAST_LOOK) is None


@pytest.mark.django_db
def test_doctor_says_what_is_not_watched_and_why(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dreams.services.discovery.watching.MOST_FOLDERS", 0)
    said = next(check for check in doctor.examine() if check.name == "Watching")
    assert said.state == "info" and "holds more than 0 folders" in said.said


@pytest.mark.sweep
@pytest.mark.not_on_postgresql
def test_a_server_reads_a_new_session_without_waiting_for_its_next_check(tmp_path: Path) -> None:
    home = Home(tmp_path / "home")
    root = home.folder / ".claude"
    world.write_sessions(root, 2)
    # Neither a check nor the reading of quiet sessions looks at them: only a hint does.
    home.environment |= {"MEMORYWEB_SCAN_MINUTES": "1440", "MEMORYWEB_CATCHING": "off"}
    try:
        process = home.start("serve", "--no-browser")
        link_of(home)
        count = "SELECT count(*) AS found FROM dreams_session"

        def are_read(number: int) -> bool:
            """Written again and again: a change is not seen while the watch is set up."""
            world.write_sessions(root, number)
            return any(row["found"] == number for row in home.rows(count))

        # Judged after the sessions were counted: the first look is over, and nothing but a hint brings another.
        judged = "SELECT id FROM dreams_project WHERE gate_fingerprint <> ''"
        until(lambda: home.rows(judged), "the first look")
        until(lambda: are_read(3), "a look because of a change")
        assert stop(process) < PROMPTLY
        assert home.processes() == []
    finally:
        home.end()
