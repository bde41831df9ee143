"""How much of an index the agent loads, and what is cut off. PURE."""

from dataclasses import dataclass
from typing import Literal

from dreams.lib.files.text import decode
from dreams.lib.memdir.index import IndexRow, counted_from, parse_index

from .text import BOM, comment_spans, split_lines

# The agent's own constants: what it loads of an index.
INDEX_MAX_LINES = 200
INDEX_MAX_BYTES = 25_000


@dataclass(frozen=True, slots=True)
class Loaded:
    """`text` is what the agent loads (without the warning); `lines` and `bytes` are the size before the cut.

    Frontmatter, HTML comments and blank ends do not count. `first_dropped_line` is a line of the file.
    """

    text: str
    warning: str
    lines: int
    bytes: int
    cut_by: Literal["lines", "bytes"] | None
    first_dropped_line: int | None
    rows_dropped: tuple[IndexRow, ...]


def loaded(
    index: str | bytes, *, max_lines: int = INDEX_MAX_LINES, max_bytes: int = INDEX_MAX_BYTES
) -> Loaded:
    """Cuts an index as the agent does: trimmed, then to the line limit, then at the last line end within the byte limit."""
    text = decode(index.removeprefix(BOM)) if isinstance(index, bytes) else index
    counted = _trimmed(_counted_lines(text))
    whole = "\n".join(line for _, line in counted)
    kept, cut_by = _cut([line for _, line in counted], max_lines, max_bytes)
    kept_text = "\n".join(kept)
    # A single line over the limit is loaded in part, so its end is lost.
    complete = (
        len(kept) if kept_text == "\n".join(line for _, line in counted[: len(kept)]) else len(kept) - 1
    )
    first_dropped = counted[complete][0] if complete < len(counted) else None
    rows = () if first_dropped is None else parse_index(text).rows
    return Loaded(
        text=kept_text,
        warning=_warning(cut_by, len(counted), _size(whole), max_lines, max_bytes),
        lines=len(counted),
        bytes=_size(whole),
        cut_by=cut_by,
        first_dropped_line=first_dropped,
        rows_dropped=tuple(row for row in rows if row.end_line_no >= (first_dropped or 0)),
    )


def _size(text: str) -> int:
    return len(text.encode("utf-8", "surrogatepass"))


def _counted_lines(text: str) -> list[tuple[int, str]]:
    """Line number in the file and text of every line that counts, comments cut out."""
    start = counted_from(text)
    hidden = [span for span in comment_spans(text) if span[0] >= start]
    result: list[tuple[int, str]] = []
    position, comment = 0, 0
    for number, line in enumerate(split_lines(text), 1):
        end = position + len(line)
        while comment < len(hidden) and hidden[comment][1] <= position:
            comment += 1
        rest = _without_comments(text, position, end, hidden, comment)
        if position >= start and (rest.strip() or rest == line):
            result.append((number, rest.removesuffix("\n")))
        position = end
    return result


def _without_comments(text: str, start: int, end: int, hidden: list[tuple[int, int]], first: int) -> str:
    pieces: list[str] = []
    position = first
    while position < len(hidden) and hidden[position][0] < end:
        pieces.append(text[start : hidden[position][0]])
        start = min(end, hidden[position][1])
        position += 1
    return "".join([*pieces, text[start:end]])


def _trimmed(lines: list[tuple[int, str]]) -> list[tuple[int, str]]:
    """Removes blank lines and spaces at both ends."""
    first, stop = 0, len(lines)
    while first < stop and not lines[first][1].strip():
        first += 1
    while stop > first and not lines[stop - 1][1].strip():
        stop -= 1
    result = lines[first:stop]
    if result:
        result[0] = (result[0][0], result[0][1].lstrip())
        result[-1] = (result[-1][0], result[-1][1].rstrip())
    return result


def _cut(
    lines: list[str], max_lines: int, max_bytes: int
) -> tuple[list[str], Literal["lines", "bytes"] | None]:
    kept = lines[:max_lines]
    size = -1
    for position, line in enumerate(kept):
        size += _size(line) + 1
        if size > max_bytes:
            return kept[:position] or [_first_bytes(line, max_bytes)], "bytes"
    return kept, "lines" if len(lines) > max_lines else None


def _first_bytes(line: str, max_bytes: int) -> str:
    return line.encode("utf-8", "surrogateescape")[:max_bytes].decode("utf-8", "ignore")


def _warning(cut_by: str | None, lines: int, size: int, max_lines: int, max_bytes: int) -> str:
    if cut_by is None:
        return ""
    over = []
    if lines > max_lines:
        over.append(f"{lines:,} lines (limit {max_lines:,})")
    if size > max_bytes:
        over.append(f"{size:,} bytes (limit {max_bytes:,})")
    return (
        f"MEMORY.md has {' and '.join(over)}: only its beginning is loaded. "
        "Keep rows to one short line and move detail into the topic files."
    )
