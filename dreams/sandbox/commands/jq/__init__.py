"""jq for reading: paths, select, map, sorting, grouping, texts. No environment, no files but the operands."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

from ...errors import Refused, UsageError
from ...options import Args, Spec, read
from ...process import Process, Runner, raw
from .filters import Filter, Scope
from .parsing import parse
from .values import Failure, Json, truth, weighed, written

_JQ = Spec(
    flags={
        **{letter: letter for letter in "rcsjeSRnM"},
        "raw-output": "r",
        "compact-output": "c",
        "slurp": "s",
        "join-output": "j",
        "exit-status": "e",
        "sort-keys": "S",
        "raw-input": "R",
        "null-input": "n",
        "monochrome-output": "M",
        "tab": "tab",
    },
    values={"indent": "indent"},
    why_not={
        "f": "programs are not taken from files",
        "from-file": "programs are not taken from files",
        "L": "programs are not taken from files",
        "slurpfile": "files are named as operands",
        "rawfile": "files are named as operands",
        "args": "write the value into the program",
    },
)
_VALUE = re.compile(r"\S")
_DECODER = json.JSONDecoder()


def jq(name: str, argv: list[str]) -> Runner:
    argv, given = _given(argv)
    args = read(name, _JQ, argv)
    if not args.operands:
        raise UsageError("usage: jq [OPTIONS] FILTER [FILE]...", 2)
    program = parse(args.operands.pop(0), frozenset(given))
    indent = _indent(args)

    def run(process: Process) -> Iterator[bytes]:
        scope = Scope(process.meter, given)
        last: list[Json] = []
        try:
            for value in _inputs(process, args):
                process.status = process.status if process.status == 2 else 0  # the last input decides
                last = []
                for answer in _answers(process, program, value, scope):
                    last = [answer]
                    yield _line(answer, args, indent)
        except ValueError as error:
            process.complain(f"error: {error}", 2)
            return
        if args.has("e") and not process.status:
            process.status = int(not truth(last[0])) if last else 4

    return run


def _given(argv: list[str]) -> tuple[list[str], dict[str, Json]]:
    """The other words, and the variables that `--arg NAME TEXT` and `--argjson NAME JSON` set."""
    rest, given = list(argv), dict[str, Json]()
    for option in ("--arg", "--argjson"):
        while option in rest:
            at = rest.index(option)
            if len(rest) < at + 3:
                raise UsageError(f"{option} takes two parameters (e.g. {option} varname value)", 2)
            name, text = rest[at + 1 : at + 3]
            value = text if option == "--arg" else _whole(text)
            if value is _PARTIAL:
                raise UsageError(f"Invalid JSON text passed to {option}", 2)
            given.setdefault(f"${name}", value)
            del rest[at : at + 3]
    return rest, given


def _indent(args: Args) -> int | str | None:
    if args.has("tab"):
        return "\t"
    text = args.last("indent", "2") or "2"
    if text not in tuple("01234567"):
        raise Refused("jq --indent: 0 to 7")
    return None if args.has("c") or text == "0" else int(text)


def _answers(process: Process, program: Filter, value: Json, scope: Scope) -> Iterator[Json]:
    try:
        yield from program(value, scope)
    except Failure as failure:
        process.complain(f"error: {failure}", 5)
    except RecursionError:
        process.complain("error: a value nested too deeply", 5)


def _line(value: Json, args: Args, indent: int | str | None) -> bytes:
    plain = isinstance(value, str) and (args.has("r") or args.has("j"))
    shown = value if plain else written(value, indent, in_order=args.has("S"))
    assert isinstance(shown, str)  # noqa: S101 - either a text, or written as one
    return raw(shown.encode("utf-16", "surrogatepass").decode("utf-16", "replace")) + (
        b"" if args.has("j") else b"\n"
    )


def _inputs(process: Process, args: Args) -> Iterator[Json]:
    if args.has("n"):
        yield None
        return
    found = _texts(process, args) if args.has("R") else _values(process, args)
    if args.has("s"):
        kept: list[Json] = []
        for value in found:
            process.meter.hold(200)
            kept.append(value)
        yield "".join(f"{value}\n" for value in kept) if args.has("R") else kept
    else:
        yield from found


def _texts(process: Process, args: Args) -> Iterator[Json]:
    for _, chunks in process.inputs(args.operands, 2):
        for line in process.lines(chunks):
            yield line.removesuffix(b"\n").decode("utf-8", "replace")


def _values(process: Process, args: Args) -> Iterator[Json]:
    """JSON values, one after the other: usually one a line; else the whole input is read at once."""
    for _, chunks in process.inputs(args.operands, 2):
        left = ""
        for line in process.lines(chunks):
            process.meter.tick()
            text = line.decode("utf-8", "replace")
            value = _whole(text) if not left and text.lstrip()[:1] in _OPENING else _PARTIAL
            if value is _PARTIAL:
                process.meter.hold(len(text))
                left += text
            else:
                yield weighed(value) if len(text) > _LARGE else value
        yield from _several(process, left)


_OPENING = ("{", "[", '"')
_LARGE = 1_000_000
_PARTIAL: list[Json] = []  # not a whole value; told apart by identity


def _whole(text: str) -> Json:
    try:
        found: Json = json.loads(text)
    except (ValueError, RecursionError):
        return _PARTIAL
    return found


def _several(process: Process, text: str) -> Iterator[Json]:
    at = 0
    while found := _VALUE.search(text, at):
        process.meter.tick()
        try:
            value, at = _DECODER.raw_decode(text, found.start())
        except RecursionError:
            raise ValueError("a value nested too deeply") from None
        yield weighed(value) if len(text) > _LARGE else value


COMMANDS = {"jq": jq}
