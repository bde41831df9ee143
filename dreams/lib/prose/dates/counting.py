"""Phrases that count units from the reference day, and ranges: three weeks ago, a week from Friday, "from the 4th to the 22nd". Pure."""

import datetime as dt
import re

from dreams.lib.prose.dates import calendars, vocabulary as v
from dreams.lib.prose.dates.calendars import DAY
from dreams.lib.prose.dates.context import Context, DateSpan
from dreams.lib.prose.dates.vocabulary import DayReading, Reference, Table, chosen, leave

OFFSETS = {"today": 0, "now": 0, "yesterday": -1, "tomorrow": 1, "tonight": 0}
_STEP = re.compile(rf"(?P<n>{v.COUNT})\s+(?P<u>{v.UNIT})\b", re.IGNORECASE)
_SECONDS = {"hour": 3600, "minute": 60, "second": 1}

# "Tokens will expire in 30 days" gives a lifetime, not a date.
_LIFETIME = re.compile(
    r"\b(?:expir|time ?out|ttl|reten|retr[iy]|rotat|purg|clean|refresh|renew|delet|valid|takes?\b)",
    re.IGNORECASE,
)


def steps_of(phrase: str) -> list[tuple[int, str]]:
    """The counts and units of a phrase."""
    return [(v.number(m["n"]), v.unit(m["u"])) for m in _STEP.finditer(phrase)]


def _clocked(moment: dt.datetime, by: dt.timedelta) -> dt.datetime:
    """A moment some hours away, correct across clock changes."""
    if moment.tzinfo is None:
        return moment + by
    return (moment.astimezone(dt.UTC) + by).astimezone(moment.tzinfo)


def moved(ref: Reference, steps: list[tuple[int, str]], sign: int) -> dt.date | None:
    """The day so many units away; None for hours if the time of day is unknown."""
    clock = dt.timedelta(seconds=sum(n * _SECONDS[unit] for n, unit in steps if unit in _SECONDS))
    if clock and ref.clock is None:
        return None
    date = _clocked(ref.clock, sign * clock).date() if clock and ref.clock else ref.date
    # Long units first: the order changes the result at the end of a month.
    order = ["century", "decade", "year", "quarter", "month", "fortnight", "week", "day"]
    for n, unit in sorted((s for s in steps if s[1] in order), key=lambda s: order.index(s[1])):
        date = calendars.add_units(date, unit, sign * n)
    return date


def _counted(date: dt.date | None, steps: list[tuple[int, str]]) -> DayReading | None:
    """`iso` is the day; the written text is not more precise than the unit."""
    if date is None or not steps:
        return None
    day = calendars.day(date)
    units = {unit for _, unit in steps}
    if units <= {"month", "year", "quarter", "decade", "century"}:
        return DayReading(day, "month", calendars.unit_of(date, "month").iso, "in")
    return DayReading(day, "week" if units <= {"week", "fortnight"} else "day", day.iso)


def _ago(m: re.Match[str], context: Context, ref: Reference) -> DayReading | None:
    steps = steps_of(m["steps"])
    return _counted(moved(ref, steps, -1), steps)


def _from_now(m: re.Match[str], context: Context, ref: Reference) -> DayReading | None:
    steps = steps_of(m["steps"])
    return _counted(moved(ref, steps, 1), steps)


def _in_units(m: re.Match[str], context: Context, ref: Reference) -> DayReading | None:
    """ "in 3 days" is a future day, but skipped if it may be a lifetime ("expires in 3 days")."""
    if _LIFETIME.search(context.sentence(m.start())):
        return None
    return _from_now(m, context, ref)


def _off_anchor(m: re.Match[str], context: Context, ref: Reference) -> DayReading | None:
    sign = -1 if m["d"].lower() in {"before", "prior to"} else 1
    word = m["w"].lower().split()[-1]
    anchor = ref if word == "now" else Reference(ref.date + OFFSETS[word] * DAY, None)
    steps = steps_of(m["steps"])
    return _counted(moved(anchor, steps, sign), steps)


_STEPS = rf"(?P<steps>{v.COUNT}\s+{v.UNIT}(?:\s*,?\s*(?:and\s+)?{v.COUNT}\s+{v.UNIT}){{0,6}})(?!\s*[+\d])"

RULES: Table = {
    rf"(?:(?:more|less|longer|older|newer|later|earlier|sooner|other|fewer)\s+than|over|under|at\s+least|at\s+most|about|"
    rf"around|almost|nearly|roughly|more\s+or\s+less|approximately|approx\.?|circa|up\s+to|some|~|within|every)\s*"
    rf"(?:the\s+)?{v.COUNT}\s+{v.UNIT}(?:\s+(?:ago|from\s+now))?": leave,
    rf"(?:(?:last|past|next|this)\s+)?(?:{v.COUNT}\s+)?{v.UNIT}\s+or\s+(?:so|two|three)(?:\s+(?:ago|from\s+now))?": leave,
    rf"(?:hundred|thousand)(?:\s+and)?[\s-]+{v.COUNT}\s+{v.UNIT}(?:\s+ago|\s+from\s+now)?": leave,
    rf"(?!{v.COMPOUND}){v.COUNT}\s*(?:-|–|or|to)\s*{v.COUNT}\s+{v.UNIT}(?:\s+ago|\s+from\s+now)?": leave,
    rf"{_STEPS}\s+(?P<d>before|prior\s+to|after|from)\s+(?P<w>yesterday|today|tomorrow|(?:right\s+)?now)": _off_anchor,
    rf"{v.COUNT}\s+{v.UNIT}\s+(?:before|after|from|prior\s+to|since|until|into)\s+(?:the\s+)?"
    rf"(?:(?:last|this|next|past|previous)\s+\w+|{v.WEEKDAY}|{v.MONTH}|christmas|easter|thanksgiving|new\s+year)": leave,
    r"(?:(?:just\s+)?an?\s+(?:minute|min|second|sec|moment)\s+ago|in\s+an?\s+(?:second|sec|moment))": leave,
    rf"{_STEPS}\s+ago\s+(?:(?:on\s+|this\s+|last\s+|next\s+)?{v.WEEKDAY}|{v.DAY_WORD})": leave,
    rf"half[\s-](?:an?\s+)?{v.UNIT}(?:\s+ago|\s+from\s+now)?": leave,
    rf"{_STEPS}\s+ago": _ago,
    rf"(?:in\s+)?{_STEPS}\s+(?:from\s+(?:right\s+)?now|hence|in\s+the\s+future)": _from_now,
    rf"in\s+(?:another\s+)?{_STEPS}(?!['’]|\s+(?:of|or|ago|before|after|since|from))": _in_units,
}

_TO = r"(?P<to>\s*[-–—]\s*|\s+(?:to|till|untill?|through|thru|and)\s+)(?:the\s+)?"
_JOINS = re.compile(_TO, re.IGNORECASE)
_OPEN = re.compile(rf"{_TO}(?:{v.MONTH}|{v.WEEKDAY}|{v.ORDINAL}|\d{{1,2}}\b(?!:))", re.IGNORECASE)
_ENDS = re.compile(
    rf"(?:\d{{4}}(?:[-/.]\w+){{1,2}}|\b\d{{1,2}}[-/.]\d{{1,2}}(?:[-/.]\d+)?|{v.MONTH}\s+\d\S*(?:\s+\d{{4}})?){_TO}$",
    re.IGNORECASE,
)
_FROM = re.compile(r"\b(?:from|between)\s+(?:the\s+)?$", re.IGNORECASE)
_MONTH = re.compile(rf"\b{v.MONTH}", re.IGNORECASE)
_BETWEEN = re.compile(r"\bbetween\s+(?:the\s+)?$", re.IGNORECASE)
_DAY = rf"(?:{v.ORDINAL}|0?[1-9]|[12]\d|3[01])"


def joins(text: str, before: str) -> bool:
    """Whether `text` between two days makes a range; "and" only after "between"."""
    if not _JOINS.fullmatch(text):
        return False
    return not text.strip().lower().startswith("and") or bool(_BETWEEN.search(before))


def is_half(context: Context, span: DateSpan) -> bool:
    """Whether it is one end of a range whose other end is not understood: "Aug 8 - Aug 12, 2014", "2014-08-08 to today"."""
    before, after = context.before(span.start), context.text[span.end : span.end + 40]
    begins = _OPEN.match(after) and (_FROM.search(before) or _MONTH.search(span.text))
    return span.granularity != "range" and bool(begins or _ENDS.search(before))


def range_of(start: dt.date, end: dt.date, word: str) -> DayReading:
    """The range; ValueError if the first day is not before the last."""
    words = f"{start.isoformat()} {word.strip() or 'to'} {end.isoformat()}"
    return DayReading(calendars.span(start, end), "range", words, "")


def _of_a_named_month(m: re.Match[str], context: Context, ref: Reference) -> DayReading | None:
    month, first, last = v.month(m["m"]), v.day_number(m["a"]), v.day_number(m["b"])
    period = chosen(
        lambda year: calendars.span(dt.date(year, month, first), dt.date(year, month, last)), m, context, ref
    )
    joined = period and joins(m["to"], context.before(m.start("a")))
    return range_of(period.start, period.end, m["to"]) if period and joined else None


_DAYS = rf"(?P<a>{_DAY}){_TO}(?P<b>{_DAY})"
_NO_NUMBER = r"(?<!\$)(?<!€)(?<![\d.,/:-])(?<!\d\s)"
_NO_TIME = rf"(?!\s*(?:[/:%$€]|[.,]?\s*\d|(?:am|pm)\b|{v.MONTH}|{v.UNIT}\b))"

RANGES: Table = {
    rf"{_NO_NUMBER}(?P<x>(?:the\s+)?{_DAYS}\s+(?:of\s+)?(?P<m>{v.MONTH}))(?!,?\s+\d)": _of_a_named_month,
    rf"(?P<x>(?P<m>{v.MONTH})\s+(?:between\s+)?(?:the\s+)?{_DAYS}){_NO_TIME}": _of_a_named_month,
}
