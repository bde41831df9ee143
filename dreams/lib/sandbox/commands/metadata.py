"""Formats a file's metadata: modes, owners, sizes, kinds, and times in UTC; and parses times that people write."""

import datetime as dt
import functools
import grp
import os
import pwd
import re
import stat as st
from collections.abc import Callable

from dreams.lib.sandbox.process import Refused, UsageError

NS = 1_000_000_000  # of a second
_DAY = 86_400  # in seconds
RECENT = 365 * _DAY // 2  # ls -l shows the hour for half a year, as POSIX asks for
_MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
_KINDS = (
    (st.S_ISDIR, "directory", "d", "/"),
    (st.S_ISLNK, "symbolic link", "l", "@"),
    (st.S_ISFIFO, "fifo", "p", "|"),
    (st.S_ISSOCK, "socket", "s", "="),
    (st.S_ISBLK, "block special file", "b", ""),
    (st.S_ISCHR, "character special file", "c", ""),
)


@functools.lru_cache(maxsize=1024)
def owner(uid: int) -> str:
    """A user's name; the number if there is none, or if the list of users cannot be read."""
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


def human(size: int) -> str:
    """A size as with -h: rounded up, one decimal below ten."""
    for power, unit in enumerate("\0KMGTPE"):
        scale = 1024**power
        tenths = -(-size * 10 // scale)
        if tenths < 10_240 or unit == "E":
            break
    if not power:
        return str(size)
    if tenths < 100:
        return f"{tenths // 10}.{tenths % 10}{unit}"
    whole = -(-size // scale)
    return f"{whole}{unit}" if whole < 1024 or unit == "E" else f"1.0{'KMGTPE'[power]}"


def kind(stat: os.stat_result) -> str:
    if st.S_ISREG(stat.st_mode):
        return "regular file" if stat.st_size else "regular empty file"
    return next((words for test, words, _, _ in _KINDS if test(stat.st_mode)), "unknown")


def letter(stat: os.stat_result) -> str:
    """find's letter for a kind: f, d, l, p, s, b, c."""
    if st.S_ISREG(stat.st_mode):
        return "f"
    return next((short for test, _, short, _ in _KINDS if test(stat.st_mode)), "U")


def suffix(stat: os.stat_result) -> str:
    """The sign that `ls -F` adds to a name."""
    if st.S_ISREG(stat.st_mode):
        return "*" if stat.st_mode & 0o111 else ""
    return next((sign for test, _, _, sign in _KINDS if test(stat.st_mode)), "")


# --- Times --------------------------------------------------------------------------------------------------------


def utc(ns: int) -> dt.datetime:
    try:
        return dt.datetime.fromtimestamp(ns // NS, dt.UTC)
    except (OverflowError, ValueError, OSError):
        return dt.datetime(1970, 1, 1, tzinfo=dt.UTC)


def listed(ns: int, now: float) -> str:
    """A time in `ls -l`: with the hour within half a year, else with the year."""
    at = utc(ns)
    return f"{_MONTHS[at.month - 1]} {at.day:2d} " + (
        f"{at:%H:%M}" if now - RECENT < ns / NS <= now else f"{at.year:5d}"
    )


def full(ns: int) -> str:
    """`2026-01-31 10:00:00.000000000 +0000`."""
    return f"{utc(ns):%Y-%m-%d %H:%M:%S}.{ns % NS:09d} +0000"


_NOT_ON_OFFER = re.compile(r"%(?![YmdHMSyjaAbBeFTRDsuUIpZzNkltP%])")


def check_format(form: str) -> None:
    """Raises Refused for an unsupported directive."""
    if _NOT_ON_OFFER.search(form):
        raise Refused("a time with a directive that is not on offer")


def formatted(form: str, ns: int) -> str:
    """A moment formatted by strftime's directives, and %N, %s, %k, %l and %P."""
    at = utc(ns)
    own = {
        "N": f"{ns % NS:09d}",
        "s": str(ns // NS),
        "k": f"{at.hour:2d}",
        "l": f"{at.hour % 12 or 12:2d}",
        "P": f"{at:%p}".lower(),
        "Z": "UTC",
        "z": "+0000",
    }

    def one(found: re.Match[str]) -> str:
        if found[1] == "%":
            return "%"
        return own.get(found[1]) or at.strftime(found[0])

    return re.sub(r"%([A-Za-z%])", one, form)


_AGO = re.compile(r"([-+]?)([0-9]{1,6}) ?(second|sec|minute|min|hour|day|week)s?( ago)?")
_SECONDS = {"second": 1, "sec": 1, "minute": 60, "min": 60, "hour": 3600, "day": _DAY, "week": 7 * _DAY}
_NAMED = {"now": 0, "today": 0, "yesterday": -_DAY, "tomorrow": _DAY}


def parse_moment(text: str) -> Callable[[float], int]:
    """Nanoseconds since 1970 for ISO dates and times, `N days ago`, yesterday and now.

    Relative to the current time. Raises Refused for anything else, UsageError for a day that does not exist.
    """
    words = " ".join(text.lower().split())
    if words in _NAMED:
        return lambda now: int((now + _NAMED[words]) * NS)
    if found := _AGO.fullmatch(words):
        back = (found[1] == "-") != bool(found[4])
        distance = int(found[2]) * _SECONDS[found[3]] * (-1 if back else 1)
        return lambda now: int((now + distance) * NS)
    stamp = _iso(text.strip())
    return lambda now: stamp


def _iso(text: str) -> int:
    if not re.fullmatch(r"[0-9]{4}-?[0-9]{2}-?[0-9]{2}([ T].*)?", text):
        raise Refused(f"the time {text[:40]!r}; write YYYY-MM-DD, 'YYYY-MM-DD HH:MM' or 'N days ago'")
    try:
        at = dt.datetime.fromisoformat(re.sub(r" ?(UTC|Z)$", "+00:00", text))
    except ValueError:
        raise UsageError(f"invalid date '{text}'") from None
    return int((at if at.tzinfo else at.replace(tzinfo=dt.UTC)).timestamp() * NS)
