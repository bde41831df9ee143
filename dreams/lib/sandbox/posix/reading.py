"""One pattern read by recursive descent: basic or extended, with GNU's additions."""

from __future__ import annotations

from ..errors import Refused, UsageError
from .edges import worded
from .nodes import ANY, EMPTY, EVERY, SPACE, WORD, Chars, Either, Group, Node, Sign, Times, folded, named

DEEPEST = 60
LONGEST_PATTERN = 8_192
MOST_REPEATS = 1_000


class Reader:
    """Recursive descent over one pattern. `extended`: ERE; otherwise BRE with GNU's \\+, \\? and \\|."""

    def __init__(
        self, pattern: bytes, *, extended: bool, fold: bool, capture: bool, lines: bool = True
    ) -> None:
        self._text = pattern
        self._at = 0
        self._extended = extended
        self._fold = fold
        self._capture = capture
        # Where several lines are looked at together, a break is a byte like any other.
        self._any = ANY if lines else EVERY
        self._lines = lines
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
            return Chars(self._any)
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
        if char == b"n" and not self._lines:
            self._at += 2
            return Chars(frozenset([10]))
        signs = {b"b": "b", b"B": "B", b"<": "<", b">": ">", b"`": "^", b"'": "$"}
        sets = {b"w": WORD, b"W": self._any - WORD, b"s": SPACE, b"S": self._any - SPACE}
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
        return Chars(EVERY - of - ({10} if self._lines else frozenset()) if negated else of)

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
            return named("alpha" if self._fold and name in ("upper", "lower") else name)
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
