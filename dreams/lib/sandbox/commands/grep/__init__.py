"""grep: bytes, C locale, leftmost-longest; -R walks like -r and follows no link."""

from __future__ import annotations

from dreams.lib.files.safefs import SafeFsError

from ... import posix as posix
from ...errors import Refused, UsageError
from ...globbing import matches as matches
from ...limits import Meter as Meter
from ...mounts import Place as Place
from ...mounts import trouble
from ...options import Args, read
from ...options import Spec as Spec
from ...process import Process, Runner, raw
from ...process import is_folder as is_folder
from ..numbers import plain as plain
from .files import run
from .plan import GREP, plan_of


def grep(name: str, argv: list[str]) -> Runner:
    args = read(name, GREP, _classic(argv))
    if args.has("z"):
        raise Refused("grep -z: lines that end in NUL are not on offer")
    if args.last("color") not in (None, "", "never", "auto", "no", "none", "tty", "if-tty"):
        raise Refused("grep --color: only never and auto are on offer")
    given = args.all("e")
    if not given and not args.has("f"):
        if not args.operands:
            raise UsageError("usage: grep [OPTION]... PATTERNS [FILE]...", 2)
        given = [args.operands.pop(0)]
    syntax = args.last_of("E", "F", "G", "P") or "G"
    texts = [raw(text) for text in given]
    if not args.has("f"):
        plan = plan_of(args, texts, syntax)
        return lambda process: run(process, plan)
    plan_of(args, texts or [b""], syntax)
    return lambda process: run(process, plan_of(args, texts + _from_files(process, args), syntax))


def _classic(argv: list[str]) -> list[str]:
    """`-3` as `-C 3`, also among other letters where it ends the word."""
    out: list[str] = []
    for index, word in enumerate(argv):
        if word == "--":
            return out + argv[index:]
        if (
            len(word) > 1
            and word[0] == "-"
            and word[1:].isdigit()
            and word.isascii()
            and not _is_value(argv, index)
        ):
            out += ["-C", word[1:]]
        else:
            out.append(word)
    return out


def _is_value(argv: list[str], index: int) -> bool:
    return index > 0 and argv[index - 1] in ("-e", "-f", "-m", "-A", "-B", "-C")


def _from_files(process: Process, args: Args) -> list[bytes]:
    patterns: list[bytes] = []
    for path in args.all("f"):
        try:
            lines = process.held(process.lines(process.chunks(path)))
        except (OSError, SafeFsError) as error:
            raise UsageError(f"{path}: {trouble(error)}", 2) from None
        patterns += [line.removesuffix(b"\n") for line in lines]
    return patterns


COMMANDS = {"grep": grep}
