"""The words of the date grammar as regular expressions, and the parts of its rules. Pure."""

import datetime as dt
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from dreams.lib.prose.dates.calendars import Period
from dreams.lib.prose.words import CARDINALS, MONTH_NAME, MONTH_NUMBERS, WEEKDAYS

if TYPE_CHECKING:
    from dreams.lib.prose.dates.context import Context, Hold

_ORDINALS = (
    "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth fourteenth "
    "fifteenth sixteenth seventeenth eighteenth nineteenth twentieth twenty-first twenty-second twenty-third "
    "twenty-fourth twenty-fifth twenty-sixth twenty-seventh twenty-eighth twenty-ninth thirtieth "
    "thirty-first"
)
NUMBERS = {"a": 1, "an": 1, **CARDINALS}
ORDINALS = {name: number for number, name in enumerate(_ORDINALS.split(), start=1)}


def _choice(words: Iterable[str]) -> str:
    """An alternation, longest first, so that `an` is tried before `a`."""
    return "|".join(sorted((re.escape(word).replace(r"\-", "[ -]") for word in words), key=len, reverse=True))


COMPOUND = r"(?:twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety)[\s-](?:one|two|three|four|five|six|seven|eight|nine)"
COUNT = rf"(?:\d{{1,4}}|{COMPOUND}|{_choice(NUMBERS)})"
COUNTED = rf"(?:\d{{1,4}}|{COMPOUND}|{_choice(CARDINALS)})"
ORDINAL = rf"(?:\d{{1,2}}(?:st|nd|rd|th)|{_choice(ORDINALS)})"
UNIT = (
    r"(?:days?|weeks?|wks?|fortnights?|months?|mths?|quarters?|qtrs?|years?|yrs?|decades?|centur(?:y|ies)|hours?|hrs?|minutes?|mins?|"
    r"seconds?|secs?)"
)
_SHORT_UNITS = {
    "hr": "hour", "min": "minute", "sec": "second", "wk": "week", "mth": "month", "qtr": "quarter", "yr": "year",
}  # fmt: skip
QUARTER = r"(?:quarter|qtr)"
YEAR = r"(?:year|yr)"
PERIOD = rf"(?:week|month|{QUARTER}|{YEAR})"
_DIRECTIONS = {
    **dict.fromkeys(("last", "past", "previous"), -1),
    **dict.fromkeys(("this", "current"), 0),
    **dict.fromkeys(("next", "coming", "upcoming"), 1),
}
DIRECTION = rf"(?P<d>{_choice(_DIRECTIONS)})"
# Unambiguous short forms.
MISSPELT = {
    "tonite": "tonight",
    **dict.fromkeys(("yesturday", "yesteday", "yesterdy", "yestrday", "yesterady", "yestarday"), "yesterday"),
    **dict.fromkeys(
        ("tomorow", "tommorow", "tommorrow", "tomorrrow", "tomorrw", "tommorw", "tomorro", "tmrw"), "tomorrow"
    ),
}
DAY_WORD = rf"(?:today|tonight|yesterday|tomorrow|{_choice(MISSPELT)})"
WEEKDAY = rf"(?:{_choice(WEEKDAYS)})"
# Short names that need a word before them: "sat" and "sun" are also other words.
WEEKDAY_SHORT = rf"(?:{_choice(WEEKDAYS)}|mon|tues?|wed|thurs?|thu|fri|sat|sun)\b\.?"
MONTH = rf"(?:{MONTH_NAME})\b\.?"
CLOCK = r"(?:(?:at|around|by|from|between)\s+)?(?:\d{1,2}(?::\d\d)?\s*(?:[ap]\.?m?\b|o['’]?\s?clock\b)|\d{1,2}:\d\d|\d{4}\s*-\s*\d{4}|noon\b|midnight\b)"
PART = r"(?:early[- ]morning|late[- ]evening|late[- ]night|morning|mornin|afternoon|evening|night|noon|lunchtime)"
# What may follow a day: "morning", ", in the morning".
PART_OF_IT = rf"(?:(?:\s+|,?\s+in\s+the\s+)(?P<p>{PART}))?"
EDGE = (
    r"(?:(?:the\s+)?(?:very\s+)?(?:beginning|start|middle|end)\s+of(?:\s+the(?=\s+month\b|\s+year\b|\s+week\b|\s+quarter\b))?"
    r"|early(?:\s+in)?|mid(?:dle)?|late(?:\s+in)?)"
)
EDGES = {
    "beginning": "early", "start": "early", "early": "early", "mid": "mid", "end": "late", "late": "late",
}  # fmt: skip


def direction(word: str) -> int:
    """-1, 0 or 1, from "last", "this", "next" and their like."""
    return _DIRECTIONS[word.lower()]


def number(word: str) -> int:
    return int(word) if word.isdigit() else sum(NUMBERS[part] for part in re.split(r"[\s-]", word.lower()))


def ordinal(word: str) -> int:
    word = "-".join(word.lower().split())
    return ORDINALS[word] if word in ORDINALS else int(word[:-2])


def day_number(word: str) -> int:
    """The day of a month: "5", "5th" or "fifth"."""
    return int(word) if word.isdigit() else ordinal(word)


def unit(word: str) -> str:
    word = word.lower().rstrip("s")
    return _SHORT_UNITS.get(word, "century" if word.startswith("centur") else word)


def day_word(word: str) -> str:
    """Today, tonight, yesterday or tomorrow, in any spelling."""
    return MISSPELT.get(word.lower(), word.lower())


def weekday(word: str) -> int:
    return next(i for i, name in enumerate(WEEKDAYS) if name.startswith(word.lower()[:3]))


def month(word: str) -> int:
    return MONTH_NUMBERS[word.lower().rstrip(".")]


def edge(phrase: str) -> str:
    """Early, mid or late, from the words before a period."""
    return next(value for key, value in EDGES.items() if key in phrase.lower())


@dataclass(frozen=True, slots=True)
class Reference:
    """The day that a text counts from, with its time if known."""

    date: dt.date
    clock: dt.datetime | None


@dataclass(frozen=True, slots=True)
class DayReading:
    """`words` replace the phrase after a preposition; `lead` is added if there is none."""

    period: Period
    granularity: str
    words: str
    lead: str = "on"
    hold: "Hold" = "firm"


Reader = Callable[[re.Match[str], "Context", Reference], DayReading | None]


#: Patterns with their readers; where two overlap the first counts. If a reader returns None (or raises ValueError or
#: OverflowError), the phrase is skipped, and no later rule may read a part of it, which would be a wrong date. The group `x`,
#: if there is one, is the phrase itself; the rest is context.
Table = Mapping[str, Reader]


def rules(table: Table) -> tuple[tuple[re.Pattern[str], Reader], ...]:
    return tuple(
        (re.compile(rf"(?<!\w)(?:{each})(?!\w)", re.IGNORECASE), read) for each, read in table.items()
    )


def whole(period: Period) -> DayReading:
    """The simple reading: "on" a day, "in" anything longer."""
    words = f"the week of {period.start.isoformat()}" if period.kind == "week" else period.iso
    return DayReading(period, period.kind, words, "on" if period.kind == "day" else "in")


def with_part(period: Period, part: str | None) -> DayReading:
    """A day, or a part of one: "the morning of 2026-03-01"."""
    if not part:
        return whole(period)
    plain = re.sub(r"\W+", " ", part.lower()).replace("mornin ", "morning ").strip()
    if plain in {"noon", "lunchtime"}:
        return DayReading(period, "subday", f"{period.iso} at {plain}", "on")
    return DayReading(period, "subday", f"the {plain} of {period.iso}", "on")


def leave(match: re.Match[str], context: "Context", reference: Reference) -> None:
    """The reader of phrases that must not be changed."""
    return


_SINCE = re.compile(r"\bsince\s+(?:the\s+)?$", re.IGNORECASE)
SINCE = re.compile(r"since\s", re.IGNORECASE)
# "In January 2025 we had three, in March two": the year may apply to both.
_YEAR_SAID = re.compile(
    rf"\b(?:{MONTH_NAME})\.?,?\s+(?:\d{{1,2}}(?:st|nd|rd|th)?,?\s+)?(?:19|20)\d\d\b|\b(?:in|since)\s+(?:19|20)\d\d\b",
    re.IGNORECASE,
)
# Within these limits the year is clear if only one date fits. Days more than a month ago are rarely named without a past tense.
BACK, AHEAD = dt.timedelta(days=31), dt.timedelta(days=91)
HALF_A_YEAR = dt.timedelta(days=183)  # a date alone is in the future, if that is nearer


def chosen(
    years: Callable[[int], Period], m: re.Match[str], context: "Context", ref: Reference
) -> Period | None:
    """The period in the year that fits the tense; without tense the only near one."""
    sentence = context.sentence(m.start())
    if _YEAR_SAID.search(sentence):
        return None
    found = []
    for year in range(ref.date.year - 1, ref.date.year + 2):
        try:
            found.append(years(year))
        except ValueError:  # 29 February
            continue
    since = _SINCE.search(context.before(m.start())) or SINCE.match(m[0])
    tense = "past" if since else context.tense(m.start())
    if tense == "past":
        return max((p for p in found if p.start <= ref.date), key=lambda p: p.start, default=None)
    if tense == "future":
        return min((p for p in found if p.end > ref.date), key=lambda p: p.start, default=None)
    if context.customary(m.start()):
        return None
    ahead = HALF_A_YEAR if context.alone(m.start(), m.end()) else AHEAD
    near = [p for p in found if p.start - ahead <= ref.date < p.end + BACK]
    return near[0] if len(near) == 1 else None
