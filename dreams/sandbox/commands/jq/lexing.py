"""jq's words, with the parts of a text that holds `\\(…)`."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass

from ...errors import Refused, UsageError

_MOST = 2_000
_TOKEN = re.compile(
    r"\s*(?:(?P<number>(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?)"
    r"|(?P<field>\.[A-Za-z_][A-Za-z_0-9]*)"
    r"|(?P<variable>\$[A-Za-z_][A-Za-z_0-9]*)"
    r"|(?P<format>@[a-z0-9]+)"
    r"|(?P<name>[A-Za-z_][A-Za-z_0-9]*)"
    r"|(?P<sign>\.\.|\?//|//=|//|[|+\-*/%]=|==|!=|<=|>=|[.\[\]{}(),;:|?+\-*/%<>=]))"
)


@dataclass(frozen=True, slots=True)
class Token:
    """`kind`: number, field, variable, format, name, sign, text, end. A text has `parts`: texts and programs."""

    kind: str
    value: str = ""
    parts: tuple[str | list[Token], ...] = ()


def tokens(program: str, depth: int = 0) -> list[Token]:
    if depth > 10:
        raise Refused("jq: texts nested too deeply")
    found: list[Token] = []
    at = 0
    while program[at:].strip():
        at += len(program[at:]) - len(program[at:].lstrip())
        if program[at] == '"':
            token, at = _text(program, at, depth)
        else:
            match = _TOKEN.match(program, at)
            if match is None:
                raise UsageError(f"syntax error at {program[at : at + 20]!r}", 3)
            token, at = Token(match.lastgroup or "", match[match.lastgroup or 0]), match.end()
        found.append(token)
        if len(found) > _MOST:
            raise Refused("jq: a program of more than 2,000 words")
    return [*found, Token("end")]


def _text(program: str, start: int, depth: int) -> tuple[Token, int]:
    parts: list[str | list[Token]] = []
    at = begun = start + 1
    while True:
        char = program[at : at + 1]
        if not char:
            raise UsageError("a text that is never closed", 3)
        if char == '"':
            break
        if program.startswith("\\(", at):
            parts.append(_plain(program[begun:at]))
            inner, at = _inside(program, at + 2)
            parts.append(tokens(inner, depth + 1))
            begun = at
            continue
        at += 2 if char == "\\" else 1
    parts.append(_plain(program[begun:at]))
    return Token("text", "", tuple(parts)), at + 1


def _plain(text: str) -> str:
    try:
        return str(json.loads(f'"{text}"', strict=False))
    except ValueError:
        raise UsageError(f"a text with an escape that is not known: {text[:20]!r}", 3) from None


def _inside(program: str, start: int) -> tuple[str, int]:
    """The program in `\\(…)`, and where the text goes on."""
    level, at, quoted = 1, start, False
    while at < len(program):
        char = program[at]
        if quoted and char == "\\":
            at += 1
        elif char == '"':
            quoted = not quoted
        elif not quoted and char in "()":
            level += 1 if char == "(" else -1
            if not level:
                return program[start:at], at + 1
        at += 1
    raise UsageError("a parenthesis that is never closed", 3)
