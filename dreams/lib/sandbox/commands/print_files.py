"""cat, head, tail and nl: print files, their start or end, or with line numbers."""

import re
import sys
from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import islice

from dreams.lib.files.safefs import SafeFsError
from dreams.lib.sandbox.mounts import trouble
from dreams.lib.sandbox.options import Args, Spec, digits_of, read
from dreams.lib.sandbox.process import Chunks, Process, Refused, Runner, UsageError, raw
from dreams.lib.secrets.redact import LONGEST

# --- cat ----------------------------------------------------------------------------------------------------------

_CAT = Spec(
    flags="A,show-all n,number u",
    why_not={
        **dict.fromkeys(("E", "e", "T", "t", "v", "show-ends", "show-tabs", "show-nonprinting"), "use -A"),
        **dict.fromkeys(("b", "s", "number-nonblank", "squeeze-blank"), "use -n"),
    },
)


def _shown_byte(byte: int) -> bytes:
    if byte >= 128:
        return b"M-" + _shown_byte(byte - 128)
    if byte == 127:
        return b"^?"
    return bytes([byte]) if byte >= 32 else b"^" + bytes([byte + 64])


_UNPRINTABLE = re.compile(rb"[\x00-\x1f\x7f-\xff]")


def cat(name: str, argv: list[str]) -> Runner:
    args = read(name, _CAT, argv)

    def run(process: Process) -> Iterator[bytes]:
        chunks = (chunk for _, source in process.inputs(args.operands) for chunk in source)
        return _styled(process.lines(chunks), args) if args.has("A") or args.has("n") else chunks

    return run


def _styled(lines: Iterable[bytes], args: Args) -> Iterator[bytes]:
    for number, line in enumerate(lines, 1):
        head = b"%6d\t" % number if args.has("n") else b""
        yield head + (_line_shown(line) if args.has("A") else line)


def _line_shown(line: bytes) -> bytes:
    body = _UNPRINTABLE.sub(lambda found: _shown_byte(found[0][0]), line.removesuffix(b"\n"))
    return body + (b"$\n" if line.endswith(b"\n") else b"")


# --- nl -----------------------------------------------------------------------------------------------------------

_NL = Spec(
    values="b,body-numbering",
    why_not=dict.fromkeys(("s", "w", "number-separator", "number-width"), "put sed behind it"),
)


def nl(name: str, argv: list[str]) -> Runner:
    args = read(name, _NL, argv)
    style = args.last("b", "t")
    if style not in ("a", "t", "n"):
        raise Refused("nl -b: a, t or n are read")

    def run(process: Process) -> Iterator[bytes]:
        number = 0
        for _, chunks in process.inputs(args.operands):
            for line in process.lines(chunks):
                body = line.removesuffix(b"\n")
                if body in (b"\\:\\:\\:", b"\\:\\:", b"\\:"):
                    raise Refused("nl: logical pages are not on offer")
                if style == "a" or (style == "t" and body):
                    number += 1
                    yield b"%6d\t" % number + body + b"\n"
                else:
                    yield b" " * 7 + body + b"\n"

    return run


# --- head ---------------------------------------------------------------------------------------------------------

_NEVER_ENDS = "it never ends; read the file again instead"
_HEAD = Spec(flags="q,quiet,silent v,verbose", values="c,bytes n,lines")
_TAIL = replace(_HEAD, why_not=dict.fromkeys(("f", "F", "follow", "retry", "pid", "s"), _NEVER_ENDS))


@dataclass(slots=True)
class _Wanted:
    """The part of each file to print: `sign` is the `+` of tail."""

    args: Args
    is_bytes: bool
    sign: str
    number: int

    @classmethod
    def of(cls, args: Args) -> "_Wanted":
        kind = args.last_of("n", "c") or "n"
        text = args.last(kind, "10") or ""
        if re.fullmatch(r"[0-9]+[a-zA-Z]+", text):
            raise Refused(f"-{kind} {text[:20]}: write the number without a unit, as in -c 4096")
        number = digits_of(text.lstrip("+-"), f"invalid number of {'bytes' if kind == 'c' else 'lines'}")
        return cls(args, kind == "c", text[:1], min(number, sys.maxsize))

    def headed(self, process: Process) -> Iterator[tuple[bytes, Iterator[bytes]]]:
        """Each input with the heading printed above it."""
        operands, choice = self.args.operands, self.args.last_of("q", "v")
        wanted = choice == "v" or (choice != "q" and len(operands) > 1)
        gap = b""
        for path in operands or ["-"]:
            chunks = opened(process, path)
            if chunks is None:
                continue
            shown = b"standard input" if path == "-" else raw(path)
            yield gap + b"==> " + shown + b" <==\n" if wanted else b"", chunks
            gap = b"\n"


def _classic(argv: list[str]) -> list[str]:
    """`-5` as `-n 5`, if it is the first argument."""
    if argv and (found := re.fullmatch(r"-([0-9]+)([clqv]*)", argv[0])):
        letter = "c" if "c" in found[2] else "n"
        others = "".join(flag for flag in found[2] if flag in "qv")
        return [*([f"-{others}"] if others else []), f"-{letter}", found[1], *argv[1:]]
    return argv


def opened(process: Process, path: str) -> Iterator[bytes] | None:
    """Opens an input; a folder can be opened, and gets a heading, but cannot be read."""
    try:
        return process.chunks(path)
    except (OSError, SafeFsError) as error:
        process.complain(f"{path}: {trouble(error)}")
        return iter(()) if trouble(error) == "Is a directory" else None


def head(name: str, argv: list[str]) -> Runner:
    wanted = _Wanted.of(read(name, _HEAD, _classic(argv)))
    if wanted.sign == "-":
        raise Refused("head without the last lines: count them with wc -l, and name how many to print")

    def run(process: Process) -> Iterator[bytes]:
        for heading, chunks in wanted.headed(process):
            yield heading
            lines = process.lines(chunks)
            yield from (
                _first_bytes(process, chunks, wanted.number)
                if wanted.is_bytes
                else islice(lines, wanted.number)
            )

    return run


def _first_bytes(process: Process, chunks: Iterator[bytes], wanted: int) -> Iterator[bytes]:
    kept = b""
    while len(kept) < wanted + LONGEST and (chunk := next(chunks, b"")):
        kept += chunk
        passed = max(0, min(len(kept), wanted) - LONGEST)
        yield kept[:passed]
        kept, wanted = kept[passed:], wanted - passed
    yield process.part(kept, 0, wanted)


# --- tail ---------------------------------------------------------------------------------------------------------


def tail(name: str, argv: list[str]) -> Runner:
    args = read(name, _TAIL, _plus(_classic(argv)))
    if argv and re.fullmatch(r"[-+][0-9]+[a-z]*", argv[0]) and len(args.operands) > 1:
        raise UsageError(f"option used in invalid context -- {argv[0][1:2]}; write -n {argv[0].lstrip('-')}")
    wanted = _Wanted.of(args)
    if wanted.sign == "+" and wanted.is_bytes:
        raise Refused("tail from a byte on: use tail -n +2 for lines, or tail -c for the last bytes")

    def run(process: Process) -> Iterator[bytes]:
        if not wanted.number and wanted.sign != "+":
            return  # nothing to print, so files are not even checked
        for heading, chunks in wanted.headed(process):
            yield heading
            if wanted.sign == "+":
                yield from islice(process.lines(chunks), max(wanted.number - 1, 0), None)
                continue
            if isinstance(chunks, Chunks):
                _skip_ahead(chunks, wanted)
            yield from (
                _last_bytes(process, chunks, wanted.number)
                if wanted.is_bytes
                else _last_lines(process, process.lines(chunks), wanted.number)
            )

    return run


def _plus(argv: list[str]) -> list[str]:
    """`tail +5 FILE` as `tail -n +5 FILE`."""
    return ["-n", argv[0], *argv[1:]] if argv and re.fullmatch(r"\+[0-9]+", argv[0]) else argv


_NEAR = 256 * 1024  # first read back from the end; chosen
_FARTHEST = 16 * 1024 * 1024  # then the file is read from its start; chosen


def _skip_ahead(chunks: Chunks, wanted: _Wanted) -> None:
    """Moves close to the end of a large file: agents read the last lines of transcripts of gigabytes."""
    size = chunks.size()
    if wanted.is_bytes:
        chunks.go(max(size - wanted.number - LONGEST, 0))
        return
    near = _NEAR
    while near < size and near <= _FARTHEST:
        if chunks.peek(size - near, near).count(b"\n") > wanted.number:
            chunks.go(size - near)
            return
        near *= 8


def _last_lines(process: Process, lines: Iterator[bytes], wanted: int) -> Iterator[bytes]:
    waiting: deque[bytes] = deque()
    for line in lines:
        waiting.append(line)
        process.meter.hold(len(line) + 64)
        if len(waiting) > wanted:
            process.meter.hold(-len(waiting.popleft()) - 64)
    process.meter.hold(-sum(len(line) + 64 for line in waiting))
    yield from waiting


def _last_bytes(process: Process, chunks: Iterator[bytes], wanted: int) -> Iterator[bytes]:
    waiting: deque[bytes] = deque()
    size = 0
    for chunk in chunks:
        waiting.append(chunk)
        process.meter.hold(len(chunk))
        size += len(chunk)
        while waiting and size - len(waiting[0]) >= wanted + LONGEST:
            size -= len(waiting[0])
            process.meter.hold(-len(waiting.popleft()))
    process.meter.hold(-size)
    data = b"".join(waiting)
    yield process.part(data, max(len(data) - wanted, 0), len(data))


COMMANDS = {"cat": cat, "head": head, "tail": tail, "nl": nl}
