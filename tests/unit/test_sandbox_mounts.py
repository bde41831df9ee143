"""Only the mounts exist, whatever a path is spelled like."""

import os
import threading
import time
from pathlib import Path

import pytest
from dulwich import porcelain
from hypothesis import given, strategies as s

from dreams.lib.files.safefs import Root
from dreams.lib.sandbox import Ignored
from dreams.lib.sandbox.ignore import LONGEST_FILE
from dreams.lib.sandbox.mounts import normal
from tests.world.cases import each
from tests.world.sandbox import OUTSIDE, World, world

__all__ = ["world"]


def test_a_mount_and_its_real_path_are_the_same_files(world: World) -> None:
    assert world.out("cat /memory/a.md") == world.out(f"cat {world.memory}/a.md") == world.out("cat a.md")


def test_a_wildcard_below_a_real_path_finds_the_same_files(world: World) -> None:
    """The folders above a mount do not exist here, and still lead to it."""
    found = world.out(f"ls -d {world.memory}/*.md {world.memory}/topic/*").split()
    assert f"{world.memory}/a.md" in found and f"{world.memory}/topic/one.md" in found
    assert world.out(f"echo {world.memory}/t*/one.md") == f"{world.memory}/topic/one.md\n"
    for outside in (
        f"{world.base}/*",
        f"{world.base}/home/*",
        f"{world.memory}/../*/../../../home/s*",
        "/*/../etc/*",
    ):
        assert world.out(f"echo {outside}") == f"{outside}\n"


def test_memory_below_a_transcript_folder_is_the_memory_mount(world: World) -> None:
    assert world.out("cat /transcripts/project/memory/a.md") == world.out("cat /memory/a.md")
    tree = world.shell._tree
    place = tree.place("/transcripts/project/memory/topic", "/")
    assert (place.mount is not None and place.mount.name, place.rel) == ("memory", "topic")


def test_the_top_holds_the_mounts_and_nothing_else(world: World) -> None:
    assert world.out("ls /") == "memory\nrepo\ntranscripts\n"
    assert world.out("ls /transcripts") == "project\n"
    assert "s1.jsonl" in world.out("find / -name '*.jsonl'")


@each(
    "path",
    [
        "/etc/hosts",
        "/proc/self/environ",
        "/dev/stdin",
        "{base}/home/secret",
        "{base}",
        "{base}/memory-evil/a.md",
        "/memory-evil/a.md",
        "/memoryx",
        "{memory}/../../../home/secret",
        "/memory/../../../../etc/hosts",
        "../../../../etc/hosts",
        "/memory/out/secret",
        "out/secret",
        "link.md",
        "./link.md",
        "topic/../link.md",
        "/repo/.git/config",
        "/repo/.GIT/config",
        "/repo/build/out.txt",
        "/repo/x.log",
        "",
        "a.md/",
        "a.md/x",
    ],
)
def test_no_path_leads_outside(world: World, path: str) -> None:
    path = path.format(base=world.base, memory=world.memory)
    for command in ("cat", "head", "grep -r .", "wc -c", "sort", "stat", "diff a.md"):
        answer = world.run(f"{command} '{path}'")
        if command != "stat" or "link" not in path:
            assert answer.exit_code != 0, command
        assert OUTSIDE not in answer.output and "private" not in answer.output and "made" not in answer.output


def test_a_folder_beside_memory_with_a_longer_name_is_not_taken_for_it(world: World) -> None:
    assert world.out("cat /transcripts/project/memory-evil/b.md") == "beside\n"
    assert world.run("cat /memory-evil/b.md").exit_code == 1


def test_what_git_ignores_is_not_there(world: World) -> None:
    assert world.out("ls -A /repo") == ".gitignore\nbuild.txt\nkeep.log\nsrc\n"
    assert world.out("grep -rl made /repo").split() == ["/repo/build.txt", "/repo/keep.log"] or set(
        world.out("grep -rl made /repo").split()
    ) == {"/repo/build.txt", "/repo/keep.log"}
    assert "build/" not in world.out("find /repo")


def test_recursion_follows_no_link(world: World) -> None:
    for line in (
        "grep -r nobody .",
        "grep -R nobody .",
        "find . -name secret",
        "ls -R",
        "cat */*",
        "ls out/",
    ):
        assert OUTSIDE not in world.run(line).output
        assert "secret" not in world.run(line).output.replace("cat: ", "")


def test_a_link_is_told_in_a_listing_and_not_entered(world: World) -> None:
    assert f"link.md -> {world.base}/home/secret" in world.out("ls -l link.md")
    assert world.run("ls -L .").refused
    assert world.run("find -L . -name secret").refused
    assert world.run("find . -follow").refused


def test_cd_moves_within_the_line_alone(world: World) -> None:
    assert world.out("cd topic && pwd && ls") == "/memory/topic\none.md\n"
    assert world.out("pwd") == "/memory\n"
    assert world.run("cd /etc && pwd").exit_code == 1
    assert world.out("cd /memory/../../.. && ls").startswith("memory\n")


@given(s.lists(s.sampled_from(["..", ".", "", "a", "memory", "b c"]), max_size=12), s.booleans())
def test_a_normal_path_never_climbs(parts: list[str], absolute: bool) -> None:
    path = normal(("/" if absolute else "") + "/".join(parts), "/memory/x")
    assert path.startswith("/") and ".." not in path.split("/") and "//" not in path
    assert normal(path) == path


def test_a_swapped_link_shows_nothing_from_outside(world: World) -> None:
    """One thread swaps a folder for a link to the outside while another reads through it."""
    folder, away = world.memory / "swap", world.memory / "swap.real"
    folder.mkdir()
    (folder / "secret").write_text("inside\n")
    stop = threading.Event()

    def swap() -> None:
        while not stop.is_set():
            os.rename(folder, away)
            os.symlink(world.base / "home", folder)
            os.unlink(folder)
            os.rename(away, folder)
            # On a busy machine the reader might otherwise never meet the real folder.
            time.sleep(0.0002)

    thread = threading.Thread(target=swap)
    thread.start()
    try:
        lines = [
            "cat swap/secret",
            "grep -r '' swap",
            "head swap/*",
            "find swap -type f -size +10c",
            "wc -c swap/secret",
        ]
        seen = [world.run(lines[turn % len(lines)]).output for turn in range(1500)]
    finally:
        stop.set()
        thread.join()
    assert not [text for text in seen if OUTSIDE in text or f"{len(OUTSIDE)} swap" in text]
    assert any("inside" in text for text in seen)


def test_a_file_of_another_kind_never_hangs_a_command(world: World) -> None:
    for line in (
        "cat pipe.fifo",
        "grep x pipe.fifo",
        "head *",
        "grep -r note .",
        "sort pipe.fifo",
        "wc *",
        "tail pipe.fifo",
    ):
        assert world.run(line).ms < 5_000
    assert "FIFO" in world.run("cat pipe.fifo").output


def test_nothing_of_the_tree_is_changed_by_reading(world: World, tmp_path: Path) -> None:
    was = world.state()
    world.out("cat a.md | sort | uniq -c; find . -type f; ls -laR; diff a.md b.md")
    assert world.state() == was


@each(
    ("path", "hidden"),
    [
        ("debug.log", True),
        ("sub/debug.log", True),
        ("sub/kept.log", False),  # the nearer file has the last word
        ("sub/deep/other.log", True),
        ("out/kept.log", True),  # nothing comes back below an ignored folder
        ("docs/a/b/x.tmp", True),
        ("x.tmp", False),
        ("local.txt", True),  # by .git/info/exclude
        (".git/config", True),
        ("vendor/.GIT/config", True),
        ("[z-a]", False),
        ("caf\udce9.log", True),
    ],
)
def test_what_git_would_ignore_is_hidden(tmp_path: Path, path: str, hidden: bool) -> None:
    (tmp_path / ".git/info").mkdir(parents=True)
    (tmp_path / "sub").mkdir()
    (tmp_path / ".git/info/exclude").write_text("local.txt\n")
    (tmp_path / ".gitignore").write_bytes(
        b"# logs\n*.log\n!\n[z-a]\n\\\nout/\ndocs/**/*.tmp\n\xff*\n[[:alpha:\n"
    )
    (tmp_path / "sub/.gitignore").write_text("!kept.log\n")
    with Root.open(tmp_path) as root:
        assert Ignored(root)(path, False) is hidden


def test_what_git_tracks_is_there_whatever_its_ignore_file_says(tmp_path: Path) -> None:
    with porcelain.init(str(tmp_path)) as repo:
        (tmp_path / "out/deep").mkdir(parents=True)
        for rel in ("config.yaml", "secrets.yaml", "out/deep/kept.txt", "out/deep/other.txt", "out/left.txt"):
            (tmp_path / rel).write_text("a: 1\n")
        porcelain.add(repo, [str(tmp_path / "config.yaml"), str(tmp_path / "out/deep/kept.txt")])
    (tmp_path / ".gitignore").write_text("*.yaml\nout/\n")
    with Root.open(tmp_path) as root:
        ignored = Ignored(root)
        shown = ["config.yaml", "out/deep/kept.txt"]
        assert not [rel for rel in shown if ignored(rel, False)] + [
            rel for rel in ("out", "out/deep") if ignored(rel, True)
        ]
        hidden = ["secrets.yaml", "out/deep/other.txt", "out/left.txt", ".git/index"]
        assert [rel for rel in hidden if ignored(rel, False)] == hidden
    for damaged in (b"DIRC\0\0\0\2\xff\xff\xff\xff", b"", b"nonsense"):
        (tmp_path / ".git/index").write_bytes(damaged)
        with Root.open(tmp_path) as root:
            assert Ignored(root)("config.yaml", False), "then only the rules count"


@pytest.mark.more
def test_a_hostile_ignore_file_costs_no_time(tmp_path: Path) -> None:
    hostile = "\n".join(["*a" * 400 + "b", "**/" * 300 + "x"] * 35)
    assert len(hostile) < LONGEST_FILE
    (tmp_path / ".gitignore").write_text(hostile)
    started = time.perf_counter()
    with Root.open(tmp_path) as root:
        assert not Ignored(root)("a" * 200 + "/" + "a" * 200, False)
    assert time.perf_counter() - started < 10
