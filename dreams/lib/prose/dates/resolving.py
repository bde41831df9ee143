"""Applies the date rules to a text, in English and a few other languages, and describes what they found. Pure."""

import datetime as dt
import re
from contextlib import suppress
from dataclasses import replace
from functools import lru_cache

from dreams.lib.prose.dates import calendars, counting, partial, relative
from dreams.lib.prose.dates.calendars import DAY
from dreams.lib.prose.dates.context import LONGEST, Context, DateSpan
from dreams.lib.prose.dates.vocabulary import DayReading, Reader, Reference, rules
from dreams.lib.prose.words import MONTHS, WEEKDAYS

# Without "today" in other languages, which often means "these days".
_WORDS = {
    "vorgestern": -2, "gestern": -1, "übermorgen": 2, "avant-hier": -2, "après-demain": 2, "demain": 1, "anteayer": -2,
    "ayer": -1, "pasado mañana": 2, "그저께": -2, "그제": -2, "어제": -1, "내일": 1, "모레": 2,
}  # fmt: skip


def _word(m: re.Match[str], context: Context, ref: Reference) -> DayReading:
    """The date without English words."""
    period = calendars.day(ref.date + _WORDS[m["x"].lower()] * DAY)
    return DayReading(period, period.kind, period.iso, "")


# A Korean particle may be glued on (어제는).
_FOREIGN = re.compile(
    rf"(?<!\w)(?P<x>{'|'.join(sorted(_WORDS, key=len, reverse=True))})(?=(?:에는|에|은|는|부터|까지|의|도)?(?!\w))",
    re.IGNORECASE,
)

_ENGLISH = rules({**partial.FIRST, **relative.RULES, **partial.RULES})
_PREPOSITION = re.compile(
    r"\b(?:on|by|since|until|till|before|after|from|for|as of|of|in|during|to|and|or|through|between|around|at|starting|"
    r"beginning|per|over|within|throughout|the|than|about|due)\s+[*_(\"'“‘]*$",
    re.IGNORECASE,
)
_WHOLE_NAME = re.compile(rf"\b(?:{'|'.join((*WEEKDAYS, *MONTHS))})\.$", re.IGNORECASE)
_SENTENCE_ENDS = re.compile(r"[*_)\]\"'”’]*(?:\s*$|\s*\n|\s+[\"'(\[*_“]*[A-Z])")
_OPENING = re.compile(r"(?:^|[\n(\[:—–|,;])\s*[*_>#-]*\s*[*_]*$")


def spans_of(text: str, reference: dt.datetime | dt.date) -> list[DateSpan]:
    """As `dates.resolve`, for texts that passed its quick check."""
    found: list[DateSpan] = []
    taken: list[tuple[int, int]] = []
    context, ref = Context(text[:LONGEST]), _reference(reference)
    for match, read, english in _phrases(context.text):
        context.english = english
        start, end = match.span("x") if "x" in match.re.groupindex and match["x"] else match.span()
        end = _without_stop(context.text, start, end)
        if any(start < stop and end > begin for begin, stop in taken):
            continue
        taken.append((start, end))
        with suppress(ValueError, OverflowError):  # 31 June, a year before 1 or after 9999
            if not context.names_no_date(start, end) and (reading := read(match, context, ref)):
                found.append(_span(context, start, end, reading))
    context.english = False  # a range is "told" if its first day is
    return _with_ranges(context, sorted(found, key=lambda span: span.start))


@lru_cache(maxsize=256)
def _phrases(text: str) -> tuple[tuple[re.Match[str], Reader, bool], ...]:
    """The matches of all rules, with whether the rule is English. Cached, as one line is read for several reference days."""
    every = (*((*rule, True) for rule in _ENGLISH), (_FOREIGN, _word, False))
    return tuple((m, read, english) for pattern, read, english in every for m in pattern.finditer(text))


def _with_ranges(context: Context, found: list[DateSpan]) -> list[DateSpan]:
    """Joins two days with "to" between them; drops one end of a range if the other is not understood."""
    kept: list[DateSpan] = []
    for span in found:
        last = kept[-1] if kept else None
        if last and counting.joins(context.text[last.end : span.start], context.before(last.start)):
            kept[-1:] = _joined(context, last, span)
        else:
            kept.append(span)
    return [span for span in kept if span.standing != "shown" and not counting.is_half(context, span)]


def _joined(context: Context, first: DateSpan, last: DateSpan) -> list[DateSpan]:
    if not {first.granularity, last.granularity} <= {"day", "subday"}:
        return []
    try:
        start, end = dt.date.fromisoformat(first.iso), dt.date.fromisoformat(last.iso)
        reading = counting.range_of(start, end, context.text[first.end : last.start])
    except ValueError:  # the last before the first
        return []
    span = _span(context, first.start, last.end, reading)
    return [span if first.told else replace(span, standing=first.standing)]


def _reference(reference: dt.datetime | dt.date) -> Reference:
    if not isinstance(reference, dt.datetime):
        return Reference(reference, None)
    clock = None if reference.time() == dt.time.min else reference
    return Reference(reference.date(), clock)


def _without_stop(text: str, start: int, end: int) -> int:
    """The end without a final stop: that of "in Jan." belongs to the month only inside a sentence, of "in March." never."""
    if text[end - 1 : end] != ".":
        return end
    whole_name = _WHOLE_NAME.search(text, start, end)
    return end - 1 if whole_name or _SENTENCE_ENDS.match(text, end) else end


def _span(context: Context, start: int, end: int, reading: DayReading) -> DateSpan:
    phrase = context.text[start:end]
    written = _written(context, start, end, reading)
    standing = context.standing(start, end, reading.hold)
    return DateSpan(start, end, phrase, reading.period.iso, reading.granularity, written, standing)


def _written(context: Context, start: int, end: int, reading: DayReading) -> str:
    """The date as text, with "on" or "in" unless there is a preposition or the phrase is a label."""
    if re.match(r"['’]s\b", context.text[end : end + 3]):  # "last week's outage"
        return reading.period.iso.replace("/", " to ")
    before = context.before(start)
    lead = reading.lead
    if _needs_none(before, context.text[end : end + 40]) or context.alone(start, end):
        lead = ""
    words = f"{lead} {reading.words}" if lead else reading.words
    begins = not before.strip() or before.rstrip(" *_")[-1:] in ".!?:\n>-*#"
    return (
        words[:1].upper() + words[1:]
        if begins and (context.text[start].isupper() or context.text[start].isdigit())
        else words
    )


def _needs_none(before: str, after: str) -> bool:
    """Whether no preposition is needed: there is one, or the phrase is a label ("Yesterday: ...") or subject ("Today is ...")."""
    label = _OPENING.search(before) and re.match(r"\s*[:)\]—–|*]", after)
    starts = not before.strip(" *_>#-\t") or before.rstrip()[-1:] in ".!?:;,\n"
    subject = starts and re.match(r"\s+(?:is|was|will be|has been|marks|isn't|wasn't)\b", after)
    return bool(_PREPOSITION.search(before) or label or subject)
