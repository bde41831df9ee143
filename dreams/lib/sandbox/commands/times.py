"""Moments as people write them, and as date and ls show them. UTC, C locale."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Callable

from ..errors import Refused, UsageError
from . import looks

NS = 1_000_000_000
_AGO = re.compile(r"([-+]?)([0-9]{1,6}) ?(second|sec|minute|min|hour|day|week|fortnight)s?( ago)?")
_SECONDS = {"second": 1, "sec": 1, "minute": 60, "min": 60, "hour": 3600, "day": 86_400, "week": 604_800}
_SECONDS |= {"fortnight": 1_209_600}
_NAMED = {"now": 0, "today": 0, "yesterday": -86_400, "tomorrow": 86_400}
_LAST = re.compile(r"(last|next) (second|minute|hour|day|week)")
_NOT_ON_OFFER = re.compile(r"%(?![-_0^]?[YmdHMSyjaAbBeFTRDsuUVGIpZznNkltrCchP%])")


def moment(text: str) -> Callable[[float], int]:
    """Nanoseconds since 1970 for ISO dates and times, `@seconds`, `N days ago`, yesterday, last week, now.

    The answer depends on what now is. Raises Refused for anything else, UsageError for a day that does not exist.
    """
    words = " ".join(text.strip().lower().split())
    if found := re.fullmatch(r"@(-?[0-9]{1,11})(?:\.[0-9]+)?", words):
        seconds = int(found[1])
        return lambda now: seconds * NS
    if words in _NAMED:
        return lambda now: int((now + _NAMED[words]) * NS)
    if found := _AGO.fullmatch(words):
        back = (found[1] == "-") != bool(found[4])
        distance = int(found[2]) * _SECONDS[found[3]] * (-1 if back else 1)
        return lambda now: int((now + distance) * NS)
    if found := _LAST.fullmatch(words):
        step = _SECONDS[found[2]] * (-1 if found[1] == "last" else 1)
        return lambda now: int((now + step) * NS)
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


def check(form: str) -> None:
    """Raises Refused for a directive that is not on offer."""
    if _NOT_ON_OFFER.search(form):
        raise Refused("a time with a directive that is not on offer")


def shown(form: str, ns: int) -> str:
    """A moment by strftime's directives, with GNU's %N, %s and %k."""
    at = looks.moment(ns)
    own = {
        "N": f"{ns % NS:09d}",
        "s": str(looks.seconds(ns)),
        "k": f"{at.hour:2d}",
        "l": f"{at.hour % 12 or 12:2d}",
        "P": f"{at:%p}".lower(),
        "Z": "UTC",
        "z": "+0000",
        "c": f"{at:%a %b} {at.day:2d} {at:%H:%M:%S %Y}",
    }

    def one(found: re.Match[str]) -> str:
        return own.get(found[1]) or found[0]

    form = re.sub(r"%%|%([NsklPZzc])", one, form)
    return (
        at.strftime(form.encode("utf-8", "surrogateescape").decode("latin-1"))
        .encode("latin-1")
        .decode("utf-8", "surrogateescape")
    )
