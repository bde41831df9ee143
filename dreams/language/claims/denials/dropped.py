"""Whether a claim says plainly what the sources deny: "can be split" where they have "cannot be split". Pure.

Only a word right behind an auxiliary is looked at, and only in the units that fit the claim best: farther off, a denial is
hardly ever about the same thing.
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterator, Sequence
from itertools import islice

from dreams.language.claims.anchors import Claim
from dreams.language.claims.denials.polarity import WEIGHED, denials, has_cue, is_guarded, together
from dreams.language.claims.field import Field

BEST = 2  # units that must all deny the word
FIT = 0.25  # share of the claim's words that such a unit must have
RICHEST, SURE, MARGIN = 80, 0.4, 0.1
AHEAD = 40  # code points in front of a word in which a denial is about it
_AUXILIARY = re.compile(
    r"\b(?:is|are|was|were|be|can|could|does|do|did|should|will|would|must|has|have|had|may|with)\b",
    re.IGNORECASE,
)
_BEHIND = 12  # code points between an auxiliary and its word
_AROUND = 28


def dropped(field: Field, claim: Claim) -> int | None:
    """The unit that denies what the claim says; None where the best units do not."""
    said = {term for piece in claim.pieces for term in piece.terms}
    for term in _said(claim):
        fitting = sorted((-field.at(place), place) for place in field.evidence.places(term, field.end))[:BEST]
        places = [place for share, place in fitting if -share >= FIT]
        if places and all(_denies(field.evidence.units[place].text, term, said) for place in places):
            return places[0]
    return None


def outweighed(field: Field, claim: Claim) -> int | None:
    """The unit that denies what the claim says, and fits it far better than every unit that says it plainly."""
    for place in field.richest(RICHEST):
        if field.fitness(place) < SURE:
            continue
        for denial in denials(field.evidence.units[place].text):
            words = denial.scope[:2]
            if (
                len(words) == 2
                and _says(claim, words)
                and field.fitness(place) > _plainly(field, words) + MARGIN
            ):
                return place
    return None


def _says(claim: Claim, words: Sequence[str]) -> bool:
    """Whether the claim has two words as a source has them, and no denial around them."""
    found = together(claim.pieces, words)
    if not found:
        return False
    first, last = found
    around = claim.text[max(0, first.start - AHEAD) : first.start], claim.text[last.end : last.end + _BEHIND]
    return not any(map(is_guarded, around))


def _plainly(field: Field, words: Sequence[str]) -> float:
    """How well the best unit fits that says the words without a denial."""
    units = field.evidence.units
    places = [set(islice(field.evidence.places(word, field.end), WEIGHED)) for word in words]
    return max(
        (field.fitness(p) for p in set.intersection(*places) if not has_cue(units[p].text, words)),
        default=0.0,
    )


def _said(claim: Claim) -> Iterator[str]:
    """The words that the claim says of its subject without a denial near them."""
    for match in _AUXILIARY.finditer(claim.text):
        if is_guarded(claim.text[max(0, match.start() - _AROUND) : match.end() + _AROUND]):
            continue
        behind = next((piece for piece in claim.pieces if piece.start >= match.end()), None)
        if behind and behind.start - match.end() <= _BEHIND:
            yield behind.terms[0]


def _denies(text: str, term: str, said: Container[str]) -> bool:
    """ "No changes are applied" denies changes, and says nothing of a patch that is applied."""
    scopes = (denial.scope[:2] for denial in denials(text))
    return any(term in scope and all(word in said for word in scope[: scope.index(term)]) for scope in scopes)
