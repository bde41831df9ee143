"""jq's functions that look into values and texts: paths, matches, and times."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Iterator

import re2

from .filters import Filter, Scope
from .plain import matcher, string
from .values import Failure, Json, kind, truth

_MOMENT = "%Y-%m-%dT%H:%M:%SZ"
Path = tuple[str | int, ...]


# Paths


def _below(value: Json, scope: Scope, path: Path = ()) -> Iterator[tuple[Path, Json]]:
    scope.meter.tick()
    found = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, held in found:
        yield (*path, key), held
        yield from _below(held, scope, (*path, key))


def _paths(value: Json, scope: Scope) -> Iterator[Json]:
    return (list[Json](path) for path, _ in _below(value, scope))


def _leaf_paths(value: Json, scope: Scope) -> Iterator[Json]:
    """Of what is neither a list, an object, null nor false: so jq counts."""
    return (
        list[Json](path)
        for path, held in _below(value, scope)
        if truth(held) and not isinstance(held, list | dict)
    )


def _getpath(value: Json, scope: Scope, path: Filter) -> Iterator[Json]:
    for keys in path(value, scope):
        held = value
        for key in keys if isinstance(keys, list) else ():
            held = _step(held, key)
        yield held


def _step(held: Json, key: Json) -> Json:
    if held is None:
        return None
    if isinstance(held, dict) and isinstance(key, str):
        return held.get(key)
    if isinstance(held, list) and isinstance(key, int):
        return held[key] if -len(held) <= key < len(held) else None
    raise Failure(f"Cannot index {kind(held)} with {kind(key)}")


# Matches


def _matches(value: Json, scope: Scope, pattern: Filter, *flags: Filter) -> Iterator[re2._Match]:
    """Every match from left to right; an empty one moves on by a character."""
    text = string(value, "match")
    for wanted in pattern(value, scope):
        search = matcher(wanted, next(flags[0](value, scope), None) if flags else None).search
        at = 0
        while at <= len(text) and (found := search(text, at)) is not None:
            scope.meter.tick()
            yield found
            at = found.end() if found.end() > found.start() else found.end() + 1


def _scan(value: Json, scope: Scope, *parts: Filter) -> Iterator[Json]:
    for found in _matches(value, scope, *parts):
        yield list[Json](found.groups()) if found.re.groups else found.group(0)


def _capture(value: Json, scope: Scope, *parts: Filter) -> Iterator[Json]:
    for found in [*_matches(value, scope, *parts)][:1]:
        yield {name: found.group(number) for name, number in found.re.groupindex.items()}


# Times


def _seconds(value: Json) -> Json:
    try:
        return int(dt.datetime.strptime(string(value, "date"), _MOMENT).replace(tzinfo=dt.UTC).timestamp())
    except ValueError:
        raise Failure(f'date "{str(value)[:60]}" does not match format "{_MOMENT}"') from None


def _moment(value: Json) -> Json:
    if not isinstance(value, int | float) or isinstance(value, bool) or not 0 <= value < 10**11:
        raise Failure("strftime/1 requires parsed datetime inputs")
    return dt.datetime.fromtimestamp(int(value), dt.UTC).strftime(_MOMENT)


OF_INPUT: dict[str, Callable[[Json], Json]] = {
    "fromdateiso8601": _seconds,
    "fromdate": _seconds,
    "todate": _moment,
    "todateiso8601": _moment,
}
WITH_FILTERS: dict[tuple[str, int], Callable[..., Iterator[Json]]] = {
    ("paths", 0): _paths,
    ("leaf_paths", 0): _leaf_paths,
    ("getpath", 1): _getpath,
    ("scan", 1): _scan,
    ("scan", 2): _scan,
    ("capture", 1): _capture,
    ("capture", 2): _capture,
}
