"""grep's options, and what they ask for."""

from __future__ import annotations

from dataclasses import dataclass, field

import re2

from ... import posix
from ...errors import Refused, UsageError
from ...options import Args, Spec
from ..numbers import plain
from . import perl

GREP = Spec(
    flags={
        "P": "P",
        "perl-regexp": "P",
        **{letter: letter for letter in "EFGHILUZabchilnoqrsvwxyz"},
        "R": "r",
        "extended-regexp": "E",
        "fixed-strings": "F",
        "basic-regexp": "G",
        "with-filename": "H",
        "no-filename": "h",
        "files-without-match": "L",
        "files-with-matches": "l",
        "null": "Z",
        "text": "a",
        "byte-offset": "b",
        "count": "c",
        "ignore-case": "i",
        "no-ignore-case": "no-i",
        "line-number": "n",
        "only-matching": "o",
        "quiet": "q",
        "silent": "q",
        "recursive": "r",
        "dereference-recursive": "r",
        "no-messages": "s",
        "invert-match": "v",
        "word-regexp": "w",
        "line-regexp": "x",
        "line-buffered": "line-buffered",
        "no-group-separator": "no-separator",
    },
    values={
        "A": "A",
        "after-context": "A",
        "B": "B",
        "before-context": "B",
        "C": "C",
        "context": "C",
        "e": "e",
        "regexp": "e",
        "f": "f",
        "file": "f",
        "m": "m",
        "max-count": "m",
        "d": "d",
        "directories": "d",
        "D": "D",
        "devices": "D",
        "include": "include",
        "exclude": "exclude",
        "exclude-dir": "exclude-dir",
        "binary-files": "binary",
        "label": "label",
        "group-separator": "separator",
    },
    optional={"color": "color", "colour": "color"},
    why_not={
        "exclude-from": "patterns for names are not taken from files",
    },
)


@dataclass(slots=True)
class Plan:
    """What one grep was asked to do."""

    args: Args
    line: re2._Regexp  # does a line match
    block: re2._Regexp  # can a block of lines hold a match: a quick first look
    each: re2._Regexp  # the next match in a line, for -o
    patterns: list[bytes]
    before: int
    after: int
    most: int | None
    binary: str
    words: bool
    invert: bool
    numbered: bool
    mode: str  # "lines", "count", "names", "names-without", "quiet" or "only"
    end: bytes
    behind: int | None = None  # -P with a kept part: how far before it a match may begin

    @property
    def context(self) -> bool:
        return self.mode in ("lines", "only") and (self.before > 0 or self.after > 0)


@dataclass(slots=True)
class State:
    """What is carried from one file to the next."""

    matched: bool = False
    failed: bool = False
    printed: bool = False
    done: bool = False
    named: bool = False
    out: list[bytes] = field(default_factory=list)


def plan_of(args: Args, texts: list[bytes], syntax: str) -> Plan:
    fold = (args.last_of("i", "y", "no-i") or "no-i") != "no-i"
    longest = syntax != "P"
    behind: int | None = None
    if longest:
        expressions = [_expression(text, syntax, fold) for text in dict.fromkeys(texts)]
    else:
        expressions, behind = _perl(args, texts, fold)
    whole = b"|".join(b"(?:" + each + b")" for each in expressions) if expressions else b"[^\\x00-\\xff]"
    words = args.has("w") and not args.has("x")
    line = _bounded(whole, lines=args.has("x"), words=words)
    before, after = _context(args)
    most = plain(args.last("m") or "", "invalid max count", 2) if args.has("m") else None
    return Plan(
        args=args,
        line=posix.compiled(line, longest=longest),
        # \A and the like would keep Perl's patterns from being found in a block of lines.
        block=posix.compiled(b"(?m:" + line + b")" if longest else b""),
        each=posix.compiled(b"^(?:" + whole + b")$" if args.has("x") else whole, longest=longest),
        patterns=texts,
        before=before,
        after=after,
        most=most,
        binary=_binary(args),
        words=words,
        invert=args.has("v"),
        numbered=args.has("n"),
        mode=_mode(args),
        end=b"\n",
        behind=behind,
    )


def _perl(args: Args, texts: list[bytes], fold: bool) -> tuple[list[bytes], int | None]:
    if len(set(texts)) > 1:
        raise UsageError("the -P option only supports a single pattern", 2)
    found = [perl.read(text, fold=fold) for text in texts[:1]]
    behind = found[0].behind if found else None
    if behind is not None and (args.has("w") or args.has("x")):
        raise Refused("grep -P: \\K and looking around are not on offer with -w and -x")
    return [one.expression for one in found], behind


def _expression(text: bytes, syntax: str, fold: bool) -> bytes:
    if syntax == "F":
        return posix.fixed(text, fold=fold)
    return posix.translate(text, extended=syntax == "E", fold=fold)


def _bounded(whole: bytes, *, lines: bool, words: bool) -> bytes:
    if lines:
        return b"^(?:" + whole + b")$"
    if words:
        edge = b"[^0-9A-Za-z_]"
        return b"(?:^|" + edge + b")(?:" + whole + b")(?:" + edge + b"|$)"
    return whole


def _context(args: Args) -> tuple[int, int]:
    def number(letter: str) -> int | None:
        text = args.last(letter)
        return None if text is None else plain(text, f"{text}: invalid context length argument", 2)

    both = number("C") or 0
    before, after = number("B"), number("A")
    return both if before is None else before, both if after is None else after


def _binary(args: Args) -> str:
    kind = args.last("binary", "binary") or ""
    if kind not in ("binary", "text", "without-match"):
        raise UsageError("unknown binary-files type", 2)
    return {"a": "text", "I": "without-match"}.get(args.last_of("a", "I") or "", kind)


def _mode(args: Args) -> str:
    if args.has("q"):
        return "quiet"
    last = args.last_of("l", "L")
    if last is not None:
        return "names" if last == "l" else "names-without"
    if args.has("c"):
        return "count"
    return "only" if args.has("o") else "lines"


def shows_name(plan: Plan, state: State, *, below: bool) -> bool:
    choice = plan.args.last_of("H", "h")
    return choice == "H" if choice else state.named or below
