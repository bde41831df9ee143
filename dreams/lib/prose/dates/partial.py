"""Dates that lack a year, a month or a week: "March 3rd", "on the 5th", "Q3", "on Friday". Pure."""

import datetime as dt
import re

from dreams.lib.prose.dates import calendars, vocabulary, vocabulary as v
from dreams.lib.prose.dates.context import Context
from dreams.lib.prose.dates.relative import edge_reading
from dreams.lib.prose.dates.vocabulary import DayReading, Reference, Table, chosen, leave, whole, with_part

_BOUND = re.compile(r"(?:until|till|by)\s", re.IGNORECASE)


def _weekday_and_number(m: re.Match[str], context: Context, ref: Reference) -> DayReading | None:
    """The day in the nearest month in which it has that weekday: "Saturday the 23rd"."""
    on, wanted = v.ordinal(m["n"] or m["n2"]), v.weekday(m["wd"])
    tense = context.tense(m.start())
    if on == 13 and wanted == 4 and tense is None:  # usually an idiom, not a date
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


def _bare_weekday(m: re.Match[str], context: Context, ref: Reference) -> DayReading | None:
    tense = "past" if vocabulary.SINCE.match(m[0]) else context.tense(m.start())
    if tense is None and _BOUND.match(m[0]):
        tense = "future"
    if tense is None:
        return None
    wanted = v.weekday(m["wd"])
    if wanted == ref.date.weekday():
        return None
    date = calendars.before(ref.date, wanted) if tense == "past" else calendars.after(ref.date, wanted)
    return with_part(calendars.day(date), m["p"])


# Those that are not also other words, like "Sun" and "sat".
_SHORT = r"(?-i:(?:Mon|MON|Tue|TUE|Wed|WED|Thu|THU|Fri|FRI)\b)"
_GOES_ON = rf"\s*(?:[.,;:!?)*]|$|{v.CLOCK}|(?:at|and|but|because|so|we|i|when|after|before|from|with|to|in|for|around|took|will|was|by|between|if|or)\b)"

_WEEKDAYS = rf"{v.WEEKDAY_SHORT}s?"

_DAYS_OF_A_WEEK: Table = {
    rf"{_WEEKDAYS}\s*(?:-|–|—|/|&|,|to|through|thru|till|until|and|or|,\s*and)\s*{_WEEKDAYS}|{v.WEEKDAY}s": leave,
    rf"(?P<wd>{v.WEEKDAY_SHORT}),?\s+(?:the\s+(?P<n>{v.ORDINAL})|(?<!(?i:sat|sun)\s)(?P<n2>\d{{1,2}}(?:st|nd|rd|th))(?=\s*(?:[.,;:!?)]|$|at\b|from\b))){v.PART_OF_IT}(?!\s+(?:of|{v.MONTH}))": _weekday_and_number,
    rf"(?:on|by|until|till|since|before|after|due|from|for|this\s+is)\s+(?P<x>(?P<wd>{v.WEEKDAY}|{_SHORT}){v.PART_OF_IT})"
    rf"(?={_GOES_ON})(?!\s+(?:to|through|for|in)\s+(?:{v.WEEKDAY}|the))": _bare_weekday,
    rf"(?<=[a-z]\s)(?<!\ba\s)(?<!\bone\s)(?<!\bthe\s)(?<!\bis\s)(?<!\bwas\s)(?P<wd>{v.WEEKDAY}){v.PART_OF_IT}(?=\s*(?:[.,;!?)]|$|{v.CLOCK}))": _bare_weekday,
}

_IN = r"(?:in|since|until|till|by|during|throughout|of|from|before|after)"


def _month_day(m: re.Match[str], context: Context, ref: Reference) -> DayReading | None:
    on, month = v.day_number(m["n"]), v.month(m["m"])
    dt.date(2024, month, on)  # no year has a 31 June
    if not m.groupdict().get("wd"):
        period = chosen(lambda year: calendars.day(dt.date(year, month, on)), m, context, ref)
        return with_part(period, m.groupdict().get("p")) if period else None
    nearest = min(
        (dt.date(year, month, on) for year in range(ref.date.year - 1, ref.date.year + 2)),
        key=lambda d: abs(d - ref.date),
    )
    agrees = nearest.weekday() == v.weekday(m["wd"])
    return with_part(calendars.day(nearest), m.groupdict().get("p")) if agrees else None


def _bare_month(m: re.Match[str], context: Context, ref: Reference) -> DayReading | None:
    """ "traffic doubles in December" may be each year: without a tense only after "since", "by" and the like."""
    month = v.month(m["m"])
    period = chosen(lambda year: calendars.month_of(year, month), m, context, ref)
    told = context.tense(m.start()) is not None or vocabulary.SINCE.match(m[0])
    if period is None or (not told and period.start <= ref.date < period.end):
        return None
    yearly = m[0].lower().startswith("in ") and not context.alone(m.start(), m.end())
    return None if yearly and not told else whole(period)


def _edge_of_month(m: re.Match[str], context: Context, ref: Reference) -> DayReading | None:
    month = v.month(m["m"])
    base = chosen(lambda year: calendars.month_of(year, month), m, context, ref)
    return edge_reading(m["e"], base) if base else None


def _nth_weekday(m: re.Match[str], context: Context, ref: Reference) -> DayReading | None:
    nth = -1 if m["nth"].lower() == "last" else v.ordinal(m["nth"])
    month, weekday = v.month(m["m"]), v.weekday(m["wd"])
    period = chosen(
        lambda year: calendars.day(calendars.nth_weekday(year, month, weekday, nth)), m, context, ref
    )
    return whole(period) if period else None


def _quarter(m: re.Match[str], context: Context, ref: Reference) -> DayReading | None:
    if context.tense(m.start()) is None:
        return None
    first = 3 * (int(m["q"]) if m["q"] else v.ordinal(m["nth"])) - 2
    period = chosen(lambda year: calendars.unit_of(dt.date(year, first, 1), "quarter"), m, context, ref)
    return whole(period) if period else None


_NUMBER = rf"(?P<n>{v.ORDINAL}|(?:0?[1-9]|[12]\d|3[01]))"
_WEEKDAY_BEFORE = rf"(?:(?P<wd>{v.WEEKDAY_SHORT}),?\s+(?:the\s+|on\s+)?)?"
_NO_DAY_BEFORE = r"(?<!\dst\s)(?<!\dnd\s)(?<!\drd\s)(?<!\dth\s)"  # "14th April 15" is of 2015

# Before all others, as they contain phrases of other rules ("last year").
FIRST: Table = {
    rf"(?:(?P<m>{v.MONTH})(?:\s+(?:the\s+)?(?P<n>{v.ORDINAL}|\d{{1,2}}))?|(?:the\s+)?(?P<n2>{v.ORDINAL}|\d{{1,2}})\s+(?:of\s+)?(?P<m2>{v.MONTH})"
    r"|(?-i:Q)(?P<q>[1-4])),?\s+(?:of\s+)?(?P<d>last|this|next)\s+year": leave,
    rf"(?:last|this|next)\s+year,?\s+(?:in|on|around|since)\s+(?:(?:early|mid|late|the)[\s-]+)?(?:{v.MONTH}|{v.WEEKDAY}|{v.ORDINAL}|Q[1-4]|spring|summer|autumn|fall|winter)(?:\s+\d+)?": leave,
}
RULES: Table = {
    rf"(?:from\s+)?(?:the\s+)?(?:{v.MONTH}\s+)?(?:the\s+)?{v.ORDINAL}\s*(?:-|–|—|to|and|or|through|until)\s*(?:the\s+)?{v.ORDINAL}"
    rf"(?:\s+(?:of\s+)?{v.MONTH})?|"
    rf"{v.MONTH}\s+\d{{1,2}}\s*(?:-|–|—|to|and|or|through|until|/)\s*\d{{1,4}}|"
    rf"\d{{1,2}}\s*(?:-|–|—|to|and|or|through|until|/)\s*\d{{1,2}}\s+{v.MONTH}|"
    rf"(?:from|between)\s+(?:the\s+)?(?:{v.EDGE}\s+)?{v.MONTH}\s+(?:to|and|until|through)\s+(?:the\s+)?(?:{v.EDGE}\s+)?{v.MONTH}|"
    rf"{v.MONTH}\s*(?:-|–|—|to|and|or|through|until|/)\s*{v.MONTH}": leave,
    rf"(?:the\s+)?(?P<nth>{v.ORDINAL}|last)\s+(?P<wd>{v.WEEKDAY})\s+(?:of|in)\s+(?P<m>{v.MONTH})": _nth_weekday,
    rf"(?:the\s+)?week\s+of\s+(?:(?P<m>{v.MONTH})\s+)?(?:the\s+)?(?P<n>{v.ORDINAL})(?!\s+(?:of\b|{v.MONTH}))": leave,
    rf"{_NO_DAY_BEFORE}{_WEEKDAY_BEFORE}(?P<m>{v.MONTH})(?:\s+(?:the\s+)?|/){_NUMBER}{v.PART_OF_IT}(?!\s*(?:[-–—/%:$€]|(?!{v.CLOCK})\d|percent|{v.UNIT}\b|am\b|pm\b))": _month_day,
    rf"{_WEEKDAY_BEFORE}(?:the\s+)?(?<!\$)(?<!€)(?<![\d.,/:-])(?<!\d\s){_NUMBER}(?:\s+day)?\s+(?:of\s+)?(?P<m>{v.MONTH}){v.PART_OF_IT}(?!\s+\d)": _month_day,
    rf"(?:(?:{v.ORDINAL}|last)\s+(?:(?!second){v.UNIT}|{v.WEEKDAY})\s+(?:of|in)|{v.COUNTED}\s+(?:(?!second){v.UNIT}|{v.WEEKDAY})\s+of)\s+\w+": leave,
    rf"(?P<e>{v.EDGE})(?:\s+|-)(?P<m>{v.MONTH})": _edge_of_month,
    rf"(?P<d>this\s+past|last|previous|next|(?-i:[Tt]his(?!\s+(?:may|march|MAY|MARCH)\b)))\s+(?P<m>{v.MONTH})": leave,
    rf"(?:first|second|third|last|end|middle|half|rest|part|week|weeks|days?)\s+(?:(?!\w+ed\s)\w+\s+)?(?:of|in)\s+{v.MONTH}": leave,
    rf"{_IN}\s+(?P<x>(?P<m>(?!mar\b|may\b|(?<=of\s)(?-i:march))(?-i:[A-Z])?{v.MONTH}|(?-i:May)))(?!\s*(?:['’]s|\d)|\s+(?:be|not|have|well|also)\b)": _bare_month,
    rf"(?:in|during|by|since|until|for|before|after)\s+(?P<x>(?-i:Q)(?P<q>[1-4])|the\s+(?P<nth>{v.ORDINAL})\s+{v.QUARTER}(?!\s+of\b))": _quarter,
    **_DAYS_OF_A_WEEK,
    rf"(?:on|by|until|since|before|after)\s+(?P<x>the\s+(?P<n>{v.ORDINAL}))(?=\s*(?:[.,;!?)]|$|at\b|and\b|but\b|we\b))": leave,
}
