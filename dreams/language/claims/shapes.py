"""What kind of thing a piece of code looks like, and whether the sentence around it expects that kind. Pure."""

from __future__ import annotations

import re
from typing import Literal

from dreams.language.claims.anchors import Anchor, Claim

Shape = Literal[
    "call", "path", "file", "phrase", "flag", "marked", "literal", "snake", "pascal", "camel", "kebab", "upper", "lower", "number"
]  # fmt: skip
_SHAPES: tuple[tuple[Shape, re.Pattern[str]], ...] = (
    ("call", re.compile(r"[\w.:@*?!]+(?:\([^()]*\)|/\d)")),
    ("number", re.compile(r"[~<>=^ v]*\d[\w.,%-]*")),
    ("literal", re.compile(r"""["'\[({<#].*""", re.DOTALL)),
    ("flag", re.compile(r"--?[a-zA-Z][\w-]*(?:=\S*)?")),
    ("phrase", re.compile(r".*\s.*", re.DOTALL)),
    ("file", re.compile(r"(?:[\w@.~$-]*/)*[\w@.*-]*\.[a-zA-Z][a-zA-Z0-9]{0,5}(?:\.[a-z]{2,5})?")),
    ("path", re.compile(r".*/.*")),
    ("marked", re.compile(r"[@:#$%].*|\w+:[\w:]+|.*=.*")),
    ("upper", re.compile(r"[A-Z][A-Z0-9_]+")),
    ("snake", re.compile(r"_*[a-z0-9]+(?:_[a-z0-9]+)+_*")),
    ("pascal", re.compile(r"(?:\w+\.)*[A-Z][A-Za-z0-9]*")),
    ("camel", re.compile(r"(?:\w+\.)*[a-z]+[A-Z]\w*")),
    ("kebab", re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)+")),
)
_EXPECTED: dict[str, frozenset[str]] = {
    "file": frozenset({"file", "path"}), "files": frozenset({"file", "path", "pascal"}),
    "directory": frozenset({"path", "file", "lower"}), "folder": frozenset({"path", "file", "lower"}),
    "dir": frozenset({"path", "file", "lower"}), "path": frozenset({"path", "file"}),
    "function": frozenset({"call", "camel", "snake", "pascal", "lower", "file"}),
    "method": frozenset({"call", "camel", "snake", "pascal", "lower"}), "methods": frozenset({"call", "camel", "snake", "pascal", "lower"}),
    "helper": frozenset({"call", "camel", "snake", "pascal", "lower", "file"}),
    "constant": frozenset({"upper", "camel", "pascal", "snake", "marked", "phrase", "number"}),
    "interface": frozenset({"pascal"}), "interfaces": frozenset({"pascal"}), "struct": frozenset({"pascal", "camel", "snake"}),
    "class": frozenset({"pascal", "kebab", "file"}), "type": frozenset({"pascal", "camel", "lower", "snake", "marked"}),
    "types": frozenset({"pascal", "camel", "lower", "snake", "marked"}),
    "hook": frozenset({"camel", "call", "pascal", "kebab", "lower"}),
    "package": frozenset({"lower", "snake", "kebab", "path", "literal", "pascal"}), "flag": frozenset({"flag", "snake", "camel"}),
    "command": frozenset({"phrase", "lower", "kebab", "call"}), "field": frozenset({"snake", "camel", "lower", "pascal", "marked"}),
    "fields": frozenset({"snake", "camel", "lower", "pascal", "marked"}), "keys": frozenset({"snake", "camel", "lower", "literal", "marked"}),
    "directive": frozenset({"marked", "literal", "phrase", "path"}),
}  # fmt: skip
_SEPARATOR = re.compile(r"`?\s*(?:,|/|\||,?\s+and|,?\s+or|\+)\s*`?")
_ALIKE = (
    frozenset({"camel", "call", "pascal"}),
    frozenset({"lower", "snake", "kebab"}),
    frozenset({"file", "path"}),
    frozenset({"camel", "lower", "snake"}),
)
_BEFORE = re.compile(r"(\w+)\s*[:(]?\s*[`\"']*$")
_AFTER = re.compile(r"^[`\"'*]*\s*(\w+)")


def shape(text: str) -> Shape:
    bare = text.strip().strip("`*")
    return next((name for name, pattern in _SHAPES if pattern.fullmatch(bare)), "lower")


def odd_in_list(claim: Claim, anchor: Anchor) -> float:
    """1 where the neighbours in a list ("`a`, `b` and `c`") look alike and unlike the anchor; -1 where it looks like them."""
    near = [
        shape(other.text)
        for other in claim.anchors
        if other is not anchor and _listed(claim.text, anchor, other)
    ]
    if not near:
        return 0.0
    own = shape(anchor.text)
    if own in near:
        return -1.0
    return 0.4 if any(own in group and one in group for group in _ALIKE for one in near) else 1.0


def _listed(text: str, one: Anchor, other: Anchor) -> bool:
    first, second = sorted((one, other), key=lambda a: a.start)
    return bool(_SEPARATOR.fullmatch(text[first.end : second.start]))


def unexpected(claim: Claim, anchor: Anchor) -> float:
    """1 where the noun beside an anchor ("the file ...", "... interface") calls for another kind of thing, -1 where it fits."""
    if anchor.kind == "number":
        return 0.0
    before, after = _BEFORE.search(claim.text[: anchor.start]), _AFTER.search(claim.text[anchor.end :])
    nouns = [match[1].lower() for match in (after, before) if match]
    own = shape(anchor.text)
    for noun in nouns:
        if noun in _EXPECTED:
            return -1.0 if own in _EXPECTED[noun] else 1.0
    return 0.0


def defines(claim: Claim, anchor: Anchor) -> bool:
    """Whether the claim begins with the anchor and says what it does or is."""
    return not claim.text[: anchor.start].strip("`*-_ ")
