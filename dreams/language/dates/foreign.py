"""Simple relative dates of German, French, Spanish and Korean that can mean nothing else.

German "morgen", Spanish "mañana" (morning) and French "hier" (German "here") are left out, and so is what counts from
elsewhere ("die letzte Woche des Sprints") or lasts ("hace dos días que falla": for two days).
"""

from __future__ import annotations

import re

from dreams.language.dates import calendars
from dreams.language.dates.calendars import DAY, Period
from dreams.language.dates.context import Context
from dreams.language.dates.readings import Reading, Reference, Rule, leave, rule

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
    "pasado mañana": 2,
}
_KOREAN = {"그저께": -2, "그제": -2, "어제": -1, "오늘": 0, "내일": 1, "모레": 2}
_KOREAN_PERIODS = {
    "지난주": ("week", -1),
    "저번주": ("week", -1),
    "이번주": ("week", 0),
    "다음주": ("week", 1),
    "지난달": ("month", -1),
    "저번달": ("month", -1),
    "이번달": ("month", 0),
    "다음달": ("month", 1),
    "작년": ("year", -1),
    "올해": ("year", 0),
    "내년": ("year", 1),
}
_UNITS = {
    "tag": "day", "tage": "day", "tagen": "day", "woche": "week", "wochen": "week", "monat": "month", "monaten": "month",
    "jahr": "year", "jahren": "year", "quartal": "quarter", "jour": "day", "jours": "day", "semaine": "week",
    "semaines": "week", "mois": "month", "an": "year", "ans": "year", "année": "year", "día": "day", "días": "day",
    "semana": "week", "semanas": "week", "mes": "month", "meses": "month", "año": "year", "años": "year",
    "trimestre": "quarter", "일": "day", "주": "week", "개월": "month", "달": "month", "년": "year",
}  # fmt: skip
_NUMBERS = {
    word: number
    for number, words in enumerate(
        (
            "einem einer un une una",
            "zwei deux dos",
            "drei trois tres",
            "vier quatre cuatro",
            "fünf cinq cinco",
            "sechs six seis",
            "sieben sept siete",
            "acht huit ocho",
            "neun neuf nueve",
            "zehn dix diez",
        ),
        start=1,
    )
    for word in words.split()
}
_PAST = re.compile(r"^(?:letzt|vorig|vergangen|derni|pass|pasad)", re.IGNORECASE)
_FUTURE = re.compile(r"^(?:nächst|kommend|proch|próxim)", re.IGNORECASE)


def _word(m: re.Match[str], context: Context, ref: Reference) -> Reading:
    offset = {**_WORDS, **_KOREAN}[m[0].lower().replace("’", "'")]
    return _plain(calendars.day(ref.date + offset * DAY))


def _plain(period: Period) -> Reading:
    """The bare name, as no English words fit into the sentence."""
    return Reading(period, period.kind, period.iso, "")


def _period(m: re.Match[str], context: Context, ref: Reference) -> Reading:
    which = m["d"]
    step = -1 if _PAST.search(which) else 1 if _FUTURE.search(which) else 0
    return _plain(calendars.unit_of(ref.date, _UNITS[m["u"].lower()], step))


def _korean_period(m: re.Match[str], context: Context, ref: Reference) -> Reading:
    unit, step = _KOREAN_PERIODS["".join(m[0].split())]
    return _plain(calendars.unit_of(ref.date, unit, step))


def _ago(m: re.Match[str], context: Context, ref: Reference) -> Reading:
    """Counted to the day; a month or year ago means that month, as in English."""
    count = int(m["n"]) if m["n"].isdigit() else _NUMBERS[m["n"].lower()]
    unit = _UNITS[m["u"].lower()]
    on = calendars.add_units(ref.date, unit, -count)
    return _plain(calendars.day(on) if unit in {"day", "week"} else calendars.unit_of(on, "month"))


def _bare(pattern: str) -> str:
    """A pattern without its names, for a rule that only leaves the phrase."""
    return re.sub(r"\?P<\w+>", "?:", pattern)


def _korean(name: str, pattern: str, read: object) -> Rule:
    """A particle may be glued on (어제는); in 오늘날 (nowadays) and 내일로 no date is meant."""
    compiled = re.compile(rf"(?<!\w)(?P<x>{pattern})(?=(?:에는|에|은|는|부터|까지|의|도)?(?!\w))")
    return Rule(name, compiled, read)  # type: ignore[arg-type]  # one of the readers above


_FORMS = "|".join(sorted((re.escape(word).replace("'", "['’]") for word in _WORDS), key=len, reverse=True))
_N = rf"(?P<n>\d{{1,3}}|{'|'.join(_NUMBERS)})"
_GERMAN = r"(?P<d>(?:letzt|vorig|vergangen|dies|nächst|kommend)e[nrsm]?)\s+(?P<u>Woche|Monat|Jahr|Quartal)"
_FRENCH = r"(?P<u>semaine|mois|an|année|trimestre)\s+(?P<d>derni(?:er|ère)|passée?|prochaine?)(?!\s+(?:de|du|des|d['’]))"
_ABOUT = r"(?:etwa|ungefähr|rund|knapp|circa|ca\.|über)"
RULES: tuple[Rule, ...] = (
    rule("day word of another language", _FORMS, _word),
    rule("about so long ago", rf"{_ABOUT}\s+vor\s+{_bare(_N)}\s+\w+|vor\s+{_ABOUT}\s+\w+\s+\w+", leave),
    rule(
        "about so long ago",
        r"(?:il\s+y\s+a|hace)\s+(?:environ|presque|plus\s+de|unos|unas|casi|más\s+de)\s+\w+\s+\w+",
        leave,
    ),
    rule(
        "German period of something",
        rf"(?:(?:(?<!\bin\s)der|die|das|den|jede[nrsm]?|eine[nrsm]?)\s+{_bare(_GERMAN)})",
        leave,
    ),
    rule("German period of something", rf"{_bare(_GERMAN)}\s+(?:des|der|vom|von|eines|einer)", leave),
    rule("German period", rf"(?:(?:im|in\s+der|in\s+diesem)\s+)?(?P<x>{_GERMAN})", _period),
    rule("German ago", rf"vor\s+{_N}\s+(?P<u>Tag(?:en)?|Wochen?|Monat(?:en)?|Jahr(?:en)?)", _ago),
    rule("French period", rf"(?:la\s+|le\s+|l['’]){_FRENCH}", _period),
    rule("French ago", rf"il\s+y\s+a\s+{_N}\s+(?P<u>jours?|semaines?|mois|ans?)(?!\s+qu)", _ago),
    rule(
        "Spanish period",
        r"(?:la|el)\s+(?P<u>semana|mes|año|trimestre)\s+(?P<d>pasad[oa]|próxim[oa])(?!\s+de)",
        _period,
    ),
    rule(
        "Spanish next", r"(?:la|el)\s+(?P<d>próxim[oa])\s+(?P<u>semana|mes|año|trimestre)(?!\s+de)", _period
    ),
    rule("Spanish ago", rf"hace\s+{_N}\s+(?P<u>días?|semanas?|mes(?:es)?|años?)(?!\s+que)", _ago),
    _korean("Korean day word", "|".join(sorted(_KOREAN, key=len, reverse=True)), _word),
    _korean("Korean period", r"(?:지난|저번|이번|다음)\s?(?:주|달)|작년|올해|내년", _korean_period),
    rule("Korean about", r"약\s?\d{1,3}\s?(?:일|주|개월|달|년)\s?전(?:에)?", leave),
    _korean("Korean ago", r"(?P<n>\d{1,3})\s?(?P<u>일|주|개월|달|년)\s?전", _ago),
)
