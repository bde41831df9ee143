"""Relative dates that a memory may be rewritten for: fewer than a reader could resolve. Pure.

In a note a weekday by itself is a schedule ("releases are cut on Tuesday"), and what happens each time has no day.
"""

from __future__ import annotations

import datetime as dt
import re

from dreams.language import dates

_SOME_DAY = dt.date(2001, 1, 1)
_WEEKDAY = re.compile(r"\b(?:mon|tues?|wed(?:nes)?|thu(?:rs)?|fri|sat(?:ur)?|sun)(?:day)?s?\b", re.IGNORECASE)
_WHICH = re.compile(r"\b(?:last|next|this|past|coming|ago|from now|before|after)\b", re.IGNORECASE)
_EACH_TIME = re.compile(
    r"\b(?:every|each|whenever|usually|always|never|daily|weekly|monthly|quarterly|per (?:day|week|month)|(?:once|twice|times) an?)\b",
    re.IGNORECASE,
)


def spans(text: str, reference: dt.datetime | dt.date) -> list[dates.DateSpan]:
    """What may be written out as an absolute date, in order."""
    if _EACH_TIME.search(text):
        return []
    found = dates.resolve(text, reference)
    return [span for span in found if _WHICH.search(span.text) or not _WEEKDAY.search(span.text)]


def names_a_day(text: str) -> bool:
    """Whether the text has a relative date that counts from the day it was written: elsewhere it would mean another."""
    return bool(spans(text, _SOME_DAY))
