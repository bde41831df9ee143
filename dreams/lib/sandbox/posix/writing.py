"""A pattern written out anew as an re2 expression, and compiled within bounds."""

from __future__ import annotations

from functools import lru_cache

import re2

from ..errors import LineTooLong, Refused
from .nodes import Chars, Either, Group, Node, Row, Sign, folded
from .reading import Reader

LONGEST_PATTERN = 8_192


MOST_STEPS = 5_000  # of a compiled pattern
MOST_WORK = 1_000_000_000  # steps times bytes of one search: about five seconds at worst


def _written(node: Node) -> bytes:
    if isinstance(node, Chars):
        return _set(node.of)
    if isinstance(node, Sign):
        return {"^": b"^", "$": b"$", "b": b"\\b", "B": b"\\B"}[node.kind]
    if isinstance(node, Row):
        return b"".join(_grouped(part) if isinstance(part, Either) else _written(part) for part in node.parts)
    if isinstance(node, Group):
        return b"(" + _written(node.part) + b")"
    if isinstance(node, Either):
        return b"|".join(_written(choice) for choice in node.choices)
    return _grouped(node.part) + _times(node.least, node.most)


def _times(least: int, most: int | None) -> bytes:
    if (least, most) == (0, None):
        return b"*"
    if (least, most) == (1, None):
        return b"+"
    if (least, most) == (0, 1):
        return b"?"
    return b"{%d,}" % least if most is None else b"{%d,%d}" % (least, most)


def _grouped(node: Node) -> bytes:
    return _written(node) if isinstance(node, Chars | Group) else b"(?:" + _written(node) + b")"


@lru_cache(maxsize=4096)
def _set(of: frozenset[int]) -> bytes:
    if not of:
        return b"[^\\x00-\\xff]"
    if len(of) == 1:
        return b"\\x%02x" % next(iter(of))
    out: list[bytes] = []
    ordered = sorted(of)
    start = previous = ordered[0]
    for byte in [*ordered[1:], 999]:
        if byte != previous + 1:
            out.append(b"\\x%02x" % start if start == previous else b"\\x%02x-\\x%02x" % (start, previous))
            start = byte
        previous = byte
    return b"[" + b"".join(out) + b"]"


def translate(
    pattern: bytes, *, extended: bool, fold: bool = False, capture: bool = False, lines: bool = True
) -> bytes:
    """One pattern as an re2 expression. `lines`: it is matched against one line, so nothing matches a break.

    Raises UsageError where GNU has a syntax error, Refused as said above.
    """
    if len(pattern) > LONGEST_PATTERN:
        raise Refused(f"a pattern of {len(pattern):,} bytes; at most {LONGEST_PATTERN:,}")
    return _written(Reader(pattern, extended=extended, fold=fold, capture=capture, lines=lines).whole())


def fixed(pattern: bytes, *, fold: bool = False) -> bytes:
    """A text to be found as it stands."""
    sets = (frozenset([byte]) for byte in pattern)
    return b"".join(_set(folded(of) if fold else of) for of in sets)


@lru_cache(maxsize=256)
def compiled(expression: bytes, *, longest: bool = True) -> re2._Regexp:
    """A matcher over bytes, leftmost-longest as POSIX wants it. Raises Refused for a pattern that is too large."""
    options = re2.Options()
    options.encoding = re2.Options.Encoding.LATIN1
    options.longest_match = longest
    options.log_errors = False
    options.max_mem = 16 * 1024 * 1024
    try:
        found = re2.compile(expression, options)
    except re2.error:
        raise Refused("a pattern that is too large or repeats too often") from None
    if found.programsize > MOST_STEPS:
        raise Refused("a pattern that is too large or repeats too often")
    return found


def check_cost(pattern: re2._Regexp, text: bytes) -> None:
    """Linear time still is pattern times text, and no clock stops a search: raises LimitReached beforehand."""
    if pattern.programsize * len(text) > MOST_WORK:
        raise LineTooLong(f"stopped at a line of {len(text):,} bytes, too long for so large a pattern")
