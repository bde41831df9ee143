"""Two texts side by side, and what stands where in them. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from dreams.language import lexicon
from dreams.language.edits import LEAST_WORDS, edit
from dreams.language.parts import Item, Statement
from dreams.language.retold.alignment import Alignment
from dreams.language.retold.units import LIGHT, Told

ALL = 0.99  # of a text's weight
NEAR = 2  # items between which a name and a word stand side by side
CLOSE, CLOSE_COPY, NEARLY = 0.5, 0.4, 0.35  # of the longer one's weight told by the shorter one


@dataclass(frozen=True)
class Pair:
    """The shorter text and the longer one, the latter in the words of the former."""

    short: Statement
    long: Statement
    one: Told
    other: Told
    found: Alignment

    @cached_property
    def copy(self) -> bool:
        return edit(self.short, self.long).copy

    @property
    def brief(self) -> bool:
        """Too short to be told as a copy."""
        return min(len(self.short.flow), len(self.long.flow)) <= LEAST_WORDS

    @cached_property
    def common(self) -> frozenset[str]:
        return frozenset(self.short.weights) & frozenset(self.long.weights)

    @cached_property
    def weights(self) -> dict[str, float]:
        """Of the words that both have."""
        return {word: self.short.weights[word] for word in self.common}

    @cached_property
    def close(self) -> bool:
        """Whether next to nothing else is told by the longer one, so that each detail counts."""
        return self.found.covering >= (CLOSE_COPY if self.copy or self.brief else CLOSE)

    @property
    def near(self) -> bool:
        """Whether enough of the longer one is told for how much it says of it to count."""
        return self.found.covering >= NEARLY


def matched(pair: Pair) -> tuple[frozenset[str], frozenset[str]]:
    mine = frozenset(pair.one.units[i].word for i, _, _ in pair.found.pairs)
    theirs = frozenset(pair.other.units[j].word for _, j, _ in pair.found.pairs)
    return mine | pair.common, theirs | pair.common


def telling(one: Statement) -> list[Item]:
    return [item for item in one.items if item.word not in LIGHT and item.word not in lexicon.GENERIC]


def beside(one: Statement, word: str, common: frozenset[str]) -> set[str]:
    """The words of both texts that stand next to it in its clause."""
    items = telling(one)
    return {
        other.word
        for place, item in enumerate(items)
        if item.word == word
        for at in range(max(0, place - NEAR), min(len(items), place + NEAR + 1))
        if (other := items[at]).word in common and other.clause == item.clause
    }


def lead(one: Statement, place: int) -> str:
    """The "for" or "in" in front of its phrase, if any."""
    at = place - 1
    while at >= 0 and one.clause_of[at] == one.clause_of[place] and one.flow[at] in lexicon.ARTICLES:
        at -= 1
    inside = at >= 0 and one.clause_of[at] == one.clause_of[place]
    return one.flow[at] if inside and one.flow[at] in lexicon.PHRASE_STARTS else ""
