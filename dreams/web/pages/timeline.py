"""A project's timeline, newest first, and the growth of its memory."""

import datetime as dt
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeVar

from django.db.models import Count, Model, Q, QuerySet
from django.db.models.functions import Coalesce
from django.utils import timezone

from dreams.lib.files.text import plural
from dreams.models import (
    COUNTED_SESSIONS,
    AppliedBatch,
    DreamRun,
    GateEvaluation,
    Project,
    Proposal,
    Session,
    Version,
)
from dreams.models.prepared import Fixed, prepared
from dreams.services.cached_counts import CountKind, kept
from dreams.services.memories import time_travel
from dreams.services.proposals import decisions, summaries
from dreams.services.proposals.summaries import Summary
from dreams.services.scheduling import gates
from dreams.services.scheduling.next_dream import as_stored
from dreams.web.charts.drawings import WEEKS, Measure, by_day, over_time
from dreams.web.charts.shapes import Picture, short_size, size, whole
from dreams.web.pages.time_travel import iso
from dreams.web.pages.usage_sums import cuts_since, day_of, with_days
from dreams.web.paging import EVERYTHING, OUTSIDE, SYSTEM, WORDS, Filter

Row = TypeVar("Row", bound=Model)
GROWTH_DAYS = 182  # half a year; chosen
# With more changes in half a year, only the newest are used.
MOST_VERSIONS = 50_000


def pictures(project: Project, now: dt.datetime) -> list[Picture]:
    """Three queries for any project size; none if nothing changed since this process made them."""
    shape = (str(timezone.get_current_timezone()), _day(now))
    return [
        kept(CountKind.SESSIONS, project.pk, ("by day", *shape), lambda: _sessions_picture(project, now)),
        kept(CountKind.MEMORIES, project.pk, ("growth", *shape), lambda: _growth_picture(project, now)),
    ]


def _sessions_picture(project: Project, now: dt.datetime) -> Picture:
    here, gone = _sessions(project, now)
    none = f"No session in the last {WEEKS} weeks."
    return by_day("sessions-by-day", "Sessions by day", here, _day(now), none, gone)


def _growth_picture(project: Project, now: dt.datetime) -> Picture:
    days, files, sizes = _growth(project, now)
    measures = (
        Measure("Size", sizes, size, short_size),
        Measure("Files", files, lambda count: plural(round(count), "file"), whole),
    )
    return over_time("growth", "All files by day", days, measures, "No memory has been seen yet.")


def _sessions(project: Project, now: dt.datetime) -> tuple[dict[dt.date, int], dict[dt.date, int]]:
    """Sessions by the day of their last activity: those on disk, and those no longer there."""
    since = now - dt.timedelta(weeks=WEEKS + 1)
    active = Coalesce("last_at", "touched_at")
    rows = Session.objects.filter(project=project, touched_at__gte=since).annotate(active=active)
    cuts = cuts_since(since)
    days = with_days(rows.filter(active__gte=since).order_by(), cuts, "active")
    counted = days.values("date", "part").annotate(all=Count("pk"), here=Count("pk", filter=COUNTED_SESSIONS))
    here, gone = Counter[dt.date](), Counter[dt.date]()
    for date, part, every, counts in counted.values_list("date", "part", "all", "here"):
        day = day_of(cuts, date, part)
        here[day] += counts
        gone[day] += every - counts
    return here, gone


def _day(moment: dt.datetime) -> dt.date:
    return timezone.localtime(moment).date()


Change = tuple[int, str, int, dt.datetime, int]


def _growth(project: Project, now: dt.datetime) -> tuple[list[dt.date], list[float], list[float]]:
    """Days, and the files and bytes at the end of each, from the first known day on."""
    start, changes = _changes(project, now)
    held = dict(time_travel.memories_at(project, start).values_list("pk", "then_size"))
    ends = {_day(start): (len(held), sum(held.values()))} if held else {}
    ends |= _ends(held, start, changes)
    found = _filled(ends, _day(now))
    return [day for day, _, _ in found], [files for _, files, _ in found], [total for _, _, total in found]


def _changes(project: Project, now: dt.datetime) -> tuple[dt.datetime, list[Change]]:
    """The versions in the period, oldest first, and the time since which they are complete."""
    start = now - dt.timedelta(GROWTH_DAYS)
    rows = Version.objects.filter(memory__project=project, at__gt=start, at__lte=now).order_by("-at", "-pk")
    newest = rows.values_list("memory_id", "sha256", "size", "at", "number")[:MOST_VERSIONS]
    changes = list(newest)[::-1]
    if len(changes) < MOST_VERSIONS:
        return start, changes
    start = changes[0][3]
    return start, [change for change in changes if change[3] > start]


def _ends(
    held: Mapping[int, int], start: dt.datetime, changes: Iterable[Change]
) -> dict[dt.date, tuple[int, int]]:
    """Files and bytes at the end of each day with a change; `held` is the size of each memory at the start."""
    sizes, total, until = dict(held), sum(held.values()), start
    day, ends, last = _day(start), {}, dict[int, int]()
    for pk, sha, count, at, number in changes:
        if number < last.setdefault(pk, number):
            continue  # an earlier version: a clock was wrong
        last[pk] = number
        if at >= until:
            # Only once per day: converting a time to a local date is slow.
            day = _day(at)
            until = timezone.make_aware(dt.datetime.combine(day + dt.timedelta(1), dt.time()))
        total -= sizes.pop(pk, 0)
        if sha:
            sizes[pk] = count
            total += count
        ends[day] = (len(sizes), total)
    return ends


def _filled(ends: dict[dt.date, tuple[int, int]], today: dt.date) -> list[tuple[dt.date, int, int]]:
    """Every day from the first known one; a day without a change has the values of the day before."""
    if not ends:
        return []
    day, found = min(ends), []
    files, total = ends[day]
    while day <= today:
        files, total = ends.get(day, (files, total))
        found.append((day, files, total))
        day += dt.timedelta(1)
    return found


PAGE_SIZE = 25  # rows; chosen
FILTERS = {
    "gates": "Gates",
    "dreams": "Dreams",
    "reviews": "Reviews",
    "writes": "Applied and undone",
    "outside": "Edits outside",
}
MOST_NAMES = 3  # in one row; chosen
MOST_AT_ONCE = 1_000  # the most changed files of one scan that are counted
MOST_PEOPLE = 100  # to choose from; chosen
# Events at the same time stay on one page; more than this at once do not occur.
MOST_TIES = 30


@dataclass(frozen=True, slots=True)
class TimelineEvent:
    """One event. `who` is empty for the system; the ids are for links, `after` is the time for the directory after it; `undo`
    is the proposal whose `batch` can be undone."""

    at: dt.datetime
    kind: str
    icon: str
    tone: str
    what: str
    who: str = ""
    reason: str = ""
    dream: str = ""
    proposal: str = ""
    undo: str = ""
    batch: int | None = None
    is_redo: bool = False
    memory: int | None = None
    after: str = ""


class _Found(NamedTuple):
    """The time and key of a row in a source; the row itself is read only if it is shown."""

    at: dt.datetime
    source: str
    key: Any


# The rows are updated shortly after a write to disk; the directory "after it" is the one after this time.
_SETTLED = dt.timedelta(seconds=2)


def timeline(
    project: Project, wanted: Filter = EVERYTHING, before: str = "", size: int = PAGE_SIZE
) -> dict[str, Any]:
    until = _moment(before)
    found = sorted(_found(project, wanted, until, size + MOST_TIES), key=lambda one: one.at, reverse=True)
    shown = _with_ties(found, size)
    more = len(found) > len(shown)
    return {
        "entries": _told(shown),
        "older": shown[-1].at.astimezone(dt.UTC).isoformat() if more and shown else "",
        "is_first": until is None,
    }


def _moment(text: str) -> dt.datetime | None:
    try:
        found = dt.datetime.fromisoformat(text.replace(" ", "+"))
    except ValueError:
        return None
    return found if found.tzinfo else found.replace(tzinfo=dt.UTC)


def _with_ties(found: Sequence[_Found], size: int) -> list[_Found]:
    """The first events, with all at the time of the last one, as the next page only has earlier ones."""
    shown = list(found[:size])
    shown += [entry for entry in found[size:] if shown and entry.at == shown[-1].at]
    return shown


def people(project: Project) -> list[tuple[str, str]]:
    """The options of the filter by person: people who did something here, the system, and "outside memoryweb". One query."""
    asked = project.dreams.exclude(requested_by="").values_list("requested_by").order_by().distinct()
    decided = project.proposals.exclude(submitted_by="").values_list("submitted_by").order_by().distinct()
    wrote = AppliedBatch.objects.filter(proposal__project=project).exclude(actor="").values_list("actor")
    named = asked.union(decided, wrote.order_by().distinct())
    names = sorted({name for (name,) in named[:MOST_PEOPLE]})
    return [*((name, name) for name in names), *WORDS.items()]


def _found(project: Project, wanted: Filter, until: dt.datetime | None, size: int) -> Iterator[_Found]:
    # Allows clocks that are ahead by a day. It is the same all day, so that cached results can be reused.
    until = until or timezone.now().replace(hour=0, minute=0, second=0, microsecond=0) + dt.timedelta(days=2)
    by = "" if wanted.who == SYSTEM else wanted.who or None  # the system has no name in rows
    for name, (find, _) in _sources().items():
        if wanted.kind in ("", name) and _does(wanted.who, name):
            yield from (_Found(at, name, key) for at, key in find(project.pk, by, until, Fixed(size)))


def _does(who: str, kind: str) -> bool:
    """Whether events of this kind can be by `who`: gates are the system's, and outside edits have no name."""
    alone = {"gates": SYSTEM, "outside": OUTSIDE}.get(kind)
    return who in ("", alone) if alone else who != OUTSIDE


def _told(shown: Sequence[_Found]) -> list[TimelineEvent]:
    found: list[TimelineEvent] = []
    for name, (_, tell) in _sources().items():
        keys = [one.key for one in shown if one.source == name]
        found += tell(keys) if keys else ()
    return sorted(found, key=lambda entry: entry.at, reverse=True)


_Keys = Iterable[tuple[dt.datetime, Any]]
_Source = tuple[
    Callable[[int, str | None, dt.datetime, Fixed], _Keys], Callable[[list[Any]], Iterable[TimelineEvent]]
]


def _sources() -> Mapping[str, _Source]:
    """For each kind, how to find the newest rows and how to turn some into events."""
    return {
        "gates": (_gates, lambda keys: map(_gate, _rows(GateEvaluation, keys))),
        "dreams": (_dreams, _dreams_told),
        "reviews": (_reviews, _reviews_told),
        "writes": (_writes, _writes_told),
        "outside": (_outside, _outside_told),
    }


def _by(field: str, name: str | None) -> Q:
    return Q() if name is None else Q(**{field: name})


def _rows(model: type[Row], keys: list[int], *also: str) -> list[Row]:
    """The rows with these keys, in order."""
    found: dict[int, Row] = {row.pk: row for row in _of_keys(model, keys, also)}
    return [found[key] for key in keys if key in found]


@prepared
def _of_keys(model: type[Model], keys: list[int], also: tuple[str, ...]) -> QuerySet[Any]:
    rows = model._default_manager.filter(pk__in=keys)
    return rows.select_related(*also) if also else rows


@prepared
def _gates(project: int, by: str | None, until: dt.datetime, size: Fixed) -> QuerySet[GateEvaluation, Any]:
    del by  # only the system
    rows = GateEvaluation.objects.filter(project_id=project, at__lt=until).order_by("-at", "-pk")
    return rows.values_list("at", "pk")[:size]


def _gate(row: GateEvaluation) -> TimelineEvent:
    if row.open:
        return TimelineEvent(row.at, "gates", "gate-open", "ok", "All gates opened")
    closed: dict[str, object] = next((gate for gate in row.results if not gate.get("passed")), {})
    name = gates.title(closed.get("name"))
    reason = as_stored(str(closed.get("reason", "")))
    return TimelineEvent(row.at, "gates", "gate-closed", "", f"{name} closed", reason=reason)


def _dreams(project: int, by: str | None, until: dt.datetime, size: Fixed) -> _Keys:
    begun = [(at, pk) for at, pk, of in _begun(by, until) if of == project]
    return [*begun, *_ended(project, by, until, size)]


@prepared
def _begun(by: str | None, until: dt.datetime) -> QuerySet[DreamRun, Any]:
    """Unfinished dreams of all projects, as they are few: for one project SQLite would search all its dreams."""
    rows = DreamRun.objects.filter(
        _by("requested_by", by), status__in=DreamRun.UNFINISHED, created_at__lt=until
    )
    return rows.order_by().values_list("created_at", "pk", "project")


@prepared
def _ended(project: int, by: str | None, until: dt.datetime, size: Fixed) -> QuerySet[DreamRun, Any]:
    rows = DreamRun.objects.filter(_by("requested_by", by), project_id=project, ended_at__lt=until)
    return rows.order_by("-ended_at").values_list("ended_at", "pk")[:size]


def _dreams_told(keys: list[int]) -> Iterator[TimelineEvent]:
    rows = _rows(DreamRun, keys)
    told = summaries.of_dreams(rows)
    return (_dream(row, told[row.pk]) for row in rows)


def _dream(row: DreamRun, told: Summary) -> TimelineEvent:
    states = {
        DreamRun.Status.COMPLETED: ("moon", "accent", f"Dreamt: {told.text[:1].lower()}{told.text[1:]}"),
        DreamRun.Status.FAILED: ("block", "block", "Dream failed"),
        DreamRun.Status.KILLED: ("stop", "warn", "Dream cancelled"),
        DreamRun.Status.RUNNING: ("running", "info", "Dreaming now"),
        DreamRun.Status.PENDING: ("clock", "info", "Waiting to dream"),
    }
    icon, tone, what = states[DreamRun.Status(row.status)]
    at = row.ended_at or row.created_at
    return TimelineEvent(at, "dreams", icon, tone, what, row.requested_by, row.error, dream=row.public_id)


@prepared
def _reviews(project: int, by: str | None, until: dt.datetime, size: Fixed) -> QuerySet[Proposal, Any]:
    rows = Proposal.objects.filter(
        _by("submitted_by", by), project_id=project, origin=Proposal.Origin.DREAM, submitted_at__lt=until
    )
    return rows.order_by("-submitted_at").values_list("submitted_at", "pk")[:size]


def _reviews_told(keys: list[int]) -> Iterator[TimelineEvent]:
    counts = decisions.counts(keys)
    for row in _rows(Proposal, keys):
        what = _review(counts[row.pk], by_policy=row.by_policy)
        by = "policy" if row.by_policy else row.submitted_by
        assert row.submitted_at is not None  # noqa: S101 - the filter asks for a moment
        yield TimelineEvent(row.submitted_at, "reviews", "check", "ok", what, by, proposal=row.public_id)


def _review(counts: decisions.Counts, *, by_policy: bool) -> str:
    """ "Reviewed 5 decisions: 4 approved, 1 rejected", without what did not occur."""
    if not counts.decisions:
        return "Reviewed, and no change is left to write"
    if by_policy:
        return f"Approved {plural(counts.taken, 'decision')} without a review"
    each = {"approved": counts.taken, "rejected": counts.rejected, "in part": counts.mixed}
    each["left undecided"] = counts.undecided
    outcome = ", ".join(f"{number:,} {how}" for how, number in each.items() if number)
    return f"Reviewed {plural(counts.decisions, 'decision')}: {outcome}"


_WRITES = {
    Proposal.Origin.DREAM: ("ok", "ok"),
    Proposal.Origin.ROLLBACK: ("undo", "warn"),
    Proposal.Origin.RESTORE: ("redo", "ok"),
    Proposal.Origin.EDIT: ("edit", "ok"),
    Proposal.Origin.FORGET: ("trash", "warn"),
    Proposal.Origin.REDACTION: ("shield", "ok"),
    Proposal.Origin.ANSWERS: ("ok", "ok"),
    Proposal.Origin.SUGGESTED: ("ok", "ok"),
    Proposal.Origin.CAUGHT: ("inbox", "ok"),
    Proposal.Origin.COPIED: ("memory", "ok"),
}


@prepared
def _writes(project: int, by: str | None, until: dt.datetime, size: Fixed) -> QuerySet[AppliedBatch, Any]:
    rows = AppliedBatch.objects.filter(_by("actor", by), proposal__project=project, at__lt=until)
    return rows.order_by("-at", "-pk").values_list("at", "pk")[:size]


def _writes_told(keys: list[int]) -> Iterator[TimelineEvent]:
    rows = _rows(AppliedBatch, keys, "proposal__dream")
    told = summaries.of_applications(rows)
    for row in rows:
        icon, tone = _WRITES[Proposal.Origin(row.proposal.origin)]
        deed = told[row.pk]
        yield TimelineEvent(
            at=row.at,
            kind="writes",
            icon=icon,
            tone=tone,
            what=deed.text,
            who=row.actor + (" by command" if row.by_command and row.actor else ""),
            reason=deed.reason,
            dream=row.proposal.dream.public_id if row.proposal.dream else "",
            proposal=row.proposal.public_id,
            undo=row.proposal.public_id if deed.can_be_undone else "",
            batch=row.pk,
            is_redo=deed.is_out,
            after=iso(row.at + _SETTLED),
        )


def _outside(project: int, by: object, until: dt.datetime, size: Fixed) -> _Keys:
    """Edits found by one scan belong together: they have the same time."""
    del by  # nobody with a name
    asked = ("outside", until, size)
    moments = kept(CountKind.MEMORIES, project, asked, lambda: _moments_outside(project, until, size))
    return [(at, (project, at)) for at in moments]


@prepared
def _moments_outside(project: int, until: dt.datetime, size: Fixed) -> QuerySet[Version, dt.datetime]:
    rows = Version.objects.filter(memory__project=project, origin=Version.Origin.OUTSIDE, at__lt=until)
    return rows.order_by("-at").values_list("at", flat=True).distinct()[:size]


def _outside_told(rows: list[tuple[int, dt.datetime]]) -> Iterator[TimelineEvent]:
    by_moment: dict[dt.datetime, list[tuple[str, int]]] = {at: [] for _, at in rows}
    changed = Version.objects.filter(
        memory__project=rows[0][0], origin=Version.Origin.OUTSIDE, at__in=list(by_moment)
    )
    named = changed.order_by("memory__path").values_list("at", "memory__path", "memory_id")
    for at, path, pk in named[: len(rows) * MOST_AT_ONCE]:
        by_moment[at].append((path, pk))
    for at, found in by_moment.items():
        what = f"Changed outside: {_names([path for path, _ in found])}"
        memory = found[0][1] if len(found) == 1 else None
        yield TimelineEvent(
            at, "outside", "edit", "", what, "outside memoryweb", memory=memory, after=iso(at)
        )


def _names(paths: Sequence[str]) -> str:
    shown = ", ".join(paths[:MOST_NAMES])
    rest = len(paths) - MOST_NAMES
    return f"{shown} and {rest} more" if rest > 0 else shown or "nothing"
