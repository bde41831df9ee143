"""POSIX basic and extended patterns, with `\\w`, `\\b`, `\\+` and the like, as linear-time re2 expressions over bytes.

A pattern is read part by part and written again as sets of bytes, so re2 never gets the original text.
Back-references cannot be matched in linear time and are refused. Case is folded here for ASCII only, as in the C
locale; re2 would fold Latin-1 letters, which are parts of other characters in UTF-8.
"""

import string
from functools import lru_cache

import re2

from dreams.lib.sandbox.process import LineTooLong, Refused, UsageError

WORD = frozenset((string.ascii_letters + string.digits + "_").encode())
SPACE = frozenset(b" \t\n\v\f\r")
DEEPEST = 60  # groups within groups; chosen
LONGEST_PATTERN = 8_192  # bytes; chosen
MOST_REPEATS = 1_000  # as RE2 allows
MOST_STEPS = 5_000  # of a compiled pattern
MOST_WORK = 1_000_000_000  # steps times bytes of one search: about five seconds at worst

_EVERY = frozenset(range(256))


def translate(
    pattern: bytes, *, extended: bool, fold: bool = False, capture: bool = False, lines: bool = True
) -> bytes:
    """One pattern as an re2 expression. `lines`: it is matched against one line, so nothing matches a line break.

    Raises UsageError for bad grammar, Refused for back-references.
    """
    if len(pattern) > LONGEST_PATTERN:
        raise Refused(f"a pattern of {len(pattern):,} bytes; at most {LONGEST_PATTERN:,}")
    return _Reader(pattern, extended=extended, fold=fold, capture=capture, lines=lines).whole()


def fixed(pattern: bytes, *, fold: bool = False) -> bytes:
    """A literal text."""
    sets = (frozenset([byte]) for byte in pattern)
    return b"".join(_set(_folded(of) if fold else of) for of in sets)


@lru_cache(maxsize=256)
def compiled(expression: bytes, *, longest: bool = True) -> re2._Regexp:
    """A matcher over bytes, leftmost-longest as in POSIX. Raises Refused for a pattern that is too large."""
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
    """Raises LineTooLong before a search that would take too long: it takes pattern times text, and cannot be stopped."""
    if pattern.programsize * len(text) > MOST_WORK:
        raise LineTooLong(f"stopped at a line of {len(text):,} bytes, too long for so large a pattern")


# --- Sets of bytes ------------------------------------------------------------------------------------------------


def _members(letters: str) -> frozenset[int]:
    return frozenset(letters.encode())


CLASSES = {
    "alpha": _members(string.ascii_letters),
    "upper": _members(string.ascii_uppercase),
    "lower": _members(string.ascii_lowercase),
    "digit": _members(string.digits),
    "alnum": _members(string.ascii_letters + string.digits),
    "xdigit": _members(string.hexdigits),
    "punct": _members(string.punctuation),
    "blank": _members(" \t"),
    "space": SPACE,
    "cntrl": frozenset([*range(32), 127]),
    "print": frozenset(range(32, 127)),
    "graph": frozenset(range(33, 127)),
}


def _folded(of: frozenset[int]) -> frozenset[int]:
    """The set with both cases of its ASCII letters."""
    return of | frozenset(byte ^ 32 for byte in of if byte < 128 and chr(byte).isalpha())


@lru_cache(maxsize=4096)
def _set(of: frozenset[int]) -> bytes:
    if not of:
        return b"[^\\x00-\\xff]"
    if len(of) == 1:
        return b"\\x%02x" % next(iter(of))
    # As ranges: `.` would otherwise need a kilobyte.
    starts = (byte for byte in sorted(of) if byte - 1 not in of)
    ends = (byte for byte in sorted(of) if byte + 1 not in of)
    return b"[" + b"".join(b"\\x%02x-\\x%02x" % pair for pair in zip(starts, ends, strict=True)) + b"]"


# --- Reading ------------------------------------------------------------------------------------------------------

_SIGNS = {b"b": b"\\b", b"B": b"\\B", b"`": b"^", b"'": b"$"}
_OPEN_BRACKET = "Unmatched [, [^, [:, [., or [="


class _Reader:
    """Recursive descent over one pattern; each method returns the expression of what it read. `extended`: ERE;
    otherwise BRE, in which \\+, \\? and \\| repeat and choose."""

    def __init__(self, pattern: bytes, *, extended: bool, fold: bool, capture: bool, lines: bool) -> None:
        self._text = pattern
        self._at = 0
        self._extended = extended
        self._fold = fold
        self._capture = capture
        # If several lines are searched together, a line break is a byte like any other.
        self._any = _EVERY - {10} if lines else _EVERY
        self._lines = lines
        self._depth = 0

    def whole(self) -> bytes:
        node = self._either()
        if self._at < len(self._text):
            raise UsageError("Unmatched ) or \\)", 2)
        return node

    def _next_is(self, operator: bytes) -> bool:
        """Whether an operator is next, as spelled in this syntax: `|` or `\\|`."""
        return self._text.startswith(operator if self._extended else b"\\" + operator, self._at)

    def _skip(self, operator: bytes) -> None:
        self._at += len(operator) if self._extended else len(operator) + 1

    def _either(self) -> bytes:
        choices = [self._row()]
        while self._next_is(b"|"):
            self._skip(b"|")
            choices.append(self._row())
        return b"|".join(choices)

    def _row(self) -> bytes:
        parts: list[bytes] = []
        while self._at < len(self._text) and not self._next_is(b"|") and not self._closes():
            parts.append(self._piece(first=not parts or (not self._extended and parts == [b"^"])))
        return b"".join(parts)

    def _closes(self) -> bool:
        if not self._next_is(b")"):
            return False
        if self._depth == 0 and self._extended:
            return False  # an unmatched ) is an ordinary character in extended patterns
        if self._depth == 0:
            raise UsageError("Unmatched ) or \\)", 2)
        return True

    def _piece(self, *, first: bool) -> bytes:
        node = self._atom(first=first)
        while times := self._repeat(first=first and node == b"^"):
            node = b"(?:" + node + b")" + times
        return node

    def _repeat(self, *, first: bool) -> bytes | None:
        if self._text.startswith(b"*", self._at) and (self._extended or not first):
            self._at += 1
            return b"*"
        for sign in (b"+", b"?"):
            if self._next_is(sign):
                self._skip(sign)
                return sign
        return self._interval() if self._next_is(b"{") else None

    def _interval(self) -> bytes | None:
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

    def _atom(self, *, first: bool) -> bytes:
        char = self._text[self._at : self._at + 1]
        if self._next_is(b"("):
            return self._group()
        if first and char in ((b"*", b"+", b"?") if self._extended else (b"*",)):
            return b"" if self._extended else self._literal(1)  # a repetition with nothing before it
        if char == b"\\":
            return self._escape()
        if char == b"[":
            return self._bracket()
        if char == b".":
            self._at += 1
            return _set(self._any)
        anchors = {b"^": self._extended or first, b"$": self._extended or self._at_end()}
        if anchors.get(char):
            self._at += 1
            return char
        return self._literal(1)

    def _at_end(self) -> bool:
        rest = self._text[self._at + 1 :]
        return not rest or rest.startswith((b"\\)", b"\\|"))

    def _literal(self, width: int) -> bytes:
        of = frozenset([self._text[self._at + width - 1]])
        self._at += width
        return _set(_folded(of) if self._fold else of)

    def _group(self) -> bytes:
        self._skip(b"(")
        self._depth += 1
        if self._depth > DEEPEST:
            raise Refused("a pattern nested too deeply")
        node = self._either()
        if not self._next_is(b")"):
            raise UsageError("Unmatched ( or \\(", 2)
        self._skip(b")")
        self._depth -= 1
        return (b"(" if self._capture else b"(?:") + node + b")"

    def _escape(self) -> bytes:
        char = self._text[self._at + 1 : self._at + 2]
        if not char:
            raise UsageError("Trailing backslash", 2)
        if char in b"123456789":
            raise Refused(f"the back-reference \\{char.decode()}: it cannot be matched in linear time")
        if char in b"<>":
            raise Refused(f"\\{char.decode()}: use \\b for the edge of a word, or grep -w")
        if not self._extended and char == b"{":
            raise UsageError("Invalid preceding regular expression", 2)
        sets = {b"w": WORD, b"W": self._any - WORD, b"s": SPACE, b"S": self._any - SPACE}
        if char == b"n" and not self._lines:
            sets[char] = frozenset([10])
        if char not in _SIGNS and char not in sets:
            return self._literal(2)
        self._at += 2
        return _SIGNS[char] if char in _SIGNS else _set(sets[char])

    def _bracket(self) -> bytes:
        self._at += 1
        negated = self._text.startswith(b"^", self._at)
        self._at += negated
        of = self._bracket_item()
        while not self._text.startswith(b"]", self._at):
            of |= self._bracket_item()
        self._at += 1
        of = _folded(of) if self._fold else of
        return _set(self._any - of if negated else of)

    def _bracket_item(self) -> frozenset[int]:
        text = self._text
        if text.startswith(b"[:", self._at):
            return self._class()
        low = self._bracket_byte()
        if text.startswith(b"-", self._at) and text[self._at + 1 : self._at + 2] not in (b"]", b""):
            self._at += 1
            high = self._bracket_byte()
            if high < low:
                raise UsageError("Invalid range end", 2)
            return frozenset(range(low, high + 1))
        return frozenset([low])

    def _class(self) -> frozenset[int]:
        end = self._text.find(b":]", self._at + 2)
        if end < 0:
            raise UsageError(_OPEN_BRACKET, 2)
        name = self._text[self._at + 2 : end].decode("latin-1")
        self._at = end + 2
        if name not in CLASSES:
            raise UsageError("invalid character class", 2)
        return CLASSES[name]

    def _bracket_byte(self) -> int:
        text, at = self._text, self._at
        if at >= len(text):
            raise UsageError(_OPEN_BRACKET, 2)
        if text[at : at + 2] in (b"[.", b"[="):
            raise Refused("[. .] and [= =] in a bracket; write the letter itself")
        self._at += 1
        return text[at]


def _bounds(text: bytes) -> bytes | None:
    low, comma, high = text.partition(b",")
    if any(part and not part.isdigit() for part in (low, high)) or not (low or comma) or len(text) > 12:
        return None
    least = int(low or b"0")
    most = (int(high) if high else None) if comma else least
    if max(least, most or 0) > MOST_REPEATS:
        raise Refused(f"a repetition of more than {MOST_REPEATS:,} times")
    if most is not None and most < least:
        raise UsageError("Invalid content of \\{\\}", 2)
    return b"{%d,}" % least if most is None else b"{%d,%d}" % (least, most)
