"""What a statement tells, unit by unit, each with everything by which another text may name it. Pure."""

from __future__ import annotations

import functools
import re
from dataclasses import dataclass
from itertools import pairwise

from dreams.language import lexicon
from dreams.language.retold import thesaurus
from dreams.language.statements import Item, canonical, statement
from dreams.language.words import tokens

_DULL = frozenset(
    "src lib use get set js ts tsx py md json yaml yml html css sh php test index main app the of to com io".split()  # noqa: SIM905 - a word list
)
_HUMPS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_ENDINGS = (
    "ization", "ational", "ication", "fulness", "ations", "ation", "ition", "ement", "iness", "ingly", "ness", "ment", "ance",
    "ence", "ency", "ancy", "ally", "able", "ible", "ship", "less", "ity", "ive", "ial", "ual", "ful", "ism",
    "ist", "ize", "ion", "ing", "al", "ic", "er", "or", "ly", "iz", "at", "y", "i", "e", "s",
)  # fmt: skip
# Words that only look as if they were made from a shorter one.
_ROOTS = frozenset(
    "server service number order letter paper filter user docker browser cluster buffer layer router parameter header container "  # noqa: SIM905 - a word list
    "folder customer computer matter another power master trailer counter pointer error color factor vector actor author monitor "
    "mobile table module station session version section position function option action question condition application "
    "organization general special local public process access business".split()
)
_SHORTEST_ROOT = 4
EXACT, FAMILY, GROUP, PART = 1.0, 0.9, 0.8, 0.6
LIGHT = frozenset(canonical(word) for word in thesaurus.LIGHT)
_PRODUCTS = frozenset(
    canonical(word) for word in ("github", "javascript", "typescript", "python", "kubernetes", "postgresql")
)
LIGHT_WEIGHT = 0.2
# Words that relate others, and tell nothing by themselves.
RELATING = frozenset(
    canonical(word)
    for word in "once after before up down out over under above below more most less least than such as same one another at across "  # noqa: SIM905 - a word list
    "through instead also so then else around about into onto via inside within first only alone if when unless until while after before again against".split()
)
EVERYDAY_WEIGHT, RARE_WEIGHT = 0.75, 1.25  # of what a word weighs otherwise


@dataclass(frozen=True, slots=True)
class Unit:
    """`keys` are what it may be named by, each with how sure that is (0 to 1)."""

    word: str
    weight: float
    anchor: bool
    keys: tuple[tuple[str | int, float], ...]
    parts: tuple[str, ...]  # the telling words inside a path or an identifier


@functools.lru_cache(maxsize=20_000)
def root(word: str) -> str:
    """What a family of words has in common: "expire", "expiration" and "expiry" give one. Only for comparing."""
    if word in _ROOTS or not word.isalpha():
        return word
    for _ in range(2):
        ending = next(
            (
                end
                for end in _ENDINGS
                if word.endswith(end) and len(word) - len(end) >= _SHORTEST_ROOT and not word.endswith("ss")
            ),
            "",
        )
        word = word.removesuffix(ending) if ending else word
    return word[:-1] if word[-2:-1] == word[-1:] and word[-1] not in "lsz" else word


@functools.lru_cache(maxsize=20_000)
def _keys(word: str) -> tuple[tuple[str | int, float], ...]:
    found: dict[str | int, float] = {word: EXACT}
    if word.isalpha():
        found.setdefault(f"~{root(word)}", FAMILY)
    for group in thesaurus.table().get(word, ()):
        found[group] = GROUP
    return tuple(found.items())


def parts_of(code: str) -> list[str]:
    """The words inside an identifier or a path: "src/hooks/useChat.ts" gives "src", "hook", "use", "chat" and "ts"."""
    return [canonical(part.lower()) for part in _HUMPS.findall(code)]


@dataclass(frozen=True, slots=True)
class Told:
    """The units of one text; `index` gives for each key the places of the units that have it."""

    units: tuple[Unit, ...]
    index: dict[str | int, tuple[tuple[int, float], ...]]
    weight: float


@functools.lru_cache(maxsize=20_000)
def told(text: str) -> Told:
    one = statement(text)
    inside = _insides(text)
    body = [item for item in one.items if item.clause or not one.kind_of_note] or one.items
    body = [item for item in body if item.word != lexicon.CONTRAST]
    found: dict[str, Unit] = {}
    for item in body:
        before = found.get(item.word)
        if before is None or before.weight < item.weight:
            parts = tuple(inside.get(item.word, ()))
            found[item.word] = Unit(item.word, _weight(item), item.anchor, _keys_of(item.word, parts), parts)
    units = tuple(found.values())
    index: dict[str | int, list[tuple[int, float]]] = {}
    for place, unit in enumerate(units):
        for key, sure in unit.keys:
            index.setdefault(key, []).append((place, sure))
    places = {unit.word: place for place, unit in enumerate(units)}
    for first, second in pairwise(body):  # "hand off" is a "handoff"
        if first.word.isalpha() and second.word.isalpha() and first.clause == second.clause:
            index.setdefault(first.word + second.word, []).append((places[first.word], FAMILY))
    return Told(
        units,
        {key: tuple(places) for key, places in index.items()},
        sum(unit.weight for unit in units),
    )


def _insides(text: str) -> dict[str, list[str]]:
    """For each path, link or identifier, as it is compared, the words inside it that tell something."""
    found: dict[str, list[str]] = {}
    for token in tokens(text):
        if token.kind in {"path", "url", "identifier"}:
            parts = [part for part in parts_of(token.text) if part not in _DULL and len(part) > 1]
            found[(token.text.rstrip("/.:,").removeprefix("./") or token.text).lower()] = parts
    return found


def _keys_of(word: str, parts: tuple[str, ...]) -> tuple[tuple[str | int, float], ...]:
    own = dict(_keys(word))
    for part in parts:
        own.setdefault(part, PART)
    return tuple(own.items())


def _weight(item: Item) -> float:
    if item.word in thesaurus.COMMON_NAMES:
        return EVERYDAY_WEIGHT
    if item.anchor:
        return item.weight
    if item.word in LIGHT or item.word in RELATING:
        return LIGHT_WEIGHT
    if item.word in lexicon.EVERYDAY:
        return EVERYDAY_WEIGHT * item.weight
    return item.weight if item.word in known_words() else RARE_WEIGHT * item.weight


@functools.lru_cache(maxsize=1)
def known_words() -> frozenset[str]:
    """Plain words of English, as `canonical` gives them: with a capital they are no names yet."""
    return (frozenset(thesaurus.table()) | lexicon.KNOWN | LIGHT) - _PRODUCTS
