"""The company that an anchor of a claim should be found in, weighed, and where in the sources it is. Pure."""

from __future__ import annotations

import heapq
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

from dreams.lib.prose import lexicon
from dreams.lib.prose.claims.anchors import Anchor, Claim
from dreams.lib.prose.claims.evidence import Evidence
from dreams.lib.prose.claims.terms import Piece

# Pieces of distance at which a word counts half: a number is said of its neighbours.
_NEARNESS = {"code": 4.0, "number": 3.0}
NAMED = 2.0  # what a name counts beside a word: it is seldom there by chance
_WHOLE = 0.4  # of a name's weight, what the name itself has; its words share the rest


@dataclass(frozen=True, slots=True)
class Company:
    """The terms of a claim around an anchor, with weights.

    `known`: how many pieces of it stand somewhere in the sources, a name of several words counted twice.
    """

    terms: tuple[str, ...]
    weights: tuple[float, ...]
    known: int

    @property
    def total(self) -> float:
        return sum(self.weights)


def company_of(evidence: Evidence, claim: Claim, anchor: Anchor | None) -> Company:
    """The claim without the anchor; what stands near the anchor counts more, what stands in no source not at all."""
    weights: dict[str, float] = {}
    known = 0
    own = {term for piece in anchor.pieces for term in piece.terms} if anchor else set()
    for index, piece in enumerate(claim.pieces):
        if piece.text.lower() in lexicon.NEGATIONS:
            continue  # a denial is weighed by itself, and must not draw to whatever else is denied
        if piece.terms[0] in own or (anchor and anchor.start <= piece.start < anchor.end):
            continue
        shares = _shares(evidence, piece)
        known += (2 if len(piece.terms) > 2 else 1) if shares else 0
        weight = max(evidence.rarity(term) for term in piece.terms) * _nearness(claim, index, anchor)
        if piece.terms[0].startswith("i:"):
            weight *= NAMED
        for term, share in shares:
            if term not in own:
                weights[term] = max(weights.get(term, 0.0), share * weight)
    return Company(tuple(weights), tuple(weights.values()), known)


def _shares(evidence: Evidence, piece: Piece) -> list[tuple[str, float]]:
    """The exact term and the humps share a piece's weight."""
    exact, *parts = piece.terms
    shares = [(exact, _WHOLE if parts else 1.0), *((part, (1 - _WHOLE) / len(parts)) for part in parts)]
    return [(term, share) for term, share in shares if term in evidence.postings]


def _nearness(claim: Claim, index: int, anchor: Anchor | None) -> float:
    if anchor is None:
        return 1.0
    inside = [i for i, piece in enumerate(claim.pieces) if anchor.start <= piece.start < anchor.end]
    distance = min(abs(index - inside[0]), abs(index - inside[-1])) if inside else 0
    return 1 / (1 + distance / _NEARNESS[anchor.kind])


REACHES = (0, 1, 3, 25)  # units on each side of a place
COMMONEST = 30_000  # places of one term that are looked at
MOST_READ = 10_000  # places of all terms of a company together
RICHEST = 80
HEADED = 0.7  # what a heading's word counts beside one that stands in the line itself
LENGTH = 0.00025  # share that a code point more costs a unit: a fifth for the longest
Shares = tuple[float, ...]


class Field:
    """Which terms of the company stand in which unit before `end`, as bit masks, and how much of its weight a mask has."""

    def __init__(self, evidence: Evidence, company: Company, end: int) -> None:
        self.evidence, self.company, self.end = evidence, company, end
        self.masks: dict[int, int] = {}
        left = MOST_READ
        for bit in sorted(
            range(len(company.terms)), key=lambda bit: len(evidence.postings[company.terms[bit]])
        ):
            places = evidence.postings[company.terms[bit]]
            if len(places) > left:
                break  # the commonest words tell least and cost most
            left -= len(places)
            for place in places:
                if place >= end:
                    break
                self.masks[place] = self.masks.get(place, 0) | 1 << bit
        self._total = company.total or 1.0
        self._known: dict[int, float] = {}

    def share(self, mask: int) -> float:
        """The share (0 to 1) of the company's weight that a mask has."""
        known = self._known.get(mask)
        if known is None:
            weights = self.company.weights
            known = sum(weights[bit] for bit in range(mask.bit_length()) if mask >> bit & 1) / self._total
            self._known[mask] = known
        return known

    def at(self, place: int) -> float:
        return self.share(self.masks.get(place, 0))

    def gathered(self, units: Iterable[int]) -> int:
        mask = 0
        for unit in units:
            mask |= self.masks.get(unit, 0)
        return mask

    def heading(self, place: int) -> int:
        """What the part's heading has, and the lines that a unit stands under."""
        evidence = self.evidence
        heading = evidence.headings[evidence.units[place].part]
        return self.gathered(heading) | self.gathered(evidence.above(place))

    def windows(self, place: int, reaches: Iterable[int]) -> list[int]:
        """The masks of the units within each reach (rising) of a place, inside its part."""
        first, last = self.evidence.bounds(place)
        last = min(last, self.end)
        low, high, mask = place, place, self.masks.get(place, 0)
        masks = []
        for reach in reaches:
            lower, higher = max(first, place - reach), min(last - 1, place + reach)
            mask |= self.gathered(range(lower, low)) | self.gathered(range(high + 1, higher + 1))
            low, high = lower, higher
            masks.append(mask)
        return masks

    def around(self, place: int) -> Shares:
        """The share within each of REACHES; the part's heading counts from the second on."""
        bare, *wider = self.windows(place, REACHES)
        heading = self.heading(place)
        alone = max(self.share(bare), HEADED * self.share(bare | heading))
        return (alone, *(self.share(mask | heading) for mask in wider))

    def fitness(self, place: int) -> float:
        """How well a unit fits: what it says itself, and what the lines around it say."""
        return (self.at(place) + self.around(place)[1]) / 2

    def beside(self, place: int) -> range:
        """A place and the units right before and behind it, inside its part."""
        first, last = self.evidence.bounds(place)
        return range(max(first, place - 1), min(last, self.end, place + 2))

    def together(self, place: int) -> int:
        """How many different terms stand within a line of a place or in its heading."""
        return (self.windows(place, (1,))[0] | self.heading(place)).bit_count()

    def richest(self, limit: int) -> list[int]:
        """The units that have the greatest share, the best first; at most RICHEST."""
        return self._richest[:limit]

    @cached_property
    def _richest(self) -> list[int]:
        share, units = self.share, self.evidence.units
        scored = (
            (LENGTH * len(units[place].text) - share(mask), place) for place, mask in self.masks.items()
        )
        return [place for _, place in heapq.nsmallest(RICHEST, scored)]

    def density(self, place: int) -> float:
        """The share that a unit has, less for a long one: a short line that says it all speaks of nothing else."""
        return self.at(place) - LENGTH * len(self.evidence.units[place].text)

    @cached_property
    def lines(self) -> dict[int, float]:
        """For each unit with a term within a line of it, the share that stands there."""
        units, found = self.evidence.units, dict[int, int]()
        for place, mask in self.masks.items():
            found[place] = found.get(place, 0) | mask
            part = units[place].part
            for other in (place - 1, place + 1):
                if 0 <= other < self.end and units[other].part == part:
                    found[other] = found.get(other, 0) | mask
        return {place: self.share(mask) for place, mask in found.items()}
