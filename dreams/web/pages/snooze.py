"""Until when something can be put off: days by name, a day of one's own, or the next dream."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass

from django.utils import timezone

DREAM = "dream"


@dataclass(frozen=True, slots=True)
class Choice:
    """One button: what it sends, what it says, and the key that presses it."""

    value: str
    label: str
    day: dt.date | None
    key: str


@dataclass(frozen=True, slots=True)
class Until:
    """`at` is None for the next dream; `words` end a sentence."""

    at: dt.datetime | None
    words: str


def choices(today: dt.date) -> list[Choice]:
    tomorrow = today + dt.timedelta(days=1)
    # On a Sunday tomorrow is a Monday, too: next week is then the one behind it.
    monday = tomorrow + dt.timedelta(days=7 - tomorrow.weekday())
    days = [("Tomorrow", tomorrow), ("Next week", monday)]
    found = [Choice(day.isoformat(), label, day, str(n)) for n, (label, day) in enumerate(days, 1)]
    return [*found, Choice(DREAM, "Until the next dream has ended", None, str(len(days) + 1))]


def until_of(pressed: str, typed: str, today: dt.date) -> Until | None:
    """What was chosen: a button's value, or else the day that was typed. None where it is no day to come."""
    if pressed == DREAM:
        return Until(None, "until the next dream has ended")
    try:
        day = dt.date.fromisoformat(pressed or typed)
    except ValueError:
        return None
    if day <= today:
        return None
    at = timezone.make_aware(dt.datetime.combine(day, dt.time()))
    return Until(at, f"until {day:%-d %b}")
