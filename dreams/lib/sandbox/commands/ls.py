"""ls: names, one per line, and their details in columns."""

import os
import stat as st
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from dreams.lib.files.safefs import SafeFsError
from dreams.lib.sandbox.commands import metadata
from dreams.lib.sandbox.mounts import FolderEntry
from dreams.lib.sandbox.options import Args, Spec, read
from dreams.lib.sandbox.process import DEEPEST, Process, Refused, Runner, below, is_folder, raw

_LINKS = "links are never followed"
_LS = Spec(
    flags=(
        "1 A,almost-all a,all d,directory F,classify h,human-readable k l N,literal R,recursive r,reverse S t"
    ),
    values="time-style",
    optional="color",
    why_not=dict.fromkeys(("L", "H", "dereference"), _LINKS)
    | dict.fromkeys(("m", "C", "x"), "names stand one on a line")
    | dict.fromkeys(("v", "X", "U"), "put sort behind it, as in ls | sort -V")
    | dict.fromkeys(("i", "s", "n", "g", "G", "o", "c", "u", "time"), "use ls -l or stat -c")
    | dict.fromkeys(("I", "ignore"), "use find . -maxdepth 1 -not -name")
    | dict.fromkeys(("p", "group-directories-first"), "use ls -F, or ls -d */ for the folders")
    | {"full-time": "use --time-style=full-iso", "sort": "use -S or -t, or put sort behind it"},
)


def ls(name: str, argv: list[str]) -> Runner:
    style = _style_of(read(name, _LS, argv))
    return lambda process: _list(process, style, style.args.operands or ["."])


COMMANDS = {"ls": ls}


# --- Options ------------------------------------------------------------------------------------------------------


@dataclass(slots=True)
class _Style:
    args: Args
    long: bool
    hidden: str | None  # "a": all, "A": all except . and .., None: no names that begin with a dot
    when: str  # "full-iso", "long-iso", "locale" or "+FORMAT"

    def shows(self, name: str) -> bool:
        return self.hidden is not None or not name.startswith(".")


def _style_of(args: Args) -> _Style:
    if args.last("color") not in (None, "never", "none", "no", "auto", "tty", "if-tty"):
        raise Refused("ls --color: only never and auto are on offer")
    return _Style(
        args=args,
        long=args.has("l"),
        hidden=args.last_of("a", "A"),
        when=_when_style(args),
    )


def _when_style(args: Args) -> str:
    style = args.last("time-style") or "locale"
    if style.startswith("+"):
        metadata.check_format(style)
    elif style not in ("full-iso", "long-iso", "locale"):
        raise Refused("ls --time-style: full-iso, long-iso, locale and +FORMAT are on offer")
    return style


# --- Folders ------------------------------------------------------------------------------------------------------


def _list(process: Process, style: _Style, operands: list[str]) -> Iterator[bytes]:
    files: list[FolderEntry] = []
    folders: list[FolderEntry] = []
    for path in operands:
        stat = process.attempt(process.stat, path, 2, "cannot access '{}': {}")
        if stat is not None:
            (folders if is_folder(stat) and not style.args.has("d") else files).append(
                FolderEntry(path, stat)
            )
    if files:
        yield _table(process, style, _sorted(style, files), "", beside=folders)
    headed = len(operands) > 1 or style.args.has("R")
    for number, folder in enumerate(_sorted(style, folders)):
        gap = b"\n" if headed and (files or number) else b""
        yield from _folder(process, style, folder.name, gap, headed=headed, depth=0)


def _folder(
    process: Process, style: _Style, path: str, gap: bytes, *, headed: bool, depth: int
) -> Iterator[bytes]:
    entries = process.attempt(process.entries, path, 2 if depth == 0 else 1, "cannot open directory '{}': {}")
    if entries is None:
        return
    if headed:
        yield gap + raw(path) + b":\n"
    visible = [entry for entry in entries if style.shows(entry.name)]
    shown = _sorted(style, _dots(process, style, path) + visible)
    if style.long:
        yield raw(f"total {_blocks(style, sum(entry.stat.st_blocks for entry in shown))}\n")
    yield _table(process, style, shown, path)
    if style.args.has("R") and depth < DEEPEST:
        for entry in shown:
            if is_folder(entry.stat) and entry.name not in (".", ".."):
                yield from _folder(
                    process, style, below(path, entry.name), b"\n", headed=True, depth=depth + 1
                )


def _dots(process: Process, style: _Style, path: str) -> list[FolderEntry]:
    if style.hidden != "a":
        return []
    here = process.stat(path + "/.")
    try:
        above = process.stat(path + "/..")
    except (OSError, SafeFsError):
        above = here  # above a mount there is nothing to show
    return [FolderEntry(".", here), FolderEntry("..", above)]


def _sorted(style: _Style, entries: list[FolderEntry]) -> list[FolderEntry]:
    by = style.args.last_of("t", "S")

    def key(entry: FolderEntry) -> tuple[int, bytes]:
        first = {"t": -entry.stat.st_mtime_ns, "S": -entry.stat.st_size}
        return first.get(by or "", 0), raw(entry.name)

    return sorted(entries, key=key, reverse=style.args.has("r"))


# --- Rows ---------------------------------------------------------------------------------------------------------


def _table(
    process: Process,
    style: _Style,
    entries: list[FolderEntry],
    folder: str,
    *,
    beside: Iterable[FolderEntry] = (),
) -> bytes:
    """Rows in columns; `beside`: other entries that count for the width of columns."""
    rows = [_cells(process, style, entry.stat) for entry in entries]
    measured = rows + [_cells(process, style, entry.stat) for entry in beside]
    widths = [max(len(cell) for cell in column) for column in zip(*measured, strict=True)]
    return b"".join(
        raw(f"{_aligned(row, widths)}{_name(process, style, entry, folder)}\n")
        for entry, row in zip(entries, rows, strict=True)
    )


def _blocks(style: _Style, blocks: int) -> str:
    return metadata.human(blocks * 512) if style.args.has("h") else str(-(-blocks // 2))


def _cells(process: Process, style: _Style, stat: os.stat_result) -> list[str]:
    """The columns before the name."""
    if not style.long:
        return []
    size = metadata.human(stat.st_size) if style.args.has("h") else str(stat.st_size)
    people = [metadata.owner(stat.st_uid), metadata.group(stat.st_gid)]
    when = _when(style, stat.st_mtime_ns, process.now)
    return [st.filemode(stat.st_mode), str(stat.st_nlink), *people, size, when]


def _when(style: _Style, ns: int, now: float) -> str:
    if style.when.startswith("+"):
        return metadata.formatted(style.when[1:], ns)
    if style.when == "full-iso":
        return metadata.full(ns)
    if style.when == "long-iso":
        return f"{metadata.utc(ns):%Y-%m-%d %H:%M}"
    return metadata.listed(ns, now)


def _aligned(row: list[str], widths: list[int]) -> str:
    """A row with mode, owner and group left-aligned, numbers right-aligned; the time is not aligned."""
    ways = (str.ljust, str.rjust, str.ljust, str.ljust, str.rjust)
    cells = [align(cell, width) for align, cell, width in zip(ways, row, widths, strict=False)]
    return "".join(f"{cell} " for cell in [*cells, *row[5:]])


def _name(process: Process, style: _Style, entry: FolderEntry, folder: str) -> str:
    if style.long and st.S_ISLNK(entry.stat.st_mode):
        target = process.link_target(below(folder, entry.name) if folder else entry.name)
        return f"{entry.name} -> {target or '?'}"
    return entry.name + (metadata.suffix(entry.stat) if style.args.has("F") else "")
