"""Below a root nothing is followed, and only regular files are read."""

import os
import socket
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, strategies as s

from dreams.lib.files.safefs import Root, TooLarge, UnsafePath, split
from dreams.lib.files.safefs.root import open_plain
from tests.world.cases import each
from tests.world.strategies import tries


@pytest.fixture
def base(tmp_path: Path) -> Path:
    (tmp_path / "in" / "team").mkdir(parents=True)
    (tmp_path / "in" / "a.md").write_bytes(b"inside")
    (tmp_path / "in" / "team" / "b.md").write_bytes(b"team")
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "a.md").write_bytes(b"outside")
    return tmp_path


@pytest.fixture
def root(base: Path) -> Iterator[Root]:
    with Root.open(base / "in") as opened:
        yield opened


def test_a_file_in_a_folder_is_read(root: Root) -> None:
    assert root.read_bytes("team/b.md") == b"team"
    with root.open_file("a.md") as file:
        assert file.read() == b"inside"


def test_the_root_itself_may_be_a_link_and_stays_where_it_was_resolved(base: Path) -> None:
    link = base / "chosen"
    link.symlink_to(base / "in")
    with Root.open(link) as root, Root.open(base / "in") as direct:
        assert root.identity() == direct.identity()
        link.unlink()
        link.symlink_to(base / "out")
        assert root.read_bytes("a.md") == b"inside"


@each(
    "rel",
    [
        "",
        "/etc/hosts",
        "..",
        "../out/a.md",
        "team/../../out/a.md",
        "./a.md",
        "a//b",
        "team/",
        ".",
        "a\0b",
        "\ud800",
    ],
)
def test_a_path_that_is_not_one_plain_relative_name_is_refused(root: Root, rel: str) -> None:
    for call in (root.read_bytes, root.open_fd, root.unlink, root.mkdirs, root.lstat):
        with pytest.raises(UnsafePath):
            call(rel)
    with pytest.raises(UnsafePath):
        root.write_bytes(rel, b"x")


def test_a_root_with_a_nul_in_its_name_is_refused() -> None:
    with pytest.raises(UnsafePath):
        Root.open("/tmp\0/x")


@given(s.text(alphabet=s.sampled_from("ab./\0\udcff"), max_size=12))
@tries(60, 200)
def test_what_split_accepts_joins_to_the_same_path_and_never_climbs(rel: str) -> None:
    try:
        parts = split(rel)
    except UnsafePath:
        return
    assert "/".join(parts) == rel
    assert not set(parts) & {"", ".", ".."}


def test_opening_a_folder_leaves_none_of_those_above_it_open(base: Path) -> None:
    before = os.listdir("/dev/fd")
    os.close(open_plain(str((base / "in" / "team").resolve())))
    assert os.listdir("/dev/fd") == before


def test_a_link_is_not_followed_as_file_or_as_folder(base: Path, root: Root) -> None:
    (base / "in" / "link.md").symlink_to(base / "out" / "a.md")
    (base / "in" / "folder").symlink_to(base / "out")
    with pytest.raises(UnsafePath, match="a link"):
        root.read_bytes("link.md")
    with pytest.raises(UnsafePath, match="a link"):
        root.read_bytes("folder/a.md")
    with pytest.raises(UnsafePath, match="a link"):
        root.stat("link.md")
    with pytest.raises(UnsafePath):
        root.write_bytes("folder/a.md", b"x")
    with pytest.raises(UnsafePath):
        root.write_bytes("link.md", b"x")
    with pytest.raises(UnsafePath):
        root.mkdirs("folder/new")
    with pytest.raises(UnsafePath):
        root.unlink("link.md")
    assert (base / "out" / "a.md").read_bytes() == b"outside"
    assert os.listdir(base / "out") == ["a.md"]


def test_a_fifo_does_not_hang_and_a_socket_is_refused(
    base: Path, root: Root, monkeypatch: pytest.MonkeyPatch
) -> None:
    os.mkfifo(base / "in" / "pipe")
    monkeypatch.chdir(base / "in")
    with socket.socket(socket.AF_UNIX) as server:
        server.bind("sock")
        with pytest.raises(UnsafePath, match="a FIFO"):
            root.read_bytes("pipe")
        with pytest.raises(UnsafePath, match="a socket"):
            root.read_bytes("sock")


def test_a_directory_is_not_a_file_and_a_file_is_not_a_directory(root: Root) -> None:
    with pytest.raises(UnsafePath, match="a directory"):
        root.read_bytes("team")
    with pytest.raises(NotADirectoryError):
        root.read_bytes("a.md/b")


def test_a_missing_file_stays_a_file_not_found(root: Root) -> None:
    with pytest.raises(FileNotFoundError):
        root.read_bytes("none.md")
    assert not root.exists("none.md")
    assert not root.exists("a.md/deeper")
    assert root.exists("team/b.md")


def test_reading_is_bounded(root: Root) -> None:
    assert root.read_bytes("a.md", limit=6) == b"inside"
    with pytest.raises(TooLarge):
        root.read_bytes("a.md", limit=5)


def test_bytes_that_are_no_text_are_good_file_names(base: Path, root: Root) -> None:
    (base / "in" / os.fsdecode(b"caf\xe9.md")).write_bytes(b"latin")
    name = next(n for n in root.listdir() if n.startswith("caf"))
    assert os.fsencode(name) == b"caf\xe9.md"
    assert root.read_bytes(name) == b"latin"
    with pytest.raises(UnsafePath) as error:
        root.read_bytes(f"{name}/../x")
    str(error.value).encode()


def test_stat_tells_how_many_names_share_the_bytes(base: Path, root: Root) -> None:
    os.link(base / "in" / "a.md", base / "in" / "twin.md")
    assert root.stat("a.md").st_nlink == 2


def test_a_closed_root_says_so_and_leaks_no_handle(base: Path) -> None:
    before = len(os.listdir("/proc/self/fd"))
    with Root.open(base / "in") as root:
        root.read_bytes("team/b.md")
        list(root.walk())
        root.mkdirs("x/y")
        with pytest.raises(UnsafePath):
            root.read_bytes("team")
    assert len(os.listdir("/proc/self/fd")) == before
    with pytest.raises(ValueError, match="closed"):
        root.read_bytes("a.md")


def test_swapping_folders_and_files_for_links_leaks_nothing(base: Path, root: Root) -> None:
    """A thread swaps a folder and a file with links to the outside while we read and write through them."""
    stop = threading.Event()
    inside, outside = base / "in", base / "out"
    (outside / "b.md").write_bytes(b"outside")
    (inside / "dirlink").symlink_to(outside)
    (inside / "filelink").symlink_to(outside / "a.md")

    def swap(one: str, two: str) -> None:
        os.rename(inside / one, inside / "aside")
        os.rename(inside / two, inside / one)
        os.rename(inside / "aside", inside / two)

    def keep_swapping() -> None:
        while not stop.is_set():
            swap("team", "dirlink")
            swap("a.md", "filelink")

    thread = threading.Thread(target=keep_swapping)
    thread.start()
    seen: set[bytes] = set()
    refused = 0
    tries = 0
    try:
        while tries < 20_000 and (tries < 2_000 or not refused or len(seen) < 2):
            tries += 1
            for rel in ("team/b.md", "a.md"):
                try:
                    seen.add(root.read_bytes(rel))
                except (UnsafePath, OSError):
                    refused += 1
            try:
                root.write_bytes("team/new.md", b"new")
            except (UnsafePath, OSError):
                refused += 1
    finally:
        stop.set()
        thread.join()
    assert seen == {b"inside", b"team"}
    assert refused
    assert sorted(os.listdir(outside)) == ["a.md", "b.md"]
