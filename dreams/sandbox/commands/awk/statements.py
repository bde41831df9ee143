"""awk's statements. Loops report to the meter; what ends them early are signals."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from .expressions import Element, Expression, Variable
from .state import State
from .values import Input, number, text, truth


class Next(Exception):
    """On to the next record (or file)."""

    def __init__(self, *, file: bool) -> None:
        self.file = file


class Ended(Exception):
    """`exit`."""


class Broken(Exception):
    """`break`."""


class Skipped(Exception):
    """`continue`."""


class Statement(Protocol):
    def run(self, state: State) -> None: ...


@dataclass(frozen=True, slots=True)
class Block:
    parts: tuple[Statement, ...]

    def run(self, state: State) -> None:
        for part in self.parts:
            part.run(state)


@dataclass(frozen=True, slots=True)
class Evaluate:
    part: Expression

    def run(self, state: State) -> None:
        self.part.value(state)


@dataclass(frozen=True, slots=True)
class Print:
    parts: tuple[Expression, ...]

    def run(self, state: State) -> None:
        form = text(state.get("OFMT"))
        values = [part.value(state) for part in self.parts] if self.parts else [state.field(0)]
        between, end = state.text(state.get("OFS")), state.text(state.get("ORS"))
        state.print(between.join(text(value, form) for value in values) + end)


@dataclass(frozen=True, slots=True)
class Printf:
    part: Expression

    def run(self, state: State) -> None:
        state.print(state.text(self.part.value(state)))


@dataclass(frozen=True, slots=True)
class If:
    condition: Expression
    then: Statement
    otherwise: Statement

    def run(self, state: State) -> None:
        (self.then if truth(self.condition.value(state)) else self.otherwise).run(state)


@dataclass(frozen=True, slots=True)
class Loop:
    """`for (start; condition; step)`, `while`, and `do … while` (first: the body runs once before the question)."""

    start: Statement
    condition: Expression
    step: Statement
    body: Statement
    first: bool = False

    def run(self, state: State) -> None:
        self.start.run(state)
        asked = self.first
        while asked or truth(self.condition.value(state)):
            asked = False
            state.process.meter.tick()
            try:
                self.body.run(state)
            except Skipped:
                pass
            except Broken:
                return
            self.step.run(state)


@dataclass(frozen=True, slots=True)
class ForEach:
    """`for (name in array)`, in the order in which the keys came."""

    name: str
    array: str
    body: Statement

    def run(self, state: State) -> None:

        for key in list(state.array(self.array)):
            state.process.meter.tick()
            Variable(self.name).assign(state, Input(key))
            try:
                self.body.run(state)
            except Skipped:
                continue
            except Broken:
                return


@dataclass(frozen=True, slots=True)
class Delete:
    array: str
    element: Expression | None  # None: all of them

    def run(self, state: State) -> None:

        array = state.array(self.array)
        if isinstance(self.element, Element):
            array.pop(self.element.key(state), None)
        else:
            array.clear()


@dataclass(frozen=True, slots=True)
class Leave:
    """`next`, `nextfile`, `break`, `continue`."""

    word: str

    def run(self, state: State) -> None:
        if self.word in ("next", "nextfile"):
            raise Next(file=self.word == "nextfile")
        raise Broken if self.word == "break" else Skipped


@dataclass(frozen=True, slots=True)
class Exit:
    status: Expression | None

    def run(self, state: State) -> None:
        if self.status is not None:
            state.process.status = int(number(self.status.value(state))) & 255
        raise Ended
