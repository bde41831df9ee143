"""A diff as rows to show: unified, or two sides next to each other."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import repeat
from typing import Final, Literal

import msgspec

from dreams.lib.diff.hunks import Hunk
from dreams.lib.diff.invisible import is_printable, visible
from dreams.lib.diff.lines import split_lines
from dreams.lib.diff.words import CharacterSpan, word_spans

# If more than this share of the changed lines is marked, the marks show no more than the line's colour.
MARKED_TOO_MUCH: Final = 0.8


class DiffRow(msgspec.Struct, frozen=True, gc=False):
    """One row. Line numbers are 1-based, None on the side that does not have the line.

    `text` is without its line end, which is in `end` ("" for a last line without one). `spans` are the changed
    ranges of `text`; without any, all of a changed line counts. A skip replaces `hidden` unchanged lines
    from `old_no` and `new_no` on.
    """

    kind: Literal["equal", "del", "ins", "skip"]
    old_no: int | None
    new_no: int | None
    text: str = ""
    end: str = ""
    spans: tuple[CharacterSpan, ...] = ()
    hunk: str | None = None
    hidden: int = 0


class RowPiece(msgspec.Struct, frozen=True, gc=False):
    """A part of a row's text, invisible characters written out."""

    text: str
    changed: bool


def rows(base: str, hunks: Iterable[Hunk], context: int | None = 3) -> list[DiffRow]:
    """The file with these hunks; `context` lines around each, None for all lines."""
    lines = list(map(_cut_end, split_lines(base)))
    ordered = sorted(hunks, key=lambda h: (h.base_start, h.new_start))
    out: list[DiffRow] = []
    at = shift = 0
    for number, hunk in enumerate(ordered):
        # A hunk may be from an older, longer text: then it is shown at the end.
        out += _unchanged(lines, at, min(hunk.base_start, len(lines)), shift, context, (number > 0, True))
        out += hunk_rows(hunk, hunk.base_start + 1, hunk.base_start + shift + 1)
        at, shift = hunk.base_end, shift + len(hunk.new_lines) - len(hunk.base_lines)
    return out + _unchanged(lines, at, len(lines), shift, context, (bool(ordered), False))


def hunk_rows(hunk: Hunk, old_no: int | None = None, new_no: int | None = None) -> list[DiffRow]:
    """The rows of one hunk alone, numbered from the given 1-based lines (by default the hunk's own)."""
    old = hunk.base_start + 1 if old_no is None else old_no
    new = hunk.new_start + 1 if new_no is None else new_no
    removed_spans, added_spans = _marks(hunk)
    removed = [
        DiffRow("del", n, None, (cut := _cut_end(line))[0], cut[1], spans, hunk.id)
        for n, (line, spans) in enumerate(_per_line(hunk.base_lines, removed_spans), old)
    ]
    added = [
        DiffRow("ins", None, n, (cut := _cut_end(line))[0], cut[1], spans, hunk.id)
        for n, (line, spans) in enumerate(_per_line(hunk.new_lines, added_spans), new)
    ]
    return removed + added


def pieces(row: DiffRow) -> list[RowPiece]:
    """The row's text cut at its spans, ready to be escaped and marked."""
    text, spans = row.text, row.spans
    if not is_printable(text):
        parts = ((visible(part, "\n"), changed) for part, changed in _cut(text, spans))
        return [RowPiece(shown, changed) for shown, changed in parts if shown]
    if not spans:
        return [RowPiece(text, False)] if text else []
    return [RowPiece(part, changed) for part, changed in _cut(text, spans) if part]


def _cut(text: str, spans: Sequence[CharacterSpan]) -> Iterator[tuple[str, bool]]:
    """The parts of a text outside and inside its spans, including empty ones."""
    at = 0
    for start, end in spans:
        yield text[at:start], False
        yield text[start:end], True
        at = end
    yield text[at:], False


def _unchanged(
    lines: Sequence[tuple[str, str]],
    start: int,
    end: int,
    shift: int,
    context: int | None,
    beside: tuple[bool, bool],
) -> list[DiffRow]:
    """The lines `[start, end)`, with `shift` added on the new side, shortened to the context of the changes before and
    after them (`beside`); a single line is shown rather than skipped."""
    head = end if context is None else min(start + (context if beside[0] else 0), end)
    tail = end if context is None else max(end - (context if beside[1] else 0), head)
    if tail - head < 2:
        head = tail = end
    shown = _equal(lines, start, head, shift)
    if tail > head:
        hidden = tail - head
        shown.append(DiffRow("skip", head + 1, head + shift + 1, f"{hidden} unchanged lines", hidden=hidden))
        shown += _equal(lines, tail, end, shift)
    return shown


def _equal(lines: Sequence[tuple[str, str]], start: int, end: int, shift: int) -> list[DiffRow]:
    found = enumerate(lines[start:end], start + 1)
    return [DiffRow("equal", number, number + shift, text, line_end) for number, (text, line_end) in found]


def _cut_end(line: str) -> tuple[str, str]:
    """The text of a line and its line end."""
    if line[-1:] == "\n" and line[-2:] != "\r\n":  # nearly all are so
        return line[:-1], "\n"
    text = _body(line)
    return text, line[len(text) :]


def _body(line: str) -> str:
    return line[:-2] if line.endswith("\r\n") else line.removesuffix("\n")


def _marks(hunk: Hunk) -> tuple[list[CharacterSpan], list[CharacterSpan]]:
    if not hunk.base_lines or not hunk.new_lines:
        return [], []
    removed, added = hunk.removed, hunk.added
    old, new = word_spans(removed, added)
    marked = sum([end - start for start, end in (*old, *new)])
    if marked > MARKED_TOO_MUCH * (len(removed) + len(added)):
        return [], []
    return old, new


def _per_line(
    lines: Sequence[str], spans: Sequence[CharacterSpan]
) -> Iterable[tuple[str, tuple[CharacterSpan, ...]]]:
    """Each line with the part of the spans that lies in its text."""
    # Most hunks have one changed line
    if not spans or (len(lines) == 1 and spans[-1].end < len(lines[0]) - 1):
        return zip(lines, repeat(tuple(spans)), strict=False)
    return _clipped_per_line(lines, spans)


def _clipped_per_line(
    lines: Sequence[str], spans: Sequence[CharacterSpan]
) -> Iterator[tuple[str, tuple[CharacterSpan, ...]]]:
    start = first = 0
    for line in lines:
        end = start + len(_body(line))
        while first < len(spans) and spans[first].end <= start:
            first += 1
        yield line, tuple(_clipped(spans, first, start, end))
        start += len(line)


def _clipped(spans: Sequence[CharacterSpan], first: int, start: int, end: int) -> Iterator[CharacterSpan]:
    for span in spans[first:]:
        if span.start >= end or start == end:
            return
        yield CharacterSpan(max(span.start, start) - start, min(span.end, end) - start)
