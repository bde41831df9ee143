"""MEMORY.md: rows that point to memories; everything else is kept unchanged. PURE."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import Literal, TypeAlias

from dreams.lib.memdir.frontmatter import head_length
from dreams.lib.memdir.links import clean_path, encode_path, is_memory_path, markdown_links, wikilinks
from dreams.lib.memdir.text import (
    TITLE,
    MemoryEditError,
    comment_spans,
    dominant_newline,
    mask_code,
    replace_lines,
    split_lines,
    strip_end,
    with_newlines,
)

RowForm: TypeAlias = Literal["link", "wikilink", "code", "bare", "table"]

DEFAULT_MARKER = "-"
DEFAULT_SEPARATOR = " — "
MAX_ROW_CHARS = 20_000  # a longer line is kept, but is no index row

ITEM = re.compile(r"(?P<indent>[ \t]*)(?P<marker>[-*+]|\d{1,9}[.)])(?P<gap>[ \t]+)(?P<rest>.*)")
HEADING = re.compile(rf"[ \t]{{0,3}}(?P<level>#{{1,6}})[ \t]++{TITLE}[ \t]*+#*+[ \t]*+")
_SEPARATOR = re.compile(r"[*_]{0,3}(?:[ \t]*(?:—|–|--|->|→|-|:)[*_]{0,3}[ \t]*|[ \t]+)")
_CODE_TARGET = re.compile(r"[*_]{0,3}(?P<run>`+)(?P<target>[^`\n]+)(?P=run)")
_BARE_TARGET = re.compile(r"[*_]{0,3}(?P<target>[^\s`\[\]()<>|*:]+\.md)(?![\w/])")
_CHECKBOX = re.compile(r"\[[ xX]\][ \t]+")
_NOT_NEWLINE = re.compile(r"[^\n]")


@dataclass(frozen=True, slots=True)
class IndexRow:
    """One pointer of the index. Lines are those of the file, from 1, `end_line_no` included.

    `hook` is the row's text about its target, continuation lines joined; `lead` is text before the link. Both must be
    kept if the row is removed: a dangling row can be the only copy of a fact. `target` is the decoded path without
    anchor; `targets` are all memories in the row. `form`: only links and wikilinks are certainly pointers, a name in
    code or a bare one may be if such a file exists.
    """

    line_no: int
    end_line_no: int
    indent: str
    marker: str
    title: str
    target: str
    anchor: str
    separator: str
    hook: str
    lead: str
    raw: str
    heading: str | None
    form: RowForm
    targets: tuple[str, ...]

    @property
    def is_memory_target(self) -> bool:
        """Whether the row points to a memory: a link or wikilink to a `.md` file within the directory."""
        return bool(self.targets)

    @property
    def length(self) -> int:
        """The number of characters without line ends, compared with the settings `row_aim` and `row_max`."""
        return len(self.raw)


def render_row(
    title: str,
    target: str,
    hook: str,
    *,
    marker: str = DEFAULT_MARKER,
    separator: str = DEFAULT_SEPARATOR,
    indent: str = "",
    anchor: str = "",
) -> str:
    """One index row without a line end; line breaks in title and hook become spaces."""
    words = " ".join(hook.split())
    tail = f"{separator}{words}" if words else ""
    return f"{indent}{marker} [{escape_title(title)}]({encode_path(target)}{anchor}){tail}"


def escape_title(title: str) -> str:
    """The title, escaped for use in a link, on one line."""
    text = " ".join(title.split()).replace("\\", "\\\\").replace("[", "\\[").replace("]", "\\]")
    # An unpaired backtick would open a code span that continues over the link. A bracket is before it, so
    # three of them open no fence.
    return text.replace("`", "\\`") if "`" in mask_code(f"[{text}") else text


def visible(text: str) -> str:
    """The text, same length and lines, with BOM, frontmatter, comments and code replaced by NULs."""
    masked = mask_code(text)
    pieces: list[str] = []
    done = 0
    for start, end in [(0, counted_from(text)), *comment_spans(text)]:
        if start >= done:
            pieces += [masked[done:start], _NOT_NEWLINE.sub("\0", text[start:end])]
            done = end
    return "".join([*pieces, masked[done:]])


def counted_from(text: str) -> int:
    """Where the content of an index starts: after BOM and frontmatter."""
    bom = 1 if text.startswith("\ufeff") else 0
    return bom + head_length(text[bom:])


def headings(text: str) -> Iterator[tuple[int, int, str]]:
    """Line number, level and title of each heading."""
    yield from _headings(split_lines(text), split_lines(visible(text)))


def _headings(originals: list[str], masked_lines: list[str]) -> Iterator[tuple[int, int, str]]:
    for number, masked in enumerate(masked_lines, 1):
        match = HEADING.fullmatch(strip_end(masked))
        if match:
            yield number, len(match["level"]), strip_end(originals[number - 1])[slice(*match.span("title"))]


def rows_of(text: str) -> Iterator[IndexRow]:
    """List items and table rows with a link, and items that start with a file name, in order."""
    originals, masked_lines = split_lines(text), split_lines(visible(text))
    titles = {number: title for number, _, title in _headings(originals, masked_lines)}
    heading: str | None = None
    for number, masked in enumerate(masked_lines, 1):
        heading = titles.get(number, heading)
        if number in titles or len(masked) > MAX_ROW_CHARS:
            continue
        row = _row(originals, masked_lines, number, heading)
        if row is not None:
            yield row


def _row(originals: list[str], masked_lines: list[str], number: int, heading: str | None) -> IndexRow | None:
    masked = strip_end(masked_lines[number - 1])
    line = strip_end(originals[number - 1])
    item = ITEM.fullmatch(masked)
    if item is None:
        return _table_row(line, masked, number, heading) if masked.lstrip().startswith("|") else None
    start = item.start("rest")
    box = _CHECKBOX.match(masked, start)
    start = box.end() if box else start
    found = _pointer(line, masked, start)
    if found is None:
        return None
    end = _end_of_row(masked_lines, number)
    more = [strip_end(other) for other in originals[number:end]]
    separator = _SEPARATOR.match(masked, found.end)
    hook_start = separator.end() if separator else found.end
    return IndexRow(
        line_no=number,
        end_line_no=end,
        indent=item["indent"],
        marker=item["marker"],
        title=found.title,
        target=found.target,
        anchor=found.anchor,
        separator=line[found.end : hook_start],
        hook=" ".join([line[hook_start:].strip(), *(other.strip() for other in more)]).strip(),
        lead=line[start : found.start].strip(),
        raw="\n".join([line, *more]),
        heading=heading,
        form=found.form,
        targets=found.targets,
    )


@dataclass(frozen=True, slots=True)
class _Pointer:
    start: int
    end: int
    title: str
    target: str
    anchor: str
    form: RowForm
    targets: tuple[str, ...]


@lru_cache(maxsize=2_048)  # most rows stay when an index changes
def _pointer(line: str, masked: str, start: int) -> _Pointer | None:
    """The line's target: its first link to a memory, else its first link, else the name it starts with."""
    pointers = [pointer for pointer in _pointers(line, masked) if pointer.start >= start]
    memories = [pointer for pointer in pointers if pointer.targets]
    chosen = next(iter(memories or pointers), None)
    if chosen is None:
        return _named(line, masked, start)
    if not memories and masked[start : chosen.start].strip(" \t*_"):
        # A sentence that contains a URL is no row.
        return _named(line, masked, start)
    # Bold or italic marks around the link belong to it, not to the text before.
    opened = len(masked[start : chosen.start].rstrip("*_"))
    targets = tuple(dict.fromkeys(pointer.target for pointer in memories))
    return replace(chosen, start=start + opened, targets=targets)


def _pointers(line: str, masked: str) -> list[_Pointer]:
    found = [
        _Pointer(one.start, one.end, one.text, one.path, one.anchor, "link", (one.path,) * one.is_memory)
        for one in markdown_links(line, masked)
        if one.path
    ]
    for wiki in wikilinks(line):
        written = wiki.target if wiki.target.lower().endswith(".md") else f"{wiki.target}.md"
        name, title = clean_path(written), wiki.label or wiki.target
        anchor, targets = f"#{wiki.heading}" if wiki.heading else "", (name,) * is_memory_path(written)
        found.append(_Pointer(wiki.start, wiki.end, title, name, anchor, "wikilink", targets))
    return sorted(found, key=lambda pointer: pointer.start)


def _named(line: str, masked: str, start: int) -> _Pointer | None:
    """A path in code or a bare file name right at the start of an item."""
    code = _CODE_TARGET.match(line, start)
    if code and masked[code.start("target")] == "\0" and _looks_like_path(code["target"]):
        return _Pointer(start, code.end(), code["target"], clean_path(code["target"]), "", "code", ())
    bare = _BARE_TARGET.match(masked, start)
    if bare:
        return _Pointer(start, bare.end(), bare["target"], clean_path(bare["target"]), "", "bare", ())
    return None


def _looks_like_path(text: str) -> bool:
    return " " not in text and (text.endswith(".md") or "/" in text.strip("/") or text.endswith("/"))


def _end_of_row(masked_lines: list[str], number: int) -> int:
    """The last line of the item that starts on line `number`, including the indented text up to a blank line."""
    end = number
    for line in masked_lines[number:]:
        text = line.rstrip("\r\n")
        if not text.strip() or text[:1] not in (" ", "\t") or ITEM.match(text):
            break
        end += 1
    return end


def _table_row(line: str, masked: str, number: int, heading: str | None) -> IndexRow | None:
    pointers = _pointers(line, masked)
    memories = [pointer for pointer in pointers if pointer.targets]
    if not pointers:
        return None
    chosen = (memories or pointers)[0]
    before, after = line[: chosen.start].strip(" \t|"), line[chosen.end :].strip(" \t|")
    return IndexRow(
        line_no=number,
        end_line_no=number,
        indent=line[: len(line) - len(line.lstrip())],
        marker="|",
        title=chosen.title,
        target=chosen.target,
        anchor=chosen.anchor,
        separator=" | ",
        hook=after,
        lead=before,
        raw=line,
        heading=heading,
        form="table",
        targets=tuple(dict.fromkeys(pointer.target for pointer in memories)),
    )


# --- The index -------------------------------------------------------------------------------------------------------

_COUNTER = re.compile(r"\d+")
_EMPHASIS = re.compile(r"[*_]*")
_OPEN_FENCE = "The index has an open code fence where the row belongs: close it first."


@dataclass(frozen=True)
class Index:
    """An index: its `text` on disk and its rows in order. Edits return a new Index."""

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
        return list(self._by_target.get(target, ()))

    @cached_property
    def _by_target(self) -> dict[str, list[IndexRow]]:
        found: dict[str, list[IndexRow]] = {}
        for row in self.rows:
            for target in dict.fromkeys(row.targets) if row.is_memory_target else ():
                found.setdefault(target, []).append(row)
        return found

    def without(self, rows: Iterable[IndexRow]) -> "Index":
        """The index without these rows, otherwise unchanged."""
        gone = {number for row in rows for number in range(row.line_no, row.end_line_no + 1)}
        text = "".join(line for number, line in enumerate(self.lines, 1) if number not in gone)
        return parse_index(text if self.text.endswith("\n") else strip_end(text))

    def replaced(self, row: IndexRow, new: str) -> "Index":
        """The index with a row's lines replaced by `new` (one or more lines, without a final line end)."""
        lines = with_newlines(new, "\n").split("\n")
        return parse_index(replace_lines(self.text, row.line_no, row.end_line_no + 1, lines, self.newline))

    def rewritten(
        self, row: IndexRow, *, title: str | None = None, target: str | None = None, hook: str | None = None
    ) -> "Index":
        """The index with another title, target or hook (with continuation lines) of a row, otherwise unchanged.

        Only for list items with a Markdown link; MemoryEditError otherwise (use `replaced`).
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
        """The index with one more row; see `extended`."""
        return self.extended([(title, target, hook)], heading=heading)

    def extended(self, rows: Sequence[tuple[str, str, str]], *, heading: str | None = None) -> "Index":
        """The index with more rows (title, target, hook), below `heading` (added if missing) or at the end.

        Marker, separator and spacing follow the neighbours. Raises MemoryEditError if the index ends inside
        an open code fence.
        """
        start, stop = self._section(heading)
        if heading is not None and start == 0:
            begun = self._with_heading(heading)
            if begun._section(heading)[0] == 0:
                raise MemoryEditError(_OPEN_FENCE)
            return begun.extended(rows, heading=heading)
        at, neighbour = self._append_point(start, stop)
        made = [render_row(*row, **_style_of(neighbour)) for row in rows]
        lines = self._spaced(made, at, neighbour)
        result = parse_index(replace_lines(self.text, at, at, lines, self.newline))
        if len(result.rows) != len(self.rows) + len(rows):
            raise MemoryEditError(_OPEN_FENCE)
        return result

    def with_first(self, title: str, target: str, hook: str) -> "Index":
        """The index with one more row before the first one that points to a memory; if none does, before the first section."""
        found = (row for row in self.rows if row.is_memory_target and row.form != "table" and not row.indent)
        row = next(found, None)
        if row is None:
            at = next((number for number, level, _ in headings(self.text) if level > 1), None)
            lines = [render_row(title, target, hook), ""]
            return (
                parse_index(replace_lines(self.text, at, at, lines))
                if at
                else self.appended(title, target, hook)
            )
        line = render_row(title, target, hook, **_style_of(row))
        return parse_index(replace_lines(self.text, row.line_no, row.line_no, [line], self.newline))

    def _section(self, heading: str | None) -> tuple[int, int]:
        """First line after the heading and the line of the next one; start 0 if there is no such heading."""
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
        """The line to insert before, and the row whose style to copy: one for a memory, preferably not nested."""
        at = stop
        while at > start and not self.lines[at - 2].strip():
            at -= 1
        pointers = [row for row in self.rows if row.is_memory_target and row.form != "table"]
        inside = [row for row in pointers if start <= row.line_no < stop]
        shallow = [row for row in inside or pointers if not row.indent]
        chosen = shallow or inside or pointers
        return at, chosen[-1] if chosen else None

    def _spaced(self, rows: list[str], at: int, neighbour: IndexRow | None) -> list[str]:
        """The rows, separated by blank lines from other text, unless the index writes rows directly below headings."""
        before = self.lines[at - 2] if at > 1 else ""
        after = self.lines[at - 1] if at <= len(self.lines) else ""
        follows_item = any(row.end_line_no == at - 1 for row in self.rows if row.form != "table") or bool(
            ITEM.match(before)
        )
        tight = neighbour is not None and self._is_below_heading(neighbour)
        opened = [] if follows_item or not before.strip() or (tight and HEADING.match(before)) else [""]
        closed = [""] if after.strip() and not ITEM.match(after) else []
        return [*opened, *rows, *closed]

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


def _tail(separator: str, hook: str) -> str:
    """The text after a link: closing emphasis, separator, hook."""
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


@lru_cache(maxsize=8)
def parse_index(text: str) -> Index:
    """Parses the rows of an index; never fails, and keeps the text unchanged.

    Rows are list items and table rows with a link, and items that start with a file name; nothing in frontmatter,
    comments or code fences.
    """
    return Index(text, tuple(rows_of(text)))
