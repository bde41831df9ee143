"""A session appends after a crash and before the recovery: its lines stay, and no file is new while others are old."""

import errno
import shutil
from itertools import count
from pathlib import Path
from unittest.mock import Mock

import pytest

from bench import kills
from dreams.lib.storage.journal import FileOp, Plan, collect_late, recover, run, sha256_of
from tests.world.cases import each
from tests.world.journal import Dying, Traced, list_journals
from tests.world.processes.killed import dies

FLAGS = pytest.mark.parametrize(
    "rename_flags", [True, pytest.param(False, marks=pytest.mark.sweep)], ids=["exchange", "link-aside"]
)
MOVED = b"The export runs at 04:00.\n"
BEFORE = {"a.md": b"Anna\n" + MOVED, "b.md": b"Bernd\n", "gone.md": b"to be merged\n"}
AFTER = {"a.md": b"Anna\n", "b.md": b"Bernd\nto be merged\n" + MOVED, "new.md": b"new\n"}
LINE = b"- appended by a session\n"
# What is appended to, and whether the system exchanges two files at once.
MORE = (
    ("a.md", False),
    ("b.md", True),
    ("b.md", False),
    ("gone.md", True),
    ("new.md", True),
    ("new.md", False),
)


class Place:
    def __init__(
        self, base: Path, before: dict[str, bytes] = BEFORE, after: dict[str, bytes] = AFTER
    ) -> None:
        shutil.rmtree(base, ignore_errors=True)
        self.memory, self.journal = base / "memory", base / "journal"
        self.memory.mkdir(parents=True)
        for name, data in before.items():
            (self.memory / name).write_bytes(data)
        names = sorted({**before, **after})
        ops = [
            FileOp(name, sha256_of(before[name]) if name in before else None, after.get(name))
            for name in names
            if before.get(name) != after.get(name)
        ]
        self.plan = Plan(str(self.memory), tuple(ops), "d1", "")

    def texts(self) -> dict[str, bytes]:
        return {path.name: path.read_bytes() for path in self.memory.iterdir()}

    def append(self, name: str, line: bytes = LINE) -> None:
        with (self.memory / name).open("ab") as file:
            file.write(line)


def with_line(texts: dict[str, bytes], name: str) -> dict[str, bytes]:
    return {**texts, name: texts.get(name, b"") + LINE}


@pytest.mark.parametrize(
    ("name", "rename_flags"),
    [
        ("a.md", True),
        pytest.param("gone.md", False, marks=pytest.mark.more),
        *(pytest.param(*case, marks=pytest.mark.sweep) for case in MORE),
    ],
)
def test_killed_at_every_step_and_appended_to_before_the_recovery(
    tmp_path: Path, name: str, rename_flags: bool
) -> None:
    ends = set()
    for step in count():
        place = Place(tmp_path / "p")
        if not dies(run, place.plan, place.journal, Dying(step, rename_flags)):
            break
        place.append(name)
        recover(place.journal, Traced(rename_flags))
        entry = next(iter(list_journals(place.journal)), None)
        is_old = entry is None or entry.state == "undone"
        ends.add(is_old)
        assert place.texts() == with_line(BEFORE if is_old else AFTER, name), step
        assert collect_late(place.journal) == []
    assert ends == {True, False}


@pytest.mark.more
@FLAGS
def test_the_recovery_killed_at_every_step_brings_the_line_behind_the_old_text_once(
    tmp_path: Path, rename_flags: bool
) -> None:
    trace = Traced(rename_flags)
    place = Place(tmp_path / "p")
    run(place.plan, place.journal, trace)
    half = trace.calls.index(("move_new", "new.md"))
    for step in count():
        place = Place(tmp_path / "p")
        assert dies(run, place.plan, place.journal, Dying(half, rename_flags))
        place.append("a.md")
        if not dies(recover, place.journal, Dying(step, rename_flags)):
            break
        recover(place.journal, Traced(rename_flags))
        assert place.texts() == with_line(BEFORE, "a.md"), step
        assert [one for one in collect_late(place.journal) if one.data not in (place.texts()["a.md"],)] == []
    assert step > 15


def test_where_two_files_cannot_be_exchanged_the_last_one_swapped_counts_before_its_names_are_tidied(
    tmp_path: Path,
) -> None:
    before, after = {"a.md": b"one\n", "b.md": b"two\n"}, {"a.md": b"new one\n", "b.md": b"new two\n"}
    trace = Traced(rename_flags=False)
    place = Place(tmp_path / "p", before, after)
    run(place.plan, place.journal, trace)
    place = Place(tmp_path / "p", before, after)
    tidied = trace.calls.index(("replace", ".memoryweb-d1-1.tmp"))
    assert dies(run, place.plan, place.journal, Dying(tidied, rename_flags=False))
    place.append("a.md")
    assert [one.action for one in recover(place.journal, Traced(rename_flags=False))] == ["finished"]
    assert place.texts() == with_line(after, "a.md")


def half_written(tmp_path: Path) -> Place:
    """Killed when two files were changed and one removed, before the new one had its name."""
    trace = Traced()
    place = Place(tmp_path / "p")
    run(place.plan, place.journal, trace)
    half = trace.calls.index(("move_new", "new.md"))
    place = Place(tmp_path / "p")
    assert dies(run, place.plan, place.journal, Dying(half))
    return place


def test_a_folder_that_took_the_place_of_a_removed_file_stays(tmp_path: Path) -> None:
    place = half_written(tmp_path)
    (place.memory / "gone.md").mkdir()
    [done] = recover(place.journal)
    assert done.said == ("'gone.md' was changed by somebody else meanwhile and was left unchanged",)
    (place.memory / "gone.md").rmdir()
    assert place.texts() == {name: BEFORE[name] for name in ("a.md", "b.md")}


def test_an_undo_that_the_disk_refuses_is_not_ended_until_it_is_complete(tmp_path: Path) -> None:
    place, system = half_written(tmp_path), Traced()
    system.before["exchange", "a.md"] = Mock(side_effect=OSError(errno.EIO, "the disk refuses"))
    [done] = recover(place.journal, system)
    assert done.action == "nothing" and "undoing is not complete; run recover again" in done.said
    assert [one.action for one in recover(place.journal)] == ["undone"]
    assert place.texts() == BEFORE


@each(
    ("old", "new", "line", "wanted"),
    [
        (b"no end", b"new\n", b"- line\n", b"no end\n- line\n"),
        (b"no end", b"no new end", b"\n- line", b"no end\n- line"),
        (b"", b"new\n", b"- line\n", b"- line\n"),
        (b"old\r\n", b"new\r\n", b"- line\r\n", b"old\r\n- line\r\n"),
        (b"old\n", b"", b"- line\n", b"old\n- line\n"),
    ],
)
def test_an_appended_line_stays_a_line_of_its_own(
    tmp_path: Path, old: bytes, new: bytes, line: bytes, wanted: bytes
) -> None:
    place = Place(tmp_path / "p", {"a.md": old, "b.md": b"b\n"}, {"a.md": new, "b.md": b"c\n"})
    system = Traced()

    def appended() -> None:
        place.append("a.md", line)
        place.append("b.md", b"changed\n")

    system.before["exchange", "b.md"] = appended
    assert run(place.plan, place.journal, system).status == "conflict"
    assert place.texts() == {"a.md": wanted, "b.md": b"b\nchanged\n"}


def test_what_is_rewritten_while_an_appended_line_is_brought_back_stays(tmp_path: Path) -> None:
    place, system = Place(tmp_path / "p"), Traced()
    anew = b"written anew\n"

    def appended() -> None:
        place.append("a.md")
        place.append("b.md")
        system.before["exchange", "a.md"] = lambda: (place.memory / "a.md").write_bytes(anew)

    system.before["exchange", "b.md"] = appended
    assert run(place.plan, place.journal, system).status == "conflict"
    assert place.texts() == with_line({**BEFORE, "a.md": anew}, "b.md")


def test_a_refused_run_leaves_no_new_text_where_somebody_appended_to_it(tmp_path: Path) -> None:
    place = Place(tmp_path / "p")
    system = Traced()

    def meanwhile() -> None:
        place.append("a.md")
        place.append("gone.md")

    system.before["move_new", ".memoryweb-d1-2.tmp"] = meanwhile
    result = run(place.plan, place.journal, system)
    assert result.status == "conflict"
    assert place.texts() == with_line(with_line(BEFORE, "a.md"), "gone.md")
    assert any("'a.md' has its old text again" in line for line in result.said)


def test_a_line_that_an_editor_saved_anew_behind_the_new_text_stays(tmp_path: Path) -> None:
    place = Place(tmp_path / "p")
    trace = Traced()
    run(place.plan, place.journal, trace)
    place = Place(tmp_path / "p")
    step = trace.calls.index(("create", "commit.json.tmp"))
    assert dies(run, place.plan, place.journal, Dying(step))
    (place.memory / "editor").write_bytes(AFTER["a.md"] + LINE)
    (place.memory / "editor").replace(place.memory / "a.md")
    assert [done.action for done in recover(place.journal)] == ["finished"]
    assert place.texts() == with_line(AFTER, "a.md")


@pytest.mark.sweep
def test_generated_directories_killed_at_random_calls_lose_no_line(tmp_path: Path) -> None:
    figures = kills.kills(tmp_path, 60, seed=7)
    assert figures.wrong == []
    assert figures.killed > 50
    assert min(figures.before, figures.after) > 5


@pytest.mark.more
def test_lines_appended_while_files_are_written_are_all_there(tmp_path: Path) -> None:
    load = kills.appends(tmp_path, 300, seed=7)
    assert (load.lost, load.mixed) == ([], 0)
    assert load.lines == 300
    assert load.applied + load.refused > 5
