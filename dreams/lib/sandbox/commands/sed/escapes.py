"""The characters that GNU's sed lets a program name by a backslash: `\\t`, `\\x1b`, `\\o33`, `\\d27`, `\\cA`."""

from __future__ import annotations

import re

NAMED = {"a": "\a", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v"}
_NUMBERED = r"d([0-9]{1,3})|o([0-7]{1,3})|x([0-9A-Fa-f]{1,2})|c([@-_a-z])"
_IN_PATTERN = re.compile(r"\\(?:" + _NUMBERED + r"|([afnrtv])|[\s\S])")
_BEHIND_BACKSLASH = re.compile(_NUMBERED)


def in_pattern(text: str) -> str:
    """A pattern with its named characters put in, those in brackets too: read as they are, `s/\\r$//` would take
    the letter r away."""
    return _IN_PATTERN.sub(_character, text)


def numbered(text: str, at: int) -> tuple[str, int] | None:
    """The character that stands behind a backslash at `at`, and where the text goes on."""
    found = _BEHIND_BACKSLASH.match(text, at)
    return (_numbered(found), found.end()) if found else None


def _character(found: re.Match[str]) -> str:
    if found[5]:
        return NAMED[found[5]]
    if not any(found.groups()):
        return found[0]
    char = _numbered(found)
    return "\\\\" if char == "\\" else char


def _numbered(found: re.Match[str]) -> str:
    if found[4]:
        return chr(ord(found[4].upper()) ^ 64)
    value = int(found[1]) if found[1] else int(found[2], 8) if found[2] else int(found[3], 16)
    # A byte that is no ASCII stands for itself, as in a file name: see `raw`.
    return chr(value & 255) if value & 255 < 128 else chr(0xDC00 + (value & 255))
