"""What an awk expression is made of; each part gives its value in a state."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import re2

from ... import posix
from ...errors import UsageError
from .state import State, compiled
from .values import Value, bounded, number, order, truth


class Expression(Protocol):
    def value(self, state: State) -> Value: ...


@dataclass(frozen=True, slots=True)
class Constant:
    held: Value

    def value(self, state: State) -> Value:
        return self.held


@dataclass(frozen=True, slots=True)
class Pattern:
    """`/…/` by itself: does the record match."""

    compiled: re2._Regexp

    def value(self, state: State) -> Value:
        return float(matches(self.compiled, state.text(state.field(0))))


def matches(pattern: re2._Regexp, data: bytes) -> bool:
    posix.check_cost(pattern, data)
    return pattern.search(data) is not None


def pattern_of(part: Expression, state: State) -> re2._Regexp:
    """`/…/` as it stands, anything else by its text."""
    return part.compiled if isinstance(part, Pattern) else compiled(state.text(part.value(state)))


# Places that can be assigned to


@dataclass(frozen=True, slots=True)
class Variable:
    name: str

    def value(self, state: State) -> Value:
        return state.get(self.name)

    def assign(self, state: State, value: Value) -> None:
        state.set(self.name, value)


@dataclass(frozen=True, slots=True)
class Field:
    index: Expression

    def value(self, state: State) -> Value:
        return state.field(_whole(number(self.index.value(state))))

    def assign(self, state: State, value: Value) -> None:
        state.set_field(_whole(number(self.index.value(state))), state.text(value))


@dataclass(frozen=True, slots=True)
class Element:
    array: str
    keys: tuple[Expression, ...]

    def key(self, state: State) -> bytes:
        between = state.text(state.get("SUBSEP"))
        return bounded(between.join(state.text(part.value(state)) for part in self.keys))

    def value(self, state: State) -> Value:
        key, array = self.key(state), state.array(self.array)
        if key not in array:
            state.put(self.array, key, None)  # as in every awk, asking makes it
        return array[key]

    def assign(self, state: State, value: Value) -> None:
        state.put(self.array, self.key(state), value)


Place = Variable | Field | Element


def _whole(value: float) -> int:
    return int(value) if math.isfinite(value) else 0


# Operators


@dataclass(frozen=True, slots=True)
class Joined:
    left: Expression
    right: Expression

    def value(self, state: State) -> Value:
        return bounded(state.text(self.left.value(state)) + state.text(self.right.value(state)))


@dataclass(frozen=True, slots=True)
class Counted:
    """`+ - * / % ^` on numbers."""

    sign: str
    left: Expression
    right: Expression

    def value(self, state: State) -> Value:
        return ARITHMETIC[self.sign](number(self.left.value(state)), number(self.right.value(state)))


def _divided(a: float, b: float) -> float:
    if not b:
        raise UsageError("division by zero", 2)
    return a / b


def _rest(a: float, b: float) -> float:
    if not b:
        raise UsageError("division by zero in %", 2)
    return math.fmod(a, b) if math.isfinite(a) else math.nan


def _power(a: float, b: float) -> float:
    try:
        return math.pow(a, b)
    except OverflowError:
        return math.inf
    except ValueError:
        return math.nan


ARITHMETIC: dict[str, Callable[[float, float], float]] = {
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "/": _divided,
    "%": _rest,
    "^": _power,
}
_COMPARISONS: dict[str, Callable[[int], bool]] = {
    "==": lambda order: order == 0,
    "!=": lambda order: order != 0,
    "<": lambda order: order < 0,
    ">": lambda order: order > 0,
    "<=": lambda order: order <= 0,
    ">=": lambda order: order >= 0,
}


@dataclass(frozen=True, slots=True)
class Compared:
    sign: str
    left: Expression
    right: Expression

    def value(self, state: State) -> Value:
        return float(_COMPARISONS[self.sign](order(self.left.value(state), self.right.value(state))))


@dataclass(frozen=True, slots=True)
class Matched:
    left: Expression
    right: Expression
    wanted: bool

    def value(self, state: State) -> Value:
        data = state.text(self.left.value(state))
        return float(matches(pattern_of(self.right, state), data) == self.wanted)


@dataclass(frozen=True, slots=True)
class Both:
    left: Expression
    right: Expression

    def value(self, state: State) -> Value:
        return float(truth(self.left.value(state)) and truth(self.right.value(state)))


@dataclass(frozen=True, slots=True)
class Any:
    left: Expression
    right: Expression

    def value(self, state: State) -> Value:
        return float(truth(self.left.value(state)) or truth(self.right.value(state)))


@dataclass(frozen=True, slots=True)
class Not:
    part: Expression

    def value(self, state: State) -> Value:
        return float(not truth(self.part.value(state)))


@dataclass(frozen=True, slots=True)
class Signed:
    part: Expression
    factor: float

    def value(self, state: State) -> Value:
        return self.factor * number(self.part.value(state))


@dataclass(frozen=True, slots=True)
class Chosen:
    """`a ? b : c`."""

    condition: Expression
    first: Expression
    second: Expression

    def value(self, state: State) -> Value:
        return (self.first if truth(self.condition.value(state)) else self.second).value(state)


@dataclass(frozen=True, slots=True)
class Within:
    """`key in array`, which makes nothing."""

    element: Element

    def value(self, state: State) -> Value:
        return float(self.element.key(state) in state.array(self.element.array))


@dataclass(frozen=True, slots=True)
class Assigned:
    place: Place
    sign: str  # "" or the operator before =
    part: Expression

    def value(self, state: State) -> Value:
        value = self.part.value(state)
        if self.sign:
            value = ARITHMETIC[self.sign](number(self.place.value(state)), number(value))
        self.place.assign(state, value)
        return value


@dataclass(frozen=True, slots=True)
class Stepped:
    """`++x`, `x++`, `--x`, `x--`."""

    place: Place
    by: float
    after: bool

    def value(self, state: State) -> Value:
        old = number(self.place.value(state))
        self.place.assign(state, old + self.by)
        return old if self.after else old + self.by
