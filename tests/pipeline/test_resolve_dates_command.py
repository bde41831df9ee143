"""`resolve_dates --batch`, run as people run it."""

import io
import json
from pathlib import Path

import pytest

from dreams.management import batch
from tests.world.processes.commands import run_batch

pytestmark = pytest.mark.not_on_postgresql


def test_each_line_gets_its_spans_and_its_rewritten_text_in_order(tmp_path: Path) -> None:
    first, second, asked = run_batch(
        tmp_path,
        "resolve_dates",
        json.dumps({"text": "🎉 deployed yesterday", "reference_date": "2026-03-04"}),
        json.dumps({"text": "it changed recently", "reference_date": "2026-03-04T10:00:00+01:00"}),
        json.dumps({"text": "Should we do it tomorrow?", "reference_date": "2026-03-04"}),
    )
    assert first == {
        "spans": [{"start": 11, "end": 20, "text": "yesterday", "iso": "2026-03-03", "granularity": "day"}],
        "rewritten": "🎉 deployed on 2026-03-03",
    }
    assert second == {"spans": [], "rewritten": "it changed recently"}
    # It has a reading, and tells nothing that a note should state.
    assert asked["spans"] == [
        {"start": 16, "end": 24, "text": "tomorrow", "iso": "2026-03-05", "granularity": "day"}
    ]
    assert asked["rewritten"] == "Should we do it tomorrow?"


def test_a_bad_line_is_answered_by_an_error_and_the_next_goes_on(tmp_path: Path) -> None:
    rows = run_batch(
        tmp_path,
        "resolve_dates",
        "{half",
        "[1]",
        '{"text": 3, "reference_date": "2026-03-04"}',
        '{"text": "today", "reference_date": "soon"}',
        '{"text": "today", "reference_date": "2026-03-04"}',
    )
    assert ["error" in row for row in rows] == [True, True, True, True, False]
    assert "reference_date" in rows[3]["error"]


def test_a_mistake_of_ours_about_one_line_does_not_stop_the_others() -> None:
    out = io.StringIO()
    batch.answer(io.BytesIO(b'{"n": 0}\n{"n": 1}\n'), out, lambda row: {"n": [1][int(str(row["n"]))]})
    first, second = map(json.loads, out.getvalue().splitlines())
    assert first == {"n": 1}
    assert "line 2" in second["error"]
