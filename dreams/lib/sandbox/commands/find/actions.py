"""find's actions: they print, prune and leave, nothing else."""

from __future__ import annotations

import os
import re
import stat as st
from collections.abc import Callable

from dreams.lib.files.safefs import SafeFsError

from ...errors import Refused
from ...process import raw
from .. import looks
from .visit import NS, Test, Visit


def _put(visit: Visit, data: bytes) -> None:
    if not visit.quit:  # -quit ends everything on the spot, the print that is implied too
        visit.out.append(data)


def print_line(visit: Visit) -> bool:
    _put(visit, raw(visit.path) + b"\n")
    return True


def print_nul(visit: Visit) -> bool:
    _put(visit, raw(visit.path) + b"\0")
    return True


def list_line(visit: Visit) -> bool:
    """-ls: inode, blocks, mode, links, owner, group, size or device, time, name."""
    stat = visit.stat
    kind = looks.letter(stat)
    size = f"{os.major(stat.st_rdev):3d}, {os.minor(stat.st_rdev):3d}" if kind in "bc" else str(stat.st_size)
    name = looks.escaped(visit.path, ' "')
    name = name if kind != "l" else f"{name} -> {looks.escaped(_target(visit), ' ' + chr(34))}"
    row = (
        f"{stat.st_ino:9d} {-(-stat.st_blocks // 2):6d} {looks.mode(stat)} {stat.st_nlink:3d} "
        f"{looks.owner(stat.st_uid):8} {looks.group(stat.st_gid):8} {size:>8} "
        f"{looks.listed(stat.st_mtime_ns, visit.process.now)} {name}\n"
    )
    _put(visit, raw(row))
    return True


def prune(visit: Visit) -> bool:
    visit.pruned = True
    return True


def leave(visit: Visit) -> bool:
    visit.quit = True
    return True


_DIRECTIVE = re.compile(
    r"%([-#+ 0]*)([0-9]{0,3})(\.[0-9]{1,3})?([ACT].|[A-Za-z%])|\\([abfnrtv\\])|\\([0-7]{1,3})|(\\c)"
)
_ESCAPES = {"a": "\a", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v", "\\": "\\"}


def _target(visit: Visit) -> str:
    try:
        process = visit.process
        return process.tree.link_target(process.tree.place(visit.path, process.cwd))
    except (OSError, SafeFsError):
        return ""


def _ctime(ns: int) -> str:
    at = looks.moment(ns)
    return f"{at:%a %b} {at.day:2d} {at:%H:%M:%S}.{ns % NS:09d}0 {at.year}"


def _time_part(ns: int, letter: str) -> str:
    at, fraction = looks.moment(ns), f".{ns % NS:09d}0"
    if letter == "@":
        return f"{looks.seconds(ns)}{fraction}"
    if letter == "+":
        return f"{at:%Y-%m-%d+%H:%M:%S}{fraction}"
    if letter == "S":
        return f"{at:%S}{fraction}"
    if letter == "T":
        return f"{at:%H:%M:%S}{fraction}"
    if letter == "s":
        return str(looks.seconds(ns))
    return at.strftime("%" + letter)


_FIELDS: dict[str, Callable[[Visit], str | int]] = {
    "p": lambda visit: visit.path,
    "f": lambda visit: visit.path[visit.path.rstrip("/").rfind("/") + 1 :] or "/",
    "h": lambda visit: visit.path.rstrip("/").rpartition("/")[0] if "/" in visit.path.rstrip("/") else ".",
    "P": lambda visit: visit.path[len(visit.start) :].lstrip("/"),
    "H": lambda visit: visit.start,
    "s": lambda visit: str(visit.stat.st_size),
    "k": lambda visit: str(-(-visit.stat.st_blocks // 2)),
    "b": lambda visit: str(visit.stat.st_blocks),
    "d": lambda visit: visit.depth,
    "m": lambda visit: f"{st.S_IMODE(visit.stat.st_mode):o}",
    "M": lambda visit: looks.mode(visit.stat),
    "u": lambda visit: looks.owner(visit.stat.st_uid),
    "g": lambda visit: looks.group(visit.stat.st_gid),
    "U": lambda visit: str(visit.stat.st_uid),
    "G": lambda visit: str(visit.stat.st_gid),
    "i": lambda visit: str(visit.stat.st_ino),
    "n": lambda visit: visit.stat.st_nlink,
    "y": lambda visit: looks.letter(visit.stat),
    "l": _target,
    "t": lambda visit: _ctime(visit.stat.st_mtime_ns),
    "a": lambda visit: _ctime(visit.stat.st_atime_ns),
    "c": lambda visit: _ctime(visit.stat.st_ctime_ns),
}


def formatted(fmt: str) -> Test:
    """-printf: to the output alone."""
    for found in _DIRECTIVE.finditer(fmt):
        name = found[4]
        known = name is None or name == "%" or name in _FIELDS
        if not known and not (name[0] in "ACT" and name[1:] in tuple("YmdHMSBbaAjyDFTReI@+sp")):
            raise Refused(f"find -printf {found[0]}: this directive is not on offer")
    if re.search("%", _DIRECTIVE.sub("", fmt)):
        raise Refused("find -printf: a '%' that is no directive on offer")

    def action(visit: Visit) -> bool:
        _put(visit, raw(_filled(fmt, visit)))
        return True

    return action


def _filled(fmt: str, visit: Visit) -> str:
    def one(found: re.Match[str]) -> str:
        if found[5]:
            return _ESCAPES[found[5]]
        if found[6]:
            return chr(int(found[6], 8) & 127)
        if found[4] == "%":
            return "%"
        if found[7]:
            return ""
        return _field(found, visit)

    return _DIRECTIVE.sub(one, fmt.partition("\\c")[0])


def _field(found: re.Match[str], visit: Visit) -> str:
    name = found[4]
    flags, width, precision = found[1], found[2], found[3] or ""
    if len(name) == 2:
        which = {"A": visit.stat.st_atime_ns, "C": visit.stat.st_ctime_ns, "T": visit.stat.st_mtime_ns}[
            name[0]
        ]
        return f"%{flags}{width}s" % _time_part(which, name[1])
    value = _FIELDS[name](visit)
    if isinstance(value, int):
        return f"%{flags}{width}d" % value
    return f"%{'-' if '-' in flags else ''}{width}{precision}s" % value
