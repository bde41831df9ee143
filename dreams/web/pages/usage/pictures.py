"""Pictures of what models and dreams used, from the sums that their pages have read already, and of how long dreams took."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Iterable, Sequence

from django.db.models import Count, QuerySet
from django.utils import timezone

from dreams.engines.tokens import Tokens
from dreams.lib.files.text import plural
from dreams.models import DreamRun, DreamUsage
from dreams.web.amounts import money
from dreams.web.amounts import tokens as counted
from dreams.web.charts.base import Picture, whole
from dreams.web.charts.durations import MOST, Run, durations
from dreams.web.charts.stacks import Series, ranked, stacked
from dreams.web.pages.usage import days as usage_days
from dreams.web.pages.usage.cells import SUMS, Cell

WEEK = 7
# Beyond this many days a bar is a week: a bar of a day would be thinner than a line.
MOST_DAYS = 90
DREAM_WEEKS = 12

_STATES = {"completed": "completed", "failed": "failed", "killed": "cancelled"}


def by_model(sessions: Sequence[Cell], dreams: Sequence[Cell], today: dt.date, days: int) -> list[Picture]:
    """Tokens and cost of sessions, and cost of dreams, each by model over the last `days`. No query."""
    step = WEEK if days > MOST_DAYS else 1
    starts = _starts(today, days, step)
    first = "Day" if step == 1 else "Week from"
    return [
        _picture(
            "tokens-by-model",
            "Tokens by model",
            starts,
            _tokens(sessions, starts, step),
            _count,
            "No tokens in this time.",
            first,
        ),
        _picture(
            "cost-by-model",
            "Cost by model",
            starts,
            _costs(sessions, starts, step),
            money,
            "No tokens of a known price in this time.",
            first,
        ),
        _picture(
            "dreams-by-model",
            "Cost of dreams",
            starts,
            _costs(dreams, starts, step),
            money,
            "No dream cost anything in this time.",
            first,
        ),
    ]


def _picture(
    key: str,
    title: str,
    starts: Sequence[dt.date],
    amounts: dict[str, dict[dt.date, float]],
    words: Callable[[float], str],
    empty: str,
    first: str,
) -> Picture:
    return stacked(key, title, starts, ranked(amounts), words, empty, first=first)


def _count(value: float) -> str:
    return counted(round(value))


def _starts(today: dt.date, days: int, step: int) -> list[dt.date]:
    """The first day of every bar, as the page's own chart has them."""
    first = today - dt.timedelta(days - 1)
    return [first + dt.timedelta(start) for start in range(0, days, step)]


def _tokens(cells: Iterable[Cell], starts: Sequence[dt.date], step: int) -> dict[str, dict[dt.date, float]]:
    return _summed(((cell.model, cell.day, cell.tokens.total) for cell in cells), starts, step)


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


# --- Dreams -------------------------------------------------------------------------------------------------------


def of_dreams(now: dt.datetime, project: int | None = None) -> list[Picture]:
    """How long the last dreams took, how many there were in each week, and what they used. Three queries."""
    runs = DreamRun.objects.filter(started_at__isnull=False, ended_at__isnull=False)
    runs = runs if project is None else runs.filter(project=project)
    starts = _weeks(now)
    return [
        durations("dream-durations", "How long dreams took", _last(runs), "No dream has ended yet."),
        stacked(
            "dreams-by-week",
            "Dreams by week",
            starts,
            _by_state(runs, starts),
            lambda count: plural(round(count), "dream"),
            f"No dream in the last {DREAM_WEEKS} weeks.",
            ticks=whole,
            first="Week from",
        ),
        _picture(
            "dream-tokens",
            "Tokens of dreams by week",
            starts,
            _used(project, starts),
            _count,
            f"No dream used a model in the last {DREAM_WEEKS} weeks. Rules use no tokens.",
            "Week from",
        ),
    ]


def _weeks(now: dt.datetime) -> list[dt.date]:
    """The Mondays of the last weeks, this one's last."""
    today = timezone.localtime(now).date()
    monday = today - dt.timedelta(today.weekday())
    return [monday - dt.timedelta(weeks=back) for back in reversed(range(DREAM_WEEKS))]


def _last(runs: QuerySet[DreamRun]) -> list[Run]:
    """Oldest first."""
    rows = runs.order_by("-ended_at", "-pk").values_list("public_id", "status", "started_at", "ended_at")
    return [
        Run(timezone.localtime(ended).date(), max(0.0, (ended - started).total_seconds()), status, name)
        for name, status, started, ended in reversed(rows[:MOST])
        if started and ended
    ]


def _by_state(runs: QuerySet[DreamRun], starts: Sequence[dt.date]) -> list[Series]:
    since = _midnight(starts[0])
    rows, day_of = usage_days.by_day(runs.filter(ended_at__gte=since).order_by(), since, "ended_at")
    counts = rows.values_list("status", "date", "part").annotate(n=Count("pk"))
    found = _summed(((status, day_of(date, part), n) for status, date, part, n in counts), starts, WEEK)
    return [
        Series(label, found[state], f"state-{state}") for state, label in _STATES.items() if state in found
    ]


def _used(project: int | None, starts: Sequence[dt.date]) -> dict[str, dict[dt.date, float]]:
    since = _midnight(starts[0])
    used = DreamUsage.objects.filter(at__gte=since).order_by()
    rows, day_of = usage_days.by_day(used if project is None else used.filter(dream__project=project), since)
    days = rows.values("model", "date", "part").annotate(**SUMS)
    return _summed(
        ((row["model"], day_of(row["date"], row["part"]), Tokens.of(row).total) for row in days), starts, WEEK
    )


def _midnight(day: dt.date) -> dt.datetime:
    return timezone.make_aware(dt.datetime.combine(day, dt.time()))
