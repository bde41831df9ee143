"""Finds dates in prose that can be worked out, and replaces them with absolute ones. Pure, no clock, no database.

A small grammar that prefers precision: a phrase with two common meanings, or in code, a quotation, a name or a rule, is
skipped, and so are larger phrases that are not understood completely. `told` also requires that the text dates one event, so
that a note may be rewritten.
"""

import datetime as dt
import re

from dreams.lib.prose.dates.context import LONGEST, DateSpan, rewrite

# A quick check that spares most lines the grammar; in lower case it is three times as fast.
_ANY = re.compile(
    r"day|week|month|year|decade|ago\b|night|tonite|hour|minute|tom\w{0,4}row|tomorr|tommorw|tmrw|yest|this |last |next |past |quarter|\bq[1-4]\b|"
    r"\b(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec|mins?|hrs?|secs?|yrs?)|second|centur|"
    r"hence|from now|\d(?:st|nd|rd|th)\b|\b(?:fir|secon|thir|four|fif|six|seven|eigh|nin|ten|twel|twen)\w*(?:st|nd|rd|th)\b|"
    r"\b(?:mon|tue|tues|wed|thu|thurs|fri|sat|sun)\b|gestern|übermorgen|hier|demain|ayer|mañana|어제|내일|모레|그제|그저께"
)


def resolve(text: str, reference: dt.datetime | dt.date) -> list[DateSpan]:
    """The phrases of `text` that certainly name a date, in order, counted from `reference`.

    A datetime is read in its own zone; midnight means that the time is unknown. "On Friday" and "March 3rd" follow the tense
    of the sentence. Without one, "on Friday" is skipped, and "March 3rd" too unless only one is near.
    """
    if not _ANY.search(text[:LONGEST].lower()):
        return []
    from dreams.lib.prose.dates import resolving  # noqa: PLC0415 - the grammar is slow to build, and most commands read no date

    return resolving.spans_of(text, reference)


def writable_spans(text: str, reference: dt.datetime | dt.date) -> list[DateSpan]:
    """The results of `resolve` that may be written into a note, without requests and questions."""
    return [span for span in resolve(text, reference) if span.told]
