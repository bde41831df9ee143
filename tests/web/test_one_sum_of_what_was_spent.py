"""What memoryweb spent is one sum: the budget gate's, the usage page's and that of a dream's meters."""

from __future__ import annotations

import datetime as dt
import re
from decimal import Decimal

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from dreams.engines.anthropic.budget import as_usage
from dreams.engines.tokens import Dollars, ModelUsage, Tokens
from dreams.models import DreamRun, DreamUsage, ModelRequest, Project, SetAside
from dreams.services import settings_changes
from dreams.services.dreaming.reporter import DreamReporter
from dreams.services.pricing import Meter
from dreams.services.scheduling.gate_inputs import Everywhere, case_of
from dreams.web.pages import usage as pages
from tests.world import rows as world

USAGE = as_usage([ModelUsage("m-1", 1, Tokens(input=10, output=1), Dollars(input=Decimal("0.05")))])


@pytest.fixture
def project(db: None) -> Project:
    project = world.make_project()
    run = world.make_dream(project, engine="anthropic", model="m-1")
    tokens = {"requests": 1, "output_tokens": 100}
    DreamUsage.objects.create(
        dream=run, turn=1, at=timezone.now(), model="m-1", cost_usd=Decimal("0.42"), **tokens
    )
    _caught(project, cost="0.11")
    return project


def _caught(
    project: Project, model: str = "m-1", cost: str | None = None, purpose: str = "catching"
) -> ModelRequest:
    return ModelRequest.objects.create(
        project=project,
        purpose=purpose,
        at=timezone.now(),
        model=model,
        requests=2,
        input_tokens=3_000,
        output_tokens=50,
        cost_usd=None if cost is None else Decimal(cost),
    )


def _text(browser: Client) -> str:
    return " ".join(re.sub(r"<[^>]+>", " ", browser.get(reverse("usage")).content.decode()).split())


def test_the_budget_gate_and_the_usage_page_have_one_sum(browser: Client, project: Project) -> None:
    settings_changes.set_override("engine", "anthropic", actor="me")
    gate = case_of(project, Everywhere.load(), timezone.now()).facts.spending()
    assert gate.today == gate.project_month == Decimal("0.53")
    assert pages.usage(timezone.now()).spent.cost == gate.today
    assert "$0.53 spent by memoryweb" in _text(browser)


def test_other_requests_are_by_purpose_model_and_project_and_in_the_picture_of_costs(
    browser: Client, project: Project
) -> None:
    _caught(world.make_project("notes-cli"), "own-model", purpose="recall")
    found = pages.usage(timezone.now())
    purposes = [(line.name, line.sum.tokens.total, line.sum.price) for line in found.purposes]
    assert purposes == [("Catching", 3_050, Decimal("0.11")), ("Recall", 3_050, None)]
    models = [(line.name, line.sum.tokens.total, line.sum.price) for line in found.other.models]
    assert models == [("m-1", 3_050, Decimal("0.11")), ("own-model", 3_050, None)]
    assert {line.name for line in found.other.projects} == {"acme-api", "notes-cli"}
    assert found.unpriced == ["own-model"]
    assert found.pictures[-1].rows[0][1] == "$0.53"
    assert "Other requests Requests to models outside dreams." in _text(browser)


def test_what_is_set_aside_for_a_request_counts_until_it_is_booked_or_its_process_is_long_gone(
    project: Project,
) -> None:
    settings_changes.set_override("max_cost_day", 1.0, actor="me")
    other = world.make_project("notes-cli")
    with (
        Meter(project, ModelRequest.Purpose.RECALL) as mine,
        Meter(other, ModelRequest.Purpose.HANDOVER) as theirs,
    ):
        assert mine.reserve(Decimal("0.40")) is None
        left = theirs.reserve(Decimal("0.10"))
        assert left is not None and left.dollars == Decimal("0.07"), "0.53 are spent, 0.40 set aside"
        assert mine.reserve(Decimal("0.20")) is None, "what was set aside before is given back"
        mine.book(USAGE)
        assert not SetAside.objects.exists()
        assert (mine.cost, ModelRequest.objects.latest("pk").purpose) == (Decimal("0.05"), "recall")
        assert theirs.reserve(Decimal("0.42")) is None
    assert not SetAside.objects.exists(), "given back at the end"
    SetAside.objects.create(project=other, usd=5, until=timezone.now() - dt.timedelta(seconds=1))
    with Meter(project, ModelRequest.Purpose.RECALL) as mine:
        assert mine.reserve(Decimal("0.42")) is None


def test_a_dream_and_another_request_share_one_budget(project: Project) -> None:
    settings_changes.set_override("max_cost_day", 1.0, actor="me")
    dream = world.make_dream(world.make_project("notes-cli"), status=DreamRun.Status.RUNNING)
    watch = DreamReporter(dream, beat=None)  # type: ignore[arg-type]  # no lock is asked here
    with Meter(project, ModelRequest.Purpose.CATCHING) as mine:
        assert watch.reserve(Decimal("0.30")) is None
        left = mine.reserve(Decimal("0.20"))
        assert left is not None and left.dollars == Decimal("0.17")
        assert mine.reserve(Decimal("0.17")) is None
        left = watch.reserve(Decimal("0.31"))
        assert left is not None and left.dollars == Decimal("0.30")


def test_requests_without_a_dream_are_usage_too(browser: Client, db: None) -> None:
    _caught(world.make_project(), cost="0.11")
    text = _text(browser)
    assert "No usage yet" not in text and "$0.11 spent by memoryweb" in text


def test_nothing_is_said_of_other_requests_where_there_was_none(browser: Client, project: Project) -> None:
    ModelRequest.objects.all().delete()
    assert "Other requests" not in _text(browser)


def test_more_requests_cost_no_more_queries(browser: Client, project: Project) -> None:
    def cost() -> int:
        with CaptureQueriesContext(connection) as queries:
            browser.get(reverse("usage"))
        return len(queries)

    cost()
    few = cost()
    for number in range(20):
        _caught(project, f"m-{number}", "0.01")
    assert cost() == few
