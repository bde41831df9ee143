"""s: finding the places, and filling the replacement in."""

from __future__ import annotations

import re2

from ... import posix
from ...errors import LimitReached, UsageError
from ...limits import Meter
from .program import Case, Replacement, Substitution

LONGEST = 32 * 1024 * 1024


def bounded(text: bytes) -> bytes:
    if len(text) > LONGEST:
        raise too_long()
    return text


def too_long() -> LimitReached:
    return LimitReached(f"stopped at a text of more than {LONGEST:,} bytes")


def substituted(one: Substitution, pattern: re2._Regexp, text: bytes, meter: Meter) -> bytes | None:
    """The new text, or None when nothing matched."""
    posix.check_cost(pattern, text)
    out: list[bytes] = []
    at = copied = count = size = 0
    changed = False
    ended = -1
    while at <= len(text):
        meter.tick()
        found = pattern.search(text, at)
        if found is None:
            break
        start, stop = found.span()
        if start == stop == ended:
            at = stop + 1
            continue
        count += 1
        if count >= one.nth:
            out += [text[copied:start], _filled(one.replacement, found)]
            size += len(out[-1])
            if size > LONGEST:
                raise too_long()
            copied, changed = stop, True
            if not one.everywhere:
                break
        ended = stop
        at = stop if stop > start else stop + 1
    return bounded(b"".join([*out, text[copied:]])) if changed else None


def _filled(replacement: Replacement, found: re2._Match) -> bytes:
    """The replacement with its groups; `\\u` and `\\l` count for one letter, `\\U` and `\\L` until `\\E`."""
    pieces: list[bytes] = []
    lasting = once = ""
    for part in replacement:
        if isinstance(part, Case):
            if part.letter in "ul":
                once = part.letter
            else:
                lasting = part.letter
                once = ""
            continue
        piece = part if isinstance(part, bytes) else _group(found, part)
        piece = {"U": piece.upper(), "L": piece.lower()}.get(lasting, piece)
        if once and piece:
            first = piece[:1].upper() if once == "u" else piece[:1].lower()
            piece, once = first + piece[1:], ""
        pieces.append(piece)
    return b"".join(pieces)


def _group(found: re2._Match, number: int) -> bytes:
    if number > found.re.groups:
        raise UsageError(f"invalid reference \\{number} on `s' command's RHS")
    return found.group(number) or b""
