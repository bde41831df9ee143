"""jq's functions. None of them reaches outside the program."""

from __future__ import annotations

import functools
import json
import math
from collections.abc import Callable, Iterator

import re2

from ...errors import Refused
from .filters import Filter, Scope, added, everything
from .values import Failure, Json, compare, kind, truth, written

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
_LOWER: dict[int, int] = {upper: upper + 32 for upper in range(65, 91)}
_UPPER: dict[int, int] = {lower + 32: lower for lower in range(65, 91)}
_by = functools.cmp_to_key(compare)


def _items(value: Json, what: str) -> list[Json]:
    if not isinstance(value, list):
        raise Failure(f"{kind(value)} cannot be {what}, as it is not an array")
    return value


def _string(value: Json, what: str) -> str:
    if not isinstance(value, str):
        raise Failure(f"{what} input must be a string")
    return value


# Of the input alone


def _length(value: Json) -> Json:
    if value is None:
        return 0
    if isinstance(value, bool):
        raise Failure("boolean has no length")
    return abs(value) if isinstance(value, int | float) else len(value)


def _keys(value: Json) -> Json:
    if isinstance(value, dict):
        return list[Json](sorted(value))
    if isinstance(value, list):
        return list(range(len(value)))
    raise Failure(f"{kind(value)} has no keys")


def _keys_unsorted(value: Json) -> Json:
    return list(value) if isinstance(value, dict) else _keys(value)


def _add(value: Json) -> Json:
    parts = list(value.values()) if isinstance(value, dict) else _items(value, "added")
    if parts and all(isinstance(part, str) for part in parts):
        return "".join(map(str, parts))
    if parts and all(isinstance(part, list) for part in parts):
        return [one for part in parts if isinstance(part, list) for one in part]
    return functools.reduce(added, parts, None)


def _tostring(value: Json) -> str:
    return value if isinstance(value, str) else written(value, None)


def _tonumber(value: Json) -> Json:
    if isinstance(value, int | float) and not isinstance(value, bool):
        return value
    try:
        found = float(_string(value, "tonumber"))
    except ValueError:
        raise Failure(f"Cannot parse '{value}' as a number") from None
    return int(found) if found == int(found) else found


def _fromjson(value: Json) -> Json:
    try:
        found: Json = json.loads(_string(value, "fromjson"))
    except (ValueError, RecursionError):
        raise Failure("the text is no JSON value") from None
    return found


def _flatten(value: Json, depth: float = 1e9) -> list[Json]:
    out: list[Json] = []
    waiting = [(one, 0) for one in reversed(_items(value, "flattened"))]
    while waiting:
        one, level = waiting.pop()
        if isinstance(one, list) and level < depth:
            waiting += [(inner, level + 1) for inner in reversed(one)]
        else:
            out.append(one)
    return out


def _to_entries(value: Json) -> Json:
    if isinstance(value, list):
        return [{"key": key, "value": held} for key, held in enumerate(value)]
    if not isinstance(value, dict):
        raise Failure(f"{kind(value)} has no keys")
    return [{"key": key, "value": held} for key, held in value.items()]


def _from_entries(value: Json) -> Json:
    out: dict[str, Json] = {}
    for one in _items(value, "made into an object"):
        if not isinstance(one, dict):
            raise Failure(f"Cannot index {kind(one)}")
        names = [one[key] for key in ("key", "k", "name", "Name", "Key", "K") if one.get(key) is not None]
        name = names[0] if names else None
        out[name if isinstance(name, str) else written(name, None)] = one.get("value", one.get("v"))
    return out


def _reverse(value: Json) -> Json:
    return value[::-1] if isinstance(value, str | list) else _items(value or [], "reversed")[::-1]


def _rounded(function: Callable[[float], int]) -> Callable[[Json], Json]:
    def run(value: Json) -> Json:
        if not isinstance(value, int | float) or isinstance(value, bool):
            raise Failure(f"{kind(value)} number required")
        return function(value) if math.isfinite(value) else value

    return run


def _unique(value: Json) -> list[Json]:
    out: list[Json] = []
    for one in sorted(_items(value, "sorted"), key=_by):
        if not out or compare(out[-1], one):
            out.append(one)
    return out


def _ends(value: Json, at: int) -> Json:
    items = _items(value, "looked into")
    return items[at] if items else None


_OF_INPUT: dict[str, Callable[[Json], Json]] = {
    "length": _length,
    "utf8bytelength": lambda value: len(_string(value, "utf8bytelength").encode()),
    "keys": _keys,
    "keys_unsorted": _keys_unsorted,
    "type": kind,
    "not": lambda value: not truth(value),
    "add": _add,
    "any": lambda value: any(map(truth, _items(value, "looked into"))),
    "all": lambda value: all(map(truth, _items(value, "looked into"))),
    "tostring": _tostring,
    "tonumber": _tonumber,
    "tojson": lambda value: written(value, None),
    "fromjson": _fromjson,
    "flatten": _flatten,
    "to_entries": _to_entries,
    "from_entries": _from_entries,
    "reverse": _reverse,
    "sort": lambda value: sorted(_items(value, "sorted"), key=_by),
    "unique": _unique,
    "min": lambda value: min(_items(value, "sorted"), key=_by, default=None),
    "max": lambda value: max(_items(value, "sorted")[::-1], key=_by, default=None),
    "first": lambda value: _ends(value, 0),
    "last": lambda value: _ends(value, -1),
    "floor": _rounded(math.floor),
    "ceil": _rounded(math.ceil),
    "round": _rounded(lambda value: math.floor(abs(value) + 0.5) * (1 if value >= 0 else -1)),
    "ascii_downcase": lambda value: _string(value, "ascii_downcase").translate(_LOWER),
    "ascii_upcase": lambda value: _string(value, "ascii_upcase").translate(_UPPER),
}
_KINDS: dict[str, tuple[str, ...]] = {
    "nulls": ("null",),
    "booleans": ("boolean",),
    "numbers": ("number",),
    "strings": ("string",),
    "arrays": ("array",),
    "objects": ("object",),
    "scalars": ("null", "boolean", "number", "string"),
    "iterables": ("array", "object"),
    "values": ("boolean", "number", "string", "array", "object"),
}


# Of the input and values


def _has(value: Json, key: Json) -> Json:
    if isinstance(value, dict) and isinstance(key, str):
        return key in value
    if isinstance(value, list) and isinstance(key, int | float):
        return 0 <= key < len(value)
    raise Failure(f"Cannot check whether {kind(value)} has a {kind(key)} key")


def _contains(value: Json, other: Json) -> Json:
    if isinstance(value, dict) and isinstance(other, dict):
        return all(key in value and _contains(value[key], held) for key, held in other.items())
    if isinstance(value, list) and isinstance(other, list):
        return all(any(kind(a) == kind(b) and _contains(a, b) for a in value) for b in other)
    if isinstance(value, str) and isinstance(other, str):
        return other in value
    if kind(value) != kind(other):
        raise Failure(f"{kind(value)} and {kind(other)} cannot have their containment checked")
    return compare(value, other) == 0


def _matcher(pattern: Json, flags: Json = None) -> re2._Regexp:
    options = re2.Options()
    options.log_errors = False
    options.case_sensitive = "i" not in str(flags or "")
    try:
        return re2.compile(_string(pattern, "test"), options)
    except re2.error:
        raise Refused("jq: a pattern that cannot be matched in linear time") from None


def _test(value: Json, pattern: Json, flags: Json = None) -> Json:
    return _matcher(pattern, flags).search(_string(value, "test")) is not None


def _replaced(value: Json, pattern: Json, put: Json, *, everywhere: bool) -> Json:
    text = _string(put, "gsub").replace("\\", "\\\\")
    return str(_matcher(pattern).sub(text, _string(value, "gsub"), 0 if everywhere else 1))


def _join(value: Json, between: Json) -> Json:
    parts = ["" if one is None else _tostring(one) for one in _items(value, "joined")]
    return _string(between, "join").join(parts)


def _split(value: Json, between: Json) -> Json:
    text, mark = _string(value, "split"), _string(between, "split")
    return [] if not text else list(text.split(mark)) if mark else list(text)


def _trimmed(value: Json, part: Json, *, left: bool) -> Json:
    if not isinstance(value, str) or not isinstance(part, str):
        return value
    return value.removeprefix(part) if left else value.removesuffix(part)


def _index(value: Json, part: Json) -> Json:
    if value is None:
        return None
    if isinstance(value, str) and isinstance(part, str):
        at = value.find(part) if part else -1
        return None if at < 0 else at
    return next((at for at, one in enumerate(_items(value, "looked into")) if not compare(one, part)), None)


_WITH_VALUES: dict[tuple[str, int], Callable[..., Json]] = {
    ("has", 1): _has,
    ("contains", 1): _contains,
    ("inside", 1): lambda value, other: _contains(other, value),
    ("startswith", 1): lambda value, part: _string(value, "startswith").startswith(
        _string(part, "startswith")
    ),
    ("endswith", 1): lambda value, part: _string(value, "endswith").endswith(_string(part, "endswith")),
    ("test", 1): _test,
    ("test", 2): _test,
    ("sub", 2): functools.partial(_replaced, everywhere=False),
    ("gsub", 2): functools.partial(_replaced, everywhere=True),
    ("join", 1): _join,
    ("split", 1): _split,
    ("ltrimstr", 1): functools.partial(_trimmed, left=True),
    ("rtrimstr", 1): functools.partial(_trimmed, left=False),
    ("index", 1): _index,
    ("flatten", 1): _flatten,
}


# Of the input and filters


def _select(value: Json, scope: Scope, part: Filter) -> Iterator[Json]:
    scope.meter.tick()
    for answer in part(value, scope):
        if truth(answer):
            yield value


def _map(value: Json, scope: Scope, part: Filter) -> Iterator[Json]:
    items = list(value.values()) if isinstance(value, dict) else _items(value, "mapped")
    yield [made for one in items for made in part(one, scope)]


def _map_values(value: Json, scope: Scope, part: Filter) -> Iterator[Json]:
    if isinstance(value, dict):
        found = {key: next(part(held, scope), _MISSING) for key, held in value.items()}
        yield {key: held for key, held in found.items() if held is not _MISSING}
    else:
        made = (next(part(one, scope), _MISSING) for one in _items(value, "mapped"))
        yield [one for one in made if one is not _MISSING]


_MISSING: list[Json] = []  # no value at all; told apart by identity


def _with_entries(value: Json, scope: Scope, part: Filter) -> Iterator[Json]:
    for mapped in _map(_to_entries(value), scope, part):
        yield _from_entries(mapped)


def _keyed(value: Json, scope: Scope, part: Filter) -> list[tuple[Json, Json]]:
    """Each item with what it is compared by, sorted."""
    pairs: list[tuple[Json, Json]] = [(list(part(one, scope)), one) for one in _items(value, "sorted")]
    return sorted(pairs, key=lambda pair: _by(pair[0]))


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
    items = list(value.values()) if isinstance(value, dict) else _items(value, "looked into")
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
}


def function(name: str, parts: list[Filter]) -> Filter:
    """Raises Refused for one that is not on offer."""
    if name in REFUSED:
        raise Refused(f"jq {name}: {REFUSED[name]}")
    if name == "error" and len(parts) < 2:
        return _error(parts)
    if not parts and name in _OF_INPUT:
        simple = _OF_INPUT[name]
        return lambda value, scope: iter([simple(value)])
    if not parts and name in _KINDS:
        kinds = _KINDS[name]
        return lambda value, scope: iter([value] if kind(value) in kinds else [])
    if (name, len(parts)) in _WITH_FILTERS:
        special = _WITH_FILTERS[name, len(parts)]
        return lambda value, scope: special(value, scope, *parts)
    if (name, len(parts)) in _WITH_VALUES:
        return _applied(_WITH_VALUES[name, len(parts)], parts)
    raise Refused(f"jq {name[:40]}/{len(parts)}: this function is not on offer")


def _applied(run: Callable[..., Json], parts: list[Filter]) -> Filter:
    def each(value: Json, scope: Scope) -> Iterator[Json]:
        scope.meter.tick()
        arguments = [next(part(value, scope), None) for part in parts]
        yield run(value, *arguments)

    return each


def _error(parts: list[Filter]) -> Filter:
    def run(value: Json, scope: Scope) -> Iterator[Json]:
        raise Failure(_tostring(next(parts[0](value, scope), None) if parts else value))

    return run


# @csv and the like


def _rows(value: Json, what: str) -> list[Json]:
    return _items(value, f"{what}-formatted")


def _csv(value: Json) -> str:
    def cell(one: Json) -> str:
        return '"' + one.replace('"', '""') + '"' if isinstance(one, str) else _plain(one, "csv")

    return ",".join(map(cell, _rows(value, "csv")))


_TSV = {"\\": "\\\\", "\t": "\\t", "\n": "\\n", "\r": "\\r"}


def _tsv(value: Json) -> str:
    def cell(one: Json) -> str:
        if not isinstance(one, str):
            return _plain(one, "tsv")
        return "".join(_TSV.get(char, char) for char in one)

    return "\t".join(map(cell, _rows(value, "tsv")))


def _plain(one: Json, what: str) -> str:
    if isinstance(one, list | dict):
        raise Failure(f"{kind(one)} is not valid in a {what} row")
    return "" if one is None else written(one, None)


_FORMATS: dict[str, Callable[[Json], str]] = {
    "@text": _tostring,
    "@json": lambda value: written(value, None),
    "@csv": _csv,
    "@tsv": _tsv,
}


def form(name: str) -> Callable[[Json], str]:
    if name not in _FORMATS:
        raise Refused(f"jq {name}: @text, @json, @csv and @tsv are on offer")
    return _FORMATS[name]
