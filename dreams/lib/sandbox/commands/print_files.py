"""cat, head, tail and nl: print files, their start or end, or with line numbers."""

import re
import sys
from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import islice

from dreams.lib.files.safefs import SafeFsError
from dreams.lib.sandbox.mounts import trouble
from dreams.lib.sandbox.options import Args, Spec, count_of, digits_of, read
from dreams.lib.sandbox.process import Chunks, Process, Refused, Runner, UsageError, raw

# --- cat ----------------------------------------------------------------------------------------------------------

_CAT = Spec(
    flags=(
        "A,show-all b,number-nonblank E,show-ends e n,number s,squeeze-blank T,show-tabs t u "
        "v,show-nonprinting"
    ),
)


def _shown_byte(byte: int) -> bytes:
    if byte >= 128:
        return b"M-" + _shown_byte(byte - 128)
    if byte == 127:
        return b"^?"
    return bytes([byte]) if byte >= 32 else b"^" + bytes([byte + 64])


_UNPRINTABLE = re.compile(rb"[\x00-\x08\x0b-\x1f\x7f-\xff]")


@dataclass(slots=True)
class _CatStyle:
    number: bool
    nonblank: bool
    squeeze: bool
    ends: bool
    tabs: bool
    visible: bool

    @classmethod
    def of(cls, args: Args) -> "_CatStyle":
        def any_of(letters: str) -> bool:
            return any(args.has(letter) for letter in letters)

        return cls(args.has("n"), args.has("b"), args.has("s"), any_of("EAe"), any_of("TAt"), any_of("Aetv"))

    @property
    def plain(self) -> bool:
        return not (self.number or self.nonblank or self.squeeze or self.ends or self.tabs or self.visible)


def cat(name: str, argv: list[str]) -> Runner:
    args = read(name, _CAT, argv)
    style = _CatStyle.of(args)

    def run(process: Process) -> Iterator[bytes]:
        chunks = (chunk for _, source in process.inputs(args.operands) for chunk in source)
        return chunks if style.plain else _styled(process.lines(chunks), style)

    return run


def _styled(lines: Iterable[bytes], style: _CatStyle) -> Iterator[bytes]:
    number = blanks = 0
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
    body, end = line.removesuffix(b"\n"), line[-1:] if line.endswith(b"\n") else b""
    if style.visible:
        body = _UNPRINTABLE.sub(lambda found: _shown_byte(found[0][0]), body)
    elif style.ends and end and body.endswith(b"\r"):
        body = body[:-1] + b"^M"
    if style.tabs:
        body = body.replace(b"\t", b"^I")
    return body + (b"$" if style.ends and end else b"") + end


# --- nl -----------------------------------------------------------------------------------------------------------

_NL = Spec(values="b,body-numbering s,number-separator w,number-width")


def nl(name: str, argv: list[str]) -> Runner:
    args = read(name, _NL, argv)
    style = args.last("b", "t")
    if style not in ("a", "t", "n"):
        raise Refused("nl -b: a, t or n are read")
    width = min(max(digits_of(args.last("w", "6") or "", "invalid line number field width"), 1), 200)
    separator = raw(args.last("s", "\t") or "")

    def run(process: Process) -> Iterator[bytes]:
        number = 0
        for _, chunks in process.inputs(args.operands):
            for line in process.lines(chunks):
                body = line.removesuffix(b"\n")
                if body in (b"\\:\\:\\:", b"\\:\\:", b"\\:"):
                    raise Refused("nl: logical pages are not on offer")
                if style == "a" or (style == "t" and body):
                    number += 1
                    yield b"%*d" % (width, number) + separator + body + b"\n"
                else:
                    yield b" " * (width + len(separator)) + body + b"\n"

    return run


# --- head ---------------------------------------------------------------------------------------------------------

_NEVER_ENDS = "it never ends; read the file again instead"
_HEAD = Spec(flags="q,quiet,silent v,verbose", values="c,bytes n,lines")
_TAIL = replace(_HEAD, why_not=dict.fromkeys(("f", "F", "follow", "retry", "pid", "s"), _NEVER_ENDS))


@dataclass(slots=True)
class _Wanted:
    """The part of each file to print: `sign` is the `-` of head or the `+` of tail."""

    args: Args
    is_bytes: bool
    sign: str
    number: int

    @classmethod
    def of(cls, args: Args) -> "_Wanted":
        kind = args.last_of("n", "c") or "n"
        text = args.last(kind, "10") or ""
        number = count_of(text.lstrip("+-"), "bytes" if kind == "c" else "lines")
        return cls(args, kind == "c", text[:1], min(number, sys.maxsize))

    def headed(self, process: Process) -> Iterator[tuple[bytes, Iterator[bytes]]]:
        """Each input with the heading printed above it."""
        operands, choice = self.args.operands, self.args.last_of("q", "v")
        wanted = choice == "v" or (choice != "q" and len(operands) > 1)
        gap = b""
        for path in operands or ["-"]:
            chunks = _opened(process, path)
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


def _opened(process: Process, path: str) -> Iterator[bytes] | None:
    """Opens an input; a folder can be opened, and gets a heading, but cannot be read."""
    try:
        return process.chunks(path)
    except (OSError, SafeFsError) as error:
        process.complain(f"{path}: {trouble(error)}")
        return iter(()) if trouble(error) == "Is a directory" else None


def head(name: str, argv: list[str]) -> Runner:
    wanted = _Wanted.of(read(name, _HEAD, _classic(argv)))

    def run(process: Process) -> Iterator[bytes]:
        for heading, chunks in wanted.headed(process):
            yield heading
            lines = process.lines(chunks)
            if wanted.sign == "-":
                yield from _all_but(process, chunks if wanted.is_bytes else lines, wanted)
            else:
                yield from (
                    _first_bytes(chunks, wanted.number) if wanted.is_bytes else islice(lines, wanted.number)
                )

    return run


def _first_bytes(chunks: Iterator[bytes], wanted: int) -> Iterator[bytes]:
    while wanted > 0 and (chunk := next(chunks, b"")):
        yield chunk[:wanted]
        wanted -= len(chunk)


def _all_but(process: Process, pieces: Iterator[bytes], wanted: _Wanted) -> Iterator[bytes]:
    if wanted.is_bytes:
        data = b"".join(process.held(pieces))
        yield data[: max(len(data) - wanted.number, 0)]
        return
    waiting: deque[bytes] = deque()
    for line in pieces:
        waiting.append(line)
        process.meter.hold(len(line) + 64)
        if len(waiting) > wanted.number:
            process.meter.hold(-len(waiting[0]) - 64)
            yield waiting.popleft()
    process.meter.hold(-sum(len(line) + 64 for line in waiting))


# --- tail ---------------------------------------------------------------------------------------------------------


def tail(name: str, argv: list[str]) -> Runner:
    args = read(name, _TAIL, _plus(_classic(argv)))
    if argv and re.fullmatch(r"[-+][0-9]+[a-z]*", argv[0]) and len(args.operands) > 1:
        raise UsageError(f"option used in invalid context -- {argv[0][1:2]}; write -n {argv[0].lstrip('-')}")
    wanted = _Wanted.of(args)

    def run(process: Process) -> Iterator[bytes]:
        if not wanted.number and wanted.sign != "+":
            return  # nothing to print, so files are not even checked
        for heading, chunks in wanted.headed(process):
            yield heading
            if wanted.sign == "+":
                yield from (
                    _from_byte(chunks, wanted.number)
                    if wanted.is_bytes
                    else islice(process.lines(chunks), max(wanted.number - 1, 0), None)
                )
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
        chunks.go(max(size - wanted.number, 0))
        return
    near = _NEAR
    while near < size and near <= _FARTHEST:
        if chunks.peek(size - near, near).count(b"\n") > wanted.number:
            chunks.go(size - near)
            return
        near *= 8


def _from_byte(chunks: Iterator[bytes], first: int) -> Iterator[bytes]:
    skip = max(first - 1, 0)
    for chunk in chunks:
        yield chunk[skip:]
        skip = max(skip - len(chunk), 0)


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
        while waiting and size - len(waiting[0]) >= wanted:
            size -= len(waiting[0])
            process.meter.hold(-len(waiting.popleft()))
    process.meter.hold(-size)
    data = b"".join(waiting)
    yield data[max(len(data) - wanted, 0) :]


COMMANDS = {"cat": cat, "head": head, "tail": tail, "nl": nl}
