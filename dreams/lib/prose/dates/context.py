"""The text around a date phrase: its position, neighbours and tense, and whether it may be read as a date. Pure."""

import bisect
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from dreams.lib.prose.dates import roles
from dreams.lib.prose.words import MONTH_NAME, WEEKDAYS

Standing = Literal["told", "asked", "shown"]  # "shown" is any day or none, and is never returned
# How firmly words name a day: "the end of the month" and "the last ten days" repeat, unless the sentence has a tense; "in the
# past year", "within 5 days" and "EOD" are too vague to rewrite a note.
Hold = Literal["firm", "tensed", "loose"]
LONGEST = 20_000  # code points read of one text; lines of notes are much shorter


@dataclass(frozen=True, slots=True)
class DateSpan:
    """One resolved phrase: `text[start:end]` in code points.

    `iso` is a day, `YYYY-MM`, `YYYY`, `YYYY-Www`, `YYYY-Qn` or `start/end` (end exclusive); `granularity` is the precision of the
    phrase (subday, day, week, weekend, month, quarter, year, range): "two years ago" gives a day and means a month. If common
    meanings differ at the edges, it is their common part: "early May", "the last two weeks". `written` is the text that
    `rewrite` inserts.

    `standing`: "told" if it dates one past or future event, so that a note may be rewritten; "asked" in a question, a request or
    alone, which states nothing.
    """

    start: int
    end: int
    text: str
    iso: str
    granularity: str
    written: str
    standing: Standing

    @property
    def meant(self) -> str:
        """The date for a person; for a free range the written words, as `iso` excludes its last day."""
        return self.written if "/" in self.iso else self.iso

    @property
    def told(self) -> bool:
        return self.standing == "told"


def rewrite(text: str, spans: Sequence[DateSpan]) -> str:
    """`text` with each span replaced by its date; `spans` in order, as from `resolve`."""
    pieces, at = [], 0
    for span in spans:
        pieces += [text[at : span.start], span.written]
        at = span.end
    return "".join([*pieces, text[at:]])


_WEEKDAY = "|".join(WEEKDAYS)
_UNIT = r"(?:day|night|morning|afternoon|evening|week|weekend|fortnight|month|quarter|year|hour|minute)"
# "the day before last Thursday" is another day than "last Thursday".
_COUNTS_FROM = re.compile(
    rf"\b(?:(?:{_UNIT}s?|(?:the|that)\s+(?:{_WEEKDAY}))\s+(?:before|after|following|preceding|prior\s+to)|eve\s+of|weekend\s+of|(?:{_WEEKDAY})\s+of|"
    rf"{_UNIT}s\s+(?:(?:left|remaining)\s+)?(?:from|since|until|into)|\b(?:last|this|next)\s+or|(?:last|this|next)\s+year\s+(?:in|on)|(?:half|quarters?\s+of)|"
    r"(?:on\s+or\s+about|somewhere\s+around|sometime|around|circa|roughly|approximately|approx\.?))\s+(?:the\s+)?[*_]*$",
    re.IGNORECASE,
)
_GOES_ON = re.compile(
    rf"\s+(?:or\s+(?:so|more|longer|the\s+(?:{_UNIT})|(?:on\s+)?(?:{_WEEKDAY})|(?:the\s+)?(?:last|this|next)\b|two|three|\d)|but\s+one|before\s+last|after\s+next|fortnight|week(?=\s*(?:[.,;:!?)]|$))|"
    r"plus\s+or|give\s+or\s+take|(?:,\s*)?(?:of\s+)?(?:(?:last|this|next|that|any|each|every)\s+year|the\s+(?:year|previous|following|same)))\b",
    re.IGNORECASE,
)
_NAMED_DATE = rf"(?:(?:{MONTH_NAME})\.?\s+(?:\d{{4}}|\d{{1,2}})|\d{{1,2}}(?:st|nd|rd|th)?\s+(?:of\s+)?(?:{MONTH_NAME}))\b"
_SAID_TWICE = re.compile(rf"[\s*_]*[(\[,]\s*(?:the\s+)?{_NAMED_DATE}", re.IGNORECASE)
_YEAR_AFTER = re.compile(
    r"\s*(?:[.,]|of|in)?\s*(?:(?:1\d|20|21)\d\d\b|['’]\d\d\b)|\s+of\s+\d\d\b|"
    r"\s+(?:(?:seventeen|eighteen|nineteen|twenty)[\s-](?:hundred|oh|\w+teen|twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety)|two\s+thousand)\b",
    re.IGNORECASE,
)
_YEAR_BEFORE = re.compile(r"\b(?:1[89]|20|21)\d\d[\s,/(\[-]*(?:the\s+)?$")
_DATE = r"(?:\d{8}\b|\d{1,2}[- ][A-Z][a-z]{2}[- ]\d{4}|\d{4}-\d\d(?:-\d\d)?|(?:\d{4}-?)?(?:W|KW\s?|week\s)\d\d?\b|\d{1,2}[./]\d{1,2}(?:[./]\d{2,4})?(?![.\d]*\d))"
_DATE_AFTER = re.compile(rf"[\s*_]*[(\[,:=]?\s*{_DATE}", re.IGNORECASE)
_DATE_BEFORE = re.compile(rf"{_DATE}\s*[(\[,]\s*$")
# "2026-02-20: fixed yesterday" counts from its own date.
_MONTHS = r"(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\.?"
_OWN_DATE = re.compile(
    rf"^[\s>*+#\[(-]*(?:[A-Za-z]+\s+){{0,3}}(?:\d{{4}}-\d\d-\d\d|\d{{1,2}}[./]\d{{1,2}}[./](?:20)?\d\d(?!\d)|{_MONTHS}\s+\d{{1,2}}(?:st|nd|rd|th)?,?\s+\d{{4}}|\d{{1,2}}\.?\s+{_MONTHS}\s+\d{{4}})",
    re.IGNORECASE,
)


def dated(before: str, after: str, line: str) -> bool:
    """Whether the date is already there: "yesterday, 3 March", "last week (W09)", "2026-03-03: fixed yesterday"."""
    return bool(
        _SAID_TWICE.match(after)
        or _YEAR_AFTER.match(after)
        or _YEAR_BEFORE.search(before)
        or _DATE_AFTER.match(after)
        or _DATE_BEFORE.search(before)
        or _OWN_DATE.match(line)
    )


_MASKED = re.compile(
    r"```.*?(?:```|\Z)|~~~.*?(?:~~~|\Z)"
    r"|(?<![^\n])[^\n]{0,300}[;{}]\s*//[^\n]*"  # a line of code with its comment
    r"|(?P<ticks>`{1,2})[^\n]{1,400}?(?P=ticks)"
    r"|\b[a-z][a-z0-9+.-]*://\S+|\]\([^)\n]{1,300}\)|\[\[[^\]\n]{1,200}\]\]"
    r"|\{\{[^}\n]{1,200}\}\}|\$\{[^}\n]{1,200}\}"
    r"|(?:(?<=[\s=(:,\[_*])|(?<![^\n]))'(?=\w)[^'\n]{2,200}(?<=[\w.!?])'(?=[\s.,;:!?)\]_*]|$)"
    r"|\"[^\"\n]{1,300}\"|(?<![^\n])[ \t]*\"[^\"\n]{1,300}(?=\n|\Z)|“[^”\n]{1,300}”|«[^»\n]{1,300}»|<[a-z/!][^>\n]{0,200}>",
    re.DOTALL | re.IGNORECASE,
)
_HEADING = re.compile(r"\s{0,3}#{1,6}\s|\s*(?:[-*+]\s+)?(?:\*\*|__)[^*_\n]+(?:\*\*|__)\s*$")
_COMMENT = re.compile(r"\s*(?://|/\*|\* |--\s|<!--)")
_CODE = re.compile(
    r"^\s*(?:(?:\*/|<!--|\$ |>>> |\"\"\"|--\s|#!|@\w)|(?:const|var|def|assert|import|SELECT|UPDATE|DELETE|git|npm|curl|cd|help=)\b)"
    r"|=>|[!=]=|\w\(\)|\);|[{;]\s*$|\{\w[^}\n]*\}|\breturn\s|\s=\s+\S|\S\t|\S {3,}\S|',\s*$|\w\s*->",
)
_RELATIVE = re.compile(
    r"\b(?:today|tonight|yesterday|tomorrow|(?:last|next|this|past|previous)\s+(?:\d+\s+)?(?:day|week|weekend|month|quarter|year|night)s?|"
    r"\w+\s+(?:days?|weeks?|months?|years?|hours?|minutes?)\s+ago)\b",
    re.IGNORECASE,
)
AROUND = 300  # code points of a line on each side
MOST_TOLD = 2  # days in one line; three are examples, or choices on a screen
_PLAIN_WORD = re.compile(
    r"\b(?:the|today|tonight|yesterday|tomorrow|last|next|this|past|day|week|weekend|month|quarter|year|night|after|before)\b",
    re.IGNORECASE,
)
_OPENS = re.compile(r"(?:^|[.!?:;\n(|—–-]|[*_>\]\"])\s*[*_]*$")
_SPOKEN = (
    r"(?:words?|phrases?|strings?|terms?|texts?|labels?|buttons?|tabs?|columns?|keys?|keywords?|values?|fields?|views?|options?|filters?|presets?|"
    r"placeholders?|badges?|widgets?|themes?|macros?|tokens?|constants?|variables?|menus?|links?|titles?|headings?|chips?|songs?|films?)"
)
_OF_A_WORD = re.compile(
    r"\b(?:words?|phrases?|strings?|terms?|texts?|label|keyword|(?:is|are|was)\s+(?:called|named)|labell?ed|says?|reads?|means?|writes?|prints|outputs|"
    r"renders|defaults?\s+to|default\s+(?:\w+\s+)?(?:is|are)|type|click|press|tap|"
    r"select|choose|pick|enter)\s+[*_]*$",
    re.IGNORECASE,
)
_FOR_A_WORD = re.compile(
    rf"['’\"]?\s+(?:(?:is|are)\s+(?:an?|one|the)\s+)?(?:{_SPOKEN}|default|choice)\b", re.IGNORECASE
)


def is_word(text: str, start: int, end: int) -> bool:
    """Whether it is words, not a part of an identifier, path, version or flag."""
    left, right = text[max(0, start - 1) : start], text[end : end + 2]
    if left and (left.isalnum() or left in "_/\\.@#$%&=-+<{~"):
        return False
    korean = "가" <= right[:1] <= "힣" and "가" <= text[end - 1] <= "힣"  # a particle that its rule allows
    if (right[:1].isalnum() and not korean) or (right and right[0] in "_/\\(=@#><}%"):
        return False
    if re.match(r"['’]s[-_/]", text[end : end + 3]):  # "yesterday's-news"
        return False
    return not (len(right) == 2 and right[0] in ".-:" and right[1].isalnum())


def _line(text: str, start: int, end: int) -> tuple[str, str, str]:
    """The line of a phrase, and its text before and after the phrase."""
    begin, stop = text.rfind("\n", 0, start) + 1, text.find("\n", end)
    stop = stop if stop >= 0 else len(text)
    line = text[max(begin, start - AROUND) : min(stop, end + AROUND)]
    return line, text[max(begin, start - 60) : start], text[end : end + 60]


def is_wording(text: str, start: int, end: int) -> bool:
    """Whether the phrase is a part of code or a name, or is mentioned as words."""
    line, before, after = _line(text, start, end)
    return bool(
        _CODE.search(line)
        or _OF_A_WORD.search(before)
        or _FOR_A_WORD.match(after)
        or _is_name(before, text[start:end])
    )


def is_shown(text: str, start: int, end: int) -> bool:
    """Whether the phrase is in a title, a quoted line, or among choices."""
    line, _, _ = _line(text, start, end)
    opens_near = text.rfind("\n", 0, start) + 1 > start - AROUND
    return bool(
        (opens_near and (_HEADING.match(line) or line.lstrip().startswith(">")))
        or len({match[0].lower() for match in _RELATIVE.finditer(line)}) > MOST_TOLD
    )


def _is_name(before: str, phrase: str) -> bool:
    """Whether it has capitals of a name: "the Today view", "The Day After Tomorrow"."""
    if phrase.isupper() and len(phrase) > 3:
        return True
    capital = [word for word in _PLAIN_WORD.findall(phrase) if word[0].isupper()]
    return bool(capital[1:]) or bool(capital and not _OPENS.search(before))


# The end of a sentence: a stop followed by a space, not after an abbreviation or month ("Oct. 2").
_SENTENCE_END = re.compile(r"(?<![A-Z])(?<!\b[A-Za-z]{3})(?<!\be\.g)(?<!\bi\.e)[.!?;]+(?=\s)|\n+")
_CLAUSE = re.compile(r"[,;:()–—\n]|\.\s|\b(?:and|but|so|while|then|because|which|until)\b", re.IGNORECASE)
_ONLY_LEADS = frozenset(
    {"", "in", "in the", "over", "over the", "during the", "for the", "the", "within the", "since the"}
)


@dataclass
class Context:
    text: str
    english: bool = True  # the role of a phrase is only checked in English

    @cached_property
    def masked(self) -> list[tuple[int, int]]:
        """The ranges of code, links, tags and quotations, which are not reworded."""
        return [match.span() for match in _MASKED.finditer(self.text)]

    @cached_property
    def _ends(self) -> list[int]:
        return [match.end() for match in _SENTENCE_END.finditer(self.text)]

    def sentence(self, start: int) -> str:
        at = bisect.bisect_right(self._ends, start)
        begin = self._ends[at - 1] if at else 0
        stop = self._ends[at] if at < len(self._ends) else len(self.text)
        at = start - start % AROUND  # cached, as nearby phrases share them
        return self.text[max(begin, at - AROUND) : min(stop, at + 2 * AROUND)]

    def said_before(self, start: int) -> str:
        """The text of its sentence before a position."""
        at = bisect.bisect_right(self._ends, start)
        return self.text[max(self._ends[at - 1] if at else 0, start - AROUND) : start]

    def clause(self, start: int) -> str:
        """The clause of its sentence, between commas, "and", "but" and the like."""
        begin, stop = max(0, start - AROUND), start + AROUND
        cuts = [match.start() + begin for match in _CLAUSE.finditer(self.text[begin:stop])]
        return self.text[
            max([begin, *(cut for cut in cuts if cut <= start)]) : min(
                [stop, *(cut for cut in cuts if cut > start)]
            )
        ]

    def line(self, start: int) -> str:
        begin = self.text.rfind("\n", 0, start) + 1
        stop = self.text.find("\n", start)
        return self.text[begin : min(stop if stop >= 0 else len(self.text), begin + AROUND)]

    def before(self, start: int) -> str:
        """The few words before a position, enough for a preposition."""
        return self.text[max(0, start - 40) : start]

    def alone(self, start: int, end: int) -> bool:
        """Whether the text is only the phrase with a preposition, as in a label or heading."""
        around = self.text[:start].strip().lower(), self.text[end:]
        return not re.search(r"\w", around[1]) and around[0] in _ONLY_LEADS

    def tense(self, start: int) -> Literal["past", "future"] | None:
        """The tense of the sentence around `start`; None if it has none."""
        sentence = self.sentence(start)
        past, future = roles.is_past(sentence), bool(roles.FUTURE.search(sentence))
        if past and future and roles.surely_ahead(sentence):  # "was renewed in March and will expire in May"
            clause = self.clause(start)
            past, future = roles.is_past(clause), roles.surely_ahead(clause)
        if future and not past:
            return "future"
        if past and not future:
            return "past"
        return "future" if not future and roles.asks_ahead(sentence) else None

    def names_no_date(self, start: int, end: int) -> bool:
        """Whether the phrase is part of a name, code, rule or another date, or is dated already."""
        before, after, line = self.before(start), self.text[end : end + 40], self.line(start)
        return (
            any(start < stop and end > begin for begin, stop in self.masked)
            or not is_word(self.text, start, end)
            or bool(_COUNTS_FROM.search(before) or _GOES_ON.match(after))
            or dated(before, after, line)
            or is_wording(self.text, start, end)
            or roles.habitual(self.text[start:end], self.sentence(start), self.said_before(start))
        )

    def standing(self, start: int, end: int, hold: Hold) -> Standing:
        """Whether the phrase dates one event ("told"), belongs to a request ("asked"), or neither."""
        if is_shown(self.text, start, end):
            return "shown"
        if not self.english or (self._holds(start, end, hold) and self._clause_tells(start, end)):
            return "told"
        around = self.said_before(start), self._said_after(end)
        return "asked" if roles.is_asked(self.text[start:end], self.sentence(start), *around) else "shown"

    def _said_after(self, end: int) -> str:
        at = bisect.bisect_right(self._ends, end - 1)
        return self.text[end : min(self._ends[at] if at < len(self._ends) else len(self.text), end + AROUND)]

    def _holds(self, start: int, end: int, hold: Hold) -> bool:
        if hold == "tensed":
            return self.alone(start, end) or self.tense(start) is not None
        return hold == "firm"

    def _clause_tells(self, start: int, end: int) -> bool:
        """Whether the sentence dates one event; a comment in code does not, as it describes the code."""
        around = self.said_before(start), self._said_after(end)
        return not _COMMENT.match(self.line(start)) and roles.tells(
            self.text[start:end], self.tense(start), *around
        )

    def customary(self, start: int) -> bool:
        """Whether it may happen each year: "is renewed on 2 October"; "is away until 2 October" is once."""
        return roles.is_custom(self.sentence(start))
