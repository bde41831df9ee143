"""Files that went under one name and came under another."""

from collections.abc import Iterator, Mapping
from heapq import nlargest
from itertools import product
from typing import Final

from rapidfuzz.distance import Indel

from dreams.lib.textdiff.words import tokens

# Below this another file came, whatever it took over; the same share as git's.
LEAST: Final = 0.5
# Comparing is quadratic in words and in files: so many pairs, and so many words of each, are looked at.
MAX_PAIRS: Final = 400
COMPARED_WORDS: Final = 1_500


def renamed(gone: Mapping[str, str], come: Mapping[str, str]) -> dict[str, str]:
    """New name → old name of the files that are the same file still, the likest pairs first; each is in one pair.

    Empty files are nobody's. Beyond MAX_PAIRS pairs only texts that are the same count.
    """
    found: dict[str, str] = {}
    left = {path: text for path, text in gone.items() if text.strip()}
    for new, old in _same(left, come):
        found[new] = old
    taken = set(found.values())
    old_words = {path: _words(text) for path, text in left.items() if path not in taken}
    new_words = {path: _words(text) for path, text in come.items() if text.strip() and path not in found}
    if len(old_words) * len(new_words) > MAX_PAIRS:
        return found
    for _, old, new in _by_likeness(old_words, new_words):
        if new not in found and old not in taken:
            found[new] = old
            taken.add(old)
    return found


def _same(gone: Mapping[str, str], come: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    by_text: dict[str, list[str]] = {}
    for path, text in gone.items():
        by_text.setdefault(text, []).append(path)
    for path, text in come.items():
        if by_text.get(text):
            yield path, by_text[text].pop(0)


def _by_likeness(old: Mapping[str, list[str]], new: Mapping[str, list[str]]) -> list[tuple[float, str, str]]:
    scored = (
        (Indel.normalized_similarity(old[a], new[b], score_cutoff=LEAST), a, b) for a, b in product(old, new)
    )
    return nlargest(MAX_PAIRS, (pair for pair in scored if pair[0] >= LEAST))


def _words(text: str) -> list[str]:
    return [token for token in tokens(text[: COMPARED_WORDS * 12]) if not token.isspace()][:COMPARED_WORDS]
