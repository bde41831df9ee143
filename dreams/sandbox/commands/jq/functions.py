"""jq's functions by name, and those that take filters. None of them reaches outside the program."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator

from ...errors import Refused
from . import looking
from .filters import Filter, Scope, everything
from .plain import KINDS, OF_INPUT, WITH_VALUES, array, from_entries, order, to_entries, tostring
from .values import Failure, Json, compare, kind, truth

REFUSED = {
    "env": "the environment is empty",
    "input": "one value is read at a time",
    "inputs": "one value is read at a time",
    "input_filename": "it is not known here",
    "debug": "write the value instead",
    "stderr": "write the value instead",
    "import": "programs are not taken from files",
    "include": "programs are not taken from files",
    "def": "functions of your own are not on offer",
    "repeat": "it never ends",
    "until": "use reduce",
    "while": "use reduce",
    "foreach": "use reduce",
    "now": "use date",
    "label": "it is not on offer",
}

# Of the input and filters


def _select(value: Json, scope: Scope, part: Filter) -> Iterator[Json]:
    scope.meter.tick()
    for answer in part(value, scope):
        if truth(answer):
            yield value


def _map(value: Json, scope: Scope, part: Filter) -> Iterator[Json]:
    items = list(value.values()) if isinstance(value, dict) else array(value, "mapped")
    yield [made for one in items for made in part(one, scope)]


def _map_values(value: Json, scope: Scope, part: Filter) -> Iterator[Json]:
    if isinstance(value, dict):
        found = {key: next(part(held, scope), _MISSING) for key, held in value.items()}
        yield {key: held for key, held in found.items() if held is not _MISSING}
    else:
        made = (next(part(one, scope), _MISSING) for one in array(value, "mapped"))
        yield [one for one in made if one is not _MISSING]


_MISSING: list[Json] = []  # no value at all; told apart by identity


def _with_entries(value: Json, scope: Scope, part: Filter) -> Iterator[Json]:
    for mapped in _map(to_entries(value), scope, part):
        yield from_entries(mapped)


def _keyed(value: Json, scope: Scope, part: Filter) -> list[tuple[Json, Json]]:
    """Each item with what it is compared by, sorted."""
    pairs: list[tuple[Json, Json]] = [(list(part(one, scope)), one) for one in array(value, "sorted")]
    return sorted(pairs, key=lambda pair: order(pair[0]))


def _groups(value: Json, scope: Scope, part: Filter) -> list[list[Json]]:
    groups: list[list[Json]] = []
    before: Json = None
    for key, one in _keyed(value, scope, part):
        if not groups or compare(before, key):
            groups.append([])
        groups[-1].append(one)
        before = key
    return groups


def _first(value: Json, scope: Scope, part: Filter) -> Iterator[Json]:
    yield from (one for _, one in zip(range(1), part(value, scope), strict=False))


def _last(value: Json, scope: Scope, part: Filter) -> Iterator[Json]:
    found: list[Json] = []
    for one in part(value, scope):
        scope.meter.tick()
        found = [one]
    yield from found


def _limit(value: Json, scope: Scope, count: Filter, part: Filter) -> Iterator[Json]:
    for most in count(value, scope):
        if isinstance(most, int | float):
            yield from (one for _, one in zip(range(int(most)), part(value, scope), strict=False))


def _range(value: Json, scope: Scope, *bounds: Filter) -> Iterator[Json]:
    numbers = [next(bound(value, scope), 0) for bound in bounds]
    whole = [int(one) if isinstance(one, int | float) else 0 for one in numbers]
    if len(whole) == 3 and not whole[2]:
        raise Failure("range by zero")
    for number in range(*whole):
        scope.meter.tick()
        yield number


def _recurse(value: Json, scope: Scope) -> Iterator[Json]:
    return everything(value, scope)


def _quantified(value: Json, scope: Scope, part: Filter, *, wanted: bool) -> Iterator[Json]:
    items = list(value.values()) if isinstance(value, dict) else array(value, "looked into")
    answers = (truth(one) for item in items for one in part(item, scope))
    yield any(answers) if wanted else all(answers)


_WITH_FILTERS: dict[tuple[str, int], Callable[..., Iterator[Json]]] = {
    ("select", 1): _select,
    ("map", 1): _map,
    ("map_values", 1): _map_values,
    ("with_entries", 1): _with_entries,
    ("sort_by", 1): lambda value, scope, part: iter([[one for _, one in _keyed(value, scope, part)]]),
    ("group_by", 1): lambda value, scope, part: iter([list(_groups(value, scope, part))]),
    ("unique_by", 1): lambda value, scope, part: iter([[group[0] for group in _groups(value, scope, part)]]),
    ("min_by", 1): lambda value, scope, part: iter(
        [one for _, one in _keyed(value, scope, part)[:1]] or [None]
    ),
    ("max_by", 1): lambda value, scope, part: iter(
        [one for _, one in _keyed(value, scope, part)[-1:]] or [None]
    ),
    ("first", 1): _first,
    ("last", 1): _last,
    ("limit", 2): _limit,
    ("range", 1): _range,
    ("range", 2): _range,
    ("range", 3): _range,
    ("recurse", 0): _recurse,
    ("empty", 0): lambda value, scope: iter(()),
    ("any", 1): functools.partial(_quantified, wanted=True),
    ("all", 1): functools.partial(_quantified, wanted=False),
    **looking.WITH_FILTERS,
}


def function(name: str, parts: list[Filter]) -> Filter:
    """Raises Refused for one that is not on offer."""
    if name in REFUSED:
        raise Refused(f"jq {name}: {REFUSED[name]}")
    if name == "error" and len(parts) < 2:
        return _error(parts)
    if not parts and (simple := OF_INPUT.get(name) or looking.OF_INPUT.get(name)):
        return lambda value, scope: iter([simple(value)])
    if not parts and name in KINDS:
        kinds = KINDS[name]
        return lambda value, scope: iter([value] if kind(value) in kinds else [])
    if (name, len(parts)) in _WITH_FILTERS:
        special = _WITH_FILTERS[name, len(parts)]
        return lambda value, scope: special(value, scope, *parts)
    if (name, len(parts)) in WITH_VALUES:
        return _applied(WITH_VALUES[name, len(parts)], parts)
    raise Refused(f"jq {name[:40]}/{len(parts)}: this function is not on offer")


def _applied(run: Callable[..., Json], parts: list[Filter]) -> Filter:
    def each(value: Json, scope: Scope) -> Iterator[Json]:
        scope.meter.tick()
        arguments = [next(part(value, scope), None) for part in parts]
        yield run(value, *arguments)

    return each


def _error(parts: list[Filter]) -> Filter:
    def run(value: Json, scope: Scope) -> Iterator[Json]:
        raise Failure(tostring(next(parts[0](value, scope), None) if parts else value))

    return run
