"""stat."""

from __future__ import annotations

import os
import re
import stat as st
from collections.abc import Callable, Iterator

from dreams.lib.files.safefs import SafeFsError

from ..errors import Refused, UsageError
from ..mounts import trouble
from ..options import Spec, read
from ..process import Process, Runner, raw
from . import looks
from .quoting import shell_quoted

_STAT = Spec(
    flags={"t": "t", "terse": "t"},
    values={"c": "c", "format": "c", "printf": "printf"},
    why_not={"L": "links are never followed", "f": "file systems are not shown"},
)
_DEFAULT = (
    "  File: %QN\n  Size: %-10s\tBlocks: %-10b IO Block: %-6o %F\n"
    "Device: %Hd,%Ld\tInode: %-11i Links: %h\n"
    "Access: (%04a/%10.10A)  Uid: (%5u/%8U)   Gid: (%5g/%8G)\n"
    "Access: %x\nModify: %y\nChange: %z\n Birth: %w\n"
)
_DIRECTIVE = re.compile(r"%([-#+ 0']*)([0-9]{0,3})(\.[0-9]{1,3})?([HLQ]?[A-Za-z%])")
_STAT_ESCAPES = {
    "a": "\a",
    "b": "\b",
    "f": "\f",
    "n": "\n",
    "r": "\r",
    "t": "\t",
    "v": "\v",
    "\\": "\\",
    '"': '"',
    "e": "\x1b",
}

Describe = Callable[[Process, str, os.stat_result], str | int]


def _quoted(process: Process, path: str, stat: os.stat_result, *, quotes: bool = True) -> str:
    shown = _shown(path, quotes)
    if not st.S_ISLNK(stat.st_mode):
        return shown
    target = process.tree.link_target(process.tree.place(path, process.cwd))
    return f"{shown} -> {_shown(target, quotes)}"


def _shown(text: str, quotes: bool) -> str:
    return shell_quoted(raw(text), always=True).decode("utf-8", "surrogateescape") if quotes else text


_FIELDS: dict[str, Describe] = {
    "n": lambda process, path, stat: path,
    "N": _quoted,
    # Ours alone, for the default format, where GNU quotes nothing.
    "QN": lambda process, path, stat: _quoted(process, path, stat, quotes=False),
    "s": lambda process, path, stat: stat.st_size,
    "b": lambda process, path, stat: stat.st_blocks,
    "B": lambda process, path, stat: 512,
    "o": lambda process, path, stat: stat.st_blksize,
    "a": lambda process, path, stat: int(f"{st.S_IMODE(stat.st_mode):o}"),
    "A": lambda process, path, stat: looks.mode(stat),
    "f": lambda process, path, stat: f"{stat.st_mode:x}",
    "F": lambda process, path, stat: looks.kind(stat),
    "u": lambda process, path, stat: stat.st_uid,
    "U": lambda process, path, stat: looks.owner(stat.st_uid),
    "g": lambda process, path, stat: stat.st_gid,
    "G": lambda process, path, stat: looks.group(stat.st_gid),
    "h": lambda process, path, stat: stat.st_nlink,
    "i": lambda process, path, stat: stat.st_ino,
    "d": lambda process, path, stat: stat.st_dev,
    "D": lambda process, path, stat: f"{stat.st_dev:x}",
    "Hd": lambda process, path, stat: os.major(stat.st_dev),
    "Ld": lambda process, path, stat: os.minor(stat.st_dev),
    "x": lambda process, path, stat: looks.full(stat.st_atime_ns),
    "y": lambda process, path, stat: looks.full(stat.st_mtime_ns),
    "z": lambda process, path, stat: looks.full(stat.st_ctime_ns),
    "X": lambda process, path, stat: looks.seconds(stat.st_atime_ns),
    "Y": lambda process, path, stat: looks.seconds(stat.st_mtime_ns),
    "Z": lambda process, path, stat: looks.seconds(stat.st_ctime_ns),
    # The time of birth is not told by the system call in use.
    "w": lambda process, path, stat: "-",
    "W": lambda process, path, stat: 0,
}


def stat(name: str, argv: list[str]) -> Runner:
    args = read(name, _STAT, argv)
    if not args.operands:
        raise UsageError("missing operand")
    kind = args.last_of("c", "printf", "t")
    fmt = {"c": (args.last("c") or "") + "\n", "printf": _stat_unescaped(args.last("printf") or "")}.get(
        kind or ""
    )
    if kind == "t":
        raise Refused("stat -t: use -c with a format")
    fmt = _DEFAULT if fmt is None else fmt
    for found in _DIRECTIVE.finditer(fmt):
        if found[4] not in (*_FIELDS, "%"):
            raise Refused(f"stat -c {found[0]}: this directive is not on offer")

    def run(process: Process) -> Iterator[bytes]:
        for path in args.operands:
            try:
                found = process.stat(path)
            except (OSError, SafeFsError) as error:
                process.complain(f"cannot statx '{path}': {trouble(error)}")
                continue
            yield raw(_formatted(process, fmt, path, found))

    return run


def _stat_unescaped(text: str) -> str:
    def one(found: re.Match[str]) -> str:
        return _STAT_ESCAPES.get(found[1], found[1])

    return re.sub(r"\\(.)", one, text)


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


COMMANDS = {"stat": stat}
