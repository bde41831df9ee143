"""A claim that has the opposite of a source's word: "written before the flush" where the sources flush before they write. Pure.

Either word stands somewhere in most sessions; what counts is which of the two stands where the rest of the claim does.
"""

from __future__ import annotations

import heapq
import re
from collections.abc import Iterable, Iterator
from itertools import islice

from dreams.language.claims.anchors import Claim
from dreams.language.claims.denials.opposites import OPPOSITES
from dreams.language.claims.denials.polarity import is_guarded
from dreams.language.claims.field import Field
from dreams.language.claims.terms import Piece, pieces

FIT = 0.5  # share of the rest of the claim that the place with the opposite must have
MARGIN = 0.15  # by which it must fit better than every place with the claim's own word
MOST_READ = 3_000  # units with one word
READ = 12  # of the best places, whose text is read
AROUND = 40  # code points in front of a word in which a denial is about it
_CODE = re.compile(r"`[^`]*`")


def turned_word(field: Field, claim: Claim) -> tuple[Piece, int] | None:
    """The claim's word, and the unit that has its opposite where the rest of the claim stands; None if there is none."""
    said = {term for piece in claim.pieces for term in piece.terms}
    for piece in _loose_words(claim):
        own = piece.terms[0]
        if is_guarded(claim.text[max(0, piece.start - AROUND) : piece.end]):
            continue
        others = [f"w:{word}" for word in OPPOSITES.get(own[2:], ()) if f"w:{word}" not in said]
        if not others:
            continue
        aside = _bits(field, [own])
        here = max((fit for fit, _ in _fits(field, [own], aside)), default=0.0)
        bar = max(FIT, here + MARGIN)
        found = heapq.nlargest(READ, (fit for fit in _fits(field, others, aside, but=own) if fit[0] >= bar))
        for _, place in found:
            if _has_word(field.evidence.units[place].text, others):
                return piece, place
    return None


def _has_word(text: str, terms: Iterable[str]) -> bool:
    """Whether a text has one of the words by itself, and not as a part of a name."""
    wanted = set(terms)
    return any(len(piece.terms) == 1 and piece.terms[0] in wanted for piece in pieces(text))


def _loose_words(claim: Claim) -> Iterator[Piece]:
    code = [match.span() for match in _CODE.finditer(claim.text)]
    for piece in claim.pieces:
        if (
            len(piece.terms) == 1
            and piece.terms[0][:2] == "w:"
            and not any(s <= piece.start < e for s, e in code)
        ):
            yield piece


def _bits(field: Field, terms: Iterable[str]) -> int:
    known = set(terms)
    return sum(1 << bit for bit, term in enumerate(field.company.terms) if term in known)


def _fits(field: Field, terms: Iterable[str], aside: int, but: str = "") -> Iterator[tuple[float, int]]:
    """For the units with one of the terms (and not with `but`), the share of the claim without the word itself."""
    whole = field.share(~aside & ((1 << len(field.company.terms)) - 1)) or 1.0
    banned = set(field.evidence.places(but, field.end)) if but else ()
    for term in terms:
        for place in islice(field.evidence.places(term, field.end), MOST_READ):
            if place not in banned:
                yield field.share(field.masks.get(place, 0) & ~aside) / whole, place
