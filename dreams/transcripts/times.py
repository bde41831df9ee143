"""Timestamps as agents write them → aware UTC datetimes. Pure: no Django."""

from __future__ import annotations

from datetime import UTC, datetime

_MILLISECONDS = 1e11  # a larger number cannot be seconds: it would be past the year 5000
_parse = datetime.fromisoformat


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
