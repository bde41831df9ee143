"""Which lines two files do not share, by the method GNU diff uses: Myers' middle snakes, then moved boundaries.

Lines are compared by number: equal lines have equal numbers. Linear memory; time is bounded by the meter.
"""

from __future__ import annotations

from dataclasses import dataclass

from ..limits import Meter
from .confusing_lines import confusing

_FAR = 1 << 60
_CHEAP = 4096  # edit steps after which a good enough point is taken, as in GNU diff


@dataclass(frozen=True, slots=True)
class Change:
    """Lines a[start:end] became b[other_start:other_end]; either may be empty. 0-based."""

    start: int
    end: int
    other_start: int
    other_end: int


class _Side:
    """One file: its lines as numbers, and which of them are changed, with an unchanged line before and after."""

    def __init__(self, numbers: list[int]) -> None:
        self.numbers = numbers
        self._changed = bytearray(len(numbers) + 2)

    def changed(self, at: int) -> bool:
        return bool(self._changed[at + 1])

    def mark(self, at: int, value: bool) -> None:
        self._changed[at + 1] = value


def changes(a: list[int], b: list[int], meter: Meter) -> list[Change]:
    """The edit script from `a` to `b`, in order."""
    left, right = _Side(a), _Side(b)
    shared_a, shared_b = _kept(left, confusing(a, b)), _kept(right, confusing(b, a))
    _Search(left, right, shared_a, shared_b, meter).between(0, len(shared_a), 0, len(shared_b))
    _shift(left, right, meter)
    _shift(right, left, meter)
    return _script(left, right)


def _kept(side: _Side, discarded: bytearray) -> list[int]:
    """Positions of the lines to search among; the rest is changed."""
    for at, gone in enumerate(discarded):
        if gone:
            side.mark(at, True)
    return [at for at, gone in enumerate(discarded) if not gone]


class _Search:
    """Divide and conquer over the lines that both files have."""

    def __init__(self, left: _Side, right: _Side, at_a: list[int], at_b: list[int], meter: Meter) -> None:
        self._left, self._right = left, right
        self._at_a, self._at_b = at_a, at_b
        self._a = [left.numbers[at] for at in at_a]
        self._b = [right.numbers[at] for at in at_b]
        self._meter = meter

    def between(self, x: int, x_end: int, y: int, y_end: int) -> None:
        """Mark the changed lines of two stretches. A list of work instead of recursion: files may be long."""
        work = [(x, x_end, y, y_end)]
        while work:
            self._meter.tick()
            work += self._step(*work.pop())

    def _step(self, x: int, x_end: int, y: int, y_end: int) -> list[tuple[int, int, int, int]]:
        a, b = self._a, self._b
        while x < x_end and y < y_end and a[x] == b[y]:
            x, y = x + 1, y + 1
        while x < x_end and y < y_end and a[x_end - 1] == b[y_end - 1]:
            x_end, y_end = x_end - 1, y_end - 1
        if x == x_end:
            for at in range(y, y_end):
                self._right.mark(self._at_b[at], True)
        elif y == y_end:
            for at in range(x, x_end):
                self._left.mark(self._at_a[at], True)
        else:
            mid_x, mid_y = self._middle(x, x_end, y, y_end)
            return [(x, mid_x, y, mid_y), (mid_x, x_end, mid_y, y_end)]
        return []

    def _middle(self, x0: int, x1: int, y0: int, y1: int) -> tuple[int, int]:
        """A point on a shortest path, found from both ends at once."""
        lowest, highest = x0 - y1, x1 - y0
        start, goal = x0 - y0, x1 - y1
        forward, backward = {start: x0}, {goal: x1}
        f_low = f_high = start
        b_low = b_high = goal
        odd = (start - goal) % 2 == 1
        cost = 0
        while True:
            cost += 1
            self._meter.tick()
            f_low, f_high = _widen(forward, f_low, f_high, lowest, highest, -1)
            for d in range(f_high, f_low - 1, -2):
                x = self._ahead(forward, d, x1, y1)
                if odd and b_low <= d <= b_high and backward[d] <= x:
                    return x, x - d
            b_low, b_high = _widen(backward, b_low, b_high, lowest, highest, _FAR)
            for d in range(b_high, b_low - 1, -2):
                x = self._back(backward, d, x0, y0)
                if not odd and f_low <= d <= f_high and x <= forward[d]:
                    return x, x - d
            if cost >= _CHEAP:
                return self._good_enough(forward, range(f_high, f_low - 1, -2), x1, y1)

    def _ahead(self, best: dict[int, int], d: int, x1: int, y1: int) -> int:
        below, above = best[d - 1], best[d + 1]
        x = above if below < above else below + 1
        a, b = self._a, self._b
        while x < x1 and x - d < y1 and a[x] == b[x - d]:
            x += 1
        best[d] = x
        return x

    def _back(self, best: dict[int, int], d: int, x0: int, y0: int) -> int:
        below, above = best[d - 1], best[d + 1]
        x = below if below < above else above - 1
        a, b = self._a, self._b
        while x > x0 and x - d > y0 and a[x - 1] == b[x - d - 1]:
            x -= 1
        best[d] = x
        return x

    @staticmethod
    def _good_enough(best: dict[int, int], diagonals: range, x1: int, y1: int) -> tuple[int, int]:
        """The farthest point so far: not the shortest script, but an end."""
        points = ((min(best[d], x1), d) for d in diagonals)
        inside = ((x, x - d) if x - d <= y1 else (y1 + d, y1) for x, d in points)
        return max(inside, key=sum)


def _widen(
    best: dict[int, int], low: int, high: int, lowest: int, highest: int, blank: int
) -> tuple[int, int]:
    """One more diagonal on each side, or one less where the edge is met."""
    if low > lowest:
        low -= 1
        best[low - 1] = blank
    else:
        low += 1
    if high < highest:
        high += 1
        best[high + 1] = blank
    else:
        high -= 1
    return low, high


def _shift(side: _Side, other: _Side, meter: Meter) -> None:
    """Move each run of changed lines as far down as it goes, joining runs; then back to one of the other file."""
    at = partner = 0
    end = len(side.numbers)
    while True:
        meter.tick()
        while at < end and not side.changed(at):
            while other.changed(partner):
                partner += 1
            partner += 1
            at += 1
        if at == end:
            return
        start = at
        while side.changed(at):
            at += 1
        while other.changed(partner):
            partner += 1
        at, partner = _settle(side, other, start, at, partner)


def _settle(side: _Side, other: _Side, start: int, at: int, partner: int) -> tuple[int, int]:
    numbers, end = side.numbers, len(side.numbers)
    while True:
        length = at - start
        while start and numbers[start - 1] == numbers[at - 1]:
            start, at = start - 1, at - 1
            side.mark(start, True)
            side.mark(at, False)
            while side.changed(start - 1):
                start -= 1
            partner -= 1
            while other.changed(partner):
                partner -= 1
        matching = at if other.changed(partner - 1) else end
        while at != end and numbers[start] == numbers[at]:
            side.mark(start, False)
            side.mark(at, True)
            start, at = start + 1, at + 1
            while side.changed(at):
                at += 1
            partner += 1
            while other.changed(partner):
                matching = at
                partner += 1
        if length == at - start:
            break
    while matching < at:
        start, at = start - 1, at - 1
        side.mark(start, True)
        side.mark(at, False)
        partner -= 1
        while other.changed(partner):
            partner -= 1
    return at, partner


def _script(left: _Side, right: _Side) -> list[Change]:
    found: list[Change] = []
    x = y = 0
    while x < len(left.numbers) or y < len(right.numbers):
        if not left.changed(x) and not right.changed(y):
            x, y = x + 1, y + 1
            continue
        start, other = x, y
        while left.changed(x):
            x += 1
        while right.changed(y):
            y += 1
        found.append(Change(start, x, other, y))
    return found
