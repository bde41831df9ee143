"""What surrounds a date phrase: code and quotes to keep out of, tense, recurrence, neighbours that forbid it."""

from __future__ import annotations

import bisect
import re
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import Literal

from dreams.language.dates import generic, mentions, neighbours, tense
from dreams.language.dates.spans import Orientation

AROUND = 300  # code points of a sentence on each side that tell its tense: long texts stay linear

_MASKED = re.compile(
    r"```.*?(?:```|\Z)|~~~.*?(?:~~~|\Z)"
    r"|(?<![^\n])[^\n]{0,300}[;{}]\s*//[^\n]*"  # a line of code with its comment
    r"|(?P<ticks>`{1,2})[^\n]{1,400}?(?P=ticks)"
    r"|\b[a-z][a-z0-9+.-]*://\S+|\]\([^)\n]{1,300}\)|\[\[[^\]\n]{1,200}\]\]"
    r"|\{\{[^}\n]{1,200}\}\}|\$\{[^}\n]{1,200}\}"
    r"|(?<=[\s=(:,\[])'(?=\w)[^'\n]{2,200}(?<=[\w.!?])'(?=[\s.,;:!?)\]]|$)"
    r"|\"[^\"\n]{1,300}\"|“[^”\n]{1,300}”|«[^»\n]{1,300}»|<[a-z/!][^>\n]{0,200}>",
    re.DOTALL | re.IGNORECASE,
)
# The end of a sentence: its stop is followed by a space and the word before is no abbreviation or month ("Oct. 2").
_SENTENCE_END = re.compile(r"(?<![A-Z])(?<!\b[A-Za-z]{3})(?<!\be\.g)(?<!\bi\.e)[.!?;]+(?=\s)|\n+")
_CLAUSE = re.compile(r"[,;:()–—\n]|\.\s|\b(?:and|but|so|while|then|because|which|until)\b", re.IGNORECASE)
# A duty of things is a rule ("deploys must happen on Friday"); one of people may be a plan ("we should meet on Friday").
_DUTY = re.compile(
    r"(?<!\bi )(?<!\bwe )(?<!\byou )(?<!\bhe )(?<!\bshe )(?<!\bthey )\b(?:must|should|needs? to|has to|have to)\s+(?!meet|i\b|we\b)|\bare due\b",
    re.IGNORECASE,
)
_HABIT_WORDS = (
    r"never|always|every|each|any|anyone|anybody|whoever|whenever|usually|typically|generally|regularly|normally|mostly|often|"
    r"sometimes|occasionally|rarely|seldom|fortnightly|alternat(?:e|es|ing)|(?:once|twice|times) (?:an?|per)|per (?:day|week|month|year)|"
    r"as (?:a rule|usual)|per usual|by default|e\.g\.?|for example|for instance|such as|recurring|hypothetical(?:ly)?"
)
_TIMED = r"weekly|daily|monthly|nightly|hourly|yearly|annual|annually|quarterly|bi-?weekly"
_HABIT = re.compile(
    rf"\b(?:{_HABIT_WORDS}|{_TIMED}|used to|policy|policies|rule|rules|convention|cadence)(?![\w])",
    re.IGNORECASE,
)
# Where the phrase says which week or year it is, "the nightly build" and "the policy" make no habit of it.
_FIRM_HABIT = re.compile(rf"\b(?:{_HABIT_WORDS}|(?:{_TIMED})(?!\s+[a-z]))(?![\w])", re.IGNORECASE)
_STANDUP = re.compile(r"\bstandups?\b", re.IGNORECASE)  # on a weekday it is each week, this morning it is not
# Such a phrase has a place in every week or year, unless a word says which one.
_RETURNS = re.compile(
    r"\b(?:mon|tues?|wed(?:nes)?|thu(?:rs)?|fri|sat(?:ur)?|sun)(?:day)?\b|\bjan|\bfeb|\bmar|\bapr|\bmay\b|\bjun|\bjul|\baug|\bsep|\boct|\bnov|\bdec|"
    r"\bq[1-4]\b|christmas|easter|thanksgiving|the weekend|^the \w+$",
    re.IGNORECASE,
)
_UNTIL = re.compile(r"\b(?:until|till|through)\s+(?:the\s+)?$", re.IGNORECASE)
_WHICH = re.compile(r"\b(?:last|next|this|past|previous|coming|ago|from now)\b", re.IGNORECASE)
_OF_MANY = re.compile(
    r"\b(?:(?:every|each|any|some|most|all|other|alternate|second|third|fourth|fifth|first|2nd|3rd|4th)|"
    r"(?:not|never|only|always|except|also|even|sometimes|usually|often)(?:\s+(?:on|in|by|at|for|from))?)\s+[*_('\"“‘]*$",
    re.IGNORECASE,
)
_AS_NAME = re.compile(r"\b(?:a|an|the|that|your|our|my|his|her|their)\s+[*_]*$", re.IGNORECASE)
_LONE = re.compile(r"(?:today|tonight|yesterday|tomorrow|\w+day)\b", re.IGNORECASE)
_CONDITION = re.compile(r"\b(?:if|unless|whether|in case)\b[^,.;:]*$", re.IGNORECASE)
_EXAMPLE = re.compile(r"\b(?:such as|for example|for instance|examples?:|e\.g\.)[^.;]*$", re.IGNORECASE)
# "Users who signed up last month get a mail", "A cookie set today expires": whichever they are when it is read.
_WHICHEVER = re.compile(
    r"^[\s>*+-]*(?:(?:all |any |each |every |no )?(?!(?:this|his|its|yes|tests|docs|news)\b)[a-z]+s|an?\s+\w+|what(?:ever)?|whoever)\s+"
    r"(?:that|who|which|whose|created|placed|issued|added|made|set|posted|opened|closed|older|newer|due|work(?:ed|s))\b",
    re.IGNORECASE,
)
# A sentence that begins so says what is to be done each time.
_SUPPOSED = re.compile(
    r"(?:^|[\n;:]|[.!?]\s)[\s>*+-]*(?:if|unless|when(?:ever)?(?!\s+(?:did|was|were|is|are|do|does|will|has|have|had)\b)|in case|suppose)\b[^,.;:]*$",
    re.IGNORECASE,
)
_MOVED = re.compile(
    r"\b(?:mov|reschedul|postpon|shift|push|delay|switch|chang|defer)(?:ed|ing|es|e|s)?\b(?:[^.;:,]{0,30}\b(?:to|from|until|till|for|by))?\s+$",
    re.IGNORECASE,
)
_MENTION = re.compile(
    r"\b(?:say|says|saying|word|words|phrase|phrases|term|terms|like|(?:is|are|be|been|one|\ban?\s+\w+)\s+called|named|labell?ed|mean|means|literally|"
    r"usa)\s+[*_'‘\"]*$",
    re.IGNORECASE,
)
_YEAR_AFTER = re.compile(r"\s*(?:[.,]|of|in)?\s*(?:(?:1[89]|20|21)\d\d\b|['’]\d\d\b)", re.IGNORECASE)
_YEAR_BEFORE = re.compile(r"\b(?:1[89]|20|21)\d\d[\s,/(\[-]*(?:the\s+)?$")
_DATE = r"(?:\d{4}-\d\d(?:-\d\d)?|(?:\d{4}-?)?(?:W|KW\s?|week\s)\d\d?\b|\d{1,2}[./]\d{1,2}(?:[./]\d{2,4})?(?![.\d]*\d))"
_DATE_AFTER = re.compile(rf"[\s*_]*[(\[,:=]?\s*{_DATE}", re.IGNORECASE)
_DATE_BEFORE = re.compile(rf"{_DATE}\s*[(\[,]\s*$")
# "2026-02-20: fixed yesterday" counts from the date that it gives, not from ours.
_MONTHS = r"(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\.?"
_OWN_DATE = re.compile(
    rf"^[\s>*+#\[(-]*(?:[A-Za-z]+\s+){{0,3}}(?:\d{{4}}-\d\d-\d\d|\d{{1,2}}[./]\d{{1,2}}[./](?:20)?\d\d(?!\d)|{_MONTHS}\s+\d{{1,2}}(?:st|nd|rd|th)?,?\s+\d{{4}}|\d{{1,2}}\.?\s+{_MONTHS}\s+\d{{4}})",
    re.IGNORECASE,
)


_ONLY_LEADS = frozenset(
    {"", "in", "in the", "over", "over the", "during the", "for the", "the", "within the", "since the"}
)


@dataclass
class Context:
    """One text to read; `orientation` says which way phrases without a year or week look."""

    text: str
    orientation: Orientation = "auto"
    blocked: list[tuple[int, int]] = field(default_factory=list)

    @cached_property
    def masked(self) -> list[tuple[int, int]]:
        """Code, links, tags and quotations: what stands there is not ours to reword."""
        return [match.span() for match in _MASKED.finditer(self.text)]

    @cached_property
    def _ends(self) -> list[int]:
        return [match.end() for match in _SENTENCE_END.finditer(self.text)]

    def sentence(self, start: int) -> str:
        at = bisect.bisect_right(self._ends, start)
        begin = self._ends[at - 1] if at else 0
        stop = self._ends[at] if at < len(self._ends) else len(self.text)
        at = start - start % AROUND  # the same words for all that stands near: they are read once
        return self.text[max(begin, at - AROUND) : min(stop, at + 2 * AROUND)]

    def told(self, start: int) -> str:
        """What its sentence says before the place."""
        at = bisect.bisect_right(self._ends, start)
        return self.text[max(self._ends[at - 1] if at else 0, start - AROUND) : start]

    def clause(self, start: int) -> str:
        """The part of its sentence between commas, "and", "but" and the like."""
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
        """The few words before a place: enough for a preposition, and no more to search."""
        return self.text[max(0, start - 40) : start]

    def alone(self, start: int, end: int) -> bool:
        """Nothing but the phrase is there, and a preposition: a label or a heading."""
        around = self.text[:start].strip().lower(), self.text[end:]
        return not re.search(r"\w", around[1]) and around[0] in _ONLY_LEADS

    def tense(self, start: int) -> Literal["past", "future"] | None:
        """Which way the sentence around `start` looks, None if it does not say."""
        if self.orientation != "auto":
            return self.orientation
        sentence = self.sentence(start)
        past, future = tense.is_past(sentence), tense.looks_ahead(sentence)
        if past and future and tense.surely_ahead(sentence):  # "was renewed in March and will expire in May"
            clause = self.clause(start)
            past, future = tense.is_past(clause), tense.surely_ahead(clause)
        if future and not past:
            return "future"
        return "past" if past and not future else None

    def forbidden(self, start: int, end: int) -> bool:
        """True where the phrase is part of a name, of code, of a rule, or is dated already."""
        return (
            any(start < stop and end > begin for begin, stop in self.masked)
            or not self._bounded(start, end)
            or self._dated(start, end)
            or self._heading(start)
            or bool(_MENTION.search(self.before(start)))
            or self._named(start, end)
            or self._beside(start, end)
            or self._generic(start, end)
            or self._habitual(start, end)
        )

    def _heading(self, start: int) -> bool:
        """A heading names its section, often for good ("## This week")."""
        return bool(re.match(r"\s{0,3}#{1,6}\s", self.line(start)))

    def _habitual(self, start: int, end: int) -> bool:
        """A rule or an example, unless it tells what was done, and when by more than a weekday."""
        phrase, before = self.text[start:end], self.before(start)
        sentence = self.sentence(start)
        told = self.text[max(0, start - AROUND) : start]
        if _SUPPOSED.search(told) or _EXAMPLE.search(told) or _WHICHEVER.match(sentence):
            return True
        whole = _WHICH.match(phrase) and before.lower().endswith(" all ")  # "worked on it all last week"
        if (
            _OF_MANY.search(before)
            and not whole
            and not phrase.lower().startswith(("yesterday", "tomorrow", "today"))
        ):
            return True
        if _RETURNS.search(phrase) and not _WHICH.search(phrase):
            rule = _is_habit(sentence) or _STANDUP.search(sentence) or _CONDITION.search(before)
            return bool(rule or (_is_duty(sentence) and not tense.surely_ahead(sentence)))
        return bool(_FIRM_HABIT.search(sentence)) and not tense.is_past(sentence)

    def _generic(self, start: int, end: int) -> bool:
        """Said of each day anew, or only in doubt."""
        told, phrase, after = self.told(start), self.text[start:end], self.text[end : end + 40]
        return (
            generic.doubted(told, after)
            or mentions.idiomatic(told, phrase, after)
            or mentions.spoken_of(self.line(start), told, phrase, after)
            or generic.these_days(told, phrase, after, tense=self.tense(start) is not None)
            or generic.each_day(told, phrase, after, tense=self.tense(start) is not None)
        )

    def _named(self, start: int, end: int) -> bool:
        """ "the yesterday view", "a Friday": the name of a thing or one of many; 'today' in quotation marks is a word."""
        left, right = self.text[max(0, start - 1) : start], self.text[end : end + 1]
        if left in {"'", "‘"} and right in {"'", "’"}:
            return True
        return bool(_LONE.fullmatch(self.text, start, end)) and bool(_AS_NAME.search(self.before(start)))

    def customary(self, start: int) -> bool:
        """ "is renewed on 2 October": each year, as far as the sentence says; "is away until 2 October" is once."""
        sentence = self.sentence(start)
        if _UNTIL.search(self.before(start)):
            return False
        return tense.is_custom(sentence)

    def moved(self, start: int) -> bool:
        """ "moved to Friday": the day that a thing was moved to may lie on either side."""
        return bool(_MOVED.search(self.before(start)))

    def _bounded(self, start: int, end: int) -> bool:
        """Words, not pieces of identifiers, paths, versions or flags."""
        left, right = self.text[max(0, start - 1) : start], self.text[end : end + 2]
        if left and (left.isalnum() or left in "_/\\.@#$%&=-+<{~"):
            return False
        hangul = (
            "가" <= right[:1] <= "힣" and "가" <= self.text[end - 1] <= "힣"
        )  # a particle, by its rule's leave
        if (right[:1].isalnum() and not hangul) or (right and right[0] in "_/\\(=@#>}%"):
            return False
        if re.match(r"['’]s[-_/]", self.text[end : end + 3]):  # "yesterday's-news"
            return False
        return not (len(right) == 2 and right[0] in ".-:" and right[1].isalnum())

    def _beside(self, start: int, end: int) -> bool:
        before, after = self.before(start), self.text[end : end + 40]
        return (
            neighbours.in_larger(before, after)
            or neighbours.said_twice(after)
            or neighbours.on_screen(before, self.text[start:end], after)
            or neighbours.any_such(before, after)
            or (neighbours.moves(before, after) and self.tense(start) is None)
        )

    def _dated(self, start: int, end: int) -> bool:
        left, right = self.before(start), self.text[end : end + 40]
        return bool(
            _YEAR_AFTER.match(right)
            or _YEAR_BEFORE.search(left)
            or _DATE_AFTER.match(right)
            or _DATE_BEFORE.search(left)
            or _OWN_DATE.match(self.line(start))
        )


@lru_cache(maxsize=256)
def _is_habit(sentence: str) -> bool:
    return bool(_HABIT.search(sentence))


@lru_cache(maxsize=256)
def _is_duty(sentence: str) -> bool:
    return bool(_DUTY.search(sentence))
