"""How a file's metadata is shown: modes, owners, sizes, times, kinds. UTC, C locale."""

from __future__ import annotations

import datetime as dt
import functools
import grp
import math
import os
import pwd
import stat as st

HALF_YEAR = int(365.2425 * 86_400) // 2  # seconds; of a mean year of the calendar
_MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]


def mode(stat: os.stat_result) -> str:
    return st.filemode(stat.st_mode)


@functools.lru_cache(maxsize=1024)
def owner(uid: int) -> str:
    """A user's name; the number where there is none, or where the list of users is out of reach."""
    try:
        return pwd.getpwuid(uid).pw_name
    except (KeyError, OSError):
        return str(uid)


@functools.lru_cache(maxsize=1024)
def group(gid: int) -> str:
    try:
        return grp.getgrgid(gid).gr_name
    except (KeyError, OSError):
        return str(gid)


def human(size: int, base: int = 1024) -> str:
    """A size as -h shows it: rounded up, one decimal below ten."""
    units = " KMGTPE" if base == 1024 else " kMGTPE"
    value, power = size, 0
    divisor = 1
    while value / divisor >= base and power < 6:
        divisor *= base
        power += 1
    if not power:
        return str(size)
    tenths = -(-size * 10 // divisor)
    if tenths >= 100:
        whole = -(-size // divisor)
        if whole >= base and power < 6:
            return f"1.0{units[power + 1]}"
        return f"{whole}{units[power]}"
    return f"{tenths // 10}.{tenths % 10}{units[power]}"


def moment(ns: int) -> dt.datetime:
    try:
        return dt.datetime.fromtimestamp(ns // 1_000_000_000, dt.UTC)
    except (OverflowError, ValueError, OSError):
        return dt.datetime(1970, 1, 1, tzinfo=dt.UTC)


def listed(ns: int, now: float) -> str:
    """`ls -l`: with the hour within half a year, with the year otherwise."""
    at = moment(ns)
    head = f"{_MONTHS[at.month - 1]} {at.day:2d}"
    recent = now - HALF_YEAR < ns / 1e9 <= now
    return f"{head} {at:%H:%M}" if recent else f"{head} {at.year:5d}"


def full(ns: int) -> str:
    """`2026-01-31 10:00:00.000000000 +0000`."""
    return f"{moment(ns):%Y-%m-%d %H:%M:%S}.{ns % 1_000_000_000:09d} +0000"


def seconds(ns: int) -> int:
    return math.floor(ns / 1_000_000_000)


_KINDS = (
    (st.S_ISDIR, "directory", "d"),
    (st.S_ISLNK, "symbolic link", "l"),
    (st.S_ISFIFO, "fifo", "p"),
    (st.S_ISSOCK, "socket", "s"),
    (st.S_ISBLK, "block special file", "b"),
    (st.S_ISCHR, "character special file", "c"),
)


def kind(stat: os.stat_result) -> str:
    if st.S_ISREG(stat.st_mode):
        return "regular file" if stat.st_size else "regular empty file"
    return next((words for test, words, _ in _KINDS if test(stat.st_mode)), "unknown")


def letter(stat: os.stat_result) -> str:
    """find's letter for a kind: f, d, l, p, s, b, c."""
    if st.S_ISREG(stat.st_mode):
        return "f"
    return next((short for test, _, short in _KINDS if test(stat.st_mode)), "U")


def suffix(stat: os.stat_result) -> str:
    """The sign that `ls -F` puts behind a name."""
    if st.S_ISREG(stat.st_mode):
        return "*" if stat.st_mode & 0o111 else ""
    return {"d": "/", "l": "@", "p": "|", "s": "="}.get(letter(stat), "")


_LETTERS = {7: "a", 8: "b", 9: "t", 10: "n", 11: "v", 12: "f", 13: "r"}


def escaped(name: str, also: str) -> str:
    """A name in which what does not print is told by C's escapes; each letter of `also` gets a backslash."""
    out = []
    for byte in name.encode("utf-8", "surrogateescape"):
        char = chr(byte)
        if byte in _LETTERS:
            out.append("\\" + _LETTERS[byte])
        elif not 32 <= byte < 127:
            out.append(f"\\{byte:03o}")
        else:
            out.append("\\" + char if char == "\\" or char in also else char)
    return "".join(out)
