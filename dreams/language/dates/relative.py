"""Phrases that count from the reference day: yesterday, three weeks ago, last month, the end of this quarter."""

from __future__ import annotations

import datetime as dt
import re

from dreams.language.dates import calendars
from dreams.language.dates import vocabulary as v
from dreams.language.dates.calendars import DAY, Period
from dreams.language.dates.context import Context
from dreams.language.dates.readings import Reading, Reference, Rule, leave, rule, whole, with_part

_OFFSETS = {"today": 0, "now": 0, "yesterday": -1, "tomorrow": 1, "tonight": 0}
_DIRECTIONS = {"last": -1, "previous": -1, "this": 0, "current": 0, "next": 1, "coming": 1}
_STEP = re.compile(rf"(?P<n>{v.COUNT})(?P<half>\s+and\s+a\s+half)?\s+(?P<u>{v.UNIT})\b", re.IGNORECASE)
_HALVES = {"year": (6, "month"), "day": (12, "hour")}  # a half of another unit is no whole number of days

# "Tokens will expire in 30 days" gives a lifetime, not a date.
_LIFETIME = re.compile(
    r"\b(?:expir|time ?out|ttl|reten|retr[iy]|rotat|purg|clean|refresh|renew|delet|valid|takes?\b)",
    re.IGNORECASE,
)


def _direction(word: str) -> int:
    return _DIRECTIONS[word.lower()]


def _day_word(m: re.Match[str], context: Context, ref: Reference) -> Reading:
    word = v.day_word(m["w"])
    part = "night" if word == "tonight" else m["p"]
    return with_part(calendars.day(ref.date + _OFFSETS[word] * DAY), part)


def _this_part(m: re.Match[str], context: Context, ref: Reference) -> Reading:
    return with_part(calendars.day(ref.date), m["p"])


def _last_night(m: re.Match[str], context: Context, ref: Reference) -> Reading:
    return with_part(calendars.day(ref.date - DAY), "night")


def _two_days_off(m: re.Match[str], context: Context, ref: Reference) -> Reading:
    return with_part(calendars.day(ref.date + (2 if m["w"].lower() == "tomorrow" else -2) * DAY), m["p"])


def _steps(phrase: str) -> list[tuple[int, str]]:
    """The counts and units of a phrase; ValueError for a half that is no date ("two and a half weeks")."""
    steps = []
    for m in _STEP.finditer(phrase):
        steps.append((v.number(m["n"]), v.unit(m["u"])))
        if m["half"]:
            steps.append(_half(v.unit(m["u"])))
    return steps


def _half(unit: str) -> tuple[int, str]:
    if unit not in _HALVES:
        raise ValueError(f"half a {unit} is no date")
    return _HALVES[unit]


def _clocked(moment: dt.datetime, by: dt.timedelta) -> dt.datetime:
    """Hours that passed, also over a night in which the clocks were changed."""
    if moment.tzinfo is None:
        return moment + by
    return (moment.astimezone(dt.UTC) + by).astimezone(moment.tzinfo)


def _moved(ref: Reference, steps: list[tuple[int, str]], sign: int) -> dt.date | None:
    """The day that lies so many units off; None for hours where the time of day is not known."""
    clock = dt.timedelta(
        minutes=sum(n * {"hour": 60, "minute": 1}[unit] for n, unit in steps if unit in {"hour", "minute"})
    )
    if clock and ref.clock is None:
        return None
    date = _clocked(ref.clock, sign * clock).date() if clock and ref.clock else ref.date
    # Long units first: a month before 31 March minus one day is not one day before, minus a month.
    order = ["decade", "year", "quarter", "month", "fortnight", "week", "day"]
    for n, unit in sorted((s for s in steps if s[1] in order), key=lambda s: order.index(s[1])):
        date = calendars.add_units(date, unit, sign * n)
    return date


def _counted(date: dt.date | None, steps: list[tuple[int, str]]) -> Reading | None:
    """`iso` is the day counted to; what is written is no finer than the unit counted in."""
    if date is None or not steps:
        return None
    day = calendars.day(date)
    units = {unit for _, unit in steps}
    if units <= {"month", "year", "quarter", "decade"}:
        return Reading(day, "month", calendars.unit_of(date, "month").iso, "in")
    return Reading(day, "week" if units <= {"week", "fortnight"} else "day", day.iso)


def _ago(m: re.Match[str], context: Context, ref: Reference) -> Reading | None:
    steps = _steps(m["steps"])
    if m["half"]:
        steps.append(_half(steps[-1][1]))
    if m["w"] and v.day_word(m["w"]) != "today":  # "a week ago yesterday"
        if {unit for _, unit in steps} != {"week"}:
            return None
        steps, ref = [*steps, (0, "day")], Reference(ref.date + _OFFSETS[v.day_word(m["w"])] * DAY, None)
    return _counted(_moved(ref, steps, -1), steps)


def _weeks_from_weekday(m: re.Match[str], context: Context, ref: Reference) -> Reading | None:
    """ "a week from Friday", said of what is to come, and not on a Friday."""
    wanted = v.weekday(m["wd"])
    if context.tense(m.start()) == "past" or wanted == ref.date.weekday():
        return None
    return whole(calendars.day(calendars.after(ref.date, wanted) + 7 * v.number(m["n"]) * DAY))


def _half_year_ago(m: re.Match[str], context: Context, ref: Reference) -> Reading | None:
    return _counted(calendars.add_months(ref.date, -6), [(6, "month")])


def _from_now(m: re.Match[str], context: Context, ref: Reference) -> Reading | None:
    steps = _steps(m["steps"])
    return _counted(_moved(ref, steps, 1), steps)


def _in_units(m: re.Match[str], context: Context, ref: Reference) -> Reading | None:
    """ "in 3 days" is a time to come or a duration ("done in 3 days"): only with a sign of the future."""
    if _LIFETIME.search(context.sentence(m.start())):
        return None
    if not context.alone(m.start(), m.end()) and context.tense(m.start()) != "future":
        return None
    return _from_now(m, context, ref)


def _off_anchor(m: re.Match[str], context: Context, ref: Reference) -> Reading | None:
    sign = -1 if m["d"].lower() in {"before", "prior to"} else 1
    anchor = Reference(ref.date + _OFFSETS[m["w"].lower()] * DAY, None)
    steps = _steps(m["steps"])
    return _counted(_moved(anchor, steps, sign), steps)


def _weekdays_ago(m: re.Match[str], context: Context, ref: Reference) -> Reading:
    nearest = calendars.before(ref.date, v.weekday(m["wd"]))
    return whole(calendars.day(nearest - 7 * (v.number(m["n"]) - 1) * DAY))


def _unit(m: re.Match[str], context: Context, ref: Reference) -> Reading | None:
    before, owns = context.before(m.start()), re.match(r"['’]s\b", context.text[m.end() :])
    if re.search(
        r"\bweek(?:end)?s?\s+$" if owns else r"\bweek(?:end)?s?\s+$|\bafter\s+$", before, re.IGNORECASE
    ):
        return None
    return whole(calendars.unit_of(ref.date, m["u"].lower(), _direction(m["d"])))


def _unit_beyond(m: re.Match[str], context: Context, ref: Reference) -> Reading:
    offset = -2 if m["d"] else 2
    return whole(calendars.unit_of(ref.date, m["u"].lower(), offset))


def _weekend(m: re.Match[str], context: Context, ref: Reference) -> Reading | None:
    """ "last weekend" said on a weekend, and "next weekend" said in the week, mean either of two."""
    offset, weekend = _direction(m["d"]), ref.date.weekday() >= 5
    if (offset == -1 and weekend) or offset == 1:
        return None
    return _weekend_reading(calendars.unit_of(ref.date, "weekend", offset))


def _weekend_reading(period: Period) -> Reading:
    return Reading(period, "weekend", f"the weekend of {period.start.isoformat()}", "on")


def _bare_weekend(m: re.Match[str], context: Context, ref: Reference) -> Reading | None:
    tense = context.tense(m.start())
    if tense is None or ref.date.weekday() >= 5:
        return None
    period = calendars.unit_of(ref.date, "weekend", -1 if tense == "past" else 0)
    return Reading(period, "weekend", f"the weekend of {period.start.isoformat()}")


def _weekday_of_week(m: re.Match[str], context: Context, ref: Reference) -> Reading:
    week = calendars.unit_of(ref.date, "week", _direction(m["d"]))
    return with_part(calendars.day(week.start + v.weekday(m["wd"]) * DAY), m.groupdict().get("p"))


def _weekday(m: re.Match[str], context: Context, ref: Reference) -> Reading | None:
    """last, this, next and past weekday, where the two ways in which people count agree."""
    wanted, word = v.weekday(m["wd"]), m["d"].lower().split()[-1]
    monday = ref.date.weekday()
    date: dt.date | None = None
    if word == "past" or (word in {"last", "previous"} and wanted >= monday):
        date = calendars.before(ref.date, wanted)
    elif (word in {"next", "following"} and wanted <= monday) or word == "coming":
        date = calendars.after(ref.date, wanted)
    elif word == "this" and (wanted >= monday or context.tense(m.start()) == "past"):
        date = ref.date + (wanted - monday) * DAY
    return with_part(calendars.day(date), m["p"]) if date else None


def _last_units(m: re.Match[str], context: Context, ref: Reference) -> Reading | None:
    """Days and quarters only: "the last two months" are calendar months to some and the days until now to others."""
    count, unit, sign = v.number(m["n"]), v.unit(m["u"]), m["d"].lower()
    back = sign in {"last", "past", "previous"}
    if unit == "quarter":
        this = calendars.unit_of(ref.date, unit)
        edge = calendars.unit_of(ref.date, unit, -count if back else count)
        period = calendars.span(edge.start, this.start) if back else calendars.span(this.end, edge.end)
    elif unit == "day":
        start, end = (-count, 0) if back else (1, count + 1)
        period = calendars.span(ref.date + start * DAY, ref.date + end * DAY)
    else:
        return None
    anchor = (period.end if back else period.start - DAY).isoformat()
    the = "" if re.search(r"\bthe\s+$", context.before(m.start()), re.IGNORECASE) else "the "
    words = f"{the}{m['n']} {m['u']} {'before' if back else 'after'} {anchor}"
    return Reading(period, "range", words, "in")


def _first_days(m: re.Match[str], context: Context, ref: Reference) -> Reading:
    whole_unit = calendars.unit_of(ref.date, m["u"].lower(), _direction(m["d"]))
    count = v.number(m["n"])
    first = m["which"].lower() == "first"
    start = whole_unit.start if first else whole_unit.end - count * DAY
    end = whole_unit.start + count * DAY if first else whole_unit.end
    period = calendars.span(max(start, whole_unit.start), min(end, whole_unit.end))
    phrase = re.sub(r"\s+(?:of|in)\s.*$", "", m[0], flags=re.IGNORECASE | re.DOTALL)
    return Reading(period, "range", f"{phrase} of {whole(whole_unit).words}", "in")


def _edge(m: re.Match[str], context: Context, ref: Reference) -> Reading | None:
    """The early, middle or late part of a unit: the word for the part stays, the unit is named.

    "The job runs at the end of the month" does so each month; "we will ship at the end of the month" does not.
    """
    if not m["d"] and not context.alone(m.start(), m.end()) and context.tense(m.start()) is None:
        return None
    which = m["d"].lower() if m["d"] else "this"
    base = calendars.unit_of(ref.date, m["u"].lower(), -1 if which == "past" else _direction(which))
    return edge_reading(m["e"], base)


def edge_reading(words: str, base: Period) -> Reading:
    words = re.sub(r"\s+of\s+the$", " of", words.strip(), flags=re.IGNORECASE)
    if words.lower() in {"mid", "middle"}:
        return Reading(calendars.part_of(base, "mid"), "range", f"mid-{whole(base).words}", "in")
    lone = words.lower() in {"early", "late"}
    middle = " in" if lone else ""
    written = f"{words}{middle} {whole(base).words}"
    lead = "" if lone or words.lower().endswith(" in") else "at"
    if not lead:
        return Reading(calendars.part_of(base, v.edge(words)), "range", written, "")
    if not words.lower().startswith("the ") and lead:
        written = f"the {written}"
    return Reading(calendars.part_of(base, v.edge(words)), "range", written, lead)


def _earlier(m: re.Match[str], context: Context, ref: Reference) -> Reading:
    base = calendars.unit_of(ref.date, m["u"].lower())
    earlier = m["e"].lower() == "earlier"
    period = calendars.span(base.start, ref.date) if earlier else calendars.span(ref.date + DAY, base.end)
    return Reading(period, "range", f"{m['e']} in {whole(base).words}", "")


def _nth_weekday(m: re.Match[str], context: Context, ref: Reference) -> Reading:
    base = calendars.unit_of(ref.date, "month", _direction(m["d"])).start
    nth = -1 if m["nth"].lower() == "last" else v.ordinal(m["nth"])
    return whole(calendars.day(calendars.nth_weekday(base.year, base.month, v.weekday(m["wd"]), nth)))


def _nth_day(m: re.Match[str], context: Context, ref: Reference) -> Reading:
    base = calendars.unit_of(ref.date, "month", _direction(m["d"])).start
    return whole(calendars.day(base.replace(day=v.ordinal(m["nth"]))))


_D = r"(?P<d>last|previous|this|current|next|coming)"
_STEPS = rf"(?P<steps>{v.COUNT}(?:\s+and\s+a\s+half)?\s+{v.UNIT}(?:\s*,?\s*(?:and\s+)?{v.COUNT}\s+{v.UNIT}){{0,3}})"
_P = rf"(?:\s+(?P<p>{v.PART}))?"

RULES: tuple[Rule, ...] = (
    rule(
        "other times", rf"(?:this|same)\s+(?:time|day|week|month)\s+(?:{_D}\s+\w+|yesterday|tomorrow)", leave
    ),
    rule(
        "approximate",
        rf"(?:(?:more|less|longer|older|newer|later|earlier|sooner|other|fewer)\s+than|over|under|at\s+least|at\s+most|about|"
        rf"around|almost|nearly|roughly|approximately|approx\.?|circa|up\s+to|some|~|within|every)\s*"
        rf"(?:the\s+)?{v.COUNT}\s+{v.UNIT}(?:\s+(?:ago|from\s+now))?",
        leave,
    ),
    rule(
        "or so",
        rf"(?:(?:last|past|next|this)\s+)?(?:{v.COUNT}\s+)?{v.UNIT}\s+or\s+(?:so|two|three)(?:\s+(?:ago|from\s+now))?",
        leave,
    ),
    rule(
        "count or count", rf"{v.COUNT}\s*(?:-|–|or|to)\s*{v.COUNT}\s+{v.UNIT}(?:\s+ago|\s+from\s+now)?", leave
    ),
    rule(
        "the day itself",
        r"(?:today|tomorrow|yesterday)['’]s\s+date|(?:if|whether)\s+(?:\w+\s+){0,2}(?:today|tomorrow|yesterday)",
        leave,
    ),
    rule(
        "two days off",
        rf"(?P<x>(?:the\s+)?day\s+(?:before\s+(?P<w>yesterday)|after\s+tomorrow){_P})",
        lambda m, c, r: with_part(calendars.day(r.date + (-2 if m["w"] else 2) * DAY), m["p"]),
    ),
    rule("last night two off", r"(?:the\s+)?(?:night|morning|evening)\s+before\s+last(?:\s+night)?", leave),
    rule(
        "off an anchor",
        rf"{_STEPS}\s+(?P<d>before|prior\s+to|after|from)\s+(?P<w>yesterday|today|tomorrow|now)",
        _off_anchor,
    ),
    rule(
        "weeks from a weekday",
        rf"(?P<n>{v.COUNT})\s+weeks?\s+from\s+(?P<wd>{v.WEEKDAY})",
        _weeks_from_weekday,
    ),
    rule(
        "off another day",
        rf"{v.COUNT}\s+{v.UNIT}\s+(?:before|after|from|prior\s+to|since|until|into)\s+(?:the\s+)?"
        rf"(?:(?:last|this|next|past|previous)\s+\w+|{v.WEEKDAY}|{v.MONTH}|christmas|easter|thanksgiving|new\s+year)",
        leave,
    ),
    rule("half a year ago", r"half\s+a\s+year\s+ago|(?:a\s+)?half\s+year\s+ago", _half_year_ago),
    rule("ago on a weekday", rf"{_STEPS}\s+ago\s+(?:on\s+|this\s+|last\s+|next\s+)?{v.WEEKDAY}", leave),
    rule("ago", rf"{_STEPS}(?P<half>\s+and\s+a\s+half)?\s+ago(?:\s+(?P<w>{v.DAY_WORD}))?", _ago),
    rule("from now", rf"(?:in\s+)?{_STEPS}\s+(?:from\s+now|hence)", _from_now),
    rule("in units", rf"in\s+(?:another\s+)?{_STEPS}(?!['’]|\s+(?:of|or|ago|before|after))", _in_units),
    rule("weekdays ago", rf"(?P<n>{v.COUNTED})\s+(?P<wd>{v.WEEKDAY})s?\s+ago", _weekdays_ago),
    rule(
        "nth weekday",
        rf"(?:the\s+)?(?P<nth>{v.ORDINAL}|last)\s+(?P<wd>{v.WEEKDAY})\s+(?:of|in)\s+(?:the\s+)?{_D}\s+month",
        _nth_weekday,
    ),
    rule("nth day", rf"(?:the\s+)?(?P<nth>{v.ORDINAL})\s+(?:day\s+)?of\s+(?:the\s+)?{_D}\s+month", _nth_day),
    rule(
        "first days",
        rf"(?P<which>first|last)\s+(?P<n>{v.COUNTED})\s+days\s+(?:of|in)\s+(?:the\s+)?{_D}\s+(?P<u>{v.PERIOD})",
        _first_days,
    ),
    rule(
        "weekday of week",
        rf"(?P<wd>{v.WEEKDAY}){_P}\s+(?:of\s+)?{_D}\s+week",
        _weekday_of_week,
    ),
    rule(
        "week's weekday",
        rf"(?P<d>last|this|next)\s+week(?:\s+on)?\s+(?P<wd>{v.WEEKDAY}){_P}",
        _weekday_of_week,
    ),
    rule("weekend beyond", r"(?:the\s+)?weekend\s+(?:before\s+last|after\s+next)", leave),
    rule(
        "unit beyond",
        rf"(?:the\s+)?(?P<u>{v.PERIOD})\s+(?:before\s+(?P<d>last)|after\s+next)(?:\s+(?P=u))?(?!\s+(?:\w*day|week|month|quarter|year|night)\b)",
        _unit_beyond,
    ),
    rule(
        "part of unit",
        rf"(?P<e>{v.EDGE})[\s-]+(?:(?P<d>last|previous|past|this|current|next)\s+|(?<=of\sthe\s))(?P<u>{v.PERIOD})",
        _edge,
    ),
    rule("earlier", r"(?P<e>earlier|later)\s+(?:this|in\s+the)\s+(?P<u>week|month|quarter|year)", _earlier),
    rule(
        "pieces of a period",
        rf"(?:days?|weeks?|weekends?|months?|quarters?|half|rest|remainder|part|most|middle|mid|end|start|beginning|early|late|"
        rf"mornings?|evenings?|nights?|summer|winter|spring|autumn|fall|{v.WEEKDAY}s?|{v.MONTH}|{v.ORDINAL})"
        rf"\s+(?:(?:of|in)\s+)?(?:the\s+)?(?:last|this|next|past|previous|current)\s+{v.PERIOD}",
        leave,
    ),
    rule(
        "rolling window",
        rf"(?:shows?|displays?|covers?|lists?|keeps?|returns?|filters?|includes?|aggregates?|averages?|fetch(?:es)?|loads?|"
        rf"queries|reads?|scans?|analy[sz]es?|summari[sz]es?|retains?|stores?|exports?|plots?|compares?)\s+(?:\w+\s+){{0,3}}"
        rf"(?:last|past|previous|next)\s+{v.COUNTED}\s+(?:days|quarters|weeks|months|years|hours)",
        leave,
    ),
    rule(
        "a moving window",
        rf"within\s+(?:the\s+)?(?:last|past|next)\s+{v.COUNTED}\s+{v.UNIT}",
        leave,
    ),
    rule(
        "last units",
        rf"(?P<d>last|past|previous|next|coming|following)\s+(?P<n>{v.COUNTED})\s+(?P<u>days|quarters|weeks|months|years|hours)",
        _last_units,
    ),
    rule(
        "the last unit",
        r"(?:the|a)\s+(?:last|next|previous|past|following)\s+(?:\w+day|day|week|weekend|month|quarter|year)s?(?!\s+(?:of|in)\b)",
        leave,
    ),
    rule(
        "piece of something",
        rf"(?:last|next|this)\s+(?:(?:day|week|month|quarter|year|weekend)\s+(?:of|in)\s+(?:\w+\s+){{0,2}}\w+|"
        rf"\w+day\s+of\s+(?!{v.MONTH})(?:\w+\s+){{0,2}}\w+)",
        leave,
    ),
    rule("weekend", r"(?P<d>last|this|next)\s+weekend", _weekend),
    rule("unit", rf"{_D}\s+(?P<u>{v.PERIOD})(?!\s+(?:end|or)\b)", _unit),
    rule(
        "weekday",
        rf"(?P<d>last|previous|this\s+past|past|this\s+coming|coming|this|next)\s+(?P<wd>{v.WEEKDAY_SHORT}){_P}(?!s\b|\s+(?:of|in|week)\b)",
        _weekday,
    ),
    rule("bare weekend", r"(?:on|over|during)\s+(?P<x>the\s+weekend)", _bare_weekend),
    rule("last night", r"last\s+(?:night|evening)", _last_night),
    rule("this part", r"this\s+(?P<p>morning|afternoon|evening)", _this_part),
    rule("day word", rf"(?P<w>{v.DAY_WORD}){_P}", _day_word),
)
