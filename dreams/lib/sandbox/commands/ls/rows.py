"""How ls shows one name: columns, signs, quotes."""

from __future__ import annotations

import os
import stat as st
from collections.abc import Iterable

from dreams.lib.files.safefs import SafeFsError

from ...errors import UsageError
from ...mounts import Entry
from ...process import Process, is_folder, raw
from .. import looks, times
from .style import Style


def table(
    process: Process,
    style: Style,
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


def _blocks(style: Style, size: int) -> str:
    return _size(style, size) if style.human or style.unit else str(-(-size // 1024))


def _size(style: Style, size: int) -> str:
    if style.human:
        return looks.human(size, style.human)
    if not style.unit:
        return str(size)
    letter = {1: "", 1024: "K", 1024**2: "M"}.get(style.unit, "G")
    return f"{-(-size // style.unit)}{letter}"


def _cells(process: Process, style: Style, entry: Entry) -> list[str]:
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


def _long_cells(process: Process, style: Style, stat: os.stat_result) -> list[str]:
    numeric = style.args.has("n")
    cells = [looks.mode(stat), str(stat.st_nlink)]
    if not style.args.has("g"):
        cells.append(str(stat.st_uid) if numeric else looks.owner(stat.st_uid))
    if not (style.args.has("o") or style.args.has("G")):
        cells.append(str(stat.st_gid) if numeric else looks.group(stat.st_gid))
    cells.append(_size(style, stat.st_size))
    return [*cells, _when(process, style, style.ns(stat))]


def _when(process: Process, style: Style, ns: int) -> str:
    if style.full_time:
        return looks.full(ns)
    words = style.args.last("time-style")
    if words is not None and words.startswith("+"):
        return times.shown(words[1:], ns)
    if words == "long-iso":
        return f"{looks.moment(ns):%Y-%m-%d %H:%M}"
    if words == "iso":
        recent = process.now - looks.HALF_YEAR < ns / 1e9 <= process.now
        return f"{looks.moment(ns):%m-%d %H:%M}" if recent else f"{looks.moment(ns):%Y-%m-%d }"
    return looks.listed(ns, process.now)


def _aligned(row: list[str], widths: list[int], style: Style) -> str:
    """Names to the left, numbers to the right, as ls puts them."""
    lead = style.args.has("i") + style.args.has("s")
    names = 2 - style.args.has("g") - (style.args.has("o") or style.args.has("G"))
    out = []
    for column, (cell, width) in enumerate(zip(row, widths, strict=True)):
        at = column - lead
        left = style.long and (at == 0 or 2 <= at < 2 + names)
        left = left and not (style.args.has("n") and at >= 2)
        when = style.long and column == len(row) - 1  # times stand as they are
        out.append(cell if when else cell.ljust(width) if left else cell.rjust(width))
    return "".join(cell + " " for cell in out)


def _name(process: Process, style: Style, entry: Entry, folder: str) -> str:
    shown = quoted(style, entry.name)
    if style.long and st.S_ISLNK(entry.stat.st_mode):
        return f"{shown} -> {_target(process, entry.name, folder)}"
    sign = looks.suffix(entry.stat)
    wanted = _indicator(style)
    if wanted == "slash":
        sign = "/" if is_folder(entry.stat) else ""
    elif wanted == "file-type":
        sign = sign.replace("*", "")
    return shown + sign if wanted else shown


def _indicator(style: Style) -> str | None:
    """Which signs go behind names; the last option decides."""
    last = [(name, value) for name, value in style.args.given if name in ("F", "p", "file-type", "indicator")]
    if not last:
        return None
    name, value = last[-1]
    if name == "indicator" and value not in ("none", "slash", "file-type", "classify"):
        raise UsageError(f"invalid argument '{value}' for '--indicator-style'", 2)
    words = {"F": "classify", "p": "slash", "file-type": "file-type"}
    return None if value == "none" else words.get(name, value)


def quoted(style: Style, name: str, *, heading: bool = False) -> str:
    """-b and -Q: what does not print, in C's escapes."""
    wanted = style.args.last_of("Q", "b", "N")
    if wanted == "Q":
        return f'"{looks.escaped(name, chr(34))}"'
    return looks.escaped(name, "" if heading else " ") if wanted == "b" else name


def _target(process: Process, name: str, folder: str) -> str:
    path = name if not folder else f"{folder.rstrip('/') or '/'}/{name}"
    try:
        return process.tree.link_target(process.tree.place(path, process.cwd))
    except (OSError, SafeFsError):
        return "?"
