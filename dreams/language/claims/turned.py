"""A claim that has the opposite of a source's word: "written before the flush" where the sources flush before they write. Pure.

Either word stands somewhere in most sessions; what counts is which of the two stands where the rest of the claim does.
"""

from __future__ import annotations

import heapq
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from itertools import islice

from dreams.language import lexicon
from dreams.language.claims.anchors import Claim
from dreams.language.claims.field import Field
from dreams.language.claims.polarity import is_guarded
from dreams.language.claims.terms import Piece, pieces, word_of

FIT = 0.5  # share of the rest of the claim that the place with the opposite must have
MARGIN = 0.15  # by which it must fit better than every place with the claim's own word
MOST_READ = 3_000  # units with one word
READ = 12  # of the best places, whose text is read
AROUND = 40  # code points in front of a word in which a denial is about it
# Words with an opposite that are mostly something else: "on" and "off", "all" and "any".
_OTHERWISE = """
include exclude deprecated supported new old on off all any some none this each every up down with without must may always
never no yes get set more less few many while during like keep source target current
"""
_PLAIN = frozenset(_OTHERWISE.split())
_CODE = re.compile(r"`[^`]*`")
# Of these a thing is one: what is said of staging is not said of production.
_GROUPS = (
    tuple(dict.fromkeys(lexicon.ENVIRONMENTS.values())),
    ("linux", "macos", "darwin", "windows"),
    ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"),
    ("january", "february", "march", "april", "june", "july", "august", "september", "october", "november", "december"),
    ("kb", "mb", "gb", "tb"), ("millisecond", "second", "minute", "hour", "day", "week"), ("red", "green", "blue", "yellow", "black", "white"),
    ("enabled", "disabled"), ("enables", "disables"), ("adds", "removes"), ("added", "removed"), ("passed", "failed"), ("passes", "fails"),
)  # fmt: skip


def _opposites() -> dict[str, frozenset[str]]:
    found: dict[str, set[str]] = defaultdict(set)
    for one, other in lexicon.OPPOSITES:
        if not {one, other} & _PLAIN:
            found[word_of(one)].add(word_of(other))
            found[word_of(other)].add(word_of(one))
    for group in _GROUPS:
        words = {word_of(word) for word in group}
        for word in words:
            found[word] |= words
    found.pop(word_of("ignore"), None)  # of a case or a blank, and then nothing includes it
    return {word: frozenset(others - {word}) for word, others in found.items()}


OPPOSITES = _opposites()


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
