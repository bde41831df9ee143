"""Pictures of what models used and how long dreams took: their numbers are those of the rows."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from dreams.engines.tokens import Tokens
from dreams.models import DreamRun, DreamUsage, Project
from dreams.web.pages import usage
from dreams.web.pages.usage_sums import Cell
from tests.world import rows as world

TODAY = dt.date(2026, 3, 20)
NOW = dt.datetime(2026, 3, 20, 15, tzinfo=dt.UTC)


def _cell(back: int | None, model: str, count: int, cost: str | None = None) -> Cell:
    day = None if back is None else TODAY - dt.timedelta(back)
    return Cell(day, model, 1, Tokens(input=count), Decimal(cost) if cost else None, 1)


def _run(project: Project, back: float, seconds: float, status: str = DreamRun.Status.COMPLETED) -> DreamRun:
    ended = NOW - dt.timedelta(back)
    return world.make_dream(project, status, started_at=ended - dt.timedelta(seconds=seconds), ended_at=ended)


def test_tokens_and_cost_stand_by_model_and_day_and_unknown_prices_cost_nothing() -> None:
    cells = [_cell(0, "opus", 1_500, "0.50"), _cell(0, "haiku", 500), _cell(3, "opus", 2_000, "1.00")]
    _, tokens, cost, dreams = usage.of_sessions(
        [*cells, _cell(None, "opus", 9), _cell(40, "opus", 9)], [], TODAY, 30
    )
    assert tokens.head == ("Day", "opus", "haiku", "All")
    assert tokens.rows == (
        ("20 March 2026", "1.5 k", "500", "2.0 k"),
        ("17 March 2026", "2.0 k", "", "2.0 k"),
    )
    assert cost.rows == (("20 March 2026", "$0.50", "$0.50"), ("17 March 2026", "$1.00", "$1.00"))
    assert dreams.empty == "memoryweb spent nothing in this time."


def test_a_model_has_one_colour_in_all_charts_of_the_page() -> None:
    cells = [_cell(0, "opus", 500, "1.50"), _cell(0, "haiku", 2_000, "0.10"), _cell(0, "new", 100)]
    spent = [_cell(0, "local", 10, "0.20"), _cell(0, "opus", 10, "0.10")]
    _, tokens, cost, ours = usage.of_sessions(cells, spent, TODAY, 30)
    colours, costs, own = (
        {key.label.partition(",")[0]: key.mark for key in picture.legend} for picture in (tokens, cost, ours)
    )
    assert len(set(colours.values())) == 3
    assert costs == {name: colours[name] for name in ("opus", "haiku")}
    assert own["opus"] == colours["opus"] != own["local"]


def test_a_year_is_told_in_weeks() -> None:
    _, tokens, _, _ = usage.of_sessions(
        [_cell(0, "", 10), _cell(364, "", 20), _cell(358, "", 5)], [], TODAY, 365
    )
    assert tokens.head == ("Week from", "unnamed model", "All")
    assert [row[1] for row in tokens.rows] == ["10", "25"]


@pytest.fixture
def project(db: None) -> Project:
    return world.make_project()


def test_dreams_and_their_tokens_are_counted_by_week_and_project(project: Project) -> None:
    other = world.make_project("other")
    for back in (0, 1, 8):
        run = _run(project, back, 60)
        DreamUsage.objects.create(
            dream=run, model="opus", turn=1, at=run.ended_at, input_tokens=100, requests=1
        )
    _run(other, 0, 60, DreamRun.Status.KILLED)
    weeks, tokens = usage.of_dreams(NOW)
    assert weeks.head == ("Week from", "completed", "cancelled", "All")
    assert weeks.rows[0] == ("16 March 2026", "2 dreams", "1 dream", "3 dreams")
    assert [row[1] for row in tokens.rows] == ["200", "100"]
    weeks, tokens = usage.of_dreams(NOW, other.pk)
    assert weeks.rows == (("16 March 2026", "1 dream", "1 dream"),)
    assert tokens.empty.endswith("Rules use no tokens.")


def test_without_a_dream_each_picture_is_a_sentence(db: None) -> None:
    assert all(picture.empty and not picture.drawing for picture in usage.of_dreams(timezone.now()))


def test_the_queries_do_not_grow_with_dreams(project: Project) -> None:
    counts = []
    for more in (1, 45):
        for number in range(more):
            _run(project, number / 4, 5)
        with CaptureQueriesContext(connection) as queries:
            weeks, _ = usage.of_dreams(NOW)
        counts.append(len(queries))
    assert counts == [2, 2]
    assert weeks.sentence.startswith("46 dreams in all")
