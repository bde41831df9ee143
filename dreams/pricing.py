"""What models cost and what dreams have spent: the price table of the database, as the engine and the gates need it.

The table is edited in the admin. A model that is not in it has tokens and no price; nothing is guessed.
"""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass
from decimal import Decimal

from django.db.models import Avg, QuerySet, Sum
from django.utils import timezone

from dreams import conf
from dreams.engines.anthropic.estimate import estimate as estimate_tokens
from dreams.engines.anthropic.usage import PriceTable, Rate
from dreams.gates import day_start, month_start
from dreams.models import DreamRun, Price, Project

# Before the first dream of a project: prompt, briefing and a few sessions, in characters.
TYPICAL_PROMPT_CHARS = 40_000
LAST_DREAMS = 5


def table(on: dt.date | None = None) -> PriceTable:
    """The rates in force on a day (default today, UTC): of each model the rows with the newest date not after it."""
    day = on or timezone.now().date()
    newest: dict[str, dt.date] = {}
    rates: dict[str, list[Rate]] = {}
    for row in Price.objects.filter(since__lte=day).order_by("model", "-since", "above_prompt_tokens"):
        if newest.setdefault(row.model, row.since) == row.since:
            rates.setdefault(row.model, []).append(_rate(row))
    return rates


def _rate(row: Price) -> Rate:
    return Rate(
        input=row.input,
        output=row.output,
        cache_write_5m=row.cache_write_5m,
        cache_write_1h=row.cache_write_1h,
        cache_read=row.cache_read,
        above_prompt_tokens=row.above_prompt_tokens,
    )


@dataclass(frozen=True, slots=True)
class Spent:
    """Dollars, over all projects and in one. Dreams without a price count nothing."""

    today: Decimal
    month: Decimal
    project_month: Decimal


def spent(project: Project, now: dt.datetime, zone: dt.tzinfo) -> Spent:
    """What dreams cost in the running day and month of `zone`, failed and killed ones included."""
    month = DreamRun.objects.filter(created_at__gte=month_start(now, zone))
    return Spent(
        today=_sum(DreamRun.objects.filter(created_at__gte=day_start(now, zone))),
        month=_sum(month),
        project_month=_sum(month.filter(project=project)),
    )


def _sum(dreams: QuerySet[DreamRun]) -> Decimal:
    total: Decimal | None = dreams.aggregate(total=Sum("cost_usd"))["total"]
    return total or Decimal(0)


def dollars_left(project: Project, config: conf.Config, now: dt.datetime, zone: dt.tzinfo) -> Decimal | None:
    """What the budgets of day, month and project still allow; None when none of them is set."""
    used = spent(project, now, zone)
    pairs = (
        (config.max_cost_day, used.today),
        (config.max_cost_month, used.month),
        (config.max_cost_project, used.project_month),
    )
    left = [Decimal(str(limit)) - gone for limit, gone in pairs if limit > 0]
    return min(left) if left else None


def expected_cost(project: Project, config: conf.Config) -> Decimal | None:
    """What the next dream will about cost: the mean of the project's last ones with this model, else a typical
    dream; None when the model has no price."""
    past = DreamRun.objects.filter(project=project, model=config.model, cost_usd__gt=0)
    recent = past.order_by("-created_at").values("pk")[:LAST_DREAMS]
    mean: Decimal | None = DreamRun.objects.filter(pk__in=recent).aggregate(mean=Avg("cost_usd"))["mean"]
    if mean is not None:
        return mean
    return estimate_tokens(table(), config.model, TYPICAL_PROMPT_CHARS).dollars
