"""The few day words of other languages that can mean nothing else. German "morgen", Spanish "mañana" (morning) and
French "hier" (German "here") are left out."""

from __future__ import annotations

import re

from dreams.language.dates import calendars
from dreams.language.dates.calendars import DAY
from dreams.language.dates.context import Context
from dreams.language.dates.readings import Reading, Reference, Rule, rule

_WORDS = {
    "vorgestern": -2,
    "gestern": -1,
    "heute": 0,
    "übermorgen": 2,
    "avant-hier": -2,
    "aujourd'hui": 0,
    "après-demain": 2,
    "demain": 1,
    "anteayer": -2,
    "ayer": -1,
    "hoy": 0,
}
_KOREAN = {"그저께": -2, "그제": -2, "어제": -1, "오늘": 0, "내일": 1, "모레": 2}


def _word(m: re.Match[str], context: Context, ref: Reference) -> Reading:
    word = m[0].lower().replace("’", "'")
    return _read(ref, {**_WORDS, **_KOREAN}[word])


def _read(ref: Reference, offset: int) -> Reading:
    period = calendars.day(ref.date + offset * DAY)
    return Reading(period, "day", period.iso, "")


_FORMS = "|".join(sorted((re.escape(word).replace("'", "['’]") for word in _WORDS), key=len, reverse=True))
RULES: tuple[Rule, ...] = (
    rule("day word of another language", _FORMS, _word),
    # Only standing alone: with a particle glued on (오늘은) the date would run into it, and 오늘날 means nowadays.
    rule("Korean day word", "|".join(sorted(_KOREAN, key=len, reverse=True)), _word),
)
