"""Somebody else writes at the worst moment: their bytes survive, and the whole plan is undone."""

import ctypes
import errno
import os
import threading
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from dreams.journal import Plan, recover, run, sha256_of
from tests.unit.journal_kit import (
    NEW,
    OLD,
    Dying,
    Place,
    Traced,
    change,
    dies,
    make_place,
    make_plan,
)

THEIRS = b"written by somebody else"
FLAGS = pytest.mark.parametrize("rename_flags", [True, False], ids=["exchange", "link-aside"])
A, ADDED, GONE = "a.md", "team/new.md", "gone.md"


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return make_place(tmp_path)


def in_place(path: Path, data: bytes = THEIRS) -> None:
    path.write_bytes(data)


def by_rename(path: Path, data: bytes = THEIRS) -> None:
    other = path.parent / "editor"
    other.write_bytes(data)
    os.replace(other, path)


def raced(place: Place, at: tuple[str, str], action: Callable[[], object], flags: bool = True) -> Traced:
    """Run the plan with `action` just before the call `at`; it must end in a conflict, with all undone."""
    system = Traced(flags)
    system.before[at] = action
    result = run(make_plan(place), place.journal, system)
    assert system.before == {}, "the moment never came"
    assert result.status == "conflict"
    assert place.leftovers() == []
    assert recover(place.journal) == []
    return system


@FLAGS
@pytest.mark.parametrize("how", [in_place, by_rename])
def test_a_file_changed_just_before_its_swap_keeps_the_change(
    place: Place, how: Callable[[Path], None], rename_flags: bool
) -> None:
    raced(place, ("exchange", A), lambda: how(place.memory / A), rename_flags)
    assert place.texts() == {**OLD, A: THEIRS}


@FLAGS
def test_a_file_that_appears_where_one_was_to_be_added_is_not_overwritten(
    place: Place, rename_flags: bool
) -> None:
    raced(place, ("move_new", "new.md"), lambda: in_place(place.memory / ADDED), rename_flags)
    assert place.texts() == {**OLD, ADDED: THEIRS}


@FLAGS
@pytest.mark.parametrize("how", [in_place, by_rename])
def test_a_file_changed_just_before_its_deletion_stays(
    place: Place, how: Callable[[Path], None], rename_flags: bool
) -> None:
    raced(place, ("move_new", ".memoryweb-d1-2.tmp"), lambda: how(place.memory / GONE), rename_flags)
    assert place.texts() == {**OLD, GONE: THEIRS}


@FLAGS
@pytest.mark.parametrize("name", [A, GONE])
def test_a_file_removed_just_before_its_swap_stays_removed(
    place: Place, name: str, rename_flags: bool
) -> None:
    at = ("exchange", A) if name == A else ("move_new", ".memoryweb-d1-2.tmp")
    raced(place, at, (place.memory / name).unlink, rename_flags)
    assert place.texts() == {key: data for key, data in OLD.items() if key != name}


def test_a_link_that_takes_the_files_place_is_put_back(place: Place) -> None:
    def swap_for_link() -> None:
        (place.memory / A).unlink()
        (place.memory / A).symlink_to("same.md")

    raced(place, ("exchange", A), swap_for_link)
    assert os.readlink(place.memory / A) == "same.md"
    assert (place.memory / "same.md").read_bytes() == OLD["same.md"]


def test_a_second_name_given_to_the_file_just_before_its_swap_is_kept(place: Place) -> None:
    raced(place, ("exchange", A), lambda: os.link(place.memory / A, place.memory / "twin.md"))
    assert (place.memory / A).stat().st_ino == (place.memory / "twin.md").stat().st_ino


def test_an_editor_that_still_holds_the_old_file_does_not_lose_its_last_write(place: Place) -> None:
    handle = os.open(place.memory / A, os.O_WRONLY | os.O_APPEND)
    system = Traced()
    system.before["move_new", ".memoryweb-d1-2.tmp"] = lambda: os.write(handle, THEIRS)
    result = run(make_plan(place), place.journal, system)
    os.close(handle)
    assert result.status == "conflict"
    assert place.texts() == {**OLD, A: OLD[A] + THEIRS}


def test_a_write_into_the_old_file_after_the_commit_is_kept_in_the_journal(place: Place) -> None:
    handle = os.open(place.memory / A, os.O_WRONLY | os.O_APPEND)
    system = Traced()
    system.before["fsync_dir", "commit"] = lambda: os.write(handle, THEIRS)
    result = run(make_plan(place), place.journal, system)
    os.close(handle)
    assert result.status == "applied"
    kept = sha256_of(OLD[A] + THEIRS)
    assert kept in result.said[0]
    assert [p.read_bytes() for p in place.journal.rglob(kept)] == [OLD[A] + THEIRS]
    assert place.texts() == NEW


@FLAGS
def test_two_changes_at_the_worst_moments_leave_the_newer_and_keep_the_older(
    place: Place, rename_flags: bool
) -> None:
    """One before our swap, and one between the undo's look and its own swap back."""
    system = Traced(rename_flags)

    def first() -> None:
        by_rename(place.memory / A, b"first")
        system.before["exchange", A] = lambda: by_rename(place.memory / A, b"second")

    system.before["exchange", A] = first
    result = run(make_plan(place), place.journal, system)
    assert result.status == "conflict"
    assert place.leftovers() == []
    assert (place.memory / A).read_bytes() == b"second"
    if rename_flags:
        assert [p.read_bytes() for p in place.journal.rglob(sha256_of(b"first"))] == [b"first"]


def crashed(place: Place, rename_flags: bool) -> None:
    """Killed after all swaps, before the commit."""
    trace = Traced(rename_flags)
    other = make_place(place.journal.parent / "other")
    run(make_plan(other), other.journal, trace)
    step = trace.calls.index(("create", "commit.json.tmp"))
    assert dies(lambda: run(make_plan(place), place.journal, Dying(step, rename_flags)))
    assert place.leftovers()


@FLAGS
@pytest.mark.parametrize("how", [in_place, by_rename])
def test_a_change_just_before_the_swap_survives_a_kill_at_every_step_after_it(
    tmp_path: Path, how: Callable[[Path], None], rename_flags: bool
) -> None:
    calls = raced(
        make_place(tmp_path / "t"), ("exchange", A), lambda: how(tmp_path / "t" / "memory" / A), rename_flags
    ).calls
    for step in range(calls.index(("exchange", A)) + 1, len(calls)):
        place = make_place(tmp_path / str(step))
        dying = Dying(step, rename_flags)
        dying.before["exchange", A] = partial(how, place.memory / A)
        assert dies(partial(run, make_plan(place), place.journal, dying))
        recover(place.journal, Traced(rename_flags))
        assert place.texts() == {**OLD, A: THEIRS}, calls[step]
        assert place.leftovers() == []


@FLAGS
@pytest.mark.parametrize("how", [in_place, by_rename])
@pytest.mark.parametrize("name", [A, ADDED, GONE])
def test_recovery_leaves_a_file_that_was_changed_after_the_crash(
    place: Place, name: str, how: Callable[[Path], None], rename_flags: bool
) -> None:
    crashed(place, rename_flags)
    how(place.memory / name)
    [done] = recover(place.journal, Traced(rename_flags))
    assert done.action == "undone"
    assert any(repr(name) in line for line in done.said)
    assert place.texts() == {**OLD, name: THEIRS}
    assert place.leftovers() == []


def test_recovery_leaves_a_new_file_that_was_removed_after_the_crash(place: Place) -> None:
    crashed(place, True)
    (place.memory / A).unlink()
    [done] = recover(place.journal)
    assert any(repr(A) in line for line in done.said)
    assert A not in place.texts()
    assert place.leftovers() == []


def test_recovery_brings_old_texts_back_when_somebody_tidied_our_temporary_files_away(place: Place) -> None:
    crashed(place, True)
    mode = (place.memory / A).stat().st_mode
    (place.memory / ".memoryweb-d1-0.tmp").unlink()
    [done] = recover(place.journal)
    assert done.action == "undone"
    assert place.texts()[A] == OLD[A]
    assert (place.memory / A).stat().st_mode == mode
    assert place.leftovers() == []


def test_a_directory_that_somebody_uses_by_now_is_not_removed_and_its_mtime_not_put_back(
    place: Place,
) -> None:
    crashed(place, True)
    (place.memory / "team" / "theirs.md").write_bytes(THEIRS)
    (place.memory / "theirs.md").write_bytes(THEIRS)
    mtime = place.memory.stat().st_mtime_ns
    [done] = recover(place.journal)
    assert any("'team'" in line for line in done.said)
    assert place.texts() == {**OLD, "team/theirs.md": THEIRS, "theirs.md": THEIRS}
    assert place.memory.stat().st_mtime_ns >= mtime


@FLAGS
def test_a_reader_sees_whole_old_or_whole_new_bytes_and_never_no_file(
    place: Place, rename_flags: bool
) -> None:
    texts = [b"a" * 20_000, b"b" * 30_000]
    (place.memory / A).write_bytes(texts[0])
    seen: list[bytes] = []
    stop, looked = threading.Event(), threading.Event()

    def read_on() -> None:
        while not stop.is_set():
            looked.set()
            try:
                seen.append((place.memory / A).read_bytes())
            except FileNotFoundError:
                seen.append(b"no file")

    reader = threading.Thread(target=read_on)
    reader.start()
    try:
        for number in range(12):
            old, new = texts[number % 2], texts[(number + 1) % 2]
            plan = Plan(str(place.memory), (change(A, old, new),), f"d{number}", "")
            # On a busy machine the reader may sleep through many writes: it has looked since the last one.
            looked.clear()
            assert looked.wait(10)
            assert run(plan, place.journal, Traced(rename_flags)).status == "applied"
    finally:
        stop.set()
        reader.join()
    assert set(seen) == set(texts)


@FLAGS
def test_a_change_between_the_undos_look_and_its_swap_back_survives(place: Place, rename_flags: bool) -> None:
    crashed(place, rename_flags)
    system = Traced(rename_flags)
    system.before["exchange", A] = lambda: by_rename(place.memory / A)
    [done] = recover(place.journal, system)
    assert done.action == "undone"
    assert any(repr(A) in line for line in done.said)
    assert place.texts() == {**OLD, A: THEIRS}
    assert place.leftovers() == []


def test_a_file_system_without_the_renames_is_noticed_by_its_answer(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[int] = []

    def refuses(*arguments: object) -> int:
        asked.append(1)
        ctypes.set_errno(errno.EINVAL)
        return -1

    monkeypatch.setattr("dreams.journal.system._renameat2", lambda: refuses)
    assert run(make_plan(place), place.journal).status == "applied"
    assert asked
    assert place.texts() == NEW
    assert place.leftovers() == []
