"""What the place of a statement says about it: headings and file names are half of a fact. Pure."""

from __future__ import annotations

from collections.abc import Iterable

from dreams.language import lexicon
from dreams.language.statements import statement
from dreams.language.words import stem

_GENERAL = frozenset(
    stem(word)
    for word in "note notes fact facts detail details general misc other setup info known memory rule rules copy "  # noqa: SIM905 - a word list
    "preference preferences convention conventions user feedback project reference md".split()
)


def words_of(text: str) -> frozenset[str]:
    """The words of names and headings that say something in particular; `_` and `-` part words."""
    words = statement(" ".join(text.replace("_", " ").replace("-", " ").split())).weights
    return frozenset(word for word in words if word not in lexicon.GENERIC and word not in _GENERAL)


def says(place: Iterable[str], told: Iterable[str]) -> bool:
    """Whether a statement with the words `told` can leave a place: it is nothing in particular, or named in it too."""
    words = set(place)
    return not words or bool(words & set(told))
