"""Finds where the sources have a claim's words and values, and what they say below those places. Pure."""

import heapq
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice

from dreams.lib.prose import lexicon
from dreams.lib.prose.claims.anchors import Anchor, AnchorToken, Claim, pieces, word_of
from dreams.lib.prose.claims.evidence import SessionText

# Tokens of distance at which a word counts half: a number belongs to its neighbours.
_NEARNESS = {"code": 4.0, "number": 3.0}
NAMED = 2.0  # weight of a name relative to a word, as it is rarely there by chance
_WHOLE = 0.4  # share of the exact name in its weight; its words share the rest


@dataclass(frozen=True, slots=True)
class Company:
    """The context of an anchor: the other terms of the claim, with weights.

    `known`: how many of its tokens are in the sources; a name of several words counts twice.
    """

    terms: tuple[str, ...]
    weights: tuple[float, ...]
    known: int

    @property
    def total(self) -> float:
        return sum(self.weights)


def company_of(evidence: SessionText, claim: Claim, anchor: Anchor | None) -> Company:
    """The claim without the anchor; nearby words count more, words that no source has do not count."""
    weights: dict[str, float] = {}
    known = 0
    own = {term for piece in anchor.pieces for term in piece.terms} if anchor else set()
    for index, piece in enumerate(claim.pieces):
        if piece.text.lower() in lexicon.NEGATIONS:
            continue  # checked separately, and would match any other negation
        if piece.terms[0] in own or (anchor and anchor.start <= piece.start < anchor.end):
            continue
        shares = _shares(evidence, piece)
        known += (2 if len(piece.terms) > 2 else 1) if shares else 0
        weight = max(evidence.rarity(term) for term in piece.terms) * _nearness(claim, index, anchor)
        if piece.terms[0].startswith("i:"):
            weight *= NAMED
        for term, share in shares:
            if term not in own:
                weights[term] = max(weights.get(term, 0.0), share * weight)
    return Company(tuple(weights), tuple(weights.values()), known)


def _shares(evidence: SessionText, piece: AnchorToken) -> list[tuple[str, float]]:
    """Splits a token's weight between its exact term and its parts."""
    exact, *parts = piece.terms
    shares = [(exact, _WHOLE if parts else 1.0), *((part, (1 - _WHOLE) / len(parts)) for part in parts)]
    return [(term, share) for term, share in shares if term in evidence.postings]


def _nearness(claim: Claim, index: int, anchor: Anchor | None) -> float:
    if anchor is None:
        return 1.0
    inside = [i for i, piece in enumerate(claim.pieces) if anchor.start <= piece.start < anchor.end]
    distance = min(abs(index - inside[0]), abs(index - inside[-1])) if inside else 0
    return 1 / (1 + distance / _NEARNESS[anchor.kind])


REACHES = (0, 1, 3)  # units on each side of a place
COMMONEST = 30_000  # places of one term that are looked at
MOST_COMPANY = 10_000  # places of all terms of a company together
RICHEST = 80  # that are looked at; chosen
HEADED = 0.7  # weight of a word in a heading relative to one in the line
LENGTH = 0.00025  # penalty per code point of a unit: 0.15 for the longest
Shares = tuple[float, ...]
NOTHING: Shares = (0.0,) * len(REACHES)


class Field:
    """The context terms of each unit before `end` as bit masks, and the weights of masks."""

    def __init__(self, evidence: SessionText, company: Company, end: int) -> None:
        self.evidence, self.company, self.end = evidence, company, end
        self.masks: dict[int, int] = {}
        left = MOST_COMPANY
        for bit in sorted(
            range(len(company.terms)), key=lambda bit: len(evidence.postings[company.terms[bit]])
        ):
            places = evidence.postings[company.terms[bit]]
            if len(places) > left:
                break  # the most common words tell least and cost most
            left -= len(places)
            for place in places:
                if place >= end:
                    break
                self.masks[place] = self.masks.get(place, 0) | 1 << bit
        self._total = company.total or 1.0
        self._known: dict[int, float] = {}

    def share(self, mask: int) -> float:
        """The share (0 to 1) of the context's weight in a mask."""
        known = self._known.get(mask)
        if known is None:
            weights = self.company.weights
            known = sum(weights[bit] for bit in range(mask.bit_length()) if mask >> bit & 1) / self._total
            self._known[mask] = known
        return known

    def at(self, place: int) -> float:
        return self.share(self.masks.get(place, 0))

    def gathered(self, units: Iterable[int]) -> int:
        mask = 0
        for unit in units:
            mask |= self.masks.get(unit, 0)
        return mask

    def heading(self, place: int) -> int:
        """The terms of the part's heading and of the unit's parents."""
        evidence = self.evidence
        heading = evidence.headings[evidence.units[place].part]
        return self.gathered(heading) | self.gathered(evidence.above(place))

    def windows(self, place: int, reaches: Iterable[int]) -> list[int]:
        """The masks of the units within each reach (increasing) of a place, inside its part."""
        first, last = self.evidence.bounds(place)
        last = min(last, self.end)
        low, high, mask = place, place, self.masks.get(place, 0)
        masks = []
        for reach in reaches:
            lower, higher = max(first, place - reach), min(last - 1, place + reach)
            mask |= self.gathered(range(lower, low)) | self.gathered(range(high + 1, higher + 1))
            low, high = lower, higher
            masks.append(mask)
        return masks

    def around(self, place: int) -> Shares:
        """The share within each of REACHES; the part's heading counts from the second one on."""
        bare, *wider = self.windows(place, REACHES)
        heading = self.heading(place)
        alone = max(self.share(bare), HEADED * self.share(bare | heading))
        return (alone, *(self.share(mask | heading) for mask in wider))

    def fitness(self, place: int) -> float:
        """How well a unit and the lines around it fit."""
        return (self.at(place) + self.around(place)[1]) / 2

    def together(self, place: int) -> int:
        """The number of different terms within one line of a place or in its heading."""
        return (self.windows(place, (1,))[0] | self.heading(place)).bit_count()

    def richest(self, limit: int) -> list[int]:
        """The units with the greatest share, best first; at most RICHEST."""
        return self._richest[:limit]

    @cached_property
    def _richest(self) -> list[int]:
        share, units = self.share, self.evidence.units
        scored = (
            (LENGTH * len(units[place].text) - share(mask), place) for place, mask in self.masks.items()
        )
        return [place for _, place in heapq.nsmallest(RICHEST, scored)]

    @cached_property
    def lines(self) -> dict[int, float]:
        """For each unit with a term within one line, the share of these lines."""
        units, found = self.evidence.units, dict[int, int]()
        for place, mask in self.masks.items():
            found[place] = found.get(place, 0) | mask
            part = units[place].part
            for other in (place - 1, place + 1):
                if 0 <= other < self.end and units[other].part == part:
                    found[other] = found.get(other, 0) | mask
        return {place: self.share(mask) for place, mask in found.items()}


MOST_PLACES = 400  # of one word; chosen
MOST_READ = 8_000  # units whose text is compared letter by letter
_SQUEEZE = re.compile(r"[\s\"'`*,;]+")
_COMPOSITE = re.compile(r"[{}\[\]=,<>]")
_SIGIL = re.compile(r"^[#.:@$&*~]+(?=\w)|:\d+(?:-\d+)?$")
_DISTINCT = re.compile(r"\w{3}\.\w|[a-z][A-Z]|\w_\w")  # a file's name, or one of several words
_ARGUMENTS = re.compile(r"\((?:[^()]|\([^()]*\))*\)$|/\d$")


@dataclass(frozen=True, slots=True)
class Occurrences:
    """How completely an anchor is in the sources (0 to 1), and the units that have it, in order."""

    presence: float
    places: Sequence[int]


def occurrences(evidence: SessionText, anchor: Anchor, end: int) -> Occurrences:
    if anchor.kind == "number":
        return Occurrences(*_numbers(evidence, anchor, end))
    for presence, form in _forms(anchor.text):
        found = _literal(evidence, form, end)
        if found:
            return Occurrences(presence, sorted({*found, *_by_itself(evidence, form, end)}))
    # A name alone may be in any folder; one in another folder is another file.
    alone = _by_itself(evidence, anchor.text.strip(), end) if "/" in anchor.text else []
    if alone:
        return Occurrences(0.75, alone)
    presence, places = _scattered(evidence, anchor, end)
    # Scattered parts of one name are not the name; parts of a longer piece of code may be.
    return Occurrences(min(presence, 0.9 if _COMPOSITE.search(anchor.text.strip()) else 0.45), places)


def _forms(text: str) -> Iterator[tuple[float, str]]:
    """Each form with its presence: as written, then without sigils, call arguments, and the parts before the last dot."""
    bare = text.strip().strip("\"'").removesuffix("()")
    yield 1.0, bare
    plain = _SIGIL.sub("", bare)
    if plain != bare and plain:
        yield 0.95, plain
    name = _ARGUMENTS.sub("", bare)
    if name != bare and name:
        yield 0.95, name
    if "/" not in name and "." in name and " " not in name and "(" not in name:
        last = name.rpartition(".")[2]
        if len(last) > 3:
            yield 0.75, last


def _literal(evidence: SessionText, form: str, end: int) -> list[int]:
    """The units with the exact form, else ignoring case, quotes and spaces."""
    read = _rarest(evidence, form, end)
    if len(read) > MOST_READ:
        read = read[:: len(read) // MOST_READ + 1]
    head = r"(?<!\w)" if form[0].isalnum() or form[0] == "_" else ""
    tail = r"(?!\w)" if form[-1].isalnum() or form[-1] == "_" else ""
    exact = re.compile(head + re.escape(form) + tail)
    found = [place for place in read if exact.search(evidence.units[place].text)]
    if found:
        return found
    wanted = _SQUEEZE.sub("", form.lower())
    return [place for place in read if wanted in _SQUEEZE.sub("", evidence.units[place].text.lower())]


def _by_itself(evidence: SessionText, form: str, end: int) -> list[int]:
    """The units with the end of a path or dotted name: "handler.ts" or "hooks/handler.ts" for "src/hooks/handler.ts"."""
    folders, mark, last = form.rpartition("/" if "/" in form else ".")
    if not mark or not _DISTINCT.search(last) or " " in form:
        return []
    before = ""
    for folder in folders.split("/") if "/" in form else ():
        before = f"(?:{before}{re.escape(folder)}/)?"
    alone = re.compile(rf"(?<![\w/.-]){before}{re.escape(last)}(?![\w/])")
    read = _rarest(evidence, last, end)
    return [place for place in read[:MOST_READ] if alone.search(evidence.units[place].text)]


def _rarest(evidence: SessionText, form: str, end: int) -> list[int]:
    """The units with the form's rarest word."""
    best: list[int] | None = None
    for piece in pieces(form):
        low = piece.text.lower()
        ways = dict.fromkeys((piece.terms[0], f"i:{low}", f"w:{word_of(low)}"))
        found = {place for way in ways for place in islice(evidence.places(way, end), COMMONEST)}
        if not found:
            return []
        if best is None or len(found) < len(best):
            best = sorted(found)
    return best or []


def _numbers(evidence: SessionText, anchor: Anchor, end: int) -> tuple[float, list[int]]:
    """The units with the number, or with a version that begins with it: "react": "19.1.0" for "React 19"."""
    value = anchor.pieces[0].terms[0]
    found = [place for way in (value, *anchor.also) for place in islice(evidence.places(way, end), COMMONEST)]
    if anchor.also:
        found = sorted(set(found))
    versions = {place for term in evidence.versions_of(value) for place in evidence.places(term, end)}
    found = sorted(versions.union(found)) if versions else found
    return (1.0, found) if found else (0.0, [])


def _scattered(evidence: SessionText, anchor: Anchor, end: int) -> tuple[float, list[int]]:
    wanted = {piece.terms[0]: evidence.rarity(piece.terms[0]) for piece in anchor.pieces}
    total = sum(wanted.values())
    found: dict[int, float] = {}
    for term, weight in wanted.items():
        for place in islice(evidence.places(term, end), COMMONEST):
            found[place] = found.get(place, 0.0) + (weight / total if total else 1.0)
    if not found:
        return 0.0, []
    best = max(found.values())
    return best * 0.9, sorted(place for place, share in found.items() if share >= best - 0.05)


PLACES = 120  # places of an anchor whose lines below are read
LINES = 100  # below a place, of which one may have the rest
PARTS, CONTENT = 8, 400  # parts that a place is the heading of, and lines of one
BODY = 24  # below a place, that may have the rest together
_DEEPER = re.compile(r"/[^\s/]+/")


def below(field: Field, anchor: Anchor, places: Sequence[int]) -> tuple[float, float]:
    """The largest share of one line below a place, with that place; and the share of all first lines below."""
    line = body = 0.0
    for place in places[:PLACES]:
        own = field.masks.get(place, 0)
        for under in _spans(field, anchor, place):
            line = max(
                [line, *(field.share(own | field.masks[unit]) for unit in under if unit in field.masks)]
            )
            inside = under.start == place + 1
            stop = min(under.stop, under.start + BODY) if inside else under.stop
            body = max(body, field.share(own | field.gathered(range(under.start, stop))))
    return line, body


def _spans(field: Field, anchor: Anchor, place: int) -> Iterator[range]:
    """The lines below a place, in the parts that it heads, and the arguments of the same call."""
    over = field.evidence.parents[place]
    opens = over >= 0 and over == place - 1 and field.evidence.units[over].text.endswith("(")
    under = field.evidence.under(over if opens else place, LINES, field.end)
    if under:
        yield under
    for part in _headed(field, anchor, place):
        yield range(part.start, min(part.stop, part.start + CONTENT, field.end))


def _headed(field: Field, anchor: Anchor, place: int) -> list[range]:
    """The parts that a place heads; a file's text belongs to the file and its folder, not to folders above."""
    name = anchor.text.strip("`\"' ").rstrip("/").lower()
    behind = field.evidence.units[place].text.lower().rpartition(name)[2]
    above = " " not in name and _DEEPER.match(behind)
    return [] if above else field.evidence.below(place)[:PARTS]
