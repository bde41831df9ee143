"""What stands right beside a phrase and makes it a piece of a larger one, a label on a screen, or dated already."""

from __future__ import annotations

import re

from dreams.language.dates import calendars

_WEEKDAY = "|".join(calendars.WEEKDAYS)
_UNIT = r"(?:day|night|morning|afternoon|evening|week|weekend|fortnight|month|quarter|year|hour|minute)"
# "the day before last Thursday" is another day, and half of it read would be a wrong date.
_COUNTS_FROM = re.compile(
    rf"\b(?:(?:{_UNIT}s?|(?:the|that)\s+(?:{_WEEKDAY}))\s+(?:before|after|following|preceding|prior\s+to)|eve\s+of|weekend\s+of|(?:{_WEEKDAY})\s+of|"
    rf"{_UNIT}s\s+(?:from|since|until|into)|(?:last|this|next)\s+year\s+(?:in|on)|"
    r"(?:on\s+or\s+about|somewhere\s+around|around|circa|roughly|approximately|approx\.?))\s+(?:the\s+)?[*_]*$",
    re.IGNORECASE,
)
_GOES_ON = re.compile(
    rf"\s+(?:or\s+(?:so|the\s+(?:{_UNIT}))|but\s+one|before\s+last|after\s+next|fortnight|week(?=\s*(?:[.,;:!?)]|$))|"
    r"plus\s+or|give\s+or\s+take|(?:,\s*)?(?:of\s+)?(?:(?:last|this|next|that|any|each|every)\s+year|the\s+(?:year|previous|following|same)))\b",
    re.IGNORECASE,
)
_MONTH = "|".join(
    (*calendars.MONTHS, "jan", "feb", "mar", "apr", "jun", "jul", "aug", "sept?", "oct", "nov", "dec")
)
_NAMED_DATE = rf"(?:(?:{_MONTH})\.?\s+\d{{1,2}}|\d{{1,2}}(?:st|nd|rd|th)?\s+(?:of\s+)?(?:{_MONTH}))\b"
_SAID_TWICE = re.compile(rf"[\s*_]*[(\[,]\s*(?:the\s+)?{_NAMED_DATE}", re.IGNORECASE)

_WIDGET = (
    r"(?:buttons?|tabs?|columns?|labels?|filters?|presets?|dropdowns?|menus?|options?|headers?|headings?|titles?|tooltips?|"
    r"views?|badges?|chips?|toggles?|pickers?|captions?|cards?|widgets?|panels?|buckets?|icons?|links?|screens?|sections?|"
    r"placeholders?|shortcuts?|selectors?|fields?|rows?|charts?|keywords?|strings?|tokens?|functions?|helpers?|variables?)"
)
_WIDGET_AFTER = re.compile(
    rf"['\"’”)]?\s+(?:\w+\s+)?{_WIDGET}\b|\s+as\s+(?:an?\s+)?(?:text|string|label|word)\b", re.IGNORECASE
)
_WIDGET_BEFORE = re.compile(
    rf"\b(?:{_WIDGET}\s*[:=]|{_WIDGET}\s+(?:is|are|reads?|says?|shows?)|words?|phrases?|terms?|like|click|press|tap)\s+"
    r"(?:(?:on\s+)?[\w ]{0,30}(?:,|\band|\bor|/)\s*)*[*_'‘\"]*$",
    re.IGNORECASE,
)
_SHOWS = re.compile(
    r"\b(?:reads|displays|prints|renders|returns|accepts|parses|outputs|shows)\s+[*_]*$", re.IGNORECASE
)
_RELATIVE = r"(?:today|tonight|yesterday|tomorrow|(?:last|this|next|past|previous)\s+(?:\w+|\d+\s+\w+))"
# "Today, Yesterday, Last 7 days", "today / yesterday": choices on a screen.
_LISTED_AFTER = re.compile(rf"\s*(?:[|/]\s*{_RELATIVE}|,\s*{_RELATIVE}\s*(?:,|and\b|or\b))", re.IGNORECASE)
_LISTED_BEFORE = re.compile(
    rf"(?:{_RELATIVE}\s*[|/]|{_RELATIVE}\s*,\s*{_RELATIVE}\s*(?:,|and\b|or\b))\s*(?:and\s+|or\s+)?$",
    re.IGNORECASE,
)
_CELL = re.compile(r"(?:^|\n)[^\n]*\|\s*[*_]*$")
_CELL_ENDS = re.compile(r"[*_]*\s*\|")
_TITLE = re.compile(r"(?:Today|Tonight|Yesterday|Tomorrow)\Z")


def in_larger(before: str, after: str) -> bool:
    """The phrase between the two texts is a piece of one that names another day."""
    return bool(_COUNTS_FROM.search(before) or _GOES_ON.match(after))


def said_twice(after: str) -> bool:
    """The date itself follows: "yesterday, 3 March"."""
    return bool(_SAID_TWICE.match(after))


def on_screen(before: str, phrase: str, after: str) -> bool:
    """A label, a choice, the cell of a table, a word that is spoken of; "Today" in mid-sentence is a name."""
    return bool(
        _WIDGET_AFTER.match(after)
        or _WIDGET_BEFORE.search(before)
        or _SHOWS.search(before)
        or _LISTED_AFTER.match(after)
        or _LISTED_BEFORE.search(before)
        or (_CELL.search(before) and _CELL_ENDS.match(after))
        or (_TITLE.match(phrase) and re.search(r"[a-z]\s+$", before))
    )
