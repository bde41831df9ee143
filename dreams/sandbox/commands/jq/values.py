"""JSON values: their order, their names, and how they are written out."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator

from ...errors import LimitReached, UsageError

# What jq works on. Objects keep the order of their keys.
Json = None | bool | int | float | str | list["Json"] | dict[str, "Json"]


class Failure(UsageError):
    """An error of a filter: the input is told, and the next one is tried. `value` is what `catch` gets."""

    def __init__(self, message: str) -> None:
        super().__init__(message, 5)


def kind(value: Json) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, int | float):
        return "number"
    return {str: "string", list: "array", dict: "object"}[type(value)]


_HEAVIEST = 3_000_000


def weighed(value: Json) -> Json:
    """The value. Raises LimitReached when it has too many parts, counted as they would be written: `[., .]` a few
    times over holds little and would be written, or compared, for ever.
    """
    waiting = [value]
    count = 0
    while waiting:
        found = waiting.pop()
        below = found if isinstance(found, list) else found.values() if isinstance(found, dict) else ()
        count += len(below)
        if count > _HEAVIEST:
            raise LimitReached(f"stopped at a value of more than {_HEAVIEST:,} parts")
        waiting += [one for one in below if isinstance(one, list | dict)]
    return value


_ORDER = {"null": 0, "boolean": 1, "number": 3, "string": 4, "array": 5, "object": 6}


def compare(a: Json, b: Json) -> int:
    """jq's order over all values: null, false, true, numbers, strings, arrays, objects."""
    left, right = _ORDER[kind(a)], _ORDER[kind(b)]
    if left != right:
        return -1 if left < right else 1
    if isinstance(a, list) and isinstance(b, list):
        for one, other in zip(a, b, strict=False):
            if order := compare(one, other):
                return order
        return (len(a) > len(b)) - (len(a) < len(b))
    if isinstance(a, dict) and isinstance(b, dict):
        keys_a, keys_b = sorted(a), sorted(b)
        if keys_a != keys_b:
            return -1 if keys_a < keys_b else 1
        return next((order for key in keys_a if (order := compare(a[key], b[key]))), 0)
    if isinstance(a, str) and isinstance(b, str):
        return (a > b) - (a < b)
    if isinstance(a, int | float) and isinstance(b, int | float):
        return (a > b) - (a < b)
    return 0


def truth(value: Json) -> bool:
    return value is not None and value is not False


def _number(value: int | float) -> str:
    """As jq 1.6: 17 digits at most, whole numbers without a point."""
    if math.isnan(value):
        return "null"
    if math.isinf(value):
        return "1.7976931348623157e+308" if value > 0 else "-1.7976931348623157e+308"
    if not value and math.copysign(1, value) < 0:
        return "-0"
    if value == int(value) and abs(value) < 1e17:
        return str(int(value))
    shown = repr(float(value))
    return shown.removesuffix(".0")


def _text(value: str) -> str:
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


def written(value: Json, indent: int | str | None, *, in_order: bool = False) -> str:
    """One value; `indent` None is -c."""
    return "".join(_pieces(value, indent, 0, in_order))


def _pieces(value: Json, indent: int | str | None, depth: int, in_order: bool) -> Iterator[str]:
    if isinstance(value, str):
        yield _text(value)
    elif value is None or isinstance(value, bool):
        yield {None: "null", True: "true", False: "false"}[value]
    elif isinstance(value, int | float):
        yield _number(value)
    elif not value:
        yield "[]" if isinstance(value, list) else "{}"
    else:
        yield from _several(value, indent, depth + 1, in_order)


def _several(
    value: list[Json] | dict[str, Json], indent: int | str | None, depth: int, in_order: bool
) -> Iterator[str]:
    step = indent if isinstance(indent, str) else " " * (indent or 0)
    gap = "" if indent is None else "\n" + step * depth
    end = "" if indent is None else "\n" + step * (depth - 1)
    colon = ":" if indent is None else ": "
    if isinstance(value, list):
        yield "["
        for at, item in enumerate(value):
            yield ("," if at else "") + gap
            yield from _pieces(item, indent, depth, in_order)
        yield end + "]"
        return
    yield "{"
    for at, key in enumerate(sorted(value) if in_order else value):
        yield ("," if at else "") + gap + _text(key) + colon
        yield from _pieces(value[key], indent, depth, in_order)
    yield end + "}"
