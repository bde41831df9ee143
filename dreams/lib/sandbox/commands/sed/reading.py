"""A sed program read from left to right. What writes, runs or names a file is refused."""

from __future__ import annotations

import re

import re2

from ... import posix
from ...errors import Refused, UsageError
from ...process import raw
from . import escapes
from .program import Address, Case, Command, Replacement, Substitution

_WHY = {
    "w": "it writes a file",
    "W": "it writes a file",
    "e": "it runs a program",
    "r": "files are named as operands",
    "R": "files are named as operands",
    "m": "patterns are matched against the whole text",
    "M": "patterns are matched against the whole text",
}
_OFFERED = "{ } p P d D n N g G h H x z s y i a c l = q Q b t T and : are on offer"
_PLAIN = "pPdDnNgGhHxz="
_MOST = 200
_DEEPEST = 30


def parse(scripts: list[str], *, extended: bool) -> list[Command]:
    """The commands of all scripts, one after the other, with every branch and block leading to its place."""
    commands = [command for text in scripts for command in _Script(text, extended=extended).commands()]
    if len(commands) > _MOST:
        raise Refused(f"sed: more than {_MOST} commands")
    _close_blocks(commands)
    _find_labels(commands)
    return commands


def _close_blocks(commands: list[Command]) -> None:
    """A block that is not selected goes on behind its end."""
    opened: list[Command] = []
    for at, command in enumerate(commands):
        if command.letter == "{":
            opened.append(command)
            if len(opened) > _DEEPEST:
                raise Refused("sed: blocks nested too deeply")
        elif command.letter == "}":
            if not opened:
                raise UsageError("unexpected `}'")
            opened.pop().number = at
    if opened:
        raise UsageError("unmatched `{'")


def _find_labels(commands: list[Command]) -> None:
    labels = {command.text: at for at, command in enumerate(commands) if command.letter == ":"}
    for command in commands:
        if command.letter in ("b", "t", "T"):
            if command.text and command.text not in labels:
                raise UsageError(f"can't find label for jump to `{command.text.decode('utf-8', 'replace')}'")
            command.number = labels.get(command.text, len(commands))


class _Script:
    def __init__(self, text: str, *, extended: bool) -> None:
        self._text = text
        self._at = 0
        self._extended = extended

    def commands(self) -> list[Command]:
        found: list[Command] = []
        while True:
            self._skip(" \t;\n")
            self._take(r"#[^\n]*")
            if self._at >= len(self._text):
                return found
            if self._peek() == "\n":
                continue
            found.append(self._command())
            if len(found) > _MOST:
                raise Refused(f"sed: more than {_MOST} commands")

    # Letters

    def _peek(self) -> str:
        return self._text[self._at : self._at + 1]

    def _skip(self, letters: str) -> None:
        while self._peek() and self._peek() in letters:
            self._at += 1

    def _take(self, pattern: str) -> str:
        found = re.compile(pattern).match(self._text, self._at)
        self._at = found.end() if found else self._at
        return found[0] if found else ""

    # Commands

    def _command(self) -> Command:
        command = self._addressed()
        letter = command.letter
        if letter == "s":
            command.substitution = self._substitution()
        elif letter == "y":
            command.table = self._table()
        elif letter in ("a", "i", "c"):
            command.text = self._rest()
            return command
        elif letter in (":", "b", "t", "T"):
            self._skip(" \t")
            command.text = raw(self._take(r"[^ \t;}]*"))
        elif letter in ("q", "Q", "l"):
            self._skip(" \t")
            command.number = int(self._take(r"[0-9]{1,5}") or (70 if letter == "l" else 0))
        elif letter in ("{", "}"):
            return command
        self._end(letter)
        return command

    def _addressed(self) -> Command:
        """Addresses, `!` and the letter."""
        first = self._address()
        last = None
        self._skip(" \t")
        if first is not None and self._peek() == ",":
            self._at += 1
            self._skip(" \t")
            last = self._address(second=True)
            if last is None:
                raise UsageError("unexpected `,'")
        self._skip(" \t")
        negated = self._peek() == "!"
        if negated:
            self._skip("! \t")
        letter = self._peek()
        self._at += 1
        if not letter:
            raise UsageError("missing command")
        if letter not in "{}sy:aicbtTqQl" + _PLAIN:
            raise Refused(f"sed {letter}: {_WHY.get(letter, _OFFERED)}")
        if letter in "}:" and first is not None:
            raise UsageError(f"{letter} doesn't want any addresses")
        return Command(letter, first, last, negated)

    def _end(self, letter: str) -> None:
        self._skip(" \t")
        self._take(r"#[^\n]*")
        if self._peek() not in ("", ";", "}", "\n"):
            raise Refused(f"sed: {self._text[self._at :][:20]!r} behind {letter}: this is not on offer")

    def _rest(self) -> bytes:
        """The text of a, i and c: the rest of the script. A backslash keeps the blanks that follow it."""
        self._skip(" \t")
        if self._peek() == "\\":
            self._at += 1
            if not self._text[self._at :]:
                raise Refused("sed: the text of a, i and c stands in the same word, as in 'a TEXT'")
            blanks = self._take(r"[ \t]*")
            text = blanks + self._text[self._at :] if self._peek() else blanks
        else:
            text = self._text[self._at :]
        if not text:
            raise UsageError("expected \\ after `a', `c' or `i'")
        self._at = len(self._text)
        return raw(re.sub(r"\\(.)", lambda found: escapes.NAMED.get(found[1], found[1]), text)) + b"\n"

    # Addresses

    def _address(self, *, second: bool = False) -> Address | None:
        rest = self._text[self._at :]
        if found := re.match(r"([0-9]{1,15})~([0-9]{1,15})", rest):
            self._at += found.end()
            return Address("step", int(found[1]), int(found[2]))
        if found := re.match(r"([+~])([0-9]{1,15})" if second else r"(?!)", rest):
            self._at += found.end()
            return Address("more" if found[1] == "+" else "multiple", int(found[2]))
        if found := re.match(r"[0-9]{1,15}", rest):
            self._at += found.end()
            return self._numbered(int(found[0]), second=second)
        if rest.startswith("$"):
            self._at += 1
            return Address("last")
        if rest.startswith("/") or (rest.startswith("\\") and len(rest) > 1):
            self._at += 1 if rest.startswith("/") else 2
            return self._patterned(rest[0] if rest.startswith("/") else rest[1])
        return None

    def _numbered(self, number: int, *, second: bool) -> Address:
        if number == 0 and not second and not self._text.startswith(",/", self._at):
            raise UsageError("invalid usage of line address 0")
        return Address("number", number)

    def _patterned(self, delimiter: str) -> Address:
        text = self._until(delimiter)
        fold = self._peek() == "I"
        self._at += fold
        return Address("pattern", pattern=self._compiled(text, fold=fold))

    def _compiled(self, text: str, *, fold: bool) -> re2._Regexp | None:
        if not text:
            return None
        expression = posix.translate(
            raw(escapes.in_pattern(text)), extended=self._extended, fold=fold, capture=True, lines=False
        )
        return posix.compiled(expression)

    def _until(self, delimiter: str) -> str:
        """The text up to a delimiter that is neither escaped nor in brackets."""
        out: list[str] = []
        bracket = False
        while self._peek() != delimiter or bracket:
            char = self._peek()
            if not char:
                raise UsageError("unterminated address regex or `s' command")
            if char == "\\" and not bracket:
                behind = self._text[self._at + 1 : self._at + 2]
                out.append(behind if behind == delimiter else char + behind)
                self._at += 2
                continue
            bracket = self._in_bracket(char, bracket)
            out.append(char)
            self._at += 1
        self._at += 1
        return "".join(out)

    def _in_bracket(self, char: str, bracket: bool) -> bool:
        if not bracket:
            return char == "["
        before = self._text[: self._at]
        at_start = before.endswith("[") or before.endswith("[^")
        return not (char == "]" and not at_start)

    # s and y

    def _delimiter(self, letter: str) -> str:
        delimiter = self._peek()
        if not delimiter or delimiter in "\\\n":
            raise UsageError(f"unterminated `{letter}' command")
        self._at += 1
        return delimiter

    def _substitution(self) -> Substitution:
        delimiter = self._delimiter("s")
        pattern = self._until(delimiter)
        replacement = self._replacement(delimiter)
        letters = self._take(r"[gpiI0-9]*")
        if self._peek() and self._peek() not in "; \t}\n":
            raise Refused(
                f"sed s///{self._peek()}: {_WHY.get(self._peek(), 'g, p, i and a number are on offer')}"
            )
        number = re.sub(r"[^0-9]", "", letters)[:9]
        if number and not int(number):
            raise UsageError("number option to `s' command may not be zero")
        return Substitution(
            self._compiled(pattern, fold="i" in letters.lower()),
            replacement,
            everywhere="g" in letters,
            nth=int(number or 1),
            printed="p" in letters,
        )

    def _replacement(self, delimiter: str) -> Replacement:
        out: Replacement = []
        while self._peek() != delimiter:
            char = self._peek()
            if not char:
                raise UsageError("unterminated `s' command")
            self._at += 1
            if char == "&":
                out.append(0)
            elif char == "\\":
                out.append(self._escape())
            else:
                out.append(raw(char))
        self._at += 1
        return out

    def _escape(self) -> bytes | int | Case:
        char = self._peek()
        self._at += 1
        if char.isdigit() and char.isascii():
            return int(char)
        if char in tuple("LUluE"):
            return Case(char)
        if found := escapes.numbered(self._text, self._at - 1):
            named, self._at = found
            return raw(named)
        return raw(escapes.NAMED.get(char, char))

    def _table(self) -> bytes:
        """What y does to each byte."""
        delimiter = self._delimiter("y")
        old, new = (self._letters(delimiter) for _ in range(2))
        if len(old) != len(new):
            raise UsageError("strings for `y' command are different lengths")
        table = bytearray(range(256))
        for index in range(len(old) - 1, -1, -1):  # the first of two equal letters counts
            table[old[index]] = new[index]
        return bytes(table)

    def _letters(self, delimiter: str) -> bytes:
        out: list[str] = []
        while self._peek() != delimiter:
            char = self._peek()
            if not char:
                raise UsageError("unterminated `y' command")
            self._at += 1
            if char == "\\":
                behind = self._peek()
                self._at += 1
                if behind not in (delimiter, "\\", *escapes.NAMED):
                    raise UsageError("`y' command strings have different lengths")
                char = behind if behind == delimiter else escapes.NAMED.get(behind, behind)
            out.append(char)
        self._at += 1
        return raw("".join(out))
