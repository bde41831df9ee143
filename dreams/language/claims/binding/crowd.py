"""How many other names stand as well as an anchor does. Pure.

Where a claim is true its name is one of few that stand where the rest does; a name that was put in its place stands there
no better than hundreds of others. Counting them measures a binding in each session by its own yardstick.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from dreams.language.claims.anchors import Anchor, Claim
from dreams.language.claims.field import BLOCK, Field

_NEARLY = 0.9  # of what a heading or a body gives, a line must give, to be counted as good
_GOOD = 0.8


def crowd(
    field: Field, claim: Claim, anchor: Anchor, places: Sequence[int], here: Sequence[float]
) -> tuple[float, float]:
    """Ranks (0: no other, 1: every other name) among the names within a line, and within a dozen, of as much of the company."""
    lines, blocks = field.lines, field.blocks
    near = max(_most(lines, places), _NEARLY * here[1])
    wide = max(_most(blocks, (place // BLOCK for place in places)), _NEARLY * here[3])
    own = {term for piece in claim.pieces for term in piece.terms}
    prefix = "n" if anchor.kind == "number" else "i"
    names = field.evidence.names
    with_near = (
        {name for place, share in lines.items() if share >= near for name in names[place]} if near else None
    )
    with_wide = {
        name for block, share in blocks.items() if share >= wide for name in _in_block(field, block)
    } if wide else None  # fmt: skip
    all_names = math.log1p(max(field.evidence.named(prefix), 2))

    def rank(found: set[str] | None) -> float:
        if found is None:
            return 1.0
        return min(1.0, math.log1p(sum(name[0] == prefix and name not in own for name in found)) / all_names)

    return rank(with_near), rank(with_wide)


def good_places(field: Field) -> int:
    """In how many places nearly as much of the company stands together as anywhere: many, and none of them tells much."""
    top = max(field.lines.values(), default=0.0)
    return sum(share >= _GOOD * top for share in field.lines.values()) if top else 0


def _most(shares: dict[int, float], places: Iterable[int]) -> float:
    return max((shares.get(place, 0.0) for place in places), default=0.0)


def _in_block(field: Field, block: int) -> Iterable[str]:
    for place in range(max(0, block * BLOCK), min(block * BLOCK + BLOCK, field.end)):
        yield from field.evidence.names[place]
