"""How well an anchor of a claim is bound in the sources to what the claim says with it. Pure.

An identifier that stands somewhere in a session proves nothing: nearly every identifier does. So the rest of the claim is
looked for around each place of the anchor, and compared with the places where the rest stands best, anchor or not. A
claim whose words stand together in one place, and whose identifier stands in another, was put together from two.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

from dreams.language.claims.anchors import Anchor, Claim
from dreams.language.claims.company import HEADED, REACHES, Field, company_of
from dreams.language.claims.evidence import Evidence
from dreams.language.claims.local import nearest
from dreams.language.claims.lookup import MOST_PLACES, occurrences
from dreams.language.claims.slots import slot
from dreams.language.claims.terms import TOKEN, terms_of

PAIR_REACHES = (1, 4, 15)
PAIR_PLACES = 80
BEST_PLACES = 60
RIVAL_PLACES = 12
MOST_RIVALS = 14
_HEADED_PLACES, _HEADED_BEST = 40, 4
Shares = tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Binding:
    """What was found of one anchor; all shares are 0 to 1.

    `here` and `anywhere`: the rest of the claim within each of REACHES, around the anchor and at the best place of all.
    `pairs`: how far the rest meets the anchor more often than chance lets it, within each of PAIR_REACHES, and in the whole
    part; the last number is that surprise itself (nats, not capped). `rival`: the same of the best other identifier or number
    that stands where the rest does.
    """

    anchor: Anchor
    presence: float
    places: int
    here: Shares
    anywhere: Shares
    pairs: Shares
    rival: Shares
    near: tuple[
        float, float
    ]  # how near the rest comes to the anchor in one unit, and to the best other of its kind
    slot: tuple[
        float, float
    ]  # for a number: the best unit that has it beside the same word, and the best with another there
    known: int
    weight: float
    best: int  # the unit where the anchor is bound best, or -1
    elsewhere: int  # the unit where the rest stands best, or -1


def bind(evidence: Evidence, claim: Claim, anchor: Anchor, end: int) -> Binding:
    """How an anchor is bound; `end` is the unit bound that `Evidence.before` gives."""
    presence, places = occurrences(evidence, anchor, end)
    field = Field(evidence, company_of(evidence, claim, anchor), end)
    here, best = _highest(field, _likely(field, places))
    here, headed = _with_headed(field, places, here)
    near, other = nearest(field, claim, anchor, places)
    anywhere, elsewhere = _highest(field, field.richest(BEST_PLACES))
    return Binding(
        anchor, presence, len(places), here, tuple(map(max, anywhere, here)), pairs(field, places), _rival(field, claim, anchor), (max(near, HEADED * headed), other),
        slot(field, claim, anchor) if anchor.kind == "number" else (0.0, 0.0),
        field.company.known, field.company.total, best, elsewhere,
    )  # fmt: skip


def _likely(field: Field, places: Sequence[int]) -> Sequence[int]:
    return places if len(places) <= MOST_PLACES else sorted(places, key=lambda p: -field.at(p))[:MOST_PLACES]


def _highest(field: Field, places: Sequence[int]) -> tuple[Shares, int]:
    """The highest share for each reach over all places, and the place that is bound best."""
    highest, best, top = (0.0,) * len(REACHES), -1, -1.0
    for place in places:
        shares = field.around(place)
        highest = tuple(map(max, highest, shares))
        if sum(shares) > top:
            best, top = place, sum(shares)
    return highest, best


def _with_headed(field: Field, places: Sequence[int], here: Shares) -> tuple[Shares, float]:
    """A path named by a tool call is bound to what the file holds, a command to what it printed.

    Gives the shares with those units counted, and the share of the best of them alone.
    """
    alone = 0.0
    for place in places[:_HEADED_PLACES]:
        for span in field.evidence.below(place):
            units = [unit for unit in span if unit < field.end and unit in field.masks]
            for unit in sorted(units, key=lambda u: -field.at(u))[:_HEADED_BEST]:
                around = field.around(unit)
                alone = max(alone, around[0])
                here = tuple(map(max, here, (HEADED * around[0], *around[1:])))
    return here, alone


def pairs(field: Field, places: Sequence[int]) -> Shares:
    """How much of the company stands near the anchor at any of its places, weighed by how unlikely that is by chance."""
    terms = field.company.terms
    if not places or not terms:
        return (0.0,) * (len(PAIR_REACHES) + 2)
    chosen = places[:: max(1, len(places) // PAIR_PLACES)][:PAIR_PLACES]
    unions = _unions(field, chosen)
    found = [
        _surprise(field, mask, reach, len(chosen))
        for mask, reach in zip(unions, (*PAIR_REACHES, 30), strict=True)
    ]
    shares = [got / whole if whole else 0.5 for got, whole in found]
    return (*shares, found[1][0] / (field.company.total or 1.0))


def _unions(field: Field, chosen: Sequence[int]) -> list[int]:
    unions = [0] * (len(PAIR_REACHES) + 1)
    below: set[range] = set()
    for place in chosen:
        masks = field.windows(place, PAIR_REACHES)
        unions = [
            union | mask
            for union, mask in zip(unions, [*masks, masks[-1] | field.heading(place)], strict=True)
        ]
        below.update(field.evidence.below(place))
    for span in below:
        unions[-1] |= field.gathered(range(span.start, min(span.stop, field.end)))
    return unions


def _surprise(field: Field, mask: int, reach: int, places: int) -> tuple[float, float]:
    got = whole = 0.0
    for bit, (term, weight) in enumerate(zip(field.company.terms, field.company.weights, strict=True)):
        often = min(0.95, len(field.evidence.postings[term]) * (1 + reach) / max(field.end, 1))
        chance = max(1 - (1 - often) ** places, 1e-6)
        whole -= weight * math.log(chance)
        got -= weight * math.log(chance) if mask >> bit & 1 else 0.0
    return got, whole


def _rival(field: Field, claim: Claim, anchor: Anchor) -> Shares:
    best = (0.0,) * (len(PAIR_REACHES) + 2)
    for term in islice(_rivals(field, claim, anchor), MOST_RIVALS):
        best = tuple(map(max, best, pairs(field, list(field.evidence.places(term, field.end)))))
    return best


def _rivals(field: Field, claim: Claim, anchor: Anchor) -> Iterator[str]:
    """Other identifiers (for a number: numbers) where the rest of the claim stands, the rarest first."""
    evidence = field.evidence
    own = {term for piece in claim.pieces for term in piece.terms}
    prefix = "n:" if anchor.kind == "number" else "i:"
    found = set[str]()
    for place in field.richest(RIVAL_PLACES):
        first, last = evidence.bounds(place)
        for unit in range(max(first, place - 1), min(last, place + 2, field.end)):
            found.update(
                term for token in TOKEN.findall(evidence.units[unit].text) for term in terms_of(token)[:1]
            )
    fitting = [term for term in found if term.startswith(prefix) and term not in own]
    return iter(sorted(fitting, key=lambda term: (len(evidence.postings[term]), term)))
