"""What a key compares: numbers, months, sizes, versions or bytes, as values that Python can order."""

from __future__ import annotations

import re

from .versions import version_key

_MONTHS = {
    name: number
    for number, name in enumerate(
        b"JAN FEB MAR APR MAY JUN JUL AUG SEP OCT NOV DEC".split(),
        start=1,
    )
}
_DICTIONARY = bytes(
    byte for byte in range(256) if not (chr(byte).isascii() and (chr(byte).isalnum() or byte in b" \t"))
)
_UNPRINTABLE = bytes(byte for byte in range(256) if not 32 <= byte < 127)
_NUMBER = re.compile(rb"-?([0-9]*)(?:\.([0-9]*))?")
_HUMAN = re.compile(rb"-?[0-9]*(?:\.[0-9]*)?([KkMGTPEZY]?)")

_UNITS = {b"": 0, **{bytes([unit]): power for power, unit in enumerate(b"KMGTPEZY", start=1)}, b"k": 1}

# What two lines are compared by; anything that Python can order.
Rank = tuple[object, ...] | bytes


def rank_of(part: bytes, modes: str) -> Rank:
    if "n" in modes:
        return _numeric(part.lstrip(b" \t\n"))
    if "h" in modes:
        return _human((part.upper() if "f" in modes else part).lstrip(b" \t\n"))
    if "M" in modes:
        return (_MONTHS.get(part.lstrip(b" \t")[:3].upper(), 0),)
    if "d" in modes:
        part = part.translate(None, _DICTIONARY)
    elif "i" in modes:
        part = part.translate(None, _UNPRINTABLE)
    if "f" in modes:
        part = part.upper()
    return version_key(part) if "V" in modes else part


def _numeric(text: bytes) -> Rank:
    """Numbers of any length, without a float's rounding: sign, digits before the point, digits behind."""
    found = _NUMBER.match(text)
    whole = (found[1] if found else b"").lstrip(b"0")
    behind = ((found[2] if found else b"") or b"").rstrip(b"0")
    if not whole and not behind:
        return (0, 0, b"", b"")
    if not text.startswith(b"-"):
        return (1, len(whole), whole, behind)
    # Below zero the greater number is the smaller one: each digit is turned round, an end counts as most.
    return (-1, -len(whole), _turned(whole), _turned(behind) + b"\xff")


def _turned(digits: bytes) -> bytes:
    return digits.translate(_TURNED)


_TURNED = bytes.maketrans(b"0123456789", b"9876543210")


def _human(text: bytes) -> Rank:
    found = _HUMAN.match(text)
    number = _numeric(text)
    sign = number[0]
    unit = _UNITS[found[1]] if found and sign != 0 else 0
    return (sign, unit if sign != -1 else -unit, *number[1:])
