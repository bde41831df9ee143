"""A file that goes away between being listed and being looked at or read stops nothing, and the others are read."""

from __future__ import annotations

import contextlib
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.utils import timezone

from dreams.lib.files import workspace
from dreams.lib.storage.journal import recovery
from dreams.models import Session
from dreams.services import discovery
from dreams.services.catching import lifecycle
from dreams.services.memories import checkup, instructions, syncing
from dreams.services.scheduling.gate_inputs import Everywhere
from tests.world import directory as world, talking

pytestmark = [pytest.mark.django_db, pytest.mark.not_on_postgresql]
NAMES = ("gone-at-stat.md", "gone-at-open.md", "gone-at-stat.jsonl", "gone-at-open.jsonl")


@pytest.fixture
def vanishing(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Each file of NAMES is removed at the moment its name says, right before the call; the names that were."""
    gone: list[str] = []

    def before(call: Callable[..., Any], when: str) -> Callable[..., Any]:
        def wrapped(path: Any, *args: Any, **more: Any) -> Any:
            name = os.path.basename(os.fsdecode(path)) if isinstance(path, str | bytes | os.PathLike) else ""
            if name in NAMES and when in name:
                try:
                    os.unlink(path, dir_fd=more.get("dir_fd"))
                    gone.append(name)
                except FileNotFoundError:
                    pass
            return call(path, *args, **more)

        return wrapped

    monkeypatch.setattr(os, "stat", before(os.stat, "stat"))
    monkeypatch.setattr(os, "open", before(os.open, "open"))
    return gone


def _put(root: Path) -> Path:
    folder = root / "projects" / talking.SLUG
    for name in NAMES:
        world.put((folder / "memory" if name.endswith(".md") else folder) / name, world.TESTING)
    return folder / "memory"


def test_a_snapshot_has_all_other_files(tmp_path: Path, vanishing: list[str]) -> None:
    talking.first_start(tmp_path)
    found = workspace.take(_put(tmp_path))
    assert {"MEMORY.md", "feedback_testing.md", "project_deploy.md"} <= found.files.keys()
    assert {"gone-at-stat.md", "gone-at-open.md"} == set(vanishing)


@pytest.mark.parametrize(
    "look",
    [
        lambda project, root: syncing.refresh(project),
        lambda project, root: syncing.sync(project, workspace.take(syncing.memory_dir(project))),
        lambda project, root: discovery.discover([root]),
        lambda project, root: discovery.refresh(project),
        lambda project, root: checkup.check(project),
        lambda project, root: instructions.report(project),
        lambda project, root: list(lifecycle.due(timezone.now(), Everywhere.load())),
    ],
    ids=["refresh-memories", "sync", "discover", "refresh", "checkup", "instructions", "catching"],
)
def test_whoever_looks_at_a_project_sees_what_is_left(
    look: Callable[..., Any], tmp_path: Path, vanishing: list[str]
) -> None:
    project = talking.first_start(tmp_path)
    _put(tmp_path)
    talking.say(tmp_path, "Remember that the office is in Bern.")
    look(project, tmp_path)
    discovery.discover([tmp_path])
    assert Session.objects.filter(project=project, gone_at=None).count() == 2
    assert project.memories.filter(gone_at=None, path="feedback_testing.md", unread="").exists()


def test_a_session_that_went_quiet_is_seen_beside_one_that_went_away(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = talking.first_start(tmp_path)
    lifecycle.catch(project)
    assert not list(lifecycle.due(timezone.now(), Everywhere.load()))
    folder = _put(tmp_path).parent
    os.utime(folder / "gone-at-open.jsonl")
    talking.say(tmp_path, "Remember that the office is in Bern.", minutes_ago=60)
    real = os.scandir

    def listed_before(path: Any) -> contextlib.AbstractContextManager[Any]:
        with real(path) as entries:
            found = sorted(entries, key=lambda entry: not entry.name.startswith("gone"))
        (folder / "gone-at-stat.jsonl").unlink(missing_ok=True)
        return contextlib.nullcontext(found)

    monkeypatch.setattr(os, "scandir", listed_before)
    assert list(lifecycle.due(timezone.now(), Everywhere.load())) == [project]


@pytest.mark.also_on_postgresql
def test_a_journal_that_is_thrown_away_meanwhile_is_no_damage(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "plan.1" / "blobs").mkdir(parents=True)
    real = recovery.attempts

    def listed_before(folder: Path) -> list[Path]:
        found = real(folder)
        shutil.rmtree(tmp_path / "plan.1")
        return found

    monkeypatch.setattr(recovery, "attempts", listed_before)
    assert recovery.verify_journals(tmp_path) == (1, [])
