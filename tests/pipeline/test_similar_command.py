"""`similar --batch`, run as people run it."""

import json
from pathlib import Path

from tests.pipeline.batches import run_batch


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


def test_a_hook_is_told_as_what_it_sums_up_and_yet_not_merged_with_it(tmp_path: Path) -> None:
    hook = "Print labels via the spooler in `tools/spool.py`, the driver loses jobs"
    whole = "The vendor's printer driver loses jobs when it sleeps; labels go through the spooler tools/spool.py since June"
    twin, retold = run_batch(
        tmp_path, "similar", json.dumps({"a": hook, "b": hook + "."}), json.dumps({"a": hook, "b": whole})
    )
    assert (twin["same"], twin["mergeable"]) == (True, True)
    assert (retold["same"], retold["mergeable"]) == (True, False)
