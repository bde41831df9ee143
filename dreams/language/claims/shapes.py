"""What kind of thing a piece of code looks like, and whether the sentence around it expects that kind. Pure."""

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
_FILES = frozenset({"file", "path"})
_CALLABLE = frozenset({"call", "camel", "pascal", "snake", "lower"})
_NAMES = frozenset({"camel", "pascal", "snake", "lower", "upper", "kebab"})
_TYPES = frozenset({"pascal", "camel", "snake", "lower", "code"})
_RUN = frozenset({"command", "lower", "kebab", "file"})
_VALUES = _NAMES | {"literal", "number", "symbol", "code", "call", "assignment"}
# The noun beside a name ("the file …", "… interface") tells what it is.
_NOUNS: dict[str, frozenset[str]] = {
    "file": _FILES, "script": _FILES | _RUN, "template": _FILES | _NAMES, "directory": _FILES | {"lower", "kebab", "snake"},
    "folder": _FILES | {"lower", "kebab", "snake"}, "dir": _FILES | {"lower"}, "path": _FILES | {"snake", "camel", "lower"},
    "function": _CALLABLE, "method": _CALLABLE, "helper": _CALLABLE | {"file"}, "handler": _CALLABLE | {"file", "kebab", "literal", "symbol"},
    "macro": _CALLABLE, "callback": _CALLABLE, "hook": _CALLABLE | {"kebab", "symbol"}, "component": frozenset({"pascal", "file", "kebab", "literal"}),
    "constant": frozenset({"upper", "camel", "pascal", "snake", "assignment", "code"}), "interface": frozenset({"pascal"}),
    "struct": frozenset({"pascal", "camel"}), "class": frozenset({"pascal", "kebab", "symbol", "snake"}), "type": _TYPES, "variable": _NAMES | {"symbol"},
    "field": _NAMES | {"symbol", "literal"}, "key": _NAMES | {"symbol", "literal"}, "property": _NAMES | {"symbol"}, "prop": _NAMES, "column": _NAMES | {"symbol"},
    "attribute": _NAMES | {"symbol"}, "parameter": _NAMES | {"flag", "symbol"}, "argument": _NAMES | {"flag", "literal", "symbol"}, "option": _NAMES | {"flag", "symbol"},
    "flag": frozenset({"flag", "snake", "camel", "lower", "upper"}), "command": frozenset({"command", "lower", "kebab", "call", "path"}), "package": frozenset({"lower", "snake", "kebab", "path", "pascal", "symbol", "literal"}),
    "module": frozenset({"lower", "snake", "kebab", "path", "pascal", "file"}), "library": frozenset({"lower", "kebab", "pascal", "symbol", "file"}),
    "branch": frozenset({"lower", "kebab", "path", "snake"}), "directive": frozenset({"symbol", "literal", "code", "path", "command", "file"}), "endpoint": frozenset({"path", "command", "code"}),
    "route": frozenset({"path", "file", "command"}), "table": frozenset({"snake", "lower", "pascal"}), "event": _NAMES | {"symbol", "literal"}, "linter": frozenset({"lower", "kebab", "snake"}),
    "lint": frozenset({"lower", "kebab", "snake"}), "rule": frozenset({"lower", "kebab", "snake", "upper", "symbol"}), "tag": _NAMES | {"literal", "number", "symbol"}, "model": _NAMES | {"path", "pascal"},
    "environment": _NAMES | {"symbol"}, "array": _NAMES | {"literal", "symbol"}, "list": _NAMES | {"literal", "symbol"}, "map": _NAMES | {"literal", "code", "call"}, "tool": _NAMES | {"command"},
    "state": _NAMES | {"literal", "symbol"}, "version": frozenset({"number", "lower", "upper", "literal"}), "commit": frozenset({"number", "lower", "literal"}), "import": frozenset({"literal", "code", "path", "pascal", "lower", "symbol", "camel", "kebab", "snake", "file", "command"}),
}  # fmt: skip
# A name that begins a clause, and what it then does.
_DEEDS: dict[str, frozenset[str]] = {
    **dict.fromkeys(("passes", "fails", "failed", "passed", "showed", "shows", "printed", "prints", "reports", "reported", "succeeds", "succeeded"), _RUN | _CALLABLE | {"upper"}),
    **dict.fromkeys(("defines", "exports", "contains", "holds", "lists", "imports", "declares"), _FILES | {"pascal", "lower", "upper", "camel", "snake", "symbol", "kebab", "code"}),
    **dict.fromkeys(("implements", "extends", "inherits"), frozenset({"pascal", "camel", "lower"})),
    **dict.fromkeys(
        ("calls", "parses", "computes", "extracts", "converts", "creates", "wraps", "maps", "builds", "loads", "reads", "writes", "returns", "registers", "checks", "counts", "generates",
         "saves", "removes", "deletes", "sorts", "splits", "validates", "handles", "initializes", "installs", "opens", "closes", "fetches", "throws", "raises", "takes", "accepts"),
        _CALLABLE | _FILES | {"command", "kebab", "code", "symbol", "upper"}),
}  # fmt: skip
# The verb in front of a name.
_VERBS: dict[str, frozenset[str]] = {
    **dict.fromkeys(("run", "runs", "ran", "running", "execute", "executes", "executed", "executing"), frozenset({"command", "lower", "kebab", "file", "call", "path", "code"})),
    **dict.fromkeys(("calls", "call", "calling", "called", "invokes", "invoking"), _CALLABLE | {"command", "code", "kebab", "symbol"}),
    **dict.fromkeys(("implements", "implementing", "extends"), frozenset({"pascal", "camel", "lower"})),
    **dict.fromkeys(("returns", "returning", "return"), _VALUES),
    **dict.fromkeys(("defaults", "equals", "equal"), _VALUES),
}  # fmt: skip
_SEPARATOR = re.compile(r"`?\s*(?:,|/|\||,?\s+and|,?\s+or|\+)\s*`?")
_ALIKE = (
    frozenset({"camel", "call", "pascal"}), frozenset({"lower", "snake", "kebab", "symbol"}), frozenset({"file", "path"}), frozenset({"camel", "lower", "snake"}),
    frozenset({"command", "lower"}), frozenset({"literal", "lower", "number"}), frozenset({"code", "call", "assignment", "literal"}), frozenset({"symbol", "literal", "code"}),
)  # fmt: skip
_BEFORE = re.compile(r"(\w+)\s*[:(]?\s*[`\"'*]*$")
_AFTER = re.compile(r"^[`\"'*]*\s+(\w+)(?![\w-])")
_DONE = re.compile(r"^[`\"'*]*\s*(?:[-—–:]\s*)?(\w+)")


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


def unexpected(claim: Claim, anchor: Anchor) -> float:
    """1 where the noun beside an anchor calls for another kind of thing, -1 where it fits, 0 where there is none."""
    if anchor.kind == "number":
        return 0.0
    before, after = _BEFORE.search(claim.text[: anchor.start]), _AFTER.search(claim.text[anchor.end :])
    nouns = [match[1].lower() for match in (after, before) if match]
    own = shape(anchor.text)
    for noun in nouns:
        wanted = _NOUNS.get(noun) or _NOUNS.get(noun.removesuffix("s")) or _NOUNS.get(noun.removesuffix("es"))
        if wanted:
            return -1.0 if own in wanted else 1.0
    return 0.0


def unable(claim: Claim, anchor: Anchor) -> float:
    """1 where the verb beside an anchor cannot be said of such a thing, -1 where it can, 0 where there is none."""
    if anchor.kind == "number":
        return 0.0
    own = shape(anchor.text)
    before, after = _BEFORE.search(claim.text[: anchor.start]), _DONE.search(claim.text[anchor.end :])
    asked = [_DEEDS.get(after[1].lower())] if after else []
    asked += [_VERBS.get(before[1].lower())] if before else []
    return next((-1.0 if own in wanted else 1.0 for wanted in asked if wanted), 0.0)


def defines(claim: Claim, anchor: Anchor) -> bool:
    """Whether the claim begins with the anchor and says what it does or is."""
    return not claim.text[: anchor.start].strip("`*-_ ")
