"""find's tests on times."""

from __future__ import annotations

import math

from dreams.lib.files.safefs import SafeFsError

from ...errors import UsageError
from ...mounts import trouble
from .. import times
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


def newer_than_time(which: str, text: str) -> Test:
    """ISO dates and times, `@seconds`, `N days ago`, yesterday, today, now."""
    moment = times.moment(text)
    return lambda visit: _time(visit, which) > moment(visit.process.now)
