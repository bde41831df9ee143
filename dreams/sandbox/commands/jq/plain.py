"""jq's functions of a value, and of a value and other values."""

from __future__ import annotations

import functools
import json
import math
from collections.abc import Callable

import re2

from ...errors import Refused
from .filters import added
from .values import Failure, Json, compare, kind, truth, written

_LOWER: dict[int, int] = {upper: upper + 32 for upper in range(65, 91)}
_UPPER: dict[int, int] = {lower + 32: lower for lower in range(65, 91)}
order = functools.cmp_to_key(compare)


def array(value: Json, what: str) -> list[Json]:
    if not isinstance(value, list):
        raise Failure(f"{kind(value)} cannot be {what}, as it is not an array")
    return value


def string(value: Json, what: str) -> str:
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
    parts = list(value.values()) if isinstance(value, dict) else array(value, "added")
    if parts and all(isinstance(part, str) for part in parts):
        return "".join(map(str, parts))
    if parts and all(isinstance(part, list) for part in parts):
        return [one for part in parts if isinstance(part, list) for one in part]
    return functools.reduce(added, parts, None)


def tostring(value: Json) -> str:
    return value if isinstance(value, str) else written(value, None)


def _tonumber(value: Json) -> Json:
    if isinstance(value, int | float) and not isinstance(value, bool):
        return value
    try:
        found = float(string(value, "tonumber"))
    except ValueError:
        raise Failure(f"Cannot parse '{value}' as a number") from None
    return int(found) if found == int(found) else found


def _fromjson(value: Json) -> Json:
    try:
        found: Json = json.loads(string(value, "fromjson"))
    except (ValueError, RecursionError):
        raise Failure("the text is no JSON value") from None
    return found


def _flatten(value: Json, depth: float = 1e9) -> list[Json]:
    out: list[Json] = []
    waiting = [(one, 0) for one in reversed(array(value, "flattened"))]
    while waiting:
        one, level = waiting.pop()
        if isinstance(one, list) and level < depth:
            waiting += [(inner, level + 1) for inner in reversed(one)]
        else:
            out.append(one)
    return out


def to_entries(value: Json) -> Json:
    if isinstance(value, list):
        return [{"key": key, "value": held} for key, held in enumerate(value)]
    if not isinstance(value, dict):
        raise Failure(f"{kind(value)} has no keys")
    return [{"key": key, "value": held} for key, held in value.items()]


def from_entries(value: Json) -> Json:
    out: dict[str, Json] = {}
    for one in array(value, "made into an object"):
        if not isinstance(one, dict):
            raise Failure(f"Cannot index {kind(one)}")
        names = [one[key] for key in ("key", "k", "name", "Name", "Key", "K") if one.get(key) is not None]
        name = names[0] if names else None
        out[name if isinstance(name, str) else written(name, None)] = one.get("value", one.get("v"))
    return out


def _reverse(value: Json) -> Json:
    return value[::-1] if isinstance(value, str | list) else array(value or [], "reversed")[::-1]


def _rounded(function: Callable[[float], int]) -> Callable[[Json], Json]:
    def run(value: Json) -> Json:
        if not isinstance(value, int | float) or isinstance(value, bool):
            raise Failure(f"{kind(value)} number required")
        return function(value) if math.isfinite(value) else value

    return run


def _unique(value: Json) -> list[Json]:
    out: list[Json] = []
    for one in sorted(array(value, "sorted"), key=order):
        if not out or compare(out[-1], one):
            out.append(one)
    return out


def _ends(value: Json, at: int) -> Json:
    items = array(value, "looked into")
    return items[at] if items else None


OF_INPUT: dict[str, Callable[[Json], Json]] = {
    "length": _length,
    "utf8bytelength": lambda value: len(string(value, "utf8bytelength").encode()),
    "keys": _keys,
    "keys_unsorted": _keys_unsorted,
    "type": kind,
    "not": lambda value: not truth(value),
    "add": _add,
    "any": lambda value: any(map(truth, array(value, "looked into"))),
    "all": lambda value: all(map(truth, array(value, "looked into"))),
    "tostring": tostring,
    "tonumber": _tonumber,
    "tojson": lambda value: written(value, None),
    "fromjson": _fromjson,
    "flatten": _flatten,
    "to_entries": to_entries,
    "from_entries": from_entries,
    "reverse": _reverse,
    "sort": lambda value: sorted(array(value, "sorted"), key=order),
    "unique": _unique,
    "min": lambda value: min(array(value, "sorted"), key=order, default=None),
    "max": lambda value: max(array(value, "sorted")[::-1], key=order, default=None),
    "first": lambda value: _ends(value, 0),
    "last": lambda value: _ends(value, -1),
    "floor": _rounded(math.floor),
    "ceil": _rounded(math.ceil),
    "round": _rounded(lambda value: math.floor(abs(value) + 0.5) * (1 if value >= 0 else -1)),
    "ascii_downcase": lambda value: string(value, "ascii_downcase").translate(_LOWER),
    "ascii_upcase": lambda value: string(value, "ascii_upcase").translate(_UPPER),
}
KINDS: dict[str, tuple[str, ...]] = {
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


def matcher(pattern: Json, flags: Json = None) -> re2._Regexp:
    options = re2.Options()
    options.log_errors = False
    options.case_sensitive = "i" not in str(flags or "")
    try:
        return re2.compile(string(pattern, "test"), options)
    except re2.error:
        raise Refused("jq: a pattern that cannot be matched in linear time") from None


def _test(value: Json, pattern: Json, flags: Json = None) -> Json:
    return matcher(pattern, flags).search(string(value, "test")) is not None


def _replaced(value: Json, pattern: Json, put: Json, *, everywhere: bool) -> Json:
    text = string(put, "gsub").replace("\\", "\\\\")
    return str(matcher(pattern).sub(text, string(value, "gsub"), 0 if everywhere else 1))


def _join(value: Json, between: Json) -> Json:
    parts = ["" if one is None else tostring(one) for one in array(value, "joined")]
    return string(between, "join").join(parts)


def _split(value: Json, between: Json) -> Json:
    text, mark = string(value, "split"), string(between, "split")
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
    return next((at for at, one in enumerate(array(value, "looked into")) if not compare(one, part)), None)


WITH_VALUES: dict[tuple[str, int], Callable[..., Json]] = {
    ("has", 1): _has,
    ("contains", 1): _contains,
    ("inside", 1): lambda value, other: _contains(other, value),
    ("startswith", 1): lambda value, part: string(value, "startswith").startswith(string(part, "startswith")),
    ("endswith", 1): lambda value, part: string(value, "endswith").endswith(string(part, "endswith")),
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
