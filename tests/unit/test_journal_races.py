"""Somebody else writes at the worst moment: their bytes survive, and the whole plan is undone."""

import ctypes
import errno
import os
import threading
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from dreams.lib.storage.journal import Plan, collect_late, handed_over, recover, run, sha256_of
from tests.world.journal import NEW, OLD, Dying, Place, Traced, change, make_place, make_plan
from tests.world.processes.killed import dies

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


def open_to_append(path: Path) -> int:
    return os.open(path, os.O_WRONLY | os.O_APPEND)


@FLAGS
def test_an_editor_that_still_holds_the_old_file_does_not_lose_its_last_write(
    place: Place, rename_flags: bool
) -> None:
    handles: list[int] = []
    system = Traced(rename_flags)
    system.before["exchange", A] = lambda: handles.append(open_to_append(place.memory / A))
    system.before["move_new", ".memoryweb-d1-2.tmp"] = lambda: os.write(handles[0], THEIRS)
    result = run(make_plan(place), place.journal, system)
    os.close(handles[0])
    assert (result.status, system.before) == ("conflict", {})
    assert place.texts() == {**OLD, A: OLD[A] + THEIRS}


@FLAGS
@pytest.mark.parametrize("leases", [True, False], ids=["leases", "no-leases"])
def test_a_file_that_somebody_has_open_for_writing_is_left_alone_and_they_are_named(
    place: Place, leases: bool, rename_flags: bool
) -> None:
    handle = open_to_append(place.memory / A)
    system = Traced(rename_flags)
    system.has_leases = leases
    result = run(make_plan(place), place.journal, system)
    assert result.status == "conflict"
    assert ("exchange", A) not in system.calls, "nothing was swapped"
    assert f"({os.getpid()})" in result.conflicts[0].why
    os.write(handle, THEIRS)
    os.close(handle)
    assert place.texts() == {**OLD, A: OLD[A] + THEIRS}
    assert place.leftovers() == []


@pytest.mark.parametrize("leases", [True, False], ids=["leases", "no-leases"])
def test_a_save_that_is_soon_over_is_waited_for(place: Place, leases: bool) -> None:
    handle = open_to_append(place.memory / GONE)
    system = Traced()
    system.has_leases, system.patience, system.patience_without_leases = leases, 20, 20
    closing = threading.Timer(0.2, os.close, [handle])
    closing.start()
    result = run(make_plan(place), place.journal, system)
    closing.join()
    assert result.status == "applied"
    assert place.texts() == NEW


def test_readers_do_not_keep_a_file_from_being_written(place: Place) -> None:
    with (place.memory / A).open("rb"):
        assert run(make_plan(place), place.journal, Traced()).status == "applied"


def test_who_opens_the_old_file_while_it_is_looked_at_waits_and_is_not_refused(place: Place) -> None:
    """The lease is given back with the look: nobody is kept waiting, and no signal of it reaches anybody."""
    system, waited = Traced(), []

    def opened() -> None:
        waited.append(open_to_append(place.memory / A))
        os.close(waited[0])

    thread = threading.Thread(target=opened)
    system.before["lease", A] = thread.start
    result = run(make_plan(place), place.journal, system)
    thread.join(10)
    assert waited and not thread.is_alive()
    assert result.status == "applied"


def test_a_write_into_the_old_file_after_the_commit_is_kept_in_the_journal(place: Place) -> None:
    system = Traced()

    def written() -> None:
        with (place.memory / ".memoryweb-d1-0.tmp").open("ab") as file:
            file.write(THEIRS)

    system.before["fsync_dir", "commit"] = written
    result = run(make_plan(place), place.journal, system)
    assert result.status == "applied"
    kept = sha256_of(OLD[A] + THEIRS)
    assert kept in result.said[0]
    assert [p.read_bytes() for p in place.journal.rglob(kept)] == [OLD[A] + THEIRS]
    assert place.texts() == NEW
    [late] = collect_late(place.journal)
    assert (late.path, late.data, late.meta) == (A, OLD[A] + THEIRS, {"dream": "d1"})
    handed_over(place.journal, late)
    assert collect_late(place.journal) == []


def test_of_two_late_texts_the_one_that_is_handed_over_is_offered_no_more(place: Place) -> None:
    system = Traced()

    def written() -> None:
        for number in (0, 2):
            with (place.memory / f".memoryweb-d1-{number}.tmp").open("ab") as file:
                file.write(THEIRS)

    system.before["fsync_dir", "commit"] = written
    assert run(make_plan(place), place.journal, system).status == "applied"
    first, second = collect_late(place.journal)
    handed_over(place.journal, first)
    assert collect_late(place.journal) == [second]
    handed_over(place.journal, second)
    assert collect_late(place.journal) == []


def days_later(place: Place, seconds: float) -> None:
    for folder in place.journal.glob("*/old"):
        at = time.time() - seconds
        os.utime(folder, (at, at))


def old_files(place: Place) -> list[Path]:
    return list(place.journal.glob("*/old/*"))


def test_what_is_written_into_a_replaced_file_much_later_is_found_too(place: Place) -> None:
    handles: list[int] = []
    system = Traced()
    system.before["fsync_dir", "commit"] = lambda: handles.append(
        open_to_append(place.memory / ".memoryweb-d1-0.tmp")
    )
    assert run(make_plan(place), place.journal, system).status == "applied"
    assert collect_late(place.journal) == []
    os.write(handles[0], b"first")
    assert [late.data for late in collect_late(place.journal)] == [OLD[A] + b"first"]
    days_later(place, 3600)
    collect_late(place.journal)
    assert len(old_files(place)) == 1, "it is open still, the other one was removed"
    os.write(handles[0], b"second")
    os.close(handles[0])
    assert collect_late(place.journal)[-1].data == OLD[A] + b"firstsecond"
    days_later(place, 3600)
    collect_late(place.journal)
    assert old_files(place) == []


@pytest.mark.parametrize("leases", [True, False], ids=["leases", "no-leases"])
def test_a_replaced_file_is_kept_for_a_day_at_most(place: Place, leases: bool) -> None:
    assert run(make_plan(place), place.journal, Traced()).status == "applied"
    system = Traced()
    system.has_leases = leases
    collect_late(place.journal, system)
    assert len(old_files(place)) == 2, "who opened it a moment ago may still write"
    days_later(place, 3600)
    collect_late(place.journal, system)
    assert len(old_files(place)) == (0 if leases else 2)
    days_later(place, 24 * 3600)
    assert collect_late(place.journal, system) == []
    assert old_files(place) == []


@pytest.mark.parametrize("held", [False, True])
def test_on_another_file_system_than_the_journal_an_old_file_is_removed_once_nobody_writes_to_it(
    place: Place, held: bool
) -> None:
    handles: list[int] = []

    class Elsewhere(Traced):
        def move_away(self, *arguments: object) -> None:
            raise OSError(errno.EXDEV, "another device")

    system = Elsewhere()
    if held:
        system.before["fsync_dir", "commit"] = lambda: handles.append(
            open_to_append(place.memory / ".memoryweb-d1-0.tmp")
        )
    result = run(make_plan(place), place.journal, system)
    assert result.status == "applied"
    assert bool(place.leftovers()) is held
    for handle in handles:
        os.write(handle, THEIRS)
        os.close(handle)
    recover(place.journal, system)
    assert place.leftovers() == []
    assert [late.data for late in collect_late(place.journal)] == ([OLD[A] + THEIRS] if held else [])


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
    assert dies(run, make_plan(place), place.journal, Dying(step, rename_flags))
    assert place.leftovers()


@pytest.mark.parametrize(
    "rename_flags", [True, pytest.param(False, marks=pytest.mark.sweep)], ids=["exchange", "link-aside"]
)
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
        assert dies(run, make_plan(place), place.journal, dying)
        recover(place.journal, Traced(rename_flags))
        assert place.texts() == {**OLD, A: THEIRS}, calls[step]
        assert place.leftovers() == []


@FLAGS
@pytest.mark.parametrize("how", [in_place, by_rename])
@pytest.mark.parametrize("name", [A, ADDED])
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


@FLAGS
@pytest.mark.parametrize("how", [in_place, by_rename])
def test_a_removed_file_that_somebody_began_anew_after_the_crash_stays_theirs_and_the_rest_is_finished(
    place: Place, how: Callable[[Path], None], rename_flags: bool
) -> None:
    """Its lines may have moved to the other files: to undo those would leave them nowhere."""
    crashed(place, rename_flags)
    how(place.memory / GONE)
    [done] = recover(place.journal, Traced(rename_flags))
    assert done.action == "finished"
    assert place.texts() == {**NEW, GONE: THEIRS}
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

    monkeypatch.setattr("dreams.lib.storage.journal.system._renameat2", lambda: refuses)
    assert run(make_plan(place), place.journal).status == "applied"
    assert asked
    assert place.texts() == NEW
    assert place.leftovers() == []
