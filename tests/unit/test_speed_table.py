"""The table of speed: rows from one registry, goals that are said to be met or missed."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from bench import large_review, table
from bench._table import Cost, Measured, Row, side_by_side
from memoryweb import BASE_DIR


def test_a_bench_that_starts_servers_does_not_take_the_data_directory_of_tests() -> None:
    asked = "import sys; from bench import hosts, serve_kills, server_kills; sys.exit('tests.settings' in sys.modules)"
    subprocess.run([sys.executable, "-c", asked], cwd=BASE_DIR, check=True, timeout=60)


def test_every_row_has_a_name_of_its_own_and_goals_that_can_be_judged() -> None:
    rows = list(table.all_rows())
    assert len({row.name for row in rows}) == len(rows)
    bars = {"limit", "limit cpu", "peer", "peer cpu", "seconds"}
    for row in rows:
        assert row.goals.keys() <= bars, row.name
        assert row.limit or not row.goals.keys() & {"limit", "limit cpu"}, row.name
        assert row.peer or not row.goals.keys() & {"peer", "peer cpu"}, row.name


def test_a_goal_is_met_or_missed_by_the_ratio_of_its_own_bar() -> None:
    row = Row(
        "scan", "reading", lambda _folder, _size: found, {"limit": 6, "peer cpu": 0.9}, "reading", "other"
    )
    found = Measured(
        ours=Cost(1.0, 1.0),
        limit=Cost(0.2, 0.2),
        peer=Cost(1.0, 1.0),
        to_limit=Cost(5, 7),
        to_peer=Cost(0.8, 1),
    )
    cells = table.cells(row, found)
    assert cells[-1] == "≤ 6 × limit: met; ≤ 0.9 × peer cpu: missed"
    assert Measured.read(found.as_json()) == found
    absent = table.cells(row, Measured(ours=Cost(1.0, 1.0)))
    assert absent[-1] == "≤ 6 × limit: not measured; ≤ 0.9 × peer cpu: not measured"


def test_what_is_compared_runs_in_turn_and_preparing_is_not_counted() -> None:
    done: list[str] = []
    found = side_by_side(
        lambda: done.append("ours") or Cost(6, 3),
        limit=lambda: done.append("limit") or Cost(2, 2),
        prepare=lambda: done.append("prepare"),
        rounds=2,
    )
    assert done == ["limit", "prepare", "ours"] * 2
    assert found.to_limit == Cost(3, 1.5) and found.to_peer is None


@pytest.mark.more
@pytest.mark.django_db
@pytest.mark.parametrize("work", ["undo", "findings"])
def test_what_a_row_of_a_large_review_measures_still_runs(work: str, tmp_path: Path) -> None:
    assert min(large_review.WORKS[work](tmp_path, 2, 1)) > 0


def test_an_earlier_version_is_measured_by_its_own_script_which_knows_its_names(tmp_path: Path) -> None:
    script = tmp_path / "before" / "bench" / "large_review.py"
    script.parent.mkdir(parents=True)
    script.write_text("import sys; print([float(len(sys.argv[1])), float(sys.argv[3])])")
    found = large_review.cost_in(tmp_path / "before", "findings", tmp_path / "data", 7, 3)
    assert found == Cost(8.0, 7.0)
