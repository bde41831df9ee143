"""cmp: the first byte in which two files differ."""

from __future__ import annotations

from collections.abc import Iterator

from dreams.lib.files.safefs import SafeFsError

from ..errors import UsageError
from ..mounts import trouble
from ..options import Spec, read
from ..process import Process, Runner, raw

_CMP = Spec(flags={"s": "s", "quiet": "s", "silent": "s"})


def cmp(name: str, argv: list[str]) -> Runner:
    args = read(name, _CMP, argv)
    if not 1 <= len(args.operands) <= 2:
        raise UsageError("missing operand" if not args.operands else "extra operand", 2)
    paths = [*args.operands, "-"][:2]

    def run(process: Process) -> Iterator[bytes]:
        sides: list[Iterator[bytes]] = []
        for path in paths:
            try:
                sides.append(process.chunks(path))
            except (OSError, SafeFsError) as error:
                process.complain(f"{path}: {trouble(error)}", 2)
                return
        yield from _compared(process, paths, sides, quiet=args.has("s"))

    return run


def _compared(
    process: Process, paths: list[str], sides: list[Iterator[bytes]], *, quiet: bool
) -> Iterator[bytes]:
    left, right = b"", b""
    done = lines = 0
    while True:
        left = left or next(sides[0], b"")
        right = right or next(sides[1], b"")
        size = min(len(left), len(right))
        if not size:
            break
        if left[:size] != right[:size]:
            at = next(at for at in range(size) if left[at] != right[at])
            process.status = 1
            line = lines + left.count(b"\n", 0, at) + 1
            yield b"" if quiet else raw(f"{paths[0]} {paths[1]} differ: char {done + at + 1}, line {line}\n")
            return
        done, lines = done + size, lines + left.count(b"\n", 0, size)
        left, right = left[size:], right[size:]
    if left or right:
        process.status = 1
        if not quiet:
            process.complain(f"EOF on {paths[0 if not left else 1]} after byte {done}")


COMMANDS = {"cmp": cmp}
