"""What a jq program is made of: each part turns one value into a stream of values."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field

from ...errors import LimitReached
from ...limits import Meter
from .values import Failure, Json, compare, kind, truth, weighed

_LONGEST = 16 * 1024 * 1024
_DEEPEST = 100


@dataclass(frozen=True, slots=True)
class Scope:
    """The meter and the variables that a part can see."""

    meter: Meter
    variables: Mapping[str, Json] = field(default_factory=dict)

    def having(self, name: str, value: Json) -> Scope:
        return Scope(self.meter, {**self.variables, name: value})


Filter = Callable[[Json, Scope], Iterator[Json]]


def identity(value: Json, scope: Scope) -> Iterator[Json]:
    scope.meter.tick()
    yield value


def constant(held: Json) -> Filter:
    return lambda value, scope: iter([held])


def piped(first: Filter, second: Filter) -> Filter:
    def run(value: Json, scope: Scope) -> Iterator[Json]:
        for middle in first(value, scope):
            scope.meter.tick()
            yield from second(middle, scope)

    return run


def both(first: Filter, second: Filter) -> Filter:
    return lambda value, scope: itertools.chain(first(value, scope), second(value, scope))


# Paths


def at(base: Filter, index: Filter) -> Filter:
    """`.a`, `.[0]`, `.["a"]`."""

    def run(value: Json, scope: Scope) -> Iterator[Json]:
        for key in index(value, scope):
            for held in base(value, scope):
                yield _at(held, key)

    return run


def _at(held: Json, key: Json) -> Json:
    if held is None and isinstance(key, str | int | float | None):
        return None
    if isinstance(held, dict) and isinstance(key, str):
        return held.get(key)
    if isinstance(held, list) and isinstance(key, int | float) and not isinstance(key, bool):
        place = int(key // 1)
        return held[place] if -len(held) <= place < len(held) else None
    shown = f'"{key}"' if isinstance(key, str) else kind(key)
    raise Failure(f"Cannot index {kind(held)} with {shown}")


def sliced(base: Filter, start: Filter | None, end: Filter | None) -> Filter:
    def run(value: Json, scope: Scope) -> Iterator[Json]:
        for first in start(value, scope) if start else [None]:
            for last in end(value, scope) if end else [None]:
                for held in base(value, scope):
                    yield _slice(held, first, last)

    return run


def _slice(held: Json, first: Json, last: Json) -> Json:
    if held is None:
        return None
    if not isinstance(held, str | list) or not all(isinstance(x, int | float | None) for x in (first, last)):
        raise Failure(f"Cannot index {kind(held)} with object")
    start = None if first is None else int(first)  # type: ignore[arg-type]  # a number, as was just asked
    stop = None if last is None else int(last)  # type: ignore[arg-type]  # as above
    return held[start:stop]


def each(base: Filter) -> Filter:
    """`.[]`."""

    def run(value: Json, scope: Scope) -> Iterator[Json]:
        for held in base(value, scope):
            scope.meter.tick()
            if isinstance(held, dict):
                yield from held.values()
            elif isinstance(held, list):
                yield from held
            else:
                raise Failure(f"Cannot iterate over {kind(held)}")

    return run


def everything(value: Json, scope: Scope) -> Iterator[Json]:
    """`..`: the value and all below it."""
    waiting = [value]
    while waiting:
        scope.meter.tick()
        found = waiting.pop()
        yield found
        below = found.values() if isinstance(found, dict) else found if isinstance(found, list) else ()
        waiting += reversed(list(below))


# Failures and choices


def tried(part: Filter, caught: Filter | None = None) -> Filter:
    def run(value: Json, scope: Scope) -> Iterator[Json]:
        try:
            yield from part(value, scope)
        except Failure as failure:
            if caught is not None:
                yield from caught(str(failure), scope)

    return run


def otherwise(first: Filter, second: Filter) -> Filter:
    """`a // b`."""

    def run(value: Json, scope: Scope) -> Iterator[Json]:
        found = False
        for one in first(value, scope):
            if truth(one):
                found = True
                yield one
        if not found:
            yield from second(value, scope)

    return run


def chosen(condition: Filter, then: Filter, other: Filter) -> Filter:
    def run(value: Json, scope: Scope) -> Iterator[Json]:
        for answer in condition(value, scope):
            yield from (then if truth(answer) else other)(value, scope)

    return run


def bound(part: Filter, name: str, body: Filter) -> Filter:
    """`part as $name | body`."""

    def run(value: Json, scope: Scope) -> Iterator[Json]:
        for held in part(value, scope):
            scope.meter.tick()
            yield from body(value, scope.having(name, held))

    return run


def reduced(part: Filter, name: str, start: Filter, step: Filter) -> Filter:
    def run(value: Json, scope: Scope) -> Iterator[Json]:
        for state in start(value, scope):
            held: Json = state
            for one in part(value, scope):
                scope.meter.tick()
                held = weighed(next(iter(list(step(held, scope.having(name, one)))[-1:]), None))
            yield held

    return run


def variable(name: str) -> Filter:
    return lambda value, scope: iter([scope.variables[name]])


# Making values


def collected(part: Filter | None) -> Filter:
    def run(value: Json, scope: Scope) -> Iterator[Json]:
        found: list[Json] = []
        for one in part(value, scope) if part else ():
            scope.meter.hold(64)
            found.append(one)
        yield weighed(found)

    return run


def made(pairs: list[tuple[Filter, Filter]]) -> Filter:
    """`{a, b: 1}`: one object for each choice of keys and values."""

    def run(value: Json, scope: Scope) -> Iterator[Json]:
        options = [
            [(key, held) for key in keys(value, scope) for held in values(value, scope)]
            for keys, values in pairs
        ]
        for choice in itertools.product(*options):
            scope.meter.tick()
            if not all(isinstance(key, str) for key, _ in choice):
                raise Failure("Object keys must be strings")
            yield weighed({str(key): held for key, held in choice})

    return run


def crossed(left: Filter, right: Filter, join: Callable[[Json, Json], Json]) -> Filter:
    """An operator on each pair, the right side varying slowest, as in jq."""

    def run(value: Json, scope: Scope) -> Iterator[Json]:
        for second in right(value, scope):
            for first in left(value, scope):
                scope.meter.tick()
                yield join(first, second)

    return run


def either(left: Filter, right: Filter, *, wanted: bool) -> Filter:
    """`or` (wanted) and `and` (not wanted)."""

    def run(value: Json, scope: Scope) -> Iterator[Json]:
        for first in left(value, scope):
            if truth(first) is wanted:
                yield wanted
            else:
                yield from (truth(second) for second in right(value, scope))

    return run


def _failed(what: str, a: Json, b: Json) -> Failure:
    return Failure(f"{kind(a)} and {kind(b)} cannot be {what}")


def _is_number(value: Json) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def added(a: Json, b: Json) -> Json:
    if a is None or b is None:
        return b if a is None else a
    if isinstance(a, str) and isinstance(b, str):
        if len(a) + len(b) > _LONGEST:
            raise LimitReached(f"stopped at a text of more than {_LONGEST:,} characters")
        return a + b
    if isinstance(a, list) and isinstance(b, list):
        return weighed(a + b)
    if isinstance(a, dict) and isinstance(b, dict):
        return {**a, **b}
    if _is_number(a) and _is_number(b):
        return a + b  # type: ignore[operator]  # two numbers
    raise _failed("added", a, b)


def taken(a: Json, b: Json) -> Json:
    if isinstance(a, list) and isinstance(b, list):
        return [one for one in a if all(compare(one, other) for other in b)]
    if _is_number(a) and _is_number(b):
        return a - b  # type: ignore[operator]  # two numbers
    raise _failed("subtracted", a, b)


def negated(part: Filter) -> Filter:
    def run(value: Json, scope: Scope) -> Iterator[Json]:
        for one in part(value, scope):
            if not isinstance(one, int | float) or isinstance(one, bool):
                raise Failure(f"{kind(one)} cannot be negated")
            yield -float(one)

    return run


def multiplied(a: Json, b: Json) -> Json:
    if _is_number(a) and _is_number(b):
        return float(a) * float(b)  # type: ignore[arg-type]  # two numbers
    if isinstance(a, dict) and isinstance(b, dict):
        return _merged(a, b, 0)
    raise _failed("multiplied", a, b)


def _merged(a: dict[str, Json], b: dict[str, Json], depth: int) -> dict[str, Json]:
    out = dict(a)
    for key, value in b.items():
        old = out.get(key)
        deeper = isinstance(old, dict) and isinstance(value, dict) and depth < _DEEPEST
        out[key] = _merged(old, value, depth + 1) if deeper else value  # type: ignore[arg-type]  # both are objects
    return out


def divided(a: Json, b: Json) -> Json:
    if isinstance(a, str) and isinstance(b, str):
        return list(a.split(b)) if b else list(a)
    if _is_number(a) and _is_number(b):
        if not b:
            raise _failed("divided because the divisor is zero", a, b)
        return a / b  # type: ignore[operator]  # two numbers
    raise _failed("divided", a, b)


def rest(a: Json, b: Json) -> Json:
    if _is_number(a) and _is_number(b):
        if not int(b):  # type: ignore[arg-type]  # a number
            raise _failed("divided because the divisor is zero", a, b)
        left = abs(int(a)) % abs(int(b))  # type: ignore[arg-type]  # two numbers
        return -left if a < 0 else left  # type: ignore[operator]  # a number
    raise _failed("divided", a, b)


COMPARISONS: dict[str, Callable[[Json, Json], Json]] = {
    "==": lambda a, b: compare(a, b) == 0,
    "!=": lambda a, b: compare(a, b) != 0,
    "<": lambda a, b: compare(a, b) < 0,
    "<=": lambda a, b: compare(a, b) <= 0,
    ">": lambda a, b: compare(a, b) > 0,
    ">=": lambda a, b: compare(a, b) >= 0,
}
ARITHMETIC: dict[str, Callable[[Json, Json], Json]] = {
    "+": added,
    "-": taken,
    "*": multiplied,
    "/": divided,
    "%": rest,
}
