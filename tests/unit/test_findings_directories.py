"""What is read from the disk for the findings: every plain file, the words of each speaker, and no more than it may be."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from dreams.findings import directories
from tests.world.transcripts import said, tool_call, tool_result, write


def test_what_is_no_plain_file_is_named_with_what_it_is_and_never_read(tmp_path: Path) -> None:
    (tmp_path / "outside.md").write_text("outside")
    folder = tmp_path / "memory"
    (folder / "topics").mkdir(parents=True)
    (folder / "topics/a.md").write_text("inside")
    (folder / "link.md").symlink_to(tmp_path / "outside.md")
    os.mkfifo(folder / "pipe.md")
    found = directories.read(folder)
    assert found.files == {"topics/a.md": b"inside"}
    assert set(found.odd) == {"link.md", "pipe.md"}
    assert not any(why.startswith("cannot be read") for why in found.odd.values()), "it was not even tried"


def test_each_text_of_a_transcript_has_the_one_who_wrote_it(tmp_path: Path) -> None:
    write(tmp_path / "one/a.jsonl", [
        said("user", "Use tabs."), said("assistant", "I will use tabs."),
        tool_call("Bash", command="ls", id="b1"), tool_result("b1", "tabs.md"),
    ])  # fmt: skip
    (tmp_path / "one/b.jsonl").write_bytes(b'{"half\n\xff\n')
    (tmp_path / "notes.md").write_text("no transcript")
    turns = directories.turns_below(tmp_path)
    assert [(turn.place, turn.line, turn.role, turn.text) for turn in turns] == [
        ("one/a.jsonl", 1, "user", "Use tabs."),
        ("one/a.jsonl", 2, "assistant", "I will use tabs."),
        ("one/a.jsonl", 4, "tool", "tabs.md"),
    ]


@pytest.mark.parametrize(("limit", "most"), [("MAX_TURNS", 1), ("MAX_TRANSCRIPT_BYTES", 2_000)])
def test_the_newest_transcripts_are_read_up_to_the_limit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, limit: str, most: int
) -> None:
    for age, name in enumerate(("new", "older", "oldest")):
        path = write(tmp_path / f"{name}.jsonl", [said("user", f"The {name} one. " + "It is long. " * 80)])
        os.utime(path, (1_700_000_000 - age, 1_700_000_000 - age))
    monkeypatch.setattr(directories, limit, most)
    assert [turn.place for turn in directories.turns_below(tmp_path)] == ["new.jsonl"]


def test_a_transcript_that_is_too_large_hides_no_older_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for age, (name, text) in enumerate((("new", "It is long. " * 80), ("older", "It is short."))):
        path = write(tmp_path / f"{name}.jsonl", [said("user", text)])
        os.utime(path, (1_700_000_000 - age, 1_700_000_000 - age))
    monkeypatch.setattr(directories, "MAX_TRANSCRIPT_BYTES", 1_000)
    assert [turn.place for turn in directories.turns_below(tmp_path)] == ["older.jsonl"]
