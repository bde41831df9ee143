from datetime import UTC, datetime, timedelta
from decimal import Decimal
from zoneinfo import ZoneInfo

from dreams.conf import Config
from dreams.lib.timestamps import day_start, month_start, next_day, next_month
from dreams.services.scheduling.gates import Case, Facts, SpendingFact, evaluate
from tests.world.cases import each

NOW = datetime(2026, 3, 28, 23, 30, tzinfo=UTC)
BERLIN = ZoneInfo("Europe/Berlin")
LIMITS = ("max_cost_dream", "max_cost_day", "max_cost_month", "max_cost_project")
NO_LIMITS = dict.fromkeys(LIMITS, 0.0)


def gate(spending, now=NOW, **config):
    facts = Facts(spending=lambda: spending)
    found = evaluate(Case(facts, Config(**NO_LIMITS | config), now), stop_at_first=False, force=True)
    return next(result for result in found if result.name == "budget")


def paid(zone=UTC, **amounts):
    return SpendingFact(free=False, zone=zone, **{name: Decimal(amount) for name, amount in amounts.items()})


def test_the_rules_engine_has_no_budget():
    assert gate(SpendingFact(), max_cost_day=0.01).passed


@each(("today", "passed"), [("7.99", True), ("8.00", True), ("8.01", False), ("10", False)])
def test_the_next_dream_must_fit_into_the_day(today, passed):
    assert gate(paid(estimate="2", today=today), max_cost_day=10).passed is passed


def test_a_spent_cap_is_closed_even_for_a_dream_of_unknown_cost():
    assert not gate(paid(today="10"), max_cost_day=10).passed


def test_a_day_ends_at_midnight_in_the_configured_zone():
    # 23:30 UTC is 00:30 of the next day in Berlin, the day on which summer time begins: it has 23 hours.
    result = gate(paid(zone=BERLIN, today="10"), max_cost_day=10)
    assert result.opens_at == datetime(2026, 3, 29, 22, tzinfo=UTC)
    assert day_start(NOW, BERLIN) == datetime(2026, 3, 28, 23, tzinfo=UTC)
    assert next_day(NOW, BERLIN) - day_start(NOW, BERLIN) == timedelta(hours=23)


def test_a_midnight_that_does_not_exist_is_the_moment_of_change():
    zone = ZoneInfo("America/Sao_Paulo")
    evening = datetime(2018, 11, 3, 20, tzinfo=zone)
    assert next_day(evening, zone) == datetime(2018, 11, 4, 3, tzinfo=UTC)


def test_months_open_at_the_first_of_the_next():
    spent = paid(zone=BERLIN, month="30")
    assert gate(spent, max_cost_month=30).opens_at == datetime(2026, 3, 31, 22, tzinfo=UTC)
    assert month_start(NOW, BERLIN) == datetime(2026, 2, 28, 23, tzinfo=UTC)
    december = datetime(2026, 12, 31, 22, 59, tzinfo=UTC)
    assert next_month(december, BERLIN) == datetime(2026, 12, 31, 23, tzinfo=UTC)


def test_a_projects_own_cap_is_named():
    assert "this project" in gate(paid(project_month="5"), max_cost_project=5).reason


@each("cap", LIMITS)
def test_a_dream_dearer_than_a_cap_never_opens_by_waiting(cap):
    result = gate(paid(estimate="3"), **{cap: 2})
    assert (result.passed, result.opens_at) == (False, None)
    assert "raise that limit" in result.reason


def test_no_caps_mean_no_limit():
    assert gate(paid(estimate="3", today="10000")).passed
