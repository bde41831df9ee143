"""A sed program at work: pattern space, hold space, and the lines that come in and go out."""

from __future__ import annotations

from collections.abc import Iterator

import re2

from ... import posix
from ...errors import UsageError
from ...process import Process
from .program import Address, Command
from .replacing import substituted
from .space import Space


class _Ended(Exception):
    """q or Q."""


class _CycleEnded(Exception):
    """n or N without another line."""


class Run:
    """One stream of lines."""

    def __init__(self, process: Process, commands: list[Command], *, quiet: bool, end: bytes) -> None:
        self._process = process
        self._commands = commands
        self._quiet = quiet
        self._end = end
        self._space = Space()
        self._held, self._hold_whole = Space(), True
        self._last_pattern: re2._Regexp | None = None
        self._out: list[bytes] = []
        self._missing = False  # the last line that went out had no end of its own
        self._ended = False

    def all(self, lines: Iterator[bytes]) -> Iterator[bytes]:
        """The output for one input; lines, ranges and the hold space begin anew."""
        if self._ended:
            return
        self._number = 0
        self._held, self._hold_whole = Space(), True
        self._lines = lines
        self._following = next(lines, None)
        for command in self._commands:
            command.inside, command.until = False, 0
        try:
            while self._read():
                again = True
                while again:
                    again = self._cycle()
                    yield self._printed()
        except _Ended:
            self._ended = True
        yield self._printed()

    @property
    def _text(self) -> bytes:
        """The pattern space."""
        return self._space.text

    @_text.setter
    def _text(self, text: bytes) -> None:
        self._space = Space(text)

    # Lines in and out

    def _read(self) -> bool:
        line = self._following
        if line is None:
            return False
        self._following = next(self._lines, None)
        self._number += 1
        self._text = line.removesuffix(self._end)
        self._whole = line.endswith(self._end)
        self._appended: list[bytes] = []
        self._replaced = False
        return True

    def _put(self, text: bytes, *, whole: bool = True) -> None:
        if self._missing:
            self._out.append(self._end)
        self._out.append(text + self._end if whole else text)
        self._missing = not whole

    def _printed(self) -> bytes:
        data = b"".join(self._out)
        self._out.clear()
        return data

    def _flush(self, *, silent: bool = False) -> None:
        """The end of a cycle: the pattern space unless -n, then what was appended."""
        if not (self._quiet or silent):
            self._put(self._text, whole=self._whole)
        self._put_appended()

    def _put_text(self, text: bytes) -> None:
        """The text of a, i or c, with its own line end."""
        if self._missing:
            self._out.append(self._end)
        self._out.append(text)
        self._missing = False

    def _put_appended(self) -> None:
        for text in self._appended:
            self._put_text(text)
        self._appended = []

    def _next(self, *, join: bool) -> None:
        """n and N. Without another line the cycle ends here, as GNU's does."""
        if self._following is None:
            self._flush()
            raise _CycleEnded
        grown = self._space
        if join:
            self._put_appended()
        else:
            self._flush()
        replaced = self._replaced
        self._read()
        self._replaced = replaced
        if join:
            grown.add(self._end, self._text)
            self._space = grown

    # Commands

    def _cycle(self) -> bool:
        """Runs the program once. True: once more, without reading (D)."""
        try:
            return self._through()
        except _CycleEnded:
            return False

    def _through(self) -> bool:
        at = 0
        while at < len(self._commands):
            self._process.meter.tick()
            command = self._commands[at]
            at += 1
            if self._selected(command) == command.negated:
                if command.letter == "{":
                    at = command.number or at
                continue
            if command.letter in ("b", "t", "T"):
                at = self._branch(command, at)
            elif command.letter in ("d", "c"):
                if command.letter == "c" and (command.negated or not command.inside):
                    self._put_text(command.text)
                self._flush(silent=True)
                return False
            elif command.letter == "D":
                return self._delete_first()
            else:
                self._do(command)
        self._flush()
        return False

    def _branch(self, command: Command, at: int) -> int:
        if command.letter != "b":
            jumps = self._replaced == (command.letter == "t")
            self._replaced = False
            if not jumps:
                return at
        return at if command.number is None else command.number

    def _delete_first(self) -> bool:
        _, found, rest = self._text.partition(self._end)
        self._flush(silent=True)
        if found:
            self._text = rest
        return bool(found)

    def _do(self, command: Command) -> None:
        letter = command.letter
        if letter == "s":
            self._substitute(command)
        elif letter == "p":
            self._put(self._text, whole=self._whole)
        elif letter == "P":
            first, found, _ = self._text.partition(self._end)
            self._put(first, whole=self._whole or bool(found))
        elif letter == "=":
            self._put_text(b"%d\n" % self._number)
        elif letter in ("n", "N"):
            self._next(join=letter == "N")
        elif letter in ("q", "Q"):
            self._process.status = (self._process.status or command.number or 0) & 255
            self._flush(silent=letter == "Q")
            raise _Ended
        elif letter == "i":
            self._put_text(command.text)
        elif letter == "a":
            self._appended.append(command.text)
        elif letter == "y":
            self._text = self._text.translate(command.table)
        elif letter == "l":
            self._put(b"\n".join(_visible(self._text, command.number or 0)))
        else:
            self._move(letter)

    def _move(self, letter: str) -> None:
        """h, H, g, G, x and z. Whether a line had an end travels with its text."""
        if letter == "h":
            self._held, self._hold_whole = Space(self._text), self._whole
        elif letter == "H":
            self._held.add(self._end, self._text)
            self._hold_whole = self._whole
        elif letter == "g":
            self._text, self._whole = self._held.text, self._hold_whole
        elif letter == "G":
            self._space.add(self._end, self._held.text)
            self._whole = self._hold_whole
        elif letter == "x":
            self._space, self._held = self._held, self._space
            self._whole, self._hold_whole = self._hold_whole, self._whole
        elif letter == "z":
            self._text = b""

    def _substitute(self, command: Command) -> None:
        one = command.substitution
        assert one is not None  # noqa: S101 - every s has one
        changed = substituted(one, self._pattern(one.pattern), self._text, self._process.meter)
        if changed is not None:
            self._text = changed
            self._replaced = True
            if one.printed:
                self._put(self._text, whole=self._whole)

    def _pattern(self, given: re2._Regexp | None) -> re2._Regexp:
        self._last_pattern = given or self._last_pattern
        if self._last_pattern is None:
            raise UsageError("no previous regular expression")
        return self._last_pattern

    # Addresses

    def _selected(self, command: Command) -> bool:
        if command.first is None:
            return True
        if command.last is None:
            return self._holds(command.first)
        if command.inside:
            return self._goes_on(command, command.last)
        if command.first == Address("number", 0) and self._number == 1 and not command.until:
            command.until = 1  # 0,/x/ begins before the first line, once
            command.inside = True
            return self._goes_on(command, command.last)
        if not self._holds(command.first):
            return False
        self._begin(command, command.last)
        return True

    def _begin(self, command: Command, last: Address) -> None:
        command.until = {
            "more": self._number + last.number,
            "multiple": -(-self._number // last.number) * last.number if last.number else self._number,
        }.get(last.kind, last.number)
        open_ended = last.kind in ("pattern", "last", "step")
        is_last = self._following is None and last.kind == "last"
        command.inside = (open_ended and not is_last) or command.until > self._number

    def _goes_on(self, command: Command, last: Address) -> bool:
        if last.kind in ("number", "more", "multiple"):
            command.inside = self._number < command.until
            if last.kind == "number" and self._number > command.until:
                return command.first is not None and self._again(command)
            return self._number <= command.until
        command.inside = not self._holds(last)
        return True

    def _again(self, command: Command) -> bool:
        """Behind the end of a range by line numbers (a jump over it): the line may begin it anew."""
        assert command.first is not None  # noqa: S101 - asked before
        return self._holds(command.first)

    def _holds(self, address: Address) -> bool:
        if address.kind == "number":
            return self._number == address.number
        if address.kind == "last":
            return self._following is None
        if address.kind == "step":
            distance = self._number - address.number
            return distance == 0 if not address.step else distance >= 0 and distance % address.step == 0
        pattern = self._pattern(address.pattern)
        posix.check_cost(pattern, self._text)
        return pattern.search(self._text) is not None


_LETTERS = {7: b"\\a", 8: b"\\b", 9: b"\\t", 10: b"\\n", 11: b"\\v", 12: b"\\f", 13: b"\\r", 92: b"\\\\"}
_SHOWN = [
    _LETTERS.get(byte) or (bytes([byte]) if 32 <= byte < 127 else b"\\%03o" % byte) for byte in range(256)
]


def _visible(text: bytes, width: int) -> list[bytes]:
    """l: every byte told apart, in rows of `width` (0 or 1: one row)."""
    rows: list[bytes] = []
    row, size = bytearray(), width - 1
    for byte in text:
        piece = _SHOWN[byte]
        if width > 1 and len(row) + len(piece) > size:
            rows.append(bytes(row) + b"\\")
            row.clear()
        row += piece
    return [*rows, bytes(row) + b"$"]
