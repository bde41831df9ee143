"""How well an anchor of a claim is bound in the sources to what the claim says with it. Pure.

An identifier that stands somewhere in a session proves nothing: nearly every identifier does. So the rest of the claim is
looked for around each place of the anchor, and compared with the places where the rest stands best, anchor or not. A
claim whose words stand together in one place, and whose identifier stands in another, was put together from two.
"""

from __future__ import annotations

import functools
import heapq
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass

from dreams.language.claims.anchors import Anchor, Claim, claim_of
from dreams.language.claims.company import company_of
from dreams.language.claims.crowd import crowd, good_places
from dreams.language.claims.evidence import Evidence
from dreams.language.claims.field import HEADED, REACHES, Field, Shares
from dreams.language.claims.local import nearest
from dreams.language.claims.lookup import MOST_PLACES, Standing, occurrences
from dreams.language.claims.shapes import Shape, shape
from dreams.language.claims.slots import slot

BEST_PLACES = 60
SURPRISING = 4  # units on each side within which company is a surprise
_PAIR_PLACES = 80
_TAKERS = 6
_HEADED_PLACES, _HEADED_BEST = 40, 4
_BODY_BEFORE, _BODY_BEHIND, _BODIES = 4, 16, 200
_KEYWORDS = "func|def|defp|defmodule|class|type|const|interface|struct|fn|let|var|function|enum|trait|module|package|field|attribute"
_DEFINED = r"\b(?:%s)\b[^=({]{0,40}(?<!\w)%s(?!\w)|^\W*(?:\d+\W+)?(?:export |async |public |private |static )*%s\s*[:=(]"


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
    surprise: float  # how much more company it has near it than chance gives (nats per weight of the company)
    near: tuple[float, float]  # how near the rest comes to it in one unit, and to the best other of its kind
    slot: tuple[
        float, float
    ]  # for a number: the best unit that has it beside the same word, and the best with another there
    crowd: tuple[
        float, float
    ]  # its rank among the names that stand as well, within a line and within a dozen
    agree: int  # the most terms of the rest that stand within a line of one another
    good: int  # in how many places nearly as much stands together as in the best
    taken: float  # how much better a line fits that has another thing of the anchor's shape
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
    likely, content = _likely(field, places), _content(field, places)
    here, best = _highest(field, likely)
    here = _with_content(field, content, _with_body(field, anchor, places, here))
    anywhere, elsewhere = _highest(field, field.richest(BEST_PLACES))
    near, other = nearest(field, claim, anchor, places)
    headed = HEADED * max(map(field.at, content), default=0.0)
    return Binding(
        anchor, standing.presence, len(places), here, tuple(map(max, anywhere, here)), _surprise(field, places), (max(near, headed), other),
        slot(field, claim, anchor) if anchor.kind == "number" else (0.0, 0.0), crowd(field, claim, anchor, places, here),
        max(map(field.together, [*field.richest(BEST_PLACES), *likely, *content]), default=0), good_places(field), _taken(field, claim, anchor, here),
        field.company.known, field.company.total, best, elsewhere,
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


def _content(field: Field, places: Sequence[int]) -> list[int]:
    """The units below the headings that the anchor stands in which have most of the company.

    A path named by a tool call is bound to what the file holds, a command to what it printed.
    """
    found: list[int] = []
    for place in places[:_HEADED_PLACES]:
        for span in field.evidence.below(place):
            units = [unit for unit in span if unit < field.end and unit in field.masks]
            found += heapq.nlargest(_HEADED_BEST, units, key=field.at)
    return found


def _with_content(field: Field, content: Sequence[int], here: Shares) -> Shares:
    for unit in content:
        here = tuple(map(max, here, (HEADED * share for share in field.around(unit))))
    return here


def _with_body(field: Field, anchor: Anchor, places: Sequence[int], here: Shares) -> Shares:
    """What is defined under a name is said of it, though it stands some lines below."""
    body = _body(field, anchor, places)
    return (here[0], *map(max, here[1:], (0.8 * body, 0.9 * body, body, body)))


def _body(field: Field, anchor: Anchor, places: Sequence[int]) -> float:
    """The share of the company in what is defined under the anchor's name: a few lines above it and a dozen below."""
    name = re.escape(re.split(r"[(/ ]", anchor.text.strip("\"'"))[0].rpartition(".")[2] or anchor.text)
    defined = re.compile(_DEFINED % (_KEYWORDS, name, name))
    best = 0.0
    for place in places[:_BODIES]:
        if defined.search(field.evidence.units[place].text):
            first, last = field.evidence.bounds(place)
            span = range(max(first, place - _BODY_BEFORE), min(last, place + _BODY_BEHIND, field.end))
            best = max(best, field.share(field.gathered(span)))
    return best


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


def _taken(field: Field, claim: Claim, anchor: Anchor, here: Shares) -> float:
    """How much better than the anchor's own a line fits that has another thing of its shape, and not the anchor."""
    if anchor.kind == "number":
        return 0.0
    own, said, best = shape(anchor.text), claim.text.lower(), 0.0
    for place in field.richest(_TAKERS):
        text, gap = field.evidence.units[place].text, field.at(place) - here[0]
        if gap <= best or anchor.text in text:
            continue
        if any(kind == own and thing not in said for kind, thing in _things(text)):
            best = gap
    return best


@functools.lru_cache(maxsize=4_000)
def _things(text: str) -> tuple[tuple[Shape, str], ...]:
    return tuple((shape(anchor.text), anchor.text.lower()) for anchor in claim_of(text).anchors)
