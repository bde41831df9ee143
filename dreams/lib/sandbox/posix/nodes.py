"""What a pattern is made of: sets of bytes, places between bytes, and how they are put together."""

from __future__ import annotations

from dataclasses import dataclass

from ..errors import UsageError

WORD = frozenset(b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_")
SPACE = frozenset(b" \t\n\v\f\r")
ANY = frozenset(range(256)) - {10}
EVERY = frozenset(range(256))


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


def named(name: str) -> frozenset[int]:
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
