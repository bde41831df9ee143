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
