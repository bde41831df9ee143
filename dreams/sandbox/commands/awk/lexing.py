"""awk's words: names, numbers, texts, patterns and signs."""

from __future__ import annotations

import re
from dataclasses import dataclass

from ...errors import Refused, UsageError

KEYWORDS = frozenset(
    [
        "BEGIN",
        "END",
        "if",
        "else",
        "while",
        "for",
        "do",
        "break",
        "continue",
        "next",
        "nextfile",
        "exit",
        "delete",
        "in",
        "print",
        "printf",
    ]
)
_REFUSED = {
    "function": "functions of your own are not on offer",
    "func": "functions of your own are not on offer",
    "getline": "files are named as operands",
    "return": "functions of your own are not on offer",
    "ENVIRON": "the environment is empty",
    "PROCINFO": "it tells about the system",
    "ARGV": "files are named as operands",
    "ARGC": "files are named as operands",
    "switch": "use if",
}
_TOKEN = re.compile(
    r"[ \t]*(?:(?P<number>(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?)"
    r'|(?P<text>"(?:[^"\\]|\\.)*")'
    r"|(?P<name>[A-Za-z_][A-Za-z_0-9]*)"
    r"|(?P<sign>\*\*=|&&|\|\||\+\+|--|[-+*/%^]=|\*\*|==|<=|>=|!=|!~|>>|[-{}()\[\];,+*/%^!<>|?:~$=&@]))"
)
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "f": "\f", "v": "\v", "a": "\a", "b": "\b"}
_ESCAPE = re.compile(r"\\([0-7]{1,3}|.)", re.DOTALL)
_MOST = 4_000


@dataclass(frozen=True, slots=True)
class Token:
    """`kind`: number, text, name, keyword, call (a name with a parenthesis right behind it), sign, pattern, end."""

    kind: str
    value: str


def tokens(program: str) -> list[Token]:
    """All words of a program, the last one of kind `end`."""
    found: list[Token] = []
    at = 0
    while program[at:].strip(" \t"):
        token, at = _pattern(program, at) if _pattern_may_stand(program, at, found) else _next(program, at)
        found.append(token)
        if len(found) > _MOST:
            raise Refused("awk: a program of more than 4,000 words")
    return [*found, Token("end", "")]


def unescaped(text: str) -> str:
    """A text constant as the text it stands for."""

    def one(found: re.Match[str]) -> str:
        if found[1][0] in "01234567":
            return chr(int(found[1], 8) & 127)
        # A backslash before anything else stays: patterns are written as texts too.
        return _ESCAPES.get(found[1]) or (found[1] if found[1] in '"\\/' else found[0])

    return _ESCAPE.sub(one, text)


def _pattern_may_stand(program: str, at: int, before: list[Token]) -> bool:
    """Whether a `/` here opens a pattern: it divides only behind a value."""
    if not program[at:].lstrip(" \t").startswith("/"):
        return False
    if not before:
        return True
    last = before[-1]
    if last.kind in ("number", "text", "name", "pattern"):
        return False
    return last.value not in (")", "]", "$", "++", "--")


def _pattern(program: str, at: int) -> tuple[Token, int]:
    start = program.index("/", at) + 1
    end, bracket = start, False
    while end < len(program) and (bracket or program[end] != "/"):
        if program[end] == "\\":
            end += 1
        elif program[end] == "[":
            bracket = bracket or "]" in program[end + 2 :]
        elif program[end] == "]" and program[end - 1] not in "[^":
            bracket = False
        end += 1
    if end >= len(program):
        raise UsageError("unterminated regular expression", 2)
    return Token("pattern", program[start:end]), end + 1


def _next(program: str, at: int) -> tuple[Token, int]:
    found = _TOKEN.match(program, at)
    if found is None:
        raise Refused(f"awk: {program[at:].strip()[:20]!r} is not read")
    kind, value = found.lastgroup or "", found[found.lastgroup or 0]
    if kind == "text":
        return Token(kind, unescaped(value[1:-1])), found.end()
    if kind == "name":
        if value in _REFUSED:
            raise Refused(f"awk {value}: {_REFUSED[value]}")
        if value in KEYWORDS:
            kind = "keyword"
        elif program[found.end() : found.end() + 1] == "(":
            kind = "call"
    return Token(kind, value), found.end()
