"""The words of the date grammar as pieces of regular expressions, and what they stand for."""

from __future__ import annotations

import re
from collections.abc import Iterable

from dreams.language.dates import calendars

_SMALL = (
    "one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen "
    "seventeen eighteen nineteen twenty"
)
_ORDINALS = (
    "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth fourteenth "
    "fifteenth sixteenth seventeenth eighteenth nineteenth twentieth twenty-first twenty-second twenty-third "
    "twenty-fourth twenty-fifth twenty-sixth twenty-seventh twenty-eighth twenty-ninth thirtieth "
    "thirty-first"
)
SMALL = {name: number for number, name in enumerate(_SMALL.split(), start=1)}
TENS = {"thirty": 30, "forty": 40, "fifty": 50, "sixty": 60, "ninety": 90}
NUMBERS = {"a": 1, "an": 1, **SMALL, **TENS}
ORDINALS = {name: number for number, name in enumerate(_ORDINALS.split(), start=1)}


def _choice(words: Iterable[str]) -> str:
    """Longest first, so that `a` never wins over `an` or `first` over `first-born` forms."""
    return "|".join(sorted((re.escape(word) for word in words), key=len, reverse=True))


COUNT = rf"(?:\d{{1,4}}|{_choice(NUMBERS)})"
COUNTED = rf"(?:\d{{1,4}}|{_choice({**SMALL, **TENS})})"
ORDINAL = rf"(?:\d{{1,2}}(?:st|nd|rd|th)|{_choice(ORDINALS)})"
UNIT = r"(?:days?|weeks?|wks?|fortnights?|months?|mths?|quarters?|years?|yrs?|decades?|hours?|hrs?|minutes?|mins?)"
PERIOD = r"(?:week|month|quarter|year)"
# As people type them; each can be nothing else.
MISSPELT = {
    "tonite": "tonight",
    **dict.fromkeys(("yesturday", "yesteday", "yesterdy", "yestrday", "yesterady", "yestarday"), "yesterday"),
    **dict.fromkeys(
        ("tomorow", "tommorow", "tommorrow", "tomorrrow", "tomorrw", "tommorw", "tomorro", "tmrw"), "tomorrow"
    ),
}
DAY_WORD = rf"(?:today|tonight|yesterday|tomorrow|{_choice(MISSPELT)})"
WEEKDAY = rf"(?:{_choice(calendars.WEEKDAYS)})"
# Short names only where a word before them makes them weekdays: "sat" and "sun" are words of their own.
WEEKDAY_SHORT = rf"(?:{_choice(calendars.WEEKDAYS)}|mon|tues?|wed|thurs?|thu|fri|sat|sun)\b\.?"
MONTH = rf"(?:{_choice(calendars.MONTHS)}|jan|feb|mar|apr|jun|jul|aug|sept?|oct|nov|dec)\b\.?"
PART = r"(?:early[- ]morning|late[- ]evening|late[- ]night|morning|mornin|afternoon|evening|night|noon|lunchtime)"
EDGE = (
    r"(?:(?:the\s+)?(?:very\s+)?(?:beginning|start|middle|end)\s+of(?:\s+the(?=\s+month\b|\s+year\b|\s+week\b|\s+quarter\b))?"
    r"|early(?:\s+in)?|mid(?:dle)?|late(?:\s+in)?)"
)
EDGES = {
    "beginning": "early",
    "start": "early",
    "early": "early",
    "mid": "mid",
    "end": "late",
    "late": "late",
}


def number(word: str) -> int:
    return int(word) if word.isdigit() else NUMBERS[word.lower()]


def ordinal(word: str) -> int:
    word = word.lower()
    return ORDINALS[word] if word in ORDINALS else int(word[:-2])


def unit(word: str) -> str:
    short = {"hr": "hour", "min": "minute", "wk": "week", "mth": "month", "yr": "year"}
    word = word.lower().rstrip("s")
    return short.get(word, word)


def day_word(word: str) -> str:
    """Today, tonight, yesterday or tomorrow, however it is spelt."""
    return MISSPELT.get(word.lower(), word.lower())


def weekday(word: str) -> int:
    return next(i for i, name in enumerate(calendars.WEEKDAYS) if name.startswith(word.lower()[:3]))


def month(word: str) -> int:
    return next(i for i, name in enumerate(calendars.MONTHS, 1) if name.startswith(word.lower()[:3]))


def edge(phrase: str) -> str:
    """Early, mid or late, from the words before a period."""
    return next(value for key, value in EDGES.items() if key in phrase.lower())
