"""awk without its doors: no files but the operands, no programs, no environment, no functions of one's own.

Bytes and the C locale. `for (key in array)` goes in the order in which the keys came; other awks have one of their
own.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import suppress

from ...errors import LimitReached, Refused, UsageError
from ...options import Args, Spec, read
from ...process import Process, Runner, raw
from .lexing import unescaped
from .parsing import Rule, parse
from .state import State
from .statements import Ended, Next
from .values import Input, truth

_AWK = Spec(
    values={"F": "F", "field-separator": "F", "v": "v", "assign": "v"},
    why_not={
        "f": "programs are not taken from files",
        "file": "programs are not taken from files",
        "i": "programs are not taken from files",
    },
)
_SET = re.compile(r"([A-Za-z_][A-Za-z_0-9]*)=(.*)", re.DOTALL)
_OWN = ("NF", "NR", "FNR", "FILENAME", "ENVIRON", "ARGV", "ARGC", "PROCINFO")


def awk(name: str, argv: list[str]) -> Runner:
    args = read(name, _AWK, _options_first(argv))
    if not args.operands:
        raise UsageError("usage: awk [-F SEP] [-v NAME=VALUE] 'PROGRAM' [FILE]...", 2)
    rules = parse(args.operands.pop(0))
    if any(_SET.fullmatch(operand) for operand in args.operands):
        raise Refused("awk: an operand with '=' would set a variable; use -v NAME=VALUE")
    given = _given(args)
    return lambda process: _Run(process, rules, given).all(args.operands)


def _options_first(argv: list[str]) -> list[str]:
    """awk's options end at the program; what follows it are files, also when they begin with a dash."""
    at = 0
    while at < len(argv) and argv[at].startswith("-") and argv[at] not in ("-", "--"):
        at += 2 if argv[at] in ("-F", "-v", "--field-separator", "--assign") else 1
    return argv if "--" in argv[:at] or argv[at : at + 1] == ["--"] else [*argv[:at], "--", *argv[at:]]


def _given(args: Args) -> dict[str, bytes]:
    """Variables set by options."""
    found: dict[str, bytes] = {}
    for option, value in args.given:
        if option == "F":
            found["FS"] = b"\t" if value == "t" else raw(unescaped(value))
            continue
        pair = _SET.fullmatch(value)
        if pair is None or pair[1] in _OWN:
            raise Refused(f"awk -v {value[:40]}: write NAME=VALUE with a name of your own")
        found[pair[1]] = Input(raw(unescaped(pair[2])))
    return found


class _Run:
    def __init__(self, process: Process, rules: list[Rule], given: dict[str, bytes]) -> None:
        self._process = process
        self._state = State(process)
        for name, value in given.items():
            self._state.set(name, value)
        self._begin = [rule for rule in rules if rule.when == "begin"]
        self._end = [rule for rule in rules if rule.when == "end"]
        self._rules = [rule for rule in rules if rule.when not in ("begin", "end")]
        self._inside: set[int] = set()

    def all(self, operands: list[str]) -> Iterator[bytes]:
        try:
            try:
                yield from self._parts(self._begin)
                if self._rules or self._end:
                    yield from self._files(operands)
            except Ended:
                yield self._state.printed()
            with suppress(Ended):
                yield from self._parts(self._end)
        except (LimitReached, UsageError):
            yield self._state.printed()  # what was printed before it stands
            raise
        yield self._state.printed()

    def _parts(self, rules: list[Rule]) -> Iterator[bytes]:
        for rule in rules:
            rule.body.run(self._state)
            yield self._state.printed()

    def _files(self, operands: list[str]) -> Iterator[bytes]:
        state = self._state
        for path, chunks in self._process.inputs(operands, 2):
            state.set("FNR", 0.0)
            state.set("FILENAME", b"" if path == "-" and not operands else raw(path))
            for record in self._records(chunks):
                state.read(record)
                for counter in ("NR", "FNR"):
                    state.set(counter, float(state.get(counter) or 0.0) + 1)
                try:
                    self._record()
                except Next as signal:
                    if signal.file:
                        break
                yield state.printed()

    def _records(self, chunks: Iterator[bytes]) -> Iterator[bytes]:
        end = self._state.text(self._state.get("RS"))
        if not end:
            yield from self._paragraphs(chunks)
            return
        if len(end) != 1:
            raise UsageError("RS: one character is read", 2)
        for line in self._process.lines(chunks, end):
            yield line.removesuffix(end)

    def _paragraphs(self, chunks: Iterator[bytes]) -> Iterator[bytes]:
        """RS = "": records are parted by empty lines."""
        held: list[bytes] = []
        size = 0
        for line in self._process.lines(chunks):
            text = line.removesuffix(b"\n")
            if text:
                held.append(text)
                size += len(text)
                self._process.refuse_endless(size)
            elif held:
                yield b"\n".join(held)
                held, size = [], 0
        if held:
            yield b"\n".join(held)

    def _record(self) -> None:
        for index, rule in enumerate(self._rules):
            if self._holds(index, rule):
                rule.body.run(self._state)

    def _holds(self, index: int, rule: Rule) -> bool:
        if rule.when == "always":
            return True
        if index not in self._inside and not truth(rule.first.value(self._state)):
            return False
        if rule.last is not None:
            self._inside.add(index)
            if truth(rule.last.value(self._state)):
                self._inside.discard(index)
        return True


COMMANDS = {"awk": awk}
