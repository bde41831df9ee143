"""Applies the date rules to a text, in English and a few other languages, and describes what they found. Pure."""

from __future__ import annotations

import datetime as dt
import re
from dataclasses import replace

from dreams.lib.prose.dates import calendars, counting, partial, relative
from dreams.lib.prose.dates.calendars import DAY, Period
from dreams.lib.prose.dates.context import LONGEST, Context, DateSpan
from dreams.lib.prose.dates.vocabulary import Reading, Reference, Rule, leave, rule
from dreams.lib.prose.words import MONTHS, WEEKDAYS

_WORDS = {
    "vorgestern": -2, "gestern": -1, "heute": 0, "übermorgen": 2, "avant-hier": -2, "aujourd'hui": 0,
    "après-demain": 2, "demain": 1, "anteayer": -2, "ayer": -1, "hoy": 0, "pasado mañana": 2,
}  # fmt: skip
_KOREAN = {"그저께": -2, "그제": -2, "어제": -1, "오늘": 0, "내일": 1, "모레": 2}
_KOREAN_PERIODS = {
    "지난주": ("week", -1), "저번주": ("week", -1), "이번주": ("week", 0), "다음주": ("week", 1), "지난달": ("month", -1),
    "저번달": ("month", -1), "이번달": ("month", 0), "다음달": ("month", 1), "작년": ("year", -1), "올해": ("year", 0),
    "내년": ("year", 1),
}  # fmt: skip
_UNITS = {
    "tag": "day", "tage": "day", "tagen": "day", "woche": "week", "wochen": "week", "monat": "month", "monaten": "month",
    "jahr": "year", "jahren": "year", "quartal": "quarter", "jour": "day", "jours": "day", "semaine": "week",
    "semaines": "week", "mois": "month", "an": "year", "ans": "year", "année": "year", "día": "day", "días": "day",
    "semana": "week", "semanas": "week", "mes": "month", "meses": "month", "año": "year", "años": "year",
    "trimestre": "quarter", "일": "day", "주": "week", "개월": "month", "달": "month", "년": "year",
}  # fmt: skip
_NUMBERS = {
    word: number
    for number, words in enumerate(
        (
            "einem einer un une una",
            "zwei deux dos",
            "drei trois tres",
            "vier quatre cuatro",
            "fünf cinq cinco",
            "sechs six seis",
            "sieben sept siete",
            "acht huit ocho",
            "neun neuf nueve",
            "zehn dix diez",
        ),
        start=1,
    )
    for word in words.split()
}
_PAST = re.compile(r"^(?:letzt|vorig|vergangen|derni|pass|pasad)", re.IGNORECASE)
_FUTURE = re.compile(r"^(?:nächst|kommend|proch|próxim)", re.IGNORECASE)


def _word(m: re.Match[str], context: Context, ref: Reference) -> Reading:
    offset = {**_WORDS, **_KOREAN}[m[0].lower().replace("’", "'")]
    return _plain(calendars.day(ref.date + offset * DAY))


def _plain(period: Period) -> Reading:
    """The bare name, as no English words fit into the sentence."""
    return Reading(period, period.kind, period.iso, "")


def _period(m: re.Match[str], context: Context, ref: Reference) -> Reading:
    which = m["d"]
    step = -1 if _PAST.search(which) else 1 if _FUTURE.search(which) else 0
    return _plain(calendars.unit_of(ref.date, _UNITS[m["u"].lower()], step))


def _korean_period(m: re.Match[str], context: Context, ref: Reference) -> Reading:
    unit, step = _KOREAN_PERIODS["".join(m[0].split())]
    return _plain(calendars.unit_of(ref.date, unit, step))


def _ago(m: re.Match[str], context: Context, ref: Reference) -> Reading:
    """Counted to the day; a month or year ago means that month, as in English."""
    count = int(m["n"]) if m["n"].isdigit() else _NUMBERS[m["n"].lower()]
    unit = _UNITS[m["u"].lower()]
    on = calendars.add_units(ref.date, unit, -count)
    return _plain(calendars.day(on) if unit in {"day", "week"} else calendars.unit_of(on, "month"))


def _bare(pattern: str) -> str:
    """A pattern without its names, for a rule that only leaves the phrase."""
    return re.sub(r"\?P<\w+>", "?:", pattern)


def _korean(name: str, pattern: str, read: object) -> Rule:
    """A particle may be glued on (어제는); in 오늘날 (nowadays) and 내일로 no date is meant."""
    compiled = re.compile(rf"(?<!\w)(?P<x>{pattern})(?=(?:에는|에|은|는|부터|까지|의|도)?(?!\w))")
    return Rule(name, compiled, read)  # type: ignore[arg-type]  # one of the readers above


_FORMS = "|".join(sorted((re.escape(word).replace("'", "['’]") for word in _WORDS), key=len, reverse=True))
_N = rf"(?P<n>\d{{1,3}}|{'|'.join(_NUMBERS)})"
_GERMAN = r"(?P<d>(?:letzt|vorig|vergangen|dies|nächst|kommend)e[nrsm]?)\s+(?P<u>Woche|Monat|Jahr|Quartal)"
_FRENCH = r"(?P<u>semaine|mois|an|année|trimestre)\s+(?P<d>derni(?:er|ère)|passée?|prochaine?)(?!\s+(?:de|du|des|d['’]))"
_ABOUT = r"(?:etwa|ungefähr|rund|knapp|circa|ca\.|über)"
_FOREIGN: tuple[Rule, ...] = (
    rule("day word of another language", _FORMS, _word),
    rule("about so long ago", rf"{_ABOUT}\s+vor\s+{_bare(_N)}\s+\w+|vor\s+{_ABOUT}\s+\w+\s+\w+", leave),
    rule(
        "about so long ago",
        r"(?:il\s+y\s+a|hace)\s+(?:environ|presque|plus\s+de|unos|unas|casi|más\s+de)\s+\w+\s+\w+",
        leave,
    ),
    rule(
        "German period of something",
        rf"(?:(?:(?<!\bin\s)der|die|das|den|jede[nrsm]?|eine[nrsm]?)\s+{_bare(_GERMAN)})",
        leave,
    ),
    rule("German period of something", rf"{_bare(_GERMAN)}\s+(?:des|der|vom|von|eines|einer)", leave),
    rule("German period", rf"(?:(?:im|in\s+der|in\s+diesem)\s+)?(?P<x>{_GERMAN})", _period),
    rule("German ago", rf"vor\s+{_N}\s+(?P<u>Tag(?:en)?|Wochen?|Monat(?:en)?|Jahr(?:en)?)", _ago),
    rule("French period", rf"(?:la\s+|le\s+|l['’]){_FRENCH}", _period),
    rule("French ago", rf"il\s+y\s+a\s+{_N}\s+(?P<u>jours?|semaines?|mois|ans?)(?!\s+qu)", _ago),
    rule(
        "Spanish period",
        r"(?:la|el)\s+(?P<u>semana|mes|año|trimestre)\s+(?P<d>pasad[oa]|próxim[oa])(?!\s+de)",
        _period,
    ),
    rule(
        "Spanish next", r"(?:la|el)\s+(?P<d>próxim[oa])\s+(?P<u>semana|mes|año|trimestre)(?!\s+de)", _period
    ),
    rule("Spanish ago", rf"hace\s+{_N}\s+(?P<u>días?|semanas?|mes(?:es)?|años?)(?!\s+que)", _ago),
    _korean("Korean day word", "|".join(sorted(_KOREAN, key=len, reverse=True)), _word),
    _korean("Korean period", r"(?:지난|저번|이번|다음)\s?(?:주|달)|작년|올해|내년", _korean_period),
    rule("Korean about", r"약\s?\d{1,3}\s?(?:일|주|개월|달|년)\s?전(?:에)?", leave),
    _korean("Korean ago", r"(?P<n>\d{1,3})\s?(?P<u>일|주|개월|달|년)\s?전", _ago),
)

_ENGLISH: tuple[Rule, ...] = (*partial.FIRST, *relative.RULES, *partial.RULES)
_PREPOSITION = re.compile(
    r"\b(?:on|by|since|until|till|before|after|from|for|as of|of|in|during|to|and|or|through|between|around|at|starting|"
    r"beginning|per|over|within|throughout|the|than|about|due)\s+[*_(\"'“‘]*$",
    re.IGNORECASE,
)
_WHOLE_NAME = re.compile(rf"\b(?:{'|'.join((*WEEKDAYS, *MONTHS))})\.$", re.IGNORECASE)
_SENTENCE_ENDS = re.compile(r"[*_)\]\"'”’]*(?:\s*$|\s*\n|\s+[\"'(\[*_“]*[A-Z])")
_OPENING = re.compile(r"(?:^|[\n(\[:—–|,;])\s*[*_>#-]*\s*[*_]*$")


def spans_of(text: str, reference: dt.datetime | dt.date) -> list[DateSpan]:
    """As `dates.resolve`, which has looked whether there is anything to read."""
    text = text[:LONGEST]
    found: list[DateSpan] = []
    taken: list[tuple[int, int]] = []
    context = Context(text)
    for rules, context.english in ((_ENGLISH, True), (_FOREIGN, False)):
        for each in rules:
            _apply(each, context, _reference(reference), found, taken)
    return _with_ranges(context, sorted(found, key=lambda span: span.start))


def _with_ranges(context: Context, found: list[DateSpan]) -> list[DateSpan]:
    """Two days with "to" between them are one range; half of what is not understood is left out."""
    kept: list[DateSpan] = []
    for span in found:
        last = kept[-1] if kept else None
        if last and counting.joins(context.text[last.end : span.start], context.before(last.start)):
            kept[-1:] = _joined(context, last, span)
        else:
            kept.append(span)
    return [span for span in kept if span.standing != "shown" and not _is_half(context, span)]


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


def _is_half(context: Context, span: DateSpan) -> bool:
    around = context.before(span.start), context.text[span.end : span.end + 40]
    return span.granularity != "range" and counting.is_half(span.text, *around)


def _reference(reference: dt.datetime | dt.date) -> Reference:
    if not isinstance(reference, dt.datetime):
        return Reference(reference, None)
    clock = None if reference.time() == dt.time.min else reference
    return Reference(reference.date(), clock)


def _apply(
    rule: Rule, context: Context, ref: Reference, found: list[DateSpan], taken: list[tuple[int, int]]
) -> None:
    for match in rule.pattern.finditer(context.text):
        start, end = match.span("x") if "x" in rule.pattern.groupindex and match["x"] else match.span()
        end = _without_stop(context.text, start, end)
        if any(start < stop and end > begin for begin, stop in taken):
            continue
        taken.append((start, end))
        reading = _read(rule, match, context, ref) if not context.names_no_date(start, end) else None
        if reading:
            found.append(_span(context, start, end, reading))


def _without_stop(text: str, start: int, end: int) -> int:
    """The stop of "in Jan." belongs to the month only inside a sentence, and that of "in March." never."""
    if text[end - 1 : end] != ".":
        return end
    whole_name = _WHOLE_NAME.search(text, start, end)
    return end - 1 if whole_name or _SENTENCE_ENDS.match(text, end) else end


def _read(rule: Rule, match: re.Match[str], context: Context, ref: Reference) -> Reading | None:
    try:
        return rule.read(match, context, ref)
    except (ValueError, OverflowError):  # 31 June, a year before 1 or after 9999
        return None


def _span(context: Context, start: int, end: int, reading: Reading) -> DateSpan:
    phrase = context.text[start:end]
    written = _written(context, start, end, reading)
    standing = context.standing(start, end, reading.hold)
    return DateSpan(start, end, phrase, reading.period.iso, reading.granularity, written, standing)


def _written(context: Context, start: int, end: int, reading: Reading) -> str:
    """The date as the sentence wants it: with "on" or "in" unless a preposition is there or the phrase is a label."""
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
    """A preposition stands there, or the phrase is a label ("Yesterday: ...") or what is spoken of ("Today is ...")."""
    label = _OPENING.search(before) and re.match(r"\s*[:)\]—–|*]", after)
    starts = not before.strip(" *_>#-\t") or before.rstrip()[-1:] in ".!?:;,\n"
    subject = starts and re.match(r"\s+(?:is|was|will be|has been|marks|isn't|wasn't)\b", after)
    return bool(_PREPOSITION.search(before) or label or subject)
