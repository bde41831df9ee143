"""xargs over the commands on offer: it starts no program, since none of them is one."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from ..errors import Refused, UsageError
from ..options import Spec, read
from ..process import Process, Runner
from .numbers import plain

_XARGS = Spec(
    flags={"0": "0", "null": "0", "r": "r", "no-run-if-empty": "r"},
    values={"n": "n", "max-args": "n", "I": "I", "d": "d", "delimiter": "d"},
    why_not={
        "a": "names come from the input",
        "arg-file": "names come from the input",
        "P": "commands run one by one",
    },
)
_LONGEST = 128 * 1024
_MOST = 20_000
_TAKES_VALUE = ("-n", "-I", "-d")
_ITEM = re.compile(rb"[ \t\n]*((?:'[^'\n]*'|\"[^\"\n]*\"|\\.|[^ \t\n'\"\\])+)", re.DOTALL)
_PIECE = re.compile(rb"'([^'\n]*)'|\"([^\"\n]*)\"|\\(.)|([^'\"\\]+)", re.DOTALL)


def xargs(name: str, argv: list[str]) -> Runner:
    own, command = _parted(argv)
    args = read(name, _XARGS, own)
    command = command or ["echo"]
    _refuse_unknown(command, args.last("I"))
    most = plain(args.last("n") or "", "invalid number for -n option") if args.has("n") else _MOST
    delimiter = b"\0" if args.has("0") else _delimiter(args.last("d"))
    mark = args.last("I")

    def run(process: Process) -> Iterator[bytes]:
        data = b"".join(process.held(process.stdin))
        broken = False
        if mark is not None:
            lines = [line.lstrip(b" \t") for line in data.split(delimiter or b"\n")]
            texts = [line.decode("utf-8", "surrogateescape") for line in lines if line]
            calls = [[word.replace(mark, text) for word in command] for text in texts]
        else:
            items, left = _items(data, delimiter)
            broken = left != b""
            calls = [[*command, *part] for part in _parts(items, command, most)]
            if not items and not broken and not args.has("r"):
                calls = [command]
        for call in calls:
            yield from _one(process, call)
        if broken:
            # What stood before the quote is done by then, as with GNU's.
            process.complain("unmatched quote; use xargs -d '\\n' for names with quotes")

    return run


def _parted(argv: list[str]) -> tuple[list[str], list[str]]:
    """xargs' own options, and the command: everything from the first word that is no option."""
    at = 0
    while at < len(argv) and argv[at].startswith("-") and argv[at] != "-":
        at += 2 if argv[at] in (*_TAKES_VALUE, "--max-args", "--delimiter") else 1
    return argv[:at], argv[at:]


def _refuse_unknown(command: list[str], mark: str | None) -> None:
    from . import find_command  # noqa: PLC0415 - the list of commands holds this one

    compile_command = find_command(command[0])
    if compile_command is None or command[0] in ("xargs", "cd"):
        raise Refused(f"xargs {command[0][:60]!r} is not one of the commands here")
    try:
        compile_command(command[0], command[1:])
    except UsageError:
        return  # it may lack what the input brings


def _delimiter(text: str | None) -> bytes | None:
    known = {"\\n": b"\n", "\\0": b"\0", "\\t": b"\t"}
    if text is None:
        return None
    if text in known:
        return known[text]
    if len(text) != 1 or not text.isascii():
        raise Refused("xargs -d: one character, \\n, \\t or \\0")
    return text.encode()


def _items(data: bytes, delimiter: bytes | None) -> tuple[list[str], bytes]:
    """The names, and what is left behind a quote that is never closed."""
    left = b""
    if delimiter is not None:
        found = data.split(delimiter)
        found = found[:-1] if found[-1] == b"" else found
    else:
        found, left = _quoted(data)
    return [item.decode("utf-8", "surrogateescape") for item in found], left


def _quoted(data: bytes) -> tuple[list[bytes], bytes]:
    found: list[bytes] = []
    at = 0
    while match := _ITEM.match(data, at):
        found.append(b"".join(b"".join(filter(None, piece)) for piece in _PIECE.findall(match[1])))
        at = match.end()
    if data[at : at + 1] in (b"'", b'"') and found and not data[:at].endswith((b" ", b"\t", b"\n")):
        found.pop()  # `q'x`: the quote belongs to the word before it
    return found, data[at:].strip(b" \t\n")


def _parts(items: list[str], command: list[str], most: int) -> Iterator[list[str]]:
    part: list[str] = []
    base = size = sum(len(word) + 1 for word in command)
    for item in items:
        if part and (len(part) >= most or size + len(item) + 1 > _LONGEST):
            yield part
            part, size = [], base
        part.append(item)
        size += len(item) + 1
    if part:
        yield part


def _one(process: Process, call: list[str]) -> Iterator[bytes]:
    """One run, with an empty input. Its failure is 123, as in GNU's."""
    process.meter.tick()
    child = replace(process, name=call[0], stdin=iter(()), status=0)
    if process.spawn is not None:
        yield from process.spawn(call, child)
    if child.status:
        process.status = 123


COMMANDS = {"xargs": xargs}
