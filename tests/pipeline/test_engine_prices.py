"""Prices from the table, what was spent from the dreams, what is left from the settings."""

from __future__ import annotations

import datetime as dt
import importlib
from decimal import Decimal
from pathlib import Path

import pytest
from django.apps import apps

from dreams import conf, pricing
from dreams.engines.anthropic.usage import Tokens, rate_for
from dreams.models import DreamRun, Override, Price
from tests.pipeline import world

pytestmark = pytest.mark.django_db

NOW = dt.datetime(2026, 3, 10, 12, 0, tzinfo=dt.UTC)


def add_price(model: str, since: str, dollars: int, above: int = 0) -> None:
    kinds = ("input", "output", "cache_write_5m", "cache_write_1h", "cache_read")
    Price.objects.create(model=model, since=since, above_prompt_tokens=above, **dict.fromkeys(kinds, dollars))


def test_the_migration_brings_prices_and_their_tiers() -> None:
    Price.objects.all().delete()
    for _ in range(2):  # what stands there already is left as it is
        importlib.import_module("dreams.migrations.0002_prices").seed(apps, None)
    prices = pricing.table()
    assert set(prices) == {"claude-sonnet-5-5", "claude-haiku-5-5", "claude-opus-5-5"}
    sonnet, haiku = rate_for(prices, "claude-sonnet-5-5", 1), rate_for(prices, "claude-haiku-5-5", 100_001)
    assert sonnet and haiku and haiku.input == Decimal("0.5")
    assert sonnet.cost(Tokens(1_000, 1_000, 1_000, 1_000, 1_000)) == Decimal("0.0187")


def test_the_newest_price_that_already_holds_is_taken_with_all_its_tiers() -> None:
    add_price("m", "2026-01-01", 1)
    add_price("m", "2026-01-01", 2, above=100)
    add_price("m", "2026-03-01", 3)
    add_price("m", "2027-01-01", 9)
    assert [r.input for r in pricing.table(dt.date(2026, 2, 1))["m"]] == [1, 2]
    assert [r.input for r in pricing.table(NOW.date())["m"]] == [3]
    assert "m" not in pricing.table(dt.date(2025, 1, 1))


def test_the_least_of_day_month_and_project_is_what_is_left(tmp_path: Path) -> None:
    project = world.make_project(tmp_path)
    for days, cost in ((0, "1.5"), (5, "2"), (40, "100")):
        run = DreamRun.objects.create(
            project=project, engine="anthropic", trigger="page", status="failed", cost_usd=Decimal(cost)
        )
        DreamRun.objects.filter(pk=run.pk).update(created_at=NOW - dt.timedelta(days=days))
    spent = pricing.spent(project, NOW, dt.UTC)
    assert (spent.today, spent.month, spent.project_month) == (Decimal("1.5"), Decimal("3.5"), Decimal("3.5"))
    assert pricing.dollars_left(project, conf.current(project), NOW, dt.UTC) == Decimal("3.5")
    for key in ("max_cost_day", "max_cost_month", "max_cost_project"):
        Override.objects.create(key=key, value=0)
    assert pricing.dollars_left(project, conf.current(project), NOW, dt.UTC) is None


def test_the_next_dream_is_expected_to_cost_what_the_last_ones_did(tmp_path: Path) -> None:
    project = world.make_project(tmp_path)
    config = conf.current(project)
    first = pricing.expected_cost(project, config)
    assert first is not None and Decimal("0.01") < first < Decimal(1)
    for number in range(7):
        DreamRun.objects.create(
            project=project,
            engine="anthropic",
            model=config.model,
            trigger="page",
            status="completed",
            cost_usd=Decimal(number),
        )
    assert pricing.expected_cost(project, config) == Decimal(4)
