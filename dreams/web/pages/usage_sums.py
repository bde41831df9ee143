"""Tokens and costs, summed by the database: by day, model and project, for sessions, dreams and
other model requests."""

import datetime as dt
import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from functools import partial
from operator import add
from typing import Any, TypeAlias, TypeVar

from django.core.cache import cache
from django.db.models import Case, CharField, Count, F, IntegerField, QuerySet, Sum, Value, When
from django.db.models.functions import Cast, Coalesce, Substr
from django.utils import timezone

from dreams.engines.tokens import KINDS, Tokens, known_price, rate_for
from dreams.models import DreamUsage, ModelRequest, RequestUsage
from dreams.models.prepared import prepared
from dreams.services import cached_counts, database
from dreams.services.pricing import LEDGERS, ModelLimits, PriceBook

# Offsets of a zone are sampled this often; the shortest period with a different one is the month of Ramadan.
_LOOKS = dt.timedelta(days=7)


Cuts: TypeAlias = tuple[str, ...]


def with_days(rows: QuerySet[Any], cuts: Cuts, field: str = "at") -> QuerySet[Any]:
    """`rows` with `date` and `part`, to group by; `day_of` turns both into a day. `field` must not be null."""
    text = Cast(field, CharField())
    whens = [When(clock__gte=cut, then=Value(n)) for n, cut in reversed(list(enumerate(cuts, 1)))]
    part = Case(*whens, default=Value(0), output_field=IntegerField())
    found: QuerySet[Any] = rows.annotate(date=Substr(text, 1, 10), clock=Substr(text, 12, 5)).annotate(
        part=part
    )
    return found


def day_of(cuts: Cuts, date: str, part: int) -> dt.date:
    first = dt.datetime.fromisoformat(f"{date} {('00:00', *cuts)[part]}").replace(tzinfo=dt.UTC)
    return timezone.localtime(first).date()


def cuts_since(since: dt.datetime) -> Cuts:
    """The UTC times at which days began in the zone between `since` and now: "05:00". Clock changes add a second one."""
    zone = timezone.get_current_timezone()
    looks = range((timezone.now() - since) // _LOOKS + 2)
    offsets = {(since + _LOOKS * look).astimezone(zone).utcoffset() or dt.timedelta() for look in looks}
    any_midnight = dt.datetime(2000, 1, 2, tzinfo=dt.UTC)
    times = {f"{any_midnight - offset:%H:%M}" for offset in offsets}
    return tuple(sorted(times - {"00:00"}))


_MOMENT = dt.timedelta.resolution
KEPT_SECONDS = 7 * 86_400  # chosen
# To be increased when the sums change, so that old cached ones are not used.
FORM = 3
Kept = TypeVar("Kept")


@dataclass(frozen=True, slots=True)
class TimeSpan:
    """From one local midnight to another; `end` None: until now. `key` is "" if it cannot be cached."""

    start: dt.datetime
    end: dt.datetime | None
    key: str = ""

    def holds(self, day: dt.date) -> bool:
        return self.start.date() <= day and (self.end is None or day < self.end.date())


Summing = Callable[[Sequence[TimeSpan]], Sequence[list[Kept]]]


def summed(what: str, since: dt.datetime, on: Iterable[object], summing: Summing[Kept]) -> list[Kept]:
    """All sums since `since`, from the cache or computed. `on` is what they depend on besides the rows.

    `summing` computes the sums of the given spans.
    """
    spans = _keyed(_spans(since), what, on)
    kept: dict[str, list[Kept]] = cache.get_many([span.key for span in spans if span.key])
    missing = [span for span in spans if span.key not in kept]
    made = summing(missing) if missing else []
    with database.unless_full():
        cache.set_many(
            {span.key: sums for span, sums in zip(missing, made, strict=True) if span.key}, KEPT_SECONDS
        )
    return [one for sums in (*kept.values(), *made) for one in sums]


def _each_range(
    spans: Sequence[TimeSpan], ask: Callable[[dt.datetime, dt.datetime | None], Iterable[Any]]
) -> Iterator[Any]:
    """The rows of all spans; adjacent spans need only one query."""
    start = spans[0].start
    for span, following in zip(spans, [*spans[1:], None], strict=True):
        if following is None or span.end != following.start:
            yield from ask(start, span.end)
            start = following.start if following else start


def _spans(since: dt.datetime) -> list[TimeSpan]:
    """Spans from `since` to the end of that month, for each past month, for this month until its last days, and for those."""
    today = timezone.localtime().date()
    starts = [since]
    while starts[-1].date() < today.replace(day=1):
        later = (starts[-1].date().replace(day=28) + dt.timedelta(days=4)).replace(day=1)
        starts.append(midnight(later))
    # Sums of days are dropped with each request of their dates in UTC: west of Greenwich, today's began yesterday.
    is_over = (midnight(today) - _MOMENT).astimezone(dt.UTC).date() < timezone.now().astimezone(dt.UTC).date()
    last = today if is_over else today - dt.timedelta(1)
    starts += [midnight(last)] if last > starts[-1].date() else []
    return [TimeSpan(start, end) for start, end in zip(starts, [*starts[1:], None], strict=True)]


def midnight(day: dt.date) -> dt.datetime:
    return timezone.make_aware(dt.datetime.combine(day, dt.time()))


def _keyed(spans: list[TimeSpan], what: str, on: Iterable[object]) -> list[TimeSpan]:
    if not cached_counts.has_marks() or len(spans) == 1:
        return spans
    marks = cached_counts.of_days(spans[0].start.astimezone(dt.UTC).date())
    shape = (FORM, what, str(timezone.get_current_timezone()), *on)
    return [
        TimeSpan(span.start, span.end, _key(span.start, span.end, marks, shape)) if span.end else span
        for span in spans
    ]


def _key(start: dt.datetime, end: dt.datetime, marks: Mapping[str, int], shape: tuple[object, ...]) -> str:
    last = end - _MOMENT
    ends = [moment.astimezone(dt.UTC).date().isoformat() for moment in (start, last)]
    standing = sorted((date, mark) for date, mark in marks.items() if ends[0] <= date <= ends[1])
    return "usage:" + hashlib.sha256(repr((shape, start, end, standing)).encode()).hexdigest()


SUMS = {kind: Sum(f"{kind}_tokens") for kind in KINDS}
COSTS = {"cost": Sum("cost_usd"), "n": Sum("requests")}
LEDGER_SUMS: Mapping[type[DreamUsage | ModelRequest], Mapping[str, Sum]] = {
    DreamUsage: {**SUMS, **COSTS},
    ModelRequest: {"input": Sum("input_tokens"), "output": Sum("output_tokens"), **COSTS},
}
SESSION_SUMS = {
    **SUMS,
    "searches": Sum("web_searches"),
    "micros": Coalesce(Sum("agent_micros"), 0),
    "told": Count("agent_micros"),
    "n": Count("pk"),
}
NO_PROJECT = 0  # for usage without a project: row ids begin at 1


@dataclass(slots=True)
class Total:
    """Sums of tokens and dollars. `unpriced` tokens have no known price. `cost` includes web searches, except
    `unpriced_searches`, which have no known price."""

    tokens: Tokens = field(default_factory=Tokens)
    cost: Decimal = Decimal(0)
    unpriced: int = 0
    requests: int = 0
    searches: int = 0
    search_cost: Decimal = Decimal(0)
    unpriced_searches: int = 0
    agent_cost: Decimal = Decimal(0)
    agent_told: int = 0

    def add_cell(self, cell: "Cell") -> None:
        self.add(cell.tokens, cell.cost, cell.requests)
        self.agent_cost += cell.agent_cost
        self.agent_told += cell.agent_told
        self.searches += cell.searches
        if cell.search_cost is None:
            self.unpriced_searches += cell.searches
        else:
            self.search_cost += cell.search_cost

    def add(self, tokens: Tokens, cost: Decimal | None, requests: int = 0) -> None:
        self.tokens = self.tokens + tokens
        self.requests += requests
        if cost is None:
            self.unpriced += tokens.total
        else:
            self.cost += cost

    @property
    def price(self) -> Decimal | None:
        """None if no token has a known price."""
        return known_price(self.cost, self.unpriced, self.tokens.total)


@dataclass(frozen=True, slots=True)
class Cell:
    """Tokens of one day, model, project and price tier. `cost` includes web searches if they have a
    price. For `agent_told` of the requests the agent reported its own cost."""

    day: dt.date | None
    model: str
    project: int
    tokens: Tokens
    cost: Decimal | None
    requests: int
    searches: int = 0
    search_cost: Decimal | None = Decimal(0)
    agent_cost: Decimal = Decimal(0)
    agent_told: int = 0


@dataclass(frozen=True, slots=True)
class SumRow:
    """One row of a table: a model, a project, a day or a kind of token. `limits` are those of a model."""

    name: str
    pk: int | None
    sum: Total
    share: float
    limits: ModelLimits | None = None


Ledger: TypeAlias = type[DreamUsage | ModelRequest]


def spent_by_day(rows: Iterable[Mapping[str, Any]], cuts: Cuts) -> list[Cell]:
    """Usage by day, at the prices of that time; unpriced usage is separate. `rows`: from `spent_days`."""
    return [_booked(row, day_of(cuts, row["date"], row["part"]), NO_PROJECT) for row in rows]


@prepared
def spent_days(ledger: Ledger, since: dt.datetime, cuts: Cuts) -> QuerySet[Any]:
    rows = with_days(_priced(ledger, since), cuts)
    return _ledger_sums(ledger, rows.values_list("date", "part", "model", "priced", named=True))


def spent_by_project(rows: Iterable[Mapping[str, Any]]) -> list[Cell]:
    """The same by project, without days. `rows`: from `spent_projects`."""
    return [_booked(row, None, row["of"]) for row in rows]


@prepared
def spent_projects(ledger: Ledger, since: dt.datetime) -> QuerySet[Any]:
    rows = _priced(ledger, since).annotate(of=F(dict(LEDGERS)[ledger]))
    return _ledger_sums(ledger, rows.values_list("model", "priced", "of", named=True))


def _ledger_sums(ledger: Ledger, rows: QuerySet[Any, Any]) -> QuerySet[Any, Any]:
    found: QuerySet[Any, Any] = rows.annotate(**LEDGER_SUMS[ledger]).order_by()
    return found


def _priced(ledger: Ledger, since: dt.datetime) -> QuerySet[Any]:
    priced = Case(When(cost_usd__isnull=False, then=Value(1)), default=Value(0))
    return ledger.objects.filter(at__gte=since).annotate(priced=priced)


def _booked(row: Mapping[str, Any], day: dt.date | None, project: int) -> Cell:
    return Cell(day, row["model"], project, Tokens.of(row), row["cost"], row["n"])


def purposes(rows: Iterable[Mapping[str, Any]]) -> list[SumRow]:
    """Usage of requests without a dream by purpose, most expensive first. `rows`: from `purposes_asked`."""
    found: dict[str, list[Cell]] = {}
    for row in rows:
        found.setdefault(row["purpose"], []).append(_booked({**row, "model": ""}, None, NO_PROJECT))
    labels = dict(ModelRequest.Purpose.choices)
    lines = [
        SumRow(str(labels.get(purpose, purpose)), None, total_of(cells), 0)
        for purpose, cells in found.items()
    ]
    return sorted(lines, key=lambda line: (-line.sum.cost, -line.sum.tokens.total, line.name))


@prepared
def purposes_asked(since: dt.datetime) -> QuerySet[Any]:
    return _ledger_sums(
        ModelRequest, _priced(ModelRequest, since).values_list("purpose", "priced", named=True)
    )


def total_of(cells: Iterable[Cell]) -> Total:
    total = Total()
    for cell in cells:
        total.add_cell(cell)
    return total


def rows_by(
    cells: Iterable[Cell],
    key_of: Callable[[Cell], str],
    name_of: Callable[[str], str],
    *,
    numbered: bool = False,
) -> list[SumRow]:
    """The cells summed by a key, most tokens first."""
    sums: dict[str, Total] = {}
    for cell in cells:
        sums.setdefault(key_of(cell), Total()).add_cell(cell)
    whole = sum(found.tokens.total for found in sums.values()) or 1
    lines = [
        SumRow(name_of(key), int(key) if numbered else None, found, 100 * found.tokens.total / whole)
        for key, found in sums.items()
        if found.tokens.total
    ]
    return sorted(lines, key=lambda line: (-line.sum.tokens.total, line.name))


def total_by_day(cells: Iterable[Cell]) -> list[tuple[dt.date, Total]]:
    """The sums of days with usage, newest first."""
    sums: dict[dt.date, Total] = {}
    for cell in cells:
        if cell.day is not None:
            sums.setdefault(cell.day, Total()).add_cell(cell)
    return sorted(((day, found) for day, found in sums.items() if found.tokens.total), reverse=True)


def without_price(cells: Iterable[Cell]) -> list[str]:
    """The names of models with tokens but no price."""
    return sorted(
        {cell.model or "unnamed model" for cell in cells if cell.cost is None and cell.tokens.total}
    )


# The values of SESSION_SUMS as plain numbers for the cache.
Used: TypeAlias = tuple[int, ...]
Day: TypeAlias = tuple[dt.date, str, int, Used]
InProject: TypeAlias = tuple[int, str, int, dt.date, Used]


def session_days(since: dt.datetime, book: PriceBook) -> list[Day]:
    return summed("day", since, book.thresholds, partial(_days, since, book.thresholds))


def sessions_by_day(found: Iterable[Day], book: PriceBook) -> list[Cell]:
    """A cell for each day, model and price tier, for all projects together. `found`: from `session_days`."""
    return [_cell(book, day, model, tier, NO_PROJECT, used) for day, model, tier, used in found]


def _days(since: dt.datetime, thresholds: Sequence[int], spans: Sequence[TimeSpan]) -> list[list[Day]]:
    cuts = cuts_since(since)
    made: list[list[Day]] = [[] for _ in spans]
    for date, part, model, tier, *used in _each_range(spans, partial(_in_days, tuple(thresholds), cuts)):
        day = day_of(cuts, date, part)
        place = next(n for n, span in enumerate(spans) if span.holds(day))
        made[place].append((day, model, tier, tuple(used)))
    return made


@prepared
def _in_days(
    thresholds: tuple[int, ...], cuts: Cuts, start: dt.datetime, end: dt.datetime | None
) -> QuerySet[Any]:
    rows = with_days(_tiered(_within(start, end), thresholds), cuts)
    found: QuerySet[Any] = (
        rows.values_list("date", "part", "model", "tier").annotate(**SESSION_SUMS).order_by()
    )
    return found


def session_projects(since: dt.datetime, book: PriceBook) -> list[InProject]:
    changes = book.changes
    on = (*book.thresholds, *changes)
    return summed("project", since, on, partial(_projects, book.thresholds, changes))


def sessions_by_project(found: Iterable[InProject], book: PriceBook) -> list[Cell]:
    """A cell for each project, model, price tier and time between two changes of prices. `found`: from
    `session_projects`."""
    changes = book.changes
    sums: dict[tuple[int, str, int, dt.date], Used] = {}
    for project, model, tier, day, used in found:
        # All days between two changes have the same price, so months can be merged.
        since = max((change for change in changes if change <= day), default=dt.date.min)
        key = (project, model, tier, since)
        before = sums.get(key)
        sums[key] = tuple(map(add, before, used)) if before else used
    return [
        _cell(book, day, model, tier, project, used) for (project, model, tier, day), used in sums.items()
    ]


def _projects(
    thresholds: Sequence[int], changes: Sequence[dt.date], spans: Sequence[TimeSpan]
) -> list[list[InProject]]:
    starts = sorted(
        {span.start.date() for span in spans} | {day for day in changes if day > spans[0].start.date()}
    )
    made: list[list[InProject]] = [[] for _ in spans]
    in_range = partial(_in_projects, tuple(thresholds), tuple(map(midnight, starts)))
    for project, model, tier, epoch, *used in _each_range(spans, in_range):
        day = starts[epoch]
        place = next(n for n, span in enumerate(spans) if span.holds(day))
        made[place].append((project, model, tier, day, tuple(used)))
    return made


@prepared
def _in_projects(
    thresholds: tuple[int, ...], epochs: tuple[dt.datetime, ...], start: dt.datetime, end: dt.datetime | None
) -> QuerySet[Any]:
    rows = _tiered(_within(start, end), thresholds).annotate(epoch=_epoch(epochs))
    return rows.values_list("session__project", "model", "tier", "epoch").annotate(**SESSION_SUMS).order_by()


def _within(start: dt.datetime, end: dt.datetime | None) -> QuerySet[RequestUsage]:
    rows = RequestUsage.objects.filter(at__gte=start)
    return rows.filter(at__lt=end) if end else rows


def _cell(book: PriceBook, day: dt.date, model: str, tier: int, project: int, used: Used) -> Cell:
    *counts, searches, micros, told, requests = used
    tokens = Tokens(**dict(zip(KINDS, counts, strict=True)))
    # One more than the threshold represents every prompt above it.
    rate = rate_for(book.on(day), model, tier + 1)
    for_searches = rate.search_cost(searches) if rate else None
    return Cell(
        day,
        model,
        project,
        tokens,
        rate.cost(tokens) + (for_searches or 0) if rate else None,
        requests,
        searches,
        for_searches,
        Decimal(micros) / 1_000_000,
        told,
    )


def _tiered(rows: QuerySet[RequestUsage], thresholds: Sequence[int]) -> QuerySet[RequestUsage]:
    """Each request with the highest threshold that its prompt exceeds: some models charge more for long prompts."""
    prompt = (
        F("input_tokens") + F("cache_write_5m_tokens") + F("cache_write_1h_tokens") + F("cache_read_tokens")
    )
    whens = [When(prompt__gt=limit, then=Value(limit)) for limit in sorted(thresholds, reverse=True)]
    return rows.annotate(prompt=prompt, tier=Case(*whens, default=Value(0), output_field=IntegerField()))


def _epoch(midnights: Sequence[dt.datetime]) -> Case:
    whens = [When(at__gte=midnights[n], then=Value(n)) for n in range(len(midnights) - 1, 0, -1)]
    return Case(*whens, default=Value(0), output_field=IntegerField())
