"""head and tail: files from the top or from the end."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterator

from dreams.lib.files.safefs import SafeFsError

from ..errors import UsageError
from ..mounts import trouble
from ..options import Spec, read
from ..process import Chunks, Process, Runner, raw
from .numbers import count

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
            if isinstance(chunks, Chunks) and not from_start:
                _skip_ahead(chunks, wanted, None if kind == "c" else end)
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


_NEAR = 256 * 1024
_FARTHEST = 16 * 1024 * 1024


def _skip_ahead(chunks: Chunks, wanted: int, end: bytes | None) -> None:
    """Near to the end of a large file: sessions of gigabytes are asked for their last lines. `end` None: bytes."""
    size = chunks.size()
    if end is None:
        chunks.go(max(size - wanted, 0))
        return
    near = _NEAR
    while near < size and near <= _FARTHEST:
        if chunks.peek(size - near, near).count(end) > wanted:
            chunks.go(size - near)
            return
        near *= 8


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


COMMANDS = {"head": head, "tail": tail}
