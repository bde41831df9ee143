"""Splits a memory file into statements with their lines, and finds the statements that a change adds. PURE."""

import functools
import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from dreams.findings.base import ChangedHunk, Subject
from dreams.lib import memdir
from dreams.lib.files import text
from dreams.lib.prose import comparing
from dreams.lib.prose.statements import plain, statement, unmarked
from dreams.lib.prose.words import code_spans
from dreams.lib.secrets.redact import redact, secrets_in, without

UnitKind = Literal["sentence", "row", "title", "field", "heading", "code", "table", "comment", "reference"]

MOST_KEPT = 1_024  # files whose statements are kept, 50 MB
MAX_FILE_CHARS = 2_000_000  # of one file; the rest is compared line by line
FENCE = re.compile(r"[ >]*(?:```+|~~~+)\s*\S*\s*")  # with the name of a language at most
BAR = re.compile(r"(?<!\\)\|")
_DUNDER = re.compile(r"(?<![\w./-])[\w.-]*/(?:[\w.-]*/)*__\w+__")
HEADER = "header"
STEP = "step"
# The number of a list entry, also in bold or in a heading.
_NUMBERED = re.compile(r"^([*_]{0,3})\d{1,3}[.)]\s+(?=\S)")
_BOX = re.compile(r"\s*(?:!!!|\?\?\?|===)")
_UNDERLINE = re.compile(r"\n {0,3}=+\s*$")
_INDENTED = re.compile(r"(?: {4}|\t).*(?:\n(?: {4}|\t).*)*\n?")
_REFERENCE = re.compile(r"^ {0,3}\[(?P<name>[^\]^][^\]]*)\]:\s+(?P<target>\S+).*$", re.MULTILINE)
_REFERRED = re.compile(r"\[(?P<said>[^][]+)\](?:\[(?P<name>[^][]*)\]|(?![\[(:]))")
_BLOCK_VALUE = re.compile(r"^[>|][+-]?\d?$")
_FIELD = re.compile(r"^\s*(?P<key>[A-Za-z_][\w.-]*)\s*:\s*(?P<value>.*)$")


@dataclass(frozen=True, slots=True)
class Unit:
    """One statement. Lines are 1-based; `key` is equal for statements that differ only in marks and spacing.

    `name` is the key of a field, the target of an index row, HEADER for the header of a table, or STEP for the first sentence of a
    numbered entry; `columns` are the table's columns, as cell keys. `level` is a heading's, 1 to 6. Reference links include their address.
    """

    kind: UnitKind
    first_line: int
    last_line: int
    text: str
    key: str
    name: str = ""
    columns: tuple[str, ...] = ()
    level: int = 0


def has_content(line: str) -> bool:
    """Whether the line has a letter or digit: rules, blank lines and fences do not count."""
    return any(map(str.isalnum, line))


@functools.lru_cache(maxsize=256)
def lines_of(data: bytes | None) -> tuple[str, ...]:
    """The lines of a file without line ends; bytes that are not UTF-8 become lone surrogates. Cached, as each hunk needs it."""
    return tuple(line.rstrip("\r\n") for line in memdir.split_lines(text.decode(data or b"")))


class UnitsByLine:
    """The statements of a file by line, so that a file with a thousand hunks is split once."""

    def __init__(self, units: Sequence[Unit]) -> None:
        self._units = sorted(units, key=lambda unit: unit.first_line)
        self._firsts = [unit.first_line for unit in self._units]
        self._longest = max((unit.last_line - unit.first_line for unit in units), default=0)
        self.keys = frozenset(unit.key for unit in units)

    def within(self, first: int, last: int) -> list[Unit]:
        """Those on the lines `first` to `last` (1-based, inclusive), in order."""
        start = bisect_left(self._firsts, first - self._longest)
        stop = bisect_right(self._firsts, last)
        return [unit for unit in self._units[start:stop] if unit.last_line >= first]


def units_of(path: str, data: bytes | None) -> tuple[Unit, ...]:
    """The statements of a file, in order."""
    if not data:
        return ()
    return _units(memdir.is_index(path), data)


@functools.lru_cache(maxsize=256)
def units_by_line(path: str, data: bytes | None) -> UnitsByLine:
    """The statements of a file, searchable by line."""
    return UnitsByLine(units_of(path, data))


def units_of_lines(lines: Sequence[str]) -> tuple[Unit, ...]:
    """The statements of some lines of a body; the first line is 1."""
    return tuple(_body_units("\n".join(lines), 1, {}))


@functools.lru_cache(maxsize=MOST_KEPT)
def _units(is_index: bool, data: bytes) -> tuple[Unit, ...]:
    document = memdir.parse(data)
    rows = memdir.parse_index(document.text).rows if is_index else ()
    by_line = {row.line_no: row for row in rows if row.is_memory_target}
    found = [*_fields(document.head), *_body_units(document.body, document.body_start_line, by_line)]
    return tuple(found)


def _fields(head: str) -> Iterator[Unit]:
    """One unit per `key: value` line; the lines of a block or folded value belong to their key."""
    name, first, last, parts = "", 0, 0, list[str]()
    for number, line in enumerate(memdir.split_lines(head), 1):
        bare = line.strip()
        if bare == "---" or not bare or bare.startswith("#"):
            continue
        match = _FIELD.match(line.rstrip("\r\n"))
        if match:
            yield from _field(name, first, last, parts)
            name, first, parts = match["key"].lower(), number, [match["value"]]
        else:
            parts.append(bare)
        last = number
    yield from _field(name, first, last, parts)


def _field(name: str, first: int, last: int, parts: list[str]) -> Iterator[Unit]:
    value = " ".join(_BLOCK_VALUE.sub("", part.strip()) for part in parts).strip()
    for quote in "\"'":
        if len(value) > 1 and value[0] == value[-1] == quote:
            value = value[1:-1].replace("\\" + quote if quote == '"' else quote * 2, quote)
    if name and value:
        yield from _split("field", value, first, last, name)


def _split(kind: UnitKind, said: str, first: int, last: int, name: str) -> Iterator[Unit]:
    """One unit per sentence, so that a summary is recognized when it appears as prose."""
    for start, end in memdir.sentence_spans(said) if said else [(0, 0)]:
        piece = said[start:end].strip()
        yield Unit(kind, first, last, piece, words_key(piece), name)


def _body_units(body: str, first_line: int, rows: dict[int, memdir.IndexRow]) -> Iterator[Unit]:
    body = body[:MAX_FILE_CHARS]
    targets = {match["name"].casefold(): match["target"] for match in _REFERENCE.finditer(body)}
    boxed = False  # text inside "!!! note" is indented, but not code
    for item in memdir.sections(body, first_line):
        if has_content(item.text):
            boxed = bool(_BOX.match(item.text)) or (boxed and item.text[:1].isspace())
            found = _item_units(item, rows, boxed=boxed)
            yield from (_with_targets(unit, targets) for unit in found) if targets else found


def _item_units(item: memdir.BodyItem, rows: dict[int, memdir.IndexRow], *, boxed: bool) -> Iterator[Unit]:
    row, kind = rows.get(item.first_line), item.kind
    if row:
        yield from _row_units(row, item)
    elif kind == "heading" or _UNDERLINE.search(item.text):
        said = _NUMBERED.sub(r"\1", _UNDERLINE.sub("", item.content))
        yield Unit("heading", item.first_line, item.last_line, said, words_key(said), level=item.level or 1)
    elif kind in {"code", "table", "comment"}:
        yield from _line_units(item, kind)
    elif kind == "paragraph" and not (item.depth or boxed) and _INDENTED.fullmatch(item.text):
        yield from _line_units(item, "code")
    elif kind == "paragraph" and _REFERENCE.match(item.text):
        yield from _line_units(item, "reference")
    else:
        yield from _sentences(item)


def _with_targets(unit: Unit, targets: Mapping[str, str]) -> Unit:
    """The statement with the addresses of its reference links."""
    if unit.kind in {"code", "reference"} or "[" not in unit.text:
        return unit

    def linked(match: re.Match[str]) -> str:
        target = targets.get((match["name"] or match["said"]).casefold())
        return f"[{match['said']}]({target})" if target else match[0]

    said = _REFERRED.sub(linked, unit.text)
    return unit if said == unit.text else replace(unit, text=said, key=words_key(said))


def _row_units(row: memdir.IndexRow, item: memdir.BodyItem) -> Iterator[Unit]:
    said = " ".join(part for part in (row.lead, row.hook) if part)
    last = max(row.end_line_no, item.last_line)
    if said and has_content(row.title):
        yield Unit("title", row.line_no, row.line_no, row.title, words_key(row.title), row.target)
    yield from _split("row", said or row.title, row.line_no, last, row.target)


def _line_units(item: memdir.BodyItem, kind: UnitKind) -> Iterator[Unit]:
    """One statement per line of code or table row; the first row of a table names its columns."""
    columns = tuple[str, ...]()
    for number, line in enumerate(memdir.split_lines(item.text), item.first_line):
        bare = line.strip()
        if has_content(bare) and not FENCE.fullmatch(bare):
            key = " ".join(bare.split()) if kind == "code" else words_key(BAR.sub(" ", bare))
            first = kind == "table" and number == item.first_line
            yield Unit(kind, number, number, bare, key, HEADER if first else "", columns)
            columns = cells(bare) if first else columns


def cells(row: str) -> tuple[str, ...]:
    """The keys of a table row's cells, from the left."""
    return tuple(words_key(cell) for cell in BAR.split(row.strip().strip("|")))


def _sentences(item: memdir.BodyItem) -> Iterator[Unit]:
    name = STEP if item.marker[:1].isdigit() else ""
    for sentence in memdir.sentences(item):
        said = _NUMBERED.sub(r"\1", sentence.text)
        if has_content(said):
            yield Unit("sentence", sentence.first_line, sentence.last_line, said, words_key(said), name)
            name = ""


@functools.lru_cache(maxsize=50_000)
def words_key(said: str) -> str:
    """A key that is equal for the same words, ignoring marks and case, but not check boxes or strike-through."""
    signs = "".join(sign for sign in ("[ ]", "[x]", "~~") if sign in said.lower())
    said = said.replace("…", "...")
    plain = comparing.normalised(said) or " ".join(said.split())
    marked = " ".join(span for span in literal_parts(said) if unmarked(span) != span)
    return " ".join(part for part in (signs, plain, marked) if part)


def keys_without_secrets(unit: Unit, file: bytes) -> frozenset[str]:
    """Its possible keys without its secrets and those of its file, as prose, table row or code; empty if it has none."""
    bare = redact(without(unit.text, secrets_in(file)))
    forms = {words_key(bare), words_key(BAR.sub(" ", bare)), " ".join(bare.split())}
    return frozenset(forms) if bare != unit.text else frozenset()


def literal_parts(said: str) -> Iterator[str]:
    """Inline code, and names like `__init__` in a path, where stars and underscores are not emphasis."""
    if "`" in said:
        yield from (said[start:end] for start, end in code_spans(said))
    if "__" in said:
        yield from _DUNDER.findall(said)


def same_row(one: Unit, other: Unit) -> bool:
    """Whether both rows have the same cells in the same columns, in any order of columns."""
    return bool(one.columns) and _bound(one) == _bound(other)


def cells_changed(one: Unit, other: Unit) -> bool:
    """Whether a column of both rows has a different cell in `other`."""
    mine, theirs = _bound(one), _bound(other)
    return any(theirs.get(column, cell) != cell for column, cell in mine.items())


def moved_columns(header: Unit, before: Sequence[Unit], after: Sequence[Unit]) -> Unit | None:
    """The header that reordered the names of `header` while the rows below did not change, so that cells changed their column;
    None if there is none."""
    names = cells(header.text)
    rows = {unit.key: unit for unit in before if unit.kind == "table" and unit.columns == names}
    for unit in after:
        changed = rows.get(unit.key) if unit.kind == "table" and unit.columns != names else None
        if changed and sorted(unit.columns) == sorted(names) and cells_changed(changed, unit):
            return next((u for u in after if u.name == HEADER and cells(u.text) == unit.columns), unit)
    return None


def in_cells(old: str, new: str) -> bool:
    """Whether all cells of a table row are in `new`, complete and in order: as a row, or each as "column: cell"."""
    if "|" not in old:
        return False
    rest = f" {plain(BAR.sub(' ', new))} "
    wanted = [plain(cell) for cell in BAR.split(old) if any(map(str.isalnum, cell))]
    for cell in wanted:
        _, found, rest = rest.partition(f" {cell} ")
        if not found:
            return False
        rest = f" {rest}"
    return len(wanted) > 1


def _bound(row: Unit) -> dict[str, str]:
    return dict(zip(row.columns, cells(row.text), strict=False))


#: Standard fields of a memory.
BOOKKEEPING = frozenset({"type", "node_type", "modified", "created", "updated", "metadata", "pinned"})


def units_on(path: str, data: bytes | None, start: int, lines: Sequence[str]) -> tuple[Sequence[Unit], int]:
    """The statements on these lines of a file, which begin at `start` (0-based), and by how much their line numbers are too small.

    Where the file has other lines there, only these can be used."""
    if lines_of(data)[start : start + len(lines)] == tuple(lines):
        return units_by_line(path, data).within(start + 1, start + len(lines)), 0
    return units_of_lines(lines), start


def added_units(subject: Subject, hunk: ChangedHunk) -> Iterator[tuple[Unit, int]]:
    """The statements on the added lines, with their first line in the new text."""
    units, shift = units_on(hunk.path, subject.after.get(hunk.path), hunk.new_start, hunk.added)
    yield from ((unit, unit.first_line + shift) for unit in units)


def needs_no_source(unit: Unit) -> bool:
    """Whether it is a name or standard field, or a heading or row title, which state nothing unless they have a number or more than
    six words."""
    if unit.kind == "field":
        return unit.name in BOOKKEEPING or unit.name == "name"
    if unit.kind not in {"heading", "title"}:
        return False
    made = statement(unit.text)
    return not made.numbers and len(made.items) <= 6
