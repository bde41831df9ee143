"""While a dream runs its project was dreamt of when it was before: only a completed dream moves the clock."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
from django.utils import timezone

from dreams.lib.files.safefs import held as opened
from dreams.lib.locks import held as holding
from dreams.lib.locks.lockfile import kernel_lock, open_directory
from dreams.models import LockHold
from dreams.services import discovery, project_lock
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
    monkeypatch.setattr(holding, "_RELEASE_WAIT", 0.0)
    project = world.discovered(tmp_path)
    lock = Path(project.memory_dir) / ".consolidate-lock"
    lock.touch()
    before = 1_700_000_000_123_456_789
    os.utime(lock, ns=(before, before))
    with (
        opened(open_directory(Path(project.memory_dir))) as folder,
        project_lock.hold(project, "apply") as held,
        kernel_lock(folder, 1),
    ):
        assert not held.release_keeping_clock().done
    assert lock.stat().st_mtime_ns != before
    LockHold.objects.update(process_started=1.0)
    assert "the clock was put back" in project_lock.heal(project)
    assert lock.stat().st_mtime_ns == before and not LockHold.objects.exists()
