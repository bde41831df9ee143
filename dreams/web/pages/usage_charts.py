"""Charts of usage: tokens by kind and model, and dreams over time."""

import datetime as dt
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache, partial
from typing import Any

from django.db.models import Count, F, QuerySet, Value
from django.db.models.functions import Concat
from django.utils import timezone

from dreams.engines.tokens import Tokens
from dreams.lib.amounts import money, tokens as counted
from dreams.lib.files.text import plural
from dreams.models import DreamRun, DreamUsage
from dreams.models.prepared import prepared
from dreams.web.charts.drawings import MOST, Run, Series, durations, ranked, stacked
from dreams.web.charts.shapes import Picture, whole
from dreams.web.pages import usage_sums
from dreams.web.pages.usage_sums import SUMS, Cell

WEEK = 7  # in days
# Beyond this many days a bar is a week: a bar of a day would be thinner than a line.
MOST_SINGLE_DAYS = 90
DREAM_WEEKS = 12
# Each kind has its colour, whichever of them were used: from the bottom up.
_KINDS: Sequence[tuple[str, str, Callable[[Tokens], int]]] = (
    ("cache reads", "series-1", lambda tokens: tokens.cache_read),
    ("cache writes", "series-5", lambda tokens: tokens.cache_write),
    ("input", "series-3", lambda tokens: tokens.input),
    ("output", "series-2", lambda tokens: tokens.output),
)
_STATES = {"completed": "completed", "failed": "failed", "killed": "cancelled"}


def of_sessions(sessions: Sequence[Cell], spent: Sequence[Cell], today: dt.date, days: int) -> list[Picture]:
    """Tokens of sessions by kind; their tokens and cost, and what memoryweb spent, each by model over the last `days`. No
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
    """How long the last dreams took, how many there were in each week, and what they used. Three queries."""
    starts = _weeks(now)
    since = usage_sums.midnight(starts[0])
    cuts = usage_sums.cuts_since(since)
    return _drawn(
        tuple(starts),
        cuts,
        str(timezone.get_current_timezone()),
        tuple(_last_rows(project)),
        tuple(_states_counted(project, since, cuts)),
        tuple(_used_days(project, since, cuts)),
    )


@lru_cache(maxsize=64)
def _drawn(
    starts: Sequence[dt.date],
    cuts: usage_sums.Cuts,
    zone: str,
    last: Sequence[tuple[Any, ...]],
    states: Sequence[tuple[Any, ...]],
    used: Sequence[tuple[Any, ...]],
) -> Sequence[Picture]:
    """Once for the same rows; `zone` is the one that days are of."""
    del zone
    day = partial(usage_sums.day_of, cuts)
    return (
        durations("dream-durations", "How long dreams took", _runs(last), "No dream has ended yet."),
        stacked(
            "dreams-by-week",
            "Dreams by week",
            starts,
            _by_state(
                _summed(((state, day(date, part), n) for state, date, part, n in states), starts, WEEK)
            ),
            lambda count: plural(round(count), "dream"),
            f"No dream in the last {DREAM_WEEKS} weeks.",
            ticks=whole,
            first="Week from",
        ),
        stacked(
            "dream-tokens",
            "Tokens of dreams by week",
            starts,
            ranked(
                _summed(((model, day(date, part), sum(n)) for model, date, part, *n in used), starts, WEEK)
            ),
            _count,
            f"No dream used a model in the last {DREAM_WEEKS} weeks. Rules use no tokens.",
            first="Week from",
        ),
    )


def _weeks(now: dt.datetime) -> list[dt.date]:
    """The Mondays of the last weeks, this one's last."""
    today = timezone.localtime(now).date()
    monday = today - dt.timedelta(today.weekday())
    return [monday - dt.timedelta(weeks=back) for back in reversed(range(DREAM_WEEKS))]


def _runs(rows: Sequence[tuple[Any, ...]]) -> list[Run]:
    """Oldest first."""
    return [
        Run(timezone.localtime(ended).date(), max(0.0, (ended - started).total_seconds()), status, name)
        for name, status, started, ended in reversed(rows)
    ]


def _ended(project: int | None) -> QuerySet[DreamRun]:
    runs = DreamRun.objects.filter(started_at__isnull=False, ended_at__isnull=False)
    return runs if project is None else runs.filter(project=project)


@prepared
def _last_rows(project: int | None) -> QuerySet[DreamRun, tuple[Any, ...]]:
    rows = _ended(project).order_by(F("ended_at").desc(nulls_last=True), "-pk")
    return rows.values_list("public_id", "status", "started_at", "ended_at")[:MOST]


def _by_state(found: Mapping[str, Mapping[dt.date, float]]) -> list[Series]:
    return [
        Series(label, found[state], f"state-{state}") for state, label in _STATES.items() if state in found
    ]


@prepared
def _states_counted(
    project: int | None, since: dt.datetime, cuts: usage_sums.Cuts
) -> QuerySet[DreamRun, tuple[Any, ...]]:
    rows = usage_sums.with_days(_ended(project).filter(ended_at__gte=since).order_by(), cuts, "ended_at")
    # As an expression: by the bare column SQLite would go through the index of states, and so through all dreams.
    states = rows.annotate(state=Concat("status", Value("")))
    found: QuerySet[DreamRun, tuple[Any, ...]] = states.values_list("state", "date", "part").annotate(
        n=Count("pk")
    )
    return found


@prepared
def _used_days(project: int | None, since: dt.datetime, cuts: usage_sums.Cuts) -> QuerySet[Any]:
    used = DreamUsage.objects.filter(at__gte=since).order_by()
    rows = usage_sums.with_days(used if project is None else used.filter(dream__project=project), cuts)
    found: QuerySet[Any] = rows.values_list("model", "date", "part").annotate(**SUMS)
    return found
