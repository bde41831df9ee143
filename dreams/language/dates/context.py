"""What surrounds a date phrase: code and quotes to keep out of, tense, recurrence, neighbours that forbid it."""

from __future__ import annotations

import bisect
import re
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import Literal

from dreams.language.dates import neighbours

Orientation = Literal["past", "future", "auto"]
AROUND = 300  # code points of a sentence on each side that tell its tense: long texts stay linear
LONGEST = 20_000  # code points read of one text; a line of a note is far shorter

_MASKED = re.compile(
    r"```.*?(?:```|\Z)|~~~.*?(?:~~~|\Z)"
    r"|(?P<ticks>`{1,2})[^\n]{1,400}?(?P=ticks)"
    r"|\b[a-z][a-z0-9+.-]*://\S+|\]\([^)\n]{1,300}\)|\[\[[^\]\n]{1,200}\]\]"
    r"|\{\{[^}\n]{1,200}\}\}|\$\{[^}\n]{1,200}\}"
    r"|\"[^\"\n]{1,300}\"|“[^”\n]{1,300}”|«[^»\n]{1,300}»|<[a-z/!][^>\n]{0,200}>",
    re.DOTALL | re.IGNORECASE,
)
# The end of a sentence: its stop is followed by a space and the word before is no abbreviation or month ("Oct. 2").
_SENTENCE_END = re.compile(r"(?<![A-Z])(?<!\b[A-Za-z]{3})(?<!\be\.g)(?<!\bi\.e)[.!?;]+(?=\s)|\n+")
_FUTURE = re.compile(
    r"\b(?:will|shall|won't|going to|gonna|let's|lets|let us|(?:need|needs|want|wants|plan|plans|planning|hope|hopes|"
    r"aim|intend|have|has|expect|expects) to|must|should|due|deadline|upcoming|expires?|scheduled? (?:for|on|a)|"
    r"schedule|remind|todo|to-do|meet(?= (?:me|on|at|you|us|in|with))|next up|launching|releasing|"
    r"would like to|can you|could you|please|book|tentatively|planned for|target(?:ed|ing|s)? for|"
    r"(?:is|are|['’]s|now|currently|still) (?:expected|planned|slated|set|supposed|on track) (?:to|for))\b|[’']ll\b",
    re.IGNORECASE,
)
_FIRM_FUTURE = re.compile(r"\b(?:will|shall|won't|going to|gonna|let's)\b|[’']ll\b", re.IGNORECASE)
# Past by themselves, whatever stands before them.
_TOLD = re.compile(
    r"\b(?:was|were|did|didn't|had|went|came|saw|ran|broke|wrote|took|gave|began|became|chose|drove|fell|flew|forgot|grew|knew|"
    r"rose|spoke|swore|threw|woke|wore|ate|back in|has been|have been|['’](?:s|ve) been|"
    r"(?:s?he|it) (?:cut|put|set|hit|hurt|shut|read|quit|let|split|spread))\b",
    re.IGNORECASE,
)
# Past too, unless "is", "are" or "gets" makes a custom of them. Verbs whose present looks the same ("we cut", "put") tell nothing.
_DONE = re.compile(
    r"\b(?:met|left|said|told|got|made|built|found|sent|spent|lost|won|paid|bought|sold|felt|kept|held|brought|thought|taught|"
    r"caught|led|meant|slept|stood|stuck|understood|"
    r"(?!(?:need|speed|feed|seed|embed|indeed|exceed|proceed|succeed|shed|bed|red|allowed|needed|wanted|preferred|"
    r"scheduled|planned|expected|based|used|shared|required|proposed|supposed)\b)[a-z]{2,}ed)\b",
    re.IGNORECASE,
)
_CUSTOM = re.compile(
    r"(?:\b(?:is|are|am|be|being|gets?|getting|isn't|aren't|stays?|remains?)|['’](?:re|s))\s+(?!been\b)"
    r"(?:(?:not|only|all|both|then|also|still|now|it|them|never|always|often|\w+ly)\s+){0,2}"
    r"(?:[a-z]{2,}ed|sent|made|held|kept|paid|built|sold|cut|put|set|read|shut|lost|found|hit|taken|given|written|done|run)\b",
    re.IGNORECASE,
)
_CLAUSE = re.compile(r"[,;:()–—\n]|\.\s|\b(?:and|but|so|while|then|because|which|until)\b", re.IGNORECASE)
_REMAINING = re.compile(r"\b(?:days?|hours?|weeks?|months?|time|is|are)\s+left\b", re.IGNORECASE)
# What was decided, wanted or agreed upon lies ahead of the deciding, or happens each time.
_PLANNED = re.compile(
    r"\b(?:(?:was|were|has been|have been|had|we['’]ve)\s+)?(?:decided|agreed|asked|chose|promised|insisted|requested|told \w+|said)\s+"
    r"(?:that|to|for|if|on)\b|\bas (?:agreed|planned|discussed|decided|promised)\b",
    re.IGNORECASE,
)
# A duty of things is a rule ("deploys must happen on Friday"); one of people may be a plan ("we should meet on Friday").
_DUTY = re.compile(
    r"(?<!\bi )(?<!\bwe )(?<!\byou )(?<!\bhe )(?<!\bshe )(?<!\bthey )\b(?:must|should|needs? to|has to|have to)\s+(?!meet|i\b|we\b)|\bare due\b",
    re.IGNORECASE,
)
_HABIT = re.compile(
    r"\b(?:never|always|every|each|any|anyone|anybody|whoever|whenever|usually|typically|generally|regularly|normally|mostly|often|"
    r"sometimes|occasionally|rarely|seldom|weekly|daily|monthly|nightly|hourly|yearly|annual|annually|quarterly|fortnightly|"
    r"bi-?weekly|alternat(?:e|es|ing)|(?:once|twice|times) (?:an?|per)|per (?:day|week|month|year)|as (?:a rule|usual)|per usual|"
    r"by default|used to|policy|policies|rule|rules|convention|cadence|e\.g\.?|"
    r"for example|for instance|such as|recurring|hypothetical(?:ly)?)(?![\w])",
    re.IGNORECASE,
)
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
    r"(?:^|[\n;:]|[.!?]\s)[\s>*+-]*(?:if|unless|when(?:ever)?|in case|suppose)\b[^,.;:]*$", re.IGNORECASE
)
_MOVED = re.compile(
    r"\b(?:mov|reschedul|postpon|shift|push|delay|switch|chang|defer)(?:ed|ing|es|e|s)?\b(?:[^.;:,]{0,30}\b(?:to|from|until|till|for|by))?\s+$",
    re.IGNORECASE,
)
_MENTION = re.compile(
    r"\b(?:say|says|saying|word|words|phrase|phrases|term|terms|like|called|named|labell?ed|mean|means|literally|"
    r"usa)\s+[*_'‘\"]*$",
    re.IGNORECASE,
)
_YEAR_AFTER = re.compile(r"\s*(?:[.,]|of|in)?\s*(?:(?:1[89]|20|21)\d\d\b|['’]\d\d\b)", re.IGNORECASE)
_YEAR_BEFORE = re.compile(r"\b(?:1[89]|20|21)\d\d[\s,/(\[-]*(?:the\s+)?$")
_DATE = r"(?:\d{4}-\d\d(?:-\d\d)?|\d{1,2}[./]\d{1,2}(?:[./]\d{2,4})?(?![.\d]*\d))"
_DATE_AFTER = re.compile(rf"[\s*_]*[(\[,:=]?\s*{_DATE}")
_DATE_BEFORE = re.compile(rf"{_DATE}\s*[(\[,]\s*$")
# "2026-02-20: fixed yesterday" counts from the date that it gives, not from ours.
_MONTHS = r"(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\.?"
_OWN_DATE = re.compile(
    rf"^[\s>*+#\[(-]*(?:[A-Za-z]+\s+){{0,3}}(?:\d{{4}}-\d\d-\d\d|{_MONTHS}\s+\d{{1,2}}(?:st|nd|rd|th)?,?\s+\d{{4}}|\d{{1,2}}\.?\s+{_MONTHS}\s+\d{{4}})",
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
        past, future = _is_past(sentence), _looks_ahead(sentence)
        if past and future and _FIRM_FUTURE.search(sentence):  # "was renewed in March and will expire in May"
            clause = self.clause(start)
            past, future = _is_past(clause), bool(_FIRM_FUTURE.search(clause))
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
        if _OF_MANY.search(before) and not phrase.lower().startswith(("yesterday", "tomorrow", "today")):
            return True
        if _RETURNS.search(phrase) and not _WHICH.search(phrase):
            rule = _is_habit(sentence) or _STANDUP.search(sentence) or _CONDITION.search(before)
            return bool(rule or (_is_duty(sentence) and not _FIRM_FUTURE.search(sentence)))
        return bool(_is_habit(sentence)) and not _is_past(sentence)

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
        return bool(_CUSTOM.search(sentence)) and not _is_past(sentence)

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
def _is_past(sentence: str) -> bool:
    """Whether something is told as done: "was cut", "deployed it"; not "is cut", "gets deployed", "agreed to deploy"."""
    told = _REMAINING.sub(" ", _PLANNED.sub(" ", sentence))
    if _TOLD.search(told):
        return True
    return bool(_DONE.search(told)) and not _CUSTOM.search(told)


@lru_cache(maxsize=256)
def _looks_ahead(sentence: str) -> bool:
    return bool(_FUTURE.search(sentence))


@lru_cache(maxsize=256)
def _is_habit(sentence: str) -> bool:
    return bool(_HABIT.search(sentence))


@lru_cache(maxsize=256)
def _is_duty(sentence: str) -> bool:
    return bool(_DUTY.search(sentence))
