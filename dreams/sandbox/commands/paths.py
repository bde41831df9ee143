"""stat, realpath, readlink, test, which: what stands at a path."""

from __future__ import annotations

import os
import re
import stat as st
from collections.abc import Callable, Iterator

from dreams.safefs import SafeFsError

from ..errors import Refused, UsageError
from ..mounts import normal, trouble
from ..options import Spec, read
from ..process import Process, Runner, raw
from . import looks

_STAT = Spec(
    flags={"t": "t", "terse": "t"},
    values={"c": "c", "format": "c", "printf": "printf"},
    why_not={"L": "links are never followed", "f": "file systems are not shown"},
)
_DEFAULT = (
    "  File: %N\n  Size: %-10s\tBlocks: %-10b IO Block: %-6o %F\n"
    "Device: %Hd,%Ld\tInode: %-11i Links: %h\n"
    "Access: (%04a/%10.10A)  Uid: (%5u/%8U)   Gid: (%5g/%8G)\n"
    "Access: %x\nModify: %y\nChange: %z\n Birth: %w\n"
)
_DIRECTIVE = re.compile(r"%([-#+ 0']*)([0-9]{0,3})(\.[0-9]{1,3})?([HL]?[A-Za-z%])")
_STAT_ESCAPES = {
    "a": "\a",
    "b": "\b",
    "f": "\f",
    "n": "\n",
    "r": "\r",
    "t": "\t",
    "v": "\v",
    "\\": "\\",
    '"': '"',
    "e": "\x1b",
}

Describe = Callable[[Process, str, os.stat_result], str | int]


def _quoted(process: Process, path: str, stat: os.stat_result) -> str:
    shown = _shell_quoted(path)
    if not st.S_ISLNK(stat.st_mode):
        return shown
    target = process.tree.link_target(process.tree.place(path, process.cwd))
    return f"{shown} -> {_shell_quoted(target)}"


def _shell_quoted(text: str) -> str:
    return f"'{text}'" if "'" not in text else f'"{text}"'


_FIELDS: dict[str, Describe] = {
    "n": lambda process, path, stat: path,
    "N": _quoted,
    "s": lambda process, path, stat: stat.st_size,
    "b": lambda process, path, stat: stat.st_blocks,
    "B": lambda process, path, stat: 512,
    "o": lambda process, path, stat: stat.st_blksize,
    "a": lambda process, path, stat: int(f"{st.S_IMODE(stat.st_mode):o}"),
    "A": lambda process, path, stat: looks.mode(stat),
    "f": lambda process, path, stat: f"{stat.st_mode:x}",
    "F": lambda process, path, stat: looks.kind(stat),
    "u": lambda process, path, stat: stat.st_uid,
    "U": lambda process, path, stat: looks.owner(stat.st_uid),
    "g": lambda process, path, stat: stat.st_gid,
    "G": lambda process, path, stat: looks.group(stat.st_gid),
    "h": lambda process, path, stat: stat.st_nlink,
    "i": lambda process, path, stat: stat.st_ino,
    "d": lambda process, path, stat: stat.st_dev,
    "D": lambda process, path, stat: f"{stat.st_dev:x}",
    "Hd": lambda process, path, stat: os.major(stat.st_dev),
    "Ld": lambda process, path, stat: os.minor(stat.st_dev),
    "x": lambda process, path, stat: looks.full(stat.st_atime_ns),
    "y": lambda process, path, stat: looks.full(stat.st_mtime_ns),
    "z": lambda process, path, stat: looks.full(stat.st_ctime_ns),
    "X": lambda process, path, stat: looks.seconds(stat.st_atime_ns),
    "Y": lambda process, path, stat: looks.seconds(stat.st_mtime_ns),
    "Z": lambda process, path, stat: looks.seconds(stat.st_ctime_ns),
    # The time of birth is not told by the system call in use.
    "w": lambda process, path, stat: "-",
    "W": lambda process, path, stat: 0,
}


def stat(name: str, argv: list[str]) -> Runner:
    args = read(name, _STAT, argv)
    if not args.operands:
        raise UsageError("missing operand")
    kind = args.last_of("c", "printf", "t")
    fmt = {"c": (args.last("c") or "") + "\n", "printf": _stat_unescaped(args.last("printf") or "")}.get(
        kind or ""
    )
    if kind == "t":
        raise Refused("stat -t: use -c with a format")
    fmt = _DEFAULT if fmt is None else fmt
    for found in _DIRECTIVE.finditer(fmt):
        if found[4] not in (*_FIELDS, "%"):
            raise Refused(f"stat -c {found[0]}: this directive is not on offer")

    def run(process: Process) -> Iterator[bytes]:
        for path in args.operands:
            try:
                found = process.stat(path)
            except (OSError, SafeFsError) as error:
                process.complain(f"cannot statx '{path}': {trouble(error)}")
                continue
            yield raw(_formatted(process, fmt, path, found))

    return run


def _stat_unescaped(text: str) -> str:
    def one(found: re.Match[str]) -> str:
        return _STAT_ESCAPES.get(found[1], found[1])

    return re.sub(r"\\(.)", one, text)


def _formatted(process: Process, fmt: str, path: str, found: os.stat_result) -> str:
    def one(directive: re.Match[str]) -> str:
        if directive[4] == "%":
            return "%"
        value = _FIELDS[directive[4]](process, path, found)
        flags, width = directive[1].replace("'", "").replace("#", ""), directive[2]
        if isinstance(value, int):
            return f"%{flags}{width}d" % value
        precision = directive[3] or ""
        return f"%{flags.replace('0', '').replace('+', '').replace(' ', '')}{width}{precision}s" % value

    return _DIRECTIVE.sub(one, fmt)


_REALPATH = Spec(
    flags={letter: letter for letter in "emsqLPz"}
    | {
        "canonicalize-existing": "e",
        "canonicalize-missing": "m",
        "no-symlinks": "s",
        "strip": "s",
        "quiet": "q",
    }
)


def realpath(name: str, argv: list[str]) -> Runner:
    """Paths made whole. Nothing is followed, so a link is told as it stands."""
    args = read(name, _REALPATH, argv)
    if not args.operands:
        raise UsageError("missing operand")

    def run(process: Process) -> Iterator[bytes]:
        for path in args.operands:
            try:
                process.tree.place(path, process.cwd)
                if not args.has("m"):
                    _stat_or_folder(process, path, may_miss=not args.has("e"))
            except (OSError, SafeFsError) as error:
                process.complain(f"{path}: {trouble(error)}")
                continue
            yield raw(normal(path, process.cwd)) + b"\n"

    return run


def _stat_or_folder(process: Process, path: str, *, may_miss: bool) -> None:
    """Raises unless something stands at `path` or, where the last name may be missing, at its folder."""
    try:
        process.stat(path)
    except FileNotFoundError:
        if not may_miss:
            raise
        process.stat(normal(path, process.cwd) + "/..")


def readlink(name: str, argv: list[str]) -> Runner:
    spec = Spec(flags={"n": "n", "f": "f", "e": "f", "m": "f", "canonicalize": "f", "q": "q", "s": "q"})
    args = read(name, spec, argv)
    if args.has("f"):
        return realpath(name, args.operands)
    if not args.operands:
        raise UsageError("missing operand")

    def run(process: Process) -> Iterator[bytes]:
        for path in args.operands:
            try:
                target = process.tree.link_target(process.tree.place(path, process.cwd))
            except (OSError, SafeFsError):
                process.status = 1
                continue
            yield raw(target) + (b"" if args.has("n") and len(args.operands) == 1 else b"\n")

    return run


# test


def test(name: str, argv: list[str]) -> Runner:
    words = list(argv)
    if name == "[" and (not words or words.pop() != "]"):
        raise UsageError("missing ']'", 2)

    def run(process: Process) -> Iterator[bytes]:
        process.status = 0 if _Test(process, words).whole() else 1
        return iter(())

    return run


class _Test:
    """Reads `test` by recursive descent: `-o`, `-a`, `!`, parentheses, then one condition."""

    def __init__(self, process: Process, words: list[str]) -> None:
        self._process = process
        self._words = words
        self._at = 0

    def whole(self) -> bool:
        if not self._words:
            return False
        result = self._either()
        if self._at < len(self._words):
            raise UsageError(f"extra argument '{self._words[self._at]}'", 2)
        return result

    def _peek(self, ahead: int = 0) -> str | None:
        at = self._at + ahead
        return self._words[at] if at < len(self._words) else None

    def _take(self) -> str:
        word = self._peek()
        if word is None:
            raise UsageError("argument expected", 2)
        self._at += 1
        return word

    def _either(self) -> bool:
        result = self._both()
        while self._peek() == "-o":
            self._at += 1
            result = self._both() or result
        return result

    def _both(self) -> bool:
        result = self._not()
        while self._peek() == "-a":
            self._at += 1
            result = self._not() and result
        return result

    def _not(self) -> bool:
        if self._peek() == "!" and self._peek(1) is not None and self._peek(1) not in _BINARY:
            self._at += 1
            return not self._not()
        if self._peek() == "(" and self._peek(1) not in _BINARY:
            self._at += 1
            result = self._either()
            if self._take() != ")":
                raise UsageError("')' expected", 2)
            return result
        return self._condition()

    def _condition(self) -> bool:
        first = self._take()
        operator = self._peek()
        if operator in _BINARY and self._peek(1) is not None:
            self._at += 1
            return self._compare(first, operator or "", self._take())
        if first in _UNARY and operator is not None:
            return self._about(first, self._take())
        if first.startswith("-") and len(first) == 2 and operator is not None:
            raise Refused(f"test {first}: this condition is not on offer")
        return first != ""

    def _compare(self, a: str, operator: str, b: str) -> bool:
        if operator in _NUMERIC:
            return _NUMERIC[operator](_integer(a), _integer(b))
        if operator in ("-nt", "-ot"):
            ages = [self._mtime(path) for path in (a, b)]
            return ages[0] > ages[1] if operator == "-nt" else ages[0] < ages[1]
        return {"=": a == b, "==": a == b, "!=": a != b, "<": a < b, ">": a > b}[operator]

    def _mtime(self, path: str) -> int:
        try:
            return self._process.stat(path).st_mtime_ns
        except (OSError, SafeFsError):
            return -1

    def _about(self, operator: str, word: str) -> bool:
        if operator in ("-z", "-n"):
            return (word == "") == (operator == "-z")
        try:
            stat = self._process.stat(word)
        except (OSError, SafeFsError):
            return False
        return _UNARY[operator](stat)


def _integer(text: str) -> int:
    if not re.fullmatch(r"\s*[-+]?[0-9]{1,18}\s*", text):
        raise UsageError(f"{text}: integer expression expected", 2)
    return int(text)


def _followed(stat: os.stat_result) -> bool:
    return not st.S_ISLNK(stat.st_mode)


_UNARY: dict[str, Callable[[os.stat_result], bool]] = {
    "-e": _followed,
    "-f": lambda stat: st.S_ISREG(stat.st_mode),
    "-d": lambda stat: st.S_ISDIR(stat.st_mode),
    "-s": lambda stat: _followed(stat) and stat.st_size > 0,
    "-L": lambda stat: st.S_ISLNK(stat.st_mode),
    "-h": lambda stat: st.S_ISLNK(stat.st_mode),
    "-p": lambda stat: st.S_ISFIFO(stat.st_mode),
    "-r": _followed,
    "-x": lambda stat: _followed(stat) and bool(stat.st_mode & 0o111),
    "-w": lambda stat: False,  # nothing is writable from here
    "-z": lambda stat: False,
    "-n": lambda stat: False,
}
_NUMERIC: dict[str, Callable[[int, int], bool]] = {
    "-eq": lambda a, b: a == b,
    "-ne": lambda a, b: a != b,
    "-lt": lambda a, b: a < b,
    "-le": lambda a, b: a <= b,
    "-gt": lambda a, b: a > b,
    "-ge": lambda a, b: a >= b,
}
_BINARY = {"=", "==", "!=", "<", ">", "-nt", "-ot", *_NUMERIC}


def which(name: str, argv: list[str]) -> Runner:
    """Whether a command is on offer; all of them are built in."""
    args = read(name, Spec(flags={"a": "a", "v": "v", "V": "v"}), argv)
    if name == "command" and not args.has("v"):
        raise Refused("command: only command -v NAME is on offer")

    def run(process: Process) -> Iterator[bytes]:
        from . import find_command  # noqa: PLC0415 - the list of commands holds this one

        for word in args.operands:
            if find_command(word) is None:
                process.status = 1
            else:
                yield raw(word) + b"\n"

    return run


COMMANDS = {
    "stat": stat,
    "realpath": realpath,
    "readlink": readlink,
    "test": test,
    "[": test,
    "which": which,
    "command": which,
}
