"""One statement in the other's words, so that checks which read word by word see what really differs. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from dreams.language.parts import Statement


def reworded(one: Statement, words: Mapping[str, str]) -> Statement:
    """`words` gives for a word of it the one to put there; what is read off the letters (marks, counts) stays as written."""
    if not words:
        return one

    def word(old: str) -> str:
        return words.get(old, old)

    def among(old: Iterable[str]) -> frozenset[str]:
        return frozenset(map(word, old))

    def denials(old: tuple[tuple[int, tuple[str, ...]], ...]) -> tuple[tuple[int, tuple[str, ...]], ...]:
        return tuple((clause, tuple(map(word, each))) for clause, each in old)

    weights: dict[str, float] = {}
    for old, weight in one.weights.items():
        weights[word(old)] = max(weight, weights.get(word(old), 0.0))
    return replace(
        one,
        items=tuple(replace(item, word=word(item.word)) for item in one.items),
        weights=weights,
        codes=among(one.codes),
        names=frozenset((clause, word(name)) for clause, name in one.names),
        flow=tuple(map(word, one.flow)),
        denied=denials(one.denied),
        opposed=denials(one.opposed),
        sides={key: (among(left), among(right)) for key, (left, right) in one.sides.items()},
        was=among(one.was),
        is_=among(one.is_),
        passive=among(one.passive),
        participles=among(one.participles),
    )
