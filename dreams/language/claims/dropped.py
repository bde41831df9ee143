"""Whether a claim says plainly what the sources deny: "can be split" where they have "cannot be split". Pure.

Only a word right behind an auxiliary is looked at, and only in the units that fit the claim best: farther off, a denial is
hardly ever about the same thing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from dreams.language.claims.anchors import Claim
from dreams.language.claims.company import Field
from dreams.language.claims.polarity import denials, is_guarded

BEST = 2  # units that must all deny the word
FIT = 0.25  # share of the claim's words that such a unit must have
_AUXILIARY = re.compile(
    r"\b(?:is|are|was|were|be|can|could|does|do|did|should|will|would|must|has|have|had|may|with)\b",
    re.IGNORECASE,
)
_BEHIND = 12  # code points between an auxiliary and its word
_AROUND = 28


def dropped(field: Field, claim: Claim) -> int | None:
    """The unit that denies what the claim says; None where the best units do not."""
    for term in _said(claim):
        fitting = sorted((-field.at(place), place) for place in field.evidence.places(term, field.end))[:BEST]
        places = [place for share, place in fitting if -share >= FIT]
        if places and all(_denies(field.evidence.units[place].text, term) for place in places):
            return places[0]
    return None


def _said(claim: Claim) -> Iterator[str]:
    """The words that the claim says of its subject without a denial near them."""
    for match in _AUXILIARY.finditer(claim.text):
        if is_guarded(claim.text[max(0, match.start() - _AROUND) : match.end() + _AROUND]):
            continue
        behind = next((piece for piece in claim.pieces if piece.start >= match.end()), None)
        if behind and behind.start - match.end() <= _BEHIND:
            yield behind.terms[0]


def _denies(text: str, term: str) -> bool:
    return any(term in denial.scope[:2] for denial in denials(text))
