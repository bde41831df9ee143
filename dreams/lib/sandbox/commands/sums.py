"""du and sha256sum."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Callable, Generator, Iterator

from dreams.lib.files.safefs import SafeFsError

from ..errors import UsageError
from ..mounts import trouble
from ..options import Args, Spec, read
from ..process import Process, Runner, is_folder, raw
from . import looks
from .numbers import plain

_DEPTH = 64
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


COMMANDS: dict[str, Callable[[str, list[str]], Runner]] = {"du": du, "sha256sum": checksum}
