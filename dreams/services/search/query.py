"""Parses a search query into literal terms. PURE: only quotes are syntax."""

import enum
import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass

# Kinds of searched texts, and limits.


# A word in more texts than this is only searched in the newest of them, as a page must not wait for thousands of results.
CANDIDATES = 20_000
# Texts with a common word that are sorted by time: half as many again as are listed, because the last indexed texts are not
# exactly the last changed ones.
FEW = 750


class TextKind(enum.Enum):
    """The value is the field of `SearchText` that says whose text it is."""

    MEMORY = "blob"
    TYPED = "prompt"
    SESSION = "session"
    PASTED = "history"
    INSTRUCTION = "instruction"


# Text as search compares it: no case, no accents, one kind of white space.


_MARKS = range(0x0300, 0x0370)
_ASCII = {code: chr(code).lower() for code in range(128)} | dict.fromkeys((9, 10, 11, 12, 13), " ")


class _Folds(dict[int, str]):
    """The folded form of each character, computed on first use."""

    def __missing__(self, code: int) -> str:
        found = self[code] = _folded(chr(code))
        return found


def _folded(character: str) -> str:
    if character.isspace():
        return " "
    # Lower case first: some capitals only decompose then.
    plain = (c for c in unicodedata.normalize("NFKD", character.casefold()) if ord(c) not in _MARKS)
    return unicodedata.normalize("NFC", "".join(plain)).casefold()


_FOLDS = _Folds(_ASCII)


def normal(text: str) -> str:
    """The form in which `spans` counts characters: accents joined to their letters."""
    return text if text.isascii() else unicodedata.normalize("NFC", text)


def fold(text: str) -> str:
    return normal(text).translate(_FOLDS)


def spans(text: str, terms: tuple[str, ...]) -> list[tuple[int, int]]:
    """Start and end of folded `terms` in `text` (in normal form), in order, without overlaps."""
    folded = text.translate(_FOLDS)
    found = sorted(hit for term in terms for hit in _hits(folded, term))
    if not found:
        return []
    if len(folded) != len(text) or not text.isascii():
        # For each character of the folded text, the index of the one it came from.
        starts = [at for at, character in enumerate(text) for _ in _FOLDS[ord(character)]]
        found = [(starts[start], starts[end - 1] + 1) for start, end in found]
    return list(_merged(found))


def _hits(folded: str, term: str) -> Iterator[tuple[int, int]]:
    at = folded.find(term) if term else -1
    while at >= 0:
        yield at, at + len(term)
        at = folded.find(term, at + len(term))


def _merged(found: list[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    start, end = found[0]
    for next_start, next_end in found[1:]:
        if next_start > end:
            yield start, end
            start, end = next_start, next_end
        else:
            end = max(end, next_end)
    yield start, end


MAX_CHARS = 200  # of what is typed; chosen
MAX_TERMS = 12  # words; chosen
MIN_CHARS = 2  # one letter is in every text; chosen
_PARTS = re.compile(r'"([^"]*)"?|(\S+)')


@dataclass(frozen=True, slots=True)
class Query:
    """`terms` are folded and must all occur; `text` is what was typed, `words` the terms with their accents, as in a path.

    `too_short`: something was typed, but no term of two characters or more.
    """

    text: str
    terms: tuple[str, ...]
    words: tuple[str, ...]

    @property
    def too_short(self) -> bool:
        return bool(self.text) and not self.terms


def parse(typed: str) -> Query:
    """Words that must all occur, in any order; words in quotes must be next to each other.

    Any input is a valid query, including special characters of databases.
    """
    text = " ".join(typed.replace("\0", "").split())[:MAX_CHARS]
    words = {fold(one := quoted or word).strip(): normal(one) for quoted, word in _PARTS.findall(text)}
    terms = [term for term in words if len(term) >= MIN_CHARS]
    # A word inside a longer one is found with it.
    kept = [term for term in terms if not any(term != other and term in other for other in terms)]
    kept = kept[:MAX_TERMS]
    return Query(text, tuple(kept), tuple(words[term].strip() for term in kept))
