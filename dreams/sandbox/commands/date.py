"""date: now, another moment, or when a file was changed. UTC."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from ..errors import Refused, UsageError
from ..options import Spec, read
from ..process import Process, Runner, raw
from . import times

_DATE = Spec(
    flags={"u": "u", "utc": "u", "universal": "u", "R": "R", "rfc-email": "R"},
    values={"d": "d", "date": "d", "r": "r", "reference": "r"},
    optional={"I": "I", "iso-8601": "I"},
    why_not={
        "s": "it sets the clock",
        "set": "it sets the clock",
        "f": "dates are not taken from files",
        "file": "dates are not taken from files",
    },
)
_ISO = {
    "": "%F",
    "date": "%F",
    "hours": "%FT%H+00:00",
    "minutes": "%FT%H:%M+00:00",
    "seconds": "%FT%T+00:00",
    "ns": "%FT%T,%N+00:00",
}


def date(name: str, argv: list[str]) -> Runner:
    args = read(name, _DATE, argv)
    if len(args.operands) > 1 or any(not word.startswith("+") for word in args.operands):
        raise Refused("date: +FORMAT alone is on offer; nothing sets the clock")
    form = args.operands[0][1:] if args.operands else "%a %b %e %T UTC %Y"
    if args.has("I") and not args.operands:
        kind = args.last("I") or ""
        if kind not in _ISO:
            raise UsageError(f"invalid argument '{kind}' for '--iso-8601'")
        form = _ISO[kind]
    elif args.has("R") and not args.operands:
        form = "%a, %d %b %Y %H:%M:%S +0000"
    times.check(form)
    given = args.last("d")
    moment: Callable[[float], int] = times.moment(given if given is not None else "now")

    def run(process: Process) -> Iterator[bytes]:
        ns = moment(process.now)
        reference = args.last("r")
        if reference is not None:
            found = process.try_stat(reference)
            if found is None:
                return
            ns = found.st_mtime_ns
        yield raw(times.shown(form, ns)) + b"\n"

    return run


COMMANDS = {"date": date}
