"""Prose and code words with their places: what dates, similarity and claims count in. Pure."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

Kind = Literal["code", "url", "date", "version", "number", "path", "identifier", "word"]
LONGEST = 20_000  # code points read of one text

# In this order: the first that fits at a place wins. A name without a bound would be read to its end from each of its @.
_TOKEN = re.compile(
    r"(?P<url>\b[a-z][a-z0-9+.-]{1,20}://[^\s<>\"'`)\]]+)"
    r"|(?P<date>(?<![\w.-])\d{4}-\d{2}-\d{2}(?:T[\d:.]+Z?)?(?![\w-]))"
    r"|(?P<path>(?<![\w/])(?:~|\.{1,2})?/(?:[\w.@{}*$:+-]+/?)*[\w}*]/?"
    r"|(?<![\w./-])\.[a-z][\w-]*(?:/[\w.@{}*:+-]*)*"
    r"|(?<![\w./-])[\w@-][\w@.-]{1,255}(?:/[\w.@{}*:+-]+)*\.(?:[a-z]{1,5}|[jt]sx?|mp[34]|toml|ya?ml|json[lc]?|sqlite3?)(?![\w/])"
    r"|(?<![\w./-])[\w@.-]{1,255}(?:/[\w.@{}*:+-]+){2,}/?)"
    r"|(?P<version>(?<![\w.])v?\d+(?:\.\d+){1,4}(?:[-+.]?(?:alpha|beta|rc|dev|post|x)[.\d]*)?(?![\w]|\s?%)|(?<![\w.])v\d+(?!\w|\.\w))"
    r"|(?P<number>[#$€£]?(?<![\w])\d(?:\d|_\d|,\d{3})*(?:\.\d+)?(?:\s?%|[kKMGTmµn]?[a-zA-Z]{0,5})(?![\w]))"
    r"|(?P<identifier>(?<![\w-])--?[a-zA-Z](?:[\w-]*\w)?"
    r"|[^\W\d_]*[a-z0-9][A-Z]\w*|\w*[^\W_]_\w+|_+\w+|(?<!\w)[^\W\d_]+\d\w*|(?<!\w)\d+[^\W\d_]\w*)"
    r"|(?P<word>[^\W\d_]+(?:['’][^\W\d_]+)?)",
)
_CODE_SPAN = re.compile(r"(`{1,2})(?P<code>[^`\n]{1,400})\1")


@dataclass(frozen=True, slots=True)
class Token:
    """`text` stands at `start` to `end` (code points); `code` is True inside a code span."""

    text: str
    start: int
    end: int
    kind: Kind
    code: bool = False


def code_spans(text: str) -> list[tuple[int, int]]:
    """Where the insides of inline code are."""
    return [match.span("code") for match in _CODE_SPAN.finditer(text[:LONGEST])]


def tokens(text: str) -> Iterator[Token]:
    """The words, numbers, versions, dates, paths, identifiers and links of a text, in order."""
    text = text[:LONGEST]
    spans = code_spans(text)
    at = 0
    for match in _TOKEN.finditer(text):
        start, end = match.span()
        while at < len(spans) and spans[at][1] <= start:
            at += 1
        inside = at < len(spans) and spans[at][0] <= start
        yield Token(match[0], start, end, _kind(match), inside)


def _kind(match: re.Match[str]) -> Kind:
    kind = match.lastgroup
    for known in ("url", "date", "path", "version", "number", "identifier"):
        if kind == known:
            return known
    return "word"


_ENDINGS = (
    ("ational", "ate"),
    ("ization", "iz"),
    ("izing", "iz"),
    ("ized", "iz"),
    ("ize", "iz"),
    ("ising", "iz"),
    ("ised", "iz"),
    ("ise", "iz"),
    ("ities", "ity"),
    ("ies", "y"),
    ("ied", "y"),
    ("ie", "y"),
    ("sses", "ss"),
    ("ings", ""),
    ("ing", ""),
    ("edly", ""),
    ("ed", ""),
    ("ches", "ch"),
    ("shes", "sh"),
    ("xes", "x"),
    ("ments", "ment"),
    ("ly", ""),
    ("es", ""),
    ("s", ""),
    ("e", ""),
)
_UNSTEMMED = {
    "this",
    "is",
    "was",
    "has",
    "does",
    "yes",
    "always",
    "less",
    "class",
    "process",
    "access",
    "css",
    "https",
    "aws",
}


@functools.lru_cache(maxsize=50_000)
def stem(word: str) -> str:
    """A light English stem, only for comparing: "running", "runs" and "run" give one, "store" and "stored" too."""
    word = word.lower().replace("’", "'").removesuffix("'s")
    if word in {"using", "used"}:
        return "use"
    if len(word) < 4 or word in _UNSTEMMED or not word.isascii():
        return word
    for ending, instead in _ENDINGS:
        if (
            word.endswith(ending)
            and len(word) - len(ending) >= 3
            and not (ending == "s" and word[-2] in "su")
        ):
            word = word[: -len(ending)] + instead
            break
    if len(word) > 3 and word[-1] == word[-2] and word[-1] not in "lsz":
        word = word[:-1]
    return "note" if word == "not" else word  # "Note: ..." denies nothing
