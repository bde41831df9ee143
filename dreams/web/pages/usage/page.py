"""Tokens and what they cost, by day, model and project: of sessions, and of dreams."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from dataclasses import dataclass

from django.utils import timezone

from dreams.models import DreamRun, Project, RequestUsage
from dreams.services.pricing import PriceBook
from dreams.web.charts.base import Picture
from dreams.web.pages.usage import cells as cells_of
from dreams.web.pages.usage import pictures as spent
from dreams.web.pages.usage import sessions as usage_sessions
from dreams.web.pages.usage.cells import Cell, Line, Total
from dreams.web.pages.usage.chart import Chart, chart

PERIODS = {"7": "7 days", "30": "30 days", "90": "90 days", "365": "A year"}
DEFAULT_PERIOD = "30"
MOST_LINES = 20
MOST_DAYS = 60


@dataclass(frozen=True, slots=True)
class Used:
    """What sessions, or dreams, used in the time asked for. `unpriced`: models with tokens and no price."""

    total: Total
    models: list[Line]
    projects: list[Line]
    more_projects: int
    unpriced: list[str]


@dataclass(frozen=True, slots=True)
class DreamsUsed:
    """What dreams used; `runs` are all of them, rules included."""

    used: Used
    runs: int
    kinds: list[Line]
    days: list[tuple[dt.date, Total]]
    more_days: int


@dataclass(frozen=True, slots=True)
class Usage:
    period: str
    sessions: Used
    chart: Chart
    dreams: DreamsUsed
    pictures: list[Picture]
    has_prices: bool
    any_ever: bool

    @property
    def unpriced(self) -> list[str]:
        """Models with tokens and no price, of sessions and dreams; nothing to say where no price is entered at all."""
        found = {*self.sessions.unpriced, *self.dreams.used.unpriced}
        return sorted(found) if self.has_prices else []


def usage(now: dt.datetime, period: str = DEFAULT_PERIOD) -> Usage:
    days = int(period)
    today = timezone.localtime(now).date()
    midnight = timezone.localtime(now).replace(hour=0, minute=0, second=0, microsecond=0)
    since = midnight - dt.timedelta(days - 1)
    book = PriceBook.load()
    sessions = usage_sessions.by_day(since, book)
    dreamt = cells_of.of_dreams(since)
    names = dict(Project.objects.values_list("pk", "name"))
    return Usage(
        period=period,
        sessions=_used(sessions, usage_sessions.by_project(since, book), names),
        chart=chart(sessions, today, days),
        dreams=_dreams(dreamt, since, names),
        pictures=spent.by_model(sessions, dreamt, today, days),
        has_prices=bool(book.rows),
        any_ever=bool(sessions or dreamt) or RequestUsage.objects.exists() or DreamRun.objects.exists(),
    )


def _used(cells: Sequence[Cell], of_projects: Sequence[Cell], names: dict[int, str]) -> Used:
    projects = cells_of.lines_of(
        of_projects,
        lambda cell: str(cell.project),
        lambda key: names.get(int(key)) or "a project",
        numbered=True,
    )
    models = cells_of.lines_of(cells, lambda cell: cell.model, lambda key: key or "unnamed model")
    return Used(
        total=cells_of.total_of(cells),
        models=models[:MOST_LINES],
        projects=projects[:MOST_LINES],
        more_projects=max(0, len(projects) - MOST_LINES),
        unpriced=cells_of.without_price(cells)[:MOST_LINES],
    )


def _dreams(cells: Sequence[Cell], since: dt.datetime, names: dict[int, str]) -> DreamsUsed:
    days = cells_of.by_day(cells)
    return DreamsUsed(
        used=_used(cells, cells_of.of_dreams_by_project(since), names),
        runs=DreamRun.objects.filter(started_at__gte=since).count(),
        kinds=cells_of.dream_kinds(since),
        days=days[:MOST_DAYS],
        more_days=max(0, len(days) - MOST_DAYS),
    )
