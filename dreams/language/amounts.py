"""Numbers with what they count, lengths of time and how often a thing happens: what two texts may not give differently. Pure."""

from __future__ import annotations

import functools
import re
from dataclasses import dataclass
from typing import TypeVar

from dreams.language import lexicon

_SECONDS = {
    "ms": 0.001, "millisecond": 0.001, "s": 1, "sec": 1, "second": 1, "m": 60, "min": 60, "minute": 60, "h": 3600, "hr": 3600,
    "hour": 3600, "d": 86400, "day": 86400, "week": 604800, "fortnight": 1209600, "month": 2592000, "quarter": 7776000,
    "year": 31536000,
}  # fmt: skip
_WORDS = "|".join(word for word, value in lexicon.NUMBER_WORDS.items() if value.isdigit())
_UNIT = "|".join(sorted((f"{unit}s?" if len(unit) > 2 else unit for unit in _SECONDS), key=len, reverse=True))
_LONG_UNIT = "|".join(
    f"{unit}s?" for unit in _SECONDS if len(unit) > 3 and unit != "second"
)  # "a second signature" is none
_LENGTH = re.compile(
    rf"(?<![\w.-])(?:(\d+(?:\.\d+)?)(?:[\s-]?|\s(?:idle|full|more|whole|working|calendar|business|consecutive)\s)({_UNIT})|(one|half an?|an?|{_WORDS})[\s-]({_LONG_UNIT}|seconds))\b",
    re.IGNORECASE,
)
_OFTEN = re.compile(
    r"\b(hourly|daily|nightly|weekly|monthly|quarterly|yearly|annually)\b"
    r"|(?:\b(?:every|each|per|once an?|times an?|requests an?)\s+|/)(second|minute|hour|day|night|morning|week|month|quarter|year|sunday|"
    r"monday|tuesday|wednesday|thursday|friday|saturday|min|sec|h|s)\b",
    re.IGNORECASE,
)
_PERIODS = {
    "hourly": "hour", "daily": "day", "nightly": "day", "night": "day", "morning": "day", "weekly": "week", "monthly": "month",
    "quarterly": "quarter", "yearly": "year", "annually": "year", "min": "minute", "sec": "second", "h": "hour", "s": "second",
}  # fmt: skip

_Value = TypeVar("_Value")


_BOUND = re.compile(
    r"\b(?:(?P<from>more than|over|above|at least|min(?:imum)?(?: of)?|larger than|longer than|older than|from|greater than|bigger than|"
    r"exceeds?|exceeding)|(?P<to>less than|fewer than|under|below|at most|no more than|not more than|up to|max(?:imum)?(?: of)?|"
    r"smaller than|shorter than|younger than))\s+[$€£]?(?P<number>\d+(?:[.,]\d+)*)",
    re.IGNORECASE,
)
_REFUSING = re.compile(
    r"\b(?:fail|reject|refus|block|stop|den[yi]|forbid|forbidden|abort|warn|alert|not|never|no|can't|don't|without|avoid|drop|cut)",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Amounts:
    """`bounds` are numbers that a thing is above (True) or below (False)."""

    lengths: frozenset[float]  # seconds
    periods: frozenset[str]
    bounds: frozenset[
        tuple[str, bool]
    ]  # none where something is refused: "under 300 KB", "fails above 300 KB"


@functools.lru_cache(maxsize=20_000)
def amounts(text: str) -> Amounts:
    return Amounts(
        frozenset(
            _value(match[1] or match[3]) * _SECONDS[_singular(match[2] or match[4])]
            for match in _LENGTH.finditer(text)
        ),
        frozenset(_period(match) for match in _OFTEN.finditer(text)),
        frozenset(
            (match["number"], match["from"] is not None)
            for match in _BOUND.finditer(text)
            if not _REFUSING.search(_BOUND.sub("", text))
        ),
    )


def _value(number: str) -> float:
    low = number.lower()
    if low in {"a", "an", "one"}:
        return 1.0
    return 0.5 if low.startswith("half") else float(lexicon.NUMBER_WORDS.get(low, low))


def _singular(unit: str) -> str:
    low = unit.lower()
    return low if low in _SECONDS else low.removesuffix("s")


def _period(match: re.Match[str]) -> str:
    word = (match[1] or match[2]).lower()
    return _PERIODS.get(word, word)


def differ(one: str, other: str) -> bool:
    mine, theirs = amounts(one), amounts(other)
    turned = {(number, not above) for number, above in mine.bounds} & theirs.bounds
    return (
        bool(turned - mine.bounds)
        or apart(mine.lengths, theirs.lengths)
        or apart(mine.periods, theirs.periods)
    )


def apart(mine: frozenset[_Value], theirs: frozenset[_Value]) -> bool:
    """Both have one that the other lacks; a detail of one alone is none."""
    return bool(mine - theirs) and bool(theirs - mine)
