"""What kind of thing a piece of code looks like, and whether it is like its neighbours in a list. Pure."""

from __future__ import annotations

import re
from typing import Literal

from dreams.language.claims.anchors import Anchor, Claim

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
    """1 where the neighbours in a list ("`a`, `b` and `c`") look alike and unlike the anchor; -1 where it looks like them."""
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
