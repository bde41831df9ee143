"""Scores how well a name or number of a claim is tied to the rest of the claim in the sources. Pure.

Nearly every identifier is somewhere in a session. So the rest of the claim is searched around each place of the anchor, and
compared with the places that have most of the rest, with or without the anchor. If the words are together in one place and
the identifier is in another, the claim was combined from two.
"""

import heapq
import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, islice, takewhile
from typing import NamedTuple

from dreams.lib.prose.claims.anchors import Anchor, AnchorToken, Claim, Kind, odd_in_list, pieces
from dreams.lib.prose.claims.evidence import SessionText
from dreams.lib.prose.claims.occurrences import (
    HEADED,
    MOST_PLACES,
    NOTHING,
    Field,
    Shares,
    below,
    company_of,
    occurrences,
)

# Fitted by `bench/claims_fit.py` with seventeen observations, then again with ten that earned something (docs/ablation.md);
# one more went without a new fit.
BARS: dict[Kind, float] = {"code": 0.61, "number": 0.51}  # highest acceptable doubt
WEIGHTS: dict[Kind, dict[str, float]] = {
    "code": {
        "one": -0.50, "crowd": 2.73, "line gap": 3.11, "near": -3.46, "odd in list": 0.91, "often": 0.87, "others": -1.14,
        "own weight": -2.06,
    },
    "number": {
        "one": -1.88, "crowd": 1.61, "line gap": 4.27, "near": -4.39, "often": 1.23, "slot gap": 0.91, "slot other": 2.08,
    },
}  # fmt: skip

BEST_PLACES = 60  # places checked per claim; chosen
IN_LINE, IN_BODY = 0.8, 0.7  # weight of context below the anchor relative to context beside it


@dataclass(frozen=True, slots=True)
class Binding:
    """What was found about one anchor; shares are 0 to 1, and `here` has one for each of REACHES."""

    anchor: Anchor
    presence: float  # how completely it is in the sources
    places: int
    here: Shares  # the rest of the claim around the anchor
    anywhere: float  # the rest of the claim in the best line anywhere
    near: float  # how near the rest is to it in one unit
    # For a number: the best unit with it beside the same word, and with another number there
    slot: tuple[float, float]
    crowd: float  # its rank among the names with as much context
    agree: int  # the most terms of the rest within one line of each other
    known: int
    best: int  # the unit where the anchor is bound best, or -1
    elsewhere: int  # the unit with most of the rest, or -1


def bind(evidence: SessionText, claim: Claim, anchor: Anchor, end: int) -> Binding:
    """How an anchor is bound to the claim; `end` is the unit limit from `SessionText.before`."""
    found = occurrences(evidence, anchor, end)
    field = Field(evidence, company_of(evidence, claim, anchor), end)
    places, richest = found.places, field.richest(BEST_PLACES)
    likely = places if len(places) <= MOST_PLACES else heapq.nlargest(MOST_PLACES, places, key=field.at)
    here, best = _highest(field, likely)
    line, body = below(field, anchor, places)  # the lines below a name count less than those beside it
    here = (max(here[0], IN_LINE * line), *(max(share, IN_LINE * line, IN_BODY * body) for share in here[1:]))
    anywhere, elsewhere = _highest(field, richest)
    return Binding(
        anchor, found.presence, len(places), here, max(anywhere[0], here[0]), nearest(field, anchor, places),
        slot(field, claim, anchor) if anchor.kind == "number" else (0.0, 0.0), crowd(field, claim, anchor, places, here[1]),
        max(map(field.together, [*richest, *likely]), default=0), field.company.known, best, elsewhere,
    )  # fmt: skip


def _highest(field: Field, places: Sequence[int]) -> tuple[Shares, int]:
    """The highest share for each reach over all places, and the best place."""
    highest, best, top = NOTHING, -1, -1.0
    for place in places:
        shares = field.around(place)
        highest = tuple(map(max, highest, shares))
        if sum(shares) > top:
            best, top = place, sum(shares)
    return highest, best


UNITS = 10  # places that are measured exactly; chosen
MOST_PIECES = 80  # of one unit; chosen
HALF = 4.0  # tokens of distance at which a word counts half


def nearest(field: Field, anchor: Anchor, places: Sequence[int]) -> float:
    """How near (0 to 1) the rest of the claim is to the anchor in its best unit."""
    own = max((p.terms[0] for p in anchor.pieces), key=field.evidence.rarity)
    best, likely = 0.0, sorted(places, key=lambda place: -field.at(place))[:UNITS]
    for place in dict.fromkeys(chain(likely, field.richest(UNITS))):
        found = pieces(field.evidence.units[place].text)[:MOST_PIECES]
        spots = [at for at, piece in enumerate(found) if piece.terms[0] == own]
        best = max([best, *(_nearness(field, found, at) for at in spots)])
    return best


def _nearness(field: Field, found: Sequence[AnchorToken], at: int) -> float:
    """The weight of the context around a token, each term once and less with distance."""
    near = 0.0
    for term, weight in zip(field.company.terms, field.company.weights, strict=True):
        away = min((abs(at - i) for i, piece in enumerate(found) if term in piece.terms), default=-1)
        near += weight / (1 + away / HALF) if away >= 0 else 0.0
    return near / (field.company.total or 1.0)


GAP = 6  # code points between a number and its word
PLACES = 400  # of one word; chosen


def slot(field: Field, claim: Claim, anchor: Anchor) -> tuple[float, float]:
    """How well the best unit with the anchor's number beside the same word fits, and the best with another number there.

    Shares of the context, 0 to 1; (0, 0) if no source has a number beside that word.
    """
    same = other = 0.0
    value = anchor.pieces[0].terms[0]
    ways = {value, *anchor.also}
    for step, word in _beside(claim, anchor):
        for place, numbers in _numbers(field, word, -step):
            fit = (field.at(place) + field.around(place)[2]) / 2  # the lines around show whose number it is
            versions = (number for number in numbers if number.count(".") >= 2)
            if not ways.isdisjoint(numbers) or any(each.startswith(f"{value}.") for each in versions):
                same = max(same, fit)
            else:
                other = max(other, fit)
    return same, other


def _beside(claim: Claim, anchor: Anchor) -> Iterator[tuple[int, str]]:
    """(1, the word after the number) and (-1, the word before it)."""
    found = claim.pieces
    first = next(i for i, piece in enumerate(found) if piece.start >= anchor.start)
    for step in (1, -1):
        at = first + step
        if 0 <= at < len(found) and _touch(found, first, at) and not found[at].is_number:
            yield step, found[at].terms[0]


def _touch(found: Sequence[AnchorToken], one: int, other: int) -> bool:
    left, right = sorted((found[one], found[other]), key=lambda piece: piece.start)
    return right.start - left.end <= GAP


def _numbers(field: Field, word: str, step: int) -> Iterator[tuple[int, set[str]]]:
    """The units with numbers on that side of a word, and the numbers."""
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


_NEARLY = 0.9  # share of the anchor's fit, with heading and body, that the lines of others need to count


def crowd(field: Field, claim: Claim, anchor: Anchor, places: Sequence[int], here: float) -> float:
    """The anchor's rank (0: no other, 1: every other name) among names with as much context."""
    lines, evidence = field.lines, field.evidence
    near = max([_NEARLY * here, *(lines.get(place, 0.0) for place in places)])
    if not near:
        return 1.0
    own = {term for piece in claim.pieces for term in piece.terms}
    prefix = "n" if anchor.kind == "number" else "i"
    found = {name for place, share in lines.items() if share >= near for name in evidence.names[place]}
    others = sum(name[0] == prefix and name not in own for name in found)
    return min(1.0, math.log1p(others) / math.log1p(max(evidence.named(prefix), 2)))


PRESENT = 0.5  # how completely an anchor must be in the sources
WHOLE = 0.99  # share of the context that counts as complete
UNMARKED = 0.94  # highest acceptable doubt for a name that is not marked as code
# Words of context that must be known, and together somewhere, for a judgement.
FEWEST: dict[Kind, int] = {"code": 2, "number": 1}


def doubted(evidence: SessionText, claim: Claim, binding: Binding) -> float:
    """The doubt that the anchor belongs to the rest of the claim; above 1 is too much."""
    anchor = binding.anchor
    if binding.presence < PRESENT:
        return 2.0
    if not is_told(binding):
        return 0.0
    bar = BARS[anchor.kind] if anchor.marked or anchor.kind == "number" else UNMARKED
    return doubt(evidence, claim, binding) / bar


def is_told(binding: Binding) -> bool:
    """Whether there is enough context, and some of it outside the anchor's line and the one above."""
    fewest = FEWEST[binding.anchor.kind]
    if binding.anchor.kind == "code" and binding.here[0] >= HEADED and binding.here[1] >= WHOLE:
        return False
    return binding.known > fewest or min(binding.known, binding.agree) >= fewest


def doubt(evidence: SessionText, claim: Claim, binding: Binding) -> float:
    """The likelihood (0 to 1) that the anchor does not belong to the rest of the claim."""
    weights = WEIGHTS[binding.anchor.kind]
    seen = observations(evidence, claim, binding)
    told = sum(weight * seen[name] for name, weight in weights.items())
    return 1 / (1 + math.exp(-max(-30.0, min(30.0, told))))


def observations(evidence: SessionText, claim: Claim, binding: Binding) -> dict[str, float]:
    """The observations about one anchor, each between -1 and 1; see `bench/claims_fit.py`."""
    same, taken = binding.slot
    return {
        "one": 1.0,
        "often": math.log1p(binding.places) / 6,
        "others": min(len(claim.anchors) - 1, 4) / 4,
        "line gap": binding.anywhere - binding.here[0],
        "near": binding.near,
        "crowd": binding.crowd * min(binding.agree, 6) / 6,
        "slot other": taken,
        "slot gap": max(0.0, taken - same),
        "own weight": min(_own_words(evidence, claim, binding.anchor), 8) / 8,
        "odd in list": odd_in_list(claim, binding.anchor),
    }


def _own_words(evidence: SessionText, claim: Claim, anchor: Anchor) -> float:
    """The weight of a name's words that the rest of the claim repeats: `countLines` and "counts the lines"."""
    rest = {t for p in claim.pieces if not anchor.start <= p.start < anchor.end for t in p.terms}
    own = {term for piece in anchor.pieces for term in piece.terms if term.startswith("w:")}
    return sum(map(evidence.rarity, own & rest))


FIT = 0.3  # how well a line must fit to be about the same thing
ALIKE = 0.8  # share of the best such line that others need to be considered
MOST_ASKED = 12  # numbers of a claim
MOST_LINES = 400  # with one of them
_CUT = re.compile(r"[,;|]\s|\s[—–-]\s|[.!?]\s|\b(?:and|but|while|whereas)\b|\n")


class Clause(NamedTuple):
    numbers: frozenset[str]
    words: frozenset[str]


def crossed(field: Field, claim: Claim) -> tuple[AnchorToken, int] | None:
    """A number of the claim, and a line that has it for another thing and another number for this one."""
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
    places = [p for p in islice(field.evidence.places(number, field.end), MOST_LINES) if p in field.masks]
    best = max(places, key=field.fitness, default=-1)
    if best < 0 or field.fitness(best) < FIT:
        return None
    close = (place for place in places if field.fitness(place) >= ALIKE * field.fitness(best))
    return best if all(_is_of_another(field.evidence, p, number, said) for p in close) else None


def _is_of_another(evidence: SessionText, place: int, number: str, said: Clause) -> bool:
    """Whether a line has the number for something else, and the claim's context for another number."""
    told = clauses(evidence.units[place].text)
    here = frozenset[str]().union(*(clause.words for clause in told if number in clause.numbers))
    there = _words(told, but=said.numbers)
    alone = here - there
    mine, other = (sum(map(evidence.rarity, said.words & words)) for words in (alone, there - here))
    return bool(alone) and other > mine


def _words(told: Sequence[Clause], *, but: frozenset[str]) -> frozenset[str]:
    return frozenset[str]().union(*(clause.words for clause in told if not clause.numbers & but))


def clauses(text: str) -> list[Clause]:
    """The parts of a line with one or more numbers each; parts without a number belong to the next one.

    The second part of "production uses 5432, staging 6432" takes the missing words from the first.
    """
    told, numbers, words, before, ahead = list[Clause](), set[str](), list[str](), list[str](), list[str]()
    for part in _CUT.split(text):
        found = [term for piece in pieces(part) for term in piece.terms]
        lead = list(takewhile(lambda term: term[:2] != "n:", found))
        words += [term for term in found if term[:2] != "n:"] + ([] if lead or len(found) == 1 else ahead)
        numbers.update(term for term in found if term[:2] == "n:")
        if numbers:
            words += before[1:] if len(words) == 1 else []
            told.append(Clause(frozenset(numbers), frozenset(words)))
            numbers, words, before, ahead = set(), [], words, lead or ahead
    return told
