"""The place in a transcript that belongs to a moment, without reading it from its start. Pure: no Django."""

from __future__ import annotations

import os
from datetime import datetime

from .reader import Source, opened
from .turns import Turn, page

# Lines without a time stand between others; beyond so many the place found is near enough.
_LOOK_LINES = 40
_STEPS = 60


def offset_at(source: Source, moment: datetime) -> int:
    """The first byte of a line said at `moment` or later; the last line's for a moment after all of them.

    Lines stand in the order of time, but for a few; it reads some dozen lines of a file of any size. Raises OSError.
    """
    with opened(source) as fd:
        low, high = 0, os.fstat(fd).st_size
        best = low
        for _ in range(_STEPS):
            if low >= high:
                break
            turn = _timed(fd, (low + high) // 2)
            if turn is None or turn.offset >= high:
                high = (low + high) // 2
            elif turn.at is not None and turn.at < moment:
                low, best = turn.end, turn.offset
            else:
                high = turn.offset
        after = _timed(fd, low)
        return after.offset if after is not None else best


def _timed(fd: int, offset: int) -> Turn | None:
    """The first line with a time that stands at `offset` or behind it."""
    found = page(fd, offset, _LOOK_LINES, line=1)
    return next((turn for turn in found.turns if turn.at is not None), None)
