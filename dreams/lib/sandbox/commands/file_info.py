"""stat, du and sha256sum: metadata, sizes and checksums of files."""

import hashlib
import os
import re
import stat as st
from collections.abc import Callable, Generator, Iterator

from dreams.lib.sandbox.commands import metadata
from dreams.lib.sandbox.options import Args, Spec, digits_of, read
from dreams.lib.sandbox.process import DEEPEST, Process, Refused, Runner, UsageError, below, is_folder, raw

# --- stat ---------------------------------------------------------------------------------------------------------
_STAT = Spec(
    values="c,format",
    why_not={
        "L": "links are never followed",
        "f": "file systems are not shown",
        **dict.fromkeys(("t", "printf"), "use -c with a format"),
    },
)
_DEFAULT = (
    "  File: %QN\n  Size: %-10s\tBlocks: %-10b IO Block: %-6o %F\n"
    "Device: %Hd,%Ld\tInode: %-11i Links: %h\n"
    "Access: (%04a/%10.10A)  Uid: (%5u/%8U)   Gid: (%5g/%8G)\n"
    "Access: %x\nModify: %y\nChange: %z\n Birth: %w\n"
)
_DIRECTIVE = re.compile(r"%([-#+ 0']*)([0-9]{0,3})(\.[0-9]{1,3})?([HLQ]?[A-Za-z%])")

Describe = Callable[[Process, str, os.stat_result], str | int]


def _with_target(process: Process, path: str, stat: os.stat_result) -> str:
    if not st.S_ISLNK(stat.st_mode):
        return path
    return f"{path} -> {process.link_target(path)}"


def _seconds(ns: int) -> int:
    return ns // metadata.NS


_FIELDS: dict[str, Describe] = {
    "n": lambda process, path, stat: path,
    "QN": _with_target,  # for the default format only
    "s": lambda process, path, stat: stat.st_size,
    "b": lambda process, path, stat: stat.st_blocks,
    "B": lambda process, path, stat: 512,
    "o": lambda process, path, stat: stat.st_blksize,
    "a": lambda process, path, stat: int(f"{st.S_IMODE(stat.st_mode):o}"),
    "A": lambda process, path, stat: st.filemode(stat.st_mode),
    "f": lambda process, path, stat: f"{stat.st_mode:x}",
    "F": lambda process, path, stat: metadata.kind(stat),
    "u": lambda process, path, stat: stat.st_uid,
    "U": lambda process, path, stat: metadata.owner(stat.st_uid),
    "g": lambda process, path, stat: stat.st_gid,
    "G": lambda process, path, stat: metadata.group(stat.st_gid),
    "h": lambda process, path, stat: stat.st_nlink,
    "i": lambda process, path, stat: stat.st_ino,
    "d": lambda process, path, stat: stat.st_dev,
    "D": lambda process, path, stat: f"{stat.st_dev:x}",
    "Hd": lambda process, path, stat: os.major(stat.st_dev),
    "Ld": lambda process, path, stat: os.minor(stat.st_dev),
    "x": lambda process, path, stat: metadata.full(stat.st_atime_ns),
    "y": lambda process, path, stat: metadata.full(stat.st_mtime_ns),
    "z": lambda process, path, stat: metadata.full(stat.st_ctime_ns),
    "X": lambda process, path, stat: _seconds(stat.st_atime_ns),
    "Y": lambda process, path, stat: _seconds(stat.st_mtime_ns),
    "Z": lambda process, path, stat: _seconds(stat.st_ctime_ns),
    # fstatat(2), the system call used, returns no birth time.
    "w": lambda process, path, stat: "-",
    "W": lambda process, path, stat: 0,
}


def stat(name: str, argv: list[str]) -> Runner:
    args = read(name, _STAT, argv)
    if not args.operands:
        raise UsageError("missing operand")
    fmt = f"{args.last('c')}\n" if args.has("c") else _DEFAULT
    for found in _DIRECTIVE.finditer(fmt):
        if found[4] not in (*_FIELDS, "%"):
            raise Refused(f"stat -c {found[0]}: not on offer; %{' %'.join(_FIELDS)} are")

    def run(process: Process) -> Iterator[bytes]:
        for path in args.operands:
            found = process.attempt(process.stat, path, wording="cannot statx '{}': {}")
            if found is not None:
                yield raw(_formatted(process, fmt, path, found))

    return run


def _formatted(process: Process, fmt: str, path: str, found: os.stat_result) -> str:
    def one(directive: re.Match[str]) -> str:
        if directive[4] == "%":
            return "%"
        value = _FIELDS[directive[4]](process, path, found)
        flags, width = directive[1].replace("'", "").replace("#", ""), directive[2]
        if isinstance(value, int):
            return f"%{flags}{width}d" % value
        precision = directive[3] or ""
        return f"%{flags.replace('0', '').replace('+', '').replace(' ', '')}{width}{precision}s" % value

    return _DIRECTIVE.sub(one, fmt)


# --- du -----------------------------------------------------------------------------------------------------------

_DU = Spec(
    flags="a,all apparent-size b,bytes c,total h,human-readable k m s,summarize",
    values="d,max-depth",
    why_not={"L": "links are never followed", "files0-from": "file names are not taken from files"},
)


def du(name: str, argv: list[str]) -> Runner:
    args = read(name, _DU, argv)
    if args.has("s") and args.has("a"):
        raise UsageError("cannot both summarize and show all entries")
    deepest = 0 if args.has("s") else digits_of(args.last("d") or str(DEEPEST), "invalid maximum depth")
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
            stat = self._process.attempt(self._process.stat, path, wording="cannot access '{}': {}")
            if stat is not None:
                total += yield from self._one(path, stat, 0)
        if self._args.has("c"):
            yield self._row(total, "total")

    def _one(self, path: str, stat: os.stat_result, depth: int) -> Generator[bytes, None, int]:
        """Prints the entries below first; returns the total size."""
        folder = is_folder(stat)
        if not folder and stat.st_nlink > 1:
            if (stat.st_dev, stat.st_ino) in self._seen:
                return 0
            self._seen.add((stat.st_dev, stat.st_ino))
        size = (
            stat.st_size if self._args.has("b") or self._args.has("apparent-size") else stat.st_blocks * 512
        )
        if folder and depth < DEEPEST:
            size += yield from self._below(path, depth)
        if depth <= self._deepest and (folder or depth == 0 or self._args.has("a")):
            yield self._row(size, path)
        return size

    def _below(self, path: str, depth: int) -> Generator[bytes, None, int]:
        size = 0
        reading = self._process.entries
        for entry in self._process.attempt(reading, path, wording="cannot read directory '{}': {}") or ():
            size += yield from self._one(below(path, entry.name), entry.stat, depth + 1)
        return size

    def _row(self, size: int, name: str) -> bytes:
        if self._args.has("b"):
            shown = str(size)
        elif self._args.has("h"):
            shown = metadata.human(size)
        else:
            shown = str(-(-size // (1024 * 1024 if self._args.has("m") else 1024)))
        return raw(f"{shown}\t{name}\n")


# Checksums

_SUMS = Spec(
    flags="b,binary t,text",
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


COMMANDS = {"stat": stat, "du": du, "sha256sum": checksum}
