"""Locks that another user of the machine could hold: files and folders are private, waits end, and say who it is."""

from __future__ import annotations

import datetime as dt
import fcntl
import os
import stat
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from django.core.management import call_command

from dreams.lib import locks, process
from dreams.lib.locks import lockfile
from dreams.management.base import Refused
from dreams.models import Project
from dreams.services import database, discovery
from dreams.services.discovery import run
from dreams.services.scheduling import scheduler
from memoryweb import datadir
from tests.world import directory as world

HOLD = "import fcntl, os, sys; fd = os.open(sys.argv[1], os.O_RDONLY); fcntl.flock(fd, fcntl.LOCK_EX); print(1, flush=True); sys.stdin.read()"


@contextmanager
def held(path: Path) -> Iterator[int]:
    """Another process holds the kernel's lock on `path`, which it only has to be able to read; its PID."""
    command = [sys.executable, "-c", HOLD, str(path)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as other:
        assert other.stdout and other.stdout.readline()
        try:
            yield other.pid
        finally:
            other.kill()


def _mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


@pytest.mark.parametrize("names", [(), ("secret_key", "discovery.lock"), ("host_id", "more")])
def test_a_data_directory_that_was_open_to_others_is_made_private(
    tmp_path: Path, names: tuple[str, ...]
) -> None:
    folder = tmp_path / "data"
    folder.mkdir()
    folder.chmod(0o755)
    for name in names:
        (folder / name).touch(0o644)
    datadir.ensure(folder)
    assert _mode(folder) == 0o700


def test_a_folder_of_other_things_keeps_its_mode(tmp_path: Path) -> None:
    (tmp_path / "photos").mkdir()
    tmp_path.chmod(0o755)
    datadir.ensure(tmp_path)
    assert _mode(tmp_path) == 0o755


@pytest.mark.django_db
def test_lock_files_are_private(tmp_path: Path, settings, monkeypatch: pytest.MonkeyPatch) -> None:
    settings.DATA_DIR, settings.ROOTS = tmp_path, []
    answers = iter([True, True, False])
    monkeypatch.setattr(database, "_is_behind", lambda *_: next(answers))
    monkeypatch.setattr(database, "_applied", dict)
    monkeypatch.setattr(database, "_brought_up_to_date", lambda copy: None)
    for name in ("discovery.lock", "migrate.lock"):
        (tmp_path / name).touch(0o644)
    discovery.discover()
    database.ensure()
    assert {_mode(path) for path in tmp_path.glob("*.lock")} == {0o600}


@pytest.mark.django_db
def test_looking_for_files_waits_a_while_and_says_so(
    tmp_path: Path, settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.DATA_DIR = tmp_path
    monkeypatch.setattr(run, "LOCK_SECONDS", 0.1)
    (tmp_path / "discovery.lock").touch()
    with held(tmp_path / "discovery.lock"):
        with pytest.raises(discovery.DiscoveryBusy, match="looking for sessions and memories"):
            discovery.discover()
        with pytest.raises(Refused, match="Try again"):
            call_command("discover")
        scheduler.tick()  # goes on without it


def test_a_memory_directory_that_somebody_locks_is_refused_by_name(tmp_path: Path) -> None:
    with held(tmp_path) as pid:
        found = locks.acquire(tmp_path, process.current(), dt.datetime.now(dt.UTC))
        assert isinstance(found, locks.Busy) and found.holder == pid and not found.broken
        assert f"Process {pid} (" in found.reason and "chmod" not in found.reason


def test_of_another_user_it_says_how_to_keep_them_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lockfile.os, "geteuid", lambda: 4_000_000)
    with held(tmp_path) as pid:
        found = locks.acquire(tmp_path, process.current(), dt.datetime.now(dt.UTC))
    assert isinstance(found, locks.Busy) and f"Process {pid} of another user" in found.reason
    assert f"chmod 700 {tmp_path.parent}" in found.reason


@pytest.mark.django_db
def test_a_dream_says_who_is_in_the_way(tmp_path: Path) -> None:
    from dreams.models import DreamRun
    from dreams.services import dreaming

    project: Project = world.make_project(tmp_path)
    with held(world.folder(project)) as pid:
        dream = dreaming.request(project, DreamRun.Trigger.COMMAND, forced=True)
        run = dreaming.run_dream(dream.pk)
    assert run is not None and run.status == "failed" and f"Process {pid} (" in run.error


def test_a_lock_of_nobody_known_is_still_a_plain_answer(tmp_path: Path) -> None:
    first, second = os.open(tmp_path, os.O_RDONLY), os.open(tmp_path, os.O_RDONLY)
    try:
        fcntl.flock(first, fcntl.LOCK_EX)
        with pytest.raises(lockfile.DirectoryBusy):
            lockfile.take_kernel_lock(second, 0)
    finally:
        os.close(first)
        os.close(second)
