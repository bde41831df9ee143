"""ls: names one on a line, and their details in columns."""

from __future__ import annotations

import os
import stat as st
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from dreams.lib.files.safefs import SafeFsError
from dreams.lib.sandbox.commands import metadata
from dreams.lib.sandbox.commands.sort import version_key
from dreams.lib.sandbox.globbing import matches
from dreams.lib.sandbox.mounts import Entry, trouble
from dreams.lib.sandbox.options import Args, Spec, read
from dreams.lib.sandbox.process import Process, Refused, Runner, UsageError, is_folder, raw

_LINKS = "links are never followed"
_LS = Spec(
    flags={
        **{letter: letter for letter in "aA1lrtShRdFpisngGoUXvcukN"},
        "all": "a",
        "almost-all": "A",
        "reverse": "r",
        "human-readable": "h",
        "recursive": "R",
        "directory": "d",
        "inode": "i",
        "size": "s",
        "numeric-uid-gid": "n",
        "no-group": "G",
        "full-time": "full-time",
        "literal": "N",
        "group-directories-first": "first",
    },
    values={"sort": "sort", "time": "time", "time-style": "time-style", "I": "ignore", "ignore": "ignore"},
    optional={"color": "color", "classify": "F"},
    why_not=dict.fromkeys(("L", "H", "dereference"), _LINKS)
    | dict.fromkeys(("m", "C", "x"), "names stand one on a line"),
)
_ORDERS = {"none": "U", "size": "S", "time": "t", "version": "v", "extension": "X", "name": "name"}
_TIMES = {"ctime": "c", "status": "c", "atime": "u", "access": "u", "mtime": "m", "modification": "m"}
_DEEPEST = 64  # folders; chosen


def ls(name: str, argv: list[str]) -> Runner:
    style = _style_of(read(name, _LS, argv))
    return lambda process: _list(process, style, style.args.operands or ["."])


COMMANDS = {"ls": ls}


# --- What the options ask for -------------------------------------------------------------------------------------


@dataclass(slots=True)
class _Style:
    args: Args
    long: bool
    hidden: str | None  # "a": all, "A": all but . and .., None: no names that begin with a dot
    order: str
    time: str  # "c", "u" or "m"
    when: str  # "full-iso", "long-iso", "iso", "locale" or "+FORMAT"

    def shows(self, name: str) -> bool:
        if self.hidden is None and name.startswith("."):
            return False
        return not any(matches(pattern, name) for pattern in self.args.all("ignore"))

    def ns(self, stat: os.stat_result) -> int:
        return {"c": stat.st_ctime_ns, "u": stat.st_atime_ns}.get(self.time, stat.st_mtime_ns)


def _style_of(args: Args) -> _Style:
    if args.last("color") not in (None, "never", "none", "no", "auto", "tty", "if-tty"):
        raise Refused("ls --color: only never and auto are on offer")
    long = any(args.has(option) for option in ("l", "n", "g", "o", "full-time"))
    word = args.last("time")
    if word is not None and word not in _TIMES:
        raise Refused(f"ls --time={word[:20]}: ctime, atime and mtime are on offer")
    return _Style(
        args=args,
        long=long,
        hidden=args.last_of("a", "A"),
        order=_order(args, long),
        time=_TIMES[word] if word else args.last_of("c", "u") or "m",
        when=_when_style(args),
    )


def _when_style(args: Args) -> str:
    style = args.last("time-style") or "locale"
    if style.startswith("+"):
        metadata.check_format(style)
    elif style not in ("full-iso", "long-iso", "iso", "locale"):
        raise Refused("ls --time-style: full-iso, long-iso, iso, locale and +FORMAT are on offer")
    return "full-iso" if args.last_of("full-time", "time-style") == "full-time" else style


def _order(args: Args, long: bool) -> str:
    last = args.last_of("t", "S", "U", "X", "v", "sort")
    if last == "sort":
        word = args.last("sort") or ""
        if word not in _ORDERS:
            raise UsageError(f"invalid argument '{word}' for '--sort'", 2)
        return _ORDERS[word]
    # -c and -u alone sort by that time, except in a long listing, where they only show it.
    by_time = not long and any(args.has(option) for option in ("c", "u", "time"))
    return last or ("t" if by_time else "name")


# --- Folders ------------------------------------------------------------------------------------------------------


def _list(process: Process, style: _Style, operands: list[str]) -> Iterator[bytes]:
    files: list[Entry] = []
    folders: list[Entry] = []
    for path in operands:
        stat = _operand(process, path)
        if stat is not None:
            (folders if is_folder(stat) and not style.args.has("d") else files).append(Entry(path, stat))
    if files:
        yield _table(process, style, _sorted(style, files), "", beside=folders)
    headed = len(operands) > 1 or style.args.has("R")
    for number, folder in enumerate(_sorted(style, folders)):
        gap = b"\n" if headed and (files or number) else b""
        yield from _folder(process, style, folder.name, gap, headed=headed, depth=0)


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
        yield gap + raw(path) + b":\n"
    visible = [entry for entry in entries if style.shows(entry.name)]
    shown = _sorted(style, _dots(process, style, path) + visible)
    if style.long or style.args.has("s"):
        yield raw(f"total {_blocks(style, sum(entry.stat.st_blocks for entry in shown))}\n")
    yield _table(process, style, shown, path)
    if style.args.has("R") and depth < _DEEPEST:
        for entry in shown:
            if is_folder(entry.stat) and entry.name not in (".", ".."):
                yield from _folder(
                    process, style, _below(path, entry.name), b"\n", headed=True, depth=depth + 1
                )


def _below(folder: str, name: str) -> str:
    return folder + name if folder.endswith("/") else f"{folder}/{name}"


def _dots(process: Process, style: _Style, path: str) -> list[Entry]:
    if style.hidden != "a":
        return []
    here = process.stat(path + "/.")
    try:
        above = process.stat(path + "/..")
    except (OSError, SafeFsError):
        above = here  # above a mount there is nothing to show
    return [Entry(".", here), Entry("..", above)]


def _sorted(style: _Style, entries: list[Entry]) -> list[Entry]:
    if style.order == "U":
        return entries
    key: dict[str, Callable[[Entry], object]] = {
        "name": lambda entry: raw(entry.name),
        "t": lambda entry: (-style.ns(entry.stat), raw(entry.name)),
        "S": lambda entry: (-entry.stat.st_size, raw(entry.name)),
        "X": lambda entry: (raw(_extension(entry.name)), raw(entry.name)),
        "v": lambda entry: (version_key(raw(entry.name)), raw(entry.name)),
    }
    ordered = sorted(entries, key=key[style.order], reverse=style.args.has("r"))  # type: ignore[arg-type]  # all keys of one order compare
    if style.args.has("first"):
        ordered.sort(key=lambda entry: not is_folder(entry.stat))
    return ordered


def _extension(name: str) -> str:
    at = name.rfind(".")
    return name[at:] if at >= 0 else ""


# --- Rows ---------------------------------------------------------------------------------------------------------


def _table(
    process: Process, style: _Style, entries: list[Entry], folder: str, *, beside: Iterable[Entry] = ()
) -> bytes:
    """Rows in columns; `beside`: what else decides how wide they are."""
    rows = [_cells(process, style, entry.stat) for entry in entries]
    measured = rows + [_cells(process, style, entry.stat) for entry in beside]
    widths = [max(len(cell) for cell in column) for column in zip(*measured, strict=True)]
    return b"".join(
        raw(f"{_aligned(row, widths, style)}{_name(process, style, entry, folder)}\n")
        for entry, row in zip(entries, rows, strict=True)
    )


def _blocks(style: _Style, blocks: int) -> str:
    return metadata.human(blocks * 512) if style.args.has("h") else str(-(-blocks // 2))


def _cells(process: Process, style: _Style, stat: os.stat_result) -> list[str]:
    """Columns before the name."""
    cells = [str(stat.st_ino)] if style.args.has("i") else []
    if style.args.has("s"):
        cells.append(_blocks(style, stat.st_blocks))
    return [*cells, *_long_cells(process, style, stat)] if style.long else cells


def _long_cells(process: Process, style: _Style, stat: os.stat_result) -> list[str]:
    numeric = style.args.has("n")
    cells = [st.filemode(stat.st_mode), str(stat.st_nlink)]
    if not style.args.has("g"):
        cells.append(str(stat.st_uid) if numeric else metadata.owner(stat.st_uid))
    if not (style.args.has("o") or style.args.has("G")):
        cells.append(str(stat.st_gid) if numeric else metadata.group(stat.st_gid))
    cells.append(metadata.human(stat.st_size) if style.args.has("h") else str(stat.st_size))
    return [*cells, _when(style, style.ns(stat), process.now)]


def _when(style: _Style, ns: int, now: float) -> str:
    if style.when.startswith("+"):
        return metadata.formatted(style.when[1:], ns)
    if style.when == "full-iso":
        return metadata.full(ns)
    if style.when == "long-iso":
        return f"{metadata.utc(ns):%Y-%m-%d %H:%M}"
    if style.when == "iso":
        return (
            f"{metadata.utc(ns):%m-%d %H:%M}" if metadata.recent(ns, now) else f"{metadata.utc(ns):%Y-%m-%d }"
        )
    return metadata.listed(ns, now)


def _aligned(row: list[str], widths: list[int], style: _Style) -> str:
    """Names to the left, numbers to the right; the time is not aligned."""
    before = style.args.has("i") + style.args.has("s")
    names = 2 - style.args.has("g") - (style.args.has("o") or style.args.has("G"))
    to_left = {before} if style.long else set()
    if style.long and not style.args.has("n"):
        to_left |= {before + 2 + at for at in range(names)}
    out = ""
    for column, (cell, width) in enumerate(zip(row, widths, strict=True)):
        is_time = style.long and column == len(row) - 1
        out += (cell if is_time else cell.ljust(width) if column in to_left else cell.rjust(width)) + " "
    return out


def _name(process: Process, style: _Style, entry: Entry, folder: str) -> str:
    if style.long and st.S_ISLNK(entry.stat.st_mode):
        return f"{entry.name} -> {_target(process, _below(folder, entry.name) if folder else entry.name)}"
    wanted = style.args.last_of("F", "p")
    sign = metadata.suffix(entry.stat) if wanted else ""
    return entry.name + (sign if wanted == "F" or sign == "/" else "")


def _target(process: Process, path: str) -> str:
    try:
        return process.tree.link_target(process.tree.place(path, process.cwd))
    except (OSError, SafeFsError):
        return "?"
