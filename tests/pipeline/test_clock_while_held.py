"""While a dream runs its project was dreamt of when it was before: only a completed dream moves the clock."""

from __future__ import annotations

import datetime as dt
import os
from pathlib import Path
from typing import Any

import pytest
from django.db import OperationalError, connection
from django.utils import timezone

from dreams.lib.files.safefs import held as opened
from dreams.lib.locks import held as holding
from dreams.lib.locks.lockfile import kernel_lock, open_directory
from dreams.lib.timestamps import from_ns
from dreams.models import LockHold, Project
from dreams.services import discovery, project_lock
from dreams.services.scheduling import scheduler
from tests.world import directory as world

pytestmark = pytest.mark.django_db(transaction=True)


def test_a_running_dream_is_not_yet_the_last_one(tmp_path: Path, settings: Any) -> None:
    settings.ROOTS = [tmp_path]
    project = world.discovered(tmp_path)
    before = project.last_consolidated_at
    with project_lock.hold(project, "dream") as held:
        discovery.refresh(project)
        project.refresh_from_db()
        assert project.last_consolidated_at == before
        held.release_completed(timezone.now())
    discovery.refresh(project)
    project.refresh_from_db()
    assert project.last_consolidated_at not in (None, before)


def test_a_clock_that_could_not_be_put_back_is_put_back_once_its_process_is_gone(
    tmp_path: Path, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.ROOTS = [tmp_path]
    project, lock, before = _left_behind(tmp_path, monkeypatch)
    LockHold.objects.update(process_started=1.0)
    assert "the clock was put back" in project_lock.heal(project)
    assert lock.stat().st_mtime_ns == before and not LockHold.objects.exists()


@pytest.mark.parametrize("started", [None, 1.0], ids=["its process lives", "its process died"])
def test_whoever_takes_a_lock_that_was_left_behind_puts_back_what_was_before_it(
    tmp_path: Path, settings: Any, monkeypatch: pytest.MonkeyPatch, started: float | None
) -> None:
    """Else the clock would say that the project was dreamt of when that hold began."""
    settings.ROOTS = [tmp_path]
    project, lock, before = _left_behind(tmp_path, monkeypatch)
    if started:
        LockHold.objects.update(process_started=started)
    long_ago = lock.stat().st_mtime - 2 * 3600
    os.utime(lock, (long_ago, long_ago))
    with project_lock.hold(project, "dream"):
        assert LockHold.objects.get().prior_mtime_ns == before, "also if this one dies"
    assert lock.stat().st_mtime_ns == before and lock.read_bytes() == b""
    assert not LockHold.objects.exists()


def test_a_hold_that_was_lost_to_another_of_the_process_leaves_its_record_alone(
    tmp_path: Path, settings: Any
) -> None:
    settings.ROOTS = [tmp_path]
    project = world.discovered(tmp_path)
    lock = Path(project.memory_dir) / ".consolidate-lock"
    lost, second = project_lock.hold(project, "dream"), project_lock.hold(project, "apply")
    lost.__enter__()
    long_ago = lock.stat().st_mtime - 2 * 3600
    os.utime(lock, (long_ago, long_ago))
    second.__enter__()
    lost.__exit__(None, None, None)
    assert LockHold.objects.get().purpose == "apply", "else a crash now would cost a day"
    second.__exit__(None, None, None)
    assert not LockHold.objects.exists()


def test_the_record_of_a_hold_that_ended_while_the_database_was_away_stops_no_clock(
    tmp_path: Path, settings: Any
) -> None:
    """Its process may live for weeks, and is not healed before it is gone."""
    settings.ROOTS = [tmp_path]
    project = world.discovered(tmp_path)

    def away(execute: Any, sql: str, *given: Any) -> Any:
        if sql.startswith("DELETE"):
            raise OperationalError("server closed the connection unexpectedly")
        return execute(sql, *given)

    with (
        connection.execute_wrapper(away),
        pytest.raises(OperationalError),
        project_lock.hold(project, "apply") as held,
    ):
        held.release_keeping_clock()
    assert LockHold.objects.exists()
    lock = Path(project.memory_dir) / ".consolidate-lock"
    lock.touch()
    discovery.refresh(project)
    project.refresh_from_db()
    assert project.last_consolidated_at == from_ns(lock.stat().st_mtime_ns)
    scheduler.repair()
    assert LockHold.objects.exists(), "it may be of a hold that begins now"
    LockHold.objects.update(taken_at=timezone.now() - dt.timedelta(hours=2))
    with project_lock.hold(project, "apply") as held:
        LockHold.objects.update(taken_at=timezone.now() - dt.timedelta(hours=2))
        scheduler.repair()
        assert LockHold.objects.exists()
        held.release_keeping_clock()
    assert LockHold.objects.exists()
    scheduler.repair()
    assert not LockHold.objects.exists()


def _left_behind(folder: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Project, Path, int]:
    """A project, its lock after a hold that could not put it back, and its mtime before."""
    monkeypatch.setattr(holding, "_RELEASE_WAIT", 0.0)
    project = world.discovered(folder)
    lock = Path(project.memory_dir) / ".consolidate-lock"
    lock.touch()
    before = 1_700_000_000_123_456_789
    os.utime(lock, ns=(before, before))
    with (
        opened(open_directory(Path(project.memory_dir))) as there,
        project_lock.hold(project, "apply") as held,
        kernel_lock(there, 1),
    ):
        assert not held.release_keeping_clock().done
    assert lock.stat().st_mtime_ns != before
    return project, lock, before
