"""The scratch copy: the real directory is only read, and what must not change cannot be written."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from dreams.lib.files import workspace
from tests.world.cases import each
from tests.world.manifest import manifest


@pytest.fixture
def memory(tmp_path: Path) -> Path:
    folder = tmp_path / "memory"
    (folder / "logs/2026/03").mkdir(parents=True)
    (folder / "team").mkdir()
    for name, data in {
        "MEMORY.md": b"# Memory\n",
        "a.md": b"one\r\n",
        "odd.md": b"caf\xe9\n",
        "notes.txt": b"plain\n",
        "team/b.md": b"shared\n",
        "logs/2026/03/01.md": b"log\n",
        ".consolidate-lock": b"1",
        ".hidden.md": b"x",
    }.items():
        (folder / name).write_bytes(data)
    (folder / "link.md").symlink_to("/etc/hostname")
    (folder / "elsewhere").symlink_to("/tmp")
    (folder / "folder.md").mkdir()
    os.link(folder / "a.md", tmp_path / "elsewhere.md")
    return folder


def open_one(tmp_path: Path, memory: Path) -> workspace.Workspace:
    return workspace.Workspace.create(tmp_path / "scratch", workspace.take(memory))


def test_the_snapshot_has_every_regular_file_and_says_why_others_are_not_there(memory: Path) -> None:
    taken = workspace.take(memory)
    assert set(taken.files) == {"MEMORY.md", "a.md", "odd.md", "notes.txt", "team/b.md", "logs/2026/03/01.md"}
    assert "link" in taken.skipped["link.md"]


def test_a_missing_directory_is_an_empty_snapshot(tmp_path: Path) -> None:
    taken = workspace.take(tmp_path / "nothing")
    assert not taken.exists and not taken.files


def test_working_in_the_scratch_copy_leaves_the_directory_as_it_is(tmp_path: Path, memory: Path) -> None:
    before = manifest(memory)
    with open_one(tmp_path, memory) as scratch:
        scratch.write("MEMORY.md", "changed\n")
        scratch.write("new/topic.md", "made\n")
        scratch.delete("team/b.md")
        assert scratch.read("new/topic.md") == "made\n"
        assert scratch.read("team/b.md") is None
    assert manifest(memory) == before
    assert not (tmp_path / "scratch").exists()


@pytest.mark.parametrize(
    ("path", "why"),
    [
        ("logs/2026/03/01.md", "log"),
        ("odd.md", "UTF-8"),
        ("a.md", "hard link"),
        ("notes.txt", "Markdown"),
        ("link.md", "is a link"),
        ("elsewhere/a.md", "is a link"),
        ("folder.md", "is a folder"),
        (".consolidate-lock", "Markdown"),
        ("Memory.md", "only by case"),
        ("../outside.md", r"\.\."),
        ("/etc/passwd.md", "/etc/passwd.md"),
    ],
)
def test_what_must_not_change_is_refused_with_the_reason(
    tmp_path: Path, memory: Path, path: str, why: str
) -> None:
    with open_one(tmp_path, memory) as scratch, pytest.raises(Exception, match=why) as refused:
        scratch.write(path, "x")
    assert type(refused.value).__name__ in ("WorkspaceRefused", "UnsafePath")


def test_a_folder_of_memories_with_the_name_of_a_memory_is_not_written_over(tmp_path: Path) -> None:
    (tmp_path / "memory/MEMORY.md").mkdir(parents=True)
    (tmp_path / "memory/MEMORY.md/inner.md").write_text("text\n")
    with open_one(tmp_path, tmp_path / "memory") as scratch:
        with pytest.raises(workspace.WorkspaceRefused, match="is a folder"):
            scratch.write("MEMORY.md", "x")
        scratch.write("MEMORY.md/inner.md", "changed\n")


def test_bytes_that_are_not_utf8_survive_the_copy(tmp_path: Path, memory: Path) -> None:
    with open_one(tmp_path, memory) as scratch:
        assert scratch.contents()["odd.md"] == b"caf\xe9\n"


@each(
    "path",
    ["CON.md", "<img src=x>.md", "what?.md", "dep\u200bloy.md", "a.md ", "team./b.md", "\u0390" * 90 + ".md"],
)
def test_a_new_file_gets_a_name_that_travels_and_is_told_so_at_once(tmp_path: Path, path: str) -> None:
    with workspace.Workspace.create(tmp_path / "scratch", workspace.Snapshot(exists=True)) as made:
        with pytest.raises(workspace.WorkspaceRefused):
            made.write(path, "text\n")
        assert made.paths() == []


def test_a_file_that_has_such_a_name_already_can_be_changed(tmp_path: Path) -> None:
    (tmp_path / "memory").mkdir()
    (tmp_path / "memory" / "what?.md").write_text("one\n")
    with workspace.Workspace.create(tmp_path / "scratch", workspace.take(tmp_path / "memory")) as made:
        made.write("what?.md", "two\n")
        with pytest.raises(workspace.WorkspaceRefused, match="Choose another name"):
            made.write("What?.md", "three\n")
