"""cut, tr, nl, rev, paste, fold: each line, or byte, by itself."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from ..errors import Refused, UsageError
from ..options import Args, Spec, read
from ..process import Process, Runner, raw
from .numbers import plain

# cut

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


# tr

_TR = Spec(
    flags={
        **{letter: letter for letter in "cdst"},
        "C": "c",
        "complement": "c",
        "delete": "d",
        "squeeze-repeats": "s",
        "truncate-set1": "t",
    }
)
_TR_CLASSES: dict[str, Callable[[int], bool]] = {
    "alnum": lambda byte: chr(byte).isalnum(),
    "alpha": lambda byte: chr(byte).isalpha(),
    "blank": lambda byte: byte in b" \t",
    "cntrl": lambda byte: byte < 32 or byte == 127,
    "digit": lambda byte: byte in b"0123456789",
    "graph": lambda byte: 32 < byte < 127,
    "lower": lambda byte: chr(byte).islower(),
    "print": lambda byte: 31 < byte < 127,
    "punct": lambda byte: 32 < byte < 127 and not chr(byte).isalnum(),
    "space": lambda byte: byte in b" \t\n\v\f\r",
    "upper": lambda byte: chr(byte).isupper(),
    "xdigit": lambda byte: byte in b"0123456789abcdefABCDEF",
}
_TR_ESCAPES = {"a": 7, "b": 8, "f": 12, "n": 10, "r": 13, "t": 9, "v": 11, "\\": 92}
_TR_CLASS = re.compile(r"\[:([a-z]+):\]")
_TR_REPEAT = re.compile(r"\[(\\[0-7]{1,3}|\\.|[^\\])\*(0?[0-9]*)\]", re.DOTALL)


def tr(name: str, argv: list[str]) -> Runner:
    args = read(name, _TR, argv)
    wanted = 1 if args.has("d") != args.has("s") else 2
    if len(args.operands) < wanted:
        raise UsageError("missing operand")
    if len(args.operands) > (1 if args.has("d") and not args.has("s") else 2):
        raise UsageError(f"extra operand '{args.operands[-1]}'")
    first = _tr_set(args.operands[0], 0)
    if args.has("c"):
        first = [byte for byte in range(256) if byte not in set(first)]
    second = _tr_set(args.operands[1], len(first)) if len(args.operands) > 1 else None
    return _tr_runner(args, first, second)


def _tr_runner(args: Args, first: list[int], second: list[int] | None) -> Runner:
    delete = bytes(set(first)) if args.has("d") else b""
    table: bytes | None = None
    if second is not None and not args.has("d"):
        table = _tr_table(first, second, truncate=args.has("t"))
    squeezed = _tr_squeezed(first, second) if args.has("s") else b""
    pattern = (
        re.compile(b"([" + b"".join(b"\\x%02x" % byte for byte in squeezed) + b"])\\1+") if squeezed else None
    )

    def run(process: Process) -> Iterator[bytes]:
        last = b""
        for chunk in process.stdin:
            data = chunk.translate(table, delete)
            if pattern is not None and data:
                # The byte before decides whether a run goes on from the chunk before.
                data = pattern.sub(rb"\1", last + data)[len(last) :]
                last = data[-1:] or last
            yield data

    return run


def _tr_squeezed(first: list[int], second: list[int] | None) -> bytes:
    return bytes(set(first if second is None else second))


def _tr_table(first: list[int], second: list[int], *, truncate: bool) -> bytes:
    if not second:
        raise UsageError("when not truncating set1, string2 must be non-empty")
    table = list(range(256))
    for index, byte in enumerate(first):
        if index < len(second) or not truncate:
            table[byte] = second[min(index, len(second) - 1)]
    return bytes(table)


def _tr_set(text: str, wanted: int) -> list[int]:
    """The bytes of a set; a repeat without a number fills it up to `wanted`."""
    out: list[int] = []
    at = 0
    while at < len(text):
        at = _tr_item(text, at, wanted, out)
    return out


def _tr_item(text: str, at: int, wanted: int, out: list[int]) -> int:
    if found := _TR_CLASS.match(text, at):
        if found[1] not in _TR_CLASSES:
            raise UsageError(f"invalid character class '{found[1]}'")
        out += [byte for byte in range(128) if _TR_CLASSES[found[1]](byte)]
        return found.end()
    if found := _TR_REPEAT.match(text, at):
        byte, _ = _tr_bytes(found[1], 0)
        times = int(found[2], 8 if found[2].startswith("0") else 10) if found[2] else 0
        out += byte * min(times or max(wanted - len(out), 0), 4096)
        return found.end()
    low, at = _tr_bytes(text, at)
    if text[at : at + 1] == "-" and at + 1 < len(text):
        high, at = _tr_bytes(text, at + 1)
        if high[0] < low[-1]:
            raise UsageError("range-endpoints are in reverse collating sequence order")
        out += [*low[:-1], *range(low[-1], high[0] + 1), *high[1:]]
        return at
    out += low
    return at


def _tr_bytes(text: str, at: int) -> tuple[list[int], int]:
    if text[at] != "\\" or at + 1 >= len(text):
        return list(raw(text[at])), at + 1
    if found := re.compile(r"\\([0-3]?[0-7]{1,2})").match(text, at):
        return [int(found[1], 8)], found.end()
    escape = text[at + 1]
    return [_TR_ESCAPES[escape]] if escape in _TR_ESCAPES else list(raw(escape)), at + 2


# nl, rev, paste, fold

_NL = Spec(
    values={
        "b": "b",
        "body-numbering": "b",
        "w": "w",
        "number-width": "w",
        "s": "s",
        "number-separator": "s",
        "n": "n",
        "number-format": "n",
        "v": "v",
        "starting-line-number": "v",
        "i": "i",
        "line-increment": "i",
    }
)
_NL_FORMATS = {"ln": b"%-*d", "rn": b"%*d", "rz": b"%0*d"}


def nl(name: str, argv: list[str]) -> Runner:
    args = read(name, _NL, argv)
    style = args.last("b", "t")
    if style not in ("a", "t", "n"):
        raise Refused("nl -b: a, t or n are read")
    fmt = _NL_FORMATS.get(args.last("n", "rn") or "")
    if fmt is None:
        raise UsageError("invalid line numbering format")
    width = min(max(plain(args.last("w", "6") or "", "invalid line number field width"), 1), 200)
    separator = raw(args.last("s", "\t") or "")
    first = plain(args.last("v", "1") or "", "invalid starting line number")
    step = plain(args.last("i", "1") or "", "invalid line number increment")

    def run(process: Process) -> Iterator[bytes]:
        number = first
        for _, chunks in process.inputs(args.operands):
            for line in process.lines(chunks):
                body = line.removesuffix(b"\n")
                if body in (b"\\:\\:\\:", b"\\:\\:", b"\\:"):
                    raise Refused("nl: logical pages are not on offer")
                if style == "a" or (style == "t" and body):
                    yield fmt % (width, number) + separator + body + b"\n"
                    number += step
                else:
                    yield b" " * (width + len(separator)) + body + b"\n"

    return run


def rev(name: str, argv: list[str]) -> Runner:
    args = read(name, Spec(), argv)

    def run(process: Process) -> Iterator[bytes]:
        for _, chunks in process.inputs(args.operands):
            for line in process.lines(chunks):
                end = b"\n" if line.endswith(b"\n") else b""
                yield line.removesuffix(b"\n")[::-1] + end

    return run


COMMANDS = {"cut": cut, "tr": tr, "nl": nl, "rev": rev}
