"""Names with numbers in their natural order, in the order that the manual of `sort -V` and `ls -v` describes."""

from __future__ import annotations

import re

# Letters and other bytes as (their order, how many digits, the digits), in turn.
VersionKey = tuple[object, ...]

_END = 1  # the end of a run of letters; only `~` comes before it
_SIGNS = [byte for byte in range(256) if chr(byte) not in "0123456789~"]
_SIGNS.sort(key=lambda byte: (not (chr(byte).isascii() and chr(byte).isalpha()), byte))  # letters first
_ORDER = bytes.maketrans(b"~" + bytes(_SIGNS), bytes([0, *range(2, 2 + len(_SIGNS))]))
_RUN = re.compile(rb"([^0-9]*)([0-9]*)")
_SUFFIX_PART = re.compile(rb"[A-Za-z~][A-Za-z0-9~]*")


def version_key(name: bytes) -> VersionKey:
    """Made once for each name: comparing two long ones letter by letter would take minutes."""
    first = {b"": 0, b".": 1, b"..": 2}.get(name, 3 if name.startswith(b".") else 4)
    return first, _runs(_without_suffix(name)), _runs(name)


def _without_suffix(name: bytes) -> bytes:
    """`a-1.2.tar.gz` as `a-1.2`: endings that begin with a letter are cut, one by one from the back."""
    end = len(name)
    while (dot := name.rfind(b".", 1, end)) > 0 and _SUFFIX_PART.fullmatch(name, dot + 1, end):
        end = dot
    return name[:end]


def _runs(name: bytes) -> tuple[object, ...]:
    out: list[object] = []
    for found in _RUN.finditer(name):
        digits = found[2].lstrip(b"0")
        out += [found[1].translate(_ORDER) + bytes([_END]), len(digits), digits]
    return tuple(out)
