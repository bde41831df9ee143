"""What models cost and what memoryweb has spent: the price table of the database, as the engine, the gates and the pages
need it.

The table is edited in the admin. A model that is not in it has tokens and no price; nothing is guessed.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from dataclasses import dataclass, field
from decimal import Decimal

from django.db.models import Q, Sum
from django.utils import timezone

from dreams import conf
from dreams.engines.tokens import PriceTable, Rate, same_model
from dreams.engines.types import Allowance
from dreams.models import CatchingUsage, DreamRun, DreamUsage, Price, Project
from dreams.services.scheduling.gates import day_start, month_start

MOST_PRICES = 2_000


@dataclass(frozen=True, slots=True)
class Limits:
    """Tokens that a model holds at once, and of its longest answer; None where it is not known."""

    context_window: int | None = None
    max_output: int | None = None


@dataclass(slots=True)
class PriceBook:
    """The whole price table, read once, for pages that price many days."""

    rows: Sequence[Price]
    _days: dict[dt.date, PriceTable] = field(default_factory=dict)

    @classmethod
    def load(cls) -> PriceBook:
        order = ("model", "-since", "above_prompt_tokens")
        return cls(list(Price.objects.order_by(*order)[:MOST_PRICES]))

    @property
    def thresholds(self) -> list[int]:
        """Prompt lengths above which some model costs more, lowest first."""
        return sorted({row.above_prompt_tokens for row in self.rows if row.above_prompt_tokens})

    def limits(self, model: str) -> Limits:
        """What is known of a model now, of its newest row that says so."""
        rows = [row for row in self.rows if row.model in (model, same_model(model))]
        return Limits(
            next((row.context_window for row in rows if row.context_window), None),
            next((row.max_output for row in rows if row.max_output), None),
        )

    def on(self, day: dt.date) -> PriceTable:
        """The rates in force on a day: of each model the rows with the newest date not after it."""
        if day not in self._days:
            self._days[day] = self._table(day)
        return self._days[day]

    def _table(self, day: dt.date) -> PriceTable:
        newest: dict[str, dt.date] = {}
        rates: dict[str, list[Rate]] = {}
        for row in self.rows:
            if row.since <= day and newest.setdefault(row.model, row.since) == row.since:
                rates.setdefault(row.model, []).append(_rate(row))
        return rates


def table(on: dt.date | None = None) -> PriceTable:
    """The rates in force on a day; without one today, in the person's zone: dates in the table are theirs."""
    return PriceBook.load().on(on or timezone.now().astimezone(conf.zone(conf.current())).date())


def _rate(row: Price) -> Rate:
    return Rate(
        input=row.input,
        output=row.output,
        cache_write_5m=row.cache_write_5m,
        cache_write_1h=row.cache_write_1h,
        cache_read=row.cache_read,
        above_prompt_tokens=row.above_prompt_tokens,
        web_search=row.web_search,
    )


# --- What was spent -----------------------------------------------------------------------------------------------

# Every table of what models were asked, and where its rows name the project: budgets and the usage page sum up these.
LEDGERS: tuple[tuple[type[DreamUsage | CatchingUsage], str], ...] = (
    (DreamUsage, "dream__project"),
    (CatchingUsage, "project"),
)


@dataclass(frozen=True, slots=True)
class Spent:
    """Dollars, over all projects and in one. Tokens without a price count nothing."""

    today: Decimal
    month: Decimal
    project_month: Decimal


def spent(project: Project, now: dt.datetime, zone: dt.tzinfo) -> Spent:
    """What dreams and catching cost in the running day and month of `zone`: failed, killed and running dreams
    included, each turn on the day when it was taken."""
    sums = [
        rows.objects.filter(at__gte=month_start(now, zone)).aggregate(
            today=Sum("cost_usd", filter=Q(at__gte=day_start(now, zone))),
            month=Sum("cost_usd"),
            project_month=Sum("cost_usd", filter=Q((of_project, project))),
        )
        for rows, of_project in LEDGERS
    ]
    names = ("today", "month", "project_month")
    return Spent(*(sum((each[name] or Decimal(0) for each in sums), Decimal(0)) for name in names))


def reserved(project: Project, besides: DreamRun | None = None) -> tuple[Decimal, Decimal]:
    """What running dreams have set aside for the requests under way: of all projects, and of one."""
    running = DreamRun.objects.filter(status=DreamRun.Status.RUNNING, reserved_usd__isnull=False)
    others = running.exclude(pk=besides.pk) if besides else running
    sums = others.aggregate(
        of_all=Sum("reserved_usd"), of_project=Sum("reserved_usd", filter=Q(project=project))
    )
    return sums["of_all"] or Decimal(0), sums["of_project"] or Decimal(0)


def dollars_left(
    project: Project,
    config: conf.Config,
    now: dt.datetime,
    zone: dt.tzinfo,
    *,
    besides: DreamRun | None = None,
) -> Allowance | None:
    """What the tightest of the budgets of day, month and project still allows; None when none of them is set.

    What running dreams have set aside is taken, but for `besides`, the dream that asks.
    """
    used, aside = spent(project, now, zone), reserved(project, besides)
    budgets = (
        ("max_cost_day", config.max_cost_day, used.today + aside[0], "today"),
        ("max_cost_month", config.max_cost_month, used.month + aside[0], "this month"),
        (
            "max_cost_project",
            config.max_cost_project,
            used.project_month + aside[1],
            "this project this month",
        ),
    )
    left = [
        Allowance(Decimal(str(limit)) - gone, f"the ${limit:,.2f} for {whose} ({conf.specs()[key].label})")
        for key, limit, gone, whose in budgets
        if limit > 0
    ]
    return min(left, key=lambda allowance: allowance.dollars, default=None)
