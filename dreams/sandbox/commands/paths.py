"""realpath, readlink, which: names made whole, and whether a command is there."""

from __future__ import annotations

from collections.abc import Iterator

from dreams.safefs import SafeFsError

from ..errors import Refused, UsageError
from ..mounts import normal, trouble
from ..options import Spec, read
from ..process import Process, Runner, raw

_REALPATH = Spec(
    flags={letter: letter for letter in "emsqLPz"}
    | {
        "canonicalize-existing": "e",
        "canonicalize-missing": "m",
        "no-symlinks": "s",
        "strip": "s",
        "quiet": "q",
    },
    values={"relative-to": "to"},
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
            full = normal(path, process.cwd)
            base = args.last("to")
            yield raw(full if base is None else relative(full, normal(base, process.cwd))) + b"\n"

    return run


def relative(path: str, base: str) -> str:
    """The way from one full path to another."""
    here, there = [part for part in base.split("/") if part], [part for part in path.split("/") if part]
    shared = 0
    while shared < min(len(here), len(there)) and here[shared] == there[shared]:
        shared += 1
    return "/".join([".."] * (len(here) - shared) + there[shared:]) or "."


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


def which(name: str, argv: list[str]) -> Runner:
    """Whether a command is on offer; all of them are built in."""
    args = read(name, Spec(flags={"a": "a", "v": "v", "V": "v"}), argv)
    if name == "command" and not args.has("v"):
        raise Refused("command: only command -v NAME is on offer")

    told = name == "type" or args.has("V")

    def run(process: Process) -> Iterator[bytes]:
        from . import find_command  # noqa: PLC0415 - the list of commands holds this one

        for word in args.operands:
            if find_command(word) is None:
                process.status = 1
            else:
                yield raw(f"{word} is a shell builtin" if told else word) + b"\n"

    return run


COMMANDS = {"realpath": realpath, "readlink": readlink, "which": which, "command": which, "type": which}
