"""cat, head, tail, tac, wc: files from top to bottom."""

from __future__ import annotations

import re
import stat as st
from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from dreams.safefs import SafeFsError

from ..errors import UsageError
from ..mounts import trouble
from ..options import Spec, read
from ..process import Process, Runner, raw
from .numbers import count

# cat

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


# head and tail

_QUIET = {"q": "q", "quiet": "q", "silent": "q", "v": "v", "verbose": "v", "z": "z", "zero-terminated": "z"}
_COUNTS = {"n": "n", "lines": "n", "c": "c", "bytes": "c"}
_NEVER_ENDS = "it never ends; read the file again instead"
_HEAD = Spec(flags=_QUIET, values=_COUNTS)
_TAIL = Spec(
    flags=_QUIET,
    values=_COUNTS,
    why_not=dict.fromkeys(("f", "F", "follow", "retry", "pid", "s"), _NEVER_ENDS),
)


def _classic(argv: list[str]) -> list[str]:
    """`-5` as `-n 5`, where it stands first."""
    if argv and (found := re.fullmatch(r"-([0-9]+)([clqvz]*)", argv[0])):
        letter = "c" if "c" in found[2] else "n"
        others = "".join(flag for flag in found[2] if flag in "qvz")
        return [*([f"-{others}"] if others else []), f"-{letter}", found[1], *argv[1:]]
    return argv


def _headings(process: Process, paths: list[str], wanted: bool) -> Iterator[tuple[bytes, Iterator[bytes]]]:
    """Each input with the heading to print above it."""
    first = True
    for path in paths or ["-"]:
        chunks = _opened(process, path)
        if chunks is None:
            continue
        heading = b""
        if wanted:
            shown = b"standard input" if path == "-" else raw(path)
            heading = (b"" if first else b"\n") + b"==> " + shown + b" <==\n"
        first = False
        yield heading, chunks


def _opened(process: Process, path: str) -> Iterator[bytes] | None:
    """A folder can be opened, and has a heading, but not read."""
    try:
        return process.chunks(path)
    except (OSError, SafeFsError) as error:
        process.complain(f"{path}: {trouble(error)}")
        return iter(()) if trouble(error) == "Is a directory" else None


def _wants_heading(args_last: str | None, operands: list[str]) -> bool:
    return args_last == "v" or (args_last != "q" and len(operands) > 1)


def head(name: str, argv: list[str]) -> Runner:
    args = read(name, _HEAD, _classic(argv))
    kind = args.last_of("n", "c") or "n"
    text = args.last(kind, "10") or ""
    elide = text.startswith("-")
    wanted = count(text.removeprefix("-"), "bytes" if kind == "c" else "lines")
    end = b"\0" if args.has("z") else b"\n"

    def run(process: Process) -> Iterator[bytes]:
        for heading, chunks in _headings(
            process, args.operands, _wants_heading(args.last_of("q", "v"), args.operands)
        ):
            if heading:
                yield heading
            if kind == "c":
                yield from _all_but_bytes(process, chunks, wanted) if elide else _first_bytes(chunks, wanted)
            elif elide:
                yield from _all_but_lines(process, process.lines(chunks, end), wanted)
            else:
                yield from _first_lines(process.lines(chunks, end), wanted)

    return run


def _first_lines(lines: Iterator[bytes], wanted: int) -> Iterator[bytes]:
    if wanted:
        for number, line in enumerate(lines, start=1):
            yield line
            if number >= wanted:
                return


def _first_bytes(chunks: Iterator[bytes], wanted: int) -> Iterator[bytes]:
    left = wanted
    while left > 0:
        chunk = next(chunks, b"")
        if not chunk:
            return
        yield chunk[:left]
        left -= len(chunk)


def _all_but_lines(process: Process, lines: Iterator[bytes], kept: int) -> Iterator[bytes]:
    waiting: deque[bytes] = deque()
    for line in lines:
        waiting.append(line)
        process.meter.hold(len(line) + 64)
        if len(waiting) > kept:
            process.meter.hold(-len(waiting[0]) - 64)
            yield waiting.popleft()
    process.meter.hold(-sum(len(line) + 64 for line in waiting))


def _all_but_bytes(process: Process, chunks: Iterator[bytes], kept: int) -> Iterator[bytes]:
    data = b"".join(process.held(chunks))
    yield data[: max(len(data) - kept, 0)]


def tail(name: str, argv: list[str]) -> Runner:
    args = read(name, _TAIL, _plus(_classic(argv)))
    if argv and re.fullmatch(r"[-+][0-9]+[a-z]*", argv[0]) and len(args.operands) > 1:
        raise UsageError(f"option used in invalid context -- {argv[0][1:2]}; write -n {argv[0].lstrip('-')}")
    kind = args.last_of("n", "c") or "n"
    text = args.last(kind, "10") or ""
    from_start = text.startswith("+")
    wanted = count(
        text.lstrip("+") if from_start else text.removeprefix("-"), "bytes" if kind == "c" else "lines"
    )
    end = b"\0" if args.has("z") else b"\n"

    def run(process: Process) -> Iterator[bytes]:
        if not wanted and not from_start:
            return  # as GNU does: not even a missing file is noticed
        for heading, chunks in _headings(
            process, args.operands, _wants_heading(args.last_of("q", "v"), args.operands)
        ):
            if heading:
                yield heading
            if kind == "c":
                yield from _from_byte(chunks, wanted) if from_start else _last_bytes(process, chunks, wanted)
            elif from_start:
                yield from _from_line(process.lines(chunks, end), wanted)
            else:
                yield from _last_lines(process, process.lines(chunks, end), wanted)

    return run


def _plus(argv: list[str]) -> list[str]:
    """`tail +5 FILE` as `tail -n +5 FILE`."""
    return ["-n", argv[0], *argv[1:]] if argv and re.fullmatch(r"\+[0-9]+", argv[0]) else argv


def _from_line(lines: Iterator[bytes], first: int) -> Iterator[bytes]:
    for number, line in enumerate(lines, start=1):
        if number >= first:
            yield line


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


def tac(name: str, argv: list[str]) -> Runner:
    args = read(name, Spec(), argv)

    def run(process: Process) -> Iterator[bytes]:
        for _, chunks in process.inputs(args.operands):
            yield from reversed(process.held(process.lines(chunks)))

    return run


# wc

_WC = Spec(
    flags={
        **{letter: letter for letter in "clmwL"},
        "bytes": "c",
        "chars": "m",
        "lines": "l",
        "words": "w",
        "max-line-length": "L",
    },
    why_not={"files0-from": "file names are not taken from files"},
)
_NOT_PRINTING = bytes(byte for byte in range(256) if not 32 <= byte < 127 and byte not in b"\t\n\v\f\r")
_SPACES = b" \t\n\v\f\r"


@dataclass(slots=True)
class _Counts:
    lines: int = 0
    words: int = 0
    size: int = 0
    longest: int = 0

    def add(self, other: _Counts) -> None:
        self.lines += other.lines
        self.words += other.words
        self.size += other.size
        self.longest = max(self.longest, other.longest)


def wc(name: str, argv: list[str]) -> Runner:
    args = read(name, _WC, argv)
    wanted = [letter for letter in "lwmcL" if args.has(letter)] or ["l", "w", "c"]

    def run(process: Process) -> Iterator[bytes]:
        width = _width(process, args.operands, len(wanted))
        total = _Counts()
        for path in args.operands or ["-"]:
            counts = _count_one(process, path, wanted)
            if counts is not None:
                total.add(counts)
                yield _row(counts, wanted, width, raw(path) if args.operands else b"")
        if len(args.operands) > 1:
            yield _row(total, wanted, width, b"total")

    return run


def _count_one(process: Process, path: str, wanted: list[str]) -> _Counts | None:
    try:
        return _counted(process, process.chunks(path), wanted)
    except IsADirectoryError as error:
        process.complain(f"{path}: {trouble(error)}")
        return _Counts()
    except (OSError, SafeFsError) as error:
        process.complain(f"{path}: {trouble(error)}")
        return _Counts() if trouble(error) == "Is a directory" else None


def _counted(process: Process, chunks: Iterator[bytes], wanted: list[str]) -> _Counts:
    counts = _Counts()
    in_word = False
    column = 0
    for chunk in chunks:
        counts.size += len(chunk)
        counts.lines += chunk.count(b"\n")
        if "w" in wanted:
            in_word = _count_words(chunk, in_word, counts)
        if "L" in wanted:
            column = _measure(chunk, column, counts)
        process.meter.tick()
    return counts


def _count_words(chunk: bytes, in_word: bool, counts: _Counts) -> bool:
    """In the C locale bytes that do not print neither make nor end a word."""
    text = chunk.translate(None, _NOT_PRINTING)
    if not text:
        return in_word
    counts.words += len(text.split()) - (in_word and text[:1] not in _SPACES_SET)
    return text[-1:] not in _SPACES_SET


_SPACES_SET = frozenset(bytes([byte]) for byte in _SPACES)


def _measure(chunk: bytes, column: int, counts: _Counts) -> int:
    for piece in re.split(rb"([\n\r\f\t])", chunk.translate(None, _NOT_PRINTING + b"\v")):
        if piece in (b"\n", b"\r", b"\f"):
            column = 0
        elif piece == b"\t":
            column += 8 - column % 8
        else:
            column += len(piece)
        counts.longest = max(counts.longest, column)
    return column


def _width(process: Process, paths: list[str], columns: int) -> int:
    """As wc does: as wide as the sum of all sizes, at least 7 when something is no regular file."""
    if len(paths or ["-"]) == 1 and columns == 1:
        return 1
    total, least = 0, 1
    for path in paths or ["-"]:
        try:
            stat = process.stat(path) if path != "-" else None
        except (OSError, SafeFsError):
            continue
        if stat is not None and st.S_ISREG(stat.st_mode):
            total += stat.st_size
        else:
            least = 7
    return max(len(str(total)), least)


def _row(counts: _Counts, wanted: list[str], width: int, name: bytes) -> bytes:
    values = {"l": counts.lines, "w": counts.words, "m": counts.size, "c": counts.size, "L": counts.longest}
    row = b" ".join(b"%*d" % (width, values[letter]) for letter in wanted)
    return row + (b" " + name if name else b"") + b"\n"


COMMANDS = {"cat": cat, "head": head, "tail": tail, "tac": tac, "wc": wc}
