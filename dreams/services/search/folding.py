"""Text as search compares it: no case, no accents, one kind of white space. PURE.

One character of the normal form (NFC) is folded at a time, so that a match in folded text can be marked in the text
that a person reads. Only marks of the Latin, Greek and Cyrillic kind are left out: in other scripts they are letters.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator

_MARKS = range(0x0300, 0x0370)
_ASCII = {code: chr(code).lower() for code in range(128)} | dict.fromkeys((9, 10, 11, 12, 13), " ")


class _Folds(dict[int, str]):
    """What each character becomes; the table fills itself with those that are met."""

    def __missing__(self, code: int) -> str:
        found = self[code] = _folded(chr(code))
        return found


def _folded(character: str) -> str:
    if character.isspace():
        return " "
    # Lower first: some capitals only decompose once they are small.
    plain = (c for c in unicodedata.normalize("NFKD", character.casefold()) if ord(c) not in _MARKS)
    return unicodedata.normalize("NFC", "".join(plain)).casefold()


_FOLDS = _Folds(_ASCII)


def normal(text: str) -> str:
    """The form in which `spans` counts characters: the same to the eye, each accent joined to its letter."""
    return text if text.isascii() else unicodedata.normalize("NFC", text)


def fold(text: str) -> str:
    return normal(text).translate(_FOLDS)


def spans(text: str, terms: tuple[str, ...]) -> list[tuple[int, int]]:
    """Where folded `terms` stand in `text` (in its normal form): start and end, in order, never overlapping."""
    folded = text.translate(_FOLDS)
    found = sorted(hit for term in terms for hit in _hits(folded, term))
    if not found:
        return []
    if len(folded) != len(text) or not text.isascii():
        starts = _origins(text)
        found = [(starts[start], starts[end - 1] + 1) for start, end in found]
    return list(_merged(found))


def _hits(folded: str, term: str) -> Iterator[tuple[int, int]]:
    at = folded.find(term) if term else -1
    while at >= 0:
        yield at, at + len(term)
        at = folded.find(term, at + len(term))


def _origins(text: str) -> list[int]:
    """For each character of the folded text, the index of the one it came from."""
    return [at for at, character in enumerate(text) for _ in _FOLDS[ord(character)]]


def _merged(found: list[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    start, end = found[0]
    for next_start, next_end in found[1:]:
        if next_start > end:
            yield start, end
            start, end = next_start, next_end
        else:
            end = max(end, next_end)
    yield start, end
