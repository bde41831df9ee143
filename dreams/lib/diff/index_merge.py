"""Three-way merge of MEMORY.md by row.

Running sessions often append rows, and two rows appended at the same place are no conflict. So rows are merged
by their targets, independent of their positions, and only the lines between them are merged as lines.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from dreams.lib.diff.lines import ended_lines, line_end_of, split_lines
from dreams.lib.diff.merge import Chunk, Merge, TextLines, ends_of, merge3, merge_lines, ours_first
from dreams.lib.diff.refine import indent_of, row_target

# The token of a row is its target, which ends in ".md"; of any other line the line, which ends in "\n".
Token = str
_AGAIN = "\0"  # between a target and the number of a duplicate row


@dataclass(frozen=True, slots=True)
class _Version:
    """One of the three indexes: its tokens in order, and the lines of each row's token."""

    tokens: list[Token]
    starts: list[int]
    rows: dict[Token, TextLines]
    line_end: str

    def part_of(self, token: Token) -> TextLines:
        """The row's lines in this version; none if it is missing."""
        return self.rows.get(token, TextLines(0, ()))

    def lines_of(self, tokens: Iterable[Token]) -> list[str]:
        return [line for token in tokens for line in (self.part_of(token).lines or (token,))]


@dataclass(frozen=True, slots=True)
class _Three:
    base: _Version
    ours: _Version
    theirs: _Version
    line_end: str  # of the result
    keeps_both: bool

    def is_kept(self, token: Token) -> bool:
        """Whether the row has a place in the result, as a row or as a conflict."""
        before, here, there = self.texts(token)
        if here and there:
            return True
        only = here or there
        return bool(only) and only != before

    def texts(self, token: Token) -> tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]]:
        """The row in base, ours and theirs, without line ends; () if it is missing."""
        return (
            _bare(self.base.part_of(token).lines),
            _bare(self.ours.part_of(token).lines),
            _bare(self.theirs.part_of(token).lines),
        )


def merge_index(base: str, ours: str, theirs: str, *, keeps_both: bool = False) -> Merge:
    """Merges three states of an index row by row.

    Rows added on either side are kept: theirs after the row they followed. A row that one side removed is
    removed unless the other changed it. A row that both changed differently, or that one changed and the other
    removed, is a separate conflict. So are other lines that both added at one place, unless `keeps_both` and
    `merge.ours_first` finds an order for them.
    """
    if ours in (base, theirs) or theirs == base:
        return merge3(base, ours, theirs)
    ends = ends_of(base, ours, theirs)
    three = _Three(_version(base), _version(ours), _version(theirs), ends[0], keeps_both)
    chunks = (item if isinstance(item, Chunk) else _row_chunk(three, item) for item in _settled(three))
    return Merge(tuple(chunks), *ends)


def _version(text: str) -> _Version:
    """The index as tokens; further rows for the same file are numbered."""
    lines = split_lines(text)
    whole = ended_lines(lines)
    tokens: list[Token] = []
    starts: list[int] = []
    rows: dict[Token, TextLines] = {}
    seen = Counter[str]()
    for start, end, target in _stretches(whole):
        token = whole[start]
        if target is not None:
            # A second row for a file is a separate row: dreams remove duplicate rows most often.
            token = f"{target}{_AGAIN}{seen[target]}" if seen[target] else target
            seen[target] += 1
            rows[token] = TextLines(start, tuple(whole[start:end]))
        tokens.append(token)
        starts.append(start)
    return _Version(tokens, starts, rows, line_end_of(lines))


def _stretches(lines: Sequence[str]) -> Iterator[tuple[int, int, str | None]]:
    """Rows with the indented lines that continue them, and every other line alone."""
    at = 0
    while at < len(lines):
        start, target = at, row_target(lines[at])
        at += 1
        while target is not None and at < len(lines) and _goes_on(lines[start], lines[at]):
            at += 1
        yield start, at, target


def _goes_on(row: str, line: str) -> bool:
    return bool(line.strip()) and indent_of(line) > indent_of(row) and row_target(line) is None


def _settled(three: _Three) -> Iterator[Token | Chunk]:
    """The result in order: rows as tokens, other lines and their conflicts as chunks."""
    merged = merge_lines(three.base.tokens, three.ours.tokens, three.theirs.tokens)
    order: list[Token | Chunk] = []
    for chunk in merged:
        order.extend(_united(chunk, three) if chunk.kind == "conflict" else _between(chunk, three))
    placed = list(_each_row_once(order, three))
    for version in (three.ours, three.theirs):
        placed = _with_rows_of(version.tokens, placed, three.is_kept, alone_at_end=True)
    return iter(placed)


def _each_row_once(order: Iterable[Token | Chunk], three: _Three) -> Iterator[Token | Chunk]:
    """A row that both sides moved is in `order` twice: the first place is kept."""
    seen: set[Token] = set()
    for item in order:
        if isinstance(item, Chunk):
            yield item
        elif item not in seen and three.is_kept(item):
            seen.add(item)
            yield item


def _between(chunk: Chunk, three: _Three) -> Iterator[Token | Chunk]:
    """A chunk without conflict: its rows as tokens, each other line as a separate chunk."""
    versions = (three.base, three.ours, three.theirs)
    sides = [(*side, set(side[1].lines)) for side in zip(versions, _parts(chunk), strict=True)]
    for offset, line in enumerate(chunk.lines):
        if _is_row(line):
            yield line
            continue
        base, ours, theirs = (
            TextLines(version.starts[part.start + offset], (line,))
            if chunk.kind == "stable"
            else TextLines(_line_number(version, part.start), (line,) if line in lines else ())
            for version, part, lines in sides
        )
        yield Chunk(chunk.kind, base, ours, theirs, (line,))


def _united(chunk: Chunk, three: _Three) -> Iterator[Token | Chunk]:
    """A place that both sides changed. Rows never conflict here: only the other lines may."""
    before, here, there = (_others(part.lines) for part in _parts(chunk))
    layout, other = list(chunk.ours.lines), chunk.theirs.lines
    if here == before != there:
        layout, other = list(chunk.theirs.lines), chunk.ours.lines
    elif there not in (before, here):
        if both := _both_added(chunk, three):
            yield from _between(Chunk("merged", chunk.base, chunk.ours, chunk.theirs, both), three)
            return
        parts = (
            TextLines(_line_number(three.base, chunk.base.start), before),
            TextLines(_line_number(three.ours, chunk.ours.start), here),
            TextLines(_line_number(three.theirs, chunk.theirs.start), there),
        )
        yield Chunk("conflict", *parts)
        layout = list(filter(_is_row, layout))
    whole = _with_rows_of(other, layout, lambda _: True, alone_at_end=False)
    lines = tuple(item for item in whole if isinstance(item, str))
    yield from _between(Chunk("merged", chunk.base, chunk.ours, chunk.theirs, lines), three)


def _both_added(chunk: Chunk, three: _Three) -> tuple[Token, ...]:
    """All that both sides added here, such as a section each; () if a person must choose."""
    before, ours, theirs = _parts(chunk)
    if before.lines or not three.keeps_both:
        return ()
    base, added = three.base.tokens, (three.ours.lines_of(ours.lines), three.theirs.lines_of(theirs.lines))
    above, below = (three.base.lines_of(part) for part in (base[: before.start], base[before.start :]))
    first = ours_first(above, *added, below)
    if first is None:
        return ()
    return (*ours.lines, *theirs.lines) if first else (*theirs.lines, *ours.lines)


def _others(tokens: Iterable[Token]) -> tuple[str, ...]:
    return tuple(token for token in tokens if not _is_row(token))


def _is_row(token: Token) -> bool:
    return not token.endswith("\n")


def _with_rows_of(
    source: Iterable[Token],
    placed: Sequence[Token | Chunk],
    wanted: Callable[[Token], bool],
    *,
    alone_at_end: bool,
) -> list[Token | Chunk]:
    """`placed` with the `wanted` rows of `source`, each after the row it follows there and the rows that were added behind that.

    Rows that follow none are before the one they precede. Without any, they are at the end or behind the rows at the beginning.
    """
    known, present = set(source), {item for item in placed if isinstance(item, str)}
    leading: list[Token] = []
    behind: dict[Token, list[Token]] = {}
    here = leading
    for row in filter(_is_row, source):
        if row in present:
            here = behind.setdefault(row, [])
        elif wanted(row):
            here.append(row)
    first = next(iter(behind), None)
    waiting = [] if first or alone_at_end else leading
    found: list[Token | Chunk] = []
    for item in placed:
        if not isinstance(item, str) or not _is_row(item) or item in known:
            found += waiting
            waiting = []
        if item == first:
            found += leading
        found.append(item)
        if isinstance(item, str):
            waiting = behind.get(item, waiting)
    return [*found, *waiting, *(leading if alone_at_end and not first else ())]


def _row_chunk(three: _Three, token: Token) -> Chunk:
    """One row merged by its text; line ends are merged separately, so that CRLF is no change of the row."""
    parts = three.base.part_of(token), three.ours.part_of(token), three.theirs.part_of(token)
    before, here, there = three.texts(token)
    if here == there == before:
        return Chunk("stable", *parts, lines=_ended(parts[1].lines, three))
    if there in (here, before):
        return Chunk("merged", *parts, lines=_ended(parts[1].lines, three))
    if here == before:
        return Chunk("merged", *parts, lines=_ended(parts[2].lines, three))
    return Chunk("conflict", *parts)


def _parts(chunk: Chunk) -> tuple[TextLines, TextLines, TextLines]:
    return chunk.base, chunk.ours, chunk.theirs


def _line_number(version: _Version, token_number: int) -> int:
    if token_number < len(version.starts):
        return version.starts[token_number]
    return len(version.tokens) and version.starts[-1] + 1


def _bare(lines: Iterable[str]) -> tuple[str, ...]:
    return tuple(line.rstrip("\r\n") for line in lines)


def _ended(lines: Iterable[str], three: _Three) -> tuple[str, ...]:
    """The lines with the result's line end, if one side converted the file's line ends."""
    if len({version.line_end for version in (three.base, three.ours, three.theirs)}) == 1:
        return tuple(lines)
    return tuple(line + three.line_end for line in _bare(lines))
