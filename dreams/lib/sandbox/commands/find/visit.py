"""One file that find looks at, and the tests on it."""

from __future__ import annotations

import os
import re
import stat as st
from collections.abc import Callable
from dataclasses import dataclass

import re2

from dreams.lib.files.safefs import SafeFsError

from ...errors import Refused, UsageError
from ...globbing import matches
from ...process import Process, raw
from .. import looks


@dataclass(slots=True)
class Visit:
    """A file on the way; `pruned` and `quit` are set by actions."""

    path: str
    name: str
    stat: os.stat_result
    depth: int
    start: str
    process: Process
    out: list[bytes]
    pruned: bool = False
    quit: bool = False


Test = Callable[[Visit], bool]
NS = 1_000_000_000


@dataclass(frozen=True, slots=True)
class Amount:
    """`+n`, `-n` or `n`."""

    sign: str
    number: int

    def holds(self, value: int) -> bool:
        if self.sign == "+":
            return value > self.number
        return value < self.number if self.sign == "-" else value == self.number


def amount(option: str, text: str) -> Amount:
    found = re.fullmatch(r"([-+]?)([0-9]{1,15})", text)
    if found is None:
        raise UsageError(f"invalid argument '{text}' to '{option}'")
    return Amount(found[1], int(found[2]))


def named(pattern: str, *, fold: bool) -> Test:
    return lambda visit: matches(pattern, visit.name, fold=fold)


def pathed(pattern: str, *, fold: bool) -> Test:
    return lambda visit: matches(pattern, visit.path, fold=fold)


def of_type(text: str) -> Test:
    letters = text.split(",")
    if any(letter not in tuple("fdlpsbc") for letter in letters):
        raise UsageError(f"Unknown argument to -type: {text[:20]}")
    return lambda visit: looks.letter(visit.stat) in letters


_UNITS = {"": 512, "b": 512, "c": 1, "w": 2, "k": 1024, "M": 1024**2, "G": 1024**3}


def sized(text: str) -> Test:
    found = re.fullmatch(r"([-+]?)([0-9]{1,15})([bcwkMG]?)", text)
    if found is None:
        raise UsageError(f"invalid argument '{text}' to '-size'")
    wanted, unit = Amount(found[1], int(found[2])), _UNITS[found[3]]
    return lambda visit: wanted.holds(-(-visit.stat.st_size // unit))


def empty(visit: Visit) -> bool:
    if st.S_ISREG(visit.stat.st_mode):
        return visit.stat.st_size == 0
    if not st.S_ISDIR(visit.stat.st_mode):
        return False
    process = visit.process
    try:
        return not process.tree.entries(process.tree.place(visit.path, process.cwd))
    except (OSError, SafeFsError):
        return False


def _mode(text: str) -> int:
    """`u=rw,g+r` from nothing."""
    places = {"u": 6, "g": 3, "o": 0}
    wanted = 0
    for who, what in re.findall(r"([ugoa]*)[=+]([rwx]+)", text):
        bits = sum({"r": 4, "w": 2, "x": 1}[letter] for letter in set(what))
        letters = "ugo" if not who or "a" in who else who
        for letter in letters:
            wanted |= bits << places[letter]
    return wanted


def permitted(text: str) -> Test:
    found = re.fullmatch(r"([-/]?)(?:([0-7]{1,4})|([ugoa]*[=+][rwx]+(?:,[ugoa]*[=+][rwx]+)*))", text)
    if found is None:
        raise Refused("find -perm: octal modes and the like of u+x,g=r are read")
    wanted = int(found[2], 8) if found[2] else _mode(found[3])

    def test(visit: Visit) -> bool:
        mode = st.S_IMODE(visit.stat.st_mode)
        if found[1] == "-":
            return mode & wanted == wanted
        return (mode & wanted != 0 or not wanted) if found[1] == "/" else mode == wanted

    return test


def linked(text: str) -> Test:
    wanted = amount("-links", text)
    return lambda visit: wanted.holds(visit.stat.st_nlink)


def numbered(text: str) -> Test:
    wanted = amount("-inum", text)
    return lambda visit: wanted.holds(visit.stat.st_ino)


def path_pattern(matcher: re2._Regexp) -> Test:
    return lambda visit: matcher.fullmatch(raw(visit.path)) is not None
