"""Whether a claim stands in a session: supported, unsupported or contradicted, with the place. Pure.

The words of a claim are not enough, and neither is that each stands somewhere: numbers, names and denials are held against
what they are said of. `doubt` measures that for each anchor; `polarity` for denials and opposites.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from dreams.language.claims import polarity
from dreams.language.claims.anchors import Claim, claim_of
from dreams.language.claims.binding import Binding, bind
from dreams.language.claims.company import Field, company_of
from dreams.language.claims.doubt import doubt
from dreams.language.claims.dropped import dropped
from dreams.language.claims.evidence import Evidence
from dreams.language.claims.weights import BARS

Answer = Literal["supported", "unsupported", "contradicted"]
MOST_ANCHORS = 12
MOST_QUOTES = 3
LONGEST_QUOTE = 300
COVERED = 0.25  # share of its known words that a claim without code or numbers must have in one place
KNOWN = 0.35  # share of its words that must stand in the session at all
SAME = 0.6  # share from which a place speaks of the very same thing
FEW = 3  # words of company
BAR_OF_FEW = 0.82
_PLACES = 40


@dataclass(frozen=True, slots=True)
class Quote:
    """A unit as it stands, capped; `line` is the transcript's, 1-based; `role` is user, assistant, tool or system."""

    line: int
    quote: str
    role: str


@dataclass(frozen=True, slots=True)
class Verdict:
    """The answer, the places that it rests on (the best first), and a few words of reason for a person."""

    verdict: Answer
    evidence: tuple[Quote, ...]
    why: str


def check(evidence: Evidence, text: str, before_line: int | None = None) -> Verdict:
    """Hold one claim against what stands before a line (1-based, exclusive; None: the whole session)."""
    end = evidence.before(before_line)
    claim = claim_of(text)
    if not claim.pieces or not end:
        return Verdict(
            "unsupported", (), "nothing in it can be looked up" if end else "no source stands before it"
        )
    field = Field(evidence, company_of(evidence, claim, None), end)
    bindings = [bind(evidence, claim, anchor, end) for anchor in claim.anchors[:MOST_ANCHORS]]
    return (
        _by_anchors(field, claim, bindings)
        or _by_polarity(field, claim)
        or (None if bindings else _by_words(field, claim))
        or Verdict(
            "supported",
            _quotes(field, [*field.richest(2), *(b.best for b in bindings)]),
            "bound as the sources have it",
        )
    )


def _by_anchors(field: Field, claim: Claim, bindings: list[Binding]) -> Verdict | None:
    doubts = [
        (doubt(field.evidence, claim, binding) / BARS[binding.anchor.kind], binding) for binding in bindings
    ]
    worst, binding = max(doubts, key=lambda pair: pair[0], default=(0.0, None))
    if binding is None or worst <= 1.0:
        return None
    name = binding.anchor.text[:80]
    if binding.presence < 0.5:
        return Verdict("unsupported", _quotes(field, [binding.elsewhere]), f"“{name}” stands in no source")
    answer: Answer = (
        "contradicted" if binding.anchor.kind == "number" and binding.anywhere[0] >= SAME else "unsupported"
    )
    return Verdict(answer, _quotes(field, [binding.elsewhere, binding.best]), f"“{name}” is not said of this")


def _bar(binding: Binding) -> float:
    """A few words around a name are soon said otherwise: they must weigh more before they speak against it."""
    bar = BARS[binding.anchor.kind]
    return max(bar, BAR_OF_FEW) if binding.known <= FEW and binding.presence >= 0.7 else bar


def _by_polarity(field: Field, claim: Claim) -> Verdict | None:
    evidence, end = field.evidence, field.end
    turned = polarity.absolute_turned(field, claim)
    if turned is not None:
        return Verdict(
            "contradicted",
            _quotes(field, [turned]),
            "a source says always where this says never, or never for always",
        )
    best = field.richest(_PLACES)
    denial = polarity.unfounded(evidence, claim, end)
    if denial is not None:
        same = field.at(best[0]) >= SAME
        return Verdict(
            "contradicted" if same else "unsupported",
            _quotes(field, best[:2]),
            f"no source has this “{denial.word}”",
        )
    denied = dropped(field, claim)
    if denied is not None:
        return Verdict("contradicted", _quotes(field, [denied]), "the sources deny it")
    close = [place for place in best if field.at(place) >= max(SAME, 0.9 * field.at(best[0]))]
    texts = [evidence.units[place].text for place in close]
    if texts and polarity.turned(claim.text, texts):
        return Verdict("contradicted", _quotes(field, close[:2]), "the sources say the opposite")
    return None


def _by_words(field: Field, claim: Claim) -> Verdict | None:
    """A claim with nothing to bind stands or falls with its words being together in one place."""
    covered = max((field.around(place)[2] for place in field.richest(_PLACES)), default=0.0)
    known = field.company.known / len(claim.pieces)
    if covered >= COVERED and known >= KNOWN:
        return None
    return Verdict("unsupported", _quotes(field, field.richest(1)), "its words stand together in no source")


def _quotes(field: Field, places: Iterable[int]) -> tuple[Quote, ...]:
    units = [field.evidence.units[place] for place in dict.fromkeys(places) if place >= 0][:MOST_QUOTES]
    return tuple(Quote(unit.line, unit.text[:LONGEST_QUOTE], unit.role) for unit in units)
