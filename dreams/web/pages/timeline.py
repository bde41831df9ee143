"""A project over time: one timeline of all that happened, newest first, and how its memory grew."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from django.db.models import Count, Q
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
from dreams.services.memories import time_travel
from dreams.services.proposals import decisions, summaries
from dreams.services.proposals.summaries import Summary
from dreams.services.scheduling import gates
from dreams.services.scheduling.next_dream import as_stored
from dreams.web.charts.drawings import WEEKS, Measure, by_day, over_time
from dreams.web.charts.shapes import Picture, short_size, size, whole
from dreams.web.pages.moments import iso
from dreams.web.pages.usage_sums import rows_by_day
from dreams.web.paging import EVERYTHING, OUTSIDE, SYSTEM, WORDS, Filter

GROWTH_DAYS = 182
# A directory that changes this often in half a year is told by its newest changes.
MOST_VERSIONS = 50_000


def pictures(project: Project, now: dt.datetime) -> list[Picture]:
    """Three queries, whatever the project's size."""
    here, gone = _sessions(project, now)
    days, files, sizes = _growth(project, now)
    measures = (
        Measure("Size", sizes, size, short_size),
        Measure("Files", files, lambda count: plural(round(count), "file"), whole),
    )
    return [
        by_day(
            "sessions-by-day",
            "Sessions by day",
            here,
            _day(now),
            f"No session in the last {WEEKS} weeks.",
            gone,
        ),
        over_time("growth", "Memory growth", days, measures, "No memory has been seen yet."),
    ]


def _sessions(project: Project, now: dt.datetime) -> tuple[dict[dt.date, int], dict[dt.date, int]]:
    """By the day on which each was last active: those that pages count, and those that are gone from disk."""
    since = now - dt.timedelta(weeks=WEEKS + 1)
    active = Coalesce("last_at", "touched_at")
    rows = Session.objects.filter(project=project, touched_at__gte=since).annotate(active=active)
    days, day_of = rows_by_day(rows.filter(active__gte=since).order_by(), since, "active")
    counted = days.values("date", "part").annotate(all=Count("pk"), here=Count("pk", filter=COUNTED_SESSIONS))
    here: dict[dt.date, int] = {}
    gone: dict[dt.date, int] = {}
    for date, part, every, counts in counted.values_list("date", "part", "all", "here"):
        day = day_of(date, part)
        here[day] = here.get(day, 0) + counts
        gone[day] = gone.get(day, 0) + every - counts
    return here, gone


def _day(moment: dt.datetime) -> dt.date:
    return timezone.localtime(moment).date()


Change = tuple[int, str, int, dt.datetime]


def _growth(project: Project, now: dt.datetime) -> tuple[list[dt.date], list[float], list[float]]:
    """Days, and files and bytes at the end of each, from the first day on which anything is known."""
    start, changes = _changes(project, now)
    held = dict(time_travel.memories_at(project, start).values_list("pk", "then_size"))
    ends = {_day(start): (len(held), sum(held.values()))} if held else {}
    ends |= _ends(held, start, changes)
    found = _filled(ends, _day(now))
    return [day for day, _, _ in found], [files for _, files, _ in found], [total for _, _, total in found]


def _changes(project: Project, now: dt.datetime) -> tuple[dt.datetime, list[Change]]:
    """The versions of the time shown, oldest first, and the moment from which on none is missing."""
    start = now - dt.timedelta(GROWTH_DAYS)
    rows = Version.objects.filter(memory__project=project, at__gt=start, at__lte=now)
    newest = rows.order_by("-at", "-pk").values_list("memory_id", "sha256", "size", "at")[:MOST_VERSIONS]
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
    day, ends = _day(start), {}
    for pk, sha, count, at in changes:
        if at >= until:
            # Asked once a day: the day of a moment in a zone is dear.
            day = _day(at)
            until = timezone.make_aware(dt.datetime.combine(day + dt.timedelta(1), dt.time()))
        total -= sizes.pop(pk, 0)
        if sha:
            sizes[pk] = count
            total += count
        ends[day] = (len(sizes), total)
    return ends


def _filled(ends: dict[dt.date, tuple[int, int]], today: dt.date) -> list[tuple[dt.date, int, int]]:
    """Every day from the first known one: a day without a change is as the day before."""
    if not ends:
        return []
    day, found = min(ends), []
    files, total = ends[day]
    while day <= today:
        files, total = ends.get(day, (files, total))
        found.append((day, files, total))
        day += dt.timedelta(1)
    return found


PAGE_SIZE = 25
KINDS = {
    "gates": "Gates",
    "dreams": "Dreams",
    "reviews": "Verdicts",
    "writes": "Applied and undone",
    "outside": "Edits outside",
}
MOST_NAMES = 3
MOST_PEOPLE = 100
# Things of one moment stay on one page; more of them at once than this do not happen.
MOST_TIES = 30


@dataclass(frozen=True, slots=True)
class Entry:
    """One thing that happened. `who` empty is the system; the ids lead on, `after` to the directory as it left it."""

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
    memory: int | None = None
    after: str = ""


@dataclass(frozen=True, slots=True)
class Timeline:
    """A page of entries; `older` is what the next page asks with, empty at the end."""

    entries: list[Entry]
    older: str
    is_first: bool
    any_ever: bool


# A write is in the rows a moment after it is on disk; the directory "after it" is that of then.
_SETTLED = dt.timedelta(seconds=2)


def timeline(
    project: Project, wanted: Filter = EVERYTHING, before: str = "", size: int = PAGE_SIZE
) -> Timeline:
    until = _moment(before)
    found = sorted(
        _entries(project, wanted, until, size + MOST_TIES), key=lambda entry: entry.at, reverse=True
    )
    shown = _with_ties(found, size)
    more = len(found) > len(shown)
    return Timeline(
        entries=shown,
        older=shown[-1].at.astimezone(dt.UTC).isoformat() if more and shown else "",
        is_first=until is None,
        any_ever=bool(found) or until is not None or wanted.is_on,
    )


def _moment(text: str) -> dt.datetime | None:
    try:
        found = dt.datetime.fromisoformat(text.replace(" ", "+"))
    except ValueError:
        return None
    return found if found.tzinfo else found.replace(tzinfo=dt.UTC)


def _with_ties(found: Sequence[Entry], size: int) -> list[Entry]:
    """A page never ends between two things of one moment, as the next begins strictly before it."""
    shown = list(found[:size])
    shown += [entry for entry in found[size:] if shown and entry.at == shown[-1].at]
    return shown


def people(project: Project) -> list[tuple[str, str]]:
    """Who can be asked for: those who did something here, the system, and someone outside. One query."""
    asked = project.dreams.exclude(requested_by="").values_list("requested_by").order_by().distinct()
    decided = project.proposals.exclude(submitted_by="").values_list("submitted_by").order_by().distinct()
    wrote = AppliedBatch.objects.filter(proposal__project=project).exclude(actor="").values_list("actor")
    named = asked.union(decided, wrote.order_by().distinct())
    names = sorted({name for (name,) in named[:MOST_PEOPLE]})
    return [*((name, name) for name in names), *WORDS.items()]


def _entries(project: Project, wanted: Filter, until: dt.datetime | None, size: int) -> Iterator[Entry]:
    until = until or timezone.now() + dt.timedelta(days=1)
    sources: dict[str, Callable[[Project, str, dt.datetime, int], Iterator[Entry]]] = {
        "gates": _gates,
        "dreams": _dreams,
        "reviews": _reviews,
        "writes": _writes,
        "outside": _outside,
    }
    for name, source in sources.items():
        if wanted.kind in ("", name):
            yield from source(project, wanted.who, until, size)


def _by(field: str, who: str) -> Q:
    """Rows whose `field` names this person; the system is nobody."""
    if who == OUTSIDE:
        return Q(pk__in=[])
    return Q(**{field: "" if who == SYSTEM else who}) if who else Q()


def _gates(project: Project, who: str, until: dt.datetime, size: int) -> Iterator[Entry]:
    if who not in ("", SYSTEM):
        return
    for row in GateEvaluation.objects.filter(project=project, at__lt=until).order_by("-at", "-pk")[:size]:
        if row.open:
            yield Entry(row.at, "gates", "gate-open", "ok", "All gates opened")
            continue
        closed: dict[str, object] = next((gate for gate in row.results if not gate.get("passed")), {})
        name = gates.title(closed.get("name"))
        reason = as_stored(str(closed.get("reason", "")))
        yield Entry(row.at, "gates", "gate-closed", "", f"{name} closed", reason=reason)


def _dreams(project: Project, who: str, until: dt.datetime, size: int) -> Iterator[Entry]:
    ended = Q(ended_at__lt=until)
    begun = Q(ended_at__isnull=True, created_at__lt=until)
    rows = DreamRun.objects.filter(_by("requested_by", who), project=project).filter(ended | begun)
    found = list(rows.filter(ended_at__isnull=True)) + list(
        rows.filter(ended_at__isnull=False).order_by("-ended_at")[:size]
    )
    told = summaries.of_dreams(found)
    for row in found:
        yield _dream(row, told[row.pk])


def _dream(row: DreamRun, told: Summary) -> Entry:
    states = {
        DreamRun.Status.COMPLETED: ("moon", "accent", f"Dreamt: {told.text[:1].lower()}{told.text[1:]}"),
        DreamRun.Status.FAILED: ("block", "block", "Dream failed"),
        DreamRun.Status.KILLED: ("stop", "warn", "Dream cancelled"),
        DreamRun.Status.RUNNING: ("running", "info", "Dreaming now"),
        DreamRun.Status.PENDING: ("clock", "info", "Waits to dream"),
    }
    icon, tone, what = states[DreamRun.Status(row.status)]
    at = row.ended_at or row.created_at
    return Entry(at, "dreams", icon, tone, what, row.requested_by, row.error, dream=row.public_id)


def _reviews(project: Project, who: str, until: dt.datetime, size: int) -> Iterator[Entry]:
    rows = Proposal.objects.filter(
        _by("submitted_by", who), project=project, origin=Proposal.Origin.DREAM, submitted_at__lt=until
    )
    found = list(rows.order_by("-submitted_at")[:size])
    counts = decisions.counts([row.pk for row in found])
    for row in found:
        what = f"Reviewed {plural(counts[row.pk].decisions, 'decision')}: {_verdicts(counts[row.pk])}"
        by = "policy" if row.by_policy else row.submitted_by
        assert row.submitted_at is not None  # noqa: S101 - the filter asks for a moment
        yield Entry(row.submitted_at, "reviews", "check", "ok", what, by, proposal=row.public_id)


def _verdicts(counts: decisions.Counts) -> str:
    told = [f"{counts.taken} approved", f"{counts.rejected} rejected"]
    told += [f"{counts.mixed} in part"] if counts.mixed else []
    told += [f"{counts.undecided} left undecided"] if counts.undecided else []
    return ", ".join(told)


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
}


def _writes(project: Project, who: str, until: dt.datetime, size: int) -> Iterator[Entry]:
    rows = AppliedBatch.objects.filter(_by("actor", who), proposal__project=project, at__lt=until)
    found = list(rows.select_related("proposal", "proposal__dream").order_by("-at", "-pk")[:size])
    told = summaries.of_applications(found)
    for row in found:
        icon, tone = _WRITES[Proposal.Origin(row.proposal.origin)]
        deed = told[row.pk]
        yield Entry(
            at=row.at,
            kind="writes",
            icon=icon,
            tone=tone,
            what=deed.text,
            who=row.actor + (" by command" if row.by_command and row.actor else ""),
            reason=deed.reason,
            dream=row.proposal.dream.public_id if row.proposal.dream else "",
            proposal=row.proposal.public_id,
            undo="" if deed.is_undone else row.proposal.public_id,
            after=iso(row.at + _SETTLED),
        )


def _outside(project: Project, who: str, until: dt.datetime, size: int) -> Iterator[Entry]:
    """Edits that one look found belong together: they carry one moment."""
    if who not in ("", OUTSIDE):
        return
    rows = Version.objects.filter(memory__project=project, origin=Version.Origin.OUTSIDE, at__lt=until)
    moments = list(rows.order_by("-at").values_list("at", flat=True).distinct()[:size])
    if not moments:
        return
    by_moment: dict[dt.datetime, list[tuple[str, int]]] = {}
    named = rows.filter(at__gte=moments[-1]).order_by("memory__path")
    for at, path, pk in named.values_list("at", "memory__path", "memory_id")[: size * 40]:
        by_moment.setdefault(at, []).append((path, pk))
    for at, changed in by_moment.items():
        what = f"Changed outside: {_names([path for path, _ in changed])}"
        memory = changed[0][1] if len(changed) == 1 else None
        yield Entry(at, "outside", "edit", "", what, "someone outside", memory=memory, after=iso(at))


def _names(paths: Sequence[str]) -> str:
    shown = ", ".join(paths[:MOST_NAMES])
    rest = len(paths) - MOST_NAMES
    return f"{shown} and {rest} more" if rest > 0 else shown or "nothing"
