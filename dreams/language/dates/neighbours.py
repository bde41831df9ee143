"""What stands right beside a phrase: the rest of a larger one, the date itself, a label on a screen, a window that moves."""

from __future__ import annotations

import re

from dreams.language.dates import calendars

_WEEKDAY = "|".join(calendars.WEEKDAYS)
_UNIT = r"(?:day|night|morning|afternoon|evening|week|weekend|fortnight|month|quarter|year|hour|minute)"
# "the day before last Thursday" is another day, and half of it read would be a wrong date.
_COUNTS_FROM = re.compile(
    rf"\b(?:(?:{_UNIT}s?|(?:the|that)\s+(?:{_WEEKDAY}))\s+(?:before|after|following|preceding|prior\s+to)|eve\s+of|weekend\s+of|(?:{_WEEKDAY})\s+of|"
    rf"{_UNIT}s\s+(?:(?:left|remaining)\s+)?(?:from|since|until|into)|\b(?:last|this|next)\s+or|(?:last|this|next)\s+year\s+(?:in|on)|(?:half|quarters?\s+of)|"
    r"(?:on\s+or\s+about|somewhere\s+around|around|circa|roughly|approximately|approx\.?))\s+(?:the\s+)?[*_]*$",
    re.IGNORECASE,
)
_GOES_ON = re.compile(
    rf"\s+(?:or\s+(?:so|more|longer|the\s+(?:{_UNIT})|(?:on\s+)?(?:{_WEEKDAY})|(?:the\s+)?(?:last|this|next)\b|two|three)|but\s+one|before\s+last|after\s+next|fortnight|week(?=\s*(?:[.,;:!?)]|$))|"
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
    r"placeholders?|shortcuts?|selectors?|keywords?|strings?|tokens?|helpers?|variables?)"
)
_WIDGET_AFTER = re.compile(
    rf"['\"’”)]?\s+{_WIDGET}\b|\s+as\s+(?:an?\s+)?(?:text|string|label|word)\b", re.IGNORECASE
)
_WIDGET_BEFORE = re.compile(
    rf"\b(?:{_WIDGET}\s*[:=]|(?:{_WIDGET}|the\s+one)\s+for|{_WIDGET}\s+(?:is|are|reads?|says?|shows?)|words?|phrases?|terms?|strings?|texts?|click|press|tap)\s+"
    r"(?:(?:on\s+)?[\w ]{0,30}(?:,|\band\b|\bor\b|/)\s*)*[*_'‘\"]*$",
    re.IGNORECASE,
)
_SHOWS = re.compile(
    r"\b(?:reads|displays|prints|renders|returns|accepts|parses|outputs|shows)\s+[*_]*$", re.IGNORECASE
)
_RELATIVE = (
    r"(?:in\s+\d+\s+\w+|today|tonight|yesterday|tomorrow|(?:last|this|next|past|previous)\s+(?:\d+\s+)?\w+)"
)
# "Today, Yesterday, Last 7 days", "today / yesterday": choices on a screen.
_LISTED_AFTER = re.compile(
    rf"(?-i:,\s+[A-Z][a-z]+,\s+(?:and\s+|or\s+)?[A-Z][a-z]+\s*[.)]?\s*$)|\s*(?:[|/]\s*{_RELATIVE}|,\s*{_RELATIVE}\s*(?:[,)]|$|and\b|or\b))",
    re.IGNORECASE,
)
_LISTED_BEFORE = re.compile(
    rf"(?:{_RELATIVE}\s*[|/]|\bas\s+{_RELATIVE}\s*,|[(:]\s*{_RELATIVE}\s*,|{_RELATIVE}\s*,\s*{_RELATIVE}\s*(?:,|and\b|or\b))\s*(?:and\s+|or\s+)?$",
    re.IGNORECASE,
)
_CELL = re.compile(r"(?:^|\n)[^\n]*\|\s*[*_]*$")
_CELL_ENDS = re.compile(r"[*_]*\s*\|")
_FIRST_CELL = re.compile(r"[*_]*\s*\|[^|\n]*\|")
_DAY_WORD = re.compile(r"(?:today|tonight|yesterday|tomorrow)\Z", re.IGNORECASE)
_TITLE = re.compile(r"(?:Today|Tonight|Yesterday|Tomorrow)\Z")
_CODE_BEFORE = re.compile(
    r"\w\(\s*$|(?:^|\s)--?[a-z][\w-]*[ =]$|\b(?:BETWEEN|AND|WHERE|THEN)\s$|"
    r"^\s*(?i:since|until|from|to|after|before|range|period)\s*:\s*$|"
    r"\b(?i:on|at|than|(?:jump|scroll|go|goe|snap|reset|default|fall)s?\s+(?:back\s+)?to)\s+$"
)
_CODE_AFTER = re.compile(
    r"\s*[+*/-]\s*\d|\s+--?[a-z]|\s+is\s+an?\s+(?:\w+\s+)?(?:words?|macro|keyword|function|value|token|term|string)\b|\s+(?:macro|keyword|word)s?\b",
    re.IGNORECASE,
)
_MENTIONED = re.compile(
    r"\b(?:write|writes|key|keyword|literal|constant|variable)\s+[*_'‘\"]*$", re.IGNORECASE
)
_SCRIPT = re.compile(
    r"\b(?:npm|yarn|pnpm|bun)\s+run\s+$|^\s*(?:make|just)\s+$|[=<>→]\s*(?:the\s+)?$", re.IGNORECASE
)
_VALIDATED = re.compile(
    r"\bdates?\b[^.;]{0,15}\b(?:must|cannot|can['’]t|may)\s+(?:not\s+)?be\s+(?:(?:before|after|in|on|earlier\s+than|later\s+than)\s+)?$",
    re.IGNORECASE,
)

# What it is filled with is another day each day.
_DEFAULT = re.compile(
    r"\bdefaults?\b[^.;]{0,20}$|\b(?:min|max|minimum|maximum)[ _-]?(?:date|day)?\s+(?:is\s+)?$",
    re.IGNORECASE,
)
_COMPARED = re.compile(
    r"\b(?:vs\.?|versus|compare[sd]?(?:\s+(?:\w+\s+){0,3}(?:with|to|and))?|labell?ed\s+as|beside|sum\s+of|(?:last|this|next)\s+\w+['’]s\s+\w+\s+(?:on|to|against|from|with)|counts?\s+of)\s+(?:the\s+)?$",
    re.IGNORECASE,
)
_COMPARED_AFTER = re.compile(
    r"(?:['’]s)?\s+(?:vs\.?|versus)\b|['’]s\s+[^.;,]{1,30}\b(?:last|this|next)\s+\w+['’]s", re.IGNORECASE
)
_THINGS_OF_A_DAY = re.compile(
    r"['’]s\s+(?:\w+\s+){0,2}?(?:data|dates?|logs?|reports?|files?|orders?|events?|entry|entries|prices?|values?|rows?|records?|"
    r"stats|statistics|numbers?|scores?|weather|forecasts?|news|errors?|invoices?|commits?|teams?|tasks?|totals?|sales|figures?|"
    r"metrics?|meals?|logs|partitions?|snapshots?|schedule|agenda|close|visits?|sum|count|average|streak|rank)\b|['’]s\s*(?:[.,;)]|$)",
    re.IGNORECASE,
)
# "a model that shipped last month", "a backup from three weeks ago": any such one, whenever that is read.
_ANY_SUCH = re.compile(
    r"\b(?:an?|no|any|some)\s+(?:[\w-]+\s+){1,2}(?:(?:(?:that|which|who|you|they)\s+(?:was\s+|were\s+)?)\w+|from)\s+(?:in\s+|on\s+)?$|"
    r"\bthe\s+\w+\s+you\s+\w+\s+$|\ban?\s+\w+\s+(?:created|opened|placed|submitted|reviewed|merged)\s+on\s+$",
    re.IGNORECASE,
)
# "Invoices dated today are locked", "what is due today".
_ALL_SUCH = re.compile(
    r"(?:^|[.:;]\s)[\s*>-]*[a-z]+s\s+(?:[a-z]+ed|shown|sent|made|set)\s+$|\b(?:what|that|which)(?:ever)?\s+(?:is|are)\s+due\s+$",
    re.IGNORECASE,
)
_NOW = re.compile(
    r"\s+(?:is|are|gets?|includes?|expires?|must|can|may|have|has|needs?|stays?|counts?|shows?)\b",
    re.IGNORECASE,
)


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
        or _SCRIPT.search(before)
        or _MENTIONED.search(before)
        or (_DAY_WORD.match(phrase) and (_CODE_BEFORE.search(before) or _CODE_AFTER.match(after)))
        or _VALIDATED.search(before)
        or (_CELL.search(before) and _CELL_ENDS.match(after))
        or _FIRST_CELL.match(after)
        or (_TITLE.match(phrase) and re.search(r"[a-z]\s+$", before))
    )


def moves(before: str, after: str) -> bool:
    """What is named is another day on another day; asked only where nothing is told as done or to come."""
    return bool(
        _DEFAULT.search(before)
        or _COMPARED.search(before)
        or _COMPARED_AFTER.match(after)
        or _THINGS_OF_A_DAY.match(after)
    )


def any_such(before: str, after: str) -> bool:
    """The phrase belongs to a thing of which there may be many: "a model that shipped last month"."""
    all_such = _ALL_SUCH.search(before)
    return bool(_ANY_SUCH.search(before) or (all_such and (_NOW.match(after) or "due" in all_such[0])))
