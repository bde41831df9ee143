"""Finds the same sentence in the sources: word for word, or with one name, number or negation changed. Pure.

The same line with one thing changed is the clearest contradiction, and the same line unchanged the clearest support, unless
a person rejected it or said something else later.
"""

import functools
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

from dreams.lib.prose.claims import polarity
from dreams.lib.prose.claims.anchors import TOKEN, Anchor, AnchorToken, Claim, is_name, pieces, word_of
from dreams.lib.prose.claims.evidence import SessionText
from dreams.lib.prose.claims.occurrences import Field
from dreams.lib.prose.lexicon import FILLER

# Nouns of numbered things (queue 1, queue 2), whose numbers are names.
_NUMBERED = """
queue worker shard replica partition bucket node server host machine instance cluster pod rack zone region disk device gpu
core thread process slot lane channel stream pool topic table room desk door gate line floor unit printer screen monitor
step phase stage task subtask job part section chapter appendix point item bullet entry row column figure question rule
invariant criterion requirement scenario case example test fixture option variant plan proposal approach hypothesis
milestone sprint iteration round attempt pass batch wave week day ticket issue story epic message prompt session agent
player team group customer tenant account
"""
_LABEL = re.compile(
    rf"\b({'|'.join(_NUMBERED.split())})s?[ -]?#?(\d{{1,4}})\b(?![.,:]\d|%|\s?(?:ms|kb|mb|gb)\b)",
    re.IGNORECASE,
)


def are_of_others(one: str, other: str) -> bool:
    """Whether both name numbered things of one kind without a common number."""
    mine = _labels(one)
    theirs = _labels(other) if mine else {}
    return any(not mine[noun] & theirs[noun] for noun in mine.keys() & theirs.keys())


@functools.lru_cache(maxsize=1_000)
def _labels(text: str) -> dict[str, set[int]]:
    found: dict[str, set[int]] = defaultdict(set)
    for match in _LABEL.finditer(text):
        found[match[1].lower()].add(int(match[2]))
    return found


BEFORE, BEHIND = 2, 3  # words on each side of a negation that must be the same, or all there are
FEWEST = 4  # of both sides together
_NOT = (
    (re.compile(r"\bcan(?:['’]t|not)\b", re.IGNORECASE), "can not"),
    (re.compile(r"\bwon['’]t\b", re.IGNORECASE), "will not"),
    (re.compile(r"n['’]t\b", re.IGNORECASE), " not"),
    # An answer or a table cell does not negate what follows.
    (re.compile(r"\bno(?=\s*[|.,;:!])", re.IGNORECASE), ""),
)
_ANY = re.compile(r"\b(?:not|cannot|never|no|without)\b|n['’]t\b", re.IGNORECASE)
_OPEN = re.compile(r"\b(?:whether|if)\b", re.IGNORECASE)  # open points are neither asserted nor negated
_DENIALS = frozenset({"not", "never", "no", "longer", "without"})
# "Does not find" is "finds" with a negation inside, and "always" adds nothing.
_EMPTY = frozenset({"a", "an", "the", "do", "does", "did", "always", "still", "with"})


@dataclass(frozen=True, slots=True)
class Wording:
    """The words of a text without negations, and the positions of the negations."""

    words: tuple[str, ...]
    denied: frozenset[int]


@functools.lru_cache(maxsize=4_000)
def wording_of(text: str) -> Wording:
    for pattern, instead in _NOT:
        text = pattern.sub(instead, text)
    words, denied = list[str](), set[int]()
    for token in TOKEN.findall(text):
        low = token.lower()
        if low in _DENIALS:
            denied.add(len(words))
        elif low not in _EMPTY:
            words.append(word_of(low))
    return Wording(tuple(words), frozenset(denied))


def denied_elsewhere(claim: str, sources: Iterable[tuple[int, str]]) -> int | None:
    """A source with the same words but without the claim's negation, or with an additional one.

    None if there is no such source, or another has exactly the claim's words.
    """
    said, alike, against = wording_of(claim), set[int](), dict[int, int]()
    for place, text in sources:
        if _OPEN.search(text) or (not said.denied and not _ANY.search(text)):
            continue
        source = wording_of(text)
        for mine, theirs in _spots(said, source):
            if (mine in said.denied) == (theirs in source.denied):
                alike.add(mine)
            else:
                against.setdefault(mine, place)
    return next((place for mine, place in against.items() if mine not in alike), None)


def _spots(said: Wording, source: Wording) -> Iterator[tuple[int, int]]:
    """The positions in both texts with the same words around a negation of one of them."""
    for mine in said.denied:
        yield from ((mine, theirs) for theirs in _where(said.words, mine, source.words))
    for theirs in source.denied:
        yield from ((mine, theirs) for mine in _where(source.words, theirs, said.words))


def _where(words: Sequence[str], at: int, among: Sequence[str]) -> Iterator[int]:
    first = max(0, at - BEFORE)
    window = words[first : at + BEHIND]
    if len(window) < FEWEST or at == len(words):
        return
    for start in range(len(among) - len(window) + 1):
        if among[start : start + len(window)] == window:
            yield start + at - first


CONTEXT = 5  # words on each side that must be the same, or all up to the claim's end
ALIKE = 0.8  # least share of the claim's other words in the source
LIKELY = 0.55  # least share of the claim in a source that is compared word by word
MOST_READ = 24  # places for another wording; chosen
MOST_PAIRED = 80  # units compared with and without negations
OVERTAKEN = 0.5  # least share of the claim in a later correction; numbers change more often than names
RENAMED = 0.8  # the same for a claim identified by its names; chosen
MOST_LATER = 500  # places behind it; chosen
LONGEST_SLOT = 12  # words
MORE = 2  # additional words that the replacement may have
Span = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Wordings:
    """The spans of the claim that a source has in the same words, and the unit with another thing there."""

    same: frozenset[Span]
    other: dict[Span, int]
    denied: int | None  # the unit with the same words and one negation more or less


def wordings(field: Field, claim: Claim) -> Wordings:
    texts = {place: field.evidence.units[place].text for place in field.richest(MOST_PAIRED)}
    texts = {place: text for place, text in texts.items() if not are_of_others(claim.text, text)}
    near = [place for place in field.richest(MOST_READ) if field.at(place) >= LIKELY and place in texts]
    same, other = _said_there(field, claim, near)
    taken = {s: p for s, p in other.items() if s not in same and not _is_overtaken(field, claim, s, p)}
    return Wordings(frozenset(same), taken, denied_elsewhere(claim.text, texts.items()))


def _said_there(field: Field, claim: Claim, places: Sequence[int]) -> tuple[set[Span], dict[Span, int]]:
    same, other = set[Span](), dict[Span, int]()
    texts = {place: [word_of(word) for word in _words(field.evidence.units[place].text)] for place in places}
    words = [(word_of(match[0].lower()), match.start(), match.end()) for match in TOKEN.finditer(claim.text)]
    for span in _slots(claim, words):
        slot = [word for word, start, end in words if span[0] <= start and end <= span[1]]
        for place, told in texts.items():
            for found in _in_slot(words, span, told):
                if set(slot) <= set(found):
                    same.add(span)
                elif _is_another(slot, found, edge=span[0] <= words[0][1] or span[1] >= words[-1][2]):
                    other.setdefault(span, place)
    return same, other


def _is_overtaken(field: Field, claim: Claim, span: Span, place: int) -> bool:
    """Whether a later unit has the claim's value and fits well: "all 12 tests pass" was true at some time."""
    terms = [piece.terms[0] for piece in claim.pieces if span[0] <= piece.start < span[1]]
    later = (p for p in field.evidence.places(terms[0], field.end) if p > place) if terms else ()
    enough = OVERTAKEN if terms and terms[0].startswith("n:") else RENAMED
    return any(field.fitness(p) >= enough for p in islice(later, MOST_LATER))


def _slots(claim: Claim, words: Sequence[tuple[str, int, int]]) -> Iterator[Span]:
    yield from ((anchor.start, anchor.end) for anchor in claim.anchors)
    for word, start, end in words:
        if word[0].isdigit() and not any(a.start <= start < a.end for a in claim.anchors):
            yield start, end


def _is_another(slot: Sequence[str], found: Sequence[str], *, edge: bool) -> bool:
    """Whether the source has another thing of the same kind there, and not just more words.

    At the edge of a claim the limits of the thing are unknown.
    """
    if len(found) > len(slot) + (0 if edge else MORE):
        return False
    numbers = all(word[0].isdigit() for word in slot)
    return numbers == all(word[0].isdigit() for word in found) and not set(found) <= {*slot, *FILLER}


def _in_slot(
    words: Sequence[tuple[str, int, int]], span: Span, told: Sequence[str]
) -> Iterator[Sequence[str]]:
    """What a source has at each place with the same words around."""
    before = [word for word, start, end in words if end <= span[0]]
    behind = [word for word, start, end in words if start >= span[1]]
    if min(len(before), CONTEXT) + min(len(behind), CONTEXT) < FEWEST:
        return
    rest, there = {*before, *behind}, set(told)
    if len(rest & there) < ALIKE * len(rest):
        return
    left, right = before[-CONTEXT:], behind[:CONTEXT]
    for at in range(len(left), len(told) + 1 if left else 1):
        if told[at - len(left) : at] != left:
            continue
        for end in range(at + 1, min(len(told), at + LONGEST_SLOT) + 1):
            if told[end : end + len(right)] == right and (right or end == len(told)):
                yield told[at:end]
                break


def _words(text: str) -> list[str]:
    return [token.lower() for token in TOKEN.findall(text)]


QUOTED_FEWEST = 3  # consecutive words of a quotation
QUOTED_MOST_READ = 2_000  # units read for one claim
AROUND = 3  # units that a quotation may span
LATER = 0.8  # least share of the claim without numbers in a later text about the same thing


def quoted(field: Field, claim: Claim) -> int | None:
    """The unit where the claim begins word for word, a person's first; None if there is none."""
    wanted = _words(claim.text)
    if len(wanted) < QUOTED_FEWEST:
        return None
    units = field.evidence.units
    said = (place for place in _likely(field, claim) if not units[place].asks)
    found = [place for place in said if _stands(field.evidence, place, wanted)]
    return min(found, key=lambda place: (units[place].standing, place), default=None)


def overtaken(field: Field, claim: Claim, place: int) -> int | None:
    """A later text of a person with another number for the same, or the opposite."""
    units = field.evidence.units
    numbers = {piece.terms[0] for piece in claim.pieces if piece.is_number}
    line = units[place].line
    later = [p for p in field.masks if units[p].line > line and units[p].role == "user" and units[p].prose]
    aside = sum(1 << bit for bit, term in enumerate(field.company.terms) if term.startswith("n:"))
    for other in sorted(later, reverse=True):
        if field.share(field.masks[other] | aside) < LATER or are_of_others(claim.text, units[other].text):
            continue
        said = {piece.terms[0] for piece in pieces(units[other].text) if piece.is_number}
        if (numbers and said and not said & numbers) or polarity.turned(claim.text, [units[other].text]):
            return other
    return None


def _likely(field: Field, claim: Claim) -> Iterator[int]:
    """The units with the claim's rarest word, in order."""
    evidence = field.evidence
    terms = {piece.terms[0] for piece in claim.pieces}
    if not terms or not terms <= evidence.postings.keys():
        return
    rarest = min(terms, key=lambda term: len(evidence.postings[term]))
    for count, place in enumerate(evidence.places(rarest, field.end)):
        if count >= QUOTED_MOST_READ:
            return
        yield place


def _stands(evidence: SessionText, place: int, wanted: Sequence[str]) -> bool:
    first, last = evidence.bounds(place)
    text = "\n".join(
        unit.text for unit in evidence.units[max(first, place - AROUND) : min(last, place + AROUND + 1)]
    )
    words = list(TOKEN.finditer(text))
    told = [word[0].lower() for word in words]
    for at in range(len(told) - len(wanted) + 1):
        if told[at : at + len(wanted)] == wanted and not polarity.is_denied_before(text, words[at].start()):
            return True
    return False


MOST = 12  # names and numbers of a claim that are checked
RICHEST = 80  # units read
FIT = 0.4  # how well a unit must fit to be about the same thing
MARGIN = 0.05  # margin over every later unit that asserts the value
AHEAD, ASIDE_BEHIND = 60, 40  # code points read on each side
_OPENS, _CLOSES = r"[`\"'(*]*$", r"[`\"')*]*"
_SMALL = r"\s+(?:(?:at|with|for|in|on|by|to|the|a|an|be|as|of|via|using|use|every|after)\s+){0,3}"
_CHANGE = r"\b(?:mov|chang|rais|lower|bump|upgrad|downgrad|increas|decreas|reduc|switch|renam|migrat|updat|went|goes|grew|dropp|shift)\w*\b"
# What comes before a rejected value, and what must come after it.
_ASIDE = tuple(
    (re.compile(before + _OPENS, re.IGNORECASE), re.compile(_CLOSES + behind, re.IGNORECASE))
    for before, behind in (
        (rf"(?:(?<!why )\bnot|n['’]t|\bno longer|\binstead of|\brather than|\bformerly|\bpreviously|\(was){_SMALL}", ""),
        (r"(?<!\bis )(?<!\bare )(?<!\bwas )\bused to \w+\s+(?:\w+\s+){0,2}", ""),
        (rf"{_CHANGE}[^.;]*\bfrom{_SMALL}", r"\s*(?:\w+\s+)?(?:to|→|->)\s"),
        (rf"\b(?:replac|dropp|swapp)\w*{_SMALL}", r"\s*(?:with|by|for|in favou?r of)\b"),
        (r"\b(?:was|were)\b[^.;`\d]{0,24}", r"[^.;`\d]{0,24}\b(?:is|are|now)\b[^.;`\d]{0,16}\d"),
    )
)  # fmt: skip
_ENDED = re.compile(rf"{_CLOSES}\s*(?:any ?more|no longer|any longer)\b", re.IGNORECASE)


def disowned(field: Field, claim: Claim) -> tuple[Anchor | AnchorToken, int] | None:
    """A value of the claim, and the unit that rejects it; None if a later unit asserts it."""
    values: list[Anchor | AnchorToken] = [one for one in claim.anchors if one.kind == "number" or one.marked]
    values += [piece for piece in claim.pieces if is_name(claim, piece)]
    for value in values[:MOST]:
        place = None if _is_of_a_change(claim, value) else _set_aside(field, value)
        if place is not None:
            return value, place
    return None


def _is_of_a_change(claim: Claim, anchor: Anchor | AnchorToken) -> bool:
    """Whether the claim rejects the value too, or is about the past: "the job was at 02:30"."""
    ahead, behind = _around(claim.text, anchor.start, anchor.end)
    return any(before.search(ahead) for before, _ in _ASIDE) or bool(_ENDED.match(behind))


def _set_aside(field: Field, anchor: Anchor | AnchorToken) -> int | None:
    named = re.compile(rf"(?<![\w.:]){re.escape(anchor.text)}(?![\w:]|\.\d)", re.IGNORECASE)
    plain, aside = list[int](), list[int]()
    for place in field.richest(RICHEST):
        unit = field.evidence.units[place]
        spots = [match.span() for match in named.finditer(unit.text)]
        if spots and field.fitness(place) >= FIT:
            told = unit.prose and all(_is_aside(unit.text, *spot) for spot in spots)
            (aside if told else plain).append(place)
    best = max(aside, key=field.fitness, default=-1)
    enough = max((field.fitness(place) + MARGIN for place in plain if place > best), default=0.0)
    return best if aside and field.fitness(best) > enough else None


def _is_aside(text: str, start: int, end: int) -> bool:
    ahead, behind = _around(text, start, end)
    return bool(_ENDED.match(behind)) or any(
        before.search(ahead) and after.match(behind) for before, after in _ASIDE
    )


def _around(text: str, start: int, end: int) -> tuple[str, str]:
    return text[max(0, start - AHEAD) : start], text[end : end + ASIDE_BEHIND]
