"""Where an anchor stands in the sources. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import islice

from dreams.language.claims.anchors import Anchor
from dreams.language.claims.company import COMMONEST
from dreams.language.claims.evidence import Evidence

MOST_PLACES = 400
_SQUEEZE = re.compile(r"[\s\"'`*,;]+")


def occurrences(evidence: Evidence, anchor: Anchor, end: int) -> tuple[float, list[int]]:
    """How wholly an anchor stands in the sources (0 to 1), and the units where it does, in order."""
    wanted = {piece.terms[0]: evidence.rarity(piece.terms[0]) for piece in anchor.pieces}
    total = sum(wanted.values())
    found: dict[int, float] = {}
    for term, weight in wanted.items():
        for place in islice(evidence.places(term, end), COMMONEST):
            found[place] = found.get(place, 0.0) + (weight / total if total else 1.0)
    if not found:
        return 0.0, []
    if len(wanted) == 1:
        return 1.0, list(found)
    return _whole(evidence, anchor, found)


def _whole(evidence: Evidence, anchor: Anchor, found: dict[int, float]) -> tuple[float, list[int]]:
    best = max(found.values())
    if best < 0.999:
        found = {
            p: _with_neighbours(evidence, found, p) for p, share in found.items() if share >= best - 0.35
        }
        best = max(found.values())
    chosen = sorted(place for place, share in found.items() if share >= best - 0.05)
    exact = _literal(evidence, anchor, chosen)
    return (1.0, exact) if exact else (min(best, 0.95), chosen)


def _with_neighbours(evidence: Evidence, found: dict[int, float], place: int) -> float:
    """A call or a list may run over several lines."""
    first, last = evidence.bounds(place)
    around = (found.get(p, 0.0) for p in range(max(first, place - 2), min(last, place + 3)) if p != place)
    return min(1.0, found[place] + 0.9 * sum(around))


def _literal(evidence: Evidence, anchor: Anchor, places: Sequence[int]) -> list[int]:
    wanted = _SQUEEZE.sub("", anchor.text.lower()).removesuffix("()")
    return [p for p in places[:MOST_PLACES] if wanted in _SQUEEZE.sub("", evidence.units[p].text.lower())]
