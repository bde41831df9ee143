"""du, checksums, comm, paste: smaller ones."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Callable, Generator, Iterator

from dreams.safefs import SafeFsError

from ..errors import Refused, UsageError
from ..mounts import trouble
from ..options import Args, Spec, read
from ..process import Process, Runner, is_folder, raw
from . import looks
from .numbers import plain

_DEPTH = 64
_MOST_FILES = 100
_DU = Spec(
    flags={
        **{letter: letter for letter in "ahsbckm"},
        "all": "a",
        "human-readable": "h",
        "summarize": "s",
        "bytes": "b",
        "total": "c",
        "apparent-size": "apparent",
    },
    values={"d": "d", "max-depth": "d"},
    why_not={"L": "links are never followed", "files0-from": "file names are not taken from files"},
)


def du(name: str, argv: list[str]) -> Runner:
    args = read(name, _DU, argv)
    if args.has("s") and args.has("a"):
        raise UsageError("cannot both summarize and show all entries")
    deepest = 0 if args.has("s") else plain(args.last("d") or str(_DEPTH), "invalid maximum depth")
    return lambda process: _Usage(process, args, deepest).run()


class _Usage:
    def __init__(self, process: Process, args: Args, deepest: int) -> None:
        self._process = process
        self._args = args
        self._deepest = deepest
        self._seen: set[tuple[int, int]] = set()

    def run(self) -> Iterator[bytes]:
        total = 0
        for path in self._args.operands or ["."]:
            stat = self._stat(path)
            if stat is not None:
                total += yield from self._one(path, stat, 0)
        if self._args.has("c"):
            yield self._row(total, "total")

    def _stat(self, path: str) -> os.stat_result | None:
        try:
            return self._process.stat(path)
        except (OSError, SafeFsError) as error:
            self._process.complain(f"cannot access '{path}': {trouble(error)}")
            return None

    def _one(self, path: str, stat: os.stat_result, depth: int) -> Generator[bytes, None, int]:
        """Prints what is below first; gives back the size of it all."""
        folder = is_folder(stat)
        if not folder and stat.st_nlink > 1:
            if (stat.st_dev, stat.st_ino) in self._seen:
                return 0
            self._seen.add((stat.st_dev, stat.st_ino))
        size = stat.st_size if self._args.has("b") or self._args.has("apparent") else stat.st_blocks * 512
        if folder and depth < _DEPTH:
            size += yield from self._below(path, depth)
        if depth <= self._deepest and (folder or depth == 0 or self._args.has("a")):
            yield self._row(size, path)
        return size

    def _below(self, path: str, depth: int) -> Generator[bytes, None, int]:
        process = self._process
        try:
            entries = process.tree.entries(process.tree.place(path, process.cwd))
        except (OSError, SafeFsError) as error:
            process.complain(f"cannot read directory '{path}': {trouble(error)}")
            return 0
        process.meter.saw(len(entries))
        size = 0
        for entry in entries:
            below = f"{path}{entry.name}" if path.endswith("/") else f"{path}/{entry.name}"
            size += yield from self._one(below, entry.stat, depth + 1)
        return size

    def _row(self, size: int, name: str) -> bytes:
        if self._args.has("b"):
            shown = str(size)
        elif self._args.has("h"):
            shown = looks.human(size)
        else:
            shown = str(-(-size // (1024 * 1024 if self._args.has("m") else 1024)))
        return raw(f"{shown}\t{name}\n")


# Checksums

_SUMS = Spec(
    flags={"b": "b", "binary": "b", "t": "t", "text": "t"},
    why_not=dict.fromkeys(("c", "check"), "file names are not taken from files"),
)


_ESCAPED = {"\\": "\\\\", "\n": "\\n", "\r": "\\r"}


def checksum(name: str, argv: list[str]) -> Runner:
    args = read(name, _SUMS, argv)
    star = "*" if args.last_of("b", "t") == "b" else " "

    def run(process: Process) -> Iterator[bytes]:
        for path, chunks in process.inputs(args.operands):
            digest = hashlib.new(name.removesuffix("sum"), usedforsecurity=False)
            for chunk in chunks:
                digest.update(chunk)
            # A name with a line break or a backslash is marked and escaped, so that each row stays one line.
            shown = re.sub(r"[\\\n\r]", lambda found: _ESCAPED[found[0]], path)
            yield raw(f"{'' if shown == path else chr(92)}{digest.hexdigest()} {star}{shown}\n")

    return run


# comm and paste

_COMM = Spec(
    flags={"1": "1", "2": "2", "3": "3", "nocheck-order": "no", "check-order": "no", "total": "total"},
    values={"output-delimiter": "delimiter"},
)


def comm(name: str, argv: list[str]) -> Runner:
    args = read(name, _COMM, argv)
    if len(args.operands) != 2:
        raise UsageError(
            "missing operand" if len(args.operands) < 2 else f"extra operand '{args.operands[2]}'"
        )
    if args.has("total"):
        raise Refused("comm --total: this option is not on offer")
    tab = raw(args.last("delimiter") or "\t")
    shown = [not args.has(column) for column in "123"]
    lead = [b"", tab * shown[0], tab * (shown[0] + shown[1])]

    def run(process: Process) -> Iterator[bytes]:
        sides = []
        for path in args.operands:
            chunks = process.try_chunks(path)
            if chunks is None:
                return
            sides.append(line.removesuffix(b"\n") for line in process.lines(chunks))
        disorder: list[int] = []
        unpaired = False
        watched = [_watched(side, number, disorder) for number, side in enumerate(sides, start=1)]
        for column, line in _merged(watched[0], watched[1]):
            unpaired = unpaired or column < 2
            if shown[column]:
                yield lead[column] + line + b"\n"
        if disorder and unpaired and args.last("no") is None:
            process.complain(f"file {disorder[0]} is not in sorted order")

    return run


def _watched(lines: Iterator[bytes], number: int, disorder: list[int]) -> Iterator[bytes]:
    """The lines as they are; `disorder` gets the file's number at the first one that is out of order."""
    previous = b""
    for line in lines:
        if line < previous and number not in disorder:
            disorder.append(number)
        previous = line
        yield line


def _merged(a: Iterator[bytes], b: Iterator[bytes]) -> Iterator[tuple[int, bytes]]:
    """(0: only in the first, 1: only in the second, 2: in both) of two sorted files."""
    left, right = next(a, None), next(b, None)
    while left is not None or right is not None:
        if right is None or (left is not None and left < right):
            yield 0, left or b""
            left = next(a, None)
        elif left is None or right < left:
            yield 1, right
            right = next(b, None)
        else:
            yield 2, left
            left, right = next(a, None), next(b, None)


_PASTE = Spec(flags={"s": "s", "serial": "s"}, values={"d": "d", "delimiters": "d"})


def paste(name: str, argv: list[str]) -> Runner:
    args = read(name, _PASTE, argv)
    if len(args.operands) > _MOST_FILES:
        raise Refused(f"paste: more than {_MOST_FILES} files")
    delimiters = _delimiters(args.last("d", "\t") or "\0")

    def run(process: Process) -> Iterator[bytes]:
        sources: list[Iterator[bytes]] = []
        shared: Iterator[bytes] | None = None
        for path in args.operands or ["-"]:
            if path == "-" and shared is not None:
                sources.append(shared)  # `paste - -` takes lines in turn
                continue
            chunks = process.try_chunks(path)
            if chunks is None:
                if args.has("s"):
                    continue  # one after the other, so the next ones are still shown
                return
            sources.append(line.removesuffix(b"\n") for line in process.lines(chunks))
            shared = sources[-1] if path == "-" else shared
        if not args.has("s"):
            yield from _beside(sources, delimiters)
            return
        for source in sources:
            first = next(source, b"")
            yield (
                first
                + b"".join(delimiters[at % len(delimiters)] + line for at, line in enumerate(source))
                + b"\n"
            )

    return run


def _delimiters(text: str) -> list[bytes]:
    known = {"\\n": b"\n", "\\t": b"\t", "\\\\": b"\\", "\\0": b"", "\0": b""}
    return [known.get(one, raw(one)) for one in re.findall(r"\\.|.", text, re.DOTALL)]


def _beside(sources: list[Iterator[bytes]], delimiters: list[bytes]) -> Iterator[bytes]:
    while True:
        row = [next(source, None) for source in sources]
        if all(cell is None for cell in row):
            return
        out = [row[0] or b""]
        for at, cell in enumerate(row[1:]):
            out += [delimiters[at % len(delimiters)], cell or b""]
        yield b"".join(out) + b"\n"


COMMANDS: dict[str, Callable[[str, list[str]], Runner]] = {
    "du": du,
    "comm": comm,
    "paste": paste,
    **dict.fromkeys(("md5sum", "sha1sum", "sha256sum", "sha512sum"), checksum),
}
