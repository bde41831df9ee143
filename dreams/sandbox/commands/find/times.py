"""find's tests on times."""

from __future__ import annotations

import datetime as dt
import math
import re
from collections.abc import Callable

from dreams.safefs import SafeFsError

from ...errors import Refused, UsageError
from ...mounts import trouble
from .visit import NS, Test, Visit, amount


def _time(visit: Visit, which: str) -> int:
    stat = visit.stat
    return {"a": stat.st_atime_ns, "c": stat.st_ctime_ns, "m": stat.st_mtime_ns}[which]


def days_old(option: str, text: str) -> Test:
    wanted = amount(option, text)
    return lambda visit: wanted.holds(_age(visit, option[1]) // (86_400 * NS))


def minutes_old(option: str, text: str) -> Test:
    wanted = amount(option, text)

    def test(visit: Visit) -> bool:
        age = _age(visit, option[1])
        if wanted.sign == "+":
            return age > wanted.number * 60 * NS
        if wanted.sign == "-":
            return age < wanted.number * 60 * NS
        return math.ceil(age / (60 * NS)) == wanted.number

    return test


def _age(visit: Visit, which: str) -> int:
    return int(visit.process.now * NS) - _time(visit, which)


def newer_than_file(which: str, reference: str, path: str) -> Test:
    """Compared with a file that is looked up when the command starts."""

    def test(visit: Visit) -> bool:
        try:
            stat = visit.process.stat(path)
        except (OSError, SafeFsError) as error:
            raise UsageError(f"'{path}': {trouble(error)}") from None
        mark = {"a": stat.st_atime_ns, "c": stat.st_ctime_ns, "m": stat.st_mtime_ns}[reference]
        return _time(visit, which) > mark

    return test


_AGO = re.compile(r"([0-9]{1,6}) (second|minute|hour|day|week)s?(?: ago)?")
_SECONDS = {"second": 1, "minute": 60, "hour": 3600, "day": 86_400, "week": 604_800}


def newer_than_time(which: str, text: str) -> Test:
    """ISO dates and times, `@seconds`, `N days ago`, yesterday, today, now."""
    moment = _moment(text)
    return lambda visit: _time(visit, which) > moment(visit.process.now)


def _moment(text: str) -> Callable[[float], float]:
    words = text.strip().lower()
    if found := re.fullmatch(r"@(-?[0-9]{1,15})", words):
        seconds = int(found[1])
        return lambda now: seconds * NS
    if words in ("now", "today"):
        return lambda now: now * NS
    if words == "yesterday":
        return lambda now: (now - 86_400) * NS
    if found := _AGO.fullmatch(words.removeprefix("-")):
        seconds = int(found[1]) * _SECONDS[found[2]]
        if words.endswith("ago") or words.startswith("-"):
            return lambda now: (now - seconds) * NS
    try:
        at = dt.datetime.fromisoformat(text.strip())
    except ValueError:
        raise Refused(f"find: the time {text[:40]!r}; write YYYY-MM-DD or 'YYYY-MM-DD HH:MM'") from None
    stamp = (at if at.tzinfo else at.replace(tzinfo=dt.UTC)).timestamp()
    return lambda now: stamp * NS
