"""Decides whether a session supports or contradicts a claim, and where. Pure.

It is not enough that each word is somewhere: numbers, names and negations must belong to the same things as in the claim.
`doubt` measures that for each anchor; `polarity` and `turned` for negations and opposites.
"""

import functools
import math
import operator
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Literal

from dreams.lib.prose.claims import polarity
from dreams.lib.prose.claims.anchors import AnchorToken, Claim, claim_of, is_name, said_of_itself
from dreams.lib.prose.claims.binding import PRESENT, Binding, bind, crossed, doubted
from dreams.lib.prose.claims.evidence import FOREIGN, SessionText
from dreams.lib.prose.claims.occurrences import Field, company_of
from dreams.lib.prose.claims.wordings import Wordings, are_of_others, disowned, overtaken, quoted, wordings
from dreams.lib.prose.lexicon import GENERIC
from dreams.lib.prose.words import stem

Answer = Literal["supported", "unsupported", "contradicted"]
MOST_ANCHORS = 12  # deciding words of a claim; chosen
MOST_QUOTES = 3  # that a person reads; chosen
LONGEST_QUOTE = 300  # characters; chosen
SHORT = 4  # words of a claim that must be in one passage; in a longer one each in any passage about it
LOOSE = 0.19  # share by weight of a claim's words that no source needs to have: less than one in five
KNOWN = 0.5  # least share of its words anywhere in the session
SAME = 0.6  # least share in a place about exactly the same thing
ALIKE = 0.85  # of the best share, from which a person's text is shown before a tool's output
_PLACES = 40  # places considered for a quote; chosen
_SENTENCES = re.compile(r"(?<=\w\w[.!])\s+(?=[A-Z`])")
_LABEL = re.compile(r"\W*(?:\*\*[^*\n]{1,40}\*\*:?|[^`:\n]{1,30}:)\s")
_TAIL = re.compile(r"\w['’]")


@dataclass(frozen=True, slots=True)
class Quote:
    """A unit of a session, shortened; `line` is the transcript's, 1-based; `role` is user, assistant, system, tool or web."""

    line: int
    quote: str
    role: str


@dataclass(frozen=True, slots=True)
class ClaimCheck:
    """The answer, the places it is based on (best first), and a short reason for a person."""

    answer: Answer
    evidence: tuple[Quote, ...]
    why: str

    @property
    def only_foreign(self) -> bool:
        """Whether all its support comes from tools or web pages."""
        return self.answer == "supported" and all(quote.role in FOREIGN for quote in self.evidence)


def check(evidence: SessionText, text: str, before_line: int | None = None) -> ClaimCheck:
    """Check one claim against the session before a line (1-based, exclusive; None: the complete session)."""
    whole, parts = _check(evidence, text, before_line), _SENTENCES.split(text)
    if whole.answer == "supported" or len(parts) == 1:
        return whole
    found = [_check(evidence, part, before_line) for part in parts]
    quotes = tuple(quote for one in found for quote in one.evidence)[:MOST_QUOTES]
    borne_out = all(one.answer == "supported" for one in found)
    return ClaimCheck("supported", quotes, found[0].why) if borne_out else whole


def _check(evidence: SessionText, text: str, before_line: int | None) -> ClaimCheck:
    field, claim = _asked(evidence, text, before_line)
    return _stands(field, claim) or _of_this(claim, _by_parts(field, claim))


def stands(evidence: SessionText, text: str) -> ClaimCheck | None:
    """The answer to a claim that is word for word in a source, or cannot be looked up; else None."""
    return _stands(*_asked(evidence, text, None))


def _stands(field: Field, claim: Claim) -> ClaimCheck | None:
    if not claim.pieces or not field.end:
        why = "nothing in it can be looked up" if field.end else "no source comes before it"
        return ClaimCheck("unsupported", (), why)
    place = quoted(field, claim)
    if place is None:
        return None
    later = overtaken(field, claim, place)
    if later is not None:
        return ClaimCheck("contradicted", _quotes(field, [later, place]), "a person said otherwise later")
    return _by_disowning(field, claim, place) or ClaimCheck(
        "supported", _quotes(field, [place]), "it stands there word for word"
    )


def _of_this(claim: Claim, found: ClaimCheck) -> ClaimCheck:
    """The answer, with a contradiction about another numbered thing as unsupported: queue 0 says nothing about queue 1."""
    if found.answer != "contradicted" or not are_of_others(claim.text, found.evidence[0].quote):
        return found
    return ClaimCheck("unsupported", found.evidence, "a source says it of another of the same kind")


def _asked(evidence: SessionText, text: str, before_line: int | None) -> tuple[Field, Claim]:
    claim = claim_of(text)
    return Field(evidence, company_of(evidence, claim, None), evidence.before(before_line)), claim


def _by_parts(field: Field, claim: Claim) -> ClaimCheck:
    told = wordings(field, claim)
    unsaid = [anchor for anchor in claim.anchors if (anchor.start, anchor.end) not in told.same]
    bindings = [bind(field.evidence, claim, anchor, field.end) for anchor in unsaid[:MOST_ANCHORS]]
    return (
        _by_wordings(field, claim, told)
        or _by_disowning(field, claim)
        or _by_clauses(field, claim)
        or _by_anchors(field, claim, bindings)
        or _by_polarity(field, claim)
        or _by_words(field, claim)
        or _supported(field, bindings)
    )


def _by_wordings(field: Field, claim: Claim, told: Wordings) -> ClaimCheck | None:
    if told.denied is not None:
        return ClaimCheck(
            "contradicted", _quotes(field, [told.denied]), "a source says the opposite in the same words"
        )
    for (start, end), place in told.other.items():
        why = f"a source has another thing for “{claim.text[start:end][:80]}”, in the same words"
        return ClaimCheck("contradicted", _quotes(field, [place]), why)
    same = said_of_itself(claim)
    return ClaimCheck("unsupported", (), f"it says of “{same.text[:80]}” that it is itself") if same else None


def _by_disowning(field: Field, claim: Claim, quoted_at: int | None = None) -> ClaimCheck | None:
    """Contradicted if a source rejects a value, else None; only a person can reject what is there word for word."""
    found = disowned(field, claim)
    if found is None or (quoted_at is not None and field.evidence.units[found[1]].standing > 0):
        return None
    anchor, place = found
    return ClaimCheck("contradicted", _quotes(field, [place]), f"a source sets “{anchor.text[:80]}” aside")


def _by_clauses(field: Field, claim: Claim) -> ClaimCheck | None:
    found = crossed(field, claim)
    if found is None:
        return None
    number, place = found
    return ClaimCheck(
        "contradicted", _quotes(field, [place]), f"a source has “{number.text}” for something else"
    )


def _supported(field: Field, bindings: list[Binding]) -> ClaimCheck:
    places = [*_persons_first(field, field.richest(_PLACES))[:2], *(binding.best for binding in bindings)]
    return ClaimCheck("supported", _quotes(field, places), "bound as the sources have it")


def _persons_first(field: Field, places: list[int]) -> list[int]:
    """The best places; among nearly equal ones a person's words first and tool output last."""
    units = field.evidence.units
    top = field.at(places[0]) if places else 0.0
    return sorted(places, key=lambda p: (field.at(p) < ALIKE * top, units[p].standing, -field.at(p)))


def _by_anchors(field: Field, claim: Claim, bindings: list[Binding]) -> ClaimCheck | None:
    doubts = [(doubted(field.evidence, claim, binding), binding) for binding in bindings]
    worst, binding = max(doubts, key=lambda pair: pair[0], default=(0.0, None))
    if binding is None or worst <= 1.0:
        return None
    name = binding.anchor.text[:80]
    if binding.presence < PRESENT:
        return ClaimCheck("unsupported", _quotes(field, [binding.elsewhere]), f"“{name}” stands in no source")
    same, other = binding.slot  # "14 archives", but the source has another number of them
    answer: Answer = "contradicted" if other >= SAME and other > same else "unsupported"
    return ClaimCheck(
        answer, _quotes(field, [binding.elsewhere, binding.best]), f"“{name}” is not said of this"
    )


def _by_polarity(field: Field, claim: Claim) -> ClaimCheck | None:
    best = field.richest(_PLACES)
    denial = polarity.unfounded(field, claim)
    if denial is not None:
        # If most of its words are nowhere, the best place only shares a word by chance.
        is_told = field.company.known / len(claim.pieces) >= KNOWN
        is_same = best and field.at(best[0]) >= SAME
        answer: Answer = "contradicted" if is_told and is_same else "unsupported"
        return ClaimCheck(answer, _quotes(field, best[:2]), f"no source has this “{denial.word}”")
    close = [place for place in best if field.at(place) >= max(SAME, 0.9 * field.at(best[0]))]
    texts = [field.evidence.units[place].text for place in close]
    if texts and polarity.turned(claim.text, texts):
        return ClaimCheck("contradicted", _quotes(field, close[:2]), "the sources say the opposite")
    return None


def _by_words(field: Field, claim: Claim) -> ClaimCheck | None:
    """Names, numbers and nearly all other words must be in the passages with most of the claim; of a short claim in one passage.

    A word that the best passage replaces (by its opposite, another day or environment) counts as a value.
    """
    words = list(_looked_for(field, claim))
    bits = {term: 1 << bit for bit, term in enumerate(field.company.terms)}
    places = [place for place in field.richest(_PLACES) if not field.evidence.units[place].asks]
    passages = {place: _passage(field, place) for place in places}
    unsaid = {place: [word for word in words if not _is_in(word, passages[place], bits)] for place in places}
    best = min(places, key=lambda place: _weight(field, unsaid[place]), default=-1)
    together = functools.reduce(operator.or_, passages.values(), 0)
    nowhere = [word for word in words if not _is_in(word, together, bits)]
    left = unsaid[best] if places and len(words) <= SHORT else nowhere
    # The relation of two names in code was checked with them.
    codes = sum(anchor.marked and anchor.kind == "code" for anchor in claim.anchors)
    name = next((word for word in nowhere if word.is_number or is_name(claim, word)), None)
    name = name or (
        polarity.replaced(claim, unsaid[best], field.evidence.units[best].text) if places else None
    )
    if name is None and words and _weight(field, left) <= LOOSE * max(1, codes) * _weight(field, words):
        return None
    word = name or max(left or claim.pieces, key=lambda word: _weight(field, [word]))
    why = "is not said of this" if _is_known(field, word) else "stands in no source"
    return ClaimCheck("unsupported", _quotes(field, [best]), f"“{word.text[:80]}” {why}")


def _passage(field: Field, place: int) -> int:
    """The terms of a line, its neighbours, its headings and a question right before it ("How often?" "Seven times.")."""
    asked = place > 0 and field.evidence.units[place - 1].asks
    return (
        field.windows(place, (1,))[0] | field.heading(place) | (field.masks.get(place - 1, 0) if asked else 0)
    )


def _looked_for(field: Field, claim: Claim) -> Iterator[AnchorToken]:
    """The words to find: without negations, filler words, the "s" of "user's", unknown labels ("Purpose: …") and measures that
    no source has, or only in other units ("30 seconds")."""
    apart = [range(one.start, one.start + len(one.word)) for one in polarity.denials(claim.text)]
    label = _LABEL.match(claim.text)
    unknown = [range(label.end())] if label else []
    numbers = (one for one in claim.anchors if one.kind == "number" and not _is_known(field, one.pieces[0]))
    unknown += [range(one.start, one.end + (len(" seconds") if one.also else 0)) for one in numbers]
    for piece in claim.pieces:
        is_tail = _TAIL.fullmatch(claim.text[max(0, piece.start - 2) : piece.start])
        is_apart = is_tail or any(piece.start in span for span in apart)
        is_unknown = any(piece.start in span for span in unknown) and not _is_known(field, piece)
        if not (is_apart or is_unknown or stem(piece.text.lower()) in GENERIC):
            yield piece


def _is_in(piece: AnchorToken, mask: int, bits: dict[str, int]) -> bool:
    """Whether a passage has the token, or all words of its name."""
    exact, *parts = (bits.get(term, 0) & mask for term in piece.terms)
    return bool(exact) or (bool(parts) and all(parts))


def _is_known(field: Field, piece: AnchorToken) -> bool:
    return any(True for term in piece.terms for _ in field.evidence.places(term, field.end))


def _weight(field: Field, words: Iterable[AnchorToken]) -> float:
    """The total weight of words; one that no source has weighs as much as one that occurs once."""
    most = math.log1p(len(field.evidence.units) / 2)
    return sum(min(most, max(map(field.evidence.rarity, word.terms))) for word in words)


def _quotes(field: Field, places: Iterable[int]) -> tuple[Quote, ...]:
    units = [field.evidence.units[place] for place in dict.fromkeys(places) if place >= 0][:MOST_QUOTES]
    return tuple(Quote(unit.line, unit.quote[:LONGEST_QUOTE], unit.role) for unit in units)
