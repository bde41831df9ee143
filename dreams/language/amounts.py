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
_LENGTH = re.compile(rf"(?<![\w.-])(\d+(?:\.\d+)?|one|half an?|an?|{_WORDS})[\s-]?({_UNIT})\b", re.IGNORECASE)
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


@dataclass(frozen=True, slots=True)
class Amounts:
    lengths: frozenset[float]  # seconds
    periods: frozenset[str]


@functools.lru_cache(maxsize=20_000)
def amounts(text: str) -> Amounts:
    return Amounts(
        frozenset(_value(match[1]) * _SECONDS[_singular(match[2])] for match in _LENGTH.finditer(text)),
        frozenset(_period(match) for match in _OFTEN.finditer(text)),
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
    return apart(mine.lengths, theirs.lengths) or apart(mine.periods, theirs.periods)


def apart(mine: frozenset[_Value], theirs: frozenset[_Value]) -> bool:
    """Both have one that the other lacks; a detail of one alone is none."""
    return bool(mine - theirs) and bool(theirs - mine)
