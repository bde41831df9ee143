"""What models cost and what memoryweb has spent: the price table of the database, as the engine, the gates and the pages
need it.

The table is edited in the admin. A model that is not in it has tokens and no price; nothing is guessed.
"""

import datetime as dt
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any, Self

from django.db import transaction
from django.db.models import Q, QuerySet, Sum
from django.utils import timezone

from dreams import conf
from dreams.engines.tokens import PriceTable, Rate, same_model
from dreams.engines.types import Allowance, Usage
from dreams.lib.amounts import money
from dreams.lib.timestamps import day_start, month_start
from dreams.models import DreamRun, DreamUsage, ModelRequest, Price, Project, SetAside
from dreams.models.prepared import prepared
from dreams.services import database

MOST_PRICES = 2_000  # rows that somebody may have made: a bound of memory


@dataclass(frozen=True, slots=True)
class ModelLimits:
    """Tokens that a model holds at once, and of its longest answer; None where it is not known."""

    context_window: int | None = None
    max_output: int | None = None


@dataclass(slots=True)
class PriceBook:
    """The whole price table, read once, for pages that price many days."""

    rows: Sequence[Price]
    _days: dict[dt.date, PriceTable] = field(default_factory=dict)

    @classmethod
    def load(cls) -> "PriceBook":
        return cls(_prices())

    @property
    def thresholds(self) -> list[int]:
        """Prompt lengths above which some model costs more, lowest first."""
        return sorted({row.above_prompt_tokens for row in self.rows if row.above_prompt_tokens})

    @property
    def values(self) -> tuple[tuple[tuple[str, Any], ...], ...]:
        """All of it as something that is the same for the same prices."""
        return tuple(tuple(item for item in vars(row).items() if item[0] != "_state") for row in self.rows)

    @property
    def changes(self) -> list[dt.date]:
        """The days from which on some model has another price, the first one first."""
        return sorted({row.since for row in self.rows})

    def limits(self, model: str) -> ModelLimits:
        """What is known of a model now, of its newest row that says so."""
        rows = [row for row in self.rows if row.model in (model, same_model(model))]
        return ModelLimits(
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


@prepared
def _prices() -> QuerySet[Price]:
    return Price.objects.order_by("model", "-since", "above_prompt_tokens")[:MOST_PRICES]


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
LEDGERS: tuple[tuple[type[DreamUsage | ModelRequest], str], ...] = (
    (DreamUsage, "dream__project"),
    (ModelRequest, "project"),
)


@dataclass(frozen=True, slots=True)
class Spent:
    """Dollars, over all projects and in one. Tokens without a price count nothing."""

    today: Decimal
    month: Decimal
    project_month: Decimal


def spent(project: Project, now: dt.datetime, zone: dt.tzinfo) -> Spent:
    """What dreams and other model requests cost in the running day and month of `zone`: failed, killed and running dreams
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


def reserved(
    project: Project, now: dt.datetime, besides: DreamRun | SetAside | None = None
) -> tuple[Decimal, Decimal]:
    """What is set aside for the requests under way, of dreams and of others: in all projects, and in one."""
    running = DreamRun.objects.filter(status=DreamRun.Status.RUNNING, reserved_usd__isnull=False)
    others = SetAside.objects.filter(until__gt=now)
    if isinstance(besides, DreamRun):
        running = running.exclude(pk=besides.pk)
    elif besides is not None:
        others = others.exclude(pk=besides.pk)
    sums = [
        rows.aggregate(of_all=Sum(name), of_project=Sum(name, filter=Q(project=project)))
        for rows, name in ((running, "reserved_usd"), (others, "usd"))
    ]
    zero = Decimal(0)
    return sum((each["of_all"] or zero for each in sums), zero), sum(
        (each["of_project"] or zero for each in sums), zero
    )


def dollars_left(
    project: Project,
    config: conf.Config,
    now: dt.datetime,
    zone: dt.tzinfo,
    *,
    besides: DreamRun | SetAside | None = None,
) -> Allowance | None:
    """What the tightest of the budgets of day, month and project still allows; None when none of them is set.

    What requests under way have set aside is taken, but for `besides`, of the one that asks.
    """
    used, aside = spent(project, now, zone), reserved(project, now, besides)
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
        Allowance(Decimal(str(limit)) - gone, f"the {money(limit)} for {whose} ({conf.specs()[key].label})")
        for key, limit, gone, whose in budgets
        if limit > 0
    ]
    return min(left, key=lambda allowance: allowance.dollars, default=None)


def set_aside(
    dollars: Decimal, left: Callable[[], Allowance | None], keep: Callable[[Decimal | None], None]
) -> Allowance | None:
    """Have `keep` set `dollars` aside where the budgets have them; None: done. Otherwise nothing is set aside, and this
    is what is left. Those that ask at the same time wait for each other here."""
    with transaction.atomic():
        database.one_at_a_time("budgets")
        allowed = left()
        if allowed is not None and allowed.dollars < dollars:
            return allowed
        keep(dollars if allowed else None)
    return None


# --- Requests that no dream makes ---------------------------------------------------------------------------------

#: No request is under way for longer: its time limits are shorter (chosen).
LONGEST_REQUEST = dt.timedelta(minutes=20)


@dataclass(slots=True)
class Meter:
    """For model requests outside of dreams, as a context: give `dollars_left` and `reserve` to the request's
    `Budget`, and each request's usage to `book` at once, whatever became of it."""

    project: Project
    purpose: ModelRequest.Purpose
    #: Of what was booked so far; None while nothing of it has a price.
    cost: Decimal | None = None
    requests: int = 0
    _aside: SetAside | None = None

    def dollars_left(self) -> Allowance | None:
        config = conf.current(self.project)
        return dollars_left(self.project, config, timezone.now(), conf.zone(config), besides=self._aside)

    def reserve(self, dollars: Decimal) -> Allowance | None:
        """Set `dollars` aside for the next request, instead of what was; see `set_aside`."""
        return set_aside(dollars, self.dollars_left, self._keep)

    def book(self, usage: Usage) -> None:
        """Keep what a request used; what was set aside for it is spent now."""
        with transaction.atomic():
            ModelRequest.objects.bulk_create(
                ModelRequest(
                    project=self.project,
                    purpose=self.purpose,
                    at=timezone.now(),
                    model=row.model[:100],
                    requests=row.requests,
                    input_tokens=row.tokens.prompt,
                    output_tokens=row.tokens.output,
                    cost_usd=row.dollars.total if row.dollars else None,
                )
                for row in usage.by_model
            )
            self._keep(None)
        self.requests += usage.requests
        if usage.cost_usd is not None:
            self.cost = (self.cost or Decimal(0)) + usage.cost_usd

    def _keep(self, dollars: Decimal | None) -> None:
        if self._aside is not None:
            self._aside.delete()
            self._aside = None
        if dollars is not None:
            until = timezone.now() + LONGEST_REQUEST
            self._aside = SetAside.objects.create(project=self.project, usd=dollars, until=until)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._keep(None)
        SetAside.objects.filter(until__lt=timezone.now()).delete()
