"""cut."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from ..errors import UsageError
from ..options import Args, Spec, read
from ..process import Process, Runner, raw

_CUT = Spec(
    flags={
        "s": "s",
        "only-delimited": "s",
        "complement": "complement",
        "n": "n",
        "z": "z",
        "zero-terminated": "z",
    },
    values={
        "b": "b",
        "bytes": "b",
        "c": "b",
        "characters": "b",
        "f": "f",
        "fields": "f",
        "d": "d",
        "delimiter": "d",
        "output-delimiter": "output",
    },
)
_FOREVER = 1 << 62
Picker = Callable[[bytes], bytes | None]


def cut(name: str, argv: list[str]) -> Runner:
    args = read(name, _CUT, argv)
    kinds = {kind for kind, _ in args.given if kind in ("b", "f")}
    if len(kinds) != 1 or len(args.all("b") + args.all("f")) != 1:
        raise UsageError("you must specify a list of bytes, characters, or fields")
    kind = kinds.pop()
    ranges = _ranges(args.last(kind) or "", kind)
    if args.has("complement"):
        ranges = _complement(ranges)
    if kind == "b" and (args.has("d") or args.has("s")):
        raise UsageError("an input delimiter may be specified only when operating on fields")
    end = b"\0" if args.has("z") else b"\n"
    pick = _byte_picker(args, ranges) if kind == "b" else _field_picker(args, ranges)

    def run(process: Process) -> Iterator[bytes]:
        for _, chunks in process.inputs(args.operands):
            for line in process.lines(chunks, end):
                picked = pick(line.removesuffix(end))
                if picked is not None:
                    yield picked + end

    return run


def _ranges(text: str, kind: str) -> list[tuple[int, int]]:
    """1-based inclusive ranges, sorted and merged."""
    found: list[tuple[int, int]] = []
    what = "field" if kind == "f" else "byte/character position"
    for part in re.split(r"[, \t]", text):
        match = re.fullmatch(r"([0-9]{1,15})?(-)?([0-9]{1,15})?", part)
        if match is None or part in ("", "-"):
            raise UsageError(f"invalid {what if kind == 'f' else 'byte or character range'}: '{part}'")
        low = int(match[1]) if match[1] else 1
        high = int(match[3]) if match[3] else (_FOREVER if match[2] else low)
        if low == 0 or (match[3] and high == 0 and not match[1]):
            raise UsageError(f"{what}s are numbered from 1")
        if high < low:
            raise UsageError("invalid decreasing range")
        found.append((low, high))
    return _merged(sorted(found))


def _merged(ranges: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Overlapping ranges as one; adjacent ones stay apart, since an output delimiter goes between them."""
    out: list[tuple[int, int]] = []
    for low, high in ranges:
        if out and low <= out[-1][1]:
            out[-1] = (out[-1][0], max(out[-1][1], high))
        else:
            out.append((low, high))
    return out


def _complement(ranges: list[tuple[int, int]]) -> list[tuple[int, int]]:
    out: list[tuple[int, int]] = []
    at = 1
    for low, high in ranges:
        if low > at:
            out.append((at, low - 1))
        at = high + 1
    if at < _FOREVER:
        out.append((at, _FOREVER))
    return out


def _byte_picker(args: Args, ranges: list[tuple[int, int]]) -> Picker:
    between = raw(args.last("output") or "")
    return lambda line: between.join(line[low - 1 : high] for low, high in ranges if low <= len(line))


def _field_picker(args: Args, ranges: list[tuple[int, int]]) -> Picker:
    delimiter = raw(args.last("d", "\t") or "")
    if args.last("d") == "":
        delimiter = b"\0"
    if len(delimiter) != 1:
        raise UsageError("the delimiter must be a single character")
    output = args.last("output")
    between = delimiter if output is None else raw(output)

    def pick(line: bytes) -> bytes | None:
        fields = line.split(delimiter)
        if len(fields) == 1:
            return None if args.has("s") else line
        return between.join(field for low, high in ranges for field in fields[low - 1 : high])

    return pick


COMMANDS = {"cut": cut}
