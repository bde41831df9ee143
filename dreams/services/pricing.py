"""What models cost and what memoryweb has spent, from the price table in the database, for the engine, the gates and pages.

The table is edited in the admin. For a model that is not in it, tokens are counted but have no price; nothing is guessed.
"""

import datetime as dt
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from decimal import Decimal
from typing import Any, Self

from django.db import transaction
from django.db.models import Q, QuerySet, Sum
from django.utils import timezone

from dreams import conf
from dreams.engines.tokens import PriceTable, Rate, same_model
from dreams.engines.types import Allowance, Usage
from dreams.lib.amounts import money, rate
from dreams.lib.timestamps import day_start, month_start
from dreams.models import DreamRun, DreamUsage, ModelRequest, Price, Project, SetAside
from dreams.models.prepared import prepared
from dreams.services import auditlog, database

_RATES = [each.name for each in fields(Rate)]  # what a row of the table has under the same names
MOST_PRICES = 2_000  # the most rows to load: limits memory use


@dataclass(frozen=True, slots=True)
class ModelLimits:
    """Tokens in a model's context window and in its longest answer; None if unknown."""

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
        """Prompt lengths above which any model costs more, lowest first."""
        return sorted({row.above_prompt_tokens for row in self.rows if row.above_prompt_tokens})

    @property
    def values(self) -> tuple[tuple[tuple[str, Any], ...], ...]:
        """The table as a value that is equal for equal prices."""
        return tuple(tuple(item for item in vars(row).items() if item[0] != "_state") for row in self.rows)

    @property
    def changes(self) -> list[dt.date]:
        """The days on which any price changes, earliest first."""
        return sorted({row.since for row in self.rows})

    def limits(self, model: str) -> ModelLimits:
        """The model's current limits, each from the newest row that has it."""
        rows = [row for row in self.rows if row.model in (model, same_model(model))]
        return ModelLimits(
            next((row.context_window for row in rows if row.context_window), None),
            next((row.max_output for row in rows if row.max_output), None),
        )

    def on(self, day: dt.date) -> PriceTable:
        """The rates on a day: for each model, the rows with the latest date up to that day."""
        if day not in self._days:
            self._days[day] = self._table(day)
        return self._days[day]

    def _table(self, day: dt.date) -> PriceTable:
        newest: dict[str, dt.date] = {}
        rates: dict[str, list[Rate]] = {}
        for row in self.rows:
            if row.since <= day and newest.setdefault(row.model, row.since) == row.since:
                rates.setdefault(row.model, []).append(Rate(**{name: getattr(row, name) for name in _RATES}))
        return rates


@prepared
def _prices() -> QuerySet[Price]:
    return Price.objects.order_by("model", "-since", "above_prompt_tokens")[:MOST_PRICES]


def table(on: dt.date | None = None) -> PriceTable:
    """The rates on a day; by default today in the person's time zone, which the table's dates use."""
    return PriceBook.load().on(on or timezone.now().astimezone(conf.zone(conf.current())).date())


# --- Changing a price ---------------------------------------------------------------------------------------------


def save(row: Price, *, actor: str) -> None:
    """Save a new or changed row; the audit log has its changed values before and after."""
    with transaction.atomic():
        database.one_at_a_time("settings")
        was = Price.objects.filter(pk=row.pk).first()
        now = _values(row)
        before = _values(was) if was else {}
        row.save()
        changed = [name for name, value in now.items() if before.get(name) != value]
        if changed:
            auditlog.record(
                "price.changed",
                actor=actor,
                object_id=f"price of {was or row}",
                was=_listed(before, changed) if was else None,
                now=_listed(now, changed),
            )


def remove(row: Price, *, actor: str) -> None:
    with transaction.atomic():
        values = _values(row)
        auditlog.record(
            "price.removed", actor=actor, object_id=f"price of {row}", was=_listed(values, values), now=None
        )
        row.delete()


def _values(row: Price) -> dict[str, str]:
    """Field → value in words."""
    values = {
        f.verbose_name: getattr(row, f.attname) for f in Price._meta.concrete_fields if not f.primary_key
    }
    return {
        str(name): rate(value) if isinstance(value, Decimal) else "none" if value is None else str(value)
        for name, value in values.items()
    }


def _listed(values: Mapping[str, str], names: Iterable[str]) -> str:
    return ", ".join(f"{name} {values[name]}" for name in names)


# --- What was spent -----------------------------------------------------------------------------------------------

# Tables of model usage with their lookup of the project: budgets and the usage page sum these up.
LEDGERS: tuple[tuple[type[DreamUsage | ModelRequest], str], ...] = (
    (DreamUsage, "dream__project"),
    (ModelRequest, "project"),
)


@dataclass(frozen=True, slots=True)
class Spent:
    """US dollars, of all projects and of one. Tokens without a price count as 0."""

    today: Decimal
    month: Decimal
    project_month: Decimal


def spent(project: Project, now: dt.datetime, zone: dt.tzinfo) -> Spent:
    """The cost of dreams and other model requests in the current day and month of `zone`, including failed, killed and running
    dreams; each turn counts on its own day."""
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
    """Dollars set aside for running requests of dreams and others: (in all projects, in this one)."""
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
    """What the tightest of the day, month and project budgets still allows; None if none is set.

    Amounts set aside for running requests are subtracted, except `besides`, the caller's own.
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
    """Calls `keep` to set `dollars` aside if the budgets allow it, and returns None. Otherwise sets nothing aside and returns
    what is left. Concurrent callers wait for each other here."""
    with transaction.atomic():
        database.one_at_a_time("budgets")
        allowed = left()
        if allowed is not None and allowed.dollars < dollars:
            return allowed
        keep(dollars if allowed else None)
    return None


# --- Model requests outside of dreams -----------------------------------------------------------------------------

#: No request takes longer: its time limits are shorter (chosen).
LONGEST_REQUEST = dt.timedelta(minutes=20)


@dataclass(slots=True)
class Meter:
    """Context manager for model requests outside of dreams: pass `dollars_left` and `reserve` to the request's `Budget`, and
    each request's usage to `book` at once, whether it succeeded or not."""

    project: Project
    purpose: ModelRequest.Purpose
    #: Total booked so far; None while nothing booked has a price.
    cost: Decimal | None = None
    requests: int = 0
    _aside: SetAside | None = None

    def dollars_left(self) -> Allowance | None:
        config = conf.current(self.project)
        return dollars_left(self.project, config, timezone.now(), conf.zone(config), besides=self._aside)

    def reserve(self, dollars: Decimal) -> Allowance | None:
        """Sets `dollars` aside for the next request, replacing the previous amount; see `set_aside`."""
        return set_aside(dollars, self.dollars_left, self._keep)

    def book(self, usage: Usage) -> None:
        """Stores a request's usage; the amount set aside for it counts as spent."""
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
