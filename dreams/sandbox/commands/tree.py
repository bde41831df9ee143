"""tree: folders as a drawing. No link is entered."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from dreams.safefs import SafeFsError

from ..errors import Refused
from ..globbing import matches
from ..mounts import Entry, trouble
from ..options import Args, Spec, read
from ..process import Process, Runner, is_folder, raw
from . import looks
from .numbers import plain

_TREE = Spec(
    flags={
        **{letter: letter for letter in "adfhsirtFnN"},
        "noreport": "noreport",
        "dirsfirst": "first",
    },
    values={"L": "L", "I": "I", "P": "P"},
    why_not={
        "l": "links are never followed",
        "o": "it writes a file",
        "R": "it writes files",
        "fromfile": "names are not taken from files",
    },
)
_DEPTH = 64


@dataclass(slots=True)
class _Drawing:
    process: Process
    args: Args
    deepest: int
    left_out: list[str]
    wanted: list[str]
    folders: int = 0
    files: int = 0
    out: list[str] = field(default_factory=list)

    def draw(self, path: str) -> Iterator[bytes]:
        try:
            stat = self.process.stat(path)
        except (OSError, SafeFsError) as error:
            self.process.status = 2
            yield raw(f"{path}  [error opening dir: {trouble(error)}]\n")
            return
        yield raw(f"{path}\n")
        if is_folder(stat):
            yield from self._below(path, "", 1)

    def _below(self, path: str, lead: str, depth: int) -> Iterator[bytes]:
        shown = self._entries(path)
        for at, entry in enumerate(shown):
            last = at == len(shown) - 1
            below = f"{path.rstrip('/') or ''}/{entry.name}"
            yield raw(f"{self._lead(lead, last)}{self._told(entry, below)}\n")
            folder = is_folder(entry.stat)
            self.folders += folder
            self.files += not folder
            if folder and depth < min(self.deepest, _DEPTH):
                yield from self._below(below, lead + ("    " if last else "│   "), depth + 1)

    def _lead(self, lead: str, last: bool) -> str:
        return "" if self.args.has("i") else lead + ("└── " if last else "├── ")

    def _told(self, entry: Entry, path: str) -> str:
        size = ""
        if self.args.has("h"):
            size = f"[{looks.human(entry.stat.st_size):>4}]  "
        elif self.args.has("s"):
            size = f"[{entry.stat.st_size:>11}]  "
        name = path if self.args.has("f") else entry.name
        sign = looks.suffix(entry.stat) if self.args.has("F") else ""
        return f"{size}{name}{sign}"

    def _entries(self, path: str) -> list[Entry]:
        process = self.process
        try:
            found = process.tree.entries(process.tree.place(path, process.cwd))
        except (OSError, SafeFsError):
            return []
        process.meter.saw(len(found))
        shown = sorted((entry for entry in found if self._shows(entry)), key=self._order)
        if self.args.has("r"):
            shown.reverse()
        if self.args.has("first"):
            shown.sort(key=lambda entry: not is_folder(entry.stat))
        return shown

    def _order(self, entry: Entry) -> tuple[int, bytes]:
        return (entry.stat.st_mtime_ns if self.args.has("t") else 0), raw(entry.name)

    def _shows(self, entry: Entry) -> bool:
        if entry.name.startswith(".") and not self.args.has("a"):
            return False
        folder = is_folder(entry.stat)
        if any(matches(pattern, entry.name) for pattern in self.left_out):
            return False
        if not folder and self.wanted:
            return any(matches(pattern, entry.name) for pattern in self.wanted)
        return folder or not self.args.has("d")


def tree(name: str, argv: list[str]) -> Runner:
    args = read(name, _TREE, argv)
    deepest = plain(args.last("L") or str(_DEPTH), "Invalid level")
    if not deepest:
        raise Refused("tree -L: a level of 1 or more")

    def run(process: Process) -> Iterator[bytes]:
        left_out = [one for text in args.all("I") for one in text.split("|")]
        wanted = [one for text in args.all("P") for one in text.split("|")]
        drawing = _Drawing(process, args, deepest, left_out, wanted)
        for path in args.operands or ["."]:
            yield from drawing.draw(path)
        if not args.has("noreport"):
            told = f"{drawing.folders} director{'y' if drawing.folders == 1 else 'ies'}"
            if not args.has("d"):
                told += f", {drawing.files} file{'' if drawing.files == 1 else 's'}"
            yield raw(f"\n{told}\n")

    return run


COMMANDS = {"tree": tree}
