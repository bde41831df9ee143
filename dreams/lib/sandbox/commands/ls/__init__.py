"""ls."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator

from dreams.lib.files.safefs import SafeFsError

from ...errors import Refused as Refused
from ...errors import UsageError as UsageError
from ...globbing import matches as matches
from ...mounts import Entry, trouble
from ...options import Args as Args
from ...options import Spec as Spec
from ...options import read
from ...process import Process, Runner, is_folder, raw
from .. import looks as looks
from ..sort.versions import version_key
from .rows import quoted, table
from .style import LS, Style, style_of

_DEPTH = 64


def ls(name: str, argv: list[str]) -> Runner:
    args = read(name, LS, argv)
    style = style_of(args)
    return lambda process: _list(process, style, args.operands or ["."])


def _list(process: Process, style: Style, operands: list[str]) -> Iterator[bytes]:
    files: list[Entry] = []
    folders: list[Entry] = []
    for path in operands:
        stat = _operand(process, path)
        if stat is not None:
            (folders if is_folder(stat) and not style.args.has("d") else files).append(Entry(path, stat))
    if files:
        yield table(process, style, _sorted(style, files), "", total=False, beside=folders)
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
    process: Process, style: Style, path: str, gap: bytes, *, headed: bool, depth: int
) -> Iterator[bytes]:
    try:
        entries = process.tree.entries(process.tree.place(path, process.cwd))
    except (OSError, SafeFsError) as error:
        process.complain(f"cannot open directory '{path}': {trouble(error)}", 2 if depth == 0 else 1)
        return
    process.meter.saw(len(entries))
    if headed:
        yield gap + raw(quoted(style, path, heading=True)) + b":\n"
    shown = _sorted(
        style, _dots(process, style, path) + [entry for entry in entries if style.shows(entry.name)]
    )
    yield table(process, style, shown, path, total=style.long or style.args.has("s"))
    if style.args.has("R") and depth < _DEPTH:
        for entry in shown:
            if is_folder(entry.stat) and entry.name not in (".", ".."):
                below = path + entry.name if path.endswith("/") else f"{path}/{entry.name}"
                yield from _folder(process, style, below, b"\n", headed=True, depth=depth + 1)


def _dots(process: Process, style: Style, path: str) -> list[Entry]:
    if style.hidden != "all":
        return []
    here = process.stat(path + "/.")
    try:
        above = process.stat(path + "/..")
    except (OSError, SafeFsError):
        above = here  # above a mount there is nothing to be told
    return [Entry(".", here), Entry("..", above)]


def _sorted(style: Style, entries: list[Entry]) -> list[Entry]:
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


COMMANDS = {"ls": ls}
