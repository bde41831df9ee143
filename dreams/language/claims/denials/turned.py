"""A claim that has another word where a source has its opposite or counterpart: "written before the flush" for "after". Pure.

Either word stands somewhere in most sessions; what counts is which of the two stands where the rest of the claim does. An
opposite contradicts. What is one of a class (a weekday, a unit, the client and the server) may be so of both, and is not said.
"""

from __future__ import annotations

import heapq
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import NamedTuple

from dreams.language import lexicon
from dreams.language.claims.anchors import Claim
from dreams.language.claims.denials.polarity import QUANTITIES, is_guarded
from dreams.language.claims.field import Field
from dreams.language.claims.terms import Piece, pieces, word_of

FIT = 0.5  # share of the rest of the claim that the place with the opposite must have
MARGIN = 0.15  # by which it must fit better than every place with the claim's own word
MOST_READ = 3_000  # units with one word
READ = 12  # of the best places, whose text is read
AROUND = 40  # code points in front of a word in which a denial is about it
_CODE = re.compile(r"`[^`]*`")
# Words with an opposite that are mostly something else: "on" and "off", "like" and "dislike".
_SELDOM = QUANTITIES | frozenset(
    "include exclude ignore deprecated supported new old on off up down with without must may always never no yes get set "  # noqa: SIM905 - a word list
    "while during like keep source target current".split()
)
_CLASSES = (lexicon.ENVIRONMENTS.values(), lexicon.DAYS, lexicon.UNITS.values())


class Turned(NamedTuple):
    """The claim's word, and the unit that has another in its place; an opposite, or only one of the same class."""

    word: Piece
    place: int
    is_opposite: bool


def _others() -> dict[str, dict[str, bool]]:
    """For each word those that may stand in its place, and whether they are its opposite."""
    found: dict[str, dict[str, bool]] = defaultdict(dict)
    for one, other in lexicon.OPPOSITES:
        if not {one, other} & _SELDOM:
            found[word_of(one)][word_of(other)] = (one, other) not in lexicon.COUNTERPARTS
    for members in _CLASSES:
        words = {word_of(word) for word in members}
        for word in words:
            found[word] |= dict.fromkeys(words - {word}, False)
    return dict(found)


_OTHERS = _others()


def turned_word(field: Field, claim: Claim) -> Turned | None:
    """The first word that another one stands for where the rest of the claim stands best."""
    said = {term for piece in claim.pieces for term in piece.terms}
    for piece in _loose_words(claim):
        own = piece.terms[0]
        others = {f"w:{word}": opposed for word, opposed in _OTHERS.get(own[2:], {}).items()}
        others = {term: opposed for term, opposed in others.items() if term not in said}
        if not others or is_guarded(claim.text[max(0, piece.start - AROUND) : piece.end]):
            continue
        aside = _bits(field, [own])
        here = max((fit for fit, _ in _fits(field, [own], aside)), default=0.0)
        bar = max(FIT, here + MARGIN)
        found = heapq.nlargest(READ, (fit for fit in _fits(field, others, aside, but=own) if fit[0] >= bar))
        for _, place in found:
            if words := _loose(field.evidence.units[place].text) & others.keys():
                return Turned(piece, place, any(others[word] for word in words))
    return None


def _loose(text: str) -> set[str]:
    """The words that stand by themselves in a text, and not as parts of names."""
    return {piece.terms[0] for piece in pieces(text) if len(piece.terms) == 1}


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
