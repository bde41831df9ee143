"""A diff as rows to show: unified, or two sides next to each other."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Final, Literal, NamedTuple

from dreams.lib.diff.hunks import Hunk
from dreams.lib.diff.invisible import is_printable, visible
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


class Piece(NamedTuple):
    """A part of a row's text, invisible characters written out."""

    text: str
    changed: bool


def rows(base: str, hunks: Iterable[Hunk], context: int | None = 3) -> list[Row]:
    """The whole file with these hunks applied; `context` lines around each, None for all lines."""
    lines = split_lines(base)
    ordered = sorted(hunks, key=lambda h: (h.base_start, h.new_start))
    out: list[Row] = []
    at = shift = 0
    for number, hunk in enumerate(ordered):
        # A hunk may be of a longer text than this one, which was changed since: then it stands at the end.
        out += _unchanged(lines, at, min(hunk.base_start, len(lines)), shift, context, (number > 0, True))
        out += hunk_rows(hunk, hunk.base_start + 1, hunk.base_start + shift + 1)
        at, shift = hunk.base_end, shift + len(hunk.new_lines) - len(hunk.base_lines)
    return out + _unchanged(lines, at, len(lines), shift, context, (bool(ordered), False))


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


def pieces(row: Row) -> list[Piece]:
    """The row's text cut at its spans, ready to be escaped and marked."""
    text = row.text
    if not row.spans:
        return [Piece(text if is_printable(text) else _visible(text), False)] if text else []
    parts: list[tuple[str, bool]] = []
    at = 0
    for start, end in row.spans:
        parts += ((text[at:start], False), (text[start:end], True))
        at = end
    parts.append((text[at:], False))
    if is_printable(text):
        return [Piece(part, changed) for part, changed in parts if part]
    return [Piece(shown, changed) for part, changed in parts if (shown := _visible(part))]


def _visible(text: str) -> str:
    return visible(text, "\n")


def _unchanged(
    lines: Sequence[str], start: int, end: int, shift: int, context: int | None, beside: tuple[bool, bool]
) -> list[Row]:
    """The lines `[start, end)`, numbered `shift` more on the new side, shortened to the context of the changes that are
    `beside` them, before and behind; a single line is shown rather than skipped."""
    head = end if context is None else min(start + (context if beside[0] else 0), end)
    tail = end if context is None else max(end - (context if beside[1] else 0), head)
    if tail - head < 2:
        head = tail = end
    shown = [_row("equal", n + 1, n + shift + 1, lines[n]) for n in range(start, head)]
    if tail > head:
        hidden = tail - head
        shown.append(Row("skip", head + 1, head + shift + 1, f"{hidden} unchanged lines", hidden=hidden))
        shown += [_row("equal", n + 1, n + shift + 1, lines[n]) for n in range(tail, end)]
    return shown


def _row(
    kind: Literal["equal", "del", "ins"],
    old_no: int | None,
    new_no: int | None,
    line: str,
    spans: tuple[Span, ...] = (),
    hunk: str | None = None,
) -> Row:
    if line.endswith("\n") and not line.endswith("\r\n"):  # nearly all are so
        return Row(kind, old_no, new_no, line[:-1], "\n", spans, hunk)
    text = _body(line)
    return Row(kind, old_no, new_no, text, line[len(text) :], spans, hunk)


def _body(line: str) -> str:
    return line[:-2] if line.endswith("\r\n") else line.removesuffix("\n")


def _marks(hunk: Hunk) -> tuple[list[Span], list[Span]]:
    if not hunk.base_lines or not hunk.new_lines:
        return [], []
    removed, added = hunk.removed, hunk.added
    old, new = word_spans(removed, added)
    marked = sum([end - start for start, end in (*old, *new)])
    if marked > MARKED_TOO_MUCH * (len(removed) + len(added)):
        return [], []
    return old, new


def _per_line(lines: Sequence[str], spans: Sequence[Span]) -> Iterator[tuple[str, tuple[Span, ...]]]:
    """Each line with the part of the spans that lies in its text."""
    start = first = 0
    if not spans:
        yield from ((line, ()) for line in lines)
        return
    if len(lines) == 1 and spans[-1].end <= len(_body(lines[0])):  # most changed lines stand alone
        yield lines[0], tuple(spans)
        return
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
