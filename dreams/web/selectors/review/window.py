"""Which changes of a large review one page shows: paged by decision, so that no page is longer than a person reads."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from dreams.models import FileChange
from dreams.web.selectors.review.asked import Asked
from dreams.web.selectors.review.loaded import HunkRow, Loaded

# From so many changes on, or where the cards would be about so high, a review has pages. Pixels at 1,200 wide.
PAGED_FROM: Final = 100
MOST_PIXELS: Final = 16_000
MOST_ON_PAGE: Final = 25
# Of a longer change this many lines are shown at once; the rest is folded.
OPEN_LINES: Final = 40
# What a card takes beside its lines, the least that its evidence takes beside them, and a line of prose: measured in
# Chromium at 1,200 pixels.
_FRAME: Final = 150
_PROOF: Final = 200
_LINE: Final = 42


@dataclass(frozen=True, slots=True)
class Window:
    """One page of changes: `first` to `last` (1-based) of `total`, in `files`. `hunks` is None where all are on the page."""

    files: tuple[FileChange, ...]
    hunks: frozenset[int] | None
    number: int
    pages: int
    first: int
    last: int
    total: int
    before: str = ""
    after: str = ""

    @property
    def is_paged(self) -> bool:
        return self.hunks is not None

    def shows(self, hunk: HunkRow) -> bool:
        return self.hunks is None or hunk.pk in self.hunks


def window(loaded: Loaded, files: Sequence[FileChange], asked: Asked) -> Window:
    """The page of `asked`, over the changes of `files` in their order. A page that does not exist is the nearest."""
    rows = [row for file in files for row in loaded.hunks[file.pk]]
    heights = [_height(row) for row in rows]
    if len(rows) < PAGED_FROM and sum(heights) <= MOST_PIXELS:
        return Window(tuple(files), None, 1, 1, 1, len(rows), len(rows))
    starts = _starts(rows, heights)
    number = _number(rows, starts, asked)
    first = starts[number - 1]
    last = starts[number] if number < len(starts) else len(rows)
    shown = rows[first:last]
    return Window(
        files=tuple(dict.fromkeys(row.file for row in shown)),
        hunks=frozenset(row.pk for row in shown),
        number=number,
        pages=len(starts),
        first=first + 1,
        last=last,
        total=len(rows),
        before=_link(loaded, asked, number - 1) if number > 1 else "",
        after=_link(loaded, asked, number + 1) if number < len(starts) else "",
    )


def _link(loaded: Loaded, asked: Asked, number: int) -> str:
    return asked.to(loaded.proposal, "review", file=asked.file, page=number if number > 1 else "", hunk="")


def _height(row: HunkRow) -> int:
    return _FRAME + max(_PROOF, _LINE * min(row.base_count + row.new_count, OPEN_LINES))


def _starts(rows: Sequence[HunkRow], heights: Sequence[int]) -> list[int]:
    """The index at which each page starts: a page is full by number or by height. A file is only parted where it alone
    is more than a page."""
    starts, height, file_at = [0], 0, 0
    for index, one in enumerate(heights):
        if rows[index].file_id != rows[file_at].file_id:
            file_at = index
        height += one
        if index - starts[-1] >= MOST_ON_PAGE or (height > MOST_PIXELS and index > starts[-1]):
            starts.append(file_at if file_at > starts[-1] else index)
            height = sum(heights[starts[-1] : index + 1])
    return starts


def _number(rows: Sequence[HunkRow], starts: Sequence[int], asked: Asked) -> int:
    """The page asked for, or the one that has the change asked for."""
    wanted = next((index for index, row in enumerate(rows) if row.pk == asked.hunk), None)
    if wanted is not None:
        return sum(start <= wanted for start in starts)
    return min(max(1, asked.page), len(starts))
