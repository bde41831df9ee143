"""How many other names stand as well as an anchor does. Pure.

Where a claim is true its name is one of few that stand where the rest does; a name that was put in its place stands there
no better than hundreds of others. Counting them measures a binding in each session by its own yardstick.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from dreams.language.claims.anchors import Anchor, Claim
from dreams.language.claims.field import Field

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
