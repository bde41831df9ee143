"""What one rule makes of one phrase: the period, the year that is meant, and the words to write for it. Pure."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Callable
from dataclasses import dataclass

from dreams.lib.prose.dates import calendars
from dreams.lib.prose.dates.calendars import Period
from dreams.lib.prose.dates.context import Context, Hold


@dataclass(frozen=True, slots=True)
class Reference:
    """The day that a text counts from, and its time of day where that is known."""

    date: dt.date
    clock: dt.datetime | None


@dataclass(frozen=True, slots=True)
class Reading:
    """`words` stand for the phrase after a preposition; `lead` is put before them where none stands."""

    period: Period
    granularity: str
    words: str
    lead: str = "on"
    hold: Hold = "firm"


Reader = Callable[[re.Match[str], Context, Reference], Reading | None]


@dataclass(frozen=True, slots=True)
class Rule:
    """A pattern and its reader. A reader that gives None (or raises ValueError or OverflowError) leaves the phrase, and no
    later rule may read a piece of it: half of a phrase that is not understood is worse than nothing.

    The group `x`, where the pattern has one, is the phrase itself; the rest is only looked at.
    """

    name: str
    pattern: re.Pattern[str]
    read: Reader


def rule(name: str, pattern: str, read: Reader) -> Rule:
    return Rule(name, re.compile(rf"(?<!\w)(?:{pattern})(?!\w)", re.IGNORECASE), read)


def name_of(period: Period) -> str:
    """The words for a whole period, without a preposition."""
    if period.kind == "week":
        return f"the week of {period.start.isoformat()}"
    if period.kind == "range":
        return f"{period.start.isoformat()} to {(period.end - dt.timedelta(days=1)).isoformat()}"
    return period.iso


def whole(period: Period) -> Reading:
    """The plain reading: "on" a day, "in" anything longer."""
    return Reading(period, period.kind, name_of(period), "on" if period.kind == "day" else "in")


def with_part(period: Period, part: str | None) -> Reading:
    """A day, or a part of one: "the morning of 2026-03-01"."""
    if not part:
        return whole(period)
    plain = re.sub(r"\W+", " ", part.lower()).replace("mornin ", "morning ").strip()
    if plain in {"noon", "lunchtime"}:
        return Reading(period, "subday", f"{period.iso} at {plain}", "on")
    return Reading(period, "subday", f"the {plain} of {period.iso}", "on")


def leave(match: re.Match[str], context: Context, reference: Reference) -> None:
    """The reader of phrases that must stay as they are."""
    return


_SINCE = re.compile(r"\bsince\s+(?:the\s+)?$", re.IGNORECASE)
SINCE = re.compile(r"since\s", re.IGNORECASE)
_MONTH = rf"(?:{'|'.join(calendars.MONTHS)}|jan|feb|mar|apr|jun|jul|aug|sept?|oct|nov|dec)"
# "In January 2025 we had three, in March two": a year said in the sentence may hold for the other date as well.
_YEAR_SAID = re.compile(
    rf"\b{_MONTH}\.?,?\s+(?:\d{{1,2}}(?:st|nd|rd|th)?,?\s+)?(?:19|20)\d\d\b|\b(?:in|since)\s+(?:19|20)\d\d\b",
    re.IGNORECASE,
)
_YEARLY_THING = re.compile(
    r"\b(?:birthdays?|anniversar(?:y|ies)|(?:name|bank|public) (?:days?|holidays?))\b", re.IGNORECASE
)
# So near, and no other as near, one year is meant. What is more than a month gone is seldom named without a word of the past.
BACK, AHEAD = dt.timedelta(days=31), dt.timedelta(days=91)
HALF_A_YEAR = dt.timedelta(days=183)  # a date by itself is to come, if that is nearer


def chosen(
    years: Callable[[int], Period], m: re.Match[str], context: Context, ref: Reference
) -> Period | None:
    """The year's period on the side that the sentence looks to; without tense the only near one."""
    sentence = context.sentence(m.start())
    if _YEAR_SAID.search(sentence) or _YEARLY_THING.search(sentence):
        return None
    found = []
    for year in range(ref.date.year - 1, ref.date.year + 2):
        try:
            found.append(years(year))
        except ValueError:  # 29 February
            continue
    since = _SINCE.search(context.before(m.start())) or SINCE.match(m[0])
    tense = "past" if since else context.tense(m.start())
    if tense == "past":
        return max((p for p in found if p.start <= ref.date), key=lambda p: p.start, default=None)
    if tense == "future":
        return min((p for p in found if p.end > ref.date), key=lambda p: p.start, default=None)
    if context.customary(m.start()):
        return None
    ahead = HALF_A_YEAR if context.alone(m.start(), m.end()) else AHEAD
    near = [p for p in found if p.start - ahead <= ref.date < p.end + BACK]
    return near[0] if len(near) == 1 else None
