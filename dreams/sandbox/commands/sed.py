"""sed for reading: -n, -E, -e; addresses; p, d, q, = and s with g, p, i and a number. Nothing writes or runs."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

import re2

from .. import posix
from ..errors import Refused, UsageError
from ..options import Spec, read
from ..process import Process, Runner, raw

_SED = Spec(
    flags={
        "n": "n",
        "quiet": "n",
        "silent": "n",
        "E": "E",
        "r": "E",
        "regexp-extended": "E",
        "u": "u",
        "posix": "posix",
    },
    values={"e": "e", "expression": "e"},
    why_not={
        "i": "it writes the file",
        "in-place": "it writes the file",
        "f": "programs are not taken from files",
        "file": "programs are not taken from files",
    },
)
_WHY = {
    "w": "it writes a file",
    "W": "it writes a file",
    "e": "it runs a program",
    "r": "files are named as operands",
    "R": "files are named as operands",
}
_MOST = 50


@dataclass(frozen=True, slots=True)
class _Address:
    """A line number, the last line (`$`), a pattern, every `step`-th line, or `+count` lines more."""

    kind: str
    number: int = 0
    step: int = 0
    pattern: re2._Regexp | None = None


@dataclass(slots=True)
class _Substitution:
    pattern: re2._Regexp
    replacement: list[bytes | int]
    everywhere: bool = False
    nth: int = 1
    printed: bool = False


@dataclass(slots=True)
class _Command:
    letter: str
    first: _Address | None = None
    last: _Address | None = None
    negated: bool = False
    substitution: _Substitution | None = None
    inside: bool = field(default=False)
    until: int = 0


def sed(name: str, argv: list[str]) -> Runner:
    args = read(name, _SED, argv)
    scripts = args.all("e")
    if not scripts:
        if not args.operands:
            raise UsageError("no script specified")
        scripts = [args.operands.pop(0)]
    for text in scripts:
        _Script(text, extended=args.has("E")).commands()

    def run(process: Process) -> Iterator[bytes]:
        commands = [one for text in scripts for one in _Script(text, extended=args.has("E")).commands()]
        lines = (line for _, chunks in process.inputs(args.operands, 2) for line in process.lines(chunks))
        yield from _edited(lines, commands, quiet=args.has("n"))

    return run


# Reading a program


class _Script:
    def __init__(self, text: str, *, extended: bool) -> None:
        self._text = text
        self._at = 0
        self._extended = extended

    def commands(self) -> list[_Command]:
        found: list[_Command] = []
        while True:
            self._skip(" \t;")
            if self._at >= len(self._text):
                return found
            found.append(self._command())
            if len(found) > _MOST:
                raise Refused(f"sed: more than {_MOST} commands")

    def _peek(self) -> str:
        return self._text[self._at : self._at + 1]

    def _skip(self, letters: str) -> None:
        while self._peek() and self._peek() in letters:
            self._at += 1

    def _command(self) -> _Command:
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
        if letter not in tuple("pdq=s"):
            raise Refused(
                f"sed {letter or 'without a command'}: {_WHY.get(letter, 'p, d, q, = and s are on offer')}"
            )
        command = _Command(letter, first, last, negated)
        if letter == "s":
            command.substitution = self._substitution()
        self._skip(" \t")
        if self._peek() not in ("", ";"):
            raise Refused(f"sed: {self._text[self._at :][:20]!r} behind {letter}: this is not on offer")
        return command

    def _address(self, *, second: bool = False) -> _Address | None:
        rest = self._text[self._at :]
        if found := re.match(r"([0-9]{1,15})~([0-9]{1,15})", rest):
            self._at += found.end()
            return _Address("step", int(found[1]), int(found[2]))
        if found := re.match(r"\+([0-9]{1,15})" if second else r"(?!)", rest):
            self._at += found.end()
            return _Address("more", int(found[1]))
        if found := re.match(r"[0-9]{1,15}", rest):
            self._at += found.end()
            return self._numbered(int(found[0]), second=second)
        if rest.startswith("$"):
            self._at += 1
            return _Address("last")
        if rest.startswith("/") or (rest.startswith("\\") and len(rest) > 1):
            self._at += 1 if rest.startswith("/") else 2
            return self._patterned(rest[0] if rest.startswith("/") else rest[1])
        return None

    def _numbered(self, number: int, *, second: bool) -> _Address:
        if number == 0 and not second and not self._text.startswith(",/", self._at):
            raise UsageError("invalid usage of line address 0")
        return _Address("number", number)

    def _patterned(self, delimiter: str) -> _Address:
        text = self._until(delimiter)
        fold = self._peek() == "I"
        self._at += fold
        return _Address("pattern", pattern=self._compiled(text, fold=fold))

    def _compiled(self, text: str, *, fold: bool) -> re2._Regexp:
        if not text:
            raise Refused("sed: an empty pattern (the last one used) is not on offer")
        if "\\n" in text:
            raise Refused("sed: \\n in a pattern; lines are read one at a time")
        text = text.replace("\\t", "\t")
        return posix.compiled(posix.translate(raw(text), extended=self._extended, fold=fold, capture=True))

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
                out.append(
                    behind if behind == delimiter and delimiter not in ".*[]^$+?(){}|" else char + behind
                )
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

    def _substitution(self) -> _Substitution:
        delimiter = self._peek()
        if not delimiter or delimiter in "\\\n":
            raise UsageError("unterminated `s' command")
        self._at += 1
        pattern = self._until(delimiter)
        replacement = self._replacement(delimiter)
        flags = re.match(r"[gpiI0-9]*", self._text[self._at :])
        letters = flags[0] if flags else ""
        self._at += len(letters)
        if self._peek() and self._peek() not in "; \t":
            raise Refused(
                f"sed s///{self._peek()}: {_WHY.get(self._peek(), 'g, p, i and a number are on offer')}"
            )
        number = re.sub(r"[^0-9]", "", letters)
        if number == "0":
            raise UsageError("number option to `s' command may not be zero")
        return _Substitution(
            self._compiled(pattern, fold="i" in letters.lower()),
            replacement,
            everywhere="g" in letters,
            nth=int(number or 1),
            printed="p" in letters,
        )

    def _replacement(self, delimiter: str) -> list[bytes | int]:
        """Texts, and numbers of groups (0: the whole match)."""
        out: list[bytes | int] = []
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

    def _escape(self) -> bytes | int:
        char = self._peek()
        self._at += 1
        if char.isdigit() and char.isascii():
            return int(char)
        if char in tuple("LUlEu"):
            raise Refused(f"sed: \\{char} in a replacement: changes of case are not on offer")
        return {"n": b"\n", "t": b"\t"}.get(char, raw(char))


# Running it


def _edited(lines: Iterator[bytes], commands: list[_Command], *, quiet: bool) -> Iterator[bytes]:
    number = 0
    following = next(lines, None)
    while following is not None:
        line, following = following, next(lines, None)
        number += 1
        end = b"\n" if line.endswith(b"\n") or following is not None else b""
        text: bytes | None = line.removesuffix(b"\n")
        for command in commands:
            assert text is not None  # noqa: S101 - d leaves the loop
            if _selected(command, text, number, following is None) == command.negated:
                continue
            if command.letter == "d":
                text = None
                break
            if command.letter == "q":
                yield b"" if quiet else text + end
                return
            if command.letter == "=":
                yield b"%d\n" % number
            elif command.letter == "p":
                yield text + (end or b"\n" if not quiet else end)
            elif command.substitution is not None:
                changed = _substituted(command.substitution, text)
                if changed is not None:
                    text = changed
                    if command.substitution.printed:
                        yield text + (end or b"\n" if not quiet else end)
        if text is not None and not quiet:
            yield text + end


def _selected(command: _Command, text: bytes, number: int, is_last: bool) -> bool:
    if command.first is None:
        return True
    if command.last is None:
        return _holds(command.first, text, number, is_last)
    if command.inside:
        return _goes_on(command, command.last, text, number, is_last)
    zero = command.first.kind == "number" and command.first.number == 0
    if zero and number == 1:
        command.inside = True
        return _goes_on(command, command.last, text, number, is_last)
    if not _holds(command.first, text, number, is_last):
        return False
    command.until = number + command.last.number if command.last.kind == "more" else command.last.number
    open_ended = command.last.kind in ("pattern", "last")
    command.inside = (open_ended and not is_last) or command.until > number
    return True


def _goes_on(command: _Command, last: _Address, text: bytes, number: int, is_last: bool) -> bool:
    if last.kind in ("number", "more"):
        command.inside = number < command.until
        return number <= command.until
    command.inside = not _holds(last, text, number, is_last)
    return True


def _holds(address: _Address, text: bytes, number: int, is_last: bool) -> bool:
    if address.kind == "number":
        return number == address.number
    if address.kind == "last":
        return is_last
    if address.kind == "step":
        distance = number - address.number
        return distance == 0 if not address.step else distance >= 0 and distance % address.step == 0
    if address.pattern is None:
        return False
    posix.check_cost(address.pattern, text)
    return address.pattern.search(text) is not None


def _substituted(one: _Substitution, text: bytes) -> bytes | None:
    """The new text, or None when nothing matched."""
    out: list[bytes] = []
    posix.check_cost(one.pattern, text)
    at = copied = count = 0
    changed = False
    ended = -1
    while at <= len(text):
        found = one.pattern.search(text, at)
        if found is None:
            break
        start, stop = found.span()
        if start == stop == ended:
            at = stop + 1
            continue
        count += 1
        if count >= one.nth:
            out += [text[copied:start], _filled(one.replacement, found)]
            copied, changed = stop, True
            if not one.everywhere:
                break
        ended = stop
        at = stop if stop > start else stop + 1
    return b"".join([*out, text[copied:]]) if changed else None


def _filled(replacement: list[bytes | int], found: re2._Match) -> bytes:
    pieces = []
    for part in replacement:
        if isinstance(part, bytes):
            pieces.append(part)
        elif part > found.re.groups:
            raise UsageError(f"invalid reference \\{part} on `s' command's RHS")
        else:
            pieces.append(found.group(part) or b"")
    return b"".join(pieces)


COMMANDS = {"sed": sed}
