"""find's tests of one file, and its actions, which print, prune and quit."""

import math
import os
import re
import stat as st
from collections.abc import Callable
from dataclasses import dataclass

from dreams.lib.files.safefs import SafeFsError
from dreams.lib.sandbox import patterns
from dreams.lib.sandbox.commands import metadata
from dreams.lib.sandbox.commands.metadata import NS
from dreams.lib.sandbox.globbing import matches
from dreams.lib.sandbox.mounts import trouble
from dreams.lib.sandbox.process import Process, Refused, UsageError, raw


@dataclass(slots=True)
class Visit:
    """A visited file; -prune sets `pruned`."""

    path: str
    name: str
    stat: os.stat_result
    depth: int
    start: str
    process: Process
    out: list[bytes]
    pruned: bool = False

    def print(self, text: str) -> bool:
        self.out.append(raw(text))
        return True


Test = Callable[[Visit], bool]


def yes(visit: Visit) -> bool:
    return True


# --- Names and kinds ----------------------------------------------------------------------------------------------


def _named(word: str, text: str) -> Test:
    fold = word.startswith("-i")
    if word.endswith("name"):
        return lambda visit: matches(text, visit.name, fold=fold)
    return lambda visit: matches(text, visit.path, fold=fold)


def _of_type(word: str, text: str) -> Test:
    letters = text.split(",")
    if any(letter not in tuple("fdlpsbc") for letter in letters):
        raise UsageError(f"Unknown argument to -type: {text[:20]}")
    return lambda visit: metadata.letter(visit.stat) in letters


def _empty(visit: Visit) -> bool:
    if st.S_ISREG(visit.stat.st_mode):
        return visit.stat.st_size == 0
    if not st.S_ISDIR(visit.stat.st_mode):
        return False
    process = visit.process
    try:
        return not process.tree.entries(process.tree.place(visit.path, process.cwd))
    except (OSError, SafeFsError):
        return False


def _path_pattern(word: str, text: str) -> Test:
    """-regex: matches the complete path, by basic patterns with + and ? as repetitions without a backslash."""
    pattern = re.sub(rb"\\.|\[\^?\]?[^]]*\]|[+?]", _repeated, raw(text), flags=re.DOTALL)
    matcher = patterns.compiled(patterns.translate(pattern, extended=False, fold=word == "-iregex"))
    return lambda visit: matcher.fullmatch(raw(visit.path)) is not None


def _repeated(found: re.Match[bytes]) -> bytes:
    return b"\\" + found[0] if found[0] in (b"+", b"?") else found[0]


# --- Sizes, modes and times ---------------------------------------------------------------------------------------

_UNITS = {"": 512, "b": 512, "c": 1, "w": 2, "k": 1024, "M": 1024**2, "G": 1024**3}


@dataclass(frozen=True, slots=True)
class _Amount:
    """`+n`, `-n` or `n`."""

    sign: str
    number: int
    unit: str

    @classmethod
    def of(cls, word: str, text: str, units: str = "") -> "_Amount":
        found = re.fullmatch(
            rf"([-+]?)([0-9]{{1,15}})([{units}]?)" if units else r"([-+]?)([0-9]{1,15})()", text
        )
        if found is None:
            raise UsageError(f"invalid argument '{text}' to '{word}'")
        return cls(found[1], int(found[2]), found[3])

    def holds(self, value: int) -> bool:
        if self.sign == "+":
            return value > self.number
        return value < self.number if self.sign == "-" else value == self.number


def _sized(word: str, text: str) -> Test:
    wanted = _Amount.of(word, text, "bcwkMG")
    unit = _UNITS[wanted.unit]
    return lambda visit: wanted.holds(-(-visit.stat.st_size // unit))


def _permitted(word: str, text: str) -> Test:
    found = re.fullmatch(r"([-/]?)([0-7]{1,4})", text)
    if found is None:
        raise Refused("find -perm: octal modes such as 644, -100 or /111 are read")
    wanted = int(found[2], 8)

    def test(visit: Visit) -> bool:
        mode = st.S_IMODE(visit.stat.st_mode)
        if found[1] == "-":
            return mode & wanted == wanted
        return (mode & wanted != 0 or not wanted) if found[1] == "/" else mode == wanted

    return test


def _age(visit: Visit) -> int:
    return int(visit.process.now * NS) - visit.stat.st_mtime_ns


def _days_old(word: str, text: str) -> Test:
    wanted = _Amount.of(word, text)
    return lambda visit: wanted.holds(_age(visit) // (86_400 * NS))


def _minutes_old(word: str, text: str) -> Test:
    """Counts started minutes, except that `-n` means less than n complete ones."""
    wanted = _Amount.of(word, text)

    def test(visit: Visit) -> bool:
        minutes = _age(visit) / (60 * NS)
        if wanted.sign:
            return minutes > wanted.number if wanted.sign == "+" else minutes < wanted.number
        return math.ceil(minutes) == wanted.number

    return test


def newer_than_file(path: str) -> Test:
    def test(visit: Visit) -> bool:
        try:
            stat = visit.process.stat(path)
        except (OSError, SafeFsError) as error:
            raise UsageError(f"'{path}': {trouble(error)}") from None
        return visit.stat.st_mtime_ns > stat.st_mtime_ns

    return test


def newer_than_time(text: str) -> Test:
    moment = metadata.parse_moment(text)
    return lambda visit: visit.stat.st_mtime_ns > moment(visit.process.now)


# --- Actions ------------------------------------------------------------------------------------------------------


def print_line(visit: Visit) -> bool:
    return visit.print(visit.path + "\n")


def _list_line(visit: Visit) -> bool:
    """-ls: inode, blocks, mode, links, owner, group, size or device, time, name."""
    stat = visit.stat
    is_device = metadata.letter(stat) in "bc"
    size = f"{os.major(stat.st_rdev):3d}, {os.minor(stat.st_rdev):3d}" if is_device else str(stat.st_size)
    target = f" -> {_escaped(_target(visit))}" if st.S_ISLNK(stat.st_mode) else ""
    return visit.print(
        f"{stat.st_ino:9d} {-(-stat.st_blocks // 2):6d} {st.filemode(stat.st_mode)} {stat.st_nlink:3d} "
        f"{metadata.owner(stat.st_uid):8} {metadata.group(stat.st_gid):8} {size:>8} "
        f"{metadata.listed(stat.st_mtime_ns, visit.process.now)} {_escaped(visit.path)}{target}\n"
    )


_LETTERS = {7: "a", 8: "b", 9: "t", 10: "n", 11: "v", 12: "f", 13: "r"}


def _escaped(name: str) -> str:
    """A name with C escapes for unprintable characters, blanks, quotes and backslashes."""

    def one(byte: int) -> str:
        if byte in _LETTERS:
            return "\\" + _LETTERS[byte]
        return ("\\" if byte in b'\\ "' else "") + chr(byte) if 32 <= byte < 127 else f"\\{byte:03o}"

    return "".join(map(one, raw(name)))


class Quit(Exception):
    """-quit ends the walk at once, including the implied print."""


def _quit(visit: Visit) -> bool:
    raise Quit


def _prune(visit: Visit) -> bool:
    visit.pruned = True
    return True


def _target(visit: Visit) -> str:
    return visit.process.link_target(visit.path)


_DIRECTIVE = re.compile(r"%(-?)([0-9]{0,3})(T.|[A-Za-z%])|\\([ntr0\\])")
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "0": "\0", "\\": "\\"}
_TIME_LETTERS = "YmdHMSBbaAjyDFTRI@+s"
_FIELDS: dict[str, Callable[[Visit], str]] = {
    "p": lambda visit: visit.path,
    "f": lambda visit: visit.path[visit.path.rstrip("/").rfind("/") + 1 :] or "/",
    "h": lambda visit: visit.path.rstrip("/").rpartition("/")[0] if "/" in visit.path.rstrip("/") else ".",
    "P": lambda visit: visit.path[len(visit.start) :].lstrip("/"),
    "s": lambda visit: str(visit.stat.st_size),
    "d": lambda visit: str(visit.depth),
    "m": lambda visit: f"{st.S_IMODE(visit.stat.st_mode):o}",
    "M": lambda visit: st.filemode(visit.stat.st_mode),
    "u": lambda visit: metadata.owner(visit.stat.st_uid),
    "g": lambda visit: metadata.group(visit.stat.st_gid),
    "i": lambda visit: str(visit.stat.st_ino),
    "y": lambda visit: metadata.letter(visit.stat),
    "l": _target,
    "t": lambda visit: _plain_time(visit.stat.st_mtime_ns),
}


def _printf(word: str, form: str) -> Test:
    """-printf: to the standard output only."""
    for found in _DIRECTIVE.finditer(form):
        name = found[3]
        is_time = name is not None and name[0] == "T" and name[1:] in tuple(_TIME_LETTERS)
        if not (name is None or name == "%" or name in _FIELDS or is_time):
            raise Refused(f"find -printf {found[0]}: this directive is not on offer; use stat -c")
    if re.search(r"[%\\]", _DIRECTIVE.sub("", form)):
        raise Refused("find -printf: a '%' or '\\' that is no directive on offer")
    return lambda visit: visit.print(_DIRECTIVE.sub(lambda found: _filled(found, visit), form))


def _filled(found: re.Match[str], visit: Visit) -> str:
    if found[4]:
        return _ESCAPES[found[4]]
    name = found[3]
    if name == "%":
        return "%"
    value = _time_part(visit.stat.st_mtime_ns, name[1]) if len(name) == 2 else _FIELDS[name](visit)
    return f"%{found[1]}{found[2]}s" % value


def _plain_time(ns: int) -> str:
    at = metadata.utc(ns)
    return f"{at:%a %b} {at.day:2d} {at:%H:%M:%S}.{ns % NS:09d}0 {at.year}"


def _time_part(ns: int, letter: str) -> str:
    fraction = f".{ns % NS:09d}0"
    if letter == "@":
        return f"{ns // NS}{fraction}"
    form = {"+": "%Y-%m-%d+%H:%M:%S", "S": "%S", "T": "%H:%M:%S"}.get(letter)
    return f"{metadata.utc(ns):{form}}{fraction}" if form else metadata.formatted("%" + letter, ns)


# --- By name ------------------------------------------------------------------------------------------------------

ALONE: dict[str, Test] = {
    "-print": print_line,
    "-print0": lambda visit: visit.print(visit.path + "\0"),
    "-ls": _list_line,
    "-prune": _prune,
    "-quit": _quit,
    "-executable": lambda visit: bool(visit.stat.st_mode & 0o111),
    "-empty": _empty,
}
VALUED: dict[str, Callable[[str, str], Test]] = {
    **dict.fromkeys(("-name", "-iname", "-path", "-ipath"), _named),
    **dict.fromkeys(("-regex", "-iregex"), _path_pattern),
    "-mtime": _days_old,
    "-mmin": _minutes_old,
    "-type": _of_type,
    "-size": _sized,
    "-perm": _permitted,
    "-printf": _printf,
}
