"""Finds contradictions: the claim denies what the sources say, says what they deny, or uses a different word. Pure.

A denial is bound to the words that it stands before: "not cached" is said by "never caches", not by "cached, not compressed".
An opposite contradicts. What is one of a class (a weekday, a unit, the client and the server) may be so of both, and is not said.
"""

from __future__ import annotations

import heapq
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import NamedTuple

from dreams.lib.prose import lexicon
from dreams.lib.prose.claims.anchors import Claim, Piece, pieces, word_of
from dreams.lib.prose.claims.occurrences import Field

_DENIAL = re.compile(  # "_not_" is said with stress, and comments leave the apostrophe out
    r"(?<!\w)_?(not|never|no longer|no|non(?=-(?!nil\b|null\b|zero\b))|none|cannot|without|neither|nor|nothing|nobody|nowhere|[a-z]+n['’]t|(?:do|does|did|is|are|was|were|could|should|would|has|have|had)nt|unable|lacks?|lacking)_?(?!\w)",
    re.IGNORECASE,
)
# What says "not" in code and output, right beside the word.
_CUE = re.compile(
    r"\b(?:non|nil|null|none|false|undefined|missing|absent|fail(?:s|ed|ure)?|invalid|unless|except|only|skip\w*|ignor\w*|avoid\w*|"
    r"prevent\w*|disabled?|block\w*|zero|0)\b|!(?==?\s?\w)",
    re.IGNORECASE,
)
_NEGATIVE = re.compile(
    r"(?:un(?!i|der|til|less)|non-?)[a-z]{3,}|missing|absent|empty|fail\w*|never|no", re.IGNORECASE
)
_CLAUSE = re.compile(r"[;:()—–|]|,\s|\.\s|\s-\s|→|\b(?:but|and|because|so|which|while|although)\b")
_ABSENCE = "non no none without nothing nobody nowhere neither nor lack lacks lacking unable"
_OF_ABSENCE = frozenset({"no longer", *_ABSENCE.split()})
_NOTICED = "see seen show shown visible find know known mention notice exist available"
_OF_NOTICE = frozenset(word_of(word) for word in _NOTICED.split())
_DENIED_BEHIND = re.compile(r"\W*(?:\w+\W+){0,2}(?:not\b|\w+n['’]t\b|none\b)", re.IGNORECASE)
_ANSWERED = re.compile(r"(?:\s\w+)?[?:*|\s]*[?:|][*|\s]*no\b", re.IGNORECASE)  # "Deprecated: no"
_CONTRAST = re.compile(r"[,(]\s*$")
_GUARDED = re.compile(
    r"\b(?:fails? to|failed to|only|except|unless|instead|missing|false|nil|null)\b", re.IGNORECASE
)
# "All" of one thing and "this" of another stand in one statement without any quarrel.
QUANTITIES = frozenset(["all", "any", "some", "none", "this", "each", "every", "more", "less", "few", "many"])
SCOPE = 3  # words behind a denial that it is about
NEAR = 45  # code points between a denial and the word that it is about
BETWEEN = 2  # pieces behind a word in which the next one must stand
BESIDE = 12  # the same for what only says "not" beside the word
WEIGHED = 3_000  # units that say a denied word
NEARLY = 0.8  # of the best unit's fitness, which a unit that denies a word must have to bear a denial out
BEST = 20  # units that the best one is sought in


@dataclass(frozen=True, slots=True)
class Denial:
    word: str
    start: int
    scope: tuple[str, ...]  # terms right behind it in its clause


def denials(text: str) -> Iterator[Denial]:
    """Every denial outside inline code, with what it is about."""
    bare = re.sub(r"`[^`]*`", lambda m: m[0].replace("not", "n_t").replace("no", "n_"), text)
    for match in _DENIAL.finditer(bare):
        behind = _CLAUSE.split(text[match.end() : match.end() + 90])[0]
        scope = tuple(p.terms[-1] if len(p.terms) == 1 else p.terms[0] for p in pieces(behind))[:SCOPE]
        yield Denial(match[1].lower(), match.start(), scope)


def unfounded(field: Field, claim: Claim) -> Denial | None:
    """A denial in the claim that no source makes of the same words where it speaks of the same thing."""
    for denial in denials(claim.text):
        if _is_seldom_told(claim, denial):
            continue
        if _doubly(claim.text, denial):
            places = field.evidence.places(denial.scope[0], field.end)
            if not any(is_doubly_denied(field.evidence.units[p].text) for p in places):
                return denial
        elif not _is_borne_out(field, claim, denial.scope[:2]):
            return denial
    return None


def _is_seldom_told(claim: Claim, denial: Denial) -> bool:
    """What is not there and what nobody noticed leave no trace; of "names, not ids" the ids are mostly spoken of too."""
    terms = [term.removeprefix("w:") for term in denial.scope]
    sets_apart = denial.word == "not" and _CONTRAST.search(claim.text[: denial.start])
    return (
        not terms
        or denial.word in _OF_ABSENCE
        or terms[0] in _OF_NOTICE
        or "yet" in terms
        or bool(sets_apart)
    )


def _is_borne_out(field: Field, claim: Claim, words: Sequence[str]) -> bool:
    """Whether a unit that denies one of the words fits nearly as well as the best one of all."""
    units = field.evidence.units
    enough = NEARLY * max(map(field.fitness, field.richest(BEST)), default=0.0)
    places = {p for word in words for p in islice(field.evidence.places(word, field.end), WEIGHED)}
    fitting = (place for place in places if field.fitness(place) >= enough)
    return any(has_cue(units[place].text, words, claim.text) for place in fitting)


def has_cue(text: str, words: Sequence[str], claim: str = "") -> bool:
    """Whether one of the words is denied: by a denial in front of it in the same clause, or by a cue right beside it.

    A cue that the claim itself has ("the run failed") is no denial of what the claim says.
    """
    told = claim.lower()
    for piece in pieces(text):
        if not set(piece.terms) & set(words):
            continue
        ahead = _CLAUSE.split(text[max(0, piece.start - NEAR) : piece.start])[-1]
        behind = text[piece.end : piece.end + BESIDE]
        if _DENIAL.search(ahead) or _DENIED_BEHIND.match(behind) or _ANSWERED.match(text, piece.end):
            return True
        beside = f"{ahead[-BESIDE:]} \0 {behind}"
        if any(cue[0].lower() not in told for cue in _CUE.finditer(beside)):
            return True
    return False


def turned(text: str, sources: Sequence[str]) -> bool:
    """Whether all sources (which speak of the very same thing) deny what a text says, or have the opposite of its word."""
    return all(_denies(source, text) for source in sources) or all(
        _opposes(source, text) for source in sources
    )


def _denies(source: str, text: str) -> bool:
    """A denial in the source of words that the text says without any denial."""
    if _DENIAL.search(text) or _GUARDED.search(text):
        return False
    said = pieces(text)
    return any(together(said, denial.scope[:2]) for denial in denials(source))


def together(said: Sequence[Piece], words: Sequence[str]) -> tuple[Piece, Piece] | None:
    """The pieces of one word, or of two in this order and hardly apart: "use string" is not said by "uses X for the string"."""
    for index, piece in enumerate(said):
        if words and words[0] == piece.terms[0]:
            behind = said[index + 1 : index + 1 + BETWEEN]
            last = piece if len(words) == 1 else next((p for p in behind if p.terms[0] == words[1]), None)
            if last:
                return piece, last
    return None


def _opposes(source: str, text: str) -> bool:
    mine, theirs = _plain_words(text), _plain_words(source)
    return any(
        (one, other) in lexicon.OPPOSITES - lexicon.COUNTERPARTS and not {one, other} & QUANTITIES
        for one in mine - theirs
        for other in theirs - mine
    )


def _plain_words(text: str) -> set[str]:
    words = re.findall(r"[a-z]+", text.lower())
    return {*words, *(word_of(word) for word in words)}


def _doubly(text: str, denial: Denial) -> bool:
    """ "not unused", "never missing": hardly anybody writes so, and who denies a denial must have it from somewhere."""
    behind = text[denial.start + len(denial.word) :].split()
    return bool(behind) and (
        behind[0].lower() in {"already", "still"} or bool(_NEGATIVE.fullmatch(behind[0].strip("`*.,")))
    )


def is_doubly_denied(text: str) -> bool:
    return any(_doubly(text, denial) for denial in denials(text))


def is_guarded(text: str) -> bool:
    """Whether a stretch of a claim has a denial or a word that does a denial's work."""
    return bool(_DENIAL.search(text) or _GUARDED.search(text))


def is_denied_before(text: str, at: int) -> bool:
    """Whether the clause that goes on at a place of a text denies it: "please do not | run the migrations"."""
    return is_guarded(_CLAUSE.split(text[max(0, at - NEAR) : at])[-1])


FIT = 0.5  # share of the rest of the claim that the place with the opposite must have
MARGIN = 0.15  # by which it must fit better than every place with the claim's own word
MOST_READ = 3_000  # units with one word
READ = 12  # of the best places, whose text is read
AROUND = 40  # code points in front of a word in which a denial is about it
_CODE = re.compile(r"`[^`]*`")
# Words with an opposite that are mostly something else: "on" and "off", "like" and "dislike".
_SELDOM = QUANTITIES | frozenset(
    "include exclude ignore deprecated supported new old on off up down with without must may always never no yes get set "  # noqa: SIM905 - a word list
    "while during like keep source target current".split()
)
_CLASSES = (lexicon.ENVIRONMENTS.values(), lexicon.DAYS, lexicon.UNITS.values())


class Turned(NamedTuple):
    """The claim's word, and the unit that has another in its place; an opposite, or only one of the same class."""

    word: Piece
    place: int
    is_opposite: bool


def _others() -> dict[str, dict[str, bool]]:
    """For each word those that may stand in its place, and whether they are its opposite."""
    found: dict[str, dict[str, bool]] = defaultdict(dict)
    for one, other in lexicon.OPPOSITES:
        if not {one, other} & _SELDOM:
            found[word_of(one)][word_of(other)] = (one, other) not in lexicon.COUNTERPARTS
    for members in _CLASSES:
        words = {word_of(word) for word in members}
        for word in words:
            found[word] |= dict.fromkeys(words - {word}, False)
    return dict(found)


_OTHERS = _others()


def turned_word(field: Field, claim: Claim) -> Turned | None:
    """The first word that another one stands for where the rest of the claim stands best."""
    said = {term for piece in claim.pieces for term in piece.terms}
    for piece in _loose_words(claim):
        own = piece.terms[0]
        others = {f"w:{word}": opposed for word, opposed in _OTHERS.get(own[2:], {}).items()}
        others = {term: opposed for term, opposed in others.items() if term not in said}
        if not others or is_guarded(claim.text[max(0, piece.start - AROUND) : piece.end]):
            continue
        aside = _bits(field, [own])
        here = max((fit for fit, _ in _fits(field, [own], aside)), default=0.0)
        bar = max(FIT, here + MARGIN)
        found = heapq.nlargest(READ, (fit for fit in _fits(field, others, aside, but=own) if fit[0] >= bar))
        for _, place in found:
            if words := _loose(field.evidence.units[place].text) & others.keys():
                return Turned(piece, place, any(others[word] for word in words))
    return None


def _loose(text: str) -> set[str]:
    """The words that stand by themselves in a text, and not as parts of names."""
    return {piece.terms[0] for piece in pieces(text) if len(piece.terms) == 1}


def _loose_words(claim: Claim) -> Iterator[Piece]:
    code = [match.span() for match in _CODE.finditer(claim.text)]
    for piece in claim.pieces:
        if (
            len(piece.terms) == 1
            and piece.terms[0][:2] == "w:"
            and not any(s <= piece.start < e for s, e in code)
        ):
            yield piece


def _bits(field: Field, terms: Iterable[str]) -> int:
    known = set(terms)
    return sum(1 << bit for bit, term in enumerate(field.company.terms) if term in known)


def _fits(field: Field, terms: Iterable[str], aside: int, but: str = "") -> Iterator[tuple[float, int]]:
    """For the units with one of the terms (and not with `but`), the share of the claim without the word itself."""
    whole = field.share(~aside & ((1 << len(field.company.terms)) - 1)) or 1.0
    banned = set(field.evidence.places(but, field.end)) if but else ()
    for term in terms:
        for place in islice(field.evidence.places(term, field.end), MOST_READ):
            if place not in banned:
                yield field.share(field.masks.get(place, 0) & ~aside) / whole, place
