"""test and [."""

from __future__ import annotations

import os
import re
import stat as st
from collections.abc import Callable, Iterator

from dreams.lib.files.safefs import SafeFsError

from ..errors import Refused, UsageError
from ..process import Process, Runner

_DEEPEST = 50


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
        self._nested = 0

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
        wanted = True
        while self._peek() == "!" and self._peek(1) is not None and self._peek(1) not in _BINARY:
            self._at += 1
            wanted = not wanted
        if self._peek() == "(" and self._peek(1) not in _BINARY:
            return self._group() == wanted
        return self._condition() == wanted

    def _group(self) -> bool:
        self._at += 1
        self._nested += 1
        if self._nested > _DEEPEST:
            raise UsageError("parentheses nested too deeply", 2)
        result = self._either()
        if self._take() != ")":
            raise UsageError("')' expected", 2)
        self._nested -= 1
        return result

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


COMMANDS = {"test": test, "[": test}
