"""`similar --batch`, run as people run it."""

import json
import subprocess
import sys
from io import StringIO
from pathlib import Path

import pytest
from django.core.management import call_command

from tests.world.cases import each
from tests.world.processes import commands as forked
from tests.world.processes.commands import run_batch

pytestmark = pytest.mark.not_on_postgresql


def test_each_pair_gets_a_decision_and_a_score_in_order(tmp_path: Path) -> None:
    same, other = run_batch(
        tmp_path,
        "similar",
        json.dumps({"a": "Use PostgreSQL 15 in production", "b": "In prod we use Postgres 15"}),
        json.dumps({"a": "Use PostgreSQL 15 in production", "b": "Use PostgreSQL 16 in production"}),
    )
    assert same["same"] is True
    assert other["same"] is False
    assert 0 <= other["score"] <= same["score"] <= 1


def test_a_pair_without_its_other_half_is_an_error_and_the_next_goes_on(tmp_path: Path) -> None:
    bad, good = run_batch(tmp_path, "similar", '{"a": "x"}', '{"a": "Use tabs here", "b": "use tabs here"}')
    assert "'b'" in bad["error"]
    assert good["same"] is True


def test_whatever_stands_on_a_line_gets_an_answer_of_its_own(tmp_path: Path) -> None:
    pair = json.dumps({"a": "Use tabs here", "b": "use tabs here"})
    huge = json.dumps({"a": "pallet " * 9000 + "one", "b": "pallet " * 9000 + "two"})
    odd = ["no JSON", "[1, 2]", "null", '{"a": 3, "b": "x"}', "[" * 50_000, '{"a": "x", "b": "x"']
    answers = run_batch(tmp_path, "similar", *odd, '{"a": "", "b": "  "}', huge, pair)
    assert [f"line {number}:" in answer["error"] for number, answer in enumerate(answers[:6], start=1)] == [
        True
    ] * 6
    assert [answer["same"] for answer in answers[6:]] == [False, False, True]
    told = [answer["error"] for answer in answers[:6]]
    assert "not JSON" in told[0]
    assert "nested too deep" in told[4]


@pytest.mark.more
def test_a_reader_that_has_enough_ends_it_without_a_word(tmp_path: Path) -> None:
    pair = json.dumps({"a": "Use tabs here", "b": "use tabs here"}) + "\n"
    with subprocess.Popen(
        [sys.executable, "manage.py", "similar", "--batch", "--json"],
        cwd=forked.PROJECT,
        env=forked.environment(tmp_path),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as asked:
        assert asked.stdin and asked.stdout and asked.stderr
        asked.stdin.write(pair.encode())
        asked.stdin.flush()
        assert json.loads(asked.stdout.readline())["same"] is True
        asked.stdout.close()
        asked.stdin.write(2 * pair.encode())
        asked.stdin.close()
        assert asked.stderr.read() == b""


def test_a_hook_is_told_as_what_it_sums_up_and_yet_not_merged_with_it(tmp_path: Path) -> None:
    hook = "Print labels via the spooler in `tools/spool.py`, the driver loses jobs"
    whole = "The vendor's printer driver loses jobs when it sleeps; labels go through the spooler tools/spool.py since June"
    twin, likely = run_batch(
        tmp_path, "similar", json.dumps({"a": hook, "b": hook + "."}), json.dumps({"a": hook, "b": whole})
    )
    assert (twin["same"], twin["mergeable"]) == (True, True)
    assert (likely["same"], likely["mergeable"]) == (True, False)


@each(
    ("one", "other", "told"),
    [
        ("Use tabs here.", "use tabs here", "Merged without asking: the same words."),
        ("The API is on port 80.", "The API is on port 81.", "one thing, two values (80, 81)."),
        ("Staging uses Redis 7.", "Production uses Redis 7.", "No question: environments differ."),
    ],
)
def test_the_rule_that_decides_about_two_texts_can_be_asked_for(one: str, other: str, told: str) -> None:
    said = StringIO()
    call_command("similar", "--explain", one, other, stdout=said)
    assert said.getvalue().rstrip().endswith(told)
