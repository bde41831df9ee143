"""tr."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from ..errors import UsageError
from ..options import Args, Spec, read
from ..process import Process, Runner, raw

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


COMMANDS = {"tr": tr}
