"""The cache in files: a damaged entry is none, nor is one from a clock that ran ahead, and the oldest entries make room."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
import time_machine

from memoryweb import settings
from memoryweb.file_cache import FileCache


@pytest.fixture
def cache(tmp_path: Path) -> FileCache:
    return FileCache(str(tmp_path), {})


def test_it_is_the_one_in_use() -> None:
    assert settings.CACHES["default"]["BACKEND"] == f"{FileCache.__module__}.{FileCache.__name__}"


def test_an_entry_cut_off_or_overwritten_anywhere_is_missing_and_can_be_set_again(
    cache: FileCache, tmp_path: Path
) -> None:
    cache.set("key", ["kept"], None)
    [file] = tmp_path.iterdir()
    whole = file.read_bytes()
    for damaged in (*(whole[:end] for end in range(len(whole))), bytes(len(whole)), b"\xff" * 9):
        file.write_bytes(damaged)
        assert cache.get("key") is None
        file.write_bytes(damaged)
        cache.add("key", ["anew"])
        assert cache.get("key") in (None, ["anew"])
    cache.set("key", ["kept"], None)
    assert cache.get("key") == ["kept"]


class Report:
    """Stands for a class that an update removes."""


def test_an_entry_of_a_class_that_is_gone_is_missing(
    cache: FileCache, monkeypatch: pytest.MonkeyPatch
) -> None:
    cache.set("key", Report(), None)
    assert isinstance(cache.get("key"), Report)
    monkeypatch.delattr(f"{__name__}.Report")
    assert cache.get("key") is None


def test_an_entry_for_a_moment_that_a_clock_a_year_ahead_set_is_over(cache: FileCache) -> None:
    with time_machine.travel("2031-05-01"):
        cache.set("moment", "then", 60)
        cache.set("always", "then", None)
        assert cache.get("moment") == "then"
    with time_machine.travel("2030-05-01"):
        assert cache.add("moment", "now", 60) and cache.get("moment") == "now"
        assert cache.get("always") == "then"


def test_an_entry_set_for_longer_than_any_is_kept_is_there_for_as_long_as_others(cache: FileCache) -> None:
    with time_machine.travel("2030-05-01") as clock:
        cache.set("sums", "kept", 40 * 86_400)
        assert cache.get("sums") == "kept"
        clock.shift(8 * 86_400)
        assert cache.get("sums") is None


def test_of_too_many_entries_the_oldest_go(cache: FileCache, tmp_path: Path) -> None:
    cache._max_entries = 6
    for number in range(6):
        cache.set(str(number), number, None)
        newest = max(tmp_path.iterdir(), key=lambda file: file.stat().st_mtime_ns)
        os.utime(newest, (number, number))
    cache.set("0", "again", None)
    cache.set("new", "new", None)
    assert [cache.get(str(number)) for number in range(6)] == ["again", None, 2, 3, 4, 5]
    assert cache.get("new") == "new"
