"""jq looks into transcripts as the real one does, reaches nothing but its input, and ends."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from dreams.lib.sandbox.tool_worker import Mounts, ToolWorker
from tests.world.cases import each
from tests.world.sandbox import World, world

__all__ = ["world"]


@each(
    ("line", "output"),
    [
        ("jq -r .type /transcripts/project/s1.jsonl | sort | uniq -c", "      5 user\n"),
        ("head -1 /transcripts/project/s1.jsonl | jq -c 'keys'", '["text","type"]\n'),
        ("jq -r 'select(.type == \"user\") | .text' /transcripts/project/s1.jsonl | head -1", "error\n"),
        ("jq -s length /transcripts/project/s1.jsonl", "5\n"),
        ("jq --arg t user -s -r 'map(select(.type == $t)) | length' /transcripts/project/s1.jsonl", "5\n"),
        (
            """echo '{"a":{"b":[1,{"c":null}]},"d":"x"}' | jq -c '[paths(scalars)], [paths][2], getpath(["a","b",0])'""",
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
        (
            "head -1 /transcripts/project/s1.jsonl | jq '.type |= ascii_upcase | .input = 1 | {input, env: .type}' -c",
            '{"input":1,"env":"USER"}\n',
        ),
        ('jq -n -r \'["input", "env"] | join("-")\'', "input-env\n"),
        ("echo '[{\"a\": 1.5}]' | jq .", '[\n  {\n    "a": 1.5\n  }\n]\n'),
        ("echo '{\"a\": [1, {\"b\": null}]}' | jq -c '.a[1], (.a | length)'", '{"b":null}\n2\n'),
    ],
)
def test_transcripts_can_be_looked_into_with_jq(world: World, line: str, output: str) -> None:
    assert world.out(line) == output


@each(
    "program",
    [
        "env",
        "[env]",
        "{a: env}",
        "{(env | tojson): 1}",
        "$ENV.HOME",
        "$ENV",
        "$ ENV",
        "$__prog_args",
        "input",
        "[inputs]",
        "input_filename",
        "input_line_number",
        "debug",
        'debug("x")',
        "stderr",
        "halt",
        "1 | halt_error",
        "get_search_list",
        'import "x" as x; .',
        'include "x"; .',
        '"x" | modulemeta',
        '"a \\(env | length)"',
        '"\\("\\(env)")"',
        '@base64 "\\($ENV.HOME)"',
        "def f: env; f",
        "# a comment\nenv",
        "[" * 1500 + "]" * 1500,
        "1" + " + 1" * 20_000,
    ],
)
def test_a_program_that_reaches_beyond_its_input_is_refused_whole(world: World, program: str) -> None:
    answer = world.run(f"echo seen; jq -n '{program}'")
    assert answer.refused and "seen" not in answer.output and len(answer.output) < 300


@each("program", [". env", ".. env", "1.env", "? env", '"\\(")\\(env)"', "{env} env"])
def test_what_only_looks_like_a_field_is_no_program(world: World, program: str) -> None:
    answer = world.run(f"jq -n '{program}'")
    assert answer.exit_code != 0 and answer.stdout == b""


def test_an_error_is_told_in_a_line_and_the_next_value_is_tried(world: World) -> None:
    answer = world.run("printf '1\\n{\"a\":2}\\n' | jq .a")
    assert answer.output == 'jq: error: Cannot index number with string ("a")\n2\n'
    assert world.run("echo '{' | jq .").exit_code == 2
    assert world.run("echo 1 | jq '.a |'").exit_code == 3
    key, deep = f"ghp_{'a1B2' * 9}", "[" * 700 + "]" * 700  # read as JSON, but too deep to be looked through
    answer = world.run(f"""echo '{{"key":"{key}","deep":{deep}}}' | jq -c .key""")
    assert (answer.output, answer.exit_code) == ("jq: error: a value nested too deeply\n", 2)


@pytest.fixture(scope="module")
def worker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ToolWorker]:
    folder = tmp_path_factory.mktemp("notes")
    made = ToolWorker(Mounts((("memory", str(folder), ()),)), call_seconds=1.0, most_starts=99)
    yield made
    made.close()


@pytest.mark.parametrize(
    "program",
    [
        "def f: f; f",
        pytest.param("repeat(1) | empty", marks=pytest.mark.sweep),
        pytest.param("last(range(1e12))", marks=pytest.mark.sweep),
        pytest.param("reduce range(99) as $x (1; [., .])", marks=pytest.mark.sweep),
        "[range(1e9)]",
        pytest.param('reduce range(99) as $x ("a"; . + .)', marks=pytest.mark.sweep),
        '"a" * 1e10',
        '("a" * 40) | test("(a+)+b")',
    ],
)
def test_a_program_without_end_ends_its_process_and_the_next_line_is_answered(
    worker: ToolWorker, program: str
) -> None:
    answer = worker.run_line(f"jq -n '{program}'")
    assert answer.exit_code != 0 and answer.ms < 20_000 and len(answer.output) < 100
    assert worker.run_line("echo next").output == "next\n"


def test_a_worker_reads_no_program_from_the_home_directory(
    worker: ToolWorker, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / ".jq").write_text("def mine: 1;")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert worker.run_line("jq -n mine").exit_code == 3
    assert worker.run_line("echo 2 | jq '. + 1'").output == "3\n"
