"""POSIX basic and extended patterns, with GNU's additions, as linear-time re2 expressions over bytes.

A pattern becomes a small tree of byte sets and is written out anew, so nothing of the original spelling reaches
re2. Back-references cannot be matched in linear time and are refused. Case is folded here for ASCII alone, as in
the C locale; re2 would fold Latin-1 letters, which in UTF-8 text are pieces of other characters.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import re2

from .errors import LimitReached, Refused, UsageError

WORD = frozenset(b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_")
SPACE = frozenset(b" \t\n\v\f\r")
ANY = frozenset(range(256)) - {10}
EVERY = frozenset(range(256))
DEEPEST = 60
LONGEST_PATTERN = 8_192
MOST_REPEATS = 1_000
MOST_STEPS = 5_000  # of a compiled pattern
MOST_WORK = 1_000_000_000  # steps times bytes of one search: about five seconds at worst


@dataclass(frozen=True, slots=True)
class Chars:
    """One byte out of a set."""

    of: frozenset[int]


@dataclass(frozen=True, slots=True)
class Sign:
    """A place between bytes: `^`, `$`, `\\b`, `\\B`, or the start `<` or end `>` of a word."""

    kind: str


@dataclass(frozen=True, slots=True)
class Row:
    """One after the other."""

    parts: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Either:
    """Any of these."""

    choices: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Times:
    """A part from `least` to `most` times; most None: without end."""

    part: Node
    least: int
    most: int | None


@dataclass(frozen=True, slots=True)
class Group:
    """A part in parentheses, kept only where its text is asked for."""

    part: Node


Node = Chars | Sign | Row | Either | Times | Group
EMPTY = Row(())


# Reading


def _named(name: str) -> frozenset[int]:
    tests = {
        "alpha": str.isalpha,
        "upper": str.isupper,
        "lower": str.islower,
        "digit": str.isdigit,
        "alnum": str.isalnum,
    }
    if name in tests:
        return frozenset(byte for byte in range(128) if tests[name](chr(byte)))
    ranges = {
        "blank": frozenset(b" \t"),
        "space": SPACE,
        "cntrl": frozenset([*range(32), 127]),
        "print": frozenset(range(32, 127)),
        "graph": frozenset(range(33, 127)),
        "xdigit": frozenset(b"0123456789abcdefABCDEF"),
        "punct": frozenset(byte for byte in range(33, 127) if not chr(byte).isalnum()),
    }
    if name not in ranges:
        raise UsageError("invalid character class", 2)
    return ranges[name]


def folded(of: frozenset[int]) -> frozenset[int]:
    """The set with both cases of its ASCII letters."""
    return of | frozenset(byte ^ 32 for byte in of if byte < 128 and chr(byte).isalpha())


class _Reader:
    """Recursive descent over one pattern. `extended`: ERE; otherwise BRE with GNU's \\+, \\? and \\|."""

    def __init__(self, pattern: bytes, *, extended: bool, fold: bool, capture: bool) -> None:
        self._text = pattern
        self._at = 0
        self._extended = extended
        self._fold = fold
        self._capture = capture
        self.groups = 0
        self._depth = 0

    def whole(self) -> Node:
        node = self._either()
        if self._at < len(self._text):
            raise UsageError("Unmatched ) or \\)", 2)
        return node

    def _next_is(self, operator: bytes) -> bool:
        """Whether an operator stands here, in this syntax's spelling: `|` or `\\|`."""
        return self._text.startswith(operator if self._extended else b"\\" + operator, self._at)

    def _skip(self, operator: bytes) -> None:
        self._at += len(operator) if self._extended else len(operator) + 1

    def _either(self) -> Node:
        choices = [self._row()]
        while self._next_is(b"|"):
            self._skip(b"|")
            choices.append(self._row())
        return choices[0] if len(choices) == 1 else Either(tuple(choices))

    def _row(self) -> Node:
        parts: list[Node] = []
        while self._at < len(self._text) and not self._next_is(b"|") and not self._closes():
            parts.append(self._piece(first=not parts or (not self._extended and parts == [Sign("^")])))
        return worded(parts)

    def _closes(self) -> bool:
        if not self._next_is(b")"):
            return False
        if self._depth == 0 and self._extended:
            return False  # an unmatched ) is an ordinary character in extended patterns
        if self._depth == 0:
            raise UsageError("Unmatched ) or \\)", 2)
        return True

    def _piece(self, *, first: bool) -> Node:
        node = self._atom(first=first)
        while (bounds := self._repeat(first=first and node == Sign("^"))) is not None:
            node = Times(node, *bounds)
        return node

    def _repeat(self, *, first: bool) -> tuple[int, int | None] | None:
        char = self._text[self._at : self._at + 1]
        if char == b"*" and not (first and not self._extended):
            self._at += 1
            return 0, None
        for sign, bounds in ((b"+", (1, None)), (b"?", (0, 1))):
            if self._next_is(sign):
                self._skip(sign)
                return bounds
        return self._interval() if self._next_is(b"{") else None

    def _interval(self) -> tuple[int, int | None] | None:
        start = self._at
        self._skip(b"{")
        close = b"}" if self._extended else b"\\}"
        end = self._text.find(close, self._at)
        found = _bounds(self._text[self._at : end]) if end >= 0 else None
        if found is None:
            if self._extended:
                self._at = start
                return None
            raise UsageError("Invalid content of \\{\\}" if end >= 0 else "Unmatched { or \\{", 2)
        self._at = end + len(close)
        return found

    def _atom(self, *, first: bool) -> Node:
        text, at = self._text, self._at
        char = text[at : at + 1]
        if self._next_is(b"("):
            return self._group()
        if first and self._is_stray_repeat():
            return EMPTY if self._extended else self._literal(1)
        if char == b"\\":
            return self._escape()
        if char == b"[":
            return self._bracket()
        if char == b".":
            self._at += 1
            return Chars(ANY)
        if char == b"^" and (self._extended or first):
            self._at += 1
            return Sign("^")
        if char == b"$" and (self._extended or self._at_end()):
            self._at += 1
            return Sign("$")
        return self._literal(1)

    def _is_stray_repeat(self) -> bool:
        """A repetition with nothing before it: an ordinary `*` in BRE; in ERE it repeats nothing."""
        char = self._text[self._at : self._at + 1]
        return char == b"*" or (self._extended and char in (b"+", b"?") and bool(char))

    def _at_end(self) -> bool:
        rest = self._text[self._at + 1 :]
        return not rest or rest.startswith((b"\\)", b"\\|"))

    def _literal(self, width: int) -> Node:
        byte = self._text[self._at + width - 1]
        self._at += width
        return Chars(folded(frozenset([byte])) if self._fold else frozenset([byte]))

    def _group(self) -> Node:
        self._skip(b"(")
        self._depth += 1
        if self._depth > DEEPEST:
            raise Refused("a pattern nested too deeply")
        node = self._either()
        if not self._next_is(b")"):
            raise UsageError("Unmatched ( or \\(", 2)
        self._skip(b")")
        self._depth -= 1
        self.groups += 1
        return Group(node) if self._capture else node

    def _escape(self) -> Node:
        char = self._text[self._at + 1 : self._at + 2]
        if not char:
            raise UsageError("Trailing backslash", 2)
        if char in b"123456789":
            raise Refused(f"the back-reference \\{char.decode()}: it cannot be matched in linear time")
        if not self._extended and char == b"{":
            raise UsageError("Invalid preceding regular expression", 2)
        signs = {b"b": "b", b"B": "B", b"<": "<", b">": ">", b"`": "^", b"'": "$"}
        sets = {b"w": WORD, b"W": ANY - WORD, b"s": SPACE, b"S": ANY - SPACE}
        if char in signs:
            self._at += 2
            return Sign(signs[char])
        if char in sets:
            self._at += 2
            return Chars(sets[char])
        return self._literal(2)

    def _bracket(self) -> Node:
        self._at += 1
        negated = self._text.startswith(b"^", self._at)
        self._at += negated
        of: frozenset[int] = frozenset()
        first = True
        while first or not self._text.startswith(b"]", self._at):
            first = False
            of |= self._bracket_item()
        self._at += 1
        of = folded(of) if self._fold else of
        return Chars(EVERY - of - {10} if negated else of)

    def _bracket_item(self) -> frozenset[int]:
        text = self._text
        if self._at >= len(text):
            raise UsageError("Unmatched [, [^, [:, [., or [=", 2)
        if text.startswith(b"[:", self._at):
            end = text.find(b":]", self._at + 2)
            if end < 0:
                raise UsageError("Unmatched [, [^, [:, [., or [=", 2)
            name = text[self._at + 2 : end].decode("latin-1")
            self._at = end + 2
            return _named("alpha" if self._fold and name in ("upper", "lower") else name)
        low = self._bracket_byte()
        if text.startswith(b"-", self._at) and text[self._at + 1 : self._at + 2] not in (b"]", b""):
            self._at += 1
            high = self._bracket_byte()
            if high < low:
                raise UsageError("Invalid range end", 2)
            return frozenset(range(low, high + 1))
        return frozenset([low])

    def _bracket_byte(self) -> int:
        text, at = self._text, self._at
        if at >= len(text):
            raise UsageError("Unmatched [, [^, [:, [., or [=", 2)
        if text[at : at + 2] in (b"[.", b"[="):
            closing = text[at + 1 : at + 2] + b"]"
            end = text.find(closing, at + 2)
            if end != at + 3:
                raise UsageError("Invalid collation character", 2)
            self._at = end + 2
            return text[at + 2]
        self._at += 1
        return text[at]


def _bounds(text: bytes) -> tuple[int, int | None] | None:
    low, comma, high = text.partition(b",")
    if any(part and not part.isdigit() for part in (low, high)) or not (low or comma) or len(text) > 12:
        return None
    least = int(low or b"0")
    most = (int(high) if high else None) if comma else least
    if max(least, most or 0) > MOST_REPEATS:
        raise Refused(f"a repetition of more than {MOST_REPEATS:,} times")
    if most is not None and most < least:
        raise UsageError("Invalid content of \\{\\}", 2)
    return least, most


# Words: re2 knows \b but not on which side of it the word lies


def worded(parts: list[Node]) -> Node:
    """A row in which `\\<` and `\\>` have become `\\b` beside a byte that is part of a word."""
    for index, part in enumerate(parts):
        if part == Sign("<"):
            rest = starting(worded(parts[index + 1 :]))
            return worded([*parts[:index], Sign("b"), rest])
    for index in range(len(parts) - 1, -1, -1):
        if parts[index] == Sign(">"):
            before = ending(worded(parts[:index]))
            return Row((before, Sign("b"), *parts[index + 1 :]))
    return parts[0] if len(parts) == 1 else Row(tuple(parts))


def _refuse_word_edge() -> Refused:
    return Refused("\\< or \\> beside something that may be empty; use \\b or grep -w")


def nullable(node: Node) -> bool:
    if isinstance(node, Chars):
        return False
    if isinstance(node, Sign):
        return True
    if isinstance(node, Row):
        return all(nullable(part) for part in node.parts)
    if isinstance(node, Group):
        return nullable(node.part)
    if isinstance(node, Either):
        return any(nullable(choice) for choice in node.choices)
    return node.least == 0 or nullable(node.part)


def starting(node: Node) -> Node:
    """The same, but its first byte is part of a word."""
    return _edged(node, first=True)


def ending(node: Node) -> Node:
    """The same, but its last byte is part of a word."""
    return _edged(node, first=False)


def _edged(node: Node, *, first: bool) -> Node:
    if isinstance(node, Chars):
        return Chars(node.of & WORD)
    if isinstance(node, Group):
        return Group(_edged(node.part, first=first))
    if isinstance(node, Either):
        return Either(tuple(_edged(choice, first=first) for choice in node.choices))
    if isinstance(node, Row) and node.parts:
        return _edged_row(node.parts, first=first)
    if isinstance(node, Times) and node.least > 0:
        rest = Times(node.part, node.least - 1, None if node.most is None else node.most - 1)
        edge = _edged(node.part, first=first)
        return Row((edge, rest) if first else (rest, edge))
    raise _refuse_word_edge()


def _edged_row(parts: tuple[Node, ...], *, first: bool) -> Node:
    edge, rest = (parts[0], parts[1:]) if first else (parts[-1], parts[:-1])
    if not nullable(edge):
        new = _edged(edge, first=first)
        return Row((new, *rest) if first else (*rest, new))
    without = _edged(Row(rest), first=first)
    if isinstance(edge, Sign):
        return Row((edge, without) if first else (without, edge))
    if not (isinstance(edge, Times) and edge.least == 0 and not nullable(edge.part)):
        raise _refuse_word_edge()
    most = edge.most
    if most == 0:
        return without
    present = _edged(Times(edge.part, 1, most), first=first)
    return Either((Row((present, *rest) if first else (*rest, present)), without))


# Writing


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


def translate(pattern: bytes, *, extended: bool, fold: bool = False, capture: bool = False) -> bytes:
    """One pattern as an re2 expression. Raises UsageError where GNU has a syntax error, Refused as said above."""
    if len(pattern) > LONGEST_PATTERN:
        raise Refused(f"a pattern of {len(pattern):,} bytes; at most {LONGEST_PATTERN:,}")
    return _written(_Reader(pattern, extended=extended, fold=fold, capture=capture).whole())


def fixed(pattern: bytes, *, fold: bool = False) -> bytes:
    """A text to be found as it stands."""
    sets = (frozenset([byte]) for byte in pattern)
    return b"".join(_set(folded(of) if fold else of) for of in sets)


@lru_cache(maxsize=256)
def compiled(expression: bytes) -> re2._Regexp:
    """A leftmost-longest matcher over bytes. Raises Refused for a pattern that is too large."""
    options = re2.Options()
    options.encoding = re2.Options.Encoding.LATIN1
    options.longest_match = True
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
        raise LimitReached(f"stopped at a line of {len(text):,} bytes, too long for so large a pattern")
