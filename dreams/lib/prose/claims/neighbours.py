"""What is right beside an anchor: the company in its own line, the word that a number counts, other names that fit as well. Pure."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from itertools import chain, islice
from typing import NamedTuple

from dreams.lib.prose.claims.anchors import Anchor, Claim, shape
from dreams.lib.prose.claims.evidence import Evidence
from dreams.lib.prose.claims.field import Field
from dreams.lib.prose.claims.terms import Piece, pieces

UNITS = 10
MOST_PIECES = 80
HALF = 4.0  # pieces of distance at which a word counts half


def nearest(field: Field, claim: Claim, anchor: Anchor, places: Sequence[int]) -> tuple[float, float]:
    """How near (0 to 1) the rest of the claim comes to the anchor in its best unit, and to the best other of its kind."""
    own = max((p.terms[0] for p in anchor.pieces), key=field.evidence.rarity)
    said = {term for piece in claim.pieces for term in piece.terms}
    likely = sorted(places, key=lambda place: -field.at(place))[:UNITS]
    mine = other = 0.0
    for place in dict.fromkeys(chain(likely, field.richest(UNITS))):
        found = pieces(field.evidence.units[place].text)[:MOST_PIECES]
        near = _nearness(field, found)
        for index, piece in enumerate(found):
            if piece.terms[0] == own:
                mine = max(mine, near[index])
            elif near[index] > other and _is_rival(anchor, piece) and not said.intersection(piece.terms[:1]):
                other = near[index]
    return mine, other


def _is_rival(anchor: Anchor, piece: Piece) -> bool:
    if anchor.kind == "number":
        return piece.is_number
    return piece.terms[0].startswith("i:") or (
        shape(anchor.text) == "lower" and piece.terms[0].startswith("w:")
    )


def _nearness(field: Field, found: Sequence[Piece]) -> list[float]:
    """For each piece of a unit, the company's weight around it, each term counted once and less with distance."""
    places: list[list[int]] = []
    weights: list[float] = []
    for term, weight in zip(field.company.terms, field.company.weights, strict=True):
        spots = [i for i, piece in enumerate(found) if term in piece.terms]
        if spots:
            places.append(spots)
            weights.append(weight)
    total = field.company.total or 1.0
    return [
        sum(_near(i, spots) * w for spots, w in zip(places, weights, strict=True)) / total
        for i in range(len(found))
    ]


def _near(index: int, spots: Sequence[int]) -> float:
    return 1 / (1 + min(abs(index - spot) for spot in spots) / HALF)


GAP = 6  # code points between a number and the word that it belongs to
PLACES = 400


def slot(field: Field, claim: Claim, anchor: Anchor) -> tuple[float, float]:
    """How well the best unit fits that has the anchor's number beside the same word, and the best that has another there.

    Shares of the company, 0 to 1; (0, 0) where no source has a number beside that word.
    """
    same = other = 0.0
    value = anchor.pieces[0].terms[0]
    ways = {value, *anchor.also}
    for step, word in _beside(claim, anchor):
        for place, numbers in _numbers(field, word, -step):
            fit = (field.at(place) + field.around(place)[2]) / 2  # the lines around say whose number it is
            if any(number in ways or _is_version(number, value) for number in numbers):
                same = max(same, fit)
            else:
                other = max(other, fit)
    return same, other


def _is_version(number: str, value: str) -> bool:
    return number.count(".") >= 2 and number.startswith(f"{value}.")


def _beside(claim: Claim, anchor: Anchor) -> Iterator[tuple[int, str]]:
    """(1, the word behind the number) and (-1, the word in front of it)."""
    found = claim.pieces
    first = next(i for i, piece in enumerate(found) if piece.start >= anchor.start)
    for step in (1, -1):
        at = first + step
        if 0 <= at < len(found) and _touch(found, first, at) and not found[at].is_number:
            yield step, found[at].terms[0]


def _touch(found: Sequence[Piece], one: int, other: int) -> bool:
    left, right = sorted((found[one], found[other]), key=lambda piece: piece.start)
    return right.start - left.end <= GAP


def _numbers(field: Field, word: str, step: int) -> Iterator[tuple[int, set[str]]]:
    """The units that have numbers on that side of a word, with them."""
    for place in islice(field.evidence.places(word, field.end), PLACES):
        found = pieces(field.evidence.units[place].text)
        numbers = {
            found[at + step].terms[0]
            for at, piece in enumerate(found)
            if word in piece.terms and 0 <= at + step < len(found) and _touch(found, at, at + step)
        }
        numbers = {number for number in numbers if number.startswith("n:")}
        if numbers:
            yield place, numbers


_NEARLY = 0.9  # of what a heading or a body gives, a line must give, to be counted as good


def crowd(field: Field, claim: Claim, anchor: Anchor, places: Sequence[int], here: Sequence[float]) -> float:
    """The anchor's rank (0: no other, 1: every other name) among the names within a line of as much of the company."""
    lines, evidence = field.lines, field.evidence
    near = max([_NEARLY * here[1], *(lines.get(place, 0.0) for place in places)])
    if not near:
        return 1.0
    own = {term for piece in claim.pieces for term in piece.terms}
    prefix = "n" if anchor.kind == "number" else "i"
    found = {name for place, share in lines.items() if share >= near for name in evidence.names[place]}
    others = sum(name[0] == prefix and name not in own for name in found)
    return min(1.0, math.log1p(others) / math.log1p(max(evidence.named(prefix), 2)))


FIT = 0.3  # how well a line must fit the claim to speak of the same thing
ALIKE = 0.8  # of the best such line, from which another one is asked too
MOST_ASKED = 12  # numbers of a claim
MOST_READ = 400  # lines with one of them
_CUT = re.compile(r"[,;|]\s|\s[—–-]\s|[.!?]\s|\b(?:and|but|while|whereas)\b|\n")


class Clause(NamedTuple):
    numbers: frozenset[str]
    words: frozenset[str]


def crossed(field: Field, claim: Claim) -> tuple[Piece, int] | None:
    """A number of the claim, and the line that has it for another thing and another number for this one."""
    told = clauses(claim.text)
    numbers = (piece for piece in claim.pieces if piece.is_number)
    for piece in islice(numbers, MOST_ASKED):
        number = piece.terms[0]
        own = next((clause for clause in told if number in clause.numbers), None)
        if own:
            place = _elsewhere(field, number, own._replace(words=own.words - _words(told, but=own.numbers)))
            if place is not None:
                return piece, place
    return None


def _elsewhere(field: Field, number: str, said: Clause) -> int | None:
    places = [p for p in islice(field.evidence.places(number, field.end), MOST_READ) if p in field.masks]
    best = max(places, key=field.fitness, default=-1)
    if best < 0 or field.fitness(best) < FIT:
        return None
    close = (place for place in places if field.fitness(place) >= ALIKE * field.fitness(best))
    return best if all(_is_of_another(field.evidence, p, number, said) for p in close) else None


def _is_of_another(evidence: Evidence, place: int, number: str, said: Clause) -> bool:
    """Whether a line has the number for something else, and has most of what the claim says of it for another number."""
    told = clauses(evidence.units[place].text)
    here = frozenset[str]().union(*(clause.words for clause in told if number in clause.numbers))
    there = _words(told, but=said.numbers)
    alone = here - there
    mine, other = (sum(map(evidence.rarity, said.words & words)) for words in (alone, there - here))
    return bool(alone) and other > mine


def _words(told: Sequence[Clause], *, but: frozenset[str]) -> frozenset[str]:
    return frozenset[str]().union(*(clause.words for clause in told if not clause.numbers & but))


def clauses(text: str) -> list[Clause]:
    """The parts of a line that have a number each, or several; what has none belongs to the part behind it.

    What the second of "production uses 5432, staging 6432" leaves out it has from the first.
    """
    told, numbers, words, before = list[Clause](), set[str](), list[str](), list[str]()
    for part in _CUT.split(text):
        found = [term for piece in pieces(part) for term in piece.terms]
        words += [term for term in found if term[:2] != "n:"]
        numbers.update(term for term in found if term[:2] == "n:")
        if numbers:
            words += before[1:] if len(words) == 1 else []
            told.append(Clause(frozenset(numbers), frozenset(words)))
            numbers, words, before = set(), [], words
    return told
