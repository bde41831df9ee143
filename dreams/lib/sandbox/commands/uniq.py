"""uniq, in the C locale."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from ..errors import Refused
from ..options import Args, Spec, read
from ..process import Process, Runner
from .numbers import plain
from .sort.keys import next_field

_UNIQ = Spec(
    flags={
        **{letter: letter for letter in "cdiuz"},
        "count": "c",
        "repeated": "d",
        "ignore-case": "i",
        "unique": "u",
        "zero-terminated": "z",
    },
    values={"f": "f", "skip-fields": "f", "s": "s", "skip-chars": "s", "w": "w", "check-chars": "w"},
)


def uniq(name: str, argv: list[str]) -> Runner:
    args = read(name, _UNIQ, argv)
    if len(args.operands) > 1:
        raise Refused("uniq with a second file: it would be written over; use: uniq FILE1")
    fields = plain(args.last("f") or "0", "invalid number of fields to skip")
    chars = plain(args.last("s") or "0", "invalid number of bytes to skip")
    width = plain(args.last("w"), "invalid number of bytes to compare") if args.has("w") else None  # type: ignore[arg-type]  # has() says it is there
    end = b"\0" if args.has("z") else b"\n"

    def key(line: bytes) -> bytes:
        at = 0
        for _ in range(min(fields, len(line))):
            at = next_field(line, at, None)
        part = line[at + chars :]
        part = part if width is None else part[:width]
        return part.upper() if args.has("i") else part

    def run(process: Process) -> Iterator[bytes]:
        for _, chunks in process.inputs(args.operands):
            lines = (line.removesuffix(end) for line in process.lines(chunks, end))
            yield from _groups(lines, key, args, end)

    return run


def _groups(lines: Iterator[bytes], key: Callable[[bytes], bytes], args: Args, end: bytes) -> Iterator[bytes]:
    first: bytes | None = None
    count = 0
    for line in lines:
        if first is not None and key(first) == key(line):
            count += 1
            continue
        if first is not None:
            yield _group(first, count, args, end)
        first, count = line, 1
    if first is not None:
        yield _group(first, count, args, end)


def _group(line: bytes, count: int, args: Args, end: bytes) -> bytes:
    if (args.has("d") and count == 1) or (args.has("u") and count > 1):
        return b""
    return (b"%7d " % count if args.has("c") else b"") + line + end


COMMANDS = {"uniq": uniq}
