"""The words of the date grammar as pieces of regular expressions, and what they stand for."""

from __future__ import annotations

import re
from collections.abc import Iterable

from dreams.lib.prose.dates import calendars

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
    return "|".join(sorted((re.escape(word).replace(r"\-", "[ -]") for word in words), key=len, reverse=True))


COMPOUND = r"(?:twenty|thirty|forty|fifty|sixty|ninety)[\s-](?:one|two|three|four|five|six|seven|eight|nine)"
COUNT = rf"(?:\d{{1,4}}|{COMPOUND}|{_choice(NUMBERS)})"
COUNTED = rf"(?:\d{{1,4}}|{COMPOUND}|{_choice({**SMALL, **TENS})})"
ORDINAL = rf"(?:\d{{1,2}}(?:st|nd|rd|th)|{_choice(ORDINALS)})"
UNIT = (
    r"(?:days?|weeks?|wks?|fortnights?|months?|mths?|quarters?|qtrs?|years?|yrs?|decades?|centur(?:y|ies)|hours?|hrs?|minutes?|mins?|"
    r"seconds?|secs?)"
)
QUARTER = r"(?:quarter|qtr)"
YEAR = r"(?:year|yr)"
PERIOD = rf"(?:week|month|{QUARTER}|{YEAR})"
_DIRECTIONS = {
    **dict.fromkeys(("last", "past", "previous"), -1),
    **dict.fromkeys(("this", "current"), 0),
    **dict.fromkeys(("next", "coming", "upcoming"), 1),
}
DIRECTION = rf"(?P<d>{_choice(_DIRECTIONS)})"
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
CLOCK = r"(?:(?:at|around|by|from|between)\s+)?(?:\d{1,2}(?::\d\d)?\s*(?:[ap]\.?m?\b|o['’]?\s?clock\b)|\d{1,2}:\d\d|\d{4}\s*-\s*\d{4}|noon\b|midnight\b)"
PART = r"(?:early[- ]morning|late[- ]evening|late[- ]night|morning|mornin|afternoon|evening|night|noon|lunchtime)"
# What may follow a day: "morning", ", in the morning".
PART_OF_IT = rf"(?:(?:\s+|,?\s+in\s+the\s+)(?P<p>{PART}))?"
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


def direction(word: str) -> int:
    """-1, 0 or 1, from "last", "this", "next" and their like."""
    return _DIRECTIONS[word.lower()]


def number(word: str) -> int:
    return int(word) if word.isdigit() else sum(NUMBERS[part] for part in re.split(r"[\s-]", word.lower()))


def ordinal(word: str) -> int:
    word = "-".join(word.lower().split())
    return ORDINALS[word] if word in ORDINALS else int(word[:-2])


def day_number(word: str) -> int:
    """The day of a month, said "5", "5th" or "fifth"."""
    return int(word) if word.isdigit() else ordinal(word)


def unit(word: str) -> str:
    short = {
        "hr": "hour",
        "min": "minute",
        "sec": "second",
        "wk": "week",
        "mth": "month",
        "qtr": "quarter",
        "yr": "year",
    }
    word = word.lower().rstrip("s")
    return short.get(word, "century" if word.startswith("centur") else word)


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
