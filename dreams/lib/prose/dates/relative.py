"""Phrases for a day or period relative to the reference day: yesterday, last month, the last two weeks, part of a year. Pure."""

import datetime as dt
import re
from dataclasses import replace

from dreams.lib.prose.dates import calendars, counting, vocabulary as v
from dreams.lib.prose.dates.calendars import DAY, Period
from dreams.lib.prose.dates.context import Context
from dreams.lib.prose.dates.vocabulary import DayReading, Reference, Table, leave, whole, with_part


def _last_units(m: re.Match[str], context: Context, ref: Reference) -> DayReading:
    count, unit, sign = v.number(m["n"]), v.unit(m["u"]), v.direction(m["d"])
    period = _shared(ref.date, unit, sign * count)
    anchor = ref.date
    if unit == "quarter":
        anchor = period.end if sign < 0 else period.start - DAY
    the = "" if re.search(r"\bthe\s+$", context.before(m.start()), re.IGNORECASE) else "the "
    words = f"{the}{m['n']} {m['u']} {'before' if sign < 0 else 'after'} {anchor.isoformat()}"
    return DayReading(period, "range", words, "in", "firm" if unit == "quarter" else "tensed")


def _shared(date: dt.date, unit: str, count: int) -> Period:
    """`count` units, before the day if negative. Quarters are never counted from a day."""
    this, edge = calendars.unit_of(date, unit), calendars.unit_of(date, unit, count)
    start, end = (edge.start, this.start) if count < 0 else (this.end, edge.end)
    counted = calendars.add_units(date, unit, count)
    if unit in {"quarter", "day"}:
        return calendars.span(start, end)
    return calendars.span(max(start, counted), end) if count < 0 else calendars.span(start, min(end, counted))


_WINDOWS: Table = {
    rf"(?P<d>last|past|previous|next|coming|upcoming)\s+(?P<n>{v.COUNTED})\s+(?P<u>(?:day|week|wk|month|{v.QUARTER}|{v.YEAR})s)": _last_units,
    rf"(?:last|past|previous|next|coming|following)\s+{v.COUNTED}\s+{v.UNIT}": leave,
}


def _of_direction(m: re.Match[str], ref: Reference) -> Period:
    return calendars.unit_of(ref.date, v.unit(m["u"]), v.direction(m["d"]))


def _pieces(base: Period, unit: str) -> list[Period]:
    """The days or weeks of a period, in order; ValueError for weeks of anything but a year."""
    if unit == "day":
        return [calendars.day(base.start + n * DAY) for n in range((base.end - base.start).days)]
    if base.kind != "year":
        raise ValueError("only a year has numbered weeks")
    first = dt.date.fromisocalendar(base.start.year, 1, 1)
    following = dt.date.fromisocalendar(base.start.year + 1, 1, 1)
    return [calendars.unit_of(first + 7 * n * DAY, "week") for n in range((following - first).days // 7)]


def _nth(m: re.Match[str], context: Context, ref: Reference) -> DayReading | None:
    units = _pieces(_of_direction(m, ref), v.unit(m["piece"]))
    place = len(units) if m["nth"].lower() == "last" else v.ordinal(m["nth"])
    return whole(units[place - 1]) if place <= len(units) else None


def _several(m: re.Match[str], context: Context, ref: Reference) -> DayReading | None:
    base, count = _of_direction(m, ref), v.number(m["n"])
    units = _pieces(base, v.unit(m["piece"]))
    if count > len(units):
        return None
    taken = units[:count] if m["which"].lower() == "first" else units[-count:]
    period = calendars.span(taken[0].start, taken[-1].end)
    return DayReading(period, "range", f"{m['which']} {m['n']} {m['piece']} of {whole(base).words}", "in")


_PIECES: Table = {
    rf"(?:the\s+)?(?P<nth>{v.ORDINAL}|last)\s+(?P<piece>day|week)\s+(?:(?:of|in)\s+)?(?:the\s+)?{v.DIRECTION}\s+(?P<u>{v.PERIOD})": _nth,
    rf"(?P<which>first|last)\s+(?P<n>{v.COUNTED})\s+(?P<piece>days|weeks)\s+(?:of|in)\s+(?:the\s+)?{v.DIRECTION}\s+(?P<u>{v.PERIOD})": _several,
}


def _day_word(m: re.Match[str], context: Context, ref: Reference) -> DayReading:
    word = v.day_word(m["w"])
    part = "night" if word == "tonight" else m["p"]
    return with_part(calendars.day(ref.date + counting.OFFSETS[word] * DAY), part)


def _unit(m: re.Match[str], context: Context, ref: Reference) -> DayReading | None:
    """A unit; "the coming week" may be the rest of this one."""
    unit = v.unit(m["u"])
    if unit == "week" and m["d"].lower().endswith("coming"):
        return None
    before, owns = context.before(m.start()), re.match(r"['’]s\b", context.text[m.end() :])
    if re.search(
        r"\bweek(?:end)?s?\s+$" if owns else r"\bweek(?:end)?s?\s+$|\bafter\s+$", before, re.IGNORECASE
    ):
        return None
    return whole(calendars.unit_of(ref.date, unit, v.direction(m["d"])))


def _weekend(m: re.Match[str], context: Context, ref: Reference) -> DayReading | None:
    """ "last weekend" on a weekend, and "next weekend" during the week, are ambiguous."""
    word, weekend = m["d"].split()[-1].lower(), ref.date.weekday() >= 5
    offset = int(weekend) if word == "coming" else v.direction(word)
    if word != "coming" and ((offset == -1 and weekend) or offset == 1):
        return None
    period = calendars.unit_of(ref.date, "weekend", offset)
    return DayReading(period, "weekend", f"the weekend of {period.start.isoformat()}", "on")


def _one_day(m: re.Match[str], context: Context, ref: Reference) -> DayReading | None:
    """ "I'll be back next day"; not "his last day", "the next day", "every last day"."""
    if re.search(
        r"\b(?:the|an?|my|his|her|our|their|your|its|every|each|before|after|until|of)\s+$",
        context.before(m.start()),
        re.IGNORECASE,
    ):
        return None
    return whole(calendars.day(ref.date + v.direction(m["d"]) * DAY))


def _weekday(m: re.Match[str], context: Context, ref: Reference) -> DayReading | None:
    """last, this, next and past weekday, if both common meanings agree.

    On a Thursday "next Friday" is the one in eight days, as people would say "tomorrow" for the nearer one.
    """
    wanted, word = v.weekday(m["wd"]), m["d"].lower().split()[-1]
    today, tense = ref.date.weekday(), context.tense(m.start())
    before, after = calendars.before(ref.date, wanted), calendars.after(ref.date, wanted)
    date: dt.date | None = None
    if word == "past" or (word in {"last", "previous"} and wanted >= today):
        date = before
    elif word in {"coming", "upcoming"} or (word == "next" and wanted <= today):
        date = after
    elif word in {"last", "previous"} and before == ref.date - DAY:
        date = before - 7 * DAY
    elif word == "next" and after == ref.date + DAY:
        date = after + 7 * DAY
    elif word == "this" and (wanted > today or (wanted < today and tense == "past")):
        date = ref.date + (wanted - today) * DAY
    return with_part(calendars.day(date), m["p"]) if date else None


def _edge(m: re.Match[str], context: Context, ref: Reference) -> DayReading | None:
    """The early, middle or late part of a unit; only the unit is replaced."""
    base = calendars.unit_of(ref.date, v.unit(m["u"]), v.direction(m["d"] or "this"))
    reading = edge_reading(m["e"], base)
    return reading if m["d"] else replace(reading, hold="tensed")


def edge_reading(words: str, base: Period) -> DayReading:
    words = re.sub(r"\s+of\s+the$", " of", words.strip(), flags=re.IGNORECASE)
    period, low, name = calendars.part_of(base, v.edge(words)), words.lower(), whole(base).words
    if low in {"mid", "middle"}:
        return DayReading(period, "range", f"mid-{name}", "in")
    if low in {"early", "late"}:
        return DayReading(period, "range", f"{words} in {name}", "")
    if low.endswith(" in"):
        return DayReading(period, "range", f"{words} {name}", "")
    return DayReading(period, "range", f"{'' if low.startswith('the ') else 'the '}{words} {name}", "at")


def _earlier(m: re.Match[str], context: Context, ref: Reference) -> DayReading:
    base, earlier = calendars.unit_of(ref.date, v.unit(m["u"])), m["e"].lower() == "earlier"
    period = calendars.span(base.start, ref.date) if earlier else calendars.span(ref.date + DAY, base.end)
    return DayReading(period, "range", f"{m['e']} in {whole(base).words}", "")


def _nth_weekday(m: re.Match[str], context: Context, ref: Reference) -> DayReading:
    base = calendars.unit_of(ref.date, "month", v.direction(m["d"])).start
    nth = -1 if m["nth"].lower() == "last" else v.ordinal(m["nth"])
    return whole(calendars.day(calendars.nth_weekday(base.year, base.month, v.weekday(m["wd"]), nth)))


_END = r"(?=\s*(?:[.,;!?)]|$))"

RULES: Table = {
    rf"(?:this|same)\s+(?:time|day|week|month|period|quarter)\s+(?:{v.DIRECTION}\s+\w+|yesterday|tomorrow)": leave,
    **counting.RULES,
    r"(?:today|tomorrow|yesterday)['’]s\s+date": leave,
    rf"(?P<x>(?:the\s+)?day\s+(?:before\s+(?P<w>yesterday)|after\s+tomorrow){v.PART_OF_IT})": lambda m, c, r: (
        with_part(calendars.day(r.date + (-2 if m["w"] else 2) * DAY), m["p"])
    ),
    rf"(?:{v.DAY_WORD}|{v.WEEKDAY})\s+week": leave,
    r"(?:the|a)\s+last\s+(?:night|evening)": leave,
    r"(?:the\s+)?(?:night|morning|evening)\s+before\s+last(?:\s+night)?": leave,
    **counting.RANGES,
    **_PIECES,
    rf"(?:the\s+)?(?P<nth>{v.ORDINAL}|last)\s+(?P<wd>{v.WEEKDAY})(?:\s+{v.PART}|\s+{v.CLOCK}|\s+to|\s+-)*\s+(?:of|in)\s+(?:the\s+)?{v.DIRECTION}\s+month": _nth_weekday,
    rf"{v.DIRECTION}\s+week(?:['’]s|,?\s+(?:on|from|between))?,?\s+{v.WEEKDAY}(?:\s+(?:and|to)\s+{v.WEEKDAY})?": leave,
    r"(?:the\s+)?weekend\s+(?:before\s+last|after\s+next)": leave,
    rf"(?:the\s+)?(?P<u>{v.PERIOD})\s+(?:before\s+(?P<d>last)|after\s+(?:the\s+)?next)(?!\s+\w*(?:day|week|month|quarter|year|night)\b)": lambda m, c, r: (
        whole(calendars.unit_of(r.date, v.unit(m["u"]), -2 if m["d"] else 2))
    ),
    rf"(?P<e>{v.EDGE})[\s-]+(?:{v.DIRECTION}\s+|(?<=of\sthe\s)|(?<=of\s)(?={v.PERIOD}{_END}))(?P<u>{v.PERIOD})": _edge,
    rf"(?P<e>earlier|later)\s+(?:this|in\s+the)\s+(?P<u>{v.PERIOD})(?!\s+of\b)": _earlier,
    rf"(?:days?|weeks?|weekends?|months?|quarters?|half|rest|remainder|part|most|middle|mid|end|start|beginning|early|late|"
    rf"mornings?|evenings?|nights?|summer|winter|spring|autumn|fall|{v.WEEKDAY}s?|{v.MONTH}|{v.ORDINAL})"
    rf"\s+(?:(?:of|in)\s+)?(?:the\s+)?(?:last|this|next|past|previous|current)\s+{v.PERIOD}": leave,
    **_WINDOWS,
    rf"(?<!the\s)(?<!\w['’]s\s)(?P<d>last|past|previous|next)\s+day{_END}": _one_day,
    r"(?:the|a)\s+(?:last|next|previous|past|following)\s+(?:\w+day|day|week|weekend|month|quarter|year)s?(?!\s+(?:of|in)\b)": leave,
    rf"(?:last|next|this)\s+(?:(?:day|week|month|quarter|year|weekend)\s+(?:of|in)\s+(?:\w+\s+){{0,2}}\w+|"
    rf"\w+day\s+of\s+(?!{v.MONTH})(?:\w+\s+){{0,2}}\w+)": leave,
    r"(?P<d>last|this(?:\s+(?:coming|past))?|next|coming)\s+week-?end": _weekend,
    rf"(?!past\b){v.DIRECTION}\s+(?:calendar\s+)?(?P<u>{v.PERIOD})(?!\s+(?:end\b|or\s+(?:so|later|longer|two|the|month|week|quarter|year)\b))": _unit,
    rf"(?P<d>last|previous|this\s+past|past|this\s+(?:coming|upcoming)|coming|upcoming|this|next)\s+(?P<wd>{v.WEEKDAY_SHORT}){v.PART_OF_IT}(?!s\b|\s+(?:of|in|week)\b)": _weekday,
    r"last\s+(?:night|evening)": lambda m, c, r: with_part(calendars.day(r.date - DAY), "night"),
    r"this\s+(?P<p>morning|afternoon|evening|night)": lambda m, c, r: with_part(
        calendars.day(r.date), m["p"]
    ),
    rf"(?P<w>{v.DAY_WORD}){v.PART_OF_IT}": _day_word,
}
