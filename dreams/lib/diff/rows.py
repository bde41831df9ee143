"""A diff as rows to show: unified, or two sides next to each other."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby, zip_longest
from typing import Final, Literal, NamedTuple

from dreams.lib.diff.hunks import Hunk
from dreams.lib.diff.invisible import visible
from dreams.lib.diff.lines import split_lines
from dreams.lib.diff.words import Span, word_spans

# When more than this share of the changed lines is marked, the marks say no more than the line's colour.
MARKED_TOO_MUCH: Final = 0.8


class Row(NamedTuple):
    """One row. Line numbers are 1-based, None on the side where the line does not stand.

    `text` is without its line end, which is in `end` ("" marks a last line without one). `spans` are changed
    ranges of `text`; none on a changed line means the whole line. A skip stands for `hidden` unchanged lines
    from `old_no` and `new_no` on.
    """

    kind: Literal["equal", "del", "ins", "skip"]
    old_no: int | None
    new_no: int | None
    text: str = ""
    end: str = ""
    spans: tuple[Span, ...] = ()
    hunk: str | None = None
    hidden: int = 0


class SplitRow(NamedTuple):
    """Old side and new side of one row; equal and skip rows stand on both."""

    left: Row | None
    right: Row | None


class Piece(NamedTuple):
    """A part of a row's text, invisible characters written out."""

    text: str
    changed: bool


def rows(base: str, hunks: Iterable[Hunk], context: int | None = 3) -> list[Row]:
    """The whole file with these hunks applied; `context` lines around each, None for all lines."""
    found = list(_all_rows(split_lines(base), sorted(hunks, key=lambda h: (h.base_start, h.new_start))))
    return found if context is None else _skipping(found, context)


def hunk_rows(hunk: Hunk, old_no: int | None = None, new_no: int | None = None) -> list[Row]:
    """The rows of one hunk alone, numbered from the given 1-based lines (by default the hunk's own)."""
    old = hunk.base_start + 1 if old_no is None else old_no
    new = hunk.new_start + 1 if new_no is None else new_no
    removed_spans, added_spans = _marks(hunk)
    removed = [
        _row("del", old + n, None, line, spans, hunk.id)
        for n, (line, spans) in enumerate(_per_line(hunk.base_lines, removed_spans))
    ]
    added = [
        _row("ins", None, new + n, line, spans, hunk.id)
        for n, (line, spans) in enumerate(_per_line(hunk.new_lines, added_spans))
    ]
    return removed + added


def split_rows(unified: Iterable[Row]) -> list[SplitRow]:
    """The same rows for two columns: within a hunk the first line gone stands beside the first that came."""
    out: list[SplitRow] = []
    for hunk, group in groupby(unified, key=lambda row: row.hunk):
        together = list(group)
        if hunk is None:
            out.extend(SplitRow(row, row) for row in together)
        else:
            removed = [row for row in together if row.kind == "del"]
            added = [row for row in together if row.kind == "ins"]
            out.extend(SplitRow(left, right) for left, right in zip_longest(removed, added))
    return out


def pieces(row: Row) -> list[Piece]:
    """The row's text cut at its spans, ready to be escaped and marked."""
    out: list[Piece] = []
    at = 0
    for span in row.spans:
        out.append(Piece(visible(row.text[at : span.start], "\n"), changed=False))
        out.append(Piece(visible(row.text[span.start : span.end], "\n"), changed=True))
        at = span.end
    out.append(Piece(visible(row.text[at:], "\n"), changed=False))
    return [piece for piece in out if piece.text]


def _all_rows(lines: Sequence[str], ordered: Sequence[Hunk]) -> Iterator[Row]:
    at = new_no = 0
    for hunk in ordered:
        for line in lines[at : hunk.base_start]:
            at, new_no = at + 1, new_no + 1
            yield _row("equal", at, new_no, line)
        yield from hunk_rows(hunk, at + 1, new_no + 1)
        at, new_no = hunk.base_end, new_no + len(hunk.new_lines)
    for line in lines[at:]:
        at, new_no = at + 1, new_no + 1
        yield _row("equal", at, new_no, line)


def _row(
    kind: Literal["equal", "del", "ins"],
    old_no: int | None,
    new_no: int | None,
    line: str,
    spans: tuple[Span, ...] = (),
    hunk: str | None = None,
) -> Row:
    text = _body(line)
    return Row(kind, old_no, new_no, text, line[len(text) :], spans, hunk)


def _body(line: str) -> str:
    return line[:-2] if line.endswith("\r\n") else line.removesuffix("\n")


def _marks(hunk: Hunk) -> tuple[list[Span], list[Span]]:
    if not hunk.base_lines or not hunk.new_lines:
        return [], []
    old, new = word_spans(hunk.removed, hunk.added)
    marked = sum(span.end - span.start for span in [*old, *new])
    if marked > MARKED_TOO_MUCH * (len(hunk.removed) + len(hunk.added)):
        return [], []
    return old, new


def _per_line(lines: Sequence[str], spans: Sequence[Span]) -> Iterator[tuple[str, tuple[Span, ...]]]:
    """Each line with the part of the spans that lies in its text."""
    start = first = 0
    for line in lines:
        end = start + len(_body(line))
        while first < len(spans) and spans[first].end <= start:
            first += 1
        yield line, tuple(_clipped(spans, first, start, end))
        start += len(line)


def _clipped(spans: Sequence[Span], first: int, start: int, end: int) -> Iterator[Span]:
    for span in spans[first:]:
        if span.start >= end or start == end:
            return
        yield Span(max(span.start, start) - start, min(span.end, end) - start)


def _skipping(found: Sequence[Row], context: int) -> list[Row]:
    """Unchanged runs shortened to the context; a single line is shown rather than skipped."""
    out: list[Row] = []
    runs = [list(run) for _, run in groupby(found, key=lambda row: row.kind == "equal")]
    for number, run in enumerate(runs):
        if run[0].kind != "equal":
            out.extend(run)
            continue
        head = context if number else 0
        tail = context if number < len(runs) - 1 else 0
        hidden = run[head : len(run) - tail]
        if len(hidden) < 2:
            out.extend(run)
        else:
            first = hidden[0]
            skip = Row(
                "skip", first.old_no, first.new_no, f"{len(hidden)} unchanged lines", hidden=len(hidden)
            )
            out.extend([*run[:head], skip, *run[len(run) - tail :]])
    return out
