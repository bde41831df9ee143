"""ls's options, and what they ask for."""

from __future__ import annotations

import os
from dataclasses import dataclass

from ...errors import Refused, UsageError
from ...globbing import matches
from ...options import Args, Spec
from .. import times

LS = Spec(
    flags={
        **{letter: letter for letter in "aA1lrtShRdFpisngGoUfXvcuNkBQmb"},
        "escape": "b",
        "all": "a",
        "almost-all": "A",
        "reverse": "r",
        "human-readable": "h",
        "si": "si",
        "recursive": "R",
        "directory": "d",
        "inode": "i",
        "size": "s",
        "numeric-uid-gid": "n",
        "no-group": "G",
        "full-time": "full-time",
        "literal": "N",
        "group-directories-first": "first",
        "ignore-backups": "B",
        "quote-name": "Q",
        "kibibytes": "k",
        "file-type": "file-type",
    },
    values={
        "sort": "sort",
        "time": "time",
        "time-style": "time-style",
        "I": "ignore",
        "ignore": "ignore",
        "hide": "hide",
        "format": "format",
        "block-size": "block-size",
        "indicator-style": "indicator",
    },
    optional={"color": "color", "classify": "F", "hyperlink": "hyperlink"},
    why_not={
        "L": "links are never followed",
        "dereference": "links are never followed",
        "H": "links are never followed",
    },
)
# In K, M or G a size carries its letter; in bytes it does not.
_UNITS = {"1": 1, "K": 1024, "M": 1024**2, "G": 1024**3}
_SORTS = {"none": "U", "size": "S", "time": "t", "version": "v", "extension": "X", "name": "name"}


@dataclass(slots=True)
class Style:
    """What the options ask for."""

    args: Args
    long: bool
    hidden: str  # "all", "almost" or "none"
    order: str
    time: str
    full_time: bool
    human: int
    unit: int  # bytes in which sizes are told, 0: as ls does by itself

    def shows(self, name: str) -> bool:
        if self.hidden == "none" and name.startswith("."):
            return False
        if self.args.has("B") and name.endswith("~"):
            return False
        patterns = self.args.all("ignore") + (self.args.all("hide") if self.hidden == "none" else [])
        return not any(matches(pattern, name) for pattern in patterns)

    def ns(self, stat: os.stat_result) -> int:
        return {"c": stat.st_ctime_ns, "u": stat.st_atime_ns}.get(self.time, stat.st_mtime_ns)


def style_of(args: Args) -> Style:
    long = any(args.has(letter) for letter in "lngo") or args.has("full-time")
    if args.last("format") is not None:
        long = _format(args.last("format") or "") or long
    color = args.last("color")
    if color not in (None, "never", "none", "no", "auto", "tty", "if-tty"):
        raise Refused("ls --color: only never and auto are on offer")
    if args.has("hyperlink") or args.has("m"):
        raise Refused("ls: --hyperlink and -m are not on offer; names stand one on a line")
    scale = _scale(args)
    return Style(
        args=args,
        long=long,
        hidden={"a": "all", "f": "all", "A": "almost"}.get(args.last_of("a", "A", "f") or "", "none"),
        order=_order(args, long),
        time=_time(args),
        full_time=_full_time(args),
        human={"h": 1024, "si": 1000}.get(scale, 0),
        unit=_UNITS.get(scale, 0),
    )


def _scale(args: Args) -> str:
    """How sizes are told; the last option decides."""
    last = [pair for pair in args.given if pair[0] in ("h", "si", "block-size", "k")]
    if not last:
        return ""
    name, value = last[-1]
    if name != "block-size":
        return "" if name == "k" else name
    if value in ("human-readable", "si"):
        return {"human-readable": "h"}.get(value, value)
    if value not in _UNITS:
        raise Refused(f"ls --block-size={value[:20]}: 1, K, M and G are on offer")
    return value


def _format(text: str) -> bool:
    if text not in ("long", "verbose", "single-column"):
        raise Refused("ls --format: long and single-column are on offer")
    return text != "single-column"


def _time(args: Args) -> str:
    word = args.last("time")
    if word is not None:
        known = {
            "ctime": "c",
            "status": "c",
            "atime": "u",
            "access": "u",
            "use": "u",
            "mtime": "m",
            "modification": "m",
        }
        if word not in known:
            raise Refused(f"ls --time={word[:20]}: ctime, atime and mtime are on offer")
        return known[word]
    return args.last_of("c", "u") or "m"


def _full_time(args: Args) -> bool:
    style = args.last("time-style")
    if style not in (None, "full-iso", "locale", "long-iso", "iso") and not (style or "").startswith("+"):
        raise Refused("ls --time-style: full-iso, long-iso, iso, locale and +FORMAT are on offer")
    if style is not None and style.startswith("+"):
        times.check(style[1:])
    last = args.last_of("full-time", "time-style")
    return last == "full-time" or (last == "time-style" and style == "full-iso")


def _order(args: Args, long: bool) -> str:
    last = next(
        (pair for pair in reversed(args.given) if pair[0] in ("t", "S", "U", "X", "v", "f", "sort")), None
    )
    if last is not None:
        if last[0] == "sort":
            if last[1] not in _SORTS:
                raise UsageError(f"invalid argument '{last[1]}' for '--sort'", 2)
            return _SORTS[last[1]]
        return "U" if last[0] == "f" else last[0]
    # -c and -u alone sort by that time, except in a long listing, where they only show it.
    return "t" if (args.has("c") or args.has("u") or args.has("time")) and not long else "name"
