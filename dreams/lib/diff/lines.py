"""Splits texts into lines and finds the runs of lines that differ.

A line ends at "\\n" and nowhere else: `str.splitlines` also cuts at U+2028, form feeds and a lone "\\r",
and a text cut there looks like one with line ends in those places.
"""

import io
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from typing import Final, NamedTuple, TypeVar

from cydifflib import SequenceMatcher

# The matcher is quadratic if lines repeat. Above this many pairs a gap without a unique common line
# is shown as one replaced block.
MAX_PAIRS: Final = 1_000_000

Line = TypeVar("Line", bound=Hashable)  # a line as text or bytes, or any key to compare lines by


class LineChange(NamedTuple):
    """Lines, or words, `[a0, a1)` of the first text became `[b0, b1)` of the second; 0-based, ends excluded."""

    a0: int
    a1: int
    b0: int
    b1: int

    def shifted(self, a: int, b: int) -> "LineChange":
        """The same change with its places shifted by `a` and `b`."""
        return LineChange(self.a0 + a, self.a1 + a, self.b0 + b, self.b1 + b)


def split_lines(text: str) -> list[str]:
    """The lines of `text` with their ends; joined they are `text`."""
    return list(io.StringIO(text))


def line_end_of(lines: Iterable[str]) -> str:
    """The most frequent line end of these lines: `"\\r\\n"` or `"\\n"` (also if there is none)."""
    ends = Counter(line.endswith("\r\n") for line in lines if line.endswith("\n"))
    return "\r\n" if ends[True] > ends[False] else "\n"


def terminated(line: str) -> bool:
    """Whether the line has a line end, so that text after it is a new line."""
    return line.endswith("\n")


def ended_lines(lines: Sequence[str]) -> list[str]:
    """The lines, with a line end for the last one if it has none."""
    return [line if terminated(line) else line + line_end_of(lines) for line in lines]


def join_lines(parts: Iterable[Sequence[str]], line_end: str) -> str:
    """All lines of all parts as one text; a line without an end gets one if another follows."""
    out: list[str] = []
    for part in parts:
        for line in part:
            if out and line and not terminated(out[-1]):
                out.append(line_end)
            out.append(line)
    return "".join(out)


def changes(a: Sequence[Line], b: Sequence[Line]) -> list[LineChange]:
    """Maximal changed runs between two lists of lines, in order, with an unchanged line between any two.

    Lines that occur once on each side are matched first (they mean the same; blank lines often do not),
    then the longest equal runs in the gaps between them.
    """
    return [change for gap in _gaps(a, b) for change in _within(a, b, gap)]


def _gaps(a: Sequence[Line], b: Sequence[Line]) -> Iterator[LineChange]:
    whole = trimmed(a, b, LineChange(0, len(a), 0, len(b)))
    i, j = whole.a0, whole.b0
    for x, y in _anchors(a, b, whole):
        if x > i or y > j:
            yield LineChange(i, x, j, y)
        i, j = x + 1, y + 1
    if i < whole.a1 or j < whole.b1:
        yield LineChange(i, whole.a1, j, whole.b1)


def trimmed(
    a: Sequence[Line], b: Sequence[Line], gap: LineChange, only: Callable[[Line], bool] | None = None
) -> LineChange:
    """The gap without what is equal at both of its ends; with `only`, as far as that holds for it."""
    a0, a1, b0, b1 = gap
    while a0 < a1 and b0 < b1 and a[a0] == b[b0] and (only is None or only(a[a0])):
        a0, b0 = a0 + 1, b0 + 1
    while a0 < a1 and b0 < b1 and a[a1 - 1] == b[b1 - 1] and (only is None or only(a[a1 - 1])):
        a1, b1 = a1 - 1, b1 - 1
    return LineChange(a0, a1, b0, b1)


def _anchors(a: Sequence[Line], b: Sequence[Line], gap: LineChange) -> list[tuple[int, int]]:
    """Pairs of lines that are unique on both sides of the gap and in the same order."""
    in_a, in_b = _once(a, gap.a0, gap.a1), _once(b, gap.b0, gap.b1)
    return _longest_rising([(i, in_b[line]) for line, i in in_a.items() if line in in_b])


def _once(lines: Sequence[Line], start: int, end: int) -> dict[Line, int]:
    places = dict(zip(lines[start:end], range(start, end), strict=True))
    if len(places) == end - start:  # no line repeats
        return places
    counts = Counter(lines[start:end])
    return {lines[i]: i for i in range(start, end) if counts[lines[i]] == 1}


def _longest_rising(pairs: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """The longest run of pairs that rises on both sides; the first side is already sorted."""
    others = [y for _, y in pairs]
    if others == sorted(others):  # nothing was moved: most edits are so
        return pairs
    tails: list[int] = []
    ends: list[int] = []
    before: list[int] = []
    for index, (_, y) in enumerate(pairs):
        place = bisect_left(tails, y)
        before.append(ends[place - 1] if place else -1)
        tails[place : place + 1] = [y]
        ends[place : place + 1] = [index]
    chain: list[tuple[int, int]] = []
    at = ends[-1] if ends else -1
    while at >= 0:
        chain.append(pairs[at])
        at = before[at]
    return chain[::-1]


def _within(a: Sequence[Line], b: Sequence[Line], gap: LineChange) -> list[LineChange]:
    gap = trimmed(a, b, gap)
    rows, columns = gap.a1 - gap.a0, gap.b1 - gap.b0
    if not rows and not columns:
        return []
    if not rows or not columns or rows == columns == 1 or rows * columns > MAX_PAIRS:
        return [gap]
    matcher = SequenceMatcher(None, a[gap.a0 : gap.a1], b[gap.b0 : gap.b1], autojunk=False)
    return [
        LineChange(a0, a1, b0, b1).shifted(gap.a0, gap.b0)
        for tag, a0, a1, b0, b1 in matcher.get_opcodes()
        if tag != "equal"
    ]
