"""The usage page: tokens and costs, as figures and charts."""

import datetime as dt
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from functools import lru_cache
from typing import Any

from django.db.models import Count, Q, QuerySet, Sum, Value
from django.utils import timezone

from dreams.engines.tokens import KINDS, Tokens
from dreams.models import DreamRun, DreamUsage, ModelRequest, Project, RequestUsage
from dreams.models.prepared import prepared
from dreams.services.pricing import PriceBook
from dreams.web.charts.shapes import Picture
from dreams.web.pages import usage_sums
from dreams.web.pages.projects import told_apart
from dreams.web.pages.usage_charts import of_sessions
from dreams.web.pages.usage_sums import SUMS, Cell, Line, Total

# --- Dreams -------------------------------------------------------------------------------------------------------


PERIODS = {"7": "7 days", "30": "30 days", "90": "90 days", "365": "A year"}
DEFAULT_PERIOD = "30"
MOST_LINES = 20  # rows; chosen
MOST_DAYS = 60  # rows; chosen


@dataclass(frozen=True, slots=True)
class Used:
    """What sessions, dreams or other requests used in the time asked for. `unpriced`: models with tokens and no price."""

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


@dataclass(frozen=True, slots=True, eq=False)
class Usage:
    """The same object where nothing has changed."""

    period: str
    sessions: Used
    dreams: DreamsUsed
    other: Used
    purposes: list[Line]
    spent: Total
    pictures: list[Picture]
    has_prices: bool
    any_ever: bool

    @property
    def unpriced(self) -> list[str]:
        """Models with tokens and no price, of all three; nothing to say where no price is entered
        at all."""
        found = {*self.sessions.unpriced, *self.dreams.used.unpriced, *self.other.unpriced}
        return sorted(found) if self.has_prices else []


def usage(now: dt.datetime, period: str = DEFAULT_PERIOD) -> Usage:
    return _made(_Asked.of(now, period))


_Rows = tuple[tuple[tuple[str, Any], ...], ...]


def _rows(found: Iterable[Mapping[str, Any]]) -> _Rows:
    """As something that is the same for the same rows."""
    return tuple(tuple(row.items()) for row in found)


@dataclass(frozen=True, slots=True)
class _Asked:
    """All that the page is made of, and nothing that is made of it; `zone` is the one that days are of."""

    period: str
    today: dt.date
    zone: str
    cuts: usage_sums.Cuts
    sessions: tuple[usage_sums.Day, ...]
    of_projects: tuple[usage_sums.InProject, ...]
    spent: tuple[_Rows, _Rows]  # by dreams, by other requests
    spent_in: tuple[_Rows, _Rows]
    purposes: _Rows
    kinds: _Rows
    runs: int
    names: tuple[tuple[int, str], ...]
    prices: _Rows
    any_ever: bool
    book: PriceBook = field(compare=False)

    @classmethod
    def of(cls, now: dt.datetime, period: str) -> "_Asked":
        midnight = timezone.localtime(now).replace(hour=0, minute=0, second=0, microsecond=0)
        since = midnight - dt.timedelta(int(period) - 1)
        cuts, book = usage_sums.cuts_since(since), PriceBook.load()
        sessions = tuple(usage_sums.session_days(since, book))
        dreamt, other = (_rows(usage_sums.spent_days(one, since, cuts)) for one in (DreamUsage, ModelRequest))
        any_now = bool(sessions or dreamt or other)
        return cls(
            period=period,
            today=midnight.date(),
            zone=str(timezone.get_current_timezone()),
            cuts=cuts,
            sessions=sessions,
            of_projects=tuple(usage_sums.session_projects(since, book)),
            spent=(dreamt, other),
            spent_in=(
                _rows(usage_sums.spent_projects(DreamUsage, since)),
                _rows(usage_sums.spent_projects(ModelRequest, since)),
            ),
            purposes=_rows(usage_sums.purposes_asked(since)),
            kinds=_rows(kinds_asked(since)),
            runs=sum(_dreamt(since)),
            names=tuple(told_apart((pk, name or slug) for pk, name, slug in _names())),
            prices=book.values,
            any_ever=any_now or RequestUsage.objects.exists() or DreamRun.objects.exists(),
            book=book,
        )


MOST_MADE = 16  # a few periods, of people in a few zones


@lru_cache(maxsize=MOST_MADE)
def _made(asked: _Asked) -> Usage:
    book, names, days = asked.book, dict(asked.names), int(asked.period)
    sessions = usage_sums.sessions_by_day(asked.sessions, book)
    dreamt, other = (usage_sums.spent_by_day(map(dict, rows), asked.cuts) for rows in asked.spent)
    dreamt_in, other_in = (usage_sums.spent_by_project(map(dict, rows)) for rows in asked.spent_in)
    spent = [*dreamt, *other]
    return Usage(
        period=asked.period,
        sessions=_used(sessions, usage_sums.sessions_by_project(asked.of_projects, book), names, book),
        dreams=_dreams(asked, dreamt, _used(dreamt, dreamt_in, names, book)),
        other=_used(other, other_in, names, book),
        purposes=usage_sums.purposes(map(dict, asked.purposes)),
        spent=usage_sums.total_of(spent),
        pictures=of_sessions(sessions, spent, asked.today, days),
        has_prices=bool(book.rows),
        any_ever=asked.any_ever,
    )


@prepared
def _names() -> QuerySet[Project, tuple[int, str, str]]:
    return Project.objects.order_by().values_list("pk", "name", "slug")


@prepared
def _dreamt(since: dt.datetime) -> QuerySet[DreamRun, int]:
    """How many there were, in one row."""
    rows = DreamRun.objects.filter(started_at__gte=since).order_by().values(all=Value(1))
    return rows.annotate(n=Count("pk")).values_list("n", flat=True)


def _used(cells: Sequence[Cell], of_projects: Sequence[Cell], names: dict[int, str], book: PriceBook) -> Used:
    projects = usage_sums.lines_of(
        of_projects,
        lambda cell: str(cell.project),
        lambda key: names.get(int(key)) or "a project",
        numbered=True,
    )
    models = usage_sums.lines_of(cells, lambda cell: cell.model, lambda key: key or "unnamed model")
    return Used(
        total=usage_sums.total_of(cells),
        models=[replace(line, limits=book.limits(line.name)) for line in models[:MOST_LINES]],
        projects=projects[:MOST_LINES],
        more_projects=max(0, len(projects) - MOST_LINES),
        unpriced=usage_sums.without_price(cells)[:MOST_LINES],
    )


def _dreams(asked: _Asked, cells: Sequence[Cell], used: Used) -> DreamsUsed:
    days = usage_sums.total_by_day(cells)
    return DreamsUsed(
        used=used,
        runs=asked.runs,
        kinds=dream_kinds(dict(asked.kinds[0])),
        days=days[:MOST_DAYS],
        more_days=max(0, len(days) - MOST_DAYS),
    )


def dream_kinds(sums: Mapping[str, Any]) -> list[Line]:
    """What dreams used by kind of token, in reading order; kinds that were not used are left out. `sums`: of `kinds_asked`."""
    lines = []
    for kind, label in KINDS.items():
        found = Total(
            Tokens(**{kind: sums[kind] or 0}),
            sums[f"{kind}_cost"] or Decimal(0),
            sums[f"{kind}_unpriced"] or 0,
        )
        lines += [Line(label, None, found, 0)] if found.tokens.total else []
    return lines


@prepared
def kinds_asked(since: dt.datetime) -> QuerySet[Any]:
    """One row, also of nothing."""
    unpriced = Q(cost_usd__isnull=True)
    return (
        DreamUsage.objects.filter(at__gte=since)
        .order_by()
        .values(all=Value(1))
        .annotate(
            **SUMS,
            **{f"{kind}_cost": Sum(f"{kind}_usd") for kind in KINDS},
            **{f"{kind}_unpriced": Sum(f"{kind}_tokens", filter=unpriced) for kind in KINDS},
        )
    )
