"""A disk that takes names for one that differ by case only, as those of macOS and Windows do: nothing is lost on it.

The tests of this file hold on any disk. `test_all_of_this_on_such_a_disk` runs them, and those of undoing, once more in a
process whose disk takes such names for one (tests/world/processes/folding_disk.c).
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from dreams.engines.types import Edit
from dreams.lib.agents.base import FoundProject
from dreams.lib.agents.claude_code import ClaudeCode, slug_of
from dreams.lib.files import text
from dreams.models import Hunk, Project, Proposal
from dreams.services import review, rollback
from dreams.services.apply import applying
from dreams.services.memories import hand_edits, syncing
from tests.world import directory as world
from tests.world.manifest import manifest
from tests.world.processes import faulty_disk, folding_disk

pytestmark = [pytest.mark.django_db, pytest.mark.not_on_postgresql]
NEW = world.TESTING.replace("make reset", "make fresh")
OTHER = "---\nname: Other\ntype: project\n---\n\nNobody else says this.\n"


def approved(project: Project, *edits: Edit) -> Proposal:
    made = world.propose(project, *edits)
    review.decide(made, review.select_hunks(made), Hunk.Verdict.APPROVED, world.ME)
    return made


def texts_of(project: Project) -> dict[str, str]:
    return {path: data.decode() for path, data in syncing.contents(project).items()}


def rename(project: Project, old: str, new: str) -> None:
    """By the person, outside; only letters change."""
    memory = world.folder(project)
    (memory / old).rename(memory / new)
    syncing.refresh(project)
    assert new in os.listdir(memory)


def test_a_file_renamed_by_case_is_one_memory_and_its_text_is_kept(tmp_path: Path) -> None:
    project = world.make_project(tmp_path)
    rename(project, "feedback_testing.md", "Feedback_Testing.md")
    present = project.memories.filter(gone_at=None).values_list("path", flat=True)
    assert sorted(present) == ["Feedback_Testing.md", "MEMORY.md", "project_deploy.md"]


def test_an_undo_after_a_rename_by_case_loses_nothing(tmp_path: Path) -> None:
    project = world.make_project(tmp_path)
    made = approved(project, world.edit("feedback_testing.md", world.TESTING, NEW, "reset"))
    assert applying.apply(made, world.ME).complete
    rename(project, "feedback_testing.md", "Feedback_Testing.md")
    rollback.rollback(made, world.ME)
    [left] = [name for name in texts_of(project) if name.casefold() == "feedback_testing.md"]
    assert texts_of(project)[left] in (world.TESTING, NEW)


def test_a_new_file_never_takes_the_place_of_one_that_differs_by_case(tmp_path: Path) -> None:
    project = world.make_project(tmp_path)
    made = approved(project, world.edit("other.md", None, "New.\n", "new", "learn"))
    world.put(world.folder(project) / "Other.md", OTHER)
    with pytest.raises(
        review.ReviewRefused, match=r"other.md differs from Other.md by case.*cannot be confirmed"
    ):
        applying.apply(made, world.ME)
    assert texts_of(project)["Other.md"] == OTHER


def test_a_removal_and_a_new_file_of_the_same_letters_change_nothing(tmp_path: Path) -> None:
    project = world.make_project(tmp_path)
    before = manifest(world.folder(project))
    made = approved(
        project,
        world.edit("feedback_testing.md", world.TESTING, None, "name", "merge"),
        world.edit("Feedback_Testing.md", None, NEW, "name", "merge"),
    )
    with pytest.raises(review.ReviewRefused, match="by case"):
        applying.apply(made, world.ME)
    assert manifest(world.folder(project)) == before


@pytest.mark.parametrize("is_renamed", [False, True])
def test_an_old_version_is_restored_beside_its_new_name_or_refused(tmp_path: Path, is_renamed: bool) -> None:
    project = world.make_project(tmp_path)
    if is_renamed:
        rename(project, "feedback_testing.md", "Feedback_Testing.md")
    else:
        (world.folder(project) / "feedback_testing.md").unlink()
        world.put(world.folder(project) / "Feedback_Testing.md", OTHER)
        syncing.refresh(project)
    now = texts_of(project)
    sha = text.sha256(world.TESTING.encode())
    try:
        hand_edits.restore(project, "feedback_testing.md", sha, world.ME, reason="")
    except review.ReviewRefused as refused:
        assert "Feedback_Testing.md" in str(refused)
    syncing.refresh(project)
    assert set(now.values()) <= set(texts_of(project).values())


def test_a_repository_that_was_spelt_in_two_ways_is_no_second_project(tmp_path: Path) -> None:
    repo, root = tmp_path / "app", tmp_path / ".claude"
    for folder in (repo / ".git", repo / "sub"):
        folder.mkdir(parents=True)
    for cwd in (repo, tmp_path / "App" / "sub"):
        folder = root / "projects" / slug_of(str(cwd))
        folder.mkdir(parents=True)
        (folder / "s1.jsonl").write_text(json.dumps({"type": "user", "cwd": str(cwd)}) + "\n")
    world.put(root / "projects" / slug_of(str(repo)) / "memory" / "MEMORY.md", "# Memory\n")
    found = [one for one in ClaudeCode(root, env={}).projects() if isinstance(one, FoundProject)]
    places = [Path(one.memory_dir) for one in found if Path(one.memory_dir).exists()]
    assert len(places) == len({place.stat().st_ino for place in places}) == 1


#: What else is run there: everything that is written, undone and recovered, but no variant of what another test shows.
ALSO = ("test_rollback.py", "test_redo.py", "test_by_hand.py")


@pytest.mark.sweep
def test_all_of_this_on_such_a_disk(tmp_path: Path) -> None:
    if reason := faulty_disk.missing():
        pytest.skip(reason)
    here = Path(__file__)
    words = [
        "-q",
        "-m",
        "not more and not sweep",
        "-p",
        "no:cacheprovider",
        "-p",
        "no:xdist",
        "--basetemp",
        str(tmp_path / "there"),
    ]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", *words, str(here), *(str(here.with_name(name)) for name in ALSO)],
        env=os.environ | folding_disk.environment(tmp_path),
        capture_output=True,
        text=True,
        check=False,
        timeout=500,
    )
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-2000:]
    assert "passed" in done.stdout and "skipped" not in done.stdout
