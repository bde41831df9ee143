"""Perl's patterns as re2 knows them, and the looking around that people write most: `\\K`, `(?<=…)` and `(?=…)`.

Where one of them stands at an end of the whole pattern, it only says which part of the match is meant. That part is a
group named `kept`; the rest is matched with it, so the time stays linear.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

import re2

from ..errors import Refused, UsageError

# One byte wide each, so that it is known where the text before the match begins.
_FIXED = re.compile(rb"(?:\\[^A-Za-z0-9]|\\[dDwWsSt]|\[\^?\]?(?:\\.|[^]\\[])*\]|[^\\\[\](){}|*+?^$])")
_REFUSED = re.compile(rb"\(\?(<?[=!]|>|[PR&|(])|\(\*|\\[KkgRXhHvVG1-9]|[*+?}]\+")


@dataclass(frozen=True, slots=True)
class Perl:
    """`behind`: how many bytes before the kept part a match may begin to look; None where no part is kept."""

    expression: bytes
    behind: int | None = None


def read(text: bytes, *, fold: bool) -> Perl:
    """Raises Refused for what cannot be matched in linear time, UsageError for bad grammar."""
    before, kept, after, behind = _split(text)
    for part in (before, kept, after):
        if _REFUSED.search(part.replace(b"\\\\", b"--")):
            raise Refused(
                "grep -P: looking around, \\K, \\h, back-references and the like are not on offer; use -o and cut "
                "(\\K, (?<=TEXT) at the start and (?=TEXT) at the end are)"
            )
    whole = kept if behind is None else b"(?:%s)(?P<kept>%s)(?:%s)" % (before, kept, after)
    expression = b"(?i:" + whole + b")" if fold else whole
    try:
        re2.compile(expression, _options())
    except re2.error as error:
        raise UsageError(f"{str(error)[:80]}", 2) from None
    return Perl(expression, behind)


def _split(text: bytes) -> tuple[bytes, bytes, bytes, int | None]:
    """(the part before, the kept part, the part after, how many bytes before)."""
    marks = _marks(text)
    before, kept, after, behind = b"", text, b"", None
    if any(kind == "|" for kind, _, _ in marks):
        return before, kept, after, behind  # a choice of the whole: its branches mean different parts
    for kind, start, stop in reversed(marks):
        if kind == "(?=" and stop == len(kept):
            kept, after, behind = kept[:start], text[start + 3 : stop - 1], 0
    for kind, start, stop in marks:
        if kind == "K" and behind in (None, 0) and not before:
            before, kept, behind = kept[:start], kept[stop:], 0
        elif kind == "(?<=" and start == 0 and (wide := _width(text[4 : stop - 1])) is not None:
            before, kept, behind = text[4 : stop - 1], kept[stop:], wide
    return before, kept, after, behind


def _width(text: bytes) -> int | None:
    """How many bytes a text of single characters and sets takes; None where that is not sure."""
    at = count = 0
    while at < len(text):
        found = _FIXED.match(text, at)
        if found is None:
            return None
        at, count = found.end(), count + 1
    return count


def _marks(text: bytes) -> list[tuple[str, int, int]]:
    """The marks outside all groups: (`|`, `K`, or how a group begins; where it begins; where it ends)."""
    found: list[tuple[str, int, int]] = []
    opened: list[int] = []
    at = 0
    while at < len(text):
        char = text[at : at + 1]
        if char == b"\\":
            if text[at + 1 : at + 2] == b"K" and not opened:
                found.append(("K", at, at + 2))
            at += 2
            continue
        if char == b"[":
            at = _behind_set(text, at)
            continue
        if char == b"(":
            opened.append(at)
        elif char == b")" and opened:
            start = opened.pop()
            begins = re.match(rb"\(\?<?[=!]", text[start:])
            if not opened and begins:
                found.append((begins[0].decode(), start, at + 1))
        elif char == b"|" and not opened:
            found.append(("|", at, at + 1))
        at += 1
    return found


def _behind_set(text: bytes, start: int) -> int:
    found = re.compile(rb"\[\^?\]?(?:\[:[a-z]+:\]|\\.|[^]\\])*\]", re.DOTALL).match(text, start)
    return found.end() if found else start + 1


def _options() -> re2.Options:
    options = re2.Options()
    options.encoding = re2.Options.Encoding.LATIN1
    options.log_errors = False
    return options
