"""Finds contradictions: the claim negates what the sources say, says what they negate, or uses a different word. Pure.

A negation belongs to the words after it: "never caches" supports "not cached", "cached, not compressed" does not. An
opposite contradicts. Another member of a class (weekdays, units, client and server) is only unsupported, as both may be true.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

from dreams.lib.prose import lexicon
from dreams.lib.prose.claims.anchors import AnchorToken, Claim, pieces, word_of
from dreams.lib.prose.claims.occurrences import Field

_DENIAL = re.compile(  # "_not_" is emphasized, and comments leave the apostrophe out
    r"(?<!\w)_?(not|never|no longer|no|non(?=-(?!nil\b|null\b|zero\b))|none|cannot|without|neither|nor|nothing|nobody|nowhere|[a-z]+n['’]t|(?:do|does|did|is|are|was|were|could|should|would|has|have|had)nt|unable|lacks?|lacking)_?(?!\w)",
    re.IGNORECASE,
)
# Negations in code and output, right beside the word.
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
_DENIED_BEHIND = re.compile(r"[^\w,;]*(?:\w+[^\w,;]+){0,2}(?:not\b|\w+n['’]t\b|none\b)", re.IGNORECASE)
_ANSWERED = re.compile(r"(?:\s\w+)?[?:*|\s]*[?:|][*|\s]*no\b", re.IGNORECASE)  # "Deprecated: no"
_CONTRAST = re.compile(r"[,(]\s*$")
_GUARDED = re.compile(
    r"\b(?:fails? to|failed to|avoid\w*|only|except|unless|instead|missing|false|nil|null)\b", re.IGNORECASE
)
# Words that do not contradict each other.
QUANTITIES = frozenset(["all", "any", "some", "none", "this", "each", "every", "more", "less", "few", "many"])
SCOPE = 3  # words after a negation that belong to it
NEAR = 45  # code points between a negation and its word
BETWEEN = 2  # pieces behind a word in which the next one must stand
BESIDE = 12  # the same for what only says "not" beside the word
WEIGHED = 3_000  # units with a negated word
NEARLY = 0.8  # share of the best unit's fitness that a supporting negation needs
BEST = 20  # units among which the best one is searched


@dataclass(frozen=True, slots=True)
class Denial:
    word: str
    start: int
    scope: tuple[str, ...]  # terms right after it in its clause


def denials(text: str) -> Iterator[Denial]:
    """All negations outside inline code, with their words."""
    bare = re.sub(r"`[^`]*`", lambda m: m[0].replace("not", "n_t").replace("no", "n_"), text)
    for match in _DENIAL.finditer(bare):
        behind = _CLAUSE.split(text[match.end() : match.end() + 90])[0].split(" or ")[0]
        scope = tuple(p.terms[-1] if len(p.terms) == 1 else p.terms[0] for p in pieces(behind))[:SCOPE]
        yield Denial(match[1].lower(), match.start(), scope)


def unfounded(field: Field, claim: Claim) -> Denial | None:
    """A negation in the claim that no source about the same thing has for these words."""
    for denial in denials(claim.text):
        if _is_seldom_told(claim, denial):
            continue
        if _doubly(claim.text, denial):
            units = (field.evidence.units[p].text for p in field.evidence.places(denial.scope[0], field.end))
            if not any(_doubly(text, other) for text in units for other in denials(text)):
                return denial
        elif not _is_borne_out(field, claim, denial.scope[:2]):
            return denial
    return None


def _is_seldom_told(claim: Claim, denial: Denial) -> bool:
    """Whether it needs no source: absent or unnoticed things are rarely mentioned, and "names, not ids" only sets apart."""
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
    """Whether a unit that negates one of the words fits nearly as well as the best unit."""
    units = field.evidence.units
    enough = NEARLY * max(map(field.fitness, field.richest(BEST)), default=0.0)
    places = {p for word in words for p in islice(field.evidence.places(word, field.end), WEIGHED)}
    fitting = (place for place in places if field.fitness(place) >= enough)
    return any(has_cue(units[place].text, words, claim.text) for place in fitting)


def has_cue(text: str, words: Sequence[str], claim: str = "") -> bool:
    """Whether one of the words is negated, by a negation before it in the same clause or a cue right beside it.

    A cue that the claim has too ("the run failed") does not negate the claim.
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
    """Whether all sources (about exactly the same thing) negate a text, or have the opposite of one of its words."""
    return all(_denies(source, text) for source in sources) or all(
        _opposes(source, text) for source in sources
    )


def _denies(source: str, text: str) -> bool:
    """Whether the source negates words that the text asserts; "tabs, not spaces" does not negate "tabs over spaces"."""
    if _DENIAL.search(text) or _GUARDED.search(text):
        return False
    said = pieces(text)
    for denial in denials(source):
        # "do not mock the clock"
        found = together(said, denial.scope[:2]) or together(said, denial.scope[1::-1])
        is_contrast = denial.word == "not" and _CONTRAST.search(source[: denial.start])
        apart = pieces(source[: denial.start])[-1:] if is_contrast else ()
        if found and not any(p.terms == q.terms and p.start < found[0].start for p in said for q in apart):
            return True
    return False


def together(said: Sequence[AnchorToken], words: Sequence[str]) -> tuple[AnchorToken, AnchorToken] | None:
    """The tokens of one word, or of two in this order and close together: "uses X for the string" does not have "use string"."""
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
    """Whether it is a double negation ("not unused", "never missing"), which is rare and so needs a source."""
    behind = text[denial.start + len(denial.word) :].split()
    return bool(behind) and (
        behind[0].lower() in {"already", "still"} or bool(_NEGATIVE.fullmatch(behind[0].strip("`*.,")))
    )


def is_denied_before(text: str, at: int) -> bool:
    """Whether the clause before a position negates what follows: "please do not | run the migrations"."""
    clause = _CLAUSE.split(text[max(0, at - NEAR) : at])[-1]
    return bool(_DENIAL.search(clause) or _GUARDED.search(clause))


# Words with an opposite that usually mean something else: "on" and "off", "like" and "dislike".
_SELDOM = QUANTITIES | frozenset(
    "include exclude ignore deprecated supported new old on off up down with without must may always never no yes get set "  # noqa: SIM905 - a word list
    "while during like keep source target current".split()
)
_CLASSES = (lexicon.ENVIRONMENTS.values(), lexicon.DAYS, lexicon.UNITS.values())


def _others() -> dict[str, set[str]]:
    """For each word its opposites and the others of its class."""
    found: dict[str, set[str]] = defaultdict(set)
    for one, other in lexicon.OPPOSITES:
        if not {one, other} & _SELDOM:
            found[f"w:{word_of(one)}"].add(f"w:{word_of(other)}")
    for members in _CLASSES:
        words = {f"w:{word_of(word)}" for word in members}
        for word in words:
            found[word] |= words - {word}
    return dict(found)


_OTHERS = _others()


def replaced(claim: Claim, unsaid: Iterable[AnchorToken], text: str) -> AnchorToken | None:
    """The first word of the claim that a text replaces by its opposite or one of its class."""
    there = {piece.terms[0] for piece in pieces(text) if len(piece.terms) == 1}
    there -= {piece.terms[0] for piece in claim.pieces}
    words = (word for word in unsaid if _OTHERS.get(word.terms[0], set()) & there)
    return next((word for word in words if not is_denied_before(claim.text, word.start)), None)
