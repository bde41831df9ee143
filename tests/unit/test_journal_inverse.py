"""A rollback restores bytes, names, modes, mtimes and attributes, of directories too."""

import os
import tempfile
from pathlib import Path

import pytest
from hypothesis import given, strategies as s

from dreams.lib.storage.journal import FileOp, Plan, run, sha256_of
from tests.world.journal import LONG_AGO, OLD, Place, Traced, back, make_place, make_plan
from tests.world.manifest import manifest
from tests.world.strategies import tries


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return make_place(tmp_path)


def test_a_plan_and_its_inverse_leave_the_first_manifest(place: Place) -> None:
    before = place.tree()
    result = run(make_plan(place), place.journal)
    assert place.tree() != before
    system = Traced()
    assert run(back(place, result), place.journal, system).status == "applied"
    assert place.tree() == before
    assert {"chmod", "set_xattr", "set_mtime"} <= {call for call, _ in system.calls}, (
        "each may be the last before a kill"
    )


def test_the_inverse_of_the_inverse_applies_again_with_the_same_metadata(place: Place) -> None:
    result = run(make_plan(place), place.journal)
    applied = place.tree()
    undone = run(back(place, result), place.journal)
    assert run(back(place, undone, "r2"), place.journal).status == "applied"
    assert place.tree() == applied


def test_the_inverse_stops_at_a_file_that_was_changed_since(place: Place) -> None:
    result = run(make_plan(place), place.journal)
    (place.memory / "a.md").write_bytes(b"later")
    before = place.tree()
    undone = run(back(place, result), place.journal)
    assert [(c.path, c.found) for c in undone.conflicts] == [("a.md", sha256_of(b"later"))]
    assert place.tree() == before


def test_a_directory_made_by_the_plan_stays_when_somebody_put_a_file_there(place: Place) -> None:
    result = run(make_plan(place), place.journal)
    (place.memory / "team" / "theirs.md").write_bytes(b"theirs")
    (place.memory / "other.md").write_bytes(b"theirs")
    mtime = place.memory.stat().st_mtime_ns
    undone = run(back(place, result), place.journal)
    assert undone.status == "applied"
    assert any("team" in line for line in undone.said)
    assert place.texts() == {**OLD, "team/theirs.md": b"theirs", "other.md": b"theirs"}
    assert place.memory.stat().st_mtime_ns >= mtime


def test_a_memory_directory_made_by_the_plan_is_removed_with_what_was_made_above_it(tmp_path: Path) -> None:
    root = tmp_path / "root"
    root.mkdir()
    os.utime(root, ns=(LONG_AGO, LONG_AGO))
    before = manifest(root)
    place = Place(root / "project" / "memory", tmp_path / "journal")
    plan = Plan(str(place.memory), (FileOp("a.md", None, b"x"), FileOp("team/b.md", None, b"y")), "d1", "")
    result = run(plan, place.journal)
    undone = run(back(place, result), place.journal)
    assert undone.status == "applied"
    assert manifest(root) == before
    assert run(back(place, undone, "r2"), place.journal).status == "applied"
    assert place.texts() == {"a.md": b"x", "team/b.md": b"y"}


NAMES = ("a.md", "b.md", "team/a.md", "team/deep/c.md", "x/y/z.md")
TREES = s.dictionaries(s.sampled_from(NAMES), s.binary(max_size=8))
MODES = s.sampled_from((0o600, 0o640, 0o644, 0o400))


@given(old=TREES, new=TREES, mode=MODES)
@tries(20, 60)
def test_any_set_of_changes_is_taken_back_exactly(
    old: dict[str, bytes], new: dict[str, bytes], mode: int
) -> None:
    with tempfile.TemporaryDirectory() as base:
        place = Place(Path(base) / "memory", Path(base) / "journal")
        place.memory.mkdir()
        for name, data in old.items():
            (place.memory / name).parent.mkdir(parents=True, exist_ok=True)
            (place.memory / name).write_bytes(data)
            (place.memory / name).chmod(mode)
        for number, path in enumerate(sorted(place.memory.rglob("*"), reverse=True)):
            os.utime(path, ns=(LONG_AGO, LONG_AGO + number))
        before = place.tree()
        ops = tuple(
            FileOp(name, sha256_of(old[name]) if name in old else None, new.get(name))
            for name in NAMES
            if name in old or name in new
        )
        result = run(Plan(str(place.memory), ops, "d1", ""), place.journal)
        assert result.status == "applied"
        assert place.texts() == new
        if result.applied:
            assert run(back(place, result), place.journal).status == "applied"
        assert place.tree() == before
