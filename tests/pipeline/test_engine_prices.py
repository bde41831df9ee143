"""Prices from the table, what was spent from the dreams, what is left from the settings."""

from __future__ import annotations

import datetime as dt
import zoneinfo
from decimal import Decimal
from pathlib import Path

import pytest
from django.apps import apps

from dreams import conf
from dreams.engines.tokens import Tokens, rate_for
from dreams.migrations._prices import seed_more, seed_newest, seed_whole
from dreams.models import DreamRun, DreamUsage, Override, Price, Project
from dreams.services import pricing
from dreams.services.scheduling.gate_inputs import Everywhere, case_of
from tests.world import directory as world

pytestmark = pytest.mark.django_db

NOW = dt.datetime(2026, 3, 10, 12, 0, tzinfo=dt.UTC)


def add_price(model: str, since: str, dollars: int, above: int = 0) -> None:
    kinds = ("input", "output", "cache_write_5m", "cache_write_1h", "cache_read")
    Price.objects.create(model=model, since=since, above_prompt_tokens=above, **dict.fromkeys(kinds, dollars))


def test_the_migration_brings_prices_and_their_tiers() -> None:
    Price.objects.all().delete()
    for _ in range(2):  # what stands there already is left as it is
        seed_whole(apps, None)
    prices = pricing.table()
    assert set(prices) == {"claude-sonnet-5-5", "claude-haiku-5-5", "claude-opus-5-5"}
    sonnet, haiku = rate_for(prices, "claude-sonnet-5-5", 1), rate_for(prices, "claude-haiku-5-5", 100_001)
    assert sonnet and haiku and haiku.input == Decimal("0.5")
    assert sonnet.cost(Tokens(1_000, 1_000, 1_000, 1_000, 1_000)) == Decimal("0.0187")


def test_what_agents_have_used_so_far_has_its_price() -> None:
    tokens = Tokens(input=1_000_000, output=1_000_000, cache_read=1_000_000)
    then = pricing.table(dt.date(2025, 9, 30))
    for model, dollars in (
        ("claude-sonnet-4-20250514", "18.3"),
        ("claude-3-5-haiku-20241022", "4.88"),
        ("claude-opus-4-1-20250805", "91.5"),
    ):
        rate = rate_for(then, model, 1)
        assert rate and rate.cost(tokens) == Decimal(dollars), model
    now = pricing.table(dt.date(2026, 11, 1))
    for model, dollars in (
        ("claude-opus-4-5-20251101", "30.5"),
        ("claude-haiku-4-5-20251001", "6.1"),
        ("claude-sonnet-5", "12.2"),
        ("claude-fable-5-1", "60.25"),
        ("claude-fable-5-2", "48.2"),
        ("claude-opus-5-5", "24.2"),
    ):
        rate = rate_for(now, model, 1)
        assert rate and rate.cost(tokens) == Decimal(dollars), model


def test_reading_the_cache_of_the_newest_sonnet_costs_half_since_october() -> None:
    reads = [pricing.table(dt.date(2026, 10, day))["claude-sonnet-5-5"][0].cache_read for day in (6, 7)]
    assert reads == [Decimal("0.2"), Decimal("0.1")]


def test_prices_that_a_person_wrote_are_left_as_they_are() -> None:
    Price.objects.all().delete()
    seed_whole(apps, None)
    Price.objects.filter(model="claude-opus-5-5").update(input=3)
    Price.objects.filter(model="claude-sonnet-5-5").update(output=9)
    add_price("claude-opus-4-6", "2026-06-01", 7)
    for _ in range(2):
        seed_more(apps, None)
    found = pricing.table(dt.date(2026, 11, 1))
    assert found["claude-opus-5-5"][0].cache_read == Decimal("0.4")
    assert found["claude-sonnet-5-5"][0].cache_read == Decimal("0.2")
    assert Price.objects.get(model="claude-opus-4-6").input == 7
    assert found["claude-opus-4-5"][0].input == 5


def test_a_model_that_came_later_gets_its_price_and_no_removed_one_comes_back() -> None:
    Price.objects.exclude(model="claude-sonnet-5-5").delete()
    for _ in range(2):
        seed_newest(apps, None)
    assert set(pricing.table(dt.date(2026, 11, 30))) == {"claude-sonnet-5-5", "claude-fable-5-2"}


def test_the_newest_price_that_already_holds_is_taken_with_all_its_tiers() -> None:
    add_price("m", "2026-01-01", 1)
    add_price("m", "2026-01-01", 2, above=100)
    add_price("m", "2026-03-01", 3)
    add_price("m", "2027-01-01", 9)
    assert [r.input for r in pricing.table(dt.date(2026, 2, 1))["m"]] == [1, 2]
    assert [r.input for r in pricing.table(NOW.date())["m"]] == [3]
    assert "m" not in pricing.table(dt.date(2025, 1, 1))


def booked(project: Project, at: dt.datetime, cost: str | None, model: str = "m") -> DreamUsage:
    run = DreamRun.objects.create(
        project=project, engine="anthropic", model=model, trigger="page", status="failed", started_at=at
    )
    dollars = None if cost is None else Decimal(cost)
    return DreamUsage.objects.create(
        dream=run, turn=1, at=at, model=model, requests=1, output_tokens=100, cost_usd=dollars
    )


def test_the_least_of_day_month_and_project_is_what_is_left(tmp_path: Path) -> None:
    project = world.make_project(tmp_path)
    for days, cost in ((0, "1.5"), (5, "2"), (40, "100"), (0, None)):
        booked(project, NOW - dt.timedelta(days=days), cost)
    spent = pricing.spent(project, NOW, dt.UTC)
    assert (spent.today, spent.month, spent.project_month) == (Decimal("1.5"), Decimal("3.5"), Decimal("3.5"))
    left = pricing.dollars_left(project, conf.current(project), NOW, dt.UTC)
    assert left and (left.dollars, "Cost limit per day" in left.of) == (Decimal("3.5"), True)
    Override.objects.create(key="max_cost_project", value=4)
    left = pricing.dollars_left(project, conf.current(project), NOW, dt.UTC)
    assert left and left.dollars == Decimal("0.5") and "Cost limit per project and month" in left.of
    Override.objects.all().delete()
    for key in ("max_cost_day", "max_cost_month", "max_cost_project"):
        Override.objects.create(key=key, value=0)
    assert pricing.dollars_left(project, conf.current(project), NOW, dt.UTC) is None


@pytest.mark.parametrize("name", ["Asia/Kathmandu", "Pacific/Auckland", "America/Los_Angeles"])
def test_a_dream_over_midnight_spends_on_two_days_and_gate_and_engine_agree(
    tmp_path: Path, name: str
) -> None:
    """Queued before midnight, running after it: each turn counts on the day of the person's zone when it was taken."""
    project = world.make_project(tmp_path)
    Override.objects.create(key="time_zone", value=name)
    Override.objects.create(key="engine", value="anthropic")
    midnight = dt.datetime(2026, 4, 1, tzinfo=zoneinfo.ZoneInfo(name))
    before, after = midnight - dt.timedelta(seconds=1), midnight + dt.timedelta(seconds=1)
    last = booked(project, before, "4")
    DreamUsage.objects.create(dream=last.dream, turn=2, at=after, model="m", cost_usd=Decimal("0.5"))
    everywhere = Everywhere.load()
    for now, day, month in ((before, Decimal(4), Decimal(4)), (after, Decimal("0.5"), Decimal("0.5"))):
        # What came after `now` is no part of the question; a clock does not run backwards.
        DreamUsage.objects.filter(turn=2).update(at=after if now is after else before - dt.timedelta(days=40))
        fact = case_of(project, everywhere, now).facts.spending()
        config = conf.current(project)
        left = pricing.dollars_left(project, config, now, conf.zone(config))
        assert (fact.today, fact.month, fact.project_month) == (day, month, month)
        assert left and left.dollars == Decimal(5) - day


def test_every_spelling_of_a_models_id_has_its_price_and_no_other_model_has(tmp_path: Path) -> None:
    add_price("m-1", "2026-01-01", 1)
    for name in ("m-1", "m-1-20260930", "m-1@20260930", "m-1-latest", "m-1[1m]"):
        assert rate_for(pricing.table(), name, 1), name
    for name in ("m-10", "m-1-5", "m", "m-1-mini", ""):
        assert rate_for(pricing.table(), name, 1) is None, name
