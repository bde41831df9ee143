"""sort, in the C locale."""

from __future__ import annotations

from collections.abc import Iterator

from ...errors import Refused as Refused
from ...errors import UsageError
from ...options import Args, Spec, read
from ...process import Process, Runner, raw
from ..numbers import plain as plain
from .keys import Key, Order, read_key, refuse_mixed

_WRITES = "it writes a file"
_SORT = Spec(
    flags={
        **{letter: letter for letter in "bdfhinrsuVczCM"},
        "ignore-leading-blanks": "b",
        "dictionary-order": "d",
        "ignore-case": "f",
        "human-numeric-sort": "h",
        "ignore-nonprinting": "i",
        "numeric-sort": "n",
        "month-sort": "M",
        "reverse": "r",
        "stable": "s",
        "unique": "u",
        "version-sort": "V",
        "zero-terminated": "z",
    },
    values={"k": "k", "key": "k", "t": "t", "field-separator": "t"},
    why_not={
        "o": _WRITES,
        "output": _WRITES,
        "compress-program": "it runs a program",
        "T": _WRITES,
        "temporary-directory": _WRITES,
        "files0-from": "file names are not taken from files",
    },
)


def sort(name: str, argv: list[str]) -> Runner:
    args = read(name, _SORT, argv)
    separator = _separator(args)
    overall = "".join(letter for letter in "bdfhinrVM" if args.has(letter))
    keys = [read_key(text, overall) for text in args.all("k")] or [
        Key(start_blanks="b" in overall, end_blanks="b" in overall, modes=overall)
    ]
    for key in keys:
        refuse_mixed(key.modes)
    end = b"\0" if args.has("z") else b"\n"
    order = Order(keys, separator, "r" in overall, args.has("s") or args.has("u"))

    def run(process: Process) -> Iterator[bytes]:
        if args.has("c") or args.has("C"):
            return _checked(process, args, order, end)
        return _sorted(process, args, order, end)

    return run


def _separator(args: Args) -> bytes | None:
    text = args.last("t")
    if text is None:
        return None
    if text == "\\0":
        return b"\0"
    if len(raw(text)) != 1:
        raise UsageError("empty tab" if not text else f"multi-character tab '{text}'", 2)
    return raw(text)


def _sorted(process: Process, args: Args, order: Order, end: bytes) -> Iterator[bytes]:
    lines: list[bytes] = []
    for path in args.operands or ["-"]:
        chunks = process.try_chunks(path, 2, "cannot read: {}: {}")
        if chunks is None:
            return
        lines += process.held(line.removesuffix(end) for line in process.lines(chunks, end))
    previous: bytes | None = None
    for line in order.sort(lines):
        process.meter.tick()
        if args.has("u") and previous is not None and order.after(previous, line) == 0:
            continue
        previous = line
        yield line + end


def _checked(process: Process, args: Args, order: Order, end: bytes) -> Iterator[bytes]:
    if len(args.operands) > 1:
        raise UsageError(f"extra operand '{args.operands[1]}' not allowed with -c", 2)
    previous: bytes | None = None
    for path, chunks in process.inputs(args.operands, 2):
        for number, whole in enumerate(process.lines(chunks, end), start=1):
            line = whole.removesuffix(end)
            if previous is not None and order.after(previous, line) > (-1 if args.has("u") else 0):
                if args.has("c"):
                    process.complain(f"{path}:{number}: disorder: {line.decode('utf-8', 'surrogateescape')}")
                process.status = 1
                return
            previous = line
    yield b""


COMMANDS = {"sort": sort}
