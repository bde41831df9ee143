"""sed for reading: nothing writes, runs or names a file. Lines are bytes, in the C locale."""

from __future__ import annotations

from collections.abc import Iterator

from ...errors import UsageError
from ...options import Spec, read
from ...process import Process, Runner
from .reading import parse
from .running import Run

_SED = Spec(
    flags={
        "n": "n",
        "quiet": "n",
        "silent": "n",
        "E": "E",
        "r": "E",
        "regexp-extended": "E",
        "s": "s",
        "separate": "s",
        "u": "u",
        "unbuffered": "u",
        "posix": "posix",
        "z": "z",
        "null-data": "z",
    },
    values={"e": "e", "expression": "e"},
    why_not={
        "i": "it writes the file",
        "in-place": "it writes the file",
        "f": "programs are not taken from files",
        "file": "programs are not taken from files",
    },
)


def sed(name: str, argv: list[str]) -> Runner:
    args = read(name, _SED, argv)
    scripts = args.all("e")
    if not scripts:
        if not args.operands:
            raise UsageError("no script specified")
        scripts = [args.operands.pop(0)]
    parse(scripts, extended=args.has("E"))

    def run(process: Process) -> Iterator[bytes]:
        # Read anew for each run: a program at work remembers which ranges it is in.
        commands = parse(scripts, extended=args.has("E"))
        end = b"\0" if args.has("z") else b"\n"
        work = Run(process, commands, quiet=args.has("n"), end=end)
        inputs = (process.lines(chunks, end) for _, chunks in process.inputs(args.operands, 2))
        if args.has("s"):
            for lines in inputs:
                yield from work.all(lines)
        else:
            yield from work.all(line for lines in inputs for line in lines)

    return run


COMMANDS = {"sed": sed}
