"""Words, identifiers and numbers as terms, so that prose and code can be compared. Pure.

`w:` is the stem of a word or of one hump of an identifier, `i:` a whole identifier, `n:` a number. "countLines" in code is
`i:countlines`, `w:count` and `w:line`, so a sentence on "counting lines" meets it.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator
from dataclasses import dataclass

from dreams.lib.prose import lexicon
from dreams.lib.prose.words import stem

TOKEN = re.compile(
    r"(?<![^\W_])v\d+(?:\.\d+)*(?![\w-])|\d{1,2}:\d\d(?::\d\d)?(?![\w:])|\d[\d_]*(?:,\d{3})*(?:\.\d\w*)*\w*|_*[^\W\d_][^\W_]*(?:_\w*)?|[^\W\d]\w*"
)
_HUMP = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+|[^\W\d_A-Za-z]+")
_NUMBER = re.compile(r"v?(\d[\d_]*(?:,\d{3})*(?:\.\d+)*)([a-zA-Z]*)")
_VERSION = re.compile(r"v\d[\d.]*")
_RADIX = re.compile(r"0[xob][0-9a-f]+", re.IGNORECASE)
# Numbers that say nothing of anything: a line of a file ("reader.go:84:12"), a shell's streams ("2>&1").
_SILENT = re.compile(r"(?<=\w)(\.[a-z]{1,5}:)\d+(?::\d+)?\b|(?<!\w)(?:[012]?>&[012]|[012]>)")
MOST_HUMPS = 12
# Words that code and tools spell differently from prose.
_CODE_WORDS = {
    "const": "constant", "func": "function", "fn": "function", "def": "function", "int": "integer", "str": "string",
    "bool": "boolean", "len": "length", "ctx": "context", "req": "request", "res": "response", "impl": "implementation",
    "struct": "type", "nolint": "nolint", "mod": "modify", "del": "delete", "rm": "remove", "mkdir": "directory",
    "prev": "previous", "idx": "index", "cnt": "count", "cfg": "configuration", "conf": "configuration", "iface": "interface",
    "occurrence": "time", "occurrences": "times",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Piece:
    """One token of a text with its terms; the first term is the most exact one."""

    text: str
    start: int
    end: int
    terms: tuple[str, ...]

    @property
    def is_number(self) -> bool:
        return self.terms[0].startswith("n:")


@functools.lru_cache(maxsize=200_000)
def terms_of(token: str) -> tuple[str, ...]:
    """The terms of one token, the most exact first; none for filler."""
    if token[0].isdigit() or _VERSION.fullmatch(token):
        return (f"n:{number_of(token)}",)
    low = token.lower()
    if token.isalpha() and not _is_humped(token):
        return _plain(low)
    humps = [hump.lower() for hump in _HUMP.findall(token)[:MOST_HUMPS]]
    words = [term for hump in humps for term in _hump(hump)]
    return (f"i:{low.strip('_') or low}", *dict.fromkeys(words))


def _plain(low: str) -> tuple[str, ...]:
    if low == "twice":
        return ("n:2",)
    if low in lexicon.NUMBER_WORDS:
        return (f"n:{lexicon.NUMBER_WORDS[low]}",)
    if low in lexicon.FILLER:
        return ()
    return (f"w:{word_of(low)}",)


def _hump(hump: str) -> tuple[str, ...]:
    if hump.isdigit():
        return (f"n:{hump}",)
    return () if len(hump) < 2 or hump in lexicon.FILLER else (f"w:{word_of(hump)}",)


def _is_humped(token: str) -> bool:
    return not (token.islower() or token.isupper() or token[1:].islower())


@functools.lru_cache(maxsize=100_000)
def word_of(low: str) -> str:
    """The canonical form of a lower-case word: synonyms and abbreviations are one."""
    low = _CODE_WORDS.get(low, low)
    stemmed = _root(stem(low))
    return lexicon.SYNONYMS.get(low, lexicon.SYNONYMS.get(stemmed, stemmed))


_DERIVED = (
    ("ification", "ify"),
    ("ization", "iz"),
    ("izer", "iz"),
    ("ication", "icat"),
    ("ation", "at"),
    ("ator", "at"),
    ("ition", "it"),
    ("ction", "ct"),
    ("ptor", "pt"),
    ("ption", "pt"),
    ("rsion", "rs"),
    ("ssion", "ss"),
    ("sion", "d"),
    ("ution", "ut"),
    ("tion", "t"),
    ("ctor", "ct"),
    ("sor", "s"),
    ("ment", ""),
    ("able", ""),
    ("ible", ""),
    ("ency", "ent"),
    ("ness", ""),
    ("ive", ""),
    ("er", ""),
    ("ate", "at"),
)


def _root(word: str) -> str:
    """What doers, deeds and what is done have in common: handler and handle, registration and register."""
    for _ in range(2):
        for ending, instead in _DERIVED:
            if word.endswith(ending) and len(word) - len(ending) + len(instead) >= 4:
                word = word[: -len(ending)] + instead
                break
    if word.endswith("at") and len(word) >= 7:
        word = word[:-2]
    return "regist" if word == "registr" else word.removesuffix("e") if len(word) > 4 else word


def number_of(token: str) -> str:
    """A number's value as text: "1,000" and "1_000" are one, and so are "30s" and "30"."""
    low = token.lower()
    if _RADIX.fullmatch(low):
        return low
    match = _NUMBER.fullmatch(low)
    return match[1].replace(",", "").replace("_", "") if match else low


@functools.lru_cache(maxsize=20_000)
def pieces(text: str) -> tuple[Piece, ...]:
    """The tokens of a text in order, filler left out. Cached: the units that many claims speak of are asked again."""
    return tuple(_pieces(text))


def _pieces(text: str) -> Iterator[Piece]:
    silent = {
        spot
        for match in _SILENT.finditer(text)
        for spot in range(match.end(1) if match[1] else match.start(), match.end())
    }
    for match in TOKEN.finditer(text):
        terms = terms_of(match[0])
        if terms and match.start() not in silent:
            yield Piece(match[0], match.start(), match.end(), terms)


def terms_in(text: str) -> set[str]:
    """All terms of the pieces of a text."""
    spoken = _SILENT.sub(r"\1", text) if ":" in text or ">" in text else text
    return {term for token in TOKEN.findall(spoken) for term in terms_of(token)}
