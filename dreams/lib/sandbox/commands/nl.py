"""nl: lines with their numbers."""

from __future__ import annotations

from collections.abc import Iterator

from ..errors import Refused, UsageError
from ..options import Spec, read
from ..process import Process, Runner, raw
from .numbers import plain

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


COMMANDS = {"nl": nl}
