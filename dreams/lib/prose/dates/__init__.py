"""Finds dates in prose that can be worked out, and replaces them with absolute ones. Pure, no clock, no database.

A small grammar, precise before complete: a phrase that has two usual readings, or stands in code, a quotation, a
name or a rule, is left alone, and so is a phrase around it that is not understood as a whole. Whether the text also
tells what it dates, so that a note may be rewritten by it, is another judgement: `told`.
"""

import datetime as dt
import re

from dreams.lib.prose.dates.context import LONGEST, DateSpan, rewrite

# One look that spares most lines the grammar; in small letters it is three times as fast.
_ANY = re.compile(
    r"day|week|month|year|decade|ago\b|night|tonite|hour|minute|tom\w{0,4}row|tomorr|tommorw|tmrw|yest|this |last |next |past |quarter|\bq[1-4]\b|"
    r"\b(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec|mins?|hrs?|secs?|yrs?)|second|centur|"
    r"hence|from now|\d(?:st|nd|rd|th)\b|\b(?:fir|secon|thir|four|fif|six|seven|eigh|nin|ten|twel|twen)\w*(?:st|nd|rd|th)\b|"
    r"\b(?:mon|tue|tues|wed|thu|thurs|fri|sat|sun)\b|gestern|übermorgen|hier|demain|ayer|mañana|어제|내일|모레|그제|그저께"
)


def resolve(text: str, reference: dt.datetime | dt.date) -> list[DateSpan]:
    """The phrases of `text` that surely name a date, in order, as seen from `reference`.

    A datetime's own zone counts; its midnight is taken for "time of day not known". Phrases like "on Friday" or
    "March 3rd" look where the tense of the sentence does, and are left where it does not tell.
    """
    if not _ANY.search(text[:LONGEST].lower()):
        return []
    from dreams.lib.prose.dates import resolving  # noqa: PLC0415 - the grammar is slow to build, and most commands read no date

    return resolving.spans_of(text, reference)


def told(text: str, reference: dt.datetime | dt.date) -> list[DateSpan]:
    """Those of `resolve` that may be written into a note: not what is only asked for."""
    return [span for span in resolve(text, reference) if span.told]
