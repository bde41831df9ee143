"""The company that an anchor of a claim should be found in: the rest of the claim, weighed. Pure."""

from __future__ import annotations

from dataclasses import dataclass

from dreams.language import lexicon
from dreams.language.claims.anchors import Anchor, Claim
from dreams.language.claims.evidence import Evidence
from dreams.language.claims.terms import Piece

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
