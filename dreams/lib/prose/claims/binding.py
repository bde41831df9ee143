"""How well an anchor of a claim is bound in the sources to what the claim says with it, and how much is to be doubted. Pure.

An identifier that stands somewhere in a session proves nothing: nearly every identifier does. So the rest of the claim is
looked for around each place of the anchor, and compared with the places where the rest stands best, anchor or not. A
claim whose words stand together in one place, and whose identifier stands in another, was put together from two.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Sequence
from dataclasses import dataclass

from dreams.lib.prose.claims.anchors import Anchor, Claim, Kind, odd_in_list
from dreams.lib.prose.claims.evidence import Evidence
from dreams.lib.prose.claims.field import HEADED, REACHES, Field, Shares, company_of
from dreams.lib.prose.claims.neighbours import crowd, nearest, slot
from dreams.lib.prose.claims.occurrences import MOST_PLACES, Standing, below, content, occurrences, rivalled

BARS: dict[Kind, float] = {"code": 0.64, "number": 0.61}  # a doubt above it is one too many
WEIGHTS: dict[Kind, dict[str, float]] = {
    "code": {
        "content": -0.62,
        "crowd": 1.61,
        "far lost": 0.77,
        "line gap": 1.33,
        "luck": -1.01,
        "near": -1.15,
        "near gap": 1.38,
        "near ratio": -0.66,
        "odd in list": 0.97,
        "often": 1.02,
        "one": -0.38,
        "others": -0.80,
        "own weight": -1.25,
        "own words": -0.84,
        "rival": 0.54,
        "rival own": -0.64,
        "surprise": -4.42,
    },
    "number": {
        "crowd": 1.10,
        "far lost": 1.42,
        "line gap": 1.15,
        "near": -2.79,
        "near gap": 0.82,
        "near ratio": -0.98,
        "often": 0.95,
        "one": -0.91,
        "others": -0.87,
        "rival": 1.09,
        "rival own": -0.92,
        "slot gap": 1.57,
        "slot other": 1.34,
        "surprise": -2.28,
    },
}

BEST_PLACES = 60
IN_LINE, IN_BODY = 0.8, 0.7  # what stands under the anchor counts beside what stands next to it
SURPRISING = 4  # units on each side within which company is a surprise
_PAIR_PLACES = 80


@dataclass(frozen=True, slots=True)
class Binding:
    """What was found of one anchor; all shares are 0 to 1.

    `here` and `anywhere`: the rest of the claim within each of REACHES, around the anchor and at the best place of all.
    """

    anchor: Anchor
    presence: float  # how wholly it stands in the sources
    places: int
    here: Shares
    anywhere: Shares
    content: float  # the rest in one text that the anchor heads
    rival: tuple[
        float, float
    ]  # the rest where another thing of its shape is named, and the best where it is itself
    luck: float  # how unlikely one of its places has so much of the rest in it by chance (nats)
    surprise: float  # how much more company it has near it than chance gives (nats per weight of the company)
    near: tuple[float, float]  # how near the rest comes to it in one unit, and to the best other of its kind
    slot: tuple[
        float, float
    ]  # of a number: the best unit that has it beside the same word, and the best with another there
    crowd: float  # its rank among the names that stand as well within a line
    agree: int  # the most terms of the rest that stand within a line of one another
    known: int
    weight: float
    best: int  # the unit where the anchor is bound best, or -1
    elsewhere: int  # the unit where the rest stands best, or -1


def bind(evidence: Evidence, claim: Claim, anchor: Anchor, end: int) -> Binding:
    """How an anchor is bound; `end` is the unit bound that `Evidence.before` gives."""
    standing = occurrences(evidence, anchor, end)
    field = Field(evidence, company_of(evidence, claim, anchor), end)
    return _bound(field, claim, anchor, standing)


def _bound(field: Field, claim: Claim, anchor: Anchor, standing: Standing) -> Binding:
    places = standing.places
    likely = _likely(field, places)
    here, best = _highest(field, likely)
    here = _with_below(here, *below(field, anchor, places))
    anywhere, elsewhere = _highest(field, field.richest(BEST_PLACES))
    return Binding(
        anchor, standing.presence, len(places), here, tuple(map(max, anywhere, here)), content(field, anchor, places),
        rivalled(field, claim, anchor, frozenset(places)), _luck(field, places), _surprise(field, places), nearest(field, claim, anchor, places),
        slot(field, claim, anchor) if anchor.kind == "number" else (0.0, 0.0), crowd(field, claim, anchor, places, here),
        max(map(field.together, [*field.richest(BEST_PLACES), *likely]), default=0), field.company.known, field.company.total, best, elsewhere,
    )  # fmt: skip


def _likely(field: Field, places: Sequence[int]) -> Sequence[int]:
    return places if len(places) <= MOST_PLACES else heapq.nlargest(MOST_PLACES, places, key=field.at)


def _highest(field: Field, places: Sequence[int]) -> tuple[Shares, int]:
    """The highest share for each reach over all places, and the place that is bound best."""
    highest, best, top = (0.0,) * len(REACHES), -1, -1.0
    for place in places:
        shares = field.around(place)
        highest = tuple(map(max, highest, shares))
        if sum(shares) > top:
            best, top = place, sum(shares)
    return highest, best


def _with_below(here: Shares, line: float, body: float) -> Shares:
    """What stands under a name is said of it, if not as surely as what stands beside it."""
    return (max(here[0], IN_LINE * line), *(max(share, IN_LINE * line, IN_BODY * body) for share in here[1:]))


def _luck(field: Field, places: Sequence[int]) -> float:
    """How unlikely as many places, taken at random, have one with as much of the company in it. A common name stands near everything."""
    best = max(map(field.at, places), default=0.0)
    if not best:
        return 0.0
    as_good = sum(share >= best for share in map(field.share, field.masks.values())) / max(field.end, 1)
    return -math.log(max(1 - (1 - min(as_good, 1.0)) ** len(places), 1e-9))


def _surprise(field: Field, places: Sequence[int]) -> float:
    """How much of the company stands near the anchor at any of its places, weighed by how unlikely that is by chance."""
    company = field.company
    if not places or not company.terms:
        return 0.0
    chosen = places[:: max(1, len(places) // _PAIR_PLACES)][:_PAIR_PLACES]
    union = 0
    for place in chosen:
        union |= field.windows(place, (SURPRISING,))[0]
    found = 0.0
    for bit, (term, weight) in enumerate(zip(company.terms, company.weights, strict=True)):
        if union >> bit & 1:
            often = min(0.95, len(field.evidence.postings[term]) * (1 + SURPRISING) / max(field.end, 1))
            found -= weight * math.log(max(1 - (1 - often) ** len(chosen), 1e-6))
    return found / (company.total or 1.0)


PRESENT = 0.5  # how wholly an anchor must stand in the sources to be there at all
WHOLE = 0.99  # share of the company from which nothing of it is missing
UNMARKED = 0.94  # the bar for a name that is not marked as code
# Words of company that must be known, and stand together somewhere, for it to tell anything.
FEWEST: dict[Kind, int] = {"code": 2, "number": 1}


def doubted(evidence: Evidence, claim: Claim, binding: Binding) -> float:
    """How much is to be doubted that the anchor belongs to the rest of the claim; above 1 is too much."""
    anchor = binding.anchor
    if _is_word(anchor):
        return 0.0
    if binding.presence < PRESENT:
        return 2.0
    if not is_told(binding):
        return 0.0
    bar = BARS[anchor.kind] if anchor.marked or anchor.kind == "number" else UNMARKED
    return doubt(evidence, claim, binding) / bar


def is_told(binding: Binding) -> bool:
    """Whether there is company enough to tell anything, and any of it that is not in the anchor's line or right over it."""
    fewest = FEWEST[binding.anchor.kind]
    if binding.anchor.kind == "code" and binding.here[0] >= HEADED and binding.here[1] >= WHOLE:
        return False
    return binding.known > fewest or min(binding.known, binding.agree) >= fewest


def _is_word(anchor: Anchor) -> bool:
    """A name in prose that nobody marked and that reads like any other: TypeScript, PostCSS."""
    return not anchor.marked and anchor.text.isalpha() and anchor.text[0].isupper()


def doubt(evidence: Evidence, claim: Claim, binding: Binding) -> float:
    """How likely the anchor does not belong to the rest of the claim."""
    weights = WEIGHTS[binding.anchor.kind]
    seen = observations(evidence, claim, binding)
    told = sum(weight * seen[name] for name, weight in weights.items())
    return 1 / (1 + math.exp(-max(-30.0, min(30.0, told))))


def observations(evidence: Evidence, claim: Claim, binding: Binding) -> dict[str, float]:
    """What is known of one anchor, each between -1 and 1. All but a few speak in one direction only; see `bench/claims_fit.py`."""
    known, agree = min(binding.known, 8) / 8, min(binding.agree, 6) / 6
    near, other = binding.near
    lost = [best - here for here, best in zip(binding.here, binding.anywhere, strict=True)]
    same, taken = binding.slot
    rival, own = binding.rival
    return {
        "one": 1.0,
        "often": math.log1p(binding.places) / 6,
        "others": min(len(claim.anchors) - 1, 4) / 4,
        "line gap": lost[0],
        "near gap": lost[1],
        "far lost": _told(lost[3] * binding.weight),
        "content": binding.content,
        "rival": rival,
        "rival own": own,
        "luck": min(binding.luck, 8) / 8,
        "near": near,
        "near ratio": (near / max(near, other) if near or other else 0.5) * known,
        "crowd": binding.crowd * agree,
        "surprise": min(binding.surprise, 8) / 8,
        "slot other": taken,
        "slot gap": max(0.0, taken - same),
        **_of_the_claim(evidence, claim, binding.anchor),
    }


def _told(weight: float) -> float:
    """How much a weight of words (nats) tells: much of it no more than enough."""
    return 1 - math.exp(-weight / 6)


def _of_the_claim(evidence: Evidence, claim: Claim, anchor: Anchor) -> dict[str, float]:
    shared, own = _own_words(evidence, claim, anchor)
    return {
        "own words": shared / own if own else 0.0,
        "own weight": min(shared, 8) / 8,
        "odd in list": odd_in_list(claim, anchor),
    }


def _own_words(evidence: Evidence, claim: Claim, anchor: Anchor) -> tuple[float, float]:
    """`countLines` and "counts the lines": the words of a name that the rest of the claim says too, and all of them."""
    rest = {t for p in claim.pieces if not anchor.start <= p.start < anchor.end for t in p.terms}
    own = {term for piece in anchor.pieces for term in piece.terms if term.startswith("w:")}
    return sum(map(evidence.rarity, own & rest)), sum(map(evidence.rarity, own))
