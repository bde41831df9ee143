"""What surrounds a date phrase: code and quotes to keep out of, tense, recurrence, neighbours that forbid it."""

from __future__ import annotations

import bisect
import re
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal

Orientation = Literal["past", "future", "auto"]
AROUND = 300  # code points of a sentence on each side that tell its tense: long texts stay linear
LONGEST = 20_000  # code points read of one text; a line of a note is far shorter

_MASKED = re.compile(
    r"```.*?(?:```|\Z)|~~~.*?(?:~~~|\Z)"
    r"|(?P<ticks>`{1,2})[^\n]{1,400}?(?P=ticks)"
    r"|\b[a-z][a-z0-9+.-]*://\S+|\]\([^)\n]{1,300}\)|\[\[[^\]\n]{1,200}\]\]"
    r"|\"[^\"\n]{1,300}\"|“[^”\n]{1,300}”|«[^»\n]{1,300}»|<[a-z/!][^>\n]{0,200}>",
    re.DOTALL | re.IGNORECASE,
)
# The end of a sentence: its stop is followed by a space and the word before is no abbreviation or month ("Oct. 2").
_SENTENCE_END = re.compile(r"(?<![A-Z])(?<!\b[A-Za-z]{3})(?<!\be\.g)(?<!\bi\.e)[.!?;]+(?=\s)|\n+")
_FUTURE = re.compile(
    r"\b(?:will|shall|won't|going to|gonna|let's|lets|let us|(?:need|needs|want|wants|plan|plans|planning|hope|hopes|"
    r"aim|intend|have|has|expect|expects) to|must|should|due|deadline|upcoming|expires?|scheduled? (?:for|on|a)|"
    r"schedule|remind|todo|to-do|meet(?= (?:me|on|at|you|us|in|with))|next up|launch(?:es|ing)|releas(?:es|ing)|"
    r"would like to|can you|could you|please|book|tentatively|planned for)\b|[’']ll\b",
    re.IGNORECASE,
)
_FIRM_FUTURE = re.compile(r"\b(?:will|shall|won't|going to|gonna|let's)\b|[’']ll\b", re.IGNORECASE)
_PAST = re.compile(
    r"\b(?:was|were|did|didn't|had|went|came|met|left|saw|said|told|got|made|ran|broke|built|wrote|took|gave|found|"
    r"sent|spent|lost|won|paid|bought|sold|began|became|felt|kept|held|brought|thought|taught|caught|chose|drove|fell|"
    r"flew|forgot|grew|hit|knew|led|meant|put|rose|shut|slept|spoke|stood|stuck|swore|threw|understood|woke|wore|"
    r"ate|cut|hurt|has been|have been|(?!(?:need|speed|feed|seed|embed|indeed|exceed|proceed|succeed|shed|bed|red|"
    r"scheduled|planned|expected|based|used|shared|required|proposed|supposed)\b)[a-z]{2,}ed)\b",
    re.IGNORECASE,
)
_HABIT = re.compile(
    r"\b(?:never|always|every|each|whenever|usually|typically|generally|regularly|weekly|daily|monthly|e\.g\.?|"
    r"for example|for instance|such as|recurring|hypothetical(?:ly)?)(?![\w])",
    re.IGNORECASE,
)
_MENTION = re.compile(
    r"\b(?:say|says|saying|word|words|phrase|phrases|term|terms|like|called|named|labell?ed|mean|means|literally|"
    r"usa)\s+[*_'‘\"]*$",
    re.IGNORECASE,
)
_YEAR_AFTER = re.compile(r"\s*(?:[.,]|of|in)?\s*(?:(?:1[89]|20|21)\d\d\b|['’]\d\d\b)", re.IGNORECASE)
_YEAR_BEFORE = re.compile(r"\b(?:1[89]|20|21)\d\d[\s,/(\[-]*(?:the\s+)?$")
_DATE = r"(?:\d{4}-\d\d(?:-\d\d)?|\d{1,2}[./]\d{1,2}(?:[./]\d{2,4})?(?!\d))"
_DATE_AFTER = re.compile(rf"[\s*_]*[(\[,:=]?\s*{_DATE}")
_DATE_BEFORE = re.compile(rf"{_DATE}\s*[(\[,]\s*$")
# "2026-02-20: fixed yesterday" counts from the date that it gives, not from ours.
_OWN_DATE = re.compile(r"^[\s>*+#\[(-]*\d{4}-\d\d-\d\d")


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
        return self.text[max(begin, start - AROUND) : min(stop, start + AROUND)]

    def line(self, start: int) -> str:
        begin = self.text.rfind("\n", 0, start) + 1
        stop = self.text.find("\n", start)
        return self.text[begin : min(stop if stop >= 0 else len(self.text), begin + AROUND)]

    def before(self, start: int) -> str:
        """The few words before a place: enough for a preposition, and no more to search."""
        return self.text[max(0, start - 40) : start]

    def alone(self, start: int, end: int) -> bool:
        """Nothing but the phrase is there: a label or a heading."""
        return not re.search(r"\w", self.text[:start] + self.text[end:])

    def tense(self, start: int) -> Literal["past", "future"] | None:
        """Which way the sentence around `start` looks, None if it does not say."""
        if self.orientation != "auto":
            return self.orientation
        sentence = self.sentence(start)
        past, future = _PAST.search(sentence), _FUTURE.search(sentence)
        if future and (not past or _FIRM_FUTURE.search(sentence)):
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
            or self._habitual(start)
        )

    def _heading(self, start: int) -> bool:
        """A heading names its section, often for good ("## This week")."""
        return bool(re.match(r"\s{0,3}#{1,6}\s", self.line(start)))

    def _habitual(self, start: int) -> bool:
        """A rule or an example, unless it tells what was done."""
        sentence = self.sentence(start)
        return bool(_HABIT.search(sentence)) and not _PAST.search(sentence)

    def _bounded(self, start: int, end: int) -> bool:
        """Words, not pieces of identifiers, paths, versions or flags."""
        left, right = self.text[max(0, start - 1) : start], self.text[end : end + 2]
        if left and (left.isalnum() or left in "_/\\.@#$%&=-+<{~"):
            return False
        if right[:1].isalnum() or (right and right[0] in "_/\\(=@#>}%"):
            return False
        return not (len(right) == 2 and right[0] in ".-:" and right[1].isalnum())

    def _dated(self, start: int, end: int) -> bool:
        left, right = self.before(start), self.text[end : end + 40]
        return bool(
            _YEAR_AFTER.match(right)
            or _YEAR_BEFORE.search(left)
            or _DATE_AFTER.match(right)
            or _DATE_BEFORE.search(left)
            or _OWN_DATE.match(self.line(start))
        )
