"""awk for columns alone: `awk [-F SEP] '[CONDITION] {print LIST}'`. Everything else of the language is refused."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from .. import posix
from ..errors import Refused, UsageError
from ..options import Spec, read
from ..process import Process, Runner, raw

_AWK = Spec(values={"F": "F", "field-separator": "F"}, why_not={"f": "programs are not taken from files"})
_WHAT = (
    "awk: only [CONDITION] {print FIELDS} is on offer, with /pattern/ or NR, NF or $N compared with a value"
)
_TERM = r"\$NF|\$[0-9]{1,4}|NR|NF|\"(?:[^\"\\\\]|\\\\[nt\"\\\\/])*\"|-?[0-9]+(?:\.[0-9]+)?"
_COMPARISON = re.compile(rf"({_TERM})\s*(==|!=|<=|>=|<|>)\s*({_TERM})")
_MATCH = re.compile(r"(?:(\$NF|\$[0-9]{1,4})\s*(!?~)\s*)?(!?)/((?:[^/\\]|\\.)*)/")
_NUMBER = re.compile(rb"\s*[-+]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)\s*")


@dataclass(slots=True)
class _Record:
    number: int
    whole: bytes
    fields: list[bytes]

    def value(self, term: str) -> bytes:
        if term == "NR":
            return b"%d" % self.number
        if term == "NF":
            return b"%d" % len(self.fields)
        if term.startswith("$"):
            return self._field(term[1:])
        return _text(term)

    def _field(self, name: str) -> bytes:
        at = len(self.fields) if name == "NF" else int(name)
        if at == 0:
            return self.whole
        return self.fields[at - 1] if at <= len(self.fields) else b""


Test = Callable[[_Record], bool]


def _text(term: str) -> bytes:
    if not term.startswith('"'):
        return raw(term)
    known = {"n": "\n", "t": "\t"}
    return raw(re.sub(r"\\(.)", lambda found: known.get(found[1], found[1]), term[1:-1]))


def awk(name: str, argv: list[str]) -> Runner:
    args = read(name, _AWK, argv)
    if not args.operands:
        raise UsageError("usage: awk [-F SEP] 'PROGRAM' [FILE]...", 2)
    program = args.operands.pop(0)
    if any("=" in operand for operand in args.operands):
        raise Refused("awk: an operand with '=' would set a variable")
    test, columns = _program(program)
    split = _splitter(args.last("F"))

    def run(process: Process) -> Iterator[bytes]:
        number = 0
        for _, chunks in process.inputs(args.operands, 2):
            for line in process.lines(chunks):
                number += 1
                whole = line.removesuffix(b"\n")
                record = _Record(number, whole, split(whole))
                if test(record):
                    yield b" ".join(b"".join(map(record.value, group)) for group in columns) + b"\n"

    return run


def _program(text: str) -> tuple[Test, list[list[str]]]:
    condition, brace, body = text.strip().partition("{")
    if not brace:
        return _condition(condition.strip()), [["$0"]]
    statement = body.removesuffix("}").strip().removesuffix(";").strip()
    rest = statement.removeprefix("print")
    if not body.endswith("}") or not statement.startswith("print") or (rest and rest[0] not in ' \t$",'):
        raise Refused(_WHAT)
    return _condition(condition.strip()), _columns(rest)


def _columns(text: str) -> list[list[str]]:
    """What to print: groups parted by commas, each of terms written one after the other."""
    text = text.strip()
    groups: list[list[str]] = [[]]
    at = 0
    while at < len(text):
        found = re.compile(rf"\s*({_TERM}|,)\s*").match(text, at)
        if found is None:
            raise Refused(_WHAT)
        if found[1] == ",":
            groups.append([])
        else:
            groups[-1].append(found[1])
        at = found.end()
    if text and not all(groups):
        raise Refused(_WHAT)
    return groups if text else [["$0"]]


def _condition(text: str) -> Test:
    if not text:
        return lambda record: True
    if text == "NF":
        return lambda record: bool(record.fields)
    if found := _COMPARISON.fullmatch(text):
        return _comparison(found[1], found[2], found[3])
    found = _MATCH.fullmatch(text)
    if found is None or (found[1] and found[3]):
        raise Refused(_WHAT)
    pattern = posix.compiled(posix.translate(raw(found[4].replace("\\/", "/")), extended=True))
    term, wanted = found[1] or "$0", (found[2] or "~") == "~" and not found[3]

    def test(record: _Record) -> bool:
        value = record.value(term)
        posix.check_cost(pattern, value)
        return (pattern.search(value) is not None) == wanted

    return test


def _comparison(left: str, operator: str, right: str) -> Test:
    """Numbers when both look like numbers and none is quoted, else texts."""
    quoted = left.startswith('"') or right.startswith('"')

    def test(record: _Record) -> bool:
        a, b = record.value(left), record.value(right)
        if not quoted and _NUMBER.fullmatch(a) and _NUMBER.fullmatch(b):
            order = (float(a) > float(b)) - (float(a) < float(b))
        else:
            order = (a > b) - (a < b)
        return {
            "==": order == 0,
            "!=": order != 0,
            "<": order < 0,
            ">": order > 0,
            "<=": order <= 0,
            ">=": order >= 0,
        }[operator]

    return test


def _splitter(separator: str | None) -> Callable[[bytes], list[bytes]]:
    if separator is None or separator == " ":
        return lambda line: [field for field in re.split(rb"[ \t\n]+", line) if field]
    known = {"t": b"\t", "\\t": b"\t", "\\|": b"|"}
    mark = known.get(separator, raw(separator))
    if len(mark) != 1 or separator == "\\":
        raise Refused("awk -F: one character or \\t is on offer")
    return lambda line: line.split(mark) if line else []


COMMANDS = {"awk": awk}
