"""Caps on output, time, bytes, names, memory and line length: the line ends with a note, and the next one runs."""

from __future__ import annotations

import gc
import multiprocessing
import os
import resource
from collections.abc import Callable, Iterator
from multiprocessing.connection import Connection
from pathlib import Path

import pytest

from dreams.lib.sandbox import CommandLimits, Shell, Tree
from tests.world.sandbox import open_tree, plant

Make = Callable[..., Shell]


@pytest.fixture
def base(tmp_path: Path) -> Path:
    plant(tmp_path.resolve())
    return tmp_path.resolve()


@pytest.fixture
def tree(base: Path) -> Iterator[Tree]:
    with open_tree(base) as opened:
        yield opened


@pytest.fixture
def memory(base: Path) -> Path:
    return base / "claude/project/memory"


@pytest.fixture
def numbers(memory: Path) -> None:
    (memory / "numbers").write_text("".join(f"{number}\n" for number in range(100_000)))


ENDLESS = "cat huge huge huge huge"


@pytest.fixture
def huge(memory: Path) -> None:
    with (memory / "huge").open("wb") as made:
        made.truncate(20 * 1024**3)


@pytest.mark.usefixtures("numbers")
def test_output_is_cut_at_the_cap_with_a_note(tree: Tree) -> None:
    answer = Shell(tree, "/memory").run("cat numbers")
    assert answer.cut and len(answer.output) < 30_200
    assert "cut at 30,000 characters" in answer.output.splitlines()[-1]


def test_the_cap_counts_characters_and_splits_none(tree: Tree, memory: Path) -> None:
    (memory / "wide.md").write_text("é" * 200)
    answer = Shell(tree, "/memory", CommandLimits(output_chars=100)).run("cat wide.md")
    assert answer.output.startswith("é" * 100 + "\n[")
    assert Shell(tree, "/memory", CommandLimits(output_chars=200)).run("cat wide.md").output == "é" * 200


@pytest.mark.usefixtures("huge")
def test_a_long_run_ends_in_time_with_status_124(tree: Tree) -> None:
    answer = Shell(tree, "/memory", CommandLimits(seconds=0.2)).run(f"{ENDLESS} | wc -l")
    assert answer.exit_code == 124 and "0.2 seconds" in answer.output
    assert answer.ms < 2_000


def test_bytes_read_are_bounded(tree: Tree, memory: Path) -> None:
    (memory / "big.txt").write_bytes(b"x" * 3_000_000)
    answer = Shell(tree, "/memory", CommandLimits(read_bytes=1_000_000)).run("wc -l big.txt")
    assert answer.exit_code == 1 and "1,000,000 bytes" in answer.output


def test_names_looked_at_are_bounded(tree: Tree, memory: Path) -> None:
    for number in range(50):
        (memory / f"n{number}").touch()
    assert "40 names" in Shell(tree, "/memory", CommandLimits(names=40)).run("find . -name x").output
    assert "40 names" in Shell(tree, "/memory", CommandLimits(names=40)).run("echo n*").output


@pytest.mark.usefixtures("numbers")
def test_what_sort_keeps_is_bounded(tree: Tree) -> None:
    for line in (
        "cat numbers | sort",
        "cat numbers | tail -n 99999",
    ):
        answer = Shell(tree, "/memory", CommandLimits(held_bytes=100_000)).run(line)
        assert "to keep in memory" in answer.output, line


def test_a_line_without_end_is_bounded(tree: Tree, memory: Path) -> None:
    (memory / "one.txt").write_bytes(b"x" * 2_000_000)
    answer = Shell(tree, "/memory", CommandLimits(line_bytes=1_000_000)).run("cat one.txt | cut -c1-3")
    assert "a line of more than" in answer.output


#: What holds most of a line: millions of its fields, its bytes twice, what each becomes.
HUNGRY = (
    "cut -d' ' -f1,3- words",
    "cut -d' ' -f1-9999999 words",
    "sed 's/ /--/g' words",
    "sed 'p;p;p;p' words",
    "cat words words words | sort",
    "grep -o . words",
    "diff words plain",
    "nl words",
    "cat words | tr ' ' '\\n' | sort",
    "cat words | tr ' ' '\\n' | tail -n 999999",
)


def _peak(base: Path, line: str, sent: Connection) -> None:
    was = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with open_tree(base) as tree:
        Shell(tree, "/memory").run(line)
    sent.send((resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - was) // 1024)


@pytest.mark.more
@pytest.mark.parametrize(
    ("line", "size", "most"),
    [
        *((line, 9, 150) for line in HUNGRY[:2]),
        *(pytest.param(line, 30, 450, marks=pytest.mark.sweep) for line in HUNGRY),
        pytest.param("jq -Rs 'split(\" \")|length' words", 30, 900, marks=pytest.mark.sweep),
    ],
)
def test_a_line_of_many_megabytes_is_not_many_times_as_much_in_memory(
    base: Path, memory: Path, line: str, size: int, most: int
) -> None:
    """Sizes in MB. Measured in a process of its own, whose peak is its own."""
    (memory / "words").write_bytes(b"ab " * (size * 333_333))
    (memory / "plain").write_text("short\n")
    context = multiprocessing.get_context("fork")
    there, here = context.Pipe(duplex=False)
    child = context.Process(target=_peak, args=(base, line, here))
    child.start()
    with there, here:
        assert there.recv() < most
    child.join()
    child.close()


def test_head_stops_what_it_reads_from(tree: Tree, memory: Path) -> None:
    with (memory / "huge").open("wb") as huge:
        huge.write(b"1\n2\n" + b"x\n" * 100_000)
        huge.truncate(20 * 1024**3)
    answer = Shell(tree, "/memory", CommandLimits(seconds=2)).run("cat huge | head -2")
    assert answer.output == "1\n2\n" and answer.exit_code == 0


@pytest.mark.parametrize(
    "pattern",
    [
        "(a+)+$",
        "(a|aa)+$",
        "(.*a){20}",
        "^(([a-z])+.)+[A-Z]([a-z])+$",
        "(x+x+)+y",
        "(a*)*b",
        "a?" * 30 + "a" * 30,
    ],
)
def test_a_pattern_that_explodes_elsewhere_takes_linear_time(tree: Tree, memory: Path, pattern: str) -> None:
    (memory / "bad.txt").write_text("a" * 200_000 + "!\n" + "x" * 50_000 + "\n")
    for option in ("-cE", "-oE", "-wE", "-xE", "-oiE"):
        answer = Shell(tree, "/memory").run(f"grep {option} '{pattern}' bad.txt")
        assert answer.exit_code in (0, 1)
        assert answer.ms < 9_000


def test_a_search_that_no_clock_could_stop_is_not_begun(tree: Tree, memory: Path) -> None:
    (memory / "long.txt").write_bytes(b"ab" * 1_000_000)
    shell = Shell(tree, "/memory")
    assert shell.run(f"grep -cE '{'|'.join(f'a.{{{n}}}c' for n in range(1, 300))}' long.txt").refused
    for line in (
        "grep -cE 'a.{900}c' long.txt",
        "sed -nE '/a.{900}c/p' long.txt",
        "sed -E 's/a.{900}c//' long.txt",
    ):
        assert "too long for so large a pattern" in shell.run(line).output, line
    assert shell.run("grep -c c long.txt").output == "0\n"


@pytest.mark.more
def test_no_file_stays_open_after_a_line(tree: Tree) -> None:
    shell = Shell(tree, "/memory")
    gc.collect()  # files that other tests left
    was = len(os.listdir("/proc/self/fd"))
    for line in (
        "head -n 0 *.md",
        "cat *.md | head -1",
        "grep -m1 note *.md",
        "sed 1q *.md",
        "true *.md | cat a.md b.md | head -1",
    ):
        shell.run(line)
    gc.collect()
    assert len(os.listdir("/proc/self/fd")) == was


@pytest.mark.usefixtures("huge")
def test_the_next_line_runs_after_one_that_met_a_cap(tree: Tree) -> None:
    shell = Shell(tree, "/memory", CommandLimits(seconds=0.1))
    assert shell.run(f"{ENDLESS} | wc -l").exit_code == 124
    assert shell.run("echo on").output == "on\n"
