"""Journals are listed, checked, forgotten only when asked, and guarded against two writers."""

import errno
import os
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from dreams.lib.storage.journal import (
    FileOp,
    JournalBusy,
    Plan,
    abandon,
    forget_texts,
    read_journal,
    recover,
    run,
    sha256_of,
    verify_journals,
)
from dreams.lib.storage.journal.store import locked
from tests.world.agent_folder import closed_to_us
from tests.world.journal import (
    NEW,
    OLD,
    Dying,
    DyingAt,
    Place,
    Traced,
    list_journals,
    make_place,
    make_plan,
    old_text,
)
from tests.world.processes.killed import dies


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return make_place(tmp_path / "one")


def crash(place: Place, plan: Plan, at: tuple[str, str] = ("create", "commit.json.tmp")) -> None:
    trace = Traced()
    spare = make_place(place.journal.parent / f"spare-{plan.id}")
    run(replace(plan, target_dir=str(spare.memory)), spare.journal, trace)
    assert dies(run, plan, place.journal, Dying(trace.calls.index(at)))


@pytest.mark.parametrize("shift", [os.makedev(8, 1), os.makedev(0, 1)], ids=["macOS", "mounted again"])
def test_a_device_that_has_another_number_now_keeps_nothing_half_written(
    place: Place, monkeypatch: pytest.MonkeyPatch, shift: int
) -> None:
    read_text, fstat, number = Path.read_text, os.fstat, shift

    def without_boot(path: Path, *given: Any) -> str:
        if path.name == "boot_id" and os.major(shift):
            raise FileNotFoundError
        return read_text(path, *given)

    def numbered(fd: int) -> os.stat_result:
        found = fstat(fd)
        return os.stat_result((*found[:2], number, *found[3:]), found.__reduce__()[1][1])

    monkeypatch.setattr(Path, "read_text", without_boot)
    monkeypatch.setattr(os, "fstat", numbered)
    if not (child := os.fork()):  # has these numbers too
        try:
            run(make_plan(place), place.journal, DyingAt("commit.json.tmp"))
        finally:
            os._exit(1)
    assert os.WIFSIGNALED(os.waitpid(child, 0)[1])
    number += 1
    [done] = recover(place.journal)
    assert (done.action, place.texts()) == ("undone", OLD)


def test_without_a_journal_there_is_nothing_to_recover(tmp_path: Path) -> None:
    assert recover(tmp_path / "none") == []
    assert not (tmp_path / "none").exists()
    assert list_journals(tmp_path / "none") == []


def test_an_applied_plan_is_read_back_whole(place: Place) -> None:
    result = run(make_plan(place), place.journal)
    entry = read_journal(place.journal, "d1")
    assert entry is not None
    assert (entry.state, entry.result, entry.meta, entry.target_dir) == (
        "applied",
        result,
        {"dream": "d1"},
        str(place.memory),
    )
    assert old_text(place, "d1", sha256_of(OLD["gone.md"])) == OLD["gone.md"]
    assert read_journal(place.journal, "other") is None


def test_an_interrupted_plan_blocks_others_on_its_directory_until_recovered(place: Place) -> None:
    crash(place, make_plan(place))
    assert [entry.state for entry in list_journals(place.journal)] == ["open"]
    (place.memory.parent / "alias").symlink_to(place.memory)
    for spelling in (place.memory, place.memory.parent / "alias"):
        with pytest.raises(JournalBusy, match="run recover"):
            run(replace(make_plan(place, "d2"), target_dir=str(spelling)), place.journal)
    [done] = recover(place.journal)
    assert (done.plan_id, done.action) == ("d1", "undone")
    assert set(done.files) == {"a.md", "team/new.md", "gone.md"}
    assert run(make_plan(place, "d2"), place.journal).status == "applied"


def test_a_plan_that_died_while_preparing_leaves_no_journal(place: Place) -> None:
    crash(place, make_plan(place), ("create", "record.json.tmp"))
    assert recover(place.journal) == []
    assert list_journals(place.journal) == []
    assert place.texts() == OLD


def test_two_writers_at_once_are_refused_with_a_clear_answer(place: Place) -> None:
    with locked(place.journal):
        with pytest.raises(JournalBusy, match="another process"):
            run(make_plan(place), place.journal, wait_seconds=0)
        with pytest.raises(JournalBusy, match="another process"):
            recover(place.journal, wait_seconds=0)
    assert run(make_plan(place), place.journal, wait_seconds=0).status == "applied"


def test_one_plan_that_cannot_be_recovered_stops_no_other(place: Place, tmp_path: Path) -> None:
    crash(place, make_plan(place))
    lost = Place(make_place(tmp_path / "two").memory, place.journal)
    crash(lost, make_plan(lost, "b1"))
    shutil.rmtree(tmp_path / "two")
    first, second = recover(place.journal)
    assert (first.plan_id, first.action) == ("b1", "nothing")
    assert first.said[0].startswith(f"It cannot be ended: {tmp_path}/two")
    assert (second.plan_id, second.action) == ("d1", "undone")
    assert place.texts() == OLD
    [waiting] = [entry for entry in list_journals(place.journal) if entry.state == "open"]
    abandon(place.journal, waiting.name, "the directory was deleted")
    assert recover(place.journal) == []


def test_a_plan_whose_records_a_disk_does_not_find_now_waits_and_is_not_thrown_away(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    """From Python 3.14 on, `Path.exists` says no then."""
    crash(place, make_plan(place))
    stat = os.stat

    def failing(path: Any, *given: Any, **more: Any) -> os.stat_result:
        if str(path).endswith(".json"):
            raise OSError(errno.EIO, os.strerror(errno.EIO), str(path))
        return stat(path, *given, **more)

    with monkeypatch.context() as patched:
        patched.setattr(os, "stat", failing)
        [waiting] = recover(place.journal)
    assert (waiting.plan_id, waiting.action) == ("d1", "nothing") and "Input/output" in waiting.said[0]
    [done] = recover(place.journal)
    assert done.action == "undone" and place.texts() == OLD


@pytest.mark.parametrize("record", ["record.json", "end.json"])
def test_one_flipped_bit_in_a_record_is_found_and_named(place: Place, record: str) -> None:
    run(make_plan(place), place.journal)
    assert verify_journals(place.journal) == (1, [])
    path = place.journal / "d1.1" / record
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)
    _, [trouble] = verify_journals(place.journal)
    assert f"d1.1: {record}" in trouble
    assert [entry.state for entry in list_journals(place.journal)] == ["damaged"]


def test_a_journal_that_may_not_be_read_is_not_called_damaged(place: Place) -> None:
    run(make_plan(place), place.journal)
    with closed_to_us(place.journal / "d1.1"):
        assert [entry.state for entry in list_journals(place.journal)] == ["unread"]


def test_a_flipped_bit_in_a_text_and_a_missing_text_are_found_and_named(place: Place) -> None:
    run(make_plan(place), place.journal)
    blobs = place.journal / "d1.1" / "blobs"
    flipped, missing = sha256_of(OLD["a.md"]), sha256_of(NEW["a.md"])
    (blobs / flipped).write_bytes(b"\xef\xbb\xbfole\r\n")
    (blobs / missing).unlink()
    _, troubles = verify_journals(place.journal)
    assert len(troubles) == 2
    assert any(flipped in line and "damaged" in line for line in troubles)
    assert any(missing in line and "missing" in line for line in troubles)


def test_a_damaged_journal_is_not_acted_on(place: Place) -> None:
    crash(place, make_plan(place))
    (place.journal / "d1.1" / "record.json").write_bytes(b"{}")
    before = place.tree()
    [done] = recover(place.journal)
    assert done.action == "nothing"
    assert place.tree() == before


def test_forgetting_takes_ended_journals_only_and_never_what_is_to_be_kept(
    place: Place, tmp_path: Path
) -> None:
    for number in range(3):
        op = FileOp(f"{number}.md", None, b"%d" % number)
        run(Plan(str(place.memory), (op,), f"d{number}", ""), place.journal)
    other = Place(make_place(tmp_path / "two").memory, place.journal)
    crash(other, make_plan(other, "open"))
    gone = {sha256_of(b"0"), sha256_of(b"2"), sha256_of(NEW["a.md"])}
    assert forget_texts(place.journal, gone) == ["d0.1", "d2.1"]
    assert {entry.plan_id for entry in list_journals(place.journal)} == {"d1", "open"}


def test_what_an_interrupted_forgetting_left_is_never_taken_for_an_interrupted_plan(place: Place) -> None:
    run(make_plan(place), place.journal)
    gone = place.journal / "d1.1.gone"
    (place.journal / "d1.1").rename(gone)
    (gone / "end.json").unlink()
    (gone / "commit.json").unlink()
    assert recover(place.journal) == []
    assert place.texts() == NEW
    assert not gone.exists()


def test_a_forgetting_that_is_cut_short_never_leaves_half_a_journal(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    run(make_plan(place), place.journal)
    monkeypatch.setattr(shutil, "rmtree", lambda *_, **__: None)
    assert forget_texts(place.journal, {sha256_of(NEW["a.md"])}) == ["d1.1"]
    assert list_journals(place.journal) == []


def test_a_failed_plan_can_be_tried_again_under_its_id_and_both_attempts_are_told(place: Place) -> None:
    system = Traced()

    def full() -> None:
        raise OSError(28, "No space left on device")

    system.before["exchange", "a.md"] = full
    assert run(make_plan(place), place.journal, system).status == "failed"
    assert run(make_plan(place), place.journal).status == "applied"
    assert [(entry.name, entry.state) for entry in list_journals(place.journal)] == [
        ("d1.1", "failed"),
        ("d1.2", "applied"),
    ]


def test_hundreds_of_files_are_recovered_in_one_go(place: Place) -> None:
    for number in range(200):
        (place.memory / f"{number}.md").write_bytes(b"%d" % number)
    before = place.tree()
    ops = tuple(FileOp(f"{n}.md", sha256_of(b"%d" % n), b"new %d" % n) for n in range(200))
    plan = Plan(str(place.memory), ops, "big", "")

    assert dies(run, plan, place.journal, DyingAt("commit.json.tmp"))
    assert len(place.leftovers()) == 200
    [done] = recover(place.journal)
    assert (done.action, len(done.files), done.said) == ("undone", 200, ())
    assert place.tree() == before


def test_an_interrupt_from_the_keyboard_undoes_like_any_failure(place: Place) -> None:
    before = place.tree()
    system = Traced()

    def interrupt() -> None:
        raise KeyboardInterrupt

    system.before["move_new", ".memoryweb-d1-2.tmp"] = interrupt
    with pytest.raises(KeyboardInterrupt):
        run(make_plan(place), place.journal, system)
    assert place.tree() == before
    assert recover(place.journal) == []
