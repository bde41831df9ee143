"""Where the rest of a claim stands: the company that an anchor of the claim should be found in. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import islice

from dreams.language.claims.anchors import Anchor, Claim
from dreams.language.claims.evidence import Evidence
from dreams.language.claims.terms import Piece

REACHES = (0, 1, 3, 8, 25)  # units on each side of a place
COMMONEST = 30_000  # places of a term that are looked at
HEADED = 0.7  # what a heading's word counts beside one that stands in the line itself
_NEARNESS = {
    "code": 8.0,
    "number": 3.0,
}  # pieces of distance at which a word counts half: a number is said of its neighbours


@dataclass(frozen=True, slots=True)
class Company:
    """The terms of a claim around an anchor, with weights; `known` pieces of it stand somewhere in the sources."""

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
        if piece.terms[0] in own or (anchor and anchor.start <= piece.start < anchor.end):
            continue
        shares = _shares(evidence, piece)
        known += bool(shares)
        weight = max(evidence.rarity(term) for term in piece.terms) * _nearness(claim, index, anchor)
        for term, share in shares:
            if term not in own:
                weights[term] = max(weights.get(term, 0.0), share * weight)
    return Company(tuple(weights), tuple(weights.values()), known)


def _shares(evidence: Evidence, piece: Piece) -> list[tuple[str, float]]:
    """The exact term and the humps share a piece's weight."""
    exact, *parts = piece.terms
    shares = [(exact, 0.4 if parts else 1.0), *((part, 0.6 / len(parts)) for part in parts)]
    return [(term, share) for term, share in shares if term in evidence.postings]


def _nearness(claim: Claim, index: int, anchor: Anchor | None) -> float:
    if anchor is None:
        return 1.0
    inside = [i for i, piece in enumerate(claim.pieces) if anchor.start <= piece.start < anchor.end]
    distance = min(abs(index - inside[0]), abs(index - inside[-1]))
    return 1 / (1 + distance / _NEARNESS[anchor.kind])


class Field:
    """Which terms of the company stand in which unit, as bit masks, and how much of its weight a mask has."""

    def __init__(self, evidence: Evidence, company: Company, end: int) -> None:
        self.evidence, self.company, self.end = evidence, company, end
        self.masks: dict[int, int] = {}
        for bit, term in enumerate(company.terms):
            for place in islice(evidence.places(term, end), COMMONEST):
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
        return self.gathered(self.evidence.headings[self.evidence.units[place].part])

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

    def around(self, place: int) -> tuple[float, ...]:
        """The share within each of REACHES; the part's heading counts from the second on."""
        bare, *wider = self.windows(place, REACHES)
        heading = self.heading(place)
        alone = max(self.share(bare), HEADED * self.share(bare | heading))
        return (alone, *(self.share(mask | heading) for mask in wider))

    def richest(self, limit: int) -> list[int]:
        """The units that have the greatest share, the best first."""
        scored = sorted(((-self.share(mask), place) for place, mask in self.masks.items()))
        return [place for _, place in scored[:limit]]
