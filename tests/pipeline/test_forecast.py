"""What the next dream will cost is said before it starts, and what it then costs lies in what was said."""

from __future__ import annotations

import datetime as dt
import io
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from django.core.cache import cache
from django.core.management import call_command
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from dreams import conf
from dreams.lib import amounts
from dreams.models import DreamRun, DreamUsage, Override, Price, Project, Turn
from dreams.services import forecast
from dreams.services.scheduling import next_dream
from tests.world import directory as world
from tests.world.model_server import ModelServer

pytestmark = pytest.mark.not_on_postgresql


@pytest.fixture
def project(tmp_path: Path, settings: Any, transactional_db: None) -> Project:
    cache.clear()
    settings.ROOTS = (tmp_path,)
    return world.discovered(tmp_path)


def asked(project: Project) -> forecast.Forecast:
    return forecast.forecast(project, conf.current(project))


def command(project: Project) -> str:
    said = io.StringIO()
    arguments = ("dream", str(project.pk), "--engine", "anthropic", "--force")
    call_command(*arguments, stdout=io.StringIO(), stderr=said)
    return said.getvalue()


@pytest.mark.more
def test_a_real_dream_costs_what_was_said_before(project: Project, model: ModelServer) -> None:
    before = asked(project)
    said = command(project)
    assert before.sentence in said and "from what it would read: 2 sessions" in said
    run = DreamRun.objects.get()
    low, high = before.tokens
    assert low <= run.tokens <= high
    assert before.estimate.low.dollars and before.estimate.high.dollars and run.priced_usd
    assert before.estimate.low.dollars <= run.priced_usd <= before.estimate.high.dollars


def test_what_a_dream_would_read_is_not_called_new_as_it_may_wait_in_a_review(project: Project) -> None:
    """The page of a project said "0 new sessions" and, of the same ones, "it would read 2 new sessions"."""
    now = timezone.now()
    project.sessions.update(touched_at=now - dt.timedelta(hours=1))
    project.last_consolidated_at = now
    project.save()
    assert next_dream.tally_sessions([project], now)[project.pk].plain == 0
    found = asked(project)
    assert f"2 sessions and its notes, {amounts.bytes_(found.size.material_bytes)}" in found.basis


@pytest.mark.more
@pytest.mark.not_on_postgresql
def test_it_reckons_with_the_first_prompt_as_it_is_sent(project: Project, model: ModelServer) -> None:
    reckoned = asked(project).size.prompt_chars
    command(project)
    body = model.calls[0].body
    sent = len(repr([body[part] for part in ("system", "tools", "messages")]))
    assert 0.8 * sent < reckoned < 1.2 * sent


def test_what_it_is_likely_to_use_is_told_once_and_in_one_number(
    project: Project, model: ModelServer
) -> None:
    """The dream's own first line told another range than the page that it was started from."""
    command(project)
    first = Turn.objects.order_by("number")[0].text
    assert "Asking" in first and "expected" not in first and "$" not in first


def past(project: Project, *costs: str) -> None:
    for cost in costs:
        run = DreamRun.objects.create(
            project=project,
            engine="anthropic",
            model=conf.current().model,
            trigger="page",
            status="completed",
        )
        DreamUsage.objects.create(
            dream=run, turn=1, at=timezone.now(), model=run.model, output_tokens=1000, cost_usd=Decimal(cost)
        )


@pytest.mark.also_on_postgresql
def test_three_dreams_say_more_than_a_formula(project: Project) -> None:
    past(project, "0.1", "0.2")
    assert asked(project).dreams == 0
    past(project, "0.3")
    found = asked(project)
    assert (found.dreams, found.likely) == (3, Decimal("0.2"))
    assert found.cost == "about $0.07 to $0.42"
    assert "from the last 3 dreams of this project" in found.sentence


@pytest.mark.also_on_postgresql
def test_no_forecast_is_over_the_limits_of_a_dream(project: Project) -> None:
    past(project, "0.5", "0.6", "0.9")
    assert asked(project).cost == "about $0.35 to $1.00"
    Override.objects.create(key="max_tokens", value=1200)
    assert asked(project).tokens == (700, 1200)


@pytest.mark.more
def test_a_model_without_a_price_is_said(project: Project, model: ModelServer) -> None:
    Price.objects.all().delete()
    assert f"A dream with {conf.current().model}: no price is known for it" in command(project)


def test_the_projects_page_says_it_where_a_dream_is_started(
    project: Project, browser: Client, settings: Any
) -> None:
    Override.objects.create(key="engine", value="anthropic")
    text = " ".join(browser.get(reverse("project", args=[project.pk])).content.decode().split())
    assert asked(project).cost in text
    assert "It stops at $1.00." in text


@pytest.mark.also_on_postgresql
def test_a_dream_that_the_budget_refuses_is_not_said_to_stop_at_its_limit(
    project: Project, browser: Client
) -> None:
    Override.objects.create(key="engine", value="anthropic")
    Override.objects.create(key="max_cost_dream", value=0.05)
    told = asked(project)
    text = " ".join(browser.get(reverse("project", args=[project.pk])).content.decode().split())
    assert told.likely and "is over the $0.05 for one dream" in text and "It stops at" not in text
    assert "$0.05" not in told.cost, "the range is what it would cost, not what it may"
