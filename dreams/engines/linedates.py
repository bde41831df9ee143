"""Finds when each line of a memory was written, and how that is known. PURE: no Django, no disk.

A line dates from the earliest kept version that has it. The day of that version is taken, in this order, from its
frontmatter, from the change in the history, from the transcript that shows the write, and from its mtime. The
frontmatter counts only for the lines added with it: a later write that did not change it uses the other sources.
"""

import bisect
import datetime as dt
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath

from dreams.engines.types import EvidenceSource, LineDate
from dreams.lib import memdir
from dreams.lib.files import text

AT_ONCE = dt.timedelta(minutes=1)  # files with mtimes this close were written by a copy or a clone
FEW = 4  # files that one session may write at once; chosen
JUST_BEFORE = dt.timedelta(days=1)  # an mtime so close to the first scan may be that of a copy; chosen
_DAY_BELOW = re.compile(r"(?:.*/)?(\d{4})/(\d\d)/(\d\d)(?!\d)[^/]*$")
_NAMED = re.compile(r"(?<!\d)((?:19|20)\d\d)[-_]?(\d\d)[-_]?(\d\d)(?!\d)")


@dataclass(frozen=True, slots=True)
class KeptVersion:
    """One kept state of a file. `seen_change`: the history saw the change, so `at` is when it was written; `ours`: by us.

    `mtime` is None if it is that of a copy. `believable`: whether it may be the time of writing.
    """

    data: bytes
    at: dt.datetime
    mtime: dt.datetime | None
    seen_change: bool
    written_at: dt.datetime | None = None  # according to a transcript
    ours: bool = False
    believable: bool = True


def line_dates(versions: Sequence[KeptVersion], zone: dt.tzinfo, path: str = "") -> list[LineDate | None]:
    """One entry per line of the newest version; `versions` are oldest first. A day in the name has priority over the mtime."""
    if not versions:
        return []
    first_seen: dict[str, LineDate | None] = {}
    before: tuple[str | None, ...] = ()
    for version in versions:
        front = memdir.parse(version.data).frontmatter
        says = (front.modified, front.created) if front else ()
        own = _own_day(front, zone) if front and says != before else None
        before = says
        day = own or _seen_day(version, zone, path)
        for line in text.decode(version.data).split("\n"):
            first_seen.setdefault(line.strip(), day)
    newest = text.decode(versions[-1].data).split("\n")
    return [first_seen.get(line.strip()) if line.strip() else None for line in newest]


def _own_day(front: memdir.Frontmatter, zone: dt.tzinfo) -> LineDate | None:
    """The day in the memory's frontmatter."""
    said = front.modified_at or front.created_at
    return LineDate(_day(said, zone), "memory", "the memory’s own date") if said else None


def _seen_day(version: KeptVersion, zone: dt.tzinfo, path: str) -> LineDate | None:
    named = day_in_name(path) if not (version.seen_change or version.written_at) else None
    if named:
        return LineDate(named, "memory", "the day in its name", ours=version.ours)
    candidates: list[tuple[dt.datetime | None, EvidenceSource, str]] = [
        (version.at if version.seen_change else None, "history", "first seen in the history"),
        (version.written_at, "transcript", "written in a session"),
        (version.mtime, "file", "the file’s own date"),
    ]
    known = [each for each in candidates if each[0] is not None]
    if not known:
        return None
    at, source, note = known[0]
    believable = source != "file" or version.believable
    return LineDate(_day(at, zone), source, note, ours=version.ours, believable=believable)


def day_in_name(path: str) -> dt.date | None:
    """The single day in a file name: `project_release_2026-03-01.md`, `release_20260301.md`."""
    found = _NAMED.findall(PurePosixPath(path).name)
    try:
        return dt.date(*map(int, found[0])) if len(found) == 1 else None
    except ValueError:
        return None


def day_of_log(path: str) -> dt.date | None:
    """The day of a daily log: `logs/2026/03/2026-03-01.md`, `logs/2026/03/01.md`."""
    found = _DAY_BELOW.match(path)
    try:
        return dt.date(*map(int, found.groups())) if found else day_in_name(path)
    except ValueError:
        return None


def believable(mtime: dt.datetime, others: Sequence[dt.datetime], first_seen: dt.datetime) -> bool:
    """Whether a file that existed at memoryweb's first scan may have been written at its mtime.

    A clone, copy or restore writes many files at once, and is often followed by the first scan. `others` are the
    mtimes of all files of the directory including this one, sorted.
    """
    at = bisect.bisect_left(others, mtime)
    near = (*others[max(at - 1, 0) : at], *others[at + 1 : at + 2])
    alone = all(abs(other - mtime) > AT_ONCE for other in near)
    return alone and mtime < first_seen - JUST_BEFORE


def copied(mtime: dt.datetime, others: Sequence[dt.datetime]) -> bool:
    """Whether most files of the directory have this mtime: then it is that of a copy and gives no day."""
    same = bisect.bisect_right(others, mtime + AT_ONCE) - bisect.bisect_left(others, mtime - AT_ONCE)
    return same >= FEW and same > len(others) / 2


def _day(moment: dt.date | dt.datetime | None, zone: dt.tzinfo) -> dt.date:
    if isinstance(moment, dt.datetime):
        return moment.astimezone(zone).date()
    assert moment is not None  # noqa: S101 - the callers pass only what is there
    return moment
