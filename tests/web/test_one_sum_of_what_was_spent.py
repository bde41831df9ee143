"""What memoryweb spent is one sum: the budget gate's, the usage page's and that of a dream's meters."""

from __future__ import annotations

import re
from decimal import Decimal

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from dreams.models import CatchingUsage, DreamUsage, Project
from dreams.services import settings_changes
from dreams.services.scheduling.gate_inputs import Everywhere, facts_of
from dreams.web.pages import usage as pages
from tests.world import rows as world


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


def _caught(project: Project, model: str = "m-1", cost: str | None = None) -> CatchingUsage:
    return CatchingUsage.objects.create(
        project=project,
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
    gate = facts_of(project, Everywhere.load(), timezone.now()).spending()
    assert gate.today == gate.project_month == Decimal("0.53")
    assert pages.usage(timezone.now()).spent.cost == gate.today
    assert "$0.53 spent on dreams and catching" in _text(browser)


def test_catching_stands_by_model_and_project_and_in_the_picture_of_costs(
    browser: Client, project: Project
) -> None:
    _caught(world.make_project("notes-cli"), "own-model")
    found = pages.usage(timezone.now())
    models = [(line.name, line.sum.tokens.total, line.sum.price) for line in found.catching.models]
    assert models == [("m-1", 3_050, Decimal("0.11")), ("own-model", 3_050, None)]
    assert {line.name for line in found.catching.projects} == {"acme-api", "notes-cli"}
    assert found.unpriced == ["own-model"]
    assert found.pictures[-1].rows[0][1] == "$0.53"
    assert "Catching Sessions that a model read for what you said." in _text(browser)


def test_catching_alone_is_usage_too(browser: Client, db: None) -> None:
    _caught(world.make_project(), cost="0.11")
    text = _text(browser)
    assert "No usage yet" not in text and "$0.11 spent on dreams and catching" in text


def test_nothing_is_said_of_catching_where_no_model_read(browser: Client, project: Project) -> None:
    CatchingUsage.objects.all().delete()
    assert "that a model read" not in _text(browser)


def test_more_readings_cost_no_more_queries(browser: Client, project: Project) -> None:
    def cost() -> int:
        with CaptureQueriesContext(connection) as queries:
            browser.get(reverse("usage"))
        return len(queries)

    cost()
    few = cost()
    for number in range(20):
        _caught(project, f"m-{number}", "0.01")
    assert cost() == few
