"""Where to go inside a transcript: to words, to a line, to a time, to a share of its length. Never raises for a file."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass
from pathlib import Path

from django.utils import timezone

from dreams.lib.agents import transcripts
from dreams.lib.agents.transcripts.search import MAX_HITS, Hit, Within, find_within
from dreams.models import Session
from dreams.services.search.query import Query
from dreams.web.pages.session import turns
from dreams.web.pages.session.page import Place

_CLOCK = ("%H:%M", "%H:%M:%S")
_DAYS = ("%Y-%m-%d", "%Y-%m-%d %H:%M", "%Y-%m-%d %H:%M:%S", "%Y-%m-%dT%H:%M")


@dataclass(frozen=True, slots=True)
class Inside:
    """The places that hold what is looked for, seen from the present one (`number`, 1-based, 0 when at none).

    `reached` and `line` are where the looking stopped before the end of the file, None when all of it was looked at;
    `percent` is how far that is where time ran out, None where enough was found. `from_start` is False for a search
    that began further down.
    """

    total: int
    number: int
    first: Hit | None
    previous: Hit | None
    next: Hit | None
    reached: int | None
    line: int | None
    percent: int | None
    from_start: bool


def look(path: str, query: Query, start: int = 0, start_line: int = 1) -> Within | None:
    """Where `query` stands in the file; None where there is nothing to look for or no file to look in."""
    if not query.terms:
        return None
    try:
        return find_within(
            path,
            query.terms,
            lambda turn: turns.holds(turn, query.terms),
            start=start,
            start_line=start_line,
        )
    except OSError:
        return None


def inside(found: Within, mark: int | None, *, from_start: bool = True) -> Inside:
    """`found`, seen from the line `mark`."""
    hits = found.hits
    before = [hit for hit in hits if mark is not None and hit.line < mark]
    after = [hit for hit in hits if mark is None or hit.line > mark]
    at = len(before) + 1 if mark is not None and len(before) + len(after) < len(hits) else 0
    return Inside(
        total=len(hits),
        number=at,
        first=hits[0] if hits else None,
        previous=before[-1] if before else None,
        next=after[0] if after else None,
        reached=None if found.complete else found.reached,
        line=None if found.complete else found.line,
        percent=None if found.complete or len(hits) >= MAX_HITS else 100 * found.reached // found.size,
        from_start=from_start,
    )


def gone_to(path: str, session: Session, wanted: str) -> Place | None:
    """A line's number, a time ("14:30", "2026-03-01 14:30", "2026-03-01") or a share ("50%"); None for anything else."""
    wanted = wanted.strip()
    share = wanted.removesuffix("%").strip()
    try:
        if wanted.endswith("%") and share.isascii() and share.isdecimal():
            return _at_share(path, min(100, int(share[:4])))
        number = wanted.replace(",", "")
        if number.isascii() and number.isdecimal() and len(number) < 12:
            return Place(mark=max(1, int(number)))
        return _at_time(path, _moment(session, wanted))
    except OSError:
        return Place()


def _at_share(path: str, share: int) -> Place:
    size = Path(path).stat(follow_symlinks=False).st_size
    if share >= 100:
        return Place(size, None, backward=True)
    return Place(size * share // 100, None if share else 1)


def _at_time(path: str, moment: dt.datetime | None) -> Place | None:
    if moment is None:
        return None
    offset = transcripts.offset_at(path, moment)
    turn = transcripts.line_at(path, offset)
    return Place(offset, turn.line, mark=turn.line) if turn and turn.line else Place(offset, None)


def _moment(session: Session, wanted: str) -> dt.datetime | None:
    """In the person's zone. A time of day alone is the first such moment of the session."""
    zone = timezone.get_current_timezone()
    for form in _DAYS:
        if (day := _parsed(wanted, form)) is not None:
            return day.replace(tzinfo=zone)
    clock = next((found for form in _CLOCK if (found := _parsed(wanted, form)) is not None), None)
    if clock is None:
        return None
    start = (session.started_at or session.touched_at).astimezone(zone)
    first = start.replace(hour=clock.hour, minute=clock.minute, second=clock.second, microsecond=0)
    return first if first >= start.replace(second=0, microsecond=0) else first + dt.timedelta(days=1)


def _parsed(wanted: str, form: str) -> dt.datetime | None:
    try:
        return dt.datetime.strptime(wanted, form)  # noqa: DTZ007 - the zone is put on by the caller
    except ValueError:
        return None
