"""Relative dates that may be written out in a memory: fewer than a reader could resolve. Pure.

A weekday alone is a schedule ("releases are cut on Tuesday"), and repeated events have no day.
"""

import datetime as dt
import re
from functools import lru_cache

from dreams.lib.prose import dates
from dreams.lib.prose.words import MONTH_NAME, MONTH_NUMBERS

_MONTH = rf"(?:{MONTH_NAME})\.?"
# A day or month: 2026-03-01, 2026-03, 1 March 2026, March 1, 2026, March 2026.
WRITTEN = re.compile(
    rf"(?:(?P<iso>\d{{4}}-\d\d(?:-\d\d)?)(?![\w-])|(?:(?P<d>\d{{1,2}})\.?\s+)?(?P<m>{_MONTH})\s+(?:(?P<d2>\d{{1,2}}),?\s+)?(?P<y>\d{{4}})\b)",
    re.IGNORECASE,
)
# A day without a year: March 1, 1 March.
NO_YEAR = (
    rf"(?:\b(?P<d>\d{{1,2}})\.?\s+)?\b(?P<m>{_MONTH})(?:\s+(?P<d2>\d{{1,2}})(?:st|nd|rd|th)?\b)?(?![\w-])"
)
# Every weekday once, across the year: "next Friday" has two meanings on a Monday, and one on a Thursday.
_SOME_DAYS = tuple(dt.date(2001, 1, 1) + dt.timedelta(days=61 * number) for number in range(7))
_WEEKDAY = re.compile(r"\b(?:mon|tues?|wed(?:nes)?|thu(?:rs)?|fri|sat(?:ur)?|sun)(?:day)?s?\b", re.IGNORECASE)
_WHICH = re.compile(r"\b(?:last|next|this|past|coming|ago|from now|before|after)\b", re.IGNORECASE)
_EACH_TIME = re.compile(
    r"\b(?:every|each|whenever|usually|always|never|daily|weekly|monthly|quarterly|per (?:day|week|month)|(?:once|twice|times) an?|(?<!these )(?<!the )(?<!two )(?<!both )\w+s are due in)\b",
    re.IGNORECASE,
)


def spans(text: str, reference: dt.datetime | dt.date) -> list[dates.DateSpan]:
    """The phrases that may be written out as dates, in order."""
    if _EACH_TIME.search(text):
        return []
    found = dates.writable_spans(text, reference)
    return [span for span in found if _WHICH.search(span.text) or not _WEEKDAY.search(span.text)]


@lru_cache(maxsize=5_000)
def names_a_day(text: str) -> bool:
    """Whether the text has a relative date, which would change its meaning if the text moved to a line of another day."""
    return any(spans(text, day) for day in _SOME_DAYS)


def written(match: re.Match[str], *, last: bool = False) -> dt.date | None:
    """The day of a match of `WRITTEN`; for a month its first day, or its last with `last`. None if there is no such day."""
    try:
        if match["iso"] and len(match["iso"]) == 10:
            return dt.date.fromisoformat(match["iso"])
        if match["iso"]:
            year, month, day = int(match["iso"][:4]), int(match["iso"][5:]), ""
        else:
            year, month = int(match["y"]), MONTH_NUMBERS[match["m"].lower().rstrip(".")]
            day = match["d"] or match["d2"] or ""
        if day or not last:
            return dt.date(year, month, int(day or 1))
        return dt.date(year + month // 12, month % 12 + 1, 1) - dt.timedelta(days=1)
    except ValueError:
        return None


Told = tuple[dt.date, str]  # a day, or the last one of a month, and how a person is told of it


def told(text: str) -> list[Told]:
    """The days in a text, and the last days of its months, which are told as they are written."""
    found = ((each, written(each, last=True)) for each in WRITTEN.finditer(text))
    return [(day, f"{day}" if written(each) == day else each[0]) for each, day in found if day]


def next_day(match: re.Match[str], after: dt.date | None) -> dt.date | None:
    """The first such day from `after` on for a match of `NO_YEAR`; None if there is no such day, or only a month."""
    day = match["d"] or match["d2"]
    if after is None or not day:
        return None
    try:
        found = dt.date(after.year, MONTH_NUMBERS[match["m"].lower().rstrip(".")], int(day))
        return found if found >= after else found.replace(year=after.year + 1)
    except ValueError:
        return None
