"""Killed at any step, and recovered, the tree is all-old or all-new, with nothing of ours left in it."""

import os
import shutil
from collections.abc import Callable
from itertools import count
from pathlib import Path

import pytest

from dreams.lib.storage.journal import FileOp, Plan, recover, run, sha256_of
from tests.world.journal import (
    LONG_AGO,
    NEW,
    OLD,
    Dying,
    Place,
    Traced,
    back,
    list_journals,
    make_place,
    make_plan,
)
from tests.world.manifest import manifest
from tests.world.processes.killed import dies

# Where the run was killed, and whether the system exchanges two files at once.
MORE = (("half", False), ("swapped", True), ("committed", True), ("committed", False))
# The way of systems that cannot exchange two files, at every step, is swept by `make test-more`.
FLAGS = pytest.mark.parametrize(
    "rename_flags", [True, pytest.param(False, marks=pytest.mark.sweep)], ids=["exchange", "link-aside"]
)


def fresh(base: Path) -> Place:
    shutil.rmtree(base, ignore_errors=True)
    return make_place(base)


def settled(place: Place, before: object) -> str:
    """Which of the two whole states the tree is in; fails for any other."""
    assert place.leftovers() == []
    if place.texts() == OLD:
        assert place.tree() == before
        return "old"
    assert place.texts() == NEW
    assert place.tree()["a.md"].mode == 0o640
    return "new"


@FLAGS
def test_killed_at_every_step_then_recovered(tmp_path: Path, rename_flags: bool) -> None:
    ends = []
    for step in count():
        place = fresh(tmp_path / "p")
        before = place.tree()
        if not dies(run, make_plan(place), place.journal, Dying(step, rename_flags)):
            break
        done = recover(place.journal, Traced(rename_flags))
        ends.append(settled(place, before))
        assert [r.action for r in done] in ([], [{"old": "undone", "new": "finished"}[ends[-1]]])
        assert recover(place.journal) == []
        again = run(make_plan(place), place.journal, Traced(rename_flags))
        assert (again.status, again.repeated) == ("applied", ends[-1] == "new")
        assert place.texts() == NEW
    assert step > 40
    assert ends == sorted(ends, reverse=True)
    assert set(ends) == {"old", "new"}


def interrupted(tmp_path: Path, rename_flags: bool, at: str) -> Callable[[], Place]:
    """Makes the state that a run leaves when it is killed before its last call of the name `at`."""
    trace = Traced(rename_flags)
    place = fresh(tmp_path / "t")
    run(make_plan(place), place.journal, trace)
    names = [call for call, _ in trace.calls]
    step = {
        "swapped": trace.calls.index(("create", "commit.json.tmp")),
        "half": trace.calls.index(("move_new", ".memoryweb-d1-2.tmp")),
        "committed": len(names) - 1 - names[::-1].index("unlink"),
    }[at]

    def make() -> Place:
        place = fresh(tmp_path / "p")
        assert dies(run, make_plan(place), place.journal, Dying(step, rename_flags))
        return place

    return make


@pytest.mark.parametrize(
    ("at", "rename_flags"),
    [
        ("half", True),
        pytest.param("swapped", False, marks=pytest.mark.more),
        *(pytest.param(*case, marks=pytest.mark.sweep) for case in MORE),
    ],
)
def test_recovery_itself_killed_at_every_step(tmp_path: Path, rename_flags: bool, at: str) -> None:
    before = fresh(tmp_path / "p").tree()
    make = interrupted(tmp_path, rename_flags, at)
    for step in count():
        place = make()
        if not dies(recover, place.journal, Dying(step, rename_flags)):
            break
        recover(place.journal, Traced(rename_flags))
        assert settled(place, before) == ("new" if at == "committed" else "old")
    assert step > 5


def test_recovery_killed_again_and_again_gets_there(tmp_path: Path) -> None:
    before = fresh(tmp_path / "p").tree()
    place = interrupted(tmp_path, True, "swapped")()
    for step in count(1):
        if not dies(recover, place.journal, Dying(step)):
            break
    assert settled(place, before) == "old"
    assert [entry.state for entry in list_journals(place.journal)] == ["undone"]


@pytest.mark.more
def test_a_rollback_killed_at_every_step_is_recovered_too(tmp_path: Path) -> None:
    ends = []
    for step in count():
        place = fresh(tmp_path / "p")
        before = place.tree()
        result = run(make_plan(place), place.journal)
        applied = place.tree()
        if not dies(run, back(place, result), place.journal, Dying(step)):
            break
        recover(place.journal)
        assert place.leftovers() == []
        ends.append("before" if place.tree() == before else "applied")
        assert place.tree() == (before if ends[-1] == "before" else applied)
    assert ends == sorted(ends)
    assert set(ends) == {"applied", "before"}


@FLAGS
def test_a_first_plan_in_a_missing_directory_killed_at_every_step(tmp_path: Path, rename_flags: bool) -> None:
    ends = []
    for step in count():
        shutil.rmtree(tmp_path / "p", ignore_errors=True)
        (tmp_path / "p" / "root").mkdir(parents=True)
        os.utime(tmp_path / "p" / "root", ns=(LONG_AGO, LONG_AGO))
        before = manifest(tmp_path / "p" / "root")
        place = Place(tmp_path / "p" / "root" / "project" / "memory", tmp_path / "p" / "journal")
        plan = Plan(
            str(place.memory), (FileOp("a.md", None, b"x"), FileOp("team/b.md", None, b"y")), "d1", ""
        )
        if not dies(run, plan, place.journal, Dying(step, rename_flags)):
            break
        recover(place.journal, Traced(rename_flags))
        assert place.leftovers() == []
        ends.append("old" if manifest(tmp_path / "p" / "root") == before else "new")
        assert ends[-1] == "old" or place.texts() == {"a.md": b"x", "team/b.md": b"y"}
    assert ends == sorted(ends, reverse=True)
    assert set(ends) == {"old", "new"}


@pytest.mark.sweep
@FLAGS
def test_a_change_of_metadata_alone_killed_at_every_step(tmp_path: Path, rename_flags: bool) -> None:
    """Old and new bytes are equal here, so only the inode tells which file is whose."""
    ends = []
    for step in count():
        place = fresh(tmp_path / "p")
        before = place.tree()
        same = [FileOp(name, sha256_of(OLD[name]), OLD[name], 0o600, 7) for name in ("a.md", "gone.md")]
        plan = Plan(str(place.memory), tuple(same), "d1", "")
        if not dies(run, plan, place.journal, Dying(step, rename_flags)):
            break
        recover(place.journal, Traced(rename_flags))
        assert place.leftovers() == []
        ends.append("old" if place.tree() == before else "new")
        modes = {place.tree()[op.path].mode for op in same}
        assert modes == ({0o640} if ends[-1] == "old" else {0o600})
    assert ends == sorted(ends, reverse=True)
    assert set(ends) == {"old", "new"}
