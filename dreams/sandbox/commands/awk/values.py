"""awk's values: numbers, texts, and texts from input that count as numbers where they look like one."""

from __future__ import annotations

import math
import re

from ...errors import LimitReached, Refused

LONGEST_TEXT = 16 * 1024 * 1024


class Input(bytes):
    """Text that came from a file or from the command line: compared as a number when it looks like one."""

    __slots__ = ()


# None: a variable that was never set, at once "" and 0.
Value = float | bytes | None

_LEADING = re.compile(rb"[ \t\n\v\f\r]*([-+]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?)")
_NUMERIC = re.compile(rb"[ \t\n\v\f\r]*[-+]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?[ \t\n\v\f\r]*")
_FORMAT = re.compile(rb"%[-+ #0]*[0-9]{0,3}(?:\.[0-9]{0,3})?[efgEGd]")


def number(value: Value) -> float:
    if isinstance(value, float):
        return value
    found = _LEADING.match(value) if value else None
    return float(found[1]) if found else 0.0


def text(value: Value, form: bytes = b"%.6g") -> bytes:
    """As awk writes it: whole numbers in full, others by CONVFMT or OFMT."""
    if isinstance(value, bytes):
        return value
    if value is None:
        return b""
    if math.isfinite(value) and value == int(value):
        return b"%d" % int(value)
    if not math.isfinite(value):
        return (b"-" if value < 0 else b"") + (b"nan" if math.isnan(value) else b"inf")
    if not _FORMAT.fullmatch(form):
        raise Refused("awk: CONVFMT and OFMT hold one number format")
    return form % value


def truth(value: Value) -> bool:
    if isinstance(value, Input) and _NUMERIC.fullmatch(value):
        return number(value) != 0
    return value != 0.0 if isinstance(value, float) else bool(value)


def is_numeric(value: Value) -> bool:
    return not isinstance(value, bytes) or (
        isinstance(value, Input) and _NUMERIC.fullmatch(value) is not None
    )


def order(a: Value, b: Value) -> int:
    """-1, 0 or 1: by number where both sides are or look like numbers, else by bytes."""
    if is_numeric(a) and is_numeric(b):
        x, y = number(a), number(b)
        return (x > y) - (x < y)
    left, right = text(a), text(b)
    return (left > right) - (left < right)


def bounded(data: bytes) -> bytes:
    if len(data) > LONGEST_TEXT:
        raise LimitReached(f"stopped at a text of more than {LONGEST_TEXT:,} bytes")
    return data
