"""MEMORY.md: rows that point to memories, and everything else kept as it stands. PURE."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

from .links import encode_path, markdown_links
from .rows import DEFAULT_SEPARATOR, HEADING, ITEM, IndexRow, escape_title, headings, render_row, rows_of
from .text import MemoryEditError, dominant_newline, replace_lines, split_lines, with_newlines

_COUNTER = re.compile(r"\d+")
_EMPHASIS = re.compile(r"[*_]*")


@dataclass(frozen=True)
class Index:
    """An index: `text` as it stands on disk, and its rows in order. Edits give a new Index."""

    text: str
    rows: tuple[IndexRow, ...]

    @cached_property
    def lines(self) -> tuple[str, ...]:
        """All lines with their ends; joined they are the text."""
        return tuple(split_lines(self.text))

    @cached_property
    def newline(self) -> str:
        return dominant_newline(self.text)

    def rows_for(self, target: str) -> list[IndexRow]:
        """Rows that point to this memory."""
        return [row for row in self.rows if row.is_memory_target and target in row.targets]

    def without(self, rows: Iterable[IndexRow]) -> "Index":
        """The index without these rows, all else untouched."""
        text = self.text
        for row in sorted(rows, key=_line_no, reverse=True):
            text = replace_lines(text, row.line_no, row.end_line_no + 1, [])
        return parse_index(text)

    def replaced(self, row: IndexRow, new: str) -> "Index":
        """The index with a row's lines replaced by `new` (one or more lines, without a final line end)."""
        lines = with_newlines(new, "\n").split("\n")
        return parse_index(replace_lines(self.text, row.line_no, row.end_line_no + 1, lines, self.newline))

    def rewritten(
        self, row: IndexRow, *, title: str | None = None, target: str | None = None, hook: str | None = None
    ) -> "Index":
        """The row with another title, target or hook (continuation lines included), and not a character else.

        Only for rows that hold a Markdown link in a list; MemoryEditError otherwise (use `replaced`).
        """
        link = next((link for link in markdown_links(row.raw) if link.path == row.target), None)
        if link is None or row.form != "link":
            raise MemoryEditError(f"Line {row.line_no} of the index is no plain row: replace it as a whole.")
        raw = row.raw
        words = raw[link.start + 1 : link.text_end] if title is None else escape_title(title)
        path = raw[link.target_start : link.target_end] if target is None else encode_path(target)
        tail = raw[link.end :] if hook is None else _tail(row.separator, hook)
        middle = raw[link.text_end : link.target_start]
        closing = raw[link.target_end : link.end]
        return self.replaced(row, f"{raw[: link.start]}[{words}{middle}{path}{closing}{tail}")

    def appended(self, title: str, target: str, hook: str, *, heading: str | None = None) -> "Index":
        """The index with one more row, below `heading` (added when missing) or at the end.

        Marker, separator and spacing follow the neighbours. Raises MemoryEditError when the index ends inside
        an open code fence.
        """
        start, stop = self._section(heading)
        if heading is not None and start == 0:
            return self._with_heading(heading).appended(title, target, hook, heading=heading)
        at, neighbour = self._append_point(start, stop)
        row = render_row(title, target, hook, **_style_of(neighbour))
        lines = self._spaced(row, at, neighbour)
        result = parse_index(replace_lines(self.text, at, at, lines, self.newline))
        if len(result.rows) != len(self.rows) + 1:
            raise MemoryEditError("The index has an open code fence where the row belongs: close it first.")
        return result

    def _section(self, heading: str | None) -> tuple[int, int]:
        """First line after the heading and the line of the next one; start 0 when there is no such heading."""
        end = len(self.lines) + 1
        if heading is None:
            return 1, end
        found = list(headings(self.text))
        for position, (line_no, _, title) in enumerate(found):
            if title.casefold() == heading.strip().casefold():
                following = [number for number, _, _ in found[position + 1 :]]
                return line_no + 1, next(iter(following), end)
        return 0, 0

    def _append_point(self, start: int, stop: int) -> tuple[int, IndexRow | None]:
        """The line to insert before, and the row whose style to follow: a memory's, not nested if there is one."""
        at = stop
        while at > start and not self.lines[at - 2].strip():
            at -= 1
        pointers = [row for row in self.rows if row.is_memory_target and row.form != "table"]
        inside = [row for row in pointers if start <= row.line_no < stop]
        shallow = [row for row in inside or pointers if not row.indent]
        chosen = shallow or inside or pointers
        return at, chosen[-1] if chosen else None

    def _spaced(self, row: str, at: int, neighbour: IndexRow | None) -> list[str]:
        """The row, parted by blank lines from what is no list, unless the index writes rows right below headings."""
        before = self.lines[at - 2] if at > 1 else ""
        after = self.lines[at - 1] if at <= len(self.lines) else ""
        follows_item = any(row.end_line_no == at - 1 for row in self.rows if row.form != "table") or bool(
            ITEM.match(before)
        )
        tight = neighbour is not None and self._is_below_heading(neighbour)
        opened = [] if follows_item or not before.strip() or (tight and HEADING.match(before)) else [""]
        closed = [""] if after.strip() and not ITEM.match(after) else []
        return [*opened, row, *closed]

    def _is_below_heading(self, row: IndexRow) -> bool:
        section = [other for other in self.rows if other.heading == row.heading]
        first = section[0].line_no
        return first > 1 and bool(HEADING.match(self.lines[first - 2]))

    def _with_heading(self, heading: str) -> "Index":
        levels = [level for _, level, _ in headings(self.text)]
        mark = "#" * (max(levels[1:], default=2) if levels else 2)
        gap = [""] if self.text.strip() else []
        end = len(self.lines) + 1
        while end > 1 and not self.lines[end - 2].strip():
            end -= 1
        return parse_index(
            replace_lines(self.text, end, end, [*gap, f"{mark} {heading.strip()}"], self.newline)
        )


def _line_no(row: IndexRow) -> int:
    return row.line_no


def _tail(separator: str, hook: str) -> str:
    """What follows a link: closing emphasis, separator, hook."""
    words = " ".join(hook.split())
    emphasis = _EMPHASIS.match(separator)
    closing = emphasis[0] if emphasis else ""
    if not words:
        return closing
    return (separator if separator[len(closing) :].strip() else closing + DEFAULT_SEPARATOR) + words


def _style_of(neighbour: IndexRow | None) -> dict[str, str]:
    if neighbour is None:
        return {}
    number = _COUNTER.match(neighbour.marker)
    marker = f"{int(number[0]) + 1}{neighbour.marker[-1]}" if number else neighbour.marker
    separator = neighbour.separator if neighbour.separator.strip(" \t*_") else DEFAULT_SEPARATOR
    return {"marker": marker, "separator": separator.lstrip("*_"), "indent": neighbour.indent}


def parse_index(text: str) -> Index:
    """Find the rows of an index; never fails, and the text is kept as it is.

    Rows are list items and table rows with a link, and items that start with a file name; nothing in frontmatter,
    comments or code fences.
    """
    return Index(text, tuple(rows_of(text)))
