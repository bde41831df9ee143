"""Splits a claim into terms, and finds the code, names and numbers that can be looked up. Pure.

Terms make prose and code comparable. `w:` is the stem of a word or of a part of an identifier, `i:` a complete identifier,
`n:` a number: "countLines" is `i:countlines`, `w:count` and `w:line`, so it matches "counting lines".
"""

import functools
import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

from dreams.lib.prose import lexicon
from dreams.lib.prose.words import code_spans, stem

TOKEN = re.compile(
    r"(?<![^\W_])v\d+(?:\.\d+)*(?![\w-])|\d{1,2}:\d\d(?::\d\d)?(?![\w:])|\d[\d_]*(?:,\d{3})*(?:\.\d\w*)*\w*|_*[^\W\d_][^\W_]*(?:_\w*)?|[^\W\d]\w*"
)
_HUMP = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+|[^\W\d_A-Za-z]+")
_NUMERAL = re.compile(r"v?(\d[\d_]*(?:,\d{3})*(?:\.\d+)*)([a-zA-Z]*)")
_VERSION = re.compile(r"v\d[\d.]*")
_RADIX = re.compile(r"0[xob][0-9a-f]+", re.IGNORECASE)
# Numbers that state nothing: lines of files ("reader.go:84:12"), shell streams ("2>&1").
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
class AnchorToken:
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
    """The terms of one token, most exact first; none for filler words."""
    if token[0].isdigit() or _VERSION.fullmatch(token):
        return (f"n:{number_of(token)}",)
    low = token.lower()
    if token.isalpha() and (token.islower() or token.isupper() or token[1:].islower()):
        return ("w:may",) if token == "May" else _plain(low)  # noqa: S105 - the month
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


@functools.lru_cache(maxsize=100_000)
def word_of(low: str) -> str:
    """The canonical form of a lower-case word, equal for synonyms and abbreviations."""
    low = _CODE_WORDS.get(low, low)
    stemmed = _root(stem(low))
    return lexicon.SYNONYMS.get(low, lexicon.SYNONYMS.get(stemmed, stemmed))


_DERIVED = (
    ("ification", "ify"), ("ization", "iz"), ("izer", "iz"), ("ication", "icat"), ("ation", "at"), ("ator", "at"),
    ("ition", "it"), ("ction", "ct"), ("ptor", "pt"), ("ription", "rib"), ("ption", "pt"), ("rsion", "rt"), ("ional", "ion"), ("ssion", "ss"),
    ("sion", "d"), ("ution", "ut"), ("tion", "t"), ("ctor", "ct"), ("sor", "s"), ("ment", ""), ("able", ""),
    ("ible", ""), ("ency", "ent"), ("ness", ""), ("ive", ""), ("er", ""), ("ate", "at"),
)  # fmt: skip


def _root(word: str) -> str:
    """The common root of related nouns and verbs: handler and handle, registration and register."""
    for _ in range(2):
        for ending, instead in _DERIVED:
            if word.endswith(ending) and len(word) - len(ending) + len(instead) >= 4:
                word = word[: -len(ending)] + instead
                break
    if word.endswith("at") and len(word) >= 7:
        word = word[:-2]
    return "regist" if word == "registr" else word.removesuffix("e") if len(word) > 4 else word


def number_of(token: str) -> str:
    """A number's value as text, equal for "1,000" and "1_000", and for "30s" and "30"."""
    low = token.lower()
    if _RADIX.fullmatch(low):
        return low
    match = _NUMERAL.fullmatch(low)
    return match[1].replace(",", "").replace("_", "") if match else low


@functools.lru_cache(maxsize=20_000)
def pieces(text: str) -> tuple[AnchorToken, ...]:
    """The tokens of a text in order, without filler words. Cached, as many claims ask about the same units."""
    return tuple(_pieces(text))


def _pieces(text: str) -> Iterator[AnchorToken]:
    silent = {
        spot
        for match in _SILENT.finditer(text)
        for spot in range(match.end(1) if match[1] else match.start(), match.end())
    }
    for match in TOKEN.finditer(text):
        terms = terms_of(match[0])
        if terms and match.start() not in silent:
            yield AnchorToken(match[0], match.start(), match.end(), terms)


def terms_in(text: str) -> set[str]:
    spoken = _SILENT.sub(r"\1", text) if ":" in text or ">" in text else text
    return {term for token in TOKEN.findall(spoken) for term in terms_of(token)}


Kind = Literal["code", "number"]
LONGEST = 4_000  # code points read of a claim
# Outside code a slash does not make a path: "setup/teardown" is prose.
_PATH = re.compile(
    r"(?<![\w/.-])(?:[~.]{0,2}/)(?:[\w@.*<>-]+/?)+|(?<![\w/.-])[\w@.-]+(?:/[\w@.*<>-]+)*/[\w@-]*\.[a-z]\w{0,4}(?!\w)"
    r"|(?<![\w/.-])[\w@-]+(?:/[\w@*-]+)+/(?!\w)|(?<![\w/.-])\.?[\w-]+\.[a-zA-Z]{1,5}(?:\.[a-z]{2,4})?(?![\w.])"
)
_QUOTED = re.compile(r'"[^"`\n]{3,80}"')
_CALL = re.compile(r"[\w.]+\(\)")
_IDENTIFIER = re.compile(
    r"(?<!\w)(?:[^\Wa-z]*[a-z][^\WA-Z]*[A-Z]\w*|\w+_\w+)|(?<![\w-])[a-z0-9]+(?:-[a-z0-9]+){2,}(?![\w-])|--[a-z][\w-]+|(?<![\w-])[A-Za-z]\w*(?:-\w+)*-(?:\d+|\w+\.\d+)(?![\w-]|\.\d)"
)
_NUMBER = re.compile(r"(?<![\w.])(?:\d{1,2}:\d\d(?::\d\d)?(?![\w:])|\d[\w.,]*\b|v\d+(?:\.\d+)*(?![\w-]))")
_NUMBER_WORD = re.compile(rf"\b(?:{'|'.join(sorted(lexicon.NUMBER_WORDS))})\b", re.IGNORECASE)
_MEASURE = re.compile(r"v?\d[\d.,:_]*[a-zA-Z%]{0,2}")
# Line numbers and sizes change with every edit: "lines 24-41", "reader.go:84", "(477 lines)".
_LINE = re.compile(r"(?i)\b(?:lines?|L|rows?)\s?[\d\s,–-]*\0|\.[a-z]{1,5}`?:\0|\(\0\s*lines?\)")
# Rounded numbers need not appear in a source: "30+ tests", "~150 lines".
_ROUNDED = re.compile(r"(?i)\0\+|(?:[~≈]|\b(?:about|around|roughly|approximately|nearly|almost)) ?\0")
_UNIT = re.compile(r"[ -]?(s|m|h|sec|min|seconds?|minutes?|hours?|days?|KB|MB|GB)\b", re.IGNORECASE)
_SMALLER: dict[str, tuple[int, ...]] = {
    **dict.fromkeys(("s", "sec", "second", "seconds"), (1_000,)), **dict.fromkeys(("m", "min", "minute", "minutes"), (60, 60_000)),
    **dict.fromkeys(("h", "hour", "hours"), (60, 3_600, 3_600_000)), **dict.fromkeys(("day", "days"), (24, 86_400, 86_400_000)),
    "kb": (1_000, 1_024), "mb": (1_000_000, 1_048_576), "gb": (1_000, 1_024),
}  # fmt: skip
_BECOMES = re.compile(r"`?\s*(?:=|==|→|->|to|is|instead of|rather than)\s*`?")
_MIDST = re.compile(r"[\w`,)] \Z")
_LIST_MARK = re.compile(r"^\s*(?:\d{1,3}[.)]|[-*+•])\s+")


@dataclass(frozen=True, slots=True)
class Anchor:
    """A part of the claim (`start` to `end`, code points) that must be in a source, together with its context."""

    text: str
    kind: Kind
    start: int
    end: int
    pieces: tuple[AnchorToken, ...]
    marked: bool  # in a code span
    also: tuple[str, ...] = ()  # the same measure in smaller units: 30 seconds are 30000 milliseconds


@dataclass(frozen=True, slots=True)
class Claim:
    text: str
    pieces: tuple[AnchorToken, ...]
    anchors: tuple[Anchor, ...]


def claim_of(text: str) -> Claim:
    """A parsed claim, without list marks."""
    text = _LIST_MARK.sub(lambda match: " " * len(match[0]), text[:LONGEST])
    spans = list(_spans(text))
    loose = [(start, end) for kind, start, end in spans if kind == "number" and _is_loose(text, start, end)]
    found = tuple(piece for piece in pieces(text) if not _is_within(piece, loose))
    anchors = tuple(_anchors(text, found, spans))
    return Claim(text, found, anchors)


def is_name(claim: Claim, piece: AnchorToken) -> bool:
    """Whether it is capitalized in the middle of a sentence."""
    return piece.text[:1].isupper() and bool(_MIDST.search(claim.text[: piece.start]))


def _is_loose(text: str, start: int, end: int) -> bool:
    around = f"{text[max(0, start - 30) : start]}\0{text[end : end + 12]}"
    return bool(_LINE.search(around) or _ROUNDED.search(around))


def _is_within(piece: AnchorToken, loose: list[tuple[int, int]]) -> bool:
    """Whether a piece is a loose number, or the word "line" beside one."""
    return any(start <= piece.start < end for start, end in loose) or (
        bool(loose) and piece.terms[0] == "w:line"
    )


def _spans(text: str) -> Iterator[tuple[Kind, int, int]]:
    taken: list[tuple[int, int]] = []

    def free(start: int, end: int) -> bool:
        return all(end <= s or start >= e for s, e in taken)

    for start, end in code_spans(text):
        taken.append((start, end))
        yield ("number" if _MEASURE.fullmatch(text[start:end]) else "code"), start, end
    for pattern in (_QUOTED, _PATH, _CALL, _IDENTIFIER):
        for match in pattern.finditer(text):
            if free(*match.span()) and re.search(r"[A-Za-z_]", match[0]):
                taken.append(match.span())
                yield "code", *match.span()
    for pattern in (_NUMBER, _NUMBER_WORD):
        yield from (("number", *match.span()) for match in pattern.finditer(text) if free(*match.span()))


def _anchors(
    text: str, found: tuple[AnchorToken, ...], spans: list[tuple[Kind, int, int]]
) -> Iterator[Anchor]:
    for kind, start, end in sorted(spans, key=lambda span: span[1]):
        inside = tuple(piece for piece in found if start <= piece.start and piece.end <= end)
        if inside:
            marked = text[start - 1 : start] == "`" == text[end : end + 1]
            also = _converted(text, end, inside[0]) if kind == "number" else ()
            yield Anchor(text[start:end], kind, start, end, inside, marked, also)


def _converted(text: str, end: int, piece: AnchorToken) -> tuple[str, ...]:
    value = piece.terms[0][2:]
    unit = _UNIT.match(text[piece.start + len(value) :] if piece.text[-1:].isalpha() else text[end:])
    if not unit or not value.isdigit():
        return ()
    return tuple(f"n:{int(value) * size}" for size in _SMALLER[unit[1].lower()])


def said_of_itself(claim: Claim) -> Anchor | None:
    """A name or number that the claim equates with itself, because one of two was replaced."""
    for one, other in pairwise(
        anchor for anchor in claim.anchors if anchor.marked or anchor.kind == "number"
    ):
        if one.text == other.text and _BECOMES.fullmatch(claim.text[one.end : other.start]):
            return one
    return None


Shape = Literal[
    "call", "file", "path", "command", "code", "flag", "symbol", "assignment", "literal", "number", "upper", "snake", "pascal", "camel", "kebab", "lower"
]  # fmt: skip
_SHAPES: tuple[tuple[Shape, re.Pattern[str]], ...] = (
    ("call", re.compile(r"[\w.:@*?!]+(?:\([^()]*(?:\([^()]*\)[^()]*)*\)|/\d)")),
    ("number", re.compile(r"[~<>=^ v]*\d[\w.,%-]*")),
    ("literal", re.compile(r"""["'\[({<].*""", re.DOTALL)),
    ("flag", re.compile(r"--?[a-zA-Z][\w-]*(?:=\S*)?")),
    ("command", re.compile(r"[a-z][\w.-]*(?: [\w./:=<>@$*{}\[\]^~|-]+)+")),
    ("code", re.compile(r".*\s.*", re.DOTALL)),
    (
        "file",
        re.compile(
            r"(?:[\w@.~$\[\]-]*/)*[\w@.*-]*\.[a-zA-Z][a-zA-Z0-9]{0,5}(?:\.[a-z]{2,5})?(?::\d+(?:-\d+)?)?"
        ),
    ),
    ("path", re.compile(r".*/.*")),
    ("symbol", re.compile(r"[@:#$%.].*|[a-z]+:[\w:-]+")),
    ("assignment", re.compile(r".*=.*")),
    ("upper", re.compile(r"[A-Z][A-Z0-9_]+")),
    ("snake", re.compile(r"_*[a-z0-9]+(?:_[a-z0-9]+)+_*")),
    ("pascal", re.compile(r"(?:\w+\.)*[A-Z][A-Za-z0-9]*")),
    ("camel", re.compile(r"(?:\w+\.)*[a-z]+[A-Z]\w*")),
    ("kebab", re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)+")),
)
_SEPARATOR = re.compile(r"`?\s*(?:,|/|\||,?\s+and|,?\s+or|\+)\s*`?")
_ALIKE = (
    frozenset({"camel", "call", "pascal"}), frozenset({"lower", "snake", "kebab", "symbol"}), frozenset({"file", "path"}), frozenset({"camel", "lower", "snake"}),
    frozenset({"command", "lower"}), frozenset({"literal", "lower", "number"}), frozenset({"code", "call", "assignment", "literal"}), frozenset({"symbol", "literal", "code"}),
)  # fmt: skip


def shape(text: str) -> Shape:
    bare = text.strip().strip("`*")
    return next((name for name, pattern in _SHAPES if pattern.fullmatch(bare)), "lower")


def odd_in_list(claim: Claim, anchor: Anchor) -> float:
    """From -1, if a neighbour in a list ("`a`, `b` and `c`") has the anchor's form, to 1, if none is similar; 0 without any."""
    near = [
        shape(other.text)
        for other in claim.anchors
        if other is not anchor and _beside(_SEPARATOR, claim.text, anchor, other)
    ]
    return _oddness(shape(anchor.text), near)


def _oddness(own: Shape, near: list[Shape]) -> float:
    if not near:
        return 0.0
    if own in near:
        return -1.0
    return 0.4 if any(own in group and one in group for group in _ALIKE for one in near) else 1.0


def _beside(separator: re.Pattern[str], text: str, one: Anchor, other: Anchor) -> bool:
    first, second = sorted((one, other), key=lambda a: a.start)
    return bool(separator.fullmatch(text[first.end : second.start]))
