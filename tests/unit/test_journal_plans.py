"""What a plan does when nothing goes wrong, and what it refuses before it writes anything."""

import os
import stat
from dataclasses import replace
from pathlib import Path

import pytest

from dreams.lib.storage.journal import BadPlan, FileOp, Plan, Result, run, sha256_of
from tests.world.journal import NEW, OLD, Place, Traced, change, make_place, make_plan


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return make_place(tmp_path)


def refused(place: Place, plan: Plan) -> Result:
    """Run a plan that must change nothing, not even the journal."""
    before = place.tree()
    result = run(plan, place.journal)
    assert result.status == "conflict"
    assert place.tree() == before
    assert [p.name for p in place.journal.iterdir()] == [".lock"]
    return result


@pytest.mark.parametrize("rename_flags", [True, False])
def test_a_plan_changes_adds_and_deletes(place: Place, rename_flags: bool) -> None:
    result = run(make_plan(place), place.journal, Traced(rename_flags))
    assert (result.status, result.conflicts, result.error) == ("applied", (), "")
    assert place.texts() == NEW
    assert [(item.path, item.sha256) for item in result.applied] == [
        ("a.md", sha256_of(NEW["a.md"])),
        ("team/new.md", sha256_of(NEW["team/new.md"])),
        ("gone.md", None),
    ]


def test_mode_owner_and_attributes_are_kept_and_a_new_file_is_private(place: Place) -> None:
    owner = 12345 if os.geteuid() == 0 else os.getuid()
    os.chown(place.memory / "a.md", owner, -1)
    before = place.tree()
    run(make_plan(place), place.journal)
    after = place.tree()
    assert (after["a.md"].mode, after["a.md"].xattrs) == (0o640, before["a.md"].xattrs)
    assert (place.memory / "a.md").stat().st_uid == owner
    assert after["team/new.md"].mode == 0o600
    assert after["team"].mode == 0o700


def test_a_file_that_is_not_named_keeps_inode_and_mtime(place: Place) -> None:
    before = (place.memory / "same.md").stat()
    run(make_plan(place), place.journal)
    after = (place.memory / "same.md").stat()
    assert (after.st_ino, after.st_mtime_ns, after.st_ctime_ns) == (
        before.st_ino,
        before.st_mtime_ns,
        before.st_ctime_ns,
    )


def test_a_file_that_already_is_as_asked_is_untouched(place: Place) -> None:
    before = (place.memory / "a.md").stat()
    plan = Plan(str(place.memory), (change("a.md", OLD["a.md"], OLD["a.md"]),), "d1", "")
    result = run(plan, place.journal)
    assert (result.status, result.untouched, result.applied) == ("applied", ("a.md",), ())
    assert (place.memory / "a.md").stat().st_ctime_ns == before.st_ctime_ns


def test_mode_and_mtime_alone_can_be_changed(place: Place) -> None:
    data = OLD["a.md"]
    plan = Plan(str(place.memory), (FileOp("a.md", sha256_of(data), data, 0o600, 5_000_000_007),), "d1", "")
    assert run(plan, place.journal).status == "applied"
    found = place.tree()["a.md"]
    assert (found.sha256, found.mode, found.mtime_ns) == (sha256_of(data), 0o600, 5_000_000_007)


def test_one_unexpected_file_stops_all_and_every_conflict_is_listed(place: Place) -> None:
    (place.memory / "a.md").write_bytes(b"edited")
    (place.memory / "team").mkdir()
    (place.memory / "team" / "new.md").write_bytes(b"mine")
    (place.memory / "gone.md").unlink()
    result = refused(place, make_plan(place))
    assert [(c.path, c.found, c.why) for c in result.conflicts] == [
        ("a.md", sha256_of(b"edited"), "changed"),
        ("team/new.md", sha256_of(b"mine"), "is already there"),
        ("gone.md", None, "is gone"),
    ]
    assert result.applied == ()


def test_a_file_with_several_hard_links_is_never_changed(place: Place) -> None:
    os.link(place.memory / "a.md", place.memory / "twin.md")
    [conflict] = refused(place, make_plan(place)).conflicts
    assert "hard links" in conflict.why


def test_links_fifos_and_folders_in_a_files_place_are_refused(place: Place) -> None:
    for name in ("a.md", "gone.md"):
        (place.memory / name).unlink()
    (place.memory / "a.md").symlink_to("same.md")
    os.mkfifo(place.memory / "gone.md")
    (place.memory / "team" / "new.md").mkdir(parents=True)
    whys = [c.why for c in refused(place, make_plan(place)).conflicts]
    assert ["a link" in whys[0], "a directory" in whys[1], "a FIFO" in whys[2]] == [True] * 3


def test_a_folder_that_is_a_link_to_the_outside_is_refused(place: Place, tmp_path: Path) -> None:
    (tmp_path / "outside").mkdir()
    (place.memory / "team").symlink_to(tmp_path / "outside")
    refused(place, make_plan(place))
    assert list((tmp_path / "outside").iterdir()) == []


def test_the_memory_directory_itself_may_be_a_link(place: Place, tmp_path: Path) -> None:
    (tmp_path / "chosen").symlink_to(place.memory)
    plan = replace(make_plan(place), target_dir=str(tmp_path / "chosen"))
    assert run(plan, place.journal).status == "applied"
    assert place.texts() == NEW
    assert (tmp_path / "chosen").is_symlink()


def test_a_missing_memory_directory_is_made_with_what_is_above_it(tmp_path: Path) -> None:
    target = tmp_path / "root" / "project" / "memory"
    (tmp_path / "root").mkdir()
    plan = Plan(str(target), (FileOp("team/a.md", None, b"first"),), "d1", "")
    result = run(plan, tmp_path / "journal")
    assert (target / "team" / "a.md").read_bytes() == b"first"
    assert result.dirs_made == ("..", "", "team")
    assert {stat.S_IMODE(p.stat().st_mode) for p in (target, target.parent, target / "team")} == {0o700}


def test_running_a_plan_again_writes_nothing(place: Place) -> None:
    first = run(make_plan(place), place.journal)
    before = place.tree()
    again = run(make_plan(place), place.journal)
    assert again == replace(first, repeated=True)
    assert place.tree() == before


def test_a_file_name_that_is_no_text_is_written_like_any_other(place: Place) -> None:
    name = os.fsdecode(b"caf\xe9.md")
    plan = Plan(str(place.memory), (FileOp(name, None, b"x"),), "d1", "")
    assert run(plan, place.journal).status == "applied"
    assert (place.memory / name).read_bytes() == b"x"
    assert run(plan, place.journal).repeated


@pytest.mark.parametrize(
    "ops",
    [
        (FileOp("../x.md", None, b""),),
        (FileOp("/x.md", None, b""),),
        (FileOp("", None, b""),),
        (FileOp("x.md", None, None),),
    ],
)
def test_a_plan_that_contradicts_itself_or_leaves_its_directory_is_refused(
    place: Place, ops: tuple[FileOp, ...]
) -> None:
    with pytest.raises(BadPlan):
        run(Plan(str(place.memory), ops, "d1", ""), place.journal)


@pytest.mark.parametrize(
    ("ops", "said"),
    [
        ((FileOp("x.md", None, b""), FileOp("x.md", None, b"")), "'x.md' is named twice"),
        (
            (FileOp("x", None, b""), FileOp("x/y/z.md", None, b"")),
            "'x' cannot be both a file and the folder of 'x/y/z.md'",
        ),
    ],
)
def test_a_plan_that_wants_one_path_twice_says_which(
    place: Place, ops: tuple[FileOp, ...], said: str
) -> None:
    with pytest.raises(BadPlan, match=said):
        run(Plan(str(place.memory), ops, "d1", ""), place.journal)


def test_ids_targets_and_directories_of_a_plan_are_checked(place: Place) -> None:
    good = make_plan(place)
    for bad in (
        replace(good, id="../d1"),
        replace(good, target_dir="memory"),
        replace(good, make_dirs={"../other": 0o700}),
        replace(good, remove_dirs=("/tmp",)),
        replace(good, target_dir=str(place.memory / "a.md")),
    ):
        with pytest.raises(BadPlan):
            run(bad, place.journal)
