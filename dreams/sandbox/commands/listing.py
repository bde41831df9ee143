"""ls."""

from __future__ import annotations

import functools
import os
import stat as st
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from dreams.safefs import SafeFsError

from ..errors import Refused, UsageError
from ..globbing import matches
from ..mounts import Entry, trouble
from ..options import Args, Spec, read
from ..process import Process, Runner, is_folder, raw
from . import looks
from .sorting import version_compare

_LS = Spec(
    flags={
        **{letter: letter for letter in "aA1lrtShRdFpisngGoUfXvcuNkBQm"},
        "all": "a",
        "almost-all": "A",
        "reverse": "r",
        "human-readable": "h",
        "si": "si",
        "recursive": "R",
        "directory": "d",
        "inode": "i",
        "size": "s",
        "numeric-uid-gid": "n",
        "no-group": "G",
        "full-time": "full-time",
        "literal": "N",
        "group-directories-first": "first",
        "ignore-backups": "B",
        "quote-name": "Q",
        "kibibytes": "k",
        "file-type": "file-type",
    },
    values={
        "sort": "sort",
        "time": "time",
        "time-style": "time-style",
        "I": "ignore",
        "ignore": "ignore",
        "hide": "hide",
        "format": "format",
        "block-size": "block-size",
        "indicator-style": "indicator",
    },
    optional={"color": "color", "classify": "F", "hyperlink": "hyperlink"},
    why_not={
        "L": "links are never followed",
        "dereference": "links are never followed",
        "H": "links are never followed",
    },
)
_SORTS = {"none": "U", "size": "S", "time": "t", "version": "v", "extension": "X", "name": "name"}
_DEPTH = 64


@dataclass(slots=True)
class _Style:
    """What the options ask for."""

    args: Args
    long: bool
    hidden: str  # "all", "almost" or "none"
    order: str
    time: str
    full_time: bool
    human: int

    def shows(self, name: str) -> bool:
        if self.hidden == "none" and name.startswith("."):
            return False
        if self.args.has("B") and name.endswith("~"):
            return False
        patterns = self.args.all("ignore") + (self.args.all("hide") if self.hidden == "none" else [])
        return not any(matches(pattern, name) for pattern in patterns)

    def ns(self, stat: os.stat_result) -> int:
        return {"c": stat.st_ctime_ns, "u": stat.st_atime_ns}.get(self.time, stat.st_mtime_ns)


def ls(name: str, argv: list[str]) -> Runner:
    args = read(name, _LS, argv)
    style = _style(args)
    return lambda process: _list(process, style, args.operands or ["."])


def _style(args: Args) -> _Style:
    long = any(args.has(letter) for letter in "lngo") or args.has("full-time")
    if args.last("format") is not None:
        long = _format(args.last("format") or "") or long
    color = args.last("color")
    if color not in (None, "never", "none", "no", "auto", "tty", "if-tty"):
        raise Refused("ls --color: only never and auto are on offer")
    if args.has("hyperlink") or args.has("block-size") or args.has("m"):
        raise Refused("ls: --hyperlink, --block-size and -m are not on offer")
    return _Style(
        args=args,
        long=long,
        hidden={"a": "all", "f": "all", "A": "almost"}.get(args.last_of("a", "A", "f") or "", "none"),
        order=_order(args, long),
        time=_time(args),
        full_time=_full_time(args),
        human=1024 if args.has("h") else 1000 if args.has("si") else 0,
    )


def _format(text: str) -> bool:
    if text not in ("long", "verbose", "single-column"):
        raise Refused("ls --format: long and single-column are on offer")
    return text != "single-column"


def _time(args: Args) -> str:
    word = args.last("time")
    if word is not None:
        known = {
            "ctime": "c",
            "status": "c",
            "atime": "u",
            "access": "u",
            "use": "u",
            "mtime": "m",
            "modification": "m",
        }
        if word not in known:
            raise Refused(f"ls --time={word[:20]}: ctime, atime and mtime are on offer")
        return known[word]
    return args.last_of("c", "u") or "m"


def _full_time(args: Args) -> bool:
    style = args.last("time-style")
    if style not in (None, "full-iso", "locale", "long-iso", "iso"):
        raise Refused("ls --time-style: full-iso, long-iso, iso and locale are on offer")
    last = args.last_of("full-time", "time-style")
    return last == "full-time" or (last == "time-style" and style == "full-iso")


def _order(args: Args, long: bool) -> str:
    last = next(
        (pair for pair in reversed(args.given) if pair[0] in ("t", "S", "U", "X", "v", "f", "sort")), None
    )
    if last is not None:
        if last[0] == "sort":
            if last[1] not in _SORTS:
                raise UsageError(f"invalid argument '{last[1]}' for '--sort'", 2)
            return _SORTS[last[1]]
        return "U" if last[0] == "f" else last[0]
    # -c and -u alone sort by that time, except in a long listing, where they only show it.
    return "t" if (args.has("c") or args.has("u") or args.has("time")) and not long else "name"


def _list(process: Process, style: _Style, operands: list[str]) -> Iterator[bytes]:
    files: list[Entry] = []
    folders: list[Entry] = []
    for path in operands:
        stat = _operand(process, path)
        if stat is not None:
            (folders if is_folder(stat) and not style.args.has("d") else files).append(Entry(path, stat))
    if files:
        yield _table(process, style, _sorted(style, files), "", total=False, beside=folders)
    headed = len(operands) > 1 or style.args.has("R")
    for number, folder in enumerate(_sorted(style, folders)):
        gap = b"\n" if files or number else b""
        yield from _folder(process, style, folder.name, gap if headed else b"", headed=headed, depth=0)


def _operand(process: Process, path: str) -> os.stat_result | None:
    try:
        return process.stat(path)
    except (OSError, SafeFsError) as error:
        process.complain(f"cannot access '{path}': {trouble(error)}", 2)
        return None


def _folder(
    process: Process, style: _Style, path: str, gap: bytes, *, headed: bool, depth: int
) -> Iterator[bytes]:
    try:
        entries = process.tree.entries(process.tree.place(path, process.cwd))
    except (OSError, SafeFsError) as error:
        process.complain(f"cannot open directory '{path}': {trouble(error)}", 2 if depth == 0 else 1)
        return
    process.meter.saw(len(entries))
    if headed:
        yield gap + raw(_quoted(style, path)) + b":\n"
    shown = _sorted(
        style, _dots(process, style, path) + [entry for entry in entries if style.shows(entry.name)]
    )
    yield _table(process, style, shown, path, total=style.long or style.args.has("s"))
    if style.args.has("R") and depth < _DEPTH:
        for entry in shown:
            if is_folder(entry.stat) and entry.name not in (".", ".."):
                below = path + entry.name if path.endswith("/") else f"{path}/{entry.name}"
                yield from _folder(process, style, below, b"\n", headed=True, depth=depth + 1)


def _dots(process: Process, style: _Style, path: str) -> list[Entry]:
    if style.hidden != "all":
        return []
    here = process.stat(path + "/.")
    try:
        above = process.stat(path + "/..")
    except (OSError, SafeFsError):
        above = here  # above a mount there is nothing to be told
    return [Entry(".", here), Entry("..", above)]


def _sorted(style: _Style, entries: list[Entry]) -> list[Entry]:
    if style.order == "U":
        return entries
    key: dict[str, Callable[[Entry], object]] = {
        "name": lambda entry: raw(entry.name),
        "t": lambda entry: (-style.ns(entry.stat), raw(entry.name)),
        "S": lambda entry: (-entry.stat.st_size, raw(entry.name)),
        "X": lambda entry: (raw(_extension(entry.name)), raw(entry.name)),
        "v": lambda entry: (functools.cmp_to_key(version_compare)(raw(entry.name)), raw(entry.name)),
    }
    ordered = sorted(entries, key=key[style.order], reverse=style.args.has("r"))  # type: ignore[arg-type]  # all keys of one order compare
    if style.args.has("first"):
        ordered.sort(key=lambda entry: not is_folder(entry.stat))
    return ordered


def _extension(name: str) -> str:
    at = name.rfind(".")
    return name[at:] if at >= 0 else ""


# Rows


def _table(
    process: Process,
    style: _Style,
    entries: list[Entry],
    folder: str,
    *,
    total: bool,
    beside: Iterable[Entry] = (),
) -> bytes:
    """Rows in columns; `beside`: what else decides how wide they are."""
    blocks = sum(entry.stat.st_blocks for entry in entries) * 512
    head = f"total {_blocks(style, blocks)}\n" if total else ""
    rows = [_cells(process, style, entry) for entry in entries]
    measured = rows + [_cells(process, style, entry) for entry in beside]
    widths = [max(len(cell) for cell in column) for column in zip(*measured, strict=True)]
    lines = [
        raw(_aligned(row, widths, style)) + raw(_name(process, style, entry, folder)) + b"\n"
        for entry, row in zip(entries, rows, strict=True)
    ]
    return raw(head) + b"".join(lines)


def _blocks(style: _Style, size: int) -> str:
    return looks.human(size, style.human) if style.human else str(-(-size // 1024))


def _cells(process: Process, style: _Style, entry: Entry) -> list[str]:
    """Columns before the name."""
    stat = entry.stat
    cells = []
    if style.args.has("i"):
        cells.append(str(stat.st_ino))
    if style.args.has("s"):
        cells.append(_blocks(style, stat.st_blocks * 512))
    if style.long:
        cells += _long_cells(process, style, stat)
    return cells


def _long_cells(process: Process, style: _Style, stat: os.stat_result) -> list[str]:
    numeric = style.args.has("n")
    cells = [looks.mode(stat), str(stat.st_nlink)]
    if not style.args.has("g"):
        cells.append(str(stat.st_uid) if numeric else looks.owner(stat.st_uid))
    if not (style.args.has("o") or style.args.has("G")):
        cells.append(str(stat.st_gid) if numeric else looks.group(stat.st_gid))
    cells.append(looks.human(stat.st_size, style.human) if style.human else str(stat.st_size))
    return [*cells, _when(process, style, style.ns(stat))]


def _when(process: Process, style: _Style, ns: int) -> str:
    if style.full_time:
        return looks.full(ns)
    words = style.args.last("time-style")
    if words == "long-iso":
        return f"{looks.moment(ns):%Y-%m-%d %H:%M}"
    if words == "iso":
        recent = process.now - looks.HALF_YEAR < ns / 1e9 <= process.now
        return f"{looks.moment(ns):%m-%d %H:%M}" if recent else f"{looks.moment(ns):%Y-%m-%d }"
    return looks.listed(ns, process.now)


def _aligned(row: list[str], widths: list[int], style: _Style) -> str:
    """Names to the left, numbers to the right, as ls puts them."""
    lead = style.args.has("i") + style.args.has("s")
    names = 2 - style.args.has("g") - (style.args.has("o") or style.args.has("G"))
    out = []
    for column, (cell, width) in enumerate(zip(row, widths, strict=True)):
        at = column - lead
        left = style.long and (at == 0 or 2 <= at < 2 + names)
        left = left and not (style.args.has("n") and at >= 2)
        out.append(cell.ljust(width) if left else cell.rjust(width))
    return "".join(cell + " " for cell in out)


def _name(process: Process, style: _Style, entry: Entry, folder: str) -> str:
    shown = _quoted(style, entry.name)
    if style.long and st.S_ISLNK(entry.stat.st_mode):
        return f"{shown} -> {_target(process, entry.name, folder)}"
    sign = looks.suffix(entry.stat)
    wanted = _indicator(style)
    if wanted == "slash":
        sign = "/" if is_folder(entry.stat) else ""
    elif wanted == "file-type":
        sign = sign.replace("*", "")
    return shown + sign if wanted else shown


def _indicator(style: _Style) -> str | None:
    """Which signs go behind names; the last option decides."""
    last = [(name, value) for name, value in style.args.given if name in ("F", "p", "file-type", "indicator")]
    if not last:
        return None
    name, value = last[-1]
    if name == "indicator" and value not in ("none", "slash", "file-type", "classify"):
        raise UsageError(f"invalid argument '{value}' for '--indicator-style'", 2)
    words = {"F": "classify", "p": "slash", "file-type": "file-type"}
    return None if value == "none" else words.get(name, value)


def _quoted(style: _Style, name: str) -> str:
    if not style.args.has("Q"):
        return name
    escaped = name.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def _target(process: Process, name: str, folder: str) -> str:
    path = name if not folder else f"{folder.rstrip('/') or '/'}/{name}"
    try:
        return process.tree.link_target(process.tree.place(path, process.cwd))
    except (OSError, SafeFsError):
        return "?"


COMMANDS = {"ls": ls}
