"""Lines that agents write while they look around are run, and print what they should."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from dreams.lib.sandbox.commands import known_commands
from tests.world.sandbox import World, world

__all__ = ["world"]


def test_the_documents_name_every_command() -> None:
    text = (Path(__file__).parents[2] / "docs/engines.md").read_text(encoding="utf-8")
    listed = text.split("run or follow links:")[1].split("What they print")[0]
    assert re.findall(r"`([^`]+)`", listed) == known_commands()


@pytest.mark.parametrize(
    ("line", "output"),
    [
        ("sed -n '2{p;q}' a.md", "type: user\n"),
        ("sed ':a;N;$!ba;s/\\n/ /g' a.md", "# note TODO type: user b,2 a,1\n"),
        ("cmp -s a.md b.md && echo same", "same\n"),
        ("rg 'type: (user|project)' | sort | head -2", "MEMORY.md:type: user\na.md:type: user\n"),
        ("rg -n -g '*.md' note topic", "topic/one.md:1:# note TODO\n"),
        ("rg -t md -l -S Todo | sort | head -1", ""),
        ("rg -i -c todo a.md", "1\n"),
    ],
)
def test_an_ordinary_line_prints_what_it_should(world: World, line: str, output: str) -> None:
    assert world.out(line) == output


REFUSED = [
    "rg --pre cat note",
    "rg -L note",
    "rg -f a.md note",
    "rg -U 'a.b'",
    "jq -f a.md b.md",
    "jq -n --rawfile x a.md '$x'",
    "jq -n --slurpfile x a.md '$x'",
    "jq -L / . a.md",
    "sed 'a x' -e 'w out' a.md",
    "sed '{w out' a.md",
    "sed ':a;e id' a.md",
    "sed 's/a/b/w out' a.md",
]


@pytest.mark.parametrize("line", REFUSED)
def test_what_reaches_outside_is_refused(world: World, line: str) -> None:
    was = world.state()
    answer = world.run(line)
    assert answer.refused or answer.exit_code, answer.output
    assert answer.stdout == b"" and world.state() == was


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("echo x | sed ':a;ba'", "0.3 seconds"),
        ("echo x | sed ':a;s/x/xx/;ta'", "0.3 seconds"),
        ("echo x | sed ':a;G;h;ba'", "stopped"),
    ],
)
def test_a_program_without_end_is_ended(world: World, line: str, why: str) -> None:
    world.shell._limits = type(world.shell._limits)(seconds=0.3)
    answer = world.run(line)
    assert why in answer.output and answer.exit_code != 0 and answer.ms < 5_000


@pytest.mark.parametrize(
    "line",
    [
        "sed '" + "{" * 900 + "p" + "}" * 900 + "' a.md",
        "test " + "! " * 1500 + "x",
        "test " + "( " * 600 + "x" + " )" * 600,
        "sort -k" + "9" * 5000 + " a.md",
        "find . " + "! " * 1500 + "-true",
    ],
)
def test_a_nested_program_is_no_fault_of_the_shell(world: World, line: str) -> None:
    answer = world.run(line)
    assert answer.exit_code != 70, answer.output[-200:]


def test_the_end_of_a_huge_file_is_read_without_the_rest_of_it(world: World) -> None:
    with (world.memory / "huge").open("wb") as huge:
        huge.truncate(20 * 1024**3)
        huge.seek(0, 2)
        huge.write(b"\nlast but one\nlast\n")
    assert world.out("tail -n 2 huge") == "last but one\nlast\n"
    assert world.out("tail -c 5 huge") == "last\n"
    assert world.out("wc -c huge") == f"{20 * 1024**3 + 19} huge\n"


def test_a_line_without_end_stops_one_file_and_not_the_search(world: World) -> None:
    with (world.memory / "huge").open("wb") as huge:
        huge.truncate(100 * 1024**2)
    found = world.run("grep -rl note .")
    assert "./topic/one.md" in found.output and "huge: stopped at a line" in found.output
    assert found.exit_code == 2


@pytest.mark.parametrize(
    ("name", "instead"),
    [
        ("awk", "cut"),
        ("xargs", "wildcard"),
        ("tree", "find"),
        ("tac", "tail"),
        ("python3", "jq"),
        ("fd", "find"),
    ],
)
def test_a_command_that_is_not_on_offer_names_what_to_use_instead(
    world: World, name: str, instead: str
) -> None:
    answer = world.run(f"{name} a.md")
    assert answer.refused and instead in answer.output
