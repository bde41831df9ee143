"""Writing into a scratch copy: whole files, kept modes, no leftovers."""

import os
import stat
from pathlib import Path

import pytest

from dreams.lib.files.safefs import Root, UnsafePath


def test_a_new_file_is_private_and_a_changed_one_keeps_its_mode(tmp_path: Path) -> None:
    (tmp_path / "old.md").write_bytes(b"old")
    (tmp_path / "old.md").chmod(0o640)
    with Root.open(tmp_path) as root:
        root.write_bytes("old.md", b"changed")
        root.write_bytes("new.md", b"new")
        root.write_bytes("open.md", b"open", mode=0o644)
    modes = {p.name: stat.S_IMODE(p.stat().st_mode) for p in tmp_path.iterdir()}
    assert modes == {"old.md": 0o640, "new.md": 0o600, "open.md": 0o644}
    assert (tmp_path / "old.md").read_bytes() == b"changed"


def test_a_reader_who_holds_the_old_file_keeps_the_old_bytes(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_bytes(b"old")
    with Root.open(tmp_path) as root, root.open_file("a.md") as reader:
        root.write_bytes("a.md", b"new and longer")
        assert reader.read() == b"old"


def test_folders_are_made_once_and_existing_ones_are_kept(tmp_path: Path) -> None:
    with Root.open(tmp_path) as root:
        root.mkdirs("team/deep")
        os.chmod(tmp_path / "team", 0o740)
        root.mkdirs("team/deep/er")
    assert (tmp_path / "team/deep/er").is_dir()
    assert stat.S_IMODE((tmp_path / "team").stat().st_mode) == 0o740


def test_a_failed_write_leaves_the_old_bytes_and_no_leftover(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a.md").write_bytes(b"old")

    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    with Root.open(tmp_path) as root:
        monkeypatch.setattr(os, "replace", full)
        with pytest.raises(OSError, match="No space"):
            root.write_bytes("a.md", b"new")
    assert os.listdir(tmp_path) == ["a.md"]
    assert (tmp_path / "a.md").read_bytes() == b"old"


def test_removing_takes_files_only(tmp_path: Path) -> None:
    (tmp_path / "team").mkdir()
    (tmp_path / "team" / "a.md").write_bytes(b"x")
    with Root.open(tmp_path) as root:
        with pytest.raises(UnsafePath):
            root.unlink("team")
        root.unlink("team/a.md")
    assert os.listdir(tmp_path / "team") == []
