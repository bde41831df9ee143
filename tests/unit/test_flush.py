"""What is said to be on the disk is on the disk, also where a system means less by `fsync`."""

from __future__ import annotations

import errno
import fcntl
import os
from pathlib import Path

import pytest

from dreams.lib.files import flush
from dreams.lib.files.safefs import held

ASKED = 51  # the number that macOS gives this request


def test_where_a_drive_may_keep_bytes_to_itself_it_is_asked_to_write_them(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    asked: list[int] = []
    monkeypatch.setattr(flush, "_FULL", ASKED)
    monkeypatch.setattr(fcntl, "fcntl", lambda _fd, what: asked.append(what))
    monkeypatch.setattr(os, "fsync", lambda _fd: pytest.fail("the plain one is not enough"))
    with (tmp_path / "note").open("wb") as file:
        flush.to_disk(file.fileno())
    assert asked == [ASKED]


def test_a_file_system_that_does_not_know_the_request_gets_the_plain_one(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def refused(_fd: int, _what: int) -> None:
        raise OSError

    synced: list[int] = []
    monkeypatch.setattr(flush, "_FULL", ASKED)
    monkeypatch.setattr(fcntl, "fcntl", refused)
    monkeypatch.setattr(os, "fsync", synced.append)
    with (tmp_path / "note").open("wb") as file:
        flush.to_disk(file.fileno())
        assert synced == [file.fileno()]


def test_a_folder_that_its_file_system_cannot_flush_is_as_good_as_it_gets_and_a_file_is_not(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def refused(_fd: int) -> None:
        raise OSError(errno.EINVAL, "Invalid argument")

    monkeypatch.setattr(os, "fsync", refused)
    folder = os.open(tmp_path, os.O_RDONLY)
    with held(folder), (tmp_path / "note").open("wb") as file:
        flush.to_disk(folder)
        with pytest.raises(OSError, match="Invalid argument"):
            flush.to_disk(file.fileno())


def test_an_error_of_the_disk_is_one_of_a_folder_too(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def broken(_fd: int) -> None:
        raise OSError(errno.EIO, "Input/output error")

    monkeypatch.setattr(os, "fsync", broken)
    with held(os.open(tmp_path, os.O_RDONLY)) as folder, pytest.raises(OSError, match="Input"):
        flush.to_disk(folder)


def test_a_file_system_without_locks_is_named_as_the_cause() -> None:
    assert "use another" in flush.in_words(OSError(errno.ENOLCK, os.strerror(errno.ENOLCK)))
