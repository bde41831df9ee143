"""column -t, fold, expand: lines made to fit."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ..errors import Refused, UsageError
from ..options import Spec, read
from ..process import Process, Runner, raw
from .numbers import plain

_COLUMN = Spec(
    flags={"t": "t", "table": "t", "e": "e", "n": "n"},
    values={
        "s": "s",
        "separator": "s",
        "o": "o",
        "output-separator": "o",
        "c": "c",
        "output-width": "c",
    },
)
_MOST_WIDTH = 100_000


def column(name: str, argv: list[str]) -> Runner:
    """A table: as wide as its cells, two blanks between them. Cells are measured in characters."""
    args = read(name, _COLUMN, argv)
    if not args.has("t"):
        raise Refused("column: only column -t is on offer")
    separators, between = raw(args.last("s") or ""), raw(args.last("o", "  ") or "")

    def run(process: Process) -> Iterator[bytes]:
        rows: list[list[bytes]] = []
        for _, chunks in process.inputs(args.operands):
            lines = (line.rstrip(b"\n") for line in process.lines(chunks))
            rows += [_cells(line, separators) for line in process.held(lines) if line.strip(b" \t")]
        widths = [0] * max((len(row) for row in rows), default=0)
        for row in rows:
            for at, cell in enumerate(row):
                widths[at] = max(widths[at], _width(cell))
        for row in rows:
            process.meter.tick()
            padded = [cell + b" " * (width - _width(cell)) for cell, width in zip(row, widths, strict=False)]
            # The last column of the table is not padded; a missing cell is an empty one.
            padded += [b" " * width for width in widths[len(row) : -1]] + [b""] * (len(row) < len(widths))
            if len(row) == len(widths):
                padded[-1] = row[-1]
            yield between.join(padded) + b"\n"

    return run


def _cells(line: bytes, separators: bytes) -> list[bytes]:
    if not separators:
        return line.split()
    return re.split(b"[" + re.escape(separators) + b"]", line)


def _width(cell: bytes) -> int:
    return len(cell.decode("utf-8", "replace"))


_FOLD = Spec(flags={"s": "s", "spaces": "s", "b": "b", "bytes": "b"}, values={"w": "w", "width": "w"})


def fold(name: str, argv: list[str]) -> Runner:
    classic = [f"-w{word[1:]}" if re.fullmatch(r"-[0-9]+", word) else word for word in argv]
    args = read(name, _FOLD, classic)
    width = plain(args.last("w") or "80", "invalid number of columns")
    if not 0 < width <= _MOST_WIDTH:
        raise UsageError(f"invalid number of columns: '{width}'")

    def run(process: Process) -> Iterator[bytes]:
        for _, chunks in process.inputs(args.operands):
            for line in process.lines(chunks):
                process.meter.tick()
                yield _folded(line, width, blanks=args.has("s"), plainly=args.has("b"))

    return run


def _folded(line: bytes, width: int, *, blanks: bool, plainly: bool) -> bytes:
    body, end = (line[:-1], b"\n") if line.endswith(b"\n") else (line, b"")
    if (plainly or not re.search(rb"[\t\b\r]", body)) and not blanks:
        return b"\n".join(body[at : at + width] for at in range(0, max(len(body), 1), width)) + end
    return b"\n".join(_rows(body, width, blanks=blanks, plainly=plainly)) + end


def _rows(body: bytes, width: int, *, blanks: bool, plainly: bool) -> Iterator[bytes]:
    start = at = column = 0
    last_blank = -1
    while at < len(body):
        step = 1 if plainly else _step(body[at], column)
        if column + step > width and at > start:
            cut = last_blank + 1 if blanks and last_blank >= start else at
            yield body[start:cut]
            start, column, last_blank = cut, 0, -1
            for byte in body[start:at]:
                column += 1 if plainly else _step(byte, column)
            continue
        if body[at] in b" \t":
            last_blank = at
        column = max(column + step, 0)
        at += 1
    yield body[start:]


def _step(byte: int, column: int) -> int:
    return {9: 8 - column % 8, 8: -1 if column else 0, 13: -column}.get(byte, 1)


_EXPAND = Spec(flags={"i": "i", "initial": "i"}, values={"t": "t", "tabs": "t"})


def expand(name: str, argv: list[str]) -> Runner:
    args = read(name, _EXPAND, argv)
    size = plain(args.last("t") or "8", "tab size contains invalid character(s)")
    if not 0 < size <= 1_000:
        raise UsageError("tab size must be between 1 and 1000")

    def run(process: Process) -> Iterator[bytes]:
        for _, chunks in process.inputs(args.operands):
            for line in process.lines(chunks):
                if not args.has("i"):
                    yield line.expandtabs(size)
                    continue
                lead = re.match(rb"[ \t]*", line)
                cut = lead.end() if lead else 0
                yield line[:cut].expandtabs(size) + line[cut:]

    return run


COMMANDS = {"column": column, "fold": fold, "expand": expand}
