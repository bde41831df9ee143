"""Lines that agents write while they look around are run, and print what they should."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from dreams.sandbox.commands import known_commands
from tests.unit.sandbox_kit import World, world

__all__ = ["world"]


def test_the_documents_name_every_command() -> None:
    text = (Path(__file__).parents[2] / "docs/engines.md").read_text(encoding="utf-8")
    listed = text.split("run or follow links:")[1].split("What they print")[0]
    assert re.findall(r"`([^`]+)`", listed) == known_commands()


def test_tree_draws_folders_and_enters_no_link(world: World) -> None:
    assert world.out("tree topic") == "topic\n└── one.md\n\n0 directories, 1 file\n"
    drawn = world.out("tree --noreport -I 'ls|*.fifo'")
    assert "├── link.md" in drawn and "├── out\n" in drawn and "secret" not in drawn and "fifo" not in drawn
    assert world.out("tree -d -L 1 --noreport") == ".\n└── topic\n"
    assert world.out("tree -f --noreport topic") == "topic\n└── topic/one.md\n"
    assert "s1.jsonl" in world.out("tree /transcripts -L 2")
    assert ".git\n" not in world.out("tree -a /repo") and "build.txt" in world.out("tree /repo")
    for line in ("tree -o x", "tree -l", "tree --fromfile a.md", "tree -R -H ."):
        assert world.run(line).refused, line


def test_file_tells_what_a_file_seems_to_hold(world: World) -> None:
    (world.memory / "u.md").write_text("naïve\n")
    (world.memory / "w.md").write_bytes(b"one\r\ntwo\r\n")
    (world.memory / "bin").write_bytes(b"\0\1")
    told = world.out("file a.md u.md w.md bin topic link.md /transcripts/project/s1.jsonl missing")
    rows = dict(row.split(":", 1) for row in told.splitlines())
    assert rows["a.md"].strip() == "ASCII text"
    assert rows["u.md"].strip() == "Unicode text, UTF-8 text"
    assert rows["w.md"].strip() == "ASCII text, with CRLF line terminators"
    assert (rows["bin"].strip(), rows["topic"].strip()) == ("data", "directory")
    assert rows["link.md"].strip() == "symbolic link" and "JSON" in rows["/transcripts/project/s1.jsonl"]
    assert "No such file" in rows["missing"]
    assert world.out("file -b --mime-type a.md") == "text/plain\n"
    assert world.run("file -f a.md").refused and world.run("file -C -m a.md").refused


@pytest.mark.parametrize(
    ("line", "output"),
    [
        ("ls -1 *.md | xargs -I {} basename {} .md | head -2", "MEMORY\na\n"),
        ("awk -F: '/^type/{print FILENAME, $2}' a.md", "a.md  user\n"),
        ("awk 'NR>=2 && NR<=3{print NR\": \"$0}' a.md", "2: type: user\n3: b,2\n"),
        ("awk -F, '{s += $2} END {print s / 2}' a.md", "1.5\n"),
        ("awk '/note/,/b/' a.md | wc -l", "3\n"),
        ("sed -n '2{p;q}' a.md", "type: user\n"),
        ("sed ':a;N;$!ba;s/\\n/ /g' a.md", "# note TODO type: user b,2 a,1\n"),
        ("date -d 2026-02-12 +%A", "Thursday\n"),
        ("ls | paste -sd ' ' | cut -d' ' -f1", "-rf\n"),
        ("cmp -s a.md b.md && echo same", "same\n"),
        ("realpath --relative-to=topic a.md", "../a.md\n"),
        ("type ls", "ls is a shell builtin\n"),
        ("seq -w 9 10", "09\n10\n"),
    ],
)
def test_an_ordinary_line_prints_what_it_should(world: World, line: str, output: str) -> None:
    assert world.out(line) == output


REFUSED = [
    "jq -n env",
    "jq -n '$ENV.HOME'",
    "jq -n 'input'",
    "jq -f a.md b.md",
    "jq -n --rawfile x a.md '$x'",
    "jq -n --slurpfile x a.md '$x'",
    "jq -L / 'import \"x\" as x; .' a.md",
    "jq -n 'def f: f; f'",
    "jq -n 'repeat(1)'",
    "jq '.a |= 1' a.md",
    "jq -n '" + "[" * 1500 + "]" * 1500 + "'",
    "awk 'BEGIN{print ENVIRON[\"HOME\"]}'",
    "awk '{print | \"sh\"}' a.md",
    "awk '{print $1 > \"x\"}' a.md",
    "awk 'BEGIN{getline x < \"/etc/passwd\"}'",
    "awk 'function f() {f()} BEGIN{f()}'",
    "sed 'a x' -e 'w out' a.md",
    "sed '{w out' a.md",
    "sed ':a;e id' a.md",
    "sed 's/a/b/w out' a.md",
    "date -s 2020-01-01",
    "date -f a.md",
]


@pytest.mark.parametrize("line", REFUSED)
def test_what_reaches_outside_is_refused(world: World, line: str) -> None:
    was = world.state()
    answer = world.run(line)
    assert answer.refused or answer.exit_code, answer.output
    assert answer.stdout == b"" and world.state() == was


@pytest.mark.parametrize(
    ("line", "output"),
    [
        ("jq -r .type /transcripts/project/s1.jsonl | sort | uniq -c", "      5 user\n"),
        ("head -1 /transcripts/project/s1.jsonl | jq -c 'keys'", '["text","type"]\n'),
        ("jq -r 'select(.type == \"user\") | .text' /transcripts/project/s1.jsonl | head -1", "error\n"),
        ("jq -s length /transcripts/project/s1.jsonl", "5\n"),
        ("jq --arg t user -s -r 'map(select(.type == $t)) | length' /transcripts/project/s1.jsonl", "5\n"),
        (
            """echo '{"a":{"b":[1,{"c":null}]},"d":"x"}' | jq -c '[leaf_paths], [paths][2], getpath(["a","b",0])'""",
            '[["a","b",0],["d"]]\n["a","b",0]\n1\n',
        ),
        (
            """echo '"v1.22"' | jq -c '[scan("[0-9]+")], capture("v(?<m>[0-9]+)")'""",
            '["1","22"]\n{"m":"1"}\n',
        ),
        (
            """echo '"2026-03-01T10:00:00Z"' | jq 'fromdate, (fromdate | todate)'""",
            '1772359200\n"2026-03-01T10:00:00Z"\n',
        ),
        ("jq -n --argjson a '[1, 1e999]' -c '$a[0], 1e999'", "1\n1.7976931348623157e+308\n"),
        ("echo '{\"a\": [1, {\"b\": null}]}' | jq -c '.a[1], (.a | length)'", '{"b":null}\n2\n'),
    ],
)
def test_transcripts_can_be_looked_into_with_jq(world: World, line: str, output: str) -> None:
    assert world.out(line) == output


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("awk 'BEGIN{while(1);}'", "0.3 seconds"),
        ("awk 'BEGIN{for(;;)print \"x\"}'", "0.3 seconds"),
        ("awk 'BEGIN{x=\"a\"; while(1)x=x x}'", "a text of more than"),
        ("awk 'BEGIN{$99999999999=1}'", "fields are 0 to"),
        ('awk \'BEGIN{s="aaaa"; while(1)gsub(/a/,"&&",s)}\'', "stopped"),
        ("echo x | sed ':a;ba'", "0.3 seconds"),
        ("echo x | sed ':a;s/x/xx/;ta'", "0.3 seconds"),
        ("echo x | sed ':a;G;h;ba'", "stopped"),
        ("seq 1 999999999999 | paste -s", "stopped"),
        ("jq -n 'last(range(1e12))'", "0.3 seconds"),
        ("jq -n 'reduce range(99) as $x (1; [., .])'", "stopped"),
        ("jq -n '" + "[1, 2]" + " | [., .]" * 60 + "'", "stopped"),
        ("jq -n '[range(1e9)]'", "stopped"),
        ("jq -n 'reduce range(99) as $x (\"a\"; . + .)'", "stopped"),
    ],
)
def test_a_program_without_end_is_ended(world: World, line: str, why: str) -> None:
    # Where the size is what ends it, a busy machine must not let the time be first.
    world.shell._limits = type(world.shell._limits)(seconds=30 if "a text of" in why else 0.3)
    answer = world.run(line)
    assert why in answer.output and answer.exit_code != 0 and answer.ms < 5_000


@pytest.mark.parametrize(
    "line",
    [
        "awk " + "'" + "(" * 1500 + "1" + ")" * 1500 + "'",
        "awk 'BEGIN{print " + "-" * 1500 + "1}'",
        "awk '" + "{" * 900 + "}" * 900 + "'",
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
