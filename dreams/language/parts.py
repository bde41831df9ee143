"""What a statement is made of when it is compared: weighted words, and what must agree before words count. Pure."""

from __future__ import annotations

import functools
import re
from collections import Counter
from dataclasses import dataclass

from dreams.language import lexicon

_DEED = re.compile(r"\W*\w+(?:ing|ment|tion|ions)\W*[:—–-]\s")


@dataclass(frozen=True, slots=True)
class Item:
    """One word that carries meaning: `word` is its stem or canonical form, `clause` the clause it stands in."""

    word: str
    weight: float
    anchor: bool
    clause: int


@dataclass(frozen=True)
class Statement:
    """A text as compared; all sets hold canonical forms."""

    text: str
    items: tuple[Item, ...]
    weights: dict[str, float]
    numbers: frozenset[str]
    codes: frozenset[str]
    names: frozenset[tuple[int, str]]  # (clause, name)
    labelled: bool
    signs: frozenset[str]  # done, open, failed, warned: check boxes and the like
    spans: tuple[str, ...]  # inline code of more than one word
    raw: frozenset[str]
    counts: Counter[str]  # how often each plain word stands there, filler too
    flow: tuple[str, ...]  # every word in order, filler too
    written: tuple[str, ...]  # each of them as it stands there, in small letters; "-shaped" of "dict-shaped"
    clause_of: tuple[int, ...]  # the clause that each of them stands in
    denied: tuple[
        tuple[int, tuple[str, ...]], ...
    ]  # (clause, the next words that carry meaning), for each denial
    opposed: tuple[tuple[int, tuple[str, ...]], ...]  # the same for "instead of X" and "rather than X"
    marked: tuple[tuple[int, str], ...]  # (clause, word of condition or state)
    sides: dict[str, tuple[frozenset[str], frozenset[str]]]
    kind_of_note: bool  # a label in front says only what kind of note it is
    asides: dict[
        int, int
    ]  # clause → the one that its aside begins with; clauses that stand behind a dash or in brackets, or begin with a reason
    asks: bool
    was: frozenset[str]  # what was done to something once: "was stored"
    is_: frozenset[str]  # what is done to it: "is stored"
    passive: frozenset[str]  # what is, was or is to be done to something
    participles: frozenset[str]  # words that may be done to something: "imported"

    @functools.cached_property
    def negations(self) -> tuple[tuple[int, frozenset[str]], ...]:
        """(clause, words denied) for each denial."""
        return tuple((clause, frozenset(words)) for clause, words in self.denied)

    @functools.cached_property
    def contrasts(self) -> tuple[tuple[int, frozenset[str]], ...]:
        return tuple((clause, frozenset(words)) for clause, words in self.opposed)

    @functools.cached_property
    def weight(self) -> float:
        return sum(self.weights.values())

    @property
    def environments(self) -> frozenset[str]:
        return frozenset(lexicon.ENVIRONMENTS[word] for word in self.raw if word in lexicon.ENVIRONMENTS)

    @property
    def days(self) -> frozenset[str]:
        return self.raw & lexicon.DAYS

    @functools.cached_property
    def telling(self) -> dict[str, float]:
        """The weights without words that every note may have ("user", "use", "note"), if any other is there."""
        body = {item.word for item in self.items if item.clause or not self.kind_of_note}
        told = {word: self.weights[word] for word in body if word not in lexicon.GENERIC}
        return told or self.weights

    @property
    def topical(self) -> bool:
        """Whether it names what there is to know instead of saying it: "Release checklist"."""
        return bool(self.raw & lexicon.TOPICS) and not self.negations and not self.raw & lexicon.STRONG

    @functools.cached_property
    def label_of_kind(self) -> bool:
        """ "Gotcha: ..." and "Testing: ..."; "Production: ..." says where it holds."""
        words = [word for word, clause in zip(self.flow, self.clause_of, strict=True) if clause == 0]
        return self.labelled and (self.kind_of_note or (len(words) == 1 and bool(_DEED.match(self.text))))

    def touched(self, other: Statement) -> set[int]:
        """The clauses that have a word of `other`."""
        return {item.clause for item in self.items if item.word in other.weights}

    def named(self, other: Statement) -> set[str]:
        """Names that `other` lacks. A label in front ("OS and tooling: ...") only says what kind of note it is."""
        label = 0 if self.labelled and 0 not in self.touched(other) else -1
        return {name for clause, name in self.names if name not in other.weights and clause != label}

    def marks(self, other: Statement) -> set[str]:
        """Conditions and states in clauses that have to do with `other`, and in a label ("Planned: ...")."""
        touched = self.touched(other)
        return {
            word
            for clause, word in self.marked
            if clause in touched or (clause == 0 and self.labelled and word in lexicon.UNSETTLED)
        }

    def negated(self, other: Statement, *, contrasts: bool = False) -> list[frozenset[str]]:
        """For each denial (or contrast) in clauses that have to do with `other`, the words denied."""
        touched = self.touched(other)
        return [
            words for clause, words in (self.contrasts if contrasts else self.negations) if clause in touched
        ]

    @functools.cached_property
    def clauses(self) -> dict[int, set[str]]:
        """The words of each clause that has any."""
        found: dict[int, set[str]] = {}
        for item in self.items:
            found.setdefault(item.clause, set()).add(item.word)
        return found
