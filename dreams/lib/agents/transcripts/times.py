"""Timestamps as agents write them → aware UTC datetimes. Pure: no Django."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TypeAlias

_MILLISECONDS = 1e11  # a larger number cannot be seconds: it would be past the year 5000
_parse = datetime.fromisoformat


# Texts of this shape sort as the moments they name.
_SHAPE = ((4, "-"), (7, "-"), (10, "T"), (13, ":"), (16, ":"), (19, "."), (23, "Z"))
_SHAPE_LENGTH = 24

Stamp: TypeAlias = str | int | float


def span(stamps: list[Stamp]) -> tuple[datetime, datetime] | None:
    """The first and the last of many timestamps, None where none is one. The usual shape is not parsed one by one."""
    if (texts := _sortable(stamps)) is not None:
        first, last = instant(min(texts)), instant(max(texts))
        if first is not None and last is not None:
            return first, last
    found = [at for stamp in stamps if (at := instant(stamp)) is not None]
    return (min(found), max(found)) if found else None


def _sortable(stamps: list[Stamp]) -> list[str] | None:
    texts = [stamp for stamp in stamps if isinstance(stamp, str)]
    if not texts or len(texts) != len(stamps) or set(map(len, texts)) != {_SHAPE_LENGTH}:
        return None
    joined = "".join(texts)
    alike = all(joined[at::_SHAPE_LENGTH] == mark * len(texts) for at, mark in _SHAPE)
    return texts if alike else None


def instant(value: str | int | float | None) -> datetime | None:
    """ISO 8601 text (without an offset: UTC) or seconds or milliseconds since 1970; None for anything else."""
    try:
        if isinstance(value, str):
            found = _parse(value)
            if found.tzinfo is UTC:  # nearly all of them, and there are millions
                return found
        elif value is None:
            return None
        else:
            found = datetime.fromtimestamp(value / 1000 if value > _MILLISECONDS else value, UTC)
        return found.replace(tzinfo=UTC) if found.tzinfo is None else found.astimezone(UTC)
    except (ValueError, OverflowError, OSError):
        return None
