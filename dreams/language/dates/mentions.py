"""Where the words are spoken of and no day is meant: sayings, titles, what is typed, pressed or written somewhere."""

from __future__ import annotations

import re

_DAY = r"(?:today|tonight|yesterday|tomorrow)"
_A_DAY = re.compile(rf"{_DAY}\Z", re.IGNORECASE)

# Said with these words it is meant of no day at all.
_IDIOM_BEFORE = re.compile(
    r"\b(?:no|(?:world|future|technology|web|leaders?|engineers?|systems?|language|people|news) of|put (?:\w+ )?off (?:until|till)|gone)\s+$",
    re.IGNORECASE,
)
_IDIOM_AFTER = re.compile(
    rf",?\s+(?:gone\s+{_DAY}|never\s+(?:comes|knows|dies)|is\s+(?:another|a\s+new|always)\b|and\s+age)\b",
    re.IGNORECASE,
)

# "The Day After Tomorrow", "Last Week Tonight", "Yesterday by the Beatles".
_TITLED = re.compile(
    r"(?=[A-Z])(?:\S+\s+)+(?!(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun|Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec|Christ|East|Thanks|Year|Eve|Day\b))[A-Z][a-z]"
)
_BY_WHOM = re.compile(r"\s+by\s+(?:the\s+)?[A-Z]")

# The word is spoken of where the line has it as code, where it is typed or chosen, or is what a field begins with.
_AS_CODE = re.compile(
    rf"`[^`\n]{{0,40}}{_DAY}[^`\n]{{0,40}}`|[\"'“‘]{_DAY}[\"'”’]|\b{_DAY}\(|\b{_DAY}_|_{_DAY}\b",
    re.IGNORECASE,
)
_TYPED = re.compile(
    r"\b(?:type|enter|input|pick|select|choose|typing|entering|picking|selecting|choosing)s?\s+$|"
    r"\b(?:freeze|mock|pin|reset|clamp|round|snap|travel|faked?|frozen|mocked)\b[^.;,]{0,25}\b(?:to|at|as)\s+$",
    re.IGNORECASE,
)
# What one presses, or gives to a command.
_PRESSED = re.compile(
    r"^[\s>*-]*(?:press|click|tap|swipe|hold|drag|hover|scroll|pick|choose|select|toggle)\b|\b(?:let|const|var)\s+$|^[\s>*-]*/\w+\s|"
    r"^[\s>*-]*[a-z]\S*\s+--?\w+\s|\b(?:go|goe|jump|scroll|switche?)s?\s+to\s+$|^\W*(?:template|body|placeholder|caption|prompt|tooltip|label)\s*:",
    re.IGNORECASE,
)
_FIRM = re.compile(r"\s+(?:Ltd|Inc|GmbH|AG|LLC|Corp|Co|Foundation|Group)\b")
# What is written somewhere for whoever reads it.
_WRITTEN = re.compile(
    r"\b(?:error|text|message|template|banner|label|toast|prompt|screen|motto|slogan|title|saying|sign|subject|caption|tooltip|hint|heading)s?\s+"
    r"(?:\w+\s+)?(?:(?:is|was|said)\s*:|is\s+(?=\w+\s+$)|(?:says?|reads?|goes)\b)(?!\s+that\b)[^.;]{0,60}$|"
    r"\b(?:inputs?|phrases?|expressions?|language|strings?|words|values|formats?|terms)\s*(?:like\b|:)[^.;]{0,60}$",
    re.IGNORECASE,
)
_WHAT = re.compile(r"\b(?:what|how|when)\s+[\"'“‘*_]*$", re.IGNORECASE)
_MEANS = re.compile(
    r"[\"'”’*_]*\s+(?:means?|refers?|resolves?|becomes?|is\s+(?:counted|computed|resolved|read|parsed))\b",
    re.IGNORECASE,
)
_DEFAULT = re.compile(r"\b(?:defaults?|placeholder|preset)\b", re.IGNORECASE)


def idiomatic(before: str, phrase: str, after: str) -> bool:
    """A saying: "here today, gone tomorrow", "the world of tomorrow"."""
    return bool(_A_DAY.match(phrase)) and bool(_IDIOM_BEFORE.search(before) or _IDIOM_AFTER.match(after))


def spoken_of(line: str, before: str, phrase: str, after: str) -> bool:
    """The word itself is meant, not a day."""
    if _TYPED.search(before) or _WRITTEN.search(before) or (_WHAT.search(before) and _MEANS.match(after)):
        return True
    if _PRESSED.search(before) or _FIRM.match(after):
        return True
    if _TITLED.match(phrase) or (phrase[:1].isupper() and _BY_WHOM.match(after)):
        return True
    return bool(_A_DAY.match(phrase)) and bool(
        _AS_CODE.search(line) or _DEFAULT.search(before) or _DEFAULT.search(after)
    )
