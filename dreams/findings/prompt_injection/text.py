"""Where ideas stand in a text, and where several stand near each other in one sentence. PURE.

An idea is a pattern of re2, which runs in linear time, so that no line can hang a check. What ideas meet is told from
their places alone: one pattern of many ideas outgrows re2's memory and turns slow.

Tables write ideas as rows: "‹send|post› … {HOST} || ‹there› … 60" is one of two words, and a host or "there" at most 60
characters behind it.
"""

import functools
import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from operator import itemgetter
from typing import cast

import re2

Span = tuple[int, int]
_STOP = re.compile(r"[.!?](?=\s|$)|[;\n。！？]")  # the dot of a file or a host ends no sentence
_MARKS = '.,;:!?)]"”`'
_SHORT = 80  # characters of a sentence that a finding quotes
_TOGETHER = 32  # ideas looked for in one pass: of more, re2 makes so many states that it is slower
NEARBY = 40  # characters between two parts of an idea; chosen
_MEMORY = 8 << 20  # bytes for the states of one pass


@dataclass(frozen=True, slots=True)
class Match:
    """What stands between two places of a text."""

    text: str
    start: int
    end: int

    @property
    def words(self) -> str:
        return self.text[self.start : self.end]

    @property
    def quote(self) -> str:
        """Its sentence where that is short, else its words, none of them cut."""
        sentence = self.sentence.strip(" \t*>-")
        return sentence if len(sentence) <= _SHORT else self.words + self._rest_of_word()

    def _rest_of_word(self) -> str:
        rest = self.after[:_SHORT].split(maxsplit=1) or [""]
        return "" if self.after[:1].isspace() else rest[0].rstrip(_MARKS)

    @property
    def before(self) -> str:
        return self.text[: self.start]

    @property
    def after(self) -> str:
        return self.text[self.end :]

    @property
    def sentence(self) -> str:
        stops = (-1, *_stops(self.text), len(self.text))
        return self.text[stops[bisect_left(stops, self.start) - 1] + 1 : stops[bisect_left(stops, self.end)]]


@dataclass(frozen=True, slots=True, eq=False)
class Near:
    """Ideas in this order, each at most `within` characters behind the one before, in one sentence."""

    ideas: "tuple[Idea, ...]"
    within: int


Idea = str | Near | tuple["str | Near", ...]  # several: any of them


def near(*ideas: Idea, within: int = NEARBY) -> Near:
    return Near(ideas, within)


def words(*alternatives: str) -> str:
    return rf"\b(?:{'|'.join(alternatives)})\b"


def idea_of(row: Idea) -> Idea:
    """What a row of a table says: what stands between " … " is met in this order, each part at most as far behind the one
    before as the number at its end says; " || " parts ways to say it, and ‹a|b› are whole words."""
    if not isinstance(row, str):
        return row
    *parts, last = row.replace("‹", r"\b(?:").replace("›", r")\b").split(" … ")
    if not parts:
        return last
    within = [int(last)] if last.isdecimal() else []
    met = parts if within else [*parts, last]
    ideas = (tuple(ways) if len(ways := part.split(" || ")) > 1 else part for part in met)
    return Near(tuple(ideas), *(within or [NEARBY]))


class PatternIndex:
    """All the patterns that may be asked for, to tell in few passes over a text which of them it has at all."""

    def __init__(self, ideas: Iterable[Idea]) -> None:
        asked = list(ideas)
        every = list(dict.fromkeys(pattern for idea in asked for pattern in _patterns(idea)))
        self._passes = [every[at : at + _TOGETHER] for at in range(0, len(every), _TOGETHER)]
        self._sets = [_set_of(patterns) for patterns in self._passes]
        self._begun: dict[str, list[Idea]] = {}
        for idea in asked:
            for pattern in _firsts(idea):
                self._begun.setdefault(pattern, []).append(idea)
        self._needed = {idea: _needed(idea) for idea in asked}

    def present(self, text: str) -> set[str]:
        found: set[str] = set()
        encoded = text.encode()
        for patterns, each in zip(self._passes, self._sets, strict=True):
            matched = each.Match(encoded) or ()
            if len(patterns) in matched:
                found.update(patterns[at] for at in matched if at < len(patterns))
            else:  # out of memory: then each is asked alone
                found.update(patterns)
        return found

    def possible(self, present: set[str]) -> set[Idea]:
        """The ideas of which each part is there. Where, and whether near each other, costs much more to tell."""
        begun = {idea for pattern in present for idea in self._begun.get(pattern, ())}
        return {idea for idea in begun if not any(map(present.isdisjoint, self._needed[idea]))}


class Text:
    """A text that is asked for many ideas; each is looked for once."""

    def __init__(self, text: str, index: PatternIndex) -> None:
        self.text = text
        self._present = index.present(text)
        self.possible = index.possible(self._present)
        self._known: dict[Idea, list[Span]] = {}

    def lacks(self, ideas: Iterable[Idea]) -> bool:
        """Whether it surely has none of the ideas. So it is with most: a text has to do with few."""
        return self.possible.isdisjoint(ideas)

    def places(self, idea: Idea) -> list[Match]:
        """Where one of the ideas stands that the index was made of."""
        if idea not in self.possible:
            return []
        return [Match(self.text, start, end) for start, end in self._spans(idea)]

    def _spans(self, idea: Idea) -> list[Span]:
        if isinstance(idea, str) and idea not in self._present:
            return []
        known = self._known.get(idea)
        if known is None:
            known = self._known[idea] = self._sought(idea)
        return known

    def _sought(self, idea: Idea) -> list[Span]:
        if isinstance(idea, Near):
            return self._met(idea)
        if isinstance(idea, tuple):
            return sorted(span for each in idea for span in self._spans(each))
        return [match.span() for match in _compiled(idea).finditer(self.text)]

    def _met(self, idea: Near) -> list[Span]:
        met = self._spans(idea.ideas[0])
        for each in idea.ideas[1:]:
            met = self._joined(met, self._spans(each), idea.within) if met else met
        return met

    def _joined(self, firsts: list[Span], nexts: list[Span], within: int) -> list[Span]:
        """Each next that stands closely enough behind a first; of several firsts the nearest."""
        firsts = sorted(firsts, key=itemgetter(1))
        ends = [end for _, end in firsts]
        joined = []
        for start, end in nexts:
            at = bisect_right(ends, start) - 1
            if at >= 0 and start <= ends[at] + within and not self._parted(ends[at], start):
                joined.append((firsts[at][0], end))
        return joined

    def _parted(self, start: int, end: int) -> bool:
        """Whether a sentence ends between two places."""
        stops = _stops(self.text)
        at = bisect_left(stops, start)
        return at < len(stops) and stops[at] < end


@functools.lru_cache(maxsize=8)
def _stops(text: str) -> tuple[int, ...]:
    """Where its sentences end."""
    return tuple(found.start() for found in _STOP.finditer(text))


def _patterns(idea: Idea) -> Iterator[str]:
    if isinstance(idea, str):
        yield idea
    else:
        for each in idea.ideas if isinstance(idea, Near) else idea:
            yield from _patterns(each)


def _firsts(idea: Idea) -> Iterator[str]:
    """What a text must have for an idea to begin."""
    if isinstance(idea, tuple):
        for each in idea:
            yield from _firsts(each)
    else:
        yield from _firsts(idea.ideas[0]) if isinstance(idea, Near) else [idea]


def _needed(idea: Idea) -> list[frozenset[str]]:
    """Of each part the patterns of which a text must have one."""
    parts = idea.ideas if isinstance(idea, Near) else (idea,)
    return [frozenset(_firsts(part)) for part in parts]


def _set_of(patterns: list[str]) -> re2.Set:
    """The patterns as one, and behind them one that every text has: where it is not found, re2 gave up."""
    options = re2.Options()
    options.max_mem = _MEMORY
    options.log_errors = False
    made = re2.Set.SearchSet(options)
    for pattern in patterns:
        made.Add(f"(?i){pattern}")
    made.Add("")
    made.Compile()
    return made


@functools.cache
def _compiled(pattern: str) -> re.Pattern[str]:
    """Only the patterns of these modules, some four hundred."""
    return cast("re.Pattern[str]", re2.compile(f"(?i){pattern}"))
