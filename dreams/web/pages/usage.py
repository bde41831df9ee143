"""The usage page: tokens and costs as figures and charts; and charts of dreams over time."""

import datetime as dt
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache, reduce
from operator import add
from typing import Any

from django.db.models import Count, F, QuerySet, Sum, Value
from django.db.models.functions import Concat
from django.utils import timezone

from dreams.engines.tokens import KINDS, Dollars, Tokens
from dreams.lib.amounts import money, tokens as counted
from dreams.lib.files.text import plural
from dreams.models import DreamRun, DreamUsage, ModelRequest, Project, RequestUsage
from dreams.models.prepared import prepared
from dreams.services.pricing import PriceBook
from dreams.web.charts.drawings import Series, ranked, stacked
from dreams.web.charts.shapes import Picture, whole
from dreams.web.pages import usage_sums
from dreams.web.pages.projects import with_unique_names
from dreams.web.pages.usage_sums import Cell, SumRow, Total

# --- Dreams -------------------------------------------------------------------------------------------------------


PERIODS = {"7": "7 days", "30": "30 days", "90": "90 days", "365": "A year"}
DEFAULT_PERIOD = "30"
MOST_LINES = 20  # rows; chosen
MOST_DAYS = 60  # rows; chosen


@dataclass(frozen=True, slots=True)
class Used:
    """The usage of sessions, dreams or other requests in a period. `unpriced`: models with tokens but no price."""

    total: Total
    models: list[SumRow]
    more_models: int
    projects: list[SumRow]
    more_projects: int
    unpriced: list[str]


@dataclass(frozen=True, slots=True)
class DreamsUsed:
    """The usage of dreams; `runs` counts all, including those by rules."""

    used: Used
    runs: int
    kinds: list[SumRow]
    days: list[tuple[dt.date, Total]]
    more_days: int


@dataclass(frozen=True, slots=True, eq=False)
class UsagePage:
    """The page's data; cached, so it is the same object until something changes."""

    period: str
    sessions: Used
    dreams: DreamsUsed
    other: Used
    purposes: list[SumRow]
    spent: Total
    pictures: list[Picture]
    has_prices: bool
    any_ever: bool

    @property
    def unpriced(self) -> list[str]:
        """Models with tokens but no price, in all three; empty if no price is entered
        at all."""
        found = {*self.sessions.unpriced, *self.dreams.used.unpriced, *self.other.unpriced}
        return sorted(found) if self.has_prices else []


def usage(now: dt.datetime, period: str = DEFAULT_PERIOD) -> UsagePage:
    return _made(_Asked.of(now, period))


_Rows = tuple[Any, ...]  # named tuples


def _dicts(rows: _Rows) -> Iterator[Mapping[str, Any]]:
    return (row._asdict() for row in rows)


@dataclass(frozen=True, slots=True)
class _Asked:
    """All input of the page, as a cache key; `zone` is the time zone of the days."""

    period: str
    today: dt.date
    zone: str
    cuts: usage_sums.Cuts
    sessions: tuple[usage_sums.Day, ...]
    of_projects: tuple[usage_sums.InProject, ...]
    spent: tuple[_Rows, _Rows]  # by dreams, by other requests
    spent_in: tuple[_Rows, _Rows]
    purposes: _Rows
    kinds: tuple[tuple[str, Any], ...]
    runs: int
    names: tuple[tuple[int, str], ...]
    prices: tuple[Any, ...]
    any_ever: bool
    book: PriceBook = field(compare=False)

    @classmethod
    def of(cls, now: dt.datetime, period: str) -> "_Asked":
        midnight = timezone.localtime(now).replace(hour=0, minute=0, second=0, microsecond=0)
        since = midnight - dt.timedelta(int(period) - 1)
        cuts, book = usage_sums.cuts_since(since), PriceBook.load()
        sessions = tuple(usage_sums.session_days(since, book))
        dreamt, other = (tuple(usage_sums.spent_days(one, since, cuts)) for one in (DreamUsage, ModelRequest))
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
                tuple(usage_sums.spent_projects(DreamUsage, since)),
                tuple(usage_sums.spent_projects(ModelRequest, since)),
            ),
            purposes=tuple(usage_sums.purposes_asked(since)),
            kinds=tuple(kinds_asked(since)[0].items()),
            runs=sum(_dreamt(since)),
            names=tuple(with_unique_names((pk, name or slug) for pk, name, slug in _names())),
            prices=book.values,
            any_ever=any_now or RequestUsage.objects.exists() or DreamRun.objects.exists(),
            book=book,
        )


MOST_MADE = 16  # a few periods in a few time zones


@lru_cache(maxsize=MOST_MADE)
def _made(asked: _Asked) -> UsagePage:
    book, names, days = asked.book, dict(asked.names), int(asked.period)
    sessions = usage_sums.sessions_by_day(asked.sessions, book)
    dreamt, other = (usage_sums.spent_by_day(_dicts(rows), asked.cuts) for rows in asked.spent)
    dreamt_in, other_in = (usage_sums.spent_by_project(_dicts(rows)) for rows in asked.spent_in)
    spent = [*dreamt, *other]
    return UsagePage(
        period=asked.period,
        sessions=_used(sessions, usage_sums.sessions_by_project(asked.of_projects, book), names, book),
        dreams=_dreams(asked, dreamt, _used(dreamt, dreamt_in, names, book)),
        other=_used(other, other_in, names, book),
        purposes=usage_sums.purposes(_dicts(asked.purposes)),
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
    """The number of dreams that are over, as in their picture, in one row."""
    rows = _ended(None).filter(ended_at__gte=since).order_by().values(all=Value(1))
    return rows.annotate(n=Count("pk")).values_list("n", flat=True)


def _used(cells: Sequence[Cell], of_projects: Sequence[Cell], names: dict[int, str], book: PriceBook) -> Used:
    projects = usage_sums.rows_by(
        of_projects,
        lambda cell: str(cell.project),
        lambda key: names.get(int(key)) or "a project",
        numbered=True,
    )
    models = usage_sums.rows_by(cells, lambda cell: cell.model, lambda key: key or "unnamed model")
    return Used(
        total=usage_sums.total_of(cells),
        models=[replace(line, limits=book.limits(line.name)) for line in models[:MOST_LINES]],
        more_models=max(0, len(models) - MOST_LINES),
        projects=projects[:MOST_LINES],
        more_projects=max(0, len(projects) - MOST_LINES),
        unpriced=usage_sums.without_price(cells)[:MOST_LINES],
    )


def _dreams(asked: _Asked, cells: Sequence[Cell], used: Used) -> DreamsUsed:
    days = usage_sums.total_by_day(cells)
    return DreamsUsed(
        used=used,
        runs=asked.runs,
        kinds=_dream_kinds(cells, used.total.tokens, Dollars.of(dict(asked.kinds))),
        days=days[:MOST_DAYS],
        more_days=max(0, len(days) - MOST_DAYS),
    )


def _dream_kinds(cells: Sequence[Cell], tokens: Tokens, costs: Dollars) -> list[SumRow]:
    """The usage of dreams by kind of token; unused kinds are left out."""
    unpriced = usage_sums.total_of(cell for cell in cells if cell.cost is None).tokens
    return [
        SumRow(label, None, Total(Tokens(**{kind: count}), getattr(costs, kind), getattr(unpriced, kind)), 0)
        for kind, label in KINDS.items()
        if (count := getattr(tokens, kind))
    ]


@prepared
def kinds_asked(since: dt.datetime) -> QuerySet[Any]:
    """What the tokens of each kind cost: one row, even without any usage."""
    costs = {f"{kind}_cost": Sum(f"{kind}_usd") for kind in KINDS}
    return DreamUsage.objects.filter(at__gte=since).order_by().values(all=Value(1)).annotate(**costs)


# --- Charts

WEEK = 7  # in days
# For more days, a bar is a week: bars of days would be thinner than a line.
MOST_SINGLE_DAYS = 90
DREAM_WEEKS = 12
# Each kind always has the same colour; from the bottom up.
_KINDS: Sequence[tuple[str, str, Callable[[Tokens], int]]] = (
    ("cache reads", "series-1", lambda tokens: tokens.cache_read),
    ("cache writes", "series-5", lambda tokens: tokens.cache_write),
    ("input", "series-3", lambda tokens: tokens.input),
    ("output", "series-2", lambda tokens: tokens.output),
)
_STATES = {"completed": "completed", "failed": "failed", "killed": "cancelled"}


def of_sessions(sessions: Sequence[Cell], spent: Sequence[Cell], today: dt.date, days: int) -> list[Picture]:
    """Tokens of sessions by kind and by model, their cost and what memoryweb spent by model, for the last `days`. No
    query."""
    step = WEEK if days > MOST_SINGLE_DAYS else 1
    starts = _starts(today, days, step)
    first = "Day" if step == 1 else "Week from"
    tokens = ranked(_tokens(sessions, starts, step))
    costs, spendings = (ranked(_costs(cells, starts, step), tokens) for cells in (sessions, spent))
    no_tokens, no_costs = "No tokens in this time.", "No tokens of a known price in this time."
    none_spent = "memoryweb spent nothing in this time."
    drawn: Sequence[tuple[str, str, Sequence[Series], Callable[[float], str], str]] = (
        ("tokens-by-kind", "Tokens by kind", _kinds(sessions, starts, step), _count, no_tokens),
        ("tokens-by-model", "Tokens by model", tokens, _count, no_tokens),
        ("cost-by-model", "Cost by model", costs, money, no_costs),
        ("spent-by-model", "Spent by memoryweb", spendings, money, none_spent),
    )
    return [
        stacked(key, title, starts, series, amount, none, first=first)
        for key, title, series, amount, none in drawn
    ]


def _count(value: float) -> str:
    return counted(round(value))


def _starts(today: dt.date, days: int, step: int) -> list[dt.date]:
    """The first day of every bar."""
    first = today - dt.timedelta(days - 1)
    return [first + dt.timedelta(start) for start in range(0, days, step)]


def _tokens(cells: Iterable[Cell], starts: Sequence[dt.date], step: int) -> dict[str, dict[dt.date, float]]:
    return _summed(((cell.model, cell.day, cell.tokens.total) for cell in cells), starts, step)


def _kinds(cells: Sequence[Cell], starts: Sequence[dt.date], step: int) -> list[Series]:
    amounts = ((name, cell.day, of(cell.tokens)) for cell in cells for name, _, of in _KINDS)
    found = _summed(amounts, starts, step)
    return [Series(name, found[name], mark) for name, mark, _ in _KINDS if any(found.get(name, {}).values())]


def _costs(cells: Iterable[Cell], starts: Sequence[dt.date], step: int) -> dict[str, dict[dt.date, float]]:
    return _summed(((cell.model, cell.day, float(cell.cost or 0)) for cell in cells), starts, step)


def _summed(
    amounts: Iterable[tuple[str, dt.date | None, float]], starts: Sequence[dt.date], step: int
) -> dict[str, dict[dt.date, float]]:
    found: dict[str, dict[dt.date, float]] = {}
    for model, day, amount in amounts:
        if day is None or day < starts[0]:
            continue
        place = min((day - starts[0]).days // step, len(starts) - 1)
        sums = found.setdefault(model or "unnamed model", {})
        sums[starts[place]] = sums.get(starts[place], 0) + amount
    return found


def of_dreams(now: dt.datetime, project: int | None = None) -> Sequence[Picture]:
    """The number of dreams per week, and their usage. Two queries."""
    starts = _weeks(now)
    weeks = tuple(map(usage_sums.midnight, starts))
    return _drawn(
        tuple(starts), tuple(_states_counted(project, weeks)), tuple(_tokens_summed(project, weeks))
    )


_PerWeek = Sequence[tuple[int, str, int]]  # number of the week, what is counted, how many


@lru_cache(maxsize=64)
def _drawn(starts: Sequence[dt.date], states: _PerWeek, tokens: _PerWeek) -> Sequence[Picture]:
    """Cached for the same rows."""
    return (
        stacked(
            "dreams-by-week",
            "Dreams by week",
            starts,
            _by_state(_summed(((state, starts[week], n) for week, state, n in states), starts, WEEK)),
            lambda count: plural(round(count), "dream"),
            f"No dream in the last {DREAM_WEEKS} weeks.",
            ticks=whole,
            first="Week from",
        ),
        stacked(
            "dream-tokens",
            "Tokens of dreams by week",
            starts,
            ranked(_summed(((model, starts[week], n) for week, model, n in tokens), starts, WEEK)),
            _count,
            f"No dream used a model in the last {DREAM_WEEKS} weeks. Rules use no tokens.",
            first="Week from",
        ),
    )


def _weeks(now: dt.datetime) -> list[dt.date]:
    """The Mondays of the last weeks, oldest first."""
    today = timezone.localtime(now).date()
    monday = today - dt.timedelta(today.weekday())
    return [monday - dt.timedelta(weeks=back) for back in reversed(range(DREAM_WEEKS))]


def _ended(project: int | None) -> QuerySet[DreamRun]:
    runs = DreamRun.objects.filter(started_at__isnull=False, ended_at__isnull=False)
    return runs if project is None else runs.filter(project=project)


def _by_state(found: Mapping[str, Mapping[dt.date, float]]) -> list[Series]:
    return [
        Series(label, found[state], f"state-{state}") for state, label in _STATES.items() if state in found
    ]


@prepared
def _states_counted(project: int | None, weeks: tuple[dt.datetime, ...]) -> QuerySet[DreamRun, Any]:
    return _per_week(_ended(project), weeks, "ended_at", "status", Count("pk"))


@prepared
def _tokens_summed(project: int | None, weeks: tuple[dt.datetime, ...]) -> QuerySet[DreamUsage, Any]:
    used = DreamUsage.objects.all() if project is None else DreamUsage.objects.filter(dream__project=project)
    return _per_week(used, weeks, "at", "model", Sum(reduce(add, [F(f"{kind}_tokens") for kind in KINDS])))


def _per_week(
    rows: QuerySet[Any], weeks: Sequence[dt.datetime], at: str, by: str, amount: Count | Sum
) -> QuerySet[Any, Any]:
    """Joined queries of one week each, as grouping all rows by their dates takes SQLite twice as long."""
    # An expression, because with the bare column SQLite would scan its index, so all rows.
    named = rows.annotate(by=Concat(by, Value(""))).order_by()
    each = []
    for week, (start, end) in enumerate(zip(weeks, [*weeks[1:], None], strict=True)):
        lasting = {f"{at}__gte": start} | ({f"{at}__lt": end} if end else {})
        found = named.filter(**lasting).values("by").annotate(week=Value(week), n=amount)
        each.append(found.values_list("week", "by", "n"))
    joined: QuerySet[Any, Any] = each[0].union(*each[1:], all=True)
    return joined
