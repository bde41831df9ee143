"""Counts with the suffixes that coreutils know."""

from __future__ import annotations

import re

from ..errors import UsageError

_SUFFIXES = {"": 1, "b": 512, "kB": 1000, "k": 1024, "K": 1024, "KiB": 1024, "MB": 1000**2, "M": 1024**2}
_SUFFIXES |= {"MiB": 1024**2, "GB": 1000**3, "G": 1024**3, "GiB": 1024**3, "TB": 1000**4, "T": 1024**4}
_COUNT = re.compile(r"([0-9]{1,18})([A-Za-z]{0,3})")


def count(text: str, what: str) -> int:
    """A count such as 10, 4K or 2MB. Raises UsageError in coreutils' words."""
    found = _COUNT.fullmatch(text)
    if found is None or found[2] not in _SUFFIXES:
        raise UsageError(f"invalid number of {what}: '{text}'")
    return int(found[1]) * _SUFFIXES[found[2]]


def plain(text: str, complaint: str, status: int = 1) -> int:
    """Decimal digits alone, or UsageError with `complaint`."""
    if not re.fullmatch(r"[0-9]{1,18}", text):
        raise UsageError(f"{complaint}: '{text}'", status)
    return int(text)
