"""A manifest sees every difference that a rollback has to restore, and follows nothing."""

import os
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest

from tests.world.manifest import manifest


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    base = tmp_path / "tree"
    (base / "team").mkdir(parents=True)
    (base / "a.md").write_bytes(b"one")
    (base / "team" / "b.md").write_bytes(b"two")
    (base / "link").symlink_to("a.md")
    os.mkfifo(base / "pipe")
    return base


def same_time(path: Path, action: Callable[[], object]) -> None:
    """Change something, and put the mtimes back."""
    times = [(p, p.stat()) for p in (path, path.parent)]
    action()
    for name, stat in times:
        with suppress(FileNotFoundError):
            os.utime(name, ns=(stat.st_atime_ns, stat.st_mtime_ns))


def test_every_kind_of_name_is_listed_and_the_tree_itself_is_first(tree: Path) -> None:
    found = manifest(tree)
    assert {rel: entry.kind for rel, entry in found.items()} == {
        "": "dir",
        "a.md": "file",
        "link": "link",
        "pipe": "other",
        "team": "dir",
        "team/b.md": "file",
    }
    assert next(iter(found)) == ""
    assert manifest(tree) == found


@pytest.mark.parametrize("what", ["bytes", "mode", "mtime", "dir mtime", "dir mode", "link", "gone", "more"])
def test_one_difference_is_seen(tree: Path, what: str) -> None:
    before = manifest(tree)
    file = tree / "team" / "b.md"

    def relink() -> None:
        (tree / "link").unlink()
        (tree / "link").symlink_to("b.md")

    actions: dict[str, Callable[[], object]] = {
        "bytes": lambda: same_time(file, lambda: file.write_bytes(b"TWO")),
        "mode": lambda: file.chmod(0o604),
        "mtime": lambda: os.utime(file, ns=(0, file.stat().st_mtime_ns + 1)),
        "dir mtime": lambda: os.utime(tree / "team", ns=(0, 1)),
        "dir mode": lambda: (tree / "team").chmod(0o700 | 0o4),
        "link": relink,
        "gone": lambda: same_time(file, file.unlink),
        "more": lambda: same_time(file, lambda: (tree / "team" / "c.md").write_bytes(b"")),
    }
    actions[what]()
    assert manifest(tree) != before


def test_a_missing_directory_has_an_empty_manifest(tmp_path: Path) -> None:
    assert manifest(tmp_path / "none") == {}
