"""Where a company stands in the sources: which of its terms are in which unit, and how much of its weight. Pure."""

from __future__ import annotations

import heapq
from collections.abc import Iterable
from functools import cached_property

from dreams.language.claims.binding.company import Company
from dreams.language.claims.evidence import Evidence

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
