"""Dates that lack a year, a month or a week: "March 3rd", "on the 5th", "Q3", "on Friday", "last Easter". Pure."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Callable

from dreams.lib.prose.dates import calendars, vocabulary, vocabulary as v
from dreams.lib.prose.dates.calendars import DAY, Period
from dreams.lib.prose.dates.context import Context, is_no_month
from dreams.lib.prose.dates.relative import edge_reading
from dreams.lib.prose.dates.vocabulary import Reading, Reference, Rule, chosen, leave, rule, whole, with_part

_BOUND = re.compile(r"(?:until|till|by)\s", re.IGNORECASE)
_LONGEST_APPOINTMENT = 60  # letters of a line that is one; chosen
_CLOCK_ONLY = re.compile(
    r"(?=.*(?:\d|noon|midnight))(?:\s|[-–@,.?]|(?<!\d)\d{1,2}(?::\d\d)?(?!\d)(?:\s?[ap]\.?m?\b)?|"
    r"\b(?:at|on|for|from|to|till|untill?|between|and|by|around|noon|midnight|in the (?:morning|afternoon|evening)|utc|gmt|ce?s?t|[pe][sd]?t)\b)*",
    re.IGNORECASE,
)


def _weekday_and_number(m: re.Match[str], context: Context, ref: Reference) -> Reading | None:
    """ "Saturday the 23rd": the nearest month in which that day is a Saturday."""
    on, wanted = v.ordinal(m["n"] or m["n2"]), v.weekday(m["wd"])
    tense = context.tense(m.start())
    if on == 13 and wanted == 4 and tense is None:  # a saying more often than a date
        return None
    order = {"past": (0, -1), "future": (0, 1, 2), None: (0, -1, 1, 2)}[tense]
    for months in order:
        first = calendars.unit_of(ref.date, "month", months).start
        if on <= calendars.days_in_month(first.year, first.month):
            date = first.replace(day=on)
            fits = {"past": date <= ref.date, "future": date >= ref.date, None: True}[tense]
            if date.weekday() == wanted and fits:
                return with_part(calendars.day(date), m["p"])
    return None


def _bare_weekday(m: re.Match[str], context: Context, ref: Reference) -> Reading | None:
    tense = "past" if vocabulary.SINCE.match(m[0]) else context.tense(m.start())
    if tense is None and _BOUND.match(m[0]):
        tense = "future"
    if tense is None:
        return _appointment(m, context, ref)
    wanted = v.weekday(m["wd"])
    if wanted == ref.date.weekday() or context.moved(m.start("wd")):
        return None
    date = calendars.before(ref.date, wanted) if tense == "past" else calendars.after(ref.date, wanted)
    return with_part(calendars.day(date), m["p"])


def _appointment(m: re.Match[str], context: Context, ref: Reference) -> Reading | None:
    """ "Saturday from 9 to 11am", and no other word: who writes it so means the coming one."""
    if len(context.text) > _LONGEST_APPOINTMENT or v.weekday(m["wd"]) == ref.date.weekday():
        return None
    if not _CLOCK_ONLY.fullmatch(f"{context.text[: m.start()]} {context.text[m.end() :]}"):
        return None
    return with_part(calendars.day(calendars.after(ref.date, v.weekday(m["wd"]))), m["p"])


# Those that are no words of their own; "Sun" and "sat" are.
_SHORT = r"(?-i:(?:Mon|MON|Tue|TUE|Wed|WED|Thu|THU|Fri|FRI)\b)"
_GOES_ON = rf"\s*(?:[.,;:!?)*]|$|{v.CLOCK}|(?:at|and|but|because|so|we|i|when|after|before|from|with|to|in|for|around|took|will|was|by|between|if|or)\b)"

_WEEKDAYS = rf"{v.WEEKDAY_SHORT}s?"

_DAYS_OF_A_WEEK: tuple[Rule, ...] = (
    rule(
        "several days",
        rf"{_WEEKDAYS}\s*(?:-|–|—|/|&|,|to|through|thru|till|until|and|or|,\s*and)\s*{_WEEKDAYS}|{v.WEEKDAY}s",
        leave,
    ),
    rule(
        "weekday and number",
        rf"(?P<wd>{v.WEEKDAY_SHORT}),?\s+(?:the\s+(?P<n>{v.ORDINAL})|(?<!(?i:sat|sun)\s)(?P<n2>\d{{1,2}}(?:st|nd|rd|th))(?=\s*(?:[.,;:!?)]|$|at\b|from\b))){v.PART_OF_IT}(?!\s+(?:of|{v.MONTH}))",
        _weekday_and_number,
    ),
    rule(
        "bare weekday",
        rf"(?:on|by|until|till|since|before|after|due|from|for|this\s+is)\s+(?P<x>(?P<wd>{v.WEEKDAY}|{_SHORT}){v.PART_OF_IT})"
        rf"(?={_GOES_ON})(?!\s+(?:to|through|for|in)\s+(?:{v.WEEKDAY}|the))",
        _bare_weekday,
    ),
    rule(
        "weekday at an end",
        rf"(?<=[a-z]\s)(?<!\ba\s)(?<!\bone\s)(?<!\bthe\s)(?<!\bis\s)(?<!\bwas\s)(?P<wd>{v.WEEKDAY}){v.PART_OF_IT}(?=\s*(?:[.,;!?)]|$|{v.CLOCK}))",
        _bare_weekday,
    ),
    rule("appointment", rf"(?P<wd>{v.WEEKDAY}){v.PART_OF_IT}", _appointment),
)

_HOLIDAYS_BOUND = re.compile(r"\b(?:for|since|until|till|by|from|before|after)\s+$", re.IGNORECASE)
_LED = re.compile(r"\b(?:on|at|over|around|in|during|throughout|of)\s+$", re.IGNORECASE)
_HOLIDAYS = "|".join(
    sorted(
        (re.escape(name).replace("'", "['’]").replace(r"\ ", r"\s+") for name in calendars.HOLIDAYS),
        key=len,
        reverse=True,
    )
)


def _holiday(m: re.Match[str], context: Context, ref: Reference) -> Reading | None:
    name = re.sub(r"\s+", " ", m["h"].lower().replace("’", "'"))
    on = calendars.HOLIDAYS[name]
    word = (m["d"] or "").lower().split()[-1:]
    period: Period | None
    if word and word[0] in {"last", "past", "previous"}:
        period = _nearest(on, ref.date, past=True)
    elif word and word[0] in {"next", "coming"}:
        period = _nearest(on, ref.date, past=False)
    elif word:
        period = calendars.day(on(ref.date.year))
    else:
        period = chosen(lambda year: calendars.day(on(year)), m, context, ref)
    if period is None or not (word or m["weekend"] or _stands_as_date(m, context)):
        return None
    return _holiday_weekend(period) if m["weekend"] else whole(period)


def _holiday_of_year(m: re.Match[str], context: Context, ref: Reference) -> Reading:
    name = re.sub(r"\s+", " ", m["h"].lower().replace("’", "'"))
    year = ref.date.year + {"last": -1, "this": 0, "next": 1}[m["d"].lower()]
    return whole(calendars.day(calendars.HOLIDAYS[name](year)))


def _stands_as_date(m: re.Match[str], context: Context) -> bool:
    """Not the first half of a name ("Good Friday agreement"), and not each year ("traffic drops over Christmas")."""
    before, after = context.before(m.start()), context.text[m.end() : m.end() + 40]
    if _HOLIDAYS_BOUND.search(before):
        return True
    return bool(_LED.search(before) or re.match(r"\s*(?:[.,;:!?)]|$)", after)) and (
        # A sentence with a tense, or the name alone: a list of names tells nothing of when.
        context.tense(m.start()) is not None or context.alone(m.start(), m.end())
    )


def _nearest(on: Callable[[int], dt.date], date: dt.date, *, past: bool) -> Period:
    dates = [on(year) for year in range(date.year - 1, date.year + 2)]
    return calendars.day(max(d for d in dates if d < date) if past else min(d for d in dates if d > date))


def _holiday_weekend(holiday: Period) -> Reading | None:
    """Saturday to the holiday when it is a Monday; other long weekends differ by country."""
    if holiday.start.weekday() != 0:
        return None
    period = calendars.span(holiday.start - 2 * DAY, holiday.end)
    return Reading(period, "range", f"the weekend of {period.start.isoformat()}", "on")


HOLIDAY = rule(
    "holiday",
    rf"(?<!following\s)(?:(?P<d>last|previous|this(?:\s+past|\s+coming)?|next|coming)\s+)?(?P<h>{_HOLIDAYS})(?P<weekend>\s+weekend)?"
    r"(?!\s+(?:eve|break|sale|party|season|tree|week|holidays?|freeze|theme|monday|sunday|friday|card|special)|['’]s|s\b)",
    _holiday,
)

_IN = r"(?:in|since|until|till|by|during|throughout|of|from|before|after)"
# "Sales peak in December": each year.
_YEARLY = re.compile(
    r"\b(?:starts?|begins?|ends?|peaks?|opens?|closes?|runs?|happens?|occurs?|resets?|rises?|falls?|drops?|changes?|comes?)\s+"
    r"(?:\w+\s+)?(?:in\s+|on\s+(?:the\s+)?)?$",
    re.IGNORECASE,
)
_EACH_YEAR = re.compile(
    r"\b(?:(?:fiscal|financial|tax|school|academic|calendar)\s+year|season|semester|term|market|exchange|office|shop|store|school)s?\s+"
    r"(?:starts?|begins?|ends?|opens?|closes?|is|are)\s+(?:closed\s+|open\s+)?(?:on\s+)?$",
    re.IGNORECASE,
)


def _month_day(m: re.Match[str], context: Context, ref: Reference) -> Reading | None:
    number, on, month = m["n"], v.day_number(m["n"]), v.month(m["m"])
    dt.date(2024, month, on)  # 31 June is no day of any year
    before, after = context.said_before(m.start()), context.text[m.end() : m.end() + 40]
    if is_no_month(m["m"], before, after, behind=m.start("n") < m.start("m"), numeral=number.isdigit()):
        return None
    if not m.groupdict().get("wd"):
        period = chosen(lambda year: calendars.day(dt.date(year, month, on)), m, context, ref)
        yearly = _EACH_YEAR.search(context.before(m.start())) and context.tense(m.start()) is None
        return with_part(period, m.groupdict().get("p")) if period and not yearly else None
    nearest = min(
        (dt.date(year, month, on) for year in range(ref.date.year - 1, ref.date.year + 2)),
        key=lambda d: abs(d - ref.date),
    )
    agrees = nearest.weekday() == v.weekday(m["wd"])
    return with_part(calendars.day(nearest), m.groupdict().get("p")) if agrees else None


def _day_of_month(m: re.Match[str], context: Context, ref: Reference) -> Reading | None:
    on, tense = v.ordinal(m["n"]), context.tense(m.start())
    if tense is None:
        return None
    for months in (0, -1, -2) if tense == "past" else (0, 1, 2):
        first = calendars.unit_of(ref.date, "month", months).start
        if on > calendars.days_in_month(first.year, first.month):
            return None
        date = first.replace(day=on)
        if (date <= ref.date) if tense == "past" else (date >= ref.date):
            return whole(calendars.day(date))
    return None


def _week_of(m: re.Match[str], context: Context, ref: Reference) -> Reading | None:
    """ "The week of the 18th"; of a Sunday it may be the one before or the one after."""
    day = _month_day(m, context, ref) if m["m"] else _day_of_month(m, context, ref)
    if day is None or day.period.start.weekday() == 6:  # Sunday
        return None
    return whole(calendars.unit_of(day.period.start, "week"))


def _bare_month(m: re.Match[str], context: Context, ref: Reference) -> Reading | None:
    """ "traffic doubles in December" may do so each year: without a tense only after "since", "by" and the like."""
    month = v.month(m["m"])
    period = chosen(lambda year: calendars.month_of(year, month), m, context, ref)
    told = context.tense(m.start()) is not None or vocabulary.SINCE.match(m[0])
    if period is None or (not told and period.start <= ref.date < period.end):
        return None
    yearly = m[0].lower().startswith("in ") and not context.alone(m.start(), m.end())
    return None if yearly and not told else whole(period)


def _directed_month(m: re.Match[str], context: Context, ref: Reference) -> Reading | None:
    """ "last May" in July may be this year's or the one before; only where no other can be meant."""
    month, word, now = v.month(m["m"]), m["d"].lower(), ref.date.month
    offset = {"last": -1, "previous": -1, "this": 0, "next": 1, "past": -1}[word.split()[-1]]
    if (offset == -1 and month < now) or (offset == 1 and month > now) or (offset and month == now):
        return None
    return whole(calendars.month_of(ref.date.year + offset, month))


def _edge_of_month(m: re.Match[str], context: Context, ref: Reference) -> Reading | None:
    month = v.month(m["m"])
    base = chosen(lambda year: calendars.month_of(year, month), m, context, ref)
    return edge_reading(m["e"], base) if base else None


def _nth_weekday(m: re.Match[str], context: Context, ref: Reference) -> Reading | None:
    nth = -1 if m["nth"].lower() == "last" else v.ordinal(m["nth"])
    month, weekday = v.month(m["m"]), v.weekday(m["wd"])
    period = chosen(
        lambda year: calendars.day(calendars.nth_weekday(year, month, weekday, nth)), m, context, ref
    )
    yearly = context.tense(m.start()) is None and _YEARLY.search(context.before(m.start()))
    return whole(period) if period and not yearly else None


def _quarter(m: re.Match[str], context: Context, ref: Reference) -> Reading | None:
    if context.tense(m.start()) is None:
        return None
    first = 3 * (int(m["q"]) if m["q"] else v.ordinal(m["nth"])) - 2
    period = chosen(lambda year: calendars.unit_of(dt.date(year, first, 1), "quarter"), m, context, ref)
    return whole(period) if period else None


def _of_a_year(m: re.Match[str], context: Context, ref: Reference) -> Reading:
    """ "in March last year", "March 3rd of this year", "Q4 last year"."""
    year = ref.date.year + {"last": -1, "this": 0, "next": 1}[m["d"].lower()]
    if m["q"]:
        return whole(calendars.unit_of(dt.date(year, 3 * int(m["q"]) - 2, 1), "quarter"))
    month, number = v.month(m["m"] or m["m2"]), m["n"] or m["n2"]
    if not number:
        return whole(calendars.month_of(year, month))
    return whole(calendars.day(dt.date(year, month, v.day_number(number))))


_NUMBER = rf"(?P<n>{v.ORDINAL}|(?:0?[1-9]|[12]\d|3[01]))"
_WEEKDAY_BEFORE = rf"(?:(?P<wd>{v.WEEKDAY_SHORT}),?\s+(?:the\s+|on\s+)?)?"
_NO_DAY_BEFORE = r"(?<!\dst\s)(?<!\dnd\s)(?<!\drd\s)(?<!\dth\s)"  # "14th April 15" is of 2015

# April, May, June and August are names, or words of their own.
_MONTH_ONLY = r"(?-i:January|February|July|September|October|November|December)"
# Before all others, as they hold a whole phrase of another rule ("last year").
FIRST: tuple[Rule, ...] = (
    rule(
        "holiday of a year",
        rf"(?P<h>{_HOLIDAYS})\s+(?:of\s+)?(?P<d>last|this|next)\s+year",
        _holiday_of_year,
    ),
    rule(
        "of a year",
        rf"(?:(?P<m>{v.MONTH})(?:\s+(?:the\s+)?(?P<n>{v.ORDINAL}|\d{{1,2}}))?|(?:the\s+)?(?P<n2>{v.ORDINAL}|\d{{1,2}})\s+(?:of\s+)?(?P<m2>{v.MONTH})"
        r"|(?-i:Q)(?P<q>[1-4])),?\s+(?:of\s+)?(?P<d>last|this|next)\s+year",
        _of_a_year,
    ),
    rule(
        "in a year",
        rf"(?:last|this|next)\s+year,?\s+(?:in|on|around|since)\s+(?:(?:early|mid|late|the)[\s-]+)?(?:{v.MONTH}|{v.WEEKDAY}|{v.ORDINAL}|Q[1-4]|spring|summer|autumn|fall|winter)(?:\s+\d+)?",
        leave,
    ),
)
RULES: tuple[Rule, ...] = (
    rule(
        "several dates",
        rf"(?:from\s+)?(?:the\s+)?(?:{v.MONTH}\s+)?(?:the\s+)?{v.ORDINAL}\s*(?:-|–|—|to|and|or|through|until)\s*(?:the\s+)?{v.ORDINAL}"
        rf"(?:\s+(?:of\s+)?{v.MONTH})?|"
        rf"{v.MONTH}\s+\d{{1,2}}\s*(?:-|–|—|to|and|or|through|until|/)\s*\d{{1,4}}|"
        rf"\d{{1,2}}\s*(?:-|–|—|to|and|or|through|until|/)\s*\d{{1,2}}\s+{v.MONTH}|"
        rf"(?:from|between)\s+(?:the\s+)?(?:{v.EDGE}\s+)?{v.MONTH}\s+(?:to|and|until|through)\s+(?:the\s+)?(?:{v.EDGE}\s+)?{v.MONTH}|"
        rf"{v.MONTH}\s*(?:-|–|—|to|and|or|through|until|/)\s*{v.MONTH}",
        leave,
    ),
    rule(
        "nth weekday of month",
        rf"(?:the\s+)?(?P<nth>{v.ORDINAL}|last)\s+(?P<wd>{v.WEEKDAY})\s+(?:of|in)\s+(?P<m>{v.MONTH})",
        _nth_weekday,
    ),
    rule(
        "week of a day",
        rf"(?:the\s+)?week\s+of\s+(?:(?P<m>{v.MONTH})\s+)?(?:the\s+)?(?P<n>{v.ORDINAL})(?!\s+(?:of\b|{v.MONTH}))",
        _week_of,
    ),
    rule(
        "month and day",
        rf"{_NO_DAY_BEFORE}{_WEEKDAY_BEFORE}(?P<m>{v.MONTH})(?:\s+(?:the\s+)?|/){_NUMBER}{v.PART_OF_IT}(?!\s*(?:[-–—/%:$€]|(?!{v.CLOCK})\d|percent|{v.UNIT}\b|am\b|pm\b))",
        _month_day,
    ),
    rule(
        "day and month",
        rf"{_WEEKDAY_BEFORE}(?:the\s+)?(?<!\$)(?<!€)(?<![\d.,/:-])(?<!\d\s){_NUMBER}(?:\s+day)?\s+(?:of\s+)?(?P<m>{v.MONTH}){v.PART_OF_IT}(?!\s+\d)",
        _month_day,
    ),
    rule(
        "nth of something",
        rf"(?:(?:{v.ORDINAL}|last)\s+(?:(?!second){v.UNIT}|{v.WEEKDAY})\s+(?:of|in)|{v.COUNTED}\s+(?:(?!second){v.UNIT}|{v.WEEKDAY})\s+of)\s+\w+",
        leave,
    ),
    rule(
        "part of month",
        rf"(?P<e>{v.EDGE})(?:\s+|-)(?P<m>{v.MONTH})",
        _edge_of_month,
    ),
    rule(
        "directed month",
        rf"(?P<d>this\s+past|last|previous|next|(?-i:[Tt]his(?!\s+(?:may|march|MAY|MARCH)\b)))\s+(?P<m>{v.MONTH})",
        _directed_month,
    ),
    rule(
        "piece of a month",
        rf"(?:first|second|third|last|end|middle|half|rest|part|week|weeks|days?)\s+(?:(?!\w+ed\s)\w+\s+)?(?:of|in)\s+{v.MONTH}",
        leave,
    ),
    rule(
        "month",
        rf"{_IN}\s+(?P<x>(?P<m>(?!mar\b|may\b|(?<=of\s)(?-i:march))(?-i:[A-Z])?{v.MONTH}|(?-i:May)))(?!\s*(?:['’]s|\d)|\s+(?:be|not|have|well|also)\b)",
        _bare_month,
    ),
    rule(
        "month at an end",
        rf"(?<=[a-z]\s)(?<!\ba\s)(?<!\bthe\s)(?<!\bof\s)(?<!each\s)(?<!every\s)(?P<x>(?P<m>{_MONTH_ONLY}))(?=\s*(?:[.,;!?)]|$))",
        _bare_month,
    ),
    HOLIDAY,
    rule(
        "quarter",
        rf"(?:in|during|by|since|until|for|before|after)\s+(?P<x>(?-i:Q)(?P<q>[1-4])|the\s+(?P<nth>{v.ORDINAL})\s+{v.QUARTER}(?!\s+of\b))",
        _quarter,
    ),
    *_DAYS_OF_A_WEEK,
    rule(
        "day of month",
        rf"(?:on|by|until|since|before|after)\s+(?P<x>the\s+(?P<n>{v.ORDINAL}))(?=\s*(?:[.,;!?)]|$|at\b|and\b|but\b|we\b))",
        _day_of_month,
    ),
)
