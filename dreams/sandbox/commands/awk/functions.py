"""awk's functions on texts and numbers. None of them reaches outside the program."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import re2

from ... import posix
from ...errors import LimitReached, Refused, UsageError
from ...limits import Meter
from .expressions import Constant, Expression, Field, Pattern, Place, Variable, pattern_of
from .state import State
from .values import LONGEST_TEXT, Input, Value, bounded, is_numeric, number, text

_FORMAT = re.compile(rb"%%|%([-+ #0]*)([0-9]{0,3})(?:\.([0-9]{0,3}))?([diouxXcsfFeEgG])|%")
REFUSED = {
    "system": "it runs a program",
    "close": "no file or program is open",
    "fflush": "no file or program is open",
    "srand": "random numbers are not on offer",
    "rand": "random numbers are not on offer",
    "systime": "use date",
    "strftime": "use date",
    "mktime": "use date",
    "gensub": "use gsub",
}


def formatted(form: bytes, values: Sequence[bytes | float | None], state: State) -> bytes:
    """printf's own language. Raises UsageError when values are missing."""
    left = iter(values)

    def one(found: re.Match[bytes]) -> bytes:
        if found[0] == b"%%":
            return b"%"
        if found[4] is None:
            raise Refused("awk printf: a '%' that is no directive on offer")
        try:
            return _directive(found, next(left), state)
        except StopIteration:
            raise UsageError("not enough arguments to satisfy format string", 2) from None

    return bounded(_FORMAT.sub(one, form))


def _directive(found: re.Match[bytes], value: Value, state: State) -> bytes:
    flags, width, kind = found[1], found[2], found[4]
    precision = b"" if found[3] is None else b"." + found[3]
    if kind in b"cs":
        data = state.text(value)
        if kind == b"c":
            data = bytes([int(number(value)) & 255]) if is_numeric(value) else data[:1]
        flags = b"-" if b"-" in flags else b""
        return (b"%" + flags + width + precision + b"s") % data
    amount = number(value)
    if kind in b"diouxX":
        if not math.isfinite(amount):
            return text(amount)
        kind = kind.replace(b"i", b"d").replace(b"u", b"d")
        return (b"%" + flags + width + precision + kind) % int(amount)
    return (b"%" + flags + width + precision + kind) % amount


@dataclass(frozen=True, slots=True)
class Call:
    name: str
    parts: tuple[Expression, ...]

    def value(self, state: State) -> Value:
        state.process.meter.tick()
        return _FUNCTIONS[self.name].run(state, self.parts)


Run = Callable[[State, tuple[Expression, ...]], Value]


@dataclass(frozen=True, slots=True)
class _Function:
    run: Run
    least: int
    most: int


def call(name: str, parts: tuple[Expression, ...]) -> Call:
    """Raises Refused for a function that is not on offer, UsageError for a wrong number of arguments."""
    if name in REFUSED:
        raise Refused(f"awk {name}: {REFUSED[name]}")
    function = _FUNCTIONS.get(name)
    if function is None:
        raise Refused(f"awk {name[:40]}: this function is not on offer")
    if not function.least <= len(parts) <= function.most:
        raise UsageError(f"wrong number of arguments for {name}", 2)
    if name in ("sub", "gsub") and len(parts) == 3 and not isinstance(parts[2], Place):
        raise UsageError(f"{name}: the third argument cannot be changed", 2)
    return Call(name, parts)


# Texts


def _length(state: State, parts: tuple[Expression, ...]) -> Value:
    if not parts:
        return float(len(state.text(state.field(0))))
    if isinstance(parts[0], Variable) and parts[0].name in state.arrays:
        return float(len(state.arrays[parts[0].name]))
    return float(len(state.text(parts[0].value(state))))


def _rounded(value: float) -> int:
    return round(min(max(value, -1e15), 1e15)) if not math.isnan(value) else 0


def _substr(state: State, parts: tuple[Expression, ...]) -> Value:
    data = state.text(parts[0].value(state))
    start = _rounded(number(parts[1].value(state)))
    end = start + _rounded(number(parts[2].value(state))) if len(parts) > 2 else len(data) + 1
    return data[max(start, 1) - 1 : max(end - 1, 0)]


def _index(state: State, parts: tuple[Expression, ...]) -> Value:
    return float(state.text(parts[0].value(state)).find(state.text(parts[1].value(state))) + 1)


def _split(state: State, parts: tuple[Expression, ...]) -> Value:
    if not isinstance(parts[1], Variable):
        raise UsageError("split: the second argument must be an array", 2)
    data = state.text(parts[0].value(state))
    separator = parts[2] if len(parts) > 2 else Variable("FS")
    if isinstance(separator, Pattern):
        found = state.split_by(separator.compiled, data)
    else:
        found = state.split(data, state.text(separator.value(state)))
    state.array(parts[1].name).clear()
    for index, part in enumerate(found, start=1):
        state.put(parts[1].name, b"%d" % index, Input(part))
    return float(len(found))


def _match(state: State, parts: tuple[Expression, ...]) -> Value:
    data = state.text(parts[0].value(state))
    pattern = pattern_of(parts[1], state)
    posix.check_cost(pattern, data)
    found = pattern.search(data)
    state.set("RSTART", float(found.start() + 1) if found else 0.0)
    state.set("RLENGTH", float(found.end() - found.start()) if found else -1.0)
    return state.get("RSTART")


def _replaced(state: State, parts: tuple[Expression, ...], *, everywhere: bool) -> Value:
    place = parts[2] if len(parts) > 2 else Field(Constant(0.0))
    assert isinstance(place, Place)  # noqa: S101 - asked when the call was read
    data = state.text(place.value(state))
    pattern, put = pattern_of(parts[0], state), state.text(parts[1].value(state))
    changed, count = _replace(pattern, put, data, state.process.meter, everywhere=everywhere)
    if count:
        place.assign(state, bounded(changed))
    return float(count)


def _replace(
    pattern: re2._Regexp, put: bytes, data: bytes, meter: Meter, *, everywhere: bool
) -> tuple[bytes, int]:
    """The new text, and how many places changed. An empty match right behind another one is none."""
    posix.check_cost(pattern, data)
    out: list[bytes] = []
    at = copied = count = size = 0
    ended = -1
    while at <= len(data):
        meter.tick()
        found = pattern.search(data, at)
        if found is None:
            break
        start, end = found.span()
        if start == end == ended:
            at = end + 1
            continue
        new = _filled(put, data[start:end])
        size += len(new)
        if size > LONGEST_TEXT:
            raise LimitReached(f"stopped at a text of more than {LONGEST_TEXT:,} bytes")
        out += [data[copied:start], new]
        copied = ended = end
        count += 1
        if not everywhere:
            break
        at = end if end > start else end + 1
    return b"".join([*out, data[copied:]]), count


def _filled(put: bytes, whole: bytes) -> bytes:
    if b"&" not in put and b"\\" not in put:
        return put
    return re.sub(rb"\\\\|\\&|&", lambda found: {b"&": whole, b"\\&": b"&"}.get(found[0], b"\\"), put)


# Numbers


def _number(function: Callable[[float], float]) -> Run:
    def run(state: State, parts: tuple[Expression, ...]) -> Value:
        try:
            return float(function(number(parts[0].value(state))))
        except ValueError:
            return math.nan
        except OverflowError:
            return math.inf

    return run


def _text(function: Callable[[bytes], bytes]) -> Run:
    return lambda state, parts: function(state.text(parts[0].value(state)))


def _sprintf(state: State, parts: tuple[Expression, ...]) -> Value:
    values = [part.value(state) for part in parts]
    return formatted(state.text(values[0]), values[1:], state)


_FUNCTIONS: dict[str, _Function] = {
    "length": _Function(_length, 0, 1),
    "substr": _Function(_substr, 2, 3),
    "index": _Function(_index, 2, 2),
    "split": _Function(_split, 2, 3),
    "match": _Function(_match, 2, 2),
    "sub": _Function(lambda state, parts: _replaced(state, parts, everywhere=False), 2, 3),
    "gsub": _Function(lambda state, parts: _replaced(state, parts, everywhere=True), 2, 3),
    "tolower": _Function(_text(bytes.lower), 1, 1),
    "toupper": _Function(_text(bytes.upper), 1, 1),
    "sprintf": _Function(_sprintf, 1, 100),
    "int": _Function(_number(math.trunc), 1, 1),
    "sqrt": _Function(_number(math.sqrt), 1, 1),
    "exp": _Function(_number(math.exp), 1, 1),
    "log": _Function(_number(lambda value: math.log(value) if value else -math.inf), 1, 1),
    "sin": _Function(_number(math.sin), 1, 1),
    "cos": _Function(_number(math.cos), 1, 1),
}
