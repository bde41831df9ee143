"""Which folders can be watched for changes, and why another cannot."""

from __future__ import annotations

from collections import namedtuple
from pathlib import Path

import psutil
import pytest

from dreams.services.discovery import watching

Mount = namedtuple("Mount", "mountpoint fstype")


def mounts(monkeypatch: pytest.MonkeyPatch, *found: tuple[Path, str]) -> None:
    listed = [Mount("/", "ext4"), *(Mount(str(where), kind) for where, kind in found)]
    monkeypatch.setattr(psutil, "disk_partitions", lambda **_: listed)


def test_a_folder_of_this_machine_can_be_watched_and_a_missing_one_is_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mounts(monkeypatch)
    assert watching.judge([tmp_path, tmp_path / "missing"]) == [watching.Watchable(tmp_path)]


@pytest.mark.parametrize("kind", ["nfs4", "cifs", "fuse.sshfs", "9p", "virtiofs", "drvfs", "vboxsf"])
def test_a_folder_of_another_machine_cannot_be_watched_also_by_a_link(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    far, link = tmp_path / "far", tmp_path / "link"
    (far / "root").mkdir(parents=True)
    link.symlink_to(far / "root")
    mounts(monkeypatch, (far, kind))
    assert [kind in one.why_not for one in watching.judge([far / "root", link, tmp_path])] == [
        True,
        True,
        False,
    ]


def test_a_folder_with_too_many_folders_is_not_watched(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mounts(monkeypatch)
    monkeypatch.setattr(watching, "MOST_FOLDERS", 3)
    for name in ("a/b", "c"):
        (tmp_path / name).mkdir(parents=True)
    assert not watching.judge([tmp_path])[0].why_not
    (tmp_path / "d").mkdir()
    assert "more than 3 folders" in watching.judge([tmp_path])[0].why_not
