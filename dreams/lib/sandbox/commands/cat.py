"""cat."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from ..options import Spec, read
from ..process import Process, Runner

_CAT = Spec(
    flags={
        **{letter: letter for letter in "AbeEnstTuv"},
        "show-all": "A",
        "number-nonblank": "b",
        "show-ends": "E",
        "number": "n",
        "squeeze-blank": "s",
        "show-tabs": "T",
        "show-nonprinting": "v",
    }
)


def _shown_byte(byte: int) -> bytes:
    if byte >= 128:
        return b"M-" + _shown_byte(byte - 128)
    if byte == 127:
        return b"^?"
    return bytes([byte]) if byte >= 32 else b"^" + bytes([byte + 64])


_NONPRINTING = {byte: _shown_byte(byte) for byte in range(256) if byte not in (9, 10)}
_HIGH_TAB = re.compile(rb"[\x00-\x08\x0b-\x1f\x7f-\xff]")


@dataclass(slots=True)
class _CatStyle:
    number: bool
    nonblank: bool
    squeeze: bool
    ends: bool
    tabs: bool
    visible: bool

    @property
    def plain(self) -> bool:
        return not (self.number or self.nonblank or self.squeeze or self.ends or self.tabs or self.visible)


def cat(name: str, argv: list[str]) -> Runner:
    args = read(name, _CAT, argv)
    style = _CatStyle(
        number=args.has("n"),
        nonblank=args.has("b"),
        squeeze=args.has("s"),
        ends=args.has("E") or args.has("A") or args.has("e"),
        tabs=args.has("T") or args.has("A") or args.has("t"),
        visible=any(args.has(letter) for letter in "Aetv"),
    )

    def run(process: Process) -> Iterator[bytes]:
        chunks = (chunk for _, source in process.inputs(args.operands) for chunk in source)
        return chunks if style.plain else _styled(process.lines(chunks), style)

    return run


def _styled(lines: Iterable[bytes], style: _CatStyle) -> Iterator[bytes]:
    number = 0
    blanks = 0
    for line in lines:
        blanks = blanks + 1 if line == b"\n" else 0
        if style.squeeze and blanks > 1:
            continue
        head = b""
        if (style.nonblank and line != b"\n") or (style.number and not style.nonblank):
            number += 1
            head = b"%6d\t" % number
        yield head + _line_shown(line, style)


def _line_shown(line: bytes, style: _CatStyle) -> bytes:
    body, end = (line[:-1], b"\n") if line.endswith(b"\n") else (line, b"")
    carriage = style.ends and not style.visible and end and body.endswith(b"\r")
    if carriage:
        body = body[:-1]
    if style.visible:
        body = _HIGH_TAB.sub(lambda found: _NONPRINTING[found[0][0]], body)
    if style.tabs:
        body = body.replace(b"\t", b"^I")
    if carriage:
        body += b"^M"
    return body + (b"$" if style.ends and end else b"") + end


COMMANDS = {"cat": cat}
