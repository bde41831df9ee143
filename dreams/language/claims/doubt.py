"""From how an anchor is bound to a doubt between 0 and 1: a logistic model over a few dozen observations. Pure."""

from __future__ import annotations

import math
import re

from dreams.language.claims import shapes
from dreams.language.claims.anchors import Anchor, Claim
from dreams.language.claims.binding import Binding
from dreams.language.claims.evidence import Evidence
from dreams.language.claims.weights import WEIGHTS

_LINE_NUMBER = re.compile(r"\b(?:lines?|L|rows?)\s?[\d\s,–-]*$", re.IGNORECASE)
_VERB = re.compile(r"[`*]*\s*(?:[-—:]\s*)?[a-z]+s\b")


def doubt(evidence: Evidence, claim: Claim, binding: Binding) -> float:
    """How likely the anchor does not belong to the rest of the claim."""
    weights = WEIGHTS[binding.anchor.kind]
    seen = observations(evidence, claim, binding)
    return 1 / (1 + math.exp(-sum(weights[name] * value for name, value in seen.items())))


def observations(evidence: Evidence, claim: Claim, binding: Binding) -> dict[str, float]:
    """What is known of one anchor, each between -1 and 1 or so."""
    known = min(binding.known, 8) / 8
    often = math.log1p(binding.places) / 6
    ratios = [here / best if best else 0.5 for here, best in zip(binding.here, binding.anywhere, strict=True)]
    near, other = binding.near
    near_ratio = near / max(near, other) if near or other else 0.5
    gaps = [best - here for here, best in zip(binding.here, binding.anywhere, strict=True)]
    return {
        "one": 1.0,
        "absent": float(binding.presence < 0.7),
        "presence": binding.presence,
        "often": often,
        "often here": often * binding.here[2],
        "known": known,
        "few": 1 / (1 + binding.known),
        "alone": float(binding.weight <= 0),
        "weight": min(binding.weight, 6) / 6,
        **{f"here {i}": value for i, value in enumerate(binding.here)},
        **{f"ratio {i}": value for i, value in enumerate(ratios)},
        **{f"gap {i}": value for i, value in enumerate(gaps[:3])},
        **{f"pair {i}": value for i, value in enumerate(binding.pairs[:4])},
        "surprise": min(binding.pairs[4], 8) / 8,
        **{f"rival {i}": min(1.0, r) - p for i, (p, r) in enumerate(zip(binding.pairs[:4], binding.rival[:4], strict=True))},
        "rival surprise": max(-1.0, min(1.0, (binding.rival[4] - binding.pairs[4]) / 6)),
        "slot same": binding.slot[0],
        "slot other": binding.slot[1],
        "slot gap": max(0.0, binding.slot[1] - binding.slot[0]),
        "slot taken": float(binding.slot[1] > 0.3 and binding.slot[0] < 0.7 * binding.slot[1]),
        "loose number": float(_is_loose(binding)),
        "line number": float(bool(_LINE_NUMBER.search(claim.text[: binding.anchor.start]))),
        "near": near,
        "near ratio": near_ratio,
        "near gap": other - near,
        "near far": max(0.0, other - 1.3 * near),
        "known near ratio": near_ratio * known,
        "known ratio 1": ratios[1] * known,
        "known ratio 2": ratios[2] * known,
        "known pair": binding.pairs[1] * known,
        **_of_the_claim(evidence, claim, binding.anchor),
    }  # fmt: skip


def _is_loose(binding: Binding) -> bool:
    """Code with a number in it ("limit = 25") that stands nowhere so: its name does, with another number."""
    anchor = binding.anchor
    numbered = any(piece.terms[0].startswith("n:") for piece in anchor.pieces[1:])
    return (
        anchor.kind == "code" and numbered and binding.presence < 1.0 and shapes.shape(anchor.text) != "call"
    )


def _of_the_claim(evidence: Evidence, claim: Claim, anchor: Anchor) -> dict[str, float]:
    shared, own = _own_words(evidence, claim, anchor)
    kind, defined = shapes.shape(anchor.text), shapes.defines(claim, anchor)
    acting = defined and bool(_VERB.match(claim.text[anchor.end :]))
    return {
        "own words": shared / own if own else 0.0,
        "own weight": min(shared, 8) / 8,
        "odd in list": shapes.odd_in_list(claim, anchor),
        "unexpected": shapes.unexpected(claim, anchor),
        "acting thing": float(acting and kind in {"phrase", "literal", "number", "flag", "path", "file"}),
        "acting name": float(acting and kind in {"call", "camel", "pascal", "snake"}),
        "defined": float(defined),
        "others": min(len(claim.anchors) - 1, 4) / 4,
        "bare": float(not anchor.marked),
        "long": float(anchor.end - anchor.start > 25),
    }


def _own_words(evidence: Evidence, claim: Claim, anchor: Anchor) -> tuple[float, float]:
    """`countLines` and "counts the lines": the words of a name that the rest of the claim says too, and all of them."""
    rest = {t for p in claim.pieces if not anchor.start <= p.start < anchor.end for t in p.terms}
    own = {term for piece in anchor.pieces for term in piece.terms if term.startswith("w:")}
    return sum(map(evidence.rarity, own & rest)), sum(map(evidence.rarity, own))
