"""A walk offers regular files in order, and says what it left out."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from dreams.lib.files.safefs import Root, Skipped, WalkedFile


@pytest.fixture
def base(tmp_path: Path) -> Path:
    for rel in ("b.md", "team/c.md", "team/deep/d.md", "a.md"):
        (tmp_path / rel).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / rel).write_bytes(b"x")
    return tmp_path


@pytest.fixture
def root(base: Path) -> Iterator[Root]:
    with Root.open(base) as opened:
        yield opened


def files(root: Root, **options: int) -> list[str]:
    return [item.rel for item in root.walk(**options) if isinstance(item, WalkedFile)]


def skipped(root: Root, **options: int) -> dict[str, str]:
    return {item.rel: item.why for item in root.walk(**options) if isinstance(item, Skipped)}


def test_files_come_in_name_order_with_their_stat(root: Root) -> None:
    assert files(root) == ["a.md", "b.md", "team/c.md", "team/deep/d.md"]
    assert all(item.stat.st_size == 1 for item in root.walk() if isinstance(item, WalkedFile))
    assert skipped(root) == {}


def test_a_walk_can_begin_below_and_keeps_whole_paths(root: Root) -> None:
    assert [item.rel for item in root.walk(rel="team")] == ["team/c.md", "team/deep/d.md"]


def test_links_and_fifos_are_named_and_never_entered(base: Path, root: Root) -> None:
    (base / "loop").symlink_to(base)
    (base / "dangling.md").symlink_to("/nowhere")
    os.mkfifo(base / "pipe")
    assert files(root) == ["a.md", "b.md", "team/c.md", "team/deep/d.md"]
    why = skipped(root)
    assert set(why) == {"loop", "dangling.md", "pipe"}
    assert "a link" in why["loop"]
    assert "a FIFO" in why["pipe"]


def test_a_start_that_is_missing_or_a_link_is_one_skipped_name(base: Path, root: Root) -> None:
    (base / "loop").symlink_to(base)
    assert [(item.rel, type(item)) for item in root.walk(rel="none")] == [("none", Skipped)]
    assert [(item.rel, type(item)) for item in root.walk(rel="loop/team")] == [("loop/team", Skipped)]


def test_a_walk_is_bounded_in_names_and_says_so(root: Root) -> None:
    assert len(list(root.walk(limit=3))) == 3
    assert "more than 3 names" in skipped(root, limit=3)[""]
    assert skipped(root, limit=6) == {}


def test_a_walk_is_bounded_in_depth_and_says_so(root: Root) -> None:
    assert files(root, max_depth=1) == ["a.md", "b.md", "team/c.md"]
    assert "too deep" in skipped(root, max_depth=1)["team/deep"]


def test_listing_a_folder_is_sorted_and_bounded(root: Root) -> None:
    assert root.listdir() == ["a.md", "b.md", "team"]
    assert root.listdir("team") == ["c.md", "deep"]
    assert len(root.listdir(limit=2)) == 2


def test_a_root_below_a_root_reads_the_same_files(root: Root) -> None:
    with root.sub("team") as team:
        assert team.read_bytes("deep/d.md") == b"x"
        assert team.path == f"{root.path}/team"
