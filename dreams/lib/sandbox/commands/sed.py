"""sed for reading: addresses, and the commands s, p, d and q. Lines are bytes, in the C locale."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Literal

import re2

from dreams.lib.sandbox import patterns
from dreams.lib.sandbox.options import Spec, read
from dreams.lib.sandbox.process import Process, Refused, Runner, SandboxLimit, UsageError, raw

_NO_PROGRAM_FILE = "programs are not taken from files"
_SED = Spec(
    flags="E,r,regexp-extended n,quiet,silent u,unbuffered",
    values="e,expression",
    why_not={
        **dict.fromkeys(("i", "in-place"), "it writes the file"),
        **dict.fromkeys(("f", "file"), _NO_PROGRAM_FILE),
        **dict.fromkeys(("z", "null-data"), "join lines with tr '\\n' ' '"),
        **dict.fromkeys(("s", "separate"), "call it once for each file"),
    },
)
_JOINS = "lines are looked at one by one; join them with tr '\\n' ' ', or use grep -A"
_INSTEAD = {
    **dict.fromkeys("wW", "it writes a file"),
    **dict.fromkeys("rR", "files are named as operands"),
    **dict.fromkeys("{}", "give each command its own address, as in '2p;2q'"),
    **dict.fromkeys("aic", "text is not put in; use s, or echo"),
    **dict.fromkeys("nNDPhHgGxbtT:", _JOINS),
    "e": "it runs a program",
    "y": "use tr",
    "l": "use cat -A",
    "Q": "use q, or head",
    "=": "use grep -n, or wc -l for the last line",
    "z": "use s/.*//",
    "m": "a pattern is matched against one line",
    "M": "a pattern is matched against one line",
}
_MOST_COMMANDS = 200  # of one script; chosen
_LONGEST = 32 * 1024 * 1024  # a text that a script makes; chosen


def sed(name: str, argv: list[str]) -> Runner:
    args = read(name, _SED, argv)
    scripts = args.all("e")
    if not scripts:
        if not args.operands:
            raise UsageError("no script specified")
        scripts = [args.operands.pop(0)]
    commands = _parse("\n".join(scripts), extended=args.has("E"))

    def run(process: Process) -> Iterator[bytes]:
        inputs = (process.lines(chunks) for _, chunks in process.inputs(args.operands, 2))
        lines = (line for each in inputs for line in each)
        yield from _ProgramRun(process, commands, quiet=args.has("n")).all(lines)

    return run


COMMANDS = {"sed": sed}


# --- A program ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Address:
    """A line number, the last line (`$`) or a pattern."""

    kind: Literal["number", "last", "pattern"]
    number: int = 0
    pattern: re2._Regexp | None = None


@dataclass(frozen=True, slots=True)
class _Substitution:
    """`replacement`: texts, and numbers of groups (0: the whole match)."""

    pattern: re2._Regexp
    replacement: list[bytes | int]
    everywhere: bool
    printed: bool


@dataclass(frozen=True, slots=True)
class _Command:
    letter: str
    first: _Address | None
    last: _Address | None
    negated: bool
    substitution: _Substitution | None = None


def _parse(script: str, *, extended: bool) -> list[_Command]:
    reader = _Reader(script, extended=extended)
    found: list[_Command] = []
    while reader.goes_on():
        found.append(reader.command())
        if len(found) > _MOST_COMMANDS:
            raise Refused(f"sed: more than {_MOST_COMMANDS} commands")
    return found


class _Reader:
    """Parses a program from left to right. Unsupported commands are refused with what to use instead."""

    def __init__(self, text: str, *, extended: bool) -> None:
        self._text = text
        self._at = 0
        self._extended = extended

    def goes_on(self) -> bool:
        self._take(r"(?:[ \t;\n]|#[^\n]*)*")
        return self._at < len(self._text)

    def command(self) -> _Command:
        first, last = self._addresses()
        negated = "!" in self._take(r"[ \t]*(?:![! \t]*)?")
        letter = self._take(r"[\s\S]")
        if not letter:
            raise UsageError("missing command")
        if letter not in tuple("spdq"):
            raise Refused(
                f"sed {letter}: {_INSTEAD.get(letter, 's, p, d and q with addresses are on offer')}"
            )
        substitution = self._substitution() if letter == "s" else None
        if self._take(r"[ \t]*(?:#[^\n]*)?(?=[;\n}]|$)") == "" and self._peek() not in ("", ";", "\n", "}"):
            raise Refused(f"sed: {self._text[self._at :][:20]!r} behind {letter}: this is not on offer")
        return _Command(letter, first, last, negated, substitution)

    def _peek(self) -> str:
        return self._text[self._at : self._at + 1]

    def _take(self, pattern: str) -> str:
        found = re.compile(pattern).match(self._text, self._at)
        self._at = found.end() if found else self._at
        return found[0] if found else ""

    # Addresses

    def _addresses(self) -> tuple[_Address | None, _Address | None]:
        first = self._address()
        self._take(r"[ \t]*")
        if first is None or self._peek() != ",":
            return first, None
        self._take(r",[ \t]*")
        if self._peek() in ("~", "+"):
            raise Refused(f"sed: an end such as ,{self._peek()}4 is not on offer; write the line's number")
        last = self._address()
        if last is None:
            raise UsageError("unexpected `,'")
        return first, last

    def _address(self) -> _Address | None:
        if number := self._take(r"[0-9]{1,15}"):
            if self._peek() == "~":
                raise Refused("sed: steps such as 1~2 are not on offer; write the lines' numbers")
            if not int(number):
                raise Refused("sed: the address 0 is not on offer; the first line is 1")
            return _Address("number", int(number))
        if self._take(r"\$"):
            return _Address("last")
        opened = self._take(r"/|\\[^\n]")
        if not opened:
            return None
        text = self._until(opened[-1])
        return _Address("pattern", pattern=self._compiled(text, fold=bool(self._take("I"))))

    def _compiled(self, text: str, *, fold: bool) -> re2._Regexp:
        if not text:
            raise Refused("sed: an empty pattern; write it out")
        expression = patterns.translate(
            raw(_unescaped(text)), extended=self._extended, fold=fold, capture=True, lines=False
        )
        return patterns.compiled(expression)

    def _until(self, delimiter: str) -> str:
        """The text up to a delimiter that is neither escaped nor in brackets."""
        out = []
        while self._peek() != delimiter:
            piece = self._take(r"\\[\s\S]|\[\^?\]?(?:\[:[a-z]+:\]|[^]])*\]|[\s\S]")
            if not piece:
                raise UsageError("unterminated address regex or `s' command")
            out.append(delimiter if piece == "\\" + delimiter else piece)
        self._at += 1
        return "".join(out)

    # s

    def _substitution(self) -> _Substitution:
        delimiter = self._take(r"[^\\\n]")
        if not delimiter:
            raise UsageError("unterminated `s' command")
        pattern, replacement = self._until(delimiter), self._replacement(delimiter)
        letters = self._take(r"[gpiI]*")
        if self._peek() not in ("", ";", " ", "\t", "}", "\n"):
            raise Refused(f"sed s///{self._peek()}: {_INSTEAD.get(self._peek(), 'g, p and i are on offer')}")
        compiled = self._compiled(pattern, fold="i" in letters.lower())
        for part in replacement:
            if isinstance(part, int) and part > compiled.groups:
                raise UsageError(f"invalid reference \\{part} on `s' command's RHS")
        return _Substitution(compiled, replacement, "g" in letters, "p" in letters)

    def _replacement(self, delimiter: str) -> list[bytes | int]:
        out: list[bytes | int] = []
        while self._peek() != delimiter:
            piece = self._take(r"\\x[0-9A-Fa-f]{1,2}|\\[\s\S]|[\s\S]")
            if not piece:
                raise UsageError("unterminated `s' command")
            if piece[1:] in tuple("LUluE"):
                raise Refused(f"sed {piece}: letters are changed with tr a-z A-Z")
            is_group = piece == "&" or re.fullmatch(r"\\[0-9]", piece)
            out.append(int(piece[1:] or 0) if is_group else raw(_character(piece)))
        self._at += 1
        return out


_NAMED = {"a": "\a", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v"}
_IN_PATTERN = re.compile(r"\\(?:x[0-9A-Fa-f]{1,2}|[\s\S])")


def _unescaped(pattern: str) -> str:
    """A pattern with its named characters replaced, also in brackets."""

    def one(found: re.Match[str]) -> str:
        if found[0][1] in "doc":
            raise Refused(f"sed {found[0]}: write the character itself, or [0-9] for a digit")
        char = _character(found[0]) if found[0][1] in (*_NAMED, "x") else found[0]
        return "\\\\" if char == "\\" else char

    return _IN_PATTERN.sub(one, pattern)


def _character(piece: str) -> str:
    """The character of `\\t`, `\\x1b` or another escape; others unchanged."""
    if not piece.startswith("\\"):
        return piece
    if len(piece) > 2 and piece[1] == "x":
        value = int(piece[2:], 16)
        # A non-ASCII byte is itself, as in a file name: see `raw`.
        return chr(value) if value < 128 else chr(0xDC00 + value)
    return _NAMED.get(piece[1:], piece[1:])


# --- Running ------------------------------------------------------------------------------------------------------


class _ProgramRun:
    """A running program. `_open`: the last line of each started range; None if an address ends it."""

    def __init__(self, process: Process, commands: list[_Command], *, quiet: bool) -> None:
        self._process = process
        self._commands = commands
        self._quiet = quiet
        self._out: list[bytes] = []
        self._ends_open = False  # the last printed line had no line end
        self._ended = False

    def all(self, lines: Iterator[bytes]) -> Iterator[bytes]:
        self._number = 0
        self._open: dict[int, int | None] = {}
        following = next(lines, None)
        while following is not None and not self._ended:
            line, following = following, next(lines, None)
            self._number += 1
            self._is_last = following is None
            self._text, self._end = line.removesuffix(b"\n"), line[-1:] if line.endswith(b"\n") else b""
            self._cycle()
            yield b"".join(self._out)
            self._out.clear()

    def _cycle(self) -> None:
        for at, command in enumerate(self._commands):
            self._process.meter.tick()
            if self._selected(at, command) == command.negated:
                continue
            if command.letter == "d":
                return
            if command.letter == "p":
                self._print(self._text, self._end)
            elif command.substitution is not None:
                changed = _substituted(command.substitution, self._process.masked(self._text), self._process)
                if changed is not None:
                    self._text = changed
                    if command.substitution.printed:
                        self._print(self._text, self._end)
            else:
                self._ended = True
                break
        if not self._quiet:
            self._print(self._text, self._end)

    def _print(self, text: bytes, end: bytes) -> None:
        self._out.append((b"\n" if self._ends_open else b"") + text + end)
        self._ends_open = not end

    def _selected(self, at: int, command: _Command) -> bool:
        if command.first is None:
            return True
        if command.last is None:
            return self._holds(command.first)
        if at in self._open:
            if self._open[at] is None:
                if self._holds(command.last):
                    del self._open[at]
                return True
            return self._before_end(at) or self._begins(at, command.first, command.last)
        return self._begins(at, command.first, command.last)

    def _before_end(self, at: int) -> bool:
        """Whether the line is in a range that ends at a number; a deleted line may have skipped its end."""
        end = self._open[at] or 0
        if self._number >= end:
            del self._open[at]
        return self._number <= end

    def _begins(self, at: int, first: _Address, last: _Address) -> bool:
        if not self._holds(first):
            return False
        if last.kind == "number":
            if last.number > self._number:
                self._open[at] = last.number
        else:
            self._open[at] = None
        return True

    def _holds(self, address: _Address) -> bool:
        if address.kind == "last":
            return self._is_last
        if address.pattern is not None:
            patterns.check_cost(address.pattern, self._text)
            return address.pattern.search(self._text) is not None
        return self._number == address.number


def _substituted(one: _Substitution, text: bytes, process: Process) -> bytes | None:
    """The new text, or None if nothing matched."""
    patterns.check_cost(one.pattern, text)
    out: list[bytes] = []
    copied = size = 0
    for found in _found(one.pattern, text):
        process.meter.tick()
        out += [text[copied : found.start()], _filled(one.replacement, found)]
        size += len(out[-1])
        if size > _LONGEST:
            raise SandboxLimit(f"stopped at a text of more than {_LONGEST:,} bytes")
        copied = found.end()
        if not one.everywhere:
            break
    return b"".join([*out, text[copied:]]) if out else None


def _found(pattern: re2._Regexp, text: bytes) -> Iterable[re2._Match]:
    """Every match; an empty one only if no other has just ended there."""
    at, ended = 0, -1
    while at <= len(text) and (found := pattern.search(text, at)) is not None:
        start, stop = found.span()
        if start == stop == ended:
            at = stop + 1
            continue
        yield found
        at, ended = (stop if stop > start else stop + 1), stop


def _filled(replacement: list[bytes | int], found: re2._Match) -> bytes:
    return b"".join(part if isinstance(part, bytes) else found.group(part) or b"" for part in replacement)
