"""Lines that a comparison leaves out: those the other file lacks, and, between them, lines it has too often.

A blank line among fifty deleted ones matches a blank line anywhere and would tear the change apart. The rules,
and so the output, are GNU diff's.
"""

from __future__ import annotations

from collections import Counter

_SURE, _MAYBE = 1, 2


def confusing(numbers: list[int], other: list[int]) -> bytearray:
    """For each line 1 when it is left out, 0 when it stays."""
    marks = _marked(numbers, other)
    at = 0
    while at < len(marks):
        if marks[at] == _MAYBE:
            marks[at] = 0  # not within a run of lines that surely go
        elif marks[at] == _SURE:
            at = _run(marks, at)
        at += 1
    return bytearray(1 if mark else 0 for mark in marks)


def _marked(numbers: list[int], other: list[int]) -> bytearray:
    counts = Counter(other)
    many = 5
    size = len(numbers) // 64 >> 2
    while size > 0:
        many *= 2
        size >>= 2
    return bytearray(
        _SURE if not counts[number] else _MAYBE if counts[number] > many else 0 for number in numbers
    )


def _run(marks: bytearray, start: int) -> int:
    """Decide about the maybes of one run; returns the last line that needs no second look."""
    end = start
    while end < len(marks) and marks[end]:
        end += 1
    while marks[end - 1] == _MAYBE:
        end -= 1
        marks[end] = 0
    length = end - start
    if marks.count(_MAYBE, start, end) * 4 > length:
        for at in range(start, end):
            marks[at] = _SURE if marks[at] == _SURE else 0
        return start
    _cancel_long(marks, start, length)
    _cancel_near(marks, start, length, 1)
    _cancel_near(marks, end - 1, length, -1)
    return end - 1


def _cancel_long(marks: bytearray, start: int, length: int) -> None:
    """Maybes of which many stand in a row stay in the comparison."""
    least = 1
    size = length >> 2 >> 2
    while size > 0:
        least <<= 1
        size >>= 2
    least += 1
    at = start
    while at < start + length:
        end = at
        while end < start + length and marks[end] == _MAYBE:
            end += 1
        if end - at >= least:
            marks[at:end] = bytes(end - at)
        at = max(end, at + 1)


def _cancel_near(marks: bytearray, edge: int, length: int, step: int) -> None:
    """From one edge of a run up to three sure lines in a row, or the first sure one eight lines in."""
    sure = 0
    for distance in range(length):
        at = edge + step * distance
        if distance >= 8 and marks[at] == _SURE:
            return
        if marks[at] == _SURE:
            sure += 1
        else:
            sure = 0
            marks[at] = 0
        if sure == 3:
            return
