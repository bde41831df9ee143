"""One file that find looks at, and the tests and actions on it."""

from __future__ import annotations

import datetime as dt
import math
import os
import re
import stat as st
from collections.abc import Callable
from dataclasses import dataclass

import re2

from dreams.safefs import SafeFsError

from ..errors import Refused, UsageError
from ..globbing import matches
from ..mounts import trouble
from ..process import Process, raw
from . import looks


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


def _time(visit: Visit, which: str) -> int:
    stat = visit.stat
    return {"a": stat.st_atime_ns, "c": stat.st_ctime_ns, "m": stat.st_mtime_ns}[which]


def days_old(option: str, text: str) -> Test:
    wanted = amount(option, text)
    return lambda visit: wanted.holds(_age(visit, option[1]) // (86_400 * NS))


def minutes_old(option: str, text: str) -> Test:
    wanted = amount(option, text)

    def test(visit: Visit) -> bool:
        age = _age(visit, option[1])
        if wanted.sign == "+":
            return age > wanted.number * 60 * NS
        if wanted.sign == "-":
            return age < wanted.number * 60 * NS
        return math.ceil(age / (60 * NS)) == wanted.number

    return test


def _age(visit: Visit, which: str) -> int:
    return int(visit.process.now * NS) - _time(visit, which)


def newer_than_file(which: str, reference: str, path: str) -> Test:
    """Compared with a file that is looked up when the command starts."""

    def test(visit: Visit) -> bool:
        try:
            stat = visit.process.stat(path)
        except (OSError, SafeFsError) as error:
            raise UsageError(f"'{path}': {trouble(error)}") from None
        mark = {"a": stat.st_atime_ns, "c": stat.st_ctime_ns, "m": stat.st_mtime_ns}[reference]
        return _time(visit, which) > mark

    return test


_AGO = re.compile(r"([0-9]{1,6}) (second|minute|hour|day|week)s?(?: ago)?")
_SECONDS = {"second": 1, "minute": 60, "hour": 3600, "day": 86_400, "week": 604_800}


def newer_than_time(which: str, text: str) -> Test:
    """ISO dates and times, `@seconds`, `N days ago`, yesterday, today, now."""
    moment = _moment(text)
    return lambda visit: _time(visit, which) > moment(visit.process.now)


def _moment(text: str) -> Callable[[float], float]:
    words = text.strip().lower()
    if found := re.fullmatch(r"@(-?[0-9]{1,15})", words):
        seconds = int(found[1])
        return lambda now: seconds * NS
    if words in ("now", "today"):
        return lambda now: now * NS
    if words == "yesterday":
        return lambda now: (now - 86_400) * NS
    if found := _AGO.fullmatch(words.removeprefix("-")):
        seconds = int(found[1]) * _SECONDS[found[2]]
        if words.endswith("ago") or words.startswith("-"):
            return lambda now: (now - seconds) * NS
    try:
        at = dt.datetime.fromisoformat(text.strip())
    except ValueError:
        raise Refused(f"find: the time {text[:40]!r}; write YYYY-MM-DD or 'YYYY-MM-DD HH:MM'") from None
    stamp = (at if at.tzinfo else at.replace(tzinfo=dt.UTC)).timestamp()
    return lambda now: stamp * NS


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


def permitted(text: str) -> Test:
    found = re.fullmatch(r"([-/]?)([0-7]{1,4})", text)
    if found is None:
        raise Refused("find -perm: octal modes alone are read")
    wanted = int(found[2], 8)

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


# Actions


def _put(visit: Visit, data: bytes) -> None:
    if not visit.quit:  # -quit ends everything on the spot, the print that is implied too
        visit.out.append(data)


def print_line(visit: Visit) -> bool:
    _put(visit, raw(visit.path) + b"\n")
    return True


def print_nul(visit: Visit) -> bool:
    _put(visit, raw(visit.path) + b"\0")
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
_TIME_PARTS = "YmdHMSBbaAjyDFTRepIZz@+sskul"


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
